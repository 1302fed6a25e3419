// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The file of `perf record`, for perf script, perf sched, perf trace -i, perf lock and whatever else reads perf.data
 * (tools/perf/Documentation/perf.data-file-format.txt, include/uapi/linux/perf_event.h). A sample has the bytes of the
 * kernel's own event, and a stack that was recorded with it is its chain of callers. The head of the file, which says
 * how long the records are, is written last. Numbers have the byte order of the recorded machine, as its events do.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/export.h"
#include "formats/export/exports_internal.h"
#include "formats/export/last_tasks_internal.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/clock/clocks.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/kinds.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/stack.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/perf/perf_data.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/trace.h"

enum {
	PERF_FILE_HEAD = 104,
	PERF_CALLERS_MAX = 2048,
	PERF_MISC_KERNEL = 1,
	PERF_FINISHED_ROUND = 68,
	/* What each sample has; the ones of perf record -a are like this. */
	PERF_SAMPLE_TYPE = PERF_HAS_IDENTIFIER | PERF_HAS_IP | PERF_HAS_TID | PERF_HAS_TIME | PERF_HAS_CPU |
			   PERF_HAS_PERIOD | PERF_HAS_RAW,
};

/* A type of event of the file: an attribute. */
struct perf_type {
	const struct event_type *type;
	bool seen;   /* there is a sample of it */
	bool chains; /* its samples have callers */
};

struct perf_role {
	enum { PERF_ROLE_EVENT, PERF_ROLE_STACK, PERF_ROLE_USER, PERF_ROLE_ELSEWHERE, PERF_ROLE_UNKNOWN } is;
	uint32_t type; /* index of perf::types */
	struct place caller;
};

struct perf_sample {
	uint32_t type, cpu;
	int32_t tgid, pid;
	uint64_t ts;
	const uint8_t *raw;
	size_t len;
};

struct perf_stack {
	uint64_t *at;
	size_t nr, size;
};

/* The last event of a CPU, whose stacks may follow. */
struct perf_waiting {
	bool there;
	struct perf_sample sample;
	struct buf raw;
	struct perf_stack stacks[2]; /* of the kernel, of the program */
};

struct perf {
	struct export export;          /* first */
	const struct context *context; /* of the first buffer; NULL: there is none */
	bool swap;
	struct kinds kinds; /* struct perf_role */
	struct perf_type *types;
	size_t nr_types;
	struct u64_map named;   /* the tasks that have a name in the output */
	struct u64_map waiting; /* by CPU: struct perf_waiting */
	struct last_tasks last_tasks;
	struct out record;
	uint64_t written; /* bytes of records */
	bool any;
	uint64_t first, last, round; /* times */
	uint32_t in_round;
	uint64_t elsewhere, unknown, large, alone, uncounted;
};

static inline void perf_u16(struct out *out, uint16_t value, bool swap)
{
	out_mem(out, &(uint16_t){ load_u16(&value, swap) }, sizeof(value));
}

static inline void perf_u32(struct out *out, uint32_t value, bool swap)
{
	out_mem(out, &(uint32_t){ load_u32(&value, swap) }, sizeof(value));
}

static inline void perf_u64(struct out *out, uint64_t value, bool swap)
{
	out_mem(out, &(uint64_t){ load_u64(&value, swap) }, sizeof(value));
}

/* What a perf.data has besides records: the list of features and what they have, attributes and ids, the head. */

enum {
	ATTR = 96, /* PERF_ATTR_SIZE_VER3, which all readers since 2012 take */
	ATTR_ENTRY = ATTR + 16,
	NAME_ALIGN = 64,
	FLAG_COMM = 1 << 9,
	FLAG_TASK = 1 << 13,
};

/* A feature: its number, and what it has. */
struct feature {
	unsigned bit;
	void (*put)(const struct perf *perf, struct out *out);
	bool (*is_there)(const struct perf *perf); /* NULL: always */
};

static void put_string(const struct perf *perf, struct out *out, const char *text)
{
	size_t len = strlen(text) + 1, padded = (len + NAME_ALIGN - 1) / NAME_ALIGN * NAME_ALIGN;

	perf_u32(out, (uint32_t)padded, perf->swap);
	out_mem(out, text, len);
	out_fill(out, '\0', padded - len);
}

