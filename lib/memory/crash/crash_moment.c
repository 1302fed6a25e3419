// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A moment of which the memory has both the time of the trace clock and the time of day: when the kernel kept its time
 * last (kernel/time/timekeeping.c), which it does at each tick.
 */
#include "lib/memory/crash/crash_internal.h"

#include <string.h>

#include "lib/ground/base/now.h"
#include "lib/ground/base/scale.h"

/* STAMP_NS: between the two readings of __scd_stamp() (kernel/sched/clock.c). TICK_NS: the longest tick, of 100 Hz. */
enum { KEEPER_MAX = 64, STAMP_NS = 10000, TICK_NS = 10000000, SHIFT_MAX = 32 };

/* struct tk_read_base: what CLOCK_MONOTONIC and CLOCK_REALTIME were when `clock` showed `cycles`. */
struct read_base {
	uint64_t clock, cycles, base, ns;
	int64_t real;
};

/* The copy of it that readers use: struct tk_fast has two, and the lowest bit of its count says which one is whole. */
static bool read_fast(struct crash *crash, const char *name, struct read_base *ret)
{
	const struct crash_layout *layout = &crash->layout;
	uint64_t fast, at, shift;
	uint32_t seq;

	if (!layout->fast_base.found || !layout->read_clock.found || !layout->read_cycles.found ||
	    !layout->read_shift.found || !layout->read_ns.found || !layout->read_base.found ||
	    !layout->read_real.found || !crash_symbol(crash, name, &fast) || !memory_u32(&crash->memory, fast, &seq))
		return false;
	/* base_real is the last member. */
	at = fast + layout->fast_base.offset + (seq & 1) * (layout->read_real.offset + sizeof(uint64_t));
	shift = crash_at(crash, at, &layout->read_shift);
	if (shift > SHIFT_MAX)
		return false;
	*ret = (struct read_base){
		.clock = crash_at(crash, at, &layout->read_clock),
		.cycles = crash_at(crash, at, &layout->read_cycles),
		.base = crash_at(crash, at, &layout->read_base),
		.ns = crash_at(crash, at, &layout->read_ns) >> shift,
		.real = (int64_t)crash_at(crash, at, &layout->read_real),
	};
	return ret->base && ret->real > 0 && ret->real < INT64_MAX / 4 && ret->base < INT64_MAX / 4 &&
	       ret->ns < NS_PER_S * 8;
}

/* A number of the timekeeper, of which readers have no copy. It stands behind a count or a lock. */
static bool read_keeper(struct crash *crash, const struct read_base *fast, const struct layout_member *member,
			uint64_t *ret)
{
	const struct crash_layout *layout = &crash->layout;
	uint64_t core;

	if (!layout->keeper_mono.found ||
	    (!crash_symbol(crash, "tk_core", &core) && !crash_symbol(crash, "timekeeper_data", &core)))
		return false;
	for (uint64_t at = core + 8; at <= core + KEEPER_MAX; at += 8)
		if (crash_at(crash, at + layout->keeper_mono.offset, &layout->read_clock) == fast->clock &&
		    crash_at(crash, at + layout->keeper_mono.offset, &layout->read_cycles) == fast->cycles)
			return layout_read(&crash->memory, at, member, ret);
	return false;
}

static bool is_symbol(const struct crash *crash, const char *name, uint64_t address)
{
	uint64_t at;

	return crash_symbol(crash, name, &at) && at == address;
}

/* sched_clock() of x86 where the time is kept by the same counter (arch/x86/kernel/tsc.c: cycles_2_ns()). */
static bool by_counter(struct crash *crash, const struct read_base *fast, uint64_t *ret)
{
	const struct crash_layout *layout = &crash->layout;
	uint64_t at, offsets, offset, mul, shift;

	if (!is_symbol(crash, "clocksource_tsc", fast->clock) || !layout->counter_mul.found ||
	    !layout->counter_shift.found || !layout->counter_offset.found || !crash_symbol(crash, "cyc2ns", &at) ||
	    !crash_symbol(crash, "__per_cpu_offset", &offsets) || !memory_u64(&crash->memory, offsets, &offset))
		return false;
	/* A guest may have another sched_clock(). */
	if (!crash_symbol(crash, "__SCK__pv_sched_clock", &offsets) || !memory_u64(&crash->memory, offsets, &offsets) ||
	    !is_symbol(crash, "native_sched_clock", offsets))
		return false;
	at += offset;
	mul = crash_at(crash, at, &layout->counter_mul);
	shift = crash_at(crash, at, &layout->counter_shift);
	if (!mul || mul > UINT32_MAX || shift > SHIFT_MAX)
		return false;
	*ret = scale_mul_div(fast->cycles, mul, UINT64_C(1) << shift) + crash_at(crash, at, &layout->counter_offset);
	return true;
}

