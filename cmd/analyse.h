/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_ANALYSE_H
#define WEFT_CMD_ANALYSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/command.h"
#include "cmd/options/decode.h"
#include "cmd/options/option_rows.h"
#include "cmd/options/reading.h"
#include "lib/answers/frame/analysis.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/meaning/clock/face.h"
#include "lib/meaning/reader/query.h"

struct explained;
struct fail;
struct reader;
struct guest_host;

/*
 * What every analysis of a file has in common: the file, the part of it, the rows, and how the tables are printed. The
 * command of an analysis has analyse_argp as a child whose input is a struct analyse that begins as ANALYSE_INIT, and
 * calls analyse_run().
 */
typedef int analyse_work(void *arg, struct reader *reader, struct fail *fail);

/* So much more is read before and after the chosen time, which is stored: 0 and UINT64_MAX, if none was. */
struct analyse_margin {
	uint64_t ns;
	uint64_t *since, *until;
};

struct analyse {
	const char *input;
	struct query query;
	struct findings_options findings;
	struct option_words tables;
	const char *folder;   /* the tables become files in it, as CSV; NULL: they are printed */
	enum face_kind face;  /* how moments are shown */
	uint64_t every_ns;    /* shows the course of the figures over intervals of this length; 0: only the whole */
	uint64_t top_as_text; /* rows of each table in text form, unless --top is given; 0: those of the analysis */
	char **argv;          /* the COMMAND to record instead of reading a file; or NULL */
	bool only_command;    /* records only the COMMAND and its children */
	bool lines;           /* the analysis prints lines before its tables */
	bool only_lines;      /* and no tables */
	bool shape;           /* set by analyse_run(): --format schema without a file */
	bool top_given;
	struct reading reading;
	struct decode decode; /* weft hist has its options */
	bool selects; /* the reader gives only the events that the query chooses, and not all that an analysis needs */
	bool in_batches; /* analyse_read(): the work reads with struct batches only; set by analyse_run() */
	/* For what lies outside of the chosen time, and has to do with it; NULL: nothing does. */
	const struct analyse_margin *margin;
	const struct guest_host *host; /* NULL: it cannot be asked for */
	/* Tried first, with a reader that is not started; -EAGAIN: the work has to do it. NULL: there is none */
	analyse_work *in_slices;
	/* Set by analyse_run(): */
	bool empty; /* the first table has no rows */
	int to;     /* an open file that gets the answer; 0: standard output */
};

#define ANALYSE_INIT                                                                        \
	{                                                                                   \
		.input = "trace.dat", .query = QUERY_INIT, .findings = {.top = UINT64_MAX } \
	}

extern const struct options analyse_options;
/* Runs the command of an analysis without options of its own. */
int analyse_only_run(const struct command *command, const struct analysis_ops *ops, int argc, char **argv);
/* Defines such a command: NAME_command of NAME_analysis, with what its --help says, and its other members. */
#define ANALYSE_COMMAND(ident, says, ...)                                                                     \
	static int ident##_run(int argc, char **argv)                                                         \
	{                                                                                                     \
		return analyse_only_run(&ident##_command, &ident##_analysis, argc, argv);                     \
	}                                                                                                     \
                                                                                                              \
	static const struct options ident##_options = {                                                       \
		.children = (const struct options_child[]){ { &analyse_options, 0, 0, NULL }, { 0 } },        \
		.args_doc = ANALYSE_ARGS,                                                                     \
		.doc = (says),                                                                                \
	};                                                                                                    \
                                                                                                              \
	const struct command ident##_command = {                                                              \
		.name = #ident, .group = "read", .options = &ident##_options, .run = ident##_run, __VA_ARGS__ \
	}
/* Takes the value of --format into an enum table_format. An unknown one is a usage error. */
void analyse_take_format(const struct option_row *row, void *format, char *name, struct argp_state *state);
/* Arranges the findings and prints them. */
int must_check analyse_print(struct findings *findings, const struct findings_options *options, struct fail *fail);
/* The args_doc of the command of an analysis. */
#define ANALYSE_ARGS "[FILE | -- COMMAND...]"

/*
 * Opens the file, gives up rights, and lets `work` read the wanted part. Damage of the file is reported after the work.
 */
int must_check analyse_read(const struct analyse *analyse, analyse_work *work, void *arg, struct fail *fail);

/*
 * Reads the file once and prints what the analyses found. Returns the exit status and releases `analyse`. If there is a
 * COMMAND, it is first recorded as by `weft record --for` the analysis, and its exit status is returned unless weft
 * failed.
 */
int analyse_run(struct analyse *analyse, const struct analysis_ops *ops, const void *options);

/*
 * Reads a file of weft flight and prints why its trigger came, or with explained::brief only a line if there is
 * something to say. Returns the exit status and releases `explained`.
 */
int analyse_trigger(const char *input, struct explained *explained, enum table_format format);

#endif
