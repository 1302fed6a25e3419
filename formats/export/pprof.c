// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A gzipped profile for pprof (profile.proto): a sample for each stack, with a value for each weight that the trace
 * has, or only for the weight of --weight, and labels that say whose it is. Each name is a function and a location.
 * There are no addresses, because the names are those of the traced kernel and of tasks.
 */
#include "formats/export/exports_internal.h"
#include "formats/export/proto_internal.h"
#include "formats/export/weighed_internal.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/follow/who.h"
#include "lib/pages/codec/gzip.h"

/* Profile, and the messages in it. */
enum {
	SAMPLE_TYPE = 1,
	SAMPLE,
	MAPPING,
	LOCATION,
	FUNCTION,
	STRING_TABLE,
	PERIOD_TYPE = 11,
	PERIOD,
	DEFAULT_SAMPLE_TYPE = 14
};
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum { MAPPING_ID = 1, MAPPING_FILENAME = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4, LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME };

/* The strings before the names of frames in the table of strings; the first must be "". */
enum {
	STRING_EMPTY,
	STRING_NS,
	STRING_COUNT,
	STRING_KERNEL,
	STRING_PID,
	STRING_PARTS, /* the words of enum who_part */
	STRING_WEIGHTS = STRING_PARTS + WHO_PARTS,
	STRING_NAMES = STRING_WEIGHTS + NR_WEIGHTS
};

enum { DEPTH_MAX = 4096 };

struct profile {
	const struct stacks *stacks;
	enum weight weights[NR_WEIGHTS]; /* the weights that are shown, the default first */
	size_t nr_weights;
	const struct stacks_process *processes;
	size_t nr_processes;
	struct out all, message, packed;
};

static void choose(struct profile *profile)
{
	const struct stacks *stacks = profile->stacks;
	enum weight first = stacks_weight(stacks);

	profile->weights[profile->nr_weights++] = first;
	for (enum weight i = 0; i < NR_WEIGHTS; i++)
		if (i != first && !stacks_is_chosen(stacks) && stacks_total(stacks, i))
			profile->weights[profile->nr_weights++] = i;
}

static void put_type(struct profile *profile, uint32_t field, enum weight weight)
{
	out_clear(&profile->message);
	proto_u64(&profile->message, VALUE_TYPE, STRING_WEIGHTS + weight);
	proto_u64(&profile->message, VALUE_UNIT, weight == WEIGHT_COUNT ? STRING_COUNT : STRING_NS);
	proto_message(&profile->all, field, &profile->message);
}

/* Whom the process belonged to at the end; "": to none, or it is not known. */
static const char *text_of(const struct stacks_process *process, enum who_part part)
{
	uint32_t who = who_is(process->context, part, process->pid, UINT64_MAX, NULL);

	return who ? who_text(process->context, part, who) : "";
}

static void put_label(struct profile *profile, uint64_t key, uint32_t field, uint64_t value)
{
	out_clear(&profile->packed);
	proto_u64(&profile->packed, LABEL_KEY, key);
	proto_u64(&profile->packed, field, value);
	proto_message(&profile->message, SAMPLE_LABEL, &profile->packed);
}

static void put_labels(struct profile *profile, int32_t number)
{
	const struct stacks_process *process = &profile->processes[number];
	uint64_t texts = STRING_NAMES + stacks_names(profile->stacks) + (uint64_t)number * WHO_PARTS;

	put_label(profile, STRING_PID, LABEL_NUMBER, (uint32_t)process->pid);
	for (enum who_part part = 0; part < WHO_PARTS; part++)
		if (*text_of(process, part))
			put_label(profile, STRING_PARTS + part, LABEL_TEXT, texts + part);
}

static void put_strings(struct profile *profile)
{
	static const char *const fixed[] = { "", "nanoseconds", "count", "[kernel.kallsyms]", "pid", WHO_WORDS };
	const struct stacks *stacks = profile->stacks;

	for (size_t i = 0; i < array_size(fixed); i++)
		proto_text(&profile->all, STRING_TABLE, fixed[i]);
	for (size_t i = 0; i < NR_WEIGHTS; i++)
		proto_text(&profile->all, STRING_TABLE, weight_names[i]);
	for (uint32_t i = 0; i < stacks_names(stacks); i++) {
		size_t len;
		const char *name = stacks_name(stacks, i, &len);

		proto_string(&profile->all, STRING_TABLE, name, len);
	}
	for (size_t i = 0; i < profile->nr_processes * WHO_PARTS; i++)
		proto_text(&profile->all, STRING_TABLE,
			   text_of(&profile->processes[i / WHO_PARTS], (enum who_part)(i % WHO_PARTS)));
}

