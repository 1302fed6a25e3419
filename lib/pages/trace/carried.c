// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/trace/carried.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/trace/private_section_internal.h"
#include "lib/pages/trace/trace.h"

void carried_release(struct carried *carried)
{
	free(carried->formats);
	free(carried->settings);
}

static int take_meta(struct carried *carried, enum trace_meta which, const char **ret, size_t *ret_len,
		     struct fail *fail)
{
	struct trace_text text = { .text = NULL };
	int r = trace_meta(carried->trace, which, &text, fail);

	if (r)
		return r;
	*ret = text.text;
	if (ret_len)
		*ret_len = text.len;
	return 0;
}

static int take_texts(struct carried *carried, struct fail *fail)
{
	struct writer_metadata *out = &carried->metadata;
	int r = take_meta(carried, TRACE_HEADER_PAGE, &out->header_page, NULL, fail);

	if (!r)
		r = take_meta(carried, TRACE_HEADER_EVENT, &out->header_event, NULL, fail);
	if (!r)
		r = take_meta(carried, TRACE_KALLSYMS, &out->kallsyms, &out->kallsyms_len, fail);
	if (!r)
		r = take_meta(carried, TRACE_PRINTK, &out->printk, &out->printk_len, fail);
	if (!r)
		r = take_meta(carried, TRACE_CMDLINES, &out->cmdlines, &out->cmdlines_len, fail);
	if (!r)
		r = take_meta(carried, TRACE_LATENCY, &out->latency, &out->latency_len, fail);
	if (!r)
		r = take_meta(carried, TRACE_UNAME, &out->uname, NULL, fail);
	if (!r)
		r = take_meta(carried, TRACE_VERSION, &out->version, NULL, fail);
	if (!r)
		r = take_meta(carried, TRACE_CPUSTAT, &carried->cpustats, NULL, fail);
	if (!r && !out->header_page)
		return fail_set(fail, -EBADMSG, "'%s' has no header_page, which describes the layout of its pages",
				trace_path(carried->trace));
	if (!r && !out->header_event)
		out->header_event = "";
	out->cpustats = &carried->cpustats;
	out->nr_cpustats = !!carried->cpustats;
	return r;
}

static int take_lists(struct carried *carried, struct fail *fail)
{
	struct writer_metadata *out = &carried->metadata;
	const struct trace_format *formats;
	struct trace_text text;
	const char *name;
	size_t nr, buffer;

	formats = trace_formats(carried->trace, &nr);
	carried->formats = calloc(nr + 1, sizeof(*carried->formats));
	if (!carried->formats)
		return fail_memory(fail);
	for (size_t i = 0; i < nr; i++)
		carried->formats[out->nr_formats++] = (struct writer_format){ .system = formats[i].system.text,
									      .text = formats[i].text.text,
									      .len = formats[i].text.len };
	for (size_t i = 0; trace_setting_at(carried->trace, i, &buffer, &name, &text); i++) {
		struct writer_setting *setting;

		/* Version 6 has the latency text as a setting, version 7 beside the pages. */
		if (!strcmp(name, SETTING_LATENCY))
			continue;
		setting = vec_push(carried->settings, out->nr_settings);
		if (!setting)
			return fail_memory(fail);
		*setting = (struct writer_setting){
			.buffer = (uint32_t)buffer, .name = name, .text = text.text, .len = text.len
		};
	}
	out->formats = carried->formats;
	out->settings = carried->settings;
	return 0;
}

int carried_init(struct carried *carried, struct trace *trace, struct fail *fail)
{
	const struct trace_info *info = trace_info(trace);
	struct writer_metadata *out = &carried->metadata;
	int r;

	*carried = (struct carried){ .trace = trace };
	r = take_texts(carried, fail);
	if (!r)
		r = take_lists(carried, fail);
	if (trace_buffers(carried->trace))
		out->clock = trace_buffer(carried->trace, 0)->clock.text;
	out->cpu_count = info->cpu_count;
	out->trace_id = info->trace_id;
	out->ts_offset = info->ts_offset;
	out->has_ts_offset = out->ts_offset;
	out->has_date = info->has_date;
	out->date_offset_ns = info->date_offset_ns;
	out->has_tsc2nsec = info->has_tsc2nsec;
	out->tsc_mult = info->tsc_mult;
	out->tsc_shift = info->tsc_shift;
	out->tsc_offset = info->tsc_offset;
	return r;
}
