// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/elsewhere.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmd/agentless_script.h"
#include "cmd/command.h"
#include "cmd/options/option_value.h"
#include "cmd/terminal/paste.h"
#include "cmd/terminal/terminal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/destination.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/record/options.h"
#include "lib/kernel/record/result.h"
#include "lib/kernel/remote/agentless.h"
#include "lib/kernel/remote/door.h"
#include "lib/kernel/remote/elsewhere.h"
#include "lib/kernel/remote/push.h"
#include "lib/kernel/remote/several.h"

/* Leaves the option of this value out of the words: the value is a word of its own, or behind a '='. */
static void leave_out(struct elsewhere_arguments *arguments, const char *value)
{
	for (int i = 1; i < arguments->nr_words; i++) {
		const char *word = arguments->words[i];

		if (value < word || value > word + strlen(word))
			continue;
		arguments->left_out[i] = true;
		if (word == value)
			arguments->left_out[i - 1] = true;
	}
}

static void take_host(const struct option_row *row, void *input, char *arg, struct argp_state *state)
{
	struct elsewhere_arguments *arguments = input;

	(void)row;
	option_add_word(&arguments->hosts, arg, state);
	arguments->host = arguments->hosts.at[0];
	/* What begins so would be an option of ssh. */
	if (!*arg || *arg == '-')
		argp_error(state, "--on: '%s' is not the name of a machine", arg);
	leave_out(arguments, arg);
}

static void take_rsh(const struct option_row *row, void *input, char *arg, struct argp_state *state)
{
	struct elsewhere_arguments *arguments = input;

	(void)row;
	option_once("--rsh", &arguments->rsh, arg, state);
	if (!arg[strspn(arg, " ")])
		argp_error(state, "--rsh: the command is empty");
	leave_out(arguments, arg);
}

static void take_push(const struct option_row *row, void *input, char *arg, struct argp_state *state)
{
	struct elsewhere_arguments *arguments = input;

	(void)row;
	option_once("--push", &arguments->push, arg, state);
	leave_out(arguments, arg);
}

static void take_min_ok(const struct option_row *row, void *input, char *arg, struct argp_state *state)
{
	struct elsewhere_arguments *arguments = input;
	struct fail fail = FAIL_INIT;
	uint64_t n;

	(void)row;
	option_taken("--min-ok", text_parse_range(arg, 1, OPTION_WORDS_MAX, &n, &fail), &fail, state);
	arguments->min_ok = (int)n;
	leave_out(arguments, arg);
}

/* How a machine is reached. */
/* clang-format off */
#define WAYS \
	{ "rsh", 0, "COMMAND", 0, \
	  "With --on: reach it by COMMAND instead of ssh, in which %h is HOST: 'ssh -p 2222 %h sudo -n', " \
	  "'docker exec -i NAME'", \
	  0, OPTION_TAKE(take_rsh) }, \
	{ "push", 0, "FILE", 0, \
	  "With --on: bring FILE there, a weft for that machine ('make static' makes one), and remove it afterwards", \
	  0, OPTION_TAKE(take_push) }
/* clang-format on */

static const struct option_row table[] = {
	{ "on", 0, "HOST", 0, "Record the machine HOST: over ssh, which starts weft serve there; repeatable", 0,
	  OPTION_TAKE(take_host) },
	WAYS,
	{ "agentless", 0, NULL, 0,
	  "With --on: record a machine that has no weft by a script for its shell: events, filters, tasks and buffers",
	  0, OPTION_FLAG(struct elsewhere_arguments, agentless) },
	{ "min-ok", 0, "N", 0, "With several --on: also succeed if only N of the machines were recorded", 0,
	  OPTION_TAKE(take_min_ok) },
	{ 0 },
};

