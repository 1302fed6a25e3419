// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of both versions that are made by hand, as weft-dat(5) describes them, and then made wrong at one place: what
 * is said of it, and where. They are little-endian on every machine.
 */
#include "lib/pages/trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/check.h"
#include "tests/unit/little.h"
#include "tests/unit/test.h"

enum { PAGE = 64, CPUS_MAX = 1 << 14, BUFFERS_MAX = 1 << 10, ALL_TEXTS_MAX = 1 << 16 };

/* The places of a file that a test changes. */
enum at {
	AT_HEAD,
	AT_CODEC,
	AT_FIRST, /* version 7: the offset of the options */
	AT_HEADERS,
	AT_HEADER_EVENT,
	AT_FTRACE,
	AT_EVENTS,
	AT_KALLSYMS,
	AT_PRINTK,
	AT_CMDLINES,
	AT_LATENCY, /* version 7 */
	AT_CPUS,
	AT_OPTIONS,
	AT_BUFFER_OPTION,
	AT_CPUCOUNT, /* version 6: of the instance */
	AT_OPTIONS_END,
	AT_RING,
	AT_INSTANCE,
	AT_PAGES,
	AT_SETTINGS,
	AT_END,
	AT_NR,
};

struct made {
	struct buf file;
	size_t at[AT_NR];
	/* version 7: this section ends after so many bytes */
	enum at short_at;
	size_t short_len;
	/* more bytes of header_event, and more formats, of no bytes */
	size_t header_more, formats_more;
};

static void number(struct made *made, size_t size, uint64_t value)
{
	little_add(&made->file, size, value);
}

static void bytes(struct made *made, const char *text, size_t len)
{
	CHECK(buf_add(&made->file, text, len));
}

static void name(struct made *made, const char *text)
{
	little_name(&made->file, text);
}

static void sized(struct made *made, size_t size_of_size, const char *text)
{
	little_sized(&made->file, size_of_size, text);
}

static void put(struct made *made, enum at at, int plus, size_t size, uint64_t value)
{
	little_put(&made->file, made->at[at] + (size_t)plus, size, value);
}

static void here(struct made *made, enum at at)
{
	made->at[at] = made->file.len;
}

static void make_head(struct made *made, const char *version)
{
	here(made, AT_HEAD);
	bytes(made, "\027\010Dtracing", 10);
	name(made, version);
	number(made, 1, 0);
	number(made, 1, 8);
	number(made, 4, PAGE);
}

static void make_headers(struct made *made)
{
	name(made, "header_page");
	sized(made, 8, "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n");
	here(made, AT_HEADER_EVENT);
	name(made, "header_event");
	number(made, 8, 8 + made->header_more);
	bytes(made, "type_len", 8);
	for (size_t i = 0; i < made->header_more; i++)
		bytes(made, "\n", 1);
}

static void make_ftrace(struct made *made)
{
	number(made, 4, 1 + made->formats_more);
	sized(made, 8, "name: a\n");
	for (size_t i = 0; i < made->formats_more; i++)
		number(made, 8, 0);
}

static void make_events(struct made *made)
{
	number(made, 4, 1);
	name(made, "sched");
	number(made, 4, 1);
	sized(made, 8, "name: b\n");
}

static void make_pages(struct made *made, size_t nr)
{
	for (size_t i = 0; i < nr * PAGE; i++)
		number(made, 1, i % 7);
}

/* Two CPUs with a page each, and instance "loom" with a page of CPU 1. */
static void make_v6(struct made *made)
{
	*made = (struct made){ .file = BUF_INIT };
	make_head(made, "6");
	here(made, AT_HEADERS);
	make_headers(made);
	here(made, AT_FTRACE);
	make_ftrace(made);
	here(made, AT_EVENTS);
	make_events(made);
	here(made, AT_KALLSYMS);
	sized(made, 4, "1 T one\n");
	here(made, AT_PRINTK);
	sized(made, 4, "");
	here(made, AT_CMDLINES);
	sized(made, 8, "7 weaver\n");
	here(made, AT_CPUS);
	number(made, 4, 2);
	here(made, AT_OPTIONS);
	bytes(made, "options  ", 10);
	here(made, AT_BUFFER_OPTION);
	number(made, 2, 3);
	number(made, 4, 13);
	number(made, 8, 0);
	name(made, "loom");
	here(made, AT_CPUCOUNT);
	number(made, 2, 8);
	number(made, 4, 4);
	number(made, 4, 2);
	here(made, AT_OPTIONS_END);
	number(made, 2, 0);
	here(made, AT_RING);
	bytes(made, "flyrecord", 10);
	for (int i = 0; i < 4; i++)
		number(made, 8, 0);
	here(made, AT_INSTANCE);
	bytes(made, "flyrecord", 10);
	for (int i = 0; i < 4; i++)
		number(made, 8, 0);
	sized(made, 8, "mono");
	here(made, AT_PAGES);
	make_pages(made, 3);
	put(made, AT_BUFFER_OPTION, 6, 8, made->at[AT_INSTANCE]);
	put(made, AT_RING, 10, 8, made->at[AT_PAGES]);
	put(made, AT_RING, 18, 8, PAGE);
	put(made, AT_RING, 26, 8, made->at[AT_PAGES] + PAGE);
	put(made, AT_RING, 34, 8, PAGE);
	put(made, AT_INSTANCE, 10, 8, made->at[AT_PAGES] + 2 * PAGE);
	put(made, AT_INSTANCE, 26, 8, made->at[AT_PAGES] + 2 * PAGE);
	put(made, AT_INSTANCE, 34, 8, PAGE);
	here(made, AT_SETTINGS);
	number(made, 4, 1);
	number(made, 4, 1);
	number(made, 4, 0);
	name(made, "trace_clock");
	number(made, 8, 8);
	name(made, "[local]\n");
	here(made, AT_END);
	number(made, 8, made->at[AT_SETTINGS]);
	bytes(made, "weft-set", 8);
}

enum { SECTION_HEAD = 16 };

static void begin_section(struct made *made, enum at at, unsigned id)
{
	here(made, at);
	number(made, 2, id);
	number(made, 2, 0);
	number(made, 4, UINT32_MAX);
	number(made, 8, 0);
}

static void end_section(struct made *made, enum at at)
{
	if (at == made->short_at)
		made->file.len = made->at[at] + SECTION_HEAD + made->short_len;
	put(made, at, 8, 8, made->file.len - made->at[at] - SECTION_HEAD);
}

