// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpus floor DIRECTORY: what the kernel alone takes for an instance in that tracefs with one event. Prints START END in
 * ms: making it and enabling the event, disabling the event and removing it.
 * cpus run FILE RECORDER...: runs a recorder, whose command is `cpus mark FILE`. Prints START END FILES TASKS KB: ms
 * until the command runs, ms from its end to the recorder's, and the open files, the tasks and the memory (PSS) of the
 * recorder's processes while the command runs.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void put(const char *dir, const char *file, const char *text)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_TRUNC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		perror(path);
	close(fd);
}

static int floor_of(const char *tracing)
{
	static const char event[] = "events/sched/sched_switch/enable";
	double start, ready, stop;
	char dir[2048];

	snprintf(dir, sizeof(dir), "%s/instances/floor", tracing);
	start = now_ms();
	if (mkdir(dir, 0750)) {
		perror(dir);
		return 1;
	}
	put(dir, "tracing_on", "0");
	put(dir, event, "1");
	put(dir, "tracing_on", "1");
	ready = now_ms();
	usleep(100000);
	stop = now_ms();
	put(dir, "tracing_on", "0");
	put(dir, event, "0");
	if (rmdir(dir))
		perror(dir);
	printf("%.1f %.1f\n", ready - start, now_ms() - stop);
	return 0;
}

static size_t entries(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	size_t nr = 0;

	while (dir && (entry = readdir(dir)))
		nr += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return nr;
}

struct used {
	size_t files, tasks, kb;
};

static int parent_of(const char *pid)
{
	char path[300], text[512] = "", *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "r");
	if (file) {
		(void)!fgets(text, sizeof(text), file);
		fclose(file);
	}
	end = strrchr(text, ')');
	return end ? (int)strtol(end + 4, NULL, 10) : 0;
}

static void add_process(const char *pid, struct used *used)
{
	char path[300], line[256];
	FILE *file;
	size_t kb;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	used->files += entries(path);
	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	used->tasks += entries(path);
	snprintf(path, sizeof(path), "/proc/%s/smaps_rollup", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Pss: %zu", &kb) == 1)
			used->kb += kb;
	if (file)
		fclose(file);
}

/* The recorder is the parent of the command, and its other children are recorders, too. */
static int mark(const char *path)
{
	double began = now_ms();
	int recorder = getppid();
	struct used used = { 0 };
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	FILE *file = fopen(path, "w");

	while (proc && (entry = readdir(proc))) {
		int pid = (int)strtol(entry->d_name, NULL, 10);

		if (pid == recorder || (pid && pid != getpid() && parent_of(entry->d_name) == recorder))
			add_process(entry->d_name, &used);
	}
	if (proc)
		closedir(proc);
	/* The recorder's own work of the start is over. */
	usleep(500000);
	if (!file)
		return 1;
	fprintf(file, "%.3f %.3f %zu %zu %zu\n", began, now_ms(), used.files, used.tasks, used.kb);
	return fclose(file) != 0;
}

static int run(const char *path, char **argv)
{
	double start = now_ms(), end, began, over;
	int status, null;
	struct used used;
	FILE *file;
	pid_t pid = fork();

	if (!pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	end = now_ms();
	file = fopen(path, "r");
	if (!file || fscanf(file, "%lf %lf %zu %zu %zu", &began, &over, &used.files, &used.tasks, &used.kb) != 5) {
		fprintf(stderr, "cpus: '%s' did not run its command\n", argv[0]);
		return 1;
	}
	fclose(file);
	unlink(path);
	printf("%.1f %.1f %zu %zu %zu\n", began - start, end - over, used.files, used.tasks, used.kb);
	return status != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "floor"))
		return floor_of(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "mark"))
		return mark(argv[2]);
	if (argc > 3 && !strcmp(argv[1], "run"))
		return run(argv[2], argv + 3);
	return 2;
}
