/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REMOTE_ELSEWHERE_H
#define WEFT_KERNEL_REMOTE_ELSEWHERE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

struct agentless_options;
struct fail;
struct record_result;

/*
 * The near side of wire_internal.h: starts a program whose standard input and output lead to a `weft serve`, or
 * connects to a socket that does (door.h), asks it for a recording, keeps what arrives as parts
 * (lib/kernel/record/arrival.h) and makes the file of them at the end. A machine without weft is recorded by a shell
 * (agentless_internal.h).
 *
 * Invariant: what comes from there decides about no name, no size of memory beyond a frame and an item of metadata, and
 * nothing outside of the parts. Whatever ends first, what has arrived is in the file or stays in the parts.
 */
enum elsewhere_text {
	ELSEWHERE_STDOUT, /* the COMMAND's */
	ELSEWHERE_STDERR, /* of the COMMAND and of the recording */
	ELSEWHERE_RSH,    /* about the connection: what the program that leads there says, and this side */
};

struct elsewhere_options {
	const char *host;   /* for messages and the metadata */
	char *const *rsh;   /* the words of the program, a NULL behind them; NULL: `host` is a door */
	char *const *words; /* those of the far `weft record` or other command */
	size_t nr_words;
	const struct agentless_options *agentless; /* `rsh` starts a shell, which gets no words; NULL: a `weft serve` */
	const sigset_t *mask;                      /* of the program; NULL: that of the caller */
	const char *output, *temp_dir;             /* as of record_options; output NULL: no recording is asked for */
	mode_t mode;
	/* Called with what was printed there, which may be any bytes. What is not 0 ends everything. */
	int (*print)(void *arg, enum elsewhere_text what, const char *text, size_t len);
	void *arg;
};

/*
 * As session_run(): `ret` has what the far kernel counted, and is filled in any case. Of another command it has the
 * exit status alone, if the command has ended; that it failed is no failure here.
 */
int must_check elsewhere_run(const struct elsewhere_options *options, struct record_result *ret, struct fail *fail);

#endif