static void region_option(struct made *made, unsigned id, enum at at)
{
	number(made, 2, id);
	number(made, 4, 8);
	number(made, 8, made->at[at]);
}

static void make_options(struct made *made)
{
	begin_section(made, AT_OPTIONS, 0);
	region_option(made, 16, AT_HEADERS);
	region_option(made, 17, AT_FTRACE);
	region_option(made, 18, AT_EVENTS);
	region_option(made, 19, AT_KALLSYMS);
	region_option(made, 20, AT_PRINTK);
	region_option(made, 21, AT_CMDLINES);
	region_option(made, 22, AT_LATENCY);
	here(made, AT_BUFFER_OPTION);
	number(made, 2, 3);
	number(made, 4, 8 + 5 + 6 + 4 + 4 + 2 * 20);
	number(made, 8, made->at[AT_RING]);
	name(made, "loom");
	name(made, "local");
	number(made, 4, PAGE);
	number(made, 4, 2);
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		number(made, 4, cpu);
		number(made, 8, made->at[AT_PAGES] + (size_t)cpu * PAGE);
		number(made, 8, PAGE);
	}
	here(made, AT_OPTIONS_END);
	number(made, 2, 0);
	number(made, 4, 8);
	number(made, 8, 0);
	end_section(made, AT_OPTIONS);
}

static void make_v7_in(struct made *made, enum at short_at, size_t short_len)
{
	made->file = (struct buf)BUF_INIT;
	made->short_at = short_at;
	made->short_len = short_len;
	make_head(made, "7");
	here(made, AT_CODEC);
	name(made, "none");
	name(made, "");
	here(made, AT_FIRST);
	number(made, 8, 0);
	begin_section(made, AT_HEADERS, 16);
	make_headers(made);
	end_section(made, AT_HEADERS);
	begin_section(made, AT_FTRACE, 17);
	make_ftrace(made);
	end_section(made, AT_FTRACE);
	begin_section(made, AT_EVENTS, 18);
	make_events(made);
	end_section(made, AT_EVENTS);
	begin_section(made, AT_KALLSYMS, 19);
	sized(made, 4, "1 T one\n");
	end_section(made, AT_KALLSYMS);
	begin_section(made, AT_PRINTK, 20);
	sized(made, 4, "");
	end_section(made, AT_PRINTK);
	begin_section(made, AT_CMDLINES, 21);
	sized(made, 8, "7 weaver\n");
	end_section(made, AT_CMDLINES);
	begin_section(made, AT_LATENCY, 22);
	bytes(made, "# tracer: wakeup\n", 17);
	end_section(made, AT_LATENCY);
	begin_section(made, AT_RING, 3);
	here(made, AT_PAGES);
	make_pages(made, 2);
	end_section(made, AT_RING);
	begin_section(made, AT_SETTINGS, 0x7766);
	number(made, 4, 1);
	number(made, 4, 1);
	number(made, 4, 0);
	name(made, "trace_clock");
	number(made, 8, 8);
	name(made, "[local]\n");
	end_section(made, AT_SETTINGS);
	make_options(made);
	put(made, AT_FIRST, 0, 8, made->at[AT_OPTIONS]);
	here(made, AT_END);
}

static void make_v7_but(struct made *made, enum at short_at, size_t short_len)
{
	*made = (struct made){ .header_more = 0 };
	make_v7_in(made, short_at, short_len);
}

static void make_v7(struct made *made)
{
	make_v7_but(made, AT_HEAD, 0);
}

static struct trace *open_made(const struct made *made, struct fail *fail)
{
	cleanup_fd int fd = memfd_create("trace", MFD_CLOEXEC);
	struct trace *trace = NULL;

	return fd >= 0 && write(fd, made->file.data, made->file.len) == (ssize_t)made->file.len &&
			       !trace_open_fd(fd, "memory", &trace, fail) ?
		       trace :
		       NULL;
}

static bool has(struct trace *trace, enum trace_meta which, const char *want)
{
	struct trace_text text = { .text = NULL };
	struct fail fail = FAIL_INIT;

	return !trace_meta(trace, which, &text, &fail) && text.text && !strcmp(text.text, want);
}

static void check_whole(struct made *made, size_t buffers, size_t cpus)
{
	struct fail fail = FAIL_INIT;
	struct trace *trace = open_made(made, &fail);
	const struct trace_format *formats;
	size_t nr;

	CHECK_STR(fail.text, "");
	REQUIRE(trace);
	CHECK(!trace_damage(trace));
	CHECK(has(trace, TRACE_KALLSYMS, "1 T one\n") && has(trace, TRACE_CMDLINES, "7 weaver\n") &&
	      has(trace, TRACE_PRINTK, ""));
	formats = trace_formats(trace, &nr);
	REQUIRE(nr == 2);
	CHECK_STR(formats[0].system.text, "ftrace");
	CHECK_STR(formats[0].text.text, "name: a\n");
	CHECK_STR(formats[1].system.text, "sched");
	CHECK_STR(formats[1].text.text, "name: b\n");
	REQUIRE(trace_buffers(trace) == buffers);
	CHECK(trace_buffer(trace, 0)->nr_cpus == cpus);
	CHECK_STR(trace_buffer(trace, buffers - 1)->name.text, "loom");
	CHECK_STR(trace_setting(trace, 0, "trace_clock").text, "[local]\n");
	trace_free(trace);
	buf_release(&made->file);
}

TEST(trace_made_by_hand_is_read_in_both_versions)
{
	struct made made;

	make_v6(&made);
	check_whole(&made, 2, 2);
	make_v7(&made);
	check_whole(&made, 1, 2);
}

/*
 * One change: `size` bytes at a place, or the end of the file there. In what is said, '@' is the place and '$' the size
 * of the file.
 */
struct wrong {
	enum at at;
	int plus;
	size_t size; /* 0: the file ends there */
	uint64_t value;
	const char *want;
};

static void expand(const struct wrong *wrong, const struct made *made, char *into, size_t size)
{
	size_t len = 0;

	*into = '\0';
	for (const char *at = wrong->want; *at && len < size; at++)
		if (*at == '@')
			len += (size_t)snprintf(into + len, size - len, "%zu", made->at[wrong->at]);
		else if (*at == '$')
			len += (size_t)snprintf(into + len, size - len, "%zu", made->file.len);
		else
			len += (size_t)snprintf(into + len, size - len, "%c", *at);
}

