// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/follow/pairs.h"

#include <stdio.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/event/context.h"
#include "tests/unit/test.h"

/* Names of events, and by hand of which kind they are the two ends, and on which fields. */
static const struct {
	const char *system, *begin, *end_system, *end, *name, *match, *stem;
	enum pair_how how;
} known[] = {
	{ "sched", "sched_waking", "sched", "sched_switch", "wakeup", "pid=next_pid", "sched", PAIR_KNOWN },
	{ "sched", "sched_wakeup", "sched", "sched_switch", "wakeup", "pid=next_pid", "sched", PAIR_KNOWN },
	{ "sched", "sched_wakeup_new", "sched", "sched_switch", "wakeup", "pid=next_pid", "sched_wakeup", PAIR_KNOWN },
	{ "sched", "sched_switch", "sched", "sched_switch", "run", "common_cpu,next_pid=prev_pid", "sched",
	  PAIR_KNOWN },
	{ "irq", "softirq_entry", "irq", "softirq_exit", "softirq", "common_cpu,vec", "softirq", PAIR_KNOWN },
	{ "irq", "irq_handler_entry", "irq", "irq_handler_exit", "irq", "common_cpu,irq", "irq_handler", PAIR_KNOWN },
	{ "block", "block_rq_issue", "block", "block_rq_complete", "block", "dev,sector", "block_rq", PAIR_KNOWN },
	{ "raw_syscalls", "sys_enter", "raw_syscalls", "sys_exit", "syscall", "common_pid", "sys", PAIR_KNOWN },
	{ "syscalls", "sys_enter_read", "syscalls", "sys_exit_read", "syscall", "common_pid", "_read", PAIR_KNOWN },
	{ "lock", "contention_begin", "lock", "contention_end", "lock", "common_pid,lock_addr", "contention",
	  PAIR_GOES_ON },
	{ "ftrace", "funcgraph_entry", "ftrace", "funcgraph_exit", "function", "common_pid,func,depth", "funcgraph",
	  PAIR_KNOWN },
	{ "ftrace", "fgraph_retaddr_entry", "ftrace", "funcgraph_exit", "function", "common_pid,func,depth",
	  "fgraph_retaddr", PAIR_KNOWN },
	{ "timer", "timer_expire_entry", "timer", "timer_expire_exit", "timer", "common_cpu,timer", "timer_expire",
	  PAIR_KNOWN },
	{ "timer", "hrtimer_expire_entry", "timer", "hrtimer_expire_exit", "hrtimer", "common_cpu,hrtimer",
	  "hrtimer_expire", PAIR_KNOWN },
	{ "irq_vectors", "reschedule_entry", "irq_vectors", "reschedule_exit", NULL, "common_cpu", "reschedule",
	  PAIR_KNOWN },
	{ "vmscan", "mm_vmscan_direct_reclaim_begin", "vmscan", "mm_vmscan_direct_reclaim_end", NULL, "common_pid",
	  "mm_vmscan_direct_reclaim", PAIR_GUESSED },
	{ "workqueue", "workqueue_execute_start", "workqueue", "workqueue_execute_end", NULL, "common_pid",
	  "workqueue_execute", PAIR_GUESSED },
	{ "nvme", "cmd_issue", "nvme", "cmd_complete", NULL, "dev,sector", "cmd", PAIR_GUESSED },
	{ "f2fs", "write_start", "f2fs", "write_done", NULL, "common_pid", "write", PAIR_GUESSED },
	{ "a", "_entry", "a", "_exit", NULL, "common_cpu", "", PAIR_KNOWN },
};

static const struct {
	const char *begin_system, *begin, *end_system, *end;
} strangers[] = {
	{ "irq", "softirq_entry", "irq", "irq_handler_exit" },
	{ "irq", "softirq_exit", "irq", "softirq_entry" },
	{ "syscalls", "sys_enter_read", "syscalls", "sys_exit_write" },
	{ "syscalls", "sys_enter_read", "syscalls", "sys_exit_pread" },
	{ "syscalls", "sys_enter_read", "raw_syscalls", "sys_exit" },
	{ "irq_vectors", "reschedule_entry", "irq_vectors", "call_function_exit" },
	{ "irq_vectors", "reschedule_entry", "irq_vectors", "reschedule_end" },
	{ "vmscan", "reclaim_begin", "vmscan", "reclain_end" },
	{ "ftrace", "one_entry", "ftrace", "one_exit" },
	{ "ftrace", "funcgraph_exit", "ftrace", "funcgraph_entry" },
	{ "lock2", "contention_x", "lock", "contention_end" },
	{ "irq", "entry", "irq", "exit" },
	{ "loc", "lock", "lo", "lock" },
};

