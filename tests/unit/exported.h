/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_EXPORTED_H
#define WEFT_TESTS_UNIT_EXPORTED_H

#include <stddef.h>

struct loom;

/* What an exporter makes of a loom's trace, with a NUL behind it; free() it. NULL fails the test. *ret_len may be NULL. */
char *exported(struct loom *loom, const char *to, const char *weight, size_t *ret_len);

#endif
