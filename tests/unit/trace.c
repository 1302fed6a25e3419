// SPDX-License-Identifier: GPL-2.0-only
#include "lib/pages/trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/trace/carried.h"
#include "lib/pages/trace/check.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/part.h"
#include "lib/pages/trace/writer.h"
#include "tests/unit/test.h"

/* Files are written to memory and read back; tests/peers checks them with other programs. */
enum { PAGE = 256, PAGES = 23 };

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:12;\tsize:244;\tsigned:1;\n";

static const struct writer_options plain7 = { .version = 7, .long_size = 4, .page_size = PAGE };
static const struct writer_options zstd7 = { .version = 7, .long_size = 4, .page_size = PAGE, .compress = true };
static const struct writer_options plain6 = { .version = 6, .long_size = 4, .page_size = PAGE };

/* Fills pages with bytes that depend on their offset and CPU. */
static void fill(uint8_t *pages, size_t len, uint32_t cpu)
{
	for (size_t i = 0; i < len; i++)
		pages[i] = (uint8_t)(i / PAGE * 7 + i % 13 + cpu);
}

static int write_cpu(struct writer *writer, struct part *part, uint32_t cpu, struct fail *fail)
{
	uint8_t pages[PAGES * PAGE];
	int r;

	fill(pages, sizeof(pages), cpu);
	r = part_add(part, pages, sizeof(pages), PAGE, fail);
	return r ? r : part_write(part, writer, cpu, fail);
}

/* CPUs 0 and 3, and instance "loom" of CPU 1. */
static int write_buffers(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	int r = writer_buffer(writer, "", "local", PAGE, fail);

	(void)arg;
	r = r ? r : write_cpu(writer, part, 0, fail);
	r = r ? r : write_cpu(writer, part, 3, fail);
	r = r ? r : writer_buffer(writer, "loom", "mono", PAGE, fail);
	return r ? r : write_cpu(writer, part, 1, fail);
}

static int write_file(int fd, const struct writer_options *options, struct fail *fail)
{
	struct writer_format formats[] = {
		{ "sched", "name: a\n", 8 },
		{ "ftrace", "name: b\n", 8 },
		{ "sched", "name: c\n", 8 },
		{ "irq", "name: d\n", 8 },
	};
	struct writer_setting settings[] = { { 0, "trace_clock", "[local]\n", 8 }, { 1, "empty", "", 0 } };
	const char *const cpustats[] = { "CPU: 0\nentries: 3\n", "CPU: 3\nentries: 4\n" };
	const struct writer_metadata metadata = {
		.header_page = header_page,
		.header_event = "event",
		.formats = formats,
		.nr_formats = array_size(formats),
		.kallsyms = "1 T one\n",
		.kallsyms_len = 8,
		.cmdlines = "7 weaver\n",
		.cmdlines_len = 9,
		.uname = "Linux loom",
		.version = "weft",
		.clock = "[local] global",
		.cpustats = cpustats,
		.nr_cpustats = 2,
		.cpu_count = 4,
		.trace_id = 0x123456789abcdef0,
		.latency = "# latency\n",
		.latency_len = 10,
		.settings = settings,
		.nr_settings = 2,
		.ts_offset = -5,
		.has_ts_offset = true,
		.has_tsc2nsec = true,
		.tsc_mult = 3,
		.tsc_shift = 2,
	};
	uint64_t size;

	return made_file_write(fd, options, &metadata, write_buffers, NULL, &size, fail);
}

static int make_file(const struct writer_options *options, struct fail *fail)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	return fd >= 0 && !write_file(fd, options, fail) ? fd : -1;
}

static bool same_text(struct trace_text text, const char *want)
{
	return text.text && text.len == strlen(want) && !strcmp(text.text, want);
}

static bool meta_is(struct trace *trace, enum trace_meta which, const char *want)
{
	struct fail fail = FAIL_INIT;
	struct trace_text text;

	return !trace_meta(trace, which, &text, &fail) && same_text(text, want);
}

static bool pages_are(struct trace *trace, size_t buffer, size_t index, uint32_t cpu)
{
	uint8_t want[PAGES * PAGE], got[PAGES * PAGE];
	cleanup_buf struct buf scratch = BUF_INIT;
	struct fail fail = FAIL_INIT;
	struct frame_reader *reader;
	struct trace_pages pages;
	size_t size, done = 0;
	bool same = false;
	int r;

	fill(want, sizeof(want), cpu);
	if (frame_reader_new(&reader, &fail))
		return false;
	r = trace_pages_init(&pages, trace, buffer, index, &fail);
	while (!r && (r = trace_pages_size(&pages, 4 * PAGE, &size, &fail)) > 0) {
		r = size > sizeof(got) - done ? -EFBIG :
						trace_pages_peek(&pages, reader, &scratch, got + done, 16, &fail);
		if (!r && memcmp(got + done, want + done, 16))
			r = -EBADMSG;
		if (!r)
			r = trace_pages_read(&pages, reader, &scratch, got + done, size, &fail);
		done += size;
	}
	same = !r && done == sizeof(want) && !memcmp(got, want, done) && pages.cpu->cpu == cpu;
	frame_reader_free(reader);
	return same;
}

