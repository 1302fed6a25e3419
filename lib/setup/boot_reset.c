// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/setup/boot_reset.h"

#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/probe/probes.h"
#include "lib/setup/boot.h"
#include "lib/setup/tasks.h"
#include "lib/tracefs/boot_instance.h"
#include "lib/tracefs/control.h"
#include "lib/tracefs/users.h"
#include "lib/undo/change.h"
#include "lib/undo/instance_open.h"
#include "lib/undo/undo.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * A copy of a difference (boot.h) that will be restored. It is a copy because the kernel's files must not be written
 * while boot_each() reads them.
 */
struct difference {
	enum boot_what what;
	char *file, *boot;
	bool done;
};

struct reset {
	struct instance *instance;
	struct difference *items;
	size_t nr;
	bool sizes; /* also those of the buffers */
	int first;  /* the first error */
	struct fail *fail;
};

static int keep(const struct boot_difference *difference, void *data)
{
	struct reset *reset = data;
	struct difference *kept;

	if (!reset->sizes && strstr(difference->file, "buffer_s"))
		return 0;
	kept = vec_push(reset->items, reset->nr);
	if (!kept)
		return fail_memory(reset->fail);
	*kept = (struct difference){
		.what = difference->what,
		.file = strdup(difference->file),
		.boot = strdup(difference->boot),
	};
	return kept->file && kept->boot ? 0 : fail_memory(reset->fail);
}

