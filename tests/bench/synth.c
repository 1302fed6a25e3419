// SPDX-License-Identifier: GPL-2.0-only
/*
 * synth KIND TEMPLATE OUT VERSION EVENTS CPUS: writes a trace.dat with at least EVENTS events, spread over CPUS, of
 * version 6 (raw pages) or 7 (zstd). KIND is events, graph or stacks; rare (as events, with one event of 16384 on each
 * CPU by task 99999); or slow (as events, an eighth of them within one second). Formats, symbols and other tables come
 * from the file TEMPLATE. Long files repeat a stretch of each CPU with advancing time.
 */
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/base/fail.h"
#include "lib/codec/frame.h"
#include "lib/trace/part.h"
#include "lib/trace/trace.h"
#include "lib/trace/writer.h"
#include "tests/bench/synth.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRETCH = 200000, PAGE_HEAD = 16, RARE = 16384, RARE_PID = 99999 };

static const uint64_t begin_ns = 1000000000;

struct stretch {
	uint8_t *pages;
	size_t len, size;
	size_t used; /* bytes of the last page in use */
	uint64_t page_ts, last_ts;
	uint64_t nr;
};

static bool begin_page(struct stretch *stretch, uint64_t ts)
{
	if (stretch->len + SYNTH_PAGE > stretch->size) {
		size_t size = stretch->size ? 2 * stretch->size : 1 << 20;
		uint8_t *grown = realloc(stretch->pages, size);

		if (!grown)
			return false;
		stretch->pages = grown;
		stretch->size = size;
	}
	memset(stretch->pages + stretch->len, 0, SYNTH_PAGE);
	memcpy(stretch->pages + stretch->len, &ts, sizeof(ts));
	stretch->len += SYNTH_PAGE;
	stretch->used = 0;
	stretch->last_ts = ts;
	return true;
}

/*
 * A record begins with a word of 5 bits for the length and 27 bits for the time. A length that does not fit follows in
 * a word of its own.
 */
static bool add_record(struct stretch *stretch, const uint8_t *event, size_t size, uint64_t ts)
{
	size_t words = (size + 3) / 4, head = words <= 28 ? 4 : 8;
	uint8_t *page, *at;
	uint64_t commit;
	uint32_t word;

	if ((!stretch->len || stretch->used + head + 4 * words > SYNTH_PAGE - PAGE_HEAD) && !begin_page(stretch, ts))
		return false;
	page = stretch->pages + stretch->len - SYNTH_PAGE;
	at = page + PAGE_HEAD + stretch->used;
	word = (uint32_t)(ts - stretch->last_ts) << 5 | (head == 4 ? (uint32_t)words : 0);
	memcpy(at, &word, sizeof(word));
	word = (uint32_t)(4 * words + 4);
	if (head == 8)
		memcpy(at + 4, &word, sizeof(word));
	memcpy(at + head, event, size);
	stretch->used += head + 4 * words;
	commit = stretch->used;
	memcpy(page + 8, &commit, sizeof(commit));
	stretch->last_ts = ts;
	stretch->nr++;
	return true;
}

static void go_on(struct stretch *stretch, uint64_t by)
{
	for (size_t at = 0; at < stretch->len; at += SYNTH_PAGE) {
		uint64_t ts;

		memcpy(&ts, stretch->pages + at, sizeof(ts));
		ts += by;
		memcpy(stretch->pages + at, &ts, sizeof(ts));
	}
}

static int write_cpu(struct writer *writer, struct part *part, struct synth synth, synth_next next, uint64_t events,
		     struct fail *fail)
{
	cleanup_free uint8_t *none = NULL;
	struct stretch stretch = { .pages = NULL };
	uint64_t nr = events < STRETCH ? events : STRETCH;
	uint8_t event[SYNTH_EVENT_MAX] = { 0 };
	int r = 0;

