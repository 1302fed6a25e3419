// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/analyse.h"
#include "cmd/command.h"
#include "cmd/flight_again.h"
#include "cmd/options/flight_conditions.h"
#include "cmd/options/flight_place.h"
#include "cmd/options/option_value.h"
#include "cmd/options/output_options.h"
#include "cmd/options/setup_options.h"
#include "cmd/options/setup_values.h"
#include "cmd/setup_run.h"
#include "cmd/terminal/config.h"
#include "lib/analysis/explained.h"
#include "lib/base/buf.h"
#include "lib/base/near.h"
#include "lib/base/text.h"
#include "lib/flight/condition.h"
#include "lib/flight/flight.h"
#include "lib/flight/persistent.h"
#include "lib/flight/radio.h"
#include "lib/record/cruise.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum verb { VERB_NONE, VERB_START, VERB_DUMP, VERB_STATUS, VERB_EXPLAIN };

static const struct {
	const char *name;
	enum verb verb;
} verbs[] = { { "start", VERB_START }, { "dump", VERB_DUMP }, { "status", VERB_STATUS }, { "explain", VERB_EXPLAIN } };

struct arguments {
	enum verb verb;
	struct setup setup_memory;
	struct setup_arguments setup;
	struct flight_options flight;
	struct condition *conditions;
	size_t nr_conditions;
	bool before_given;
	const char *of_start; /* an option that only start takes */
	const char *reason;
	const char *of_explain, *input; /* an option that only explain takes, and its file */
	struct explained explained;
	enum table_format format;
	struct persistent place;
};

enum {
	KEY_WHEN = 0x100,
	KEY_KEEP,
	KEY_BEFORE,
	KEY_AFTER,
	KEY_COOL,
	KEY_MEMORY,
	KEY_DURATION,
	KEY_NAME,
	KEY_REASON,
	KEY_MODE,
	KEY_FILES,
	KEY_BYTES,
	KEY_HOUR,
	KEY_RAGGED,
	KEY_IN,
	KEY_CHECK,
	KEY_FORMAT,
	KEY_BRIEF,
	KEY_UPLOAD,
	KEY_UPLOAD_USER,
	KEY_UPLOAD_TIMEOUT,
};

