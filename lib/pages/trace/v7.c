// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/pages/trace/internal.h"

/* Version 7: sections, found through a chain of options. */
struct section {
	uint64_t offset; /* offset of its head */
	uint64_t size;   /* size of its body; limited to what the file has */
	uint16_t id, flags;
	bool cut;
};

enum { CODEC_NAME_MAX = 64 };

static const struct {
	unsigned id;
	enum region_id region;
	const char *what;
} region_sections[] = {
	{ OPTION_HEADER_INFO, REGION_HEADERS, "headers" },
	{ OPTION_FTRACE_FORMATS, REGION_FTRACE, "ftrace formats" },
	{ OPTION_EVENT_FORMATS, REGION_EVENTS, "event formats" },
	{ OPTION_KALLSYMS, REGION_KALLSYMS, "kallsyms" },
	{ OPTION_PRINTK, REGION_PRINTK, "printk formats" },
	{ OPTION_CMDLINES, REGION_CMDLINES, "command lines" },
	{ OPTION_BUFFER_TEXT, REGION_LATENCY, "latency text" },
	{ SECTION_SETTINGS, REGION_SETTINGS, "settings" },
};

static const char *section_name(unsigned id)
{
	for (size_t i = 0; i < array_size(region_sections); i++)
		if (region_sections[i].id == id)
			return region_sections[i].what;
	switch (id) {
	case OPTION_DONE:
		return "options";
	case OPTION_BUFFER:
		return "buffer";
	case OPTION_STRINGS:
		return "strings";
	case OPTION_BTF:
		return "BTF";
	case OPTION_MODULES:
		return "modules";
	case SECTION_SUMS:
		return "sums";
	default:
		return NULL;
	}
}

static int read_section(const struct trace *trace, uint64_t offset, struct section *ret, struct fail *fail)
{
	uint8_t head[SECTION_HEAD_SIZE];
	uint64_t left;
	int r;

	if (offset > trace->input.size || trace->input.size - offset < sizeof(head))
		return fail_set(fail, -EBADMSG, "no section fits at offset %" PRIu64 ": the file ends at %" PRIu64,
				offset, trace->input.size);
	r = input_read(&trace->input, offset, head, sizeof(head), fail);
	if (r)
		return r;
	*ret = (struct section){ .offset = offset,
				 .id = load_u16(head, trace->info.swap),
				 .flags = load_u16(head + 2, trace->info.swap),
				 .size = load_u64(head + 8, trace->info.swap) };
	left = trace->input.size - offset - sizeof(head);
	ret->cut = ret->size > left;
	if (ret->cut)
		ret->size = left;
	return 0;
}

static struct region region_of(const struct section *section)
{
	return (struct region){ .offset = section->offset + SECTION_HEAD_SIZE,
				.size = section->size,
				.present = true,
				.packed = section->flags & SECTION_COMPRESSED,
				.chunked = section->id == OPTION_BUFFER_TEXT };
}

/* Finds the section that the option `id` points to. */
static int find_section(const struct trace *trace, unsigned id, uint64_t offset, struct section *ret, struct fail *fail)
{
	int r = read_section(trace, offset, ret, fail);

	if (r)
		return r;
	if (ret->id != id)
		return fail_set(fail, -EBADMSG, "an option points to it as %s but its id is %u", section_name(id),
				ret->id);
	return 0;
}

static void option_region(struct trace *trace, enum region_id region, unsigned id, struct bytes data)
{
	struct section section;
	struct fail why;
	uint64_t offset;

	if (!bytes_u64(&data, &offset))
		return;
	if (find_section(trace, id, offset, &section, &why))
		trace_note_damage(trace, offset, "%s: %s", section_name(id), why.text);
	else if (section.cut && !(section.flags & SECTION_COMPRESSED))
		trace_note_damage(trace, trace->input.size, "%s end after %" PRIu64 " bytes", section_name(id),
				  section.size);
	else
		trace->regions[region] = region_of(&section);
}

/* Reads the u32 number of CPUs, and for each u32 cpu, u64 offset, u64 size. */
static int buffer_cpus(struct trace *trace, struct trace_ring *ring, struct bytes *data, uint64_t offset,
		       struct fail *fail)
{
	cleanup_free struct trace_cpu *cpus = NULL;
	uint32_t count;

	if (!bytes_u32(data, &count) || count > data->left / 20) {
		trace_note_damage(trace, offset, "the list of CPUs of buffer '%s' is cut", ring->name);
		count = 0;
	}
	if (count > TRACE_CPUS_MAX)
		return fail_set(fail, -EBADMSG, "buffer '%s' claims %" PRIu32 " CPUs", ring->name, count);
	cpus = calloc(count ? count : 1, sizeof(*cpus));
	if (!cpus)
		return fail_memory(fail);
	for (uint32_t i = 0; i < count; i++)
		if (!bytes_u32(data, &cpus[i].cpu) || !bytes_u64(data, &cpus[i].offset) ||
		    !bytes_u64(data, &cpus[i].size))
			break;
	return ring_set_cpus(trace, ring, cpus, count, fail);
}

