// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmd/analyse.h"
#include "cmd/command.h"
#include "cmd/options/answer.h"
#include "cmd/options/choice.h"
#include "cmd/options/hist_sql.h"
#include "cmd/options/kernel.h"
#include "cmd/options/option_value.h"
#include "cmd/options/reading.h"
#include "cmd/options/setup_values.h"
#include "cmd/terminal/terminal.h"
#include "lib/answers/tally/tally.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/fit.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/measure/hist.h"
#include "lib/kernel/measure/hist_table.h"
#include "lib/kernel/measure/hist_text.h"
#include "lib/kernel/record/wake.h"
#include "lib/kernel/record/workload.h"
#include "lib/kernel/setup/tasks.h"
#include "lib/kernel/tracefs/sql.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/claim.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"
#include "lib/meaning/reader/batches.h"
#include "lib/meaning/reader/reader.h"

enum hist_format { HIST_AS_TABLE, HIST_AS_JSON, HIST_AS_KERNEL, HIST_AS_SCHEMA };

/* How it is printed. */
struct form {
	enum hist_format format;
	uint64_t max_bytes; /* 0: any number */
};

struct printing {
	const struct hist_text *hist;
	const struct hist_title *title;
	const struct form *form;
	struct hist_shape shape;
};

/* In any format but the kernel's own text, which exists already. */
static int write_rows(void *arg, uint64_t rows, struct out *out, struct fail *fail)
{
	struct printing *printing = arg;
	const struct hist_text *hist = printing->hist;
	struct json json;
	int err = 0;

	printing->shape.top = rows;
	if (printing->form->format == HIST_AS_JSON) {
		answer_open(&json, out);
		hist_table_json(hist, printing->title, &printing->shape, &json);
		json_end(&json);
		json_line(&json);
	} else {
		err = hist_table_text(hist, printing->title, &printing->shape, out, fail);
		if (!err && hist->dropped)
			out_str(out, "hits were dropped because all rows were in use: raise --size\n");
	}
	return err;
}

static int hist_print(const struct hist_text *hist, const struct hist_title *title, const struct form *form,
		      struct fail *fail)
{
	/* Blocks on a terminal whose locale has them. */
	struct printing printing = {
		.hist = hist,
		.title = title,
		.form = form,
		.shape = { .width = terminal_width(),
			   .blocks = terminal_width() && terminal_utf8(),
			   .for_more = "--max-bytes with a larger number, --filter, or coarser --keys" },
	};
	const struct fit fit = { write_rows, &printing, hist->nr, form->max_bytes };
	uint64_t left_out;
	struct out out;
	int err;

	if (!out_init(&out, 1 << 16))
		return fail_memory(fail);
	err = fit_write(&fit, &out, &left_out, fail);
	if (!err)
		err = terminal_flush(&out, fail);
	out_release(&out);
	return err;
}

struct saved {
	const struct hist_wanted *wanted;
	struct hist_title title;
	const struct form *form;
	bool *empty; /* set: no event was selected */
};

static int saved_show_parsed(const struct saved *saved, const struct tally *tally, const char *text, struct fail *fail)
{
	struct hist_text hist;
	int r = hist_text_next(&text, &hist, fail);

	if (r <= 0)
		return r ? r : fail_set(fail, -EBADMSG, "the histogram has no title");
	for (size_t i = 0; i < hist.nr_keys; i++) {
		hist.keys[i].is_signed = tally_key_is_signed(tally, i);
		hist.keys[i].is_narrow = tally_key_is_narrow(tally, i);
	}
	for (size_t i = 0; i < hist.nr_values; i++)
		hist.values[i].is_signed = tally_value_is_signed(tally, i);
	r = hist_print(&hist, &saved->title, saved->form, fail);
	hist_text_release(&hist);
	return r;
}

static int saved_show(struct saved *saved, struct tally *tally, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	int r = tally_text(tally, &text, fail);

	if (r)
		return r;
	saved->title.time_ns = tally_span(tally);
	if (saved->form->format != HIST_AS_KERNEL)
		return saved_show_parsed(saved, tally, buf_str(&text), fail);
	r = command_write(text.data, text.len, fail);
	return r ? r : command_flush(fail);
}

static void tell_limits(const struct tally *tally)
{
	if (tally_losses(tally))
		command_warn("events were lost %s time%s while it was recorded, and are in no row",
			     text_count((char[TEXT_HUMAN]){ 0 }, tally_losses(tally)),
			     tally_losses(tally) == 1 ? "" : "s");
	if (tally_lacks_stacks(tally))
		command_warn("the file has no stacks of these events: record with -T");
	if (tally_is_rough(tally))
		command_warn("there are so many values that percentiles are up to 0.8 %% too large");
}

