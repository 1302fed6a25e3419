// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/query/selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/query/duration_internal.h"
#include "lib/meaning/query/file_calls.h"
#include "lib/meaning/query/filter_set_internal.h"
#include "lib/meaning/query/mark_spans.h"
#include "lib/meaning/query/picks_internal.h"

enum { IDS = 1 << 16, CPUS = 1 << 16, COMM_MEMO = 1 << 10, SELF_BITS = 1 << 12, SELF_MAX = 1 << 16 };

enum last_event { LEFT_OUT, KEPT, UNKNOWN };

/* A cache: whether this name of a task, which stays where it is, is a wanted one. */
struct comm_memo {
	const char *name;
	bool wanted;
};

/* What is known of a task from one time up to another. */
struct who_memo {
	int32_t pid;
	uint64_t from, until; /* until 0: nothing */
	bool wanted;
};

struct selection {
	const struct context *context;
	bool some_events;
	uint64_t ids[IDS / 64];
	uint64_t stacks[IDS / 64]; /* types that belong to the event before them, such as stack traces */
	uint8_t kept[CPUS];        /* enum last_event of each CPU; indexed by cpu_index */
	bool lost;                 /* kept was asked of a CPU whose last event is not known */
	int32_t *pids;
	size_t nr_pids;
	char **comms;
	size_t nr_comms;
	struct who_want *who;
	size_t nr_who;
	struct filter_set *filters;  /* NULL: none */
	struct durations *durations; /* NULL: none */
	struct mark_spans *spans;    /* NULL: none */
	struct file_calls *files;    /* NULL: none */
	struct picks *picks;         /* NULL: selection_read_first() was not called, or nothing asks for it */
	uint8_t flags_out;           /* events with one of these enum event_flags are left out */
	struct comm_memo memo[COMM_MEMO];
	struct who_memo who_memo[COMM_MEMO];
	int32_t *self; /* the PIDs of the recorder's tasks */
	size_t nr_self;
	/* a bitmap of the lower bits of these PIDs, which decides for most events */
	uint64_t self_bits[SELF_BITS / 64];
	uint64_t left_out;
};

static void bit_set(uint64_t *bits, uint32_t bit, bool value)
{
	bits[bit / 64] = (bits[bit / 64] & ~(1ull << bit % 64)) | (uint64_t)value << bit % 64;
}

static bool bit_get(const uint64_t *bits, uint32_t bit)
{
	return bits[bit / 64] >> bit % 64 & 1;
}

int selection_new(const struct context *context, struct selection **ret, struct fail *fail)
{
	static const char *const stacks[] = { "kernel_stack", "user_stack" };
	struct selection *selection = calloc(1, sizeof(*selection));

	if (!selection)
		return fail_memory(fail);
	selection->context = context;
	for (size_t i = 0; i < array_size(stacks); i++) {
		int32_t id = schema_find(context->schema, "ftrace", stacks[i]);

		if (id >= 0 && id < IDS)
			bit_set(selection->stacks, (uint32_t)id, true);
	}
	*ret = selection;
	return 0;
}

void selection_free(struct selection *selection)
{
	if (!selection)
		return;
	for (size_t i = 0; i < selection->nr_comms; i++)
		free(selection->comms[i]);
	free(selection->comms);
	free(selection->who);
	free(selection->pids);
	free(selection->self);
	filter_set_free(selection->filters);
	durations_free(selection->durations);
	mark_spans_free(selection->spans);
	file_calls_free(selection->files);
	picks_free(selection->picks);
	free(selection);
}

/* "system:event" must match in both parts; a pattern of one part may match either name. */
static bool names_match(const char *pattern, const char *event_pattern, const char *system, const char *event)
{
	if (event_pattern)
		return text_glob(pattern, system) && text_glob(event_pattern, event);
	return text_glob(pattern, system) || text_glob(pattern, event);
}

static int no_such_event(const struct selection *selection, const char *pattern, struct fail *fail)
{
	struct near near = near_to(pattern);

	schema_offer(selection->context->schema, true, &near);
	return near_fail(&near, fail, -ENOENT, "the file knows no event '%s'%s", pattern,
			 near.found ? "" : "; 'weft list -i FILE events' lists those that it knows");
}

