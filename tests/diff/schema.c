// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints made-up records of every format file named on standard input with weft's code and with libtraceevent (without
 * plugins), and prints where they differ: "SYSTEM:EVENT<TAB>ours<TAB>theirs" (newlines as \n), then one line of counts.
 * Arguments: SEED RECORDS.
 *
 * The first RECORDS of each format are well-formed: extreme values, one bit, small numbers, random ones. As many again
 * are malformed: cut short, strings without an end, dynamic fields that point anywhere. No kernel writes malformed
 * records, so they have no right text: both sides print them and only have to end.
 * Each record lies in a block of exactly its size, so that ASan detects a read outside of it. Under ASan the program
 * runs only weft's code. Otherwise libtraceevent runs in a child, because some records crash it; the next child
 * continues behind the record that crashed.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/schema/program.h"

enum { TEXT_MAX = 1 << 14, RECORD_MAX = 1 << 13, DYNAMIC_LEN = 24, FORMATS_MAX = 1 << 14 };

/* One format file, and the texts that the two sides print for it. */
struct subject {
	char *system, *text;
	size_t len;
	struct schema *schema;
	const struct format *format;
	char **ours; /* texts of the well-formed records */
};

static struct run {
	uint64_t seed;
	unsigned records;
	struct subject *subjects;
	size_t nr;
	size_t same, differ, not_theirs, died, malformed, events_differ;
} run;

/* The record at which the child is, and its text. */
static struct shared {
	size_t subject;
	unsigned turn;
	bool theirs; /* libtraceevent could parse the format */
} * shared;

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Extreme values come first, then small numbers, one bit, then any value. */
static uint64_t random_value(unsigned turn, uint64_t *state)
{
	uint64_t value = random_next(state);

	switch (turn % 24) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return 0x8000000080008080;
	case 3:
		return 0x7fffffff7fff7f7f;
	case 4 ... 10:
		return value % 24;
	case 11 ... 16:
		return 1ULL << value % 64;
	default:
		return value;
	}
}

static void put_string(uint8_t *at, size_t len, bool ends, uint64_t *state)
{
	size_t used = len ? random_next(state) % len : 0;

	if (!ends)
		used = len;
	for (size_t i = 0; i < used; i++)
		at[i] = (uint8_t)('a' + random_next(state) % 26);
}

static void put_values(uint8_t *at, const struct field *field, unsigned turn, uint64_t *state)
{
	uint32_t step = field->elem_size ? field->elem_size : 1;

	for (uint32_t offset = 0; offset < field->size; offset += step) {
		uint64_t value = random_value(turn, state);
		size_t left = field->size - offset;

		memcpy(at + offset, &value, left < sizeof(value) ? left : sizeof(value));
	}
}

/* Makes the record of this turn in `record`; returns its length. */
static size_t make_record(const struct format *format, unsigned turn, uint8_t *record)
{
	bool bad = turn >= run.records;
	uint64_t state = run.seed ^ (uint64_t)format->id * 0x9e3779b97f4a7c15u ^ (uint64_t)turn << 48;
	size_t len = format->size;

	if (!state)
		state = 1;
	for (int i = 0; i < 4; i++)
		random_next(&state);
	memset(record, 0, RECORD_MAX);
	memcpy(record, &format->id, 2);
	for (uint32_t i = format->nr_common; i < format->nr_fields; i++) {
		const struct field *field = &format->fields[i];

		if (field->flags & FIELD_DYNAMIC) {
			size_t from = field->flags & FIELD_RELATIVE ? field->offset + 4 : 0;
			uint32_t where = (uint32_t)(len - from) | DYNAMIC_LEN << 16;

			if (bad && random_next(&state) % 2)
				where = (uint32_t)random_next(&state) &
					(random_next(&state) % 2 ? 0x00ff00ff : UINT32_MAX);
			memcpy(record + field->offset, &where, 4);
			put_string(record + len, DYNAMIC_LEN, !bad, &state);
			len += DYNAMIC_LEN;
		} else if (field->flags & FIELD_STRING) {
			put_string(record + field->offset, field->size, !bad, &state);
		} else {
			put_values(record + field->offset, field, turn, &state);
		}
	}
	return bad && random_next(&state) % 2 ? 2 + random_next(&state) % (len - 1) : len;
}

