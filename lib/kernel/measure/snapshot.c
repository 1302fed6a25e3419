// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/measure/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/setup/event_enable.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/tracefs/kconfig.h"
#include "lib/kernel/undo/change.h"

enum { FILE_SIZE = 64, HEAD_SIZE = 4096 };

static const char *file_of(int cpu, char into[FILE_SIZE])
{
	if (cpu < 0)
		return "snapshot";
	snprintf(into, FILE_SIZE, "per_cpu/cpu%d/snapshot", cpu);
	return into;
}

static int find(const struct instance *instance, int cpu, struct fail *fail)
{
	char file[FILE_SIZE];

	if (!instance_has(instance, "snapshot"))
		return kconfig_no_file("snapshot", fail);
	if (instance_has(instance, file_of(cpu, file)))
		return 0;
	return fail_set(fail, -ENOENT, "this machine has no CPU %d", cpu);
}

int snapshot_allocated(const struct instance *instance, struct fail *fail)
{
	cleanup_fd int fd = -1;
	char head[HEAD_SIZE + 1];
	size_t len = 0;
	ssize_t got = 1;
	int err = find(instance, SNAPSHOT_ALL_CPUS, fail);

	if (!err)
		err = instance_open_file(instance, "snapshot", O_RDONLY, &fd, fail);
	if (err)
		return err;
	/* A snapshot with entries has no such line. */
	while (got > 0 && len < HEAD_SIZE) {
		got = read(fd, head + len, HEAD_SIZE - len);
		len += got > 0 ? (size_t)got : 0;
	}
	head[len] = '\0';
	return !strstr(head, "\n# * Snapshot is freed *\n");
}

static int explain(const struct instance *instance, int err, const char *doing, int cpu, struct fail *fail)
{
	char tracer[64] = "";

	if (err == -EBUSY && !instance_read_word(instance, "current_tracer", tracer, sizeof(tracer), NULL) &&
	    tracer_is_max_latency(tracer))
		return fail_set(fail, err, "cannot %s: the tracer '%s' keeps its worst case in the snapshot", doing,
				tracer);
	if (err == -EINVAL && cpu >= 0)
		return fail_set(fail, err,
				"cannot %s of one CPU: this kernel can only do so of all "
				"(CONFIG_RING_BUFFER_ALLOW_SWAP)",
				doing);
	if (err == -ENOMEM)
		return fail_set(fail, err, "cannot %s: no memory for a second buffer of %s", doing,
				*instance->name ? instance->name : "that size");
	return err;
}

static int write_to(const struct instance *instance, int cpu, const char *value, const char *doing, struct fail *fail)
{
	char file[FILE_SIZE];
	int err = instance_write(instance, file_of(cpu, file), value, fail);

	return err ? explain(instance, err, doing, cpu, fail) : 0;
}

/* Journals that the snapshot was free. The content of an allocated one could not be restored. */
static int remember(struct instance *instance, struct fail *fail)
{
	int r = snapshot_allocated(instance, fail);

	if (r || !instance->undo)
		return r < 0 ? r : 0;
	return instance_remember(instance, "snapshot", fail);
}

int snapshot_take(struct instance *instance, int cpu, struct fail *fail)
{
	int err = find(instance, cpu, fail);

	if (!err)
		err = remember(instance, fail);
	return err ? err : write_to(instance, cpu, "1", "take a snapshot", fail);
}

int snapshot_clear(const struct instance *instance, int cpu, struct fail *fail)
{
	int err = find(instance, cpu, fail);

	return err ? err : write_to(instance, cpu, "2", "clear the snapshot", fail);
}

/* Fails for the first event that has such a trigger. */
static int check_triggers(const struct instance *instance, struct fail *fail)
{
	struct catalog *catalog = NULL;
	int err = catalog_new(instance->tracing, &catalog, fail);

	for (size_t i = 0; !err && i < catalog->nr; i++) {
		const struct catalog_event *event = &catalog->events[i];
		cleanup_buf struct buf text = BUF_INIT;
		cleanup_free char *file = NULL;
		const char *at;

		if (asprintf(&file, "events/%s/%s/trigger", event->system, event->name) < 0) {
			file = NULL;
			err = fail_memory(fail);
		} else if (!instance_read(instance, file, &text, NULL)) {
			at = buf_str(&text);
			if (!strncmp(at, "snapshot", 8) || strstr(at, "\nsnapshot"))
				err = fail_set(
					fail, -EBUSY,
					"'%s:%s' has a trigger that takes snapshots, and stops tracing when there is "
					"no snapshot buffer; remove the trigger first",
					event->system, event->name);
		}
	}
	catalog_free(catalog);
	return err;
}

int snapshot_free(const struct instance *instance, struct fail *fail)
{
	int err = find(instance, SNAPSHOT_ALL_CPUS, fail);

	if (!err)
		err = check_triggers(instance, fail);
	return err ? err : write_to(instance, SNAPSHOT_ALL_CPUS, "0", "free the snapshot", fail);
}

int snapshot_open(const struct instance *instance, int cpu, int *ret_fd, struct fail *fail)
{
	char file[FILE_SIZE];
	int r = find(instance, cpu, fail);

	if (!r)
		r = snapshot_allocated(instance, fail);
	if (r < 0)
		return r;
	if (!r)
		return fail_set(fail, -ENODATA, "there is no snapshot; 'weft snapshot take' takes one");
	return instance_open_file(instance, file_of(cpu, file), O_RDONLY, ret_fd, fail);
}

int snapshot_on(struct instance *instance, const struct event_set *events, unsigned long count, const char *filter,
		struct late *late, struct fail *fail)
{
	cleanup_free char *trigger = NULL;
	char times[32] = "";
	int err = find(instance, SNAPSHOT_ALL_CPUS, fail);

	if (!err)
		err = remember(instance, fail);
	if (err)
		return err;
	if (count)
		snprintf(times, sizeof(times), ":%lu", count);
	if (asprintf(&trigger, "snapshot%s%s%s", times, filter ? " if " : "", filter ? filter : "") < 0) {
		trigger = NULL;
		return fail_memory(fail);
	}
	return event_set_trigger(events, instance, trigger, late, fail);
}
