// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/known_internal.h"

#include <string.h>

#include "lib/ground/base/cleanup.h"

static const struct known always[] = {
#define WAKEUP "char comm[16];pid_t pid;int prio;int target_cpu"
#define WAKEUP_PRINT "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, REC->target_cpu"
	{ "sched", "sched_waking", WAKEUP, WAKEUP_PRINT, NULL },
	{ "sched", "sched_wakeup", WAKEUP, WAKEUP_PRINT, NULL },
	{ "sched", "sched_wakeup_new", WAKEUP, WAKEUP_PRINT, NULL },
	/* The last letters are those of kernels before 4.14, with bits of their own. */
	{ "sched", "sched_switch",
	  "char prev_comm[16];pid_t prev_pid;int prev_prio;long prev_state;char "
	  "next_comm[16];pid_t next_pid;int next_prio",
	  "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d\", "
	  "REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xeff) ? __print_flags(REC->prev_state & "
	  "0xeff, \"|\", { 0x01, \"S\" }, { 0x02, \"D\" }, { 0x04, \"T\" }, { 0x08, \"t\" }, { 0x10, \"X\" }, { 0x20, "
	  "\"Z\" }, { 0x40, \"P\" }, { 0x80, \"I\" }, { 0x200, \"x\" }, { 0x400, \"K\" }, { 0x800, \"W\" }) : \"R\", "
	  "REC->prev_state & 0x100 ? \"+\" : \"\", REC->next_comm, "
	  "REC->next_pid, REC->next_prio",
	  NULL },
	{ "sched", "sched_migrate_task", "char comm[16];pid_t pid;int prio;int orig_cpu;int dest_cpu",
	  "\"comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d\", REC->comm, REC->pid, REC->prio, "
	  "REC->orig_cpu, REC->dest_cpu",
	  NULL },
	{ "sched", "sched_process_fork", "char parent_comm[16];pid_t parent_pid;char child_comm[16];pid_t child_pid",
	  "\"comm=%s pid=%d child_comm=%s child_pid=%d\", REC->parent_comm, REC->parent_pid, REC->child_comm, "
	  "REC->child_pid",
	  NULL },
	{ "sched", "sched_process_exit", "char comm[16];pid_t pid;int prio",
	  "\"comm=%s pid=%d prio=%d\", REC->comm, REC->pid, REC->prio", NULL },
	{ "sched", "sched_process_exec", "__data_loc char[] filename;pid_t pid;pid_t old_pid",
	  "\"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, REC->old_pid", NULL },
	{ "sched", "sched_pi_setprio", "char comm[16];pid_t pid;int oldprio;int newprio",
	  "\"comm=%s pid=%d oldprio=%d newprio=%d\", REC->comm, REC->pid, REC->oldprio, REC->newprio", NULL },
	{ "irq", "irq_handler_entry", "int irq;__data_loc char[] name", "\"irq=%d name=%s\", REC->irq, __get_str(name)",
	  NULL },
	{ "irq", "irq_handler_exit", "int irq;int ret",
	  "\"irq=%d ret=%s\", REC->irq, REC->ret ? \"handled\" : \"unhandled\"", NULL },
#define SOFTIRQ_PRINT                                                                                       \
	"\"vec=%u [action=%s]\", REC->vec, __print_symbolic(REC->vec, { 0, \"HI\" }, { 1, \"TIMER\" }, "    \
	"{ 2, \"NET_TX\" }, { 3, \"NET_RX\" }, { 4, \"BLOCK\" }, { 5, \"IRQ_POLL\" }, { 6, \"TASKLET\" }, " \
	"{ 7, \"SCHED\" }, { 8, \"HRTIMER\" }, { 9, \"RCU\" })"
	{ "irq", "softirq_entry", "unsigned int vec", SOFTIRQ_PRINT, NULL },
	{ "irq", "softirq_exit", "unsigned int vec", SOFTIRQ_PRINT, NULL },
	{ "irq", "softirq_raise", "unsigned int vec", SOFTIRQ_PRINT, NULL },
	{ "raw_syscalls", "sys_enter", "long id;unsigned long args[6]",
	  "\"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)\", REC->id, REC->args[0], REC->args[1], REC->args[2], REC->args[3], "
	  "REC->args[4], REC->args[5]",
	  NULL },
	{ "raw_syscalls", "sys_exit", "long id;long ret", "\"NR %ld = %ld\", REC->id, REC->ret", NULL },
	{ "power", "cpu_idle", "u32 state;u32 cpu_id",
	  "\"state=%lu cpu_id=%lu\", (unsigned long)REC->state, (unsigned long)REC->cpu_id", NULL },
	{ "power", "cpu_frequency", "u32 state;u32 cpu_id",
	  "\"state=%lu cpu_id=%lu\", (unsigned long)REC->state, (unsigned long)REC->cpu_id", NULL },
};

