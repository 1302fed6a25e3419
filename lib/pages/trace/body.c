// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/trace/body_internal.h"

#include <inttypes.h>
#include <string.h>

#include "lib/pages/trace/internal.h"
#include "lib/pages/trace/private_section_internal.h"

bool put_u16(struct buf *buf, uint16_t value, bool swap)
{
	if (swap)
		value = __builtin_bswap16(value);
	return buf_add(buf, &value, sizeof(value));
}

bool put_u32(struct buf *buf, uint32_t value, bool swap)
{
	if (swap)
		value = __builtin_bswap32(value);
	return buf_add(buf, &value, sizeof(value));
}

bool put_u64(struct buf *buf, uint64_t value, bool swap)
{
	if (swap)
		value = __builtin_bswap64(value);
	return buf_add(buf, &value, sizeof(value));
}

static bool put_text64(struct buf *buf, const char *text, size_t len, bool swap)
{
	return put_u64(buf, len, swap) && buf_add(buf, text, len);
}

static bool put_text32(struct buf *buf, const char *text, size_t len, bool swap)
{
	return len <= UINT32_MAX && put_u32(buf, (uint32_t)len, swap) && buf_add(buf, text, len);
}

bool body_headers(struct buf *buf, const struct writer_metadata *metadata, bool swap)
{
	return buf_add(buf, "header_page", 12) &&
	       put_text64(buf, metadata->header_page, strlen(metadata->header_page), swap) &&
	       buf_add(buf, "header_event", 13) &&
	       put_text64(buf, metadata->header_event, strlen(metadata->header_event), swap);
}

static bool is_ftrace(const struct writer_format *format)
{
	return !strcmp(format->system, "ftrace");
}

/* Appends the formats of one system, after their number. */
static bool put_system(struct buf *buf, const struct writer_metadata *metadata, const char *system, bool swap)
{
	uint32_t count = 0;

	for (size_t i = 0; i < metadata->nr_formats; i++)
		count += !strcmp(metadata->formats[i].system, system);
	if (!put_u32(buf, count, swap))
		return false;
	for (size_t i = 0; i < metadata->nr_formats; i++) {
		const struct writer_format *format = &metadata->formats[i];

		if (!strcmp(format->system, system) && !put_text64(buf, format->text, format->len, swap))
			return false;
	}
	return true;
}

bool body_ftrace(struct buf *buf, const struct writer_metadata *metadata, bool swap)
{
	return put_system(buf, metadata, "ftrace", swap);
}

/* Whether the format is the first one of its system. Formats of a system nearly always follow one another. */
static bool begins_system(const struct writer_metadata *metadata, size_t index)
{
	const char *system = metadata->formats[index].system;

	if (is_ftrace(&metadata->formats[index]))
		return false;
	while (index--)
		if (!strcmp(metadata->formats[index].system, system))
			return false;
	return true;
}

bool body_events(struct buf *buf, const struct writer_metadata *metadata, bool swap)
{
	uint32_t systems = 0;

	for (size_t i = 0; i < metadata->nr_formats; i++)
		systems += begins_system(metadata, i);
	if (!put_u32(buf, systems, swap))
		return false;
	for (size_t i = 0; i < metadata->nr_formats; i++) {
		const char *system = metadata->formats[i].system;

		if (!begins_system(metadata, i))
			continue;
		if (!buf_add(buf, system, strlen(system) + 1) || !put_system(buf, metadata, system, swap))
			return false;
	}
	return true;
}

bool body_kallsyms(struct buf *buf, const struct writer_metadata *metadata, bool swap)
{
	return put_text32(buf, metadata->kallsyms, metadata->kallsyms ? metadata->kallsyms_len : 0, swap);
}

bool body_printk(struct buf *buf, const struct writer_metadata *metadata, bool swap)
{
	return put_text32(buf, metadata->printk, metadata->printk ? metadata->printk_len : 0, swap);
}

