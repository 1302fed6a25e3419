// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/plain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/buffer/ring_buffer.h"
#include "lib/kernel/record/arrival.h"
#include "lib/kernel/record/intake_internal.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/result.h"
#include "lib/kernel/record/spool.h"
#include "lib/kernel/record/symbol_choice_internal.h"
#include "lib/kernel/record/symbol_copy_internal.h"
#include "lib/kernel/tracefs/settings.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/trace/header_page.h"

struct plain_cpu {
	uint32_t stream; /* 0: none yet */
	bool counted;
	struct ring_buffer_stats stats;
};

struct plain {
	struct arrival *arrival;
	struct plain_options options;
	bool big_endian, has_header_event;
	char clock[CLOCK_NAME_SIZE];
	struct page_shape shape; /* size 0: it has not come */
	struct cpus online;
	struct plain_cpu *cpus;
	uint32_t nr_cpus, nr_streams;
	bool damaged;
	/* the sub-buffers of the CPU `at` that wait to be a chunk */
	uint32_t at;
	char *pages, *chunk;
	size_t pages_len, pages_size, chunk_size;
	struct frame_writer *codec;
};

int plain_new(struct arrival *arrival, const struct plain_options *options, struct plain **ret, struct fail *fail)
{
	struct plain *plain = calloc(1, sizeof(*plain));

	if (!plain)
		return fail_memory(fail);
	plain->arrival = arrival;
	plain->options = *options;
	*ret = plain;
	return 0;
}

void plain_free(struct plain *plain)
{
	if (!plain)
		return;
	frame_writer_free(plain->codec);
	free(plain->pages);
	free(plain->chunk);
	free(plain->cpus);
	free(plain);
}

