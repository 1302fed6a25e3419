// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/trace/internal.h"

/*
 * Version 6: everything in sequence, without an index; the end of a part follows only from its content. A walk is a
 * position in the file that never passes its end.
 */
struct walk {
	struct trace *trace;
	uint64_t at;
};

enum { TAG_SIZE = 10, NAME_MAX_SIZE = 256 };

static bool walk_bytes(struct walk *walk, void *data, size_t size)
{
	if (input_read(&walk->trace->input, walk->at, data, size, NULL))
		return false;
	walk->at += size;
	return true;
}

static bool walk_u16(struct walk *walk, uint16_t *ret)
{
	uint8_t data[2];

	if (!walk_bytes(walk, data, sizeof(data)))
		return false;
	*ret = load_u16(data, walk->trace->info.swap);
	return true;
}

static bool walk_u32(struct walk *walk, uint32_t *ret)
{
	uint8_t data[4];

	if (!walk_bytes(walk, data, sizeof(data)))
		return false;
	*ret = load_u32(data, walk->trace->info.swap);
	return true;
}

static bool walk_u64(struct walk *walk, uint64_t *ret)
{
	uint8_t data[8];

	if (!walk_bytes(walk, data, sizeof(data)))
		return false;
	*ret = load_u64(data, walk->trace->info.swap);
	return true;
}

static bool walk_skip(struct walk *walk, uint64_t size)
{
	if (size > walk->trace->input.size - walk->at)
		return false;
	walk->at += size;
	return true;
}

/* Skips a string of less than NAME_MAX_SIZE bytes and its NUL. */
static bool walk_name(struct walk *walk)
{
	uint64_t left = walk->trace->input.size - walk->at;
	size_t len = left < NAME_MAX_SIZE ? (size_t)left : NAME_MAX_SIZE;
	char name[NAME_MAX_SIZE];

	if (input_read(&walk->trace->input, walk->at, name, len, NULL))
		return false;
	len = strnlen(name, len);
	return len < NAME_MAX_SIZE && walk_skip(walk, len + 1);
}

static bool walk_texts(struct walk *walk, uint32_t count)
{
	uint64_t size;

	while (count--)
		if (!walk_u64(walk, &size) || !walk_skip(walk, size))
			return false;
	return true;
}

static bool skip_headers(struct walk *walk)
{
	return walk_name(walk) && walk_texts(walk, 1) && walk_name(walk) && walk_texts(walk, 1);
}

static bool skip_ftrace(struct walk *walk)
{
	uint32_t count;

	return walk_u32(walk, &count) && count <= FORMATS_MAX && walk_texts(walk, count);
}

static bool skip_events(struct walk *walk)
{
	uint32_t systems, count;

	if (!walk_u32(walk, &systems) || systems > FORMATS_MAX)
		return false;
	while (systems--)
		if (!walk_name(walk) || !walk_u32(walk, &count) || count > FORMATS_MAX || !walk_texts(walk, count))
			return false;
	return true;
}

static bool skip_text32(struct walk *walk)
{
	uint32_t size;

	return walk_u32(walk, &size) && walk_skip(walk, size);
}

static bool skip_text64(struct walk *walk)
{
	return walk_texts(walk, 1);
}

static int find_regions(struct walk *walk, struct fail *fail)
{
	static const struct {
		enum region_id id;
		const char *what;
		bool (*skip)(struct walk *walk);
	} parts[] = {
		{ REGION_HEADERS, "headers", skip_headers },      { REGION_FTRACE, "ftrace formats", skip_ftrace },
		{ REGION_EVENTS, "event formats", skip_events },  { REGION_KALLSYMS, "kallsyms", skip_text32 },
		{ REGION_PRINTK, "printk formats", skip_text32 }, { REGION_CMDLINES, "command lines", skip_text64 },
	};
	struct trace *trace = walk->trace;

	for (size_t i = 0; i < array_size(parts); i++) {
		uint64_t start = walk->at;
		int r;

		if (!parts[i].skip(walk))
			return fail_set(fail, -EBADMSG,
					"cut short or broken: the %s from offset %" PRIu64
					" on do not end before the file does, at %" PRIu64,
					parts[i].what, start, trace->input.size);
		trace->regions[parts[i].id] =
			(struct region){ .offset = start, .size = walk->at - start, .present = true };
		r = trace_add_section(trace, start, walk->at - start, walk->at - start, fail, "%s", parts[i].what);
		if (r)
			return r;
	}
	return 0;
}

