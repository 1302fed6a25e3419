// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/option_value.h"
#include "cmd/options/setup_options.h"
#include "cmd/options/setup_values.h"
#include "cmd/setup_run.h"
#include "cmd/terminal/progress.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/setup/boot.h"

struct arguments {
	struct setup_arguments setup_arguments;
	struct setup setup;
};

enum { KEY_ADD = 0x1000, KEY_REMOVE, KEY_SYSCTL };

/* Options that set a sysctl, in the order of their keys, and the words for its values 0, 1, 2. */
static const struct {
	const char *option, *sysctl, *words;
} sysctls[] = {
	{ "--ftrace-enabled", "ftrace_enabled", "off|on" },
	{ "--stack-tracer", "stack_tracer_enabled", "off|on" },
	{ "--tracepoint-printk", "tracepoint_printk", "off|on" },
	{ "--traceoff-on-warning", "traceoff_on_warning", "off|on" },
	{ "--dump-on-oops", "ftrace_dump_on_oops", "off|on|orig_cpu" },
};

static const struct option_row options[] = {
	{ "add", KEY_ADD, NULL, 0,
	  "From here on, -l, -n, -g, --no-graph-function, -P and --no-pid add to the kernel's lists, as >> does", 0,
	  OPTION_BY_KEY },
	{ "remove", KEY_REMOVE, NULL, 0, "From here on, these options, and -e, remove from the kernel's lists", 0,
	  OPTION_BY_KEY },
	{ "ftrace-enabled", KEY_SYSCTL, "on|off", 0,
	  "Allow function tracing, in the whole kernel, or forbid it (sysctl kernel.ftrace_enabled)", 0,
	  OPTION_BY_KEY },
	{ "stack-tracer", KEY_SYSCTL + 1, "on|off", 0,
	  "Look for the deepest kernel stack (sysctl kernel.stack_tracer_enabled; 'weft deepest-stack' has more)", 0,
	  OPTION_BY_KEY },
	{ "tracepoint-printk", KEY_SYSCTL + 2, "on|off", 0,
	  "Print events to the console, too (sysctl kernel.tracepoint_printk); needs a kernel booted with tp_printk", 0,
	  OPTION_BY_KEY },
	{ "traceoff-on-warning", KEY_SYSCTL + 3, "on|off", 0,
	  "Turn tracing off when the kernel warns (sysctl kernel.traceoff_on_warning)", 0, OPTION_BY_KEY },
	{ "dump-on-oops", KEY_SYSCTL + 4, "off|on|orig_cpu", 0,
	  "Print the buffers to the console when the kernel crashes, of all CPUs or of the one that crashed "
	  "(sysctl kernel.ftrace_dump_on_oops)",
	  0, OPTION_BY_KEY },
	{ 0 },
};

static void set_sysctl(struct arguments *arguments, size_t at, const char *word, struct argp_state *state)
{
	static const char *const values[] = { "0", "1", "2" };
	struct setup_file file = { .file = boot_sysctl(sysctls[at].sysctl) };
	const char *words = sysctls[at].words;
	struct text_word one;

	for (size_t i = 0; text_next_word(&words, "|", &one); i++)
		if (text_word_is(one, word))
			file.value = values[i];
	if (!file.value)
		setup_usage(state, "%s: '%s' is none of %s", sysctls[at].option, word, sysctls[at].words);
	if (!setup_add_file(&arguments->setup.instances[0], &file))
		option_no_memory(state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	if (key >= KEY_SYSCTL && key < KEY_SYSCTL + (int)array_size(sysctls)) {
		set_sysctl(arguments, (size_t)(key - KEY_SYSCTL), arg, state);
		return 0;
	}
	switch (key) {
	case KEY_ADD:
		arguments->setup_arguments.lists = SETUP_ADDS;
		arguments->setup_arguments.off = false;
		return 0;
	case KEY_REMOVE:
		arguments->setup_arguments.lists = SETUP_REMOVES;
		arguments->setup_arguments.off = true;
		return 0;
	case ARGP_KEY_INIT:
		arguments->setup_arguments = (struct setup_arguments){ .setup = &arguments->setup, .changes = true };
		return 0;
	case ARGP_KEY_ARG:
		setup_usage(state, "'%s': set takes options only", arg);
		return 0;
	case ARGP_KEY_END:
		if (state->argc < 2)
			setup_usage(state, "nothing to change");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options_child children[] = {
	{ &setup_options, offsetof(struct arguments, setup_arguments), SETUP_GROUP, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse,
	.children = children,
	.doc = "Change how the kernel traces right now, in the top instance or in those that -B names.\v"
	       "Nothing else changes, and tracing goes on. Lists of functions and tasks are replaced by those given, "
	       "unless --add or --remove comes before; -e adds events, -v -e takes them away. "
	       "'weft reset' puts back what was changed.",
};

static int run(int argc, char **argv)
{
	struct arguments arguments = { .setup.nr_instances = 0 };
	struct fail fail = FAIL_INIT;
	int status = EXIT_OK, err;

	command_parse(&set_command, argc, argv, ARGP_IN_ORDER, &arguments);
	arguments.setup.step = progress_step;
	err = setup_run(&(struct setup_run){ .setup = &arguments.setup,
					     .manner = SETUP_CHANGE,
					     .dry_run = arguments.setup_arguments.dry_run },
			&status, &fail);
	setup_release(&arguments.setup);
	return err ? command_failed(&fail) : status;
}

const struct command set_command = {
	.name = "set",
	.summary = "change how the kernel traces right now",
	.brief = "change settings",
	.examples = "  weft set -e sched:sched_waking -f 'prio < 100'\n"
		    "  weft set -B io -b 10M",
	.group = "trace",
	.options = &command_options,
	.run = run,
};