static const struct option_row one_table[] = {
	{ "on", 0, "HOST", 0, "Do it on the machine HOST: over ssh, which starts weft serve there", 0,
	  OPTION_TAKE(take_host) },
	WAYS,
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct elsewhere_arguments *arguments = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		/* argp may put them into another order. */
		arguments->words = calloc((size_t)state->argc + 1, sizeof(*arguments->words));
		arguments->nr_words = state->argc;
		arguments->left_out = calloc((size_t)state->argc + 1, sizeof(*arguments->left_out));
		option_need(arguments->words, state);
		option_need(arguments->left_out, state);
		memcpy(arguments->words, state->argv, (size_t)state->argc * sizeof(*arguments->words));
		return 0;
	case ARGP_KEY_END:
		for (size_t i = 0; (arguments->rsh || arguments->push) && i < arguments->hosts.len; i++)
			if (door_is(arguments->hosts.at[i]))
				argp_error(state, "%s: no program leads to '%s'", arguments->rsh ? "--rsh" : "--push",
					   arguments->hosts.at[i]);
		if (arguments->agentless && !arguments->host)
			argp_error(state, "--agentless needs --on");
		if (arguments->agentless && arguments->push)
			argp_error(state, "--agentless and --push cannot be combined");
		if ((arguments->rsh || arguments->push) && !arguments->host)
			argp_error(state, "%s needs --on", arguments->rsh ? "--rsh" : "--push");
		if (arguments->min_ok && arguments->hosts.len < 2)
			argp_error(state, "--min-ok needs several --on");
		if ((size_t)arguments->min_ok > arguments->hosts.len)
			argp_error(state, "--min-ok %d is more than there are --on", arguments->min_ok);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct options elsewhere_options = { .rows = table, .parser = parse };

static error_t parse_one(int key, char *arg, struct argp_state *state)
{
	const struct elsewhere_arguments *arguments = state->input;

	if (key == ARGP_KEY_END && arguments->hosts.len > 1)
		argp_error(state, "--on: only 'weft record' takes several machines");
	return parse(key, arg, state);
}

const struct options elsewhere_one_options = { .rows = one_table, .parser = parse_one };

bool elsewhere_is_named(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "--on") || !strncmp(argv[i], "--on=", strlen("--on=")))
			return true;
	return false;
}

void elsewhere_release(struct elsewhere_arguments *arguments)
{
	free(arguments->words);
	free(arguments->left_out);
	arguments->words = NULL;
	arguments->left_out = NULL;
}

/* The words of the program to start, and a copy of the text of --rsh that they point into. */
struct program {
	char **words;
	size_t nr;
	struct buf text;
};

static void program_release(struct program *program)
{
	free(program->words);
	buf_release(&program->text);
}

static bool add_word(struct program *program, const char *word)
{
	char **added = vec_push(program->words, program->nr);

	if (added)
		*added = (char *)(uintptr_t)word;
	return added;
}

/* Puts the host in the place of each %h, and a NUL behind each word. */
static bool expand(struct program *program, const struct elsewhere_arguments *arguments)
{
	const char *rsh = arguments->rsh ? arguments->rsh : "ssh -oBatchMode=yes -T %h";
	struct text_word word;
	bool ok = true;

	while (ok && text_next_word(&rsh, " ", &word)) {
		for (size_t i = 0; ok && i < word.len; i++) {
			bool is_host = i + 1 < word.len && word.at[i] == '%' && word.at[i + 1] == 'h';

			ok = is_host ? buf_add_str(&program->text, arguments->host) :
				       buf_add(&program->text, word.at + i, 1);
			i += is_host;
		}
		ok = ok && buf_add(&program->text, "", 1);
	}
	return ok;
}

/* The words that lead there. No words at all, where a socket does. */
static bool make_program(struct program *program, const struct elsewhere_arguments *arguments)
{
	bool ok = door_is(arguments->host) || expand(program, arguments);

	for (size_t at = 0; ok && at < program->text.len; at += strlen(program->text.data + at) + 1)
		ok = add_word(program, program->text.data + at);
	return ok;
}

/* Behind them `sh`, or the words of the weft there, which was brought to the path `pushed`, or is there: NULL. */
static int add_serve(struct program *program, const struct elsewhere_arguments *arguments, bool has_command,
		     char **ret_pushed, struct fail *fail)
{
	struct push push = { .mask = arguments->mask };
	bool ok;
	int err;

	if (door_is(arguments->host))
		return 0;
	if (arguments->agentless)
		return add_word(program, "sh") && add_word(program, NULL) ? 0 : fail_memory(fail);
	if (arguments->push) {
		ok = add_word(program, NULL);
		push.rsh = program->words;
		err = ok ? push_bring(&push, arguments->push, ret_pushed, fail) : fail_memory(fail);
		if (err)
			return fail_in(fail, err, "%s", arguments->host);
		program->nr--;
	}
	ok = add_word(program, *ret_pushed ? *ret_pushed : "weft") && add_word(program, "serve");
	if (ok && *ret_pushed)
		ok = add_word(program, "--pushed");
	if (ok && has_command)
		ok = add_word(program, "--allow-command");
	return ok && add_word(program, NULL) ? 0 : fail_memory(fail);
}

