// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/stage.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/cpus.h"
#include "lib/ground/base/io.h"
#include "lib/kernel/undo/shared.h"
#include "lib/kernel/undo/undo.h"
#include "tests/unit/loom.h"
#include "tests/unit/starve.h"
#include "tests/unit/test.h"

int __real_tracing_find(struct tracing *ret, struct fail *fail);
int __real_tracing_read_path(const char *path, struct buf *buf, struct fail *fail);
int __real_undo_new(const struct tracing *tracing, const char *dir, struct undo **ret, struct fail *fail);
int __real_shared_cmdlines_raise(const struct tracing *tracing, const char *dir, uint32_t entries, struct shared **ret,
				 struct fail *fail);
int __real_shared_cmdlines_recover(const struct tracing *tracing, const char *dir, struct fail *fail);
bool __real_undo_knows_instance(const char *dir, const char *instance, const char *secret);
int __real_undo_recover(const struct tracing *tracing, const char *dir, bool (*waits)(const char *path, void *data),
			void *data, struct undo_sum *ret, struct fail *fail);
unsigned __real_undo_sweep(const char *dir);
int __real_mkdir(const char *path, mode_t mode);
int __real_rmdir(const char *path);
int __wrap_tracing_find(struct tracing *ret, struct fail *fail);
int __wrap_tracing_read_path(const char *path, struct buf *buf, struct fail *fail);
int __wrap_undo_new(const struct tracing *tracing, const char *dir, struct undo **ret, struct fail *fail);
int __wrap_shared_cmdlines_raise(const struct tracing *tracing, const char *dir, uint32_t entries, struct shared **ret,
				 struct fail *fail);
int __wrap_shared_cmdlines_recover(const struct tracing *tracing, const char *dir, struct fail *fail);
bool __wrap_undo_knows_instance(const char *dir, const char *instance, const char *secret);
int __wrap_undo_recover(const struct tracing *tracing, const char *dir, bool (*waits)(const char *path, void *data),
			void *data, struct undo_sum *ret, struct fail *fail);
unsigned __wrap_undo_sweep(const char *dir);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_rmdir(const char *path);

static struct stage *on_stage;
/* This thread acts as the fake kernel. */
static _Thread_local bool is_kernel;

/* Files of an instance, and of the top instance. */
static const struct {
	const char *file, *text;
} files[] = {
	{ "tracing_on", "0\n" },
	{ "current_tracer", "nop\n" },
	{ "available_tracers", "function nop\n" },
	{ "trace_clock", "[local] global mono\n" },
	{ "buffer_size_kb", "1408\n" },
	{ "buffer_percent", "50\n" },
	{ "trace_options", "noprint-parent\nirq-info\nnooverwrite\n" },
	{ "options/overwrite", "1\n" },
	{ "set_event", "" },
	{ "set_event_pid", "" },
	{ "tracing_cpumask", "ff\n" },
	{ "trace", "" },
	{ "trace_marker", "" },
	{ "error_log", "" },
	{ "events/enable", "0\n" },
	{ "events/header_page", "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n" },
	{ "events/header_event", "# compressed entry header\n" },
	{ "events/ftrace/print/format", "name: print\nID: 5\nformat:\n\tfield:unsigned short "
					"common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
					"print fmt: \"%s\", REC->buf\n" },
}, of_top[] = {
	{ "saved_cmdlines_size", "128\n" },
	{ "saved_tgids", "" },
	{ "printk_formats", "" },
	{ "proc/kallsyms", "ffffffff81000000 T _stext\nffffffff81000100 T vfs_read\nffffffff81000200 T _etext\n" },
	{ "proc/modules", "loom 16384 0 - Live 0xffffffffc0000000\n" },
};

static void put(const struct stage *stage, const char *dir, const char *file, const char *text)
{
	char path[FAKE_PATH];

	snprintf(path, sizeof(path), "%s%s", dir, file);
	fake_write(&stage->fake, path, text);
}

