// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/files/import/graph_internal.h"
#include "lib/files/import/import_internal.h"
#include "lib/files/import/kinds_internal.h"
#include "lib/files/rewrite/binder.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/meaning/clock/wall.h"
#include "lib/pages/trace/carried.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/writer.h"

enum { SETTINGS_MAX = 18 };

static const char *clock_of(const struct import *import)
{
	if (import->clock_name)
		return import->clock_name;
	return import->shape.has_unit || !import->counts.events ? "local" : "counter";
}

static int write_buffer(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	struct import *import = arg;
	int r = writer_buffer(writer, "", clock_of(import), IMPORT_PAGE_SIZE, fail);

	return r ? r : binder_write(import->binder, part, writer, fail);
}

/* Adds a setting that has a text. */
static void put(struct writer_metadata *metadata, const char *name, const char *text, size_t len)
{
	if (len)
		metadata->settings[metadata->nr_settings++] =
			(struct writer_setting){ .name = name, .text = text, .len = len };
}

void import_clock(struct import *import, const char *clock, const struct buf *samples)
{
	import->clock_name = clock;
	import->samples = samples;
}

/* Its time of the trace has six digits, its time of day three. */
static bool put_clock_sync(const struct import *import, struct buf *into)
{
	const struct import_counts *counts = &import->counts;
	struct wall_sample sample = { .lo = counts->clock_sync_at, .error_us = -1, .why = WALL_LOG };

	if (import->samples)
		return !import->samples->len || buf_add(into, import->samples->data, import->samples->len);
	if (!counts->clock_sync_ms || counts->clock_sync_ms > INT64_MAX / 4 / NS_PER_MS)
		return true;
	snprintf(sample.clock, sizeof(sample.clock), "%s", clock_of(import));
	sample.hi = sample.lo + NS_PER_US - 1;
	sample.wall_lo = (int64_t)counts->clock_sync_ms * NS_PER_MS;
	sample.wall_hi = sample.wall_lo + NS_PER_MS - 1;
	return wall_sample_put(&sample, into);
}

struct writer_options import_form(const struct import *import)
{
	return (struct writer_options){
		.version = import->form.version,
		.compress = import->form.compress,
		.level = import->form.level,
		.temporaries = import->form.temporaries,
		.long_size = 8,
		.page_size = IMPORT_PAGE_SIZE,
	};
}

int import_write(struct import *import, int fd, uint64_t *ret_size, struct fail *fail)
{
	static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
					  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
					  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
					  "\tfield: char data;\toffset:16;\tsize:16368;\tsigned:1;\n";
	static const char graph[] = "function_graph", zero[] = "0";
	const char *mode = import->clock_name ? "import told" : "import";
	const char *tracer = import->graph.seen ? graph : import->shape.tracer;
	cleanup_buf struct buf columns = BUF_INIT, kallsyms = BUF_INIT;
	cleanup_buf struct buf cmdlines = BUF_INIT, tgids = BUF_INIT, options = BUF_INIT, clocks = BUF_INIT;
	struct carried carried = { .trace = NULL };
	const struct writer_options form = import_form(import);
	struct writer_setting settings[SETTINGS_MAX];
	char online[32] = "", start[32] = "0", no_time[32], clock[32];
	struct writer_metadata metadata = { .header_page = header_page,
					    .header_event = "",
					    .version = "weft",
					    .settings = settings,
					    .clock = clock,
					    .cpu_count = binder_cpus(import->binder) };
	int r;

	snprintf(clock, sizeof(clock), "[%s]", clock_of(import));
	r = import->kinds ? events_close(import, fail) :
			    import_kinds_new(import->formats, false, &import->names, &import->kinds, fail);

	if (!r)
		r = events_give_up(import, fail);
	if (r)
		return r;
	if (import->formats) {
		r = carried_init(&carried, import->formats, fail);
		metadata.uname = carried.metadata.uname;
	}
	metadata.formats = (struct writer_format *)(uintptr_t)import_kinds_formats(import->kinds, &metadata.nr_formats);
	if (!import_names_kallsyms(&import->names, &kallsyms) ||
	    !import_names_texts(&import->names, &cmdlines, &tgids) || !put_clock_sync(import, &clocks) ||
	    !column_layout_options(&import->shape, &options) || !column_layout_columns(&import->shape, &columns) ||
	    !import_graph_options(&import->graph, import->shape.has_plain, &options))
		r = fail_memory(fail);
	if (import->shape.online && import->shape.online <= HEAD_CPU_MAX)
		snprintf(online, sizeof(online), "0-%u", import->shape.online - 1);
	if (import->shape.has_verbose && !import->shape.has_brief)
		snprintf(start, sizeof(start), "%" PRIu64, import->shape.start);
	metadata.cmdlines = cmdlines.data;
	metadata.cmdlines_len = cmdlines.len;
	metadata.kallsyms = kallsyms.data;
	metadata.kallsyms_len = kallsyms.len;
	settings[metadata.nr_settings++] =
		(struct writer_setting){ .name = "trace_options", .text = options.data, .len = options.len };
	settings[metadata.nr_settings++] =
		(struct writer_setting){ .name = "weft/mode", .text = mode, .len = strlen(mode) };
	put(&metadata, "current_tracer", tracer, strlen(tracer));
	put(&metadata, "saved_tgids", tgids.data, tgids.len);
	if (import->graph.seen)
		put(&metadata, "weft/tracer", import->shape.tracer, strlen(import->shape.tracer));
	put(&metadata, "weft/graph_relative", zero, import_graph_is_relative(&import->graph));
	snprintf(no_time, sizeof(no_time), "%" PRIu64, import->graph.guessed);
	put(&metadata, "weft/graph_no_time", no_time, import->graph.guessed ? strlen(no_time) : 0);
	put(&metadata, "weft/columns", columns.data, columns.len);
	put(&metadata, "weft/release", import->shape.release, strlen(import->shape.release));
	put(&metadata, "weft/preempt_model", import->shape.preempt_model, strlen(import->shape.preempt_model));
	put(&metadata, "weft/buffer_cpu", import->shape.buffer_cpu, strlen(import->shape.buffer_cpu));
	put(&metadata, "weft/online", online, strlen(online));
	put(&metadata, SETTING_CLOCKS, clocks.data, clocks.len);
	put(&metadata, "weft/latency_head", import->shape.latency.data, import->shape.latency.len);
	if (import->shape.has_latency && !import->shape.has_plain)
		put(&metadata, "weft/time_start", start, strlen(start));
	if (!r)
		r = made_file_write(fd, &form, &metadata, write_buffer, import, ret_size, fail);
	carried_release(&carried);
	return r;
}
