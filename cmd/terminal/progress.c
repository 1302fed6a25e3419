// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/terminal/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/ground/base/now.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"

enum { DELAY_MS = 1000, STEP_MS = 200, HUNDRED = 100, LARGE = 64 << 20 };

static const char clear_line[] = "\r\033[K";

/* A command has only one progress line. */
static struct {
	bool runs, ends, shown, sizes;
	const char *what, *step;
	uint64_t total, before, start, written;
	uint64_t part, parts; /* of progress_part(); without parts, bytes that were read tell */
	int io_fd;            /* of /proc/self/io */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
} progress = { .io_fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

/* Leaves out the last parts of a line for which the terminal has no room: it would wrap, and scroll with each step. */
static void fit(char *line, size_t from)
{
	struct winsize size;
	size_t room = !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col > 1 ? (size_t)size.ws_col - 1 : SIZE_MAX;

	while (strlen(line + from) > room) {
		char *comma = strrchr(line + from, ',');

		if (comma && comma > line + from)
			*comma = '\0';
		else
			line[from + room] = '\0';
	}
}

static void put(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		progress.ends = true;
}

/*
 * Reads a line such as "rchar: 123" from /proc/self/io (Documentation/filesystems/proc.rst): the bytes that read() and
 * similar calls returned; "wchar: 123" counts those that write() took.
 */
static uint64_t bytes_of(const char *what)
{
	char text[128] = "";
	uint64_t bytes;
	ssize_t got = progress.io_fd < 0 ? -1 : pread(progress.io_fd, text, sizeof(text) - 1, 0);

	return got > 0 && number_after(text, what, &bytes) ? bytes : 0;
}

static uint64_t bytes_read(void)
{
	return bytes_of("rchar: ");
}

/*
 * Adds an estimate of the output's size, if the rest of the input gives as much output as the part that was read. A
 * small output gets no estimate.
 */
static void put_size(char *line, size_t size, uint64_t done)
{
	uint64_t written = bytes_of("wchar: ") - progress.written, whole;
	char text[TEXT_HUMAN];

	if (!progress.sizes || !done || written < LARGE)
		return;
	whole = (uint64_t)((double)written * (double)progress.total / (double)done);
	snprintf(line + strlen(line), size - strlen(line), ", about %s in all", text_size(text, whole));
}

static void draw_step(void)
{
	char line[160];

	snprintf(line, sizeof(line), "%sweft: %s, %" PRIu64 " s", clear_line, progress.step,
		 (now_ns() - progress.start) / NS_PER_MS / 1000);
	fit(line, strlen(clear_line));
	put(line);
	progress.shown = true;
}

static uint64_t bytes_done(void)
{
	uint64_t parts = __atomic_load_n(&progress.parts, __ATOMIC_RELAXED);
	uint64_t part = __atomic_load_n(&progress.part, __ATOMIC_RELAXED);

	if (parts)
		return (uint64_t)((double)progress.total * (double)(part < parts ? part : parts) / (double)parts);
	return bytes_read() - progress.before;
}

static void draw_bytes(void)
{
	uint64_t done = bytes_done(), lasted = now_ns() - progress.start;
	char line[160], size[TEXT_HUMAN];

	if (done > progress.total || !progress.total) {
		snprintf(line, sizeof(line), "%sweft: %s: %s read, %" PRIu64 " s", clear_line, progress.what,
			 text_size(size, done), lasted / NS_PER_MS / 1000);
	} else {
		uint64_t part = done / (progress.total / HUNDRED + 1),
			 left = done ? (uint64_t)((double)lasted * (double)(progress.total - done) / (double)done) : 0;

		snprintf(line, sizeof(line), "%sweft: %s: %" PRIu64 " %%", clear_line, progress.what, part);
		if (part)
			snprintf(line + strlen(line), sizeof(line) - strlen(line), ", %" PRIu64 " s left",
				 left / (1000L * NS_PER_MS) + 1);
		put_size(line, sizeof(line), done);
	}
	fit(line, strlen(clear_line));
	put(line);
	progress.shown = true;
}

static void draw(void)
{
	if (progress.step)
		draw_step();
	else
		draw_bytes();
}

static void clear(void)
{
	if (progress.shown)
		put(clear_line);
	progress.shown = false;
}

/* Waits until progress_end(), or until the time is over. */
static void wait_ms(unsigned ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)(ms % 1000) * NS_PER_MS;
	until.tv_sec += (time_t)(ms / 1000) + until.tv_nsec / (1000L * NS_PER_MS);
	until.tv_nsec %= 1000L * NS_PER_MS;
	while (!progress.ends && pthread_cond_timedwait(&progress.wake, &progress.lock, &until) != ETIMEDOUT)
		;
}

