// SPDX-License-Identifier: GPL-2.0-only
/* The commands of trace-cmd besides report: a table of their options, and what each is in weft. */
#include "cmd/command.h"
#include "cmd/trace_cmd/trace_cmd.h"
#include "lib/base/cleanup.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORDS_MAX = 4096, /* of the command line that is made */
	LONGS_MAX = 64,
	LETTERS_MAX = 160,
	LONG_KEY = 256, /* the key of the first long option */
};

/* What an option of trace-cmd becomes. */
enum how {
	KEEP,  /* the same option; `to` NULL: with the same letter or name */
	AS,    /* the option `to`, with the same value if there is one */
	AS_KB, /* the option `to`, whose value is in KB */
	AS_S,  /* the option `to`, whose value is in seconds; AS_MS, AS_US: in other units */
	AS_MS,
	AS_US,
	DROP,   /* nothing: what it asks for is so in any case, or has no effect here */
	REFUSE, /* an error; `to` says what to use instead */
};

struct row {
	const char *name; /* "e" or "file-version" */
	bool has_value;
	enum how how;
	const char *to;
};

static const char no_network[] =
	"weft sends nothing over a network: 'weft record -o - ... | ssh HOST weft report -i -'";
static const char no_guest[] = "weft has no agent in guests: record in the guest, and 'weft merge' both files";
static const char no_profile[] =
	"'weft sched', 'weft syscalls', 'weft irq' and 'weft latency' tell where time is spent";

