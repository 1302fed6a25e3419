// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/rewrite/redact_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/uapi/names.h"

enum { COMMON = 8, TOLD_MAX = 600, ARGUMENTS = 6, TEXT_MAX = 1 << 16 };

/* What is done with the fields of one type. */
struct redact_plan {
	const struct format *format; /* NULL: only the common fields of all events are copied */
	bool bare;                   /* nothing but common fields is copied */
	struct redact_step {
		const struct field *field;
		enum redact_kind kind;
	} * steps;
	size_t nr;
};

struct redact_types {
	const struct context *context;
	struct redact_names *names;
	const struct redact_shifts *shifts;
	struct redacted *done;
	struct redact_plan *plans[EVENT_TYPES_MAX];
};

bool redact_has_rules(const char *system)
{
	static const char systems[] =
		" block cgroup compaction cpuhp csd exceptions filemap ftrace hwlat ipi irq "
		"irq_vectors kmem lock migrate mmap mmap_lock napi net nmi oom osnoise power "
		"preemptirq raw_syscalls rcu sched signal skb sock syscalls task text timer tlb vmscan "
		"weft workqueue writeback ";

	return redact_listed(systems, system, strlen(system));
}

static bool is_one_of(const char *list, const struct field *field)
{
	return redact_listed(list, field->name, strlen(field->name));
}

static enum redact_kind kind_of_string(const struct format *format, const struct field *field, bool *ret_known)
{
	size_t len = strlen(field->name);

	if (!strcmp(format->system, "ftrace") && !strcmp(format->name, "print") && !strcmp(field->name, "buf"))
		return REDACT_MARK;
	/* Spans of OpenTelemetry (lib/files/import/otlp.c): marks, in the only field of the type. */
	if (!strcmp(format->system, "text"))
		return REDACT_MARK;
	if (is_one_of(" buf cmd __buf_val __u_msg_ptr_val __description_val ", field))
		return REDACT_ZERO;
	if (len >= 4 && !strcmp(field->name + len - 4, "comm"))
		return REDACT_NAME;
	if (!strcmp(format->system, "cgroup") && is_one_of(" path dst_path ", field))
		return REDACT_GROUP;
	if (is_one_of(" filename interp path dst_path memcg_path ", field) || !strcmp(format->system, "syscalls"))
		return REDACT_PATH;
	if (!strcmp(field->name, "rwbs"))
		return REDACT_LETTERS;
	if (is_one_of(" action bdi desc dev_name device driver file func msg name parent pm_ops reason upper_name "
		      "workqueue ",
		      field))
		return REDACT_WORDS;
	*ret_known = false;
	return REDACT_ZERO;
}

static enum redact_kind kind_of_array(const struct format *format, const struct field *field, bool *ret_known)
{
	if (!strcmp(field->name, "caller"))
		return REDACT_ADDRESSES;
	if (!strcmp(format->system, "raw_syscalls") && !strcmp(field->name, "args"))
		return REDACT_ARGUMENTS;
	if (is_one_of(" cpumask target_cpus mem_allowed hist ", field))
		return REDACT_KEEP;
	if (!strcmp(format->system, "sock") && is_one_of(" saddr daddr saddr_v6 daddr_v6 ", field))
		return REDACT_HOST;
	*ret_known = is_one_of(" args buf ", field);
	return REDACT_ZERO;
}

/* The argument's kind is that of its place. */
static enum redact_kind kind_of_argument(const struct format *format, const struct field *field)
{
	const char *call = format->name + strlen("sys_enter_");
	size_t nr, at = 0;
	const char *kinds = strncmp(format->name, "sys_enter_", 10) ? NULL : redact_call(call, &nr);

	if (!strcmp(field->name, "__syscall_nr") || !strcmp(field->name, "nr"))
		return REDACT_KEEP;
	if (!strncmp(format->name, "sys_exit_", 9))
		return redact_result(format->name + 9);
	/* Text that was imported does not tell addresses from numbers. */
	if (!kinds)
		return strncmp(format->name, "sys_enter_", 10) ? redact_result(format->name) : REDACT_ZERO;
	for (const struct field *other = format->fields + format->nr_common; other < field; other++)
		at += strcmp(other->name, "__syscall_nr") != 0;
	return at < nr ? redact_argument(kinds[at]) : REDACT_ZERO;
}