/* One mapping for all locations, which tells readers not to look for symbols. */
static void put_mapping(struct profile *profile)
{
	out_clear(&profile->message);
	proto_u64(&profile->message, MAPPING_ID, 1);
	proto_u64(&profile->message, MAPPING_FILENAME, STRING_KERNEL);
	proto_u64(&profile->message, MAPPING_HAS_FUNCTIONS, 1);
	proto_message(&profile->all, MAPPING, &profile->message);
}

static void put_name(struct profile *profile, uint32_t name)
{
	out_clear(&profile->packed);
	proto_u64(&profile->packed, LINE_FUNCTION, (uint64_t)name + 1);
	out_clear(&profile->message);
	proto_u64(&profile->message, LOCATION_ID, (uint64_t)name + 1);
	proto_u64(&profile->message, LOCATION_MAPPING, 1);
	proto_message(&profile->message, LOCATION_LINE, &profile->packed);
	proto_message(&profile->all, LOCATION, &profile->message);
	out_clear(&profile->message);
	proto_u64(&profile->message, FUNCTION_ID, (uint64_t)name + 1);
	proto_u64(&profile->message, FUNCTION_NAME, (uint64_t)STRING_NAMES + name);
	proto_message(&profile->all, FUNCTION, &profile->message);
}

static void put_sample(struct profile *profile, const struct stack_node *nodes, uint32_t node)
{
	int32_t process = STACKS_NO_PROCESS;
	size_t depth = 0;

	out_clear(&profile->message);
	out_clear(&profile->packed);
	for (uint32_t at = node; at; at = nodes[at].parent)
		if (!nodes[at].parent)
			process = stacks_process(profile->stacks, at);
	for (uint32_t at = node; at && depth < DEPTH_MAX; at = nodes[at].parent, depth++)
		proto_varint(&profile->packed, (uint64_t)nodes[at].name + 1);
	proto_message(&profile->message, SAMPLE_LOCATIONS, &profile->packed);
	out_clear(&profile->packed);
	for (size_t i = 0; i < profile->nr_weights; i++)
		proto_varint(&profile->packed, nodes[node].weights[profile->weights[i]]);
	proto_message(&profile->message, SAMPLE_VALUES, &profile->packed);
	if (process != STACKS_NO_PROCESS)
		put_labels(profile, process);
	proto_message(&profile->all, SAMPLE, &profile->message);
}

static void put_profile(struct profile *profile)
{
	size_t nr;
	const struct stack_node *nodes = stacks_nodes(profile->stacks, &nr);

	for (size_t i = 0; i < profile->nr_weights; i++)
		put_type(profile, SAMPLE_TYPE, profile->weights[i]);
	for (uint32_t i = 1; i < nr; i++) {
		uint64_t any = 0;

		for (size_t j = 0; j < profile->nr_weights; j++)
			any |= nodes[i].weights[profile->weights[j]];
		if (any)
			put_sample(profile, nodes, i);
	}
	put_mapping(profile);
	for (uint32_t i = 0; i < stacks_names(profile->stacks); i++)
		put_name(profile, i);
	put_strings(profile);
	put_type(profile, PERIOD_TYPE, profile->weights[0]);
	proto_u64(&profile->all, PERIOD, 1);
	proto_u64(&profile->all, DEFAULT_SAMPLE_TYPE, STRING_WEIGHTS + profile->weights[0]);
}

static void pprof_end(struct export *export)
{
	struct profile profile = { .stacks = ((struct weighed *)export)->stacks };
	struct out *outs[] = { &profile.all, &profile.message, &profile.packed };
	struct fail fail = FAIL_INIT;
	bool whole = true;
	int r;

	stacks_end(((struct weighed *)export)->stacks, export);
	if (!stacks_some(profile.stacks, export))
		return;
	stacks_close(((struct weighed *)export)->stacks);
	choose(&profile);
	profile.processes = stacks_processes(profile.stacks, &profile.nr_processes);
	for (size_t i = 0; i < array_size(outs); i++)
		whole &= out_init(outs[i], 1024);
	if (whole) {
		put_profile(&profile);
		whole = !profile.all.failed && !profile.message.failed && !profile.packed.failed;
	}
	r = whole ? gzip_put(export->out, profile.all.start, out_len(&profile.all), &fail) : fail_memory(&fail);
	if (r)
		export_failed(export, r, &fail);
	for (size_t i = 0; i < array_size(outs); i++)
		if (outs[i]->start)
			out_release(outs[i]);
}

static int pprof_new(const struct export_input *input, struct export **ret, struct fail *fail)
{
	int r = weighed_new(input, ret, fail);

	if (!r)
		stacks_divide(((struct weighed *)*ret)->stacks);
	return r;
}

const struct export_ops pprof_export = {
	.name = "pprof",
	.summary = "stacks by weight as a profile of pprof, for go tool pprof, Pyroscope and speedscope",
	.binary = true,
	.takes_weight = true,
	.needs_all = true,
	.of_tasks = true,
	.create = pprof_new,
	.free = weighed_free,
	.event = weighed_event,
	.end = pprof_end,
};
