// SPDX-License-Identifier: GPL-2.0-only
/* The rows of a guest's CPUs and of the threads that they are, of pairs whose every ns is known without weft. */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/guest/host.h"
#include "lib/pages/trace/trace.h"
#include "lib/screen/view/picture_internal.h"
#include "tests/unit/guest_pair.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

enum { COLUMNS = 1000, PAIRS = 12 };

static const uint8_t states[VCPU_MODES] = { [VCPU_RAN] = PICTURE_RUN,
					    [VCPU_WAITED] = PICTURE_WAIT,
					    [VCPU_EXIT] = PICTURE_EXIT,
					    [VCPU_HALTED] = PICTURE_SLEEP,
					    [VCPU_UNKNOWN] = PICTURE_UNKNOWN };

/* What happened in a column, ns by ns. */
struct truth {
	uint64_t in[VCPU_MODES], unsure;
	uint64_t busy;       /* a task had the CPU */
	uint64_t off, maybe; /* and the vCPU surely did not run; it may not have run */
};

static struct truth truth_of(const struct guest_pair *pair, uint64_t from, uint64_t to)
{
	struct truth truth = { .unsure = 0 };

	for (uint64_t at = from; at < to; at++) {
		uint8_t mode = pair->modes[at];
		bool busy = pair->task[at];

		truth.in[mode]++;
		truth.unsure += pair->unsure[at];
		truth.busy += busy;
		truth.off += busy && !pair->unsure[at] && mode != VCPU_RAN && mode != VCPU_UNKNOWN;
		truth.maybe += busy && pair->unsure[at];
	}
	return truth;
}

/* The row of the thread: the mode with the most time, halted and unknown only where there is no other. */
static bool thread_is(const struct truth *truth, const struct picture_mark *mark, const struct picture_facts *facts)
{
	const uint64_t *in = truth->in;
	uint64_t most = in[VCPU_RAN] > in[VCPU_WAITED] ? in[VCPU_RAN] : in[VCPU_WAITED];
	bool good = facts->has_vcpu && facts->vcpu.unsure == truth->unsure;

	most = in[VCPU_EXIT] > most ? in[VCPU_EXIT] : most;
	for (size_t i = 0; i < VCPU_MODES; i++)
		good &= facts->vcpu.in[i] == in[i];
	for (size_t i = VCPU_RAN; most && i <= VCPU_EXIT; i++)
		if (mark->state == states[i])
			return good && in[i] == most;
	return good && !most && mark->state == (in[VCPU_HALTED] ? PICTURE_SLEEP : PICTURE_UNKNOWN);
}

/* The row of the guest's CPU. What it says of the vCPU is true; and where a task has the whole column, it says it. */
static bool tasks_are(const struct truth *truth, const struct picture_mark *mark, uint64_t length)
{
	bool full = truth->busy == length;

	switch (mark->state) {
	case PICTURE_WAIT:
	case PICTURE_EXIT:
	case PICTURE_SLEEP:
		return truth->off * 2 >= length;
	case PICTURE_UNSURE:
		return truth->maybe * 2 >= length;
	case PICTURE_RUN:
		/* What is unsure may be any of it, in columns of more than 1 ns. */
		return truth->busy && !(full && truth->off * 2 >= length && (length == 1 || !truth->unsure)) &&
		       !(full && truth->unsure * 2 >= length);
	}
	return !truth->busy && mark->state == PICTURE_IDLE;
}

/* In a column of 1 ns everything is exact. */
static bool ns_is(const struct guest_pair *pair, uint64_t at, const struct picture_mark *mark)
{
	uint8_t mode = pair->modes[at];

	if (!pair->task[at])
		return mark->state == PICTURE_IDLE;
	if (pair->unsure[at])
		return mark->state == PICTURE_UNSURE;
	return mark->state == (mode == VCPU_UNKNOWN ? PICTURE_RUN : states[mode]);
}

static size_t row_of(const struct picture *picture, enum picture_row_kind kind)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < picture_rows(picture); i++)
		if (picture_row(picture, i)->kind == kind)
			found = i;
	CHECK(found != SIZE_MAX);
	return found;
}

static bool looked(struct picture *picture, uint64_t length, uint64_t first, size_t nr)
{
	struct fail fail = FAIL_INIT;
	bool good = !picture_look(picture, length, first, nr, &fail);
	unsigned percent;
	uint64_t events;

	while (good && (!picture_settled(picture) || !picture_progress(picture, &percent, &events)))
		sched_yield();
	return good && !picture_arrange(picture, PICTURE_BY_RUN, &fail);
}