/* --- the formats: the first half of a trace.dat of version 6 --- */

static const char *text_of(const struct perf *perf, enum trace_meta which, size_t *ret_len)
{
	struct trace_text text = { .text = NULL };

	if (trace_meta(perf->context->trace, which, &text, NULL) || !text.text)
		text = (struct trace_text){ .text = "" };
	*ret_len = text.len;
	return text.text;
}

static void put_header(const struct perf *perf, struct out *out, const char *name, enum trace_meta which)
{
	size_t len;
	const char *text = text_of(perf, which, &len);

	out_mem(out, name, strlen(name) + 1);
	perf_u64(out, len, perf->swap);
	out_mem(out, text, len);
}

/* The format's own text, which is in the file once for each kernel. */
static bool format_text(const struct perf *perf, const struct perf_type *type, struct trace_text *ret)
{
	const struct trace_format *formats;
	struct own_formats own;
	uint32_t id;
	size_t nr;
	bool found = false;
	struct trace_text list = trace_setting(perf->context->trace, perf->context->buffer, "weft/formats");

	if (own_formats_init(&own, list.text, NULL))
		return false;
	formats = trace_formats(perf->context->trace, &nr);
	for (size_t i = 0; !found && i < nr; i++) {
		const char *at, *end;

		found = own_formats_id(formats[i].text.text, &at, &end, &id) && (int32_t)id == type->type->id &&
			!strcmp(formats[i].system.text, type->type->format->system) &&
			own_formats_have(&own, formats[i].text.text);
		if (found)
			*ret = formats[i].text;
	}
	own_formats_release(&own);
	return found;
}

static bool is_of(const struct perf_type *type, const char *system)
{
	return type->seen && !strcmp(type->type->format->system, system);
}

static void put_formats(const struct perf *perf, struct out *out, const char *system)
{
	struct trace_text text;
	uint32_t nr = 0;

	for (size_t i = 0; i < perf->nr_types; i++)
		nr += is_of(&perf->types[i], system) && format_text(perf, &perf->types[i], &text);
	perf_u32(out, nr, perf->swap);
	for (size_t i = 0; i < perf->nr_types; i++)
		if (is_of(&perf->types[i], system) && format_text(perf, &perf->types[i], &text)) {
			perf_u64(out, text.len, perf->swap);
			out_mem(out, text.text, text.len);
		}
}

/* Whether this is the first type of its system. */
static bool is_first(const struct perf *perf, size_t index)
{
	const char *system = perf->types[index].type->format->system;

	for (size_t i = 0; i < index; i++)
		if (is_of(&perf->types[i], system))
			return false;
	return perf->types[index].seen && strcmp(system, "ftrace") != 0;
}

static void put_tracing(const struct perf *perf, struct out *out)
{
	static const char magic[] = "\x17\x08\x44tracing0.6";
	const struct schema_abi *abi = &perf->context->abi;
	uint32_t systems = 0;
	const char *text;
	size_t len;

	out_mem(out, magic, sizeof(magic));
	out_char(out, abi->big_endian);
	out_char(out, (char)abi->long_size);
	perf_u32(out, trace_buffer(perf->context->trace, perf->context->buffer)->page_size, perf->swap);
	put_header(perf, out, "header_page", TRACE_HEADER_PAGE);
	put_header(perf, out, "header_event", TRACE_HEADER_EVENT);
	put_formats(perf, out, "ftrace");
	for (size_t i = 0; i < perf->nr_types; i++)
		systems += is_first(perf, i);
	perf_u32(out, systems, perf->swap);
	for (size_t i = 0; i < perf->nr_types; i++)
		if (is_first(perf, i)) {
			const char *system = perf->types[i].type->format->system;

			out_mem(out, system, strlen(system) + 1);
			put_formats(perf, out, system);
		}
	/* perf does not read the addresses of functions from here. */
	perf_u32(out, 0, perf->swap);
	text = text_of(perf, TRACE_PRINTK, &len);
	perf_u32(out, (uint32_t)len, perf->swap);
	out_mem(out, text, len);
	text = text_of(perf, TRACE_CMDLINES, &len);
	perf_u64(out, len, perf->swap);
	out_mem(out, text, len);
}

/* --- other features --- */