/* Every type has all the fields that a kind may name. */
static const char *const names[] = { "pid",    "next_pid",  "prev_pid", "vec",   "irq",   "dev",
				     "sector", "lock_addr", "func",     "depth", "timer", "hrtimer" };

struct kit {
	struct context context;
	struct field fields[array_size(names)];
	struct format format;
	struct event_type type;
};

static const struct event_type *type_of(struct kit *kit, const char *system, const char *name)
{
	kit->context = (struct context){ .abi = { .long_size = 8, .swap = false } };
	for (size_t i = 0; i < array_size(names); i++)
		kit->fields[i] = (struct field){ .name = names[i], .offset = (uint32_t)(8 * i), .size = 8 };
	kit->format = (struct format){
		.system = system, .name = name, .nr_fields = array_size(names), .fields = kit->fields
	};
	kit->type = (struct event_type){ .format = &kit->format, .context = &kit->context };
	return &kit->type;
}

static size_t place_in(const char *name, size_t len)
{
	for (size_t i = 0; i < array_size(names); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return i;
	return array_size(names);
}

/* The values of an end by the words of `match`, as the header says. */
static void values_by_hand(const char *match, bool begins, const struct event *event, uint64_t values[PAIRS_KEYS_MAX])
{
	memset(values, 0, PAIRS_KEYS_MAX * sizeof(*values));
	for (size_t nr = 0; *match; nr++) {
		size_t len = strcspn(match, ","), first = strcspn(match, "=,");
		const char *word = begins || first == len ? match : match + first + 1;
		size_t word_len = begins ? first : first == len ? len : len - first - 1, at = place_in(word, word_len);

		if (at < array_size(names))
			memcpy(&values[nr], event->data + 8 * at, 8);
		else
			values[nr] = !memcmp(word, "common_cpu", 10) ? event->cpu : (uint32_t)event->pid;
		match += len + (match[len] == ',');
	}
}

TEST(pairs_are_found_by_the_names_of_their_events)
{
	uint64_t data[array_size(names)];
	struct event event = { .pid = -5, .cpu = 3, .data = (const uint8_t *)data, .len = sizeof(data) };

	for (size_t i = 0; i < array_size(names); i++)
		data[i] = 1000 + i;
	for (size_t i = 0; i < array_size(known); i++) {
		struct kit begin, end;
		const struct event_type *first = type_of(&begin, known[i].system, known[i].begin),
					*second = type_of(&end, known[i].end_system, known[i].end);
		const struct pair_kind *kind = pairs_between(first->format, second->format);
		struct pair_end one, other;
		uint64_t values[PAIRS_KEYS_MAX], wanted[PAIRS_KEYS_MAX];
		char partner[PAIRS_NAME];

		REQUIRE(kind);
		CHECK(known[i].name ? kind->name && !strcmp(kind->name, known[i].name) : !kind->name);
		CHECK_STR(kind->match, known[i].match);
		CHECK(kind->how == known[i].how);
		CHECK(!known[i].name || pairs_named(known[i].name)->name == pairs_named(kind->name)->name);
		REQUIRE(pair_end_find(&one, first) && one.begins);
		/* A start may end in two ways: the partner is then that of the first. */
		if (one.kind == kind) {
			pair_end_partner(&one, partner);
			CHECK_STR(partner, known[i].end);
			CHECK(pair_end_fits(&one, second, &other) && !other.begins && other.kind == kind);
		}
		CHECK(one.stem_len == strlen(known[i].stem) && !memcmp(one.stem, known[i].stem, one.stem_len));
		CHECK(one.on_cpu == !!strstr(one.kind->match, "common_cpu"));
		CHECK(one.of_task == !!strstr(one.kind->match, "common_pid"));
		pair_end_values(&one, &event, values);
		values_by_hand(one.kind->match, true, &event, wanted);
		CHECK_MEM(values, sizeof(values), wanted, sizeof(wanted));
		if (strcmp(known[i].end, "sched_switch")) {
			REQUIRE(pair_end_find(&one, second) && !one.begins);
			CHECK(pair_end_fits(&one, first, &other) && other.begins && other.kind == kind);
		}
		one = (struct pair_end){
			.kind = kind, .begins = true, .stem = known[i].stem, .stem_len = strlen(known[i].stem)
		};
		REQUIRE(pair_end_fits(&one, second, &other));
		pair_end_partner(&other, partner);
		CHECK(!strcmp(partner, known[i].begin) || !strcmp(kind->name ?: "", "function"));
		pair_end_values(&other, &event, values);
		values_by_hand(kind->match, false, &event, wanted);
		CHECK_MEM(values, sizeof(values), wanted, sizeof(wanted));
	}
}

TEST(pairs_are_not_made_of_events_of_two_pairs)
{
	for (size_t i = 0; i < array_size(strangers); i++) {
		struct kit begin, end;
		const struct event_type *first = type_of(&begin, strangers[i].begin_system, strangers[i].begin),
					*second = type_of(&end, strangers[i].end_system, strangers[i].end);
		struct pair_end one, other;

		CHECK(!pairs_between(first->format, second->format));
		if (pair_end_find(&one, first) && one.begins)
			CHECK(!pair_end_fits(&one, second, &other));
	}
	CHECK(!pairs_named("nothing") && pairs_named("irq") && pairs_named("function"));
}

TEST(pairs_partner_of_a_name_that_is_too_long_is_cut)
{
	struct kit kit;
	struct pair_end end;
	char partner[PAIRS_NAME], name[128];

	memset(name, 'n', 60);
	memcpy(name + 60, "_begin", 7);
	REQUIRE(pair_end_find(&end, type_of(&kit, "any", name)));
	pair_end_partner(&end, partner);
	CHECK(strlen(partner) == 44 && !strcmp(partner + 40, "_end"));
}

/* What is open, the slow way. */
struct open {
	size_t kind;
	uint64_t values[PAIRS_KEYS_MAX], start;
	unsigned cpu;
	bool on_cpu, known;
};

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed >> 20;
}

