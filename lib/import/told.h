/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_IMPORT_TOLD_H
#define WEFT_IMPORT_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is not understood, and what the user is told of it: how many lines of each kind, and the first of them. */
enum told_kind {
	TOLD_OTHER,   /* nothing about it looks like an event */
	TOLD_EVENT,   /* has a task, a CPU and a time, but no event that can be kept */
	TOLD_GRAPH,   /* looks like a line of the function graph */
	TOLD_STACK,   /* " => NAME" that no stack precedes */
	TOLD_DEEP,    /* of a program's stack: a record has no place for this caller */
	TOLD_PERF,    /* an event of perf script that is none of the kernel's trace events */
	TOLD_NO_TASK, /* has a CPU or a time, and no task */
	TOLD_VERBOSE, /* the option verbose */
	TOLD_LOST,    /* a loss of events that does not name a CPU */
	TOLD_LONG,    /* of an event that has more text than a kernel prints */
	TOLD_KINDS
};

enum { TOLD_SHOWN = 3, TOLD_WIDTH = 120 };

struct told {
	uint64_t counts[TOLD_KINDS];
	unsigned nr_shown;
	struct told_line {
		enum told_kind kind;
		uint64_t number; /* of the line, from 1 on */
		size_t len;
		char text[TOLD_WIDTH];
	} shown[TOLD_SHOWN]; /* lines that look like events come before others */
};

enum told_kind told_kind_of(const char *line, size_t len);

/* Names a kind in the plural: "lines that look like events of perf script". */
const char *told_name(enum told_kind kind);

/* Says what to do about lines of this kind, or returns NULL. */
const char *told_advice(enum told_kind kind);

void told_add(struct told *told, uint64_t number, const char *line, size_t len);
void told_add_as(struct told *told, enum told_kind kind, uint64_t number, const char *line, size_t len);

/* The number of lines, and of those that look like events. */
uint64_t told_count(const struct told *told);
uint64_t told_events(const struct told *told);

#endif
