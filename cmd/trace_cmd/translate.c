// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/trace_cmd/filter.h"
#include "cmd/trace_cmd/trace_cmd.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"

/* The commands of trace-cmd besides report, and their options: what each is in weft. */

/* What an option of trace-cmd becomes. */
enum trace_cmd_how {
	KEEP,  /* the same option; `to` NULL: with the same letter or name */
	AS,    /* the option `to`, with the same value if there is one */
	AS_KB, /* the option `to`, whose value is in KB */
	AS_S,  /* the option `to`, whose value is in seconds; AS_MS, AS_US: in other units */
	AS_MS,
	AS_US,
	AS_MASK,   /* the same option; the value is a hexadecimal mask, -1 for all */
	AS_FILTER, /* -f: several behind one -e are all needed */
	TURN,      /* the whole command is another one: `to`, with one option */
	DROP,      /* nothing: what it asks for is so in any case, or has no effect here */
	REFUSE,    /* an error; `to` says what to use instead */
};

struct trace_cmd_row {
	const char *name; /* "e" or "file-version" */
	bool has_value;
	enum trace_cmd_how how;
	const char *to;
};

/* The commands. Behind the options come words: of a command to run, or that the command takes as they are. */
struct trace_cmd_verb {
	const char *name;
	const char *weft; /* its command; NULL: there is none */
	const struct trace_cmd_row *rows;
	const char *always[3];      /* options that are always given */
	const char *refused;        /* without a command of weft: what to use */
	const char *without_buffer; /* an option given if no -B is */
	bool ends_events;           /* of the top instance, or of those with -B */
	bool makes_file;            /* whose mode is 0666 without the umask */
	bool runs_command;          /* the words behind the options are a command */
	bool leaves_command;        /* they are one, which weft's command does not run */
};

static const char no_network[] =
	"weft sends nothing over a network: 'weft record -o - ... | ssh HOST weft report -i -'";
static const char no_guest[] = "weft has no agent in guests: record in the guest, and 'weft merge' both files";
static const char one_buffer[] = "'weft split -B NAME' writes one buffer of a file, -B '' the top one";
static const char no_profile[] =
	"'weft sched', 'weft syscalls', 'weft irq' and 'weft latency' tell where time is spent";