static int add_pattern(struct selection *selection, const char *pattern, struct fail *fail)
{
	cleanup_free char *system_pattern = strdup(pattern);
	const char *system, *event;
	char *event_pattern;
	bool found = false;
	int32_t id;

	if (!system_pattern)
		return fail_memory(fail);
	event_pattern = strpbrk(system_pattern, ":/");
	if (event_pattern)
		*event_pattern++ = 0;
	for (size_t i = 0; schema_at(selection->context->schema, i, &id, &system, &event); i++) {
		if (id < 0 || id >= IDS || !names_match(system_pattern, event_pattern, system, event))
			continue;
		bit_set(selection->ids, (uint32_t)id, true);
		found = true;
	}
	if (!found)
		return no_such_event(selection, pattern, fail);
	selection->some_events = true;
	return 0;
}

int selection_add_events(struct selection *selection, const char *pattern, struct fail *fail)
{
	struct text_word word;
	int err = 0;

	if (!pattern[strspn(pattern, ",")])
		return add_pattern(selection, pattern, fail);
	while (!err && text_next_word(&pattern, ",", &word)) {
		cleanup_free char *part = strndup(word.at, word.len);

		err = part ? add_pattern(selection, part, fail) : fail_memory(fail);
	}
	return err;
}

int selection_add_pid(struct selection *selection, int32_t pid, struct fail *fail)
{
	int32_t *added = vec_push(selection->pids, selection->nr_pids);

	if (!added)
		return fail_memory(fail);
	*added = pid;
	return 0;
}

int selection_add_comm(struct selection *selection, const char *pattern, struct fail *fail)
{
	char *copy = strdup(pattern), **added = copy ? vec_push(selection->comms, selection->nr_comms) : NULL;

	if (!added) {
		free(copy);
		return fail_memory(fail);
	}
	*added = copy;
	return 0;
}

int selection_add_marks(struct selection *selection, const char *const *globs, size_t nr, struct fail *fail)
{
	int r;

	if (!nr)
		return 0;
	selection->spans = mark_spans_new(globs, nr);
	r = selection->spans ? mark_spans_add(selection->spans, selection->context, fail) : fail_memory(fail);
	if (!r)
		mark_spans_end(selection->spans);
	return r;
}

int selection_add_files(struct selection *selection, const char *const *globs, size_t nr, struct fail *fail)
{
	int r;

	if (!nr)
		return 0;
	selection->files = file_calls_new(globs, nr);
	r = selection->files ? file_calls_add(selection->files, selection->context, fail) : fail_memory(fail);
	if (!r)
		file_calls_end(selection->files);
	return r;
}

int selection_add_who(struct selection *selection, const struct who_want *want, struct fail *fail)
{
	struct who_want *added = vec_push(selection->who, selection->nr_who);

	if (!added)
		return fail_memory(fail);
	*added = *want;
	return 0;
}

void selection_leave_out_flags(struct selection *selection, uint8_t flags)
{
	selection->flags_out |= flags;
}

int selection_check_filter(const char *text, struct fail *fail)
{
	return duration_asked(text) ? 0 : filter_set_check(text, fail);
}

int selection_add_filter(struct selection *selection, const char *text, bool negated, struct fail *fail)
{
	int err;

	if (duration_asked(text)) {
		err = selection->durations ? 0 : durations_new(selection->context, &selection->durations, fail);
		return err ? err : durations_add(selection->durations, text, negated, fail);
	}
	err = selection->filters ? 0 : filter_set_new(selection->context, &selection->filters, fail);
	return err ? err : filter_set_add(selection->filters, text, negated, fail);
}

int selection_leave_out_self(struct selection *selection, uint64_t **ret_count, struct fail *fail)
{
	const char *at = selection->context->self;
	int32_t pid;

	while (selection->nr_self < SELF_MAX && context_next_self(&at, &pid)) {
		int32_t *self = vec_push(selection->self, selection->nr_self);
		if (!self)
			return fail_memory(fail);
		*self = pid;
		bit_set(selection->self_bits, (uint32_t)pid % SELF_BITS, true);
	}
	*ret_count = &selection->left_out;
	return 0;
}

bool selection_asks_events(const struct selection *selection)
{
	return selection->some_events || selection->filters || selection->durations || selection->flags_out;
}

