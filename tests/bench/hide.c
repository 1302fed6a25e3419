// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library preloaded into trace-cmd that hides the files of the function tracer. On a kernel that answers EPERM to
 * these files, trace-cmd 3.1.6 gives up even if only events are asked for; where the files are absent it goes on.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool hidden(const char *path)
{
	static const char *const names[] = {
		"set_ftrace_filter",          "set_ftrace_notrace", "set_ftrace_pid",
		"set_ftrace_notrace_pid",     "ftrace_enabled",     "enabled_functions",
		"available_filter_functions",
	};
	const char *name = strrchr(path, '/');

	if (!name || (!strstr(path, "/tracing/") && !strstr(path, "/proc/sys/kernel/")))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name + 1, names[i]))
			return true;
	return false;
}

#define ABSENT(path)                    \
	do {                            \
		if (hidden(path)) {     \
			errno = ENOENT; \
			return -1;      \
		}                       \
	} while (0)

static mode_t mode_of(int flags, va_list args)
{
	return flags & O_CREAT ? (mode_t)va_arg(args, int) : 0;
}

#define OPEN(name)                                                                                              \
	int name(const char *path, int flags, ...);                                                             \
	int name(const char *path, int flags, ...)                                                              \
	{                                                                                                       \
		int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name); \
		va_list args;                                                                                   \
		mode_t mode;                                                                                    \
                                                                                                                \
		ABSENT(path);                                                                                   \
		va_start(args, flags);                                                                          \
		mode = mode_of(flags, args);                                                                    \
		va_end(args);                                                                                   \
		return real(path, flags, mode);                                                                 \
	}

OPEN(open)
OPEN(open64)

#define STAT(name, type)                                                               \
	int name(const char *path, struct type *st);                                   \
	int name(const char *path, struct type *st)                                    \
	{                                                                              \
		int (*real)(const char *, struct type *) =                             \
			(int (*)(const char *, struct type *))dlsym(RTLD_NEXT, #name); \
                                                                                       \
		ABSENT(path);                                                          \
		return real(path, st);                                                 \
	}

STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)

int access(const char *path, int mode)
{
	int (*real)(const char *, int) = (int (*)(const char *, int))dlsym(RTLD_NEXT, "access");

	ABSENT(path);
	return real(path, mode);
}