/* A serve that could not be started has not removed it. */
static void take_back(struct program *program, const struct elsewhere_arguments *arguments, const char *pushed)
{
	size_t nr = 0;

	while (program->words && program->words[nr] != pushed)
		nr++;
	program->words[nr] = NULL;
	push_remove(&(struct push){ .rsh = program->words, .mask = arguments->mask }, pushed);
}

/* What was printed there: each message of weft, and each line of what leads there, says from which machine it is. */
struct printing {
	const char *host;
	bool stdout_to_stderr;
	bool within[2]; /* a line of ELSEWHERE_STDERR, ELSEWHERE_RSH */
	/* one of several machines: each line has the name of its machine, and is written as a whole */
	bool of_several;
	struct buf begun[3]; /* by enum elsewhere_text: a line without an end */
	/* what comes on standard output goes into this file */
	bool to_file;
	int file;
	bool is_recording;
};

enum { LINE_MAX_SHOWN = 4096 };

static void print_whole(const struct printing *printing, enum elsewhere_text what, const struct buf *line)
{
	static const char name[] = "weft: ";
	FILE *to = what == ELSEWHERE_STDOUT && !printing->stdout_to_stderr ? stdout : stderr;
	const char *text = line->data;
	size_t len = line->len;
	bool is_message = len >= strlen(name) && !memcmp(text, name, strlen(name));
	cleanup_buf struct buf whole = BUF_INIT;

	text += is_message ? strlen(name) : 0;
	len -= is_message ? strlen(name) : 0;
	if (buf_addf(&whole, "%s%s: ", is_message || what == ELSEWHERE_RSH ? name : "", printing->host) &&
	    buf_add(&whole, text, len) && buf_add(&whole, "\n", 1))
		fwrite(whole.data, 1, whole.len, to);
	fflush(to);
}

static void print_of_several(struct printing *printing, enum elsewhere_text what, const char *text, size_t len)
{
	struct buf *line = &printing->begun[what];

	for (size_t i = 0; i < len; i++) {
		bool ends = text[i] == '\n';

		if ((!ends && !buf_add(line, &text[i], 1)) || (!ends && line->len < LINE_MAX_SHOWN))
			continue;
		print_whole(printing, what, line);
		buf_clear(line);
	}
}

static void printing_release(struct printing *printing)
{
	for (size_t i = 0; i < array_size(printing->begun); i++) {
		if (printing->begun[i].len)
			print_whole(printing, (enum elsewhere_text)i, &printing->begun[i]);
		buf_release(&printing->begun[i]);
	}
}

static void print_line(struct printing *printing, enum elsewhere_text what, const char *line, size_t len)
{
	static const char name[] = "weft: ";
	bool *within = &printing->within[what == ELSEWHERE_RSH];
	bool is_message = len >= strlen(name) && !strncmp(line, name, strlen(name));
	bool ends = len && line[len - 1] == '\n';

	if (!*within && (is_message || what == ELSEWHERE_RSH)) {
		fprintf(stderr, "%s%s: ", name, printing->host);
		line += is_message ? strlen(name) : 0;
		len -= is_message ? strlen(name) : 0;
	}
	fwrite(line, 1, len, stderr);
	*within = !ends;
}

static void print_errors(struct printing *printing, enum elsewhere_text what, const char *text, size_t len)
{
	while (len) {
		const char *end = memchr(text, '\n', len);
		size_t line = end ? (size_t)(end - text) + 1 : len;

		print_line(printing, what, text, line);
		text += line;
		len -= line;
	}
	fflush(stderr);
}

/* Who closes the output of a command wants no more of it; the COMMAND of a recording is recorded all the same. */
static int print_output(const struct printing *printing, const char *text, size_t len)
{
	FILE *to = printing->stdout_to_stderr ? stderr : stdout;

	if (printing->to_file)
		return io_write(printing->file, text, len);
	/* On a terminal the stream escapes what may be hostile. */
	if (!printing->is_recording && !terminal_escapes())
		return io_write(STDOUT_FILENO, text, len);
	fwrite(text, 1, len, to);
	fflush(to);
	return 0;
}

