// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/choice.h"

#include "cmd/option_value.h"
#include "cmd/stamp.h"
#include "lib/base/fail.h"
#include "lib/query/selection.h"
#include "lib/reader/extent.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { KEY_CPU = 0x500, KEY_PID, KEY_COMM, KEY_NO_SELF, KEY_SINCE, KEY_UNTIL, KEY_TAIL, KEY_LIMIT };

static const struct argp_option options[] = {
	{ "instance", 'B', "NAME", 0, "Only the buffer of this instance; '' is the top one", 0 },
	{ "event", 'e', "EVENT", 0,
	  "Only EVENT: system:event, system or event, with globs; several with commas, repeatable", 0 },
	{ "cpu", KEY_CPU, "CPULIST", 0, "Only events of these CPUs, such as 0-3,7", 0 },
	{ "pid", KEY_PID, "PID", 0, "Only events of these tasks; a list with commas, repeatable", 0 },
	{ "comm", KEY_COMM, "NAME", 0, "Only events of tasks of this name, a glob; repeatable", 0 },
	{ "no-self", KEY_NO_SELF, NULL, 0, "Leave out weft's own tasks, but keep interrupts that ran on top of them",
	  0 },
	{ "since", KEY_SINCE, "TIME", 0, "Begin at TIME, " STAMP_HELP, 0 },
	{ "until", KEY_UNTIL, "TIME", 0, "End at TIME, inclusive", 0 },
	{ "limit", KEY_LIMIT, "N", 0, "End after N events", 0 },
	{ "tail", KEY_TAIL, "N", 0, "Only the last N events", 0 },
	{ 0 },
};

static void add_word(struct choice_words *words, const char *word, struct argp_state *state)
{
	if (words->len == CHOICE_WORDS_MAX)
		argp_error(state, "more than %d values of one option", CHOICE_WORDS_MAX);
	words->at[words->len++] = word;
}

static void add_pids(struct choice *choice, const char *arg, struct argp_state *state)
{
	int32_t pid;

	while (option_next_pid(&arg, &pid, state)) {
		if (choice->nr_pids == CHOICE_WORDS_MAX)
			argp_error(state, "more than %d pids", CHOICE_WORDS_MAX);
		choice->pids[choice->nr_pids++] = pid;
	}
}

static void set_cpus(struct choice *choice, const char *arg, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;

	choice->some_cpus = true;
	if (cpus_parse(arg, &choice->cpus, &fail) < 0)
		argp_error(state, "--cpu: %s", fail.text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct choice *choice = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		*choice = (struct choice){ .limit = UINT64_MAX, .tail = UINT64_MAX };
		return 0;
	case 'B':
		choice->instance = arg;
		return 0;
	case 'e':
		add_word(&choice->events, arg, state);
		return 0;
	case KEY_CPU:
		set_cpus(choice, arg, state);
		return 0;
	case KEY_PID:
		add_pids(choice, arg, state);
		return 0;
	case KEY_COMM:
		add_word(&choice->comms, arg, state);
		return 0;
	case KEY_NO_SELF:
		choice->no_self = true;
		return 0;
	case KEY_SINCE:
		choice->since = arg;
		return 0;
	case KEY_UNTIL:
		choice->until = arg;
		return 0;
	case KEY_LIMIT:
		option_number("limit", arg, &choice->limit, state);
		return 0;
	case KEY_TAIL:
		option_number("tail", arg, &choice->tail, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp choice_argp = {
	.options = options,
	.parser = parse,
};

static int narrow(const struct choice *choice, struct reader_buffer *buffer, struct extent *extent, struct fail *fail)
{
	uint64_t *left_out;
	int r = selection_new(buffer->context, &buffer->selection, fail);

	for (size_t i = 0; !r && i < choice->events.len; i++)
		r = selection_add_events(buffer->selection, choice->events.at[i], fail);
	for (size_t i = 0; !r && i < choice->comms.len; i++)
		r = selection_add_comm(buffer->selection, choice->comms.at[i], fail);
	for (size_t i = 0; !r && i < choice->nr_pids; i++)
		r = selection_add_pid(buffer->selection, choice->pids[i], fail);
	if (!r && choice->no_self)
		r = selection_leave_out_self(buffer->selection, &left_out, fail);
	if (!r && selection_empty(buffer->selection)) {
		selection_free(buffer->selection);
		buffer->selection = NULL;
	}
	if (!r)
		r = stamp_range(buffer->context, choice->since, choice->until, extent, &buffer->window.since,
				&buffer->window.until, fail);
	if (choice->some_cpus) {
		buffer->window.cpu_mask = choice->cpus.bits;
		buffer->window.cpu_mask_words = array_size(choice->cpus.bits);
	}
	return r;
}

int choice_add(const struct choice *choice, struct trace *trace, struct reader *reader, struct fail *fail)
{
	struct extent extent = { .known = false };
	size_t nr_wanted = 0;
	int r = 0;

	for (size_t i = 0; !r && i < trace_buffers(trace); i++) {
		const struct trace_buffer *buffer = trace_buffer(trace, i);
		bool wanted = choice->instance ? !strcmp(choice->instance, buffer->name.text) :
						 trace_buffers(trace) == 1 || buffer->nr_cpus;

		if (!wanted)
			continue;
		nr_wanted++;
		r = reader_add(reader, trace, i, fail);
		if (!r)
			r = narrow(choice, &reader->buffers[reader->nr_buffers - 1], &extent, fail);
	}
	if (!r && choice->instance && !nr_wanted)
		return fail_set(fail, -ENOENT, "'%s' has no buffer of an instance '%s'", trace_path(trace),
				choice->instance);
	if (!r && choice->tail != UINT64_MAX)
		r = reader_tail(reader, choice->tail, fail);
	return r;
}
