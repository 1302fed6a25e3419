// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/export/export.h"
#include "formats/export/folder.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/starve.h"
#include "tests/unit/test.h"

#ifdef WEFT_SQLITE
#include <sqlite3.h>
#endif

/* Golden recordings: NAME.dat, and NAME.txt of the kernel. */
#define SWITCHES "6.12-events-sched"
#define CALLS "6.12-events-syscalls"
#define GRAPH "6.12-function_graph"
#define IRQS "6.12-events-irq-timer"

struct job {
	const char *name, *to, *database;
	struct buf *ret;
};

static const char *golden_file(const char *name, const char *end, char into[128])
{
	snprintf(into, 128, "tests/fixtures/golden/%s.%s", name, end);
	return into;
}

static int write_all(struct reader *reader, struct export *export, struct fail *fail)
{
	struct event event;
	int r;

	if (export->ops->begin)
		export->ops->begin(export);
	while ((r = reader_next(reader, &event, fail)) > 0)
		export->ops->event(export, &event);
	if (!r && export->ops->end)
		export->ops->end(export);
	return r || !export->error ? r : fail_set(fail, export->error, "%s", export->failure.text);
}

static int run(const struct job *job, const struct export_ops *ops, struct trace *trace, struct db *db, struct out *out,
	       struct fail *fail)
{
	struct export *export = NULL;
	struct reader reader;
	int r;

	reader_init(&reader);
	r = reader_add_trace(&reader, trace, fail);
	if (!r)
		r = export_new(ops, &(struct export_input){ .reader = &reader, .db = db }, out, &export, fail);
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail);
	if (!r)
		r = write_all(&reader, export, fail);
	if (!r && (out->failed || trace_starved(trace) || !buf_add(job->ret, out->start, out_len(out))))
		r = fail_memory(fail);
	export_free(export);
	reader_release(&reader);
	return r;
}

static int export_golden(const struct job *job, struct fail *fail)
{
	const struct export_ops *ops = export_find(job->to);
	struct trace *trace = NULL;
	struct out out = { .start = NULL };
	struct db *db = NULL;
	char path[128];
	cleanup_fd int fd = job->database ? open(job->database, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	int r = ops->open ? ops->open(fd, &db, fail) : 0;

	if (!r)
		r = trace_open(golden_file(job->name, "dat", path), &trace, fail);
	if (!r && !out_init(&out, 4096))
		r = fail_memory(fail);
	if (!r)
		r = run(job, ops, trace, db, &out, fail);
	if (out.start)
		out_release(&out);
	if (db)
		ops->close(db);
	trace_free(trace);
	return r;
}

/* The exported text; "" after a failure. */
static const char *exported_text(const char *name, const char *to, struct buf *buf)
{
	struct fail fail = FAIL_INIT;

	buf_clear(buf);
	CHECK(!export_golden(&(struct job){ .name = name, .to = to, .ret = buf }, &fail));
	CHECK_STR(fail.text, "");
	return buf_str(buf);
}

/* The number of lines of the kernel's text that contain `word`, headings excluded. */
static size_t kernel_lines(const char *name, const char *word)
{
	char path[128], line[4096];
	FILE *text = fopen(golden_file(name, "txt", path), "re");
	size_t nr = 0;

	while (text && fgets(line, sizeof(line), text))
		nr += *line != '#' && strstr(line, word) != NULL;
	if (text)
		fclose(text);
	return nr;
}

static size_t count(const char *text, const char *word)
{
	size_t nr = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		nr++;
	}
	return nr;
}

/* A parser of JSON (RFC 8259) that knows nothing of weft. */

static const char *skip_value(const char *at, unsigned depth);