#define WOKEN "char comm[16];pid_t pid;int prio;int success;int target_cpu"
#define WOKEN_PRINT                                                                               \
	"\"comm=%s pid=%d prio=%d success=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, " \
	"REC->success, REC->target_cpu"
#define OLD_WOKEN_PRINT                                                                         \
	"\"task %s:%d [%d] success=%d [%03d]\", REC->comm, REC->pid, REC->prio, REC->success, " \
	"REC->target_cpu"
/*
 * Requests and bios of disks; since 6.11 a request has its I/O priority. REQUEST() and REQUEST_END() are two formats
 * each.
 */
#define PLACE "u32 dev;u64 sector;unsigned int nr_sector;char rwbs[10]"
#define DEVICE "REC->dev >> 20, REC->dev & ((1U << 20) - 1), "
#define PLACE_FIELDS DEVICE "REC->rwbs, REC->sector, REC->nr_sector"
#define PRIORITY ";char ioprio_class[12];unsigned int ioprio_hint;unsigned int ioprio_level"
#define PRIORITY_FIELDS ", REC->ioprio_class, REC->ioprio_hint, REC->ioprio_level"
#define BIO(name)                                                                                                  \
	{                                                                                                          \
		"block", name, PLACE ";char comm[16]", "\"%d,%d %s %llu + %u [%s]\", " PLACE_FIELDS ", REC->comm", \
			" + "                                                                                      \
	}
#define REQUEST_OF(name, more, conversions, fields)                                                                \
	{                                                                                                          \
		"block", name, PLACE ";unsigned int bytes;char comm[16];__data_loc char[] cmd" more,               \
			"\"%d,%d %s %u (%s) %llu + %u " conversions "[%s]\", " DEVICE                              \
			"REC->rwbs, REC->bytes, __get_str(cmd), REC->sector, REC->nr_sector" fields ", REC->comm", \
			") "                                                                                       \
	}
#define REQUEST_END_OF(name, more, conversions, fields)                                                 \
	{                                                                                               \
		"block", name, PLACE ";int error;__data_loc char[] cmd" more,                           \
			"\"%d,%d %s (%s) %llu + %u " conversions "[%d]\", " DEVICE                      \
			"REC->rwbs, __get_str(cmd), REC->sector, REC->nr_sector" fields ", REC->error", \
			") "                                                                            \
	}
#define REQUEST(name) REQUEST_OF(name, "", "", ""), REQUEST_OF(name, PRIORITY, "%s,%u,%u ", PRIORITY_FIELDS)
#define REQUEST_END(name) REQUEST_END_OF(name, "", "", ""), REQUEST_END_OF(name, PRIORITY, "%s,%u,%u ", PRIORITY_FIELDS)
#define VECTOR(name)                                                                               \
	{ "irq_vectors", name "_entry", "int vector", "\"vector=%d\", REC->vector", "vector=" },   \
	{                                                                                          \
		"irq_vectors", name "_exit", "int vector", "\"vector=%d\", REC->vector", "vector=" \
	}
