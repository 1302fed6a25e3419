/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_EXPORTED_H
#define WEFT_TESTS_UNIT_EXPORTED_H

#include <stddef.h>

struct export_guest;
struct loom;
struct pool;
struct trace;

/*
 * The output of an exporter for a loom's trace, with a NUL after it; the caller frees it. NULL fails the test. *ret_len
 * may be NULL.
 */
char *exported(struct loom *loom, const char *to, const char *weight, size_t *ret_len);

/* Like exported(), with --diff against the trace of another loom. */
char *exported_diff(struct loom *loom, struct loom *before, const char *to);

/* The output of an exporter for a trace that may use the threads of a pool; NULL: there are none. */
char *exported_by(struct trace *trace, const char *to, struct pool *pool, size_t *ret_len);

/* The output of an exporter for a trace of a guest and its host. */
char *exported_guest(struct trace *trace, const char *to, const struct export_guest *guest, size_t *ret_len);

/* The fields of a trace's events, as weft export --to csv --fields FIELDS prints them. */
char *exported_fields(struct trace *trace, const char *fields);

#endif