/* A block of exactly that size; NULL without memory. */
static uint8_t *copy_record(const uint8_t *record, size_t len)
{
	uint8_t *copy = malloc(len);

	if (copy)
		memcpy(copy, record, len);
	return copy;
}

static bool no_symbol(const void *arg, uint64_t address, char how, struct out *out)
{
	(void)arg;
	(void)how;
	/* An address without a symbol as libtraceevent prints it. */
	out_f(out, "0x%llx", (unsigned long long)address);
	return true;
}

static bool print_ours(struct subject *subject, struct out *out)
{
	static const struct program_env env = { .symbol = no_symbol }, hashed = { .hash_pointers = true };
	const struct program *program = schema_program(subject->schema, subject->format, NULL);
	static uint8_t record[RECORD_MAX];

	subject->ours = calloc(run.records, sizeof(*subject->ours));
	if (!program || !subject->ours)
		return false;
	for (unsigned turn = 0; turn < 2 * run.records; turn++) {
		size_t len = make_record(subject->format, turn, record);
		cleanup_free uint8_t *exact = copy_record(record, len);

		if (!exact)
			return false;
		out_clear(out);
		program_fields(schema_abi(subject->schema), subject->format, &hashed, exact, len, out);
		out_clear(out);
		program_run(program, &env, exact, len, out);
		out_char(out, 0);
		if (turn < run.records && !(subject->ours[turn] = strdup(out->start)))
			return false;
		run.malformed += turn >= run.records;
	}
	return true;
}

static void print_escaped(const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", stdout);
		else
			putchar(*text == '\t' ? ' ' : *text);
	}
}

static void compare(struct subject *subject, unsigned turn, const char *theirs)
{
	const char *ours = subject->ours[turn];

	if (!strcmp(ours, theirs)) {
		run.same++;
		return;
	}
	run.differ++;
	printf("%s:%s\t", subject->system, subject->format->name);
	print_escaped(ours);
	putchar('\t');
	print_escaped(theirs);
	putchar('\n');
}

static struct tep_event *parse_theirs(struct tep_handle *tep, const struct subject *subject)
{
	struct tep_event *event;

	tep_set_flag(tep, TEP_DISABLE_PLUGINS);
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(tep, 8);
	tep_set_file_bigendian(tep, TEP_LITTLE_ENDIAN);
	if (tep_parse_event(tep, subject->text, subject->len, subject->system))
		return NULL;
	event = tep_find_event(tep, subject->format->id);
	return event && !(event->flags & (int)TEP_EVENT_FL_FAILED) ? event : NULL;
}

static void print_theirs(const struct subject *subject, const struct tep_event *event, FILE *to)
{
	static uint8_t record[RECORD_MAX];

	for (; shared->turn < 2 * run.records; shared->turn++) {
		size_t len = make_record(subject->format, shared->turn, record);
		struct tep_record theirs = { .data = record, .size = (int)len };
		struct trace_seq seq;
		uint32_t text_len;

		trace_seq_init(&seq);
		tep_print_event(event->tep, &seq, &theirs, "%s", TEP_PRINT_INFO);
		trace_seq_terminate(&seq);
		text_len = (uint32_t)strnlen(seq.buffer, TEXT_MAX - 1);
		if (shared->turn < run.records) {
			fwrite(&shared->subject, sizeof(shared->subject), 1, to);
			fwrite(&shared->turn, sizeof(shared->turn), 1, to);
			fwrite(&text_len, sizeof(text_len), 1, to);
			fwrite(seq.buffer, 1, text_len, to);
			fflush(to);
		}
		trace_seq_destroy(&seq);
	}
}

