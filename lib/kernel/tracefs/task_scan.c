// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/task_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/xxh64.h"
#include "lib/kernel/tracefs/pids.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/meaning/event/tasks.h"

enum {
	DEPTH_MAX = 64,
	COMMAND_LINE_MAX = 256,
	COMM_LEN = TASK_COMM_LEN - 1,
	ARGUMENTS = 3,
	KERNEL_THREAD = 0x00200000, /* PF_KTHREAD of include/linux/sched.h */
	PATH_SIZE = 4352,
};

/* The hierarchy of control groups that tells services and containers. */
struct hierarchy {
	uint64_t number;      /* 0: version 2 */
	char controller[64];  /* as /proc/PID/cgroup names it; "" in version 2 */
	char root[PATH_SIZE]; /* where it is mounted; "": there is none */
};

struct scan {
	const struct task_scan_command *command;
	struct buf *tasks, *groups;
	struct hierarchy hierarchy;
	struct u64_map ids; /* by hash of the path: uint64_t, the id of the group */
	uint64_t nr_tasks, nr_groups, tasks_missing, groups_missing;
	bool starved;
};

/* Reads a small file: what it has at once. */
static size_t read_small(const char *path, char *into, size_t size)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? 0 : read(fd, into, size - 1);

	into[len > 0 ? len : 0] = '\0';
	return len > 0 ? (size_t)len : 0;
}

bool task_scan_text(struct buf *into, const char *text, size_t len)
{
	bool ok = true;

	for (size_t i = 0; ok && i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		ok = c < ' ' || c == '\\' || c == 0x7f ? buf_addf(into, "\\x%02x", c) : buf_add(into, &text[i], 1);
	}
	return ok;
}

static bool has_groups(const char *root)
{
	struct stat st;

	return *root && !stat(root, &st) && st.st_nlink > 2;
}

/* Whether a line of /proc/mounts mounts this hierarchy, and where. */
static bool is_mount_of(const char *line, size_t len, const struct hierarchy *hierarchy, char into[PATH_SIZE])
{
	char text[PATH_SIZE], place[PATH_SIZE], type[16], options[1024];
	const char *at = options;
	struct text_word word;

	if (len >= sizeof(text))
		return false;
	memcpy(text, line, len);
	text[len] = '\0';
	if (sscanf(text, "%*s %4351s %15s %1023s", place, type, options) != 3 ||
	    strcmp(type, *hierarchy->controller ? "cgroup" : "cgroup2"))
		return false;
	if (*hierarchy->controller) {
		bool has = false;

		while (!has && text_next_word(&at, ",", &word))
			has = text_word_is(word, hierarchy->controller);
		if (!has)
			return false;
	}
	snprintf(into, PATH_SIZE, "%s", place);
	return true;
}

static void find_mount(struct hierarchy *hierarchy)
{
	cleanup_buf struct buf mounts = BUF_INIT;
	struct text_word line;
	const char *at;
	size_t left;

	*hierarchy->root = '\0';
	if (tracing_read_path("/proc/mounts", &mounts, NULL))
		return;
	at = buf_str(&mounts);
	left = mounts.len;
	while (text_next_line(&at, &left, &line))
		if (is_mount_of(line.at, line.len, hierarchy, hierarchy->root))
			return;
}

/* Version 2 where it has groups, else systemd's own one, else the first one that has some. */
static void find_hierarchy(struct hierarchy *ret)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct hierarchy best = { .number = 0 };
	unsigned best_rank = 0;
	struct text_word line;
	const char *at;
	size_t left;

	*ret = best;
	if (tracing_read_path("/proc/self/cgroup", &text, NULL))
		return;
	at = buf_str(&text);
	left = text.len;
	while (text_next_line(&at, &left, &line)) {
		struct hierarchy one = { .number = strtoul(line.at, NULL, 10) };
		const char *colon = memchr(line.at, ':', line.len);
		unsigned rank;

		if (!colon)
			continue;
		snprintf(one.controller, sizeof(one.controller), "%.*s", (int)strcspn(colon + 1, ",:\n"), colon + 1);
		rank = !*one.controller ? 3 : !strcmp(one.controller, "name=systemd") ? 2 : 1;
		if (rank <= best_rank)
			continue;
		find_mount(&one);
		if (has_groups(one.root)) {
			best = one;
			best_rank = rank;
		}
	}
	*ret = best;
}

static bool add_group(struct scan *scan, const char *path, uint64_t id)
{
	uint64_t *known = u64_map_add(&scan->ids, xxh64(path, strlen(path)));

	if (known)
		*known = id;
	return known && buf_addf(scan->groups, "%" PRIu64 " %" PRIu64 " ", scan->hierarchy.number, id) &&
	       task_scan_text(scan->groups, path, strlen(path)) && buf_addf(scan->groups, "\n");
}

/* Who is told of each group. */
struct visit {
	int (*see)(const char *path, int dir, void *arg);
	void *arg;
	int err;
};

