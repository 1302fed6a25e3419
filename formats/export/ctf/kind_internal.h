/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_CTF_KIND_INTERNAL_H
#define WEFT_FORMATS_EXPORT_CTF_KIND_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/meaning/schema/format.h"

struct event;
struct out;

/*
 * A type of event in CTF: how its records become payloads, and how the metadata declares them. Integers stay in the
 * byte order of the recording, so adjacent fields are copied at once. Fields beyond the end of a short record are
 * zeros, an empty text or no element. Borrows the format.
 */
struct ctf_kind {
	const struct format *format; /* NULL: none in the file; the payload is the record's bytes */
	int32_t id;
	size_t room; /* the bytes of all STEP_COPY together */
	struct ctf_step {
		enum { STEP_COPY, STEP_TEXT, STEP_SEQUENCE, STEP_STACK } what;
		uint32_t offset, size;     /* for STEP_COPY: the bytes of the record */
		const struct field *field; /* for the other steps */
	} * steps;
	size_t nr_steps;
};

/* NULL without memory. */
struct ctf_kind *ctf_kind_new(const struct format *format, int32_t id);
void ctf_kind_free(void *kind);

/* Writes the payload of a record; false when the record was too short. */
bool ctf_kind_put(const struct ctf_kind *kind, const struct schema_abi *abi, const struct event *event,
		  struct out *out);

/* Writes the declaration "event { ... };". */
void ctf_kind_declare(const struct ctf_kind *kind, struct out *out);

/* Writes an untrusted text as a quoted string of the metadata. */
void ctf_string(struct out *out, const char *text);

#endif