/* Word `index` of "Linux HOST RELEASE VERSION MACHINE". */
static void put_word(const struct perf *perf, struct out *out, unsigned index)
{
	struct trace_text uname = { .text = NULL };
	const char *at;
	char word[256] = "";
	size_t len;

	if (!trace_meta(perf->context->trace, TRACE_UNAME, &uname, NULL))
		uname = own_kernel(perf->context->trace, perf->context->buffer, uname);
	at = uname.text ?: "";
	while (index-- && (at = strchr(at, ' ')))
		at++;
	len = at ? strcspn(at, " \n") : 0;
	memcpy(word, at ?: "", len < sizeof(word) ? len : sizeof(word) - 1);
	put_string(perf, out, word);
}

static void put_host(const struct perf *perf, struct out *out)
{
	put_word(perf, out, 1);
}

static void put_release(const struct perf *perf, struct out *out)
{
	put_string(perf, out, perf->context->release);
}

/* perf report --header shows it. A file is of one machine, whose clock may have been compared with those of others. */
static void put_version(const struct perf *perf, struct out *out)
{
	char text[128] = "weft", error[TEXT_HUMAN];

	if (perf->context->compared)
		snprintf(text, sizeof(text), "weft; times are exact to within +-%s of those of the other machines",
			 text_time(error, perf->context->clock_error_ns));
	put_string(perf, out, text);
}

static void put_machine(const struct perf *perf, struct out *out)
{
	put_string(perf, out, perf->context->machine);
}

static bool has_cpus(const struct perf *perf)
{
	return trace_info(perf->context->trace)->cpu_count;
}

static void put_cpus(const struct perf *perf, struct out *out)
{
	uint32_t cpus = trace_info(perf->context->trace)->cpu_count, online = perf->context->online_cpus;

	perf_u32(out, cpus, perf->swap);
	perf_u32(out, online && online < cpus ? online : cpus, perf->swap);
}

static const struct clock_kind *clock_of(const struct perf *perf)
{
	const struct clock_kind *clock = perf->context->clock ? clock_kind(perf->context->clock) : NULL;

	return clock && clock->is_read ? clock : NULL;
}

/* struct perf_event_attr. A machine with the high byte first has the first bit field in the highest bit of a byte. */
static void put_attr(const struct perf *perf, struct out *out, size_t index)
{
	const struct clock_kind *clock = clock_of(perf);
	uint64_t flags = PERF_ID_ALL | (clock ? PERF_USE_CLOCKID : 0) | (index ? 0 : FLAG_COMM | FLAG_TASK);

	perf_u32(out, PERF_TYPE_TRACEPOINT, perf->swap);
	perf_u32(out, ATTR, perf->swap);
	perf_u64(out, (uint64_t)perf->types[index].type->id, perf->swap);
	perf_u64(out, 1, perf->swap);
	perf_u64(out, PERF_SAMPLE_TYPE | (perf->types[index].chains ? PERF_HAS_CHAIN : 0), perf->swap);
	perf_u64(out, 0, perf->swap);
	for (unsigned i = 0; i < 8; i++) {
		uint8_t byte = (uint8_t)(flags >> 8 * i), mirrored = 0;

		for (unsigned bit = 0; bit < 8; bit++)
			mirrored |= (uint8_t)((byte >> bit & 1) << (7 - bit));
		out_char(out, (char)(perf->context->abi.big_endian ? mirrored : byte));
	}
	out_fill(out, '\0', 92 - 48);
	perf_u32(out, clock ? (uint32_t)clock->id : 0, perf->swap);
}

static void put_names(const struct perf *perf, struct out *out)
{
	perf_u32(out, (uint32_t)perf->nr_types, perf->swap);
	perf_u32(out, ATTR, perf->swap);
	for (size_t i = 0; i < perf->nr_types; i++) {
		const struct format *format = perf->types[i].type->format;
		char name[256];

		put_attr(perf, out, i);
		perf_u32(out, 1, perf->swap);
		snprintf(name, sizeof(name), "%s:%s", format->system, format->name);
		put_string(perf, out, name);
		perf_u64(out, i + 1, perf->swap);
	}
}

static void put_times(const struct perf *perf, struct out *out)
{
	perf_u64(out, perf->first, perf->swap);
	perf_u64(out, perf->last, perf->swap);
}

static bool has_clock(const struct perf *perf)
{
	return clock_of(perf);
}

