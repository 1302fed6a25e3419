// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/memory/crash/crash_internal.h"

enum { LINK_BACK = 8 }; /* place of the link to the structure before */

/* The structures and members by their names in the kernel. A member may have had several. */
static const struct {
	size_t place; /* in struct crash_layout */
	const char *structure, *member;
	bool optional; /* not every kernel has it */
} members[] = {
#define MEMBER(ident, structure, member, optional)                                    \
	{                                                                             \
		offsetof(struct crash_layout, ident), (structure), (member), optional \
	}
	MEMBER(array_list, "trace_array", "list", false),
	MEMBER(array_name, "trace_array", "name", false),
	MEMBER(array_buffer, "trace_array", "array_buffer.buffer", true),
	MEMBER(array_buffer, "trace_array", "trace_buffer.buffer", true),
	MEMBER(array_max, "trace_array", "snapshot_buffer.buffer", true),
	MEMBER(array_max, "trace_array", "max_buffer.buffer", true),
	MEMBER(array_tracer, "trace_array", "current_trace", false),
	MEMBER(array_clock, "trace_array", "clock_id", false),
	MEMBER(array_flags, "trace_array", "trace_flags", false),
	MEMBER(tracer_name, "tracer", "name", false),
	MEMBER(buffer_cpus, "trace_buffer", "cpus", true),
	MEMBER(buffer_buffers, "trace_buffer", "buffers", false),
	MEMBER(buffer_size, "trace_buffer", "subbuf_size", true),
	MEMBER(buffer_order, "trace_buffer", "subbuf_order", true),
	MEMBER(buffer_remote, "trace_buffer", "remote", true),
	MEMBER(cpu_pages, "ring_buffer_per_cpu", "pages", false),
	MEMBER(cpu_nr_pages, "ring_buffer_per_cpu", "nr_pages", false),
	MEMBER(cpu_tail, "ring_buffer_per_cpu", "tail_page", false),
	MEMBER(cpu_commit, "ring_buffer_per_cpu", "commit_page", false),
	MEMBER(cpu_reader, "ring_buffer_per_cpu", "reader_page", false),
	MEMBER(cpu_entries, "ring_buffer_per_cpu", "entries", false),
	MEMBER(cpu_overrun, "ring_buffer_per_cpu", "overrun", false),
	MEMBER(cpu_read, "ring_buffer_per_cpu", "read", false),
	MEMBER(cpu_commit_overrun, "ring_buffer_per_cpu", "commit_overrun", true),
	MEMBER(cpu_dropped, "ring_buffer_per_cpu", "dropped_events", true),
	MEMBER(cpu_bytes, "ring_buffer_per_cpu", "entries_bytes", true),
	MEMBER(cpu_cpu, "ring_buffer_per_cpu", "cpu", false),
	MEMBER(page_list, "buffer_page", "list", false),
	MEMBER(page_page, "buffer_page", "page", false),
	MEMBER(page_write, "buffer_page", "write", false),
	MEMBER(page_read, "buffer_page", "read", false),
	MEMBER(call_list, "trace_event_call", "list", false),
	MEMBER(call_class, "trace_event_call", "class", false),
	MEMBER(call_name, "trace_event_call", "name", false),
	MEMBER(call_type, "trace_event_call", "event.type", false),
	MEMBER(call_print, "trace_event_call", "print_fmt", false),
	MEMBER(call_data, "trace_event_call", "data", false),
	MEMBER(call_flags, "trace_event_call", "flags", false),
	MEMBER(class_system, "trace_event_class", "system", false),
	MEMBER(class_fields, "trace_event_class", "fields", false),
	MEMBER(class_get_fields, "trace_event_class", "get_fields", false),
	MEMBER(point_name, "tracepoint", "name", false),
	MEMBER(field_link, "ftrace_event_field", "link", false),
	MEMBER(field_name, "ftrace_event_field", "name", false),
	MEMBER(field_type, "ftrace_event_field", "type", false),
	MEMBER(field_offset, "ftrace_event_field", "offset", false),
	MEMBER(field_size, "ftrace_event_field", "size", false),
	MEMBER(field_signed, "ftrace_event_field", "is_signed", false),
	MEMBER(field_len, "ftrace_event_field", "len", true),
	MEMBER(syscall_fields, "syscall_metadata", "enter_fields", true),
	MEMBER(names_map, "saved_cmdlines_buffer", "map_cmdline_to_pid", true),
	MEMBER(names_nr, "saved_cmdlines_buffer", "cmdline_num", true),
	MEMBER(names_names, "saved_cmdlines_buffer", "saved_cmdlines", true),
	MEMBER(task_tasks, "task_struct", "tasks", true),
	MEMBER(task_pid, "task_struct", "pid", true),
	MEMBER(task_comm, "task_struct", "comm", true),
	MEMBER(rq_curr, "rq", "curr", true),
	MEMBER(task_group, "task_struct", "signal", true),
	MEMBER(task_threads, "task_struct", "thread_node", true),
	MEMBER(signal_threads, "signal_struct", "thread_head", true),
	MEMBER(module_list, "module", "list", true),
	MEMBER(module_name, "module", "name", true),
	MEMBER(module_symbols, "module", "kallsyms", true),
	MEMBER(table_symbols, "mod_kallsyms", "symtab", true),
	MEMBER(table_nr, "mod_kallsyms", "num_symtab", true),
	MEMBER(table_strings, "mod_kallsyms", "strtab", true),
	MEMBER(table_types, "mod_kallsyms", "typetab", true),
	MEMBER(uts_name, "uts_namespace", "name", true),
	MEMBER(fast_base, "tk_fast", "base", true),
	MEMBER(read_clock, "tk_read_base", "clock", true),
	MEMBER(read_cycles, "tk_read_base", "cycle_last", true),
	MEMBER(read_shift, "tk_read_base", "shift", true),
	MEMBER(read_ns, "tk_read_base", "xtime_nsec", true),
	MEMBER(read_base, "tk_read_base", "base", true),
	MEMBER(read_real, "tk_read_base", "base_real", true),
	MEMBER(keeper_mono, "timekeeper", "tkr_mono", true),
	MEMBER(keeper_boot, "timekeeper", "offs_boot", true),
	MEMBER(keeper_tai, "timekeeper", "offs_tai", true),
	MEMBER(stamp_raw, "sched_clock_data", "tick_raw", true),
	MEMBER(stamp_mono, "sched_clock_data", "tick_gtod", true),
	MEMBER(counter_mul, "cyc2ns_data", "cyc2ns_mul", true),
	MEMBER(counter_shift, "cyc2ns_data", "cyc2ns_shift", true),
	MEMBER(counter_offset, "cyc2ns_data", "cyc2ns_offset", true),
#undef MEMBER
};

