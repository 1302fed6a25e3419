// SPDX-License-Identifier: GPL-2.0-only
/* trace-cmd dump: what a file consists of, in trace-cmd's words. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/reading.h"
#include "cmd/trace_cmd/trace_cmd.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/pages/trace/trace.h"

enum {
	SUMMARY = 1 << 0,
	HEAD_PAGE = 1 << 1,
	HEAD_EVENT = 1 << 2,
	FTRACE_EVENTS = 1 << 3,
	SYSTEMS = 1 << 4,
	EVENTS = 1 << 5,
	KALLSYMS = 1 << 6,
	PRINTK = 1 << 7,
	CMD_LINES = 1 << 8,
	CLOCK = 1 << 9,
	ALL = (1 << 10) - 1,
};

enum { OPTIONS_MAX = 1 << 20, OPTION_HEAD = 6, SECTION_HEAD_V7 = 16, SECTION_HEAD_V6 = 10, HEAD_MAX = 128 };

enum {
	KEY_VALIDATE = 'v',
	KEY_ALL = 256,
	KEY_PLACES,
	KEY_VERBOSE,
	/* The parts: KEY_PART plus the bit. */
	KEY_PART = 1 << 12,
};

static const struct option long_options[] = {
	{ "validate", no_argument, NULL, KEY_VALIDATE },
	{ "all", no_argument, NULL, KEY_ALL },
	{ "summary", no_argument, NULL, KEY_PART | SUMMARY },
	{ "head-page", no_argument, NULL, KEY_PART | HEAD_PAGE },
	{ "head-event", no_argument, NULL, KEY_PART | HEAD_EVENT },
	{ "ftrace-events", no_argument, NULL, KEY_PART | FTRACE_EVENTS },
	{ "systems", no_argument, NULL, KEY_PART | SYSTEMS },
	{ "events", no_argument, NULL, KEY_PART | EVENTS },
	{ "kallsyms", no_argument, NULL, KEY_PART | KALLSYMS },
	{ "printk", no_argument, NULL, KEY_PART | PRINTK },
	{ "cmd-lines", no_argument, NULL, KEY_PART | CMD_LINES },
	{ "clock", no_argument, NULL, KEY_PART | CLOCK },
	{ "options", no_argument, NULL, KEY_PLACES },
	{ "flyrecord", no_argument, NULL, KEY_PLACES },
	{ "sections", no_argument, NULL, KEY_PLACES },
	{ "strings", no_argument, NULL, KEY_PLACES },
	{ "modules", no_argument, NULL, KEY_PLACES },
	{ "verbose", optional_argument, NULL, KEY_VERBOSE },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct dump {
	struct reading reading;
	const char *input;
	unsigned parts;
	bool validate;
};

static int parse(int argc, char **argv, struct dump *dump)
{
	int key;

	optind = 1;
	while ((key = getopt_long(argc, argv, "hvai:", long_options, NULL)) != -1) {
		if (key >= KEY_PART)
			dump->parts |= (unsigned)key & ALL;
		else if (key == KEY_ALL || key == 'a')
			dump->parts = ALL;
		else if (key == KEY_VALIDATE)
			dump->validate = true;
		else if (key == 'i')
			dump->input = optarg;
		else if (key == KEY_PLACES)
			command_warn("note: 'weft info' prints the sections, their places and the options of a file");
		else if (key != KEY_VERBOSE)
			return -TRACE_CMD_USAGE;
	}
	if (optind < argc && !dump->input)
		dump->input = argv[optind];
	if (!dump->input)
		dump->input = "trace.dat";
	if (!dump->parts)
		dump->parts = SUMMARY;
	return 0;
}

/* Counts the options in a section of them: in version 7 also the one that ends them, as trace-cmd does. */
static unsigned options_in(const struct trace *trace, const struct trace_section *section)
{
	const struct trace_info *info = trace_info(trace);
	uint64_t head = info->version < 7 ? SECTION_HEAD_V6 : SECTION_HEAD_V7, at = section->offset + head,
		 end = section->offset + section->size;
	unsigned nr = 0;
	uint8_t option[OPTION_HEAD];

	while (nr < OPTIONS_MAX && at + OPTION_HEAD <= end &&
	       trace_bytes(trace, at, option, sizeof(option)) == sizeof(option) && load_u16(option, info->swap)) {
		nr++;
		at += OPTION_HEAD + (uint64_t)load_u32(option + 2, info->swap);
	}
	return nr + (info->version >= 7);
}

static void count(const struct trace *trace, unsigned *ret_options, unsigned *ret_sections)
{
	size_t nr;
	const struct trace_section *sections = trace_sections(trace, &nr);

	*ret_options = *ret_sections = 0;
	for (size_t i = 0; i < nr; i++) {
		if (!strncmp(sections[i].what, "pages of", 8) || !strcmp(sections[i].what, "header"))
			continue;
		++*ret_sections;
		if (!strcmp(sections[i].what, "options"))
			*ret_options += options_in(trace, &sections[i]);
	}
}

static void print_format(const struct trace *trace)
{
	const struct trace_info *info = trace_info(trace);
	char head[HEAD_MAX + 1] = "";
	const char *codec;
	size_t len;

	printf("\t[Initial format]\n\t\t%u\t[Version]\n\t\t%d\t[%s endian]\n\t\t%u\t[Bytes in a long]\n"
	       "\t\t%" PRIu32 "\t[Page size, bytes]\n",
	       info->version, info->big_endian, info->big_endian ? "Big" : "Little", info->user_long_size,
	       info->page_size);
	if (info->version < 7)
		return;
	/* Behind the magic number, the version and six bytes: the name of the compression, and its version. */
	len = trace_bytes(trace, 0, head, HEAD_MAX);
	codec = len > 18 ? head + 18 : "";
	printf("\t\t%s\t[Compression algorithm]\n\t\t%s\t[Compression version]\n", info->codec,
	       strlen(codec) && codec + strlen(codec) + 1 < head + HEAD_MAX ? codec + strlen(codec) + 1 : "");
}

/* "local" of "[local] global counter"; -1 and the whole text if nothing is chosen. */
static int clock_word(const struct trace_buffer *buffer, const char **ret)
{
	struct text_word word;
	bool chosen = text_chosen(buffer->clock.text, &word);

	*ret = chosen ? word.at : buffer->clock.text ? buffer->clock.text : "";
	return chosen ? (int)word.len : (int)strcspn(*ret, " \n");
}

static void print_buffers(struct trace *trace)
{
	for (size_t i = 0; i < trace_buffers(trace); i++) {
		const struct trace_buffer *buffer = trace_buffer(trace, i);
		uint64_t bytes = 0;
		const char *clock;
		int len = clock_word(buffer, &clock);

		for (size_t n = 0; n < buffer->nr_cpus; n++)
			bytes += buffer->cpus[n].size;
		printf("\t[buffer \"%s\", \"%.*s\" clock, %" PRIu32 " page size, %zu cpus, %" PRIu64
		       " bytes flyrecord data]\n",
		       buffer->name.text, len, clock, buffer->page_size, buffer->nr_cpus, bytes);
	}
}

static int print_meta(const struct dump *dump, struct trace *trace, unsigned part, enum trace_meta which,
		      const char *title, struct fail *fail)
{
	struct trace_text text;
	int r = trace_meta(trace, which, &text, fail);

	if (r < 0)
		return r;
	if (!(dump->parts & (part | SUMMARY)))
		return 0;
	printf("\t[%s, %zu bytes]\n", title, text.text ? text.len : 0);
	if (dump->parts & part && text.text)
		printf("%.*s\n", (int)text.len, text.text);
	return 0;
}

static bool same_system(const struct trace_format *one, const struct trace_format *other)
{
	return one->system.len == other->system.len && !memcmp(one->system.text, other->system.text, one->system.len);
}

static void print_texts(const struct trace_format *formats, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct trace_text text = formats[i].text;

		if (text.text)
			printf("%s%s", text.text, text.len && text.text[text.len - 1] == '\n' ? "" : "\n");
	}
}