/* Opening says it, or what opening found damaged. */
static void check_wrong(struct made *made, const struct wrong *wrong, bool is_damage)
{
	struct fail fail = FAIL_INIT;
	struct trace *trace;
	char want[300];

	if (wrong->size)
		put(made, wrong->at, wrong->plus, wrong->size, wrong->value);
	else
		made->file.len = made->at[wrong->at] + (size_t)wrong->plus;
	expand(wrong, made, want, sizeof(want));
	trace = open_made(made, &fail);
	if (CHECK(!trace == !is_damage)) {
		const char *said = trace ? trace_damage(trace) : fail.text;

		if (!CHECK(said && strstr(said, want)))
			CHECK_STR(said ? said : "", want);
	} else {
		CHECK_STR(fail.text, want);
	}
	trace_free(trace);
	buf_release(&made->file);
}

TEST(trace_of_version_6_that_is_wrong_is_refused_and_says_where)
{
	static const struct wrong rows[] = {
		{ AT_HEAD, 10, 1, '5', "of an unknown version: weft reads 6 and 7 (offset 10)" },
		{ AT_HEAD, 10, 1, '8', "of an unknown version: weft reads 6 and 7 (offset 10)" },
		{ AT_HEAD, 11, 1, '0', "of an unknown version: weft reads 6 and 7 (offset 10)" },
		{ AT_HEAD, 12, 1, 2, "broken header: byte order 2 (offset 12)" },
		{ AT_HEAD, 13, 1, 5, "broken header: words of 5 bytes (offset 13)" },
		{ AT_HEAD, 14, 4, 32, "broken header: pages of 32 bytes (offset 14)" },
		{ AT_HEAD, 14, 4, 96, "broken header: pages of 96 bytes (offset 14)" },
		{ AT_HEAD, 14, 4, 1 << 21, "broken header: pages of 2097152 bytes (offset 14)" },
		{ AT_HEAD, 10, 0, 0, "cut short: it ends inside its header, after 10 bytes" },
		{ AT_HEAD, 17, 0, 0, "cut short: it ends inside its header, after 17 bytes" },
		{ AT_HEADERS, 3, 0, 0, "the headers from offset @ on do not end before the file does, at $" },
		{ AT_HEADERS, 12, 8, UINT64_MAX, "the headers from offset @ on do not end before the file does, at $" },
		{ AT_FTRACE, 3, 0, 0, "the ftrace formats from offset @ on do not end before the file does, at $" },
		{ AT_FTRACE, 0, 4, ALL_TEXTS_MAX + 1, "the ftrace formats from offset @ on do not end" },
		{ AT_FTRACE, 4, 8, 1 << 20, "the ftrace formats from offset @ on do not end" },
		{ AT_EVENTS, 2, 0, 0, "the event formats from offset @ on do not end before the file does, at $" },
		{ AT_EVENTS, 0, 4, ALL_TEXTS_MAX + 1, "the event formats from offset @ on do not end" },
		{ AT_EVENTS, 10, 4, ALL_TEXTS_MAX + 1, "the event formats from offset @ on do not end" },
		{ AT_EVENTS, 7, 0, 0, "the event formats from offset @ on do not end" },
		{ AT_KALLSYMS, 0, 4, 1 << 20, "the kallsyms from offset @ on do not end" },
		{ AT_PRINTK, 0, 4, 1 << 20, "the printk formats from offset @ on do not end" },
		{ AT_CMDLINES, 0, 8, UINT64_MAX - 8, "the command lines from offset @ on do not end" },
		{ AT_CPUS, 3, 0, 0, "cut short: it ends at $, before its pages" },
		{ AT_CPUS, 0, 4, CPUS_MAX + 1, "broken: it claims 16385 CPUs (offset @)" },
		{ AT_OPTIONS, 0, 0, 0, "cut short: it ends at $, before its pages" },
		{ AT_OPTIONS, 0, 1, 'O', "broken at offset @: neither options nor pages are there" },
		{ AT_OPTIONS_END, 0, 0, 0, "cut short or broken: the options end at $" },
		{ AT_BUFFER_OPTION, 2, 4, 1 << 20, "cut short or broken: the options end at " },
		{ AT_RING, 3, 0, 0, "cut short: it ends at $, before its pages" },
		{ AT_RING, 0, 1, 'F', "broken at offset @: neither options nor pages are there" },
		{ AT_RING, 41, 0, 0, "buffer '' claims 2 CPUs (offset " },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct made made;

		make_v6(&made);
		check_wrong(&made, &rows[i], false);
	}
}

TEST(trace_of_version_6_with_a_damaged_part_tells_of_it)
{
	static const struct wrong rows[] = {
		{ AT_INSTANCE, 0, 1, 'F', "damaged at offset @: instance 'loom' has no table of its pages there" },
		{ AT_BUFFER_OPTION, 6, 8, 1 << 20,
		  "damaged at offset 1048576: instance 'loom' has no table of its pages there" },
		{ AT_CPUCOUNT, 6, 4, CPUS_MAX + 1, "buffer 'loom' claims 16385 CPUs (offset " },
		{ AT_CPUCOUNT, 6, 4, 1000, "buffer 'loom' claims 1000 CPUs (offset " },
		{ AT_RING, 18, 8, PAGE + 1, "the pages of 1 CPU overlap the pages of another CPU, and are left out" },
		{ AT_RING, 26, 8, 1 << 20, "damaged at offset 1048576: the pages of CPU 1 end after 0 of 64 bytes" },
		{ AT_INSTANCE, 34, 8, 1 << 20, "the pages of CPU 1 of instance loom end after " },
		{ AT_HEADERS, 0, 1, 'H',
		  "damaged at offset @: the page header's description: no header_page is there" },
		{ AT_HEADER_EVENT, 0, 1, 'H', "the page header's description: no header_event is there" },
		{ AT_SETTINGS, 0, 4, 2, "damaged at offset @: the settings: they are of version 2, weft knows 1" },
		{ AT_SETTINGS, 4, 4, (1 << 17) + 1, "damaged at offset @: the settings: there are 131073 of them" },
		{ AT_SETTINGS, 4, 4, 2, "damaged at offset @: the settings: they are cut after 1 of them" },
		{ AT_SETTINGS, 24, 8, 9, "damaged at offset @: the settings: they are cut after 0 of them" },
		{ AT_SETTINGS, 24, 8, 7, "damaged at offset @: the settings: they are cut after 0 of them" },
		{ AT_END, 0, 8, 1 << 20, "damaged at offset @: the settings should be at 1048576" },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct made made;

		make_v6(&made);
		check_wrong(&made, &rows[i], true);
	}
}

