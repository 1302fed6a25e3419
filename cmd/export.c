// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/export_write.h"
#include "cmd/options/choice.h"
#include "cmd/options/decode.h"
#include "cmd/options/host_options.h"
#include "cmd/options/option_value.h"
#include "cmd/options/output_options.h"
#include "cmd/options/reading.h"
#include "cmd/options/setup_values.h"
#include "cmd/sandbox_child.h"
#include "cmd/sandboxed_folder.h"
#include "cmd/terminal/progress.h"
#include "formats/export/export.h"
#include "lib/ground/base/destination.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/guest/host.h"
#include "lib/pages/trace/trace.h"

/* weft export: writes a recording as a file of another program. */

/* What is told when the file has its name. */
struct exported {
	uint64_t events, bytes, gaps;
};

struct arguments {
	const char *input, *output;
	struct query query;
	struct decode decode;
	const struct export_ops *ops;
	const char *fields, *weight, *diff, *partition;
	struct option_words counters;
	struct guest_host host;
	uint64_t max_size;
	mode_t mode;
	struct reading reading;
	bool quiet;
	struct exported *done; /* shared with the reader process */
};

#define NEEDS_FILE "format '%s' needs a regular file: name one with -o FILE"
#define EXPORT_NAME(name) "|" #name
#define EXPORT_NAMES (&EXPORTS(EXPORT_NAME)[1])

static void list_exports(void)
{
	for (size_t i = 0; export_at(i); i++)
		printf("%-12s %s\n", export_at(i)->name, export_at(i)->summary);
	exit(EXIT_OK);
}

static void take_format(const struct option_row *row, void *ops, char *name, struct argp_state *state)
{
	const struct export_ops *found = export_find(name);
	struct near near = near_to(name);
	struct fail fail = FAIL_INIT;

	(void)row;
	*(const struct export_ops **)ops = found;
	if (found)
		return;
	if (!strcmp(name, "help"))
		list_exports();
	for (size_t i = 0; export_at(i); i++)
		near_offer(&near, export_at(i)->name);
	near_fail(&near, &fail, -ENOENT, "--to: there is no '%s'", name);
	argp_error(state, "%s%s", fail.text, near.found ? "" : "; 'weft export --to help' lists what there is");
}

static const struct option_row options[] = {
	{ "input", 'i', "FILE", 0, "Read FILE; '-' is standard input (default: trace.dat)", 1,
	  OPTION_ONCE(struct arguments, input, "file") },
	{ "to", 0, EXPORT_NAMES, 0, "Format to write; 'weft export --to help' describes each", 1,
	  OPTION_CALL(struct arguments, ops, take_format) },
	{ "output", 'o', "FILE", 0, "Write FILE; for parquet, intervals and ctf a directory (default: standard output)",
	  1, OPTION_TEXT(struct arguments, output) },
	{ "fields", 0, "FIELD", 0,
	  "The columns of jsonl and csv, with commas: ts, cpu, instance, pid, tgid, comm, flags, system, event, lost, "
	  "fields, text, decoded, process, program, unit, container, pod, cgroup, user, mark, and fields of the events",
	  3, OPTION_TEXT(struct arguments, fields) },
	{ "weight", 0, "self-time|on-cpu|off-cpu|count", 0,
	  "What stacks weigh in folded, flame, speedscope, pprof and firefox (default: the first that there is)", 3,
	  OPTION_TEXT(struct arguments, weight) },
	{ "counter", 0, "EVENT:FIELD", 0,
	  "The values of this field are a counter, too (perfetto, html, chrome and firefox); repeatable", 3,
	  OPTION_WORDS(struct arguments, counters) },
	{ "max-size", 0, "SIZE", 0,
	  "Largest size of html, or of all markers of firefox, which limits the detail: 512K, 100M (default: 20M)", 3,
	  OPTION_SIZE(struct arguments, max_size) },
	{ "diff", 0, "FILE", 0, "Compare the stacks with those of FILE, the older recording (folded and flame only)", 3,
	  OPTION_TEXT(struct arguments, diff) },
	{ "partition", 0, "KEY=VALUE", 0,
	  "Write parquet and intervals into DIRECTORY/KEY=VALUE, beside those of other machines: host=web1", 3,
	  OPTION_TEXT(struct arguments, partition) },
	{ "mode", 0, "MODE", 0, OUTPUT_MODE_HELP, 4, OPTION_CALL(struct arguments, mode, output_take_mode) },
	{ "quiet", 'q', NULL, 0, "No summary", 4, OPTION_FLAG(struct arguments, quiet) },
	{ 0 },
};

