// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "lib/kernel/flight/condition.h"
#include "lib/kernel/flight/trigger_hit_internal.h"
#include "lib/kernel/flight/watch_kind_internal.h"
#include "tests/unit/test.h"

/* A command whose timer is a counter of the test. Its processes have a pipe, which ends with the last of them. */
struct scene {
	struct condition condition;
	struct watch watch;
	struct watch_hit hit;
	int end_fd;
};

static bool begin(struct scene *scene, const char *text)
{
	int fds[2];

	if (!CHECK(!condition_parse(text, &scene->condition, NULL)) || !CHECK(!pipe(fds)))
		return false;
	fcntl(fds[0], F_SETFD, FD_CLOEXEC);
	scene->end_fd = fds[0];
	scene->watch = (struct watch){ .condition = &scene->condition,
				       .fd = epoll_create1(EPOLL_CLOEXEC),
				       .timer_fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK),
				       .spawn = SPAWN_NONE };
	CHECK(!watch_command_ops.look(&scene->watch, &scene->hit, NULL));
	CHECK(scene->watch.spawn.pid);
	close(fds[1]);
	return true;
}

static int look_at_the_end(struct scene *scene)
{
	struct pollfd fd = { .fd = scene->watch.spawn.fd, .events = POLLIN };

	CHECK(poll(&fd, 1, -1) == 1);
	return watch_command_ops.look(&scene->watch, &scene->hit, NULL);
}

/* Waits until none of the processes is left. */
static void end(struct scene *scene)
{
	char c;

	CHECK(!read(scene->end_fd, &c, 1));
	CHECK(!scene->watch.spawn.pid);
	close(scene->end_fd);
	close(scene->watch.fd);
	CHECK(!watch_command_ops.close(&scene->watch, NULL));
	condition_release(&scene->condition);
}

TEST(watch_command_ends_what_its_shell_left_in_the_background)
{
	struct scene scene = { .end_fd = -1 };

	REQUIRE(begin(&scene, "command:'sleep 100000 & exit 3' every 1s"));
	CHECK(look_at_the_end(&scene) == 1);
	CHECK_STR(scene.hit.reason, "'sleep 100000 & exit 3' ended with status 3");
	end(&scene);
}

TEST(watch_command_that_succeeds_is_no_trigger)
{
	struct scene scene = { .end_fd = -1 };

	REQUIRE(begin(&scene, "command:'true' every 1s"));
	CHECK(!look_at_the_end(&scene));
	end(&scene);
}

TEST(watch_command_that_takes_longer_than_a_minute_is_killed_and_has_failed)
{
	static const uint64_t periods[] = { 8, 1 };
	struct scene scene = { .end_fd = -1 };

	REQUIRE(begin(&scene, "command:'sleep 100000' every 7s"));
	for (size_t i = 0; i < array_size(periods); i++) {
		CHECK(write(scene.watch.timer_fd, &periods[i], sizeof(periods[i])) == sizeof(periods[i]));
		CHECK(!spawn_has_ended(&scene.watch.spawn));
		CHECK(!watch_command_ops.look(&scene.watch, &scene.hit, NULL));
	}
	CHECK(look_at_the_end(&scene) == 1);
	CHECK_STR(scene.hit.reason, "'sleep 100000' took longer than 1m 03s");
	end(&scene);
}
