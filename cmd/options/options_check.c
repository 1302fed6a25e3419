// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/options_check.h"

#include <argp.h>
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/options/help_lines.h"
#include "cmd/streams.h"
#include "cmd/terminal/pager.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"

struct order {
	struct argp_option *options;
	size_t nr_options;
	struct argp_child *children;
	size_t nr_children;
	bool failed;
};

bool option_is_end(const struct argp_option *option)
{
	return !option->name && !option->key && !option->doc && !option->group;
}

static void add_option(struct order *order, const struct argp_option *option, int group)
{
	struct argp_option *added = vec_push(order->options, order->nr_options);

	order->failed |= !added;
	if (!added)
		return;
	*added = option ? *option : (struct argp_option){ 0 };
	added->group = group;
}

static void add_child(struct order *order, const struct argp_child *child, const struct argp *argp)
{
	struct argp_child *added = vec_push(order->children, order->nr_children);

	order->failed |= !added;
	if (!added)
		return;
	*added = child ? *child : (struct argp_child){ 0 };
	added->argp = argp;
}

/* The group of an option is that of the one before it, if it has none; argp numbers titles. */
static void add_own(struct order *order, const struct argp_option *options)
{
	int group = 0;

	for (; options && !option_is_end(options); options++) {
		bool title = !options->name && !options->key;

		group = options->group ? options->group : group + title;
		add_option(order, options, group);
	}
}

/* Whether the options have neither groups nor titles nor children: they can stand among those of another table. */
static bool is_plain(const struct argp_child *child, const struct argp *argp)
{
	if (child->header || argp->children)
		return false;
	for (const struct argp_option *option = argp->options; option && !option_is_end(option); option++)
		if (option->group || (!option->name && !option->key))
			return false;
	return true;
}

static void add_shared(struct order *order, const struct argp_child *child)
{
	for (; child && child->argp; child++) {
		const struct argp *argp = option_order(child->argp);

		if (!is_plain(child, argp)) {
			add_child(order, child, argp);
			continue;
		}
		for (const struct argp_option *option = argp->options; option && !option_is_end(option); option++)
			add_option(order, option, child->group);
	}
}

/* Insertion keeps the order of those of one group. An alias follows its option, whose group it has. */
static void sort(struct argp_option *options, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct argp_option option = options[i];
		size_t at = i;

		for (; at && options[at - 1].group > option.group; at--)
			options[at] = options[at - 1];
		options[at] = option;
	}
}

const struct argp *option_order(const struct argp *argp)
{
	struct order order = { .options = NULL };
	struct argp *copy = malloc(sizeof(*copy));

	add_own(&order, argp->options);
	add_shared(&order, argp->children);
	sort(order.options, order.nr_options);
	add_option(&order, NULL, 0);
	if (order.nr_children)
		add_child(&order, NULL, NULL);
	if (!copy || order.failed)
		return argp;
	*copy = *argp;
	copy->options = order.options;
	copy->children = order.children;
	return copy;
}

/* A longer list of words does not fit before the text. */
enum { WORDS_MAX = 24 };

/* Returns "TEXT; WORD is a, b or c"; NULL without memory. */
static char *with_words(const char *doc, const char *list)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *at = list;
	struct text_word word;
	bool ok = buf_addf(&text, "%s; WORD is ", doc);

	while (ok && text_next_word(&at, "|", &word)) {
		const char *rest = at;
		struct text_word next;
		bool last = !text_next_word(&rest, "|", &next), first = word.at == list;

		ok = buf_addf(&text, "%s%.*s", first ? "" : last ? " or " : ", ", (int)word.len, word.at);
	}
	return ok ? strdup(buf_str(&text)) : NULL;
}

static struct argp_option *options_copy(const struct argp_option *options)
{
	size_t nr = 0;
	struct argp_option *copy;

	while (!option_is_end(&options[nr]))
		nr++;
	copy = calloc(nr + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < nr; i++) {
		const char *arg = options[i].arg;

		copy[i] = options[i];
		if (!arg || !options[i].doc || !strchr(arg, '|') || strlen(arg) <= WORDS_MAX)
			continue;
		copy[i].arg = "WORD";
		copy[i].doc = with_words(options[i].doc, arg);
		if (!copy[i].doc)
			return NULL;
	}
	return copy;
}

static const struct argp *words_below(const struct argp *argp);

static struct argp_child *children_copy(const struct argp_child *children)
{
	size_t nr = 0;
	struct argp_child *copy;

	while (children[nr].argp)
		nr++;
	copy = calloc(nr + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < nr; i++) {
		copy[i] = children[i];
		copy[i].argp = words_below(children[i].argp);
	}
	return copy;
}

