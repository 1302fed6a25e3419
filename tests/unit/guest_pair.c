// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/guest_pair.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/meaning/state/vcpus.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

void guest_pair_types(struct loom *loom)
{
	loom_type(loom, "kvm", "kvm_entry", "u32 vcpu_id", "\"vcpu %u\", REC->vcpu_id");
	loom_type(loom, "kvm", "kvm_exit", "u32 exit_reason; u32 vcpu_id",
		  "\"vcpu %u reason %s\", REC->vcpu_id, "
		  "__print_symbolic(REC->exit_reason, { 1, \"EXTERNAL_INTERRUPT\" }, "
		  "{ 12, \"HLT\" }, { 48, \"EPT_VIOLATION\" })");
}

static uint64_t some(uint64_t most)
{
	return 1 + (uint64_t)rand() % most;
}

static void fill(struct guest_pair *pair, uint64_t from, uint64_t to, uint8_t mode)
{
	for (uint64_t at = from; at < to && at < GUEST_PAIR_AFTER; at++)
		pair->modes[at] = mode;
}

/* A turn in the guest, then an exit in which the thread may be preempted, or sleep if it is a halt. */
static void plant_host(struct guest_pair *pair)
{
	static const unsigned reasons[] = { 1, 12, 48 };
	uint64_t at = 1;

	CHECK(buf_addf(&pair->host, "0 1 0 sched_switch next_comm=kvm next_pid=500\n"));
	fill(pair, 0, GUEST_PAIR_AFTER, VCPU_UNKNOWN);
	while (at < GUEST_PAIR_AFTER) {
		unsigned reason = reasons[rand() % 3];
		uint64_t entry = at + some(20), exit = entry + some(90), off = exit + some(15), woken, on;

		CHECK(buf_addf(&pair->host,
			       "0 %" PRIu64 " 500 kvm_entry vcpu_id=0\n0 %" PRIu64 " 500 kvm_exit exit_reason=%u\n",
			       entry, exit, reason));
		fill(pair, entry, exit, VCPU_RAN);
		fill(pair, exit, GUEST_PAIR_AFTER, VCPU_EXIT);
		at = off;
		if (rand() % 2)
			continue;
		woken = reason == 12 ? off + some(60) : off;
		on = woken + some(40);
		CHECK(buf_addf(&pair->host, "0 %" PRIu64 " 500 sched_switch prev_comm=kvm prev_pid=500 prev_state=%d\n",
			       off, reason == 12));
		fill(pair, off, GUEST_PAIR_AFTER, VCPU_HALTED);
		if (reason == 12)
			CHECK(buf_addf(&pair->host, "0 %" PRIu64 " 0 sched_waking comm=kvm pid=500\n", woken));
		fill(pair, woken, GUEST_PAIR_AFTER, VCPU_WAITED);
		CHECK(buf_addf(&pair->host, "0 %" PRIu64 " 0 sched_switch next_comm=kvm next_pid=500\n", on));
		fill(pair, on, GUEST_PAIR_AFTER, VCPU_EXIT);
		at = on;
	}
	CHECK(buf_addf(&pair->host, "0 %" PRIu64 " 500 sched_waking comm=x pid=99\n", at + GUEST_PAIR_SPAN));
	for (uint64_t i = 1; i < GUEST_PAIR_AFTER; i++)
		for (uint64_t j = i > GUEST_PAIR_ERROR ? i - GUEST_PAIR_ERROR : 0;
		     pair->modes[i] != pair->modes[i - 1] && j < i + GUEST_PAIR_ERROR && j < GUEST_PAIR_SPAN; j++)
			pair->unsure[j] = true;
}

static void plant_guest(struct guest_pair *pair)
{
	unsigned now = 0;

	for (uint64_t at = some(40); at < GUEST_PAIR_SPAN; at += some(200)) {
		unsigned next = (now + 1 + (unsigned)rand() % GUEST_PAIR_TASKS) % (GUEST_PAIR_TASKS + 1);

		CHECK(buf_addf(&pair->guest,
			       "0 %" PRIu64
			       " %u sched_switch prev_comm=t%u prev_pid=%u prev_state=1 next_comm=t%u next_pid=%u\n",
			       at, now, now, now, next, next));
		memset(pair->task + at, (int)next, GUEST_PAIR_SPAN - at);
		now = next;
	}
	CHECK(buf_addf(&pair->guest, "0 %d %u sched_waking comm=x pid=99\n", GUEST_PAIR_SPAN, now));
}

void guest_pair_plant(struct guest_pair *pair)
{
	plant_host(pair);
	plant_guest(pair);
}

/* Plays a script as one of the buffer that this mark stands for. */
static void play(struct loom *loom, const char *mark, const char *script)
{
	cleanup_buf struct buf marked = BUF_INIT;

	while (*script) {
		size_t len = strcspn(script, "\n") + 1;

		CHECK(buf_addf(&marked, "%s%.*s", mark, (int)len, script));
		script += len;
	}
	loom_play(loom, buf_str(&marked));
}

struct trace *guest_pair_trace(struct guest_pair *pair, struct loom *loom)
{
	guest_pair_types(loom);
	loom->other = "host";
	loom_setting(loom, "weft/recording", "guest");
	loom_setting(loom, "weft/clock_error", "7");
	loom_setting(loom, "+weft/recording", "host");
	loom_setting(loom, "+weft/clock_error", "0");
	play(loom, "", buf_str(&pair->guest));
	play(loom, "+", buf_str(&pair->host));
	return loom_trace(loom);
}

void guest_pair_release(struct guest_pair *pair)
{
	buf_release(&pair->host);
	buf_release(&pair->guest);
}
