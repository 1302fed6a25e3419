// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/kernel.h"
#include "cmd/options/option_value.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/near.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/tracefs/kconfig.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/undo.h"

#define ENABLED "/proc/sys/kernel/stack_tracer_enabled"

struct stack {
	struct kernel kernel;
	const char *verb;
	struct setup_list functions;
	bool reset;
};

static const struct option_row options[] = {
	{ "function", 'l', "FUNCTION", 0, "start: look at the stack only when FUNCTION, which may be a glob, is called",
	  0, OPTION_LIST(struct stack, functions) },
	{ "reset", 0, NULL, 0, "start: forget the deepest stack of before", 0, OPTION_FLAG(struct stack, reset) },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct stack *stack = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (stack->verb)
			argp_error(state, "only one action is allowed: '%s' and '%s'", stack->verb, arg);
		stack->verb = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options command_options = {
	.rows = options,
	.parser = parse_option,
	.args_doc = "[show|start|stop|reset]",
	.doc = "The stack tracer looks at the kernel stack whenever a function is called and keeps the deepest that it "
	       "has seen. 'start' and 'stop' switch it, 'show' prints that stack, 'reset' forgets it.\v"
	       "It is one for the whole kernel, and slows every function down while it runs. "
	       "'weft reset' undoes start and stop.",
};

static int show(struct stack *stack, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	char on[8] = "";
	int err = instance_read(stack->kernel.instance, "stack_trace", &text, fail);

	if (!err)
		err = command_write(text.data, text.len, fail);
	if (err)
		return err;
	if (!instance_read_word(stack->kernel.instance, ENABLED, on, sizeof(on), NULL) && on[0] == '0')
		command_warn("note: the stack tracer is off; 'weft deepest-stack start' switches it on");
	return 0;
}

static int forget(struct stack *stack, struct fail *fail)
{
	return instance_write(stack->kernel.instance, "stack_max_size", "0", fail);
}

static int filter(struct stack *stack, struct fail *fail)
{
	cleanup_buf struct buf names = BUF_INIT;

	for (size_t i = 0; i < stack->functions.nr; i++)
		if (!buf_addf(&names, "%s%s", i ? "\n" : "", stack->functions.items[i]))
			return fail_memory(fail);
	return names.len ? instance_set(stack->kernel.instance, "stack_trace_filter", buf_str(&names), fail) : 0;
}

static int start(struct stack *stack, struct fail *fail)
{
	int err = tracer_functions_on(stack->kernel.instance, fail);

	if (!err)
		err = filter(stack, fail);
	if (!err && stack->reset)
		err = forget(stack, fail);
	return err ? err : instance_set(stack->kernel.instance, ENABLED, "1", fail);
}

static int stop(struct stack *stack, struct fail *fail)
{
	return instance_set(stack->kernel.instance, ENABLED, "0", fail);
}

static const struct verb {
	const char *name;
	int (*run)(struct stack *stack, struct fail *fail);
	bool changes; /* the action changes settings, so it needs a journal */
} verbs[] = {
	{ "show", show, false },
	{ "start", start, true },
	{ "stop", stop, true },
	{ "reset", forget, false },
};

static const struct verb *find_verb(const char *name)
{
	struct near near = near_to(name);
	struct fail fail = FAIL_INIT;

	for (size_t i = 0; i < array_size(verbs); i++) {
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
		near_offer(&near, verbs[i].name);
	}
	near_fail(&near, &fail, -EINVAL, "unknown action '%s' of 'weft deepest-stack'; use show, start, stop or reset",
		  name);
	command_failed(&fail);
	return NULL;
}

static int run_verb(struct stack *stack, const struct verb *verb, struct fail *fail)
{
	struct undo *undo = NULL;
	int err = kernel_find(&stack->kernel, fail);

	if (!err && verb->changes)
		err = undo_new(&stack->kernel.tracing, NULL, &undo, fail);
	if (!err)
		err = instance_open_top(&stack->kernel.tracing, undo, &stack->kernel.instance, fail);
	if (!err && !instance_has(stack->kernel.instance, "stack_trace"))
		err = kconfig_no_file("stack_trace", fail);
	if (!err)
		err = verb->run(stack, fail);
	err = kernel_keep(undo, err, fail);
	undo_free(undo);
	return err;
}

static int stack_run(int argc, char **argv)
{
	struct stack stack = { .verb = NULL };
	struct fail fail = FAIL_INIT;
	const struct verb *verb;
	int err;

	command_parse(&stack_command, argc, argv, 0, &stack);
	verb = stack.verb ? find_verb(stack.verb) : &verbs[0];
	if (verb && verb->run != start && (stack.functions.nr || stack.reset)) {
		fputs("weft: -l and --reset belong to 'weft deepest-stack start'\n", stderr);
		verb = NULL;
	}
	if (!verb) {
		free(stack.functions.items);
		return EXIT_USAGE;
	}
	err = run_verb(&stack, verb, &fail);
	free(stack.functions.items);
	return kernel_finish(&stack.kernel, err, &fail);
}

const struct command stack_command = {
	.name = "deepest-stack",
	.former = "stack",
	.summary = "find the deepest kernel stack",
	.brief = "deepest stack",
	.examples = "  weft deepest-stack start\n"
		    "  weft deepest-stack",
	.group = "trace",
	.options = &command_options,
	.run = stack_run,
};
