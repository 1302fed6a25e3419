/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SCHEMA_FALLBACK_H
#define WEFT_SCHEMA_FALLBACK_H

#include <stddef.h>

struct format;
struct out;
struct run;
struct schema_abi;

/*
 * libtraceevent, for the print fmt that our compiler does not know. It is not trusted: it is tried in a child with a time
 * limit first, and used here only if the child came back well. It is not thread-safe: a mutex stands before it.
 */
struct fallback;

/* NULL when libtraceevent cannot print the event either. The text of the format is not kept. */
struct fallback *fallback_new(const struct schema_abi *abi, const struct format *format, const char *text, size_t len);
void fallback_free(struct fallback *fallback);
void fallback_run(const struct fallback *fallback, const struct run *run, struct out *out);

#endif
