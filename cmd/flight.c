// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "cmd/analyse.h"
#include "cmd/command.h"
#include "cmd/elsewhere.h"
#include "cmd/options/answer.h"
#include "cmd/options/flight_options.h"
#include "cmd/options/option_value.h"
#include "cmd/options/output_options.h"
#include "cmd/options/sample.h"
#include "cmd/options/setup_options.h"
#include "cmd/options/setup_values.h"
#include "cmd/setup_run.h"
#include "cmd/terminal/config.h"
#include "lib/answers/explain/explained.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/flight/condition.h"
#include "lib/kernel/flight/control_socket.h"
#include "lib/kernel/flight/flight.h"
#include "lib/kernel/flight/persistent.h"
#include "lib/kernel/flight/service.h"
#include "lib/kernel/record/flight_recording.h"

/* The program that runs, also after a newer one has taken its name. */
static const char program[] = "/proc/self/exe";

static char **kept; /* "weft", "flight", the words, and a place for one more; NULL at the end */
static size_t nr_kept;

/* `weft flight` once more, with the same command line: its options may have changed in the files that it names. */

/* Keeps the command line as it was given. */
static void flight_again_keep(int argc, char **argv)
{
	static char weft[] = "weft", flight[] = "flight";

	kept = calloc((size_t)argc + 3, sizeof(*kept));
	if (!kept)
		return;
	kept[nr_kept++] = weft;
	kept[nr_kept++] = flight;
	for (int i = 1; i < argc; i++)
		kept[nr_kept++] = argv[i];
}

/* Begins a process that tries the command line: it ends with 0 if the flight could begin. */
static int flight_again_try(pid_t *ret, struct fail *fail)
{
	static char check[] = "--check";
	posix_spawnattr_t attr;
	sigset_t none;
	int err;

	if (!kept)
		return fail_memory(fail);
	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	kept[nr_kept] = check;
	err = posix_spawn(ret, program, NULL, &attr, kept, environ);
	kept[nr_kept] = NULL;
	posix_spawnattr_destroy(&attr);
	return err ? fail_set(fail, -err, "cannot run '%s': %s", program, strerror(err)) : 0;
}

/* Becomes that flight. Returns only if that fails. */
static int flight_again_begin(struct fail *fail)
{
	if (!kept)
		return fail_memory(fail);
	execv(program, kept);
	return fail_set(fail, -errno, "cannot run '%s': %s", program, strerror(errno));
}

/* What the manager of services has put into the environment: the socket, and how long it waits for signs of life. */
static void flight_again_managed(struct service_options *service)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t value = 0;

	service->notify = getenv("NOTIFY_SOCKET");
	if (pid && (text_parse_u64(pid, &value, NULL) || value != (uint64_t)getpid()))
		return;
	if (usec && !text_parse_range(usec, 1, UINT64_MAX / 1000, &value, NULL))
		service->watchdog_ns = value * 1000;
}

/* clang-format off */
static const struct json_member members[] = {
	{ "file", "string", "the recording beside which this stands" },
	{ "flight", "string", "the name of the flight" },
	{ "trigger", "string", "the name of the first trigger" },
	{ "reason", "string", "what it said" },
	{ "because?", "string", "what explains the trigger" },
	{ "weight?", "number", "the N of --sample 1/N, else 1" },
	{ "triggers?", "number", "how many the file is of" },
	{ "time?", "number", "of the first trigger, in seconds of the trace clock" },
	{ "unix_time", "number", "the same in seconds since 1970, or when a flight that ended without closing did so" },
	{ "clock?", "string", "the trace clock" },
	{ "from?", "number", "since when the file has every event of all CPUs" },
	{ "to?", "number", "until when" },
	{ "size", "number", "of the file in bytes" },
	{ "raw?", "number", "of its pages before compression, of a flight that ended without closing" },
	{ "written_in?", "number", "how long writing took, in seconds" },
	{ "complete", "boolean", "whether all CPUs gave their last events in time" },
	{ "cpus[]?.instance?", "string", "the instance; the main one has no name" },
	{ "cpus[]?.cpu", "number", "its number" },
	{ "cpus[]?.since", "number", "since when nothing was dropped from memory" },
	{ "cpus[]?.first?", "number", "its first event in the file" },
	{ "cpus[]?.last?", "number", "its last event in the file" },
	{ "cpus[]?.bytes", "number", "of its pages in the file" },
	{ "cpus[]?.raw", "number", "of these before compression" },
	{ "cpus[]?.lost", "number", "events that the kernel lost since the start" },
	{ 0 },
};