static int print(void *arg, enum elsewhere_text what, const char *text, size_t len)
{
	struct printing *printing = arg;

	if (printing->of_several)
		print_of_several(printing, what, text, len);
	else if (what == ELSEWHERE_STDOUT)
		return print_output(printing, text, len);
	else
		print_errors(printing, what, text, len);
	return 0;
}

static bool choose_words(const struct elsewhere_arguments *arguments, char ***ret, size_t *ret_nr)
{
	char **words = NULL, **added = NULL;
	size_t nr = 0;

	for (int i = 0; i < arguments->nr_words; i++) {
		if (arguments->left_out[i])
			continue;
		added = vec_push(words, nr);
		if (!added)
			break;
		*added = arguments->words[i];
	}
	*ret = words;
	*ret_nr = nr;
	return added;
}

/* `to` has what to do with the answer; the program, the words and how to print come from here. */
static int ask(const struct elsewhere_arguments *arguments, bool has_command, struct printing *printing,
	       struct elsewhere_options *to, struct record_result *ret, struct fail *fail)
{
	struct program program = { .words = NULL };
	cleanup_free char **words = NULL;
	cleanup_free char *pushed = NULL;
	size_t nr = 0;
	int err = make_program(&program, arguments) && choose_words(arguments, &words, &nr) ? 0 : fail_memory(fail);

	if (!err)
		err = add_serve(&program, arguments, has_command, &pushed, fail);
	to->host = arguments->host;
	to->rsh = program.words;
	to->words = words;
	to->nr_words = nr;
	to->mask = arguments->mask;
	to->print = print;
	to->arg = printing;
	if (!err)
		err = elsewhere_run(to, ret, fail);
	if (err && pushed)
		take_back(&program, arguments, pushed);
	program_release(&program);
	printing_release(printing);
	return err;
}

int elsewhere_record(const struct elsewhere_arguments *arguments, const struct record_options *options,
		     struct record_result *ret, struct fail *fail)
{
	struct printing printing = { .host = arguments->host,
				     .is_recording = true,
				     .stdout_to_stderr = !strcmp(options->output, "-"),
				     .of_several = arguments->hosts.len > 1 };
	const struct agentless_options agentless = {
		.script = cmd_agentless_sh,
		.setup = &options->setup,
		.argv = options->argv,
		.all_formats = options->all_formats,
		.duration_ns = options->duration_ns,
		.file = { .version = options->version,
			  .compress = options->compress,
			  .level = options->level,
			  .all_symbols = options->all_symbols },
	};
	struct elsewhere_options to = { .output = options->output,
					.temp_dir = options->temp_dir,
					.mode = options->mode,
					.agentless = arguments->agentless ? &agentless : NULL };

	return ask(arguments, options->argv, &printing, &to, ret, fail);
}

/* What the far command prints is the content of a file. */
struct fetching {
	const struct elsewhere_arguments *arguments;
	int status;
};

static int fetch(void *arg, int fd, struct fail *fail)
{
	struct fetching *fetching = arg;
	struct printing printing = { .host = fetching->arguments->host, .file = fd, .to_file = true };
	struct elsewhere_options to = { .output = NULL };
	struct record_result result;
	int err = ask(fetching->arguments, false, &printing, &to, &result, fail);

	fetching->status = err ? EXIT_FAILED : result.status;
	if (!err && fetching->status)
		err = fail_set(fail, -EREMOTEIO, "%s: the command there has failed", fetching->arguments->host);
	return err;
}

int elsewhere_fetch(const struct elsewhere_arguments *arguments, const char *output, mode_t mode)
{
	struct fetching fetching = { .arguments = arguments, .status = EXIT_FAILED };
	struct destination to = DESTINATION_INIT;
	struct fail fail = FAIL_INIT;
	int err = destination_open(output, &to, &fail);

	if (!err)
		err = destination_write(&to, mode, false, fetch, &fetching, &fail);
	destination_release(&to);
	if (err)
		command_failed(&fail);
	return err && !fetching.status ? EXIT_FAILED : fetching.status;
}