/* record, start, set, stream and extract have these in common. */
/* clang-format off */
static const struct trace_cmd_row record_rows[] = {
	{ "e", true, KEEP, NULL },
	{ "f", true, AS_FILTER, NULL },
	{ "R", true, KEEP, NULL },
	{ "v", false, KEEP, NULL },
	{ "i", false, KEEP, NULL },
	{ "a", false, DROP, NULL },
	{ "T", false, KEEP, NULL },
	{ "H", true, REFUSE, "'weft hist --latency EVENT..EVENT' measures between two events" },
	{ "F", false, KEEP, NULL },
	{ "P", true, KEEP, NULL },
	{ "c", false, KEEP, NULL },
	{ "p", true, KEEP, NULL },
	{ "l", true, KEEP, NULL },
	{ "n", true, KEEP, NULL },
	{ "g", true, KEEP, NULL },
	{ "d", false, AS, "-Onofunction-trace" },
	{ "D", false, AS, "-Onofunction-trace" },
	{ "O", true, KEEP, NULL },
	{ "C", true, KEEP, NULL },
	{ "b", true, KEEP, NULL },
	{ "B", true, KEEP, NULL },
	{ "M", true, AS_MASK, NULL },
	{ "m", true, AS_KB, "-m" },
	{ "o", true, KEEP, NULL },
	{ "s", true, DROP, NULL },
	{ "r", true, KEEP, NULL },
	{ "k", false, REFUSE, "'weft start' leaves tracing on, and 'weft extract' makes a file of it" },
	{ "K", false, REFUSE, "nothing is reset in any case: weft records in an instance of its own" },
	{ "N", true, REFUSE, no_network },
	{ "V", true, REFUSE, no_network },
	{ "t", false, REFUSE, no_network },
	{ "A", true, REFUSE, no_guest },
	{ "S", false, DROP, NULL },
	{ "G", false, DROP, NULL },
	{ "q", false, AS, "-q" },
	{ "quiet", false, AS, "-q" },
	{ "date", false, AS, "-Ctai" },
	{ "func-stack", false, KEEP, NULL },
	{ "nosplice", false, DROP, NULL },
	{ "nofifos", false, REFUSE, no_guest },
	{ "profile", false, REFUSE, no_profile },
	{ "stderr", false, DROP, NULL },
	{ "by-comm", false, DROP, NULL },
	{ "ts-offset", true, REFUSE, "'weft report --ts-offset' adds to the times of a file" },
	{ "max-graph-depth", true, KEEP, NULL },
	{ "cmdlines-size", true, KEEP, NULL },
	{ "no-filter", false, DROP, NULL },
	{ "debug", false, DROP, NULL },
	{ "notimeout", false, REFUSE, no_guest },
	{ "proc-map", false, DROP, NULL },
	{ "user", true, KEEP, NULL },
	{ "module", true, REFUSE, "-l 'FUNCTION:mod:MODULE' traces functions of a module" },
	{ "tsync-interval", true, REFUSE, no_guest },
	{ "fork", false, REFUSE, "the shell's & runs weft in the background" },
	{ "tsc2nsec", false, REFUSE, "-C mono counts nanoseconds" },
	{ "poll", false, DROP, NULL },
	{ "name", true, REFUSE, no_guest },
	{ "verbose", false, DROP, NULL },
	{ "compression", true, KEEP, NULL },
	{ "file-version", true, KEEP, NULL },
	{ "proxy", true, REFUSE, no_guest },
	{ "temp", true, AS, "--temp-dir" },
	{ "subbuf-size", true, AS_KB, "--subbuf-size" },
	{ "daemonize", false, REFUSE, "the shell's & or systemd-run runs weft in the background" },
	{ 0 },
};

static const struct trace_cmd_row extract_rows[] = {
	{ "o", true, KEEP, NULL },
	{ "B", true, KEEP, NULL },
	{ "s", false, KEEP, NULL },
	{ "a", false, KEEP, NULL },
	{ "t", false, AS, "--instance=" },
	{ "q", false, KEEP, NULL },
	{ "quiet", false, AS, "-q" },
	/* It takes those of record, which set up nothing here. */
	{ "e", true, DROP, NULL },
	{ "f", true, DROP, NULL },
	{ "R", true, DROP, NULL },
	{ "P", true, DROP, NULL },
	{ "p", true, DROP, NULL },
	{ "l", true, DROP, NULL },
	{ "n", true, DROP, NULL },
	{ "g", true, DROP, NULL },
	{ "O", true, DROP, NULL },
	{ "C", true, DROP, NULL },
	{ "b", true, DROP, NULL },
	{ "M", true, DROP, NULL },
	{ "m", true, DROP, NULL },
	{ "r", true, DROP, NULL },
	{ "v", false, DROP, NULL },
	{ "i", false, DROP, NULL },
	{ "T", false, DROP, NULL },
	{ "F", false, DROP, NULL },
	{ "c", false, DROP, NULL },
	{ "d", false, DROP, NULL },
	{ "D", false, DROP, NULL },
	{ "k", false, DROP, NULL },
	{ "G", false, DROP, NULL },
	{ "compression", true, KEEP, NULL },
	{ "file-version", true, KEEP, NULL },
	{ "verbose", false, DROP, NULL },
	{ 0 },
};

static const struct trace_cmd_row switch_rows[] = {
	{ "B", true, KEEP, NULL },
	{ "a", false, AS, "-at" },
	{ "t", false, KEEP, NULL },
	{ 0 },
};

static const struct trace_cmd_row clear_rows[] = {
	{ "B", true, KEEP, NULL },
	{ "a", false, AS, "-at" },
	{ 0 },
};