static int option_buffer(struct trace *trace, struct bytes data, struct fail *fail)
{
	const char *name, *clock;
	struct trace_ring *ring;
	struct section section;
	size_t name_len, clock_len;
	uint32_t page_size = 0;
	struct fail why;
	uint64_t offset;
	int r;

	if (!bytes_u64(&data, &offset) || !bytes_cstr(&data, &name, &name_len) ||
	    !bytes_cstr(&data, &clock, &clock_len) || !bytes_u32(&data, &page_size)) {
		trace_note_damage(trace, trace->input.size, "an option that describes a buffer is cut");
		return 0;
	}
	r = trace_add_ring(trace, name, clock_len ? clock : NULL, page_size, &ring, fail);
	if (r)
		return r;
	r = find_section(trace, OPTION_BUFFER, offset, &section, &why);
	if (!r && !page_size_ok(page_size))
		r = fail_set(&why, -EBADMSG, "its pages have %" PRIu32 " bytes", page_size);
	if (r) {
		trace_note_damage(trace, offset, "buffer '%s': %s", name, why.text);
		ring->pub.page_size = trace->info.page_size;
		return ring_set_cpus(trace, ring, NULL, 0, fail);
	}
	ring->section = offset;
	ring->pub.compressed = section.flags & SECTION_COMPRESSED;
	return buffer_cpus(trace, ring, &data, offset, fail);
}

static int apply(struct trace *trace, unsigned id, struct bytes data, struct fail *fail)
{
	for (size_t i = 0; i < array_size(region_sections); i++)
		if (region_sections[i].id == id && id != SECTION_SETTINGS) {
			option_region(trace, region_sections[i].region, id, data);
			return 0;
		}
	if (id == OPTION_BUFFER)
		return option_buffer(trace, data, fail);
	return option_apply(trace, id, data, fail);
}

/* Applies one options section; *ret_next is the offset of the following one, 0 at the end. */
static int apply_options(struct trace *trace, const struct section *section, uint64_t *ret_next, struct fail *fail)
{
	const struct region region = region_of(section);
	cleanup_free char *body = NULL;
	struct fail why = FAIL_INIT;
	struct bytes in;
	size_t len;
	int r;

	*ret_next = 0;
	/* No byte belongs to two options sections. */
	trace->options_packed += section->size;
	if (trace->options_packed > trace->input.size || trace->options > OPTIONS_ALL_MAX) {
		trace_note_damage(trace, section->offset, "there are more options than any file has");
		return 0;
	}
	r = region_load(trace, &region, OPTIONS_MAX, &body, &len, &why);
	if (r == -ENOMEM)
		return fail_memory(fail);
	if (r) {
		trace_note_damage(trace, section->offset, "options: %s", why.text);
		return 0;
	}
	trace->options += len;
	in = bytes_of(body, len, trace->info.swap);
	for (;;) {
		struct bytes data = in;
		const uint8_t *at;
		uint32_t size;
		uint16_t id;

		if (!bytes_u16(&in, &id) || !bytes_u32(&in, &size) || !bytes_take(&in, size, &at)) {
			trace_note_damage(trace, section->offset, "the options end without their last one");
			return 0;
		}
		data = bytes_of(at, size, trace->info.swap);
		if (id == OPTION_DONE)
			return bytes_u64(&data, ret_next), 0;
		r = apply(trace, id, data, fail);
		if (r)
			return r;
	}
}

/* *ret_missing is the offset of options that the file is too short for. */
static int follow_options(struct trace *trace, uint64_t at, uint64_t *ret_missing, struct fail *fail)
{
	cleanup_free uint64_t *seen = calloc(OPTION_SECTIONS_MAX, sizeof(*seen));

	if (!seen)
		return fail_memory(fail);
	for (size_t count = 0; at; count++) {
		struct section section;
		struct fail why;
		int r;

		for (size_t i = 0; i < count; i++)
			if (seen[i] == at) {
				trace_note_damage(trace, at, "the chain of options is a loop");
				return 0;
			}
		if (count == OPTION_SECTIONS_MAX) {
			trace_note_damage(trace, at, "there are more than %d options sections", OPTION_SECTIONS_MAX);
			return 0;
		}
		seen[count] = at;
		if (count && at >= trace->input.size) {
			*ret_missing = at;
			return 0;
		}
		r = find_section(trace, OPTION_DONE, at, &section, &why);
		if (r) {
			trace_note_damage(trace, at, "options: %s", why.text);
			return 0;
		}
		if (count && section.cut) {
			*ret_missing = at;
			return 0;
		}
		r = apply_options(trace, &section, &at, fail);
		if (r)
			return r;
	}
	return 0;
}

static bool is_described(const struct trace *trace, uint64_t section)
{
	for (size_t i = 0; i < trace->nr_rings; i++)
		if (trace->rings[i].section == section)
			return true;
	return false;
}

/* weft writes the names of sections last: without them the file was cut, perhaps after all data that readers need. */
static void note_end(struct trace *trace, bool has_strings)
{
	const char *version = trace->version;

	if (!has_strings && version && !strncmp(version, "weft ", 5))
		trace_note_damage(trace, trace->input.size,
				  "cut short: the strings that belong at its end are missing");
}

