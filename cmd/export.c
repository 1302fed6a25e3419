// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/choice.h"
#include "cmd/command.h"
#include "cmd/export_write.h"
#include "cmd/output_options.h"
#include "cmd/reading.h"
#include "formats/export/export.h"
#include "lib/base/destination.h"
#include "lib/base/near.h"
#include "lib/base/text.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* weft export: a recording as a file of another program. */
enum { OPT_TO = 256, OPT_FIELDS, OPT_WEIGHT, OPT_MODE, OPT_NO_SANDBOX, OPT_TRUST_SIZE };

/* How the process that reads ends, besides enum exit_status: the file is damaged, and what could be read of it is written. */
enum { EXIT_DAMAGED = 3 };

struct arguments {
	const char *input, *output;
	struct choice choice;
	const struct export_ops *ops;
	const char *fields, *weight;
	mode_t mode;
	bool quiet, no_sandbox, trust_size;
};

/* As export_at() lists them: tests/cases/export.bats compares. */
#define EXPORTS "jsonl|csv|perfetto|sqlite|chrome|folded|flame|speedscope"

static const struct argp_option options[] = {
	{ "input", 'i', "FILE", 0, "Read FILE; '-' is standard input (default: trace.dat)", 1 },
	{ "to", OPT_TO, EXPORTS, 0, "What to write; 'weft export --to help' says what each is", 1 },
	{ "output", 'o', "FILE", 0, "Write FILE (default: standard output)", 1 },
	{ "fields", OPT_FIELDS, "FIELD", 0,
	  "The columns of jsonl and csv, with commas: ts, cpu, instance, pid, tgid, comm, flags, system, event, lost, fields, text, and fields of the "
	  "events",
	  3 },
	{ "weight", OPT_WEIGHT, "self-time|off-cpu|count", 0,
	  "What stacks weigh in folded, flame and speedscope (default: the first that there is)", 3 },
	{ "mode", OPT_MODE, "MODE", 0, OUTPUT_MODE_HELP, 4 },
	{ "quiet", 'q', NULL, 0, "No summary", 4 },
	{ "no-sandbox", OPT_NO_SANDBOX, NULL, 0,
	  "Keep all rights while reading, for systems where giving them up fails", 4 },
	{ "trust-size", OPT_TRUST_SIZE, NULL, 0, "Read pages, too, that claim more bytes or memory than any recording",
	  4 },
	{ 0 },
};

static void list_exports(void)
{
	for (size_t i = 0; export_at(i); i++)
		printf("%-12s %s%s%s%s\n", export_at(i)->name, export_at(i)->summary,
		       export_at(i)->missing ? " (not here: weft was built without " : "",
		       export_at(i)->missing ? export_at(i)->missing : "", export_at(i)->missing ? ")" : "");
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
		argp_error(state, "to which format? --to FORMAT; 'weft export --to help' lists them");
	if (arguments->fields && !arguments->ops->takes_fields)
		argp_error(state, "--fields: '%s' has fixed columns", arguments->ops->name);
	if (arguments->weight && !arguments->ops->takes_weight)
		argp_error(state, "--weight: '%s' has no stacks", arguments->ops->name);
	if (!*arguments->output)
		argp_error(state, "-o: an empty name");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->choice;
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
	case OPT_MODE:
		arguments->mode = output_mode(arg, state);
		return 0;
	case 'q':
		arguments->quiet = true;
		return 0;
	case OPT_NO_SANDBOX:
		arguments->no_sandbox = true;
		return 0;
	case OPT_TRUST_SIZE:
		arguments->trust_size = true;
		return 0;
	case 'i':
	case ARGP_KEY_ARG:
		if (arguments->input)
			argp_error(state, "one file at a time: '%s' and '%s'", arguments->input, arg);
		arguments->input = arg;
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
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "[FILE]",
	.doc = "Writes a recording as a file of another program."
	       "\vOf a file that is damaged, what can be read is exported; the exit status is then 1.",
	.children = children,
};

static void tell_summary(const struct arguments *arguments, const struct export_job *job)
{
	char size[TEXT_HUMAN];

	if (arguments->quiet || !strcmp(arguments->output, "-"))
		return;
	fprintf(stderr, "weft: %s: %" PRIu64 " events", arguments->output, job->events);
	if (job->bytes)
		fprintf(stderr, ", %s", text_size(size, job->bytes));
	if (job->gaps)
		fprintf(stderr, "; at %" PRIu64 " place%s events were lost", job->gaps, job->gaps == 1 ? "" : "s");
	fputc('\n', stderr);
}