static bool swaps(const struct plain *plain)
{
	return plain->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

void plain_order(struct plain *plain, bool big_endian)
{
	plain->big_endian = big_endian;
	arrival_swaps(plain->arrival, swaps(plain));
}

static int add(struct plain *plain, enum ledger_kind kind, const char *key, const char *data, size_t len,
	       struct fail *fail)
{
	return arrival_item(plain->arrival, &(struct ledger_item){ .kind = kind, .key = key, .data = data, .len = len },
			    fail);
}

static int take_shape(struct plain *plain, struct buf *text, struct fail *fail)
{
	int err = plain->pages ? fail_set(fail, -EBADMSG, "it says twice how its buffers are") :
				 ring_buffer_parse_shape(buf_str(text), &plain->shape, fail);

	if (plain->pages)
		return err;
	if (!err && !page_size_ok(plain->shape.size))
		err = fail_set(fail, -EBADMSG, "no kernel has sub-buffers of %" PRIu32 " bytes", plain->shape.size);
	plain->shape.size = err ? 0 : plain->shape.size;
	plain->shape.swap = swaps(plain);
	return err ? err : add(plain, LEDGER_HEADER_PAGE, "", buf_str(text), text->len, fail);
}

static int take_header_event(struct plain *plain, struct buf *text, struct fail *fail)
{
	plain->has_header_event = true;
	return add(plain, LEDGER_HEADER_EVENT, "", buf_str(text), text->len, fail);
}

/* "[local] global mono": the one in brackets. */
static int take_clock(struct plain *plain, struct buf *text, struct fail *fail)
{
	const char *name = strchr(buf_str(text), '[');
	size_t len = name ? strcspn(++name, "]\n") : 0;

	if (!len || len >= sizeof(plain->clock) || name[len] != ']' ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != len)
		return fail_set(fail, -EBADMSG, "its trace clock has no name");
	snprintf(plain->clock, sizeof(plain->clock), "%.*s", (int)len, name);
	return add(plain, LEDGER_CLOCK, "", buf_str(text), text->len, fail);
}

static bool trim(struct buf *text)
{
	while (text->len && text->data[text->len - 1] == '\n')
		text->len--;
	return *buf_str(text);
}

static int take_possible(struct plain *plain, struct buf *text, struct fail *fail)
{
	struct cpus cpus;
	int err = trim(text) ? cpus_parse(buf_str(text), &cpus, fail) :
			       fail_set(fail, -EBADMSG, "it does not say which CPUs it has");

	if (err || plain->cpus)
		return err;
	for (int cpu = cpus_next(&cpus, 0); cpu >= 0; cpu = cpus_next(&cpus, cpu + 1))
		plain->nr_cpus = (uint32_t)cpu + 1;
	plain->cpus = calloc(plain->nr_cpus, sizeof(*plain->cpus));
	return plain->cpus ? 0 : fail_memory(fail);
}

/* Which counters are also among the settings. */
static int take_online(struct plain *plain, struct buf *text, struct fail *fail)
{
	cleanup_buf struct buf copy = BUF_INIT;

	if (!buf_add(&copy, buf_str(text), text->len))
		return fail_memory(fail);
	if (!trim(&copy) || cpus_parse(buf_str(&copy), &plain->online, NULL))
		plain->online = (struct cpus){ { 0 } };
	return add(plain, LEDGER_SETTING, "weft/online", buf_str(text), text->len, fail);
}

static int take_uname(struct plain *plain, struct buf *text, struct fail *fail)
{
	return trim(text) ? add(plain, LEDGER_UNAME, "", buf_str(text), text->len, fail) : 0;
}

static int take_symbols(struct plain *plain, struct buf *text, struct fail *fail)
{
	cleanup_buf struct buf body = BUF_INIT;
	struct symbol_copy_item made;
	int err;

	if (!text->len)
		return 0;
	if (!buf_add(&body, "\0\0\0\0", SYMBOL_COPY_HEAD) || !buf_add(&body, text->data, text->len))
		return fail_memory(fail);
	err = symbol_copy_compress(&body, swaps(plain), &made, fail);
	if (err)
		return err;
	err = add(plain, LEDGER_KALLSYMS, made.key, made.frame, made.len, fail);
	free(made.frame);
	return err;
}

static int take_cmdlines(struct plain *plain, struct buf *text, struct fail *fail)
{
	return add(plain, LEDGER_CMDLINES, "", buf_str(text), text->len, fail);
}

static int take_printk(struct plain *plain, struct buf *text, struct fail *fail)
{
	return add(plain, LEDGER_PRINTK, "", buf_str(text), text->len, fail);
}

/* What is more than a setting, or none. */
static const struct {
	const char *name;
	int (*takes)(struct plain *plain, struct buf *text, struct fail *fail);
	bool is_setting;
} known[] = {
	{ "events/header_page", take_shape, false }, { "events/header_event", take_header_event, false },
	{ "trace_clock", take_clock, true },         { "weft/possible", take_possible, false },
	{ "weft/online", take_online, false },       { "uname", take_uname, false },
	{ "kallsyms", take_symbols, false },         { "saved_cmdlines", take_cmdlines, false },
	{ "printk_formats", take_printk, false },
};

static bool is_setting(const char *name)
{
	for (size_t i = 0; settings_of_instance[i]; i++)
		if (!strcmp(name, settings_of_instance[i]))
			return true;
	for (size_t i = 0; settings_of_kernel[i]; i++)
		if (!strcmp(name, settings_of_kernel[i]))
			return true;
	for (size_t i = 0; settings_elsewhere[i].name; i++)
		if (!strcmp(name, settings_elsewhere[i].name))
			return true;
	return !strcmp(name, "weft/uname") || !strcmp(name, "weft/filters");
}

/* "events/SYSTEM/EVENT/format": *ret is "SYSTEM/EVENT", which the caller frees; NULL: no memory. */
static bool is_format(const char *name, char **ret)
{
	static const char before[] = "events/", behind[] = "/format";
	size_t len = strlen(name), in = strlen(before), out = strlen(behind);
	const char *slash;

	if (len <= in + out || strncmp(name, before, in) != 0 || strcmp(name + len - out, behind) != 0)
		return false;
	slash = memchr(name + in, '/', len - in - out);
	if (!slash || slash == name + in || slash + 1 == name + len - out ||
	    memchr(slash + 1, '/', (size_t)(name + len - out - slash - 1)))
		return false;
	*ret = strndup(name + in, len - in - out);
	return true;
}

static bool is_counters(const char *name, uint32_t *ret)
{
	char again[64];

	if (sscanf(name, "per_cpu/cpu%9" SCNu32 "/stats", ret) != 1)
		return false;
	snprintf(again, sizeof(again), "per_cpu/cpu%" PRIu32 "/stats", *ret);
	return !strcmp(name, again);
}

static int no_cpu(uint32_t cpu, struct fail *fail)
{
	return fail_set(fail, -EBADMSG, "it names CPU %" PRIu32 ", which it does not have", cpu);
}

/* As counters_stopped(). */
static int take_counters(struct plain *plain, const char *name, uint32_t cpu, struct buf *text, struct fail *fail)
{
	cleanup_buf struct buf whole = BUF_INIT;
	char key[16];
	int err;

	if (cpu >= plain->nr_cpus)
		return no_cpu(cpu, fail);
	snprintf(key, sizeof(key), "%" PRIu32, cpu);
	if (!buf_addf(&whole, "CPU: %" PRIu32 "\n", cpu) || !buf_add(&whole, buf_str(text), text->len))
		return fail_memory(fail);
	plain->cpus[cpu].counted = true;
	plain->cpus[cpu].stats = ring_buffer_parse_stats(buf_str(text), text->len);
	err = add(plain, LEDGER_STATS, key, buf_str(&whole), whole.len, fail);
	return err || !cpus_has(&plain->online, cpu) ? err :
						       add(plain, LEDGER_SETTING, name, buf_str(text), text->len, fail);
}

static int take_known(struct plain *plain, const char *name, struct buf *text, struct fail *fail)
{
	cleanup_free char *format = NULL;
	uint32_t cpu;
	int err;

	for (size_t i = 0; i < array_size(known); i++) {
		if (strcmp(name, known[i].name) != 0)
			continue;
		err = known[i].takes(plain, text, fail);
		return err || !known[i].is_setting ? err :
						     add(plain, LEDGER_SETTING, name, buf_str(text), text->len, fail);
	}
	if (is_format(name, &format))
		return format ? add(plain, LEDGER_FORMAT, format, buf_str(text), text->len, fail) : fail_memory(fail);
	if (is_counters(name, &cpu))
		return take_counters(plain, name, cpu, text, fail);
	if (is_setting(name))
		return add(plain, LEDGER_SETTING, name, buf_str(text), text->len, fail);
	return fail_set(fail, -EBADMSG, "it sends '%.64s', which nobody has asked for", name);
}

int plain_text(struct plain *plain, const char *name, const char *text, size_t len, struct fail *fail)
{
	cleanup_buf struct buf copy = BUF_INIT;

	return buf_add(&copy, text, len) ? take_known(plain, name, &copy, fail) : fail_memory(fail);
}

static int describe(struct plain *plain, struct fail *fail)
{
	const struct plain_options *options = &plain->options;
	struct parts_file file =
		parts_file_here(options->version, options->compress, options->level, &plain->shape, plain->nr_cpus);
	char text[64];
	int len = snprintf(text, sizeof(text), "%" PRIu32 " %s", plain->shape.size, plain->clock), err;

	file.options.big_endian = plain->big_endian;
	file.swap = swaps(plain);
	err = arrival_describe(plain->arrival, &file, fail);
	if (!err)
		err = add(plain, LEDGER_BUFFER, "", text, (size_t)len, fail);
	if (!err)
		err = add(plain, LEDGER_VERSION, "", "weft " WEFT_VERSION, strlen("weft " WEFT_VERSION), fail);
	if (!err)
		err = add(plain, LEDGER_SETTING, "weft/mode", "record", strlen("record"), fail);
	if (!err && options->all_symbols)
		err = add(plain, LEDGER_SETTING, SYMBOL_CHOICE_SETTING, SYMBOL_CHOICE_ALL, strlen(SYMBOL_CHOICE_ALL),
			  fail);
	return err;
}

int plain_begin(struct plain *plain, uint32_t *ret, struct fail *fail)
{
	int err;

	if (!plain->shape.size || !plain->has_header_event || !*plain->clock || !plain->cpus || plain->pages)
		return fail_set(fail, -EBADMSG, "it does not say what a reader of its buffers has to know");
	plain->pages_size = intake_chunk_size(plain->shape.size, plain->nr_cpus);
	plain->chunk_size = SPOOL_CHUNK_HEAD + frame_bound(plain->pages_size);
	plain->pages = malloc(plain->pages_size);
	plain->chunk = malloc(plain->chunk_size);
	if (!plain->pages || !plain->chunk)
		return fail_memory(fail);
	err = plain->options.compress ? frame_writer_new(plain->options.level, &plain->codec, fail) : 0;
	if (!err && plain->codec)
		frame_writer_pages(plain->codec);
	*ret = plain->shape.size;
	return err ? err : describe(plain, fail);
}

static int name_stream(struct plain *plain, uint32_t cpu, struct fail *fail)
{
	int err;

	if (!plain->pages)
		return fail_set(fail, -EBADMSG, "sub-buffers come before the recording has begun");
	if (cpu >= plain->nr_cpus)
		return no_cpu(cpu, fail);
	if (plain->cpus[cpu].stream)
		return 0;
	err = arrival_stream(plain->arrival, plain->nr_streams + 1, 0, cpu, fail);
	if (!err)
		plain->cpus[cpu].stream = ++plain->nr_streams;
	return err;
}

/* Stores the first `len` of the bytes that wait. */
static int store(struct plain *plain, size_t len, struct fail *fail)
{
	const struct spool_options options = { .swap = swaps(plain) };
	uint32_t stream = plain->cpus[plain->at].stream;
	size_t size = 0;
	int err;

	if (!plain->codec)
		return arrival_pages(plain->arrival, stream, plain->pages, len, fail);
	err = frame_write(plain->codec, plain->pages, len, plain->chunk + SPOOL_CHUNK_HEAD,
			  plain->chunk_size - SPOOL_CHUNK_HEAD, &size, fail);
	if (err)
		return err;
	spool_chunk_head(&options, (uint32_t)size, (uint32_t)len, plain->chunk);
	return arrival_pages(plain->arrival, stream, plain->chunk, SPOOL_CHUNK_HEAD + size, fail);
}

int plain_pages(struct plain *plain, uint32_t cpu, const void *data, size_t len, struct fail *fail)
{
	int err = name_stream(plain, cpu, fail);

	if (!err && plain->pages_len && plain->at != cpu)
		err = plain_pages_end(plain, fail);
	plain->at = cpu;
	while (!err && len) {
		size_t room = plain->pages_size - plain->pages_len, some = len < room ? len : room;

		memcpy(plain->pages + plain->pages_len, data, some);
		plain->pages_len += some;
		data = (const char *)data + some;
		len -= some;
		if (plain->pages_len < plain->pages_size)
			break;
		err = store(plain, plain->pages_len, fail);
		plain->pages_len = 0;
	}
	return err;
}

int plain_pages_end(struct plain *plain, struct fail *fail)
{
	size_t whole = plain->pages_len ? plain->pages_len / plain->shape.size * plain->shape.size : 0;
	int err = whole ? store(plain, whole, fail) : 0;

	plain->damaged |= plain->pages_len != whole;
	plain->pages_len = 0;
	return err;
}

int plain_count(const struct plain *plain, struct record_result *result, struct fail *fail)
{
	int err = 0;

	result->at_most |= plain->damaged;
	for (uint32_t cpu = 0; !err && cpu < plain->nr_cpus; cpu++) {
		const struct ring_buffer_stats *stats = &plain->cpus[cpu].stats;
		const struct record_cpu sum = {
			.cpu = cpu,
			.events = stats->entries + stats->read,
			.overrun = stats->overrun,
			.lost = stats->overrun + stats->commit_overrun + stats->dropped,
		};

		/* No counters came of a CPU that has had pages: how many events it lost is not known. */
		result->at_most |= plain->cpus[cpu].stream && !plain->cpus[cpu].counted;
		err = record_result_put(result, &sum, fail);
	}
	return err;
}
