/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_LOG_H
#define WEFT_FILES_IMPORT_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "lib/files/import/import.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/meaning/clock/zone.h"

struct fail;

/*
 * Lines of a log as lines of the kernel's text: a marker for each, at its time of day, by the task whose PID the line
 * names. Known forms, line by line: journalctl -o json, short-iso and short-iso-precise; syslog of RFC 5424 and of
 * RFC 3164, whose lines have no year; and what a pattern of strptime(3) finds. A time without a zone is one of `zone`.
 * A line without a time belongs to no event, and is counted.
 */
struct log_reader {
	struct import_source source; /* of the log */
	const char *pattern;         /* NULL: the known forms; '*' at its beginning: the time may stand anywhere */
	const struct zone *zone;
	int64_t now;       /* for years that are not said: no line is from the future */
	int64_t first;     /* of the first line, in ns since 1970; 0: there was none */
	int64_t unit;      /* what the times of the lines are rounded down to, in ns: the coarsest one */
	uint64_t no_times; /* lines without a time */
	struct buf in, out;
	size_t given; /* of `out` */
	bool ended;
};

/* A PID that no task has: of lines that name none. */
enum { LOG_NO_PID = 1 << 22 };

void log_reader_release(struct log_reader *reader);

/* For struct import_source: `arg` is the reader. */
int log_reader_read(void *arg, uint8_t *to, size_t size, struct fail *fail);

/* The samples for import_clock(), after the text was read. False: no memory. */
bool log_reader_samples(const struct log_reader *reader, struct buf *into);

#define LOG_CLOCK "realtime"

#endif
