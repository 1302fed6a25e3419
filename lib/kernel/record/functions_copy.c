// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/maps_copy_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/dir.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/sandbox.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/probe/elf_functions.h"
#include "lib/kernel/probe/elf_unwind.h"
#include "lib/kernel/tracefs/settings.h"
#include "lib/meaning/names/maps.h"

enum { CPU_SECONDS = 20, HEAD = 1 << 16, FILE_TEXT_MAX = 2 << 20 };
#define MEMORY_MAX (UINT64_C(8) << 30)
#define FILE_MAX (UINT64_C(1) << 30)

struct mapped {
	struct text_word path; /* in the settings */
	uint64_t inode;
	int fd, debug;
	char id[BUILD_ID_TEXT];
};

struct copy {
	struct mapped *files;
	size_t nr;
	struct buf *into, *unwind; /* unwind: NULL: not needed */
};

/*
 * An ordinary file, and with `inode` that one; -1: it is not. Another user may have put anything there meanwhile, so it
 * is looked at before it is opened: a device may do something when it is opened.
 */
static int open_it(const char *path, uint64_t inode)
{
	cleanup_fd int found = open(path, O_PATH | O_CLOEXEC);
	struct stat stat;
	int fd;

	if (found < 0 || fstat(found, &stat) || !S_ISREG(stat.st_mode) || (inode && stat.st_ino != inode) ||
	    stat.st_size <= 0 || (uint64_t)stat.st_size > FILE_MAX)
		return -1;
	return dir_reopen(AT_FDCWD, path, found, O_RDONLY | O_NONBLOCK | O_NOCTTY, &fd) ? -1 : fd;
}

/* In a container, or when the file was removed, the path of the process itself leads to it while the process lives. */
static int open_mapped(const char *pid, size_t pid_len, const struct map *map)
{
	char path[PATH_MAX];
	int fd = -1;

	if (map->path_len < sizeof(path)) {
		snprintf(path, sizeof(path), "%.*s", (int)map->path_len, map->path);
		fd = open_it(path, map->inode);
	}
	if (fd < 0) {
		snprintf(path, sizeof(path), "/proc/%.*s/map_files/%" PRIx64 "-%" PRIx64, (int)pid_len, pid, map->start,
			 map->end);
		fd = open_it(path, map->inode);
	}
	return fd;
}

static void find_id(struct mapped *file)
{
	cleanup_free char *head = malloc(HEAD);
	ssize_t len = head ? io_pread(file->fd, head, HEAD, 0) : -1;
	char path[BUILD_ID_TEXT + 64];

	file->debug = -1;
	*file->id = '\0';
	if (len > 0)
		elf_build_id(&(struct elf_image){ head, (size_t)len }, file->id);
	if (strlen(file->id) < 4)
		return;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", file->id, file->id + 2);
	file->debug = open_it(path, 0);
}

static bool is_known(const struct copy *copy, const struct map *map)
{
	for (size_t i = 0; i < copy->nr; i++) {
		const struct mapped *file = &copy->files[i];

		if (file->inode == map->inode && file->path.len == map->path_len &&
		    !memcmp(file->path.at, map->path, map->path_len))
			return true;
	}
	return false;
}

static int add_file(struct copy *copy, const char *pid, size_t pid_len, const struct map *map, struct fail *fail)
{
	struct mapped *file;

	if (!map->path || !map->executable || *map->path != '/' || copy->nr >= FUNCTIONS_COPY_FILES ||
	    is_known(copy, map))
		return 0;
	file = vec_push(copy->files, copy->nr);
	if (!file)
		return fail_memory(fail);
	*file = (struct mapped){ .path = { map->path, map->path_len },
				 .inode = map->inode,
				 .fd = open_mapped(pid, pid_len, map),
				 .debug = -1 };
	if (file->fd >= 0)
		find_id(file);
	return 0;
}

/*
 * `pid`: digits and a slash, or the lines "p PID" in the text say which process the maps are of. `only`: those of this
 * process; 0: all.
 */
static int add_maps(struct copy *copy, const char *pid, const char *text, size_t len, pid_t only, struct fail *fail)
{
	struct text_word line;
	struct map map;
	int err = 0;

	while (!err && text_next_line(&text, &len, &line)) {
		if (line.len > 2 && line.at[0] == 'p')
			pid = line.at + 2;
		else if ((!only || strtol(pid, NULL, 10) == only) && map_of_line(line, &map))
			err = add_file(copy, pid, strspn(pid, "0123456789"), &map, fail);
	}
	return err;
}

/* The maps of the processes from `from` to before `to`. */
static int add_processes(struct copy *copy, const struct settings *maps, size_t from, size_t to, struct fail *fail)
{
	int err = 0;

	for (size_t i = from; !err && i < to; i++)
		if (!strncmp(maps->items[i].name, "proc/", 5))
			err = add_maps(copy, maps->items[i].name + 5, maps->items[i].text, maps->items[i].len, 0, fail);
	return err;
}

static struct elf_image image_of(int fd)
{
	struct elf_image image = { .data = NULL };
	struct stat stat;
	void *at;

	if (fd < 0 || fstat(fd, &stat))
		return image;
	at = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at != MAP_FAILED)
		image = (struct elf_image){ at, (size_t)stat.st_size };
	return image;
}

