// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/perfetto/kind_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/proto_internal.h"
#include "formats/kernel/ftrace.h"
#include "formats/kernel/symbol.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/json.h"
#include "lib/meaning/columns/value.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/follow/stack.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/plugin/plugins.h"
#include "lib/meaning/schema/format.h"

/*
 * FtraceEvent's messages: their fields are numbered from 1 in this order; "-" stands for a field that the kernel does
 * not have.
 */
static const struct known {
	const char *system, *name;
	uint32_t id;
	const char *fields;
} known[] = {
	{ "sched", "sched_switch", 4, "prev_comm prev_pid prev_prio prev_state next_comm next_pid next_prio" },
	{ "sched", "sched_waking", 20, "comm pid prio success target_cpu" },
	{ "sched", "sched_wakeup", 17, "comm pid prio success target_cpu" },
	{ "sched", "sched_wakeup_new", 114, "comm pid prio success target_cpu" },
	{ "sched", "sched_process_exec", 237, "filename pid old_pid" },
	{ "sched", "sched_process_exit", 238, "comm pid - prio" },
	{ "sched", "sched_process_fork", 239, "parent_comm parent_pid child_comm child_pid" },
	{ "sched", "sched_process_free", 240, "comm pid prio" },
	{ "sched", "sched_process_hang", 241, "comm pid" },
	{ "sched", "sched_process_wait", 242, "comm pid prio" },
	{ "sched", "sched_migrate_task", 491, "comm pid prio orig_cpu dest_cpu" },
	{ "irq", "softirq_entry", 24, "vec" },
	{ "irq", "softirq_exit", 25, "vec" },
	{ "irq", "softirq_raise", 26, "vec" },
	{ "irq", "irq_handler_entry", 36, "irq name" },
	{ "irq", "irq_handler_exit", 37, "irq ret" },
	{ "power", "cpu_frequency", 11, "state cpu_id" },
	{ "power", "cpu_frequency_limits", 12, "min_freq max_freq cpu_id" },
	{ "power", "cpu_idle", 13, "state cpu_id" },
	{ "power", "suspend_resume", 113, "action val start" },
	{ "task", "task_newtask", 235, "pid comm clone_flags oom_score_adj" },
	{ "task", "task_rename", 236, "pid oldcomm newcomm oom_score_adj" },
	{ "workqueue", "workqueue_activate_work", 56, "work function" },
	{ "workqueue", "workqueue_execute_end", 57, "work function" },
	{ "workqueue", "workqueue_execute_start", 58, "work function" },
	{ "workqueue", "workqueue_queue_work", 59, "work function workqueue req_cpu cpu" },
	{ "block", "block_rq_issue", 45, "dev sector nr_sector bytes rwbs comm cmd" },
	{ "block", "block_rq_complete", 125, "dev sector nr_sector errors rwbs cmd" },
	{ "block", "block_rq_insert", 126, "dev sector nr_sector bytes rwbs comm cmd" },
};

enum { ID_PRINT = PERFETTO_PRINT, ID_SYS_ENTER = 329, ID_SYS_EXIT = 330 };

static bool is_array(const struct field *field)
{
	return field->flags & (FIELD_ARRAY | FIELD_DYNAMIC);
}

static struct perfetto_field *add_field(struct perfetto_kind *kind, const struct field *field,
					const struct schema_abi *abi, unsigned number)
{
	struct perfetto_field *ret = &kind->fields[kind->nr_fields++];

	*ret = (struct perfetto_field){ .place = place_of(field, abi),
					.number = (uint8_t)number,
					.text = value_is_text(field) };
	ret->wire = ret->place.size ? WIRE_INTEGER : ret->text ? WIRE_TEXT : WIRE_JSON;
	return ret;
}

static void bind_known(struct perfetto_kind *kind, const struct known *entry, const struct schema_abi *abi)
{
	const char *at = entry->fields;

	kind->id = entry->id;
	for (unsigned number = 1; *at; number++) {
		size_t len = strcspn(at, " ");

		for (uint32_t i = kind->format->nr_common; i < kind->format->nr_fields; i++)
			if (strlen(kind->format->fields[i].name) == len &&
			    !memcmp(kind->format->fields[i].name, at, len))
				(void)add_field(kind, &kind->format->fields[i], abi, number);
		at += len + (at[len] == ' ');
	}
}

/* By the system of a type that the importer knows. */
static enum perfetto_family family_of(const struct format *format)
{
	static const struct {
		const char *system;
		enum perfetto_family family;
	} families[] = { { "sched", FAMILY_TASKS }, { "task", FAMILY_TASKS },     { "irq", FAMILY_IRQ },
			 { "power", FAMILY_POWER }, { "workqueue", FAMILY_WORK }, { "block", FAMILY_BLOCK } };