TEST(trace_of_version_7_that_is_wrong_is_refused_and_says_where)
{
	static const struct wrong rows[] = {
		{ AT_CODEC, 3, 0, 0, "broken header: no end of the codec's name (offset @)" },
		{ AT_CODEC, 5, 0, 0, "broken header: no end of the codec's name (offset @)" },
		{ AT_CODEC, 0, 1, 'l', "compressed with 'lone' (offset @); weft reads zstd and none" },
		{ AT_FIRST, 7, 0, 0, "cut short: it ends inside its header, after $ bytes" },
		{ AT_FIRST, 0, 8, 0, "never finished: its header points to no options (offset @)" },
		{ AT_FIRST, 0, 8, 1 << 20,
		  "cut short: its options should be at 1048576 (offset @), but the file ends at $" },
		{ AT_OPTIONS, 15, 0, 0, "cut short: its options should be at @ (offset " },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct made made;

		make_v7(&made);
		check_wrong(&made, &rows[i], false);
	}
}

TEST(trace_of_version_7_with_a_damaged_part_tells_of_it)
{
	static const struct wrong rows[] = {
		{ AT_OPTIONS, 0, 2, 1,
		  "damaged at offset @: options: an option points to it as options but its id is 1" },
		{ AT_OPTIONS, SECTION_HEAD, 0, 0, "damaged at offset @: the options end without their last one" },
		{ AT_OPTIONS_END, 0, 0, 0, "the options end without their last one" },
		{ AT_OPTIONS_END, 5, 0, 0, "the options end without their last one" },
		{ AT_OPTIONS_END, 2, 4, 9, "the options end without their last one" },
		{ AT_OPTIONS_END, 6, 8, 1 << 20,
		  "damaged at offset 1048576: the file ends at $, before these options" },
		{ AT_HEADERS, 0, 2, 15,
		  "damaged at offset @: headers: an option points to it as headers but its id is 15" },
		{ AT_EVENTS, 0, 2, 17,
		  "damaged at offset @: event formats: an option points to it as event formats but its id is 17" },
		{ AT_RING, 0, 2, 15,
		  "damaged at offset @: buffer 'loom': an option points to it as buffer but its id is 15" },
		{ AT_BUFFER_OPTION, 6, 8, 1 << 20,
		  "buffer 'loom': no section fits at offset 1048576: the file ends at $" },
		{ AT_BUFFER_OPTION, 25, 4, 96, "buffer 'loom': its pages have 96 bytes" },
		{ AT_BUFFER_OPTION, 29, 4, 3, "the list of CPUs of buffer 'loom' is cut" },
		{ AT_BUFFER_OPTION, 33, 4, CPUS_MAX, "there is no place for pages of a CPU 16384" },
		{ AT_FTRACE, SECTION_HEAD, 4, 2,
		  "the ftrace formats: a format of system 'ftrace' is larger than what remains" },
		{ AT_FTRACE, SECTION_HEAD + 4, 8, 9,
		  "the ftrace formats: a format of system 'ftrace' is larger than what remains" },
		{ AT_EVENTS, SECTION_HEAD, 4, 2, "the event formats: they end inside the name of a system" },
		{ AT_EVENTS, SECTION_HEAD + 10, 4, 2,
		  "the event formats: a format of system 'sched' is larger than what remains" },
		{ AT_EVENTS, SECTION_HEAD + 14, 8, 9,
		  "the event formats: a format of system 'sched' is larger than what remains" },
		{ AT_HEADERS, SECTION_HEAD, 1, 'H', "the page header's description: no header_page is there" },
		{ AT_HEADER_EVENT, 0, 1, 'H', "the page header's description: no header_event is there" },
		{ AT_HEADERS, 2, 2, 1, "the page header's description: " },
		{ AT_SETTINGS, SECTION_HEAD, 4, 2, "the settings: they are of version 2, weft knows 1" },
		{ AT_SETTINGS, SECTION_HEAD + 4, 4, 2, "the settings: they are cut after 1 of them" },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct made made;

		make_v7(&made);
		check_wrong(&made, &rows[i], true);
	}
}

TEST(trace_of_version_7_with_a_short_section_tells_of_it)
{
	static const struct {
		enum at at;
		size_t len;
		const char *want;
	} rows[] = {
		{ AT_HEADERS, 19, "the page header's description: no header_page is there" },
		{ AT_HEADERS, 0, "the page header's description: no header_page is there" },
		{ AT_FTRACE, 3, "the ftrace formats: they are empty" },
		{ AT_FTRACE, 11, "the ftrace formats: a format of system 'ftrace' is larger than what remains" },
		{ AT_FTRACE, 19, "the ftrace formats: a format of system 'ftrace' is larger than what remains" },
		{ AT_EVENTS, 3, "the event formats: they are empty" },
		{ AT_EVENTS, 9, "the event formats: they end inside the name of a system" },
		{ AT_EVENTS, 13, "the event formats: they end inside the name of a system" },
		{ AT_EVENTS, 21, "the event formats: a format of system 'sched' is larger than what remains" },
		{ AT_SETTINGS, 7, "the settings: they have no head" },
		{ AT_SETTINGS, 11, "the settings: they are cut after 0 of them" },
		{ AT_SETTINGS, 15, "the settings: they are cut after 0 of them" },
		{ AT_SETTINGS, 31, "the settings: they are cut after 0 of them" },
		{ AT_SETTINGS, 40, "the settings: they are cut after 0 of them" },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct fail fail = FAIL_INIT;
		struct trace *trace;
		struct made made;

		make_v7_but(&made, rows[i].at, rows[i].len);
		trace = open_made(&made, &fail);
		if (CHECK(trace) && !CHECK(trace_damage(trace) && strstr(trace_damage(trace), rows[i].want)))
			CHECK_STR(trace_damage(trace) ? trace_damage(trace) : "", rows[i].want);
		trace_free(trace);
		buf_release(&made.file);
	}
}

