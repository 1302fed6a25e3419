/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_RECORD_MARK_H
#define WEFT_CMD_RECORD_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/* weft record --when-mark-longer NAME>TIME: the file stays only if a span of this name lasted longer. */
struct record_mark {
	char *name; /* a glob; NULL: no such option was given */
	uint64_t longer_ns;
};

/* Parses "NAME>TIME"; a name may have blanks and '>'. -EINVAL: it is not one. The caller frees the name. */
int must_check record_mark_parse(const char *text, struct record_mark *ret, struct fail *fail);

/* -EEXIST: there is such a file already, which would be lost if the new one does not stay. */
int must_check record_mark_check(const char *output, struct fail *fail);

/*
 * Reads the finished recording in a process without rights, and removes it if no span was long enough; *ret_stays is
 * false then. Nothing is removed after an error.
 */
int must_check record_mark_judge(const struct record_mark *mark, const char *output, bool *ret_stays,
				 struct fail *fail);

#endif
