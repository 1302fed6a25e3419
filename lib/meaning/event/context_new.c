// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/siphash.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/clock/apart.h"
#include "lib/meaning/clock/clocks.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/cpu_stats.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/event/graph_events.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/event/release.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/event/types.h"
#include "lib/meaning/names/functions.h"
#include "lib/meaning/names/maps.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/names/unwind.h"
#include "lib/pages/trace/trace.h"

/* Counts the events of the buffer; reads at most `max`. *ret_ts: the time of the last of these. */
static int count(const struct context *context, uint64_t max, uint64_t *ret, uint64_t *ret_ts, struct fail *fail)
{
	const struct events_options options = { .until = UINT64_MAX };
	struct events *events;
	struct event event;
	int r = events_open(context, &options, &events, fail);

	*ret = 0;
	if (r < 0)
		return r;
	while (*ret < max && (r = events_next(events, &event, fail)) > 0) {
		if (event.kind != EVENT_RECORD)
			continue;
		++*ret;
		*ret_ts = event.ts;
	}
	events_free(events);
	return r < 0 ? r : 0;
}

/*
 * The pages of a recorded latency tracer (the setting "weft/section") are from its snapshot. They end with the events
 * of the longest section. The events before these are older, and the kernel does not print them: its text tells how
 * many it prints ("weft/entries").
 */

/* Sets section_since of the context. Does nothing for other buffers. */
static int section_find(struct context *context, struct fail *fail)
{
	uint64_t nr, ts = 0;
	int r;

	/* A file that was made of these events has no others, and no such count. */
	if (!context->section || !trace_setting(context->trace, context->buffer, "weft/entries").text)
		return 0;
	/*
	 * tracing_iter_reset() of kernel/trace/trace.c skips what is older than the section, so the events that it
	 * prints are the last ones in time.
	 */
	r = count(context, UINT64_MAX, &nr, &ts, fail);
	if (!r && nr > context->entries)
		r = count(context, nr - context->entries + 1, &nr, &ts, fail);
	else
		ts = 0;
	context->section_since = ts;
	return r;
}

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

/* The bits of context::trace_flags while a context is made: enum trace_option of lib/meaning/event/context.h. */
static uint64_t context_option_defaults(void)
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

/*
 * "NAME" or "noNAME"; false, and nothing changed, when the output depends on no such option. No option's own name
 * begins with "no".
 */
static bool context_option_set(uint64_t *flags, const char *text, size_t len)
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

enum { GUESS_EVENTS = 64 };

/* The context and the memory that it owns. */
struct owned {
	struct context context; /* first */
	struct cpu_stats_list stats;
	char *clock, *tracer, *release, *preempt_model;
	struct siphash_key hash_key;
	bool has_hash_key;
	bool starved; /* memory ran out: some data is missing */
};

static struct trace_text meta_of(struct trace *trace, enum trace_meta which)
{
	struct trace_text text;

	int r = trace_meta(trace, which, &text, NULL);

	/* Damaged data counts as absent; trace_damage() reports it. */
	if (r == -ENOMEM)
		trace_lacks_memory(trace);
	return r ? (struct trace_text){ .text = NULL } : text;
}

static char *copy_of(struct owned *owned, const char *text, size_t len)
{
	char *copy = strndup(text, len);

	owned->starved |= !copy;
	return copy;
}

const char *context_latency(struct trace *trace, size_t buffer)
{
	struct trace_text text = meta_of(trace, TRACE_LATENCY);

	/* The file has one place for this text, which belongs to the first buffer. */
	return text.len && !buffer ? text.text : trace_setting(trace, (uint32_t)buffer, "weft/latency").text;
}

/* The first word of a text; NULL when there is none. */
static char *first_word(struct owned *owned, struct trace_text text)
{
	size_t len = text.text ? strcspn(text.text, " \t\n") : 0;

	return len ? copy_of(owned, text.text, len) : NULL;
}

/* "[local] global counter" marks the selected one; a single word stands for itself. */
static char *selected_clock(struct owned *owned, struct trace_text text)
{
	struct text_word word;

	return text_chosen(text.text, &word) ? copy_of(owned, word.at, word.len) : first_word(owned, text);
}

/* "Linux HOST RELEASE #1 SMP PREEMPT_RT ... MACHINE"; trace-cmd leaves the version out. */
static char *release_of(struct owned *owned, struct trace_text uname)
{
	const char *at = uname.text;

	for (int skip = 2; at && skip; skip--) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at ? first_word(owned, (struct trace_text){ .text = at }) : NULL;
}

