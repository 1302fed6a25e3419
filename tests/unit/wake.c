// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/wake.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/record/workload.h"
#include "tests/unit/test.h"

/* A regression: a wait with uninitialized descriptors wrote "0" to them. */
TEST(wake_turns_nothing_off_that_it_was_not_given)
{
	struct workload workload = { .pid_fd = -1, .go_fd = -1, .errno_fd = -1 };
	enum wake_reason reason = WAKE_FAILED;
	struct wake wake;
	int status = 0;

	memset(&wake, 0xa5, sizeof(wake));
	REQUIRE(!wake_init(&wake, NULL));
	CHECK(!wake.switches);
	CHECK(!wake_after(&wake, 1, NULL));
	CHECK(!wake_wait(&wake, &workload, &reason, &status, NULL) && reason == WAKE_TIME);
	wake_release(&wake);
	sigprocmask(SIG_SETMASK, &wake.old_mask, NULL);
}

/* A command that only a signal ends. Its signal mask and its output are those of the test. */
static bool start_command(struct workload *workload, const struct wake *wake)
{
	static char *argv[] = { "sleep", "1000", NULL };
	const struct workload_options options = { .argv = argv, .path = getenv("PATH"), .mask = wake->old_mask };
	struct fail fail = FAIL_INIT;
	int status = 0;

	if (CHECK(!workload_fork(&options, workload, &fail) && !workload_go(workload, NULL, &fail) &&
		  !workload_executed(workload, argv[0], &status, &fail)))
		return true;
	return CHECK_STR(fail.text, "");
}

/* A regression: weft bench went on with the next run. */
TEST(wake_tells_of_a_signal_that_came_when_all_had_ended)
{
	struct wake wake;

	REQUIRE(!wake_init(&wake, NULL));
	wake_release(&wake);
	CHECK(!wake.interrupted);
	REQUIRE(!wake_init(&wake, NULL));
	raise(SIGPIPE);
	wake_release(&wake);
	CHECK(!wake.interrupted);
	REQUIRE(!wake_init(&wake, NULL));
	raise(SIGTERM);
	wake_release(&wake);
	CHECK(wake.interrupted);
}

TEST(wake_passes_a_signal_on_to_the_command_and_stops)
{
	struct workload workload = { .pid_fd = -1, .go_fd = -1, .errno_fd = -1 };
	enum wake_reason reason = WAKE_FAILED;
	struct wake wake;
	int status = 0;

	REQUIRE(!wake_init(&wake, NULL));
	if (start_command(&workload, &wake)) {
		const pid_t pid = workload.pid;

		kill(getpid(), SIGTERM);
		CHECK(!wake_wait(&wake, &workload, &reason, &status, NULL) && reason == WAKE_SIGNAL);
		CHECK(workload_wait(pid, &status) && status == 128 + SIGTERM);
		CHECK(!workload_wait(0, &status));
		workload.pid = 0;
	}
	workload_release(&workload);
	wake_release(&wake);
}

/* The terminal gives Ctrl-C to the command, too: the command decides whether that is its end. */
TEST(wake_leaves_an_interrupt_to_the_command)
{
	/* A shell starts commands in the background with SIGINT ignored, and a command inherits that. */
	void (*const before)(int) = signal(SIGINT, SIG_DFL);
	struct workload workload = { .pid_fd = -1, .go_fd = -1, .errno_fd = -1 };
	enum wake_reason reason = WAKE_FAILED;
	struct wake wake;
	int status = 0;

	REQUIRE(!wake_init(&wake, NULL));
	if (start_command(&workload, &wake)) {
		kill(getpid(), SIGINT);
		CHECK(!wake_wait(&wake, &workload, &reason, &status, NULL) && reason == WAKE_COMMAND);
		CHECK(status == 128 + SIGINT);
	}
	workload_release(&workload);
	wake_release(&wake);
	signal(SIGINT, before);
}