static struct open *find_open(struct open *open, size_t nr, const struct open *wanted)
{
	for (size_t i = 0; i < nr; i++)
		if (open[i].kind == wanted->kind && !memcmp(open[i].values, wanted->values, sizeof(open[i].values)))
			return &open[i];
	return NULL;
}

TEST(pairs_that_are_open_are_those_of_a_list_that_is_searched)
{
	static const size_t used[] = { 4, 5, 6, 8, 9, 10, 14, 15 };
	struct kit kits[2 * array_size(used)];
	struct pair_end ends[2 * array_size(used)];
	struct open open[4096];
	uint64_t seed = 0x9e3779b97f4a7c15u;
	size_t nr = 0, paired = 0;
	struct pairs pairs;

	pairs_init(&pairs);
	for (size_t i = 0; i < array_size(used); i++) {
		REQUIRE(pairs_bind(&pairs, type_of(&kits[2 * i], known[used[i]].system, known[used[i]].begin),
				   &ends[2 * i]));
		REQUIRE(pairs_bind(&pairs, type_of(&kits[2 * i + 1], known[used[i]].end_system, known[used[i]].end),
				   &ends[2 * i + 1]));
		CHECK(ends[2 * i].own == ends[2 * i + 1].own && ends[2 * i].own == i);
	}
	for (uint64_t ts = 1; ts < 20000; ts++) {
		uint64_t data[array_size(names)], which = next(&seed) % (2 * array_size(used)), start = 0;
		struct event event = { .ts = ts,
				       .pid = (int32_t)(next(&seed) % 3),
				       .cpu = (uint16_t)(next(&seed) % 3),
				       .data = (const uint8_t *)data,
				       .len = sizeof(data) };
		struct open wanted = { .kind = (size_t)which / 2,
				       .start = ts,
				       .cpu = event.cpu,
				       .known = true,
				       .on_cpu = ends[which].on_cpu };
		struct open *found;

		if (next(&seed) % 40 == 0) {
			pairs_lose(&pairs, &event);
			for (size_t i = 0; i < nr; i++)
				open[i].known &= open[i].on_cpu && open[i].cpu != event.cpu;
			continue;
		}
		for (size_t i = 0; i < array_size(names); i++)
			data[i] = next(&seed) % 3;
		values_by_hand(ends[which].kind->match, !(which & 1), &event, wanted.values);
		found = find_open(open, nr, &wanted);
		if (which & 1) {
			int32_t pid;
			bool is = pairs_end(&pairs, &ends[which], &event, &start, &pid);

			CHECK(is == (found && found->known) && (!is || start == found->start));
			paired += is;
			if (found)
				*found = open[--nr];
			continue;
		}
		pairs_begin(&pairs, &ends[which], &event);
		if (!found)
			found = &open[nr++];
		else if (found->known && ends[which].kind->how == PAIR_GOES_ON)
			continue;
		*found = wanted;
	}
	CHECK(paired > 1000 && nr > 10 && pairs.open.len == nr && !pairs_starved(&pairs));
	pairs_release(&pairs);
}