#define S UINT64_C(1000000000)
enum { FILES = 20, PER_HOUR = 20, BUDGET_MAX = 100000 };
enum { KEEP_S = 10, COOL_S = 60, UPLOAD_S = 60, MEMORY_MIB = 256, MEMORY_LEAST = 1 << 20, SPAN_MAX_S = 86400 };

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "Holding and writing:", SETUP_OWN_GROUP },
	{ "when", KEY_WHEN, "CONDITION", 0,
	  "Write a file when this happens: event:SYSTEM:EVENT [if FILTER], latency:wakeup>TIME [streamed] [if FILTER], "
	  "timerlat>TIME, osnoise>TIME, exit:COMM [status!=N], signal:NAME [COMM], psi:RESOURCE some|full TIME/WINDOW, "
	  "kmsg:REGEX, command:'TEXT' every TIME; NAME= before it names it; may be given again",
	  SETUP_OWN_GROUP },
	{ "keep", KEY_KEEP, "TIME", 0, "Hold the last TIME in memory (default 10s)", SETUP_OWN_GROUP },
	{ "max-memory", KEY_MEMORY, "SIZE", 0,
	  "Hold at most SIZE of compressed pages of all CPUs together (default 256M)", SETUP_OWN_GROUP },
	{ "keep-in", KEY_IN, "ring|kernel|persistent", 0,
	  "Hold it in weft's memory (ring, the default), or in the kernel's buffers, which nothing reads before a "
	  "trigger (kernel): no CPU time, but the memory has pages as they are; in an instance that survives a reset "
	  "(persistent, or persistent:NAME if there are several)",
	  SETUP_OWN_GROUP },
	{ "before", KEY_BEFORE, "TIME", 0,
	  "Begin a file TIME before its trigger (default: as --keep); with explain: compare the TIME before the "
	  "trigger with what was before that (default: a tenth)",
	  SETUP_OWN_GROUP },
	{ "after", KEY_AFTER, "TIME", 0, "End a file TIME after its last trigger (default 1s)", SETUP_OWN_GROUP },
	{ "ragged", KEY_RAGGED, NULL, 0,
	  "Begin a file as early as the memory of each CPU reaches, not where that of all CPUs does", SETUP_OWN_GROUP },
	{ "cool-down", KEY_COOL, "TIME", 0,
	  "Begin no second file for the same condition within TIME (default 60s); such triggers are counted",
	  SETUP_OWN_GROUP },
	{ "output-dir", 'o', "DIR", 0, "Write the files into DIR (default: here)", SETUP_OWN_GROUP },
	{ "max-files", KEY_FILES, "N", 0,
	  "Keep at most N files in DIR: the oldest of the same trigger goes first, but not its first since the boot "
	  "(default 20; 0: all)",
	  SETUP_OWN_GROUP },
	{ "max-bytes", KEY_BYTES, "SIZE", 0, "Keep at most SIZE of files in DIR, likewise (default 2G; 0: all)",
	  SETUP_OWN_GROUP },
	{ "max-per-hour", KEY_HOUR, "N", 0,
	  "Let conditions begin at most N files within an hour; further triggers are counted (default 20; 0: no limit)",
	  SETUP_OWN_GROUP },
	{ "mode", KEY_MODE, "MODE", 0, OUTPUT_MODE_HELP, SETUP_OWN_GROUP },
	{ "upload", KEY_UPLOAD, "COMMAND", 0,
	  "Run COMMAND in a shell when a file is complete: its standard input is the file, and {} is its path",
	  SETUP_OWN_GROUP },
	{ "upload-user", KEY_UPLOAD_USER, "USER", 0, "Run it as USER, who is not root (default: nobody)",
	  SETUP_OWN_GROUP },
	{ "upload-timeout", KEY_UPLOAD_TIMEOUT, "TIME", 0, "Kill it after TIME (default 60s)", SETUP_OWN_GROUP },
	{ "duration", KEY_DURATION, "TIME", 0, "End after TIME: 500ms, 10s, 2m; a bare number counts seconds",
	  SETUP_OWN_GROUP },
	{ "name", KEY_NAME, "NAME", 0, "The name of this flight, by which dump and status find it (default: flight)",
	  SETUP_OWN_GROUP },
	{ "check", KEY_CHECK, NULL, 0, "Set everything up as start does, and remove it again: tells what is wrong",
	  SETUP_OWN_GROUP },
	{ "reason", KEY_REASON, "TEXT", 0, "With dump: what the marker and the file say", SETUP_OWN_GROUP },
	{ "format", KEY_FORMAT, "text|json|csv", 0,
	  "With explain: print for people (text, the default) or for programs", SETUP_OWN_GROUP },
	{ "brief", KEY_BRIEF, NULL, 0, "With explain: print one line, as the flight does when it has written a file",
	  SETUP_OWN_GROUP },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static uint64_t span(const char *option, const char *arg, struct argp_state *state)
{
	uint64_t ns = option_time(option, arg, state);

	if (ns > SPAN_MAX_S * S)
		setup_usage(state, "--%s takes at most a day", option);
	return ns;
}

static bool parse_time(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct flight_options *flight = &arguments->flight;

	switch (key) {
	case KEY_KEEP:
		flight->keep_ns = span("keep", arg, state);
		return true;
	case KEY_AFTER:
		flight->after_ns = strcmp(arg, "0") ? span("after", arg, state) : 0;
		return true;
	case KEY_COOL:
		flight->cool_ns = strcmp(arg, "0") ? span("cool-down", arg, state) : 0;
		return true;
	case KEY_DURATION:
		flight->duration_ns = option_time("duration", arg, state);
		return true;
	}
	return false;
}

static bool parse_budget(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct budget *budget = &arguments->flight.budget;

	switch (key) {
	case KEY_FILES:
		budget->max_files = (unsigned)setup_number("--max-files", arg, 0, BUDGET_MAX, state);
		return true;
	case KEY_BYTES:
		budget->max_bytes = strcmp(arg, "0") ? setup_size("--max-bytes", arg, state) : 0;
		return true;
	case KEY_HOUR:
		budget->max_per_hour = (unsigned)setup_number("--max-per-hour", arg, 0, BUDGET_MAX, state);
		return true;
	}
	return false;
}

