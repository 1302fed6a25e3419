// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/buffer/view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/buffer/ring_buffer.h"
#include "lib/kernel/tracefs/kconfig.h"

enum {
	CHUNK = 1 << 16,
	LINES_EACH = 6,   /* the most lines of one entry: its own, and four about a switch of tasks */
	LINES_MORE = 200, /* headers, and entries that are written while the entries are counted */
};

static const char *base_of(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

static char *path_of(const struct instance *instance, const char *file)
{
	char *path;

	return asprintf(&path, "%s/%s", instance->dir, file) < 0 ? NULL : path;
}

/* Reports a file that does not exist, with similar names. */
static int unknown(const struct instance *instance, const char *file, struct fail *fail)
{
	const char *base = base_of(file);
	int dir_len = (int)(base - file);
	struct instance top = instance_top(instance->tracing);
	struct near near = near_to(file);
	cleanup_free char *path = NULL;
	struct dirent *entry;
	DIR *dir;

	if (instance->kind != INSTANCE_TOP && instance_has(&top, file))
		return fail_set(fail, -ENOENT, "only the top instance has '%s'", file);
	if (kconfig_find(KCONFIG_FILE, file))
		return kconfig_no_file(file, fail);
	if (asprintf(&path, "%s/%.*s", instance->dir, dir_len, file) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		cleanup_free char *name = NULL;

		if (entry->d_name[0] == '.')
			continue;
		if (asprintf(&name, "%.*s%s", dir_len, file, entry->d_name) < 0)
			name = NULL;
		else
			near_offer(&near, name);
	}
	if (dir)
		closedir(dir);
	return near_fail(&near, fail, -ENOENT, "tracefs has no '%s' here", file);
}

/* Checks that the file exists and can be read without harm. */
static int check(const struct instance *instance, const char *file, const char *path, struct fail *fail)
{
	struct stat st;

	if (!*file || *file == '/' || !strncmp(file, "../", 3) || strstr(file, "/../") || ends_with(file, "/.."))
		return fail_set(fail, -EINVAL, "'%s' is not a name below the tracing directory", file);
	if (stat(path, &st) && errno == ENOENT)
		return unknown(instance, file, fail);
	if (stat(path, &st))
		return tracing_refused(path, -errno, "read", fail);
	if (S_ISDIR(st.st_mode))
		return fail_set(fail, -EISDIR, "'%s' is a directory; 'ls %s' lists it", file, path);
	if (!(st.st_mode & 0444))
		return fail_set(fail, -EINVAL, "'%s' is write-only: there is nothing to show", file);
	if (ends_with(file, "_raw"))
		return fail_set(fail, -EINVAL, "'%s' holds raw pages, not text: 'weft stream' prints their events",
				file);
	if (!strcmp(base_of(file), "timerlat_fd"))
		return fail_set(fail, -EINVAL, "reading '%s' only waits for a timer: there is nothing to show", file);
	return 0;
}

static uint64_t ts_of(const char *stats)
{
	static const char name[] = "now ts: ";
	const char *at = strstr(stats, name), *dot;
	char *end;
	uint64_t seconds;

	if (!at)
		return 0;
	seconds = strtoull(at + strlen(name), &end, 10);
	dot = end;
	/* Only the time of a clock that counts ns has a fraction. */
	return *dot == '.' ? seconds * 1000000 + strtoull(dot + 1, NULL, 10) : 0;
}

/* The length of the directory of the buffer whose text the file has: 14 of "instances/foo/per_cpu/cpu0/trace". */
static int buffer_dir_len(const char *file)
{
	const char *base = base_of(file), *per_cpu = strstr(file, "per_cpu/cpu");

	if (per_cpu && (per_cpu == file || per_cpu[-1] == '/') && strchr(per_cpu + strlen("per_cpu/"), '/') == base - 1)
		base = per_cpu;
	return (int)(base - file);
}

/*
 * Reads how many entries the buffer holds now, and the present time of its clock. A remote
 * (lib/kernel/tracefs/remote.h) tells neither, and its text has an end.
 */
static void find_bounds(struct view *view, const struct instance *instance, const char *trace)
{
	int dir_len = buffer_dir_len(trace);
	struct cpus online;
	char word[16], file[320];

	snprintf(file, sizeof(file), "%.*stracing_on", dir_len, trace);
	if (instance_read_word(instance, file, word, sizeof(word), NULL) || strcmp(word, "1") ||
	    tracing_online_cpus(&online, NULL))
		return;
	view->lines_left = LINES_MORE;
	for (int cpu = cpus_next(&online, 0); cpu >= 0; cpu = cpus_next(&online, cpu + 1)) {
		cleanup_buf struct buf text = BUF_INIT;
		uint64_t us;

		snprintf(file, sizeof(file), "%.*sper_cpu/cpu%d/stats", dir_len, trace, cpu);
		if (instance_read(instance, file, &text, NULL))
			continue;
		view->bounded = true;
		us = ts_of(buf_str(&text));
		view->timed |= us != 0;
		view->until_us = us > view->until_us ? us : view->until_us;
		view->lines_left += LINES_EACH * ring_buffer_parse_stats(buf_str(&text), text.len).entries;
	}
}

int view_open(struct view *view, const struct instance *instance, const char *file, bool follow, struct fail *fail)
{
	cleanup_free char *path = path_of(instance, file);
	int err = path ? check(instance, file, path, fail) : fail_memory(fail);

	if (err)
		return err;
	*view = (struct view){ .fd = -1, .follows = follow, .pipe = !strcmp(base_of(file), "trace_pipe") };
	if (!follow && (view->pipe || !strcmp(base_of(file), "trace")))
		find_bounds(view, instance, file);
	view->fd = open(path, O_RDONLY | O_CLOEXEC | (follow ? 0 : O_NONBLOCK));
	if (view->fd < 0 && errno == EBUSY && view->pipe)
		return fail_set(fail, -EBUSY, "another process is reading '%s', which allows one reader at a time",
				file);
	return view->fd < 0 ? tracing_refused(path, -errno, "read", fail) : 0;
}

void view_close(struct view *view)
{
	cleanup_fd_close(&view->fd);
	view->fd = -1;
}

/*
 * Finds the first " 1234.567890: " in the line. The names of tasks come before it, but rarely contain such a number
 * with a colon.
 */
bool view_line_time(const char *line, size_t len, uint64_t *ret_us)
{
	const char *at = line, *end = line + len;

	while ((at = memchr(at, '.', (size_t)(end - at)))) {
		const char *first = at, *last = at + 1;
		uint64_t seconds = 0, us = 0;

		while (first > line && first[-1] >= '0' && first[-1] <= '9')
			first--;
		while (last < end && *last >= '0' && *last <= '9')
			last++;
		if (first < at && at - first < 12 && last - at == 7 && last < end && *last == ':' &&
		    (first == line || first[-1] == ' ')) {
			for (; first < at; first++)
				seconds = seconds * 10 + (uint64_t)(*first - '0');
			for (first = at + 1; first < last; first++)
				us = us * 10 + (uint64_t)(*first - '0');
			*ret_us = seconds * 1000000 + us;
			return true;
		}
		at++;
	}
	return false;
}

/* Whether the line is of an event after view_open(). The lines of a stack belong to the event before them. */
static bool is_later(struct view *view, const char *line, size_t len)
{
	uint64_t us;

	if (!len || *line == '#' || (len > 3 && !memcmp(line, " =>", 3)))
		return false;
	if (view->timed && view_line_time(line, len, &us))
		return us > view->until_us;
	if (!view->lines_left)
		return true;
	view->lines_left--;
	return false;
}

/* Checks the lines that are complete, and cuts the text at the first line that is later than view_open(). */
static void bound(struct view *view, struct buf *text, size_t from)
{
	while (from < text->len && !view->ended) {
		const char *line = text->data + from, *newline = memchr(line, '\n', text->len - from);

		if (!newline)
			break;
		if (is_later(view, line, (size_t)(newline - line))) {
			view->ended = true;
			view->cut = !view->pipe;
			/* Text read from a pipe is kept, because it is no longer in the kernel. */
			if (!view->pipe)
				text->len = from;
			return;
		}
		from += (size_t)(newline - line) + 1;
	}
	view->tail = text->len - from;
}

int view_read(struct view *view, struct buf *text, struct fail *fail)
{
	size_t from = text->len < view->tail ? 0 : text->len - view->tail;
	ssize_t got;

	if (view->ended)
		return 0;
	if (!buf_reserve(text, CHUNK))
		return fail_memory(fail);
	got = read(view->fd, text->data + text->len, CHUNK);
	if (got < 0 && errno == EINTR)
		return 1;
	if (got <= 0) {
		view->ended = true;
		return !got || errno == EAGAIN ? 0 : fail_set(fail, -errno, "cannot read: %s", strerror(errno));
	}
	text->len += (size_t)got;
	if (view->bounded)
		bound(view, text, from);
	return 1;
}
