// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/reader/batches.h"

#include <inttypes.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/pool.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/reader/fanout.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/* More events than all batches of a thread hold together. */
enum { EVENTS = 30000, CPUS = 3 };

/* What a consumer has seen. Each event changes the sum, so two different sequences have different sums. */
struct seen {
	uint64_t events, lost, sum;
	char damage[sizeof(((struct fail *)0)->text)];
};

/* The ways to read a file. */
struct way {
	bool pool;
	unsigned ahead;
	size_t consumers; /* of fanout_run(); 0: batches */
	size_t buffers;   /* how often the same file is added */
	const char *comm;
	uint64_t limit; /* number of events; 0: all */
};

/* CPU 1 breaks off in the middle if it is damaged. */
static struct trace *make_trace(int version, bool damaged)
{
	cleanup_buf struct buf script = BUF_INIT;
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	loom.version = version;
	for (uint64_t i = 0; i < EVENTS; i++) {
		uint64_t cpu = i * i % 7 % CPUS;

		if (i % 5000 == 4999)
			CHECK(buf_addf(&script, "%" PRIu64 " lost 7\n", cpu));
		CHECK(buf_addf(&script, "%" PRIu64 " %" PRIu64 " %" PRIu64 " sched_%s comm=task pid=%" PRIu64 "\n", cpu,
			       1000 + i * 10, i % 9, i % 3 ? "waking" : "wakeup", i % 100));
	}
	loom_play(&loom, buf_str(&script));
	/* On a page, the number of committed bytes comes behind the time: its lowest bytes become too large. */
	if (damaged)
		memset(loom.cpus[1].pages.data + loom.cpus[1].pages.len / 2 / LOOM_PAGE * LOOM_PAGE +
			       (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 14 : 8),
		       0x7f, 2);
	trace = loom_trace(&loom);
	loom_release(&loom);
	return trace;
}

static void see(struct seen *seen, const struct event *event)
{
	seen->events++;
	seen->lost += event->kind == EVENT_LOST;
	seen->sum = seen->sum * 31 + event->ts + event->cpu + event->buffer + event->kind;
	for (uint32_t i = 0; event->kind == EVENT_RECORD && i < event->len; i++)
		seen->sum = seen->sum * 31 + event->data[i];
}

static bool read_batches(struct reader *reader, const struct way *way, struct seen *seen, struct fail *fail)
{
	struct batches *batches = NULL;
	const struct event *events;
	int r = batches_new(reader, &batches, fail);

	while (!r && (!way->limit || seen->events < way->limit) && (r = batches_next(batches, &events, fail)) > 0) {
		for (int i = 0; i < r; i++)
			see(seen, &events[i]);
		r = 0;
	}
	batches_free(batches);
	return !r;
}

static void see_all(void *arg, const struct event *events, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		see(arg, &events[i]);
}

static bool is_same(const struct seen *a, const struct seen *b)
{
	return a->events == b->events && a->lost == b->lost && a->sum == b->sum && !strcmp(a->damage, b->damage);
}

/* All consumers see the same. */
static bool fanout(struct reader *reader, const struct way *way, struct seen *seen, struct fail *fail)
{
	struct fanout_consumer consumers[FANOUT_CONSUMERS];
	struct seen each[FANOUT_CONSUMERS] = { { .events = 0 } };
	int r;

	for (size_t i = 0; i < way->consumers; i++)
		consumers[i] = (struct fanout_consumer){ see_all, &each[i] };
	r = fanout_run(reader, consumers, way->consumers, fail);
	for (size_t i = 1; i < way->consumers; i++)
		CHECK(is_same(&each[0], &each[i]));
	*seen = each[0];
	return !r;
}

static bool read_all(struct reader *reader, const struct way *way, struct seen *seen, struct fail *fail)
{
	return way->consumers ? fanout(reader, way, seen, fail) : read_batches(reader, way, seen, fail);
}

static struct seen read_in(struct trace *trace, const struct way *way)
{
	struct seen seen = { .events = 0 };
	struct fail fail = FAIL_INIT;
	struct reader_options options = { .ahead = way->ahead };
	const char *path, *damage;
	struct reader reader;
	bool ok = trace;

	reader_init(&reader);
	for (size_t i = 0; ok && i < way->buffers; i++) {
		ok = !reader_add(&reader, trace, 0, &fail);
		if (ok && way->comm)
			ok = !selection_new(reader.buffers[i].context, &reader.buffers[i].selection, &fail) &&
			     !selection_add_filter(reader.buffers[i].selection, way->comm, false, &fail);
	}
	ok = ok && (!way->pool || !pool_new(1, &options.pool, &fail));
	ok = ok && !reader_start(&reader, &options, &fail) && read_all(&reader, way, &seen, &fail);
	if (!CHECK(ok))
		printf("%s\n", fail.text);
	damage = ok ? reader_damage(&reader, &path) : NULL;
	snprintf(seen.damage, sizeof(seen.damage), "%s", damage ? damage : "");
	reader_release(&reader);
	pool_free(options.pool);
	return seen;
}

/* Threads in every arrangement read the same as one thread. */
static struct seen compare(struct trace *trace, struct way way)
{
	struct seen one = read_in(trace, &way), other;

	for (unsigned threads = 1; threads < 4; threads++) {
		way.ahead = threads & 1;
		way.pool = threads & 2;
		other = read_in(trace, &way);
		CHECK(is_same(&one, &other));
	}
	for (way.ahead = 1; way.ahead < 4; way.ahead++) {
		for (way.consumers = 1; way.consumers < 4; way.consumers++) {
			way.pool = way.ahead == way.consumers;
			other = read_in(trace, &way);
			CHECK(is_same(&one, &other));
		}
	}
	return one;
}

static void compare_all(bool damaged)
{
	for (int version = 6; version <= 7; version++) {
		struct trace *trace = make_trace(version, damaged);
		struct seen alone = compare(trace, (struct way){ .buffers = 1 });
		struct seen twice = compare(trace, (struct way){ .buffers = 2 });
		struct seen some = compare(trace, (struct way){ .buffers = 1, .comm = "pid == 42" });

		CHECK(alone.lost == 6 || damaged);
		CHECK(damaged ? alone.events > EVENTS / 2 && alone.events < EVENTS : alone.events == EVENTS + 6);
		CHECK(twice.events == 2 * alone.events);
		CHECK(some.events - some.lost > 100 && some.events - some.lost <= EVENTS / 100);
		CHECK(damaged == (strstr(alone.damage, "CPU 1: commit ") != NULL));
		trace_free(trace);
	}
}

TEST(batches_have_the_same_events_whether_a_thread_reads_them_or_not)
{
	compare_all(false);
}

TEST(batches_of_a_damaged_cpu_end_where_they_do_without_a_thread)
{
	compare_all(true);
}

TEST(batches_may_be_left_while_their_thread_reads)
{
	struct trace *trace = make_trace(7, false);

	for (uint64_t limit = 1; limit < EVENTS; limit *= 20) {
		struct seen seen =
			read_in(trace, &(struct way){ .ahead = 1, .pool = true, .buffers = 1, .limit = limit });

		CHECK(seen.events >= limit && seen.events <= EVENTS);
	}
	trace_free(trace);
}
