/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_FLIGHT_H
#define WEFT_KERNEL_FLIGHT_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/flight/budget.h"
#include "lib/kernel/flight/service.h"
#include "lib/kernel/flight/upload.h"

struct condition;
struct fail;
struct setup;

/*
 * A flight recorder: it records without end, holds the last seconds in memory (lib/kernel/record/flight_recording.h),
 * and writes a file of the time before and after each trigger. Triggers are conditions (condition.h), `weft flight
 * dump` (control_socket.h) and SIGUSR1. It ends by a signal, after what a trigger has begun is written.
 *
 * A trigger writes a marker into the trace, "weft: trigger NAME: REASON". A second one before the end of the file
 * extends the file; one of the same name within the cool-down after its file is only counted. Beside DIR/FILE.dat there
 * is FILE.json, one line.
 */
struct flight_options {
	const struct setup *setup;
	const struct condition *conditions;
	size_t nr_conditions;
	const char *name; /* of the socket */
	const char *dir;  /* of the files */
	mode_t mode;
	bool ragged; /* a file has what is held of a CPU, even from before the time that all CPUs have */
	uint64_t keep_ns, before_ns, after_ns, cool_ns;
	uint64_t max_memory; /* of the held chunks, in bytes */
	bool in_kernel;      /* nothing is read before a trigger: struct flight_recording_options */
	/* The setup's main instance in mode persistent (persistent.h): what it holds is saved first. NULL: none. */
	const char *persistent;
	struct budget budget; /* of the files */
	uint64_t duration_ns; /* 0: until a signal comes */
	/* Gets each message when it occurs, one line. `file`: it is about a file that was written. */
	void (*tell)(const char *text);
	void (*began)(const struct flight_options *options); /* tracing is on and every condition is watched */
	/* A program and its first arguments that explains a file in a line (explainer_internal.h); NULL: none does. */
	const char *const *explain;
	/* Everything is set up and removed again: nothing is recorded, and no other process can ask. */
	bool tries;
	struct service_options service;
	struct upload_options upload;
};

struct flight_result {
	uint64_t triggers, files, failed;
	uint64_t lost; /* events that the kernel lost since the start */
	uint64_t time_ns;
	bool reload; /* it ended because of new options */
};

/* Everything that was changed in the kernel is restored, also after an error. */
int must_check flight_run(const struct flight_options *options, struct flight_result *ret, struct fail *fail);

#endif
