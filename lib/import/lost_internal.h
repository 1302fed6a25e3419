/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_IMPORT_LOST_INTERNAL_H
#define WEFT_IMPORT_LOST_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads a line that tells of lost events: "CPU:1 [LOST 230 EVENTS]" of trace_pipe and of ftrace_dump_on_oops, "CPU:1
 * [230 EVENTS DROPPED]" of trace-cmd. Without a number it is PAGE_LOST_UNKNOWN. Returns false for any other line.
 */
bool lost_parse(const char *line, size_t len, uint32_t *ret_cpu, int64_t *ret_count);

#endif
