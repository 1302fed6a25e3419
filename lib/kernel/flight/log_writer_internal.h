/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_LOG_WRITER_INTERNAL_H
#define WEFT_KERNEL_FLIGHT_LOG_WRITER_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/flight/condition.h"
#include "lib/kernel/flight/trigger_hit_internal.h"
#include "lib/kernel/record/flight_recording.h"

enum { EXPLAINED = 512 };

/*
 * One line that says why a trigger came, for the log and the line of JSON. The file is read by a process of its own,
 * because it has what all tasks of the machine could write into it: `program` is run with the file as its last
 * argument, and what it prints in EXPLAINER_MS is the line; if it takes longer, the line says so. False: it has nothing
 * to say. The next piece is written only then, and an emulated or loaded machine takes seconds.
 */
enum { EXPLAINER_MS = 30000 };
bool explainer_ask(const char *const *program, const char *file, char into[EXPLAINED]);

struct budget;
struct budget_files;
struct json;

/*
 * A piece of the flight that is, or will be, a file: from some time before the first trigger to some time after the
 * last one.
 */
struct piece {
	unsigned number; /* 1, 2, 3...; 0: there is no piece */
	uint64_t from, to;
	uint64_t time;   /* of the first trigger */
	int64_t unix_ns; /* the same as the time of day */
	uint64_t latest; /* `to` grows up to here */
	char name[CONDITION_NAME];
	char reason[WATCH_REASON];
	unsigned triggers;
	uint32_t sample_of; /* it stands for so many (lib/kernel/record/sampling.h); 0: for itself */
};

/* Writes a piece on a thread of its own: the file, and the line beside it. One at a time. */
struct log_writer {
	struct flight_recording *recording;
	const char *dir;
	const char *flight; /* its name */
	const struct budget *budget;
	struct budget_files *files; /* owned: those that the budget counts */
	mode_t mode;
	bool ragged;                /* struct flight_recording_file */
	const char *const *explain; /* of flight_options; NULL: nothing does */
	int done_fd;                /* becomes readable when it is written */
	bool busy;
	pthread_t thread;
	uint64_t lost; /* events that the kernel lost until the last file, which was told */
	struct piece piece;
	/* valid after log_writer_end(): */
	char *path;
	struct flight_recording_written written;
	unsigned removed; /* older files, to keep to the budget */
	uint64_t took_ns;
	char why[EXPLAINED]; /* one line that explains the trigger; "": none does */
	int err;
	struct fail fail;
};

/* "DIR/HOST-2026-11-25T08-12-03.456-TRIGGER", of a time in UTC. The caller frees *ret. */
int must_check log_file_name(const char *dir, int64_t unix_ns, const char *trigger, char **ret, struct fail *fail);
/* Writes the line of JSON beside a file: `put` puts one object. */
int must_check log_file_beside(const char *path, mode_t mode, void (*put)(struct json *json, const void *arg),
			       const void *arg, struct fail *fail);

/* The caller fills what is before `done_fd`. */
int must_check log_writer_init(struct log_writer *writer, struct fail *fail);
/* Fails at once if no file could be written into the directory. */
int must_check log_writer_check(const char *dir, struct fail *fail);
int must_check log_writer_begin(struct log_writer *writer, const struct piece *piece, struct fail *fail);
/* Waits for the end. */
void log_writer_end(struct log_writer *writer);
/* After log_writer_end() without an error: says what was written, a line at a time. */
void log_writer_tell(struct log_writer *writer, void (*tell)(const char *text));
/* Releases what is valid after log_writer_end(). */
void log_writer_forget(struct log_writer *writer);
void log_writer_release(struct log_writer *writer);

#endif
