/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_KINDS_INTERNAL_H
#define WEFT_FILES_IMPORT_KINDS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/pages/trace/writer_metadata.h"

struct fail;
struct import_names;
struct trace;

/*
 * Makes a record from the text of an event, and the format of that record. It tries several formats and takes the first
 * that prints the same text again: the format in a file of the same kernel, one that is known here, one made from the
 * "name=value" pairs in the text, and one that has the whole text as a field. Invariant: printing the record by its
 * format gives exactly the text, so a wrong guess is never taken.
 */
struct import_kinds;

/*
 * `formats` is a file of the same kernel, or NULL. `lazy`: records have common_preempt_lazy_count. `names` gives
 * functions their addresses; NULL: no text with a name of one has fields. Both are borrowed.
 */
int must_check import_kinds_new(struct trace *formats, bool lazy, struct import_names *names, struct import_kinds **ret,
				struct fail *fail);
void import_kinds_free(struct import_kinds *kinds);

/*
 * Makes the record of "NAME: TEXT". Of the common fields only the type is set; the caller sets the others. Returns
 * -E2BIG when the text does not fit into a record or there are too many types; -ENOMEM. *ret_whole: only the text is
 * known, not the fields. *ret_known: the format is one of the kernel, and was not made from the text.
 */
int must_check import_kinds_record(struct import_kinds *kinds, const char *name, size_t name_len, const char *text,
				   size_t len, struct buf *record, bool *ret_whole, bool *ret_known);

/* Returns the id of a format by its names, from the file or from here; 0: there is none. */
uint16_t import_kinds_id(struct import_kinds *kinds, const char *system, const char *name);

/*
 * Does the same for a format whose fields are given as in kinds.c, and makes it if it is missing; 0: there are too
 * many. A name may have several formats: that of the file, or one for each list of fields.
 */
uint16_t import_kinds_make(struct import_kinds *kinds, const char *system, const char *name, const char *fields,
			   const char *print);

/* Returns the offset at which the fields of a record begin that are not common ones. */
uint32_t import_kinds_common(const struct import_kinds *kinds);

/* Returns the formats of all records, including those of the file. They are valid until another one is made. */
const struct writer_format *import_kinds_formats(const struct import_kinds *kinds, size_t *ret_nr);

#endif
