// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <string.h>

#include "lib/memory/crash/crash_internal.h"
#include "lib/memory/image/note.h"

/*
 * A kernel without CONFIG_KALLSYMS_ALL has names for functions only. Its variables are then found by what they hold:
 * each word of its image is taken for one of them, and what hangs on it is looked at. All that is looked at is known by
 * the kernel's type information, so chance would have to imitate several structures at once.
 */
enum {
	PAGE = 4096,
	WORD = 8,
	IMAGE_PAGES = (96 << 20) / PAGE,
	PAGES_MAX = 1 << 22, /* of a ring buffer */
	TYPE_MAX = 65535,
	CHECKED_NAMES = 16,
	SYMBOLS_PER_MODULE = 1 << 18,
};

/* The lowest one, that of x86-64 with 5 levels of page tables. */
#define KERNEL_ADDRESS UINT64_C(0xff00000000000000)

struct search {
	struct crash *crash;
	uint64_t begin, end; /* of the image */
	unsigned missing;    /* variables that were not found yet */
};

static bool is_address(uint64_t value)
{
	return value >= KERNEL_ADDRESS && !(value % WORD);
}

/* Whether a text stands there that could be the name of something in the kernel. */
static bool is_name(struct crash *crash, uint64_t address)
{
	char text[CRASH_NAME_MAX];

	if (!crash_text(crash, address, text, sizeof(text)) || !*text)
		return false;
	for (const char *at = text; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("_-.:", *at))
			return false;
	return true;
}

static bool is_text(struct crash *crash, uint64_t address, const char *wanted)
{
	char text[16];
	size_t len = strlen(wanted) + 1;

	return address && memory_read(&crash->memory, address, text, len) && !memcmp(text, wanted, len);
}

/* A trace_array has a tracer, which has a name, and a buffer with at least one CPU. */
static bool is_array(struct crash *crash, uint64_t at)
{
	const struct crash_layout *layout = &crash->layout;
	uint64_t buffers = crash_at(crash, crash_at(crash, at, &layout->array_buffer), &layout->buffer_buffers), cpu,
		 nr;

	if (!is_address(buffers) || !memory_u64(&crash->memory, buffers, &cpu) || !is_address(cpu))
		return false;
	nr = crash_at(crash, cpu, &layout->cpu_nr_pages);
	return nr && nr < PAGES_MAX && is_address(crash_at(crash, cpu, &layout->cpu_reader)) &&
	       is_name(crash, crash_at(crash, crash_at(crash, at, &layout->array_tracer), &layout->tracer_name));
}

/* An event has a number, a system, and a text that is printed. */
static bool is_call(struct crash *crash, uint64_t at)
{
	const struct crash_layout *layout = &crash->layout;
	uint64_t type = crash_at(crash, at, &layout->call_type), class = crash_at(crash, at, &layout->call_class);
	char quote;

	return type && type <= TYPE_MAX && is_address(class) &&
	       memory_read(&crash->memory, crash_at(crash, at, &layout->call_print), &quote, 1) && quote == '"' &&
	       is_name(crash, crash_at(crash, class, &layout->class_system));
}

static bool is_common_field(struct crash *crash, uint64_t at)
{
	const struct crash_layout *layout = &crash->layout;
	char name[8];

	return memory_read(&crash->memory, crash_at(crash, at, &layout->field_name), name, 7) &&
	       !memcmp(name, "common_", 7);
}

static bool is_module(struct crash *crash, uint64_t at)
{
	const struct crash_layout *layout = &crash->layout;
	uint64_t tables = crash_at(crash, at, &layout->module_symbols), nr = crash_at(crash, tables, &layout->table_nr);

	return is_address(tables) && nr && nr < SYMBOLS_PER_MODULE &&
	       is_address(crash_at(crash, tables, &layout->table_symbols)) &&
	       crash_at(crash, tables, &layout->table_strings) >= KERNEL_ADDRESS &&
	       is_name(crash, at + layout->module_name.offset);
}

static bool is_first_task(struct crash *crash, uint64_t at)
{
	char name[10];

	return memory_read(&crash->memory, at + crash->layout.task_comm.offset, name, sizeof(name)) &&
	       !memcmp(name, "swapper/0", sizeof(name));
}

/* Names that were saved: each index leads to a process, and that one to the index. */
static bool is_saved(struct crash *crash, uint64_t at)
{
	const struct crash_layout *layout = &crash->layout;
	uint64_t nr = crash_at(crash, at, &layout->names_nr), pids = crash_at(crash, at, &layout->names_map);
	unsigned right = 0;

	if (!nr || nr > CRASH_TASKS_MAX || pids < KERNEL_ADDRESS)
		return false;
	for (uint64_t i = 0; i < nr && i < CHECKED_NAMES; i++) {
		uint32_t pid, index;

		if (!memory_u32(&crash->memory, pids + i * sizeof(pid), &pid))
			return false;
		if (pid == UINT32_MAX)
			continue;
		if (pid >= layout->names_map.offset / sizeof(pid) ||
		    !memory_u32(&crash->memory, at + pid * sizeof(index), &index))
			return false;
		/* Another process may have taken the place since. */
		right += index == i;
	}
	return right > 2;
}