/* An instance that the options announce. */
struct instance {
	uint64_t offset; /* offset of its "flyrecord" block */
	uint32_t cpus;
	char name[NAME_MAX_SIZE];
};

struct instances {
	struct instance *at;
	size_t count;
};

static int add_instance(struct instances *instances, struct bytes data, uint32_t cpus, struct fail *fail)
{
	struct instance *at, instance = { .cpus = cpus };
	size_t len;

	if (!bytes_u64(&data, &instance.offset))
		return 0;
	len = strnlen((const char *)data.at, data.left);
	memcpy(instance.name, data.at, len < sizeof(instance.name) - 1 ? len : sizeof(instance.name) - 1);
	if (instances->count >= TRACE_BUFFERS_MAX)
		return fail_set(fail, -EBADMSG, "broken: it has more than %d buffers", TRACE_BUFFERS_MAX);
	at = vec_push(instances->at, instances->count);
	if (!at)
		return fail_memory(fail);
	*at = instance;
	return 0;
}

/* *ret_cpus is the number of pairs in the top instance's table, *ret_clock shows whether a clock follows it. */
static int read_options(struct walk *walk, struct instances *instances, uint32_t *ret_cpus, bool *ret_clock,
			struct fail *fail)
{
	struct trace *trace = walk->trace;
	uint32_t size, count, ncpus = *ret_cpus;
	bool in_instance = false;
	uint16_t id;

	for (;;) {
		cleanup_free char *data = NULL;
		struct bytes in;
		int r;

		if (!walk_u16(walk, &id))
			break;
		if (id == OPTION_DONE)
			return 0;
		if (!walk_u32(walk, &size) || size > trace->input.size - walk->at || size > OPTIONS_MAX)
			break;
		data = malloc((size_t)size + 1);
		if (!data)
			return fail_memory(fail);
		if (!walk_bytes(walk, data, size))
			break;
		data[size] = 0;
		in = bytes_of(data, size, trace->info.swap);
		if (id == OPTION_BUFFER) {
			r = add_instance(instances, in, ncpus, fail);
		} else if (id == OPTION_CPUCOUNT && in_instance) {
			r = 0;
			if (bytes_u32(&in, &count) && instances->count)
				instances->at[instances->count - 1].cpus = count;
		} else {
			r = option_apply(trace, id, in, fail);
			if (id == OPTION_CPUCOUNT && trace->info.cpu_count > ncpus)
				*ret_cpus = ncpus + 1; /* such writers leave one more pair, of size 0 */
			*ret_clock = *ret_clock || id == OPTION_TRACECLOCK;
		}
		in_instance = id == OPTION_BUFFER;
		if (r)
			return r;
	}
	return fail_set(fail, -EBADMSG, "cut short or broken: the options end at %" PRIu64, walk->at);
}

/* Reads what follows the tag "flyrecord": where the pages are, and the clock. */
static int read_ring(struct walk *walk, const char *name, uint32_t count, bool has_clock, struct fail *fail)
{
	struct trace *trace = walk->trace;
	cleanup_free struct trace_cpu *cpus = NULL;
	cleanup_free char *clock = NULL;
	struct trace_ring *ring;
	uint64_t size = 0;
	int r;

	if (count > TRACE_CPUS_MAX || count > (trace->input.size - walk->at) / 16)
		return fail_set(fail, -EBADMSG, "buffer '%s' claims %" PRIu32 " CPUs (offset %" PRIu64 ")", name, count,
				walk->at);
	cpus = calloc(count ? count : 1, sizeof(*cpus));
	if (!cpus)
		return fail_memory(fail);
	for (uint32_t i = 0; i < count; i++) {
		cpus[i].cpu = i;
		if (!walk_u64(walk, &cpus[i].offset) || !walk_u64(walk, &cpus[i].size))
			return fail_set(fail, -EBADMSG, "the table of buffer '%s' is cut at %" PRIu64, name, walk->at);
	}
	if (has_clock && walk_u64(walk, &size) && size < NAME_MAX_SIZE * 4) {
		clock = calloc(1, (size_t)size + 1);
		if (!clock)
			return fail_memory(fail);
		if (!walk_bytes(walk, clock, (size_t)size))
			*clock = 0;
	}
	r = trace_add_ring(trace, name, clock && *clock ? clock : trace->clock, trace->info.page_size, &ring, fail);
	return r ? r : ring_set_cpus(trace, ring, cpus, count, fail);
}