/* Looks at the columns between the first switch of the guest and its end; counts those that say something. */
static void check_columns(struct picture *picture, const struct guest_pair *pair, uint64_t length, uint64_t begin,
			  size_t *ret_told)
{
	uint64_t first = (begin + length - 1) / length, end = GUEST_PAIR_SPAN / length;
	struct picture_mark tasks[COLUMNS], thread[COLUMNS];

	for (; first < end; first += COLUMNS) {
		size_t nr = end - first < COLUMNS ? (size_t)(end - first) : COLUMNS, cpu, vcpu;

		REQUIRE(looked(picture, length, first, nr));
		cpu = row_of(picture, PICTURE_CPU);
		vcpu = row_of(picture, PICTURE_VCPU);
		/* Directly below it. */
		REQUIRE(vcpu == cpu + 1 && !strcmp(picture_row(picture, vcpu)->name, "  kvm-500"));
		picture_marks(picture, cpu, tasks);
		picture_marks(picture, vcpu, thread);
		for (size_t i = 0; i < nr; i++) {
			uint64_t from = (first + i) * length;
			struct truth truth = truth_of(pair, from, from + length);
			struct picture_facts facts = picture_facts(picture, vcpu, i);

			*ret_told += tasks[i].state != PICTURE_RUN && tasks[i].state != PICTURE_IDLE;
			if (!CHECK(thread_is(&truth, &thread[i], &facts)) ||
			    !CHECK(tasks_are(&truth, &tasks[i], length)) ||
			    !CHECK(length > 1 || ns_is(pair, from, &tasks[i])))
				printf("%" PRIu64 " ns from %" PRIu64 ": marks %u and %u\n", length, from,
				       tasks[i].state, thread[i].state);
		}
	}
}

static void check_pair(struct guest_pair *pair)
{
	static const uint64_t lengths[] = { 1, 2, 10, 40, 100, 500 };
	const struct guest_host host = { .buffer = "host" };
	const struct picture_options options = { .host = &host, .guest = "" };
	struct query query = QUERY_INIT;
	struct picture *picture = NULL;
	struct fail fail = FAIL_INIT;
	struct trace *trace;
	struct loom loom;
	uint64_t begin = 0;
	size_t told = 0, guest;

	loom_init(&loom);
	guest_pair_plant(pair);
	trace = guest_pair_trace(pair, &loom);
	loom_release(&loom);
	while (begin < GUEST_PAIR_SPAN && !pair->task[begin])
		begin++;
	REQUIRE(trace && !guest_find(&host, trace, NULL, &guest, &fail) && guest == 0);
	if (CHECK(!picture_new(trace, &query, &options, &picture, &fail)))
		for (size_t i = 0; i < array_size(lengths); i++)
			check_columns(picture, pair, lengths[i], begin, &told);
	else
		printf("%s\n", fail.text);
	CHECK(told > 500);
	picture_free(picture);
	trace_free(trace);
}

TEST(picture_draws_a_guest_cpu_above_its_thread_and_each_column_is_true)
{
	srand(592);
	for (int i = 0; i < PAIRS; i++) {
		struct guest_pair *pair = calloc(1, sizeof(*pair));

		REQUIRE(pair);
		check_pair(pair);
		guest_pair_release(pair);
		free(pair);
	}
}

/* A host that is none is refused; one in which no CPU of a guest is found is told of. */
TEST(picture_tells_why_no_host_is_known)
{
	const struct guest_host host = { .buffer = "host" }, nobody = { .buffer = "x" }, itself = { .buffer = "" };
	struct guest_pair *pair = calloc(1, sizeof(*pair));
	struct query query = QUERY_INIT;
	struct picture *picture = NULL;
	struct fail fail = FAIL_INIT;
	struct trace *trace;
	struct loom loom;
	const char *why;
	size_t guest;

	REQUIRE(pair);
	loom_init(&loom);
	guest_pair_plant(pair);
	trace = guest_pair_trace(pair, &loom);
	loom_release(&loom);
	guest_pair_release(pair);
	free(pair);
	REQUIRE(trace);
	CHECK(guest_find(&nobody, trace, NULL, &guest, &fail) == -ENOENT);
	CHECK(guest_find(&itself, trace, "", &guest, &fail) == -EINVAL);
	CHECK(guest_find(&host, trace, "y", &guest, &fail) == -ENOENT);
	CHECK(picture_new(trace, &query, &(struct picture_options){ .host = &nobody, .guest = "" }, &picture, &fail) ==
	      -ENOENT);
	/* The guest has no guests. */
	REQUIRE(!picture_new(trace, &query, &(struct picture_options){ .host = &itself, .guest = "host" }, &picture,
			     &fail));
	while (picture_host(picture, &why) == PICTURE_HOST_READ)
		sched_yield();
	CHECK(picture_host(picture, &why) == PICTURE_HOST_FAILED && strstr(why, "--vcpus tells them"));
	CHECK(!picture_vcpus(picture));
	CHECK(looked(picture, 100, 0, 40));
	for (size_t i = 0; i < picture_rows(picture); i++)
		CHECK(picture_row(picture, i)->kind != PICTURE_VCPU);
	picture_free(picture);
	trace_free(trace);
}