static unsigned delay_ms(void)
{
	const char *text = getenv("WEFT_PROGRESS");
	uint64_t ms;

	if (!text || text_parse_range(text, 0, 1000 * 1000, &ms, NULL) < 0)
		return DELAY_MS;
	return (unsigned)ms;
}

static void *run(void *arg)
{
	unsigned delay = *(unsigned *)arg;

	pthread_mutex_lock(&progress.lock);
	wait_ms(delay);
	while (!progress.ends) {
		draw();
		wait_ms(STEP_MS);
	}
	pthread_mutex_unlock(&progress.lock);
	return NULL;
}

static bool is_wanted(bool prints)
{
	const char *term = getenv("TERM");
	struct stat st;

	if (!isatty(STDERR_FILENO) || !term || !strcmp(term, "dumb"))
		return false;
	if (!prints)
		return true;
	if (isatty(STDOUT_FILENO))
		return false;
	/* A pipe may lead to a pager, which needs the terminal alone. */
	return !fstat(STDOUT_FILENO, &st) && !S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode);
}

bool progress_can_draw(void)
{
	return is_wanted(false);
}

unsigned progress_period_ms(void)
{
	unsigned delay = delay_ms();

	return delay < STEP_MS ? STEP_MS : delay;
}

void progress_draw(const char *text)
{
	char line[512];

	clear();
	if (!text)
		return;
	snprintf(line, sizeof(line), "weft: %s", text);
	fit(line, 0);
	put(line);
	progress.shown = true;
}

void progress_prepare(const char *what, bool prints)
{
	if (is_wanted(prints))
		progress.what = what;
	if (progress.what)
		progress.io_fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
}

void progress_tell_size(void)
{
	progress.sizes = true;
}

static void start_thread(void)
{
	pthread_condattr_t attributes;
	sigset_t all, mask;
	static unsigned delay;

	delay = delay_ms();
	progress.start = now_ns();
	progress.ends = false;
	if (!delay)
		draw();
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&progress.wake, &attributes);
	pthread_condattr_destroy(&attributes);
	/* Signals are handled by the command's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	progress.runs = !pthread_create(&progress.thread, NULL, run, &delay);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void progress_start(uint64_t total)
{
	if (!progress.what)
		return;
	progress.total = total;
	progress.before = bytes_read();
	progress.written = bytes_of("wchar: ");
	start_thread();
}

/* Without the lock, which the thread may have while it waits for the terminal. */
void progress_part(uint64_t part, uint64_t parts)
{
	__atomic_store_n(&progress.part, part, __ATOMIC_RELAXED);
	__atomic_store_n(&progress.parts, parts, __ATOMIC_RELAXED);
}

void progress_step(const char *what)
{
	bool running = progress.step != NULL;

	if (!progress_can_draw())
		return;
	if (!what) {
		progress_end();
		return;
	}
	pthread_mutex_lock(&progress.lock);
	progress.step = what;
	if (running) {
		progress.start = now_ns();
		if (progress.shown)
			draw();
	}
	pthread_mutex_unlock(&progress.lock);
	if (!running)
		start_thread();
}

void progress_end(void)
{
	if (progress.runs) {
		pthread_mutex_lock(&progress.lock);
		progress.ends = true;
		pthread_cond_signal(&progress.wake);
		pthread_mutex_unlock(&progress.lock);
		pthread_join(progress.thread, NULL);
	}
	clear();
	progress.runs = false;
	if (progress.io_fd >= 0)
		close(progress.io_fd);
	progress.io_fd = -1;
	progress.what = progress.step = NULL;
}

void progress_pause(void)
{
	pthread_mutex_lock(&progress.lock);
	clear();
}

void progress_go_on(void)
{
	pthread_mutex_unlock(&progress.lock);
}

/* A static, because nftw() passes no argument. */
static uint64_t tree_bytes;

static int add_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)path;
	(void)at;
	if (type == FTW_F && S_ISREG(st->st_mode))
		tree_bytes += (uint64_t)st->st_size;
	return 0;
}

uint64_t progress_tree(const char *path)
{
	tree_bytes = 0;
	return progress.what && !nftw(path, add_file, 16, FTW_PHYS) ? tree_bytes : 0;
}