static void put_resolution(const struct perf *perf, struct out *out)
{
	perf_u64(out, 1, perf->swap);
}

static bool has_wall(const struct perf *perf)
{
	int64_t ns;

	return clock_of(perf) && wall_of(perf->context->wall, perf->first, &ns, NULL);
}

static void put_wall(const struct perf *perf, struct out *out)
{
	int64_t ns = 0;

	(void)wall_of(perf->context->wall, perf->first, &ns, NULL);
	perf_u32(out, 1, perf->swap);
	perf_u32(out, (uint32_t)clock_of(perf)->id, perf->swap);
	perf_u64(out, (uint64_t)ns, perf->swap);
	perf_u64(out, perf->first, perf->swap);
}

/* In the order of their numbers (tools/perf/util/header.h). */
static const struct feature features[] = {
	{ 1, put_tracing, NULL },   { 3, put_host, NULL },    { 4, put_release, NULL },
	{ 5, put_version, NULL },   { 6, put_machine, NULL }, { 7, put_cpus, has_cpus },
	{ 12, put_names, NULL },    { 21, put_times, NULL },  { 23, put_resolution, has_clock },
	{ 29, put_wall, has_wall },
};

static bool is_there(const struct perf *perf, const struct feature *feature)
{
	return !feature->is_there || feature->is_there(perf);
}

static void put_section(struct out *out, uint64_t offset, uint64_t size, bool swap)
{
	perf_u64(out, offset, swap);
	perf_u64(out, size, swap);
}

static bool put_head(struct perf *perf, uint64_t attrs, uint64_t bits)
{
	struct out head;
	bool ok;

	if (!out_init(&head, PERF_FILE_HEAD))
		return false;
	out_mem(&head, perf->context->abi.big_endian ? "2ELIFREP" : "PERFILE2", 8);
	perf_u64(&head, PERF_FILE_HEAD, perf->swap);
	perf_u64(&head, ATTR_ENTRY, perf->swap);
	put_section(&head, attrs, perf->nr_types * ATTR_ENTRY, perf->swap);
	put_section(&head, PERF_FILE_HEAD, perf->written, perf->swap);
	put_section(&head, 0, 0, perf->swap);
	perf_u64(&head, bits, perf->swap);
	out_fill(&head, '\0', 3 * sizeof(uint64_t));
	ok = !head.failed && buf_add(&perf->export.head, head.start, out_len(&head));
	out_release(&head);
	return ok;
}

/* Writes what stands behind the records, and makes the head. */
static void perf_put_rest(struct perf *perf)
{
	uint64_t at = PERF_FILE_HEAD + perf->written, bits = 0, ids;
	struct out texts, *out = perf->export.out;
	size_t nr = 0;

	if (!perf->context)
		return;
	if (!out_init(&texts, 1 << 16)) {
		export_no_memory(&perf->export);
		return;
	}
	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
		nr += is_there(perf, &features[i]);
	/* The list of features stands directly behind the records, and what they have behind it. */
	at += nr * 16;
	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++) {
		size_t begin = out_len(&texts);

		if (!is_there(perf, &features[i]))
			continue;
		features[i].put(perf, &texts);
		put_section(out, at + begin, out_len(&texts) - begin, perf->swap);
		bits |= (uint64_t)1 << features[i].bit;
	}
	out_fill(&texts, '\0', (8 - out_len(&texts) % 8) % 8);
	out_mem(out, texts.start, out_len(&texts));
	at += out_len(&texts);
	ids = at + perf->nr_types * ATTR_ENTRY;
	for (size_t i = 0; i < perf->nr_types; i++) {
		put_attr(perf, out, i);
		put_section(out, ids + i * sizeof(uint64_t), sizeof(uint64_t), perf->swap);
	}
	for (size_t i = 0; i < perf->nr_types; i++)
		perf_u64(out, i + 1, perf->swap);
	if (texts.failed || !put_head(perf, at, bits))
		export_no_memory(&perf->export);
	out_release(&texts);
}

enum {
	ROUND = 1 << 16, /* events after which readers may give what they have */
	RECORD_MAX = UINT16_MAX / 8 * 8,
	/* Marks of a chain: what follows are addresses of the kernel, or of the program. */
	CHAIN_KERNEL = -128,
	CHAIN_USER = -512,
};