static enum redact_kind kind_of_number(const struct format *format, const struct field *field, bool *ret_known)
{
	static const struct {
		const char *fields;
		enum redact_kind kind;
	} rules[] = {
		{ " ip parent_ip caller_ip call_site pc addr address func retaddr sa_handler vm_start vm_end low_limit "
		  "high_limit virt ",
		  REDACT_VALUE },
		{ " retval ", REDACT_SHORT },
		{ " pfn free_pfn migrate_pfn start_pfn end_pfn zone_start zone_end ", REDACT_PFN },
		{ " expires softexpires now next_event ", REDACT_WHEN },
		{ " i_ino ino ", REDACT_INODE },
		{ " sector new_sector old_sector ", REDACT_SECTOR },
		{ " uid ", REDACT_ID },
		{ " child_pid dst_pid next_pid old_pid parent_pid pid prev_pid src_pid tgid src_tgid dst_tgid ngid "
		  "src_ngid dst_ngid ",
		  REDACT_PID },
		{ " pte hash net_cookie arg2 arg3 arg4 arg5 tv_sec tv_nsec timestamp numa_scan_offset phys value end ",
		  REDACT_ZERO },
	};

	if (!strcmp(format->system, "syscalls"))
		return kind_of_argument(format, field);
	if (!strcmp(format->system, "raw_syscalls") && !strcmp(field->name, "ret"))
		return REDACT_RESULT;
	if (!strcmp(field->name, "start"))
		return strcmp(format->system, "osnoise") ? REDACT_ZERO : REDACT_KEEP;
	for (size_t i = 0; i < array_size(rules); i++)
		if (is_one_of(rules[i].fields, field))
			return rules[i].kind;
	if (is_one_of(redact_numbers, field))
		return REDACT_KEEP;
	*ret_known = false;
	return REDACT_ZERO;
}

enum redact_kind redact_kind_of(const struct format *format, const struct field *field, bool *ret_known)
{
	*ret_known = true;
	if (!strcmp(format->system, "weft")) {
		enum redact_kind kind = redact_own_kind(field->name);

		*ret_known = kind != REDACT_ZERO;
		return kind;
	}
	if (field->flags & FIELD_STRING)
		return kind_of_string(format, field, ret_known);
	if (field->flags & (FIELD_ARRAY | FIELD_DYNAMIC))
		return kind_of_array(format, field, ret_known);
	if (!field_int_size(field->size)) {
		*ret_known = false;
		return REDACT_ZERO;
	}
	return field->flags & FIELD_POINTER ? REDACT_VALUE : kind_of_number(format, field, ret_known);
}

/* Adds "SYSTEM:EVENT.FIELD" to a list that does not have it. */
static bool tell(struct buf *list, const char *system, const char *name, const char *field)
{
	cleanup_buf struct buf word = BUF_INIT;

	if (!buf_addf(&word, " %s:%s%s%s", system, name, field ? "." : "", field ? field : ""))
		return false;
	if (list->len > TOLD_MAX || strstr(buf_str(list), buf_str(&word)))
		return true;
	return buf_add(list, word.data, word.len);
}

static bool fill_plan(struct redact_types *types, struct redact_plan *plan)
{
	const struct format *format = plan->format;
	bool known = redact_knows_event(format->system, format->name, strlen(format->name));

	/* A user may have a probe of the same name, in other buffers. */
	if (!strcmp(format->system, "weft") && !own_buffer(types->context->instance))
		known = false;
	plan->bare = !known || !redact_has_rules(format->system);
	if (plan->bare)
		return tell(&types->done->events, known ? format->system : "redacted", known ? format->name : "*",
			    NULL);
	plan->steps = calloc(format->nr_fields + 1, sizeof(*plan->steps));
	for (uint32_t i = format->nr_common; plan->steps && i < format->nr_fields; i++) {
		const struct field *field = &format->fields[i];
		enum redact_kind kind = redact_kind_of(format, field, &known);

		if (!known && !tell(&types->done->fields, format->system, format->name, field->name))
			return false;
		if (kind != REDACT_ZERO)
			plan->steps[plan->nr++] = (struct redact_step){ field, kind };
	}
	return plan->steps;
}

static struct redact_plan *plan_of(struct redact_types *types, uint16_t id)
{
	struct redact_plan *plan = types->plans[id];