static void put_event(const struct stage *stage, const char *dir, const struct loom_type *type)
{
	char file[FAKE_PATH], number[16];

	snprintf(file, sizeof(file), "events/%s/enable", type->system);
	put(stage, dir, file, "0\n");
	snprintf(file, sizeof(file), "events/%s/%s/format", type->system, type->name);
	put(stage, dir, file, buf_str((struct buf *)(uintptr_t)&type->format));
	snprintf(file, sizeof(file), "events/%s/%s/id", type->system, type->name);
	snprintf(number, sizeof(number), "%u\n", type->id);
	put(stage, dir, file, number);
	snprintf(file, sizeof(file), "events/%s/%s/enable", type->system, type->name);
	put(stage, dir, file, "0\n");
	snprintf(file, sizeof(file), "events/%s/%s/filter", type->system, type->name);
	put(stage, dir, file, "none\n");
	snprintf(file, sizeof(file), "events/%s/%s/trigger", type->system, type->name);
	put(stage, dir, file, "# Available triggers:\n");
}

static void put_cpu(struct stage *stage, const char *dir, uint32_t cpu)
{
	char file[FAKE_PATH];
	int fd;

	snprintf(file, sizeof(file), "%sper_cpu/cpu%u/stats", dir, cpu);
	fake_write(&stage->fake, file,
		   "entries: 0\noverrun: 0\ncommit overrun: 0\nbytes: 0\noldest event ts:     0.0\nnow ts:     0.0\n"
		   "dropped events: 0\nread events: 0\n");
	snprintf(file, sizeof(file), "%sper_cpu/cpu%u/buffer_size_kb", dir, cpu);
	fake_write(&stage->fake, file, "1408\n");
	snprintf(file, sizeof(file), "%sper_cpu/cpu%u/trace_pipe_raw", dir, cpu);
	fd = fake_pipe(&stage->fake, file);
	if (!CHECK(fd >= 0 && stage->nr_pipes < sizeof(stage->pipes) / sizeof(*stage->pipes)))
		return;
	stage->pipes[stage->nr_pipes++] = fd;
	if (*dir && cpu < LOOM_CPUS)
		CHECK(!io_write(fd, stage->loom->cpus[cpu].pages.data, stage->loom->cpus[cpu].pages.len));
}

/* dir: "" or "instances/NAME/". */
static void fill(struct stage *stage, const char *dir)
{
	struct cpus cpus = { .bits = { 0 } };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		put(stage, dir, files[i].file, files[i].text);
	for (size_t i = 0; i < stage->loom->nr_types; i++)
		put_event(stage, dir, &stage->loom->types[i]);
	CHECK(!tracing_possible_cpus(&cpus, NULL));
	for (uint32_t cpu = 0; cpu < 64; cpu++)
		if (cpus_has(&cpus, cpu))
			put_cpu(stage, dir, cpu);
}

static void put_names(const struct stage *stage)
{
	cleanup_buf struct buf list = BUF_INIT;

	for (size_t i = 0; i < stage->loom->nr_types; i++)
		CHECK(buf_addf(&list, "%s:%s\n", stage->loom->types[i].system, stage->loom->types[i].name));
	fake_write(&stage->fake, "available_events", buf_str(&list));
	fake_write(&stage->fake, "saved_cmdlines", buf_str(&stage->loom->names));
}

bool stage_begin(struct stage *stage, struct loom *loom)
{
	*stage = (struct stage){ .loom = loom };
	if (!CHECK(fake_new(&stage->fake)))
		return false;
	fill(stage, "");
	for (size_t i = 0; i < sizeof(of_top) / sizeof(*of_top); i++)
		fake_write(&stage->fake, of_top[i].file, of_top[i].text);
	put_names(stage);
	on_stage = stage;
	return true;
}

static void close_pipes(struct stage *stage)
{
	while (stage->nr_pipes)
		close(stage->pipes[--stage->nr_pipes]);
}

void stage_end(struct stage *stage)
{
	on_stage = NULL;
	close_pipes(stage);
	fake_free(&stage->fake);
}