	synth.random = 0x9e3779b97f4a7c15 + synth.cpu * 0x1234567;
	synth.ts = begin_ns + synth.cpu * 37;
	for (uint64_t i = 0; i < nr || synth.depth; i++) {
		size_t size = next(&synth, event);

		if (synth.rare && i % RARE == 0)
			memcpy(event + 4, &(int32_t){ RARE_PID }, sizeof(int32_t));
		if (!add_record(&stretch, event, size, synth.ts))
			return fail_memory(fail);
	}
	for (uint64_t done = 0; !r && done < events; done += stretch.nr) {
		r = part_add(part, stretch.pages, stretch.len, SYNTH_PAGE, fail);
		go_on(&stretch, synth.ts + synth.step - begin_ns - synth.cpu * 37);
	}
	none = stretch.pages;
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

static int write_metadata(struct writer *writer, struct trace *trace, struct synth *synth, struct fail *fail)
{
	static const enum trace_meta wanted[] = { TRACE_HEADER_PAGE, TRACE_HEADER_EVENT, TRACE_KALLSYMS, TRACE_PRINTK };
	cleanup_buf struct buf cmdlines = BUF_INIT;
	cleanup_free struct writer_format *own = NULL;
	struct trace_text meta[TRACE_META_NR] = { 0 };
	struct writer_metadata data = {
		.clock = "[local]", .trace_id = 1, .cpu_count = synth->cpus, .uname = "Linux loom 6.12 x86_64"
	};
	const struct trace_format *formats = trace_formats(trace, &data.nr_formats);
	size_t nr = data.nr_formats;
	char comm[16];
	int r;

	for (size_t i = 0; i < array_size(wanted); i++) {
		r = trace_meta(trace, wanted[i], &meta[wanted[i]], fail);
		if (r < 0)
			return r;
	}
	own = calloc(nr + synth_nr_formats, sizeof(*own));
	for (int i = 1; own && i <= SYNTH_TASKS; i++)
		if (!buf_addf(&cmdlines, "%d %s\n", 100 + 17 * i, synth_comm(100 + 17 * i, comm)))
			return fail_memory(fail);
	if (!own)
		return fail_memory(fail);
	for (size_t i = 0; i < nr; i++)
		own[i] = (struct writer_format){ formats[i].system.text, formats[i].text.text, formats[i].text.len };
	for (size_t i = 0; i < synth_nr_formats; i++) {
		const struct synth_format *format = &synth_formats[i];

		if (!has_format(formats, nr, format))
			own[data.nr_formats++] =
				(struct writer_format){ format->system, format->text, strlen(format->text) };
	}
	data.formats = own;
	data.header_page = meta[TRACE_HEADER_PAGE].text;
	data.header_event = meta[TRACE_HEADER_EVENT].text;
	data.kallsyms = meta[TRACE_KALLSYMS].text, data.kallsyms_len = meta[TRACE_KALLSYMS].len;
	data.printk = meta[TRACE_PRINTK].text, data.printk_len = meta[TRACE_PRINTK].len;
	data.cmdlines = cmdlines.data, data.cmdlines_len = cmdlines.len;
	r = load_symbols(synth, meta[TRACE_KALLSYMS], fail);
	return r ? r : writer_metadata(writer, &data, fail);
}

static int write_file(int fd, struct trace *trace, unsigned version, struct synth *synth, synth_next next,
		      uint64_t events, struct fail *fail)
{
	const struct writer_options options = {
		.version = version,
		.compress = version == 7,
		.level = FRAME_LEVEL_DEFAULT,
		.long_size = 8,
		.page_size = SYNTH_PAGE,
	};
	struct writer *writer = NULL;
	struct part *part = NULL;
	int r = writer_new(fd, &options, &writer, fail);

	r = r ? r : part_new(&options, &part, fail);
	r = r ? r : write_metadata(writer, trace, synth, fail);
	r = r ? r : writer_buffer(writer, "", "local", SYNTH_PAGE, fail);
	for (synth->cpu = 0; !r && synth->cpu < synth->cpus; synth->cpu++)
		r = write_cpu(writer, part, *synth, next, (events + synth->cpus - 1) / synth->cpus, fail);
	r = r ? r : writer_finish(writer, fail);
	part_free(part);
	writer_free(writer);
	return r;
}

int main(int argc, char **argv)
{
	struct synth synth = { .step = 0 };
	struct fail fail = FAIL_INIT;
	cleanup_fd int fd = -1;
	struct trace *trace;
	synth_next next;
	int r;

	if (argc != 7) {
		fprintf(stderr, "usage: synth events|slow|rare|graph|stacks TEMPLATE OUT 6|7 EVENTS CPUS\n");
		return 2;
	}
	next = !strcmp(argv[1], "graph") ? synth_graph : !strcmp(argv[1], "stacks") ? synth_stack : synth_event;
	synth.step = strcmp(argv[1], "slow") ? 1000 : 8000;
	synth.rare = !strcmp(argv[1], "rare") || !strcmp(argv[1], "slow");
	synth.cpus = (uint32_t)strtoul(argv[6], NULL, 10);
	fd = open(argv[3], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	r = fd < 0 ? fail_set(&fail, -errno, "cannot create '%s': %s", argv[3], strerror(errno)) :
		     trace_open(argv[2], &trace, &fail);
	if (r >= 0) {
		r = write_file(fd, trace, (unsigned)strtoul(argv[4], NULL, 10), &synth, next,
			       strtoull(argv[5], NULL, 10), &fail);
		trace_free(trace);
	}
	if (r < 0)
		fprintf(stderr, "synth: %s\n", fail.text);
	return r < 0;
}
