// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/kernel.h"
#include "cmd/options/option_value.h"
#include "cmd/options/setup_values.h"
#include "lib/kernel/measure/function_profile.h"
#include "lib/kernel/record/wake.h"
#include "lib/kernel/record/workload.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"

struct profile_arguments {
	struct kernel kernel;
	struct setup_list functions, notrace, options;
	int (*compare)(const void *a, const void *b);
	uint64_t duration_ns, limit;
	const char *user;
	char **argv;
};

static int by_name(const void *a, const void *b)
{
	const struct profiled_function *one = a, *other = b;

	return strcmp(one->name, other->name);
}

static int by_hits(const void *a, const void *b)
{
	const struct profiled_function *one = a, *other = b;

	return one->hits != other->hits ? (one->hits < other->hits) - (one->hits > other->hits) : by_name(a, b);
}

static int by_time(const void *a, const void *b)
{
	const struct profiled_function *one = a, *other = b;

	return one->time_ns != other->time_ns ? (one->time_ns < other->time_ns) - (one->time_ns > other->time_ns) :
						by_hits(a, b);
}

static uint64_t average(const struct profiled_function *function)
{
	return function->hits ? function->time_ns / function->hits : 0;
}

static int by_average(const void *a, const void *b)
{
	uint64_t one = average(a), other = average(b);

	return one != other ? (one < other) - (one > other) : by_time(a, b);
}

static void take_order(const struct option_row *row, void *input, char *name, struct argp_state *state)
{
	struct profile_arguments *arguments = input;
	static const struct {
		const char *name;
		int (*compare)(const void *a, const void *b);
	} orders[] = {
		{ "time", by_time },
		{ "hits", by_hits },
		{ "average", by_average },
		{ "name", by_name },
	};

	(void)row;
	for (size_t i = 0; i < array_size(orders); i++)
		if (!strcmp(orders[i].name, name)) {
			arguments->compare = orders[i].compare;
			return;
		}
	argp_error(state, "--sort: use time, hits, average or name, not '%s'", name);
}

static const struct option_row options[] = {
	{ "function", 'l', "FUNCTION", 0, "Count only FUNCTION, which may be a glob", 0,
	  OPTION_LIST(struct profile_arguments, functions) },
	{ "no-function", 'n', "FUNCTION", 0, "Do not count FUNCTION", 0,
	  OPTION_LIST(struct profile_arguments, notrace) },
	{ "option", 'O', "OPTION", 0,
	  "Set the trace option OPTION meanwhile: nosleep-time leaves out the time asleep, "
	  "nograph-time that of the functions called",
	  0, OPTION_LIST(struct profile_arguments, options) },
	{ "duration", 0, "TIME", 0, "Stop after TIME: 500ms, 10s, 2m; a bare number counts seconds", 0,
	  OPTION_TIME(struct profile_arguments, duration_ns) },
	{ "user", 0, "USER", 0, "Run COMMAND as USER", 0, OPTION_TEXT(struct profile_arguments, user) },
	{ "sort", 0, "time|hits|average|name", 0, "Sort the functions by this column (default time)", 0,
	  OPTION_TAKE(take_order) },
	{ "limit", 0, "N", 0, "Print at most N functions", 0,
	  OPTION_RANGE(struct profile_arguments, limit, 1, UINT32_MAX) },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct profile_arguments *arguments = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_ARG:
		arguments->argv = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (arguments->user && !arguments->argv)
			argp_error(state, "--user needs a COMMAND");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.args_doc = "[--] [COMMAND...]",
	.doc = "Lets the kernel count its functions, and how long they take, while COMMAND runs or until Ctrl-C; "
	       "prints a table, merged over all CPUs.\v"
	       "All tasks are counted, not only COMMAND. Without -l every function is, which slows the machine down. "
	       "The exit status is that of COMMAND.",
};

/* Sets the lists of functions of the top instance, which the profiler uses. */
static int set_up(struct profile_arguments *arguments, struct fail *fail)
{
	struct instance *top = arguments->kernel.instance;
	int err = 0;

	if (arguments->functions.nr)
		err = tracer_functions(top, FUNCTIONS_TRACE, arguments->functions.items, arguments->functions.nr, false,
				       fail);
	if (!err && arguments->notrace.nr)
		err = tracer_functions(top, FUNCTIONS_NOTRACE, arguments->notrace.items, arguments->notrace.nr, false,
				       fail);
	for (size_t i = 0; !err && i < arguments->options.nr; i++)
		err = option_set(top, arguments->options.items[i], fail);
	return err ? err : function_profile_start(top, fail);
}

