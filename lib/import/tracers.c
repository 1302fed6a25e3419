// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads what kernel/trace/trace_output.c prints: trace_hwlat_print(), trace_osnoise_print(), and so on. */
#include "lib/import/tracers_internal.h"

#include "lib/base/bytes.h"
#include "lib/base/cleanup.h"
#include "lib/import/head_internal.h"
#include "lib/import/names_internal.h"
#include "lib/import/records_internal.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 512, NAME = 200 };

/* Whether the text is what this prints; nothing else is taken, so that the line comes back as it was. */
#define IS(text, ...)                                                                                           \
	({                                                                                                      \
		char again[TEXT];                                                                               \
		(size_t) snprintf(again, sizeof(again), __VA_ARGS__) < sizeof(again) && !strcmp(again, (text)); \
	})

static bool take_hwlat(const struct records *make, const char *text)
{
	unsigned long long inner, outer, seconds, nanoseconds, nmi_total = 0;
	unsigned number, count = 0, nmi_count = 0;
	char tail[TEXT] = "", nmi[64] = "";
	int end = 0;

	if (sscanf(text, "#%10u inner/outer(us): %19llu/%19llu ts:%19llu.%9llu%n", &number, &inner, &outer, &seconds,
		   &nanoseconds, &end) != 5 ||
	    !end)
		return false;
	if (sscanf(text + end, " count:%9u", &count) == 1)
		snprintf(tail, sizeof(tail), " count:%u", count);
	if (strstr(text + end, " nmi-total:") &&
	    sscanf(strstr(text + end, " nmi-total:"), " nmi-total:%19llu", &nmi_total) == 1)
		snprintf(nmi, sizeof(nmi), " nmi-total:%llu", nmi_total);
	if (strstr(text + end, " nmi-count:") &&
	    sscanf(strstr(text + end, " nmi-count:"), " nmi-count:%9u", &nmi_count) == 1)
		snprintf(nmi + strlen(nmi), sizeof(nmi) - strlen(nmi), " nmi-count:%u", nmi_count);
	if (!IS(text, "#%-5u inner/outer(us): %4llu/%-5llu ts:%llu.%09llu%s%s", number, inner, outer, seconds,
		nanoseconds, tail, nmi))
		return false;
	/* Kernels before 5.8 have no count. */
	if (!tail[0])
		return records_numbers(make, "ftrace", "hwlat",
				       "u64 duration;u64 outer_duration;u64 nmi_total_ts;u64 tv_sec;u64 tv_nsec;"
				       "u32 nmi_count;u32 seqnum",
				       (const uint64_t[]){ inner, outer, nmi_total, seconds, nanoseconds, nmi_count,
							   number });
	return records_numbers(make, "ftrace", "hwlat",
			       "u64 duration;u64 outer_duration;u64 nmi_total_ts;u64 tv_sec;u64 tv_nsec;"
			       "u32 nmi_count;u32 seqnum;u32 count",
			       (const uint64_t[]){ inner, outer, nmi_total, seconds, nanoseconds, nmi_count, number,
						   count });
}

static bool take_osnoise(const struct records *make, const char *text)
{
	unsigned long long runtime, noise, whole, part, sample, ratio;
	unsigned hw, nmi, irq, softirq, thread;

	if (sscanf(text, "%19llu %19llu %9llu.%9llu %19llu %9u %9u %9u %9u %9u", &runtime, &noise, &whole, &part,
		   &sample, &hw, &nmi, &irq, &softirq, &thread) != 10 ||
	    !(uint32_t)runtime || noise > runtime)
		return false;
	ratio = (runtime - noise) * 10000000 / (uint32_t)runtime;
	return IS(text, "%llu %10llu %3llu.%05llu %7llu %6u %6u %6u %6u %6u", runtime, noise, ratio / 100000,
		  ratio % 100000, sample, hw, nmi, irq, softirq, thread) &&
	       records_numbers(make, "ftrace", "osnoise",
			       "u64 noise;u64 runtime;u64 max_sample;u32 hw_count;u32 nmi_count;u32 irq_count;"
			       "u32 softirq_count;u32 thread_count",
			       (const uint64_t[]){ noise, runtime, sample, hw, nmi, irq, softirq, thread });
}

static bool take_timerlat(const struct records *make, const char *text)
{
	static const char *const contexts[] = { "irq", "thread", "user-ret" };
	char name[16];
	unsigned number;
	unsigned long long latency;

	if (sscanf(text, "#%10u context %15s timer_latency %19llu ns", &number, name, &latency) != 3)
		return false;
	for (uint64_t i = 0; i < array_size(contexts); i++)
		if (!strcmp(name, contexts[i]))
			return IS(text, "#%-5u context %6s timer_latency %9llu ns", number, name, latency) &&
			       records_numbers(make, "ftrace", "timerlat", "u32 seqnum;int context;u64 timer_latency",
					       (const uint64_t[]){ number, i, latency });
	return false;
}

/* task_index_to_char(), include/linux/sched.h */
static uint64_t state_of(char c)
{
	static const char states[] = "RSDTtXZPI";
	const char *at = c ? strchr(states, c) : NULL;

	return at ? (uint64_t)(at - states) : sizeof(states);
}

