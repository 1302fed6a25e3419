/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_CHOICE_H
#define WEFT_CMD_CHOICE_H

#include "lib/base/cleanup.h"
#include "lib/base/cpus.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct reader;
struct trace;

/*
 * The options that say which events of a file are wanted, as an argp child; its input is a struct choice, which it
 * fills with defaults first. They mean what they mean to weft report.
 */
enum { CHOICE_WORDS_MAX = 256 };

struct choice {
	const char *instance; /* NULL: all */
	struct choice_words {
		const char *at[CHOICE_WORDS_MAX];
		size_t len;
	} events, comms;
	int32_t pids[CHOICE_WORDS_MAX];
	size_t nr_pids;
	struct cpus cpus;
	bool some_cpus, no_self;
	const char *since, *until;
	uint64_t limit; /* UINT64_MAX: all */
	uint64_t tail;  /* UINT64_MAX: from the start */
};

extern const struct argp choice_argp;

/* Adds the buffers and narrows them; the reader is ready to be started. The limit is the caller's. */
int must_check choice_add(const struct choice *choice, struct trace *trace, struct reader *reader, struct fail *fail);

#endif