static bool parse_upload(int key, char *arg, struct argp_state *state)
{
	struct upload_options *upload = &((struct arguments *)state->input)->flight.upload;

	switch (key) {
	case KEY_UPLOAD:
		upload->command = arg;
		return true;
	case KEY_UPLOAD_USER:
		upload->user = arg;
		return true;
	case KEY_UPLOAD_TIMEOUT:
		upload->limit_ns = span("upload-timeout", arg, state);
		return true;
	}
	return false;
}

static bool parse_writing(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct flight_options *flight = &arguments->flight;

	switch (key) {
	case KEY_WHEN:
		flight_add_condition(arg, &arguments->conditions, &arguments->nr_conditions, state);
		return true;
	case KEY_MEMORY:
		flight->max_memory = setup_size("--max-memory", arg, state);
		if (flight->max_memory < MEMORY_LEAST)
			setup_usage(state, "--max-memory: the least is 1M");
		return true;
	case 'o':
		flight->dir = arg;
		return true;
	case KEY_IN:
		flight_keep_in(arg, flight, state);
		return true;
	case KEY_RAGGED:
		flight->ragged = true;
		return true;
	case KEY_MODE:
		flight->mode = output_mode(arg, state);
		return true;
	case KEY_CHECK:
		flight->tries = true;
		return true;
	}
	return false;
}

static void take_verb(struct arguments *arguments, const char *word, struct argp_state *state)
{
	struct near near = near_to(word);
	char hint[256];

	if (arguments->verb == VERB_EXPLAIN) {
		option_once("file", &arguments->input, word, state);
		return;
	}
	if (arguments->verb)
		setup_usage(state, "'%s' is too much: a flight records what all tasks do, not a COMMAND", word);
	for (size_t i = 0; i < array_size(verbs); i++) {
		near_offer(&near, verbs[i].name);
		if (!strcmp(verbs[i].name, word))
			arguments->verb = verbs[i].verb;
	}
	near_hint(&near, hint, sizeof(hint));
	if (!arguments->verb)
		setup_usage(state, "unknown action '%s' of 'weft flight'; use start, dump, status or explain%s%s", word,
			    *hint ? "; " : "", hint);
	/* Only this action sets something up. */
	arguments->setup.changes = arguments->verb != VERB_START;
}

/* Checks what the actions have together, and completes the setup of start. */
static void check(struct arguments *arguments, struct argp_state *state)
{
	struct flight_options *flight = &arguments->flight;
	struct setup *setup = arguments->setup.setup;

	if (!arguments->verb)
		setup_usage(state, "no action given; use start, dump, status or explain");
	if (arguments->verb == VERB_EXPLAIN && !arguments->input)
		setup_usage(state, "explain what? Give a file that a flight has written");
	if (arguments->verb != VERB_EXPLAIN && arguments->of_explain)
		setup_usage(state, "only 'weft flight explain' takes --%s", arguments->of_explain);
	if (arguments->verb == VERB_EXPLAIN && arguments->before_given && !arguments->of_start)
		arguments->explained.before_ns = flight->before_ns;
	else if (arguments->verb != VERB_START && arguments->before_given)
		setup_usage(state, "only start and explain take --before");
	if (arguments->verb != VERB_START && arguments->of_start)
		setup_usage(state, "only 'weft flight start' takes --%s", arguments->of_start);
	if (arguments->verb != VERB_DUMP && arguments->reason)
		setup_usage(state, "only 'weft flight dump' takes --reason");
	if (arguments->verb != VERB_START)
		return;
	flight_check_tracers(arguments->conditions, arguments->nr_conditions, setup, state);
	if (!arguments->before_given)
		flight->before_ns = flight->keep_ns;
	if (flight->before_ns > flight->keep_ns)
		setup_usage(state, "--before cannot be longer than --keep, the time that is held");
	flight_share(flight, setup, state);
	for (size_t i = 0; i < setup->nr_instances; i++) {
		const char **clock = &setup->instances[i].clock;

		if (*clock && !cruise_clock_known(*clock))
			setup_usage(state,
				    "-C %s: a flight needs a clock that programs read: mono, mono_raw, boot or tai",
				    *clock);
		if (!*clock)
			*clock = "mono";
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		arguments->setup.setup->cmdlines = SETUP_CMDLINES;
		arguments->setup.changes = true;
		state->child_inputs[0] = &arguments->setup;
		return 0;
	case ARGP_KEY_ARG:
		take_verb(arguments, arg, state);
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	case KEY_NAME:
		if (!radio_is_name(arg))
			setup_usage(state, "--name: '%s' is no name of at most %d letters, digits, '-' and '_'", arg,
				    RADIO_NAME - 1);
		arguments->flight.name = arg;
		return 0;
	case KEY_REASON:
		if (strchr(arg, '\n'))
			setup_usage(state, "--reason is one line");
		arguments->reason = arg;
		return 0;
	case KEY_FORMAT:
		arguments->format = analyse_format(arg, state);
		arguments->of_explain = "format";
		return 0;
	case KEY_BRIEF:
		arguments->explained.brief = true;
		arguments->of_explain = "brief";
		return 0;
	case KEY_BEFORE:
		arguments->flight.before_ns = span("before", arg, state);
		arguments->before_given = true;
		return 0;
	}
	if (!parse_time(key, arg, state) && !parse_writing(key, arg, state) && !parse_budget(key, arg, state) &&
	    !parse_upload(key, arg, state))
		return ARGP_ERR_UNKNOWN;
	for (size_t i = 0; table[i].name || table[i].doc; i++)
		if (table[i].key == key && table[i].name)
			arguments->of_start = table[i].name;
	return 0;
}