static const struct trace_cmd_row show_rows[] = {
	{ "p", false, KEEP, NULL },
	{ "s", false, KEEP, NULL },
	{ "c", true, KEEP, NULL },
	{ "B", true, KEEP, NULL },
	{ "f", false, REFUSE, "'weft show --help' names the files" },
	{ "tracing_on", false, KEEP, NULL },
	{ "current_tracer", false, KEEP, NULL },
	{ "buffer_size", false, KEEP, NULL },
	{ "buffer_total_size", false, KEEP, NULL },
	{ "buffer_subbuf_size", false, KEEP, NULL },
	{ "buffer_percent", false, KEEP, NULL },
	{ "ftrace_filter", false, KEEP, NULL },
	{ "ftrace_notrace", false, KEEP, NULL },
	{ "ftrace_pid", false, KEEP, NULL },
	{ "graph_function", false, KEEP, NULL },
	{ "graph_notrace", false, KEEP, NULL },
	{ "cpumask", false, KEEP, NULL },
	{ "max_latency", false, AS, "tracing_max_latency" },
	{ "hist", true, KEEP, NULL },
	{ "trigger", true, KEEP, NULL },
	{ 0 },
};

static const struct trace_cmd_row snapshot_rows[] = {
	{ "s", false, KEEP, NULL },
	{ "r", false, KEEP, NULL },
	{ "f", false, KEEP, NULL },
	{ "B", true, KEEP, NULL },
	{ "c", true, KEEP, NULL },
	{ 0 },
};

static const struct trace_cmd_row stack_rows[] = {
	{ "start", false, TURN, "set --stack-tracer=on" },
	{ "stop", false, TURN, "set --stack-tracer=off" },
	{ "reset", false, TURN, "stack reset" },
	{ "verbose", false, DROP, NULL },
	{ 0 },
};

static const struct trace_cmd_row split_rows[] = {
	{ "i", true, KEEP, NULL },
	{ "o", true, KEEP, NULL },
	{ "s", true, AS_S, "--every" },
	{ "m", true, AS_MS, "--every" },
	{ "u", true, AS_US, "--every" },
	{ "e", true, AS, "--count" },
	{ "C", true, AS, "--cpu" },
	{ "B", true, KEEP, NULL },
	{ "p", true, REFUSE, "'weft split --size SIZE' divides by size" },
	{ "r", false, REFUSE, "weft split divides the whole file in any case" },
	{ "c", false, AS, "--by=cpu" },
	{ "t", false, REFUSE, one_buffer },
	{ "top", false, REFUSE, one_buffer },
	{ "b", true, REFUSE, one_buffer },
	{ 0 },
};

static const struct trace_cmd_row convert_rows[] = {
	{ "i", true, KEEP, NULL },
	{ "o", true, KEEP, NULL },
	{ "file-version", true, KEEP, NULL },
	{ "compression", true, KEEP, NULL },
	{ "verbose", false, DROP, NULL },
	{ 0 },
};

static const struct trace_cmd_row check_rows[] = {
	{ "N", false, DROP, NULL },
	{ "verbose", false, DROP, NULL },
	{ 0 },
};

