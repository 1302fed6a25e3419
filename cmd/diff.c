// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/analyse.h"
#include "cmd/command.h"
#include "cmd/diff_read.h"
#include "cmd/options/analyse_by.h"
#include "cmd/options/choice.h"
#include "cmd/options/option_value.h"
#include "cmd/options/reading.h"
#include "cmd/terminal/terminal.h"
#include "lib/answers/frame/run.h"
#include "lib/answers/stats/diff.h"
#include "lib/answers/stats/diff_machines.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/text.h"

enum { EXIT_CHANGED = 3, PLACES_MAX = 3, METRICS_ALL = (1 << DIFF_METRICS) - 1 };

enum { OPT_OLD = 510, OPT_NEW, OPT_OF, OPT_PER };

struct arguments {
	struct diff_files files[2]; /* old, new */
	const char *places[PLACES_MAX], *of, *by, *per;
	size_t nr_places;
	struct row_options *rows; /* to be freed; or NULL */
	struct diff_options diff;
	struct diff_condition conditions[DIFF_CONDITIONS_MAX];
	struct findings_options findings;
	struct query query;
	char *owned[2]; /* since and until of the old side, to be freed */
	bool top_given, one_run, lakes;
	bool shape; /* the schema of any two recordings */
	struct match {
		const char *old_name, *new_name;
	} matches[DIFF_RENAMES_MAX];
	size_t nr_matches;
	char *match_texts[DIFF_RENAMES_MAX]; /* to be freed */
	struct reading reading;
};

static void take_figures(const struct option_row *row, void *input, char *list, struct argp_state *state)
{
	struct arguments *arguments = input;
	const char *at = list;
	struct text_word word;

	(void)row;
	while (text_next_word(&at, ",", &word)) {
		enum diff_metric metric = diff_metric_named(word.at, word.len);

		if (metric == DIFF_METRICS)
			argp_error(state, "--figure: there is no '%.*s'; there are p50, p99, rate and total",
				   (int)word.len, word.at);
		arguments->diff.metrics |= 1u << metric;
	}
}

static void take_least(const struct option_row *row, void *input, char *text, struct argp_state *state)
{
	struct arguments *arguments = input;
	char *end;
	double least = strtod(text, &end);

	(void)row;
	if (end == text || (*end && strcmp(end, "%") != 0) || !(least >= 0 && least <= 1000))
		argp_error(state, "--least: '%s' is not a percentage, such as 3 or 0.5%%", text);
	arguments->diff.least = least / 100;
}

static void add_condition(const struct option_row *row, void *input, char *text, struct argp_state *state)
{
	struct arguments *arguments = input;
	struct fail fail = FAIL_INIT;

	(void)row;
	if (arguments->diff.nr_conditions == DIFF_CONDITIONS_MAX)
		argp_error(state, "more than %d times --fail-if", DIFF_CONDITIONS_MAX);
	if (diff_condition_parse(text, &arguments->conditions[arguments->diff.nr_conditions], &fail))
		argp_error(state, "--fail-if: %s", fail.text);
	arguments->diff.nr_conditions++;
}

static void add_match(const struct option_row *row, void *input, char *text, struct argp_state *state)
{
	struct arguments *arguments = input;
	char *copy, *equals;

	(void)row;
	if (arguments->nr_matches == DIFF_RENAMES_MAX)
		argp_error(state, "more than %d times --match", DIFF_RENAMES_MAX);
	copy = strdup(text);
	option_need(copy, state);
	equals = strchr(copy, '=');
	if (!equals || equals == copy || !equals[1])
		argp_error(state, "--match: '%s' is not OLD=NEW, such as benchmark=benchmark.new", text);
	*equals = '\0';
	arguments->matches[arguments->nr_matches] = (struct match){ copy, equals + 1 };
	arguments->match_texts[arguments->nr_matches++] = copy;
}