static void finish_arguments(const struct arguments *arguments, struct argp_state *state)
{
	if (!arguments->ops)
		argp_error(state, "no format given; use --to FORMAT, 'weft export --to help' lists them");
	if (arguments->fields && !arguments->ops->takes_fields)
		argp_error(state, "--fields: the columns of format '%s' are fixed", arguments->ops->name);
	if (arguments->weight && !arguments->ops->takes_weight)
		argp_error(state, "--weight: format '%s' has no stacks", arguments->ops->name);
	if (arguments->counters.len && !arguments->ops->takes_counters)
		argp_error(state, "--counter: format '%s' has no counters; perfetto, html, chrome and firefox have",
			   arguments->ops->name);
	if (arguments->host.buffer && !arguments->ops->host)
		argp_error(state, "--host: format '%s' shows no guest beside its host; perfetto and html do",
			   arguments->ops->name);
	if (arguments->host.buffer && arguments->ops->host == EXPORT_BOTH && arguments->query.instance)
		argp_error(state, "--host: both machines are exported: leave out -B");
	if (arguments->max_size && !arguments->ops->takes_size)
		argp_error(
			state,
			"--max-size: format '%s' has no limit of size; select fewer events with -e, --pid or --since",
			arguments->ops->name);
	if (arguments->diff && !arguments->ops->takes_diff)
		argp_error(state, "--diff: only the formats folded and flame compare recordings");
	if (arguments->diff && !strcmp(arguments->diff, "-"))
		argp_error(state, "--diff: standard input can only be the file that is exported");
	if (arguments->decode.wanted && !arguments->ops->takes_decode)
		argp_error(state,
			   "--decode: format '%s' has no place for what plugins know; "
			   "jsonl, csv, sqlite, parquet, perfetto and chrome have",
			   arguments->ops->name);
	if (arguments->partition && !arguments->ops->folder)
		argp_error(state, "--partition: format '%s' is a single file", arguments->ops->name);
	if (arguments->partition && destination_folder_fault(arguments->partition))
		argp_error(state, "--partition: '%s': %s", arguments->partition,
			   destination_folder_fault(arguments->partition));
	if (arguments->ops->folder && !strcmp(arguments->output, "-"))
		argp_error(state, "format '%s' consists of several files: name a directory with -o",
			   arguments->ops->name);
	if (arguments->ops->open && !strcmp(arguments->output, "-"))
		argp_error(state, NEEDS_FILE, arguments->ops->name);
	if (!*arguments->output)
		argp_error(state, "-o: the name is empty");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		option_once("file", &arguments->input, choice_take_file(&arguments->query, arg, state), state);
		return 0;
	case ARGP_KEY_END:
		finish_arguments(arguments, state);
		if (arguments->ops->takes_weight)
			arguments->query.own = QUERY_OWN_TICKS;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options_child children[] = {
	{ &choice_options, offsetof(struct arguments, query), 2, NULL },
	{ &decode_options, offsetof(struct arguments, decode), 3, NULL },
	{ &host_options, offsetof(struct arguments, host), 3, NULL },
	{ &reading_options, offsetof(struct arguments, reading), 4, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.args_doc = "[FILE]",
	.doc = "Writes a recording as a file of another program."
	       "\vFrom a damaged file, all that can be read is exported; the exit status is then 1.",
	.children = children,
};

static void tell_summary(const struct arguments *arguments)
{
	const struct exported *done = arguments->done;
	char size[TEXT_HUMAN];

	if (arguments->quiet || !strcmp(arguments->output, "-"))
		return;
	fprintf(stderr, "weft: %s: %s event%s", arguments->output, text_count((char[TEXT_HUMAN]){ 0 }, done->events),
		text_plural(done->events));
	if (done->bytes)
		fprintf(stderr, ", %s", text_size(size, done->bytes));
	if (done->gaps)
		fprintf(stderr, "; at %s place%s events were lost", text_count((char[TEXT_HUMAN]){ 0 }, done->gaps),
			done->gaps == 1 ? "" : "s");
	fputc('\n', stderr);
}

/*
 * Nothing can be opened after entering the sandbox. So the other file of --diff is opened before, and read behind it.
 */
static int open_files(const struct arguments *arguments, struct export_job *job, struct trace **ret, struct fail *fail)
{
	int r = arguments->diff ? trace_new(arguments->diff, &job->before, fail) : 0;

	if (!r)
		r = reading_open(arguments->input, &arguments->reading, ret, fail);
	if (!r && job->before) {
		r = trace_load(job->before, fail);
		if (r)
			fail_in(fail, r, "--diff");
	}
	if (!r && job->before && arguments->reading.trust_size)
		trace_trust_sizes(job->before);
	return r == -EBADMSG ? -EIO : r;
}

static int read_and_write(const struct arguments *arguments, struct export_job *job, struct fail *fail)
{
	struct trace *trace = NULL;
	int r;

	if (!arguments->quiet)
		progress_prepare("export", job->fd == STDOUT_FILENO);
	progress_tell_size();
	r = open_files(arguments, job, &trace, fail);
	if (!r) {
		r = export_write(job, trace, fail);
		if (!r && !job->events && job->query->limit && job->query->tail)
			choice_tell_empty(trace, job->query, false);
	}
	trace_free(trace);
	trace_free(job->before);
	return r;
}

/* Returns the exit status of the reader process. */
static int export_to(const struct arguments *arguments, int fd)
{
	struct export_job job = { .query = &arguments->query,
				  .ops = arguments->ops,
				  .fields = arguments->fields,
				  .weight = arguments->weight,
				  .counters = arguments->counters.at,
				  .host = arguments->host.buffer ? &arguments->host : NULL,
				  .nr_counters = arguments->counters.len,
				  .input = arguments->input,
				  .max_size = arguments->max_size,
				  .decode = arguments->decode,
				  .keeps_rights = arguments->reading.no_sandbox,
				  .fd = fd,
				  .terminal = fd == STDOUT_FILENO && isatty(fd) };
	struct fail fail = FAIL_INIT;
	int r = arguments->ops->open ? arguments->ops->open(fd, &job.db, &fail) : 0;

	if (!r)
		r = read_and_write(arguments, &job, &fail);
	if (job.db)
		arguments->ops->close(job.db);
	r = fail_writing(&fail, r, arguments->output);
	if (r && r != -EBADMSG)
		return command_failed(&fail);
	*arguments->done = (struct exported){ job.events - job.left_out, job.bytes, job.gaps };
	if (!r)
		return EXIT_OK;
	command_failed(&fail);
	return EXIT_DAMAGED;
}

/*
 * Starts a process that gives up its rights and reads; this process keeps them, to give the file its name.
 */
static pid_t start_apart(const struct arguments *arguments, int fd)
{
	pid_t pid = sandbox_child_fork();

	if (pid)
		return pid;
	_exit(export_to(arguments, fd));
}

static int export_file(const struct arguments *arguments, const struct destination *to)
{
	struct fail fail = FAIL_INIT;
	struct draft draft;
	int status;
	pid_t pid;

	if (destination_draft(to, &draft, &fail))
		return command_failed(&fail);
	pid = start_apart(arguments, draft.fd);
	status = pid > 0 ? sandbox_child_end(pid, arguments->input) : EXIT_FAILED;
	if ((status == EXIT_OK || status == EXIT_DAMAGED) &&
	    destination_place(to, &draft, arguments->mode, false, &fail))
		status = command_failed(&fail);
	draft_discard(&draft);
	return status;
}

static int export_pieces(const void *arguments, int fd)
{
	return export_to(arguments, fd);
}

/* Whether the first bytes can be written once more at the end. */
static bool is_begun_empty(int fd)
{
	return lseek(fd, 0, SEEK_CUR) == 0 && !(fcntl(fd, F_GETFL) & O_APPEND);
}

static int export_special(const struct arguments *arguments, const struct destination *to)
{
	struct fail fail = FAIL_INIT;
	cleanup_fd int fd = -1;

	if (to->kind == DESTINATION_SPECIAL && destination_special(to, &fd, &fail))
		return command_failed(&fail);
	if (to->kind == DESTINATION_STDOUT && arguments->ops->binary && isatty(STDOUT_FILENO)) {
		command_warn("format '%s' cannot be shown on a terminal: write it to a file with -o FILE",
			     arguments->ops->name);
		return EXIT_FAILED;
	}
	if (arguments->ops->open || (arguments->ops->has_head && !is_begun_empty(fd < 0 ? STDOUT_FILENO : fd))) {
		command_warn(NEEDS_FILE, arguments->ops->name);
		return EXIT_FAILED;
	}
	return export_to(arguments, to->kind == DESTINATION_SPECIAL ? fd : STDOUT_FILENO);
}

static int export_folder(const struct arguments *arguments)
{
	return sandboxed_folder(&(struct sandboxed_folder){ .path = arguments->output,
							    .partition = arguments->partition,
							    .input = arguments->input,
							    .mode = arguments->mode,
							    .work = export_pieces,
							    .arg = arguments });
}

static int export_any(const struct arguments *arguments)
{
	struct destination to = DESTINATION_INIT;
	struct fail fail = FAIL_INIT;
	int status;

	if (arguments->ops->folder)
		return export_folder(arguments);
	/* destination_open() is for files, so standard output, which may be a terminal, is handled here. */
	if (!strcmp(arguments->output, "-"))
		to.kind = DESTINATION_STDOUT;
	else if (destination_open(arguments->output, &to, &fail))
		return command_failed(&fail);
	status = to.kind == DESTINATION_FILE ? export_file(arguments, &to) : export_special(arguments, &to);
	destination_release(&to);
	return status;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .query = QUERY_INIT, .output = "-", .mode = OUTPUT_MODE };
	int status;

	command_parse(&export_command, argc, argv, 0, &arguments);
	arguments.reading.opens_more = arguments.decode.wanted;
	if (!arguments.input)
		arguments.input = "trace.dat";
	reading_tell_left_behind(arguments.input);
	arguments.done = sandbox_child_share(sizeof(*arguments.done));
	if (!arguments.done)
		return EXIT_FAILED;
	status = export_any(&arguments);
	if (status == EXIT_OK || status == EXIT_DAMAGED)
		tell_summary(&arguments);
	return status == EXIT_DAMAGED ? EXIT_FAILED : status;
}

const struct command export_command = {
	.name = "export",
	.summary = "write a recording as a file of another program",
	.brief = "other programs",
	.examples = "  weft export --to perfetto -o trace.pftrace\n"
		    "  weft export --to csv --fields ts,cpu,prev_pid,next_pid -e sched_switch trace.dat",
	.group = "read",
	.options = &command_options,
	.run = run,
};
