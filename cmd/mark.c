// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/kernel.h"
#include "cmd/options/option_value.h"
#include "cmd/options/setup_values.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/readable.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/marker.h"

struct mark {
	struct kernel kernel;
	bool raw;
	uint32_t id;
	char letter;      /* of the mark that is made; 0: TEXT is written as it is */
	const char *span; /* of the COMMAND */
	char **argv;
	int64_t number; /* of a counter, or the cookie of a span */
	bool has_cookie;
	const char *event; /* the event to inject; NULL: none */
	struct buf text;   /* the words of TEXT, or the path of FILE */
	size_t words;
	struct marker marker;
	int status; /* of the COMMAND */
	bool cut;   /* some text was written as more than one marker */
};

enum { KEY_BEGIN = 0x100, KEY_END, KEY_COUNTER, KEY_INSTANT, KEY_COOKIE };

static const struct option_row options[] = {
	{ "begin", KEY_BEGIN, NULL, 0, "TEXT begins a span, which --end ends: also that of another process", 0,
	  OPTION_BY_KEY },
	{ "end", KEY_END, NULL, 0, "TEXT ends the span that --begin began", 0, OPTION_BY_KEY },
	{ "cookie", KEY_COOKIE, "N", 0, "With --begin and --end: the number that tells spans of one name apart", 0,
	  OPTION_BY_KEY },
	{ "counter", KEY_COUNTER, "N", 0, "The counter that is called TEXT has the value N", 0, OPTION_BY_KEY },
	{ "instant", KEY_INSTANT, NULL, 0, "TEXT is the name of a moment", 0, OPTION_BY_KEY },
	{ "span", 0, "NAME", 0, "Run COMMAND, and mark the time that it takes as a span", 0,
	  OPTION_TEXT(struct mark, span) },
	{ "inject", 0, "EVENT", 0,
	  "Inject an artificial EVENT whose fields have the values in TEXT: 'pid=1 comm=\"x\"'", 0,
	  OPTION_TEXT(struct mark, event) },
	{ "raw", 0, "N", 0, "Write the bytes of FILE as a raw marker with the number N", 0,
	  OPTION_RANGE(struct mark, id, 0, UINT32_MAX), OPTION_GIVEN(struct mark, raw) },
	{ 0 },
};

static void one_mark(struct mark *mark, char letter, struct argp_state *state)
{
	if (mark->letter)
		argp_error(state, "one of --begin, --end, --counter and --instant at a time");
	mark->letter = letter;
}

