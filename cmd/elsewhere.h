/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_ELSEWHERE_H
#define WEFT_CMD_ELSEWHERE_H

#include <argp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/options/option_rows.h"
#include "cmd/options/option_value.h"

struct fail;
struct record_options;
struct record_result;
struct several_report;

/*
 * The options with which `weft record` records another machine, and the recording. The words that the other machine
 * gets are those of the command line without these options; options about the file are known there and have no effect.
 */
struct elsewhere_arguments {
	struct option_words hosts;
	const char *host; /* the one to record: the first, or what the caller sets; NULL: this machine */
	const char *rsh;
	int min_ok;           /* so many recordings have to be made; 0: all */
	const sigset_t *mask; /* as of elsewhere_options */
	/* Used while parsing: what is left out of the words */
	char **words;
	bool *left_out;
	int nr_words;
};

extern const struct options elsewhere_options;

/* As session_run() of the options: their output, temp_dir, mode and argv. The caller frees arguments->left_out. */
int must_check elsewhere_record(struct elsewhere_arguments *arguments, const struct record_options *options,
				struct record_result *ret, struct fail *fail);

/*
 * For several machines: the file of one, "OUT-HOST.dat" for "OUT.dat", which the caller frees; NULL: no memory.
 */
char *elsewhere_file(const struct elsewhere_arguments *arguments, size_t index, const char *output);
/* Prints the table of what became of them, and returns the exit status. */
int elsewhere_tell(const struct elsewhere_arguments *arguments, const struct several_report *reports,
		   const char *output, bool fail_on_lost, bool quiet);

/*
 * The other end, in a process of `weft serve` (record.c): records as the words say, without a file, and writes what
 * became of it to outcome_fd. Returns the exit status: 0, or that of a failed recording, which it has reported.
 */
struct far_recording {
	const char *dir; /* of the parts */
	uint64_t room;   /* record_options.forward_room */
	bool allow_command;
};

int record_far(int argc, char **argv, int outcome_fd, int ping_fd, const struct far_recording *far);

#endif