static void read_stats(struct owned *owned)
{
	struct context *context = &owned->context;
	struct cpu_stats_list *stats = &owned->stats;

	cpu_stats_read(stats, context->trace, context->buffer);
	if (!stats->nr && !context->buffer)
		cpu_stats_of_text(stats, meta_of(context->trace, TRACE_CPUSTAT));
	owned->starved |= stats->starved;
	context->stats = stats->at;
	context->nr_stats = stats->nr;
}

/* Events in the buffer plus events read from it while recording, which ring_buffer_entries_cpu() does not count. */
static void count_entries(struct context *context)
{
	uint64_t overrun = 0;

	for (size_t i = 0; i < context->nr_stats; i++) {
		context->entries += context->stats[i].entries + (context->frozen ? 0 : context->stats[i].read);
		overrun += context->stats[i].overrun;
	}
	context->written = context->entries + overrun;
}

static int add_formats(struct context *context, struct fail *fail)
{
	size_t count;
	const struct trace_format *formats = trace_formats(context->trace, &count);
	struct own_formats own;
	int r = own_formats_init(&own, trace_setting(context->trace, context->buffer, "weft/formats").text, fail);

	for (size_t i = 0; !r && i < count; i++) {
		const struct trace_format *format = &formats[i];

		if (!own_formats_have(&own, format->text.text))
			continue;
		r = schema_add(context->schema, format->system.text, format->system.len, format->text.text,
			       format->text.len, NULL);

		/* Events of a broken format are printed as unknown; only a lack of memory is an error. */
		r = r == -ENOMEM ? fail_memory(fail) : 0;
	}
	own_formats_release(&own);
	return r;
}

static bool env_symbol(const void *arg, uint64_t address, char how, struct out *out)
{
	return symbols_print(arg, address, how, out);
}

static const char *env_string(const void *arg, uint64_t address)
{
	return symbols_string(arg, address);
}

static uint64_t env_now(const void *arg, uint64_t address)
{
	return symbols_now(arg, address);
}

static bool env_address(const void *arg, const char *name, uint64_t *ret)
{
	return symbols_address(arg, name, ret);
}

/*
 * trace_event_format() came to 5.10.190 without the option that switches it off: such kernels never hash a %p of an
 * event.
 */
static bool never_hashes(const struct context *context, struct trace_text options)
{
	return context->release_major == 5 && context->release_minor == 10 && context->release_patch >= 190 &&
	       !(options.text && strstr(options.text, "hash-ptr"));
}

static bool enumerator(const void *types, const char *name, size_t len, uint64_t *ret)
{
	return types_value(types, name, len, ret);
}

static void read_options(struct context *context)
{
	struct trace_text text = trace_setting(context->trace, context->buffer, "trace_options");
	struct text_word line;

	context->trace_flags = context_option_defaults();
	if (never_hashes(context, text))
		context->trace_flags &= ~(1ull << OPTION_HASH_PTR);
	while (text.text && text_next_line(&text.text, &text.len, &line)) {
		(void)context_option_set(&context->trace_flags, line.at, line.len);
		context->event_fork |= text_word_is(line, "event-fork");
	}
	context->section = trace_setting(context->trace, context->buffer, "weft/section").text;
	/* tracing_snapshot_open() ignores this option; the printer of function_graph does not. */
	if (!context->section && trace_setting(context->trace, context->buffer, "weft/entries").text &&
	    strcmp(context->tracer, "function_graph"))
		context->trace_flags &= ~(1ull << OPTION_LATENCY_FORMAT);
}

static void read_online(struct owned *owned)
{
	struct context *context = &owned->context;
	struct trace_text text = own_setting(context->trace, context->buffer, "weft/online");
	cleanup_free struct cpus *cpus = calloc(1, sizeof(*cpus));
	char list[4096];

	owned->starved |= !cpus;
	context->online_cpus = trace_info(context->trace)->cpu_count;
	if (!text.text || !cpus || text.len >= sizeof(list))
		return;
	memcpy(list, text.text, text.len);
	list[text.len] = '\0';
	list[strcspn(list, "\n")] = '\0';
	if (!cpus_parse(list, cpus, NULL))
		context->online_cpus = cpus_count(cpus);
}

