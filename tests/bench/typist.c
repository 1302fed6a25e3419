// SPDX-License-Identifier: GPL-2.0-only
/*
 * typist WEFT FILE: opens a file in `weft view` on a terminal of 120x40 and types. Prints one line:
 *	FIRST JUMP SCROLL KEY TIMELINE MEMORY
 * FIRST: ms until the first screen is complete. JUMP: the slowest but two of 200 jumps to places by chance, in ms
 * until the last byte of the new screen. SCROLL: the most bytes that a line of scrolling sent. KEY: of the keys that
 * were typed while the time line was being read the slowest but one in a hundred, in ms until the first byte of an
 * answer. TIMELINE: seconds until the time line of the whole file stands still. MEMORY: the peak of a process, in KB.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JUMPS = 200, LINES = 100, KEYS = 1000, QUIET_MS = 40, STILL_MS = 1500, TOO_LONG_MS = 120000 };

static int terminal;

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1000 + (double)ts.tv_nsec / 1e6;
}

struct answer {
	double first, last; /* when its bytes came; 0: none came */
	size_t bytes;
	int found;
};

/* Reads until there was nothing for `quiet` ms, or, with a text, until that came. */
static struct answer listen_to(int quiet, const char *text)
{
	struct pollfd poll_fd = { .fd = terminal, .events = POLLIN };
	struct answer answer = { .bytes = 0 };
	double begin = now_ms();
	char bytes[1 << 16];

	while (now_ms() - begin < TOO_LONG_MS && poll(&poll_fd, 1, text && !answer.found ? TOO_LONG_MS : quiet) > 0) {
		ssize_t len = read(terminal, bytes, sizeof(bytes) - 1);

		if (len <= 0)
			break;
		answer.last = now_ms();
		if (!answer.bytes)
			answer.first = answer.last;
		answer.bytes += (size_t)len;
		if (text && memmem(bytes, (size_t)len, text, strlen(text)))
			answer.found = 1;
	}
	return answer;
}

static void type(const char *keys)
{
	if (write(terminal, keys, strlen(keys)) < 0)
		exit(1);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The 99th of a hundred. */
static double slowest(double *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), by_size);
	return nr ? values[nr - 1 - nr / 100] : 0;
}

static double jumps(void)
{
	static double times[JUMPS];

	srand(7);
	for (int i = 0; i < JUMPS; i++) {
		char keys[32];
		double begin;

		snprintf(keys, sizeof(keys), ":%d.%d%%", rand() % 100, rand() % 10);
		type(keys);
		listen_to(QUIET_MS, NULL);
		begin = now_ms();
		type("\r");
		times[i] = listen_to(QUIET_MS, NULL).last - begin;
	}
	return slowest(times, JUMPS);
}

static size_t scrolling(void)
{
	size_t most = 0;

	type("L");
	for (int i = 0; i < LINES; i++) {
		struct answer answer;

		type("j");
		answer = listen_to(QUIET_MS, NULL);
		most = answer.bytes > most ? answer.bytes : most;
	}
	return most;
}

/* Types while the time line is read. */
static double whole_timeline(double *ret_key)
{
	static double times[KEYS];
	double begin = now_ms(), still = begin;
	size_t nr = 0;

	type("2");
	while (nr < KEYS && now_ms() - begin < TOO_LONG_MS) {
		double typed = now_ms();
		struct answer answer;

		type(nr % 2 ? "k" : "j");
		answer = listen_to(QUIET_MS, NULL);
		if (answer.bytes)
			times[nr++] = answer.first - typed;
		/* It draws by itself as long as it reads. */
		answer = listen_to(STILL_MS / 4, NULL);
		if (!answer.bytes) {
			answer = listen_to(STILL_MS, NULL);
			if (!answer.bytes)
				break;
		}
		still = answer.last;
	}
	*ret_key = slowest(times, nr);
	return (still - begin) / 1000;
}

int main(int argc, char **argv)
{
	struct winsize size = { .ws_row = 40, .ws_col = 120 };
	double begin = now_ms(), first, jump, key, timeline;
	struct rusage usage;
	struct answer answer;
	size_t scroll;
	int status;
	pid_t pid;

	if (argc != 3)
		return 2;
	pid = forkpty(&terminal, NULL, NULL, &size);
	if (pid < 0)
		return 1;
	if (!pid) {
		setenv("TERM", "xterm-256color", 1);
		execl(argv[1], argv[1], "view", argv[2], (char *)NULL);
		_exit(127);
	}
	answer = listen_to(QUIET_MS, "? keys");
	if (!answer.found)
		return 1;
	first = answer.last - begin;
	jump = jumps();
	scroll = scrolling();
	timeline = whole_timeline(&key);
	type("Q");
	listen_to(QUIET_MS, NULL);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		return 1;
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("%.1f %.1f %zu %.1f %.1f %ld\n", first, jump, scroll, key, timeline, usage.ru_maxrss);
	return 0;
}