static int run_there(const struct elsewhere_arguments *arguments, bool has_command, struct printing *printing)
{
	struct elsewhere_options to = { .output = NULL };
	struct record_result result;
	struct fail fail = FAIL_INIT;
	int err = ask(arguments, has_command, printing, &to, &result, &fail);

	if (err == -EPIPE)
		return EXIT_OK;
	return err ? command_failed(&fail) : result.status;
}

int elsewhere_command(const struct elsewhere_arguments *arguments, bool has_command)
{
	struct printing printing = { .host = arguments->host };

	return run_there(arguments, has_command, &printing);
}

/* ENDS_MS: the other machine has this long to end, and then to be given up. */
enum { SAID_MAX = 1 << 20, ENDS_MS = 3000 };

/*
 * Whoever reads the pages asks for the end, and then not to wait for it, or is gone. The signals are held by all
 * threads, and read by elsewhere_run().
 */
static void *hear_stop(void *arg)
{
	static const int sigs[] = { SIGINT, SIGTERM };
	const int *talk = arg;
	char byte;

	for (size_t i = 0; i < array_size(sigs); i++) {
		(void)!io_read(*talk, &byte, 1);
		(void)!kill(getpid(), sigs[i]);
	}
	return NULL;
}

/* The messages of a machine that says too many are cut. */
__attribute__((noreturn)) static void be_pipe(struct elsewhere_arguments *arguments, bool has_command, int pages,
					      int said, int talk)
{
	struct printing printing = { .host = arguments->host, .file = pages, .to_file = true };
	const struct rlimit limit = { SAID_MAX, SAID_MAX };
	pthread_t thread;
	sigset_t all, old;
	uint8_t status = EXIT_RECORD_FAILED;

	sigfillset(&all);
	(void)!sigprocmask(SIG_BLOCK, &all, &old);
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)!setrlimit(RLIMIT_FSIZE, &limit);
	arguments->mask = &old;
	if (dup2(said, STDERR_FILENO) >= 0 && !pthread_create(&thread, NULL, hear_stop, &talk))
		status = (uint8_t)run_there(arguments, has_command, &printing);
	fflush(NULL);
	/* The pages end before the status is there. */
	(void)close(pages);
	(void)!io_write(talk, &status, 1);
	_exit(status);
}

int elsewhere_pipe_open(const struct elsewhere_arguments *arguments, bool has_command, struct elsewhere_pipe *ret,
			struct fail *fail)
{
	struct elsewhere_arguments own = *arguments;
	cleanup_fd int pages = -1, talk = -1;
	int fds[2], pair[2];
	pid_t pid;

	ret->said = memfd_create("weft-said", MFD_CLOEXEC);
	if (ret->said < 0 || pipe2(fds, O_CLOEXEC))
		return fail_set(fail, -errno, "cannot make a pipe: %s", strerror(errno));
	ret->pages = fds[0];
	pages = fds[1];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return fail_set(fail, -errno, "cannot make a socket: %s", strerror(errno));
	ret->talk = pair[0];
	talk = pair[1];
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return fail_set(fail, -errno, "cannot start a process: %s", strerror(errno));
	if (!pid) {
		cleanup_fd_close(&ret->pages);
		cleanup_fd_close(&ret->talk);
		be_pipe(&own, has_command, pages, ret->said, talk);
	}
	return 0;
}

void elsewhere_pipe_stop(const struct elsewhere_pipe *pipe)
{
	(void)!io_write(pipe->talk, "", 1);
}

int elsewhere_pipe_close(struct elsewhere_pipe *pipe)
{
	uint8_t status = EXIT_RECORD_FAILED;
	cleanup_buf struct buf said = BUF_INIT;

	cleanup_fd_close(&pipe->pages);
	for (int i = 0; pipe->talk >= 0 && i < 2; i++) {
		struct pollfd wait = { .fd = pipe->talk, .events = POLLIN };

		elsewhere_pipe_stop(pipe);
		if (io_again(poll(&wait, 1, ENDS_MS)) > 0)
			break;
	}
	if (pipe->talk >= 0 && io_read(pipe->talk, &status, 1) < 1)
		status = EXIT_RECORD_FAILED;
	cleanup_fd_close(&pipe->talk);
	if (pipe->said >= 0 && lseek(pipe->said, 0, SEEK_SET) == 0 && !io_read_all(pipe->said, SAID_MAX, &said)) {
		fwrite(said.data, 1, said.len, stderr);
		fflush(stderr);
	}
	cleanup_fd_close(&pipe->said);
	*pipe = (struct elsewhere_pipe)ELSEWHERE_PIPE_INIT;
	return status;
}