static int measure(struct profile_arguments *arguments, struct wake *wake, struct workload *workload,
		   struct function_profile *profile, int *ret_status, struct fail *fail)
{
	enum wake_reason reason;
	int err = set_up(arguments, fail);

	if (!err && arguments->duration_ns)
		err = wake_after(wake, arguments->duration_ns, fail);
	if (!err && workload->pid)
		err = workload_go(workload, NULL, fail);
	if (!err && workload->pid)
		err = workload_executed(workload, arguments->argv[0], ret_status, fail);
	if (!err)
		err = wake_wait(wake, workload, &reason, ret_status, fail);
	if (!err)
		err = tracing_stay(&arguments->kernel.tracing, fail);
	if (!err)
		err = function_profile_stop(arguments->kernel.instance, fail);
	return err ? err : function_profile_read(arguments->kernel.instance, profile, fail);
}

static void print_profile(const struct profile_arguments *arguments, struct function_profile *profile)
{
	int (*compare)(const void *a, const void *b) = arguments->compare;
	size_t nr = profile->nr;

	if (!compare)
		compare = profile->timed ? by_time : by_hits;
	qsort(profile->functions, nr, sizeof(*profile->functions), compare);
	if (arguments->limit && nr > arguments->limit)
		nr = (size_t)arguments->limit;
	printf("%-31s %12s", "FUNCTION", "HITS");
	puts(profile->timed ? "        TIME us     AVERAGE us   DEVIATION us" : "");
	for (size_t i = 0; i < nr; i++) {
		const struct profiled_function *function = &profile->functions[i];

		printf("%-30s%c %12llu", function->name, function->cut ? '*' : ' ', (unsigned long long)function->hits);
		if (profile->timed)
			printf(" %14.3f %14.3f %14.3f", (double)function->time_ns / 1000,
			       (double)average(function) / 1000, profiled_function_deviation(function));
		putchar('\n');
	}
	for (size_t i = 0; i < nr; i++)
		if (profile->functions[i].cut) {
			puts("* the kernel cuts names here; functions whose first 30 letters "
			     "are the same are one line");
			break;
		}
}

/* Profiles, from the first setting to the last that is restored. */
static int profile_kernel(struct profile_arguments *arguments, struct wake *wake, struct function_profile *profile,
			  int *ret_status, struct fail *fail)
{
	struct workload workload = { .pid_fd = -1, .go_fd = -1, .errno_fd = -1 };
	const struct workload_options wanted = {
		.argv = arguments->argv, .user = arguments->user, .path = getenv("PATH"), .mask = wake->old_mask
	};
	struct undo *undo = NULL;
	int err = 0, restored;

	if (arguments->argv)
		err = workload_fork(&wanted, &workload, fail);
	if (!err)
		err = kernel_find(&arguments->kernel, fail);
	if (!err)
		err = undo_new(&arguments->kernel.tracing, NULL, &undo, fail);
	if (!err)
		err = instance_open_top(&arguments->kernel.tracing, undo, &arguments->kernel.instance, fail);
	if (!err)
		err = measure(arguments, wake, &workload, profile, ret_status, fail);
	restored = undo ? undo_restore(undo, err ? NULL : fail) : 0;
	undo_free(undo);
	workload_release(&workload);
	return err ? err : restored;
}

static int profile_run(int argc, char **argv)
{
	struct profile_arguments arguments = { .argv = NULL };
	struct function_profile profile = FUNCTION_PROFILE_INIT;
	struct fail fail = FAIL_INIT;
	int status = EXIT_OK, finished, err;
	struct wake wake;

	command_parse(&profile_functions_command, argc, argv, ARGP_IN_ORDER, &arguments);
	err = wake_init(&wake, &fail);
	if (!err) {
		err = profile_kernel(&arguments, &wake, &profile, &status, &fail);
		wake_release(&wake);
	}
	if (!err)
		print_profile(&arguments, &profile);
	function_profile_release(&profile);
	free(arguments.functions.items);
	free(arguments.notrace.items);
	free(arguments.options.items);
	finished = kernel_finish(&arguments.kernel, err, &fail);
	return finished && !status ? finished : status;
}

const struct command profile_functions_command = {
	.name = "profile-functions",
	.summary = "count kernel functions and the time they take",
	.brief = "times",
	.examples = "  weft profile-functions -l 'vfs_*' --limit 10 -- ls -R /usr\n"
		    "  weft profile-functions --duration 5s --sort hits -l '*lock*'",
	.group = "trace",
	.options = &command_options,
	.run = profile_run,
};
