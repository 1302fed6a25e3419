// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/counters_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/result.h"
#include "lib/kernel/record/target.h"

static int add(struct ledger *ledger, enum ledger_kind kind, uint32_t buffer, const char *key, const char *data,
	       size_t len, struct fail *fail)
{
	return ledger_add(ledger,
			  &(struct ledger_item){ .kind = kind, .buffer = buffer, .key = key, .data = data, .len = len },
			  fail);
}

/* The text is "CPU: N" and the counters, as trace-cmd's files have it. *ret_head: the length of what weft said. */
static int add_stats(struct ledger *ledger, const struct instance *instance, uint32_t buffer, uint32_t cpu,
		     struct buf *text, size_t *ret_head, struct fail *fail)
{
	char file[64], key[16];
	int err;

	snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
	snprintf(key, sizeof(key), "%u", cpu);
	buf_clear(text);
	if (!instance_has(instance, file))
		return 0;
	if (!buf_addf(text, "CPU: %u\n", cpu))
		return fail_memory(fail);
	*ret_head = text->len;
	err = instance_read(instance, file, text, fail);
	return err ? err : add(ledger, LEDGER_STATS, buffer, key, buf_str(text), text->len, fail);
}

int counters_save(struct ledger *ledger, const struct instance *instance, uint32_t buffer, uint32_t cpu,
		  struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t head;

	return add_stats(ledger, instance, buffer, cpu, &text, &head, fail);
}

int counters_stopped(struct ledger *ledger, struct target *target, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct cpus online;
	int err = tracing_online_cpus(&online, fail);

	if (!err)
		err = target_find_cpus(target, fail);
	for (uint32_t cpu = 0; !err && cpu < target->nr_cpus; cpu++) {
		char file[64];
		size_t head;

		if (!cpus_has(&target->cpus, cpu))
			continue;
		err = add_stats(ledger, target->instance, target->index, cpu, &text, &head, fail);
		if (err || !text.len)
			continue;
		target->stop[cpu] = ring_buffer_parse_stats(text.data + head, text.len - head);
		snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
		if (cpus_has(&online, cpu))
			err = add(ledger, LEDGER_SETTING, target->index, file, text.data + head, text.len - head, fail);
	}
	return err;
}

static bool line_is(struct text_word line, const char *name)
{
	return line.len > strlen(name) && !memcmp(line.at, name, strlen(name));
}

struct corrected {
	uint64_t entries, read;
	bool counted; /* `overrun` stands for the kernel's count; else it is added to it */
	uint64_t overrun;
};

static bool add_corrected_line(struct buf *buf, struct text_word line, const struct corrected *right)
{
	static const char overrun[] = "overrun: ";

	if (line_is(line, "entries: "))
		return buf_addf(buf, "entries: %" PRIu64 "\n", right->entries);
	if (line_is(line, "read events: "))
		return buf_addf(buf, "read events: %" PRIu64 "\n", right->read);
	if (line_is(line, overrun))
		return buf_addf(buf, "%s%" PRIu64 "\n", overrun,
				(right->counted ? 0 : (uint64_t)strtoull(line.at + strlen(overrun), NULL, 10)) +
					right->overrun);
	return buf_addf(buf, "%.*s\n", (int)line.len, line.at);
}

static int correct_one(struct ledger *ledger, enum ledger_kind kind, uint32_t buffer, const char *key,
		       const struct corrected *right, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	const struct ledger_item *item = ledger_find(ledger, kind, buffer, key);
	struct text_word line;
	const char *at;
	size_t left;

	if (!item)
		return 0;
	at = item->data;
	left = item->len;
	while (text_next_line(&at, &left, &line))
		if (!add_corrected_line(&text, line, right))
			return fail_memory(fail);
	return add(ledger, kind, buffer, key, buf_str(&text), text.len, fail);
}

static int correct(struct ledger *ledger, uint32_t buffer, uint32_t cpu, const struct corrected *right,
		   struct fail *fail)
{
	char key[16], file[64];
	int err = ledger_load(ledger, fail);

	snprintf(key, sizeof(key), "%u", cpu);
	snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
	if (!err)
		err = correct_one(ledger, LEDGER_STATS, buffer, key, right, fail);
	return err ? err : correct_one(ledger, LEDGER_SETTING, buffer, file, right, fail);
}

static int add_cleared(struct ledger *ledger, const struct record_cpu *cpu, struct fail *fail)
{
	char key[64], times[16];

	snprintf(key, sizeof(key), "weft/per_cpu/cpu%u/cleared", cpu->cpu);
	snprintf(times, sizeof(times), "%u", cpu->cleared);
	return add(ledger, LEDGER_SETTING, cpu->buffer, key, times, strlen(times), fail);
}

int counters_dropped(struct ledger *ledger, const struct record_cpu *cpu, struct fail *fail)
{
	const struct corrected right = { .read = cpu->events,
					 .counted = cpu->cleared,
					 .overrun = (cpu->cleared ? cpu->overrun : 0) + cpu->dropped_events };
	int err;

	if (!cpu->dropped_events && !cpu->cleared)
		return 0;
	err = cpu->cleared ? add_cleared(ledger, cpu, fail) : 0;
	return err ? err : correct(ledger, cpu->buffer, cpu->cpu, &right, fail);
}

int counters_taken(struct ledger *ledger, uint32_t buffer, uint32_t cpu, uint64_t events, uint64_t overrun,
		   struct fail *fail)
{
	const struct corrected right = { .entries = events, .counted = true, .overrun = overrun };

	return correct(ledger, buffer, cpu, &right, fail);
}