/* A text that is read when somebody asks for it: the file is whole until then. */
TEST(trace_text_that_is_larger_than_its_section_is_an_error_of_who_asks)
{
	static const struct {
		enum at at;
		size_t size;
		uint64_t claimed;
		enum trace_meta which;
		const char *what;
	} rows[] = {
		{ AT_KALLSYMS, 4, 9, TRACE_KALLSYMS, "kallsyms" },
		{ AT_KALLSYMS, 4, UINT32_MAX, TRACE_KALLSYMS, "kallsyms" },
		{ AT_PRINTK, 4, 1, TRACE_PRINTK, "printk formats" },
		{ AT_CMDLINES, 8, 10, TRACE_CMDLINES, "command lines" },
		{ AT_CMDLINES, 8, UINT64_MAX, TRACE_CMDLINES, "command lines" },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct trace_text text = { .text = NULL };
		struct fail fail = FAIL_INIT;
		struct trace *trace;
		struct made made;
		char want[200];

		make_v7(&made);
		put(&made, rows[i].at, SECTION_HEAD, rows[i].size, rows[i].claimed);
		snprintf(want, sizeof(want), "'memory': %s at offset %zu: the text is larger than its section",
			 rows[i].what, made.at[rows[i].at] + SECTION_HEAD);
		trace = open_made(&made, &fail);
		if (CHECK(trace)) {
			CHECK(!trace_damage(trace));
			CHECK(trace_meta(trace, rows[i].which, &text, &fail) == -EBADMSG && !text.text);
			CHECK_STR(fail.text, want);
		}
		trace_free(trace);
		buf_release(&made.file);
	}
}

/* Each buffer is an option of 14 bytes, in version 7 of 27. */
TEST(trace_with_more_buffers_than_any_kernel_has_is_refused)
{
	for (unsigned version = 6; version <= 7; version++)
		for (unsigned more = 0; more < 2; more++) {
			struct made made = { .file = BUF_INIT };
			struct fail fail = FAIL_INIT;
			struct trace *trace;

			if (version == 6)
				make_v6(&made);
			else
				make_v7(&made);
			made.file.len = version == 6 ? made.at[AT_OPTIONS_END] : made.at[AT_BUFFER_OPTION];
			for (unsigned i = version == 6; i < BUFFERS_MAX + more - (version == 6 && !more); i++) {
				number(&made, 2, 3);
				number(&made, 4, version == 6 ? 9 : 8 + 1 + 1 + 4 + 4);
				number(&made, 8, version == 6 ? 0 : made.at[AT_RING]);
				number(&made, version == 6 ? 1 : 2, 0);
				if (version == 7)
					number(&made, 8, PAGE);
			}
			number(&made, 2, 0);
			if (version == 7) {
				number(&made, 4, 8);
				number(&made, 8, 0);
				end_section(&made, AT_OPTIONS);
			} else {
				bytes(&made, "flyrecord", 10);
				for (int i = 0; i < 4; i++)
					number(&made, 8, 0);
			}
			trace = open_made(&made, &fail);
			CHECK(!trace == (more || fail.text[0]));
			if (more)
				CHECK(strstr(fail.text, "broken: it has more than 1024 buffers"));
			else
				CHECK_STR(fail.text, "");
			trace_free(trace);
			buf_release(&made.file);
		}
}

/* The options of one section say where the next one is. */
TEST(trace_options_that_lead_back_are_a_loop)
{
	struct fail fail = FAIL_INIT;
	struct trace *trace;
	struct made made;
	char want[100];

	make_v7(&made);
	put(&made, AT_OPTIONS_END, 6, 8, made.at[AT_OPTIONS]);
	snprintf(want, sizeof(want), "damaged at offset %zu: the chain of options is a loop", made.at[AT_OPTIONS]);
	trace = open_made(&made, &fail);
	REQUIRE(trace);
	CHECK(strstr(trace_damage(trace), want));
	trace_free(trace);
	buf_release(&made.file);
}

/* Pages belong to the buffer that is first in the file. */
TEST(trace_pages_of_two_buffers_at_one_place_are_those_of_the_first)
{
	struct fail fail = FAIL_INIT;
	struct trace_pages pages;
	struct trace *trace;
	struct made made;

	make_v6(&made);
	put(&made, AT_INSTANCE, 26, 8, made.at[AT_PAGES]);
	trace = open_made(&made, &fail);
	REQUIRE(trace);
	CHECK(strstr(trace_damage(trace), "the pages of 1 CPU overlap the pages of another CPU, and are left out"));
	CHECK(trace_buffer(trace, 0)->nr_cpus == 2 && !trace_buffer(trace, 1)->nr_cpus);
	CHECK(!trace_pages_init(&pages, trace, 0, 0, &fail) && pages.next == made.at[AT_PAGES]);
	trace_free(trace);
	buf_release(&made.file);
}

/* The options of a file are as many sections as a writer makes; a file of strangers may have any number. */
TEST(trace_with_more_sections_of_options_than_any_writer_makes_tells_of_it)
{
	enum { SECTIONS_MAX = 4096 };

	for (unsigned more = 0; more < 2; more++) {
		struct fail fail = FAIL_INIT;
		struct trace *trace;
		struct made made;
		size_t at = 0;

		make_v7(&made);
		put(&made, AT_OPTIONS_END, 6, 8, made.file.len);
		for (unsigned i = 1; i < SECTIONS_MAX + more; i++) {
			at = made.file.len;
			number(&made, 2, 0);
			number(&made, 2, 0);
			number(&made, 4, UINT32_MAX);
			number(&made, 8, 14);
			number(&made, 2, 0);
			number(&made, 4, 8);
			number(&made, 8, i + 1 < SECTIONS_MAX + more ? at + SECTION_HEAD + 14 : 0);
		}
		trace = open_made(&made, &fail);
		if (CHECK(trace)) {
			CHECK(!trace_damage(trace) == !more);
			if (more)
				CHECK(strstr(trace_damage(trace), "there are more than 4096 options sections"));
			CHECK(trace_buffers(trace) == 1);
		}
		trace_free(trace);
		buf_release(&made.file);
	}
}

/*
 * What the options say, in both versions. Those that are too short say nothing. A writer whose option names more CPUs
 * than the file leaves one more place behind those of the CPUs.
 */