static bool give(int to, size_t file, struct buf *text)
{
	const uint64_t head[2] = { file, text->len };

	return !io_write(to, head, sizeof(head)) && !io_write(to, buf_str(text), text->len);
}

/* In the process without rights. A file is written when it is complete. */
static void parse(const struct copy *copy, size_t from, int to)
{
	const struct rlimit memory = { MEMORY_MAX, MEMORY_MAX }, cpu = { CPU_SECONDS, CPU_SECONDS }, none = { 0, 0 };
	static const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM };
	cleanup_free struct elf_image *images = calloc(2 * copy->nr + 1, sizeof(*images));
	bool cut;

	/* A signal ends it, whatever the recorder does at one; and it ends with the recorder. */
	for (size_t i = 0; i < array_size(deadly); i++)
		(void)!signal(deadly[i], SIG_DFL);
	(void)!prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)!setrlimit(RLIMIT_AS, &memory);
	(void)!setrlimit(RLIMIT_CPU, &cpu);
	(void)!setrlimit(RLIMIT_CORE, &none);
	for (size_t i = from; images && i < copy->nr; i++) {
		images[2 * i] = image_of(copy->files[i].fd);
		images[2 * i + 1] = image_of(copy->files[i].debug);
	}
	if (!images || sandbox_enter(0, 0, NULL))
		return;
	for (size_t i = from; i < copy->nr; i++) {
		cleanup_buf struct buf text = BUF_INIT, rules = BUF_INIT;

		if (!elf_functions_put(&images[2 * i], &images[2 * i + 1], FILE_TEXT_MAX, &text, &cut) ||
		    !give(to, i, &text) ||
		    (copy->unwind && (!elf_unwind_put(&images[2 * i], FILE_TEXT_MAX, &rules) || !give(to, i, &rules))))
			return;
	}
}

static bool read_whole(int fd, void *into, size_t len)
{
	for (ssize_t got; len; len -= (size_t)got, into = (char *)into + got) {
		got = io_read(fd, into, len);
		if (got <= 0)
			return false;
	}
	return true;
}

/* A text of one file from the other process, which may have been taken over. False: it ended, or it lies. */
static bool take_text(struct copy *copy, int fd, size_t wanted, struct buf *into)
{
	/* A line of rules that is begun is ended: ROWS_MAX of lib/kernel/probe/elf_unwind.c. */
	enum { LINE = 1 << 19 };
	const struct mapped *file = &copy->files[wanted];
	size_t before = into->len;
	uint64_t head[2];

	if (!read_whole(fd, head, sizeof(head)) || head[0] != wanted || head[1] > FILE_TEXT_MAX + LINE)
		return false;
	if (!buf_addf(into, "f %" PRIu64 " %s %.*s\n", file->inode, *file->id ? file->id : "-", (int)file->path.len,
		      file->path.at) ||
	    !buf_reserve(into, (size_t)head[1]) || !read_whole(fd, into->data + into->len, (size_t)head[1])) {
		into->len = before;
		return false;
	}
	into->len += (size_t)head[1];
	if (!head[1])
		into->len = before;
	return true;
}

static bool has_room(const struct copy *copy)
{
	return copy->into->len < FUNCTIONS_COPY_SIZE && (!copy->unwind || copy->unwind->len < FUNCTIONS_COPY_SIZE);
}

static bool take_file(struct copy *copy, int fd, size_t wanted)
{
	return take_text(copy, fd, wanted, copy->into) && (!copy->unwind || take_text(copy, fd, wanted, copy->unwind));
}

/* Reads files from `from` on, and returns the first one that was not read. */
static size_t run(struct copy *copy, size_t from)
{
	int pipes[2];
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC))
		return copy->nr;
	pid = fork();
	if (!pid) {
		close(pipes[0]);
		parse(copy, from, pipes[1]);
		_exit(0);
	}
	close(pipes[1]);
	while (pid > 0 && from < copy->nr && has_room(copy) && take_file(copy, pipes[0], from))
		from++;
	close(pipes[0]);
	if (pid > 0) {
		(void)!kill(pid, SIGKILL);
		(void)!io_again(waitpid(pid, NULL, 0));
	}
	return pid > 0 ? from : copy->nr;
}

int functions_copy(const struct settings *maps, const struct functions_first *first, struct buf *watched,
		   struct buf *into, struct buf *unwind, struct fail *fail)
{
	struct copy copy = { .into = into, .unwind = unwind };
	int err = 0;

	/* In case there is no room for all: the command, then its descendants, then what began while recording. */
	if (first->command)
		err = add_maps(&copy, "", buf_str(watched), watched->len, first->command, fail);
	if (!err)
		err = add_processes(&copy, maps, 0, first->nr, fail);
	if (!err)
		err = add_maps(&copy, "", buf_str(watched), watched->len, 0, fail);
	if (!err)
		err = add_processes(&copy, maps, first->nr, maps->nr, fail);
	for (size_t next = 0; !err && next < copy.nr && has_room(&copy);)
		next = run(&copy, next) + 1;
	for (size_t i = 0; i < copy.nr; i++) {
		if (copy.files[i].fd >= 0)
			close(copy.files[i].fd);
		if (copy.files[i].debug >= 0)
			close(copy.files[i].debug);
	}
	free(copy.files);
	return err;
}
