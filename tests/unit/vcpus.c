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
#include "tests/unit/guest_pair.h"
#include "tests/unit/test.h"

/* What a host's events say. */
static int read_host(const char *script, const struct vcpus_options *options, struct vcpus **ret, struct fail *fail)
{
	struct reader_consumer consumer = { .see = vcpus_see };
	struct trace *trace;
	struct reader reader;
	struct loom loom;
	int r;

	loom_init(&loom);
	guest_pair_types(&loom);
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

static uint64_t some(uint64_t most)
{
	return 1 + (uint64_t)rand() % most;
}

/* Times as long as those that a picture asks about, of which sums are kept, and short ones. */
static void check_times(const struct guest_pair *pair, const struct vcpus *vcpus)
{
	for (int i = 0; i < 300; i++) {
		uint64_t from = some(GUEST_PAIR_SPAN) - 1, to = from + some(GUEST_PAIR_SPAN - from);
		struct vcpu_time want = { .unsure = 0 }, got = { .unsure = 0 };

		for (uint64_t at = from; at < to; at++) {
			want.in[pair->modes[at]]++;
			want.unsure += pair->unsure[at];
		}
		vcpus_time(vcpus, 0, from, to, &got, NULL);
		if (!CHECK(!memcmp(&want, &got, sizeof(want))))
			printf("from %" PRIu64 " to %" PRIu64 "\n", from, to);
	}
}

static void check_pair(struct guest_pair *pair)
{
	const struct vcpus_options options = { .error_ns = GUEST_PAIR_ERROR, .exact = true };
	struct fail fail = FAIL_INIT;
	struct vcpus *vcpus = NULL;
	struct analysed analysed;

	guest_pair_plant(pair);
	if (!CHECK(!read_host(buf_str(&pair->host), &options, &vcpus, &fail)) ||
	    !analysed_guest(&analysed, &sched_analysis, vcpus, NULL, buf_str(&pair->guest)))
		return;
	check_times(pair, vcpus);
	for (unsigned task = 1; task <= GUEST_PAIR_TASKS; task++) {
		uint64_t in[VCPU_MODES + 2] = { 0 };
		char texts[7][24], name[4];
		const char *values[7];

		for (uint64_t at = 0; at < GUEST_PAIR_SPAN; at++) {
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
		struct guest_pair *pair = calloc(1, sizeof(*pair));

		if (!CHECK(pair))
			return;
		check_pair(pair);
		guest_pair_release(pair);
		free(pair);
	}
}
