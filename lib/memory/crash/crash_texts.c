// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a file has besides pages: names of tasks and formats of events, facts about the kernel, its texts. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/memory/crash/crash_internal.h"
#include "lib/memory/image/note.h"

/* Names of tasks: those that tracing has saved, and those of all tasks that were alive. */
enum { COMM = 16, SAVED_MAX = 1 << 20, SOME = 256 };

static bool add_name(struct crash *crash, struct u64_map *known, uint32_t pid, const char comm[COMM])
{
	uint8_t *seen = u64_map_add(known, pid);

	if (!seen)
		return false;
	if (*seen)
		return true;
	*seen = 1;
	crash->facts.tasks++;
	return buf_addf(&crash->names, "%" PRIu32 " %.*s\n", pid, (int)strnlen(comm, COMM), comm);
}

/* The names that tracing saved (struct saved_cmdlines_buffer), which stand behind it or where a pointer says. */
static bool add_saved(struct crash *crash, struct u64_map *known)
{
	const struct crash_layout *layout = &crash->layout;
	uint64_t symbol, saved = 0, pids, names, nr;
	uint32_t pid[SOME];
	char comm[COMM];

	if (!layout->names_map.found || !crash_symbol(crash, "savedcmd", &symbol) ||
	    !memory_u64(&crash->memory, symbol, &saved) || !saved)
		return true;
	pids = crash_at(crash, saved, &layout->names_map);
	nr = crash_at(crash, saved, &layout->names_nr);
	names = layout->names_names.size ? crash_at(crash, saved, &layout->names_names) :
					   saved + layout->names_names.offset;
	nr = nr < SAVED_MAX ? nr : SAVED_MAX;
	for (uint64_t i = 0; i < nr && pids && names; i += SOME) {
		size_t some = nr - i < SOME ? (size_t)(nr - i) : SOME;

		if (!memory_read(&crash->memory, pids + i * sizeof(*pid), pid, some * sizeof(*pid)))
			break;
		for (size_t j = 0; j < some; j++)
			if ((int32_t)pid[j] > 0 &&
			    memory_read(&crash->memory, names + (i + j) * COMM, comm, sizeof(comm)) &&
			    !add_name(crash, known, pid[j], comm))
				return false;
	}
	return true;
}

static bool add_task(struct crash *crash, struct u64_map *known, uint64_t task)
{
	const struct crash_layout *layout = &crash->layout;
	uint64_t pid = crash_at(crash, task, &layout->task_pid);
	char comm[COMM];

	if (!pid || pid > INT32_MAX ||
	    !memory_read(&crash->memory, task + layout->task_comm.offset, comm, sizeof(comm)))
		return true;
	return add_name(crash, known, (uint32_t)pid, comm);
}

/* The threads of a process hang on its signal structure. */
static bool add_threads(struct crash *crash, struct u64_map *known, uint64_t task)
{
	const struct crash_layout *layout = &crash->layout;
	uint64_t group = crash_at(crash, task, &layout->task_group), thread;
	struct crash_walk walk;

	if (!group || !layout->task_threads.found || !layout->signal_threads.found ||
	    !crash_walk_begin(&walk, crash, group + layout->signal_threads.offset, &layout->task_threads,
			      CRASH_TASKS_MAX))
		return add_task(crash, known, task);
	while (crash_walk_next(&walk, &thread))
		if (!add_task(crash, known, thread))
			return false;
	return true;
}

static bool add_alive(struct crash *crash, struct u64_map *known)
{
	const struct layout_member *tasks = &crash->layout.task_tasks;
	struct crash_walk walk;
	uint64_t first, task;

	if (!tasks->found || !crash_symbol(crash, "init_task", &first) ||
	    !crash_walk_begin(&walk, crash, first + tasks->offset, tasks, CRASH_TASKS_MAX))
		return true;
	while (crash_walk_next(&walk, &task))
		if (!add_threads(crash, known, task))
			return false;
	return true;
}