static const struct option_row options[] = {
	{ .doc = "What is compared:", .group = 1 },
	{ "of", OPT_OF, ANALYSES_VALUES, 0, "The tables of this command (default: summary, as far as there are events)",
	  1, OPTION_BY_KEY },
	{ "by", 0,
	  "syscall|task|process|program|unit|container|pod|cgroup|user|errno|cpu|device|operation|lock|caller|stack|"
	  "function|part|state",
	  0,
	  "The rows, as --by of syscalls, block, locks or stacks chooses them; of latency, "
	  "part or task; of power, state or cpu",
	  1, OPTION_TEXT(struct arguments, by) },
	{ "old", OPT_OLD, "FILE", 0, "A file of the old side; repeatable", 1, OPTION_BY_KEY },
	{ "new", OPT_NEW, "FILE", 0, "A file of the new side; repeatable", 1, OPTION_BY_KEY },
	{ "figure", 0, "p50|p99|rate|total", 0, "Only these figures; a list with commas", 1,
	  OPTION_TAKE(take_figures) },
	{ "per", OPT_PER, "second|cpu-second|run|EVENT", 0,
	  "Count rate and total per second (the default), per second of each CPU, per run, with the elapsed time as a "
	  "row, or per EVENT: each time that it happened. 'EVENT: FILTER' counts only those that match",
	  1, OPTION_BY_KEY },
	{ "match", 0, "OLD=NEW", 0,
	  "Compare the program NEW of the new side with the program OLD of the old one; repeatable", 1,
	  OPTION_TAKE(add_match) },
	{ "row", 0, "NAME", 0, "Only rows of this name, a glob; with fewer rows, smaller changes can be detected", 1,
	  OPTION_TEXT(struct arguments, diff.row) },

	{ .doc = "What is a change:", .group = 2 },
	{ "least", 0, "PERCENT", 0, "Report no change that is smaller (default: 3)", 2, OPTION_TAKE(take_least) },
	{ "fail-if", 0, "CONDITION", 0,
	  "Exit with status 3 if a row has changed by more: 'FIGURE > N%' or 'FIGURE < -N%'; 'ROW:' in front, a glob, "
	  "selects rows; repeatable",
	  2, OPTION_TAKE(add_condition) },

	{ "one-run", 0, NULL, 0,
	  "Let --fail-if judge one file a side, which shows how two recordings differ and not two programs", 2,
	  OPTION_FLAG(struct arguments, one_run) },

	{ .doc = "Output:", .group = 3 },
	{ "format", 0, "text|json|csv|schema", 0,
	  "Print for people (text, the default) or for programs, or what json looks like, as a JSON Schema", 3,
	  OPTION_CALL(struct arguments, findings.format, analyse_take_format) },
	{ "max-bytes", 0, "N", 0, "Print at most so many bytes: rows at the ends of tables are left out, and told", 3,
	  OPTION_NUMBER(struct arguments, findings.max_bytes) },
	{ "top", 0, "N", 0, "Show the first N rows (default: 25 as text, else all; 0: all)", 3,
	  OPTION_NUMBER(struct arguments, diff.top), OPTION_GIVEN(struct arguments, top_given) },
	{ 0 },
};

static void add_file(struct diff_files *files, const char *path, struct argp_state *state)
{
	if (files->nr == DIFF_RUNS_MAX)
		argp_error(state, "more than %d files a side", DIFF_RUNS_MAX);
	files->paths[files->nr++] = path;
}

/* Adds files from a list such as "a1.dat,a2.dat". A file's name may also contain a comma. */
static void add_files(struct diff_files *files, const char *list, struct argp_state *state)
{
	struct text_word word;

	if (!strchr(list, ',') || !access(list, F_OK)) {
		add_file(files, list, state);
		return;
	}
	while (text_next_word(&list, ",", &word)) {
		char *path = strndup(word.at, word.len);

		if (!path) {
			option_no_memory(state);
			return;
		}
		add_file(files, path, state);
		files->owned[files->nr - 1] = path;
	}
}

/* Reads "TIME" or "OLD,NEW" into the time of each side, NULL where it is empty. */
static void split_time(const char *text, char **owned, const char **old, const char **new, struct argp_state *state)
{
	const char *comma = text ? strchr(text, ',') : NULL;

	*old = *new = text &&*text ? text : NULL;
	if (!comma)
		return;
	*owned = strndup(text, (size_t)(comma - text));
	if (!*owned)
		option_no_memory(state);
	*old = comma > text ? *owned : NULL;
	*new = comma[1] ? comma + 1 : NULL;
}

static void set_sides(struct arguments *arguments, struct argp_state *state)
{
	struct query *old = &arguments->files[0].query, *new = &arguments->files[1].query;

	*old = *new = arguments->query;
	split_time(arguments->query.since, &arguments->owned[0], &old->since, &new->since, state);
	split_time(arguments->query.until, &arguments->owned[1], &old->until, &new->until, state);
}

/* Refuses tables that do not exist, with what else the word may have been meant for. */
static void check_of(const char *of, const char *or_else, struct argp_state *state)
{
	cleanup_buf struct buf names = BUF_INIT;

	if (!analysis_named(of))
		argp_error(state, "--of: there is no '%s'; there are %s%s", of,
			   analysis_list_text(&names) ? buf_str(&names) : "others", or_else);
}