/* record, start, set, stream and extract have these in common. */
/* clang-format off */
static const struct row record_rows[] = {
	{ "e", true, KEEP, NULL },
	{ "f", true, KEEP, NULL },
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
	{ "D", false, REFUSE, "it stops the function tracing of everybody" },
	{ "O", true, KEEP, NULL },
	{ "C", true, KEEP, NULL },
	{ "b", true, KEEP, NULL },
	{ "B", true, KEEP, NULL },
	{ "M", true, KEEP, NULL },
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

static const struct row extract_rows[] = {
	{ "p", true, DROP, NULL },
	{ "O", true, DROP, NULL },
	{ "o", true, KEEP, NULL },
	{ "B", true, KEEP, NULL },
	{ "s", false, KEEP, NULL },
	{ "a", false, KEEP, NULL },
	{ "t", false, AS, "-B" },
	{ "q", false, KEEP, NULL },
	{ "compression", true, KEEP, NULL },
	{ "file-version", true, KEEP, NULL },
	{ "verbose", false, DROP, NULL },
	{ 0 },
};

static const struct row switch_rows[] = {
	{ "B", true, KEEP, NULL },
	{ "a", false, KEEP, NULL },
	{ "t", false, KEEP, NULL },
	{ 0 },
};

static const struct row clear_rows[] = {
	{ "B", true, KEEP, NULL },
	{ "a", false, KEEP, NULL },
	{ 0 },
};

static const struct row reset_rows[] = {
	{ "B", true, KEEP, NULL },
	{ "a", false, DROP, NULL },
	{ "t", false, DROP, NULL },
	{ "b", true, REFUSE, "'weft set -b KB' changes the size of the buffers" },
	{ "d", false, REFUSE, "'weft instance remove NAME' removes an instance" },
	{ "k", true, REFUSE, "'weft reset' without --all takes back only what weft did" },
	{ 0 },
};

static const struct row show_rows[] = {
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
	{ "hist", true, KEEP, NULL },
	{ "trigger", true, KEEP, NULL },
	{ 0 },
};

static const struct row list_rows[] = {
	{ "e", false, KEEP, NULL },
	{ "F", false, KEEP, NULL },
	{ "full", false, DROP, NULL },
	{ "t", false, KEEP, NULL },
	{ "p", false, AS, "-t" },
	{ "o", false, KEEP, NULL },
	{ "f", false, KEEP, NULL },
	{ "B", false, AS, "instances" },
	{ "C", false, KEEP, NULL },
	{ "R", false, REFUSE, "'weft show --trigger EVENT' prints the triggers of an event" },
	{ "l", false, REFUSE, "'weft stat' prints the filters of events" },
	{ "s", false, REFUSE, "'weft list events' names each event with its system" },
	{ "P", false, REFUSE, "report needs no plugins of libtraceevent" },
	{ "O", false, REFUSE, "the options of report -O are in weft-trace-cmd(7)" },
	{ "c", false, REFUSE, "weft compresses with zstd" },
	{ 0 },
};

static const struct row stat_rows[] = {
	{ "B", true, KEEP, NULL },
	{ "t", false, DROP, NULL },
	{ "o", false, AS, "--full" },
	{ 0 },
};

static const struct row snapshot_rows[] = {
	{ "s", false, KEEP, NULL },
	{ "r", false, KEEP, NULL },
	{ "f", false, KEEP, NULL },
	{ "B", true, KEEP, NULL },
	{ "c", true, KEEP, NULL },
	{ 0 },
};

static const struct row stack_rows[] = {
	{ "start", false, REFUSE, "'weft set --stack-tracer on' starts it" },
	{ "stop", false, REFUSE, "'weft set --stack-tracer off' stops it" },
	{ "reset", false, KEEP, NULL },
	{ "verbose", false, DROP, NULL },
	{ 0 },
};

static const struct row split_rows[] = {
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
	{ 0 },
};

static const struct row convert_rows[] = {
	{ "i", true, KEEP, NULL },
	{ "o", true, KEEP, NULL },
	{ "file-version", true, KEEP, NULL },
	{ "compression", true, KEEP, NULL },
	{ "verbose", false, DROP, NULL },
	{ 0 },
};

static const struct row dump_rows[] = {
	{ "i", true, KEEP, NULL },
	{ "summary", false, DROP, NULL },
	{ "all", false, DROP, NULL },
	{ "options", false, DROP, NULL },
	{ "sections", false, DROP, NULL },
	{ "clock", false, DROP, NULL },
	{ "flyrecord", false, DROP, NULL },
	{ "v", false, REFUSE, "'weft check FILE' validates a file" },
	{ "validate", false, REFUSE, "'weft check FILE' validates a file" },
	{ "events", false, REFUSE, "'weft trace-cmd report --events' prints the formats" },
	{ "kallsyms", false, REFUSE, "'weft trace-cmd report -f' prints the symbols" },
	{ "printk", false, REFUSE, "'weft trace-cmd report -P' prints them" },
	{ 0 },
};

static const struct row no_rows[] = { { 0 } };

/* The commands. Behind the options come words: of a command to run, or that the command takes as they are. */
static const struct verb {
	const char *name;
	const char *weft;          /* its command; NULL: there is none */
	const struct row *rows;
	const char *always[3];     /* options that are always given */
	const char *refused;       /* without a command of weft: what to use */
	const char *without_buffer; /* an option given if no -B is */
	bool runs_command;         /* the words behind the options are a command */
	bool any_order;            /* options may follow words */
} verbs[] = {
	{ "record", "record", .rows = record_rows, .runs_command = true },
	{ "start", "start", .rows = record_rows, .runs_command = true },
	{ "set", "set", .rows = record_rows, .runs_command = true },
	{ "stream", "stream", .rows = record_rows, .always = { "--format=trace-cmd" }, .runs_command = true },
	{ "extract", "extract", .rows = extract_rows },
	{ "stop", "stop", .rows = switch_rows },
	{ "restart", "restart", .rows = switch_rows },
	{ "clear", "clear", .rows = clear_rows },
	{ "reset", "reset", .rows = reset_rows, .always = { "--yes" }, .without_buffer = "--all" },
	{ "show", "show", .rows = show_rows },
	{ "list", "list", .rows = list_rows, .any_order = true },
	{ "stat", "stat", .rows = stat_rows },
	{ "snapshot", "snapshot", .rows = snapshot_rows },
	{ "stack", "stack", .rows = stack_rows },
	{ "split", "split", .rows = split_rows },
	{ "convert", "convert", .rows = convert_rows },
	{ "dump", "info", .rows = dump_rows },
	{ "check-events", "doctor", .rows = no_rows },
	{ "profile", .refused = no_profile },
	{ "hist", .refused = "'weft stacks', 'weft graph' and 'weft export --to folded' count calls of a file" },
	{ "mem", .refused = "'weft memory' counts what was allocated and not freed" },
	{ "options", .refused = "the options of report -O are in weft-trace-cmd(7)" },
	{ "restore", .refused = "'weft recover' makes a file of what a killed recording left, 'weft pack' of pages" },
	{ "sqlhist", .refused = "'weft hist --latency EVENT..EVENT' counts the times between two events" },
	{ "listen", .refused = no_network },
	{ "agent", .refused = no_guest },
	{ "setup-guest", .refused = no_guest },
	{ "attach", .refused = no_guest },
};
/* clang-format on */

/* The command line of weft that is being made. */
struct line {
	char *words[WORDS_MAX + 1];
	size_t nr;
	char *owned[WORDS_MAX];
	size_t nr_owned;
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

static void grammar_of(const struct verb *verb, struct grammar *ret)
{
	size_t len = 0, nr = 0;

	*ret = (struct grammar){ .letters = "" };
	/* The first word that is no option ends them, where a command may follow. */
	if (!verb->any_order)
		ret->letters[len++] = '+';
	ret->letters[len++] = 'h';
	for (const struct row *row = verb->rows; row->name; row++) {
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

static const struct row *row_of(const struct verb *verb, int key)
{
	if (key >= LONG_KEY)
		return &verb->rows[key - LONG_KEY];
	for (const struct row *row = verb->rows; row->name; row++)
		if (!row->name[1] && row->name[0] == key)
			return row;
	return NULL;
}

/* False, and a message, if the option is refused. */
static bool put_option(const struct verb *verb, const struct row *row, const char *value, struct line *line)
{
	static const char *const units[] = { [AS_KB] = "K", [AS_S] = "s", [AS_MS] = "ms", [AS_US] = "us" };
	const char *dashes = row->name[1] ? "--" : "-", *between;
	char option[64];

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
	case DROP:
		return true;
	case REFUSE:
		command_warn("trace-cmd %s %s%s cannot be had: %s", verb->name, dashes, row->name, row->to);
		return false;
	}
	return false;
}

static bool put_options(const struct verb *verb, int argc, char **argv, struct line *line)
{
	bool has_buffer = false;
	struct grammar grammar;
	int key;

	grammar_of(verb, &grammar);
	optind = 1;
	while ((key = getopt_long(argc, argv, grammar.letters, grammar.longs, NULL)) != -1) {
		const struct row *row = row_of(verb, key);

		if (!row || !put_option(verb, row, optarg, line))
			return false;
		has_buffer |= key == 'B';
	}
	if (verb->without_buffer && !has_buffer)
		put_joined(line, verb->without_buffer, "", "", "");
	return true;
}

/* list's words are regular expressions that may fit anywhere; weft's are globs of whole names. */
static void put_pattern(struct line *line, const char *regex)
{
	bool begins = *regex == '^';
	size_t len = strlen(regex), ends = len && regex[len - 1] == '$';
	char *glob = malloc(len + 3), *at = glob;

	if (glob && !begins)
		*at++ = '*';
	for (size_t i = begins; glob && i + ends < len; i++) {
		if (regex[i] == '.' && regex[i + 1] == '*')
			continue;
		if (regex[i] == '*' && at > glob && at[-1] == '*')
			continue;
		*at++ = regex[i] == '.' ? '?' : regex[i];
	}
	if (glob && !ends && !(at > glob && at[-1] == '*'))
		*at++ = '*';
	if (glob)
		*at = '\0';
	put_owned(line, glob);
}

static void put_words(const struct verb *verb, int argc, char **argv, struct line *line)
{
	/* The times of split, and the output of convert, which may stand last. */
	static const char *const split_words[] = { "--since", "--until" };

	if (verb->runs_command && optind < argc)
		put_joined(line, "--", "", "", "");
	for (int i = optind; i < argc; i++) {
		if (!strcmp(verb->name, "split") && i - optind < 2)
			put_joined(line, split_words[i - optind], "=", argv[i], "");
		else if (!strcmp(verb->name, "convert"))
			put_joined(line, "-o", "", argv[i], "");
		else if (verb->any_order && !strchr(argv[i], ':'))
			put_pattern(line, argv[i]);
		else
			put(line, argv[i]);
	}
}

/* trace-cmd does not tell how the command ended that it recorded. */
static int status_of(const struct verb *verb, int status)
{
	if (strcmp(verb->name, "record") && strcmp(verb->name, "stream"))
		return status == EXIT_USAGE ? TRACE_CMD_USAGE : status;
	return status == EXIT_RECORD_FAILED ? EXIT_FAILED : EXIT_OK;
}

static int run(const struct verb *verb, int argc, char **argv)
{
	const struct command *command = command_find(verb->weft);
	struct line line = { .nr = 0 };
	int status = TRACE_CMD_USAGE;
	char title[64];

	snprintf(title, sizeof(title), "weft %s", verb->weft);
	put(&line, title);
	for (size_t i = 0; i < array_size(verb->always) && verb->always[i]; i++)
		put_joined(&line, verb->always[i], "", "", "");
	if (put_options(verb, argc, argv, &line)) {
		put_words(verb, argc, argv, &line);
		if (line.full)
			command_warn("the command line is too long");
		else
			status = status_of(verb, command->run((int)line.nr, line.words));
	}
	line_release(&line);
	return status;
}

int trace_cmd_translate(const char *name, int argc, char **argv)
{
	for (size_t i = 0; i < array_size(verbs); i++) {
		char title[64];

		if (strcmp(verbs[i].name, name))
			continue;
		if (verbs[i].refused) {
			command_warn("trace-cmd %s cannot be had: %s", name, verbs[i].refused);
			return TRACE_CMD_USAGE;
		}
		/* The name in the messages of getopt_long(). */
		snprintf(title, sizeof(title), "trace-cmd %s", name);
		argv[0] = title;
		return run(&verbs[i], argc, argv);
	}
	command_warn("trace-cmd has no command '%s'", name);
	return TRACE_CMD_USAGE;
}
