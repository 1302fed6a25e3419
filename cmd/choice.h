/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_CHOICE_H
#define WEFT_CMD_CHOICE_H

#include "cmd/empty_answer.h"
#include "cmd/option_value.h"
#include "lib/base/cleanup.h"
#include "lib/base/cpus.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct extent;
struct reader;
struct reader_buffer;
struct selection;
struct trace;

/*
 * The options that select events of a file, as an argp child. Its input is a struct choice, which it fills with
 * defaults first. The options mean the same as in weft report.
 */
struct choice {
	const char *instance; /* NULL: all */
	struct option_words events, comms;
	int32_t pids[OPTION_WORDS_MAX];
	size_t nr_pids;
	struct cpus cpus;
	bool some_cpus, no_self;
	const char *since, *until;
	uint64_t limit; /* UINT64_MAX: all */
	uint64_t tail;  /* UINT64_MAX: from the start */
};

#define CHOICE_INIT                                     \
	{                                               \
		.limit = UINT64_MAX, .tail = UINT64_MAX \
	}

extern const struct argp choice_argp;

/* The keys of the options, for a command that has them in a table of its own: 'B', 'e' and these. */
enum choice_key {
	CHOICE_CPU = 0x500,
	CHOICE_PID,
	CHOICE_COMM,
	CHOICE_NO_SELF,
	CHOICE_SINCE,
	CHOICE_UNTIL,
	CHOICE_TAIL,
	CHOICE_LIMIT
};

/* False: the key is none of them. */
bool choice_take(struct choice *choice, int key, char *arg, struct argp_state *state);

/* Adds the buffers and narrows them; the reader is ready to be started. The limit is the caller's. */
int must_check choice_add(const struct choice *choice, struct trace *trace, struct reader *reader, struct fail *fail);

/* The two halves of choice_add(): between them a command can do what has to be done before events are read. */
int must_check choice_buffers(const struct choice *choice, struct trace *trace, struct reader *reader,
			      struct fail *fail);
int must_check choice_tail(const struct choice *choice, struct reader *reader, struct fail *fail);

/* The parts of choice_add(), for a command that narrows a buffer further: events and tasks; times and CPUs. */
int must_check choice_select(const struct choice *choice, struct selection *selection, struct fail *fail);
int must_check choice_window(const struct choice *choice, struct reader_buffer *buffer, struct extent *extent,
			     struct fail *fail);

/* What to ask when nothing is left. It borrows the choice. */
struct empty_question choice_question(const struct choice *choice);

#endif