int crash_names_read(struct crash *crash, struct fail *fail)
{
	struct u64_map known;
	bool ok;

	u64_map_init(&known, sizeof(uint8_t));
	ok = add_saved(crash, &known) && add_alive(crash, &known);
	u64_map_release(&known);
	return ok ? 0 : fail_memory(fail);
}

/*
 * The format files of events, as f_show() of kernel/trace/trace_events.c prints them, out of the lists from which the
 * kernel prints them.
 */
struct reading {
	struct crash *crash;
	uint64_t get_syscall_fields; /* the function that says where a system call's fields are; 0: not known */
	uint64_t common;             /* the list of fields that all events have */
	struct buf text;
};

/* A line of a field. An array's length stands behind the name; it is that of `len` where the kernel has this member. */
static bool put_field(struct reading *reading, uint64_t field)
{
	struct crash *crash = reading->crash;
	const struct crash_layout *layout = &crash->layout;
	char name[CRASH_NAME_MAX], type[CRASH_NAME_MAX], *array;
	unsigned offset = (unsigned)crash_at(crash, field, &layout->field_offset);
	unsigned size = (unsigned)crash_at(crash, field, &layout->field_size);
	unsigned is_signed = crash_at(crash, field, &layout->field_signed) != 0;
	int len = (int)crash_at(crash, field, &layout->field_len);
	char length[24] = "";

	if (!crash_text(crash, crash_at(crash, field, &layout->field_name), name, sizeof(name)) ||
	    !crash_text(crash, crash_at(crash, field, &layout->field_type), type, sizeof(type)))
		return false;
	array = strncmp(type, "__data_loc", 10) != 0 ? strchr(type, '[') : NULL;
	if (!array)
		return buf_addf(&reading->text, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%u;\n", type, name,
				offset, size, is_signed);
	if (layout->field_len.found && len)
		snprintf(length, sizeof(length), "[%d]", len);
	return buf_addf(&reading->text, "\tfield:%.*s %s%s;\toffset:%u;\tsize:%u;\tsigned:%u;\n", (int)(array - type),
			type, name, layout->field_len.found ? length : array, offset, size, is_signed);
}

/* The kernel adds a field at the front of its list, and prints from the back. */
static bool put_fields(struct reading *reading, uint64_t list)
{
	struct crash *crash = reading->crash;
	uint64_t fields[CRASH_FIELDS_MAX];
	struct crash_walk walk;
	size_t nr = 0;

	if (!crash_walk_begin(&walk, crash, list, &crash->layout.field_link, CRASH_FIELDS_MAX))
		return false;
	while (crash_walk_next(&walk, &fields[nr]))
		nr++;
	/* A format without some of its fields would be wrong. */
	if (walk.cut)
		return false;
	while (nr)
		if (!put_field(reading, fields[--nr]))
			return false;
	return true;
}

static bool read_name(struct crash *crash, uint64_t call, char name[CRASH_NAME_MAX])
{
	uint64_t at = crash_at(crash, call, &crash->layout.call_name);

	if (crash_at(crash, call, &crash->layout.call_flags) & crash->layout.is_tracepoint)
		at = crash_at(crash, at, &crash->layout.point_name);
	return crash_text(crash, at, name, CRASH_NAME_MAX);
}

/* The list of the fields that this event alone has. */
static uint64_t fields_of(struct reading *reading, uint64_t call, uint64_t class)
{
	struct crash *crash = reading->crash;
	uint64_t get = crash_at(crash, class, &crash->layout.class_get_fields);

	if (get && get == reading->get_syscall_fields && crash->layout.syscall_fields.found)
		return crash_at(crash, call, &crash->layout.call_data) + crash->layout.syscall_fields.offset;
	return class + crash->layout.class_fields.offset;
}

