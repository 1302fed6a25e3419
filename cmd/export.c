// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/apart.h"
#include "cmd/command.h"
#include "cmd/export_write.h"
#include "cmd/options/choice.h"
#include "cmd/options/decode.h"
#include "cmd/options/option_value.h"
#include "cmd/options/output_options.h"
#include "cmd/options/reading.h"
#include "cmd/options/setup_values.h"
#include "cmd/terminal/progress.h"
#include "formats/export/export.h"
#include "formats/export/folder.h"
#include "lib/base/destination.h"
#include "lib/base/destination_folder.h"
#include "lib/base/fail.h"
#include "lib/base/io.h"
#include "lib/base/near.h"
#include "lib/base/text.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* weft export: writes a recording as a file of another program. */
enum { OPT_TO = 256, OPT_FIELDS, OPT_WEIGHT, OPT_DIFF, OPT_MAX_SIZE, OPT_MODE, OPT_PARTITION };

/*
 * An exit status of the reader process besides enum exit_status: the file is damaged, and what could be read of it is
 * written.
 */
enum { EXIT_DAMAGED = 3 };

struct arguments {
	const char *input, *output;
	struct query query;
	struct decode decode;
	const struct export_ops *ops;
	const char *fields, *weight, *diff, *partition;
	uint64_t max_size;
	mode_t mode;
	struct reading reading;
	bool quiet;
};

#define EXPORT_NAME(name) "|" #name
#define EXPORT_NAMES (&EXPORTS(EXPORT_NAME)[1])

static const struct argp_option options[] = {
	{ "input", 'i', "FILE", 0, "Read FILE; '-' is standard input (default: trace.dat)", 1 },
	{ "to", OPT_TO, EXPORT_NAMES, 0, "Format to write; 'weft export --to help' describes each", 1 },
	{ "output", 'o', "FILE", 0, "Write FILE; for parquet and ctf a directory (default: standard output)", 1 },
	{ "fields", OPT_FIELDS, "FIELD", 0,
	  "The columns of jsonl and csv, with commas: ts, cpu, instance, pid, tgid, comm, flags, system, event, lost, "
	  "fields, text, decoded, and fields of the events",
	  3 },
	{ "weight", OPT_WEIGHT, "self-time|off-cpu|count", 0,
	  "What stacks weigh in folded, flame, speedscope, pprof and firefox (default: the first that there is)", 3 },
	{ "max-size", OPT_MAX_SIZE, "SIZE", 0,
	  "Largest size of html, or of all markers of firefox, which limits the detail: 512K, 100M (default: 20M)", 3 },
	{ "diff", OPT_DIFF, "FILE", 0,
	  "Compare the stacks with those of FILE, the older recording (folded and flame only)", 3 },
	{ "partition", OPT_PARTITION, "KEY=VALUE", 0,
	  "Write parquet into DIRECTORY/KEY=VALUE, beside those of other machines: host=web1", 3 },
	{ "mode", OPT_MODE, "MODE", 0, OUTPUT_MODE_HELP, 4 },
	{ "quiet", 'q', NULL, 0, "No summary", 4 },
	{ 0 },
};

static void list_exports(void)
{
	for (size_t i = 0; export_at(i); i++)
		printf("%-12s %s\n", export_at(i)->name, export_at(i)->summary);
	exit(EXIT_OK);
}

static const struct export_ops *export_named(const char *name, struct argp_state *state)
{
	const struct export_ops *ops = export_find(name);
	struct near near = near_to(name);
	struct fail fail = FAIL_INIT;

	if (ops)
		return ops;
	if (!strcmp(name, "help"))
		list_exports();
	for (size_t i = 0; export_at(i); i++)
		near_offer(&near, export_at(i)->name);
	near_fail(&near, &fail, -ENOENT, "--to: there is no '%s'", name);
	argp_error(state, "%s%s", fail.text, near.found ? "" : "; 'weft export --to help' lists what there is");
	return NULL;
}