/* trace_ctxwake_print(): "      0:120:R   + [000]      21:  0:R tick/0" wakes, "==>" switches. */
static bool take_switch(const struct records *make, const char *text)
{
	int prev_pid, prev_prio, next_pid, next_prio, end = 0;
	unsigned cpu;
	char prev_state, next_state, arrow[8], name[NAME] = "";
	bool wakes;

	if (sscanf(text, "%10d:%10d:%c %7s [%9u] %10d:%10d:%c %n", &prev_pid, &prev_prio, &prev_state, arrow, &cpu,
		   &next_pid, &next_prio, &next_state, &end) != 8)
		return false;
	wakes = !strcmp(arrow, "+");
	if (!wakes && strcmp(arrow, "==>"))
		return false;
	if (end && strlen(text + end) < sizeof(name))
		memcpy(name, text + end, strlen(text + end) + 1);
	if (!IS(text, " %7d:%3d:%c %3s [%03u] %7d:%3d:%c %s", prev_pid, prev_prio, prev_state, wakes ? "+" : "==>", cpu,
		next_pid, next_prio, next_state, name) &&
	    !IS(text, " %5d:%3d:%c %3s [%03u] %5d:%3d:%c %s", prev_pid, prev_prio, prev_state, wakes ? "+" : "==>", cpu,
		next_pid, next_prio, next_state, name))
		return false;
	if (!import_names_task(make->names, next_pid, name, strlen(name), 0))
		return false;
	return records_numbers(make, "ftrace", wakes ? "wakeup" : "context_switch",
			       "u32 prev_pid;u32 next_pid;u32 next_cpu;u8 prev_prio;u8 prev_state;u8 next_prio;"
			       "u8 next_state",
			       (const uint64_t[]){ (uint32_t)prev_pid, (uint32_t)next_pid, cpu, (uint64_t)prev_prio,
						   state_of(prev_state), (uint64_t)next_prio, state_of(next_state) });
}

/* trace_func_repeats_print(): "a <-b (repeats: 3, last_ts:    12.345678)" */
static bool take_repeats(const struct records *make, const char *text, uint64_t ts)
{
	const char *open = strstr(text, " (repeats: "), *arrow = strstr(text, " <-");
	unsigned long long seconds, us, last;
	unsigned count;
	uint64_t ip, parent = 0;

	if (!open || sscanf(open, " (repeats: %9u, last_ts: %10llu.%6llu)", &count, &seconds, &us) != 3)
		return false;
	last = (seconds * 1000000 + us) * 1000;
	if (last > ts || !IS(open, " (repeats: %u, last_ts: %5llu.%06llu)", count, seconds, us))
		return false;
	arrow = arrow && arrow < open ? arrow : NULL;
	ip = records_address(make, text, (size_t)((arrow ? arrow : open) - text));
	if (arrow)
		parent = records_address(make, arrow + 3, (size_t)(open - arrow - 3));
	if (!ip || (arrow && !parent))
		return false;
	return records_numbers(make, "ftrace", "func_repeats",
			       "u64 ip;u64 parent_ip;u16 count;u16 top_delta_ts;u32 bottom_delta_ts",
			       (const uint64_t[]){ ip, parent, count, (ts - last) >> 32, (uint32_t)(ts - last) });
}

bool tracers_take(const struct records *make, const struct head *head)
{
	char text[TEXT];

	if (!head->body_len || head->body_len >= sizeof(text) || memchr(head->body, '\0', head->body_len))
		return false;
	memcpy(text, head->body, head->body_len);
	text[head->body_len] = '\0';
	if (*text == '#')
		return take_hwlat(make, text) || take_timerlat(make, text);
	if (*text >= '0' && *text <= '9' && take_osnoise(make, text))
		return true;
	if (*text == ' ' && take_switch(make, text))
		return true;
	return text[head->body_len - 1] == ')' && take_repeats(make, text, head->ts);
}

/* Whether the text is a name, maybe with more behind it, and not a number of 2.6-rt, which is bare hex. */
static bool is_name(const char *at, const char *end)
{
	const char *word = at;

	while (word < end && *word != '+' && *word != ' ')
		word++;
	if (at == word || (*at >= '0' && *at <= '9') ||
	    (word < end && *word == ' ' && word + 1 < end && word[1] != '<'))
		return false;
	for (const char *c = at; c < word; c++)
		if (!strchr("0123456789abcdef", *c))
			return true;
	return word - at != 8 && word - at != 16;
}

bool tracers_take_old(const struct records *make, const struct head *head)
{
	const char *end = head->body + head->body_len, *open = memmem(head->body, head->body_len, " (", 2);
	char text[TEXT];
	struct head now = *head;

	if (!open || end[-1] != ')' || !is_name(head->body, open) || !is_name(open + 2, end - 1))
		return false;
	now.body = text;
	now.body_len = (size_t)snprintf(text, sizeof(text), "%.*s <-%.*s", (int)(open - head->body), head->body,
					(int)(end - 1 - open - 2), open + 2);
	return now.body_len < sizeof(text) && records_function(make, &now);
}