/* Makes the text. False: a part of it cannot be read. */
static bool put_format(struct reading *reading, uint64_t call, uint64_t class, const char *name)
{
	struct crash *crash = reading->crash;
	cleanup_free char *print = malloc(CRASH_TEXT_MAX);

	buf_clear(&reading->text);
	return print && crash_text(crash, crash_at(crash, call, &crash->layout.call_print), print, CRASH_TEXT_MAX) &&
	       buf_addf(&reading->text, "name: %s\nID: %" PRId32 "\nformat:\n", name,
			(int32_t)crash_at(crash, call, &crash->layout.call_type)) &&
	       put_fields(reading, reading->common) && buf_addf(&reading->text, "\n") &&
	       put_fields(reading, fields_of(reading, call, class)) &&
	       buf_addf(&reading->text, "\nprint fmt: %s\n", print);
}

static int add_format(struct reading *reading, uint64_t call, struct fail *fail)
{
	struct crash *crash = reading->crash;
	uint64_t class = crash_at(crash, call, &crash->layout.call_class);
	char name[CRASH_NAME_MAX], system[CRASH_NAME_MAX];
	struct writer_format *format;

	if (!read_name(crash, call, name) ||
	    !crash_text(crash, crash_at(crash, class, &crash->layout.class_system), system, sizeof(system)) ||
	    !put_format(reading, call, class, name) || crash->formats_size + reading->text.len > CRASH_TEXTS_MAX) {
		crash->facts.unread++;
		return 0;
	}
	format = vec_push(crash->formats, crash->nr_formats);
	if (!format)
		return fail_memory(fail);
	format->system = strdup(system);
	format->len = reading->text.len;
	format->text = strndup(buf_str(&reading->text), reading->text.len);
	crash->formats_size += format->len;
	return format->system && format->text ? 0 : fail_memory(fail);
}

int crash_formats_read(struct crash *crash, struct fail *fail)
{
	struct reading reading = { .crash = crash, .text = BUF_INIT };
	struct crash_walk walk;
	uint64_t head, call;
	int r = 0;

	(void)crash_symbol(crash, "syscall_get_enter_fields", &reading.get_syscall_fields);
	if (!crash_symbol(crash, "ftrace_events", &head) ||
	    !crash_symbol(crash, "ftrace_common_fields", &reading.common) ||
	    !crash_walk_begin(&walk, crash, head, &crash->layout.call_list, CRASH_EVENTS_MAX))
		return fail_set(fail, -ENODATA, "the dump does not have the kernel's list of events");
	while (!r && crash_walk_next(&walk, &call))
		r = add_format(&reading, call, fail);
	buf_release(&reading.text);
	crash->facts.cut = walk.cut;
	crash->facts.events = crash->nr_formats;
	return r || crash->nr_formats ? r : fail_set(fail, -ENODATA, "the dump does not have the kernel's events");
}

/* What the memory tells of the machine besides its tracing: its names, and how it died. */

/* __NEW_UTS_LEN and a NUL. */
enum { UTS_WORD = 65 };

/* struct new_utsname: sysname, nodename, release, version, machine. */
static void read_names_of_machine(struct crash *crash)
{
	struct crash_facts *facts = &crash->facts;
	char words[5][UTS_WORD];
	uint64_t address;

	(void)note_text(crash->memory.note, "OSRELEASE", facts->release, sizeof(facts->release));
	if (!crash->layout.uts_name.found || !crash_symbol(crash, "init_uts_ns", &address) ||
	    !memory_read(&crash->memory, address + crash->layout.uts_name.offset, words, sizeof(words)))
		return;
	for (size_t i = 0; i < 5; i++)
		words[i][UTS_WORD - 1] = '\0';
	memcpy(facts->host, words[1], UTS_WORD);
	memcpy(facts->release, words[2], UTS_WORD);
	memcpy(facts->machine, words[4], UTS_WORD);
	(void)buf_addf(&crash->version_text, "%s %s %s %s %s", words[0], words[1], words[2], words[3], words[4]);
}

/* The key by which lib/vsprintf.c hashes pointers. It is all zeros until the kernel has made it. */
static void read_hash_key(struct crash *crash)
{
	uint64_t address;

	crash->facts.hash_key = crash_symbol(crash, "ptr_key", &address) &&
				memory_read(&crash->memory, address, crash->hash_key, sizeof(crash->hash_key)) &&
				(crash->hash_key[0] || crash->hash_key[1]);
	if (crash_symbol(crash, "vmemmap_base", &address))
		(void)memory_u64(&crash->memory, address, &crash->page_array);
}