TEST(trace_options_say_what_no_section_has_room_for)
{
	for (unsigned version = 6; version <= 7; version++) {
		struct fail fail = FAIL_INIT;
		const struct trace_info *info;
		struct trace *trace;
		struct made made;

		if (version == 6)
			make_v6(&made);
		else
			make_v7(&made);
		if (version == 7) {
			/* The name of its clock has no byte: 6 bytes less. */
			made.file.len = made.at[AT_BUFFER_OPTION] + 19;
			put(&made, AT_BUFFER_OPTION, 2, 4, 8 + 5 + 1 + 4 + 4 + 20);
			number(&made, 1, 0);
			number(&made, 4, PAGE);
			number(&made, 4, 1);
			number(&made, 4, 0);
			number(&made, 8, made.at[AT_PAGES]);
			number(&made, 8, PAGE);
			here(&made, AT_OPTIONS_END);
		}
		made.file.len = made.at[version == 6 ? AT_BUFFER_OPTION : AT_OPTIONS_END];
		number(&made, 2, 1); /* the date, in us, in hexadecimal */
		sized(&made, 4, "0x10");
		number(&made, 2, 4); /* the clock of buffers that name none */
		sized(&made, 4, "mono");
		number(&made, 2, 5);
		sized(&made, 4, "Linux loom");
		number(&made, 2, 7);
		sized(&made, 4, "-12");
		number(&made, 2, 8);
		number(&made, 4, 4);
		number(&made, 4, 5);
		number(&made, 2, 9);
		sized(&made, 4, "made");
		number(&made, 2, 11);
		number(&made, 4, 8);
		number(&made, 8, 0x1122334455667788);
		number(&made, 2, 14);
		number(&made, 4, 16);
		number(&made, 4, 77);
		number(&made, 4, 63);
		number(&made, 8, 99);
		/* Too short, or of no kind that is known. */
		number(&made, 2, 8);
		number(&made, 4, 3);
		number(&made, 3, 0);
		number(&made, 2, 11);
		number(&made, 4, 4);
		number(&made, 4, 1);
		number(&made, 2, 1);
		number(&made, 4, 0);
		number(&made, 2, 99);
		sized(&made, 4, "nobody");
		number(&made, 2, 0);
		if (version == 7) {
			number(&made, 4, 8);
			number(&made, 8, 0);
			end_section(&made, AT_OPTIONS);
		} else {
			bytes(&made, "flyrecord", 10);
			for (int i = 0; i < 6; i++)
				number(&made, 8, 0);
			sized(&made, 8, "mono");
		}
		trace = open_made(&made, &fail);
		CHECK_STR(fail.text, "");
		REQUIRE(trace);
		info = trace_info(trace);
		CHECK(!trace_damage(trace) && trace_buffers(trace) == 1);
		CHECK(info->has_date && info->date_offset_ns == 16000 && info->ts_offset == -12);
		CHECK(info->cpu_count == 5 && info->trace_id == 0x1122334455667788);
		CHECK(info->has_tsc2nsec && info->tsc_mult == 77 && info->tsc_shift == 63 && info->tsc_offset == 99);
		CHECK(has(trace, TRACE_UNAME, "Linux loom") && has(trace, TRACE_VERSION, "made"));
		CHECK_STR(trace_buffer(trace, 0)->clock.text, "mono");
		trace_free(trace);
		buf_release(&made.file);
	}
}

/* Reads beyond what a buffer has are mistakes of the caller, and say so. */
TEST(trace_pages_beyond_the_last_are_refused)
{
	struct fail fail = FAIL_INIT;
	struct trace_pages pages;
	uint8_t data[2 * PAGE];
	struct trace *trace;
	struct made made;
	size_t size;

	make_v7(&made);
	trace = open_made(&made, &fail);
	REQUIRE(trace);
	CHECK(trace_pages_init(&pages, trace, 1, 0, &fail) == -EINVAL &&
	      strstr(fail.text, "'memory' has no such buffer or CPU"));
	CHECK(trace_pages_init(&pages, trace, 0, 2, &fail) == -EINVAL &&
	      strstr(fail.text, "'memory' has no such buffer or CPU"));
	REQUIRE(!trace_pages_init(&pages, trace, 0, 1, &fail));
	CHECK(trace_pages_read(&pages, NULL, NULL, data, PAGE + 1, &fail) == -EINVAL &&
	      !strcmp(fail.text, "there are no 65 bytes of pages left"));
	CHECK(trace_pages_peek(&pages, NULL, NULL, data, PAGE + 1, &fail) == -EBADMSG &&
	      !strcmp(fail.text, "there are no 65 bytes of pages left"));
	CHECK(trace_pages_skip(&pages, PAGE + 1, &fail) == -EINVAL &&
	      !strcmp(fail.text, "there are no 65 bytes of pages left"));
	CHECK(trace_pages_size(&pages, PAGE, &size, &fail) == 1 && size == PAGE);
	CHECK(trace_pages_packed(&pages, PAGE) == PAGE);
	CHECK(!trace_pages_skip(&pages, PAGE, &fail) && trace_pages_size(&pages, PAGE, &size, &fail) == 0);
	CHECK(trace_pages_packed(&pages, PAGE) == 0);
	trace_free(trace);
	buf_release(&made.file);
}

/* A section whose bytes are said to be compressed: u32 size in the file, u32 size, and a frame. */
TEST(trace_text_that_claims_more_than_a_frame_can_hold_is_refused)
{
	enum { PACKED = SECTION_HEAD, SIZE = SECTION_HEAD + 4, FRAME = SECTION_HEAD + 8 };
	static const struct {
		enum at at;
		size_t len;
		uint32_t packed, size;
		enum trace_meta which;
		int plus; /* of the place that is named */
		const char *want;
	} rows[] = {
		{ AT_KALLSYMS, 7, 0, 0, TRACE_KALLSYMS, PACKED, "ends inside the head of a compressed block at @" },
		{ AT_KALLSYMS, 12, 5, 4, TRACE_KALLSYMS, PACKED, "the block at @ claims 5 bytes, 4 remain" },
		/* A block of zstd takes 4 bytes at least, and holds 128 KiB at most. */
		{ AT_KALLSYMS, 12, 4, 256 << 10, TRACE_KALLSYMS, PACKED, "the block at @ claims 262144 bytes in 4" },
		/* A text is not 1,024 times as large as its frame, but for short ones. */
		{ AT_CMDLINES, 17, 9, 128 << 10, TRACE_CMDLINES, PACKED, "the block at @ claims 131072 bytes in 9" },
		{ AT_CMDLINES, 17, 9, 64 << 10, TRACE_CMDLINES, PACKED, "the zstd frame is broken: " },
		{ AT_CMDLINES, 17, 9, 10 << 10, TRACE_CMDLINES, PACKED, "the zstd frame is broken: " },
		{ AT_KALLSYMS, 12, 4, (64 << 20) + 1, TRACE_KALLSYMS, PACKED,
		  "the block at @ claims 67108865 bytes in 4" },
		{ AT_LATENCY, 3, 0, 0, TRACE_LATENCY, PACKED, "is too short for the number of its chunks" },
		{ AT_LATENCY, 11, 1, 0, TRACE_LATENCY, SIZE, "ends inside the head of a compressed block at @" },
		{ AT_LATENCY, 17, 1, 6, TRACE_LATENCY, SIZE, "the block at @ claims 6 bytes, 5 remain" },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct trace_text text = { .text = NULL };
		struct fail fail = FAIL_INIT;
		struct trace *trace;
		struct made made;
		char want[200];

		make_v7_but(&made, rows[i].at, rows[i].len);
		put(&made, rows[i].at, 2, 2, 1);
		if (rows[i].packed)
			put(&made, rows[i].at, PACKED, 4, rows[i].packed);
		if (rows[i].size)
			put(&made, rows[i].at, SIZE, 4, rows[i].size);
		made.at[rows[i].at] += (size_t)rows[i].plus;
		expand(&(struct wrong){ .at = rows[i].at, .want = rows[i].want }, &made, want, sizeof(want));
		trace = open_made(&made, &fail);
		if (CHECK(trace)) {
			CHECK(trace_meta(trace, rows[i].which, &text, &fail) == -EBADMSG && !text.text);
			if (!CHECK(strstr(fail.text, want)))
				CHECK_STR(fail.text, want);
		}
		trace_free(trace);
		buf_release(&made.file);
	}
}