static void finish_arguments(const struct arguments *arguments, struct argp_state *state)
{
	if (!arguments->ops)
		argp_error(state, "no format given; use --to FORMAT, 'weft export --to help' lists them");
	if (arguments->fields && !arguments->ops->takes_fields)
		argp_error(state, "--fields: the columns of format '%s' are fixed", arguments->ops->name);
	if (arguments->weight && !arguments->ops->takes_weight)
		argp_error(state, "--weight: format '%s' has no stacks", arguments->ops->name);
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
	if (!*arguments->output)
		argp_error(state, "-o: the name is empty");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->query;
		state->child_inputs[1] = &arguments->decode;
		state->child_inputs[2] = &arguments->reading;
		return 0;
	case OPT_TO:
		arguments->ops = export_named(arg, state);
		return 0;
	case 'o':
		arguments->output = arg;
		return 0;
	case OPT_FIELDS:
		arguments->fields = arg;
		return 0;
	case OPT_WEIGHT:
		arguments->weight = arg;
		return 0;
	case OPT_MAX_SIZE:
		arguments->max_size = setup_size("--max-size", arg, state);
		return 0;
	case OPT_DIFF:
		arguments->diff = arg;
		return 0;
	case OPT_PARTITION:
		arguments->partition = arg;
		return 0;
	case OPT_MODE:
		arguments->mode = output_mode(arg, state);
		return 0;
	case 'q':
		arguments->quiet = true;
		return 0;
	case 'i':
	case ARGP_KEY_ARG:
		option_once("file", &arguments->input, arg, state);
		return 0;
	case ARGP_KEY_END:
		finish_arguments(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &choice_argp, 0, NULL, 2 },
	{ &decode_argp, 0, NULL, 3 },
	{ &reading_argp, 0, NULL, 4 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "[FILE]",
	.doc = "Writes a recording as a file of another program."
	       "\vFrom a damaged file, all that can be read is exported; the exit status is then 1.",
	.children = children,
};

static void tell_summary(const struct arguments *arguments, const struct export_job *job)
{
	char size[TEXT_HUMAN];

	if (arguments->quiet || !strcmp(arguments->output, "-"))
		return;
	fprintf(stderr, "weft: %s: %" PRIu64 " event%s", arguments->output, job->events, text_plural(job->events));
	if (job->bytes)
		fprintf(stderr, ", %s", text_size(size, job->bytes));
	if (job->gaps)
		fprintf(stderr, "; at %" PRIu64 " place%s events were lost", job->gaps, job->gaps == 1 ? "" : "s");
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
	tell_summary(arguments, &job);
	if (!r)
		return EXIT_OK;
	command_failed(&fail);
	return EXIT_DAMAGED;
}

/*
 * Starts a process that gives up its rights and reads; this process keeps them, to give the file its name. `ours` is
 * closed in the new process.
 */

enum { CHUNK = 1 << 16 };

/* Reads all of `size` bytes. Returns 1; 0 at the end of the pipe, if that comes before the first byte. */
static int take_bytes(int pipe, void *into, size_t size)
{
	size_t got = 0;

	while (got < size) {
		ssize_t r = io_read(pipe, (char *)into + got, size - got);

		if (r <= 0)
			return r < 0 ? (int)r : got ? -EPIPE : 0;
		got += (size_t)r;
	}
	return 1;
}

static int copy(int pipe, int fd, uint64_t len, char *chunk)
{
	while (len) {
		size_t part = len < CHUNK ? (size_t)len : CHUNK;
		int r = take_bytes(pipe, chunk, part);

		if (r <= 0)
			return r ? r : -EPIPE;
		r = io_write(fd, chunk, part);
		if (r)
			return r;
		len -= part;
	}
	return 0;
}

/* Returns 1 after a piece, 0 at the end. */
static int take_piece(const struct destination_folder *folder, int pipe, char *chunk, struct fail *fail)
{
	char name[FOLDER_NAME_MAX + 1];
	struct folder_piece piece;
	cleanup_fd int fd = -1;
	int r = take_bytes(pipe, &piece, sizeof(piece));

	if (r <= 0)
		return r ? fail_set(fail, r, "cannot read what is to be written: %s", strerror(-r)) : 0;
	if (piece.magic != FOLDER_MAGIC || !piece.name_len || piece.name_len > FOLDER_NAME_MAX)
		return fail_set(fail, -EINVAL, "what is to be written has no name");
	r = take_bytes(pipe, name, piece.name_len);
	if (r <= 0)
		return fail_set(fail, r ? r : -EPIPE, "cannot read what is to be written: %s",
				strerror(r ? -r : EPIPE));
	name[piece.name_len] = '\0';
	r = destination_folder_open(folder, name, &fd, fail);
	if (r)
		return r;
	r = copy(pipe, fd, piece.len, chunk);
	return r ? fail_set(fail, r, "cannot write '%s' in '%s': %s", name, folder->path, strerror(-r)) : 1;
}

/*
 * Reads the pieces of formats/export/folder.h from a pipe and writes each into its file, until the pipe ends. The
 * pieces come from a process that has read what strangers wrote, so nothing in them is trusted: a name must be one that
 * a folder accepts.
 */
static int export_folder_fill(const struct destination_folder *folder, int pipe, struct fail *fail)
{
	cleanup_free char *chunk = malloc(CHUNK);
	int r;

	if (!chunk)
		return fail_memory(fail);
	while ((r = take_piece(folder, pipe, chunk, fail)) > 0)
		;
	return r;
}

static pid_t start_apart(const struct arguments *arguments, int fd, int ours)
{
	pid_t pid;

	pid = apart_fork();
	if (pid)
		return pid;
	if (ours >= 0)
		close(ours);
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
	pid = start_apart(arguments, draft.fd, -1);
	status = pid > 0 ? apart_end(pid, arguments->input) : EXIT_FAILED;
	if ((status == EXIT_OK || status == EXIT_DAMAGED) &&
	    destination_place(to, &draft, arguments->mode, false, &fail))
		status = command_failed(&fail);
	draft_discard(&draft);
	return status;
}

/* The reader process cannot make files: it writes pieces into a pipe, and this process makes the files from them. */
static int fill_folder(const struct arguments *arguments, const struct destination_folder *folder)
{
	struct fail fail = FAIL_INIT;
	int ends[2], status, r;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC)) {
		command_warn("cannot make a pipe: %s", strerror(errno));
		return EXIT_FAILED;
	}
	pid = start_apart(arguments, ends[1], ends[0]);
	close(ends[1]);
	r = pid > 0 ? export_folder_fill(folder, ends[0], &fail) : 0;
	/*
	 * If filling the folder has failed, closing the pipe ends the reader process with SIGPIPE. That is not
	 * reported.
	 */
	close(ends[0]);
	status = pid > 0 ? apart_end(pid, arguments->input) : EXIT_FAILED;
	if (r)
		return status > APART_SIGNAL && status != APART_SIGNAL + SIGPIPE ? status : command_failed(&fail);
	if (status != EXIT_OK && status != EXIT_DAMAGED)
		return status;
	if (destination_folder_place(folder, arguments->mode, &fail))
		return command_failed(&fail);
	return status;
}

