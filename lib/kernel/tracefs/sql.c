// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/sql.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tracefs.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/tracefs/tracing.h"

/* In seconds: the processor time that an answer may take, and how long it is waited for on a busy machine. */
enum { SECONDS_MAX = 20, WAIT_MAX = 120 };

enum { ANSWER_MAX = 1 << 20, FIELDS_MAX = 64, SEQ_SIZE = 4096 };

/* The first byte of the child's answer; its text follows. */
enum { MADE = 'y', REFUSED = 'n' };

bool sql_is_event(const struct sql_write *write)
{
	return !strncmp(write->text, "s:", 2);
}

void sql_release(struct sql *sql)
{
	for (size_t i = 0; i < sql->nr; i++) {
		free(sql->writes[i].file);
		free(sql->writes[i].text);
	}
	*sql = (struct sql){ .nr = 0 };
}

#ifdef WEFT_WITHOUT_TRACEFS

/* tests/arch/musl-root: the substitute for libtracefs only finds tracefs. */
const char *sql_missing(void)
{
	return "libtracefs";
}

int sql_compile(const struct tracing *tracing, const struct sql_query *query, struct sql *ret, struct fail *fail)
{
	(void)tracing;
	(void)query;
	*ret = (struct sql){ .nr = 0 };
	return fail_set(fail, -ENOTSUP, "weft was built without libtracefs");
}

#else

const char *sql_missing(void)
{
	return NULL;
}

static int save_fields(struct tracefs_synth *synth, enum tracefs_synth_handler handler, const struct sql_query *query)
{
	char *list = strdup(query->save), *fields[FIELDS_MAX + 1], *save = NULL;
	size_t nr = 0;

	for (char *field = list ? strtok_r(list, ",", &save) : NULL; field && nr < FIELDS_MAX;
	     field = strtok_r(NULL, ",", &save))
		fields[nr++] = field;
	fields[nr] = NULL;
	return list ? tracefs_synth_save(synth, handler, query->variable, fields) : -1;
}

static int add_actions(struct tracefs_synth *synth, const struct sql_query *query)
{
	enum tracefs_synth_handler handler =
		query->when == SQL_ON_MAX ? TRACEFS_SYNTH_HANDLE_MAX : TRACEFS_SYNTH_HANDLE_CHANGE;
	int r = 0;

	if (query->when == SQL_ALWAYS)
		return 0;
	if (query->save)
		r = save_fields(synth, handler, query);
	if (!r && query->trace)
		r = tracefs_synth_trace(synth, handler, query->variable);
	if (!r && query->snapshot)
		r = tracefs_synth_snapshot(synth, handler, query->variable);
	return r;
}

/* In the child, which needs to free nothing: its answer is written to `fd`. */
static void answer(const char *dir, const struct sql_query *query, int fd)
{
	struct tep_handle *tep = tracefs_local_events(dir);
	struct tracefs_synth *synth;
	/* As trace_seq_init() makes it: weft calls nothing of libtraceevent, so no stranger's format reaches that. */
	struct trace_seq seq = { .buffer = calloc(1, SEQ_SIZE), .buffer_size = SEQ_SIZE, .state = TRACE_SEQ__GOOD };
	char *why = NULL, kind = REFUSED;
	int r = -1;

	if (!seq.buffer)
		return;
	synth = tep ? tracefs_sql(tep, query->name ? query->name : "Anonymous", query->text, &why) : NULL;
	if (synth && tracefs_synth_complete(synth)) {
		r = add_actions(synth, query);
		if (!r)
			r = tracefs_synth_echo_cmd(&seq, synth);
		else
			why = strdup("the variable or a field of the action is not in the query");
	} else if (synth) {
		r = tracefs_hist_echo_cmd(&seq, NULL, tracefs_synth_get_start_hist(synth), TRACEFS_HIST_CMD_START);
	}
	if (r >= 0 && synth && seq.state == TRACE_SEQ__GOOD && seq.buffer)
		kind = MADE;
	(void)!io_write(fd, &kind, 1);
	if (kind == MADE)
		(void)!io_write(fd, seq.buffer, seq.len);
	else if (!tep)
		(void)!io_write(fd, "the events of this kernel cannot be read", 40);
	else if (why)
		(void)!io_write(fd, why, strlen(why));
	else
		(void)!io_write(fd, "a field is not one of its event", 31);
}