/* The last one has no name. */
static const struct trace_cmd_verb trace_cmd_verbs[] = {
	{ "record", "record", .rows = record_rows, .makes_file = true, .runs_command = true },
	{ "start", "start", .rows = record_rows, .runs_command = true },
	{ "set", "set", .rows = record_rows, .leaves_command = true },
	{ "stream", "stream", .rows = record_rows, .always = { "--format=trace-cmd" }, .runs_command = true },
	{ "extract", "extract", .rows = extract_rows, .makes_file = true, .ends_events = true },
	{ "stop", "stop", .rows = switch_rows },
	{ "restart", "restart", .rows = switch_rows },
	{ "clear", "clear", .rows = clear_rows },
	{ "show", "show", .rows = show_rows },
	{ "snapshot", "snapshot", .rows = snapshot_rows },
	{ "stack", "stack", .rows = stack_rows },
	{ "split", "split", .rows = split_rows, .makes_file = true },
	{ "convert", "convert", .rows = convert_rows, .makes_file = true },
	{ "check-events", "doctor", .rows = check_rows },
	{ "profile", .refused = no_profile },
	{ "hist", .refused = "'weft stacks', 'weft graph' and 'weft export --to folded' count calls of a file" },
	{ "mem", .refused = "'weft memory' counts what was allocated and not freed" },
	{ "restore", .refused = "'weft recover' makes a file of what a killed recording left, 'weft pack' of pages" },
	{ "listen", .refused = no_network },
	{ "agent", .refused = no_guest },
	{ "setup-guest", .refused = no_guest },
	{ "attach", .refused = no_guest },
	{ 0 },
};
/* clang-format on */

/* A command line of trace-cmd becomes one of weft, by the tables of verbs.c. */

enum {
	WORDS_MAX = 4096, /* of the command line that is made */
	BUFFERS_MAX = 64,
	LONGS_MAX = 64,
	LETTERS_MAX = 160,
	LONG_KEY = 256, /* the key of the first long option */
};

/* The command line of weft that is being made. */
struct line {
	char *words[WORDS_MAX + 1];
	size_t nr;
	char *owned[WORDS_MAX];
	size_t nr_owned;
	size_t filter;                    /* the word of -f for the last -e; 0: none */
	const char *buffers[BUFFERS_MAX]; /* of -B */
	size_t nr_buffers;
	const char *turned; /* the command that it became, "set --stack-tracer=on"; NULL: none */
	bool full;
};

static void put(struct line *line, char *word)
{
	line->full |= !word || line->nr == WORDS_MAX;
	if (!line->full)
		line->words[line->nr++] = word;
}

/* Takes a text of its own. */
static void put_owned(struct line *line, char *word)
{
	if (word && line->nr_owned < WORDS_MAX)
		line->owned[line->nr_owned++] = word;
	put(line, word);
}

static void put_joined(struct line *line, const char *option, const char *between, const char *value, const char *unit)
{
	char *word;

	put_owned(line, asprintf(&word, "%s%s%s%s", option, between, value, unit) < 0 ? NULL : word);
}

/* weft takes one filter for each -e. */
static void put_filter(struct line *line, const char *filter)
{
	const char *before = line->filter ? line->words[line->filter] : "-f", *between = line->filter ? "&&(" : "(";
	char *word;

	if (asprintf(&word, "%s%s%s)", before, between, filter) < 0)
		word = NULL;
	if (!line->filter) {
		put_owned(line, word);
		line->filter = line->nr - 1;
	} else if (word && line->nr_owned < WORDS_MAX) {
		line->owned[line->nr_owned++] = word;
		line->words[line->filter] = word;
	} else {
		free(word);
		line->full = true;
	}
}

static void line_release(struct line *line)
{
	for (size_t i = 0; i < line->nr_owned; i++)
		free(line->owned[i]);
}

/* What getopt_long() needs, from the rows. */
struct grammar {
	char letters[LETTERS_MAX];
	struct option longs[LONGS_MAX + 1];
};

static void grammar_of(const struct trace_cmd_verb *verb, struct grammar *ret)
{
	size_t len = 0, nr = 0;

	*ret = (struct grammar){ .letters = "" };
	/* The first word that is no option ends them: a command may follow. */
	ret->letters[len++] = '+';
	ret->letters[len++] = 'h';
	for (const struct trace_cmd_row *row = verb->rows; row->name; row++) {
		if (row->name[1]) {
			ret->longs[nr] = (struct option){ row->name, row->has_value ? required_argument : no_argument,
							  NULL, LONG_KEY + (int)(row - verb->rows) };
			nr++;
			continue;
		}
		ret->letters[len++] = row->name[0];
		if (row->has_value)
			ret->letters[len++] = ':';
	}
	ret->longs[nr] = (struct option){ "help", no_argument, NULL, 'h' };
	ret->letters[len] = '\0';
}

