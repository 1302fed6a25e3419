// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/event/context.h"

#include "lib/base/fail.h"
#include "lib/base/near.h"
#include "lib/event/context_option_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_SIZE = 700 };

/* TRACE_FLAGS of kernel/trace/trace.h and the options of single tracers, with their defaults. */
static const struct option {
	const char *name;
	bool on;
} options[OPTION_NR] = {
	[OPTION_PRINT_PARENT] = { "print-parent", true },
	[OPTION_SYM_OFFSET] = { "sym-offset", false },
	[OPTION_SYM_ADDR] = { "sym-addr", false },
	[OPTION_VERBOSE] = { "verbose", false },
	[OPTION_RAW] = { "raw", false },
	[OPTION_HEX] = { "hex", false },
	[OPTION_BIN] = { "bin", false },
	[OPTION_FIELDS] = { "fields", false },
	[OPTION_ANNOTATE] = { "annotate", true },
	[OPTION_SYM_USEROBJ] = { "sym-userobj", false },
	[OPTION_CONTEXT_INFO] = { "context-info", true },
	[OPTION_LATENCY_FORMAT] = { "latency-format", false },
	[OPTION_RECORD_TGID] = { "record-tgid", false },
	[OPTION_IRQ_INFO] = { "irq-info", true },
	[OPTION_HASH_PTR] = { "hash-ptr", true },
	[OPTION_TRACE_PRINTK] = { "trace_printk", true },
	[OPTION_PRINTK_MSG_ONLY] = { "printk-msg-only", false },
	[OPTION_DISPLAY_GRAPH] = { "display-graph", false },
	[OPTION_STACKTRACE] = { "stacktrace", false },
	[OPTION_USERSTACKTRACE] = { "userstacktrace", false },
	[OPTION_FUNC_STACK_TRACE] = { "func_stack_trace", false },
	[OPTION_FUNC_ARGS] = { "func-args", false },
	[OPTION_FGRAPH_OVERRUN] = { "funcgraph-overrun", false },
	[OPTION_FGRAPH_CPU] = { "funcgraph-cpu", true },
	[OPTION_FGRAPH_OVERHEAD] = { "funcgraph-overhead", true },
	[OPTION_FGRAPH_PROC] = { "funcgraph-proc", false },
	[OPTION_FGRAPH_DURATION] = { "funcgraph-duration", true },
	[OPTION_FGRAPH_ABSTIME] = { "funcgraph-abstime", false },
	[OPTION_FGRAPH_IRQS] = { "funcgraph-irqs", true },
	[OPTION_FGRAPH_TAIL] = { "funcgraph-tail", false },
	[OPTION_FGRAPH_RETVAL] = { "funcgraph-retval", false },
	[OPTION_FGRAPH_RETVAL_HEX] = { "funcgraph-retval-hex", false },
	[OPTION_FGRAPH_RETADDR] = { "funcgraph-retaddr", false },
	[OPTION_FGRAPH_ARGS] = { "funcgraph-args", false },
	[OPTION_SLEEP_TIME] = { "sleep-time", true },
	[OPTION_GRAPH_TIME] = { "graph-time", true },
	[OPTION_BLK_CLASSIC] = { "blk_classic", false },
	[OPTION_BLK_CGROUP] = { "blk_cgroup", false },
	[OPTION_BLK_CGNAME] = { "blk_cgname", false },
	[OPTION_BITMASK_LIST] = { "bitmask-list", false },
};

uint64_t context_option_defaults(void)
{
	uint64_t flags = 0;

	for (size_t i = 0; i < OPTION_NR; i++)
		flags |= (uint64_t)options[i].on << i;
	return flags;
}

static bool set(uint64_t *flags, const char *name, size_t len, bool on)
{
	for (size_t i = 0; i < OPTION_NR; i++) {
		if (strlen(options[i].name) != len || memcmp(options[i].name, name, len))
			continue;
		*flags = on ? *flags | UINT64_C(1) << i : *flags & ~(UINT64_C(1) << i);
		return true;
	}
	return false;
}

/* No option's own name begins with "no". */
bool context_option_set(uint64_t *flags, const char *text, size_t len)
{
	if (len > 2 && !memcmp(text, "no", 2))
		return set(flags, text + 2, len - 2, false);
	return set(flags, text, len, true);
}

static int no_such_option(const char *text, struct fail *fail)
{
	struct near near = near_to(strncmp(text, "no", 2) ? text : text + 2);
	char names[NAMES_SIZE] = "";
	struct fail words;

	for (size_t i = 0; i < OPTION_NR; i++) {
		size_t len = strlen(names);

		near_offer(&near, options[i].name);
		snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "", options[i].name);
	}
	near_fail(&near, &words, -EINVAL, "no trace option '%s' that the output depends on", text);
	(void)fail_set(fail, -EINVAL, "%.300s\nthere are, each also with \"no\" in front: %s", words.text, names);
	return fail_usage(fail, -EINVAL);
}

int context_set_option(struct context *context, const char *text, struct fail *fail)
{
	if (!context_option_set(&context->trace_flags, text, strlen(text)))
		return no_such_option(text, fail);
	/* Who sets this option of the blk tracer switches the context off, for all lines (blk_tracer_set_flag()). */
	if (!strcmp(text, "blk_classic"))
		context->trace_flags &= ~(UINT64_C(1) << OPTION_CONTEXT_INFO);
	else if (!strcmp(text, "noblk_classic"))
		context->trace_flags |= UINT64_C(1) << OPTION_CONTEXT_INFO;
	context->env.hash_pointers = context_hashes_pointers(context);
	context->env.bitmask_list = context_option(context, OPTION_BITMASK_LIST);
	return 0;
}