bool body_cmdlines(struct buf *buf, const struct writer_metadata *metadata, bool swap)
{
	return put_text64(buf, metadata->cmdlines, metadata->cmdlines ? metadata->cmdlines_len : 0, swap);
}

static bool put_setting(struct buf *buf, uint32_t buffer, const char *name, const char *text, size_t len, bool swap)
{
	return put_u32(buf, buffer, swap) && buf_add(buf, name, strlen(name) + 1) && put_text64(buf, text, len, swap) &&
	       buf_add(buf, "", 1);
}

bool body_settings(struct buf *buf, const struct writer_metadata *metadata, bool latency, bool swap)
{
	latency = latency && metadata->latency;
	if (!put_u32(buf, SETTINGS_VERSION, swap) || !put_u32(buf, (uint32_t)metadata->nr_settings + latency, swap))
		return false;
	for (size_t i = 0; i < metadata->nr_settings; i++) {
		const struct writer_setting *setting = &metadata->settings[i];

		if (!put_setting(buf, setting->buffer, setting->name, setting->text, setting->len, swap))
			return false;
	}
	return !latency || put_setting(buf, 0, SETTING_LATENCY, metadata->latency, metadata->latency_len, swap);
}

bool put_option(struct buf *buf, uint16_t id, const void *data, size_t size, bool swap)
{
	return size <= UINT32_MAX && put_u16(buf, id, swap) && put_u32(buf, (uint32_t)size, swap) &&
	       buf_add(buf, data, size);
}

bool put_option_u64(struct buf *buf, uint16_t id, uint64_t value, bool swap)
{
	if (swap)
		value = __builtin_bswap64(value);
	return put_option(buf, id, &value, sizeof(value), swap);
}

static bool put_option_text(struct buf *buf, uint16_t id, const char *text, bool swap)
{
	return !text || put_option(buf, id, text, strlen(text) + 1, swap);
}

static bool put_option_u32(struct buf *buf, uint16_t id, uint32_t value, bool swap)
{
	if (swap)
		value = __builtin_bswap32(value);
	return put_option(buf, id, &value, sizeof(value), swap);
}

static bool put_tsc2nsec(struct buf *buf, const struct writer_metadata *metadata, bool swap)
{
	return put_u16(buf, OPTION_TSC2NSEC, swap) && put_u32(buf, 16, swap) &&
	       put_u32(buf, metadata->tsc_mult, swap) && put_u32(buf, metadata->tsc_shift, swap) &&
	       put_u64(buf, metadata->tsc_offset, swap);
}

bool options_first(struct buf *buf, const struct writer_metadata *metadata, bool swap)
{
	char offset[24];

	if (metadata->has_date) {
		snprintf(offset, sizeof(offset), "%" PRId64, metadata->date_offset_ns / 1000);
		if (!put_option_text(buf, OPTION_DATE, offset, swap))
			return false;
	}
	if (metadata->has_ts_offset) {
		snprintf(offset, sizeof(offset), "%" PRId64, metadata->ts_offset);
		if (!put_option_text(buf, OPTION_OFFSET, offset, swap))
			return false;
	}
	if (!put_option_text(buf, OPTION_TRACECLOCK, metadata->clock, swap) ||
	    !put_option_text(buf, OPTION_UNAME, metadata->uname, swap) ||
	    !put_option_text(buf, OPTION_VERSION, metadata->version, swap))
		return false;
	if (metadata->trace_id && !put_option_u64(buf, OPTION_TRACEID, metadata->trace_id, swap))
		return false;
	if (metadata->has_tsc2nsec && !put_tsc2nsec(buf, metadata, swap))
		return false;
	for (size_t i = 0; i < metadata->nr_cpustats; i++)
		if (!put_option_text(buf, OPTION_CPUSTAT, metadata->cpustats[i], swap))
			return false;
	return true;
}

bool options_last(struct buf *buf, const struct writer_metadata *metadata, bool swap)
{
	return put_option_u32(buf, OPTION_CPUCOUNT, metadata->cpu_count, swap);
}