	for (size_t i = 0; i < array_size(families); i++)
		if (!strcmp(families[i].system, format->system))
			return families[i].family;
	return FAMILY_NONE;
}

static bool bind_typed(struct perfetto_kind *kind, const struct schema_abi *abi)
{
	const struct format *format = kind->format;

	for (size_t i = 0; i < array_size(known); i++) {
		if (strcmp(known[i].name, format->name) || strcmp(known[i].system, format->system))
			continue;
		bind_known(kind, &known[i], abi);
		kind->family = family_of(format);
		kind->switches = !strcmp(format->name, "sched_switch");
		kind->wakes = !strcmp(format->name, "sched_waking");
		return true;
	}
	return false;
}

/*
 * raw_syscalls:sys_enter, and sys_enter_NAME of the system syscalls, whose fields after the number are the arguments of
 * the call.
 */
static bool bind_call(struct perfetto_kind *kind, const struct schema_abi *abi)
{
	const struct format *format = kind->format;
	bool raw = !strcmp(format->system, "raw_syscalls"), enter = !strncmp(format->name, "sys_enter", 9);
	const struct field *number = format_field(format, raw ? "id" : "__syscall_nr"), *rest;

	if (!number && !raw)
		number = format_field(format, "nr");
	if ((!raw && strcmp(format->system, "syscalls")) || !number || (!enter && strncmp(format->name, "sys_exit", 8)))
		return false;
	kind->id = enter ? ID_SYS_ENTER : ID_SYS_EXIT;
	kind->family = FAMILY_CALLS;
	kind->call = true;
	kind->enters = enter;
	kind->call_by_name = !raw;
	(void)add_field(kind, number, abi, 1);
	if (!enter) {
		rest = format_field(format, "ret");
		if (rest)
			(void)add_field(kind, rest, abi, 2);
		return true;
	}
	for (rest = number + 1; rest < format->fields + format->nr_fields && kind->nr_fields < PERFETTO_FIELDS_MAX;
	     rest++)
		if (raw)
			add_field(kind, rest, abi, 2)->wire = WIRE_CALL_ARGS;
		else if (rest->size == 4 || rest->size == 8)
			(void)add_field(kind, rest, abi, 2);
	return true;
}

static bool bind_print(struct perfetto_kind *kind, const struct schema_abi *abi)
{
	const struct format *format = kind->format;
	const struct field *ip = format_field(format, "ip");

	if (strcmp(format->system, "ftrace") || !ip ||
	    (strcmp(format->name, "print") && strcmp(format->name, "bprint") && strcmp(format->name, "bputs")))
		return false;
	kind->id = ID_PRINT;
	kind->family = FAMILY_PRINT;
	kind->print = true;
	(void)add_field(kind, ip, abi, 1);
	add_field(kind, ip, abi, 2)->wire = WIRE_PRINT;
	return true;
}

/* Addresses in the kernel's own entries are shown as names. */
static void name_addresses(struct perfetto_kind *kind, const struct schema_abi *abi)
{
	bool function = !strcmp(kind->format->name, "function"), user = !strcmp(kind->format->name, "user_stack");

	if (strcmp(kind->format->system, "ftrace"))
		return;
	user = user && place_bind(&kind->tgid, kind->format, abi, "tgid");
	for (size_t i = 0; i < kind->nr_fields; i++) {
		struct perfetto_field *field = &kind->fields[i];

		if (function && field->place.size && strstr(field->place.field->name, "ip"))
			field->wire = WIRE_SYMBOL;
		else if (!strcmp(kind->format->name, "kernel_stack") && is_array(field->place.field))
			field->wire = WIRE_SYMBOLS;
		else if (user && is_array(field->place.field))
			field->wire = WIRE_USER_SYMBOLS;
	}
}

/* What a plugin knows becomes fields behind those of the record, as far as there is room. */
static void bind_decoded(struct perfetto_kind *kind, const struct context *context)
{
	const struct decoded_name *name;

	if (!context->plugins)
		return;
	kind->decoder = plugins_decoder(context->plugins, kind->format);
	for (size_t i = 0;
	     kind->decoder && kind->nr_fields < PERFETTO_FIELDS_MAX && (name = decoder_name(kind->decoder, i)); i++) {
		struct perfetto_field *field = &kind->fields[kind->nr_fields++];

		*field = (struct perfetto_field){ .decoded = name,
						  .number = (uint8_t)kind->nr_fields,
						  .wire = name->is_number ? WIRE_DECODED_INTEGER : WIRE_DECODED_TEXT };
	}
}

