/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MARK_H
#define WEFT_MARK_H

/*
 * weft/mark.h - what a program does, in the kernel's trace
 *
 * One header for C (C99) and C++ (C++11), and no library: a mark is one write(2) of a short text to trace_marker. The
 * texts are those of Android's atrace, so Perfetto, Chrome's viewers and others know them, too.
 *
 *	weft_mark_begin("parse");
 *	...
 *	weft_mark_end();
 *
 * begins and ends a span of the thread; spans of a thread are inside one another. A span that another thread may end,
 * such as a request, has a number:
 *
 *	weft_mark_async_begin("request", 4711);
 *	weft_mark_async_end("request", 4711);
 *	weft_mark_counter("queue", 17);
 *	weft_mark_instant("cache is full");
 *
 * In C++, weft::span span("parse"); ends with its block.
 *
 * Where the marks go is decided once, at the first one: to the descriptor that the environment variable WEFT_MARKER_FD
 * names, which weft record gives its command, so that it needs no privileges; else to trace_marker of tracefs, if the
 * program may open it; else nowhere, and a mark is then a comparison. weft_mark_on() tells which. While tracing is off
 * a mark does nothing. Marks may be written by any thread and in signal handlers, and keep errno. A name that is longer
 * than WEFT_MARK_MAX is cut, at both ends of a span alike.
 */

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_MARK_MAX 200 /* bytes of a name */

#ifdef O_CLOEXEC
#define WEFT_MARK_OPEN_ (O_WRONLY | O_CLOEXEC)
#else
#define WEFT_MARK_OPEN_ O_WRONLY
#endif

/* The descriptor + 1; 0: not looked for; -1: there is none. One for all files of a program that include this. */
__attribute__((weak)) int weft_mark_where_;

static inline int weft_mark_open_(void)
{
	const char *given = getenv("WEFT_MARKER_FD");
	int fd = given && *given ? atoi(given) : -1;

	/* A program that closed all descriptors may have another file there: a marker is only ever written. */
	if (fd >= 0 && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_WRONLY)
		fd = -1;
	if (fd < 0)
		fd = open("/sys/kernel/tracing/trace_marker", WEFT_MARK_OPEN_);
	if (fd < 0)
		fd = open("/sys/kernel/debug/tracing/trace_marker", WEFT_MARK_OPEN_);
	return fd < 0 ? -1 : fd + 1;
}

static inline int weft_mark_on(void)
{
	int where = __atomic_load_n(&weft_mark_where_, __ATOMIC_RELAXED);

	if (__builtin_expect(!where, 0)) {
		int before = errno, none = 0, found = weft_mark_open_();

		/* Of two threads that look at once the first one counts. */
		if (!__atomic_compare_exchange_n(&weft_mark_where_, &none, found, 0, __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED) &&
		    found > 0 && found != none && !getenv("WEFT_MARKER_FD"))
			close(found - 1);
		where = __atomic_load_n(&weft_mark_where_, __ATOMIC_RELAXED);
		errno = before;
	}
	return where > 0;
}

/* A page with the number of the process, which a fork fills with zeros: so a mark is one system call, and not two. */
__attribute__((weak)) int *weft_mark_page_;

static inline int weft_mark_pid_(void)
{
#if defined(MADV_WIPEONFORK) && defined(MAP_ANONYMOUS)
	int *page = __atomic_load_n(&weft_mark_page_, __ATOMIC_ACQUIRE), *none = NULL, pid;

	if (__builtin_expect(page && (pid = __atomic_load_n(page, __ATOMIC_RELAXED)), 1))
		return pid;
	pid = (int)getpid();
	if (!page) {
		void *made = mmap(NULL, sizeof(pid), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (made == MAP_FAILED)
			return pid;
		page = (int *)made;
		if (madvise(page, sizeof(pid), MADV_WIPEONFORK) ||
		    !__atomic_compare_exchange_n(&weft_mark_page_, &none, page, 0, __ATOMIC_RELEASE,
						 __ATOMIC_RELAXED)) {
			munmap(page, sizeof(pid));
			return pid;
		}
	}
	__atomic_store_n(page, pid, __ATOMIC_RELAXED);
	return pid;
#else
	return (int)getpid();
#endif
}

static inline char *weft_mark_number_(char *at, int64_t number)
{
	uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
	char digits[20];
	int nr = 0;

	do
		digits[nr++] = (char)('0' + rest % 10);
	while (rest /= 10);
	*at++ = '|';
	if (number < 0)
		*at++ = '-';
	while (nr)
		*at++ = digits[--nr];
	return at;
}

/* NAME without bars, which separate the parts of a mark, and without newlines. */
static inline char *weft_mark_name_(char *at, const char *name)
{
	*at++ = '|';
	for (int i = 0; i < WEFT_MARK_MAX && name[i]; i++)
		*at++ = name[i] == '|' || name[i] == '\n' ? '/' : name[i];
	return at;
}

static inline void weft_mark_write_(char letter, const char *name, const int64_t *number)
{
	char text[WEFT_MARK_MAX + 64], *at = text;
	int before;

	if (!weft_mark_on())
		return;
	before = errno;
	*at++ = letter;
	at = weft_mark_number_(at, weft_mark_pid_());
	if (name)
		at = weft_mark_name_(at, name);
	if (number)
		at = weft_mark_number_(at, *number);
	/* EBADF says that tracing is off: then there is nothing to do. */
	if (write(weft_mark_where_ - 1, text, (size_t)(at - text)) < 0)
		errno = before;
	errno = before;
}

static inline void weft_mark_begin(const char *name)
{
	weft_mark_write_('B', name, NULL);
}

static inline void weft_mark_end(void)
{
	weft_mark_write_('E', NULL, NULL);
}

static inline void weft_mark_async_begin(const char *name, int64_t cookie)
{
	weft_mark_write_('S', name, &cookie);
}

static inline void weft_mark_async_end(const char *name, int64_t cookie)
{
	weft_mark_write_('F', name, &cookie);
}

static inline void weft_mark_counter(const char *name, int64_t value)
{
	weft_mark_write_('C', name, &value);
}

static inline void weft_mark_instant(const char *name)
{
	weft_mark_write_('I', name, NULL);
}

#ifdef __cplusplus
}

namespace weft
{
class span
{
      public:
	explicit span(const char *name)
	{
		weft_mark_begin(name);
	}
	~span()
	{
		weft_mark_end();
	}
	span(const span &) = delete;
	span &operator=(const span &) = delete;
};
} // namespace weft
#endif

#endif