static const struct argp *words_below(const struct argp *argp)
{
	struct argp *copy = malloc(sizeof(*copy));

	if (!copy)
		return argp;
	*copy = *argp;
	if (argp->options)
		copy->options = options_copy(argp->options);
	if (argp->children)
		copy->children = children_copy(argp->children);
	return (argp->options && !copy->options) || (argp->children && !copy->children) ? argp : copy;
}

/*
 * Returns the options as --help shows them: in the order of option_order(), and an argument that is one
 * of many words, "a|b|c", is named WORD, and the words follow in the text, where lines can be broken. The option
 * tables keep them in one word for completion. For a process that ends soon: nothing is freed. Returns `argp` itself
 * without memory.
 */
static const struct argp *help_options(const struct argp *argp)
{
	return words_below(option_order(argp));
}

/* Options of trace-cmd that weft does not have under that name. weft-trace-cmd(7) has the complete list. */
static const struct {
	const char *command, *option, *here;
} options[] = {
	{ "report", "-n", "the number of events is --limit; no plugin is used without --decode" },
	{ "report", "-w", "'weft sched' has wakeup latencies, and 'weft latency' explains the longest" },
	{ "report", "-E", "'weft info' shows the events" },
	{ "report", "-L", "plugins are chosen with --plugin-dir" },
	{ "report", "-G", "weft has no profile mode; 'weft hist' counts and times events" },
	{ "report", "-H", "'weft hist --latency' pairs two events" },
	{ "report", "--profile", "'weft hist' counts and times events" },
	{ "report", "--cpus", "'weft info' shows the CPUs; --cpu selects" },
	{ "report", "--first-event", "'weft info' shows the first event of each CPU" },
	{ "report", "--last-event", "'weft info' shows the last event of each CPU" },
	{ "report", "--stat", "'weft info' shows the buffers' statistics" },
	{ "report", "--uname", "'weft info' shows the kernel" },
	{ "report", "--check-events", "'weft check' reads every event" },
	{ "report", "--ts-check", "'weft check' reads every event" },
	{ "report", "--align-ts", "--format pretty has times from the first event on" },
	{ "report", "-P",
	  "messages of trace_printk() are printed with their text; 'weft info' shows what else the file holds" },
	{ "report", "-T", "an error in a filter is shown with a mark under its place" },
	{ "report", "--verbose", "weft always says why a plugin is not used" },
	{ "report", "--by-comm", "trace-cmd has it for its profile; 'weft diff' has one row for all tasks of a name" },
	{ "report", "--ts2secs", "a clock that does not count time is printed as the kernel prints it, as counts" },
	{ "report", "--nodate", "--ts-offset moves the times of a file back" },
	{ "report", "--raw-ts", "times are those of the trace's clock, which 'weft info' names" },
	{ "record", "--by-comm", "trace-cmd has it for its profile; 'weft diff' has one row for all tasks of a name" },
	{ "record", "--name", "weft records this machine only" },
	{ "record", "--poll", "--buffer-percent 0 wakes the recorders at every event" },
	{ "record", "--proxy", "weft records this machine only" },
	{ "record", "--tsc2nsec", "-C mono counts nanoseconds" },
	{ "record", "--tsync-interval",
	  "weft records this machine only; 'weft merge' puts recordings of several in one file" },
	{ "record", "-G", "'weft irq' shows what interrupts cost" },
	{ "record", "-H", "'weft hist --latency' pairs two events" },
	{ "record", "-S", "--for NAME selects the events that an analysis needs" },
	{ "record", "-d", "-O nofunction-trace keeps function events out of a recording" },
	{ "record", "-t", "weft records into a file only" },
	{ "list", "-O", "plugins have no options; 'weft list options' has those of the kernel" },
	{ "list", "-R", "'weft status' has the triggers that are set" },
	{ "list", "-l", "'weft status' has the filters that are set" },
	{ "show", "-f", "'weft show NAME' takes the name of any file of the instance" },
	{ "deepest-stack", "--start", "'weft deepest-stack start'" },
	{ "deepest-stack", "--stop", "'weft deepest-stack stop'" },
	{ "deepest-stack", "--verbose", "messages are always printed" },
	{ "extract", "--verbose", "messages are always printed" },
	{ "extract", "-t", "-B '' is the top instance" },
	{ "set", "--fork", "'weft record' runs a command; 'weft set' changes settings only" },
	{ "set", "--user", "'weft record --user' runs a command as another user; 'weft set' changes settings only" },
	{ "set", "--module", "a function of a module is -l 'NAME:mod:MODULE'" },
	{ "set", "--quiet", "'weft set' prints errors and warnings only" },
	{ "set", "-q", "'weft set' prints errors and warnings only" },
	{ "set", "--verbose", "messages are always printed" },
	{ "set", "-D", "-O nofunction-trace keeps function events out of the buffer" },
	{ "set", "-d", "-O nofunction-trace keeps function events out of the buffer" },
	{ "set", "-m", "-b sets how much each CPU's buffer holds" },
	{ "status", "-o", "'weft list options' has the options" },
	{ "status", "-t", "-B '' is the top instance" },
	{ "split", "-s", "--every 10s makes a file for each 10 seconds" },
	{ "split", "-m", "--every 10ms makes a file for each 10 milliseconds" },
	{ "split", "-u", "--every 10us makes a file for each 10 microseconds" },
	{ "split", "-p", "--size 1M makes a file for each MiB of pages" },
	{ "split", "-r", "--every, --count and --size go on to the end of the file" },
	{ "split", "-c", "--by cpu makes a file for each CPU" },
	{ "reset", "-b", "'weft reset' gives buffers the size that they had; 'weft set -b' sets another" },
	{ "reset", "-d", "'weft instance remove NAME' removes one" },
	{ "reset", "-t", "-B '' is the top instance" },
	{ "record", "-k", "'weft start' leaves its events in the buffers; 'weft extract' makes a file of them" },
	{ "record", "-s", "weft wakes when a buffer is filled: --buffer-percent" },
	{ "record", "-N", "weft records into a file only; 'weft record -o - | ssh HOST ...' sends it" },
	{ "record", "-V", "weft records into a file only; 'weft record -o - | ssh HOST ...' sends it" },
	{ "record", "-A", "weft records this machine only" },
	{ "record", "-D", "-O nofunction-trace keeps function events out of a recording" },
	{ "record", "--temp", "--temp-dir" },
	{ "record", "--module", "a function of a module is -l 'NAME:mod:MODULE'" },
	{ "record", "--proc-map", "weft saves the maps of processes by itself" },
	{ "record", "--date", "--clock tai has the time of day" },
	{ "record", "--profile", "'weft hist' counts and times events" },
	{ "list", "-P", "'weft help report' names the plugins' directory" },
	{ "list", "-c", "'weft help record' names the compressions" },
};