bool selection_empty(const struct selection *selection)
{
	return !selection_asks_events(selection) && !selection->nr_pids && !selection->nr_comms && !selection->nr_who &&
	       !selection->nr_self && !selection->spans && !selection->files;
}

const uint64_t *selection_types(const struct selection *selection)
{
	return selection->ids;
}

bool selection_asks_duration(const struct selection *selection)
{
	return selection->durations;
}

/* A file that knows its tracer has calls of functions only if it is one that shows them. */
static bool may_have_calls(const struct context *context)
{
	return !context->tracer_known || (strcmp(context->tracer, "nop") && strcmp(context->tracer, "function"));
}

int selection_read_first(struct selection *selection, const struct events_options *window, struct fail *fail)
{
	const struct picks_wish wish = { selection->context, selection->durations, selection->flags_out };

	if (!selection->durations && !(selection->flags_out && may_have_calls(selection->context)))
		return 0;
	return picks_find(&wish, window, &selection->picks, fail);
}

bool selection_follows_calls(const struct selection *selection)
{
	return selection->picks;
}

/* The recorder's own events are counted, by one selection. */
bool selection_can_enter(const struct selection *selection)
{
	return !selection->picks && !selection->durations && !selection->nr_self && !selection->spans &&
	       !selection->files;
}

void selection_enter(struct selection *selection)
{
	memset(selection->kept, UNKNOWN, sizeof(selection->kept));
	selection->lost = false;
}

bool selection_is_lost(const struct selection *selection)
{
	return selection->lost;
}

bool selection_lacks_durations(const struct selection *selection)
{
	return selection->durations && selection->picks && picks_any(selection->picks) &&
	       !picks_measured(selection->picks);
}

void selection_gap(struct selection *selection, const struct event *gap)
{
	unsigned pick;
	bool out;

	if (selection->picks)
		(void)picks_see(selection->picks, gap, &pick);
	if (selection->durations)
		(void)durations_keep(selection->durations, gap, &out);
}

bool selection_ended(void *arg, const struct event *event, uint64_t *ret_lasted, struct event *ret_begin)
{
	const struct selection *selection = arg;

	return selection->durations && durations_ended(selection->durations, event, ret_lasted, ret_begin);
}

/* One matching filter of either kind is enough. */
static bool keep_filters(struct selection *selection, const struct event *event)
{
	bool out = false, met = selection->durations && durations_keep(selection->durations, event, &out);

	if (out)
		return false;
	if (met && !selection->filters)
		return true;
	if (selection->durations && durations_some(selection->durations))
		return met || (selection->filters && filter_set_keep(selection->filters, event));
	return !selection->filters || filter_set_keep(selection->filters, event);
}

/* The beginning or the end of a call, by the first reading. */
static bool keep_call(struct selection *selection, const struct event *event, unsigned pick)
{
	if (pick & PICK_OUT)
		return false;
	if (selection->durations && durations_some(selection->durations))
		return pick & PICK_WANTED || (selection->filters && filter_set_keep(selection->filters, event));
	return !selection->filters || filter_set_keep(selection->filters, event);
}

static bool keep_pid(const struct selection *selection, int32_t pid)
{
	for (size_t i = 0; i < selection->nr_pids; i++)
		if (selection->pids[i] == pid)
			return true;
	return !selection->nr_pids;
}

static bool is_wanted_name(const struct selection *selection, const char *name)
{
	for (size_t i = 0; i < selection->nr_comms; i++)
		if (text_glob(selection->comms[i], name))
			return true;
	return false;
}

static bool keep_comm(struct selection *selection, const struct event *event)
{
	struct comm_memo *memo = &selection->memo[(uint32_t)event->pid % COMM_MEMO];
	const char *name;

	if (!selection->nr_comms)
		return true;
	name = context_comm(selection->context, event->pid, event->ts).text;
	if (memo->name == name)
		return memo->wanted;
	*memo = (struct comm_memo){ .name = name, .wanted = is_wanted_name(selection, name) };
	return memo->wanted;
}

/* The mark that begins a span and the one that ends it are inside. */
static bool keep_mark(const struct selection *selection, const struct event *event)
{
	return !selection->spans ||
	       mark_spans_cover(selection->spans, event->pid, task_tgid(selection->context->tasks, event->pid),
				event->ts, event->ts);
}

