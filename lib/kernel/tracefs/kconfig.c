// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/kconfig.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"

static const struct kconfig table[] = {
	{ KCONFIG_TRACER, "function", "CONFIG_FUNCTION_TRACER", NULL },
	{ KCONFIG_TRACER, "function_graph", "CONFIG_FUNCTION_GRAPH_TRACER", NULL },
	{ KCONFIG_TRACER, "irqsoff", "CONFIG_IRQSOFF_TRACER", NULL },
	{ KCONFIG_TRACER, "preemptoff", "CONFIG_PREEMPT_TRACER", NULL },
	{ KCONFIG_TRACER, "preemptirqsoff", "CONFIG_IRQSOFF_TRACER and CONFIG_PREEMPT_TRACER", NULL },
	{ KCONFIG_TRACER, "wakeup", "CONFIG_SCHED_TRACER", NULL },
	{ KCONFIG_TRACER, "wakeup_rt", "CONFIG_SCHED_TRACER", NULL },
	{ KCONFIG_TRACER, "wakeup_dl", "CONFIG_SCHED_TRACER", NULL },
	{ KCONFIG_TRACER, "hwlat", "CONFIG_HWLAT_TRACER", NULL },
	{ KCONFIG_TRACER, "osnoise", "CONFIG_OSNOISE_TRACER", "5.14" },
	{ KCONFIG_TRACER, "timerlat", "CONFIG_TIMERLAT_TRACER", "5.14" },
	{ KCONFIG_TRACER, "mmiotrace", "CONFIG_MMIOTRACE", NULL },
	{ KCONFIG_TRACER, "blk", "CONFIG_BLK_DEV_IO_TRACE", NULL },
	{ KCONFIG_TRACER, "branch", "CONFIG_BRANCH_TRACER", NULL },

	{ KCONFIG_FILE, "available_filter_functions", "CONFIG_DYNAMIC_FTRACE", NULL },
	{ KCONFIG_FILE, "available_filter_functions_addrs", "CONFIG_DYNAMIC_FTRACE", "6.5" },
	{ KCONFIG_FILE, "enabled_functions", "CONFIG_DYNAMIC_FTRACE", NULL },
	{ KCONFIG_FILE, "touched_functions", "CONFIG_DYNAMIC_FTRACE", "6.4" },
	{ KCONFIG_FILE, "dyn_ftrace_total_info", "CONFIG_DYNAMIC_FTRACE", NULL },
	{ KCONFIG_FILE, "set_ftrace_filter", "CONFIG_DYNAMIC_FTRACE", NULL },
	{ KCONFIG_FILE, "set_ftrace_notrace", "CONFIG_DYNAMIC_FTRACE", NULL },
	{ KCONFIG_FILE, "set_ftrace_pid", "CONFIG_FUNCTION_TRACER", NULL },
	{ KCONFIG_FILE, "set_ftrace_notrace_pid", "CONFIG_FUNCTION_TRACER", "5.8" },
	{ KCONFIG_FILE, "set_event_notrace_pid", NULL, "5.7" },
	{ KCONFIG_FILE, "set_graph_function", "CONFIG_FUNCTION_GRAPH_TRACER", NULL },
	{ KCONFIG_FILE, "set_graph_notrace", "CONFIG_FUNCTION_GRAPH_TRACER", NULL },
	{ KCONFIG_FILE, "max_graph_depth", "CONFIG_FUNCTION_GRAPH_TRACER", NULL },
	{ KCONFIG_FILE, "function_profile_enabled", "CONFIG_FUNCTION_PROFILER", NULL },
	{ KCONFIG_FILE, "trace_stat", "CONFIG_FUNCTION_PROFILER", NULL },
	{ KCONFIG_FILE, "recursed_functions", "CONFIG_FTRACE_RECORD_RECURSION", "5.11" },
	{ KCONFIG_FILE, "tracing_max_latency", "CONFIG_TRACER_MAX_TRACE", NULL },
	{ KCONFIG_FILE, "snapshot", "CONFIG_TRACER_SNAPSHOT", NULL },
	{ KCONFIG_FILE, "stack_trace", "CONFIG_STACK_TRACER", NULL },
	{ KCONFIG_FILE, "stack_max_size", "CONFIG_STACK_TRACER", NULL },
	{ KCONFIG_FILE, "stack_trace_filter", "CONFIG_STACK_TRACER", NULL },
	{ KCONFIG_FILE, "hwlat_detector", "CONFIG_HWLAT_TRACER", NULL },
	{ KCONFIG_FILE, "osnoise", "CONFIG_OSNOISE_TRACER", "5.14" },
	{ KCONFIG_FILE, "osnoise/timerlat_period_us", "CONFIG_TIMERLAT_TRACER", "5.14" },
	{ KCONFIG_FILE, "osnoise/print_stack", "CONFIG_TIMERLAT_TRACER", "5.14" },
	{ KCONFIG_FILE, "osnoise/options", "CONFIG_OSNOISE_TRACER", "6.2" },
	{ KCONFIG_FILE, "dynamic_events", "CONFIG_DYNAMIC_EVENTS", NULL },
	{ KCONFIG_FILE, "kprobe_events", "CONFIG_KPROBE_EVENTS", NULL },
	{ KCONFIG_FILE, "kprobe_profile", "CONFIG_KPROBE_EVENTS", NULL },
	{ KCONFIG_FILE, "uprobe_events", "CONFIG_UPROBE_EVENTS", NULL },
	{ KCONFIG_FILE, "uprobe_profile", "CONFIG_UPROBE_EVENTS", NULL },
	{ KCONFIG_FILE, "synthetic_events", "CONFIG_SYNTH_EVENTS", NULL },
	{ KCONFIG_FILE, "user_events_data", "CONFIG_USER_EVENTS", "6.4" },
	{ KCONFIG_FILE, "user_events_status", "CONFIG_USER_EVENTS", "6.4" },
	{ KCONFIG_FILE, "events/syscalls", "CONFIG_FTRACE_SYSCALLS", NULL },
	{ KCONFIG_FILE, "events/kprobes", "CONFIG_KPROBE_EVENTS", NULL },
	{ KCONFIG_FILE, "events/uprobes", "CONFIG_UPROBE_EVENTS", NULL },
	{ KCONFIG_FILE, "eval_map", "CONFIG_TRACE_EVAL_MAP_FILE", NULL },
	{ KCONFIG_FILE, "error_log", NULL, "5.2" },
	{ KCONFIG_FILE, "timestamp_mode", NULL, "4.17" },
	{ KCONFIG_FILE, "buffer_percent", NULL, "5.0" },
	{ KCONFIG_FILE, "buffer_subbuf_size_kb", NULL, "6.8" },
	{ KCONFIG_FILE, "last_boot_info", NULL, "6.12" },
	{ KCONFIG_FILE, "show_event_filters", NULL, "7.0" },
	{ KCONFIG_FILE, "show_event_triggers", NULL, "7.0" },
	{ KCONFIG_FILE, "syscall_user_buf_size", "CONFIG_FTRACE_SYSCALLS", "6.19" },
	{ KCONFIG_FILE, "osnoise/timerlat_align_us", "CONFIG_TIMERLAT_TRACER", "7.2" },

	{ KCONFIG_TRIGGER, "stacktrace", "CONFIG_STACKTRACE", NULL },
	{ KCONFIG_TRIGGER, "snapshot", "CONFIG_TRACER_SNAPSHOT", NULL },
	{ KCONFIG_TRIGGER, "hist", "CONFIG_HIST_TRIGGERS", NULL },
	{ KCONFIG_TRIGGER, "enable_hist", "CONFIG_HIST_TRIGGERS", NULL },
	{ KCONFIG_TRIGGER, "disable_hist", "CONFIG_HIST_TRIGGERS", NULL },

	{ KCONFIG_OPTION, "stacktrace", "CONFIG_STACKTRACE", NULL },
	{ KCONFIG_OPTION, "userstacktrace", "CONFIG_USER_STACKTRACE_SUPPORT", NULL },
	{ KCONFIG_OPTION, "function-trace", "CONFIG_FUNCTION_TRACER", NULL },
	{ KCONFIG_OPTION, "function-fork", "CONFIG_FUNCTION_TRACER", NULL },
	{ KCONFIG_OPTION, "func_stack_trace", "CONFIG_FUNCTION_TRACER", NULL },
	{ KCONFIG_OPTION, "func-no-repeats", "CONFIG_FUNCTION_TRACER", "5.14" },
	{ KCONFIG_OPTION, "display-graph", "CONFIG_FUNCTION_GRAPH_TRACER", NULL },
	{ KCONFIG_OPTION, "graph-time", "CONFIG_FUNCTION_PROFILER", NULL },
	{ KCONFIG_OPTION, "sleep-time", "CONFIG_FUNCTION_GRAPH_TRACER", NULL },
	{ KCONFIG_OPTION, "funcgraph-retval", "CONFIG_FUNCTION_GRAPH_RETVAL", "6.5" },
	{ KCONFIG_OPTION, "funcgraph-retval-hex", "CONFIG_FUNCTION_GRAPH_RETVAL", "6.5" },
	{ KCONFIG_OPTION, "branch", "CONFIG_BRANCH_TRACER", NULL },
	{ KCONFIG_OPTION, "hash-ptr", NULL, "5.12" },
	{ KCONFIG_OPTION, "fields", NULL, "6.4" },
};

