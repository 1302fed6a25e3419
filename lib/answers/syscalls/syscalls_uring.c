// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What programs did by io_uring, which makes no system calls: requests by file and operation
 * (lib/meaning/follow/files.h).
 */
#include "lib/answers/syscalls/syscalls_internal.h"

#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/xxh64.h"
#include "lib/meaning/follow/files.h"
#include "lib/meaning/reader/reader.h"

struct request_row {
	const char *operation;
	uint64_t requests, errors, bytes, total, longest;
	uint32_t file;
};

#define URING_COLUMNS(X)                                                                   \
	X("FILE", TEXT, NULL, SAME, put_name, context, row)                                \
	X("OPERATION", TEXT, NULL, SAME, table_cell, row->operation ? row->operation : "") \
	X("REQUESTS", COUNT, NULL, ADDS, table_cell_u64, row->requests)                    \
	X("ERRORS", COUNT, NULL, ADDS, table_cell_u64, row->errors)                        \
	X("BYTES", SIZE, "bytes", ADDS, table_cell_u64, row->bytes)                        \
	X("TOTAL", TIME, NULL, ADDS, table_cell_u64, row->total)                           \
	X("MAX", TIME, NULL, 0, table_cell_u64, row->longest)

static void put_name(struct table *table, const struct context *context, const struct request_row *row)
{
	table_cell(table, row->file == FILES_CLOSED ? "(no descriptor)" : files_text(context, row->file));
}

static const struct table_column uring_columns[] = COLUMNS(URING_COLUMNS);

static bool moves_bytes(const char *operation)
{
	static const char *const words[] = { "READ", "WRITE", "SEND", "RECV", "SPLICE", "TEE" };

	for (size_t i = 0; i < array_size(words); i++)
		if (strstr(operation, words[i]))
			return true;
	return false;
}

static bool is_wanted(const struct syscalls_analysis *syscalls, const struct context *context,
		      const struct files_request *request)
{
	const struct state *state = &syscalls->pass->state;
	uint32_t task = state_task_of(state, request->pid);

	if (!request->done || request->until < state->start || request->until > state->now)
		return false;
	if (syscalls->options.failures && request->result >= 0)
		return false;
	if (syscalls->pass->files &&
	    !files_match(context, request->file, syscalls->pass->filter.files, syscalls->pass->filter.nr_files))
		return false;
	return task != STATE_NO_TASK ? pass_wants_of_file(syscalls->pass, &state->tasks[task], 0) :
				       !pass_chooses_tasks(syscalls->pass);
}

static bool add(struct u64_map *rows, const struct files_request *request)
{
	uint64_t key = xxh64(request->operation, strlen(request->operation)) ^ (uint64_t)request->file << 1;
	struct request_row *row = u64_map_add(rows, key);
	uint64_t lasted = request->until - request->since;

	if (!row)
		return false;
	row->operation = request->operation;
	row->file = request->file;
	row->requests++;
	row->errors += request->result < 0;
	row->bytes += request->result > 0 && moves_bytes(request->operation) ? (uint64_t)request->result : 0;
	row->total += lasted;
	row->longest = lasted > row->longest ? lasted : row->longest;
	return true;
}

void syscalls_put_uring(struct syscalls_analysis *syscalls, struct findings *findings)
{
	const struct context *context = syscalls->pass->reader->buffers[0].context;
	struct files_request request;
	const struct request_row *row;
	struct table *table;
	struct u64_map rows;
	uint64_t key;
	size_t nr = 0;

	u64_map_init(&rows, sizeof(struct request_row));
	for (; files_are_known(context) && files_request(context, nr, &request); nr++)
		if (is_wanted(syscalls, context, &request) && !add(&rows, &request))
			syscalls->pass->failed = true;
	table = rows.len || syscalls->pass->filter.shape ?
			findings_table(findings, "io_uring", "requests of io_uring, which are no system calls, by file",
				       "total", uring_columns) :
			NULL;
	for (size_t at = 0; table && (row = u64_map_next(&rows, &at, &key));) {
		URING_COLUMNS(CELL)
	}
	u64_map_release(&rows);
	if (syscalls->uring && !nr)
		findings_note(findings,
			      "programs called io_uring_enter: what io_uring reads and writes makes no system "
			      "call, so it is in no row; a recording of 'weft record --files' has it, on a kernel "
			      "with CONFIG_KPROBE_EVENTS");
}