static int64_t number_of_option(const char *option, const char *arg, struct argp_state *state)
{
	const char *at = arg;
	int64_t number;

	if (!number_s64(&at, &number) || *at || number > INT64_C(999999999999999999) ||
	    number < -INT64_C(999999999999999999))
		argp_error(state, "%s: '%s' is no number of up to 18 digits", option, arg);
	return number;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct mark *mark = state->input;

	switch (key) {
	case KEY_BEGIN:
	case KEY_END:
	case KEY_INSTANT:
		one_mark(mark, key == KEY_BEGIN ? 'S' : key == KEY_END ? 'F' : 'I', state);
		return 0;
	case KEY_COUNTER:
		one_mark(mark, 'C', state);
		mark->number = number_of_option("--counter", arg, state);
		return 0;
	case KEY_COOKIE:
		mark->number = number_of_option("--cookie", arg, state);
		mark->has_cookie = true;
		return 0;
	case ARGP_KEY_ARG:
		if (mark->span) {
			mark->argv = &state->argv[state->next - 1];
			state->next = state->argc;
			return 0;
		}
		if (!buf_addf(&mark->text, "%s%s", mark->words++ ? " " : "", arg))
			option_no_memory(state);
		return 0;
	case ARGP_KEY_END:
		if (mark->raw + (mark->event != NULL) + (mark->letter != 0) + (mark->span != NULL) > 1)
			argp_error(state, "--raw, --inject, --span and the words for marks cannot be combined");
		if (mark->has_cookie && mark->letter != 'S' && mark->letter != 'F')
			argp_error(state, "--cookie is for --begin and --end");
		if (mark->span && !mark->argv)
			argp_error(state, "no COMMAND given");
		if (!mark->words && !mark->event && !mark->span)
			argp_error(state, mark->raw ? "no FILE given; - is standard input" :
						      "no TEXT given; - reads lines from standard input");
		if (mark->raw && mark->words > 1)
			argp_error(state, "one FILE at a time");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.children = OPTIONS_OF(kernel_options, struct mark, kernel),
	.args_doc = "TEXT...|-|--span NAME [--] COMMAND...|--raw N FILE|--inject EVENT FIELD=VALUE...",
	.doc = "Writes a marker into the trace: TEXT, or with - each line of standard input as it comes.\v"
	       "Tracing must be on; events and tracers need not be.",
};

static int write_text(struct mark *mark, const char *text, size_t len, struct fail *fail)
{
	unsigned pieces = 1;
	int err = marker_write(&mark->marker, text, len, &pieces, fail);

	if (!err && pieces > 1)
		mark->cut = true;
	return err;
}

/* Writes each line as it comes, so that its marker has that time. */
static int write_lines(struct mark *mark, struct fail *fail)
{
	cleanup_free char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int err = 0;

	while (!err && (errno = 0, len = getline(&line, &size, stdin)) >= 0) {
		if (len && line[len - 1] == '\n')
			len--;
		if (len)
			err = write_text(mark, line, (size_t)len, fail);
	}
	if (!err && ferror(stdin))
		err = fail_set(fail, errno ? -errno : -EIO, "cannot read standard input: %s", strerror(errno));
	return err;
}

static int write_raw(struct mark *mark, const char *file, struct fail *fail)
{
	bool standard_input = !strcmp(file, "-");
	cleanup_fd int opened = -1;
	cleanup_buf struct buf data = BUF_INIT;
	ssize_t got = 1;
	int fd, err = standard_input ? 0 : readable_open(file, &opened, fail);

	if (err)
		return err;
	fd = standard_input ? STDIN_FILENO : opened;
	while (got && data.len <= MARKER_RAW_MAX) {
		if (!buf_reserve(&data, 4096))
			return fail_memory(fail);
		got = io_again(read(fd, data.data + data.len, data.size - data.len));
		if (got < 0)
			return fail_set(fail, -errno, "cannot read '%s': %s", file, strerror(errno));
		data.len += (size_t)got;
	}
	return marker_write_raw(&mark->marker, mark->id, data.data, data.len, fail);
}

/* Injects an event as if it had happened. Fields that are not given are zero. */
static int inject(struct mark *mark, struct fail *fail)
{
	const struct instance *instance = mark->kernel.instance;
	struct event_set set = { 0 };
	struct catalog *catalog;
	size_t at = 0;
	char file[512];
	int err = catalog_new(&mark->kernel.tracing, &catalog, fail);

	if (err)
		return err;
	err = event_set_add(&set, catalog, mark->event, fail);
	if (!err && set.nr != 1)
		err = fail_set(fail, -EINVAL, "'%s' matches %zu events; only one can be injected at a time",
			       mark->event, set.nr);
	while (!err && !event_set_has(&set, at))
		at++;
	if (!err) {
		snprintf(file, sizeof(file), "events/%s/%s/inject", catalog->events[at].system,
			 catalog->events[at].name);
		if (!instance_has(instance, file))
			err = fail_set(fail, -EOPNOTSUPP,
				       "this kernel has no '%s'; CONFIG_TRACE_EVENT_INJECT provides it", file);
		else
			/* Without fields this writes a blank, because the kernel ignores an empty write. */
			err = instance_write(instance, file, mark->text.len ? buf_str(&mark->text) : " ", fail);
	}
	event_set_release(&set);
	catalog_free(catalog);
	return err;
}

/*
 * The text of a mark. Spans are those of a process, because another process ends them: its number is the user's, or 0.
 * The parts of a mark have bars between them.
 */
static int write_made(struct mark *mark, char letter, const char *name, int64_t pid, int64_t number, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (strpbrk(name, "|\n"))
		return fail_set(fail, -EINVAL, "the name '%s' has a bar or a newline in it", name);
	if (!buf_addf(&text, "%c|%" PRId64 "|%s", letter, pid, name) ||
	    (letter != 'I' && !buf_addf(&text, "|%" PRId64, number)))
		return fail_memory(fail);
	return write_text(mark, text.data, text.len, fail);
}

/* The status of the command becomes that of weft. */
static int run_span(struct mark *mark, struct fail *fail)
{
	pid_t pid, self = getpid();
	int err, status = 0, end;

	err = write_made(mark, 'S', mark->span, self, self, fail);
	/* Tracing may be off: the command runs all the same. */
	if (err && err != -EBADF)
		return err;
	pid = fork();
	if (!pid) {
		execvp(mark->argv[0], mark->argv);
		fprintf(stderr, "weft: cannot run '%s': %s\n", mark->argv[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	if (pid < 0)
		return fail_set(fail, -errno, "cannot fork: %s", strerror(errno));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	end = write_made(mark, 'F', mark->span, self, self, fail);
	mark->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	if (end && end != -EBADF)
		return end;
	if (err || end)
		command_warn("note: '%s' is not marked: tracing is off", mark->span);
	return 0;
}

static int write_marker(struct mark *mark, struct fail *fail)
{
	const char *text = buf_str(&mark->text);
	int err;

	if (mark->event)
		return inject(mark, fail);
	err = mark->marker.fd < 0 ? marker_open(mark->kernel.instance, mark->raw, &mark->marker, fail) : 0;
	if (err)
		return err;
	if (mark->span)
		return run_span(mark, fail);
	if (mark->letter)
		return write_made(mark, mark->letter, text, mark->letter == 'C' || mark->letter == 'I' ? getppid() : 0,
				  mark->number, fail);
	if (mark->raw)
		return write_raw(mark, text, fail);
	if (mark->words == 1 && !strcmp(text, "-"))
		return write_lines(mark, fail);
	return mark->text.len ? write_text(mark, text, mark->text.len, fail) : 0;
}

/* Behind --span NAME stands a command with options of its own. */
static bool has_span(char **argv)
{
	for (size_t i = 1; argv[i] && strcmp(argv[i], "--"); i++)
		if (!strncmp(argv[i], "--span", 6))
			return true;
	return false;
}

static int mark_run(int argc, char **argv)
{
	struct mark mark = { .text = BUF_INIT, .marker = MARKER_INIT };
	struct fail fail = FAIL_INIT;
	const char *number;
	bool given;
	int err;

	command_parse(&mark_command, argc, argv, has_span(argv) ? ARGP_IN_ORDER : 0, &mark);
	/* The command of a recording needs no privileges. */
	given = !mark.kernel.name && !mark.raw && !mark.event && (number = getenv("WEFT_MARKER_FD")) &&
		marker_given(number, &mark.marker);
	err = given ? 0 : kernel_open(&mark.kernel, NULL, &fail);
	if (!err)
		err = write_marker(&mark, &fail);
	if (mark.cut)
		command_warn("note: text longer than the kernel's markers was split into several markers");
	marker_close(&mark.marker);
	buf_release(&mark.text);
	err = kernel_finish(&mark.kernel, err, &fail);
	return err ? err : mark.status;
}

const struct command mark_command = {
	.name = "mark",
	.summary = "write a marker into the trace",
	.brief = "write a marker",
	.examples = "  weft mark begin of the second phase\n"
		    "  make 2>&1 | weft mark -\n"
		    "  weft mark --span build -- make",
	.group = "trace",
	.options = &command_options,
	.run = mark_run,
};
