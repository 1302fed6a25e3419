// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/buffer/ring_buffer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/tracefs/kconfig.h"
#include "lib/kernel/tracefs/word.h"
#include "lib/kernel/undo/change.h"

/*
 * Writes a size to a file that takes KB. `what` is the action in the message if the kernel lacks memory or refuses the
 * size.
 */
static int set_kb(struct instance *instance, const char *file, uint64_t bytes, const char *what, struct fail *fail)
{
	char value[24], human[TEXT_HUMAN];
	int err;

	snprintf(value, sizeof(value), "%" PRIu64, bytes / 1024 + (bytes % 1024 != 0));
	err = instance_set(instance, file, value, fail);
	if (err == -ENOMEM || err == -EINVAL || err == -ERANGE)
		return fail_set(fail, err, "the kernel cannot %s of %s: %s", what, text_size(human, bytes),
				strerror(-err));
	return err;
}

int ring_buffer_resize(struct instance *instance, uint64_t bytes_per_cpu, struct fail *fail)
{
	return set_kb(instance, "buffer_size_kb", bytes_per_cpu, "give each CPU a buffer", fail);
}

int ring_buffer_resize_cpus(struct instance *instance, const struct cpus *cpus, uint64_t bytes_per_cpu,
			    struct fail *fail)
{
	char file[64], what[40];
	int err = 0;

	for (int cpu = cpus_next(cpus, 0); !err && cpu >= 0; cpu = cpus_next(cpus, cpu + 1)) {
		snprintf(file, sizeof(file), "per_cpu/cpu%d/buffer_size_kb", cpu);
		snprintf(what, sizeof(what), "give CPU %d a buffer", cpu);
		if (!instance_has(instance, file))
			return fail_set(fail, -EINVAL, "there is no CPU %d", cpu);
		err = set_kb(instance, file, bytes_per_cpu, what, fail);
	}
	return err;
}

int ring_buffer_set_subbuf(struct instance *instance, uint64_t bytes, struct fail *fail)
{
	int err;

	if (!instance_has(instance, "buffer_subbuf_size_kb"))
		return kconfig_no_file("buffer_subbuf_size_kb", fail);
	/*
	 * The kernel keeps buffer_size_kb in whole sub-buffers, so it rounds that size again when the size of a
	 * sub-buffer changes.
	 */
	err = instance_remember(instance, "buffer_size_kb", fail);
	return err ? err : set_kb(instance, "buffer_subbuf_size_kb", bytes, "make sub-buffers", fail);
}

static bool is_absolute(const struct instance *instance)
{
	cleanup_buf struct buf buf = BUF_INIT;

	return !instance_read(instance, "timestamp_mode", &buf, NULL) && strstr(buf_str(&buf), "[absolute]");
}

int ring_buffer_absolute_time(struct instance *instance, struct fail *fail)
{
	static const char file[] = "events/initcall/initcall_start/trigger";
	char clock[CLOCK_NAME_SIZE], trigger[64 + CLOCK_NAME_SIZE], removal[sizeof(trigger) + 1];
	int err;

	if (!instance_has(instance, "timestamp_mode"))
		return kconfig_no_file("timestamp_mode", fail);
	if (is_absolute(instance))
		return 0;
	/* A histogram of times sets trace_clock to the clock that it names, so it names the current one. */
	err = ring_buffer_clock(instance, clock, fail);
	if (!err)
		err = instance_remember(instance, "trace_clock", fail);
	if (err)
		return err;
	snprintf(trigger, sizeof(trigger), "hist:keys=common_timestamp:clock=%s", clock);
	snprintf(removal, sizeof(removal), "!%s", trigger);
	if (instance_has(instance, file) && !instance_add(instance, file, trigger, NULL)) {
		if (is_absolute(instance))
			return 0;
		if (instance_append(instance, file, removal, NULL))
			return fail_set(fail, -EIO, "cannot take '%s' away from '%s'", trigger, file);
	}
	return fail_set(fail, -EOPNOTSUPP,
			"this kernel stores time stamps as deltas and cannot be switched to absolute "
			"ones (timestamp_mode is read-only)");
}

static uint64_t size_in(const char *text)
{
	const char *expanded = strstr(text, "(expanded: ");
	const char *at = expanded ? expanded + strlen("(expanded: ") : text;
	uint64_t kb;

	return number_u64(&at, &kb) && kb <= UINT64_MAX / 1024 ? kb * 1024 : 0;
}

uint64_t ring_buffer_same_size(const struct instance *instance)
{
	cleanup_buf struct buf buf = BUF_INIT;

	/* The text is "X" if the sizes differ, which is no number. */
	return instance_read(instance, "buffer_size_kb", &buf, NULL) ? 0 : size_in(buf_str(&buf));
}

uint64_t ring_buffer_size(const struct instance *instance)
{
	uint64_t size = ring_buffer_same_size(instance);

	/* If the sizes of the CPUs differ, the size of the first CPU is returned. */
	return size ? size : ring_buffer_cpu_size(instance, 0);
}

uint64_t ring_buffer_cpu_size(const struct instance *instance, uint32_t cpu)
{
	cleanup_buf struct buf buf = BUF_INIT;
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%" PRIu32 "/buffer_size_kb", cpu);
	return instance_read(instance, file, &buf, NULL) ? 0 : size_in(buf_str(&buf));
}