/* The events of the kernel's own entries, which the file keeps apart, come first or last in the list. */
static void split_formats(struct trace *trace, const struct trace_format **ret_ftrace, size_t *ret_nr_ftrace,
			  const struct trace_format **ret_events, size_t *ret_nr)
{
	size_t nr, from = 0, to;
	const struct trace_format *formats = trace_formats(trace, &nr);

	while (from < nr && strcmp(formats[from].system.text, "ftrace") != 0)
		from++;
	for (to = from; to < nr && !strcmp(formats[to].system.text, "ftrace");)
		to++;
	*ret_ftrace = nr ? formats + from : NULL;
	*ret_nr_ftrace = to - from;
	*ret_events = from || !nr ? formats : formats + to;
	*ret_nr = from ? from : nr - to;
}

static void print_events(const struct dump *dump, const struct trace_format *events, size_t nr)
{
	size_t systems = 0, in_system = 0;

	for (size_t i = 0; i < nr; i++)
		systems += !i || !same_system(&events[i], &events[i - 1]);
	if (!(dump->parts & (SUMMARY | SYSTEMS | EVENTS)))
		return;
	printf("\t[Events format, %zu systems]\n", systems);
	if (dump->parts & SYSTEMS)
		for (size_t i = 0; i < nr; i++) {
			in_system++;
			if (i + 1 < nr && same_system(&events[i], &events[i + 1]))
				continue;
			printf("\t\t%s %zu [system, events]\n", events[i].system.text, in_system);
			in_system = 0;
		}
	if (dump->parts & EVENTS)
		print_texts(events, nr);
}

