// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/kernel.h"
#include "cmd/options/option_value.h"
#include "cmd/options/setup_values.h"
#include "lib/base/buf.h"
#include "lib/base/io.h"
#include "lib/tracefs/event_select.h"
#include "lib/undo/change.h"
#include "lib/undo/marker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct mark {
	struct kernel kernel;
	bool raw;
	uint32_t id;
	const char *event; /* the event to inject; NULL: none */
	struct buf text;   /* the words of TEXT, or the path of FILE */
	size_t words;
	struct marker marker;
	bool cut; /* some text was written as more than one marker */
};

enum { KEY_INJECT = 0x100, KEY_RAW };

static const struct argp_option options[] = {
	{ "inject", KEY_INJECT, "EVENT", 0,
	  "Inject an artificial EVENT whose fields have the values in TEXT: 'pid=1 comm=\"x\"'", 0 },
	{ "raw", KEY_RAW, "N", 0, "Write the bytes of FILE as a raw marker with the number N", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct mark *mark = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &mark->kernel;
		return 0;
	case KEY_RAW:
		mark->raw = true;
		mark->id = (uint32_t)setup_number("--raw", arg, 0, UINT32_MAX, state);
		return 0;
	case KEY_INJECT:
		mark->event = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (!buf_addf(&mark->text, "%s%s", mark->words++ ? " " : "", arg))
			option_no_memory(state);
		return 0;
	case ARGP_KEY_END:
		if (mark->raw && mark->event)
			argp_error(state, "--raw and --inject cannot be combined");
		if (!mark->words && !mark->event)
			argp_error(state, mark->raw ? "no FILE given; - is standard input" :
						      "no TEXT given; - reads lines from standard input");
		if (mark->raw && mark->words > 1)
			argp_error(state, "one FILE at a time");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.children = kernel_children,
	.args_doc = "TEXT...|-|--raw N FILE|--inject EVENT FIELD=VALUE...",
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
	cleanup_fd int opened = standard_input ? -1 : open(file, O_RDONLY | O_CLOEXEC);
	int fd = standard_input ? STDIN_FILENO : opened;
	cleanup_buf struct buf data = BUF_INIT;
	ssize_t got = 1;

	if (fd < 0)
		return fail_set(fail, -errno, "cannot open '%s': %s", file, strerror(errno));
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

static int write_marker(struct mark *mark, struct fail *fail)
{
	const char *text = buf_str(&mark->text);
	int err;

	if (mark->event)
		return inject(mark, fail);
	err = marker_open(mark->kernel.instance, mark->raw, &mark->marker, fail);
	if (err)
		return err;
	if (mark->raw)
		return write_raw(mark, text, fail);
	if (mark->words == 1 && !strcmp(text, "-"))
		return write_lines(mark, fail);
	return mark->text.len ? write_text(mark, text, mark->text.len, fail) : 0;
}

static int mark_run(int argc, char **argv)
{
	struct mark mark = { .text = BUF_INIT, .marker = MARKER_INIT };
	struct fail fail = FAIL_INIT;
	int err;

	command_parse(&mark_command, argc, argv, 0, &mark);
	err = kernel_open(&mark.kernel, NULL, &fail);
	if (!err)
		err = write_marker(&mark, &fail);
	if (mark.cut)
		command_warn("note: text longer than the kernel's markers was split into several markers");
	marker_close(&mark.marker);
	buf_release(&mark.text);
	return kernel_finish(&mark.kernel, err, &fail);
}

const struct command mark_command = {
	.name = "mark",
	.summary = "write a marker into the trace",
	.brief = "write a marker",
	.examples = "  weft mark begin of the second phase\n"
		    "  make 2>&1 | weft mark -",
	.group = "trace",
	.argp = &argp,
	.run = mark_run,
};
