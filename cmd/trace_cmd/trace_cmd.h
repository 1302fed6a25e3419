/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TRACE_CMD_TRACE_CMD_H
#define WEFT_CMD_TRACE_CMD_TRACE_CMD_H

#include <stdbool.h>

struct fail;
struct trace;

/*
 * The command line of trace-cmd, for `weft trace-cmd` and for weft called as trace-cmd. argv[0] of each command is
 * "trace-cmd NAME"; it returns the exit status that trace-cmd would.
 */
enum { TRACE_CMD_USAGE = 255 };

int trace_cmd_report(int argc, char **argv);
int trace_cmd_sqlhist(int argc, char **argv);
int trace_cmd_dump(int argc, char **argv);
int trace_cmd_list(int argc, char **argv);
int trace_cmd_options(int argc, char **argv);
int trace_cmd_reset(int argc, char **argv);
int trace_cmd_stat(int argc, char **argv);

/* Turns the events of the instance off, "" being the top one, as extract does when it has them. */
void trace_cmd_end_events(const char *name);

/* Every other command: its command line becomes that of a command of weft. */
int trace_cmd_translate(const char *name, int argc, char **argv);

/* Prints the text to standard error; returns the status of trace-cmd's failures, the error's number. */
int trace_cmd_failed(int err, const struct fail *fail);

/* What report prints instead of events, REPORT_EVENTS: nothing. Of several the first of this list is printed. */
enum report_list {
	REPORT_EVENTS,
	REPORT_ENDIAN,
	REPORT_PAGE_SIZE,
	REPORT_FORMATS,
	REPORT_CHECK,
	REPORT_FUNCTIONS,
	REPORT_PRINTK,
	REPORT_NAMES,
	REPORT_CPUS,
	REPORT_VERSION,
	REPORT_UNAME,
	REPORT_STAT,
};

struct report_lists {
	enum report_list what;
	bool first, last; /* REPORT_CPUS: with the times of the first and the last event */
	bool nanoseconds;
};

int report_list(const struct report_lists *lists, struct trace *trace, struct fail *fail);

#endif