static int read_tasks(struct context *context, struct fail *fail)
{
	struct trace_text names = meta_of(context->trace, TRACE_CMDLINES);
	struct trace_text tgids = trace_setting(context->trace, context->buffer, "saved_tgids");

	if (!names.text || !names.len)
		names = trace_setting(context->trace, context->buffer, "saved_cmdlines");
	if (!tgids.text)
		tgids = trace_setting(context->trace, 0, "saved_tgids");
	return tasks_new(names.text, names.len, tgids.text, tgids.len, &context->tasks, fail);
}

int context_set_tasks(struct context *context, const char *names, size_t names_len, const char *tgids, size_t tgids_len,
		      struct fail *fail)
{
	struct tasks *tasks;
	int r = tasks_new(names, names_len, tgids, tgids_len, &tasks, fail);

	if (r < 0)
		return r;
	tasks_read_tgids(tasks);
	tasks_free(context->tasks);
	context->tasks = tasks;
	return 0;
}

static void read_latency_facts(struct owned *owned, struct trace_text uname)
{
	struct context *context = &owned->context;
	struct trace_text text = trace_setting(context->trace, context->buffer, "weft/time_start");
	struct text_word line;

	context->time_start_known = text.text;
	context->time_start = text.text ? number_of(text.text, 0) : 0;
	text = trace_setting(context->trace, context->buffer, "weft/buffer_cpu");
	context->buffer_cpu = text.text ? (uint32_t)number_of(text.text, 0) : 0;
	text = trace_setting(context->trace, context->buffer, "weft/latency_head");
	while (text.text && text_next_line(&text.text, &text.len, &line))
		latency_head_take(&context->latency_head, line.at, line.len);
	owned->preempt_model = first_word(owned, own_setting(context->trace, context->buffer, "weft/preempt_model"));
	if (!owned->preempt_model)
		owned->preempt_model = release_new_model(context);
	context->preempt_model = owned->preempt_model ? owned->preempt_model : release_model(context, uname.text);
}

/* Reads "flags=4", "pid=5" and so on, which lib/files/import writes. */
static void read_columns(struct context *context)
{
	struct trace_text text = trace_setting(context->trace, context->buffer, "weft/columns");
	struct text_word line;

	while (text.text && text_next_line(&text.text, &text.len, &line)) {
		if (text_word_is(line, "pid=5"))
			context->columns.pid_width = 5;
		else if (line.len == 7 && !memcmp(line.at, "flags=", 6) && line.at[6] >= '4' && line.at[6] <= '7')
			context->columns.flags = (uint8_t)(line.at[6] - '0');
		context->columns.has_x |= text_word_is(line, "x=1");
		context->columns.no_bh |= text_word_is(line, "bh=0");
		context->columns.old_marks |= text_word_is(line, "old-marks=1");
		context->columns.tgid_late |= text_word_is(line, "tgid-late=1");
	}
}

/* An imported text may name its release in its header. */
static void read_release(struct owned *owned, struct trace_text uname)
{
	owned->release = release_of(owned, uname);
	if (!owned->release)
		owned->release =
			first_word(owned, own_setting(owned->context.trace, owned->context.buffer, "weft/release"));
	owned->context.release = owned->release ? owned->release : "";
}

