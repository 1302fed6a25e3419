// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/state/vcpus.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"
#include "lib/meaning/schema/value_names.h"
#include "lib/meaning/state/state.h"

enum { ROLE_ENTRY = 1, ROLE_EXIT };
/* EDGES: between two sums, which a picture of a long time needs: each of its columns may have a million edges. */
enum { NUMBERS_MAX = 4096, SHOWN = 8, NAME_MAX_LEN = 32, EDGES = 32 };

/* From `at` on it was so. */
struct edge {
	uint64_t at;
	uint8_t mode, reason;
};

/* A thread that may be a CPU of a guest. */
struct thread {
	int32_t pid;
	int64_t number; /* of the CPU; -1: not known */
	char comm[TASK_COMM_LEN];
	struct edge *edges;
	size_t nr_edges;
	struct vcpu_time *sums; /* of all time before each EDGES-th edge */
	size_t nr_sums;
	/* Between the kvm events: */
	struct turn {
		uint64_t at;
		bool in, known; /* known: nothing was lost since */
		uint8_t reason;
	} * turns;
	size_t nr_turns, used; /* used: those before the present edge */
};

struct vcpus {
	struct vcpus_options options;
	const struct context *context;
	struct state state; /* of the host */
	struct roles roles;
	struct place number, reason;
	struct value_names *names;
	struct labels reasons;
	bool halts[VCPU_REASONS + 1]; /* by reason */
	struct thread *threads;
	size_t nr_threads;
	struct u64_map by_pid; /* uint32_t: the index + 1 */
	uint32_t *cpus;        /* by CPU of the guest: the index + 1 */
	size_t nr_cpus;
	bool has_exits, failed;
};

static const struct role_name roles[] = { { "kvm", "kvm_entry", ROLE_ENTRY },
					  { "kvm", "kvm_exit", ROLE_EXIT },
					  { NULL, NULL, ROLE_NONE } };

static struct thread *find_thread(struct vcpus *vcpus, int32_t pid)
{
	const uint32_t *index = u64_map_find(&vcpus->by_pid, (uint32_t)pid);

	return index && *index ? &vcpus->threads[*index - 1] : NULL;
}

static struct thread *add_thread(struct vcpus *vcpus, int32_t pid, int64_t number)
{
	struct thread *thread = find_thread(vcpus, pid);
	uint32_t *index;

	if (thread) {
		thread->number = thread->number < 0 ? number : thread->number;
		return thread;
	}
	index = u64_map_add(&vcpus->by_pid, (uint32_t)pid);
	thread = index ? vec_push(vcpus->threads, vcpus->nr_threads) : NULL;
	if (!thread) {
		vcpus->failed = true;
		return NULL;
	}
	*index = (uint32_t)vcpus->nr_threads;
	*thread = (struct thread){ .pid = pid, .number = number };
	return thread;
}

/* The number of the CPU that a thread of QEMU is called after: "CPU 3/KVM"; -1: it is none. */
static int64_t number_in(const char *comm)
{
	char *end;
	long number;

	if (strncmp(comm, "CPU ", 4) || comm[4] < '0' || comm[4] > '9')
		return -1;
	number = strtol(comm + 4, &end, 10);
	return *end == '/' && number < NUMBERS_MAX ? number : -1;
}

static void put_edge(struct vcpus *vcpus, struct thread *thread, uint64_t at, enum vcpu_mode mode, uint8_t reason)
{
	struct edge *last = thread->nr_edges ? &thread->edges[thread->nr_edges - 1] : NULL, *edge;

	if (last && last->mode == mode && last->reason == reason)
		return;
	if (last && last->at == at) {
		last->mode = (uint8_t)mode;
		last->reason = reason;
		return;
	}
	edge = vec_push(thread->edges, thread->nr_edges);
	if (edge)
		*edge = (struct edge){ at, (uint8_t)mode, reason };
	vcpus->failed |= !edge;
}