static void check_whole(const struct writer_options *options)
{
	struct fail fail = FAIL_INIT;
	cleanup_fd int fd = make_file(options, &fail);
	const struct trace_format *formats;
	const struct trace_info *info;
	struct trace *trace;
	size_t count;

	CHECK_STR(fail.text, "");
	REQUIRE(!trace_open_fd(fd, "memory", &trace, &fail));
	info = trace_info(trace);
	CHECK(!trace_damage(trace));
	CHECK(info->version == options->version && info->big_endian == options->big_endian);
	CHECK(info->long_size == 4 && info->page_data_offset == 12 && info->page_size == PAGE && info->cpu_count == 4);
	CHECK(info->trace_id == 0x123456789abcdef0 && info->ts_offset == -5);
	CHECK(info->has_tsc2nsec && info->tsc_mult == 3 && info->tsc_shift == 2);
	CHECK(meta_is(trace, TRACE_HEADER_PAGE, header_page) && meta_is(trace, TRACE_HEADER_EVENT, "event"));
	CHECK(meta_is(trace, TRACE_KALLSYMS, "1 T one\n") && meta_is(trace, TRACE_CMDLINES, "7 weaver\n"));
	CHECK(meta_is(trace, TRACE_PRINTK, "") && meta_is(trace, TRACE_UNAME, "Linux loom"));
	CHECK(meta_is(trace, TRACE_LATENCY, "# latency\n"));
	CHECK(meta_is(trace, TRACE_CPUSTAT, "CPU: 0\nentries: 3\nCPU: 3\nentries: 4\n"));
	formats = trace_formats(trace, &count);
	REQUIRE(count == 4);
	CHECK(same_text(formats[0].system, "ftrace") && same_text(formats[0].text, "name: b\n"));
	CHECK(same_text(formats[1].system, "sched") && same_text(formats[1].text, "name: a\n"));
	CHECK(same_text(formats[2].system, "sched") && same_text(formats[2].text, "name: c\n"));
	CHECK(same_text(formats[3].system, "irq") && same_text(formats[3].text, "name: d\n"));
	CHECK(same_text(trace_setting(trace, 0, "trace_clock"), "[local]\n"));
	CHECK(same_text(trace_setting(trace, 1, "empty"), "") && !trace_setting(trace, 1, "trace_clock").text);
	REQUIRE(trace_buffers(trace) == 2);
	CHECK(same_text(trace_buffer(trace, 1)->name, "loom") && same_text(trace_buffer(trace, 1)->clock, "mono"));
	CHECK(trace_buffer(trace, 0)->nr_cpus == 2 && trace_buffer(trace, 1)->nr_cpus == 1);
	CHECK(pages_are(trace, 0, 0, 0) && pages_are(trace, 0, 1, 3) && pages_are(trace, 1, 0, 1));
	trace_free(trace);
}

TEST(trace_reads_what_was_written_as_version_7)
{
	check_whole(&plain7);
}

TEST(trace_reads_what_was_written_as_version_7_compressed)
{
	check_whole(&zstd7);
}

TEST(trace_reads_what_was_written_as_version_6)
{
	check_whole(&plain6);
}

static struct trace *open_bytes(const void *bytes, size_t len, struct fail *fail)
{
	cleanup_fd int fd = memfd_create("trace", MFD_CLOEXEC);
	struct trace *trace = NULL;

	return fd >= 0 && write(fd, bytes, len) == (ssize_t)len && !trace_open_fd(fd, "memory", &trace, fail) ? trace :
														NULL;
}

TEST(trace_names_what_a_file_is_that_is_none)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *want;
	} cases[] = {
		{ "", 0, "it is empty" },
		{ "\027\010D", 3, "it ends inside its header" },
		{ "\177ELF\2", 5, "it is an ELF file" },
		{ "\177ELF", 4, "it is an ELF file" },
		{ "\x1f\x8b\x08\0", 4, "it is compressed: 'gunzip' makes what it was" },
		{ "\x28\xb5\x2f\xfd\4", 5, "it is compressed: 'unzstd' makes what it was" },
		{ "\xfd\67zXZ\0", 6, "it is compressed: 'unxz' makes what it was" },
		{ "BZh9", 4, "it is compressed: 'bunzip2' makes what it was" },
		{ "BZh", 3, "it is a text" },
		{ "\177EL\2", 4, "it begins with other bytes" },
		{ "PERFILE2", 8, "it is a perf.data, of which 'weft import' makes one" },
		{ "2ELIFREP\0", 9, "it is a perf.data, of which 'weft import' makes one" },
		{ "PERFILE", 7, "it is a text; 'weft import' makes one" },
		{ "# tracer: mmiotrace", 18, "it is text of the tracer mmiotrace" },
		{ "# tracer: mmiotrac", 18 - 1, "it is text of the kernel's 'trace' file" },
		{ "# tracer:", 9, "it is text of the kernel's 'trace' file" },
		{ "# tracer", 8, "it is a text; 'weft import'" },
		{ "a\tb\r\nc", 6, "it is a text; 'weft import'" },
		{ "a\bb", 3, "it begins with other bytes" },
		{ "a\016b", 3, "it begins with other bytes" },
		/* The head of a packet, its length, and a field of a type that there is. */
		{ "\n\2\x08\1", 4, "it looks like a trace of Perfetto" },
		{ "\n\x82\1\x0a\1", 5, "it looks like a trace of Perfetto" },
		{ "\n\2\x08", 3, "it begins with other bytes" },
		{ "\n\2\x0b\1", 4, "it begins with other bytes" },
		{ "\n\2\0\1", 4, "it begins with other bytes" },
		{ "\f\2\x08\1", 4, "it begins with other bytes" },
		{ "\n\x80\x80\x80\x80\x80\1\x08", 8, "it begins with other bytes" },
	};

	for (size_t i = 0; i < array_size(cases); i++) {
		struct fail fail = FAIL_INIT;

		CHECK(!open_bytes(cases[i].bytes, cases[i].len, &fail));
		if (!CHECK(strstr(fail.text, cases[i].want)))
			CHECK_STR(fail.text, cases[i].want);
		CHECK(strstr(fail.text, "not a trace.dat: "));
	}
}