/* Whether sched_clock() was found to be good enough: 0 is no, and a negative number that it is not known. */
static int is_stable(struct crash *crash)
{
	uint64_t key;
	uint32_t enabled;

	return crash_symbol(crash, "__sched_clock_stable", &key) && memory_u32(&crash->memory, key, &enabled) ?
		       enabled != 0 :
		       -1;
}

/* A sched_clock() that is not good enough is read beside CLOCK_MONOTONIC at each tick. The latest such moment. */
static bool by_stamp(struct crash *crash, uint64_t *ret_raw, uint64_t *ret_mono)
{
	const struct crash_layout *layout = &crash->layout;
	uint64_t at, offsets, offset, ids;
	uint32_t nr = 1;

	*ret_mono = 0;
	if (crash_symbol(crash, "nr_cpu_ids", &ids))
		(void)!memory_u32(&crash->memory, ids, &nr);
	if (!layout->stamp_raw.found || !layout->stamp_mono.found || !crash_symbol(crash, "sched_clock_data", &at) ||
	    !crash_symbol(crash, "__per_cpu_offset", &offsets))
		return false;
	for (uint32_t cpu = 0; cpu < nr && cpu < CRASH_CPUS_MAX; cpu++) {
		uint64_t mono;

		if (!memory_u64(&crash->memory, offsets + cpu * sizeof(uint64_t), &offset))
			break;
		mono = crash_at(crash, at + offset, &layout->stamp_mono);
		if (mono <= *ret_mono || mono > INT64_MAX / 4)
			continue;
		*ret_mono = mono;
		*ret_raw = crash_at(crash, at + offset, &layout->stamp_raw);
	}
	return *ret_mono && *ret_raw;
}

/* sched_clock(), and what is made of it. */
static bool of_scheduler(struct crash *crash, const struct read_base *fast, const char *clock,
			 struct crash_moment *moment)
{
	bool is_local = !strcmp(clock, "local");
	uint64_t mono, offset = 0, at;
	int stable = is_stable(crash);

	if ((!is_local && strcmp(clock, "global") != 0 && strcmp(clock, "perf") != 0) || stable < 0)
		return false;
	/* sched_clock_cpu() moves sched_clock(), or CLOCK_MONOTONIC at a tick. */
	if (!is_local && (!crash_symbol(crash, stable ? "__sched_clock_offset" : "__gtod_offset", &at) ||
			  !memory_u64(&crash->memory, at, &offset)))
		return false;
	if (stable) {
		if (!by_counter(crash, fast, &moment->ts))
			return false;
		moment->ts += offset;
		return true;
	}
	/* A stamp is of the same tick or the one before. */
	if (!by_stamp(crash, &moment->ts, &mono) || mono + NS_PER_S < moment->mono_ns ||
	    mono > moment->mono_ns + NS_PER_S)
		return false;
	moment->wall_ns += (int64_t)(mono - moment->mono_ns);
	moment->mono_ns = mono;
	moment->width_ns = STAMP_NS;
	if (is_local)
		return true;
	/* It may be ahead of that by a tick, and does not go back. */
	moment->ts = mono + offset;
	moment->wall_ns -= TICK_NS;
	moment->width_ns += TICK_NS;
	return true;
}

bool crash_moment(struct crash *crash, const char *clock, struct crash_moment *ret)
{
	struct crash_moment moment = { .clock = clock };
	struct read_base mono, raw;
	uint64_t offset, now;

	if (!read_fast(crash, "tk_fast_mono", &mono))
		return false;
	now = mono.base + mono.ns;
	moment.mono_ns = moment.ts = now;
	moment.wall_ns = mono.real + (int64_t)mono.ns;
	if (read_keeper(crash, &mono, &crash->layout.keeper_boot, &offset))
		moment.boot_ns = now + offset;
	if (!strcmp(clock, "boot") && moment.boot_ns) {
		moment.ts = moment.boot_ns;
	} else if (!strcmp(clock, "tai") && read_keeper(crash, &mono, &crash->layout.keeper_tai, &offset)) {
		moment.ts = now + offset;
	} else if (!strcmp(clock, "mono_raw") && read_fast(crash, "tk_fast_raw", &raw) && raw.cycles == mono.cycles) {
		moment.ts = raw.base + raw.ns;
	} else if (strcmp(clock, "mono") != 0 && !of_scheduler(crash, &mono, clock, &moment)) {
		return false;
	}
	*ret = moment;
	return moment.wall_ns > 0 && moment.ts < INT64_MAX / 4;
}
