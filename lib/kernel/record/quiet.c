// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/quiet_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/pids.h"

enum { NAP_NS = 200 * 1000, NAPS_MAX = 1000 };

/*
 * Whether a thread sleeps: the state in /proc/PID/task/TID/stat is S. The state follows the name in parentheses, which
 * may contain any character. A thread that has ended counts as sleeping.
 */
static bool sleeps(pid_t process, pid_t thread)
{
	char path[64], text[256];
	const char *state;
	cleanup_fd int fd = -1;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)process, (int)thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (len <= 0)
		return true;
	text[len] = '\0';
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

static bool all_sleep(pid_t process, pid_t except)
{
	cleanup_pids DIR *threads = pids_of_threads(process);
	bool sleep = threads;
	pid_t thread;

	while (sleep && (thread = pids_next(threads)) != 0)
		sleep = thread == except || sleeps(process, thread);
	return sleep;
}

bool quiet_wait(pid_t process, pid_t except)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	char dir[32];

	snprintf(dir, sizeof(dir), "/proc/%d/task", (int)process);
	if (access(dir, R_OK | X_OK))
		return false;
	for (int i = 0; i < NAPS_MAX; i++) {
		if (all_sleep(process, except))
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}