	if (plan)
		return plan;
	plan = calloc(1, sizeof(*plan));
	if (!plan)
		return NULL;
	types->plans[id] = plan;
	plan->format = schema_format(types->context->schema, id, NULL);
	if (!plan->format)
		plan->bare = true;
	else if (!fill_plan(types, plan))
		return NULL;
	return plan;
}

int redact_types_new(const struct context *context, struct redact_names *names, const struct redact_shifts *shifts,
		     struct redacted *done, struct redact_types **ret, struct fail *fail)
{
	struct redact_types *types = calloc(1, sizeof(*types));

	if (!types)
		return fail_memory(fail);
	types->context = context;
	types->names = names;
	types->shifts = shifts;
	types->done = done;
	*ret = types;
	return 0;
}

void redact_types_free(struct redact_types *types)
{
	if (!types)
		return;
	for (size_t i = 0; i < EVENT_TYPES_MAX; i++) {
		if (types->plans[i])
			free(types->plans[i]->steps);
		free(types->plans[i]);
	}
	free(types);
}

/* A number of the traced machine. */
static void store(uint8_t *at, uint32_t size, uint64_t value, bool swap)
{
	for (uint32_t i = 0; i < size; i++) {
		bool first_is_low = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != swap;

		at[first_is_low ? i : size - 1 - i] = (uint8_t)(value >> 8 * i);
	}
}

static uint64_t load(const uint8_t *at, uint32_t size, bool swap)
{
	return size == 8 ? load_u64(at, swap) : load_u32(at, swap);
}

/* A text that ends at its first NUL: behind it are old bytes. */
static void put_text(struct redact_types *types, enum redact_kind kind, const uint8_t *from, size_t len, uint8_t *into)
{
	const char *text = (const char *)from;

	len = strnlen(text, len);
	switch (kind) {
	case REDACT_NAME:
		redact_name(types->names, text, len, (char *)into);
		break;
	case REDACT_PATH:
		redact_path(types->names, text, len, (char *)into);
		break;
	case REDACT_GROUP:
		redact_group(types->names, text, len, (char *)into);
		break;
	case REDACT_FILE:
		redact_file_name(types->names, text, len, (char *)into);
		break;
	case REDACT_MARK:
		redact_mark(types->names, text, len, types->shifts->pids, (char *)into);
		break;
	case REDACT_LETTERS:
		for (size_t i = 0; i < len && strchr("ABCDEFMNRSWUX+-", text[i]); i++)
			into[i] = from[i];
		break;
	default:
		redact_words(types->names, text, len, (char *)into);
	}
}

static void put_longs(const struct redact_types *types, const uint8_t *from, size_t len, uint8_t *into)
{
	const struct schema_abi *abi = &types->context->abi;

	for (size_t i = 0; abi->long_size && len - i >= abi->long_size; i += abi->long_size)
		store(into + i, abi->long_size,
		      redact_value(types->shifts, REDACT_VALUE, load(from + i, abi->long_size, abi->swap)), abi->swap);
}

static const char *call_of(const struct redact_types *types, const struct redact_plan *plan, const uint8_t *data,
			   size_t len)
{
	const struct field *id = format_field(plan->format, "id");

	if (!id)
		return NULL;
	return system_call_name(types->context->machine, (int64_t)field_int(id, &types->context->abi, data, len));
}

/* What is in the registers behind the last argument is the program's, as is all of an unknown call's. */
static void put_arguments(const struct redact_types *types, const char *call, const uint8_t *from, size_t len,
			  uint8_t *into)
{
	const struct schema_abi *abi = &types->context->abi;
	size_t nr = 0, size = abi->long_size;
	const char *kinds = call ? redact_call(call, &nr) : NULL;

	for (size_t i = 0; kinds && i < nr && i < ARGUMENTS && (i + 1) * size <= len; i++)
		store(into + i * size, abi->long_size,
		      redact_value(types->shifts, redact_argument(kinds[i]),
				   load(from + i * size, abi->long_size, abi->swap)),
		      abi->swap);
}