/* Of status, as lib/kernel/flight/status.c writes them. */
static const struct json_member status_members[] = {
	{ "flight", "string", "its name" },
	{ "mode", "string", "where what it holds is: ring, kernel or persistent" },
	{ "lasted_ns", "number", "since when it runs" },
	{ "keep_ns", "number", "how much time it shall hold" },
	{ "held_bytes", "number", "of memory that are in use" },
	{ "max_memory_bytes", "number", "that may be" },
	{ "triggers", "number", "that there were" },
	{ "only_counted", "number", "triggers more for which no file was begun" },
	{ "directory", "string", "of its files" },
	{ "files", "number", "that it has written" },
	{ "files_bytes", "number", "their size" },
	{ "failed", "number", "files that could not be written" },
	{ "uploaded", "number", "files that --upload has taken" },
	{ "uploads_failed", "number", "and those that it has not" },
	{ "cpus[].instance", "string", "the instance; the main one has no name" },
	{ "cpus[].cpu", "number", "its number" },
	{ "cpus[].reaches_back_ns", "number", "how much time is held of it" },
	{ "cpus[].held_bytes", "number", "of memory, compressed" },
	{ "cpus[].as_pages_bytes", "number", "of these before compression" },
	{ "cpus[].in_kernel_bytes", "number", "in the kernel's buffer" },
	{ "cpus[].lost", "number", "events that the kernel lost since the start" },
	{ 0 },
};
/* clang-format on */

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
	uint32_t sample_of;             /* 0: no --sample */
	const char *of_explain, *input; /* an option that only explain takes, and its file */
	struct explained explained;
	enum table_format format;
	bool format_given; /* and not schema */
	struct persistent place;
	struct elsewhere_arguments elsewhere;
};

#define S NS_PER_S
enum { FILES = 20, PER_HOUR = 20, BUDGET_MAX = 100000 };
enum { KEEP_S = 10, COOL_S = 60, UPLOAD_S = 60, MEMORY_MIB = 256, MEMORY_LEAST = 1 << 20, SPAN_MAX_S = 86400 };

/* Which actions take an option: start, where nothing is said. */
enum mark { OF_START, OF_EXPLAIN, OF_FORMAT, OF_ANY };

static void take_span(const struct option_row *row, void *ns, char *arg, struct argp_state *state)
{
	*(uint64_t *)ns = option_time(row->name, arg, state);
	if (*(uint64_t *)ns > SPAN_MAX_S * S)
		setup_usage(state, "--%s takes at most a day", row->name);
}

static void take_span_or_0(const struct option_row *row, void *ns, char *arg, struct argp_state *state)
{
	if (strcmp(arg, "0"))
		take_span(row, ns, arg, state);
	else
		*(uint64_t *)ns = 0;
}

static void take_memory(const struct option_row *row, void *size, char *arg, struct argp_state *state)
{
	(void)row;
	*(uint64_t *)size = setup_size("--max-memory", arg, state);
	if (*(uint64_t *)size < MEMORY_LEAST)
		setup_usage(state, "--max-memory: the least is 1M");
}

static void take_bytes(const struct option_row *row, void *size, char *arg, struct argp_state *state)
{
	(void)row;
	*(uint64_t *)size = strcmp(arg, "0") ? setup_size("--max-bytes", arg, state) : 0;
}