/* Finds a word of trace_clock. The current clock is in brackets: "[local] global counter". */
static bool find_clock(const char *text, const char *clock, struct near *near)
{
	struct text_word word;

	while (text_next_word(&text, " \n[]", &word)) {
		char name[CLOCK_NAME_SIZE];

		if (text_word_is(word, clock))
			return true;
		snprintf(name, sizeof(name), "%.*s", (int)word.len, word.at);
		near_offer(near, name);
	}
	return false;
}

int ring_buffer_set_clock(struct instance *instance, const char *clock, struct fail *fail)
{
	struct near near = near_to(clock);
	cleanup_buf struct buf buf = BUF_INIT;
	int err = instance_read(instance, "trace_clock", &buf, fail);

	if (err)
		return err;
	if (!find_clock(buf_str(&buf), clock, &near))
		return near_fail(&near, fail, -ENOENT, "this kernel has no trace clock '%s'", clock);
	return instance_set(instance, "trace_clock", clock, fail);
}

int ring_buffer_clock(const struct instance *instance, char ret[CLOCK_NAME_SIZE], struct fail *fail)
{
	return instance_read_word(instance, "trace_clock", ret, CLOCK_NAME_SIZE, fail);
}

int ring_buffer_set_cpus(struct instance *instance, const struct cpus *cpus, struct fail *fail)
{
	cleanup_buf struct buf mask = BUF_INIT;
	struct cpus wanted = *cpus, online;
	int err = tracing_online_cpus(&online, fail);

	if (err)
		return err;
	cpus_keep(&wanted, &online);
	if (!cpus_count(&wanted)) {
		cleanup_buf struct buf list = BUF_INIT, all = BUF_INIT;

		cpus_list(cpus, &list);
		cpus_list(&online, &all);
		return fail_set(fail, -EINVAL, "none of the CPUs %s is online; there are %s", buf_str(&list),
				buf_str(&all));
	}
	if (!cpus_mask(&wanted, &mask))
		return fail_memory(fail);
	return instance_set(instance, "tracing_cpumask", buf_str(&mask), fail);
}

int ring_buffer_set_percent(struct instance *instance, unsigned percent, struct fail *fail)
{
	char value[16];

	if (!instance_has(instance, "buffer_percent"))
		return 0;
	snprintf(value, sizeof(value), "%u", percent);
	return instance_set(instance, "buffer_percent", value, fail);
}

int ring_buffer_parse_shape(const char *text, struct page_shape *ret, struct fail *fail)
{
	unsigned offset, size, long_size = header_page_long_size(text);
	const char *data;

	if (!long_size)
		return fail_set(fail, -EBADMSG, "'events/header_page' has no size of the field 'commit'");
	data = strstr(text, "char data;");
	if (!data || sscanf(data, "char data; offset:%u; size:%u;", &offset, &size) != 2 || size > 1 << 26 ||
	    offset > 64 || !size)
		return fail_set(fail, -EBADMSG, "'events/header_page' has no size of a sub-buffer");
	*ret = (struct page_shape){ .size = offset + size, .long_size = (uint8_t)long_size };
	return 0;
}

int ring_buffer_shape(const struct instance *instance, struct page_shape *ret, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	int err = instance_read(instance, "events/header_page", &buf, fail);

	return err ? err : ring_buffer_parse_shape(buf_str(&buf), ret, fail);
}

/* " 4712.123456", as tracing_stats_read() prints a time, or a count of a clock that does not count ns. */
static uint64_t stamp_ns(const char *text)
{
	char *end;
	uint64_t s = strtoull(text, &end, 10);

	return *end == '.' ? s * NS_PER_S + strtoull(end + 1, NULL, 10) * 1000 : 0;
}

struct ring_buffer_stats ring_buffer_parse_stats(const char *text, size_t len)
{
	struct ring_buffer_stats stats = { 0 };
	const struct {
		const char *name;
		uint64_t *value;
	} lines[] = {
		{ "entries: ", &stats.entries },
		{ "overrun: ", &stats.overrun },
		{ "commit overrun: ", &stats.commit_overrun },
		{ "bytes: ", &stats.bytes },
		{ "dropped events: ", &stats.dropped },
		{ "read events: ", &stats.read },
		{ "oldest event ts: ", &stats.oldest },
	};
	struct text_word line;

	while (text_next_line(&text, &len, &line)) {
		for (size_t i = 0; i < array_size(lines); i++) {
			size_t name = strlen(lines[i].name);
			char digits[24];

			if (line.len <= name || line.len - name >= sizeof(digits) ||
			    memcmp(line.at, lines[i].name, name))
				continue;
			memcpy(digits, line.at + name, line.len - name);
			digits[line.len - name] = '\0';
			*lines[i].value =
				lines[i].value == &stats.oldest ? stamp_ns(digits) : strtoull(digits, NULL, 10);
		}
	}
	return stats;
}

int ring_buffer_stats(const struct instance *instance, uint32_t cpu, struct ring_buffer_stats *ret, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	char file[64];
	int err;

	snprintf(file, sizeof(file), "per_cpu/cpu%" PRIu32 "/stats", cpu);
	err = instance_read(instance, file, &buf, fail);
	if (err)
		return err;
	*ret = ring_buffer_parse_stats(buf_str(&buf), buf.len);
	return 0;
}
