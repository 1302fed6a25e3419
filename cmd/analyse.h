/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_ANALYSE_H
#define WEFT_CMD_ANALYSE_H

#include "cmd/command.h"
#include "lib/analysis/analysis.h"
#include "lib/analysis/findings.h"
#include "lib/analysis/pass.h"
#include "lib/base/cpus.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct reader;

/*
 * What every analysis of a file has in common: which file, which part of it, whose rows, and how the tables are
 * printed. A command for an analysis has analyse_argp as a child whose input is a struct analyse, begun with
 * ANALYSE_INIT, and calls analyse_run().
 */
struct analyse {
	const char *input;
	const char *instance; /* NULL: all buffers */
	const char *since, *until;
	int32_t *pids;
	const char **comms;
	struct pass_filter filter;
	struct cpus cpus;
	struct findings_options findings;
	uint64_t top_as_text; /* rows of a table for people, unless --top is given */
	char **argv;          /* a COMMAND to record, instead of a file; NULL */
	bool only_command;    /* then of nothing else than it and its children */
	bool lines;           /* the analysis prints lines, in front of its tables */
	bool top_given, no_sandbox, trust_size;
	/* Set by analyse_run(): */
	bool in_batches; /* the file is read by pass_run() */
	bool empty;      /* the first table has no rows */
};

#define ANALYSE_INIT                                                                       \
	{                                                                                  \
		.input = "trace.dat", .findings = { .top = UINT64_MAX }, .top_as_text = 25 \
	}

extern const struct argp analyse_argp;
/* The children of such a command. */
extern const struct argp_child analyse_children[];
/* The parser of one without options of its own: its input is the struct analyse. */
error_t analyse_only(int key, char *arg, struct argp_state *state);
/* The index of `name` in the choices of --by; a usage error names them. */
size_t analyse_by(const char *const *choices, size_t nr, const char *name, struct argp_state *state);
/* The value of --format; a wrong one is a usage error. */
enum table_format analyse_format(const char *name, struct argp_state *state);
/* The args_doc of such a command. */
#define ANALYSE_ARGS "[FILE | -- COMMAND...]"

/*
 * Opens the file, gives up rights, and has `work` read what is wanted of it; damage of the file is told when the work
 * is done.
 */
typedef int analyse_work(void *arg, struct reader *reader, struct fail *fail);
int must_check analyse_read(const struct analyse *analyse, analyse_work *work, void *arg, struct fail *fail);

/*
 * Reads the file once and prints what the analyses found. Returns the exit status and releases `analyse`. Where a
 * COMMAND was given, it is recorded first, as `weft record --for` the analysis would, and its exit status is returned
 * unless weft failed.
 */
int analyse_run(struct analyse *analyse, const struct analysis_ops *ops, const void *options);

#endif
