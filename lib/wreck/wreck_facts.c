// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the memory tells of the machine besides its tracing: its names, and how it died. */
#include "lib/image/note.h"
#include "lib/wreck/wreck_internal.h"

#include <stdlib.h>
#include <string.h>

/* __NEW_UTS_LEN and a NUL. */
enum { UTS_WORD = 65 };

/* struct new_utsname: sysname, nodename, release, version, machine. */
static void read_names_of_machine(struct wreck *wreck)
{
	struct wreck_facts *facts = &wreck->facts;
	char words[5][UTS_WORD];
	uint64_t address;

	(void)note_text(wreck->memory.note, "OSRELEASE", facts->release, sizeof(facts->release));
	if (!wreck->layout.uts_name.found || !wreck_symbol(wreck, "init_uts_ns", &address) ||
	    !memory_read(&wreck->memory, address + wreck->layout.uts_name.offset, words, sizeof(words)))
		return;
	for (size_t i = 0; i < 5; i++)
		words[i][UTS_WORD - 1] = '\0';
	memcpy(facts->host, words[1], UTS_WORD);
	memcpy(facts->release, words[2], UTS_WORD);
	memcpy(facts->machine, words[4], UTS_WORD);
	(void)buf_addf(&wreck->version_text, "%s %s %s %s %s", words[0], words[1], words[2], words[3], words[4]);
}

/* The key by which lib/vsprintf.c hashes pointers. It is all zeros until the kernel has made it. */
static void read_hash_key(struct wreck *wreck)
{
	uint64_t address;

	wreck->facts.hash_key = wreck_symbol(wreck, "ptr_key", &address) &&
				memory_read(&wreck->memory, address, wreck->hash_key, sizeof(wreck->hash_key)) &&
				(wreck->hash_key[0] || wreck->hash_key[1]);
	if (wreck_symbol(wreck, "vmemmap_base", &address))
		(void)memory_u64(&wreck->memory, address, &wreck->page_array);
}

/*
 * When the kernel died (kernel/kexec_core.c: CRASHTIME), which CPU called panic() (kernel/panic.c: panic_cpu), and
 * which task that CPU had (kernel/sched: runqueues).
 */
static void read_death(struct wreck *wreck)
{
	const struct wreck_layout *layout = &wreck->layout;
	struct wreck_facts *facts = &wreck->facts;
	uint64_t address, offsets, offset, queue, task;
	uint32_t cpu, pid;
	char time[24];

	facts->panic_cpu = facts->panic_pid = -1;
	if (note_text(wreck->memory.note, "CRASHTIME", time, sizeof(time)))
		facts->crash_time = strtoull(time, NULL, 10);
	if (!wreck_symbol(wreck, "panic_cpu", &address) || !memory_u32(&wreck->memory, address, &cpu) ||
	    cpu >= WRECK_CPUS_MAX)
		return;
	facts->panic_cpu = cpu;
	if (!layout->rq_curr.found || !layout->task_pid.found || !layout->task_comm.found ||
	    !wreck_symbol(wreck, "runqueues", &queue) || !wreck_symbol(wreck, "__per_cpu_offset", &offsets) ||
	    !memory_u64(&wreck->memory, offsets + cpu * sizeof(uint64_t), &offset))
		return;
	task = wreck_at(wreck, queue + offset, &layout->rq_curr);
	if (!task || !memory_u32(&wreck->memory, task + layout->task_pid.offset, &pid) ||
	    !memory_read(&wreck->memory, task + layout->task_comm.offset, facts->panic_comm, sizeof(facts->panic_comm)))
		return;
	facts->panic_comm[sizeof(facts->panic_comm) - 1] = '\0';
	facts->panic_pid = pid;
}

void wreck_facts_read(struct wreck *wreck)
{
	read_hash_key(wreck);
	read_names_of_machine(wreck);
	read_death(wreck);
}