static const struct trace_cmd_row *row_of(const struct trace_cmd_verb *verb, int key)
{
	if (key >= LONG_KEY)
		return &verb->rows[key - LONG_KEY];
	for (const struct trace_cmd_row *row = verb->rows; row->name; row++)
		if (!row->name[1] && row->name[0] == key)
			return row;
	return NULL;
}

/* False, and a message, if the option is refused. */
static bool put_option(const struct trace_cmd_verb *verb, const struct trace_cmd_row *row, const char *value,
		       struct line *line)
{
	static const char *const units[] = { [AS_KB] = "K", [AS_S] = "s", [AS_MS] = "ms", [AS_US] = "us" };
	const char *dashes = row->name[1] ? "--" : "-", *between;
	char option[64];

	if (!strcmp(row->name, "e"))
		line->filter = 0;
	/* start and set print nothing that this would keep back. */
	if (row->to && !strcmp(row->to, "-q") && (!strcmp(verb->name, "start") || !strcmp(verb->name, "set")))
		return true;
	switch (row->how) {
	case KEEP:
		snprintf(option, sizeof(option), "%s%s", dashes, row->name);
		/* "any" of trace-cmd is what weft does without the option. */
		if (!strcmp(row->name, "compression") && value && !strcmp(value, "any"))
			return true;
		between = row->name[1] && value ? "=" : "";
		put_joined(line, option, between, value ? value : "", "");
		return true;
	case AS:
		put_joined(line, row->to, value ? "=" : "", value ? value : "", "");
		return true;
	case AS_KB:
	case AS_S:
	case AS_MS:
	case AS_US:
		put_joined(line, row->to, row->to[1] == '-' ? "=" : "", value, units[row->how]);
		return true;
	case AS_MASK:
		if (strcmp(value, "-1") != 0)
			put_joined(line, "-M", strncmp(value, "0x", 2) ? "0x" : "", value, "");
		return true;
	case AS_FILTER:
		put_filter(line, value);
		return true;
	case TURN:
		line->turned = row->to;
		return true;
	case DROP:
		return true;
	case REFUSE:
		command_warn("trace-cmd %s %s%s cannot be had: %s", verb->name, dashes, row->name, row->to);
		return false;
	}
	return false;
}

static bool put_options(const struct trace_cmd_verb *verb, int argc, char **argv, struct line *line)
{
	bool has_buffer = false;
	struct grammar grammar;
	int key;

	grammar_of(verb, &grammar);
	optind = 1;
	while ((key = getopt_long(argc, argv, grammar.letters, grammar.longs, NULL)) != -1) {
		const struct trace_cmd_row *row = row_of(verb, key);

		if (!row || !put_option(verb, row, optarg, line))
			return false;
		has_buffer |= key == 'B';
		if (key == 'B' && line->nr_buffers < BUFFERS_MAX)
			line->buffers[line->nr_buffers++] = optarg;
	}
	if (verb->without_buffer && !has_buffer)
		put_joined(line, verb->without_buffer, "", "", "");
	return true;
}

static void put_words(const struct trace_cmd_verb *verb, int argc, char **argv, struct line *line)
{
	/* The times of split, and the output of convert, which may stand last. */
	static const char *const split_words[] = { "--since", "--until" };

	if (verb->leaves_command)
		return;
	if (verb->runs_command && optind < argc)
		put_joined(line, "--", "", "", "");
	for (int i = optind; i < argc; i++) {
		if (!strcmp(verb->name, "split") && i - optind < 2)
			put_joined(line, split_words[i - optind], "=", argv[i], "");
		else if (!strcmp(verb->name, "convert"))
			put_joined(line, "-o", "", argv[i], "");
		else
			put(line, argv[i]);
	}
}

