// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs `weft pack` on a folder that a stranger could have made: copies of tracefs files with any contents, links that
 * lead out of it, FIFOs, folders in place of files. The file that pack makes must have nothing from outside the folder,
 * and must be readable. The input is a list: u8 name, u8 kind, u16 length, contents.
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/files/pack/pack.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { ENTRIES_MAX = 64 };

static const char secret[] = "what nobody may take out of here";
static char root[] = "/dev/shm/weft-fuzz-pack-XXXXXX", outside[64];

static const char *const names[] = {
	"events/header_page",
	"events/header_event",
	"events/sched/sched_switch/format",
	"events/ftrace/print/format",
	"events/ftrace/function/format",
	"events/a/b/format",
	"events/a",
	"events",
	"printk_formats",
	"saved_cmdlines",
	"saved_tgids",
	"kallsyms",
	"trace_options",
	"trace_clock",
	"per_cpu/cpu0/trace_pipe_raw",
	"per_cpu/cpu1/trace_pipe_raw",
	"per_cpu/cpu0/stats",
	"per_cpu/cpu4294967295/trace_pipe_raw",
	"per_cpu",
	"per_cpu/cpu7",
	"raw_main/cpu0.raw",
	"raw_main",
	"instances",
	"instances/a/trace_clock",
	"instances/a/per_cpu/cpu0/trace_pipe_raw",
	"instances/a.meta/trace_clock",
	"instances/..",
	"meta",
	"meta/trace_options",
	"meta/events/header_page",
	"trace.dat",
	"uname",
	"set_event_pid",
	"current_tracer",
	"buffer_size_kb",
	"events/sched/sched_switch/hist",
	"events/sched/sched_switch/trigger",
	"weft/types",
	"trace",
	"error_log",
	"options/overwrite",
	"osnoise/cpus",
	"trace_stat/function0",
	"proc/1/maps",
	"synthetic_events",
	"kprobe_events",
};

static int forget(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	return at->level ? remove(path) : 0;
}

/* Makes the folders in front of the name, too. It does not follow the links that it made itself. */
static void make(int dir, const char *name, unsigned kind, const uint8_t *data, size_t len)
{
	struct stat st;
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s", name);
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdirat(dir, path, 0700);
		if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
			return;
		*slash = '/';
	}
	switch (kind % 16) {
	case 0:
		(void)!symlinkat(outside, dir, path);
		return;
	case 1:
		(void)!symlinkat("..", dir, path);
		return;
	case 2:
		mkfifoat(dir, path, 0600);
		return;
	case 3:
		mkdirat(dir, path, 0700);
		return;
	case 4:
		(void)!symlinkat("/dev/shm", dir, path);
		return;
	}
	/* The name may already be a FIFO without a reader. */
	fd = openat(dir, path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0)
		return;
	if (write(fd, data, len) != (ssize_t)len)
		abort();
	close(fd);
}

static void look_at(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	struct trace *trace = NULL;
	void *map = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;

	if (map == MAP_FAILED)
		abort();
	if (memmem(map, (size_t)size, secret, strlen(secret)))
		abort();
	munmap(map, (size_t)size);
	if (trace_open_fd(fd, "packed", &trace, NULL))
		abort();
	trace_free(trace);
}

static void pack_folder(const char *path, unsigned version)
{
	struct pack_options options = { .dir = path, .weft_version = "weft fuzz", .version = version % 2 ? 6 : 7 };
	cleanup_fd int fd = memfd_create("packed", MFD_CLOEXEC);
	struct pack_summary summary;
	struct fail fail = FAIL_INIT;

	if (fd < 0)
		return;
	if (!pack(&options, fd, &summary, &fail))
		look_at(fd);
	else if (!*fail.text)
		abort();
}

static void clean(void)
{
	unlink(outside);
	rmdir(root);
}

static void prepare(void)
{
	int fd;

	if (*outside)
		return;
	if (!mkdtemp(root))
		abort();
	snprintf(outside, sizeof(outside), "%s.outside", root);
	fd = open(outside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || write(fd, secret, strlen(secret)) < 0)
		abort();
	close(fd);
	atexit(clean);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	unsigned version = len ? data[len - 1] : 0;
	int dir;

	/* The fuzzer sees compared bytes, so it may have written these bytes itself. */
	if (memmem(data, len, secret, strlen(secret)))
		return 0;
	prepare();
	dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		abort();
	for (int i = 0; i < ENTRIES_MAX && len >= 4; i++) {
		size_t size = data[2] | (size_t)data[3] << 8;

		size = size < len - 4 ? size : len - 4;
		make(dir, names[data[0] % (sizeof(names) / sizeof(*names))], data[1], data + 4, size);
		data += 4 + size;
		len -= 4 + size;
	}
	pack_folder(root, version);
	close(dir);
	nftw(root, forget, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}