/* Reads "OLD NEW", "NAME OLD NEW", or only NAME with --old and --new. */
static void place(struct arguments *arguments, struct argp_state *state)
{
	bool named = arguments->files[0].nr || arguments->files[1].nr;
	size_t at = 0;

	if (arguments->nr_places == (named ? 1 : PLACES_MAX)) {
		check_of(arguments->places[0],
			 "; several files a side are separated by commas, or named with --old and --new", state);
		arguments->of = arguments->places[at++];
	}
	if (!named && arguments->nr_places == at + 2) {
		add_files(&arguments->files[0], arguments->places[at], state);
		add_files(&arguments->files[1], arguments->places[at + 1], state);
	}
	if (!arguments->files[0].nr || !arguments->files[1].nr)
		argp_error(state, "two recordings are compared: weft diff OLD NEW");
}

/* A lake has figures of whole recordings, so what chooses a part of a recording says nothing here. */
static void check_lakes(struct arguments *arguments, struct argp_state *state)
{
	const struct query *query = &arguments->query;

	arguments->lakes = diff_are_lakes(arguments->files);
	if (arguments->lakes &&
	    (arguments->by || strcmp(arguments->of, "summary") != 0 || strcmp(arguments->per, "second") != 0 ||
	     arguments->nr_matches || query->since || query->until || query->around || query->instance ||
	     query->events.nr || query->comms.nr || query->marks.nr || query->files.nr || query->filters.nr ||
	     query->nr_pids || query->nr_who || query->some_cpus))
		argp_error(state,
			   "two lakes are compared as a whole: only --figure, --row, --least, --fail-if, --format "
			   "and --top apply");
}

/* One run of each program proves nothing of the programs, so a script must say that it means the recordings. */
static void check_runs(const struct arguments *arguments, struct argp_state *state)
{
	bool several = arguments->files[0].nr > 1 || arguments->files[1].nr > 1 || arguments->lakes;

	if (arguments->diff.nr_conditions && !several && !arguments->one_run)
		argp_error(state,
			   "--fail-if of one file a side judges two recordings, not two programs: give 4 files a "
			   "side or more (a1.dat,a2.dat...), or --one-run");
	if (!strcmp(arguments->per, "run") && !several)
		argp_error(state, "--per run compares several files a side");
}

