// SPDX-License-Identifier: GPL-2.0-only
/* Recordings of hosts and guests that are made up here, so that every part of a guest's time is known without weft. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/state/vcpus.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void kvm_types(struct loom *loom)
{
	loom_type(loom, "kvm", "kvm_entry", "u32 vcpu_id", "\"vcpu %u\", REC->vcpu_id");
	loom_type(loom, "kvm", "kvm_exit", "u32 exit_reason; u32 vcpu_id",
		  "\"vcpu %u reason %s\", REC->vcpu_id, "
		  "__print_symbolic(REC->exit_reason, { 1, \"EXTERNAL_INTERRUPT\" }, "
		  "{ 12, \"HLT\" }, { 48, \"EPT_VIOLATION\" })");
}

/* What a host's events say. */
static int read_host(const char *script, const struct vcpus_options *options, struct vcpus **ret, struct fail *fail)
{
	struct reader_consumer consumer = { .see = vcpus_see };
	struct trace *trace;
	struct reader reader;
	struct loom loom;
	int r;

	loom_init(&loom);
	kvm_types(&loom);
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	reader_init(&reader);
	r = reader_add_trace(&reader, trace, fail);
	if (!r)
		r = vcpus_new(options, reader.buffers[0].context, ret, fail);
	consumer.arg = *ret;
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail);
	if (!r)
		r = reader_run(&reader, &consumer, 1, fail);
	if (!r)
		r = vcpus_end(*ret, fail);
	reader_release(&reader);
	trace_free(trace);
	loom_release(&loom);
	return r;
}

#define KVM_HOST                                                                                      \
	"0 1000 0 sched_switch prev_comm=swapper next_comm=kvm next_pid=500\n"                        \
	"0 1100 500 kvm_entry vcpu_id=0\n"                                                            \
	"0 2000 500 kvm_exit exit_reason=48\n"                                                        \
	"0 2300 500 kvm_entry vcpu_id=0\n"                                                            \
	"0 3000 500 kvm_exit exit_reason=1\n"                                                         \
	"0 3050 500 sched_switch prev_comm=kvm prev_pid=500 next_comm=make next_pid=77\n"             \
	"0 4000 77 sched_switch prev_comm=make prev_pid=77 prev_state=1 next_comm=kvm next_pid=500\n" \
	"0 4100 500 kvm_entry vcpu_id=0\n"                                                            \
	"0 5000 500 kvm_exit exit_reason=12\n"                                                        \
	"0 5100 500 sched_switch prev_comm=kvm prev_pid=500 prev_state=1 next_comm=swapper\n"         \
	"0 6000 0 sched_waking comm=kvm pid=500\n"                                                    \
	"0 6100 0 sched_switch prev_comm=swapper next_comm=kvm next_pid=500\n"                        \
	"0 6200 500 kvm_entry vcpu_id=0\n"                                                            \
	"0 8000 500 kvm_exit exit_reason=1\n"                                                         \
	"0 8100 500 kvm_entry vcpu_id=0\n"                                                            \
	"0 9000 500 sched_waking comm=x pid=99\n"

#define GUEST                                                                            \
	"0 1500 0 sched_switch prev_comm=swapper next_comm=sh next_pid=7\n"              \
	"0 4500 7 sched_switch prev_comm=sh prev_pid=7 next_comm=ls next_pid=8\n"        \
	"0 4900 8 sched_switch prev_comm=ls prev_pid=8 prev_state=1 next_comm=swapper\n" \
	"0 6250 0 sched_switch prev_comm=swapper next_comm=sh next_pid=7\n"              \
	"0 8050 7 sched_switch prev_comm=sh prev_pid=7 prev_state=1 next_comm=swapper\n"

static bool host_is(struct analysed *analysed, const char *row, const char *const values[7])
{
	static const char *const columns[] = { "run_ns",         "vcpu_ran_ns",     "vcpu_waited_ns", "vcpu_exit_ns",
					       "vcpu_halted_ns", "vcpu_unknown_ns", "vcpu_unsure_ns" };
	bool ok = true;

	for (size_t i = 0; i < 7; i++)
		ok &= analysed_is(analysed, "host", row, columns[i], values[i]);
	return ok;
}

