// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/form_options.h"
#include "cmd/options/option_value.h"
#include "cmd/options/output_options.h"
#include "cmd/sandboxed_rewrite.h"
#include "lib/files/rewrite/redact.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/readable.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/trace/trace.h"

/* weft redact: the same recording without what identifies anybody. */
enum { KEY_BYTES = 32, LIST_MAX = 16 << 20 };

struct arguments {
	struct form form;
	const char *input, *key_file, *check_file;
	struct redact_options options;
	struct redacted done;
	struct buf words;
	struct trace *trace;
};

/* "comm=GLOB,..." */
static void take_keep(const struct option_row *row, void *member, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	char *save = NULL;

	(void)row;
	(void)member;
	if (strncmp(arg, "comm=", 5) || !arg[5])
		argp_error(state, "--keep: '%s' is not comm=GLOB,...", arg);
	for (char *glob = strtok_r(arg + 5, ",", &save); glob; glob = strtok_r(NULL, ",", &save)) {
		const char **globs = (const char **)(uintptr_t)arguments->options.keep, **slot;

		slot = vec_push(globs, arguments->options.nr_keep);
		if (!slot)
			argp_failure(state, EXIT_FAILED, ENOMEM, "--keep");
		else
			*slot = glob;
		arguments->options.keep = globs;
	}
}

static const struct option_row options[] = {
	{ "input", 'i', "FILE", 0, "Read FILE (default: trace.dat); - is standard input", 1,
	  OPTION_ONCE(struct arguments, input, "file") },
	{ "keep", 0, "comm=GLOB,...", 0, "Keep the names of tasks that match a GLOB; repeatable", 2,
	  OPTION_TAKE(take_keep) },
	{ "key", 0, "KEY-FILE", 0,
	  "Choose stand-ins by the secret in KEY-FILE, so that a name has the same one in several files; it is made if "
	  "it does not exist. Without it, a secret is made and forgotten",
	  2, OPTION_ONCE(struct arguments, key_file, "key") },
	{ "pids", 0, NULL, 0, "Shift PIDs, too", 2, OPTION_FLAG(struct arguments, options.pids) },
	{ "check", 0, "LIST", 0,
	  "Write nothing if a word of the file LIST, which has one on each line, is in the output, also where that is "
	  "compressed",
	  2, OPTION_ONCE(struct arguments, check_file, "list") },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		option_once("file", &arguments->input, arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options_child children[] = {
	{ &form_options, offsetof(struct arguments, form), 3, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.args_doc = "[FILE]",
	.doc = "Writes the same recording without names, paths, addresses and texts that tell whose it is."
	       "\vTimes, lengths and counts stay, so all analyses find the same. Redacted is not anonymous: "
	       "weft-redact(1) says what the file still tells.",
	.children = children,
};

static int write_redacted(void *arg, int fd, struct fail *fail)
{
	struct arguments *arguments = arg;

	arguments->options.form = arguments->form.as;
	return redact(arguments->trace, &arguments->options, fd, &arguments->done, fail);
}

static void report(struct arguments *arguments)
{
	struct redacted *done = &arguments->done;

	command_warn("%s: %s names replaced, %s kept; %s of %s events have only their time, task and type",
		     output_told(arguments->form.output), text_count((char[TEXT_HUMAN]){ 0 }, done->names),
		     text_count((char[TEXT_HUMAN]){ 0 }, done->kept),
		     text_count((char[TEXT_HUMAN]){ 0 }, done->emptied),
		     text_count((char[TEXT_HUMAN]){ 0 }, done->records));
	if (done->events.len)
		command_warn("of these events only time, task and type are left, as no rule knows them:%s",
			     buf_str(&done->events));
	if (done->fields.len)
		command_warn("no rule knows these fields, which are 0:%s", buf_str(&done->fields));
	if (done->settings.len)
		command_warn("left out:%s", buf_str(&done->settings));
}

static int make_file(void *arg)
{
	struct arguments *arguments = arg;
	const struct form *form = &arguments->form;
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	bool damaged;

	if (form_open(form, &arguments->input, 1, &trace, &fail))
		return command_failed(&fail);
	arguments->trace = trace;
	if (form_write(form, "", write_redacted, arguments, &fail)) {
		redacted_release(&arguments->done);
		trace_free(trace);
		return command_failed(&fail);
	}
	damaged = trace_damage(trace);
	if (damaged)
		command_warn("%s", trace_damage(trace));
	if (!form->quiet)
		report(arguments);
	redacted_release(&arguments->done);
	trace_free(trace);
	return damaged ? EXIT_FAILED : EXIT_OK;
}

static int make_key_file(const char *path, char into[KEY_BYTES], struct fail *fail)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return fail_set(fail, -errno, "cannot make '%s': %s", path, strerror(errno));
	if (getrandom(into, KEY_BYTES, 0) != KEY_BYTES || write(fd, into, KEY_BYTES) != KEY_BYTES)
		return fail_set(fail, -EIO, "cannot write '%s': %s", path, strerror(errno));
	return 0;
}

static int read_key(const char *path, char into[KEY_BYTES], struct fail *fail)
{
	cleanup_fd int fd = -1;
	int r;

	if (!path)
		return getrandom(into, KEY_BYTES, 0) == KEY_BYTES ?
			       0 :
			       fail_set(fail, -EIO, "the kernel gives no random numbers: %s", strerror(errno));
	r = readable_open(path, &fd, fail);
	if (r == -ENOENT)
		return make_key_file(path, into, fail);
	if (r)
		return r;
	if (io_pread(fd, into, KEY_BYTES, 0) != KEY_BYTES)
		return fail_set(fail, -EINVAL, "'%s' has fewer than %d bytes: it is no key of weft redact", path,
				KEY_BYTES);
	return 0;
}

static int read_list(const char *path, struct buf *into, struct fail *fail)
{
	cleanup_fd int fd = -1;
	int r = readable_open(path, &fd, fail);

	if (r)
		return r;
	r = io_read_all(fd, LIST_MAX, into);
	if (r)
		return fail_set(fail, r, "cannot read '%s': %s", path, strerror(-r));
	if (memchr(into->data ? into->data : "", 0, into->len))
		return fail_set(fail, -EINVAL, "'%s' has a NUL: it is no list of words", path);
	return 0;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { .input = NULL };
	char key[KEY_BYTES];
	struct fail fail = FAIL_INIT;
	int r, status;

	command_parse(&redact_command, argc, argv, 0, &arguments);
	if (!arguments.input)
		arguments.input = "trace.dat";
	/* What is read after this is read without rights. */
	r = read_key(arguments.key_file, key, &fail);
	if (!r && arguments.check_file)
		r = read_list(arguments.check_file, &arguments.words, &fail);
	if (r)
		return command_failed(&fail);
	memcpy(&arguments.options.key, key, sizeof(arguments.options.key));
	arguments.options.check = arguments.check_file ? buf_str(&arguments.words) : NULL;
	status = form_apart(&arguments.form, make_file, &arguments);
	buf_release(&arguments.words);
	free((void *)(uintptr_t)arguments.options.keep);
	return status;
}

const struct command redact_command = {
	.name = "redact",
	.summary = "write a recording again without what tells whose it is",
	.brief = "files to post",
	.examples = "  weft redact -o post.dat trace.dat\n"
		    "  weft redact --keep 'comm=postgres*,nginx' -o post.dat trace.dat\n"
		    "  weft redact --key secret --check words -o post.dat trace.dat",
	.group = "read",
	.options = &command_options,
	.run = run,
};