TEST(trace_that_cannot_be_opened_is_an_error_that_names_it)
{
	struct fail fail = FAIL_INIT;
	struct trace *trace;

	CHECK(trace_open("/no/such/file", &trace, &fail) == -ENOENT && strstr(fail.text, "'/no/such/file'"));
	CHECK(trace_open("/", &trace, &fail) == -EISDIR);
	CHECK_STR(fail.text, "'/' is a directory; name a file");
}

TEST(trace_bytes_are_those_of_the_file_as_far_as_it_goes)
{
	struct fail fail = FAIL_INIT;
	cleanup_fd int fd = make_file(&plain7, &fail);
	off_t size = lseek(fd, 0, SEEK_END);
	uint8_t want[16], got[16];
	struct trace *trace;

	REQUIRE(!trace_open_fd(fd, "memory", &trace, &fail));
	for (off_t left = 0; left <= 16; left++) {
		CHECK(pread(fd, want, 16, size - left) == left);
		CHECK(trace_bytes(trace, (uint64_t)(size - left), got, 16) == (size_t)left &&
		      !memcmp(got, want, (size_t)left));
	}
	CHECK(trace_bytes(trace, 0, got, 10) == 10 && !memcmp(got, "\027\010Dtracing", 10));
	CHECK(trace_bytes(trace, (uint64_t)size + 1, got, 16) == 0 && trace_bytes(trace, UINT64_MAX, got, 16) == 0);
	trace_free(trace);
}

static int write_nothing(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	(void)arg, (void)part;
	return writer_buffer(writer, "", "local", PAGE, fail);
}

TEST(trace_knows_the_head_of_a_page_from_the_kernel_s_text)
{
#define COMMIT(size) "\tfield: local_t commit;\toffset:8;\tsize:" size ";\tsigned:1;\n"
#define DATA(offset) "\tfield: char data;\toffset:" offset ";\tsize:244;\tsigned:1;\n"
	static const struct {
		const char *text;
		uint8_t long_size;
		uint32_t data;
	} cases[] = {
		{ COMMIT("8"), 8, 16 },
		{ COMMIT("4"), 4, 12 },
		{ COMMIT("8") DATA("24"), 8, 24 },
		{ COMMIT("8") DATA("8"), 8, 8 },
		/* No size of a long; a place outside of the page. */
		{ COMMIT("8") DATA("7"), 8, 16 },
		{ COMMIT("8") DATA("255"), 8, 255 },
		{ COMMIT("8") DATA("256"), 8, 16 },
		/* What no word has is not believed. */
		{ COMMIT("2"), 4, 12 },
		{ COMMIT("16"), 4, 12 },
		{ "\tfield: local_t commit;\toffset:8;\n", 4, 12 },
		{ "\tfield: local_t commit;\n" COMMIT("8") DATA("24"), 4, 24 },
	};
	const struct writer_options options = { .version = 7, .long_size = 4, .page_size = PAGE };

	for (size_t i = 0; i < array_size(cases); i++) {
		const struct writer_metadata metadata = { .header_page = cases[i].text,
							  .header_event = "",
							  .version = "" };
		cleanup_fd int fd = memfd_create("trace", MFD_CLOEXEC);
		struct fail fail = FAIL_INIT;
		struct trace *trace;
		uint64_t size;

		REQUIRE(!made_file_write(fd, &options, &metadata, write_nothing, NULL, &size, &fail));
		REQUIRE(!trace_open_fd(fd, "memory", &trace, &fail));
		CHECK(trace_info(trace)->long_size == cases[i].long_size);
		CHECK(trace_info(trace)->page_data_offset == cases[i].data);
		trace_free(trace);
	}
#undef COMMIT
#undef DATA
}

TEST(trace_reads_the_other_byte_order_in_both_versions)
{
	struct writer_options other7 = zstd7, other6 = plain6;

	other7.big_endian = other6.big_endian = __BYTE_ORDER__ != __ORDER_BIG_ENDIAN__;
	check_whole(&other7);
	check_whole(&other6);
}

enum { MANY = 2600 };

/* Pages that begin with their number; half of a page cannot be compressed, so that a chunk is longer than a read. */
static int write_many(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	int r = writer_buffer(writer, "", "local", PAGE, fail);
	uint32_t words[PAGE / 4], dice = 1;

	(void)arg;
	for (uint32_t page = 0; !r && page < MANY; page++) {
		memset(words, 0, sizeof(words));
		words[0] = page;
		for (size_t i = 1; i < array_size(words) / 2; i++)
			words[i] = dice = dice * 1664525 + 1013904223;
		r = part_add(part, words, sizeof(words), PAGE, fail);
	}
	return r ? r : part_write(part, writer, 0, fail);
}

/* The pages from where a jump led: those of one piece, the first of which begins there. Returns its number, or -1. */
static int64_t piece_at(struct trace_pages *pages, struct frame_reader *reader, struct buf *scratch, size_t *ret_nr)
{
	static uint8_t data[MANY * PAGE];
	struct fail fail = FAIL_INIT;
	uint32_t first, number;
	size_t size;

	if (trace_pages_size(pages, 4 * PAGE, &size, &fail) != 1 ||
	    trace_pages_read(pages, reader, scratch, data, size, &fail))
		return -1;
	memcpy(&first, data, sizeof(first));
	*ret_nr = size / PAGE;
	for (size_t i = 0; i < *ret_nr; i++) {
		memcpy(&number, data + i * PAGE, sizeof(number));
		if (number != first + i)
			return -1;
	}
	return first;
}

