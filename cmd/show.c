// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/kernel.h"
#include "cmd/options/option_value.h"
#include "cmd/options/setup_values.h"
#include "cmd/terminal/pager.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/buffer/view.h"
#include "lib/kernel/setup/boot.h"
#include "lib/kernel/tracefs/event_select.h"

enum { NAMES_MAX = 64 };

struct show {
	struct kernel kernel;
	bool follow, snapshot, some_cpu;
	uint32_t cpu;
	char *names[NAMES_MAX]; /* the files to show, in the order of the command line */
	size_t nr_names;
};

static void add_name(struct show *show, char *name, struct argp_state *state)
{
	if (!name)
		option_no_memory(state);
	if (show->nr_names == NAMES_MAX)
		argp_error(state, "more than %d names", NAMES_MAX);
	show->names[show->nr_names++] = name;
}

/*
 * Adds the file of an event, "sched:sched_switch" or "sched/sched_switch", in events/. For a name alone, find_system()
 * replaces the empty system.
 */
static void add_of_event(const struct option_row *row, void *input, char *event, struct argp_state *state)
{
	struct show *show = input;
	const char *colon = strpbrk(event, ":/"), *alone = colon ? colon + 1 : event;
	char *name = NULL;

	if (colon == event || !*alone)
		argp_error(state, "--%s: '%s' is not of the form system:event", row->name, event);
	else if (asprintf(&name, "events/%.*s/%s/%s", colon ? (int)(colon - event) : 0, event, alone, row->name) < 0)
		name = NULL;
	add_name(show, name, state);
}

/* A setting by its name in trace-cmd, and the file that has it. */
#define SETTING(file) OPTION_TAKE(add_setting), .what = (file)

static void add_setting(const struct option_row *row, void *show, char *arg, struct argp_state *state)
{
	(void)arg;
	add_name(show, strdup(row->what), state);
}

static const struct option_row options[] = {
	{ "follow", 'p', NULL, 0, "Print trace_pipe as it grows, until Ctrl-C; what is printed is gone from the buffer",
	  1, OPTION_FLAG(struct show, follow) },
	{ "snapshot", 's', NULL, 0, "Show the snapshot instead of the trace", 1, OPTION_FLAG(struct show, snapshot) },
	{ "cpu", 'c', "N", 0, "Show only CPU N", 1, OPTION_RANGE(struct show, cpu, 0, UINT16_MAX),
	  OPTION_GIVEN(struct show, some_cpu) },
	{ "tracing_on", 0, NULL, 0, "Show whether the buffer is written", 2, SETTING("tracing_on") },
	{ "current_tracer", 0, NULL, 0, "Show the current tracer", 2, SETTING("current_tracer") },
	{ "buffer_size", 0, NULL, 0, "Show the KB of the ring buffer of each CPU", 2, SETTING("buffer_size_kb") },
	{ "buffer_total_size", 0, NULL, 0, "Show the KB of the ring buffers together", 2,
	  SETTING("buffer_total_size_kb") },
	{ "buffer_subbuf_size", 0, NULL, 0, "Show the KB of a sub-buffer", 2, SETTING("buffer_subbuf_size_kb") },
	{ "buffer_percent", 0, NULL, 0, "Show how full a buffer must be to wake a reader", 2,
	  SETTING("buffer_percent") },
	{ "ftrace_filter", 0, NULL, 0, "Show the functions that are traced", 2, SETTING("set_ftrace_filter") },
	{ "ftrace_notrace", 0, NULL, 0, "Show the functions that are not traced", 2, SETTING("set_ftrace_notrace") },
	{ "ftrace_pid", 0, NULL, 0, "Show the tasks whose functions are traced", 2, SETTING("set_ftrace_pid") },
	{ "graph_function", 0, NULL, 0, "Show the functions whose graph is traced", 2, SETTING("set_graph_function") },
	{ "graph_notrace", 0, NULL, 0, "Show the functions whose graph is not traced", 2,
	  SETTING("set_graph_notrace") },
	{ "cpumask", 0, NULL, 0, "Show the CPUs that are traced, as a mask", 2, SETTING("tracing_cpumask") },
	{ "hist", 0, "EVENT", 0, "Show the histograms of EVENT", 2, OPTION_TAKE(add_of_event) },
	{ "trigger", 0, "EVENT", 0, "Show the triggers of EVENT", 2, OPTION_TAKE(add_of_event) },
	{ 0 },
};

/* Puts the system into "events//EVENT/FILE". -ENOENT: no event is called so; several may be: the first one is meant. */
static int find_system(const struct show *show, char **name, struct fail *fail)
{
	static const char start[] = "events//";
	const char *event = *name + strlen(start), *file = strchr(event, '/');
	struct catalog *catalog = NULL;
	char *found = NULL;
	int err = catalog_new(&show->kernel.tracing, &catalog, fail);

	for (size_t i = 0; !err && !found && i < catalog->nr; i++) {
		const struct catalog_event *known = &catalog->events[i];

		if (strlen(known->name) == (size_t)(file - event) &&
		    !memcmp(known->name, event, (size_t)(file - event)) &&
		    asprintf(&found, "events/%s/%s", known->system, event) < 0) {
			found = NULL;
			err = fail_memory(fail);
		}
	}
	catalog_free(catalog);
	if (!err && !found)
		err = fail_set(fail, -ENOENT, "no event is called '%.*s'", (int)(file - event), event);
	if (found) {
		free(*name);
		*name = found;
	}
	return err;
}

