// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/clock_sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/number.h"
#include "lib/kernel/buffer/ring_buffer.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/target.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/meaning/clock/clocks.h"
#include "lib/pages/ring/page.h"

enum {
	ROUNDS = 16, /* reads, of which the one counts that took the least time */
	EVERY_S = 60,
	USER_HZ_NS = 10000000,
	/* So many questions are answered before tracing begins, for at most so long; each is awaited for FIRST_MS. */
	ANSWERS_FIRST = 16,
	ANSWERS_MS = 200,
	FIRST_MS = 100,
	SLEPT_NS = 1000000, /* the least sleep that is told */
};

#define SLEEP_EVENT "events/power/suspend_resume"

/*
 * An instance whose markers tell the time of a clock that programs cannot read. Its only event tells when the machine
 * slept, which a clock that stands still meanwhile does not show. The kernel takes tens of milliseconds to set it up,
 * in which it waits for all CPUs, so a thread does that while the caller goes on.
 */
struct ear {
	char clock[16];
	struct instance *instance;
	int marker;        /* -1: it cannot be set up */
	uint16_t sleep_id; /* of SLEEP_EVENT; 0: the kernel does not have it */
	pthread_t thread;
	bool sets_up; /* the thread is not joined */
};

struct clock_sampler {
	const struct tracing *tracing;
	struct undo *undo;
	const struct target *targets;
	size_t nr_targets;
	struct ear *ears;
	size_t nr_ears;
};

/* The clocks that are read in one round, and between which times of the day that was. */
struct round {
	int64_t wall_lo, wall_hi;
	uint64_t trace;
	int64_t mono, boot;
};

