// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/analyse.h"
#include "cmd/command.h"
#include "cmd/export_write.h"
#include "cmd/options/choice.h"
#include "cmd/options/decode.h"
#include "cmd/options/formats.h"
#include "cmd/options/option_value.h"
#include "cmd/options/reading.h"
#include "cmd/terminal/progress.h"
#include "cmd/terminal/terminal.h"
#include "formats/export/export.h"
#include "formats/export/sqlite/db_query.h"
#include "lib/ground/base/draft.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/fit.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/pages/trace/trace.h"

/* weft sql: answers SQL questions about a recording, with the tables of `weft export --to sqlite`. */

struct arguments {
	const char *input, *sql;
	struct query query;
	struct decode decode;
	enum table_format format;
	struct reading reading;
	uint64_t max_bytes;
	bool quiet;
};

static const struct option_row options[] = {
	{ "input", 'i', "FILE", 0, "Read FILE; '-' is standard input (default: trace.dat)", 1,
	  OPTION_ONCE(struct arguments, input, "file") },
	{ "format", 0, "text|json|csv|schema", 0,
	  "Print for people (text, the default) or for programs, or what json looks like, as a JSON Schema", 3,
	  OPTION_CALL(struct arguments, format, analyse_take_format) },
	{ "max-bytes", 0, "N", 0, "Print at most so many bytes: the last rows are left out, and told", 3,
	  OPTION_NUMBER(struct arguments, max_bytes) },
	{ "quiet", 'q', NULL, 0, "No progress line", 4, OPTION_FLAG(struct arguments, quiet) },
	{ 0 },
};

/* Its columns are those of the statement. */
static const char schema[] =
	"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$comment\":\"version 1\",\"type\":"
	"\"array\",\"items\":{"
	"\"type\":\"object\",\"description\":\"a row: the values of the statement's columns by name\","
	"\"additionalProperties\":{\"type\":[\"integer\",\"number\",\"string\",\"null\"]}}}\n";

