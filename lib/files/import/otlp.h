/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_OTLP_H
#define WEFT_FILES_IMPORT_OTLP_H

#include <stddef.h>
#include <stdint.h>

#include "lib/files/import/import.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"

struct fail;
struct trace;

/*
 * Spans of OpenTelemetry as lines of the kernel's text: OTLP/JSON, as the file exporter of its collector writes it (a
 * request on each line), or requests one after the other in any layout. For each span there are the two marks of its
 * begin and end (lib/meaning/event/mark.h), and a line with its ids and how it was joined to a task.
 * A span of a thread that lies inside the spans around it is one of the thread; any other one is a span of the process,
 * on a track with the trace's id.
 * Bounds: OTLP_SPANS_MAX spans, and OTLP_REQUEST_MAX bytes of a request.
 */
enum { OTLP_SPANS_MAX = 1 << 22, OTLP_REQUEST_MAX = 1 << 28, OTLP_VALUES_MAX = 1 << 22 };

/* How a span found its task. */
enum otlp_joined {
	OTLP_BY_THREAD,  /* an attribute has the kernel's number of the thread */
	OTLP_BY_NAME,    /* one thread of the process has this name, or the process has only one */
	OTLP_BY_PROCESS, /* the process alone is known */
	OTLP_BY_TIME,    /* nothing but when it was */
	OTLP_JOINED,
};

struct otlp_counts {
	uint64_t spans, joined[OTLP_JOINED];
	uint64_t crossing; /* those of a known thread that do not lie inside the one around them */
	uint64_t refused;  /* without a begin, an end or a name, or that end before they begin */
	uint64_t absent;   /* of a process that the recording does not know */
};

struct otlp;

/* `recording` is the file whose tasks they belong to, which is borrowed; or NULL: what the spans say is taken. */
int must_check otlp_new(struct trace *recording, struct otlp **ret, struct fail *fail);
void otlp_free(struct otlp *otlp);

/* Reads all spans. Call it once. */
int must_check otlp_take(struct otlp *otlp, const struct import_source *source, struct fail *fail);

/* Then for struct import_source: `arg` is the struct otlp. */
int must_check otlp_read(void *arg, uint8_t *to, size_t size, struct fail *fail);

/* The samples for import_clock(), whose clock is LOG_CLOCK. False: no memory. */
bool otlp_samples(const struct otlp *otlp, struct buf *into);

const struct otlp_counts *otlp_counts(const struct otlp *otlp);

/* "thread", "name", "process", "time" */
const char *otlp_joined_word(enum otlp_joined joined);

#endif