static void take_condition(const struct option_row *row, void *input, char *arg, struct argp_state *state)
{
	struct arguments *arguments = input;

	(void)row;
	flight_add_condition(arg, &arguments->conditions, &arguments->nr_conditions, state);
}

static void take_keep_in(const struct option_row *row, void *flight, char *arg, struct argp_state *state)
{
	(void)row;
	flight_keep_in(arg, flight, state);
}

static void take_name(const struct option_row *row, void *name, char *arg, struct argp_state *state)
{
	(void)row;
	if (!control_socket_is_name(arg))
		setup_usage(state, "--name: '%s' is no name of at most %d letters, digits, '-' and '_'", arg,
			    CONTROL_SOCKET_NAME - 1);
	*(const char **)name = arg;
}

static void take_reason(const struct option_row *row, void *reason, char *arg, struct argp_state *state)
{
	(void)row;
	if (strchr(arg, '\n'))
		setup_usage(state, "--reason is one line");
	*(const char **)reason = arg;
}

static void taken(void *input, const struct option_row *row)
{
	struct arguments *arguments = input;

	if (row->marks == OF_START)
		arguments->of_start = row->name;
	if (row->marks == OF_EXPLAIN)
		arguments->of_explain = row->name;
	if (row->marks == OF_FORMAT)
		arguments->format_given = arguments->format != TABLE_AS_SCHEMA;
}