/* What the thread does while it is in a mode of the scheduler, as the last turn before says. */
static enum vcpu_mode mode_of(const struct vcpus *vcpus, const struct thread *thread, unsigned mode,
			      const struct turn *turn, uint8_t *ret_reason)
{
	bool sleeps = mode == TASK_SLEEPING || mode == TASK_BLOCKED || mode == TASK_STOPPED;

	*ret_reason = VCPU_REASONS;
	if (state_waits((enum task_mode)mode))
		return VCPU_WAITED;
	if (mode != TASK_RUNNING && !sleeps)
		return VCPU_UNKNOWN;
	/* An emulator, or kvm events were not recorded. */
	if (!thread->nr_turns)
		return sleeps ? VCPU_HALTED : VCPU_RAN;
	if (!turn || !turn->known)
		return VCPU_UNKNOWN;
	if (turn->in)
		return sleeps ? VCPU_UNKNOWN : VCPU_RAN;
	if (sleeps && vcpus->halts[turn->reason])
		return VCPU_HALTED;
	*ret_reason = turn->reason;
	return VCPU_EXIT;
}

/* A stretch in a mode of the scheduler has ended; the turns in it have been seen. */
static void see_spent(void *arg, const struct state_task *task, unsigned mode, uint64_t from, uint64_t to)
{
	struct vcpus *vcpus = arg;
	struct thread *thread = find_thread(vcpus, task->pid);
	const struct turn *turn;
	int64_t number = thread || vcpus->options.nr_threads ? -1 : number_in(task->comm);
	uint64_t at = from;
	uint8_t reason;

	if (number >= 0)
		thread = add_thread(vcpus, task->pid, number);
	if (!thread)
		return;
	memcpy(thread->comm, task->comm, sizeof(thread->comm));
	if (from == to)
		return;
	do {
		enum vcpu_mode then;

		while (thread->used < thread->nr_turns && thread->turns[thread->used].at <= at)
			thread->used++;
		turn = thread->used ? &thread->turns[thread->used - 1] : NULL;
		then = mode_of(vcpus, thread, mode, turn, &reason);
		put_edge(vcpus, thread, at, then, reason);
		at = thread->used < thread->nr_turns ? thread->turns[thread->used].at : to;
	} while (at < to);
	put_edge(vcpus, thread, to, VCPU_UNKNOWN, VCPU_REASONS);
}

/* What was taken for an emulator's thread is one of KVM: before its first event no entry or exit is known. */
static void forget_modes(struct thread *thread)
{
	for (size_t i = 0; i < thread->nr_edges; i++)
		if (thread->edges[i].mode != VCPU_WAITED)
			thread->edges[i].mode = VCPU_UNKNOWN;
}

static void add_turn(struct vcpus *vcpus, struct thread *thread, struct turn turn)
{
	struct turn *added;

	if (!thread)
		return;
	if (!thread->nr_turns)
		forget_modes(thread);
	added = vec_push(thread->turns, thread->nr_turns);
	if (added)
		*added = turn;
	vcpus->failed |= !added;
}