/*
 * When the kernel died (kernel/kexec_core.c: CRASHTIME), which CPU called panic() (kernel/panic.c: panic_cpu), and
 * which task that CPU had (kernel/sched: runqueues).
 */
static void read_death(struct crash *crash)
{
	const struct crash_layout *layout = &crash->layout;
	struct crash_facts *facts = &crash->facts;
	uint64_t address, offsets, offset, queue, task;
	uint32_t cpu, pid;
	char time[24];

	facts->panic_cpu = facts->panic_pid = -1;
	if (note_text(crash->memory.note, "CRASHTIME", time, sizeof(time)))
		facts->crash_time = strtoull(time, NULL, 10);
	if (!crash_symbol(crash, "panic_cpu", &address) || !memory_u32(&crash->memory, address, &cpu) ||
	    cpu >= CRASH_CPUS_MAX)
		return;
	facts->panic_cpu = cpu;
	if (!layout->rq_curr.found || !layout->task_pid.found || !layout->task_comm.found ||
	    !crash_symbol(crash, "runqueues", &queue) || !crash_symbol(crash, "__per_cpu_offset", &offsets) ||
	    !memory_u64(&crash->memory, offsets + cpu * sizeof(uint64_t), &offset))
		return;
	task = crash_at(crash, queue + offset, &layout->rq_curr);
	if (!task || !memory_u32(&crash->memory, task + layout->task_pid.offset, &pid) ||
	    !memory_read(&crash->memory, task + layout->task_comm.offset, facts->panic_comm, sizeof(facts->panic_comm)))
		return;
	facts->panic_comm[sizeof(facts->panic_comm) - 1] = '\0';
	facts->panic_pid = pid;
}

void crash_facts_read(struct crash *crash)
{
	read_hash_key(crash);
	read_names_of_machine(crash);
	read_death(crash);
}

/* Texts that tracefs and /proc would have printed. */
enum {
	MODULES_MAX = 4096,
	MODULE_SYMBOLS_MAX = 1 << 18,
	ELF_SYMBOL = 24,
	OPTIONS_MAX = 64,
	CLOCKS_MAX = 32,
	PRINTK_MAX = 1 << 16
};

static bool put_kernel(struct crash *crash)
{
	const struct image_symbols *symbols = crash->symbols.nr ? &crash->symbols : &crash->given;

	for (size_t i = 0; i < symbols->nr; i++) {
		const struct image_symbol *symbol = &symbols->items[i];

		if (!buf_addf(&crash->kallsyms, "%016" PRIx64 " %c %s\n", symbol->address, symbol->type,
			      image_symbol_name(symbols, symbol)))
			return false;
	}
	return true;
}

/* What a module's table says of a symbol (Elf64_Sym): the place of its name, and its value. */
static bool put_module_symbol(struct crash *crash, uint64_t table, uint64_t strings, uint64_t types, uint64_t index,
			      const char *module)
{
	uint8_t symbol[ELF_SYMBOL];
	char name[CRASH_NAME_MAX], type = 't';
	uint32_t place;
	uint64_t value;
	uint16_t section;

	if (!memory_read(&crash->memory, table + index * ELF_SYMBOL, symbol, sizeof(symbol)))
		return true;
	memcpy(&place, symbol, sizeof(place));
	memcpy(&section, symbol + 6, sizeof(section));
	memcpy(&value, symbol + 8, sizeof(value));
	if (!section || !crash_text(crash, strings + place, name, sizeof(name)) || !*name)
		return true;
	if (types)
		(void)memory_read(&crash->memory, types + index, &type, 1);
	return buf_addf(&crash->kallsyms, "%016" PRIx64 " %c %s\t[%s]\n", value,
			isalpha((unsigned char)type) ? type : 't', name, module);
}