#define TIMER_START "u64 hrtimer;u64 function;s64 expires;s64 softexpires"
#define TIMER_FIELDS "REC->hrtimer, (void *)REC->function, REC->expires, REC->softexpires"
/* clang-format off */
/* The events whose text has addresses, which have 16 digits or, on kernels of 32 bits, 8. */
#define ADDRESSES(x)                                                                                                \
	{ "timer", "timer_expire_entry", "u64 timer;u64 function;u64 now;u64 baseclk",                              \
	  "\"timer=" x " function=%ps now=%llu baseclk=%llu\", REC->timer, (void *)REC->function, REC->now, "       \
	  "REC->baseclk",                                                                                           \
	  "=" },                                                                                                    \
	{ "timer", "timer_expire_exit", "u64 timer", "\"timer=" x "\", REC->timer", "=" },                          \
	{ "timer", "hrtimer_start", TIMER_START ";__data_loc char[] mode;int was_armed",                            \
	  "\"hrtimer=" x " function=%ps expires=%llu softexpires=%llu mode=%s was_armed=%d\", " TIMER_FIELDS        \
	  ", __get_str(mode), REC->was_armed",                                                                      \
	  " was_armed=" },                                                                                          \
	{ "timer", "hrtimer_start", TIMER_START ";__data_loc char[] mode",                                          \
	  "\"hrtimer=" x " function=%ps expires=%llu softexpires=%llu mode=%s\", " TIMER_FIELDS ", __get_str(mode)", \
	  " mode=" },                                                                                               \
	{ "timer", "hrtimer_start", TIMER_START,                                                                    \
	  "\"hrtimer=" x " function=%ps expires=%llu softexpires=%llu\", " TIMER_FIELDS, " softexpires=" },         \
	{ "timer", "hrtimer_expire_entry", "u64 hrtimer;u64 function;s64 now",                                      \
	  "\"hrtimer=" x " function=%ps now=%llu\", REC->hrtimer, (void *)REC->function, REC->now", "=" },          \
	{ "timer", "hrtimer_expire_exit", "u64 hrtimer", "\"hrtimer=" x "\", REC->hrtimer", "=" },                  \
	{ "workqueue", "workqueue_queue_work",                                                                      \
	  "u64 work;u64 function;__data_loc char[] workqueue;int req_cpu;int cpu",                                  \
	  "\"work struct=" x " function=%ps workqueue=%s req_cpu=%d cpu=%d\", REC->work, (void *)REC->function, "   \
	  "__get_str(workqueue), REC->req_cpu, REC->cpu",                                                           \
	  "work struct=" },                                                                                         \
	{ "workqueue", "workqueue_execute_start", "u64 work;u64 function",                                          \
	  "\"work struct " x ": function %ps\", REC->work, (void *)REC->function", "work struct " },                \
	{ "workqueue", "workqueue_execute_end", "u64 work;u64 function",                                            \
	  "\"work struct " x ": function %ps\", REC->work, (void *)REC->function", ": function " },                 \
	{                                                                                                           \
		"workqueue", "workqueue_execute_end", "u64 work", "\"work struct " x "\", REC->work", "work struct " \
	}

/* clang-format on */