static void check_jumps(const struct writer_options *options)
{
	const struct writer_metadata metadata = {
		.header_page = header_page, .header_event = "", .version = "", .cpu_count = 1
	};
	cleanup_fd int fd = memfd_create("trace", MFD_CLOEXEC);
	uint64_t starts[MANY], size, nr = 0, begin;
	cleanup_buf struct buf scratch = BUF_INIT;
	struct fail fail = FAIL_INIT;
	struct frame_reader *reader;
	struct trace_pages pages;
	struct trace *trace;
	size_t got;

	REQUIRE(!made_file_write(fd, options, &metadata, write_many, NULL, &size, &fail));
	REQUIRE(!trace_open_fd(fd, "memory", &trace, &fail) && !frame_reader_new(&reader, &fail));
	REQUIRE(!trace_pages_init(&pages, trace, 0, 0, &fail));
	begin = pages.next;
	CHECK(trace_pages_total(trace, 0, 0) == MANY * PAGE);
	for (uint32_t page = 0; page < MANY; page += (uint32_t)got) {
		starts[nr++] = pages.next;
		REQUIRE(piece_at(&pages, reader, &scratch, &got) == page);
	}
	CHECK(trace_pages_size(&pages, 4 * PAGE, &got, &fail) == 0 && nr > 4);
	for (uint64_t at = begin, next = 0; at < pages.end; at += 211) {
		struct trace_pages jumped;

		/* Raw pages begin at each page, chunks where the walk found them. */
		if (options->compress)
			for (; next < nr && starts[next] < at; next++)
				continue;
		REQUIRE(!trace_pages_init(&jumped, trace, 0, 0, &fail));
		if (options->compress ? next == nr : at > pages.end - PAGE) {
			CHECK(trace_pages_jump(&jumped, at, UINT64_MAX, &scratch, &fail) == 0 && jumped.next == begin);
			continue;
		}
		uint64_t want = options->compress ? starts[next] : begin + (at - begin + PAGE - 1) / PAGE * PAGE;

		CHECK(trace_pages_jump(&jumped, at, want, &scratch, &fail) == 0 && jumped.next == begin);
		REQUIRE(trace_pages_jump(&jumped, at, want + 1, &scratch, &fail) == 1);
		CHECK(jumped.next == want && piece_at(&jumped, reader, &scratch, &got) >= 0);
	}
	frame_reader_free(reader);
	trace_free(trace);
}

TEST(trace_is_entered_at_the_next_piece_of_any_offset)
{
	struct writer_options swapped = zstd7;

	swapped.big_endian = __BYTE_ORDER__ != __ORDER_BIG_ENDIAN__;
	check_jumps(&zstd7);
	check_jumps(&swapped);
	check_jumps(&plain7);
	check_jumps(&plain6);
}

static void count_finding(void *arg, uint64_t offset, const char *text)
{
	(void)offset;
	(void)text;
	++*(unsigned *)arg;
}

/*
 * A file cut at any length must give an error with a message, or a trace with reported damage whose getters all work.
 */
static void check_cuts(const struct writer_options *options)
{
	struct fail fail = FAIL_INIT;
	cleanup_fd int fd = make_file(options, &fail);
	off_t size = lseek(fd, 0, SEEK_END);

	REQUIRE(size > 0);
	for (off_t len = size - 1; len >= 0; len -= len > 4096 ? 97 : 1) {
		struct check_summary summary;
		unsigned findings = 0;
		struct trace *trace;

		fail.text[0] = 0;
		REQUIRE(!ftruncate(fd, len));
		if (trace_open_fd(fd, "memory", &trace, &fail)) {
			CHECK(*fail.text);
			continue;
		}
		if (trace_check(trace, count_finding, &findings, &summary, &fail))
			CHECK(*fail.text);
		/* In version 6 the settings are last and optional: a file without their trailer counts as whole. */
		CHECK(trace_damage(trace) || findings || options->version == 6);
		trace_free(trace);
	}
}

TEST(trace_tells_of_every_cut)
{
	check_cuts(&plain7);
	check_cuts(&zstd7);
	check_cuts(&plain6);
}

struct finding {
	unsigned nr;
	uint64_t offset;
	char text[256];
};

static void keep_finding(void *arg, uint64_t offset, const char *text)
{
	struct finding *finding = arg;

	finding->nr++;
	finding->offset = offset;
	snprintf(finding->text, sizeof(finding->text), "%s", text);
}

static void check_file(int fd, struct finding *finding, struct check_summary *summary)
{
	struct trace *trace = NULL;

	*finding = (struct finding){ .nr = 0 };
	REQUIRE(!trace_open_fd(fd, "memory", &trace, NULL));
	CHECK(!trace_check(trace, keep_finding, finding, summary, NULL));
	trace_free(trace);
}

TEST(trace_check_counts_what_is_there_and_finds_a_damaged_chunk)
{
	static const struct writer_options *const forms[] = { &plain7, &zstd7, &plain6 };

	for (size_t i = 0; i < array_size(forms); i++) {
		struct check_summary summary = { 0 };
		struct fail fail = FAIL_INIT;
		cleanup_fd int fd = make_file(forms[i], &fail);
		struct finding finding;
		struct trace *trace;
		uint64_t cpu;

		check_file(fd, &finding, &summary);
		/* Three CPUs of 23 pages, in chunks of 10. */
		CHECK(!finding.nr && summary.pages == 3 * PAGES * PAGE);
		CHECK(summary.chunks == (forms[i]->compress ? 9 : 0) && summary.sections > 5);
		REQUIRE(!trace_open_fd(fd, "memory", &trace, NULL));
		cpu = trace_buffer(trace, 0)->cpus[1].offset;
		trace_free(trace);
		if (!forms[i]->compress)
			continue;
		/* The first bytes of the frame: the count of chunks has 4 bytes, the head of a chunk 8. */
		CHECK(pwrite(fd, "damaged", 7, (off_t)cpu + 12) == 7);
		check_file(fd, &finding, &summary);
		CHECK(finding.nr == 1 && finding.offset == cpu + 4 && strstr(finding.text, "CPU 3"));
		CHECK(summary.chunks == 6 && summary.pages == 2 * PAGES * PAGE);
	}
}