static void read_settings(struct owned *owned)
{
	struct context *context = &owned->context;
	const struct trace_buffer *buffer = trace_buffer(context->trace, context->buffer);
	struct trace_text uname = own_kernel(context->trace, context->buffer, meta_of(context->trace, TRACE_UNAME)),
			  version, text;

	context->instance = buffer->name.text ? buffer->name.text : "";
	owned->clock = selected_clock(owned, buffer->clock);
	if (!owned->clock)
		owned->clock = selected_clock(owned, trace_setting(context->trace, context->buffer, "trace_clock"));
	context->clock = owned->clock ? owned->clock : "local";
	context->unit =
		trace_info(context->trace)->has_tsc2nsec || clock_kind(context->clock)->counts == CLOCK_COUNTS_NS ?
			CLOCK_UNIT_NS :
			CLOCK_UNIT_COUNT;
	owned->tracer = first_word(owned, trace_setting(context->trace, context->buffer, "current_tracer"));
	context->tracer_known = owned->tracer;
	context->tracer = owned->tracer ? owned->tracer : "nop";
	read_release(owned, uname);
	read_columns(context);
	release_read_machine(context, uname);
	/* A recording has the release where trace-cmd stores it, and the whole text of uname -a in a setting. */
	version = own_setting(context->trace, context->buffer, "weft/uname");
	if (!version.text)
		version = uname;
	release_read(context, version.text);
	text = own_setting(context->trace, context->buffer, "weft/hz");
	context->hz = text.text ? number_of(text.text, 0) : 0;
	text = own_setting(context->trace, context->buffer, "weft/mode");
	context->recorded =
		text.text && text.len >= 6 && (!memcmp(text.text, "record", 6) || !memcmp(text.text, "import", 6));
	context->told = text.text && text.len == strlen("import told") && !memcmp(text.text, "import told", text.len);
	context->frozen = !context->recorded && trace_setting(context->trace, context->buffer, "trace_options").text;
	context->self = own_setting(context->trace, context->buffer, "weft/self").text;
	context->went_on = trace_setting(context->trace, context->buffer, "weft/went_on").text;
	context->latency = context_latency(context->trace, context->buffer);
	context->switched_on = trace_setting(context->trace, context->buffer, "set_event").text;
	context->event_pids = trace_setting(context->trace, context->buffer, "weft/event_pids").text;
	text = trace_setting(context->trace, context->buffer, "set_event_pid");
	context->event_pids_left = text.len ? text.text : NULL;
	context->filters = trace_setting(context->trace, context->buffer, "weft/filters").text;
	context->selected = trace_setting(context->trace, context->buffer, SETTING_SELECTED).text;
	context->recording = trace_setting(context->trace, context->buffer, "weft/recording").text;
	/* Files that an older weft merged. */
	if (!context->recording && trace_setting(context->trace, context->buffer, "weft/kernel").text)
		context->recording = context->instance;
	context->compared = apart_error(context->trace, context->buffer, &context->clock_error_ns);
	context->cpumask = trace_setting(context->trace, context->buffer, "tracing_cpumask").text;
	context->dynamic_events = own_setting(context->trace, context->buffer, "dynamic_events").text;
	read_latency_facts(owned, version);
	read_options(context);
	/* Its pages are a copy: what was overwritten before is no loss. */
	context->recorded &= !context->section;
	context->frozen |= context->section;
	read_online(owned);
	read_stats(owned);
	count_entries(context);
}

/* Guesses the tracer of a file from another program by entries that only one tracer writes. */
static int guess_tracer(struct context *context, struct fail *fail)
{
	struct events_options options = { .until = UINT64_MAX };
	struct events *events;
	struct event event;
	int r = events_open(context, &options, &events, fail);

	if (r < 0)
		return r;
	for (int i = 0; i < GUESS_EVENTS && (r = events_next(events, &event, fail)) > 0; i++) {
		const struct format *format = event.kind == EVENT_RECORD ? event.type->format : NULL;

		if (!format || strcmp(format->system, "ftrace"))
			continue;
		if (graph_event_of(format))
			context->tracer = "function_graph";
		else if (!strcmp(format->name, "function"))
			context->tracer = "function";
		else
			continue;
		break;
	}
	events_free(events);
	return r < 0 ? r : 0;
}

/* A file that was extracted from a dump may have it. */
static void read_hash_key(struct owned *owned)
{
	struct trace_text array = own_setting(owned->context.trace, owned->context.buffer, "weft/page_array");
	struct trace_text text = own_setting(owned->context.trace, owned->context.buffer, "weft/hash_key");

	if (array.text)
		owned->context.abi.page_array = strtoull(array.text, NULL, 16);
	owned->has_hash_key = text.text && sscanf(text.text, "%16" SCNx64 "%16" SCNx64, &owned->hash_key.words[0],
						  &owned->hash_key.words[1]) == 2;
}

static int functions_of(const struct context *context, const char *setting, struct functions **ret, struct fail *fail)
{
	struct trace_text text = own_setting(context->trace, context->buffer, setting);

	return text.text && text.len ? functions_of_text(text.text, text.len, ret, fail) : 0;
}

/* What is known of the programs of the recording that the buffer is of. */
static int read_functions(struct context *context, struct fail *fail)
{
	size_t first = own_first(context->trace, context->buffer);
	int r = maps_new(context->trace, first, &context->maps, fail);

	if (!r)
		r = maps_of_watch(context->trace, first, &context->watched, fail);
	if (!r)
		r = functions_of(context, SETTING_FUNCTIONS, &context->functions, fail);
	return r ? r : functions_of(context, SETTING_UNWIND, &context->unwind, fail);
}

