// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/choice.h"

#include "cmd/option_value.h"
#include "cmd/stamp.h"
#include "cmd/text_only.h"
#include "lib/base/fail.h"
#include "lib/query/selection.h"
#include "lib/reader/extent.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <string.h>

static const struct argp_option options[] = {
	{ "instance", 'B', "NAME", 0, "Only the buffer of this instance; '' is the top one", 0 },
	{ "event", 'e', "EVENT", 0,
	  "Only EVENT: system:event, system or event, with globs; several with commas, repeatable", 0 },
	{ "cpu", CHOICE_CPU, "CPULIST", 0, "Only events of these CPUs, such as 0-3,7", 0 },
	{ "pid", CHOICE_PID, "PID", 0, "Only events of these tasks; a list with commas, repeatable", 0 },
	{ "comm", CHOICE_COMM, "NAME", 0, "Only events of tasks of this name, a glob; repeatable", 0 },
	{ "no-self", CHOICE_NO_SELF, NULL, 0, "Leave out weft's own tasks, but keep interrupts that ran on top of them",
	  0 },
	{ "since", CHOICE_SINCE, "TIME", 0, "Begin at TIME, " STAMP_HELP, 0 },
	{ "until", CHOICE_UNTIL, "TIME", 0, "End at TIME, inclusive", 0 },
	{ "limit", CHOICE_LIMIT, "N", 0, "End after N events", 0 },
	{ "tail", CHOICE_TAIL, "N", 0, "Only the last N events", 0 },
	{ 0 },
};

static void add_pids(struct choice *choice, const char *arg, struct argp_state *state)
{
	int32_t pid;

	while (option_next_pid(&arg, &pid, state)) {
		if (choice->nr_pids == OPTION_WORDS_MAX)
			argp_error(state, "more than %d pids", OPTION_WORDS_MAX);
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

bool choice_take(struct choice *choice, int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'B':
		choice->instance = arg;
		return true;
	case 'e':
		option_add_word(&choice->events, arg, state);
		return true;
	case CHOICE_CPU:
		set_cpus(choice, arg, state);
		return true;
	case CHOICE_PID:
		add_pids(choice, arg, state);
		return true;
	case CHOICE_COMM:
		option_add_word(&choice->comms, arg, state);
		return true;
	case CHOICE_NO_SELF:
		choice->no_self = true;
		return true;
	case CHOICE_SINCE:
		choice->since = arg;
		return true;
	case CHOICE_UNTIL:
		choice->until = arg;
		return true;
	case CHOICE_LIMIT:
		option_number("limit", arg, &choice->limit, state);
		return true;
	case CHOICE_TAIL:
		option_number("tail", arg, &choice->tail, state);
		return true;
	}
	return false;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct choice *choice = state->input;

	if (key == ARGP_KEY_INIT) {
		*choice = (struct choice)CHOICE_INIT;
		return 0;
	}
	return choice_take(choice, key, arg, state) ? 0 : ARGP_ERR_UNKNOWN;
}

const struct argp choice_argp = {
	.options = options,
	.parser = parse,
};

int choice_select(const struct choice *choice, struct selection *selection, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < choice->events.len; i++)
		r = selection_add_events(selection, choice->events.at[i], fail);
	for (size_t i = 0; !r && i < choice->comms.len; i++)
		r = selection_add_comm(selection, choice->comms.at[i], fail);
	for (size_t i = 0; !r && i < choice->nr_pids; i++)
		r = selection_add_pid(selection, choice->pids[i], fail);
	return r;
}

int choice_window(const struct choice *choice, struct reader_buffer *buffer, struct extent *extent, struct fail *fail)
{
	if (choice->some_cpus) {
		buffer->window.cpu_mask = choice->cpus.bits;
		buffer->window.cpu_mask_words = array_size(choice->cpus.bits);
	}
	return stamp_range(buffer->context, choice->since, choice->until, extent, &buffer->window.since,
			   &buffer->window.until, fail);
}

struct empty_question choice_question(const struct choice *choice)
{
	return (struct empty_question){
		.events = choice->events.at,
		.nr_events = choice->events.len,
		.comms = choice->comms.at,
		.nr_comms = choice->comms.len,
		.pids = choice->pids,
		.nr_pids = choice->nr_pids,
		.cpus = choice->some_cpus ? &choice->cpus : NULL,
		.since = choice->since,
		.until = choice->until,
		.instance = choice->instance,
	};
}

static int narrow(const struct choice *choice, struct reader_buffer *buffer, struct extent *extent, struct fail *fail)
{
	uint64_t *left_out;
	int r = selection_new(buffer->context, &buffer->selection, fail);

	if (!r)
		r = choice_select(choice, buffer->selection, fail);
	if (!r && choice->no_self)
		r = selection_leave_out_self(buffer->selection, &left_out, fail);
	if (!r && selection_empty(buffer->selection)) {
		selection_free(buffer->selection);
		buffer->selection = NULL;
	}
	return r ? r : choice_window(choice, buffer, extent, fail);
}

int choice_buffers(const struct choice *choice, struct trace *trace, struct reader *reader, struct fail *fail)
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
	if (!r)
		r = text_only_refuse(trace, choice->instance, fail);
	return r;
}

int choice_tail(const struct choice *choice, struct reader *reader, struct fail *fail)
{
	return choice->tail == UINT64_MAX ? 0 : reader_tail(reader, choice->tail, fail);
}

int choice_add(const struct choice *choice, struct trace *trace, struct reader *reader, struct fail *fail)
{
	int r = choice_buffers(choice, trace, reader, fail);

	return r ? r : choice_tail(choice, reader, fail);
}