/* Prints the records from shared->subject and its shared->turn to the end. */
static void child_main(FILE *to)
{
	for (; shared->subject < run.nr; shared->subject++) {
		const struct subject *subject = &run.subjects[shared->subject];
		struct tep_handle *tep = tep_alloc();
		struct tep_event *event = parse_theirs(tep, subject);

		shared->theirs = event;
		if (event)
			print_theirs(subject, event, to);
		else if (shared->turn < 2 * run.records)
			fprintf(stderr, "not theirs: %s:%s\n", subject->system, subject->format->name);
		shared->turn = 0;
		tep_free(tep);
	}
	_exit(0);
}

static void read_theirs(FILE *from)
{
	static char text[TEXT_MAX];
	uint32_t len;
	unsigned turn;
	size_t at;

	rewind(from);
	while (fread(&at, sizeof(at), 1, from) == 1 && fread(&turn, sizeof(turn), 1, from) == 1 &&
	       fread(&len, sizeof(len), 1, from) == 1 && len < TEXT_MAX && fread(text, 1, len, from) == len) {
		text[len] = 0;
		compare(&run.subjects[at], turn, text);
	}
}

static bool run_theirs(void)
{
	while (shared->subject < run.nr) {
		cleanup_file FILE *texts = tmpfile();
		int status;
		pid_t child;

		fflush(stdout);
		child = texts ? fork() : -1;
		if (child < 0)
			return false;
		if (!child) {
			alarm(60);
			child_main(texts);
		}
		waitpid(child, &status, 0);
		read_theirs(texts);
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			continue;
		run.died++;
		if (shared->turn < 2 * run.records) {
			shared->turn++;
		} else {
			shared->turn = 0;
			shared->subject++;
		}
	}
	return true;
}

/* .../SYSTEM/EVENT/format */
static bool add_subject(char *path)
{
	static char text[1 << 20];
	struct schema_abi abi = { .long_size = 8 };
	struct subject *subject = &run.subjects[run.nr];
	cleanup_file FILE *file = fopen(path, "r");
	const char *system, *name;
	char *slash;
	int32_t id;

	if (!file || run.nr == FORMATS_MAX)
		return false;
	subject->len = fread(text, 1, sizeof(text), file);
	for (int up = 0; up < 2; up++) {
		slash = strrchr(path, '/');
		if (!slash)
			return false;
		*slash = 0;
	}
	slash = strrchr(path, '/');
	subject->system = strdup(slash ? slash + 1 : path);
	subject->text = strndup(text, subject->len);
	if (!subject->system || !subject->text || schema_new(&abi, &subject->schema, NULL) ||
	    schema_add(subject->schema, subject->system, strlen(subject->system), subject->text, subject->len, NULL))
		return false;
	schema_at(subject->schema, 0, &id, &system, &name);
	subject->format = schema_format(subject->schema, id, NULL);
	if (subject->format && subject->format->size < RECORD_MAX / 2)
		run.nr++;
	else
		printf("%s:%s\tcannot be compiled\t\n", subject->system, name);
	return true;
}

int main(int argc, char **argv)
{
	char path[4096];
	struct out out;

	if (argc != 3)
		return 2;
	run.seed = strtoull(argv[1], NULL, 0);
	run.records = (unsigned)strtoul(argv[2], NULL, 0);
	run.subjects = calloc(FORMATS_MAX, sizeof(*run.subjects));
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || !run.subjects || !out_init(&out, TEXT_MAX))
		return 2;
	while (fgets(path, sizeof(path), stdin)) {
		path[strcspn(path, "\n")] = 0;
		if (!add_subject(path)) {
			fprintf(stderr, "cannot read %s\n", path);
			return 2;
		}
	}
	for (size_t i = 0; i < run.nr; i++)
		if (!print_ours(&run.subjects[i], &out))
			return 2;
#ifndef __SANITIZE_ADDRESS__
	if (!run_theirs())
		return 2;
#endif
	printf("%zu formats, %zu records the same, %zu differ, %zu malformed; theirs died %zu times\n", run.nr,
	       run.same, run.differ, run.malformed, run.died);
	return 0;
}