TEST(vcpus_what_a_task_of_a_guest_ran_is_divided_by_what_its_cpu_did_on_the_host)
{
	const struct vcpus_options options = { .error_ns = 10, .exact = true };
	struct fail fail = FAIL_INIT;
	struct vcpus *vcpus = NULL;
	struct analysed analysed;

	CHECK(!read_host(KVM_HOST, &options, &vcpus, &fail));
	CHECK(vcpus_count(vcpus) == 1 && vcpus_thread(vcpus, 0) == 500 && !vcpus_thread(vcpus, 1));
	if (!analysed_guest(&analysed, &sched_analysis, vcpus, NULL, GUEST))
		return;
	CHECK(host_is(&analysed, "sh", (const char *[]){ "4800", "3350", "950", "500", "0", "0", "140" }));
	CHECK(host_is(&analysed, "ls", (const char *[]){ "400", "400", "0", "0", "0", "0", "0" }));
	CHECK(analysed_is(&analysed, "host", "sh", "most_exits", "EPT_VIOLATION"));
	CHECK(analysed_is(&analysed, "vcpu_exits", "EPT_VIOLATION", "time_ns", "300"));
	CHECK(analysed_is(&analysed, "vcpu_exits", "EXTERNAL_INTERRUPT", "time_ns", "200"));
	CHECK(analysed_is(&analysed, "tasks", "sh", "run_ns", "4800"));
	CHECK(analysed_is(&analysed, "vcpus", "0", "host_pid", "500"));
	/* from 1500 to 8050: all modes of the host */
	CHECK(analysed_is(&analysed, "vcpus", "0", "vcpu_halted_ns", "900"));
	CHECK(analysed_is(&analysed, "vcpus", "0", "vcpu_waited_ns", "1050"));
	analysed_end(&analysed);
	vcpus_free(vcpus);
}