static const struct argp_child children[] = {
	{ &setup_argp, 0, NULL, SETUP_GROUP },
	{ NULL, 0, NULL, 0 },
};

static const struct argp argp = {
	.children = children,
	.options = table,
	.parser = parse,
	.args_doc = "[start|dump|status|explain FILE]",
	.doc = "Hold the last seconds of a trace in memory, and write them to a file when something happens.\v"
	       "start records until Ctrl-C. With --config, SIGHUP makes it read the options anew. "
	       "A trigger is a condition (--when), 'weft flight dump', or SIGUSR1. "
	       "Its file, HOST-TIME-NAME.dat, has what happened before and after it; beside it is a line of JSON. "
	       "dump triggers, waits for the file and prints its path. status tells what is held. explain tells what "
	       "was unusual before the trigger of a file, and who is to blame for what took too long: the task "
	       "before a late wakeup, the waker of a system call, the handler, the device, or the holder of the lock.",
};

/* The program itself explains what it has written, in a process without rights. */
static const char *const explainer[] = { "/proc/self/exe", "flight", "explain", "--brief", NULL };

static void tell(const char *text)
{
	command_warn("%s", text);
}

static void tell_began(void)
{
	command_warn("the flight has begun; Ctrl-C ends it");
}

static bool flies(const char *name)
{
	cleanup_buf struct buf answer = BUF_INIT;

	return !radio_ask(name, "status", &answer, NULL) && answer.len;
}

/* Tries whether the flight could begin. What a flight of this name holds now is free when that one has ended. */
static int try(const struct flight_options *flight)
{
	struct flight_result result;
	struct fail fail = FAIL_INIT;
	int err = flight_run(flight, &result, &fail);
	int status = err ? command_failed(&fail) : EXIT_OK;

	if ((err == -EBUSY || err == -EEXIST) && flies(flight->name)) {
		command_warn("the flight '%s' may hold that itself; nothing else was found wrong before it",
			     flight->name);
		return EXIT_OK;
	}
	if (!err)
		command_warn("the flight could begin");
	return status;
}

/* SIGHUP is blocked for ever, so that it cannot end the process between two flights. */
static void allow_reload(struct flight_options *flight)
{
	sigset_t set;

	if (!config_was_read())
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	flight->service.reload = flight_again_try;
}