static bool is_halt(const char *name)
{
	static const char *const names[] = { "HLT", "hlt", "WFx", "WFI", "MWAIT_INSTRUCTION", "mwait" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static uint8_t number_reason(struct vcpus *vcpus, uint64_t value)
{
	char text[NAME_MAX_LEN];
	const char *name;
	uint32_t number;
	size_t len;
	bool is_new;

	if (!vcpus->names || !value_names_find(vcpus->names, value, &name, &len)) {
		len = (size_t)snprintf(text, sizeof(text), "exit %" PRIu64, value);
		name = text;
	}
	number = labels_add(&vcpus->reasons, name, len, &is_new);
	vcpus->failed |= number == LABEL_NONE;
	if (number >= VCPU_REASONS)
		return VCPU_REASONS;
	vcpus->halts[number] = is_halt(vcpus->reasons.at[number].text);
	return (uint8_t)number;
}

static void bind(struct vcpus *vcpus, const struct event *event, uint8_t role)
{
	struct fail fail = FAIL_INIT;

	if (role == ROLE_ENTRY) {
		place_find(&vcpus->number, event->type, "vcpu_id");
		return;
	}
	/* arm64 has the class of the exception (esr_ec), x86 the reason. */
	if (!place_find(&vcpus->reason, event->type, "exit_reason"))
		place_find(&vcpus->reason, event->type, "esr_ec");
	if (vcpus->reason.field && !vcpus->names && event->type->format &&
	    value_names_new(&vcpus->context->abi, &vcpus->context->env, event->type->format, vcpus->reason.field,
			    &vcpus->names, &fail) == -ENOMEM)
		vcpus->failed = true;
}

static void see_kvm(struct vcpus *vcpus, const struct event *event, uint8_t role)
{
	struct thread *thread = find_thread(vcpus, event->pid);

	if (!vcpus->options.nr_threads)
		thread = add_thread(vcpus, event->pid,
				    role == ROLE_ENTRY && vcpus->number.field ?
					    (int64_t)(place_u64(&vcpus->number, event) % NUMBERS_MAX) :
					    -1);
	vcpus->has_exits |= thread != NULL;
	add_turn(vcpus, thread,
		 (struct turn){ .at = vcpus->state.now,
				.in = role == ROLE_ENTRY,
				.known = true,
				.reason = role == ROLE_EXIT && vcpus->reason.field ?
						  number_reason(vcpus, place_u64(&vcpus->reason, event)) :
						  VCPU_REASONS });
}

/* Entries and exits of any CPU may be among what was lost. */
static void see_lost(struct vcpus *vcpus)
{
	for (size_t i = 0; i < vcpus->nr_threads; i++) {
		struct thread *thread = &vcpus->threads[i];

		if (thread->nr_turns && thread->turns[thread->nr_turns - 1].known)
			add_turn(vcpus, thread, (struct turn){ .at = vcpus->state.now, .reason = VCPU_REASONS });
	}
}

void vcpus_see(void *arg, const struct event *event)
{
	struct vcpus *vcpus = arg;
	bool fresh = false;
	uint8_t role = event->kind == EVENT_RECORD ? roles_of(&vcpus->roles, event, &fresh) : (uint8_t)ROLE_NONE;
	struct event gap;

	if (state_rest(&vcpus->state, event, &gap)) {
		state_see(&vcpus->state, &gap);
		see_lost(vcpus);
	}
	state_see(&vcpus->state, event);
	if (fresh && role)
		bind(vcpus, event, role);
	if (role)
		see_kvm(vcpus, event, role);
	else if (event->kind != EVENT_RECORD)
		see_lost(vcpus);
}

int vcpus_new(const struct vcpus_options *options, const struct context *context, struct vcpus **ret, struct fail *fail)
{
	struct vcpus *vcpus = calloc(1, sizeof(*vcpus));

	if (!vcpus)
		return fail_memory(fail);
	vcpus->options = *options;
	vcpus->options.threads = NULL;
	vcpus->context = context;
	state_init(&vcpus->state, context->preempt_rt);
	vcpus->state.no_causes = true;
	state_restrict(&vcpus->state, context);
	state_follow_spent(&vcpus->state, see_spent, vcpus);
	roles_init(&vcpus->roles, roles);
	labels_init(&vcpus->reasons);
	u64_map_init(&vcpus->by_pid, sizeof(uint32_t));
	for (size_t i = 0; i < options->nr_threads; i++)
		add_thread(vcpus, options->threads[i], (int64_t)i);
	if (vcpus->failed || vcpus->state.failed) {
		vcpus_free(vcpus);
		return fail_memory(fail);
	}
	*ret = vcpus;
	return 0;
}

void vcpus_free(struct vcpus *vcpus)
{
	if (!vcpus)
		return;
	for (size_t i = 0; i < vcpus->nr_threads; i++) {
		free(vcpus->threads[i].edges);
		free(vcpus->threads[i].sums);
		free(vcpus->threads[i].turns);
	}
	free(vcpus->threads);
	free(vcpus->cpus);
	value_names_free(vcpus->names);
	labels_release(&vcpus->reasons);
	roles_release(&vcpus->roles);
	u64_map_release(&vcpus->by_pid);
	state_release(&vcpus->state);
	free(vcpus);
}

static int fail_several(const struct vcpus *vcpus, struct fail *fail)
{
	size_t nr = vcpus->nr_threads < SHOWN ? vcpus->nr_threads : SHOWN;
	cleanup_buf struct buf text = BUF_INIT;
	bool ok = true;

	for (size_t i = 0; ok && i < nr; i++)
		ok = buf_addf(&text, "%s%d (CPU %" PRId64 ")", i ? ", " : "", vcpus->threads[i].pid,
			      vcpus->threads[i].number);
	if (ok && nr < vcpus->nr_threads)
		ok = buf_addf(&text, " and %zu more", vcpus->nr_threads - nr);
	return ok ? fail_set(fail, -EEXIST, "there are several guests: which threads are the CPUs of this one? %s",
			     buf_str(&text)) :
		    fail_memory(fail);
}

static int place_threads(struct vcpus *vcpus, struct fail *fail)
{
	for (size_t i = 0; i < vcpus->nr_threads; i++) {
		int64_t number = vcpus->threads[i].number;

		if (number < 0)
			continue;
		while (vcpus->nr_cpus <= (size_t)number)
			if (!vec_push(vcpus->cpus, vcpus->nr_cpus))
				return fail_memory(fail);
		if (vcpus->cpus[number])
			return fail_several(vcpus, fail);
		vcpus->cpus[number] = (uint32_t)i + 1;
	}
	return 0;
}

size_t vcpus_count(const struct vcpus *vcpus)
{
	return vcpus->nr_cpus;
}

static const struct thread *thread_of(const struct vcpus *vcpus, uint32_t cpu)
{
	return cpu < vcpus->nr_cpus && vcpus->cpus[cpu] ? &vcpus->threads[vcpus->cpus[cpu] - 1] : NULL;
}

int32_t vcpus_thread(const struct vcpus *vcpus, uint32_t cpu)
{
	const struct thread *thread = thread_of(vcpus, cpu);

	return thread ? thread->pid : 0;
}

const char *vcpus_name(const struct vcpus *vcpus, uint32_t cpu)
{
	const struct thread *thread = thread_of(vcpus, cpu);

	return thread ? thread->comm : "";
}

bool vcpus_have_exits(const struct vcpus *vcpus)
{
	return vcpus->has_exits;
}

bool vcpus_error(const struct vcpus *vcpus, uint64_t *ret_ns)
{
	*ret_ns = vcpus->options.error_ns;
	return vcpus->options.exact;
}

/* The number of edges at or before this time. */
static size_t edges_until(const struct thread *thread, uint64_t ts)
{
	return vec_count(thread->nr_edges, i, thread->edges[i].at <= ts);
}

static uint64_t plus(uint64_t ts, uint64_t ns)
{
	return ts > UINT64_MAX - ns ? UINT64_MAX : ts + ns;
}

/* Whether more than the reason changes there. */
static bool is_change(const struct thread *thread, size_t edge)
{
	return thread->edges[edge].mode != (edge ? thread->edges[edge - 1].mode : VCPU_UNKNOWN);
}

bool vcpus_unsure(const struct vcpus *vcpus, uint32_t cpu, uint64_t from, uint64_t to, uint64_t *ret_from,
		  uint64_t *ret_to)
{
	const struct thread *thread = thread_of(vcpus, cpu);
	uint64_t error = vcpus->options.error_ns;
	bool found = false;

	if (!thread || !error || from >= to)
		return false;
	/* Within the error around a change. */
	for (size_t i = edges_until(thread, from > error ? from - error : 0); i < thread->nr_edges; i++) {
		uint64_t at = thread->edges[i].at, begin = at > error ? at - error : 0, end = plus(at, error);

		if (begin >= to || (found && begin > *ret_to))
			break;
		if (!is_change(thread, i))
			continue;
		if (!found)
			*ret_from = begin > from ? begin : from;
		*ret_to = end < to ? end : to;
		found = true;
	}
	return found;
}

static uint64_t unsure_of(const struct vcpus *vcpus, uint32_t cpu, uint64_t from, uint64_t to)
{
	uint64_t unsure = 0, begin, end;

	while (vcpus_unsure(vcpus, cpu, from, to, &begin, &end)) {
		unsure += end - begin;
		from = end;
	}
	return unsure;
}

struct vcpu_span vcpus_span(const struct vcpus *vcpus, uint32_t cpu, uint64_t ts)
{
	const struct thread *thread = thread_of(vcpus, cpu);
	size_t next = thread ? edges_until(thread, ts) : 0;
	const struct edge *edge = next ? &thread->edges[next - 1] : NULL;

	return (struct vcpu_span){
		.from = edge ? edge->at : 0,
		.to = thread && next < thread->nr_edges ? thread->edges[next].at : UINT64_MAX,
		.mode = edge ? (enum vcpu_mode)edge->mode : VCPU_UNKNOWN,
		.reason = edge ? edge->reason : VCPU_REASONS,
	};
}

static void add_time(const struct vcpus *vcpus, uint32_t cpu, uint64_t from, uint64_t to, struct vcpu_time *add,
		     uint64_t *exits)
{
	const struct thread *thread = thread_of(vcpus, cpu);
	size_t next = thread ? edges_until(thread, from) : 0;

	if (to <= from)
		return;
	if (thread)
		add->unsure += unsure_of(vcpus, cpu, from, to);
	while (from < to) {
		const struct edge *edge = next ? &thread->edges[next - 1] : NULL;
		uint64_t until = thread && next < thread->nr_edges ? thread->edges[next].at : to;

		until = until < to ? until : to;
		add->in[edge ? edge->mode : VCPU_UNKNOWN] += until - from;
		if (exits && edge && edge->mode == VCPU_EXIT)
			exits[edge->reason] += until - from;
		from = until;
		next++;
	}
}

/* Of all time before this one. */
static struct vcpu_time time_until(const struct vcpus *vcpus, uint32_t cpu, uint64_t ts)
{
	const struct thread *thread = thread_of(vcpus, cpu);
	size_t edges = edges_until(thread, ts), sum = edges ? (edges - 1) / EDGES : 0;
	struct vcpu_time time = edges ? thread->sums[sum] : (struct vcpu_time){ .unsure = 0 };

	add_time(vcpus, cpu, edges ? thread->edges[sum * EDGES].at : 0, ts, &time, NULL);
	return time;
}

static int make_sums(struct vcpus *vcpus, uint32_t cpu, struct fail *fail)
{
	struct thread *thread = &vcpus->threads[vcpus->cpus[cpu] - 1];
	struct vcpu_time time = { .unsure = 0 };
	uint64_t from = 0;

	for (size_t i = 0; i < thread->nr_edges; i += EDGES) {
		struct vcpu_time *sum = vec_push(thread->sums, thread->nr_sums);

		if (!sum)
			return fail_memory(fail);
		add_time(vcpus, cpu, from, thread->edges[i].at, &time, NULL);
		*sum = time;
		from = thread->edges[i].at;
	}
	return 0;
}

void vcpus_time(const struct vcpus *vcpus, uint32_t cpu, uint64_t from, uint64_t to, struct vcpu_time *add,
		uint64_t *exits)
{
	const struct thread *thread = thread_of(vcpus, cpu);
	struct vcpu_time before, after;

	/* The sums have no reasons. */
	if (!thread || exits || edges_until(thread, to) < edges_until(thread, from) + 2 * EDGES) {
		add_time(vcpus, cpu, from, to, add, exits);
		return;
	}
	before = time_until(vcpus, cpu, from);
	after = time_until(vcpus, cpu, to);
	for (size_t i = 0; i < VCPU_MODES; i++)
		add->in[i] += after.in[i] - before.in[i];
	add->unsure += after.unsure - before.unsure;
}

int vcpus_end(struct vcpus *vcpus, struct fail *fail)
{
	int r;

	state_settle(&vcpus->state);
	/* The context may go. */
	value_names_free(vcpus->names);
	vcpus->names = NULL;
	if (vcpus->failed || vcpus->state.failed || vcpus->roles.failed)
		return fail_memory(fail);
	r = place_threads(vcpus, fail);
	if (!r && !vcpus->nr_cpus)
		r = fail_set(fail, -ENOENT,
			     "no thread there is known as a CPU of a guest: by kvm:kvm_entry, or by a name as "
			     "'CPU 0/KVM'");
	for (uint32_t i = 0; !r && i < vcpus->nr_cpus; i++)
		if (vcpus->cpus[i])
			r = make_sums(vcpus, i, fail);
	return r;
}

const char *vcpus_reason(const struct vcpus *vcpus, unsigned reason)
{
	return reason < VCPU_REASONS && reason < vcpus->reasons.nr ? vcpus->reasons.at[reason].text : "";
}

const char *vcpu_span_name(const struct vcpus *vcpus, const struct vcpu_span *span, char text[VCPU_SPAN_NAME])
{
	static const char *const names[VCPU_MODES] = { [VCPU_RAN] = "ran",
						       [VCPU_WAITED] = "waits for a CPU of the host",
						       [VCPU_EXIT] = "exit",
						       [VCPU_HALTED] = "halted",
						       [VCPU_UNKNOWN] = "not known" };
	const char *reason = vcpus_reason(vcpus, span->reason);

	if (span->mode != VCPU_EXIT || !*reason)
		return names[span->mode];
	snprintf(text, VCPU_SPAN_NAME, "exit %.80s", reason);
	return text;
}