static void perf_free(struct export *export)
{
	struct perf *perf = (struct perf *)export;
	struct perf_waiting *waiting;
	uint64_t cpu;

	for (size_t at = 0; (waiting = u64_map_next(&perf->waiting, &at, &cpu));) {
		buf_release(&waiting->raw);
		for (size_t i = 0; i < 2; i++)
			free(waiting->stacks[i].at);
	}
	u64_map_release(&perf->waiting);
	u64_map_release(&perf->named);
	kinds_release(&perf->kinds);
	free(perf->types);
	if (perf->record.start)
		out_release(&perf->record);
	free(perf);
}

static int perf_new(const struct export_input *input, struct export **ret, struct fail *fail)
{
	const struct reader *reader = input->reader;
	struct perf *perf = calloc(1, sizeof(*perf));

	if (!perf)
		return fail_memory(fail);
	u64_map_init(&perf->waiting, sizeof(struct perf_waiting));
	u64_map_init(&perf->named, sizeof(uint8_t));
	if (!out_init(&perf->record, 1 << 14) || kinds_init(&perf->kinds, reader->nr_buffers, free)) {
		perf_free(&perf->export);
		return fail_memory(fail);
	}
	perf->context = reader->nr_buffers ? reader->buffers[0].context : NULL;
	perf->swap = perf->context && perf->context->abi.swap;
	*ret = &perf->export;
	return 0;
}

/* --- records --- */

static void begin_record(struct perf *perf, uint32_t type, uint16_t misc)
{
	out_clear(&perf->record);
	perf_u32(&perf->record, type, perf->swap);
	perf_u16(&perf->record, misc, perf->swap);
	perf_u16(&perf->record, 0, perf->swap);
}

/* Fills the record up, and writes it. False: it is larger than a record may be. */
static bool end_record(struct perf *perf)
{
	struct out *record = &perf->record;
	size_t len = out_len(record);
	uint16_t size = load_u16(&(uint16_t){ (uint16_t)len }, perf->swap);

	if (len > RECORD_MAX)
		return false;
	memcpy(record->start + 6, &size, sizeof(size));
	out_mem(perf->export.out, record->start, len);
	perf->written += len;
	return true;
}

/* What each record but a sample has at its end (sample_id_all). */
static void put_trailer(struct perf *perf, int32_t tgid, int32_t pid, uint64_t ts, uint32_t cpu)
{
	perf_u32(&perf->record, (uint32_t)tgid, perf->swap);
	perf_u32(&perf->record, (uint32_t)pid, perf->swap);
	perf_u64(&perf->record, ts, perf->swap);
	perf_u32(&perf->record, cpu, perf->swap);
	perf_u32(&perf->record, 0, perf->swap);
	perf_u64(&perf->record, 1, perf->swap);
}

/* The process of a task; the task itself where the file does not say it. */
static int32_t process_of(const struct context *context, int32_t pid)
{
	int32_t tgid = task_tgid(context->tasks, pid);

	return tgid ? tgid : pid;
}

/* Says once what a task is called. */
static void name_task(struct perf *perf, const struct context *context, int32_t pid, uint64_t ts)
{
	struct task_name name;
	uint8_t *named;
	char comm[TASK_COMM_LEN] = "";
	int32_t tgid;

	if (pid <= 0 || u64_map_find(&perf->named, (uint32_t)pid))
		return;
	name = context_comm(context, pid, ts);
	if (name.text == task_no_name)
		return;
	named = u64_map_add(&perf->named, (uint32_t)pid);
	if (!named) {
		export_no_memory(&perf->export);
		return;
	}
	*named = 1;
	memcpy(comm, name.text, name.len < TASK_COMM_LEN - 1 ? name.len : TASK_COMM_LEN - 1);
	tgid = process_of(context, pid);
	begin_record(perf, PERF_COMM, 0);
	perf_u32(&perf->record, (uint32_t)tgid, perf->swap);
	perf_u32(&perf->record, (uint32_t)pid, perf->swap);
	out_mem(&perf->record, comm, TASK_COMM_LEN);
	put_trailer(perf, tgid, pid, ts, 0);
	end_record(perf);
}