/* The checksums cover all that comes before them, and themselves. */
TEST(trace_check_notices_a_change_of_any_byte)
{
	static const struct writer_options *const forms[] = { &plain7, &plain6 };

	for (size_t i = 0; i < array_size(forms); i++) {
		struct fail fail = FAIL_INIT;
		cleanup_fd int fd = make_file(forms[i], &fail);
		off_t size = lseek(fd, 0, SEEK_END);
		uint8_t was, is;

		for (off_t at = 0; at<size; at += at> size - 300 ? 1 : 61) {
			struct check_summary summary = { 0 };
			struct finding finding = { 0 };
			struct trace *trace = NULL;

			CHECK(pread(fd, &was, 1, at) == 1);
			is = was ^ 0x10;
			CHECK(pwrite(fd, &is, 1, at) == 1);
			if (!trace_open_fd(fd, "memory", &trace, &fail)) {
				CHECK(!trace_check(trace, keep_finding, &finding, &summary, &fail));
				if (!CHECK(finding.nr || trace_damage(trace)))
					fprintf(stderr, "version %u, byte %lld of %lld\n", forms[i]->version,
						(long long)at, (long long)size);
			}
			trace_free(trace);
			CHECK(pwrite(fd, &was, 1, at) == 1);
		}
	}
}

/* What is in the file, and where: each byte of it belongs to something, and each text is as long as it is. */
TEST(trace_lists_what_is_where_in_a_file)
{
	static const char *const v7[] = {
		"header",         "headers",       "ftrace formats",        "event formats", "kallsyms",
		"printk formats", "command lines", "latency text",          "buffer",        "pages of CPU 0",
		"pages of CPU 3", "buffer",        "pages of CPU 1 of loom"
	};
	static const char *const v6[] = { "header",         "headers",        "ftrace formats",
					  "event formats",  "kallsyms",       "printk formats",
					  "command lines",  "options",        "places of pages",
					  "pages of CPU 0", "pages of CPU 3", "pages of CPU 1 of loom" };
	static const struct {
		const struct writer_options *form;
		const char *const *names;
		size_t nr;
	} rows[] = { { &plain7, v7, array_size(v7) }, { &zstd7, v7, array_size(v7) }, { &plain6, v6, array_size(v6) } };

	for (size_t i = 0; i < array_size(rows); i++) {
		struct fail fail = FAIL_INIT;
		cleanup_fd int fd = make_file(rows[i].form, &fail);
		const struct trace_section *sections;
		struct trace *trace;
		size_t nr, found = 0;

		REQUIRE(!trace_open_fd(fd, "memory", &trace, &fail));
		sections = trace_sections(trace, &nr);
		for (size_t k = 0; k < rows[i].nr; k++) {
			while (found < nr && strcmp(sections[found].what, rows[i].names[k]) != 0)
				found++;
			if (found == nr)
				CHECK_STR("", rows[i].names[k]);
		}
		for (size_t k = 0; k + 1 < nr; k++)
			CHECK(sections[k].offset <= sections[k + 1].offset);
		for (size_t k = 0; k < nr; k++) {
			const char *what = sections[k].what;

			if (!strncmp(what, "pages of ", 9))
				CHECK(sections[k].raw_size == (rows[i].form->compress ? 0 : PAGES * PAGE));
			if (!strcmp(what, "header"))
				CHECK(!sections[k].offset && sections[k].size >= 18);
			if (!strcmp(what, "kallsyms"))
				CHECK(rows[i].form->compress || sections[k].size >= sections[k].raw_size);
			if (!strcmp(what, "kallsyms"))
				CHECK(sections[k].raw_size == 4 + 8);
		}
		trace_free(trace);
	}
}

/* trace-cmd shows them: each section names itself by a place in the strings. */
TEST(writer_names_the_sections_of_version_7)
{
	static const char *const names[][2] = {
		{ "headers", "headers" },
		{ "ftrace formats", "ftrace events" },
		{ "event formats", "events format" },
		{ "kallsyms", "kallsyms" },
		{ "printk formats", "printk" },
		{ "command lines", "command lines" },
		{ "latency text", "buffer latency" },
		{ "settings", "weft settings" },
		{ "options", "options" },
	};
	struct fail fail = FAIL_INIT;
	cleanup_fd int fd = make_file(&plain7, &fail);
	const struct trace_section *sections;
	struct trace *trace;
	uint64_t strings = 0;
	bool found[array_size(names)] = { false };
	size_t nr;

	REQUIRE(!trace_open_fd(fd, "memory", &trace, &fail));
	sections = trace_sections(trace, &nr);
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(sections[i].what, "strings"))
			strings = sections[i].offset + 16;
	REQUIRE(strings);
	for (size_t i = 0; i < nr; i++) {
		char name[32] = "";
		uint8_t head[8];
		uint32_t at;

		if (!CHECK(trace_bytes(trace, sections[i].offset, head, sizeof(head)) == sizeof(head)))
			break;
		at = plain7.big_endian ?
			     (uint32_t)head[4] << 24 | (uint32_t)head[5] << 16 | (uint32_t)head[6] << 8 | head[7] :
			     (uint32_t)head[7] << 24 | (uint32_t)head[6] << 16 | (uint32_t)head[5] << 8 | head[4];
		for (size_t k = 0; k < array_size(names); k++)
			if (!strcmp(sections[i].what, names[k][0])) {
				found[k] = true;
				CHECK(trace_bytes(trace, strings + at, name, sizeof(name) - 1) > 0);
				CHECK_STR(name, names[k][1]);
			}
	}
	for (size_t k = 0; k < array_size(names); k++)
		CHECK_STR(found[k] ? "" : names[k][0], "");
	trace_free(trace);
}