static int tell(struct saved *saved, struct tally *tally, struct fail *fail)
{
	int r = saved_show(saved, tally, fail);

	if (!r)
		tell_limits(tally);
	return r;
}

static struct tally_wanted wishes(const struct saved *saved)
{
	const struct hist_wanted *from = saved->wanted;

	return (struct tally_wanted){
		.event = from->event,
		.second = from->second,
		.match = from->match,
		.keys = from->keys,
		.values = from->values,
		.sort = from->sort,
		.filter = from->filter,
		.size = from->size,
		.ns = from->ns,
	};
}

static int count_slices(void *arg, struct reader *reader, struct fail *fail)
{
	struct saved *saved = arg;
	const struct tally_wanted wanted = wishes(saved);
	struct tally_sum sum = { .wanted = &wanted };
	int r = tally_new(reader, &wanted, &sum.tally, fail);

	/* What is wrong with the wishes is told by counting in order. */
	r = !r && tally_can_join(sum.tally) ? reading_share(reader, &tally_shares, &sum) : -EAGAIN;
	if (!r) {
		*saved->empty = !tally_has_events(sum.tally);
		r = tell(saved, sum.tally, fail);
	}
	tally_free(sum.tally);
	return r;
}

static int count(void *arg, struct reader *reader, struct fail *fail)
{
	struct saved *saved = arg;
	const struct tally_wanted wanted = wishes(saved);
	struct tally *tally = NULL;
	const char *damage, *path;
	int r;

	if (!reader_is_merged(reader))
		return fail_set(fail, -EINVAL,
				"the clocks of the instances differ, so that their events have no common order; "
				"choose one with -B");
	r = tally_new(reader, &wanted, &tally, fail);
	if (!r)
		r = batches_run(reader, &(struct reader_consumer){ tally_see, tally }, fail);
	if (!r)
		r = tell(saved, tally, fail);
	*saved->empty = !reader_count(reader);
	damage = reader_damage(reader, &path);
	if (!r && damage)
		r = fail_set(fail, -EBADMSG, "'%s' is damaged: %s", path, damage);
	tally_free(tally);
	return r;
}

/* Whether only events of some tasks or CPUs are asked for. */
static bool chooses(const struct query *query)
{
	return query->some_cpus || query_chooses_tasks(query);
}

/* Makes the histogram of events in a file. Returns the exit status. */
static int hist_saved_run(const struct analyse *file, const struct hist_wanted *wanted, const struct hist_title *title,
			  const struct form *form)
{
	struct saved saved = { .wanted = wanted, .title = *title, .form = form };
	struct analyse in_batches = *file;
	struct fail fail = FAIL_INIT;
	int r;

	saved.empty = &in_batches.empty;
	in_batches.in_batches = true;
	in_batches.selects = chooses(&file->query);
	/* Slices are of readers that give all events. */
	in_batches.in_slices = in_batches.selects ? NULL : count_slices;
	reading_tell_left_behind(file->input);
	r = analyse_read(&in_batches, count, &saved, &fail);
	return r < 0 ? command_failed(&fail) : EXIT_OK;
}

enum { KEY_LATENCY = 0x100, KEY_FORMAT };

struct arguments {
	struct kernel kernel;
	struct hist_wanted wanted;
	char *pair; /* "FIRST..SECOND", split in two */
	struct form form;
	struct analyse file;  /* used with --input */
	struct sql_query sql; /* text: of --sql; NULL: none */
	bool saved, live, only_command, follow, dry_run;
	uint64_t interval_ns, duration_ns;
	char **argv; /* the COMMAND */
};

