/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_IMPORT_KINDS_H
#define WEFT_IMPORT_KINDS_H

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/trace/writer_metadata.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct trace;

/*
 * Makes a record of the text of an event, and the format that the record has. Of these the first that prints the same
 * text again: the format that a file of the same kernel has, one that is known here, one made of "name=value" pairs as
 * they stand in the text, and one that has the whole text. Invariant: weft's own program of the format prints the
 * record as the text; so a guess cannot be wrong.
 */
struct import_kinds;

/* `formats` is a file of the same kernel, borrowed, or NULL. `lazy`: records have common_preempt_lazy_count. */
int must_check import_kinds_new(struct trace *formats, bool lazy, struct import_kinds **ret, struct fail *fail);
void import_kinds_free(struct import_kinds *kinds);

/*
 * The record of "NAME: TEXT", whose common fields are left to the caller but for the type; -E2BIG: it fits into no
 * record, or there are too many types; -ENOMEM. *ret_whole: its fields are not known, only its text.
 */
int must_check import_kinds_record(struct import_kinds *kinds, const char *name, size_t name_len, const char *text,
				   size_t len, struct buf *record, bool *ret_whole);

/* The id of a format by its names, from the file or from here; 0: neither has it. */
uint16_t import_kinds_id(struct import_kinds *kinds, const char *system, const char *name);

/* The same for a format of fields as in kinds.c, which is made when it is not there; 0: there are too many. */
uint16_t import_kinds_make(struct import_kinds *kinds, const char *system, const char *name, const char *fields,
			   const char *print);

/* Where the fields of a record begin that are not common ones. */
uint32_t import_kinds_common(const struct import_kinds *kinds);

/* All formats that records have, and those of the file; valid as long as nothing is added. */
const struct writer_format *import_kinds_formats(const struct import_kinds *kinds, size_t *ret_nr);

#endif
