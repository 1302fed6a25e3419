/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_CTF_CTF_INTERNAL_H
#define WEFT_FORMATS_EXPORT_CTF_CTF_INTERNAL_H

#include "formats/export/export.h"
#include "formats/export/folder.h"
#include "lib/base/out.h"
#include "lib/base/u64_map.h"
#include "lib/event/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;

/*
 * Private to ctf*.c: the state of the exporter. Each buffer is a trace of CTF: a metadata file and a stream file for
 * each CPU.
 */
struct ctf_stream {
	struct out *packet; /* the packet that is being filled: its head is written last */
	/* times of the first and last event of the packet; `last` stays valid after the packet was written */
	uint64_t begin, last;
	uint64_t discarded; /* events lost in this stream so far */
	uint32_t events;    /* in the packet */
	bool begun;         /* some packet was written */
};

struct ctf_buffer {
	const struct context *context;
	char word[FOLDER_WORD_MAX]; /* name of its folder; "": the file has one buffer only */
	struct u64_map streams;     /* by CPU: struct ctf_stream */
};

struct ctf {
	struct export export; /* first */
	struct kinds kinds;   /* struct ctf_kind */
	struct ctf_buffer *buffers;
	size_t nr_buffers;
	struct out metadata;
	size_t limit; /* bytes of a packet */
	size_t nr_streams;
	uint64_t first; /* the time of the first event of all buffers */
	bool has_date;
	int64_t date_offset;
	uint64_t cut, uncounted, backwards;
};

/* Writes the metadata of a buffer into ctf->metadata. */
void ctf_put_metadata(struct ctf *ctf, size_t buffer);

#endif