static int export_folder(const struct arguments *arguments)
{
	struct destination_folder folder = DESTINATION_FOLDER_INIT;
	struct fail fail = FAIL_INIT;
	int status;

	if (destination_folder_make(arguments->output, arguments->partition, &folder, &fail))
		return command_failed(&fail);
	status = fill_folder(arguments, &folder);
	if (status != EXIT_OK && status != EXIT_DAMAGED)
		destination_folder_discard(&folder);
	destination_folder_release(&folder);
	return status;
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
	if (arguments->ops->open) {
		command_warn("format '%s' needs a regular file: name one with -o FILE", arguments->ops->name);
		return EXIT_FAILED;
	}
	return export_to(arguments, to->kind == DESTINATION_SPECIAL ? fd : STDOUT_FILENO);
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .query = QUERY_INIT, .output = "-", .mode = OUTPUT_MODE };
	struct destination to = DESTINATION_INIT;
	struct fail fail = FAIL_INIT;
	int status;

	command_parse(&export_command, argc, argv, 0, &arguments);
	arguments.reading.opens_more = arguments.decode.wanted;
	if (!arguments.input)
		arguments.input = "trace.dat";
	reading_tell_left_behind(arguments.input);
	if (arguments.ops->folder) {
		status = export_folder(&arguments);
		return status == EXIT_DAMAGED ? EXIT_FAILED : status;
	}
	/* destination_open() is for files, so standard output, which may be a terminal, is handled here. */
	if (!strcmp(arguments.output, "-"))
		to.kind = DESTINATION_STDOUT;
	else if (destination_open(arguments.output, &to, &fail))
		return command_failed(&fail);
	status = to.kind == DESTINATION_FILE ? export_file(&arguments, &to) : export_special(&arguments, &to);
	destination_release(&to);
	return status == EXIT_DAMAGED ? EXIT_FAILED : status;
}

const struct command export_command = {
	.name = "export",
	.summary = "write a recording as a file of another program",
	.brief = "other programs",
	.examples = "  weft export --to perfetto -o trace.pftrace\n"
		    "  weft export --to csv --fields ts,cpu,prev_pid,next_pid -e sched_switch trace.dat",
	.group = "read",
	.argp = &argp,
	.run = run,
};