static int read_instances(struct walk *walk, const struct instances *instances, struct fail *fail)
{
	for (size_t i = 0; i < instances->count; i++) {
		const struct instance *instance = &instances->at[i];
		char tag[TAG_SIZE] = "";
		struct fail why = FAIL_INIT;
		int r;

		walk->at = instance->offset;
		if (walk->at > walk->trace->input.size || !walk_bytes(walk, tag, sizeof(tag)) ||
		    memcmp(tag, "flyrecord", TAG_SIZE)) {
			trace_note_damage(walk->trace, instance->offset,
					  "instance '%s' has no table of its pages there", instance->name);
			continue;
		}
		r = read_ring(walk, instance->name, instance->cpus, true, &why);
		if (r == -ENOMEM)
			return fail_memory(fail);
		if (r)
			trace_note_damage(walk->trace, instance->offset, "%s", why.text);
	}
	return 0;
}

static int read_tagged(struct walk *walk, struct instances *instances, uint32_t cpus, struct fail *fail)
{
	struct trace *trace = walk->trace;
	char tag[TAG_SIZE];
	bool clock = false;

	for (bool options = false; walk_bytes(walk, tag, sizeof(tag)); options = true) {
		uint64_t start = walk->at - TAG_SIZE;
		int r;

		if (!options && !memcmp(tag, "options  ", TAG_SIZE)) {
			r = read_options(walk, instances, &cpus, &clock, fail);
			if (!r)
				r = trace_add_section(trace, start, walk->at - start, walk->at - start, fail,
						      "options");
			if (r)
				return r;
			continue;
		}
		if (!memcmp(tag, "latency  ", TAG_SIZE)) {
			trace->regions[REGION_LATENCY] = (struct region){ .offset = walk->at,
									  .present = true,
									  .size = trace->input.size - walk->at };
			return trace_add_section(trace, start, trace->input.size - start, trace->input.size - start,
						 fail, "latency text");
		}
		if (!memcmp(tag, "flyrecord", TAG_SIZE)) {
			r = read_ring(walk, "", cpus, clock, fail);
			return r ? r :
				   trace_add_section(trace, start, walk->at - start, walk->at - start, fail,
						     "places of pages");
		}
		return fail_set(fail, -EBADMSG, "broken at offset %" PRIu64 ": neither options nor pages are there",
				start);
	}
	return fail_set(fail, -EBADMSG, "cut short: it ends at %" PRIu64 ", before its pages", trace->input.size);
}

int trace_open_v6(struct trace *trace, uint64_t at, struct fail *fail)
{
	struct walk walk = { .trace = trace, .at = at };
	struct instances instances = { .at = NULL };
	uint32_t cpus;
	int r = trace_add_section(trace, 0, at, at, fail, "header");

	if (!r)
		r = find_regions(&walk, fail);
	if (r)
		return r;
	if (!walk_u32(&walk, &cpus))
		return fail_set(fail, -EBADMSG, "cut short: it ends at %" PRIu64 ", before its pages",
				trace->input.size);
	if (cpus > TRACE_CPUS_MAX)
		return fail_set(fail, -EBADMSG, "broken: it claims %" PRIu32 " CPUs (offset %" PRIu64 ")", cpus,
				walk.at - 4);
	trace->info.cpu_count = cpus;
	r = read_tagged(&walk, &instances, cpus, fail);
	if (!r)
		r = read_instances(&walk, &instances, fail);
	free(instances.at);
	return r ? r : settings_find_trailer(trace, fail);
}
