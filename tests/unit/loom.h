/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_UNIT_LOOM_H
#define WEFT_TESTS_UNIT_LOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"

struct trace;

/*
 * Makes a trace in memory from a script of what happened, so that a test knows the right figures without weft.
 * Sub-buffers and records are laid out as the kernel's ring buffer does it (include/linux/ring_buffer.h); the container
 * is lib/pages/trace's.
 *	loom_init(&loom);
 *	loom_play(&loom, "0 1000 7 sched_waking comm=ls pid=8 prio=120 target_cpu=1\n"
 *			 "0 2000 7 sched_switch prev_comm=sh prev_pid=7 next_comm=ls next_pid=8\n"
 *			 "1 lost 12\n");
 *	trace = loom_trace(&loom);
 * A line is CPU, time in ns, PID, the name of the event and its fields, common_flags and common_preempt_count among
 * them; what is not named is 0. The times of one CPU do not go back. "CPU lost N" loses N events before the next one of
 * that CPU. Words have no blanks in them; a number may be hexadecimal,
 * and those of an array have commas between them. A line that begins with '+' is of the other
 * buffer, loom.other.
 * A mistake in a script fails the test (CHECK) and says where.
 */
enum { LOOM_CPUS = 4, LOOM_TYPES = 40, LOOM_SETTINGS = 8, LOOM_PAGE = 4096 };

struct loom {
	struct loom_type {
		const char *system, *name, *fields, *print;
		struct buf format;
		uint16_t id;
	} types[LOOM_TYPES];
	size_t nr_types;
	struct loom_cpu {
		struct buf pages;
		uint64_t ts, lost;
		bool open; /* the last page takes records */
		bool swap;
	} cpus[2 * LOOM_CPUS]; /* the second half is of the other buffer */
	struct buf names;      /* saved_cmdlines */
	const char *clock;     /* "local" unless set */
	const char *other;     /* the name of another buffer; NULL: there is none */
	const char *kallsyms;  /* NULL: no symbols */
	const char *printk;    /* printk_formats; NULL: none */
	const char *uname;     /* "Linux loom 6.12.0" unless set */
	struct loom_setting {
		const char *name, *text;
	} settings[LOOM_SETTINGS]; /* files of tracefs: { "current_tracer", "nop\n" } */
	size_t nr_settings;
	int version; /* version of the trace.dat: 7 unless set */
	bool swap;   /* of a machine with the other byte order; set it before anything is played */
};

/* Knows sched_switch, sched_waking, sched_wakeup, sched_process_fork, irq_handler_entry and irq_handler_exit. */
void loom_init(struct loom *loom);
void loom_release(struct loom *loom);

/*
 * Adds a type. Fields are written as in C, with the types char[N], int, long, pid_t, u8, u16, u32, u64 and "__data_loc
 * char[]": "int cpu; char comm[16]; u64 delta". `print` is the print fmt. Borrows the texts.
 */
void loom_type(struct loom *loom, const char *system, const char *name, const char *fields, const char *print);

/* Adds funcgraph_entry and funcgraph_exit, as Linux 6.12 has them. */
void loom_graph(struct loom *loom);

/* Adds a file of tracefs to the trace as a setting, with '+' in front of its name to the other buffer. Borrows both. */
void loom_setting(struct loom *loom, const char *name, const char *text);

/* Adds the name of a task to saved_cmdlines. */
void loom_task(struct loom *loom, int pid, const char *comm);

void loom_play(struct loom *loom, const char *script);

/* Makes the trace of the events played so far; the caller frees it with trace_free(). NULL fails the test. */
struct trace *loom_trace(struct loom *loom);
/* Writes it into an empty file. False fails the test. */
bool loom_write(struct loom *loom, int fd);

#endif