TEST(trace_is_carried_into_another_file_with_all_that_it_says)
{
	static const struct writer_options *const forms[] = { &plain7, &zstd7, &plain6 };

	for (size_t i = 0; i < array_size(forms); i++) {
		struct fail fail = FAIL_INIT;
		cleanup_fd int fd = make_file(forms[i], &fail);
		const struct writer_metadata *got;
		struct carried carried;
		struct trace *trace;

		REQUIRE(!trace_open_fd(fd, "memory", &trace, &fail));
		REQUIRE(!carried_init(&carried, trace, &fail));
		got = &carried.metadata;
		CHECK_STR(got->header_page, header_page);
		CHECK_STR(got->header_event, "event");
		CHECK_MEM(got->kallsyms, got->kallsyms_len, "1 T one\n", 8);
		CHECK_MEM(got->cmdlines, got->cmdlines_len, "7 weaver\n", 9);
		CHECK_MEM(got->latency, got->latency_len, "# latency\n", 10);
		CHECK(!got->printk_len);
		CHECK_STR(got->uname, "Linux loom");
		CHECK_STR(got->version, "weft");
		CHECK_STR(got->clock, "local");
		REQUIRE(got->nr_cpustats == 1 && got->nr_formats == 4 && got->nr_settings >= 2);
		CHECK_STR(got->cpustats[0], "CPU: 0\nentries: 3\nCPU: 3\nentries: 4\n");
		CHECK_STR(got->formats[3].system, "irq");
		CHECK_MEM(got->formats[3].text, got->formats[3].len, "name: d\n", 8);
		for (size_t k = 0; k < got->nr_settings; k++) {
			CHECK(strcmp(got->settings[k].name, "latency") != 0);
			if (!strcmp(got->settings[k].name, "empty"))
				CHECK(got->settings[k].buffer == 1 && !got->settings[k].len);
			if (!strcmp(got->settings[k].name, "trace_clock"))
				CHECK_MEM(got->settings[k].text, got->settings[k].len, "[local]\n", 8);
		}
		CHECK(got->cpu_count == 4 && got->trace_id == 0x123456789abcdef0 && got->has_ts_offset &&
		      got->ts_offset == -5 && !got->has_date);
		CHECK(got->has_tsc2nsec && got->tsc_mult == 3 && got->tsc_shift == 2 && !got->tsc_offset);
		carried_release(&carried);
		trace_free(trace);
	}
}

TEST(trace_without_a_description_of_its_pages_is_not_carried)
{
	cleanup_fd int fd = memfd_create("trace", MFD_CLOEXEC);
	struct fail fail = FAIL_INIT;
	struct carried carried;
	struct trace *trace;
	char bytes[32768];
	ssize_t len;
	char *at;

	REQUIRE(!write_file(fd, &plain7, &fail));
	len = pread(fd, bytes, sizeof(bytes), 0);
	at = memmem(bytes, (size_t)len, "header_page", 11);
	REQUIRE(at);
	*at = 'H';
	REQUIRE((trace = open_bytes(bytes, (size_t)len, &fail)));
	CHECK(carried_init(&carried, trace, &fail) == -EBADMSG);
	CHECK_STR(fail.text, "'memory' has no header_page, which describes the layout of its pages");
	carried_release(&carried);
	trace_free(trace);
}

TEST(trace_check_names_the_place_of_a_changed_byte)
{
	static const struct writer_options *const forms[] = { &plain7, &plain6 };

	for (size_t i = 0; i < array_size(forms); i++) {
		struct fail fail = FAIL_INIT;
		cleanup_fd int fd = make_file(forms[i], &fail);
		struct check_summary summary = { 0 };
		const struct trace_section *sections;
		struct finding finding;
		struct trace *trace;
		uint64_t place, sums = 0;
		char want[100];
		size_t nr;

		REQUIRE(!trace_open_fd(fd, "memory", &trace, &fail));
		place = trace_buffer(trace, 0)->cpus[1].offset + 20;
		sections = trace_sections(trace, &nr);
		for (size_t k = 0; k < nr; k++)
			if (!strcmp(sections[k].what, "sums"))
				sums = sections[k].offset;
		trace_free(trace);
		REQUIRE(sums);
		CHECK(pwrite(fd, "X", 1, (off_t)place) == 1);
		check_file(fd, &finding, &summary);
		/* A block has 64 KiB, which is more than this file. */
		snprintf(want, sizeof(want), "the %llu bytes there are not those that were written",
			 (unsigned long long)sums);
		CHECK(finding.nr == 1 && finding.offset == 0);
		CHECK_STR(finding.text, want);
	}
}

TEST(trace_finds_pages_again_whose_description_was_cut_off)
{
	struct fail fail = FAIL_INIT;
	cleanup_fd int fd = make_file(&zstd7, &fail);
	const struct trace_buffer *buffer;
	struct trace *trace;
	uint64_t end;

	REQUIRE(!trace_open_fd(fd, "memory", &trace, &fail));
	buffer = trace_buffer(trace, 0);
	end = buffer->cpus[1].offset + buffer->cpus[1].size;
	trace_free(trace);
	REQUIRE(!ftruncate(fd, (off_t)end));
	REQUIRE(!trace_open_fd(fd, "memory", &trace, &fail));
	CHECK(trace_damage(trace));
	REQUIRE(trace_buffers(trace) == 1);
	CHECK(pages_are(trace, 0, 0, 0) && pages_are(trace, 0, 1, 3));
	trace_free(trace);
}

