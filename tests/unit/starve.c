// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/starve.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t nr, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t len);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t nr, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);
int __wrap_asprintf(char **ret, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Not a bool, and no 64 bits: riscv64 needs libatomic to exchange single bytes, and mips needs it for 64 bits. */
static int counting;
static unsigned long count, fails_at;

void starve_begin(uint64_t at)
{
	__atomic_store_n(&count, 0, __ATOMIC_RELAXED);
	fails_at = (unsigned long)at;
	__atomic_store_n(&counting, true, __ATOMIC_RELEASE);
}

bool starve_pause(void)
{
	return __atomic_exchange_n(&counting, false, __ATOMIC_ACQ_REL);
}

void starve_resume(bool counted)
{
	__atomic_store_n(&counting, counted, __ATOMIC_RELEASE);
}

uint64_t starve_end(void)
{
	__atomic_store_n(&counting, false, __ATOMIC_RELEASE);
	return __atomic_load_n(&count, __ATOMIC_RELAXED);
}

static bool fails(void)
{
	if (!__atomic_load_n(&counting, __ATOMIC_ACQUIRE) ||
	    __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) != fails_at)
		return false;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __real_calloc(nr, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t nr, size_t size)
{
	return fails() ? NULL : __real_reallocarray(old, nr, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t len)
{
	return fails() ? NULL : __real_strndup(text, len);
}

int __wrap_asprintf(char **ret, const char *format, ...)
{
	va_list args;
	int len;

	if (fails())
		return -1;
	va_start(args, format);
	len = vasprintf(ret, format, args);
	va_end(args);
	return len;
}