uint64_t crash_at(struct crash *crash, uint64_t structure, const struct layout_member *member)
{
	uint64_t value;

	return layout_read(&crash->memory, structure, member, &value) ? value : 0;
}

bool crash_text(struct crash *crash, uint64_t address, char *into, size_t size)
{
	return address && memory_text(&crash->memory, address, into, size);
}

bool crash_walk_begin(struct crash_walk *walk, struct crash *crash, uint64_t head, const struct layout_member *member,
		      size_t max)
{
	*walk = (struct crash_walk){ .crash = crash, .member = member, .head = head, .left = max };
	return memory_u64(&crash->memory, head, &walk->link);
}

bool crash_walk_next(struct crash_walk *walk, uint64_t *ret)
{
	uint64_t link = walk->link;

	if (!link || link == walk->head || link == walk->last)
		return false;
	if (!walk->left) {
		walk->cut = true;
		return false;
	}
	walk->left--;
	*ret = crash_owner(link, walk->member);
	if (memory_u64(&walk->crash->memory, link + (walk->back ? LINK_BACK : 0), &walk->link))
		return true;
	walk->last = link;
	if (walk->back || !memory_u64(&walk->crash->memory, walk->head + LINK_BACK, &walk->link))
		walk->link = 0;
	walk->back = walk->cut = true;
	return true;
}

int crash_layout_find(struct crash *crash, struct fail *fail)
{
	struct crash_layout *layout = &crash->layout;
	const char *searched = "";
	struct btf_type structure;
	bool exists = false;

	for (size_t i = 0; i < array_size(members); i++) {
		struct layout_member *member = (struct layout_member *)((char *)layout + members[i].place);

		if (member->found)
			continue;
		/* The members of a structure stand side by side. */
		if (strcmp(searched, members[i].structure) != 0)
			exists = layout_structure(&crash->btf, members[i].structure, &structure);
		searched = members[i].structure;
		if (exists)
			*member = layout_find(&crash->btf, &structure, members[i].member);
		if (!member->found && !members[i].optional)
			return fail_set(fail, -ENODATA,
					"the kernel's type information has no %s.%s; weft does not know this kernel",
					members[i].structure, members[i].member);
	}
	if (!layout->array_buffer.found)
		return fail_set(fail, -ENODATA, "the kernel's type information says nothing of its trace buffers");
	if (!layout_enumerator(&crash->btf, "TRACE_EVENT_FL_TRACEPOINT", &layout->is_tracepoint))
		return fail_set(fail, -ENODATA, "the kernel's type information has no TRACE_EVENT_FL_TRACEPOINT");
	return 0;
}
