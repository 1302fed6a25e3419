/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_EXPORT_EVENTS_H
#define WEFT_FORMATS_EXPORT_EXPORT_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct export;
struct fail;
struct out;
struct reader;
struct reader_consumer;

/* The driver of an exporter: gives it the events of a reader, and passes on what it writes. */
struct export_events {
	struct reader *reader; /* started */
	struct export *export;
	struct out *out; /* the export's */
	uint64_t limit;  /* of events */
	/* Takes what was written so far. */
	int (*write)(void *arg, const void *data, size_t len, struct fail *fail);
	/* Reads the events in a pass of its own and shows each to `after`; NULL: they are read here. */
	int (*pass)(void *arg, const struct reader_consumer *after, struct fail *fail);
	void *arg;
	uint64_t events, gaps, bytes; /* results */
};

int must_check export_events(struct export_events *driver, struct fail *fail);

/* Gives all events to an exporter that writes nothing, such as that of the other file of --diff. */
int must_check export_all(struct export *export, struct reader *reader, struct fail *fail);

#endif