/* Variables that are heads of lists, and whether a structure is one of such a list. The head is none itself. */
static const struct {
	const char *name;
	size_t member; /* place in struct crash_layout */
	bool (*is)(struct crash *crash, uint64_t at);
} lists[] = {
	{ "ftrace_trace_arrays", offsetof(struct crash_layout, array_list), is_array },
	{ "ftrace_events", offsetof(struct crash_layout, call_list), is_call },
	{ "ftrace_common_fields", offsetof(struct crash_layout, field_link), is_common_field },
	{ "modules", offsetof(struct crash_layout, module_list), is_module },
};

static void found(struct search *search, const char *name, uint64_t address)
{
	struct crash *crash = search->crash;

	for (size_t i = 0; i < array_size(crash->found); i++) {
		if (crash->found[i].name && !strcmp(crash->found[i].name, name))
			return;
		if (!crash->found[i].name) {
			crash->found[i].name = name;
			crash->found[i].address = address;
			search->missing--;
			return;
		}
	}
}

static void try_list(struct search *search, uint64_t at, uint64_t next)
{
	struct crash *crash = search->crash;
	uint64_t back;

	if (next == at || !memory_u64(&crash->memory, next + WORD, &back) || back != at)
		return;
	for (size_t i = 0; i < array_size(lists); i++) {
		const struct layout_member *member =
			(const struct layout_member *)((const char *)&crash->layout + lists[i].member);

		if (member->found && lists[i].is(crash, crash_owner(next, member)) &&
		    !lists[i].is(crash, crash_owner(at, member)))
			found(search, lists[i].name, at);
	}
	if (crash->layout.task_tasks.found && is_first_task(crash, crash_owner(at, &crash->layout.task_tasks)))
		found(search, "init_task", crash_owner(at, &crash->layout.task_tasks));
}

/* Tables of texts: the options begin with one, and the clocks ({ func, name, in_ns }) with two. */
static void try_texts(struct search *search, uint64_t at, uint64_t value)
{
	struct crash *crash = search->crash;
	uint64_t second;

	if (is_text(crash, value, "print-parent"))
		found(search, "trace_options", at);
	if (is_text(crash, value, "local") && memory_u64(&crash->memory, at + 3 * WORD, &second) &&
	    is_text(crash, second, "global"))
		found(search, "trace_clocks", at - WORD);
}

static void try_page(struct search *search, uint64_t page, const uint8_t *bytes)
{
	for (size_t i = 0; i < PAGE && search->missing; i += WORD) {
		uint64_t value;

		memcpy(&value, bytes + i, sizeof(value));
		if (value < KERNEL_ADDRESS)
			continue;
		if (value >= search->begin && value < search->end)
			try_texts(search, page + i, value);
		if (value % WORD)
			continue;
		try_list(search, page + i, value);
		if (search->crash->layout.names_map.found && (value < search->begin || value >= search->end) &&
		    !(value % PAGE) && is_saved(search->crash, value))
			found(search, "savedcmd", page + i);
	}
}

void crash_search(struct crash *crash)
{
	struct search search = { .crash = crash, .missing = array_size(crash->found) };
	uint8_t bytes[PAGE];
	uint64_t address;

	if (image_symbol(&crash->symbols, "ftrace_trace_arrays", &address) ||
	    image_symbol(&crash->given, "ftrace_trace_arrays", &address) ||
	    !note_symbol(crash->memory.note, "_stext", &search.begin))
		return;
	crash->facts.searched = true;
	search.begin &= ~(uint64_t)(PAGE - 1);
	search.end = search.begin + (uint64_t)IMAGE_PAGES * PAGE;
	/* Functions hold no variables. */
	if (!image_symbol(&crash->symbols, "_etext", &address) || address < search.begin || address > search.end)
		address = search.begin;
	for (address &= ~(uint64_t)(PAGE - 1); address < search.end && search.missing; address += PAGE)
		if (memory_read(&crash->memory, address, bytes, PAGE))
			try_page(&search, address, bytes);
}

bool crash_symbol(const struct crash *crash, const char *name, uint64_t *ret)
{
	if (image_symbol(&crash->symbols, name, ret) || image_symbol(&crash->given, name, ret))
		return true;
	for (size_t i = 0; i < array_size(crash->found) && crash->found[i].name; i++)
		if (!strcmp(crash->found[i].name, name)) {
			*ret = crash->found[i].address;
			return true;
		}
	return note_symbol(crash->memory.note, name, ret);
}