/* A name has what a file and a buffer of `weft merge` may have in theirs. */
static bool put_name(struct buf *to, const char *host)
{
	bool ok = true;

	for (; ok && *host; host++)
		ok = buf_add(to, *host == '/' || *host == ':' || *host == ' ' ? "_" : host, 1);
	return ok;
}

static size_t times_before(const struct elsewhere_arguments *arguments, size_t index)
{
	size_t nr = 0;

	for (size_t i = 0; i < index; i++)
		nr += !strcmp(arguments->hosts.at[i], arguments->hosts.at[index]);
	return nr;
}

char *elsewhere_file(const struct elsewhere_arguments *arguments, size_t index, const char *output)
{
	const char *leaf = strrchr(output, '/') ? strrchr(output, '/') + 1 : output, *dot = strrchr(leaf, '.');
	size_t before = times_before(arguments, index);
	struct buf name = BUF_INIT;
	bool ok;

	if (!dot || dot == leaf)
		dot = leaf + strlen(leaf);
	ok = buf_add(&name, output, (size_t)(dot - output)) && buf_add_str(&name, "-") &&
	     put_name(&name, arguments->hosts.at[index]);
	if (ok && before)
		ok = buf_addf(&name, "-%zu", before + 1);
	if (ok && buf_add(&name, dot, strlen(dot) + 1))
		return name.data;
	buf_release(&name);
	return NULL;
}

static const struct table_column columns[] = {
	{ "host", TABLE_TEXT, NULL, 0 },  { "state", TABLE_TEXT, NULL, 0 }, { "events", TABLE_COUNT, NULL, 0 },
	{ "lost", TABLE_COUNT, NULL, 0 }, { "file", TABLE_TEXT, NULL, 0 },  { "why", TABLE_TEXT, NULL, 0 },
};

static void put_row(struct table *table, const char *host, const struct several_report *report, const char *file)
{
	table_cell(table, host);
	table_cell(table, report->failed ? "failed" : report->skipped ? "skipped" : report->lost ? "lost" : "ok");
	table_cell_known(table, report->has_file, report->events);
	table_cell_known(table, report->has_file && !report->at_most, report->lost);
	table_cell(table, report->has_file && file ? file : "-");
	table_cell(table, report->failed ? report->why : "");
}

static void print_table(const struct elsewhere_arguments *arguments, const struct several_report *reports,
			const char *output)
{
	cleanup_buf struct buf merged = BUF_INIT;
	struct table table;
	struct out out;
	size_t nr = 0;

	if (!out_init(&out, 4096))
		return;
	table_init(&table, columns, array_size(columns));
	for (size_t i = 0; i < arguments->hosts.len; i++) {
		cleanup_free char *file = elsewhere_file(arguments, i, output);
		cleanup_buf struct buf pasted = BUF_INIT;

		put_row(&table, arguments->hosts.at[i], &reports[i], file);
		if (reports[i].has_file && file && buf_addf(&merged, " %s", paste_file(&pasted, file)))
			nr++;
	}
	if (table_print(&table, &out) && !out.failed)
		fwrite(out.start, 1, out_len(&out), stderr);
	table_release(&table);
	out_release(&out);
	if (nr > 1)
		command_warn("'weft merge -o %s%s' makes one recording of them", output, buf_str(&merged));
}

int elsewhere_tell(const struct elsewhere_arguments *arguments, const struct several_report *reports,
		   const char *output, bool fail_on_lost, bool quiet)
{
	size_t nr = arguments->hosts.len, need = arguments->min_ok ? (size_t)arguments->min_ok : nr, made = 0;
	int status = EXIT_OK;

	for (size_t i = 0; i < nr; i++) {
		if (reports[i].failed || (fail_on_lost && reports[i].status == EXIT_LOST))
			continue;
		made++;
		status = status ? status : reports[i].status;
	}
	if (!quiet)
		print_table(arguments, reports, output);
	if (made >= need)
		return status;
	command_warn("%zu of %zu machines %s recorded%s", made, nr, made == 1 ? "was" : "were",
		     fail_on_lost ? " without losses" : "");
	return EXIT_FAILED;
}