static int start(struct arguments *arguments)
{
	struct flight_options *flight = &arguments->flight;
	struct flight_result result;
	struct fail fail = FAIL_INIT;
	char time[TEXT_HUMAN], triggers[TEXT_HUMAN], files[TEXT_HUMAN];
	int err = flight_find_place(flight, arguments->setup.setup, &arguments->place, &fail);

	if (err)
		return command_failed(&fail);
	if (arguments->setup.dry_run)
		return setup_run_script(arguments->setup.setup, NULL, NULL);
	flight->conditions = arguments->conditions;
	flight->nr_conditions = arguments->nr_conditions;
	flight->tell = tell;
	if (flight->tries)
		return try(flight);
	allow_reload(flight);
	flight_again_managed(&flight->service);
	flight_tell_place(flight);
	for (size_t i = 0; i < flight->nr_conditions; i++)
		if (flight->conditions[i].noise)
			command_warn("--when %s: %s", flight->conditions[i].name, flight->conditions[i].noise->cost);
	flight->began = tell_began;
	flight->explain = explainer;
	err = flight_run(flight, &result, &fail);
	if (err)
		command_failed(&fail);
	if (err && !result.time_ns)
		return EXIT_FAILED;
	command_warn("%s trigger%s in %s, %s file%s", text_count(triggers, result.triggers),
		     text_plural(result.triggers), text_time(time, result.time_ns), text_count(files, result.files),
		     text_plural(result.files));
	if (result.reload) {
		command_warn("the new options are good; the flight begins anew with them");
		flight_again_begin(&fail);
		return command_failed(&fail);
	}
	return err || result.failed ? EXIT_FAILED : EXIT_OK;
}

/* Asks the flight, and prints its answer. */
static int ask(const struct arguments *arguments)
{
	cleanup_buf struct buf line = BUF_INIT, answer = BUF_INIT;
	struct fail fail = FAIL_INIT;
	const char *text;
	int err;

	if (!(arguments->verb == VERB_STATUS ? buf_addf(&line, "status") :
					       buf_addf(&line, "dump %s", arguments->reason ? arguments->reason : "")))
		err = fail_memory(&fail);
	else
		err = radio_ask(arguments->flight.name, buf_str(&line), &answer, &fail);
	text = buf_str(&answer);
	if (!err && !*text)
		err = fail_set(&fail, -EPIPE, "the flight '%s' has ended", arguments->flight.name);
	if (!err && !strncmp(text, "error ", 6))
		err = fail_set(&fail, -EIO, "%.*s", (int)strcspn(text + 6, "\n"), text + 6);
	if (!err) {
		size_t skip = strncmp(text, "file ", 5) ? 0 : 5;

		err = command_write(text + skip, answer.len - skip, &fail);
	}
	if (!err)
		err = command_flush(&fail);
	return err ? command_failed(&fail) : EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = {
		.flight = { .name = "flight",
			    .dir = ".",
			    .mode = OUTPUT_MODE,
			    .keep_ns = KEEP_S * S,
			    .after_ns = S,
			    .cool_ns = COOL_S * S,
			    .max_memory = (uint64_t)MEMORY_MIB << 20,
			    .upload = { .user = "nobody", .limit_ns = UPLOAD_S * S },
			    .budget = { FILES, UINT64_C(2) << 30, PER_HOUR } },
	};
	int status;

	arguments.setup.setup = &arguments.setup_memory;
	arguments.flight.setup = &arguments.setup_memory;
	flight_again_keep(argc, argv);
	command_parse(&flight_command, argc, argv, 0, &arguments);
	status = arguments.verb == VERB_START ?
			 start(&arguments) :
		 arguments.verb == VERB_EXPLAIN ?
			 analyse_trigger(arguments.input, &arguments.explained, arguments.format) :
			 ask(&arguments);
	for (size_t i = 0; i < arguments.nr_conditions; i++)
		condition_release(&arguments.conditions[i]);
	free(arguments.conditions);
	persistent_release(&arguments.place);
	setup_release(&arguments.setup_memory);
	return status;
}

const struct command flight_command = {
	.name = "flight",
	.summary = "hold the last seconds in memory, and save them when something happens",
	.brief = "last seconds",
	.examples = "  weft flight start --for sched --when 'signal:SEGV' -o /var/tmp\n"
		    "  weft flight dump --reason 'the button hung'",
	.group = "record",
	.argp = &argp,
	.run = run,
};