static void call_types(struct loom *loom)
{
	loom_type(loom, "raw_syscalls", "sys_enter", "long id; u64 args", "\"\"");
	loom_type(loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
}

TEST(vcpus_calls_and_wakeups_of_a_guest_have_their_parts)
{
	const struct vcpus_options options = { .exact = false };
	struct fail fail = FAIL_INIT;
	struct vcpus *vcpus = NULL;
	struct analysed analysed;

	CHECK(!read_host(KVM_HOST, &options, &vcpus, &fail));
	/* Two calls, of which the second leaves the CPU and waits for it: 400 ns of it is another task's. */
	if (!analysed_guest(&analysed, &syscalls_analysis, vcpus, call_types,
			    "0 1500 0 sched_switch prev_comm=swapper next_comm=sh next_pid=7\n"
			    "0 1600 7 sys_enter id=1\n"
			    "0 2100 7 sys_exit id=1 ret=0\n"
			    "0 2900 7 sys_enter id=1\n"
			    "0 4500 7 sched_switch prev_comm=sh prev_pid=7 next_comm=ls next_pid=8\n"
			    "0 4900 8 sched_switch prev_comm=ls prev_pid=8 prev_state=1 next_comm=sh next_pid=7\n"
			    "0 5050 7 sys_exit id=1 ret=0\n"))
		return;
	/* 500: 400 in the guest, 100 in an exit; 2150: 100 + 400 + 100, waited 950, exits 50 + 100 + 50 */
	CHECK(analysed.findings.nr && analysed.findings.items[0].table.nr_items);
	for (size_t i = 0; i < analysed.findings.nr; i++) {
		static const struct {
			const char *column;
			const char *value;
		} cells[] = { { "total_ns", "2650" },    { "blocked_ns", "0" },       { "wait_ns", "400" },
			      { "vcpu_ran_ns", "1000" }, { "vcpu_waited_ns", "950" }, { "vcpu_exit_ns", "300" },
			      { "vcpu_halted_ns", "0" }, { "vcpu_unknown_ns", "0" },  { "vcpu_unsure_ns", "-" } };

		for (size_t j = 0; !strcmp(analysed.findings.items[i].name, "host") && j < array_size(cells); j++)
			CHECK(analysed_is(&analysed, "host", "syscall_1", cells[j].column, cells[j].value));
	}
	analysed_end(&analysed);
	if (!analysed_guest(&analysed, &latency_analysis, vcpus, NULL,
			    "0 2000 0 sched_waking comm=sh pid=7 prio=120\n"
			    "0 2010 0 sched_wakeup comm=sh pid=7 prio=120\n"
			    "0 4200 0 sched_switch prev_comm=swapper next_comm=sh next_pid=7\n"
			    "0 4300 7 sched_switch prev_comm=sh prev_pid=7 prev_state=1 next_comm=swapper\n"))
		return;
	CHECK(analysed_is(&analysed, "host", "2200", "vcpu_ran_ns", "800"));
	CHECK(analysed_is(&analysed, "host", "2200", "vcpu_waited_ns", "950"));
	CHECK(analysed_is(&analysed, "host", "2200", "vcpu_exit_ns", "450"));
	CHECK(analysed_is(&analysed, "host", "2200", "most_exits", "EPT_VIOLATION"));
	analysed_end(&analysed);
	vcpus_free(vcpus);
}

#define TCG_HOST                                                                                       \
	"0 1000 0 sched_switch prev_comm=swapper next_comm=CPU_0/TCG next_pid=500\n"                   \
	"1 1000 0 sched_switch prev_comm=swapper next_comm=CPU_1/TCG next_pid=501\n"                   \
	"0 2000 500 sched_switch prev_comm=CPU_0/TCG prev_pid=500 prev_state=1 next_comm=swapper\n"    \
	"0 2500 0 sched_waking comm=CPU_0/TCG pid=500\n"                                               \
	"0 2600 0 sched_switch prev_comm=swapper next_comm=CPU_0/TCG next_pid=500\n"                   \
	"1 lost 5\n"                                                                                   \
	"1 3000 501 sched_switch prev_comm=CPU_1/TCG prev_pid=501 next_comm=x next_pid=9\n"            \
	"1 3500 9 sched_switch prev_comm=x prev_pid=9 prev_state=1 next_comm=CPU_1/TCG next_pid=501\n" \
	"0 4000 500 sched_waking comm=x pid=99\n"                                                      \
	"1 4000 501 sched_waking comm=x pid=98\n"

static void time_is(const struct vcpus *vcpus, uint32_t cpu, uint64_t from, uint64_t to, const uint64_t in[VCPU_MODES])
{
	struct vcpu_time time = { .unsure = 0 };

	vcpus_time(vcpus, cpu, from, to, &time, NULL);
	for (size_t i = 0; i < VCPU_MODES; i++)
		if (!CHECK(time.in[i] == in[i]))
			printf("CPU %u, %" PRIu64 " to %" PRIu64 ": mode %zu is %" PRIu64 "\n", cpu, from, to, i,
			       time.in[i]);
}

TEST(vcpus_threads_without_kvm_events_run_wait_and_halt_and_what_was_lost_is_unknown)
{
	const int32_t threads[] = { 500, 501 };
	struct fail fail = FAIL_INIT;
	struct vcpus *vcpus = NULL;

	/* The script has no blanks in names: the threads are told. */
	CHECK(!read_host(TCG_HOST, &(struct vcpus_options){ .threads = threads, .nr_threads = 2 }, &vcpus, &fail));
	CHECK(!vcpus_have_exits(vcpus));
	time_is(vcpus, 0, 500, 4000, (const uint64_t[]){ 1000 + 1400, 100, 0, 500, 500 });
	time_is(vcpus, 0, 3000, 5000, (const uint64_t[]){ 1000, 0, 0, 0, 1000 });
	/* From the last event before the loss on. */
	time_is(vcpus, 1, 1000, 4000, (const uint64_t[]){ 500, 500, 0, 0, 2000 });
	/* No such CPU. */
	time_is(vcpus, 7, 1000, 4000, (const uint64_t[]){ 0, 0, 0, 0, 3000 });
	vcpus_free(vcpus);
}

TEST(vcpus_of_several_guests_or_none_are_asked_for)
{
	struct fail fail = FAIL_INIT;
	struct vcpus *vcpus = NULL;

	CHECK(read_host(KVM_HOST "1 9100 600 kvm_entry vcpu_id=0\n", &(struct vcpus_options){ .exact = true }, &vcpus,
			&fail) == -EEXIST);
	CHECK(strstr(fail.text, "500 (CPU 0), 600 (CPU 0)") != NULL);
	vcpus_free(vcpus);
	vcpus = NULL;
	CHECK(read_host(TCG_HOST, &(struct vcpus_options){ .exact = true }, &vcpus, &fail) == -ENOENT);
	vcpus_free(vcpus);
}

/* Random hosts and guests, whose every ns is known. */
enum { SPAN = 4000, TASKS = 3, ERROR = 7, AFTER = SPAN + 2 * ERROR };

struct random_pair {
	struct buf host, guest;
	uint8_t modes[AFTER]; /* of the vCPU; VCPU_UNKNOWN before the first kvm_entry */
	bool unsure[SPAN];
	uint8_t task[SPAN]; /* 0: idle */
};

static uint64_t some(uint64_t most)
{
	return 1 + (uint64_t)rand() % most;
}

static void fill(struct random_pair *pair, uint64_t from, uint64_t to, uint8_t mode)
{
	for (uint64_t at = from; at < to && at < AFTER; at++)
		pair->modes[at] = mode;
}

/* A turn in the guest, then an exit in which the thread may be preempted, or sleep if it is a halt. */
static void plant_host(struct random_pair *pair)
{
	static const unsigned reasons[] = { 1, 12, 48 };
	uint64_t at = 1;

	CHECK(buf_addf(&pair->host, "0 1 0 sched_switch next_comm=kvm next_pid=500\n"));
	fill(pair, 0, AFTER, VCPU_UNKNOWN);
	while (at < AFTER) {
		unsigned reason = reasons[rand() % 3];
		uint64_t entry = at + some(20), exit = entry + some(90), off = exit + some(15), woken, on;

		CHECK(buf_addf(&pair->host,
			       "0 %" PRIu64 " 500 kvm_entry vcpu_id=0\n0 %" PRIu64 " 500 kvm_exit exit_reason=%u\n",
			       entry, exit, reason));
		fill(pair, entry, exit, VCPU_RAN);
		fill(pair, exit, AFTER, VCPU_EXIT);
		at = off;
		if (rand() % 2)
			continue;
		woken = reason == 12 ? off + some(60) : off;
		on = woken + some(40);
		CHECK(buf_addf(&pair->host, "0 %" PRIu64 " 500 sched_switch prev_comm=kvm prev_pid=500 prev_state=%d\n",
			       off, reason == 12));
		fill(pair, off, AFTER, VCPU_HALTED);
		if (reason == 12)
			CHECK(buf_addf(&pair->host, "0 %" PRIu64 " 0 sched_waking comm=kvm pid=500\n", woken));
		fill(pair, woken, AFTER, VCPU_WAITED);
		CHECK(buf_addf(&pair->host, "0 %" PRIu64 " 0 sched_switch next_comm=kvm next_pid=500\n", on));
		fill(pair, on, AFTER, VCPU_EXIT);
		at = on;
	}
	CHECK(buf_addf(&pair->host, "0 %" PRIu64 " 500 sched_waking comm=x pid=99\n", at + SPAN));
	for (uint64_t i = 1; i < AFTER; i++)
		for (uint64_t j = i > ERROR ? i - ERROR : 0;
		     pair->modes[i] != pair->modes[i - 1] && j < i + ERROR && j < SPAN; j++)
			pair->unsure[j] = true;
}

static void plant_guest(struct random_pair *pair)
{
	unsigned now = 0;

	for (uint64_t at = some(40); at < SPAN; at += some(200)) {
		unsigned next = (now + 1 + (unsigned)rand() % TASKS) % (TASKS + 1);

		CHECK(buf_addf(&pair->guest,
			       "0 %" PRIu64
			       " %u sched_switch prev_comm=t%u prev_pid=%u prev_state=1 next_comm=t%u next_pid=%u\n",
			       at, now, now, now, next, next));
		memset(pair->task + at, (int)next, SPAN - at);
		now = next;
	}
	CHECK(buf_addf(&pair->guest, "0 %d %u sched_waking comm=x pid=99\n", SPAN, now));
}

static void check_pair(struct random_pair *pair)
{
	const struct vcpus_options options = { .error_ns = ERROR, .exact = true };
	struct fail fail = FAIL_INIT;
	struct vcpus *vcpus = NULL;
	struct analysed analysed;

	plant_host(pair);
	plant_guest(pair);
	if (!CHECK(!read_host(buf_str(&pair->host), &options, &vcpus, &fail)) ||
	    !analysed_guest(&analysed, &sched_analysis, vcpus, NULL, buf_str(&pair->guest)))
		return;
	for (unsigned task = 1; task <= TASKS; task++) {
		uint64_t in[VCPU_MODES + 2] = { 0 };
		char texts[7][24], name[4];
		const char *values[7];

		for (uint64_t at = 0; at < SPAN; at++) {
			in[0] += pair->task[at] == task;
			in[1 + pair->modes[at]] += pair->task[at] == task;
			in[VCPU_MODES + 1] += pair->task[at] == task && pair->unsure[at];
		}
		for (size_t i = 0; i < 7; i++) {
			snprintf(texts[i], sizeof(texts[i]), "%" PRIu64, in[i]);
			values[i] = texts[i];
		}
		snprintf(name, sizeof(name), "t%u", task);
		if (in[0])
			CHECK(host_is(&analysed, name, values));
	}
	analysed_end(&analysed);
	vcpus_free(vcpus);
}

TEST(vcpus_run_wait_exit_and_halt_add_up_to_the_ns_in_any_schedule)
{
	srand(59);
	for (int i = 0; i < 60; i++) {
		struct random_pair *pair = calloc(1, sizeof(*pair));

		if (!CHECK(pair))
			return;
		check_pair(pair);
		buf_release(&pair->host);
		buf_release(&pair->guest);
		free(pair);
	}
}