static bool put_module(struct crash *crash, uint64_t module)
{
	const struct crash_layout *layout = &crash->layout;
	uint64_t tables = crash_at(crash, module, &layout->module_symbols);
	uint64_t symbols = crash_at(crash, tables, &layout->table_symbols);
	uint64_t strings = crash_at(crash, tables, &layout->table_strings);
	uint64_t types = crash_at(crash, tables, &layout->table_types);
	uint64_t nr = crash_at(crash, tables, &layout->table_nr);
	char name[64];

	if (!symbols || !strings || !crash_text(crash, module + layout->module_name.offset, name, sizeof(name)))
		return true;
	for (uint64_t i = 1; i < nr && i < MODULE_SYMBOLS_MAX; i++)
		if (!put_module_symbol(crash, symbols, strings, types, i, name))
			return false;
	return true;
}

static bool put_modules(struct crash *crash)
{
	const struct layout_member *list = &crash->layout.module_list;
	struct crash_walk walk;
	uint64_t head, module;

	if (!list->found || !crash->layout.module_symbols.found || !crash_symbol(crash, "modules", &head) ||
	    !crash_walk_begin(&walk, crash, head, list, MODULES_MAX))
		return true;
	while (crash_walk_next(&walk, &module))
		if (!put_module(crash, module))
			return false;
	return true;
}

/* As t_show() of kernel/trace/trace_printk.c prints it. */
static bool put_printk(struct crash *crash, uint64_t address)
{
	char text[1024];

	if (!crash_text(crash, address, text, sizeof(text)))
		return true;
	if (!buf_addf(&crash->printk, "0x%" PRIx64 " : \"", address))
		return false;
	for (const char *at = text; *at; at++) {
		const char *escaped = *at == '\n' ? "\\n" :
				      *at == '\t' ? "\\t" :
				      *at == '\\' ? "\\\\" :
				      *at == '"'  ? "\\\"" :
						    NULL;

		if (!(escaped ? buf_add_str(&crash->printk, escaped) : buf_add(&crash->printk, at, 1)))
			return false;
	}
	return buf_add_str(&crash->printk, "\"\n");
}

/* The formats of trace_printk() and the strings of tracepoints: pointers between two symbols. */
static bool put_printks(struct crash *crash, const char *from, const char *to)
{
	uint64_t at, end, address;

	if (!crash_symbol(crash, from, &at) || !crash_symbol(crash, to, &end))
		return true;
	for (size_t i = 0; at < end && i < PRINTK_MAX; at += sizeof(address), i++)
		if (memory_u64(&crash->memory, at, &address) && !put_printk(crash, address))
			return false;
	return true;
}

int crash_texts_read(struct crash *crash, struct fail *fail)
{
	bool ok = put_kernel(crash) && put_modules(crash) &&
		  put_printks(crash, "__start___trace_bprintk_fmt", "__stop___trace_bprintk_fmt") &&
		  put_printks(crash, "__start___tracepoint_str", "__stop___tracepoint_str");

	return ok ? 0 : fail_memory(fail);
}

bool crash_put_options(struct crash *crash, const struct crash_ring *ring, struct buf *into)
{
	uint64_t names, flags = crash_at(crash, ring->array, &crash->layout.array_flags), name;
	char text[64];

	if (!crash_symbol(crash, "trace_options", &names))
		return true;
	for (unsigned i = 0; i < OPTIONS_MAX; i++) {
		if (!memory_u64(&crash->memory, names + i * sizeof(name), &name) || !name ||
		    !crash_text(crash, name, text, sizeof(text)))
			break;
		if (!buf_addf(into, "%s%s\n", flags >> i & 1 ? "" : "no", text))
			return false;
	}
	return true;
}

/* trace_clocks[] of kernel/trace/trace.c: { func, name, in_ns }. */
void crash_clock(struct crash *crash, const struct crash_ring *ring, char into[32])
{
	uint64_t clocks, id = crash_at(crash, ring->array, &crash->layout.array_clock), name;

	if (id >= CLOCKS_MAX || !crash_symbol(crash, "trace_clocks", &clocks) ||
	    !memory_u64(&crash->memory, clocks + id * 24 + 8, &name) || !crash_text(crash, name, into, 32))
		snprintf(into, 32, "local");
}
