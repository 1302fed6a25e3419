/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_REWRITE_REDACT_H
#define WEFT_FILES_REWRITE_REDACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/files/rewrite/recast.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/siphash.h"

struct fail;
struct trace;

/*
 * Writes a recording again without what identifies a person, a host, a file, an address or a program. Each byte of the
 * new file is written by a rule that knows it: pages, texts and settings begin as zeros, and what no rule knows stays
 * so. Records keep their lengths, places and times. A name gets a stand-in of its length, the same one everywhere, and
 * addresses of one kind are shifted by one amount. The key decides both.
 * Not supported: the time of day, which is left out.
 */
struct redact_options {
	struct recast_options form;
	struct siphash_key key;
	const char *const *keep; /* globs: names of tasks that are kept */
	size_t nr_keep;
	bool pids; /* also PIDs are shifted */
	/* Words, one on a line, that must not be in the new file; NULL: nothing is checked. */
	const char *check;
};

struct redacted {
	uint64_t names, kept;      /* different names that were replaced and kept */
	uint64_t records, emptied; /* of which only the common fields are left */
	uint64_t size;             /* bytes of the new file */
	struct buf events, fields; /* of which nothing, and which of no rule is known: names, with blanks between */
	struct buf settings;       /* that were left out: names, with blanks between */
	uint64_t nr_settings;
};

void redacted_release(struct redacted *redacted);

/* -ENOKEY: a word of options::check is in the new file, which nobody should get; *fail says where. */
int must_check redact(struct trace *trace, const struct redact_options *options, int fd, struct redacted *ret,
		      struct fail *fail);

#endif