static const struct known rarely[] = {
	/* before 4.12 */
	{ "sched", "sched_waking", WOKEN, WOKEN_PRINT, " success=" },
	{ "sched", "sched_wakeup", WOKEN, WOKEN_PRINT, " success=" },
	{ "sched", "sched_wakeup_new", WOKEN, WOKEN_PRINT, " success=" },
	{ "task", "task_newtask", "pid_t pid;char comm[16];unsigned long clone_flags;s16 oom_score_adj",
	  "\"pid=%d comm=%s clone_flags=%lx oom_score_adj=%hd\", REC->pid, REC->comm, REC->clone_flags, "
	  "REC->oom_score_adj",
	  "pid=" },
	{ "task", "task_rename", "pid_t pid;char oldcomm[16];char newcomm[16];s16 oom_score_adj",
	  "\"pid=%d oldcomm=%s newcomm=%s oom_score_adj=%hd\", REC->pid, REC->oldcomm, REC->newcomm, "
	  "REC->oom_score_adj",
	  "pid=" },
	/* 2.6.30 to 2.6.33 */
	{ "sched", "sched_wakeup", WOKEN, OLD_WOKEN_PRINT, "task " },
	{ "sched", "sched_wakeup_new", WOKEN, OLD_WOKEN_PRINT, "task " },
	{ "sched", "sched_switch",
	  "char prev_comm[16];pid_t prev_pid;int prev_prio;long prev_state;char next_comm[16];pid_t next_pid;int "
	  "next_prio",
	  "\"task %s:%d [%d] (%s) ==> %s:%d [%d]\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "
	  "REC->prev_state ? __print_flags(REC->prev_state, \"|\", "
	  "{ 1, \"S\" }, { 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, "
	  "{ 16, \"Z\" }, { 32, \"X\" }, { 64, \"x\" }, { 128, \"W\" }) : \"R\", "
	  "REC->next_comm, REC->next_pid, REC->next_prio",
	  "task " },
	{ "sched", "sched_migrate_task", "char comm[16];pid_t pid;int prio;int orig_cpu;int dest_cpu",
	  "\"task %s:%d [%d] from: %d  to: %d\", REC->comm, REC->pid, REC->prio, REC->orig_cpu, REC->dest_cpu",
	  "task " },
	{ "sched", "sched_process_fork", "char parent_comm[16];pid_t parent_pid;char child_comm[16];pid_t child_pid",
	  "\"parent %s:%d  child %s:%d\", REC->parent_comm, REC->parent_pid, REC->child_comm, REC->child_pid",
	  "parent " },
	{ "sched", "sched_process_exit", "char comm[16];pid_t pid;int prio",
	  "\"task %s:%d [%d]\", REC->comm, REC->pid, REC->prio", "task " },
	REQUEST("block_rq_insert"),
	REQUEST("block_rq_issue"),
	REQUEST("block_rq_merge"),
	REQUEST_END("block_rq_complete"),
	REQUEST_END("block_rq_requeue"),
	REQUEST_END("block_rq_error"),
	BIO("block_bio_queue"),
	BIO("block_bio_backmerge"),
	BIO("block_bio_frontmerge"),
	BIO("block_bio_bounce"),
	BIO("block_getrq"),
	{ "block", "block_bio_complete", PLACE ";int error",
	  "\"%d,%d %s %llu + %u [%d]\", " PLACE_FIELDS ", REC->error", " + " },
	{ "block", "block_split", "u32 dev;u64 sector;u64 new_sector;char rwbs[10];char comm[16]",
	  "\"%d,%d %s %llu / %llu [%s]\", " DEVICE "REC->rwbs, REC->sector, REC->new_sector, REC->comm", " / " },
	{ "block", "block_bio_remap", PLACE ";u32 old_dev;u64 old_sector",
	  "\"%d,%d %s %llu + %u <- (%d,%d) %llu\", " PLACE_FIELDS
	  ", REC->old_dev >> 20, REC->old_dev & ((1U << 20) - 1), REC->old_sector",
	  " <- " },
	{ "block", "block_rq_remap", PLACE ";u32 old_dev;u64 old_sector;unsigned int nr_bios",
	  "\"%d,%d %s %llu + %u <- (%d,%d) %llu %u\", " PLACE_FIELDS
	  ", REC->old_dev >> 20, REC->old_dev & ((1U << 20) - 1), REC->old_sector, REC->nr_bios",
	  " <- " },
	VECTOR("local_timer"),
	VECTOR("spurious_apic"),
	VECTOR("error_apic"),
	VECTOR("x86_platform_ipi"),
	VECTOR("irq_work"),
	VECTOR("reschedule"),
	VECTOR("call_function"),
	VECTOR("call_function_single"),
	VECTOR("threshold_apic"),
	VECTOR("deferred_error_apic"),
	VECTOR("thermal_apic"),
	ADDRESSES("%016llx"),
	ADDRESSES("%08llx"),
};

const struct known *known_always(size_t *ret_nr)
{
	*ret_nr = array_size(always);
	return always;
}

const struct known *known_named(const char *name, size_t len)
{
	for (size_t i = 0; i < array_size(always); i++)
		if (!strncmp(always[i].name, name, len) && !always[i].name[len])
			return &always[i];
	return NULL;
}

const struct known *known_rarely(size_t *ret_nr)
{
	*ret_nr = array_size(rarely);
	return rarely;
}

uint32_t known_size(const char *field)
{
	static const struct {
		const char *name;
		uint32_t size;
	} sizes[] = { { "char ", 1 },
		      { "__data_loc char[] ", 4 },
		      { "u8 ", 1 },
		      { "u16 ", 2 },
		      { "s16 ", 2 },
		      { "int ", 4 },
		      { "unsigned int ", 4 },
		      { "u32 ", 4 },
		      { "pid_t ", 4 },
		      { "long ", 8 },
		      { "unsigned long ", 8 },
		      { "s64 ", 8 },
		      { "u64 ", 8 } };

	for (size_t i = 0; i < array_size(sizes); i++)
		if (!strncmp(sizes[i].name, field, strlen(sizes[i].name)))
			return sizes[i].size;
	return 0;
}
