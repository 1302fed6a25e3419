// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/pids.h"

#include <stdio.h>
#include <stdlib.h>

pid_t pids_parse(const char *name)
{
	char *end;
	long pid = *name >= '1' && *name <= '9' ? strtol(name, &end, 10) : 0;

	return pid > 0 && pid <= PID_MAX && !*end ? (pid_t)pid : 0;
}

DIR *pids_of_all(void)
{
	return opendir("/proc");
}

DIR *pids_of_threads(pid_t process)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
	return opendir(path);
}

pid_t pids_next(DIR *dir)
{
	struct dirent *entry;
	pid_t pid = 0;

	while (dir && !pid && (entry = readdir(dir)) != NULL)
		pid = pids_parse(entry->d_name);
	return pid;
}