static void bind_own(struct perfetto_kind *kind, const struct context *context, uint32_t id)
{
	const struct schema_abi *abi = &context->abi;
	const struct format *format = kind->format;
	uint32_t nr = format->nr_fields - format->nr_common,
		 whole = nr > PERFETTO_FIELDS_MAX ? PERFETTO_FIELDS_MAX - 1 : nr;

	kind->own = true;
	kind->id = id;
	for (uint32_t i = 0; i < whole; i++)
		(void)add_field(kind, &format->fields[format->nr_common + i], abi, i + 1);
	if (whole < nr)
		add_field(kind, &format->fields[format->nr_common + whole], abi, PERFETTO_FIELDS_MAX)->wire = WIRE_REST;
	name_addresses(kind, abi);
	bind_decoded(kind, context);
}

/*
 * A text that is not atrace's is an instant on a track of its task: the importer makes one of each event with a type of
 * track event and the name of a slice.
 */
static void bind_instant(struct perfetto_kind *kind, const struct schema_abi *abi, uint32_t id)
{
	const struct field *ip = format_field(kind->format, "ip");

	kind->own = true;
	kind->id = id;
	(void)add_field(kind, ip, abi, 1);
	add_field(kind, ip, abi, 2)->wire = WIRE_PRINT;
	add_field(kind, ip, abi, 3)->wire = WIRE_INSTANT;
}

struct perfetto_kind *perfetto_kind_new(const struct context *context, const struct event_type *type, uint32_t own_id)
{
	struct perfetto_kind *kind = calloc(1, sizeof(*kind));
	const struct format *format = type->format;

	if (!kind || !format)
		return kind;
	kind->format = format;
	(void)mark_source_find(&kind->mark, type);
	if (bind_typed(kind, &context->abi))
		return kind;
	if (!bind_call(kind, &context->abi) && !bind_print(kind, &context->abi)) {
		bind_own(kind, context, own_id);
		return kind;
	}
	kind->bare = calloc(1, sizeof(*kind->bare));
	if (!kind->bare) {
		free(kind);
		return NULL;
	}
	kind->bare->format = format;
	if (kind->print)
		bind_instant(kind->bare, &context->abi, own_id);
	else
		bind_own(kind->bare, context, own_id);
	return kind;
}

void perfetto_kind_free(void *arg)
{
	struct perfetto_kind *kind = arg;

	if (kind)
		free(kind->bare);
	free(kind);
}

/* Fields for which Perfetto's message has no field number. */
static void put_rest(const struct perfetto_kind *kind, const struct perfetto_field *field,
		     const struct context *context, const struct event *event, struct out *out)
{
	out_char(out, '{');
	for (const struct field *at = field->place.field; at < kind->format->fields + kind->format->nr_fields; at++) {
		if (at > field->place.field)
			out_char(out, ',');
		json_text(out, at->name);
		out_char(out, ':');
		value_put(at, &context->abi, event, value_is_text(at), out);
	}
	out_char(out, '}');
}

static void put_symbols(const struct perfetto_field *field, const struct context *context, const struct event *event,
			struct out *out)
{
	struct stack stack;
	uint64_t address;

	stack_of_kernel(&field->place, event, &stack);
	while (stack_next(&stack, &address)) {
		if (out_len(out))
			out_char(out, '\n');
		symbol_print(context, address, true, out);
	}
}

static void put_user_symbols(const struct perfetto_kind *kind, const struct perfetto_field *field,
			     const struct context *context, const struct event *event, struct out *out)
{
	int32_t tgid = (int32_t)place_u64(&kind->tgid, event);
	uint64_t frames[STACK_USER_ENTRIES];
	size_t nr = stack_user_frames(&field->place, tgid, event, frames);
	char text[STACK_USER_NAME];

	for (size_t i = 0; i < nr; i++) {
		if (i)
			out_char(out, '\n');
		out_mem(out, text, stack_user_name(context, tgid, frames[i], text, sizeof(text)));
	}
}

/* The kernel's text after the name of the function that wrote it. */
static void put_print(struct sink *sink, const struct event *event, struct out *out)
{
	struct ftrace *ftrace = (struct ftrace *)sink;
	struct sink_event copy = { .event = *event };
	char *end;

	(void)ftrace_bind(ftrace, event->type);
	ftrace_body(ftrace, &copy.event, out);
	end = memmem(out->start, out_len(out), ": ", 2);
	if (end) {
		memmove(out->start, end + 2, (size_t)(out->at - end) - 2);
		out->at -= end + 2 - out->start;
	}
}