static const struct option_row table[] = {
	{ .doc = "Holding and writing:", .group = SETUP_OWN_GROUP },
	{ "when", 0, "CONDITION", 0,
	  "Write a file when this happens: event:SYSTEM:EVENT [if FILTER], latency:wakeup>TIME [streamed] [if FILTER], "
	  "mark:NAME>TIME, timerlat>TIME, osnoise>TIME, exit:COMM [status!=N], signal:NAME [COMM], "
	  "psi:RESOURCE some|full TIME/WINDOW, kmsg:REGEX, command:'TEXT' every TIME; NAME= before it names it; may be "
	  "given again",
	  SETUP_OWN_GROUP, OPTION_TAKE(take_condition) },
	{ "keep", 0, "TIME", 0, "Hold the last TIME in memory (default 10s)", SETUP_OWN_GROUP,
	  OPTION_CALL(struct arguments, flight.keep_ns, take_span) },
	{ "max-memory", 0, "SIZE", 0, "Hold at most SIZE of compressed pages of all CPUs together (default 256M)",
	  SETUP_OWN_GROUP, OPTION_CALL(struct arguments, flight.max_memory, take_memory) },
	{ "keep-in", 0, "ring|kernel|persistent", 0,
	  "Hold it in weft's memory (ring, the default), or in the kernel's buffers, which nothing reads before a "
	  "trigger (kernel): no CPU time, but the memory has pages as they are; in an instance that survives a reset "
	  "(persistent, or persistent:NAME if there are several)",
	  SETUP_OWN_GROUP, OPTION_CALL(struct arguments, flight, take_keep_in) },
	{ "before", 0, "TIME", 0,
	  "Begin a file TIME before its trigger (default: as --keep); with explain: compare the TIME before the "
	  "trigger with what was before that (default: a tenth)",
	  SETUP_OWN_GROUP, OPTION_CALL(struct arguments, flight.before_ns, take_span),
	  OPTION_GIVEN(struct arguments, before_given), .marks = OF_ANY },
	{ "after", 0, "TIME", 0, "End a file TIME after its last trigger (default 1s)", SETUP_OWN_GROUP,
	  OPTION_CALL(struct arguments, flight.after_ns, take_span_or_0) },
	{ "ragged", 0, NULL, 0,
	  "Begin a file as early as the memory of each CPU reaches, not where that of all CPUs does", SETUP_OWN_GROUP,
	  OPTION_FLAG(struct arguments, flight.ragged) },
	{ "cool-down", 0, "TIME", 0,
	  "Begin no second file for the same condition within TIME (default 60s); such triggers are counted",
	  SETUP_OWN_GROUP, OPTION_CALL(struct arguments, flight.cool_ns, take_span_or_0) },
	{ "output-dir", 'o', "DIR", 0, "Write the files into DIR (default: here)", SETUP_OWN_GROUP,
	  OPTION_TEXT(struct arguments, flight.dir) },
	{ "max-files", 0, "N", 0,
	  "Keep at most N files of this flight in DIR: the oldest of the same trigger goes first, but not its first "
	  "since the boot (default 20; 0: all)",
	  SETUP_OWN_GROUP, OPTION_RANGE(struct arguments, flight.budget.max_files, 0, BUDGET_MAX) },
	{ "max-bytes", 0, "SIZE", 0, "Keep at most SIZE of them on the disk, likewise (default 2G; 0: all)",
	  SETUP_OWN_GROUP, OPTION_CALL(struct arguments, flight.budget.max_bytes, take_bytes) },
	{ "max-per-hour", 0, "N", 0,
	  "Let conditions begin at most N files within an hour; further triggers are counted (default 20; 0: no limit)",
	  SETUP_OWN_GROUP, OPTION_RANGE(struct arguments, flight.budget.max_per_hour, 0, BUDGET_MAX) },
	{ "mode", 0, "MODE", 0, OUTPUT_MODE_HELP, SETUP_OWN_GROUP,
	  OPTION_CALL(struct arguments, flight.mode, output_take_mode) },
	{ "upload", 0, "COMMAND", 0,
	  "Run COMMAND in a shell when a file is complete: its standard input is the file, and {} is its path",
	  SETUP_OWN_GROUP, OPTION_TEXT(struct arguments, flight.upload.command) },
	{ "upload-user", 0, "USER", 0, "Run it as USER, who is not root (default: nobody)", SETUP_OWN_GROUP,
	  OPTION_TEXT(struct arguments, flight.upload.user) },
	{ "upload-timeout", 0, "TIME", 0, "Kill it after TIME (default 60s)", SETUP_OWN_GROUP,
	  OPTION_CALL(struct arguments, flight.upload.limit_ns, take_span) },
	{ "duration", 0, "TIME", 0, "End after TIME: 500ms, 10s, 2m; a bare number counts seconds", SETUP_OWN_GROUP,
	  OPTION_TIME(struct arguments, flight.duration_ns) },
	{ "name", 0, "NAME", 0, "The name of this flight, by which dump and status find it (default: flight)",
	  SETUP_OWN_GROUP, OPTION_CALL(struct arguments, flight.name, take_name), .marks = OF_ANY },
	{ "check", 0, NULL, 0, "Set everything up as start does, and remove it again: tells what is wrong",
	  SETUP_OWN_GROUP, OPTION_FLAG(struct arguments, flight.tries) },
	{ "reason", 0, "TEXT", 0, "With dump: what the marker and the file say", SETUP_OWN_GROUP,
	  OPTION_CALL(struct arguments, reason, take_reason), .marks = OF_ANY },
	{ "sample", 0, "1/N", 0,
	  "With dump: only in one hour of N, by a hash of the host and the hour, and not on a machine under pressure; "
	  "the file has the weight N",
	  SETUP_OWN_GROUP, OPTION_CALL(struct arguments, sample_of, sample_take), .marks = OF_ANY },
	{ "format", 0, "text|json|csv|schema", 0,
	  "With explain, and but for csv with status: print for people (text, the default) or for programs, or what "
	  "json looks like, as a JSON Schema; without them, the schema of the JSON beside a file",
	  SETUP_OWN_GROUP, OPTION_CALL(struct arguments, format, analyse_take_format), .marks = OF_FORMAT },
	{ "brief", 0, NULL, 0, "With explain: print one line, as the flight does when it has written a file",
	  SETUP_OWN_GROUP, OPTION_FLAG(struct arguments, explained.brief), .marks = OF_EXPLAIN },
	{ 0 },
};

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
	if (!arguments->verb && !strcmp(word, "stop"))
		setup_usage(state,
			    "a flight has no action 'stop': it ends with SIGINT or SIGTERM, as by Ctrl-C, systemctl "
			    "stop or kill");
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

	if (arguments->format == TABLE_AS_SCHEMA && arguments->verb != VERB_EXPLAIN)
		answer_print_schema(arguments->verb == VERB_STATUS ? status_members : members);
	if (!arguments->verb)
		setup_usage(state, "no action given; use start, dump, status or explain");
	if (arguments->verb == VERB_EXPLAIN && !arguments->input)
		setup_usage(state, "explain what? Give a file that a flight has written");
	if (arguments->verb != VERB_EXPLAIN && arguments->of_explain)
		setup_usage(state, "only 'weft flight explain' takes --%s", arguments->of_explain);
	if (arguments->format_given && arguments->verb != VERB_EXPLAIN && arguments->verb != VERB_STATUS)
		setup_usage(state, "only 'weft flight explain' and 'weft flight status' take --format");
	if (arguments->verb == VERB_STATUS && arguments->format == TABLE_AS_CSV)
		setup_usage(state, "--format: the status is text or json");
	if (arguments->verb == VERB_EXPLAIN && arguments->before_given && !arguments->of_start)
		arguments->explained.before_ns = flight->before_ns;
	else if (arguments->verb != VERB_START && arguments->before_given)
		setup_usage(state, "only start and explain take --before");
	if (arguments->verb != VERB_START && arguments->of_start)
		setup_usage(state, "only 'weft flight start' takes --%s", arguments->of_start);
	if (arguments->verb != VERB_DUMP && arguments->reason)
		setup_usage(state, "only 'weft flight dump' takes --reason");
	if (arguments->verb != VERB_DUMP && arguments->verb != VERB_STATUS && arguments->elsewhere.host)
		setup_usage(state, "only 'weft flight dump' and 'weft flight status' take --on");
	if (arguments->verb != VERB_DUMP && arguments->sample_of)
		setup_usage(state, "only 'weft flight dump' takes --sample");
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

		if (*clock && !flight_recording_clock_known(*clock))
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
		return 0;
	case ARGP_KEY_ARG:
		take_verb(arguments, arg, state);
		return 0;
	case ARGP_KEY_END:
		check(arguments, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options_child children[] = {
	{ &setup_options, offsetof(struct arguments, setup), SETUP_GROUP, NULL },
	{ &elsewhere_one_options, offsetof(struct arguments, elsewhere), SETUP_OWN_GROUP + 2, "Other machines:" },
	{ 0 },
};

static const struct options command_options = {
	.children = children,
	.rows = table,
	.taken = taken,
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

static void tell_began(const struct flight_options *flight)
{
	flight_tell_place(flight);
	for (size_t i = 0; i < flight->nr_conditions; i++)
		if (flight->conditions[i].noise)
			command_warn("--when %s: %s", flight->conditions[i].name, flight->conditions[i].noise->cost);
	command_warn("the flight has begun; Ctrl-C ends it");
}

static bool flies(const char *name)
{
	cleanup_buf struct buf answer = BUF_INIT;

	return !control_socket_ask(name, "status", &answer, NULL) && answer.len;
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

static void tell_ended(const struct flight_result *result)
{
	char time[TEXT_HUMAN], triggers[TEXT_HUMAN], files[TEXT_HUMAN], lost[TEXT_HUMAN], losses[100] = "";

	if (result->lost)
		snprintf(losses, sizeof(losses), ", %s event%s lost; a larger buffer (-b) may keep them",
			 text_count(lost, result->lost), text_plural(result->lost));
	command_warn("%s trigger%s in %s, %s file%s%s", text_count(triggers, result->triggers),
		     text_plural(result->triggers), text_time(time, result->time_ns), text_count(files, result->files),
		     text_plural(result->files), losses);
}

static int start(struct arguments *arguments)
{
	struct flight_options *flight = &arguments->flight;
	struct flight_result result;
	struct fail fail = FAIL_INIT;
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
	flight->began = tell_began;
	flight->explain = explainer;
	err = flight_run(flight, &result, &fail);
	if (err)
		command_failed(&fail);
	if (err && !result.time_ns)
		return EXIT_FAILED;
	tell_ended(&result);
	if (result.reload) {
		command_warn("the new options are good; the flight begins anew with them");
		flight_again_begin(&fail);
		return command_failed(&fail);
	}
	return err || result.failed ? EXIT_FAILED : EXIT_OK;
}

static bool add_question(const struct arguments *arguments, struct buf *line)
{
	const char *reason = arguments->reason ? arguments->reason : "";

	if (arguments->verb == VERB_STATUS)
		return buf_addf(line, "status%s", arguments->format == TABLE_AS_JSON ? " json" : "");
	return arguments->sample_of ? buf_addf(line, "sample %" PRIu32 " %s", arguments->sample_of, reason) :
				      buf_addf(line, "dump %s", reason);
}

/* Asks the flight, and prints its answer. */
static int ask(const struct arguments *arguments)
{
	cleanup_buf struct buf line = BUF_INIT, answer = BUF_INIT;
	struct fail fail = FAIL_INIT;
	const char *text;
	int err;

	if (arguments->sample_of && sample_skips(arguments->sample_of, false))
		return EXIT_OK;
	if (!add_question(arguments, &line))
		err = fail_memory(&fail);
	else
		err = control_socket_ask(arguments->flight.name, buf_str(&line), &answer, &fail);
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

static void prepare(struct arguments *arguments)
{
	*arguments = (struct arguments){
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
	arguments->setup.setup = &arguments->setup_memory;
	arguments->flight.setup = &arguments->setup_memory;
}

static void release(struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->nr_conditions; i++)
		condition_release(&arguments->conditions[i]);
	free(arguments->conditions);
	persistent_release(&arguments->place);
	elsewhere_release(&arguments->elsewhere);
	setup_release(&arguments->setup_memory);
}

static int act(struct arguments *arguments)
{
	if (arguments->elsewhere.host)
		return elsewhere_command(&arguments->elsewhere, false);
	if (arguments->verb == VERB_START)
		return start(arguments);
	if (arguments->verb == VERB_EXPLAIN)
		return analyse_trigger(arguments->input, &arguments->explained, arguments->format);
	return ask(arguments);
}

static int run(int argc, char **argv)
{
	struct arguments arguments;
	int status;

	prepare(&arguments);
	flight_again_keep(argc, argv);
	command_parse(&flight_command, argc, argv, 0, &arguments);
	status = act(&arguments);
	release(&arguments);
	return status;
}

/* A flight that runs there saves its file there, where it was told to. */
static int run_far(int argc, char **argv, const struct far_side *far)
{
	struct arguments arguments;
	struct fail fail = FAIL_INIT;
	int status;

	(void)far;
	prepare(&arguments);
	command_parse(&flight_command, argc, argv, 0, &arguments);
	if (arguments.verb == VERB_DUMP || arguments.verb == VERB_STATUS) {
		status = ask(&arguments);
	} else {
		fail_set(&fail, -EPERM, "only 'weft flight dump' and 'weft flight status' are run for another machine");
		status = command_failed(&fail);
	}
	release(&arguments);
	return status;
}

const struct command flight_command = {
	.name = "flight",
	.summary = "hold the last seconds in memory, and save them when something happens",
	.brief = "last seconds",
	.examples = "  weft flight start --for sched --when 'signal:SEGV' -o /var/tmp\n"
		    "  weft flight dump --reason 'the button hung'",
	.group = "record",
	.options = &command_options,
	.answer = members,
	.run = run,
	.run_far = run_far,
};
