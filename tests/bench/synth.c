// SPDX-License-Identifier: GPL-2.0-only
/*
 * synth KIND TEMPLATE OUT VERSION EVENTS CPUS: writes a trace.dat with at least EVENTS events, spread over CPUS, of
 * version 6 (raw pages) or 7 (zstd). KIND is events, graph or stacks; rare (as events, with one event of 16384 on each
 * CPU by task 99999); or slow (as events, an eighth of them within one second). Formats, symbols and other tables come
 * from the file TEMPLATE. Long files repeat a stretch of each CPU with advancing time.
 */
#include "tests/bench/synth.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/part.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/writer.h"

enum { STRETCH = 200000, RARE = 16384, RARE_PID = 99999 };

static const uint64_t begin_ns = 1000000000;

/* Pages of one CPU, which a long file repeats. */
struct stretch {
	struct buf pages;
	struct page_writer open;
	uint8_t page[SYNTH_PAGE]; /* the open one */
	uint64_t nr;
};

static const struct page_shape shape = { .size = SYNTH_PAGE, .long_size = 8 };

static bool end_page(struct stretch *stretch)
{
	page_writer_end(&stretch->open);
	return buf_add(&stretch->pages, stretch->page, sizeof(stretch->page));
}

static bool add_event(struct stretch *stretch, const uint8_t *event, size_t size, uint64_t ts)
{
	const struct record record = { .data = event, .len = (uint32_t)size, .ts = ts };

	stretch->nr++;
	if (page_writer_add(&stretch->open, &record))
		return true;
	if (!end_page(stretch))
		return false;
	page_writer_begin(&stretch->open, &shape, stretch->page, PAGE_LOST_NONE);
	return page_writer_add(&stretch->open, &record);
}

static void go_on(struct stretch *stretch, uint64_t by)
{
	for (size_t at = 0; at < stretch->pages.len; at += SYNTH_PAGE) {
		uint64_t ts;

		memcpy(&ts, stretch->pages.data + at, sizeof(ts));
		ts += by;
		memcpy(stretch->pages.data + at, &ts, sizeof(ts));
	}
}

static bool fill(struct stretch *stretch, struct synth *synth, synth_next next, uint64_t nr)
{
	uint8_t event[SYNTH_EVENT_MAX] = { 0 };

	page_writer_begin(&stretch->open, &shape, stretch->page, PAGE_LOST_NONE);
	for (uint64_t i = 0; i < nr || synth->depth; i++) {
		size_t size = next(synth, event);

		if (synth->rare && i % RARE == 0)
			memcpy(event + 4, &(int32_t){ RARE_PID }, sizeof(int32_t));
		if (!add_event(stretch, event, size, synth->ts))
			return false;
	}
	return end_page(stretch);
}

static int write_cpu(struct writer *writer, struct part *part, struct synth synth, synth_next next, uint64_t events,
		     struct fail *fail)
{
	struct stretch stretch = { .pages = BUF_INIT };
	int r = 0;

	synth.random = 0x9e3779b97f4a7c15 + synth.cpu * 0x1234567;
	synth.ts = begin_ns + synth.cpu * 37;
	if (!fill(&stretch, &synth, next, events < STRETCH ? events : STRETCH))
		r = fail_memory(fail);
	for (uint64_t done = 0; !r && done < events; done += stretch.nr) {
		r = part_add(part, stretch.pages.data, stretch.pages.len, SYNTH_PAGE, fail);
		go_on(&stretch, synth.ts + synth.step - begin_ns - synth.cpu * 37);
	}
	buf_release(&stretch.pages);
	return r ? r : part_write(part, writer, synth.cpu, fail);
}

static int load_symbols(struct synth *synth, struct trace_text kallsyms, struct fail *fail)
{
	const char *at = kallsyms.text, *end = at + kallsyms.len;
	size_t nr = 0, seen = 0;

	for (; at && at < end && nr < SYNTH_SYMBOLS;
	     at = memchr(at, '\n', (size_t)(end - at)), at = at ? at + 1 : NULL) {
		uint64_t address;
		char type, *rest;

		address = strtoull(at, &rest, 16);
		type = end - rest > 1 ? rest[1] : 0;
		if (address >> 63 && (type == 't' || type == 'T') && seen++ % 16 == 7)
			synth->symbols[nr++] = address;
	}
	return nr == SYNTH_SYMBOLS ? 0 : fail_set(fail, -ENODATA, "the template has only %zu functions", nr);
}

static bool has_format(const struct trace_format *formats, size_t nr, const struct synth_format *wanted)
{
	char line[64];

	snprintf(line, sizeof(line), "name: %s\n", wanted->name);
	for (size_t i = 0; i < nr; i++)
		if (formats[i].text.len > strlen(line) && !memcmp(formats[i].text.text, line, strlen(line)))
			return true;
	return false;
}

/* What a file is made of, besides the tables of the template. */
struct work {
	struct synth synth;
	synth_next next;
	uint64_t events;
	struct writer_options form;
};

