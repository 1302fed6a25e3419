/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_UNKNOWN_LINES_H
#define WEFT_FILES_IMPORT_UNKNOWN_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is not understood, and what the user is told of it: how many lines of each kind, and the first of them. */
enum unknown_lines_kind {
	UNKNOWN_LINES_OTHER,   /* nothing about it looks like an event */
	UNKNOWN_LINES_EVENT,   /* has a task, a CPU and a time, but no event that can be kept */
	UNKNOWN_LINES_GRAPH,   /* looks like a line of the function graph */
	UNKNOWN_LINES_STACK,   /* " => NAME" that no stack precedes */
	UNKNOWN_LINES_DEEP,    /* of a program's stack: a record has no place for this caller */
	UNKNOWN_LINES_PERF,    /* an event of perf script that is none of the kernel's trace events */
	UNKNOWN_LINES_NO_TASK, /* has a CPU or a time, and no task */
	UNKNOWN_LINES_VERBOSE, /* the option verbose */
	UNKNOWN_LINES_LOST,    /* a loss of events that does not name a CPU */
	UNKNOWN_LINES_MMIO,    /* of the tracer mmiotrace */
	UNKNOWN_LINES_UFTRACE, /* of uftrace */
	UNKNOWN_LINES_STRACE,  /* of strace */
	UNKNOWN_LINES_LONG,    /* of an event that has more text than a kernel prints */
	UNKNOWN_LINES_KINDS
};

enum { UNKNOWN_LINES_SHOWN = 3, UNKNOWN_LINES_WIDTH = 120 };

struct unknown_lines {
	uint64_t counts[UNKNOWN_LINES_KINDS];
	unsigned nr_shown;
	struct unknown_lines_line {
		enum unknown_lines_kind kind;
		uint64_t number; /* of the line, from 1 on */
		size_t len;
		char text[UNKNOWN_LINES_WIDTH];
	} shown[UNKNOWN_LINES_SHOWN]; /* lines that look like events come before others */
};

enum unknown_lines_kind unknown_lines_kind_of(const char *line, size_t len);

/* Names a kind in the plural: "lines that look like events of perf script". */
const char *unknown_lines_name(enum unknown_lines_kind kind);

/* Says what to do about lines of this kind, or returns NULL. */
const char *unknown_lines_advice(enum unknown_lines_kind kind);

void unknown_lines_add(struct unknown_lines *told, uint64_t number, const char *line, size_t len);
void unknown_lines_add_as(struct unknown_lines *told, enum unknown_lines_kind kind, uint64_t number, const char *line,
			  size_t len);

/* The number of lines, and of those that look like events. */
uint64_t unknown_lines_count(const struct unknown_lines *told);
uint64_t unknown_lines_events(const struct unknown_lines *told);

#endif