const char *stage_left(const struct stage *stage, const char *dir, char *into, size_t size)
{
	char path[FAKE_PATH];
	DIR *stream = opendir(fake_path(&stage->fake, dir, path));
	struct dirent *entry;
	size_t len = 0;

	*into = '\0';
	while (stream && (entry = readdir(stream)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && len < size)
			len += (size_t)snprintf(into + len, size - len, " %s", entry->d_name);
	if (stream)
		closedir(stream);
	return into;
}

int __wrap_tracing_find(struct tracing *ret, struct fail *fail)
{
	return on_stage ? tracing_at(on_stage->fake.dir, ret, fail) : __real_tracing_find(ret, fail);
}

int __wrap_tracing_read_path(const char *path, struct buf *buf, struct fail *fail)
{
	char below[FAKE_PATH * 2];

	if (!on_stage || (strncmp(path, "/proc/", 6) && strncmp(path, "/sys/", 5)))
		return __real_tracing_read_path(path, buf, fail);
	snprintf(below, sizeof(below), "%s%s", on_stage->fake.dir, path);
	return __real_tracing_read_path(below, buf, fail);
}

int __wrap_undo_new(const struct tracing *tracing, const char *dir, struct undo **ret, struct fail *fail)
{
	return __real_undo_new(tracing, dir || !on_stage ? dir : on_stage->fake.journals, ret, fail);
}

int __wrap_shared_cmdlines_raise(const struct tracing *tracing, const char *dir, uint32_t entries, struct shared **ret,
				 struct fail *fail)
{
	return __real_shared_cmdlines_raise(tracing, dir || !on_stage ? dir : on_stage->fake.journals, entries, ret,
					    fail);
}

static const char *journals_in(const char *dir)
{
	return dir || !on_stage ? dir : on_stage->fake.journals;
}

int __wrap_shared_cmdlines_recover(const struct tracing *tracing, const char *dir, struct fail *fail)
{
	return __real_shared_cmdlines_recover(tracing, journals_in(dir), fail);
}

bool __wrap_undo_knows_instance(const char *dir, const char *instance, const char *secret)
{
	return __real_undo_knows_instance(journals_in(dir), instance, secret);
}

int __wrap_undo_recover(const struct tracing *tracing, const char *dir, bool (*waits)(const char *path, void *data),
			void *data, struct undo_sum *ret, struct fail *fail)
{
	return __real_undo_recover(tracing, journals_in(dir), waits, data, ret, fail);
}

unsigned __wrap_undo_sweep(const char *dir)
{
	return __real_undo_sweep(journals_in(dir));
}

/* The name of an instance of the stage, or NULL. */
static const char *instance_in(const char *path)
{
	size_t len = on_stage && !is_kernel ? strlen(on_stage->fake.dir) : 0;

	if (!len || strncmp(path, on_stage->fake.dir, len) || strncmp(path + len, "/instances/", 11) ||
	    strchr(path + len + 11, '/'))
		return NULL;
	return path + len + 11;
}

int __wrap_mkdir(const char *path, mode_t mode)
{
	const char *name = instance_in(path);
	char dir[FAKE_PATH];
	bool counted;
	int r = __real_mkdir(path, mode);

	if (r || !name)
		return r;
	snprintf(dir, sizeof(dir), "instances/%s/", name);
	/* The fake kernel makes these files, so they do not count as weft's calls. */
	is_kernel = true;
	counted = starve_pause();
	fill(on_stage, dir);
	starve_resume(counted);
	is_kernel = false;
	return 0;
}

int __wrap_rmdir(const char *path)
{
	char command[FAKE_PATH + 16];

	if (!instance_in(path))
		return __real_rmdir(path);
	snprintf(command, sizeof(command), "%s/" STAGE_HELD, path);
	if (!access(command, F_OK)) {
		errno = EBUSY;
		return -1;
	}
	close_pipes(on_stage);
	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	return system(command) ? -1 : 0;
}