static int64_t read_clock(clockid_t clock)
{
	struct timespec now;

	return clock_gettime(clock, &now) ? 0 : (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void ear_wait(struct ear *ear)
{
	if (ear->sets_up)
		pthread_join(ear->thread, NULL);
	ear->sets_up = false;
}

static void ear_close(struct ear *ear)
{
	ear_wait(ear);
	cleanup_fd_close(&ear->marker);
	if (ear->instance)
		instance_close(ear->instance, NULL);
}

/* The kernel takes tens of milliseconds for any write, also of the clock that the instance has. */
static bool ear_set_clock(const struct ear *ear)
{
	char has[CLOCK_NAME_SIZE];

	return (!ring_buffer_clock(ear->instance, has, NULL) && !strcmp(has, ear->clock)) ||
	       !instance_write(ear->instance, "trace_clock", ear->clock, NULL);
}

/* The buffer has room for the markers of one sample. */
static void *ear_main(void *data)
{
	struct ear *ear = data;
	char id[16];

	if (!instance_read_word(ear->instance, SLEEP_EVENT "/id", id, sizeof(id), NULL) &&
	    !instance_write(ear->instance, SLEEP_EVENT "/enable", "1", NULL))
		ear->sleep_id = (uint16_t)number_of(id, 0);
	if (instance_write(ear->instance, "buffer_size_kb", "4", NULL) || !ear_set_clock(ear) ||
	    instance_write(ear->instance, "tracing_on", "1", NULL) ||
	    instance_open_file(ear->instance, "trace_marker", O_WRONLY, &ear->marker, NULL))
		ear->marker = -1;
	return NULL;
}

static bool ear_open(const struct clock_sampler *sampler, const char *clock, struct ear *ear)
{
	*ear = (struct ear){ .marker = -1 };
	snprintf(ear->clock, sizeof(ear->clock), "%s", clock);
	if (instance_new_helper(sampler->tracing, sampler->undo, &ear->instance, NULL))
		return false;
	ear->sets_up = !pthread_create(&ear->thread, NULL, ear_main, ear);
	if (!ear->sets_up)
		ear_main(ear);
	return true;
}

static struct ear *find_ear(const struct clock_sampler *sampler, const char *clock)
{
	for (size_t i = 0; i < sampler->nr_ears; i++)
		if (!strcmp(sampler->ears[i].clock, clock))
			return &sampler->ears[i];
	return NULL;
}

/* Whether the clock stands still while the machine sleeps, and the kernel tells when it did. */
static bool stands_still(const struct clock_sampler *sampler, const struct clock_kind *kind)
{
	struct instance top = instance_top(sampler->tracing);

	return !kind->runs_on && instance_has(&top, SLEEP_EVENT "/enable");
}

static void add_ear(struct clock_sampler *sampler, const char *clock)
{
	const struct clock_kind *kind = clock_kind(clock);

	if ((kind->is_read ? stands_still(sampler, kind) : kind->counts != CLOCK_COUNTS_EVENTS) &&
	    !find_ear(sampler, clock) && strlen(clock) < sizeof(sampler->ears->clock) &&
	    ear_open(sampler, clock, &sampler->ears[sampler->nr_ears]))
		sampler->nr_ears++;
}

struct clock_sampler *clock_sampler_new(const struct tracing *tracing, struct undo *undo, const struct target *targets,
					size_t nr)
{
	struct clock_sampler *sampler = tracing->plan ? NULL : calloc(1, sizeof(*sampler));

	if (!sampler)
		return NULL;
	sampler->tracing = tracing;
	sampler->undo = undo;
	sampler->targets = targets;
	sampler->nr_targets = nr;
	sampler->ears = calloc(nr, sizeof(*sampler->ears));
	for (size_t i = 0; sampler->ears && i < nr; i++)
		add_ear(sampler, targets[i].clock);
	return sampler;
}

void clock_sampler_free(struct clock_sampler *sampler)
{
	if (!sampler)
		return;
	for (size_t i = 0; i < sampler->nr_ears; i++)
		ear_close(&sampler->ears[i]);
	free(sampler->ears);
	free(sampler);
}

static const struct round *shortest(const struct round *rounds, size_t nr)
{
	const struct round *best = rounds;

	for (size_t i = 1; i < nr; i++)
		if (rounds[i].wall_hi - rounds[i].wall_lo < best->wall_hi - best->wall_lo)
			best = &rounds[i];
	return best;
}

static void read_round(clockid_t clock, struct round *round)
{
	round->wall_lo = read_clock(CLOCK_REALTIME);
	round->mono = read_clock(CLOCK_MONOTONIC);
	round->boot = read_clock(CLOCK_BOOTTIME);
	round->trace = clock == CLOCK_MONOTONIC ? (uint64_t)round->mono :
		       clock == CLOCK_BOOTTIME  ? (uint64_t)round->boot :
						  (uint64_t)read_clock(clock);
	round->wall_hi = read_clock(CLOCK_REALTIME);
}

/* The times of the markers, which are all in the buffer of one CPU. False: it has not as many as were written. */
static bool read_markers(const struct ear *ear, const struct page_shape *shape, int cpu, struct round *rounds,
			 size_t nr_rounds)
{
	_Alignas(8) char data[1 << 16];
	struct page_shape whole = *shape;
	cleanup_fd int fd = -1;
	struct record record;
	struct page page;
	char file[64];
	ssize_t len;
	size_t nr = 0;

	snprintf(file, sizeof(file), "per_cpu/cpu%d/trace_pipe_raw", cpu);
	if (instance_open_file(ear->instance, file, O_RDONLY | O_NONBLOCK, &fd, NULL))
		return false;
	whole.size = (uint32_t)getpagesize();
	while ((len = io_again(read(fd, data, whole.size))) > 0) {
		if (page_init(&page, &whole, data, (size_t)len, NULL))
			return false;
		while (page_next(&page, &record, NULL) > 0) {
			uint16_t id;

			memcpy(&id, record.data, sizeof(id));
			if (ear->sleep_id && id == ear->sleep_id)
				continue;
			if (nr < nr_rounds)
				rounds[nr].trace = record.ts;
			nr++;
		}
	}
	return nr == nr_rounds;
}

/* Lets this thread run on one CPU only, and returns its number, or -1. *ret_before: where it ran before. */
static int stay(cpu_set_t *ret_before)
{
	cpu_set_t one;
	int cpu = sched_getcpu();
	bool ok = cpu >= 0 && cpu < CPU_SETSIZE && !sched_getaffinity(0, sizeof(*ret_before), ret_before);

	CPU_ZERO(&one);
	if (ok)
		CPU_SET((size_t)cpu, &one);
	return ok && !sched_setaffinity(0, sizeof(one), &one) ? cpu : -1;
}

/* Writes the markers on one CPU, so that they stand in one buffer, in their order. */
static bool mark_rounds(const struct ear *ear, const struct page_shape *shape, struct round *rounds)
{
	cpu_set_t before;
	int cpu = stay(&before);
	bool ok = true;

	if (cpu < 0)
		return false;
	for (size_t i = 0; ok && i < ROUNDS; i++) {
		struct round *round = &rounds[i];

		round->wall_lo = read_clock(CLOCK_REALTIME);
		ok = write(ear->marker, ".", 1) == 1;
		round->mono = read_clock(CLOCK_MONOTONIC);
		round->boot = read_clock(CLOCK_BOOTTIME);
		round->wall_hi = read_clock(CLOCK_REALTIME);
	}
	(void)!sched_setaffinity(0, sizeof(before), &before);
	return read_markers(ear, shape, cpu, rounds, ROUNDS) && ok;
}

/* What the kernel itself knows about its clock: adjtimex(2). */
static void add_state(struct wall_sample *sample)
{
	struct timex state = { .modes = 0 };
	int r = adjtimex(&state);

	sample->tai = state.tai;
	/* 2^-16 ppm, and the length of a tick in us, 10000 of which are a second. */
	sample->slew_ppb = (int64_t)state.freq * 1000 / 65536 + ((int64_t)state.tick - 10000) * 100000;
	sample->error_us = r < 0 || r == TIME_ERROR || (state.status & STA_UNSYNC) ? -1 : state.maxerror;
}

static bool take_one(const struct clock_sampler *sampler, const struct target *target, enum wall_why why,
		     struct wall_sample *ret)
{
	struct round rounds[ROUNDS];
	const struct round *best;
	struct ear *ear = find_ear(sampler, target->clock);
	const struct clock_kind *clock = clock_kind(target->clock);
	bool counts = clock->counts == CLOCK_COUNTS_JIFFIES;

	if (strlen(target->clock) >= sizeof(ret->clock))
		return false;
	if (clock->is_read) {
		for (size_t i = 0; i < ROUNDS; i++)
			read_round(clock->id, &rounds[i]);
	} else {
		if (!ear)
			return false;
		ear_wait(ear);
		if (ear->marker < 0 || !mark_rounds(ear, &target->shape, rounds))
			return false;
	}
	best = shortest(rounds, ROUNDS);
	*ret = (struct wall_sample){
		.lo = best->trace,
		.hi = best->trace + counts,
		.wall_lo = best->wall_lo,
		.wall_hi = best->wall_hi,
		.mono = best->mono,
		.boot = best->boot,
		.why = why,
	};
	snprintf(ret->clock, sizeof(ret->clock), "%.*s", (int)sizeof(ret->clock) - 1, target->clock);
	add_state(ret);
	return best->wall_lo > 0 && best->wall_hi >= best->wall_lo;
}

struct span {
	uint64_t lo, hi;
};

/* The time stamp of the kernel's text before `at`: seconds with their microseconds, or a count. */
static bool stamp_before(const char *text, const char *at, struct span *ret)
{
	const char *begin = at;
	uint64_t us;

	while (begin > text && strchr("0123456789.", begin[-1]))
		begin--;
	if (!number_u64(&begin, &ret->lo))
		return false;
	ret->hi = ret->lo;
	if (*begin++ != '.')
		return true;
	if (ret->lo > UINT64_MAX / NS_PER_S - 1 || !number_u64(&begin, &us))
		return false;
	ret->lo = ret->lo * NS_PER_S + us * 1000;
	ret->hi = ret->lo + 999;
	return true;
}

/* When the machine slept last: suspend_enter() in kernel/power/suspend.c says so before and after it. */
static bool find_sleep(const struct clock_sampler *sampler, const char *clock, struct span *ret)
{
	static const char name[] = ": suspend_resume: machine_suspend[";
	struct ear *ear = find_ear(sampler, clock);
	cleanup_buf struct buf text = BUF_INIT;
	const char *last = NULL, *line;

	if (!ear)
		return false;
	ear_wait(ear);
	if (!ear->sleep_id || instance_read(ear->instance, "trace", &text, NULL))
		return false;
	for (const char *at = buf_str(&text); (line = strstr(at, name)); at = line + 1) {
		const char *end = strchr(line, '\n');

		if (end && end - line > 4 && !memcmp(end - 4, " end", 4))
			last = line;
	}
	return last && stamp_before(text.data, last, ret);
}

bool clock_sampler_line(const struct clock_sampler *sampler, size_t target, enum wall_why why, struct buf *into)
{
	struct wall_sample sample;
	struct span slept;
	/* A sample of this clock takes the events out of the buffer. */
	bool found = sampler && why == WALL_RESUME && find_sleep(sampler, sampler->targets[target].clock, &slept);

	if (!sampler || !take_one(sampler, &sampler->targets[target], why, &sample))
		return false;
	if (found) {
		struct wall_sample line = sample;

		line.lo = slept.lo;
		line.hi = slept.hi;
		line.why = WALL_SLEPT;
		if (!wall_sample_put(&line, into))
			return false;
	}
	return wall_sample_put(&sample, into);
}

void clock_sampler_take(const struct clock_sampler *sampler, struct ledger *ledger, enum wall_why why)
{
	for (size_t i = 0; sampler && i < sampler->nr_targets; i++) {
		cleanup_buf struct buf line = BUF_INIT;

		if (!clock_sampler_line(sampler, i, why, &line))
			continue;
		(void)!ledger_add(ledger,
				  &(struct ledger_item){ .kind = LEDGER_SAMPLE,
							 .buffer = sampler->targets[i].index,
							 .data = line.data,
							 .len = line.len },
				  NULL);
	}
}

static bool answer_by_marker(struct ear *ear, const struct page_shape *shape, struct clock_answer *answer)
{
	cpu_set_t before;
	struct round round;
	int cpu;
	bool ok;

	ear_wait(ear);
	cpu = ear->marker < 0 ? -1 : stay(&before);
	if (cpu < 0)
		return false;
	answer->since = now_ns();
	ok = write(ear->marker, ".", 1) == 1;
	answer->until = now_ns();
	(void)!sched_setaffinity(0, sizeof(before), &before);
	ok = read_markers(ear, shape, cpu, &round, 1) && ok;
	answer->trace = round.trace;
	return ok;
}

static bool answer(const struct clock_sampler *sampler, struct clock_answer *answer)
{
	const struct target *target = sampler && sampler->nr_targets ? &sampler->targets[0] : NULL;
	const struct clock_kind *kind = target ? clock_kind(target->clock) : NULL;
	struct ear *ear = target ? find_ear(sampler, target->clock) : NULL;

	if (!kind || kind->counts != CLOCK_COUNTS_NS || strlen(target->clock) >= sizeof(answer->clock))
		return false;
	if (kind->is_read) {
		answer->since = now_ns();
		answer->trace = (uint64_t)read_clock(kind->id);
		answer->until = now_ns();
	} else if (!ear || !answer_by_marker(ear, &target->shape, answer)) {
		return false;
	}
	snprintf(answer->clock, sizeof(answer->clock), "%.*s", (int)sizeof(answer->clock) - 1, target->clock);
	return true;
}

int clock_sampler_answer(const struct clock_sampler *sampler, int fd)
{
	struct clock_answer it = { .id = 0 };

	if (io_again(recv(fd, &it, sizeof(it), 0)) != (ssize_t)sizeof(it))
		return -1;
	*it.clock = '\0';
	(void)answer(sampler, &it);
	return io_again(send(fd, &it, sizeof(it), MSG_DONTWAIT | MSG_NOSIGNAL)) == (ssize_t)sizeof(it) ? fd : -1;
}

int clock_sampler_answer_first(const struct clock_sampler *sampler, int fd)
{
	struct pollfd fds = { .fd = fd, .events = POLLIN };
	uint64_t until = now_ns() + ANSWERS_MS * UINT64_C(1000000);

	if (!fd)
		return -1;
	for (unsigned i = 0; i < ANSWERS_FIRST && now_ns() < until && poll(&fds, 1, FIRST_MS) > 0; i++)
		if (clock_sampler_answer(sampler, fd) < 0)
			return -1;
	return fd;
}

void clock_sampler_zone(struct ledger *ledger)
{
	time_t now = time(NULL);
	struct tm here;
	char text[64];
	int len;

	if (!localtime_r(&now, &here) || !here.tm_zone)
		return;
	len = snprintf(text, sizeof(text), "%ld %.20s\n", here.tm_gmtoff, here.tm_zone);
	(void)!ledger_add(ledger,
			  &(struct ledger_item){
				  .kind = LEDGER_SETTING, .key = SETTING_ZONE, .data = text, .len = (size_t)len },
			  NULL);
}

/* How long the machine has slept since it was booted: two clocks, read while nothing comes between. */
static int64_t asleep_ns(void)
{
	int64_t least = INT64_MAX, asleep = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		int64_t before = read_clock(CLOCK_MONOTONIC), boot = read_clock(CLOCK_BOOTTIME);
		int64_t took = read_clock(CLOCK_MONOTONIC) - before;

		if (took < least)
			asleep = boot - before;
		least = took < least ? took : least;
	}
	return asleep;
}

static void start_timer(struct clock_timer *timer)
{
	struct itimerspec at = { .it_value = { .tv_sec = time(NULL) + EVERY_S } };

	timer->since = now_ns();
	timer->asleep = asleep_ns();
	(void)!timerfd_settime(timer->fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at, NULL);
}

struct clock_timer clock_timer_new(void)
{
	struct clock_timer timer = { .fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK) };

	if (timer.fd >= 0)
		start_timer(&timer);
	return timer;
}

/*
 * A clock that is set forward beyond its time makes the timer expire before the kernel marks it as cancelled
 * (timerfd_clock_was_set() in fs/timerfd.c): then it expires too early.
 */
enum wall_why clock_timer_taken(struct clock_timer *timer)
{
	uint64_t count, least = (uint64_t)(EVERY_S - 1) * NS_PER_S;
	bool stepped = read(timer->fd, &count, sizeof(count)) < 0 && errno == ECANCELED;
	int64_t asleep = timer->asleep;

	stepped |= now_ns() - timer->since < least;
	start_timer(timer);
	return timer->asleep - asleep > SLEPT_NS ? WALL_RESUME : stepped ? WALL_STEP : WALL_EVERY;
}
