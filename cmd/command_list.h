/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_COMMAND_LIST_H
#define WEFT_CMD_COMMAND_LIST_H

#include "lib/answers/frame/analysis_list.h"

/*
 * All commands, in the order of `weft help`: NAME_command is in the file of its name, except stop and restart, which
 * are in tracing_on.c. A new command has one line here; that of an analysis has none, because the analysis has one.
 */
/* clang-format off */
#define COMMANDS(X) \
	X(record) \
	X(stream) \
	X(top) \
	X(flight) \
	X(recover) \
	X(serve) \
	X(extract) \
	X(snapshot) \
	X(bench) \
	X(report) \
	X(view) \
	X(trace_cmd) \
	X(export) \
	X(lake) \
	X(sql) \
	X(info) \
	X(check) \
	X(pack) \
	X(convert) \
	X(redact) \
	X(split) \
	X(merge) \
	X(import) \
	X(brief) \
	ANALYSES(X) \
	X(diff) \
	X(mcp) \
	X(start) \
	X(stop) \
	X(restart) \
	X(clear) \
	X(set) \
	X(reset) \
	X(show) \
	X(mark) \
	X(profile_functions) \
	X(stack) \
	X(list) \
	X(probe) \
	X(hist) \
	X(stat) \
	X(doctor) \
	X(instance) \
	X(help) \
	X(describe)
/* clang-format on */

#endif
