// SPDX-License-Identifier: GPL-2.0-only
/* trace-cmd sqlhist: events and histograms from a SELECT. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/hist_sql.h"
#include "cmd/options/kernel.h"
#include "cmd/trace_cmd/trace_cmd.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/readable.h"
#include "lib/kernel/tracefs/sql.h"

enum { QUERY_MAX = 1 << 16 };

struct sqlhist {
	struct kernel kernel;
	struct sql_query query;
	const char *dir, *file;
	bool execute;
};

static int usage(const char *what)
{
	command_warn("trace-cmd sqlhist: %s", what);
	return -TRACE_CMD_USAGE;
}

static int set_when(struct sqlhist *sqlhist, enum sql_when when, const char *variable)
{
	if (sqlhist->query.when != SQL_ALWAYS)
		return usage("only one of -m and -c can be given");
	sqlhist->query.when = when;
	sqlhist->query.variable = variable;
	return 0;
}

static int parse(int argc, char **argv, struct sqlhist *sqlhist)
{
	int key, r = 0;

	optind = 1;
	while (!r && (key = getopt(argc, argv, "+ht:f:en:m:c:sS:TB:")) != -1) {
		switch (key) {
		case 't':
			sqlhist->dir = optarg;
			break;
		case 'f':
			sqlhist->file = optarg;
			break;
		case 'e':
			sqlhist->execute = true;
			break;
		case 'n':
			sqlhist->query.name = optarg;
			break;
		case 'm':
			r = set_when(sqlhist, SQL_ON_MAX, optarg);
			break;
		case 'c':
			r = set_when(sqlhist, SQL_ON_CHANGE, optarg);
			break;
		case 's':
			sqlhist->query.snapshot = true;
			break;
		case 'S':
			sqlhist->query.save = optarg;
			break;
		case 'T':
			sqlhist->query.snapshot = sqlhist->query.trace = true;
			break;
		case 'B':
			sqlhist->kernel.name = optarg;
			break;
		default:
			return -TRACE_CMD_USAGE;
		}
	}
	if (!r && sqlhist->dir && sqlhist->execute)
		return usage("-e makes events in the kernel, and -t reads a copy: they cannot be combined");
	if (!r && (sqlhist->query.snapshot || sqlhist->query.save) && sqlhist->query.when == SQL_ALWAYS)
		return usage("-s, -T and -S need -m or -c, which say when");
	if (!r && sqlhist->query.when != SQL_ALWAYS && !sqlhist->query.snapshot && !sqlhist->query.save)
		sqlhist->query.trace = true;
	return r;
}

/* The words of the command line, or the file of -f, become one text. */
static int read_query(const struct sqlhist *sqlhist, int argc, char **argv, struct buf *text, struct fail *fail)
{
	bool is_stdin = sqlhist->file && !strcmp(sqlhist->file, "-"), ok = true;
	cleanup_fd int fd = -1;
	int r = sqlhist->file && !is_stdin ? readable_open(sqlhist->file, &fd, fail) : 0;

	if (!r && sqlhist->file && (r = io_read_all(is_stdin ? STDIN_FILENO : fd, QUERY_MAX, text)))
		fail_set(fail, r, "cannot read '%s': %s", sqlhist->file, strerror(-r));
	if (r)
		return r;
	for (int i = optind; ok && !sqlhist->file && i < argc; i++)
		ok = buf_addf(text, "%s%s", text->len ? " " : "", argv[i]);
	if (!ok)
		return fail_memory(fail);
	return text->len ? 0 : fail_set(fail, -TRACE_CMD_USAGE, "there is no query: 'SELECT FIELD FROM EVENT'");
}

int trace_cmd_sqlhist(int argc, char **argv)
{
	struct sqlhist sqlhist = { .dir = NULL };
	cleanup_buf struct buf text = BUF_INIT;
	struct fail fail = FAIL_INIT;
	int r = parse(argc, argv, &sqlhist);

	if (r < 0)
		return TRACE_CMD_USAGE;
	r = read_query(&sqlhist, argc, argv, &text, &fail);
	sqlhist.query.text = buf_str(&text);
	if (!r)
		r = hist_sql(&(struct hist_sql){ .kernel = &sqlhist.kernel,
						 .query = &sqlhist.query,
						 .dir = sqlhist.dir,
						 .dry_run = !sqlhist.execute },
			     &fail);
	if (!r)
		r = command_flush(&fail);
	kernel_close(&sqlhist.kernel);
	return r ? trace_cmd_failed(r, &fail) : EXIT_OK;
}