static const struct option_row options[] = {
	{ .doc = "What is counted:", .group = 1 },
	{ "keys", 0, "KEY[,KEY]", 0,
	  "Fields, each with a modifier if one fits: .log2 .buckets=N .hex .sym .sym-offset .syscall .execname; "
	  "and stacktrace, execname, common_cpu",
	  1, OPTION_TEXT(struct arguments, wanted.keys) },
	{ "values", 0, "FIELD[,FIELD]", 0,
	  "Sum up these fields, too; the hits are always counted. With --input also FIELD.min .p50 .p90 "
	  ".p99 .p999 .max",
	  1, OPTION_TEXT(struct arguments, wanted.values) },
	{ "sort", 0, "KEY[.descending]", 0,
	  "Sort by hitcount, a key or a value (default: by hits, the most first; steps in their order)", 1,
	  OPTION_TEXT(struct arguments, wanted.sort) },
	{ "filter", 'f', "FILTER", 0, "Count only events that match FILTER, in the kernel's filter language", 1,
	  OPTION_TEXT(struct arguments, wanted.filter) },
	{ "size", 0, "N", 0, "At most N rows (default 2048); hits that find no free row are counted as dropped", 1,
	  OPTION_RANGE(struct arguments, wanted.size, 128, 1 << 17) },
	{ "latency", KEY_LATENCY, "EVENT..EVENT", 0, "The time from the first event to the second, as the key lat", 1,
	  OPTION_BY_KEY },
	{ "key", 0, "FIELD[=FIELD]", 0,
	  "With --latency: the fields that pair the first event with the second (default common_pid); "
	  "pid also matches prev_pid and next_pid",
	  1, OPTION_TEXT(struct arguments, wanted.match) },
	{ "ns", 0, NULL, 0, "With --latency: count ns, not us", 1, OPTION_FLAG(struct arguments, wanted.ns) },
	{ "sql", 0, "QUERY", 0,
	  "Make what a SELECT over events means, a histogram or a synthetic event, and leave it there", 1,
	  OPTION_TEXT(struct arguments, sql.text) },
	{ "name", 0, "NAME", 0, "With --sql: the name of the synthetic event (default Anonymous)", 1,
	  OPTION_TEXT(struct arguments, sql.name) },
	{ "dry-run", 0, NULL, 0, "With --sql: only print what would be written, as shell", 1,
	  OPTION_FLAG(struct arguments, dry_run) },

	{ .doc = "When:", .group = 2 },
	{ "only-command", 'F', NULL, 0, "Count only events of COMMAND", 2,
	  OPTION_FLAG(struct arguments, only_command) },
	{ "follow-children", 'c', NULL, 0, "With -F: count its children's events too", 2,
	  OPTION_FLAG(struct arguments, follow) },
	{ "duration", 0, "TIME", 0, "Stop after TIME", 2, OPTION_TIME(struct arguments, duration_ns) },
	{ "live", 0, NULL, 0, "Show the histogram while it grows", 2, OPTION_FLAG(struct arguments, live) },
	{ "interval", 0, "TIME", 0, "With --live: every TIME (default 1s)", 2,
	  OPTION_TIME(struct arguments, interval_ns), OPTION_GIVEN(struct arguments, live) },

	{ .doc = "From a file:", .group = 3 },
	{ "input", 'i', "FILE", 0,
	  "Count the events of the recording FILE instead; '-' is standard input. -B then names an instance in FILE", 3,
	  OPTION_TEXT(struct arguments, file.input), OPTION_GIVEN(struct arguments, saved) },

	{ .doc = "Output:", .group = 4 },
	{ "format", KEY_FORMAT, "table|json|kernel|schema", 0,
	  "A table with bars (default), one line of JSON, the kernel's own text, or what json looks like, as a JSON "
	  "Schema",
	  4, OPTION_BY_KEY },
	{ "max-bytes", 0, "N", 0, "Print at most so many bytes: the last rows are left out, and told", 4,
	  OPTION_NUMBER(struct arguments, form.max_bytes) },
	{ 0 },
};

static enum hist_format parse_format(const char *text, struct argp_state *state)
{
	static const char *const names[] = {
		[HIST_AS_TABLE] = "table",
		[HIST_AS_JSON] = "json",
		[HIST_AS_KERNEL] = "kernel",
		[HIST_AS_SCHEMA] = "schema",
	};

	for (size_t i = 0; i < array_size(names); i++)
		if (!strcmp(text, names[i]))
			return (enum hist_format)i;
	argp_error(state, "unknown format '%s'; use table, json, kernel or schema", text);
	return HIST_AS_TABLE;
}

/* Splits "FIRST..SECOND". */
static void set_pair(struct arguments *arguments, const char *text, struct argp_state *state)
{
	char *dots;

	free(arguments->pair);
	arguments->pair = strdup(text);
	if (!arguments->pair)
		option_no_memory(state);
	dots = strstr(arguments->pair, "..");
	if (!dots || dots == arguments->pair || !dots[2])
		argp_error(state, "--latency '%s': write EVENT..EVENT", text);
	*dots = '\0';
	arguments->wanted.event = arguments->pair;
	arguments->wanted.second = dots + 2;
}