const struct kconfig *kconfig_at(size_t index)
{
	return index < array_size(table) ? &table[index] : NULL;
}

static const struct kconfig *find(enum kconfig_kind kind, const char *name, size_t len)
{
	for (size_t i = 0; i < array_size(table); i++)
		if (table[i].kind == kind && strlen(table[i].name) == len && !memcmp(table[i].name, name, len))
			return &table[i];
	return NULL;
}

const struct kconfig *kconfig_find(enum kconfig_kind kind, const char *name)
{
	const struct kconfig *found;
	size_t len = strlen(name);

	if (kind == KCONFIG_TRIGGER)
		len = strcspn(name, ": ");
	if (kind == KCONFIG_OPTION && !strncmp(name, "no", 2) && (found = find(kind, name + 2, len - 2)))
		return found;
	found = find(kind, name, len);
	while (!found && kind == KCONFIG_FILE) {
		const char *slash = memrchr(name, '/', len);

		if (!slash)
			break;
		len = (size_t)(slash - name);
		found = find(kind, name, len);
	}
	return found;
}

const char *kconfig_hint(enum kconfig_kind kind, const char *name, char into[KCONFIG_HINT_SIZE])
{
	const struct kconfig *found = kconfig_find(kind, name);

	into[0] = '\0';
	if (found && found->option && found->since)
		snprintf(into, KCONFIG_HINT_SIZE, "; %s provides it, since Linux %s", found->option, found->since);
	else if (found && found->option)
		snprintf(into, KCONFIG_HINT_SIZE, "; %s provides it", found->option);
	else if (found && found->since)
		snprintf(into, KCONFIG_HINT_SIZE, "; it came with Linux %s", found->since);
	return into;
}

int kconfig_no_file(const char *file, struct fail *fail)
{
	char hint[KCONFIG_HINT_SIZE];

	return fail_set(fail, -EOPNOTSUPP, "this kernel has no '%s'%s", file, kconfig_hint(KCONFIG_FILE, file, hint));
}