TEST(trace_is_read_from_a_pipe)
{
	struct fail fail = FAIL_INIT;
	cleanup_fd int fd = make_file(&zstd7, &fail);
	struct trace *trace;
	uint8_t data[32768];
	ssize_t len = pread(fd, data, sizeof(data), 0);
	int ends[2];

	REQUIRE(len > 0 && !pipe(ends));
	CHECK(write(ends[1], data, (size_t)len) == len);
	close(ends[1]);
	CHECK(!trace_open_fd(ends[0], "pipe", &trace, &fail));
	close(ends[0]);
	CHECK_STR(fail.text, "");
	CHECK(pages_are(trace, 0, 1, 3));
	trace_free(trace);
}

TEST(writer_writes_the_same_bytes_to_a_pipe)
{
	struct fail fail = FAIL_INIT;
	cleanup_fd int fd = make_file(&zstd7, &fail);
	uint8_t want[32768], got[32768];
	ssize_t len = pread(fd, want, sizeof(want), 0);
	int ends[2];

	REQUIRE(len > 0 && !pipe(ends));
	CHECK(!write_file(ends[1], &zstd7, &fail));
	close(ends[1]);
	CHECK(read(ends[0], got, sizeof(got)) == len && !memcmp(got, want, (size_t)len));
	close(ends[0]);
}

TEST(writer_refuses_pages_that_are_not_whole_or_out_of_order)
{
	const struct writer_metadata metadata = { .header_page = header_page, .header_event = "", .cpu_count = 2 };
	cleanup_fd int fd = memfd_create("trace", MFD_CLOEXEC), part = memfd_create("part", MFD_CLOEXEC);
	struct fail fail = FAIL_INIT;
	struct writer *writer;

	REQUIRE(!ftruncate(part, PAGE) && !writer_new(fd, &plain7, &writer, &fail));
	CHECK(writer_buffer(writer, "", "local", PAGE, &fail) == -EINVAL);
	CHECK(!writer_metadata(writer, &metadata, &fail) && !writer_buffer(writer, "", "local", PAGE, &fail));
	CHECK(writer_cpu(writer, 0, &(struct writer_run){ part, 0, PAGE - 1, 0 }, 1, &fail) == -EINVAL);
	CHECK(writer_cpu(writer, 1, &(struct writer_run){ part, 0, PAGE, 0 }, 1, &fail) == 0);
	CHECK(writer_cpu(writer, 0, &(struct writer_run){ part, 0, PAGE, 0 }, 1, &fail) == -EINVAL);
	CHECK(writer_cpu(writer, 2, &(struct writer_run){ part, 0, 2 * PAGE, 0 }, 1, &fail) == -ENODATA);
	CHECK(strstr(fail.text, "CPU 2"));
	writer_free(writer);
}

static bool has_section(int fd, const char *what)
{
	const struct trace_section *sections;
	struct trace *trace = NULL;
	bool has = false;
	size_t nr = 0;

	if (!CHECK(!trace_open_fd(fd, "memory", &trace, NULL)))
		return false;
	sections = trace_sections(trace, &nr);
	for (size_t i = 0; i < nr; i++)
		has |= !strcmp(sections[i].what, what);
	trace_free(trace);
	return has;
}

/* A program's own file between two of its steps has none, nor has one without settings, where they stand. */
TEST(writer_adds_sums_to_files_that_last)
{
	struct writer_setting settings[] = { { 0, "trace_clock", "[local]\n", 8 } };
	static const struct {
		bool has_settings, passing, want;
	} rows[] = { { true, false, true }, { true, true, false }, { false, false, false }, { false, true, false } };

	for (size_t i = 0; i < array_size(rows); i++) {
		const struct writer_metadata metadata = { .header_page = header_page,
							  .header_event = "",
							  .version = "",
							  .settings = settings,
							  .nr_settings = rows[i].has_settings };
		cleanup_fd int fd = memfd_create("trace", MFD_CLOEXEC);
		struct writer_options form = zstd7;
		uint64_t size;

		form.passing = rows[i].passing;
		REQUIRE(!made_file_write(fd, &form, &metadata, write_nothing, NULL, &size, NULL));
		CHECK(size == (uint64_t)lseek(fd, 0, SEEK_END));
		CHECK(has_section(fd, "sums") == rows[i].want);
		CHECK(has_section(fd, "settings") == rows[i].has_settings);
	}
}

TEST(writer_refuses_options_that_no_file_can_have)
{
	static const struct {
		struct writer_options options;
		const char *want;
	} rows[] = {
		{ { .version = 5, .long_size = 8, .page_size = PAGE }, "no version 5 of trace.dat; there are 6 and 7" },
		{ { .version = 8, .long_size = 8, .page_size = PAGE }, "no version 8 of trace.dat; there are 6 and 7" },
		{ { .version = 6, .long_size = 8, .page_size = PAGE, .compress = true },
		  "version 6 of trace.dat cannot be compressed" },
		{ { .version = 7, .long_size = 8, .page_size = 32 }, "pages cannot have 32 bytes" },
		{ { .version = 7, .long_size = 8, .page_size = 96 }, "pages cannot have 96 bytes" },
		{ { .version = 7, .long_size = 8, .page_size = 2 << 20 }, "pages cannot have 2097152 bytes" },
		{ { .version = 7, .long_size = 5, .page_size = PAGE }, "a word cannot have 5 bytes" },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct fail fail = FAIL_INIT;
		struct writer *writer = NULL;

		CHECK(writer_new(-1, &rows[i].options, &writer, &fail) == -EINVAL && !writer);
		CHECK_STR(fail.text, rows[i].want);
	}
}

