// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/log_writer_internal.h"

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/kernel/flight/spawn_internal.h"

enum { WORDS_MAX = 8 };

/* Whether the descriptor is readable before this time. */
static bool wait_for(int fd, uint64_t end)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	uint64_t now;

	while ((now = now_ns()) < end)
		if (poll(&poll_fd, 1, (int)((end - now) / 1000000) + 1) > 0)
			return true;
	return false;
}

/* Reads until the program closes its output, the line is full, or the time is over: then false. */
static bool take_text(int fd, uint64_t end, char into[EXPLAINED])
{
	size_t len = 0;
	ssize_t got = 1;

	while (got > 0 && len < EXPLAINED - 1 && wait_for(fd, end)) {
		got = io_again(read(fd, into + len, EXPLAINED - 1 - len));
		len += got > 0 ? (size_t)got : 0;
	}
	into[len] = '\0';
	return got <= 0 || len == EXPLAINED - 1;
}

bool explainer_ask(const char *const *program, const char *file, char into[EXPLAINED])
{
	char *argv[WORDS_MAX + 2] = { NULL };
	uint64_t end = now_ns() + EXPLAINER_MS * UINT64_C(1000000);
	struct spawn spawn = SPAWN_NONE;
	int status, fds[2];
	size_t nr = 0;
	bool started, late;

	for (; program[nr] && nr < WORDS_MAX; nr++)
		argv[nr] = (char *)(uintptr_t)program[nr];
	argv[nr] = (char *)(uintptr_t)file;
	if (pipe2(fds, O_CLOEXEC))
		return false;
	started = !spawn_start(&spawn, argv, "WEFT_CONFIG=", fds[1], NULL);
	close(fds[1]);
	late = started && !take_text(fds[0], end, into);
	close(fds[0]);
	late = late || (started && !wait_for(spawn.fd, end));
	status = spawn_end(&spawn);
	if (late) {
		snprintf(into, EXPLAINED, "not known: %s took more than %d s", *program, EXPLAINER_MS / 1000);
		return true;
	}
	if (!started || !WIFEXITED(status) || WEXITSTATUS(status) || !*into)
		return false;
	into[strcspn(into, "\n")] = '\0';
	return true;
}
