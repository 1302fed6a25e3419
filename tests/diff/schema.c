// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints made-up records of every format file named on standard input with our programs and with libtraceevent (no plugins),
 * and tells where they differ: "EVENT<TAB>ours<TAB>theirs", one line per event, then "N same, N differ, N not theirs, N died".
 * libtraceevent runs in a child per format: it dies of some.
 */
#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/schema/format.h"
#include "lib/schema/program.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

enum { RECORDS = 24, TEXT_MAX = 1 << 14, RECORD_MAX = 1 << 14, DYNAMIC_LEN = 24 };

enum verdict { SAME, DIFFER, NOT_THEIRS, DIED, VERDICTS };

/* What the child tells the parent. */
struct shared {
	enum verdict verdict;
	char ours[TEXT_MAX], theirs[TEXT_MAX];
};

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The extremes come first, then what is random in its low bits only, then all random. */
static uint64_t random_value(unsigned turn, uint64_t *state)
{
	uint64_t value = random_next(state);

	if (turn < 2)
		return turn ? UINT64_MAX : 0;
	if (turn < 10)
		return value % 24;
	return turn < 16 ? 1ULL << value % 64 : value;
}

static void put_string(uint8_t *at, size_t len, uint64_t *state)
{
	size_t used = len ? random_next(state) % len : 0;

	for (size_t i = 0; i < used; i++)
		at[i] = (uint8_t)('a' + random_next(state) % 26);
}

static size_t make_record(const struct format *format, unsigned turn, uint64_t *state, uint8_t *record)
{
	size_t len = format->size;

	memset(record, 0, RECORD_MAX);
	memcpy(record, &format->id, 2);
	for (uint32_t i = format->nr_common; i < format->nr_fields; i++) {
		const struct field *field = &format->fields[i];

		if (field->flags & FIELD_DYNAMIC) {
			size_t from = field->flags & FIELD_RELATIVE ? field->offset + 4 : 0;
			uint32_t where = (uint32_t)(len - from) | DYNAMIC_LEN << 16;

			memcpy(record + field->offset, &where, 4);
			put_string(record + len, DYNAMIC_LEN, state);
			len += DYNAMIC_LEN;
		} else if (field->flags & FIELD_STRING) {
			put_string(record + field->offset, field->size, state);
		} else {
			for (uint32_t at = 0; at < field->size; at += field->elem_size ? field->elem_size : 1) {
				uint64_t value = random_value(turn, state);
				size_t left = field->size - at;

				memcpy(record + field->offset + at, &value, left < 8 ? left : 8);
			}
		}
	}
	return len;
}

static bool no_symbol(const void *arg, uint64_t address, char how, struct out *out)
{
	(void)arg;
	(void)how;
	/* As libtraceevent prints an address without a symbol. */
	out_f(out, "0x%llx", (unsigned long long)address);
	return true;
}

static void compare(struct shared *shared, struct schema *schema, const struct format *format, struct tep_event *event)
{
	static const struct program_env env = { .symbol = no_symbol };
	const struct program *program = schema_program(schema, format, NULL);
	static uint8_t record[RECORD_MAX];
	uint64_t state = 0x9e3779b97f4a7c15u + (uint64_t)format->id;
	struct out out;

	if (!out_init(&out, TEXT_MAX))
		return;
	for (unsigned turn = 0; turn < RECORDS && shared->verdict != DIFFER; turn++) {
		size_t len = make_record(format, turn, &state, record);
		struct tep_record theirs = { .data = record, .size = (int)len };
		struct trace_seq seq;

		out_clear(&out);
		program_run(program, &env, record, len, &out);
		out_char(&out, 0);
		trace_seq_init(&seq);
		tep_print_event(event->tep, &seq, &theirs, "%s", TEP_PRINT_INFO);
		trace_seq_terminate(&seq);
		shared->verdict = strcmp(out.start, seq.buffer) ? DIFFER : SAME;
		snprintf(shared->ours, sizeof(shared->ours), "%s", out.start);
		snprintf(shared->theirs, sizeof(shared->theirs), "%s", seq.buffer);
		trace_seq_destroy(&seq);
	}
	out_release(&out);
}

static void run_child(struct shared *shared, struct schema *schema, const struct format *format, const char *text, size_t len)
{
	struct tep_handle *tep = tep_alloc();
	struct tep_event *event = NULL;

	tep_set_flag(tep, TEP_DISABLE_PLUGINS);
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(tep, 8);
	tep_set_file_bigendian(tep, TEP_LITTLE_ENDIAN);
	shared->verdict = NOT_THEIRS;
	if (!tep_parse_event(tep, text, len, format->system))
		event = tep_find_event(tep, format->id);
	if (!event || event->flags & (int)TEP_EVENT_FL_FAILED)
		_exit(0);
	shared->verdict = SAME;
	compare(shared, schema, format, event);
	_exit(0);
}

static enum verdict try_format(struct shared *shared, const char *system, const char *text, size_t len)
{
	const struct schema_abi abi = { .long_size = 8 };
	struct schema *schema = NULL;
	const char *format_system, *name;
	enum verdict verdict = DIED;
	const struct format *format;
	int32_t id;
	int status;
	pid_t child;

	if (schema_new(&abi, &schema, NULL) || schema_add(schema, system, strlen(system), text, len, NULL))
		return DIED;
	schema_at(schema, 0, &id, &format_system, &name);
	format = schema_format(schema, id, NULL);
	if (format && format->size < RECORD_MAX / 2) {
		child = fork();
		if (!child)
			run_child(shared, schema, format, text, len);
		waitpid(child, &status, 0);
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			verdict = shared->verdict;
		if (verdict == DIFFER)
			printf("%s:%s\t%s\t%s\n", system, name, shared->ours, shared->theirs);
	}
	schema_free(schema);
	return verdict;
}

/* .../SYSTEM/EVENT/format */
static bool split_path(char *path, char **ret_system)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		return false;
	*slash = 0;
	slash = strrchr(path, '/');
	if (!slash)
		return false;
	*slash = 0;
	slash = strrchr(path, '/');
	*ret_system = slash ? slash + 1 : path;
	return true;
}

int main(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	size_t counts[VERDICTS] = { 0 };
	static char text[1 << 20];
	char path[4096], *system;

	if (shared == MAP_FAILED)
		return 2;
	while (fgets(path, sizeof(path), stdin)) {
		size_t len;

		path[strcspn(path, "\n")] = 0;
		cleanup_file FILE *file = fopen(path, "r");

		if (!file || !split_path(path, &system))
			continue;
		len = fread(text, 1, sizeof(text), file);
		counts[try_format(shared, system, text, len)]++;
		fflush(stdout);
	}
	printf("%zu same, %zu differ, %zu not theirs, %zu died\n", counts[SAME], counts[DIFFER], counts[NOT_THEIRS],
	       counts[DIED]);
	return 0;
}