static void put_number(const struct redact_types *types, const struct redact_step *step, enum redact_kind kind,
		       const uint8_t *data, size_t len, uint8_t *into)
{
	const struct field *field = step->field;
	const struct schema_abi *abi = &types->context->abi;
	uint64_t value;

	if (field->offset > len || field->size > len - field->offset)
		return;
	value = field_int(field, abi, data, len);
	/* An unsigned field of 32 bits has no negative numbers, but its results do. */
	if (kind == REDACT_SHORT && field->size == 4)
		kind = REDACT_KEEP;
	store(into + field->offset, field->size, redact_value(types->shifts, kind, value), abi->swap);
}

/* The bytes of a text or an array, and where they lie; false: it has none. */
static bool place_of(const struct redact_types *types, const struct redact_step *step, const uint8_t *data, size_t len,
		     uint8_t *into, const uint8_t **ret, size_t *ret_len)
{
	const struct field *field = step->field;

	if (!(field->flags & FIELD_DYNAMIC)) {
		if (field->offset > len)
			return false;
		*ret = data + field->offset;
		/* An array without a size goes on to the end of the record, as does a stack. */
		*ret_len = field->size && step->kind != REDACT_ADDRESSES && field->size <= len - field->offset ?
				   field->size :
				   len - field->offset;
		return true;
	}
	if (field->offset > len || field->size > len - field->offset ||
	    !field_bytes(field, &types->context->abi, data, len, ret, ret_len))
		return false;
	/* The place of the bytes: the record keeps its layout. */
	memcpy(into + field->offset, data + field->offset, 4);
	return true;
}

static void take_step(struct redact_types *types, const struct redact_plan *plan, const struct redact_step *step,
		      const uint8_t *data, size_t len, uint8_t *into)
{
	const uint8_t *from;
	size_t nr;

	switch (step->kind) {
	case REDACT_RESULT:
		put_number(types, step, redact_result(call_of(types, plan, data, len)), data, len, into);
		return;
	case REDACT_ARGUMENTS:
	case REDACT_ADDRESSES:
	case REDACT_NAME:
	case REDACT_PATH:
	case REDACT_WORDS:
	case REDACT_MARK:
	case REDACT_LETTERS:
	case REDACT_GROUP:
	case REDACT_FILE:
	case REDACT_HOST:
		break;
	default:
		if (!(step->field->flags & (FIELD_ARRAY | FIELD_DYNAMIC))) {
			put_number(types, step, step->kind, data, len, into);
			return;
		}
	}
	if (!place_of(types, step, data, len, into, &from, &nr))
		return;
	if (step->kind == REDACT_KEEP)
		memcpy(into + (from - data), from, nr);
	else if (step->kind == REDACT_HOST)
		redact_host(types->names, from, nr, into + (from - data));
	else if (step->kind == REDACT_ADDRESSES)
		put_longs(types, from, nr, into + (from - data));
	else if (step->kind == REDACT_ARGUMENTS)
		put_arguments(types, call_of(types, plan, data, len), from, nr, into + (from - data));
	else
		put_text(types, step->kind, from, nr, into + (from - data));
}

static void put_common(const struct redact_types *types, const struct redact_plan *plan, const uint8_t *data,
		       size_t len, uint8_t *into)
{
	bool swap = types->context->abi.swap;
	const struct format *format = plan->format;

	memcpy(into, data, len < COMMON ? len : COMMON);
	for (uint32_t i = 0; format && i < format->nr_common; i++) {
		const struct field *field = &format->fields[i];

		if (field->offset >= COMMON && field->size <= 4 && field->offset + field->size <= len &&
		    redact_listed(" common_preempt_lazy_count common_migrate_disable common_tgid ", field->name,
				  strlen(field->name)))
			memcpy(into + field->offset, data + field->offset, field->size);
	}
	if (len >= COMMON)
		store(into + 4, 4, (uint32_t)redact_pid(types->shifts, (int32_t)load_u32(data + 4, swap)), swap);
}

int redact_record(struct redact_types *types, const uint8_t *data, size_t len, uint8_t *into, struct fail *fail)
{
	bool swap = types->context->abi.swap;
	struct redact_plan *plan = len >= 2 ? plan_of(types, load_u16(data, swap)) : NULL;

	if (len >= 2 && !plan)
		return fail_memory(fail);
	types->done->records++;
	if (!plan)
		return 0;
	put_common(types, plan, data, len, into);
	types->done->emptied += plan->bare;
	for (size_t i = 0; i < plan->nr; i++)
		take_step(types, plan, &plan->steps[i], data, len, into);
	return 0;
}