/* The pages of a compressed buffer: u32 chunks, and for each u32 size in the file, u32 size, and a frame. */
TEST(trace_chunk_that_claims_more_than_a_frame_can_hold_is_refused)
{
	static const struct {
		uint32_t size, packed, raw; /* of the CPU's pages, of the chunk in the file, and of its pages */
		int r;                      /* of trace_pages_size() */
		const char *want;           /* '@' is the place of the chunk */
	} rows[] = {
		{ 3, 0, 0, 0, "the pages of CPU 0: are too short for the number of their chunks at offset " },
		{ 4, 56, PAGE, -EBADMSG,
		  "the pages of CPU 0: 1 chunks more should be at offset @, of which 4 bytes are there" },
		{ 64, 57, PAGE, -EBADMSG,
		  "the pages of CPU 0: 1 chunks more should be at offset @, of which 64 bytes are there" },
		{ 64, 56, 0, -EBADMSG, "the pages of CPU 0: the chunk at offset @ claims 0 bytes in 56" },
		{ 64, 56, (16 << 20) + 1, -EBADMSG,
		  "the pages of CPU 0: the chunk at offset @ claims 16777217 bytes in 56" },
		{ 64, 28, 1 << 20, -EBADMSG, "the pages of CPU 0: the chunk at offset @ claims 1048576 bytes in 28" },
		{ 64, 32, 1 << 20, -EBADMSG,
		  "claims 1048576 bytes in 32, more than recordings have; --trust-size reads it" },
		/* A ratio of 16,384 occurs, and so do 4 bytes for a page. */
		{ 64, 56, 56 * 16384 + 16383, 1, NULL },
		{ 64, 56, 57 * 16384, -EBADMSG, "more than recordings have; --trust-size reads it" },
		{ 64, 4, PAGE, 1, NULL },
		{ 64, 56, PAGE, 1, NULL },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct fail fail = FAIL_INIT;
		struct trace_pages pages;
		struct trace *trace;
		struct made made;
		size_t size = 0;
		char want[200];

		make_v7(&made);
		put(&made, AT_RING, 2, 2, 1);
		put(&made, AT_BUFFER_OPTION, 45, 8, rows[i].size);
		put(&made, AT_PAGES, 0, 4, 1);
		put(&made, AT_PAGES, 4, 4, rows[i].packed);
		put(&made, AT_PAGES, 8, 4, rows[i].raw);
		made.at[AT_PAGES] += 4;
		trace = open_made(&made, &fail);
		REQUIRE(trace);
		expand(&(struct wrong){ .at = AT_PAGES, .want = rows[i].want ? rows[i].want : "" }, &made, want,
		       sizeof(want));
		if (!rows[i].r) {
			CHECK(trace_pages_init(&pages, trace, 0, 0, &fail) == -EBADMSG && pages.next == pages.end);
		} else {
			CHECK(!trace_pages_init(&pages, trace, 0, 0, &fail));
			CHECK(trace_pages_size(&pages, PAGE, &size, &fail) == rows[i].r);
			CHECK(size == (rows[i].r > 0 ? rows[i].raw : 0));
		}
		if (!CHECK(strstr(fail.text, want)))
			CHECK_STR(fail.text, want);
		if (strstr(want, "--trust-size")) {
			trace_trust_sizes(trace);
			CHECK(trace_trusted(trace) && trace_pages_size(&pages, PAGE, &size, &fail) == 1 &&
			      size == rows[i].raw);
		}
		trace_free(trace);
		buf_release(&made.file);
	}
}

struct findings {
	char text[400];
	size_t nr;
};

static void note(void *arg, uint64_t offset, const char *text)
{
	struct findings *findings = arg;
	size_t len = strlen(findings->text);

	snprintf(findings->text + len, sizeof(findings->text) - len, "%llu: %s|", (unsigned long long)offset, text);
	findings->nr++;
}

/* What opening does not need: a change is told with its place, and nothing else is. */
TEST(trace_check_tells_of_what_opening_does_not_look_at)
{
	static const struct {
		unsigned version;
		struct wrong wrong;
	} rows[] = {
		{ 6, { AT_HEAD, 0, 1, 027, "" } },
		{ 7, { AT_HEAD, 0, 1, 027, "" } },
		{ 6, { AT_END, 0, 8, 24, "24: the settings overlap what comes before them|" } },
		{ 7, { AT_LATENCY, 2, 2, 1, ": latency text: the block at " } },
		{ 7, { AT_SETTINGS, 0, 4, 23 | 1 << 16, "@: BTF: the zstd frame is broken: " } },
		{ 7, { AT_SETTINGS, 0, 4, 25 | 1 << 16, "@: modules: the zstd frame is broken: " } },
		{ 7, { AT_SETTINGS, 0, 4, 99 | 1 << 16, "@: section of id 99: the zstd frame is broken: " } },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct findings findings = { .nr = 0 };
		const struct wrong *wrong = &rows[i].wrong;
		struct check_summary summary;
		struct fail fail = FAIL_INIT;
		struct trace *trace;
		struct made made;
		char want[200];

		if (rows[i].version == 6)
			make_v6(&made);
		else
			make_v7(&made);
		put(&made, wrong->at, wrong->plus, wrong->size, wrong->value);
		expand(wrong, &made, want, sizeof(want));
		trace = open_made(&made, &fail);
		REQUIRE(trace);
		CHECK(!trace_check(trace, note, &findings, &summary, &fail));
		CHECK(!findings.nr == !*want);
		if (!CHECK(*want ? !!strstr(findings.text, want) : !findings.nr))
			CHECK_STR(findings.text, want);
		CHECK(summary.pages == (rows[i].version == 6 ? 3 : 2) * PAGE && !summary.chunks);
		trace_free(trace);
		buf_release(&made.file);
	}
}