static bool took_too_long(int status)
{
	return WIFSIGNALED(status) &&
	       (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
}

static int ask(const struct tracing *tracing, const struct sql_query *query, struct buf *ret, struct fail *fail)
{
	int ends[2], status = 0, r;
	char part[4096];
	ssize_t got;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return fail_set(fail, -errno, "cannot make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0) {
		r = fail_set(fail, -errno, "cannot start a process: %s", strerror(errno));
		close(ends[0]);
		close(ends[1]);
		return r;
	}
	if (!pid) {
		(void)setrlimit(RLIMIT_CPU, &(struct rlimit){ SECONDS_MAX, SECONDS_MAX });
		alarm(WAIT_MAX);
		answer(tracing->dir, query, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	r = 0;
	while (!r && (got = read(ends[0], part, sizeof(part))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || ret->len + (size_t)got > ANSWER_MAX || !buf_add(ret, part, (size_t)got))
			r = fail_set(fail, got < 0 ? -EIO : -ENOMEM, "cannot read what libtracefs made of the query");
	}
	close(ends[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!r && (!WIFEXITED(status) || WEXITSTATUS(status) || !ret->len))
		r = fail_set(fail, -EINVAL, "libtracefs %s on this query: '%s'",
			     took_too_long(status) ? "takes too long" : "crashes", query->text);
	return r;
}

/* Reads "echo 'TEXT' >> DIR/FILE", a line of the library. */
static bool read_line(const char *dir, struct text_word line, struct sql_write *ret)
{
	const char *end = line.at + line.len, *text = line.at + strlen("echo '"), *quote, *file;
	size_t len = strlen(dir);

	if (line.len < strlen("echo ''") || memcmp(line.at, "echo '", strlen("echo '")))
		return false;
	quote = memrchr(text, '\'', (size_t)(end - text));
	file = quote ? memchr(quote, '/', (size_t)(end - quote)) : NULL;
	if (!file || (size_t)(end - file) <= len + 1 || memcmp(file, dir, len) || file[len] != '/')
		return false;
	ret->text = strndup(text, (size_t)(quote - text));
	ret->file = strndup(file + len + 1, (size_t)(end - file) - len - 1);
	return true;
}

static int read_answer(const struct tracing *tracing, const char *text, size_t left, struct sql *sql, struct fail *fail)
{
	struct text_word line;

	while (text_next_line(&text, &left, &line)) {
		struct sql_write *write = &sql->writes[sql->nr];

		if (!line.len)
			continue;
		if (sql->nr == SQL_WRITES_MAX || !read_line(tracing->dir, line, write))
			return fail_set(fail, -EPROTO, "libtracefs made a command that weft does not know: '%.*s'",
					(int)line.len, line.at);
		sql->nr++;
		if (!write->file || !write->text)
			return fail_memory(fail);
	}
	return sql->nr ? 0 : fail_set(fail, -EINVAL, "the query makes neither an event nor a histogram");
}

int sql_compile(const struct tracing *tracing, const struct sql_query *query, struct sql *ret, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct sql sql = { .nr = 0 };
	const char *at;
	size_t len;
	int r = ask(tracing, query, &text, fail);

	if (r)
		return r;
	at = buf_str(&text);
	len = text.len;
	if (*at != MADE) {
		for (at++, len--; len && at[len - 1] == '\n'; len--)
			;
		return fail_set(fail, -EINVAL, "the query cannot be used:\n%.*s", (int)len, at);
	}
	r = read_answer(tracing, at + 1, len - 1, &sql, fail);
	if (r)
		sql_release(&sql);
	else
		*ret = sql;
	return r;
}

#endif
