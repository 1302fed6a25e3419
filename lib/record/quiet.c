// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/record/quiet_internal.h"

#include "lib/base/cleanup.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NAP_NS = 200 * 1000, NAPS_MAX = 1000 };

/*
 * Whether a thread sleeps: the state in /proc/PID/task/TID/stat is S. The state follows the name in parentheses, which
 * may contain any character. A thread that has ended counts as sleeping.
 */
static bool sleeps(const char *dir, const char *thread)
{
	char path[64], text[256];
	const char *state;
	cleanup_fd int fd = -1;
	ssize_t len;

	snprintf(path, sizeof(path), "%s/%.12s/stat", dir, thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (len <= 0)
		return true;
	text[len] = '\0';
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

static bool all_sleep(const char *dir, pid_t except)
{
	DIR *threads = opendir(dir);
	const struct dirent *entry;
	bool sleep = threads;

	while (sleep && (entry = readdir(threads)))
		if (entry->d_name[0] != '.' && strtol(entry->d_name, NULL, 10) != except)
			sleep = sleeps(dir, entry->d_name);
	if (threads)
		closedir(threads);
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
		if (all_sleep(dir, except))
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}
