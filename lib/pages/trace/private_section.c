// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/trace/internal.h"
#include "lib/pages/trace/private_section_internal.h"

static int add_setting(struct trace *trace, const struct setting *setting, struct fail *fail)
{
	struct setting *added = vec_push(trace->settings, trace->nr_settings);

	if (!added)
		return fail_memory(fail);
	*added = *setting;
	return 0;
}

static int parse(struct trace *trace, struct bytes *in, struct fail *fail)
{
	uint32_t version, count;

	if (!bytes_u32(in, &version) || !bytes_u32(in, &count))
		return fail_set(fail, -EBADMSG, "they have no head");
	if (version != SETTINGS_VERSION)
		return fail_set(fail, -EBADMSG, "they are of version %" PRIu32 ", weft knows %d", version,
				SETTINGS_VERSION);
	if (count > SETTINGS_MAX)
		return fail_set(fail, -EBADMSG, "there are %" PRIu32 " of them", count);
	while (count--) {
		struct setting setting;
		const uint8_t *at;
		uint64_t size;
		size_t len;
		int r;

		if (!bytes_u32(in, &setting.buffer) || !bytes_cstr(in, &setting.name, &len) || !bytes_u64(in, &size) ||
		    size >= in->left || !bytes_take(in, (size_t)size + 1, &at) || at[size])
			return fail_set(fail, -EBADMSG, "they are cut after %zu of them", trace->nr_settings);
		setting.text = (struct trace_text){ .text = (const char *)at, .len = (size_t)size };
		r = add_setting(trace, &setting, fail);
		if (r)
			return r;
	}
	return 0;
}

int settings_load(struct trace *trace, struct fail *fail)
{
	const struct region *region = &trace->regions[REGION_SETTINGS];
	struct fail why = FAIL_INIT;
	struct bytes in;
	size_t len;
	int r;

	if (!region->present)
		return 0;
	r = region_load(trace, region, SETTINGS_TEXT_MAX, &trace->bodies[REGION_SETTINGS], &len, &why);
	if (!r)
		r = trace_count_text(trace, len, &why);
	if (!r) {
		in = bytes_of(trace->bodies[REGION_SETTINGS], len, trace->info.swap);
		r = parse(trace, &in, &why);
	}
	if (r == -ENOMEM)
		return fail_memory(fail);
	if (r)
		trace_note_damage(trace, region->offset, "the settings: %s", why.text);
	return 0;
}

/* weft always writes settings last: a file without them was cut, perhaps after the pages. */
static void note_missing(struct trace *trace)
{
	const char *version = trace->version;

	if (version && !strncmp(version, "weft ", 5))
		trace_note_damage(trace, trace->input.size,
				  "cut short: the settings that belong behind the pages are missing");
}

int settings_find_trailer(struct trace *trace, struct fail *fail)
{
	uint64_t size = trace->input.size, offset;
	uint8_t data[SETTINGS_TRAILER_SIZE];

	if (size < sizeof(data) || input_read(&trace->input, size - sizeof(data), data, sizeof(data), NULL))
		return 0;
	if (memcmp(data + 8, SETTINGS_TRAILER_MAGIC, sizeof(data) - 8)) {
		note_missing(trace);
		return 0;
	}
	size -= sizeof(data);
	offset = load_u64(data, trace->info.swap);
	if (offset > size) {
		trace_note_damage(trace, size, "the settings should be at %" PRIu64, offset);
		return 0;
	}
	trace->regions[REGION_SETTINGS] = (struct region){ .offset = offset, .size = size - offset, .present = true };
	return trace_add_section(trace, offset, trace->input.size - offset, size - offset, fail, "settings");
}

struct trace_text trace_setting(const struct trace *trace, size_t buffer, const char *name)
{
	for (size_t i = 0; i < trace->nr_settings; i++)
		if (trace->settings[i].buffer == buffer && !strcmp(trace->settings[i].name, name))
			return trace->settings[i].text;
	return (struct trace_text){ .text = NULL };
}

bool trace_setting_at(const struct trace *trace, size_t index, size_t *ret_buffer, const char **ret_name,
		      struct trace_text *ret_text)
{
	if (index >= trace->nr_settings)
		return false;
	*ret_buffer = trace->settings[index].buffer;
	*ret_name = trace->settings[index].name;
	*ret_text = trace->settings[index].text;
	return true;
}
