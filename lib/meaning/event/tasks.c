// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/event/tasks.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/populate.h"

enum {
	TASKS_MAX = 1 << 23, /* the kernel has at most 4 Mi pids */
	NAME_MAX_LEN = 4096,
	HEADS_MAX = 1 << 16, /* limit of slots: the heads of more tasks would not fit into a cache */
};

static const char blanks[] = "                ";
static const char known_names[] = "                <idle>\0                <XXX>\0                <...>";

const char *const task_no_name = known_names + 61;

/* An open-addressing table by pid; pid 0 marks a free slot: it has a fixed name. */
struct task {
	int32_t pid;
	uint32_t name; /* offset in names; 0: unknown */
	uint32_t len;
};

/*
 * A table of the same kind. saved_tgids has a line for each PID that the machine ever used, tens of thousands, and most
 * readers ask for none: the text is read when somebody does.
 */
struct tgids {
	struct tgid {
		int32_t pid, tgid;
	} * slots;
	size_t most; /* as many have room */
	uint32_t mask;
	const char *text; /* borrowed until it is read */
	size_t len;
	pthread_mutex_t lock;
	atomic_bool read;
};

struct tasks {
	struct task *slots;
	uint32_t mask;      /* number of slots - 1 */
	struct buf names;   /* each name follows TASK_NAME_PAD blanks and ends with a NUL */
	struct head *heads; /* by slot; NULL: not used */
	struct tgids *tgids;
};

/* A copy of the pid, so that a lookup touches only one cache line. */
struct head {
	char text[TASK_HEAD_ROOM - sizeof(int32_t)]; /* "" if there is none */
	int32_t pid;
};

static const char idle_head[TASK_HEAD_ROOM] = "          <idle>-0       ";

static inline uint32_t first_slot(uint32_t mask, int32_t pid)
{
	uint32_t at = (uint32_t)pid * 0x9e3779b1u;

	return (at ^ at >> 16) & mask;
}

static uint32_t slot_of(const struct tasks *tasks, int32_t pid)
{
	uint32_t at;

	for (at = first_slot(tasks->mask, pid); tasks->slots[at].pid; at = (at + 1) & tasks->mask)
		if (tasks->slots[at].pid == pid)
			break;
	return at;
}

static struct tgid *tgid_slot(const struct tgids *tgids, int32_t pid)
{
	uint32_t at;

	for (at = first_slot(tgids->mask, pid); tgids->slots[at].pid; at = (at + 1) & tgids->mask)
		if (tgids->slots[at].pid == pid)
			break;
	return &tgids->slots[at];
}

/* Room for `count` tasks at a load of one half: so a search is short and always ends at a free slot. */
static size_t slots_for(size_t count)
{
	size_t slots = 64;

	while (slots < count * 2)
		slots *= 2;
	return slots;
}

static struct task *tasks_slot(struct tasks *tasks, int32_t pid)
{
	struct task *task = &tasks->slots[slot_of(tasks, pid)];

	task->pid = pid;
	return task;
}

/* Parses "123 rest": true with the number and the start of the rest. Numbers that no pid can have are rejected. */
static bool take_pid(const char **at, const char *end, int32_t *ret)
{
	const char *digit = *at;
	int64_t value = 0;

	while (digit < end && *digit == ' ')
		digit++;
	if (digit == end || *digit < '0' || *digit > '9')
		return false;
	for (; digit < end && *digit >= '0' && *digit <= '9'; digit++) {
		value = value * 10 + (*digit - '0');
		if (value > INT32_MAX)
			return false;
	}
	if (digit < end && *digit != ' ')
		return false;
	*at = digit < end ? digit + 1 : end;
	*ret = (int32_t)value;
	return true;
}

/* A number with a blank after it begins a name: "%d %s\n", even when the name is empty. */
static bool take_name_pid(const char **at, const char *end, int32_t *ret)
{
	const char *behind = *at;

	if (!take_pid(&behind, end, ret) || behind[-1] != ' ')
		return false;
	*at = behind;
	return true;
}

static size_t count_lines(const char *text, size_t len)
{
	const char *end = text + len;
	size_t count = 0;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		count++;
		text = newline ? newline + 1 : end;
	}
	return count;
}

static bool add_name(struct tasks *tasks, int32_t pid, const char *name, size_t len)
{
	struct task *task;

	if (len > NAME_MAX_LEN)
		len = NAME_MAX_LEN;
	if (!buf_add(&tasks->names, blanks, TASK_NAME_PAD))
		return false;
	task = tasks_slot(tasks, pid);
	task->name = (uint32_t)tasks->names.len;
	task->len = (uint32_t)len;
	return buf_add(&tasks->names, name, len) && buf_add(&tasks->names, "", 1);
}