/* A failure is the number of its error. trace-cmd does not tell how the command ended that it recorded. */
static int status_of(const struct trace_cmd_verb *verb, int status)
{
	bool records = !strcmp(verb->name, "record") || !strcmp(verb->name, "stream");
	bool failed = status == (records ? EXIT_RECORD_FAILED : EXIT_FAILED);
	int number = command_errno();

	if (failed && number && number < TRACE_CMD_USAGE)
		return number;
	if (!records && status == EXIT_USAGE)
		return TRACE_CMD_USAGE;
	return failed ? EXIT_FAILED : records ? EXIT_OK : status;
}

/* trace-cmd's files have the mode that the umask leaves. */
static void put_mode(struct line *line)
{
	mode_t mask = umask(0);
	char mode[16];

	umask(mask);
	snprintf(mode, sizeof(mode), "%o", 0666U & ~mask);
	put_joined(line, "--mode", "=", mode, "");
}

/* An option has made it the command "NAME OPTION" of weft. */
static int run_turned(const char *turned)
{
	cleanup_free char *name = strndup(turned, strcspn(turned, " ")),
			  *option = strdup(turned + strcspn(turned, " ") + 1);
	cleanup_free char *title = NULL;

	if (!name || !option || asprintf(&title, "weft %s", name) < 0) {
		title = NULL;
		command_warn("out of memory");
		return TRACE_CMD_USAGE;
	}
	return command_find(name)->run(2, (char *[]){ title, option, NULL });
}

static int run_line(const struct trace_cmd_verb *verb, struct line *line)
{
	if (line->full) {
		command_warn("the command line is too long");
		return TRACE_CMD_USAGE;
	}
	if (line->turned)
		return run_turned(line->turned);
	return status_of(verb, command_find(verb->weft)->run((int)line->nr, line->words));
}

/* What extract has made a file of is traced no longer. */
static void end_events(const struct line *line)
{
	if (!line->nr_buffers)
		trace_cmd_end_events("");
	for (size_t i = 0; i < line->nr_buffers; i++)
		trace_cmd_end_events(line->buffers[i]);
}

/* The command behind the options of set. What is set stays, so weft is not needed while it runs. */
static int run_command(char **argv)
{
	execvp(*argv, argv);
	command_warn("cannot run '%s': %s", *argv, strerror(errno));
	return TRACE_CMD_USAGE;
}

static int run(const struct trace_cmd_verb *verb, int argc, char **argv)
{
	struct line line = { .nr = 0 };
	int status = TRACE_CMD_USAGE, words = argc;
	char title[64];

	snprintf(title, sizeof(title), "weft %s", verb->weft);
	put(&line, title);
	command_usage_status(TRACE_CMD_USAGE);
	for (size_t i = 0; i < array_size(verb->always) && verb->always[i]; i++)
		put_joined(&line, verb->always[i], "", "", "");
	if (verb->makes_file)
		put_mode(&line);
	if (put_options(verb, argc, argv, &line)) {
		words = optind;
		put_words(verb, argc, argv, &line);
		status = run_line(verb, &line);
	}
	if (!status && verb->ends_events)
		end_events(&line);
	line_release(&line);
	if (!status && verb->leaves_command && words < argc)
		return run_command(argv + words);
	return status;
}

int trace_cmd_translate(const char *name, int argc, char **argv)
{
	for (const struct trace_cmd_verb *verb = trace_cmd_verbs; verb->name; verb++) {
		char title[64];

		if (strcmp(verb->name, name))
			continue;
		if (verb->refused) {
			command_warn("trace-cmd %s cannot be had: %s", name, verb->refused);
			return TRACE_CMD_USAGE;
		}
		/* The name in the messages of getopt_long(). */
		snprintf(title, sizeof(title), "trace-cmd %s", name);
		argv[0] = title;
		return run(verb, argc, argv);
	}
	command_warn("trace-cmd has no command '%s'", name);
	return TRACE_CMD_USAGE;
}