/* All tasks that have a name in the file, so that those to which a CPU switches have one, too. */
static void name_tasks(struct perf *perf)
{
	struct trace_text text;
	const char *at, *end;

	if (trace_meta(perf->context->trace, TRACE_CMDLINES, &text, NULL) || !text.text)
		return;
	for (at = text.text; at; at = (end = strchr(at, '\n')) ? end + 1 : NULL) {
		long pid = strtol(at, NULL, 10);

		if (pid > 0 && pid < INT32_MAX)
			name_task(perf, perf->context, (int32_t)pid, 0);
	}
}

static void perf_begin(struct export *export)
{
	struct perf *perf = (struct perf *)export;

	out_fill(export->out, '\0', PERF_FILE_HEAD);
	if (perf->context)
		name_tasks(perf);
}

static void put_stack(struct perf *perf, const struct perf_stack *stack, int64_t mark)
{
	if (!stack->nr)
		return;
	perf_u64(&perf->record, (uint64_t)mark, perf->swap);
	for (size_t i = 0; i < stack->nr; i++)
		perf_u64(&perf->record, stack->at[i], perf->swap);
}

/*
 * All samples of an attribute have callers, or none has. Stacks come with each event of a type or with none, so the
 * first one tells.
 */
static size_t callers_of(struct perf *perf, struct perf_type *type, const struct perf_stack stacks[2])
{
	size_t nr = (stacks[0].nr ? stacks[0].nr + 1 : 0) + (stacks[1].nr ? stacks[1].nr + 1 : 0);

	type->chains |= !type->seen && nr;
	type->seen = true;
	if (type->chains)
		return nr;
	perf->alone += nr != 0;
	return 0;
}

static void put_sample(struct perf *perf, const struct perf_sample *sample, const struct perf_stack stacks[2])
{
	struct perf_type *type = &perf->types[sample->type];
	struct out *record = &perf->record;
	/* Where the count of the event's own disabled preemption is: perf has it, and ftrace does not. */
	size_t preempt_at, fill = (8 - (sizeof(uint32_t) + sample->len) % 8) % 8;
	size_t nr = callers_of(perf, type, stacks);
	bool swap = perf->swap;

	begin_record(perf, PERF_SAMPLE, PERF_MISC_KERNEL);
	perf_u64(record, (uint64_t)sample->type + 1, swap);
	perf_u64(record, 0, swap);
	perf_u32(record, (uint32_t)sample->tgid, swap);
	perf_u32(record, (uint32_t)sample->pid, swap);
	perf_u64(record, sample->ts, swap);
	perf_u32(record, sample->cpu, swap);
	perf_u32(record, 0, swap);
	perf_u64(record, 1, swap);
	if (type->chains)
		perf_u64(record, nr, swap);
	if (nr) {
		put_stack(perf, &stacks[0], CHAIN_KERNEL);
		put_stack(perf, &stacks[1], CHAIN_USER);
	}
	perf_u32(record, (uint32_t)(sample->len + fill), swap);
	preempt_at = out_len(record) + 3;
	out_mem(record, sample->raw, sample->len);
	out_fill(record, '\0', fill);
	if (sample->len > 3 && (record->start[preempt_at] & 0xf) != 0xf)
		record->start[preempt_at]++;
	if (!end_record(perf)) {
		perf->large++;
		perf->export.left_out++;
		return;
	}
	perf->first = perf->any && perf->first < sample->ts ? perf->first : sample->ts;
	perf->last = perf->any && perf->last > sample->ts ? perf->last : sample->ts;
	perf->any = true;
}

/* --- events and the stacks behind them --- */

static void release_waiting(struct perf *perf, struct perf_waiting *waiting)
{
	if (!waiting->there)
		return;
	waiting->there = false;
	waiting->sample.raw = (const uint8_t *)waiting->raw.data;
	put_sample(perf, &waiting->sample, waiting->stacks);
}

/* Keeps an event until the next one of its CPU, which may be its stack. */
static bool keep(struct perf_waiting *waiting, const struct perf_sample *sample)
{
	waiting->sample = *sample;
	waiting->stacks[0].nr = waiting->stacks[1].nr = 0;
	buf_clear(&waiting->raw);
	waiting->there = buf_add(&waiting->raw, sample->raw, sample->len);
	return waiting->there;
}