static int write_buffer(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	struct work *work = arg;
	struct synth *synth = &work->synth;
	int r = writer_buffer(writer, "", "local", SYNTH_PAGE, fail);

	for (synth->cpu = 0; !r && synth->cpu < synth->cpus; synth->cpu++)
		r = write_cpu(writer, part, *synth, work->next, (work->events + synth->cpus - 1) / synth->cpus, fail);
	return r;
}

/* The formats of the template, and those that it lacks. */
static struct writer_format *formats_of(struct trace *trace, size_t *ret_nr)
{
	size_t nr;
	const struct trace_format *formats = trace_formats(trace, &nr);
	struct writer_format *own = calloc(nr + synth_nr_formats, sizeof(*own));

	*ret_nr = nr;
	for (size_t i = 0; own && i < nr; i++)
		own[i] = (struct writer_format){ formats[i].system.text, formats[i].text.text, formats[i].text.len };
	for (size_t i = 0; own && i < synth_nr_formats; i++) {
		const struct synth_format *format = &synth_formats[i];

		if (!has_format(formats, nr, format))
			own[(*ret_nr)++] = (struct writer_format){ format->system, format->text, strlen(format->text) };
	}
	return own;
}

static bool put_names(struct buf *cmdlines, uint32_t cpus)
{
	int nr = (int)(synth_tasks_of_cpu(cpus) * cpus);
	char comm[16];

	for (int i = 1; i < nr; i++)
		if (!buf_addf(cmdlines, "%d %s\n", 100 + 17 * i, synth_comm(100 + 17 * i, comm)))
			return false;
	return true;
}

static int write_file(int fd, struct trace *trace, struct work *work, struct fail *fail)
{
	static const enum trace_meta wanted[] = { TRACE_HEADER_PAGE, TRACE_HEADER_EVENT, TRACE_KALLSYMS, TRACE_PRINTK };
	cleanup_buf struct buf cmdlines = BUF_INIT;
	cleanup_free struct writer_format *own = NULL;
	struct trace_text meta[TRACE_META_NR] = { 0 };
	struct writer_metadata data = {
		.clock = "[local]", .trace_id = 1, .cpu_count = work->synth.cpus, .uname = "Linux loom 6.12 x86_64"
	};
	uint64_t size;
	int r;

	for (size_t i = 0; i < array_size(wanted); i++) {
		r = trace_meta(trace, wanted[i], &meta[wanted[i]], fail);
		if (r < 0)
			return r;
	}
	own = formats_of(trace, &data.nr_formats);
	if (!own || !put_names(&cmdlines, work->synth.cpus))
		return fail_memory(fail);
	data.formats = own;
	data.header_page = meta[TRACE_HEADER_PAGE].text;
	data.header_event = meta[TRACE_HEADER_EVENT].text;
	data.kallsyms = meta[TRACE_KALLSYMS].text, data.kallsyms_len = meta[TRACE_KALLSYMS].len;
	data.printk = meta[TRACE_PRINTK].text, data.printk_len = meta[TRACE_PRINTK].len;
	data.cmdlines = cmdlines.data, data.cmdlines_len = cmdlines.len;
	r = load_symbols(&work->synth, meta[TRACE_KALLSYMS], fail);
	return r ? r : made_file_write(fd, &work->form, &data, write_buffer, work, &size, fail);
}

int main(int argc, char **argv)
{
	struct work work = { .form = { .level = FRAME_LEVEL_DEFAULT, .long_size = 8, .page_size = SYNTH_PAGE } };
	struct fail fail = FAIL_INIT;
	cleanup_fd int fd = -1;
	struct trace *trace;
	int r;

	if (argc != 7) {
		fprintf(stderr, "usage: synth events|slow|rare|graph|stacks TEMPLATE OUT 6|7 EVENTS CPUS\n");
		return 2;
	}
	work.next = !strcmp(argv[1], "graph") ? synth_graph : !strcmp(argv[1], "stacks") ? synth_stack : synth_event;
	work.synth.step = strcmp(argv[1], "slow") ? 1000 : 8000;
	work.synth.rare = !strcmp(argv[1], "rare") || !strcmp(argv[1], "slow");
	work.synth.cpus = (uint32_t)strtoul(argv[6], NULL, 10);
	work.events = strtoull(argv[5], NULL, 10);
	work.form.version = (unsigned)strtoul(argv[4], NULL, 10);
	work.form.compress = work.form.version == 7;
	fd = open(argv[3], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	r = fd < 0 ? fail_set(&fail, -errno, "cannot create '%s': %s", argv[3], strerror(errno)) :
		     trace_open(argv[2], &trace, &fail);
	if (r >= 0) {
		r = write_file(fd, trace, &work, &fail);
		trace_free(trace);
	}
	if (r < 0)
		fprintf(stderr, "synth: %s\n", fail.text);
	return r < 0;
}
