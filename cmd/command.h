/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_COMMAND_H
#define WEFT_CMD_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/command_list.h"
#include "cmd/streams.h"
#include "lib/ground/base/fail.h"

struct far_side;
struct json_member;

/*
 * A subcommand: a file in cmd/ with a const struct command, and one line in command_list.h.
 * Its struct options (cmd/options/option_rows.h) is the only place that describes an option: help, man pages and
 * completions are made from it (`weft __describe`). Every option has a long name. Its metavar is the type that
 * completion uses: FILE, DIR, EVENT, FUNCTION, TRACER, CLOCK, PID, CPULIST, INSTANCE, FORMAT, OPTION, SIZE, TIME, N,
 * COMMAND, USER, TRIGGER, FILTER... Words in lower case with '|' between them, as in "zstd|none", are the choices
 * themselves. The same holds for args_doc: "[FILE]", "[events|tracers|clocks]".
 */
struct command {
	const char *name;
	const char *former;  /* the name that it had before, which still works and is listed nowhere; or NULL */
	const char *summary; /* one line, lower case, no full stop */
	const char *brief;   /* the words of the overview that `weft help` prints, at most 15 letters; NULL if hidden */
	const char *examples; /* command lines that --help shows, each "  weft NAME ..."; NULL: none */
	const char *group;    /* of `weft help`: "record", "read", "trace", "kernel"; NULL hides the command */
	const struct options *options;
	const struct json_member *answer;  /* of the JSON object that it prints; NULL: it prints none */
	int (*run)(int argc, char **argv); /* argv[0] is "weft NAME"; returns the exit status */
	/* The same for the weft of another machine, in a process of `weft serve`; NULL: it is not run so */
	int (*run_far)(int argc, char **argv, const struct far_side *far);
};

enum exit_status {
	EXIT_OK = 0,
	EXIT_FAILED = 1,          /* a message has said what failed */
	EXIT_USAGE = 2,           /* the command line is wrong */
	EXIT_LOST = 123,          /* record --fail-on-lost: events were lost */
	EXIT_RECORD_FAILED = 125, /* record could not do its work; other statuses are the COMMAND's */
};

#define COMMAND_EXTERN(name) extern const struct command name##_command;
COMMANDS(COMMAND_EXTERN)
#undef COMMAND_EXTERN

/* All commands, then NULL (commands.c). */
extern const struct command *const commands[];

/* Returns the command with this index in commands[]; NULL after the last. */
const struct command *command_at(size_t index);
const struct command *command_find(const char *name);

/* Whether `weft help NAME` opens a topic or prints a guide. */
bool help_knows(const char *name);
/* Whether it is a topic, which is a manual page. */
bool topic_knows(const char *name);
/* The topics of `weft help`, for completion; false after the last. */
bool help_topic(size_t index, const char **ret_name, const char **ret_about);

/* The command that answers questions about a word of every day, such as block about "disk"; NULL: none is known. */
const char *command_about(const char *word);

/* Reports that there is no such command, with similar names. Returns EXIT_USAGE. */
int command_unknown(const char *name);

/*
 * Calls argp_parse() with weft's conventions: usage errors exit with EXIT_USAGE; -?, --help and --usage take effect in
 * their order on the command line.
 */
void command_parse(const struct command *command, int argc, char **argv, unsigned flags, void *input);

/* Prints "weft: TEXT" to standard error. Returns EXIT_FAILED, or EXIT_USAGE for fail_usage(). */
int command_failed(const struct fail *fail);

/*
 * For trace-cmd's place, whose statuses are others: the status of a wrong command line, EXIT_USAGE if it is not
 * changed, and the errno of the last failure that command_failed() has printed, 0 if there was none.
 */
void command_usage_status(int status);
int command_errno(void);
__attribute__((format(printf, 1, 2))) void command_warn(const char *format, ...);
/* From here on `send` gets the text of each such line; a line of which it returns false is printed as before. */
void command_warn_through(bool (*send)(void *arg, const char *line), void *arg);

/*
 * Writes a text that may be large, and returns its failure. A failure of printf() is reported by command_flush().
 */
int command_write(const void *data, size_t len, struct fail *fail);
/* Writes out what was printed. Reports an error if standard output has not taken every byte up to now. */
int command_flush(struct fail *fail);

#endif