static bool parse_what(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case KEY_LATENCY:
		set_pair(arguments, arg, state);
		return true;
	}
	return false;
}

static void check_file(const struct arguments *arguments, struct argp_state *state)
{
	const struct analyse *file = &arguments->file;
	const struct query *query = &file->query;

	if (arguments->saved &&
	    (arguments->argv || arguments->live || arguments->duration_ns || arguments->only_command))
		argp_error(state, "--input counts recorded events: it cannot be combined with a COMMAND, "
				  "-F, --duration or --live");
	if (!arguments->saved && (file->query.since || file->query.until || file->query.around ||
				  file->reading.no_sandbox || file->reading.trust_size))
		argp_error(state, "--since, --until, --around, --no-sandbox and --trust-size are for --input");
	if (!arguments->saved && chooses(query))
		argp_error(state, "--cpu, --pid, --comm, --process and the like are for --input: "
				  "write -f 'common_pid == N', or count a COMMAND with -F");
	if (!arguments->saved && file->decode.wanted)
		argp_error(state, "--decode is for --input: the kernel knows nothing of plugins");
}

/* A query says all: the other options are for histograms that weft keeps while it runs. */
static void check_sql(const struct arguments *arguments, struct argp_state *state)
{
	const struct hist_wanted *wanted = &arguments->wanted;

	if (!arguments->sql.text && (arguments->sql.name || arguments->dry_run))
		argp_error(state, "--name and --dry-run are for --sql");
	if (arguments->sql.text &&
	    (wanted->event || wanted->keys || wanted->values || wanted->sort || wanted->filter || wanted->size ||
	     wanted->match || wanted->ns || arguments->saved || arguments->live || arguments->duration_ns ||
	     arguments->only_command || arguments->follow))
		argp_error(state, "--sql takes only --name, --dry-run and -B: the query names the events and fields");
}