static void choose_rows(struct arguments *arguments, struct argp_state *state)
{
	const struct analysis_ops *ops = analysis_named(arguments->of), *one, *last = NULL;
	cleanup_buf struct buf names = BUF_INIT;

	if (ops && ops->compared_by) {
		arguments->rows = analysis_options(ops);
		option_need(arguments->rows, state);
		arguments->rows->by = analyse_by(ops->compared_by, arguments->by, state);
		return;
	}
	for (size_t i = 0; (one = analysis_at(i)); i++) {
		if (!one->compared_by)
			continue;
		if (last && !buf_addf(&names, "%s%s", names.len ? ", " : "", last->name))
			option_no_memory(state);
		last = one;
	}
	argp_error(state, "--by chooses the rows of %s or %s, not those of %s: weft diff syscalls --by task OLD NEW",
		   buf_str(&names), last ? last->name : "none", arguments->of);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPT_OF:
		check_of(arg, "", state);
		arguments->of = arg;
		return 0;
	case OPT_OLD:
	case OPT_NEW:
		add_files(&arguments->files[key == OPT_NEW], arg, state);
		return 0;
	case OPT_PER:
		if (!*arg)
			argp_error(state, "--per: which event? Such as --per sched:sched_process_exit");
		arguments->per = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->nr_places == PLACES_MAX)
			argp_error(state, "it is unclear which files are old and which are new: write a1.dat,a2.dat "
					  "b1.dat,b2.dat, or --old a1.dat --old a2.dat --new b1.dat --new b2.dat");
		arguments->places[arguments->nr_places++] = arg;
		return 0;
	case ARGP_KEY_END:
		/* Without a recording, it is the schema of any two. */
		arguments->shape = arguments->findings.format == TABLE_AS_SCHEMA && arguments->nr_places < 2 &&
				   !arguments->files[0].nr && !arguments->files[1].nr;
		if (arguments->shape)
			return 0;
		place(arguments, state);
		check_lakes(arguments, state);
		set_sides(arguments, state);
		check_runs(arguments, state);
		if (arguments->by)
			choose_rows(arguments, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct options_child children[] = {
	{ &choice_part_options, offsetof(struct arguments, query), 1, NULL },
	{ &reading_options, offsetof(struct arguments, reading), 4, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.children = children,
	.parser = parse,
	.args_doc = "[summary|sched|latency|syscalls|graph|irq|block|locks|why|stacks|memory|power|tasks] OLD NEW",
	.doc = "Compares two recordings, or several a side (a1.dat,a2.dat b1.dat,b2.dat): which calls, tasks, "
	       "interrupts, functions, requests of disks, waits for locks, delays, idle states and programs take "
	       "longer or happen more often, by a test that does not take chance for a change. OLD and NEW may be two "
	       "lakes, whose machines are compared."
	       "\v--since and --until may be OLD,NEW: a time for each side, of which one may be empty.",
};

/* The findings are printed even if a condition is met or cannot be checked. */
static int compare(const struct arguments *arguments, struct fail *fail)
{
	const struct diff_reading reading = {
		.of = arguments->of,
		.options = arguments->rows,
		.reading = &arguments->reading,
		.per = diff_per_read(arguments->per),
		.event = arguments->per,
		.elapsed = diff_per_read(arguments->per) == DIFF_PER_RUN,
		.filter = analysis_filter(&arguments->query),
	};
	struct fail met = FAIL_INIT;
	struct findings findings;
	struct diff_machines *machines = NULL;
	struct diff *diff = NULL;
	int r, condition = 0;

	findings_init(&findings);
	if (arguments->shape) {
		diff_shape(&findings);
		r = analyse_print(&findings, &arguments->findings, fail);
		findings_release(&findings);
		return r;
	}
	r = arguments->lakes ? diff_read_lakes(arguments->files, &arguments->reading, &diff, &machines, fail) :
			       diff_new(arguments->files[0].nr, arguments->files[1].nr, &diff, fail);
	for (size_t i = 0; !r && i < arguments->nr_matches; i++)
		diff_rename(diff, arguments->matches[i].new_name, arguments->matches[i].old_name);
	if (!r && !arguments->lakes)
		r = diff_read(diff, arguments->files, &reading, fail);
	if (!r)
		r = diff_check_renames(diff, fail);
	if (!r) {
		condition = diff_finish(diff, &arguments->diff, &findings, &met);
		if (condition && condition != -ERANGE && condition != -ENODATA)
			r = fail_set(fail, condition, "%s", met.text);
		if (machines)
			diff_machines_tell(machines, &findings);
	}
	if (!r)
		r = analyse_print(&findings, &arguments->findings, fail);
	if (!r && condition) {
		*fail = met;
		r = condition;
	}
	findings_release(&findings);
	diff_free(diff);
	diff_machines_free(machines);
	return r;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = {
		.query = QUERY_INIT, .of = "summary", .per = "second", .diff = { .least = 0.03, .top = UINT64_MAX }
	};
	struct fail fail = FAIL_INIT;
	int status, r;

	arguments.diff.conditions = arguments.conditions;
	command_parse(&diff_command, argc, argv, 0, &arguments);
	if (!arguments.top_given && arguments.findings.format == TABLE_AS_TEXT)
		arguments.diff.top = 25;
	else if (!arguments.diff.top)
		arguments.diff.top = UINT64_MAX;
	arguments.findings.top = UINT64_MAX;
	arguments.findings.width = terminal_width();
	arguments.findings.for_columns = "--format csv";
	arguments.findings.for_more = "--max-bytes with a larger number, --row NAME, or --since and --until";
	r = compare(&arguments, &fail);
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < arguments.files[side].nr; i++)
			free(arguments.files[side].owned[i]);
	for (size_t i = 0; i < arguments.nr_matches; i++)
		free(arguments.match_texts[i]);
	query_release(&arguments.query);
	free(arguments.rows);
	free(arguments.owned[0]);
	free(arguments.owned[1]);
	if (!r)
		return EXIT_OK;
	status = command_failed(&fail);
	return r == -ERANGE ? EXIT_CHANGED : status;
}

const struct command diff_command = {
	.name = "diff",
	.summary = "show what changed between recordings, by a test that accounts for chance",
	.brief = "two recordings",
	.examples = "  weft diff before.dat after.dat\n"
		    "  weft diff graph a1.dat,a2.dat,a3.dat,a4.dat b1.dat,b2.dat,b3.dat,b4.dat\n"
		    "  weft diff syscalls old.dat new.dat --one-run --fail-if 'total > 5%'\n"
		    "  weft diff block --by task old.dat new.dat --one-run --fail-if '*d2c: p50 > 10%'\n"
		    "  weft diff one.dat one.dat --until +10s, --since ,+10s\n"
		    "  weft diff lake-old lake-new --row '*normal' --figure p99",
	.group = "read",
	.options = &command_options,
	.run = run,
};