static int put_back(const struct reset *reset, const struct difference *item, struct fail *fail)
{
	cleanup_free char *path = NULL;
	int err;

	if (asprintf(&path, "%s%s%s", *item->file == '/' ? "" : reset->instance->dir, *item->file == '/' ? "" : "/",
		     item->file) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	switch (item->what) {
	case BOOT_SYSTEM:
	case BOOT_SNAPSHOT:
	case BOOT_DYNAMIC:
	case BOOT_SYSCTL:
		err = control_write(path, false, item->boot);
		break;
	default:
		err = control_restore(path, item->file, item->boot);
	}
	if (!err || err == -ENOENT)
		return 0;
	return fail_set(fail, err, "cannot put '%s' back to what it was at boot: %s", path, strerror(-err));
}

/*
 * Restores the differences of one kind. Repeats while at least one more difference could be restored: a histogram
 * cannot be removed while another histogram reads its variables.
 */
static void put_back_all(struct reset *reset, enum boot_what what)
{
	bool progress = true;
	struct fail fail;
	int err = 0;

	while (progress) {
		progress = false;
		err = 0;
		for (size_t i = reset->nr; i-- > 0;) {
			struct difference *item = &reset->items[i];
			struct fail one = FAIL_INIT;
			int failed;

			if (item->what != what || item->done)
				continue;
			failed = put_back(reset, item, &one);
			item->done = !failed;
			progress |= !failed;
			if (failed && !err) {
				err = failed;
				fail = one;
			}
		}
		if (!err)
			return;
	}
	reset->first = fail_first(reset->first, err, reset->fail, &fail);
}

/*
 * Ends the tracer before the settings are restored that it changes while it runs (tracing_max_latency,
 * hwlat_detector/mode) or when it ends (tracing_thresh). If this fails, put_back_all() tries again and shows why.
 */
static void end_tracer(struct reset *reset)
{
	for (size_t i = 0; i < reset->nr; i++)
		if (reset->items[i].what == BOOT_SETTING && !strcmp(reset->items[i].file, "current_tracer"))
			reset->items[i].done = !put_back(reset, &reset->items[i], NULL);
}

/* "" is the top instance. */
static int reset_instance(const struct tracing *tracing, const char *name, bool probes, bool sizes, struct fail *fail)
{
	static const enum boot_what order[] = {
		BOOT_TRIGGER, BOOT_FILTER,   BOOT_SYSTEM,  BOOT_EVENT,  BOOT_SETTING,
		BOOT_OPTION,  BOOT_SNAPSHOT, BOOT_DYNAMIC, BOOT_SYSCTL,
	};
	struct reset reset = { .sizes = sizes, .fail = fail };
	int err = *name ? instance_open(tracing, name, false, NULL, &reset.instance, fail) :
			  instance_open_top(tracing, NULL, &reset.instance, fail);

	if (err)
		return err;
	err = boot_each(reset.instance, keep, &reset, fail);
	if (!err)
		end_tracer(&reset);
	for (size_t i = 0; !err && i < array_size(order); i++)
		if (order[i] != BOOT_DYNAMIC || probes)
			put_back_all(&reset, order[i]);
	if (!err && !*name)
		err = kernel_tasks_uninstall(reset.instance, reset.first ? NULL : fail);
	if (!err)
		err = instance_clear(reset.instance, reset.first ? NULL : fail);
	if (!err && instance_has(reset.instance, "error_log"))
		err = instance_write(reset.instance, "error_log", "", reset.first ? NULL : fail);
	for (size_t i = 0; i < reset.nr; i++) {
		free(reset.items[i].file);
		free(reset.items[i].boot);
	}
	free(reset.items);
	instance_close(reset.instance, NULL);
	return reset.first ? reset.first : err;
}

struct removal {
	const struct tracing *tracing;
	int first;
	struct fail *fail;
};

static int remove_one(const char *name, void *data)
{
	struct removal *removal = data;
	cleanup_free char *path = NULL;
	int err;

	if (boot_instance_is(name))
		return 0;
	if (asprintf(&path, "%s/instances/%s", removal->tracing->dir, name) < 0) {
		path = NULL;
		return fail_memory(removal->first ? NULL : removal->fail);
	}
	err = undo_remove_instance(path);
	if (!err || err == -ENOENT)
		return 0;
	err = tracing_instance_kept(removal->tracing, name, err, removal->first ? NULL : removal->fail);
	if (!removal->first)
		removal->first = err;
	return 0;
}

int boot_reset(const struct tracing *tracing, const char *journals, bool probes, struct fail *fail)
{
	struct removal removal = { .tracing = tracing, .fail = fail };
	int err = instance_each(tracing, remove_one, &removal, fail), top;

	if (!removal.first)
		removal.first = err;
	/* The journals are obsolete now and must not be replayed later. */
	err = undo_discard(journals, removal.first ? NULL : fail);
	undo_sweep(journals);
	if (!removal.first)
		removal.first = err;
	top = reset_instance(tracing, "", probes, true, removal.first ? NULL : fail);
	return removal.first ? removal.first : top;
}

/*
 * The newest is removed first, because a probe may be attached to another one's event. Before, weft's journals forget
 * those that stay: undo_reset() would remove them.
 */
static int each_probe(const struct tracing *tracing, unsigned kinds, bool forget, struct fail *fail)
{
	struct instance *top = NULL;
	struct probe_list list;
	int err = instance_open_top(tracing, NULL, &top, fail), first = 0;

	if (err)
		return err;
	err = probe_list_read(top, &list, fail);
	for (size_t i = err ? 0 : list.nr; i-- > 0;) {
		const struct probe *probe = &list.probes[i].probe;
		int failed;

		if (forget && !(kinds >> probe->kind & 1)) {
			char name[2 * PROBE_NAME_SIZE];

			snprintf(name, sizeof(name), "%s/%s", probe->group, probe->name);
			undo_drop_probe(NULL, name);
		}
		if (forget || !(kinds >> probe->kind & 1))
			continue;
		failed = probe_remove(top, probe->group, probe->name, first ? NULL : fail);
		if (!first)
			first = failed;
	}
	if (!err)
		probe_list_release(&list);
	instance_close(top, NULL);
	return err ? err : first;
}

int boot_reset_one(const struct tracing *tracing, const char *instance, unsigned kinds, struct fail *fail)
{
	struct undo_sum sum;
	struct fail later = FAIL_INIT;
	int first = *instance ? 0 : each_probe(tracing, kinds, true, fail), err;

	/* Of another instance the journals may say that weft made it: then it would be removed. */
	if (!*instance) {
		err = undo_reset(tracing, NULL, instance, &sum, &later);
		first = fail_first(first, err, fail, &later);
	}
	err = reset_instance(tracing, instance, false, false, &later);
	first = fail_first(first, err, fail, &later);
	if (kinds) {
		err = each_probe(tracing, kinds, false, &later);
		first = fail_first(first, err, fail, &later);
	}
	return first;
}