/* `fd` is taken. `path` is that of the group, of which `len` bytes are used, "" for the root. */
static void walk_groups(struct visit *visit, int fd, char path[PATH_SIZE], size_t len, unsigned depth)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		close(fd);
		return;
	}
	visit->err = visit->see(len ? path : "/", fd, visit->arg);
	while (!visit->err && depth && (entry = readdir(dir)) != NULL) {
		size_t name = strlen(entry->d_name);
		int below;

		if (entry->d_type != DT_DIR || *entry->d_name == '.' || len + name + 2 > PATH_SIZE)
			continue;
		below = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below < 0)
			continue;
		path[len] = '/';
		memcpy(path + len + 1, entry->d_name, name + 1);
		walk_groups(visit, below, path, len + 1 + name, depth - 1);
		path[len] = '\0';
	}
	closedir(dir);
}

static int walk_hierarchy(const struct hierarchy *hierarchy, int (*see)(const char *path, int dir, void *arg),
			  void *arg)
{
	int fd = *hierarchy->root ? open(hierarchy->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	struct visit visit = { .see = see, .arg = arg };
	char path[PATH_SIZE] = "";

	if (fd >= 0)
		walk_groups(&visit, fd, path, 0, DEPTH_MAX);
	return visit.err;
}

int cgroups_each(int (*see)(const char *path, int dir, void *arg), void *arg)
{
	struct hierarchy hierarchy;

	find_hierarchy(&hierarchy);
	return walk_hierarchy(&hierarchy, see, arg);
}

int cgroup_threads(int dir, struct buf *into)
{
	cleanup_fd int fd = openat(dir, "cgroup.threads", O_RDONLY | O_CLOEXEC);

	/* Version 1. */
	if (fd < 0)
		fd = openat(dir, "tasks", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	for (;;) {
		char text[4096];
		ssize_t len = read(fd, text, sizeof(text));

		if (len < 0 && errno == EINTR)
			continue;
		/* The group has ended. */
		if (len < 0 && errno != ENODEV)
			return -errno;
		if (len <= 0)
			return 0;
		if (!buf_add(into, text, (size_t)len))
			return -ENOMEM;
	}
}

static int see_group(const char *path, int dir, void *arg)
{
	struct scan *scan = arg;
	struct stat st;

	if (scan->nr_groups++ >= TASK_SCAN_TASKS || scan->groups->len > TASK_SCAN_SIZE)
		scan->groups_missing++;
	else if (!fstat(dir, &st))
		scan->starved |= !add_group(scan, path, st.st_ino);
	return 0;
}

static void scan_groups(struct scan *scan)
{
	find_hierarchy(&scan->hierarchy);
	(void)walk_hierarchy(&scan->hierarchy, see_group, scan);
	if (scan->groups_missing)
		scan->starved |= !buf_addf(scan->groups, "# %" PRIu64 " more\n", scan->groups_missing);
}

/* 0: unknown. */
static uint64_t group_of(const struct scan *scan, const char *task)
{
	char path[PATH_SIZE], text[8192], head[80];
	const char *at;
	uint64_t *id;

	snprintf(path, sizeof(path), "%s/cgroup", task);
	if (!*scan->hierarchy.root || !read_small(path, text, sizeof(text)))
		return 0;
	snprintf(head, sizeof(head), "%" PRIu64 ":", scan->hierarchy.number);
	for (at = text; *at && strncmp(at, head, strlen(head));)
		at = strchr(at, '\n') ? strchr(at, '\n') + 1 : "";
	at = *at ? strchr(at + strlen(head), ':') : NULL;
	id = at ? u64_map_find(&scan->ids, xxh64(at + 1, strcspn(at + 1, "\n"))) : NULL;
	return id ? *id : 0;
}

/* What `stat` and `status` say of a task. */
struct told {
	char comm[256];
	uint64_t parent, flags, started, user, inner;
};

static bool read_stat(const char *task, struct told *ret)
{
	char path[PATH_SIZE], text[1024];
	const char *open, *close;

	snprintf(path, sizeof(path), "%s/stat", task);
	if (!read_small(path, text, sizeof(text)))
		return false;
	/* The name is in parentheses and may have any bytes. */
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (!open || !close || close < open)
		return false;
	snprintf(ret->comm, sizeof(ret->comm), "%.*s", (int)(close - open - 1), open + 1);
	return sscanf(close + 1,
		      " %*c %" SCNu64 " %*d %*d %*d %*d %" SCNu64
		      " %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
		      &ret->parent, &ret->flags, &ret->started) == 3;
}

/* The user, and the PID in the innermost PID namespace. */
static void read_status(const char *task, struct told *ret)
{
	char path[PATH_SIZE], text[8192], *inner;

	snprintf(path, sizeof(path), "%s/status", task);
	if (!read_small(path, text, sizeof(text)))
		return;
	(void)number_after(text, "\nUid:\t", &ret->user);
	inner = strstr(text, "\nNSpid:");
	if (inner) {
		inner += strlen("\nNSpid:");
		inner[strcspn(inner, "\n")] = '\0';
		inner = strrchr(inner, '\t');
		ret->inner = inner ? strtoull(inner + 1, NULL, 10) : 0;
	}
}

/* Whether the kernel gives a task this name when it executes the file. */
static bool names(const char *file, const char *comm)
{
	const char *slash = strrchr(file, '/');

	file = slash ? slash + 1 : file;
	return *file && !strncmp(file, comm, COMM_LEN) && strlen(comm) <= COMM_LEN &&
	       (strlen(file) > COMM_LEN ? strlen(comm) == COMM_LEN : !strcmp(file, comm));
}

/*
 * The file that the process executed, as sched_process_exec has it: for a script that is not the interpreter, to which
 * /proc/PID/exe leads. The first of the program and the first arguments after which the kernel named the task.
 */
static const char *program_of(const struct told *told, const char *exe, const char *line, size_t len)
{
	const char *at = line;

	if (names(exe, told->comm))
		return exe;
	for (unsigned i = 0; i < ARGUMENTS && at < line + len; i++) {
		if (names(at, told->comm))
			return at;
		at += strlen(at) + 1;
	}
	return exe;
}

void task_file(const char *link, char *into, size_t size)
{
	ssize_t got = readlink(link, into, size - 1);
	char *deleted;

	into[got > 0 ? got : 0] = '\0';
	/* The kernel adds this to the path of a file that was replaced since, as an update does. */
	deleted = strstr(into, " (deleted)");
	if (deleted && !deleted[strlen(" (deleted)")])
		*deleted = '\0';
}

static bool put_process(struct scan *scan, pid_t process, const char *task, const struct told *told)
{
	char path[PATH_SIZE], exe[PATH_SIZE], line[COMMAND_LINE_MAX + 1];
	const char *program;
	size_t len;

	if (told->flags & KERNEL_THREAD)
		return buf_addf(scan->tasks, "(kernel)");
	if (scan->command->pid && process == scan->command->pid)
		return task_scan_text(scan->tasks, scan->command->program, strlen(scan->command->program));
	snprintf(path, sizeof(path), "%s/exe", task);
	task_file(path, exe, sizeof(exe));
	snprintf(path, sizeof(path), "%s/cmdline", task);
	len = read_small(path, line, sizeof(line));
	program = program_of(told, exe, line, len);
	return task_scan_text(scan->tasks, program, strlen(program));
}

/*
 * TID TGID PPID STARTTIME UID NSPID CGROUP, and behind tabs the name and the program, which only the first thread has.
 * Arguments are not saved: people give files away, and arguments have passwords.
 * *nested: the process has another PID in a namespace of PIDs of its own.
 */
static void put_task(struct scan *scan, pid_t process, pid_t tid, struct told *told, bool *nested)
{
	char task[64];

	snprintf(task, sizeof(task), "/proc/%d/task/%d", (int)process, (int)tid);
	if (!read_stat(task, told))
		return;
	if (scan->nr_tasks++ >= TASK_SCAN_TASKS || scan->tasks->len > TASK_SCAN_SIZE) {
		scan->tasks_missing++;
		return;
	}
	told->inner = (uint64_t)tid;
	if (tid == process || *nested)
		read_status(task, told);
	if (tid == process)
		*nested = told->inner != (uint64_t)tid;
	scan->starved |=
		!buf_addf(scan->tasks, "%d %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\t", (int)tid,
			  (int)process, told->parent, told->started, told->user, told->inner, group_of(scan, task)) ||
		!task_scan_text(scan->tasks, told->comm, strlen(told->comm)) || !buf_addf(scan->tasks, "\t") ||
		(tid == process && !put_process(scan, process, task, told)) || !buf_addf(scan->tasks, "\n");
}

/* The first thread comes first, so that a reader knows its process when the others come. */
static void put_threads(struct scan *scan, pid_t process)
{
	cleanup_pids DIR *threads = pids_of_threads(process);
	struct told told = { .user = 0 };
	bool nested = false;
	pid_t tid;

	put_task(scan, process, process, &told, &nested);
	while ((tid = pids_next(threads)) != 0)
		if (tid != process)
			put_task(scan, process, tid, &told, &nested);
}

int task_scan(const struct task_scan_command *command, struct buf *tasks, struct buf *groups, struct fail *fail)
{
	struct scan scan = { .command = command, .tasks = tasks, .groups = groups };
	cleanup_pids DIR *all = pids_of_all();
	pid_t process;

	u64_map_init(&scan.ids, sizeof(uint64_t));
	if (all)
		scan_groups(&scan);
	while (!scan.starved && (process = pids_next(all)) != 0)
		put_threads(&scan, process);
	if (scan.tasks_missing)
		scan.starved |= !buf_addf(tasks, "# %" PRIu64 " more\n", scan.tasks_missing);
	u64_map_release(&scan.ids);
	return scan.starved ? fail_memory(fail) : 0;
}