/*
 * Readers give all events up to the last time of the round before, so nothing older may come behind this. A stack comes
 * at the time of its event, so an event of the round before waits for none any more.
 */
static void end_round(struct perf *perf)
{
	struct perf_waiting *waiting;
	uint64_t cpu;

	for (size_t at = 0; (waiting = u64_map_next(&perf->waiting, &at, &cpu));)
		if (waiting->sample.ts < perf->round)
			release_waiting(perf, waiting);
	perf->round = perf->last;
	begin_record(perf, PERF_FINISHED_ROUND, 0);
	end_record(perf);
}

static int stack_add(struct perf_stack *stack, uint64_t address)
{
	if (stack->nr == stack->size) {
		size_t size = stack->size ? 2 * stack->size : 32;
		uint64_t *more = reallocarray(stack->at, size, sizeof(*more));

		if (!more)
			return -ENOMEM;
		stack->at = more;
		stack->size = size;
	}
	stack->at[stack->nr++] = address;
	return 0;
}

static void take_stack(struct perf *perf, const struct perf_role *kind, const struct event *event)
{
	struct perf_waiting *waiting = u64_map_find(&perf->waiting, event->cpu);
	struct perf_stack *to;
	struct stack stack;
	uint64_t address;

	to = waiting ? &waiting->stacks[kind->is == PERF_ROLE_USER] : NULL;
	if (!waiting || !waiting->there || waiting->sample.pid != event->pid || to->nr) {
		perf->alone++;
		perf->export.left_out++;
		return;
	}
	/* It is in the output, as a part of its event. */
	perf->export.left_out++;
	if (kind->is == PERF_ROLE_USER)
		stack_of_user(&kind->caller, event, &stack);
	else
		stack_of_kernel(&kind->caller, event, &stack);
	while (stack_next(&stack, &address) && to->nr < PERF_CALLERS_MAX)
		if (address != STACK_TRAMPOLINE && stack_add(to, address)) {
			export_no_memory(&perf->export);
			return;
		}
}

/* Finds the type among those of the file, by its id; adds it. UINT32_MAX: without memory. */
static uint32_t type_of(struct perf *perf, const struct event_type *type)
{
	struct perf_type *added;

	for (uint32_t i = 0; i < perf->nr_types; i++)
		if (perf->types[i].type->id == type->id)
			return i;
	added = vec_push(perf->types, perf->nr_types);
	if (!added)
		return UINT32_MAX;
	*added = (struct perf_type){ .type = type };
	return (uint32_t)perf->nr_types - 1;
}

static const struct perf_role *kind_of(struct perf *perf, const struct event *event)
{
	struct perf_role *kind = kinds_find(&perf->kinds, event);
	const struct event_type *type = event->type;

	if (kind)
		return kind;
	kind = calloc(1, sizeof(*kind));
	if (kind) {
		kind->is = !context_is_beside(perf->context, type->context) ? PERF_ROLE_ELSEWHERE :
			   !type->format                                    ? PERF_ROLE_UNKNOWN :
			   strcmp(type->format->system, "ftrace") != 0      ? PERF_ROLE_EVENT :
			   !strcmp(type->format->name, "kernel_stack")      ? PERF_ROLE_STACK :
			   !strcmp(type->format->name, "user_stack")        ? PERF_ROLE_USER :
									      PERF_ROLE_EVENT;
		place_find(&kind->caller, type, "caller");
		kind->type = kind->is == PERF_ROLE_EVENT ? type_of(perf, type) : 0;
	}
	if (kind && kind->type != UINT32_MAX && kinds_set(&perf->kinds, event, kind))
		return kind;
	export_no_memory(&perf->export);
	return NULL;
}

static void put_lost(struct perf *perf, const struct event *event)
{
	struct perf_waiting *waiting = u64_map_find(&perf->waiting, event->cpu);

	if (!context_is_loss(export_context(&perf->export, event), event->first))
		return;
	if (waiting)
		release_waiting(perf, waiting);
	perf->uncounted += event->lost <= 0;
	begin_record(perf, PERF_LOST, 0);
	perf_u64(&perf->record, 1, perf->swap);
	perf_u64(&perf->record, event->lost > 0 ? (uint64_t)event->lost : 1, perf->swap);
	put_trailer(perf, 0, 0, event->ts, event->cpu);
	end_record(perf);
}