TEST(writer_refuses_what_comes_out_of_order)
{
	const struct writer_metadata metadata = { .header_page = header_page, .header_event = "", .cpu_count = 2 };
	cleanup_fd int fd = memfd_create("trace", MFD_CLOEXEC), part = memfd_create("part", MFD_CLOEXEC);
	const struct writer_run run = { part, 0, PAGE, 0 };
	struct fail fail = FAIL_INIT;
	struct writer *writer;

	REQUIRE(!ftruncate(part, PAGE) && !writer_new(fd, &plain6, &writer, &fail));
	CHECK(writer_finish(writer, &fail) == -EINVAL);
	CHECK_STR(fail.text, "a trace.dat needs its metadata");
	CHECK(writer_buffer(writer, "", "local", PAGE, &fail) == -EINVAL);
	CHECK_STR(fail.text, "the metadata must come before the pages");
	CHECK(writer_metadata(writer, &(struct writer_metadata){ .header_page = "" }, &fail) == -EINVAL);
	CHECK_STR(fail.text, "a trace.dat needs header_page and header_event");
	CHECK(writer_metadata(writer, &(struct writer_metadata){ .header_event = "" }, &fail) == -EINVAL);
	CHECK_STR(fail.text, "a trace.dat needs header_page and header_event");
	REQUIRE(!writer_metadata(writer, &metadata, &fail));
	CHECK(writer_cpu(writer, 0, &run, 1, &fail) == -EINVAL);
	CHECK_STR(fail.text, "a buffer must begin before its pages");
	CHECK(writer_buffer(writer, "", "local", 96, &fail) == -EINVAL);
	CHECK_STR(fail.text, "pages cannot have 96 bytes");
	REQUIRE(!writer_buffer(writer, "", "local", PAGE, &fail));
	CHECK(writer_cpu(writer, 0, &(struct writer_run){ part, 0, PAGE - 1, 0 }, 1, &fail) == -EINVAL);
	CHECK_STR(fail.text, "255 bytes of CPU 0 are no whole pages of 256");
	CHECK(!writer_cpu(writer, 1, &run, 1, &fail) && writer_cpu(writer, 1, &run, 1, &fail) == -EINVAL);
	CHECK_STR(fail.text, "the pages of CPU 1 come out of order");
	CHECK(writer_cpu(writer, 1 << 14, &run, 1, &fail) == -EINVAL);
	CHECK_STR(fail.text, "the pages of CPU 16384 come out of order");
	CHECK(writer_buffer(writer, "loom", "local", 2 * PAGE, &fail) == -EINVAL);
	CHECK_STR(fail.text, "version 6 of trace.dat has only one page size, 256 and not 512");
	writer_free(writer);

	REQUIRE(!writer_new(fd, &plain6, &writer, &fail) && !writer_metadata(writer, &metadata, &fail));
	CHECK(writer_buffer(writer, "loom", "local", PAGE, &fail) == -EINVAL);
	CHECK_STR(fail.text, "version 6 of trace.dat needs the top buffer first");
	writer_free(writer);

	REQUIRE(!writer_new(fd, &plain6, &writer, &fail) && !writer_metadata(writer, &metadata, &fail));
	REQUIRE(!writer_buffer(writer, "", "local", PAGE, &fail) && !writer_cpu(writer, 2, &run, 1, &fail));
	CHECK(writer_finish(writer, &fail) == -EINVAL);
	CHECK_STR(fail.text, "there is a CPU 2 in a trace.dat of 2 CPUs");
	writer_free(writer);
}

static int write_symbols(int fd, const struct writer_options *options, const char *frame, size_t len, size_t size,
			 struct fail *fail)
{
	const struct writer_metadata metadata = {
		.header_page = header_page,
		.header_event = "event",
		.cpu_count = 1,
		.kallsyms_frame = frame,
		.kallsyms_frame_len = len,
		.kallsyms_size = size,
	};
	struct writer *writer = NULL;
	int r = writer_new(fd, options, &writer, fail);

	r = r ? r : writer_metadata(writer, &metadata, fail);
	r = r ? r : writer_finish(writer, fail);
	writer_free(writer);
	return r;
}

TEST(writer_takes_symbols_that_were_compressed_before_into_a_compressed_file_only)
{
	static const char body[] = "\x08\0\0\0"
				   "1 T one\n";
	cleanup_fd int fd = memfd_create("trace", MFD_CLOEXEC), other = memfd_create("plain", MFD_CLOEXEC);
	struct fail fail = FAIL_INIT;
	struct frame_writer *frames;
	struct trace *trace;
	char frame[256];
	size_t len;

	REQUIRE(!frame_writer_new(1, &frames, &fail));
	REQUIRE(!frame_write(frames, body, sizeof(body) - 1, frame, sizeof(frame), &len, &fail));
	frame_writer_free(frames);
	REQUIRE(!write_symbols(fd, &zstd7, frame, len, sizeof(body) - 1, &fail));
	REQUIRE(!trace_open_fd(fd, "memory", &trace, &fail));
	CHECK(meta_is(trace, TRACE_KALLSYMS, "1 T one\n"));
	trace_free(trace);
	CHECK(write_symbols(other, &plain7, frame, len, sizeof(body) - 1, &fail) == -EINVAL);
}