static int read_and_write(const struct arguments *arguments, struct export_job *job, struct fail *fail)
{
	struct trace *trace = NULL;
	int r = reading_open(arguments->input, !arguments->no_sandbox, &trace, fail);

	if (r < 0)
		return r == -EBADMSG ? -EIO : r;
	if (arguments->trust_size)
		trace_trust_sizes(trace);
	r = export_write(job, trace, fail);
	trace_free(trace);
	return r;
}

/* Exit status of the process that reads. */
static int export_to(const struct arguments *arguments, int fd, const char *path)
{
	struct export_job job = { .choice = &arguments->choice,
				  .ops = arguments->ops,
				  .fields = arguments->fields,
				  .weight = arguments->weight,
				  .fd = fd,
				  .terminal = fd == STDOUT_FILENO && isatty(fd) };
	struct fail fail = FAIL_INIT;
	int r = arguments->ops->open ? arguments->ops->open(path, &job.db, &fail) : 0;

	if (!r)
		r = read_and_write(arguments, &job, &fail);
	if (job.db)
		arguments->ops->close(job.db);
	if (r && r != -EBADMSG)
		return command_failed(&fail);
	tell_summary(arguments, &job);
	if (!r)
		return EXIT_OK;
	command_failed(&fail);
	return EXIT_DAMAGED;
}

/* The rights to read are given up by a process of its own, for the file gets its name with those of this one. */
static int export_apart(const struct arguments *arguments, int fd, const char *path)
{
	pid_t pid;
	int status = 0;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(export_to(arguments, fd, path));
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && WIFEXITED(status))
		return WEXITSTATUS(status);
	if (pid > 0)
		command_warn("the process that read '%s' was ended by signal %d", arguments->input, WTERMSIG(status));
	else
		command_warn("cannot start a process: %s", strerror(errno));
	return EXIT_FAILED;
}

static int export_file(const struct arguments *arguments, const struct destination *to)
{
	char name[DESTINATION_NAME], path[64 + DESTINATION_NAME];
	struct fail fail = FAIL_INIT;
	cleanup_fd int fd = -1;
	int status, r = destination_create(to, name, &fd, &fail);

	if (r)
		return command_failed(&fail);
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", to->dir, name);
	status = export_apart(arguments, fd, path);
	if (status == EXIT_OK || status == EXIT_DAMAGED) {
		r = destination_place(to, to->dir, name, fd, arguments->mode, false, &fail);
		if (!r)
			return status;
		command_failed(&fail);
		status = EXIT_FAILED;
	}
	unlinkat(to->dir, name, 0);
	return status;
}

static int export_special(const struct arguments *arguments, const struct destination *to)
{
	struct fail fail = FAIL_INIT;
	cleanup_fd int fd = -1;

	if (to->kind == DESTINATION_SPECIAL && destination_special(to, &fd, &fail))
		return command_failed(&fail);
	if (to->kind == DESTINATION_STDOUT && arguments->ops->binary && isatty(STDOUT_FILENO)) {
		command_warn("'%s' is not for terminals: -o FILE writes it to a file", arguments->ops->name);
		return EXIT_FAILED;
	}
	if (arguments->ops->open) {
		command_warn("'%s' has to be a regular file: -o FILE", arguments->ops->name);
		return EXIT_FAILED;
	}
	return export_to(arguments, to->kind == DESTINATION_SPECIAL ? fd : STDOUT_FILENO, NULL);
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .output = "-", .mode = OUTPUT_MODE };
	struct destination to = DESTINATION_INIT;
	struct fail fail = FAIL_INIT;
	int status;

	command_parse(&export_command, argc, argv, 0, &arguments);
	if (!arguments.input)
		arguments.input = "trace.dat";
	reading_tell_left_behind(arguments.input);
	/* Text may go to a terminal: destination_open() is for files that are none. */
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
	.examples = "  weft export --to perfetto -o trace.pftrace\n"
		    "  weft export --to csv --fields ts,cpu,prev_pid,next_pid -e sched_switch trace.dat",
	.group = "read",
	.argp = &argp,
	.run = run,
};