/*
 * Returns what weft has instead of an option of trace-cmd, such as "-w" or "--stat" of `weft COMMAND`. NULL: unknown.
 */
static const char *elsewhere_option(const char *command, const char *option)
{
	for (size_t i = 0; i < array_size(options); i++)
		if (!strcmp(options[i].command, command) && !strcmp(options[i].option, option))
			return options[i].here;
	return NULL;
}

enum {
	LETTERS = 128,
	KEY_HELP = 0x10000,
	KEY_ARGPS, /* for the other options that argp adds to every command */
};

/* The tables in the form that getopt_long() reads. */
struct tables {
	struct option *names;
	size_t nr;
	char letters[2 + 3 * LETTERS];
};

const struct argp_option *options_find(const struct argp *argp, const char *name, int key, struct near *near)
{
	const struct argp_option *option, *first = NULL;

	for (option = argp->options; option && !option_is_end(option); option++) {
		if (!(option->flags & OPTION_ALIAS))
			first = option;
		if (name && option->name && !strcmp(option->name, name))
			return first;
		if (key && option->key == key)
			return first;
		if (near && option->name)
			near_offer(near, option->name);
	}
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		if ((option = options_find(child->argp, name, key, near)))
			return option;
	return NULL;
}

static bool add_name(struct tables *tables, const char *name, int has_arg, int key)
{
	struct option *added = vec_push(tables->names, tables->nr);

	if (added)
		*added = (struct option){ .name = name, .has_arg = has_arg, .val = key };
	return added;
}

static bool add_letter(struct tables *tables, int key, int has_arg)
{
	size_t len = strlen(tables->letters);

	if (key <= ' ' || key >= LETTERS || strchr(tables->letters + 1, key))
		return true;
	snprintf(tables->letters + len, sizeof(tables->letters) - len, "%c%.*s", key, has_arg, "::");
	return true;
}

static bool add_tables(struct tables *tables, const struct argp *argp)
{
	const struct argp_option *option, *first = NULL;
	bool ok = true;

	for (option = argp->options; ok && option && !option_is_end(option); option++) {
		int has_arg;

		if (!(option->flags & OPTION_ALIAS))
			first = option;
		has_arg = !first->arg                        ? no_argument :
			  first->flags & OPTION_ARG_OPTIONAL ? optional_argument :
							       required_argument;
		ok = (!option->name || add_name(tables, option->name, has_arg, first->key)) &&
		     add_letter(tables, option->key, has_arg);
	}
	for (const struct argp_child *child = argp->children; ok && child && child->argp; child++)
		ok = add_tables(tables, child->argp);
	return ok;
}