/* A word with a blank is a statement, unless there is a file of that name. */
static void place(struct arguments *arguments, const char *arg, struct argp_state *state)
{
	bool statement = arguments->input || (strpbrk(arg, " \t\n") && access(arg, F_OK));

	if (statement && arguments->sql)
		argp_error(state, "one statement at a time: '%s' and '%s'", arguments->sql, arg);
	if (statement)
		arguments->sql = arg;
	else if (arguments->sql)
		argp_error(state, "the file must come before the statement: '%s'", arg);
	else
		arguments->input = arg;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct fail fail = FAIL_INIT;

	switch (key) {
	case ARGP_KEY_ARG:
		place(arguments, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (arguments->format == TABLE_AS_SCHEMA)
			format_print_schema(schema);
		/* Without SQLite, open_db() says so. */
		if (arguments->sql && db_query_check(arguments->sql, &fail) == -EINVAL)
			argp_error(state, "%s", fail.text);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options_child children[] = {
	{ &choice_options, offsetof(struct arguments, query), 2, NULL },
	{ &decode_options, offsetof(struct arguments, decode), 3, NULL },
	{ &reading_options, offsetof(struct arguments, reading), 4, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.args_doc = "[FILE] [SELECT]",
	.doc = "Answers a SELECT of SQL from a recording; without one, lists the tables and their columns."
	       "\vFrom a damaged file, all that can be read is used; the exit status is then 1.",
	.children = children,
};

/* The database is a file without a name, so that nothing is left of it, however weft ends. */
static int open_db(struct export_job *job, struct db **ret_handle, struct fail *fail)
{
	const char *dir = getenv("TMPDIR");
	int r;

	if (db_query_missing())
		return fail_without(fail, db_query_missing(), "'weft sql'",
				    "use the weft of a package, or build it where the library's headers are "
				    "installed");
	if (!dir || *dir != '/')
		dir = "/tmp";
	r = draft_nameless(dir, &job->fd);
	if (r)
		return fail_set(fail, r, "cannot make a file in '%s' for the tables: %s", dir, strerror(-r));
	r = job->ops->open(job->fd, &job->db, fail);
	return r ? r : db_query_open(ret_handle, fail);
}

struct put {
	struct table *table;
	enum table_format format;
};

/* Writes the first rows only. */
static int write_first(void *arg, uint64_t rows, struct out *out, struct fail *fail)
{
	const struct put *put = arg;
	size_t nr_items = put->table->nr_items;
	bool ok;

	put->table->nr_items = (size_t)rows * put->table->nr_columns;
	ok = table_write(put->table, put->format, out);
	put->table->nr_items = nr_items;
	return ok ? 0 : fail_memory(fail);
}

static int put(const struct arguments *arguments, struct table *table, struct out *out, struct fail *fail)
{
	struct put put = { table, arguments->format };
	const struct fit fit = { write_first, &put, table_rows(table), arguments->max_bytes };
	uint64_t left_out;
	int r;

	table->width = terminal_width();
	r = fit_write(&fit, out, &left_out, fail);
	if (!r)
		r = command_write(out->start, out_len(out), fail);
	if (!r && left_out)
		command_warn("%s more row%s: --max-bytes with a larger number, or LIMIT and OFFSET in the "
			     "statement, show them",
			     text_count((char[TEXT_HUMAN]){ 0 }, left_out), text_plural(left_out));
	return r;
}

static int print(const struct arguments *arguments, const struct export_job *job, struct db *handle, struct fail *fail)
{
	struct db_answer answer;
	struct db_map map;
	struct out out;
	int r = db_query_use(handle, job->fd, &map, fail);

	if (r)
		return r;
	r = db_query(handle, arguments->sql, &answer, fail);
	if (!r && !out_init(&out, 1 << 16)) {
		r = fail_memory(fail);
	} else if (!r) {
		r = put(arguments, &answer.table, &out, fail);
		out_release(&out);
	}
	db_answer_release(&answer);
	return r;
}

/* The tables of an analysis leave out what the recorder did, and those of an export have it. */
static void tell_self(const struct arguments *arguments)
{
	if (arguments->sql && arguments->format == TABLE_AS_TEXT && !arguments->quiet &&
	    arguments->query.self == QUERY_SELF_UNSAID)
		command_warn("note: this includes weft's own tasks; --no-self leaves them out");
}

/* Returns -EBADMSG if the file is damaged; the answer is then about what could be read of it. */
static int answer(const struct arguments *arguments, struct export_job *job, struct db *handle, struct fail *fail)
{
	struct fail damage = FAIL_INIT;
	struct trace *trace = NULL;
	bool self;
	int r, read = reading_open(arguments->input, &arguments->reading, &trace, &damage);

	if (!read)
		read = export_write(job, trace, &damage);
	else if (read == -EBADMSG)
		read = -EIO;
	self = !read && trace_setting(trace, 0, "weft/self").len;
	trace_free(trace);
	if (read && read != -EBADMSG) {
		*fail = damage;
		return read;
	}
	r = print(arguments, job, handle, fail);
	if (!r && self)
		tell_self(arguments);
	if (!r && read)
		*fail = damage;
	return r ? r : read;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .query = QUERY_INIT, .format = TABLE_AS_TEXT };
	struct export_job job = { .query = &arguments.query, .ops = export_find("sqlite"), .fd = -1 };
	struct db *handle = NULL;
	struct fail fail = FAIL_INIT;
	int r;

	command_parse(&sql_command, argc, argv, 0, &arguments);
	job.decode = arguments.decode;
	job.keeps_rights = arguments.reading.no_sandbox;
	arguments.reading.opens_more = arguments.decode.wanted;
	if (!arguments.input)
		arguments.input = "trace.dat";
	reading_tell_left_behind(arguments.input);
	r = open_db(&job, &handle, &fail);
	if (!r && !arguments.quiet)
		progress_prepare("sql", false);
	if (!r)
		r = answer(&arguments, &job, handle, &fail);
	db_query_close(handle);
	query_release(&arguments.query);
	job.ops->close(job.db);
	return r ? command_failed(&fail) : EXIT_OK;
}

const struct command sql_command = {
	.name = "sql",
	.summary = "ask a recording in SQL",
	.brief = "ask with SELECT",
	.examples = "  weft sql trace.dat 'SELECT name, count(*), sum(dur) FROM slice GROUP BY name ORDER BY 3 DESC'\n"
		    "  weft sql --format csv trace.dat 'SELECT ts, prev_comm FROM e_sched_sched_switch'",
	.group = "read",
	.options = &command_options,
	.run = run,
};