static void put_event(struct perf *perf, const struct perf_role *kind, const struct event *event)
{
	const struct context *context = event->type->context;
	const struct perf_sample sample = {
		.type = kind->type,
		.tgid = process_of(context, event->pid),
		.pid = event->pid,
		.cpu = event->cpu,
		.ts = event->ts,
		.raw = event->data,
		.len = event->len,
	};
	struct perf_waiting *waiting;

	if (!last_tasks_same(&perf->last_tasks, event))
		name_task(perf, context, event->pid, event->ts);
	waiting = u64_map_get(&perf->waiting, event->cpu);
	if (waiting)
		release_waiting(perf, waiting);
	if (!waiting || !keep(waiting, &sample))
		export_no_memory(&perf->export);
}

static void perf_event(struct export *export, const struct event *event)
{
	struct perf *perf = (struct perf *)export;
	const struct perf_role *kind;

	if (++perf->in_round == ROUND) {
		perf->in_round = 0;
		end_round(perf);
	}
	if (event->kind == EVENT_LOST) {
		put_lost(perf, event);
		return;
	}
	kind = kind_of(perf, event);
	if (!kind)
		return;
	switch (kind->is) {
	case PERF_ROLE_EVENT:
		put_event(perf, kind, event);
		return;
	case PERF_ROLE_STACK:
	case PERF_ROLE_USER:
		take_stack(perf, kind, event);
		return;
	case PERF_ROLE_ELSEWHERE:
		perf->elsewhere++;
		break;
	case PERF_ROLE_UNKNOWN:
		perf->unknown++;
		break;
	}
	export->left_out++;
}

static bool has_event(const struct perf *perf, const char *system, const char *name)
{
	for (size_t i = 0; i < perf->nr_types; i++)
		if (is_of(&perf->types[i], system) && !strcmp(perf->types[i].type->format->name, name))
			return true;
	return false;
}

static void tell(struct perf *perf)
{
	struct export *export = &perf->export;

	/* perf's builtin-sched.c: latency_runtime_event() alone adds up how long a task ran. */
	if (has_event(perf, "sched", "sched_switch") && !has_event(perf, "sched", "sched_stat_runtime"))
		export_note(export, "perf sched latency shows no run times without sched_stat_runtime: record it with "
				    "-e sched:sched_stat_runtime");
	if (perf->elsewhere)
		export_note(export,
			    "%" PRIu64
			    " events are of another machine than the first: left out, as a perf.data is of one; "
			    "-B NAME exports another one",
			    perf->elsewhere);
	if (perf->unknown)
		export_note(export, "%" PRIu64 " events have no format: left out", perf->unknown);
	if (perf->large)
		export_note(export, "%" PRIu64 " events are larger than a record of perf.data: left out", perf->large);
	if (perf->alone)
		export_note(export, "%" PRIu64 " stacks are not behind an event of their task: left out", perf->alone);
	if (perf->uncounted)
		export_note(export,
			    "at %" PRIu64 " place%s the kernel did not count how many events were lost: one is "
			    "written there",
			    perf->uncounted, perf->uncounted == 1 ? "" : "s");
	if (perf->context && perf->context->unit != CLOCK_UNIT_NS)
		export_note(export, "the clock %s does not count nanoseconds; perf shows each of its counts as one",
			    perf->context->clock ?: "of the recording");
}

static void perf_end(struct export *export)
{
	struct perf *perf = (struct perf *)export;
	struct perf_waiting *waiting;
	struct fail fail = FAIL_INIT;
	uint64_t cpu;

	for (size_t at = 0; (waiting = u64_map_next(&perf->waiting, &at, &cpu));)
		release_waiting(perf, waiting);
	if (perf->record.failed) {
		export_no_memory(export);
		return;
	}
	tell(perf);
	if (perf->nr_types) {
		perf_put_rest(perf);
		return;
	}
	export_failed(export,
		      fail_set(&fail, -ENOENT, "no event has a format: a perf.data needs the format of each event"),
		      &fail);
}

const struct export_ops perf_export = {
	.name = "perf",
	.summary = "perf.data: perf script, sched, trace, lock, report",
	.binary = true,
	.has_head = true,
	.create = perf_new,
	.free = perf_free,
	.begin = perf_begin,
	.event = perf_event,
	.end = perf_end,
};