/* The end of a name that starts at `at`: newlines belong to it as long as no number follows them. */
static const char *name_end(const char *at, const char *end)
{
	const char *newline, *next;
	int32_t pid;

	while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
		next = newline + 1;
		if (next == end || take_name_pid(&next, end, &pid))
			return newline;
		at = newline + 1;
	}
	return end;
}

static bool add_names(struct tasks *tasks, const char *text, size_t len)
{
	const char *at = text, *end = text + len;
	int32_t pid;

	while (at < end) {
		const char *stop;

		if (!take_name_pid(&at, end, &pid)) {
			stop = memchr(at, '\n', (size_t)(end - at));
		} else {
			stop = name_end(at, end);
			if (pid && !add_name(tasks, pid, at, (size_t)(stop - at)))
				return false;
		}
		at = stop && stop < end ? stop + 1 : end;
	}
	return true;
}

static void read_tgids(struct tgids *tgids)
{
	const char *at = tgids->text, *end = at + tgids->len;
	size_t lines = count_lines(at, tgids->len), slots = slots_for(lines < tgids->most ? lines : tgids->most);
	int32_t pid, tgid;

	tgids->mask = (uint32_t)slots - 1;
	populate(tgids->slots, slots * sizeof(*tgids->slots));
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		if (!stop)
			stop = end;
		if (take_pid(&at, stop, &pid) && pid && take_pid(&at, stop, &tgid))
			*tgid_slot(tgids, pid) = (struct tgid){ pid, tgid };
		at = stop < end ? stop + 1 : end;
	}
}

void tasks_read_tgids(const struct tasks *tasks)
{
	struct tgids *tgids = tasks->tgids;

	pthread_mutex_lock(&tgids->lock);
	if (!atomic_load_explicit(&tgids->read, memory_order_relaxed)) {
		read_tgids(tgids);
		atomic_store_explicit(&tgids->read, true, memory_order_release);
	}
	pthread_mutex_unlock(&tgids->lock);
}

/* At most so many lines that tell a thread group: the shortest one is "1 1". */
static size_t most_tgids(const char *text, size_t len)
{
	size_t most = len / sizeof("1 1") + 1;

	return most <= TASKS_MAX ? most : count_lines(text, len);
}

static struct tgids *tgids_new(const char *text, size_t len, size_t most)
{
	struct tgids *tgids = calloc(1, sizeof(*tgids));

	if (!tgids)
		return NULL;
	tgids->slots = calloc(slots_for(most), sizeof(*tgids->slots));
	tgids->most = most;
	tgids->text = text;
	tgids->len = len;
	pthread_mutex_init(&tgids->lock, NULL);
	return tgids;
}

static void tgids_free(struct tgids *tgids)
{
	if (!tgids)
		return;
	pthread_mutex_destroy(&tgids->lock);
	free(tgids->slots);
	free(tgids);
}

static bool is_complete(const struct tasks *tasks)
{
	return tasks->slots && tasks->tgids && tasks->tgids->slots;
}

/* Heads only save time: without memory for them, lines are printed piece by piece. */
static void add_heads(struct tasks *tasks)
{
	if (tasks->mask >= HEADS_MAX)
		return;
	tasks->heads = calloc(tasks->mask + (size_t)1, sizeof(*tasks->heads));
	for (uint32_t i = 0; tasks->heads && i <= tasks->mask; i++) {
		const struct task *task = &tasks->slots[i];
		char head[64];

		tasks->heads[i].pid = task->pid;
		if (!task->name || task->len > TASK_NAME_PAD || strlen(tasks->names.data + task->name) != task->len)
			continue;
		if (snprintf(head, sizeof(head), "%16s-%-7d ", tasks->names.data + task->name, task->pid) ==
		    TASK_HEAD_LEN)
			memcpy(tasks->heads[i].text, head, TASK_HEAD_LEN);
	}
}

int tasks_new(const char *cmdlines, size_t cmdlines_len, const char *tgids, size_t tgids_len, struct tasks **ret,
	      struct fail *fail)
{
	struct tasks *tasks = calloc(1, sizeof(*tasks));
	size_t lines = cmdlines ? count_lines(cmdlines, cmdlines_len) : 0,
	       groups = tgids ? most_tgids(tgids, tgids_len) : 0;

	if (!tasks)
		return fail_memory(fail);
	if (lines > TASKS_MAX || groups > TASKS_MAX) {
		tasks_free(tasks);
		return fail_set(fail, -E2BIG, "%zu task names are more than any kernel has",
				lines > groups ? lines : groups);
	}
	tasks->mask = (uint32_t)slots_for(lines) - 1;
	tasks->slots = calloc(tasks->mask + (size_t)1, sizeof(*tasks->slots));
	tasks->tgids = tgids_new(tgids ? tgids : "", tgids ? tgids_len : 0, groups);
	if (!is_complete(tasks) || (cmdlines && !add_names(tasks, cmdlines, cmdlines_len))) {
		tasks_free(tasks);
		return fail_memory(fail);
	}
	add_heads(tasks);
	*ret = tasks;
	return 0;
}

