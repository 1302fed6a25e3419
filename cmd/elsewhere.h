/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_ELSEWHERE_H
#define WEFT_CMD_ELSEWHERE_H

#include <argp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
	const char *push;     /* a weft to bring there; NULL: none */
	bool agentless;       /* a shell records there, without a weft */
	int min_ok;           /* so many recordings have to be made; 0: all */
	const sigset_t *mask; /* as of elsewhere_options */
	/* Used while parsing: a copy of the words, and what is left out of them */
	char **words;
	bool *left_out;
	int nr_words;
};

extern const struct options elsewhere_options;

/* As session_run() of the options: their output, temp_dir, mode and argv. */
int must_check elsewhere_record(const struct elsewhere_arguments *arguments, const struct record_options *options,
				struct record_result *ret, struct fail *fail);

/*
 * For several machines: the file of one, "OUT-HOST.dat" for "OUT.dat", which the caller frees; NULL: no memory.
 */
char *elsewhere_file(const struct elsewhere_arguments *arguments, size_t index, const char *output);
/* Prints the table of what became of them, and returns the exit status. */
int elsewhere_tell(const struct elsewhere_arguments *arguments, const struct several_report *reports,
		   const char *output, bool fail_on_lost, bool quiet);

/*
 * Runs a command whose option --on names one machine there, and prints what it prints. Returns its exit status;
 * EXIT_FAILED when it cannot be run. It takes its --on and --rsh by elsewhere_one_options. elsewhere_fetch() makes a
 * file of the standard output instead, which appears when the command has ended with 0.
 */
extern const struct options elsewhere_one_options;
struct destination;
int elsewhere_command(const struct elsewhere_arguments *arguments, bool has_command);
int elsewhere_fetch(const struct elsewhere_arguments *arguments, const char *output, mode_t mode);

/*
 * The same of a command that relays pages (lib/pages/stream/relay.h) as long as somebody reads them, in a process of
 * its own. Whoever has these descriptors may be in the sandbox.
 */
struct elsewhere_pipe {
	int pages; /* what the command prints */
	int said;  /* a file in memory with its messages, and those of what leads there */
	int talk;  /* a byte asks it to end; at its end it answers with its exit status */
};
#define ELSEWHERE_PIPE_INIT \
	{                   \
		-1, -1, -1  \
	}
int must_check elsewhere_pipe_open(const struct elsewhere_arguments *arguments, bool has_command,
				   struct elsewhere_pipe *ret, struct fail *fail);
void elsewhere_pipe_stop(const struct elsewhere_pipe *pipe);
/* Closes it, waits until the command has ended, and prints what it said. Its exit status. */
int elsewhere_pipe_close(struct elsewhere_pipe *pipe);

/* Whether the words name another machine, before they are read: then the tasks that options name are there. */
bool elsewhere_is_named(int argc, char **argv);
void elsewhere_release(struct elsewhere_arguments *arguments);

/*
 * The other end: what a process of `weft serve` has for command.run_far. That of record records as the words say,
 * without a file, and writes what became of it to outcome_fd. Who may start a serve need not be one who may do more
 * than that, so no run_far() writes a file of a name in the words, or starts a program that is named there.
 */
struct far_side {
	const char *dir; /* of the parts */
	uint64_t room;   /* record_options.forward_room */
	bool allow_command;
	int outcome_fd, ping_fd;
};

#endif