static bool keep_file(const struct selection *selection, const struct event *event)
{
	return !selection->files || file_calls_cover(selection->files, event->pid, event->ts, event->ts) ||
	       file_calls_names(selection->files, event);
}

static bool keep_who(struct selection *selection, int32_t pid, uint64_t ts, uint64_t *ret_until)
{
	struct who_memo *memo = &selection->who_memo[(uint32_t)pid % COMM_MEMO];

	*ret_until = UINT64_MAX;
	if (!selection->nr_who)
		return true;
	if (memo->pid != pid || ts < memo->from || ts >= memo->until) {
		*memo = (struct who_memo){ .pid = pid, .from = ts };
		memo->wanted = who_wants(selection->context, selection->who, selection->nr_who, pid, ts, &memo->until);
	}
	*ret_until = memo->until;
	return memo->wanted;
}

/* Whether it is one of the recorder's tasks. */
static bool is_self(const struct selection *selection, int32_t pid)
{
	if (!bit_get(selection->self_bits, (uint32_t)pid % SELF_BITS))
		return false;
	for (size_t i = 0; i < selection->nr_self; i++)
		if (selection->self[i] == pid)
			return true;
	return false;
}

static bool keep_stack(struct selection *selection, const struct event *event)
{
	selection->lost |= selection->kept[event->cpu_index] == UNKNOWN;
	return selection->kept[event->cpu_index] == KEPT;
}

/* Whether the name and whom it belongs to are chosen ones; the same up to *ret_until. */
static bool keep_now(struct selection *selection, int32_t pid, uint64_t ts, uint64_t *ret_until)
{
	bool keep = keep_who(selection, pid, ts, ret_until);
	uint64_t named;

	if (!keep || !selection->nr_comms)
		return keep;
	named = comms_until(selection->context->comms, pid, ts);
	*ret_until = named < *ret_until ? named : *ret_until;
	return is_wanted_name(selection, context_comm_then(selection->context, pid, ts).text);
}

bool selection_part(struct selection *selection, int32_t pid, uint64_t *from, uint64_t *to)
{
	int32_t tgid = selection->spans ? task_tgid(selection->context->tasks, pid) : 0;
	uint64_t at = *from, until, next;

	if (!keep_pid(selection, pid) || (selection->nr_self && is_self(selection, pid)) ||
	    (selection->spans && !mark_spans_cover(selection->spans, pid, tgid, *from, *to)) ||
	    (selection->files && !file_calls_cover(selection->files, pid, *from, *to)))
		return false;
	while (!keep_now(selection, pid, at, &until)) {
		if (until >= *to)
			return false;
		at = until;
	}
	while (until < *to && keep_now(selection, pid, until, &next))
		until = next;
	*from = at;
	*to = until < *to ? until : *to;
	return true;
}

bool selection_keep(void *arg, const struct event *event)
{
	struct selection *selection = arg;
	unsigned pick;
	uint64_t until;
	bool keep;

	if (selection->picks && picks_see(selection->picks, event, &pick))
		keep = keep_call(selection, event, pick) &&
		       (!selection->some_events || bit_get(selection->ids, event->id));
	else if (bit_get(selection->stacks, event->id) && !bit_get(selection->ids, event->id))
		keep = keep_stack(selection, event);
	else if (selection->durations)
		keep = keep_filters(selection, event) &&
		       (!selection->some_events || bit_get(selection->ids, event->id));
	else
		keep = (!selection->some_events || bit_get(selection->ids, event->id)) &&
		       (!selection->filters || filter_set_keep(selection->filters, event));
	keep = keep && !(event_known_flags(event) & selection->flags_out) && keep_pid(selection, event->pid) &&
	       keep_comm(selection, event) && keep_who(selection, event->pid, event->ts, &until) &&
	       keep_mark(selection, event) && keep_file(selection, event);
	/* An interrupt that hit the recorder is not its own doing. */
	if (keep && selection->nr_self && !(event->flags & EVENT_INTERRUPTS) && is_self(selection, event->pid)) {
		selection->left_out++;
		keep = false;
	}
	selection->kept[event->cpu_index] = keep ? KEPT : LEFT_OUT;
	return keep;
}