void tasks_free(struct tasks *tasks)
{
	if (!tasks)
		return;
	free(tasks->slots);
	free(tasks->heads);
	tgids_free(tasks->tgids);
	buf_release(&tasks->names);
	free(tasks);
}

struct task_name task_name(const struct tasks *tasks, int32_t pid)
{
	const struct task *task;

	if (pid > 0) {
		task = &tasks->slots[slot_of(tasks, pid)];
		if (task->name)
			return (struct task_name){ .text = tasks->names.data + task->name, .len = task->len };
		return (struct task_name){ .text = task_no_name, .len = 5 };
	}
	if (!pid)
		return (struct task_name){ .text = known_names + 16, .len = 6 };
	return (struct task_name){ .text = known_names + 39, .len = 5 };
}

const char *task_head(const struct tasks *tasks, int32_t pid)
{
	if (pid <= 0 || !tasks->heads)
		return pid ? NULL : idle_head;
	for (uint32_t at = first_slot(tasks->mask, pid);; at = (at + 1) & tasks->mask) {
		const struct head *head = &tasks->heads[at];

		if (head->pid == pid)
			return *head->text ? (const char *)head : NULL;
		if (!head->pid)
			return NULL;
	}
}

bool task_known(const struct tasks *tasks, int32_t pid)
{
	return pid <= 0 || tasks->slots[slot_of(tasks, pid)].name;
}

int32_t task_tgid(const struct tasks *tasks, int32_t pid)
{
	if (pid <= 0)
		return 0;
	if (__builtin_expect(!atomic_load_explicit(&tasks->tgids->read, memory_order_acquire), 0))
		tasks_read_tgids(tasks);
	return tgid_slot(tasks->tgids, pid)->tgid;
}

bool tasks_each(const struct tasks *tasks, size_t *at, int32_t *ret_pid)
{
	for (; tasks->slots && *at <= tasks->mask; (*at)++)
		if (tasks->slots[*at].pid) {
			*ret_pid = tasks->slots[(*at)++].pid;
			return true;
		}
	return false;
}

/* '%': up to seven digits. */
static const char *const kernel_threads[] = {
	"kworker/%:%H",
	"kworker/%:%",
	"kworker/u%:%H",
	"kworker/u%:%",
	"ksoftirqd/%",
	"migration/%",
	"cpuhp/%",
	"idle_inject/%",
	"rcuc/%",
	"rcub/%",
	"rcuop/%",
	"rcuos/%",
	"rcuog/%",
	"ktimers/%",
	"ktimersoftd/%",
	"irq/%",
	"kswapd%",
	"kcompactd%",
	"watchdog/%",
	"irq_work/%",
	"backlog_napi/%",
	"posixcputmr/%",
	"swapper/%",
	"scsi_eh_%",
	/* A slash and the name of a disk come behind these. */
	"jbd2",
	"xfsaild",
	"xfs-buf",
	"xfs-conv",
	"dmcrypt_write",
	"kdmflush",
	"loop%",
	"btrfs-cleaner",
	"btrfs-transacti",
	"ext4-rsv-conver",
	"kthreadd",
	"rcu_preempt",
	"rcu_sched",
	"rcu_bh",
	"rcu_gp",
	"rcu_par_gp",
	"rcu_tasks_kthre",
	"rcu_tasks_rude_",
	"rcu_tasks_trace",
	"rcu_exp_gp_kthr",
	"rcu_exp_par_gp_",
	"rcu_tasks_kthread",
	"khugepaged",
	"ksmd",
	"oom_reaper",
	"kauditd",
	"kdevtmpfs",
	"khungtaskd",
	"pool_workqueue_",
	"kblockd",
	"kthrotld",
	"kintegrityd",
	NULL,
};

/* The bytes of a name that a pattern covers; 0: it does not match. */
static size_t covers(const char *pattern, const char *name, size_t len)
{
	size_t at = 0;

	for (; *pattern; pattern++) {
		size_t nr = 0;

		if (*pattern != '%') {
			if (at == len || name[at++] != *pattern)
				return 0;
			continue;
		}
		while (at < len && nr < 7 && name[at] >= '0' && name[at] <= '9')
			at++, nr++;
		if (!nr)
			return 0;
	}
	return at == len || strchr("-+:/", name[at]) ? at : 0;
}

size_t task_kernel_name(const char *name, size_t len)
{
	size_t head = 0;

	for (size_t i = 0; !head && kernel_threads[i]; i++)
		head = covers(kernel_threads[i], name, len);
	return head;
}