static int context_init(struct owned *owned, struct fail *fail)
{
	struct context *context = &owned->context;
	const struct trace_info *info = trace_info(context->trace);
	int r;

	context->abi =
		(struct schema_abi){ .swap = info->swap, .big_endian = info->big_endian, .long_size = info->long_size };
	read_settings(owned);
	if (owned->starved)
		return fail_memory(fail);
	context->abi.cper_blanks = context->release_major && !context_knows(context, 5, 18);
	context->abi.hz = context->hz > UINT32_MAX ? 0 : (uint32_t)context->hz;
	r = types_new(context->trace, &context->types, fail);
	if (r < 0)
		return r;
	read_hash_key(owned);
	context->abi.enumerators = context->types;
	context->abi.enumerator = enumerator;
	r = schema_new(&context->abi, &context->schema, fail);
	if (!r)
		r = add_formats(context, fail);
	if (!r)
		release_guess(context);
	if (!r)
		r = read_tasks(context, fail);
	if (!r) {
		context->comms = comms_new(context);
		context->who = calloc(1, sizeof(*context->who));
		context->files = calloc(1, sizeof(*context->files));
		context->marked = calloc(1, sizeof(*context->marked));
		r = context->comms && context->who && context->files && context->marked ? 0 : fail_memory(fail);
		context->renamed = r ? NULL : comms_renamed(context->comms);
	}
	if (!r)
		r = symbols_new(context->trace, context->buffer, &context->symbols, fail);
	if (!r)
		r = read_functions(context, fail);
	if (!r)
		r = wall_new(context->trace, context->buffer, &context->wall, fail);
	if (r < 0)
		return r;
	context->env = (struct program_env){ .arg = context->symbols,
					     .machine = context->machine,
					     .symbol = env_symbol,
					     .string = env_string,
					     .address = env_address,
					     .now = symbols_moved(context->symbols) ? env_now : NULL,
					     .hash_pointers = context_hashes_pointers(context),
					     .hash_key = owned->has_hash_key ? &owned->hash_key : NULL,
					     .null_text = !context_since(context, 5, 2),
					     .bitmask_list = context_option(context, OPTION_BITMASK_LIST),
					     .fields_symbols = context_knows(context, 6, 16),
					     .fields_printable = context_knows(context, 6, 19) };
	r = context->tracer_known ? 0 : guess_tracer(context, fail);
	return r ? r : section_find(context, fail);
}

int context_new(struct trace *trace, size_t buffer, struct context **ret, struct fail *fail)
{
	struct owned *owned;
	int r;

	if (!trace_buffer(trace, buffer))
		return fail_set(fail, -EBADMSG, "%s",
				trace_damage(trace) ? trace_damage(trace) : "there is no such buffer");
	owned = calloc(1, sizeof(*owned));
	if (!owned)
		return fail_memory(fail);
	owned->context.trace = trace;
	owned->context.buffer = buffer;
	r = context_init(owned, fail);
	if (r < 0) {
		context_free(&owned->context);
		return r;
	}
	*ret = &owned->context;
	return 0;
}

void context_free(struct context *context)
{
	struct owned *owned = (struct owned *)context;

	if (!context)
		return;
	symbols_free(context->symbols);
	maps_free(context->maps);
	maps_free(context->watched);
	functions_free(context->functions);
	functions_free(context->unwind);
	wall_free(context->wall);
	tasks_free(context->tasks);
	comms_free(context->comms);
	if (context->who && context->who->made)
		context->who->made->free(context->who->made);
	free(context->who);
	if (context->files && context->files->made)
		context->files->made->free(context->files->made);
	free(context->files);
	if (context->marked && context->marked->made)
		context->marked->made->free(context->marked->made);
	free(context->marked);
	schema_free(context->schema);
	types_free(context->types);
	free(owned->stats.at);
	free(owned->clock);
	free(owned->tracer);
	free(owned->release);
	free(owned->preempt_model);
	free(owned);
}

void context_lacks_memory(const struct context *context)
{
	trace_lacks_memory(context->trace);
}

bool context_is_beside(const struct context *context, const struct context *other)
{
	return other->trace == context->trace && !other->recording == !context->recording &&
	       (!context->recording || !strcmp(context->recording, other->recording));
}

bool context_next_self(const char **at, int32_t *ret)
{
	struct text_word word;

	while (*at && text_next_word(at, " \n", &word)) {
		const char *number = word.at;

		if (number_s32(&number, ret))
			return true;
	}
	return false;
}

bool context_shares_times(const struct context *context, const struct context *other)
{
	return context_is_beside(context, other) && !strcmp(context->clock, other->clock);
}