static void print_ftrace(const struct dump *dump, const struct trace_format *ftrace, size_t nr)
{
	if (dump->parts & (SUMMARY | FTRACE_EVENTS))
		printf("\t[Ftrace format, %zu events]\n", nr);
	if (dump->parts & FTRACE_EVENTS)
		print_texts(ftrace, nr);
}

static void print_clock(const struct dump *dump, struct trace *trace, bool titled)
{
	/* A damaged file may have no buffer. */
	const struct trace_buffer *buffer = trace_buffer(trace, 0);
	const char *clock = buffer && buffer->clock.text ? buffer->clock.text : "local";

	if (titled && dump->parts & (SUMMARY | CLOCK))
		printf("\t[Tracing clock]\n\t\t%s\n", clock);
	else if (dump->parts & CLOCK)
		printf("%s\n", clock);
}

static int print_version_6(const struct dump *dump, struct trace *trace, struct fail *fail)
{
	const struct trace_format *ftrace, *events;
	size_t nr_ftrace, nr_events;
	unsigned options, sections;
	int r = print_meta(dump, trace, HEAD_PAGE, TRACE_HEADER_PAGE, "Header page", fail);

	if (!r)
		r = print_meta(dump, trace, HEAD_EVENT, TRACE_HEADER_EVENT, "Header event", fail);
	if (r)
		return r;
	split_formats(trace, &ftrace, &nr_ftrace, &events, &nr_events);
	print_ftrace(dump, ftrace, nr_ftrace);
	print_events(dump, events, nr_events);
	r = print_meta(dump, trace, KALLSYMS, TRACE_KALLSYMS, "Kallsyms", fail);
	if (!r)
		r = print_meta(dump, trace, PRINTK, TRACE_PRINTK, "Trace printk", fail);
	if (!r)
		r = print_meta(dump, trace, CMD_LINES, TRACE_CMDLINES, "Saved command lines", fail);
	count(trace, &options, &sections);
	if (!r && dump->parts & SUMMARY)
		printf("\t%" PRIu32 " [CPUs with tracing data]\n\t[%u options]\n\t[Flyrecord tracing data]\n",
		       trace_info(trace)->cpu_count, options);
	if (!r)
		print_clock(dump, trace, true);
	return r;
}

static int print_version_7(const struct dump *dump, struct trace *trace, struct fail *fail)
{
	const struct trace_format *ftrace, *events;
	size_t nr_ftrace, nr_events;
	unsigned options, sections;
	int r;

	count(trace, &options, &sections);
	if (dump->parts & SUMMARY) {
		print_buffers(trace);
		printf("\t[%u options]\n", options);
	}
	r = print_meta(dump, trace, CMD_LINES, TRACE_CMDLINES, "Saved command lines", fail);
	if (!r)
		r = print_meta(dump, trace, PRINTK, TRACE_PRINTK, "Trace printk", fail);
	if (!r)
		r = print_meta(dump, trace, KALLSYMS, TRACE_KALLSYMS, "Kallsyms", fail);
	if (r)
		return r;
	split_formats(trace, &ftrace, &nr_ftrace, &events, &nr_events);
	print_events(dump, events, nr_events);
	print_ftrace(dump, ftrace, nr_ftrace);
	r = print_meta(dump, trace, HEAD_PAGE, TRACE_HEADER_PAGE, "Header page", fail);
	if (!r)
		r = print_meta(dump, trace, HEAD_EVENT, TRACE_HEADER_EVENT, "Header event", fail);
	if (!r)
		print_clock(dump, trace, false);
	if (!r && dump->parts & SUMMARY)
		printf("\t[%u sections]\n", sections);
	return r;
}

static int print(const struct dump *dump, struct trace *trace, struct fail *fail)
{
	const char *damage = trace_damage(trace);
	int r;

	if (dump->validate) {
		if (damage)
			return fail_set(fail, -EBADMSG, "%s", damage);
		printf("File %s is a valid trace-cmd file\n", dump->input);
		return command_flush(fail);
	}
	if (dump->parts & SUMMARY) {
		printf("\n Tracing meta data in file %s:\n", dump->input);
		print_format(trace);
	}
	r = trace_info(trace)->version < 7 ? print_version_6(dump, trace, fail) : print_version_7(dump, trace, fail);
	if (!r && damage)
		r = fail_set(fail, -EBADMSG, "%s", damage);
	return r ? r : command_flush(fail);
}

int trace_cmd_dump(int argc, char **argv)
{
	struct dump dump = { .input = NULL };
	struct trace *trace = NULL;
	struct fail fail = FAIL_INIT;
	int r = parse(argc, argv, &dump);

	if (r < 0)
		return -r;
	r = reading_open(dump.input, &dump.reading, &trace, &fail);
	if (!r)
		r = print(&dump, trace, &fail);
	trace_free(trace);
	return r == -EPIPE ? EXIT_OK : r < 0 ? trace_cmd_failed(r, &fail) : EXIT_OK;
}
