/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TRACE_CMD_VERBS_H
#define WEFT_CMD_TRACE_CMD_VERBS_H

#include <stdbool.h>

/* The commands of trace-cmd besides report, and their options: what each is in weft. */

/* What an option of trace-cmd becomes. */
enum trace_cmd_how {
	KEEP,  /* the same option; `to` NULL: with the same letter or name */
	AS,    /* the option `to`, with the same value if there is one */
	AS_KB, /* the option `to`, whose value is in KB */
	AS_S,  /* the option `to`, whose value is in seconds; AS_MS, AS_US: in other units */
	AS_MS,
	AS_US,
	AS_MASK,   /* the same option; the value is a hexadecimal mask, -1 for all */
	AS_FILTER, /* -f: several behind one -e are all needed */
	DROP,      /* nothing: what it asks for is so in any case, or has no effect here */
	REFUSE,    /* an error; `to` says what to use instead */
};

struct trace_cmd_row {
	const char *name; /* "e" or "file-version" */
	bool has_value;
	enum trace_cmd_how how;
	const char *to;
};

/* The commands. Behind the options come words: of a command to run, or that the command takes as they are. */
struct trace_cmd_verb {
	const char *name;
	const char *weft; /* its command; NULL: there is none */
	const struct trace_cmd_row *rows;
	const char *always[3];      /* options that are always given */
	const char *refused;        /* without a command of weft: what to use */
	const char *without_buffer; /* an option given if no -B is */
	bool runs_command;          /* the words behind the options are a command */
};

/* The last one has no name. */
extern const struct trace_cmd_verb trace_cmd_verbs[];

#endif