static const char *skip_blank(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

static const char *skip_string(const char *at)
{
	if (*at++ != '"')
		return NULL;
	for (; *at != '"'; at++) {
		if ((unsigned char)*at < ' ')
			return NULL;
		if (*at == '\\' && !strchr("\"\\/bfnrtu", *++at))
			return NULL;
	}
	return at + 1;
}

static const char *skip_items(const char *at, char close, unsigned depth)
{
	at = skip_blank(at + 1);
	if (*at == close)
		return at + 1;
	for (;; at = skip_blank(at + 1)) {
		if (close == '}') {
			at = skip_string(at);
			at = at ? skip_blank(at) : NULL;
			if (!at || *at++ != ':')
				return NULL;
		}
		at = skip_value(skip_blank(at), depth + 1);
		if (!at)
			return NULL;
		at = skip_blank(at);
		if (*at == close)
			return at + 1;
		if (*at != ',')
			return NULL;
	}
}

static const char *skip_value(const char *at, unsigned depth)
{
	char *end;

	if (depth > 32)
		return NULL;
	if (*at == '{' || *at == '[')
		return skip_items(at, *at == '{' ? '}' : ']', depth);
	if (*at == '"')
		return skip_string(at);
	if (!strncmp(at, "true", 4) || !strncmp(at, "null", 4))
		return at + 4;
	if (!strncmp(at, "false", 5))
		return at + 5;
	if (*at != '-' && !isdigit((unsigned char)*at))
		return NULL;
	(void)strtod(at, &end);
	return end;
}

static bool is_json(const char *text)
{
	const char *end = skip_value(skip_blank(text), 0);

	return end && !*skip_blank(end);
}

TEST(jsonl_and_csv_have_a_line_for_each_line_of_the_kernel)
{
	static const char *const names[] = { SWITCHES, CALLS };

	for (size_t i = 0; i < array_size(names); i++) {
		cleanup_buf struct buf buf = BUF_INIT;
		size_t lines = kernel_lines(names[i], "");
		char *rest, *line;

		CHECK(count(exported_text(names[i], "csv", &buf), "\n") == lines + 1);
		CHECK(count(exported_text(names[i], "jsonl", &buf), "\n") == lines);
		rest = buf.data;
		while ((line = strsep(&rest, "\n")) && rest)
			CHECK(is_json(line));
	}
}

TEST(chrome_and_speedscope_are_json_and_have_each_event)
{
	cleanup_buf struct buf buf = BUF_INIT;
	const char *text = exported_text(SWITCHES, "chrome", &buf);

	CHECK(is_json(text));
	CHECK(count(text, "\"name\":\"sched_waking\"") == kernel_lines(SWITCHES, " sched_waking: "));
	CHECK(is_json(exported_text(SWITCHES, "firefox", &buf)));
	CHECK(is_json(exported_text(GRAPH, "firefox", &buf)));
	text = exported_text(GRAPH, "chrome", &buf);
	CHECK(is_json(text));
	/* Each call that begins in the file ends in it. */
	CHECK(count(text, "\"ph\":\"B\"") == count(text, "\"ph\":\"E\""));
	CHECK(is_json(exported_text(GRAPH, "speedscope", &buf)));
	CHECK(is_json(exported_text(IRQS, "chrome", &buf)));
}

/* A parser of protobuf that follows the description of its encoding and knows nothing of weft. */

static bool varint(const uint8_t **at, const uint8_t *end, uint64_t *ret)
{
	*ret = 0;
	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		*ret |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

struct proto_field {
	uint64_t number, value;
	const uint8_t *bytes; /* a message or text of length `value`; NULL for other fields */
};

static bool next_proto(const uint8_t **at, const uint8_t *end, struct proto_field *ret)
{
	uint64_t tag;

	*ret = (struct proto_field){ .number = 0 };
	if (!varint(at, end, &tag))
		return false;
	ret->number = tag >> 3;
	if ((tag & 7) == 0)
		return varint(at, end, &ret->value);
	if ((tag & 7) == 2) {
		ret->bytes = varint(at, end, &ret->value) && ret->value <= (uint64_t)(end - *at) ? *at : NULL;
		*at += ret->bytes ? ret->value : 0;
		return ret->bytes;
	}
	ret->value = (tag & 7) == 1 ? 8 : 4;
	*at += ret->value;
	return ((tag & 7) == 1 || (tag & 7) == 5) && *at <= end;
}

/* A packed array ends the path of count_fields(). */
enum { PACKED = 0 };

static long count_packed(const uint8_t *at, size_t len)
{
	const uint8_t *end = at + len;
	uint64_t value;
	long nr = 0;

	for (; at < end; nr++)
		if (!varint(&at, end, &value))
			return -1;
	return nr;
}

/* The number of fields with this number below a path of messages; -1: not a protobuf. */
static long count_fields(const uint8_t *at, size_t len, const uint64_t *path, size_t depth)
{
	const uint8_t *end = at + len;
	struct proto_field field;
	long nr = 0, below;

	if (*path == PACKED)
		return count_packed(at, len);
	while (at < end) {
		if (!next_proto(&at, end, &field))
			return -1;
		if (field.number != *path)
			continue;
		below = depth == 1  ? 1 :
			field.bytes ? count_fields(field.bytes, (size_t)field.value, path + 1, depth - 1) :
				      -1;
		if (below < 0)
			return -1;
		nr += below;
	}
	return nr;
}

TEST(perfetto_has_an_ftrace_event_for_each_line_of_the_kernel)
{
	/* Trace.packet, TracePacket.ftrace_events, FtraceEventBundle.event; or compact_sched, waking_timestamp */
	static const uint64_t events[] = { 1, 1, 2 }, wakings[] = { 1, 1, 4, 7, PACKED };
	static const char *const names[] = {
		SWITCHES, CALLS, IRQS, "6.12-function", "6.12-user_events", "6.1-rt-events-sched"
	};

	for (size_t i = 0; i < array_size(names); i++) {
		cleanup_buf struct buf buf = BUF_INIT;

		(void)exported_text(names[i], "perfetto", &buf);
		if (!CHECK(count_fields((const uint8_t *)buf.data, buf.len, events, array_size(events)) +
				   count_fields((const uint8_t *)buf.data, buf.len, wakings, array_size(wakings)) ==
			   (long)kernel_lines(names[i], "")))
			fprintf(stderr, "%s\n", names[i]);
	}
}

/*
 * The pieces of a folder of CTF. Each packet must be as long as it says. Returns their number; -1: something is wrong.
 */
static long count_packets(const char *at, size_t len, const char **ret_metadata)
{
	struct folder_piece piece;
	uint64_t bits;
	long nr = 0;

	for (const char *end = at + len; at < end; at += piece.len) {
		bool metadata = false;

		memcpy(&piece, at, sizeof(piece));
		at += sizeof(piece);
		metadata = piece.name_len == 8 && !memcmp(at, "metadata", 8);
		at += piece.name_len;
		if (piece.magic != FOLDER_MAGIC || piece.len > (size_t)(end - at))
			return -1;
		if (metadata) {
			*ret_metadata = at;
			continue;
		}
		memcpy(&bits, at + 24, sizeof(bits));
		if (memcmp(at, "\xc1\x1f\xfc\xc1", 4) || le64toh(bits) != piece.len * 8)
			return -1;
		nr++;
	}
	return nr;
}

TEST(ctf_has_a_packet_for_each_cpu_and_declares_what_they_have)
{
	cleanup_buf struct buf buf = BUF_INIT;
	const char *metadata = "";

	(void)exported_text(SWITCHES, "ctf", &buf);
	CHECK(count_packets(buf.data, buf.len, &metadata) == 2);
	CHECK(!strncmp(metadata, "/* CTF 1.8 */\n", 14));
	CHECK(strstr(metadata, "name = \"sched:sched_switch\";") && strstr(metadata, "string next_comm;"));
	CHECK(count(metadata, "\nevent {") < 20);
}

#ifdef WEFT_SQLITE
static long ask(const char *path, const char *question)
{
	sqlite3 *handle = NULL;
	sqlite3_stmt *answer = NULL;
	long number = -1;

	if (!sqlite3_open(path, &handle) && !sqlite3_prepare_v2(handle, question, -1, &answer, NULL) &&
	    sqlite3_step(answer) == SQLITE_ROW)
		number = (long)sqlite3_column_int64(answer, 0);
	sqlite3_finalize(answer);
	sqlite3_close(handle);
	return number;
}

TEST(sqlite_has_a_row_for_each_line_of_the_kernel)
{
	char path[] = "/tmp/weft-unit-db-XXXXXX";
	cleanup_buf struct buf none = BUF_INIT;
	struct fail fail = FAIL_INIT;
	int fd = mkstemp(path);

	REQUIRE(fd >= 0);
	close(fd);
	CHECK(!export_golden(&(struct job){ .name = SWITCHES, .to = "sqlite", .database = path, .ret = &none }, &fail));
	CHECK_STR(fail.text, "");
	CHECK(ask(path, "SELECT count(*) FROM e_sched_sched_switch") ==
	      (long)kernel_lines(SWITCHES, " sched_switch: "));
	CHECK(ask(path, "SELECT count(*) FROM ftrace_event") == (long)kernel_lines(SWITCHES, ""));
	CHECK(ask(path, "SELECT count(*) FROM sched WHERE dur < -1") == 0);
	CHECK(ask(path, "SELECT count(*) FROM e_sched_sched_switch WHERE next_pid < 0") == 0);
	unlink(path);
}
#endif

/* Each allocation fails in turn: the exporter must return an error, or have the same output. */
static void starve_export(const char *name, const char *to)
{
	cleanup_buf struct buf want = BUF_INIT;
	uint64_t nr;

	REQUIRE(!export_golden(&(struct job){ .name = name, .to = to, .ret = &want }, NULL));
	for (uint64_t at = 1;; at++) {
		cleanup_buf struct buf got = BUF_INIT;
		struct fail fail = FAIL_INIT;
		bool ok;
		int r;

		starve_begin(at);
		r = export_golden(&(struct job){ .name = name, .to = to, .ret = &got }, &fail);
		nr = starve_end();
		ok = r < 0 ? CHECK(*fail.text) : CHECK(got.len == want.len && !memcmp(got.data, want.data, want.len));
		if (!ok)
			fprintf(stderr, "%s of %s: allocation %llu of %llu\n", to, name, (unsigned long long)at,
				(unsigned long long)nr);
		if (nr < at || !ok)
			return;
	}
}

TEST(exports_tell_each_lack_of_memory)
{
	static const char *const flat[] = { "jsonl", "csv", "perfetto", "chrome", "parquet", "ctf" },
				 *const stacks[] = { "folded", "flame", "speedscope", "pprof", "firefox", "chrome" };

	for (size_t i = 0; i < array_size(flat); i++)
		starve_export(SWITCHES, flat[i]);
	for (size_t i = 0; i < array_size(stacks); i++)
		starve_export(GRAPH, stacks[i]);
	starve_export("6.12-event-stacktrace", "folded");
	starve_export(CALLS, "chrome");
}