static bool tables_make(struct tables *tables, const struct argp *argp, unsigned flags)
{
	*tables = (struct tables){ .letters = "" };
	/*
	 * '-' and '+' say how arguments between options are treated. The ':' after them keeps getopt_long() from
	 * printing errors.
	 */
	snprintf(tables->letters, sizeof(tables->letters), "%s:", flags & ARGP_IN_ORDER ? "+" : "");
	return add_tables(tables, argp) && add_letter(tables, 'V', no_argument) &&
	       add_name(tables, "help", no_argument, KEY_HELP) && add_name(tables, "usage", no_argument, KEY_ARGPS) &&
	       add_name(tables, "version", no_argument, KEY_ARGPS) && add_name(tables, NULL, 0, 0);
}

__attribute__((noreturn)) static void print_help(const struct command *command, const struct argp *argp, char *name)
{
	pager_start();
	help_lines_put(argp, stdout, ARGP_HELP_SHORT_USAGE | ARGP_HELP_PRE_DOC, name);
	if (command->examples)
		printf("\nExamples:\n%s\n", command->examples);
	help_lines_put(help_options(argp), stdout, ARGP_HELP_LONG | ARGP_HELP_POST_DOC, name);
	exit(EXIT_OK);
}

/* Returns whether several names begin with this one: argp then lists them. */
static bool is_ambiguous(const struct tables *tables, const char *name, size_t len)
{
	for (size_t i = 0; tables->names[i].name; i++)
		if (!strncmp(tables->names[i].name, name, len))
			return true;
	return false;
}

__attribute__((noreturn)) static void unknown(const struct command *command, const char *program, const char *name,
					      const struct near *near)
{
	const char *here = elsewhere_option(command->name, name);
	char hint[3 * NEAR_NAME_SIZE];

	near_hint(near, hint, sizeof(hint));
	fprintf(stderr, "%s: no option '%s'", program, name);
	if (here)
		fprintf(stderr, " as trace-cmd has it; %s", here);
	else if (*hint)
		fprintf(stderr, "; %s", hint);
	fputc('\n', stderr);
	fprintf(stderr, "'weft help %s' lists the options.\n", command->name);
	exit(EXIT_USAGE);
}

static void check_name(const struct command *command, const struct argp *argp, const struct tables *tables,
		       const char *program, const char *word)
{
	cleanup_free char *name = strndup(word + 2, strcspn(word + 2, "="));
	struct near near;
	char *shown;

	if (!name || is_ambiguous(tables, name, strlen(name)))
		return;
	near = near_to(name);
	options_find(argp, name, 0, &near);
	/* Similar names are shown with their dashes, as a user types them. */
	for (unsigned i = 0; i < near.found; i++) {
		char *to = near.names[i].name;
		size_t len = strlen(to);

		if (len + 3 > sizeof(near.names[i].name))
			continue;
		memmove(to + 2, to, len + 1);
		memcpy(to, "--", 2);
	}
	if (asprintf(&shown, "--%s", name) < 0)
		return;
	unknown(command, program, shown, &near);
}

static void check_letter(const struct command *command, const struct argp *argp, const char *program, int letter)
{
	const struct near none = near_to("");
	const char word[] = { '-', (char)letter, '\0' };

	if (options_find(argp, NULL, letter, NULL))
		return;
	unknown(command, program, word, &none);
}

/* The last word is an option whose value is missing. Of a name that is cut short argp says it. */
static void check_value(const struct command *command, const struct argp *argp, const char *program, const char *word,
			int letter)
{
	const char letters[] = { '-', (char)letter, '\0' };
	bool is_name = !strncmp(word, "--", 2);
	const struct argp_option *option =
		is_name ? options_find(argp, word + 2, 0, NULL) : options_find(argp, NULL, letter, NULL);

	if (!option || !option->arg)
		return;
	fprintf(stderr, "%s: %s needs a value, %s\n'weft help %s' lists the options.\n", program,
		is_name ? word : letters, option->arg, command->name);
	exit(EXIT_USAGE);
}

void options_check(const struct command *command, const struct argp *argp, int argc, char **argv, unsigned flags)
{
	struct tables tables = { .letters = "" };
	/* getopt_long() reorders the words, so it gets a copy. */
	cleanup_free char **words = calloc((size_t)argc + 1, sizeof(*words));
	int key;

	if (!words || !tables_make(&tables, argp, flags))
		goto out;
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	optind = 0;
	opterr = 0;
	/* ':' is a missing value. */
	while ((key = getopt_long(argc, words, tables.letters, tables.names, NULL)) != -1 && key != ':') {
		if (key == KEY_HELP ||
		    (key == '?' && (optopt == '?' || (optopt == 'h' && !options_find(argp, NULL, 'h', NULL)))))
			print_help(command, argp, argv[0]);
		if (key == '?' && !optopt)
			check_name(command, argp, &tables, argv[0], words[optind - 1]);
		else if (key == '?')
			check_letter(command, argp, argv[0], optopt);
	}
	if (key == ':')
		check_value(command, argp, argv[0], words[optind - 1], optopt);
out:
	free(tables.names);
}