TEST(trace_check_counts_bytes_that_belong_to_nothing)
{
	for (size_t more = 0; more < 16; more++) {
		struct findings findings = { .nr = 0 };
		struct check_summary summary;
		struct fail fail = FAIL_INIT;
		struct trace *trace;
		struct made made;
		char want[100] = "";

		make_v7(&made);
		if (more)
			snprintf(want, sizeof(want), "%zu: %zu bytes at the end of the file belong to no section|",
				 made.file.len, more);
		bytes(&made, "0123456789abcdef", more);
		trace = open_made(&made, &fail);
		REQUIRE(trace);
		CHECK(!trace_damage(trace) && !trace_check(trace, note, &findings, &summary, &fail));
		CHECK_STR(findings.text, want);
		trace_free(trace);
		buf_release(&made.file);
	}
}

static void add_stat(struct made *made, unsigned cpu, unsigned entries, unsigned read)
{
	char text[100];
	int len = snprintf(text, sizeof(text), "CPU: %u\nentries: %u\nread events: %u\n", cpu, entries, read);

	number(made, 2, 2);
	number(made, 4, (uint64_t)len + 1);
	bytes(made, text, (size_t)len + 1);
}

static void align(struct made *made)
{
	while (made->file.len % PAGE)
		number(made, 1, 0);
}

/* A chunk's head, and bytes that need not be a frame: they are found by their size. */
static void add_chunk(struct made *made, uint32_t packed)
{
	number(made, 4, packed);
	number(made, 4, 2 * PAGE);
	for (uint32_t i = 0; i < packed; i++)
		number(made, 1, 7);
}

/*
 * A recorder that was killed has written chunks, but not which CPU has them: the options that say it are missing. Each
 * CPU begins at a multiple of the page size, wherever the section lies.
 */
TEST(trace_finds_the_chunks_of_each_cpu_without_their_table)
{
	for (size_t lead = 0; lead < PAGE; lead += 7)
		for (size_t cut = 0; cut < 3; cut++) {
			struct made made = { .file = BUF_INIT };
			const struct trace_buffer *buffer;
			struct fail fail = FAIL_INIT;
			struct trace *trace;
			uint64_t first, first_end, second, second_end;

			make_head(&made, "7");
			name(&made, "zstd");
			name(&made, "1.5");
			here(&made, AT_FIRST);
			number(&made, 8, made.file.len + 8);
			begin_section(&made, AT_OPTIONS, 0);
			add_stat(&made, 2, 5, 0);
			add_stat(&made, 3, 0, 0);
			if (cut < 2)
				add_stat(&made, 9, 0, 4);
			number(&made, 2, 0);
			number(&made, 4, 8);
			number(&made, 8, 1 << 20);
			end_section(&made, AT_OPTIONS);
			begin_section(&made, AT_KALLSYMS, 15);
			for (size_t i = 0; i < lead; i++)
				number(&made, 1, 0);
			end_section(&made, AT_KALLSYMS);
			begin_section(&made, AT_RING, 3);
			put(&made, AT_RING, 2, 2, 1);
			align(&made);
			first = made.file.len;
			number(&made, 4, 2);
			add_chunk(&made, 60);
			add_chunk(&made, 9);
			first_end = made.file.len;
			align(&made);
			/* A page of nothing lies in between. */
			for (int i = 0; i < PAGE; i++)
				number(&made, 1, 0);
			second = made.file.len;
			number(&made, 4, 1);
			add_chunk(&made, 44);
			second_end = made.file.len;
			if (cut == 1)
				made.file.len--;
			trace = open_made(&made, &fail);
			REQUIRE(trace);
			REQUIRE(trace_buffers(trace) == 1);
			buffer = trace_buffer(trace, 0);
			CHECK(buffer->compressed && buffer->page_size == PAGE && buffer->nr_cpus == 2);
			CHECK(buffer->cpus[0].cpu == (cut < 2 ? 2 : 0) && buffer->cpus[1].cpu == (cut < 2 ? 9 : 1));
			CHECK(buffer->cpus[0].offset == first && buffer->cpus[0].size == first_end - first);
			CHECK(buffer->cpus[1].offset == second &&
			      buffer->cpus[1].size == second_end - second - (cut == 1));
			CHECK(strstr(trace_damage(trace),
				     "before the table that says which CPU each page belongs to; pages of 2 CPUs "
				     "were found"));
			CHECK(!strstr(trace_damage(trace), ", whose numbers are a guess") == (cut < 2));
			trace_free(trace);
			buf_release(&made.file);
		}
}

/* The description of a page has about 500 bytes, and a kernel has at most 2^16 types of events. */
TEST(trace_metadata_is_bounded_in_bytes_and_formats)
{
	static const struct {
		size_t header_len, formats;
		const char *want; /* "": it is read */
	} rows[] = {
		{ 1 << 20, 2, "" },
		{ (1 << 20) + 1, 2,
		  "the page header's description: claims 1048577 bytes, more than the 1048576 that weft reads" },
		{ 0, 1 << 16, "" },
		{ 0, (1 << 16) + 1, "the event formats: there are more than 65536 event formats" },
		{ 0, (1 << 16) + 2, "the ftrace formats: there are more than 65536 event formats" },
	};
	struct made usual;
	size_t header_len;

	make_v7(&usual);
	header_len = usual.at[AT_FTRACE] - usual.at[AT_HEADERS] - SECTION_HEAD;
	buf_release(&usual.file);
	for (size_t i = 0; i < array_size(rows); i++) {
		struct made made = { .header_more = rows[i].header_len ? rows[i].header_len - header_len : 0,
				     .formats_more = rows[i].formats - 2 };
		struct fail fail = FAIL_INIT;
		struct trace *trace;
		const char *damage;
		size_t nr;

		make_v7_in(&made, AT_HEAD, 0);
		trace = open_made(&made, &fail);
		REQUIRE(trace);
		damage = trace_damage(trace);
		if (!CHECK(*rows[i].want ? damage && strstr(damage, rows[i].want) : !damage))
			CHECK_STR(damage ? damage : "", rows[i].want);
		trace_formats(trace, &nr);
		CHECK(nr == (rows[i].formats < 1 << 16 ? rows[i].formats : 1 << 16));
		trace_free(trace);
		buf_release(&made.file);
	}
}