/* Sections follow one another. Only this walk finds weft's own sections and others that no option points to. */
static int walk_sections(struct trace *trace, uint64_t at, uint64_t missing, struct fail *fail)
{
	bool has_strings = false;

	for (size_t count = 0; count < SECTIONS_MAX; count++) {
		struct section section;
		const char *name;
		uint64_t raw = 0;
		uint8_t head[8];
		int r = read_section(trace, at, &section, NULL);

		if (r) {
			note_end(trace, has_strings);
			return 0;
		}
		name = section_name(section.id);
		has_strings |= section.id == OPTION_STRINGS;
		if (section.id == SECTION_SETTINGS && !trace->regions[REGION_SETTINGS].present)
			trace->regions[REGION_SETTINGS] = region_of(&section);
		if (section.id != OPTION_BUFFER && section.id != OPTION_BUFFER_TEXT) {
			raw = section.size;
			if (section.flags & SECTION_COMPRESSED && section.size >= sizeof(head) &&
			    !input_read(&trace->input, at + SECTION_HEAD_SIZE, head, sizeof(head), NULL))
				raw = load_u32(head + 4, trace->info.swap);
		}
		if (name)
			r = trace_add_section(trace, at, SECTION_HEAD_SIZE + section.size, raw, fail, "%s", name);
		else
			r = trace_add_section(trace, at, SECTION_HEAD_SIZE + section.size, raw, fail,
					      "section of id %u", section.id);
		if (!r && missing && section.id == OPTION_BUFFER && !is_described(trace, at))
			r = salvage_ring(trace, at + SECTION_HEAD_SIZE, section.size,
					 section.flags & SECTION_COMPRESSED, fail);
		if (r)
			return r;
		if (section.cut) {
			if (!missing || section.id != OPTION_BUFFER)
				trace_note_damage(trace, trace->input.size, "the %s at offset %" PRIu64 " are cut",
						  name ? name : "contents of an unknown section", at);
			return 0;
		}
		at += SECTION_HEAD_SIZE + section.size;
	}
	return 0;
}

/* Takes the name and the version of the codec; only the name matters. */
static int open_codec(struct trace *trace, uint64_t *at, struct fail *fail)
{
	char text[2 * CODEC_NAME_MAX];
	uint64_t left = trace->input.size - *at;
	size_t len = left < sizeof(text) ? (size_t)left : sizeof(text), name_len, version_len;
	const char *name, *version;
	struct bytes in;
	int r = input_read(&trace->input, *at, text, len, fail);

	if (r)
		return r;
	in = bytes_of(text, len, false);
	if (!bytes_cstr(&in, &name, &name_len) || !bytes_cstr(&in, &version, &version_len))
		return fail_set(fail, -EBADMSG, "broken header: no end of the codec's name (offset %" PRIu64 ")", *at);
	trace->codec = strdup(name);
	if (!trace->codec)
		return fail_memory(fail);
	trace->info.codec = trace->codec;
	if (strcmp(name, "zstd") && strcmp(name, "none") && *name)
		return fail_set(fail, -ENOTSUP,
				"compressed with '%.32s' (offset %" PRIu64 "); weft reads zstd and none, see "
				"'trace-cmd convert --compression'",
				name, *at);
	*at += name_len + version_len + 2;
	return 0;
}

int trace_open_v7(struct trace *trace, uint64_t at, struct fail *fail)
{
	uint64_t options, missing = 0;
	uint8_t data[8];
	int r = open_codec(trace, &at, fail);

	if (r)
		return r;
	r = input_read(&trace->input, at, data, sizeof(data), NULL);
	if (r)
		return fail_set(fail, -EBADMSG, "cut short: it ends inside its header, after %" PRIu64 " bytes",
				trace->input.size);
	options = load_u64(data, trace->info.swap);
	if (!options)
		return fail_set(fail, -EBADMSG, "never finished: its header points to no options (offset %" PRIu64 ")",
				at);
	if (options > trace->input.size || trace->input.size - options < SECTION_HEAD_SIZE)
		return fail_set(fail, -EBADMSG,
				"cut short: its options should be at %" PRIu64 " (offset %" PRIu64
				"), but the file ends at %" PRIu64,
				options, at, trace->input.size);
	at += sizeof(data);
	r = trace_add_section(trace, 0, at, at, fail, "header");
	if (!r)
		r = follow_options(trace, options, &missing, fail);
	if (!r)
		r = walk_sections(trace, at, missing, fail);
	if (!r && missing)
		trace_note_damage(trace, missing,
				  "the file ends at %" PRIu64 ", before these options, which say where the pages are",
				  trace->input.size);
	/* Other readers use the option's clock if the buffer names none. */
	for (size_t i = 0; !r && trace->clock && i < trace->nr_rings; i++)
		if (!trace->rings[i].pub.clock.len)
			trace->rings[i].pub.clock =
				(struct trace_text){ .text = trace->clock, .len = strlen(trace->clock) };
	return r;
}
