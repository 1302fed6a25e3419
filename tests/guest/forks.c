// SPDX-License-Identifier: GPL-2.0-only
/*
 * forks DIRECTORY N: makes 50 control groups in a directory of version 2, and N children, one a millisecond. Each
 * fifth is born in its group by clone3(CLONE_INTO_CGROUP), the others go there by themselves. Then a child calls
 * getppid() and sleeps, three times, and writes a line: its PID and its group by /proc/self/cgroup.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GROUPS = 50, BORN_THERE = 5, CALLS = 3 };

static void live(void)
{
	char text[256], line[300];
	int fd;
	ssize_t len;

	for (int i = 0; i < CALLS; i++) {
		syscall(SYS_getppid);
		usleep(100);
	}
	fd = open("/proc/self/cgroup", O_RDONLY);
	len = read(fd, text, sizeof(text) - 1);
	text[len > 0 ? len : 0] = '\0';
	len = snprintf(line, sizeof(line), "%d %s", (int)getpid(),
		       strstr(text, "0::") ? strstr(text, "0::") + 3 : "\n");
	_exit(write(STDOUT_FILENO, line, (size_t)len) != len);
}

int main(int argc, char **argv)
{
	int dirs[GROUPS], n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
	char path[300];

	for (int i = 0; i < GROUPS; i++) {
		snprintf(path, sizeof(path), "%s/g%d.service", argv[1], i);
		if (mkdir(path, 0755) || (dirs[i] = open(path, O_PATH | O_DIRECTORY)) < 0)
			return 1;
	}
	for (int i = 0; i < n; i++) {
		struct clone_args args = { .exit_signal = SIGCHLD };
		long pid;

		if (i % BORN_THERE == 0) {
			args.flags = CLONE_INTO_CGROUP;
			args.cgroup = (uint64_t)dirs[i % GROUPS];
			pid = syscall(SYS_clone3, &args, sizeof(args));
			if (!pid)
				live();
		} else {
			pid = fork();
			if (!pid) {
				int fd = openat(dirs[i % GROUPS], "cgroup.procs", O_WRONLY);

				if (write(fd, "0", 1) != 1)
					_exit(1);
				live();
			}
		}
		if (pid < 0)
			return 1;
		usleep(1000);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < GROUPS; i++) {
		snprintf(path, sizeof(path), "%s/g%d.service", argv[1], i);
		(void)rmdir(path);
	}
	return 0;
}