static int find_systems(struct show *show, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < show->nr_names; i++)
		if (!strncmp(show->names[i], "events//", 8))
			err = find_system(show, &show->names[i], fail);
	return err;
}

static void check(const struct show *show, struct argp_state *state)
{
	if (show->follow && show->snapshot)
		argp_error(state, "-p and -s cannot be combined: a snapshot does not grow");
	if (show->nr_names && (show->follow || show->snapshot || show->some_cpu))
		argp_error(state, "-p, -s and -c are for the trace, not for '%s'", show->names[0]);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct show *show = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		add_name(show, strdup(arg), state);
		return 0;
	case ARGP_KEY_END:
		check(show, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.children = OPTIONS_OF(kernel_options, struct show, kernel),
	.args_doc = "[NAME...]",
	.doc = "Shows the kernel's own text of its trace buffer, or what a setting is: NAME is a file below the "
	       "tracing directory, or a sysctl of tracing.\v"
	       "No setting is changed; only -p and showing trace_pipe consume events.",
};

/* Writes the text at once, because its reader may be waiting for the next line. */
static int put(struct buf *text, size_t keep, struct fail *fail)
{
	size_t len = text->len - keep;
	int err = command_write(text->data, len, fail);

	if (!err)
		err = command_flush(fail);
	if (err)
		return err;
	memmove(text->data, text->data + len, keep);
	text->len = keep;
	return 0;
}

static void tell(const struct view *view, const char *file, bool nothing)
{
	if (view->cut)
		command_warn("note: tracing goes on; what happened after this call is left out");
	if (nothing && view->follows)
		return;
	if (nothing && view->pipe)
		command_warn("'%s' has nothing to show now; --follow waits for more", file);
}

static int show_file(const struct show *show, const char *file, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct view view = VIEW_INIT;
	bool nothing = true;
	int r = view_open(&view, show->kernel.instance, file, show->follow, fail), err = 0;

	if (r)
		return r;
	while (!err && (r = view_read(&view, &text, fail)) > 0) {
		nothing &= !text.len;
		/*
		 * The time in a line may turn out to be too late, so the start of a line is kept until the line is
		 * complete.
		 */
		err = put(&text, view.bounded && !view.pipe && !view.ended ? view.tail : 0, fail);
	}
	if (!err)
		err = r;
	if (!err && text.len)
		err = put(&text, 0, fail);
	view_close(&view);
	if (!err)
		tell(&view, file, nothing);
	return err;
}

static int show_trace(const struct show *show, struct fail *fail)
{
	const char *base = show->follow ? "trace_pipe" : show->snapshot ? "snapshot" : "trace";
	char file[128], dir[64];

	if (!show->some_cpu)
		return show_file(show, base, fail);
	snprintf(dir, sizeof(dir), "per_cpu/cpu%u", show->cpu);
	if (!instance_has(show->kernel.instance, dir))
		return fail_set(fail, -ENOENT, "this machine has no CPU %u", show->cpu);
	snprintf(file, sizeof(file), "%s/%s", dir, base);
	return show_file(show, file, fail);
}

/* An option of the trace can also be given by its own name. */
static const char *file_of(const struct show *show, const char *name, char into[256])
{
	snprintf(into, 256, "options/%s", name);
	if (!strchr(name, '/') && !instance_has(show->kernel.instance, name) &&
	    instance_has(show->kernel.instance, into))
		return into;
	return name;
}

static int show_sysctl(const char *path, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	int err = tracing_read_path(path, &text, fail);

	return err ? err : put(&text, 0, fail);
}

static int show_names(const struct show *show, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < show->nr_names; i++) {
		char option[256];

		if (show->nr_names > 1)
			printf("# %s\n", show->names[i]);
		if (!instance_has(show->kernel.instance, show->names[i]) && boot_sysctl(show->names[i]))
			err = show_sysctl(boot_sysctl(show->names[i]), fail);
		else
			err = show_file(show, file_of(show, show->names[i], option), fail);
	}
	return err;
}

static int run(int argc, char **argv)
{
	struct show show = { .follow = false };
	struct fail fail = FAIL_INIT;
	int err, status;

	command_parse(&show_command, argc, argv, 0, &show);
	/* A text that grows needs no pager. */
	if (!show.follow)
		pager_start();
	err = kernel_open(&show.kernel, NULL, &fail);
	if (!err)
		err = find_systems(&show, &fail);
	if (!err)
		err = show.nr_names ? show_names(&show, &fail) : show_trace(&show, &fail);
	status = kernel_finish(&show.kernel, err, &fail);
	for (size_t i = 0; i < show.nr_names; i++)
		free(show.names[i]);
	return status;
}

const struct command show_command = {
	.name = "show",
	.summary = "show the kernel's trace buffer as text, or a setting",
	.brief = "buffer, setting",
	.examples = "  weft show\n"
		    "  weft show current_tracer trace_clock",
	.group = "kernel",
	.options = &command_options,
	.run = run,
};