static void check(const struct arguments *arguments, struct argp_state *state)
{
	const struct hist_wanted *wanted = &arguments->wanted;

	if (arguments->form.format == HIST_AS_SCHEMA)
		answer_print_schema(hist_command.answer);
	if (arguments->form.format == HIST_AS_KERNEL && arguments->form.max_bytes)
		argp_error(state, "--max-bytes leaves out rows of weft's table and JSON, not of the kernel's text");
	check_sql(arguments, state);
	if (arguments->sql.text)
		return;
	if (!wanted->event)
		argp_error(state, "no EVENT given; name one, or use --latency EVENT..EVENT");
	if (!wanted->second && !wanted->keys)
		argp_error(state, "the keys are missing: name fields of '%s' with --keys", wanted->event);
	if (!wanted->second && (wanted->match || wanted->ns))
		argp_error(state, "--key and --ns are for --latency");
	if (wanted->keys && !*wanted->keys)
		argp_error(state, "--keys: no key");
	if (arguments->only_command && !arguments->argv)
		argp_error(state, "-F needs a COMMAND");
	if (arguments->follow && !arguments->only_command)
		argp_error(state, "-c needs -F");
	check_file(arguments, state);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	if (parse_what(key, arg, state))
		return 0;
	switch (key) {
	case KEY_FORMAT:
		arguments->form.format = parse_format(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (!arguments->wanted.event) {
			arguments->wanted.event = arg;
			/*
			 * Words behind "--" are the COMMAND and its options. Options of weft may still follow before
			 * the "--".
			 */
			return 0;
		}
		arguments->argv = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options_child children[] = {
	{ &kernel_options, offsetof(struct arguments, kernel), 1, NULL },
	{ &decode_options, offsetof(struct arguments, file.decode), 3, NULL },
	{ &reading_options, offsetof(struct arguments, file.reading), 3, NULL },
	{ &choice_task_options, offsetof(struct arguments, file.query), 3, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.children = children,
	.args_doc = "EVENT --keys KEY... [--] [COMMAND...]\n--latency EVENT..EVENT [--] [COMMAND...]\n"
		    "--input FILE EVENT --keys KEY...\n--input FILE --latency EVENT..EVENT\n--sql QUERY",
	.doc = "Counts events by their fields in the kernel, while COMMAND runs or until Ctrl-C, and shows the "
	       "histogram. Its trigger is set in an instance of its own, or in that of -B, and removed again.",
};

/* A histogram while it is kept. */
struct session {
	const struct arguments *arguments;
	struct kernel *kernel;
	struct instance *top, *instance;
	struct undo *undo;
	struct hist hist;
	struct hist_title title;
	struct workload workload;
	struct wake wake;
	char what[300];
	uint64_t started_ns;
	int status; /* the exit status of COMMAND */
};

static int show_parsed(struct session *session, const char *text, struct fail *fail)
{
	struct hist_text hist;
	int err = hist_find(&session->hist, text, &hist, fail);

	if (err)
		return err;
	hist_sign(session->instance, &session->hist, &hist);
	err = hist_print(&hist, &session->title, &session->arguments->form, fail);
	hist_text_release(&hist);
	return err;
}

static int show(struct session *session, bool again, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	int err = tracing_stay(&session->kernel->tracing, fail);

	if (!err)
		err = hist_read(session->instance, &session->hist, &text, fail);
	if (err)
		return err;
	session->title.time_ns = now_ns() - session->started_ns;
	/* A terminal is redrawn; a file gets one text after the other. */
	if (session->arguments->live && isatty(STDOUT_FILENO))
		terminal_own("\033[H\033[J");
	else if (again && session->arguments->form.format != HIST_AS_JSON)
		putchar('\n');
	fflush(stdout);
	if (session->arguments->form.format != HIST_AS_KERNEL)
		return show_parsed(session, buf_str(&text), fail);
	err = command_write(text.data, text.len, fail);
	return err ? err : command_flush(fail);
}

/*
 * Triggers see no times while tracing is off, so this turns it on for a histogram of two events. A buffer that somebody
 * stopped must not get our events, so it is left as it is otherwise.
 */
static int turn_on(struct session *session, struct fail *fail)
{
	char word[8];

	if (session->instance->kind == INSTANCE_PRIVATE)
		return instance_turn(session->instance, true, fail);
	if (!session->arguments->wanted.second ||
	    instance_read_word(session->instance, "tracing_on", word, sizeof(word), NULL) || strcmp(word, "0") != 0)
		return 0;
	return fail_set(fail, -EAGAIN,
			"tracing is off in the instance '%s', so the kernel takes no time stamps for --latency: "
			"'weft restart -B %s' turns it on",
			session->instance->name, session->instance->name);
}

static int open_instance(struct session *session, struct fail *fail)
{
	struct kernel *kernel = session->kernel;
	int err = undo_new(&kernel->tracing, NULL, &session->undo, fail);

	if (!err)
		err = instance_open_top(&kernel->tracing, session->undo, &session->top, fail);
	if (!err && kernel->name)
		err = instance_open(&kernel->tracing, kernel->name, false, session->undo, &session->instance, fail);
	else if (!err)
		err = instance_new_private(&kernel->tracing, session->undo, &session->instance, fail);
	return err ? err : turn_on(session, fail);
}

static int begin(struct session *session, struct fail *fail)
{
	const struct arguments *arguments = session->arguments;
	struct workload_options options = { .argv = arguments->argv,
					    .path = getenv("PATH"),
					    .mask = session->wake.old_mask };
	int err = arguments->argv ? workload_fork(&options, &session->workload, fail) : 0;

	if (!err)
		err = kernel_find(session->kernel, fail);
	if (!err)
		err = open_instance(session, fail);
	/* All users of a named instance share its list of tasks, so it is claimed first. */
	if (!err && arguments->only_command && session->kernel->name)
		err = undo_claim(session->undo, session->kernel->name, &(struct claim_manner){ .waits = false }, fail);
	if (!err && arguments->only_command)
		err = kernel_tasks_only(session->instance, &session->workload.pid, 1, false, arguments->follow, fail);
	return err ? err :
		     hist_set(session->instance, session->top, session->undo, &arguments->wanted, &session->hist, fail);
}

/* Waits until COMMAND ends, a signal comes, or the time is over. Shows the histogram meanwhile. */
static int wait_and_show(struct session *session, struct fail *fail)
{
	const struct arguments *arguments = session->arguments;
	uint64_t interval = arguments->interval_ns ? arguments->interval_ns : NS_PER_S, passed = 0, step;
	enum wake_reason reason = WAKE_TIME;
	unsigned shown = 0;
	int err = 0;

	while (!err) {
		step = arguments->live ? interval : arguments->duration_ns;
		if (arguments->duration_ns && step > arguments->duration_ns - passed)
			step = arguments->duration_ns - passed;
		if (step)
			err = wake_after(&session->wake, step, fail);
		if (!err)
			err = wake_wait(&session->wake, &session->workload, &reason, &session->status, fail);
		passed = now_ns() - session->started_ns;
		if (err || reason != WAKE_TIME || (arguments->duration_ns && passed >= arguments->duration_ns))
			break;
		err = show(session, shown++ > 0, fail);
	}
	return err ? err : show(session, shown > 0, fail);
}

static int keep(struct session *session, struct fail *fail)
{
	const struct arguments *arguments = session->arguments;
	int err = wake_init(&session->wake, fail);

	if (!err)
		err = begin(session, fail);
	session->started_ns = now_ns();
	if (!err && arguments->argv)
		err = workload_go(&session->workload, NULL, fail);
	if (!err && arguments->argv)
		err = workload_executed(&session->workload, arguments->argv[0], &session->status, fail);
	return err ? err : wait_and_show(session, fail);
}

static int take_back(struct session *session, int err, struct fail *fail)
{
	struct fail later;
	int failed = session->undo ? undo_restore(session->undo, &later) : 0;
	int closed = instance_close(session->instance, failed ? NULL : &later);

	if (failed || closed) {
		if (!err)
			*fail = later;
		else
			command_warn("%s; 'weft reset' tries again", later.text);
		err = err ? err : failed ? failed : closed;
	}
	instance_close(session->top, NULL);
	undo_free(session->undo);
	workload_release(&session->workload);
	wake_release(&session->wake);
	return err;
}

static int hist_run(int argc, char **argv)
{
	struct arguments arguments = { .form = { .format = HIST_AS_TABLE }, .file = ANALYSE_INIT };
	struct session session = {
		.arguments = &arguments,
		.kernel = &arguments.kernel,
		.workload = { .pid_fd = -1, .go_fd = -1, .errno_fd = -1 },
		.wake = WAKE_NONE,
		.title = { .what = session.what },
	};
	struct fail fail = FAIL_INIT;
	int err, status;

	command_parse(&hist_command, argc, argv, ARGP_IN_ORDER, &arguments);
	snprintf(session.what, sizeof(session.what), "%s%s%s", arguments.wanted.event,
		 arguments.wanted.second ? ".." : "", arguments.wanted.second ? arguments.wanted.second : "");
	if (arguments.wanted.second)
		session.title.unit = arguments.wanted.ns ? "ns" : "us";
	if (arguments.saved) {
		arguments.file.query.instance = arguments.kernel.name;
		status = hist_saved_run(&arguments.file, &arguments.wanted, &session.title, &arguments.form);
		free(arguments.pair);
		return status;
	}
	if (arguments.sql.text) {
		err = hist_sql(&(struct hist_sql){ .kernel = &arguments.kernel,
						   .query = &arguments.sql,
						   .dry_run = arguments.dry_run },
			       &fail);
		return kernel_finish(&arguments.kernel, err, &fail);
	}
	err = keep(&session, &fail);
	err = take_back(&session, err, &fail);
	status = kernel_finish(&arguments.kernel, err, &fail);
	free(arguments.pair);
	return session.status ? session.status : status;
}

/* clang-format off */
static const struct json_member members[] = {
	{ "event", "string", "what was counted: EVENT, or EVENT..EVENT" },
	{ "unit?", "string", "of the key lat, with --latency: us or ns" },
	{ "trigger", "string", "as the kernel has it" },
	{ "hits", "number", "how many events were counted" },
	{ "entries", "number", "of the table" },
	{ "dropped", "number", "hits that found no free row" },
	{ "time_ns", "number", "for how long it was counted" },
	{ "rows[].keys.*", "number|string|object|array", "by the name of the key: of .log2 and .buckets an object "
	  "with from and to, of .execname and .syscall one with name and value, of stacktrace an array" },
	{ "rows[].values.*", "number|string|null", "by the name of the value: hitcount, and those of --values" },
	{ "rows_left_out?.rows", "number", "with --max-bytes: how many rows are missing" },
	{ "for_more?", "string", "how to get them" },
	{ 0 },
};
/* clang-format on */

const struct command hist_command = {
	.name = "hist",
	.summary = "count events by their fields, and times between them, in the kernel or in a file",
	.brief = "count and time",
	.examples = "  weft hist sched:sched_switch --keys next_comm -- make\n"
		    "  weft hist block:block_rq_issue --keys bytes.log2 --live\n"
		    "  weft hist -i trace.dat sched:sched_switch --keys next_comm\n"
		    "  weft hist --sql 'SELECT irq FROM irq_handler_entry' --dry-run",
	.group = "trace",
	.options = &command_options,
	.answer = members,
	.run = hist_run,
};