/* An interrupt on CPU 4 and another one on CPU 5 are both known. */
TEST(pairs_of_one_cpu_do_not_replace_those_of_another)
{
	static const char *const interrupts[] = { "reschedule", "call_function", "local_timer", "irq_work" };
	struct kit kits[2 * array_size(interrupts)];
	struct pair_end ends[2 * array_size(interrupts)];
	char text[2 * array_size(interrupts)][40];
	struct event event = { .len = 0 };
	struct pairs pairs;
	uint64_t start;
	int32_t pid;

	pairs_init(&pairs);
	for (size_t i = 0; i < array_size(ends); i++) {
		snprintf(text[i], sizeof(text[i]), "%s_%s", interrupts[i / 2], i % 2 ? "exit" : "entry");
		CHECK(pairs_bind(&pairs, type_of(&kits[i], "irq_vectors", text[i]), &ends[i]));
	}
	for (event.cpu = 0; event.cpu < 64; event.cpu++)
		for (size_t i = 0; i < array_size(ends); i += 2) {
			event.ts = 100 * i + event.cpu;
			event.pid = 1000 + event.cpu;
			pairs_begin(&pairs, &ends[i], &event);
		}
	for (event.cpu = 0; event.cpu < 64; event.cpu++)
		for (size_t i = 0; i < array_size(ends); i += 2)
			CHECK(pairs_end(&pairs, &ends[i + 1], &event, &start, &pid) && start == 100 * i + event.cpu &&
			      pid == 1000 + event.cpu);
	pairs_release(&pairs);
}

TEST(pairs_of_two_cpus_are_unknown_after_the_early_end_of_one)
{
	struct kit kits[4];
	struct pair_end ends[4];
	uint64_t data[array_size(names)] = { 0 }, start = 0;
	struct event event = { .ts = 7, .pid = 1, .cpu = 1, .data = (const uint8_t *)data, .len = sizeof(data) };
	struct pairs pairs;
	int32_t pid;

	pairs_init(&pairs);
	CHECK(pairs_bind(&pairs, type_of(&kits[0], "irq", "softirq_entry"), &ends[0]) &&
	      pairs_bind(&pairs, type_of(&kits[1], "irq", "softirq_exit"), &ends[1]) &&
	      pairs_bind(&pairs, type_of(&kits[2], "block", "block_rq_issue"), &ends[2]) &&
	      pairs_bind(&pairs, type_of(&kits[3], "block", "block_rq_complete"), &ends[3]));
	pairs_lose(&pairs, &(struct event){ .cpu = 0, .lost = EVENT_LOST_REST, .kind = EVENT_LOST });
	pairs_begin(&pairs, &ends[0], &event);
	pairs_begin(&pairs, &ends[2], &event);
	CHECK(pairs_end(&pairs, &ends[1], &event, &start, &pid) && start == 7 && pid == 1);
	CHECK(!pairs_end(&pairs, &ends[3], &event, &start, &pid) && !pairs_end(&pairs, &ends[1], &event, &start, &pid));
	pairs_release(&pairs);
}