static void put_call_args(const struct perfetto_field *field, const struct event *event, struct out *out)
{
	uint64_t value;

	for (size_t i = 0; place_element(&field->place, event, i, &value); i++)
		proto_u64(out, field->number, value);
}

static void put_made(const struct perfetto_kind *kind, const struct perfetto_field *field,
		     const struct context *context, struct sink *sink, const struct event *event, struct out *scratch,
		     struct out *out)
{
	out_clear(scratch);
	if (field->wire == WIRE_JSON)
		value_put(field->place.field, &context->abi, event, field->text, scratch);
	else if (field->wire == WIRE_REST)
		put_rest(kind, field, context, event, scratch);
	else if (field->wire == WIRE_SYMBOLS)
		put_symbols(field, context, event, scratch);
	else if (field->wire == WIRE_USER_SYMBOLS)
		put_user_symbols(kind, field, context, event, scratch);
	else if (field->wire == WIRE_SYMBOL)
		symbol_print(context, place_u64(&field->place, event), false, scratch);
	else
		put_print(sink, event, scratch);
	/* The name of a slice is one line. */
	while (kind->own && field->wire == WIRE_PRINT && scratch->at > scratch->start && scratch->at[-1] == '\n')
		scratch->at--;
	proto_string(out, field->number, scratch->start, out_len(scratch));
}

struct decoding {
	const struct perfetto_kind *kind;
	struct out *out;
};

static void put_decoded(void *arg, const struct decoded *decoded)
{
	const struct decoding *decoding = arg;

	for (size_t i = 0; i < decoding->kind->nr_fields; i++) {
		const struct perfetto_field *field = &decoding->kind->fields[i];

		if (!field->decoded || strcmp(field->decoded->name, decoded->name))
			continue;
		if (field->decoded->is_number && decoded->kind != DECODED_TEXT)
			proto_u64(decoding->out, field->number, decoded->value);
		else if (!field->decoded->is_number && decoded->kind == DECODED_TEXT)
			proto_string(decoding->out, field->number, decoded->text, decoded->len);
	}
}

bool perfetto_kind_put(const struct perfetto_kind *kind, const struct context *context, struct sink *sink,
		       const struct event *event, struct out *scratch, struct out *out)
{
	struct decoding decoding = { .kind = kind, .out = out };

	for (size_t i = 0; i < kind->nr_fields && !kind->fields[i].decoded; i++) {
		const struct perfetto_field *field = &kind->fields[i];
		const char *text;
		size_t len;

		if (field->wire == WIRE_INTEGER)
			proto_u64(out, field->number, place_u64(&field->place, event));
		else if (field->wire == WIRE_INSTANT)
			proto_u64(out, field->number, 'I');
		else if (field->wire == WIRE_CALL_ARGS)
			put_call_args(field, event, out);
		else if (field->wire != WIRE_TEXT)
			put_made(kind, field, context, sink, event, scratch, out);
		else if (place_string(&field->place, event, &text, &len))
			proto_string(out, field->number, text, len);
	}
	return !kind->decoder || decoder_each(kind->decoder, event->data, event->len, put_decoded, &decoding);
}

/* FieldDescriptorProto: name 1, number 3, label 4 (1: optional), type 5 (3: int64, 4: uint64, 9: string). */
static void describe_field(const struct perfetto_field *field, struct out *out)
{
	static const char *const made[] = {
		[WIRE_REST] = "more", [WIRE_PRINT] = "slice_name", [WIRE_INSTANT] = "track_event_type"
	};
	const bool integer =
		field->wire == WIRE_INTEGER || field->wire == WIRE_INSTANT || field->wire == WIRE_DECODED_INTEGER;
	const char *name = field->wire < array_size(made) ? made[field->wire] : NULL;
	char decoded[80];

	if (field->decoded) {
		snprintf(decoded, sizeof(decoded), "decoded_%.60s", field->decoded->name);
		name = decoded;
	}
	proto_text(out, 1, name ? name : field->place.field->name);
	proto_u64(out, 3, field->number);
	proto_u64(out, 4, 1);
	proto_u64(out, 5, !integer ? 9 : field->decoded || field->place.is_signed ? 3 : 4);
}

void perfetto_kind_describe(const struct perfetto_kind *kind, struct out *scratch, struct out *field, struct out *out)
{
	out_clear(scratch);
	proto_text(scratch, 1, kind->format->name);
	for (size_t i = 0; i < kind->nr_fields; i++) {
		out_clear(field);
		describe_field(&kind->fields[i], field);
		proto_message(scratch, 2, field);
	}
	proto_u64(out, 1, kind->id);
	proto_message(out, 2, scratch);
	proto_text(out, 3, kind->format->system);
}
