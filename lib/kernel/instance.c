// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/instance.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/near.h"
#include "lib/kernel/control.h"
#include "lib/kernel/error_log.h"
#include "lib/kernel/fitting.h"
#include "lib/kernel/plan.h"
#include "lib/kernel/precheck.h"
#include "lib/kernel/remote.h"
#include "lib/kernel/undo.h"
#include "lib/kernel/users.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void instance_free(struct instance *instance)
{
	free(instance->name);
	free(instance->dir);
	free(instance);
}

static int instance_alloc(const struct tracing *tracing, enum instance_kind kind, const char *name, struct undo *undo,
			  struct instance **ret, struct fail *fail)
{
	struct instance *instance = calloc(1, sizeof(*instance));
	int len;

	if (!instance)
		return fail_memory(fail);
	instance->tracing = tracing;
	instance->kind = kind;
	instance->undo = undo;
	instance->name = strdup(name);
	if (kind == INSTANCE_TOP)
		len = asprintf(&instance->dir, "%s", tracing->dir);
	else
		len = asprintf(&instance->dir, "%s/instances/%s", tracing->dir, name);
	if (len < 0)
		instance->dir = NULL;
	if (!instance->name || !instance->dir) {
		instance_free(instance);
		return fail_memory(fail);
	}
	*ret = instance;
	return 0;
}

/* Of a planned instance: one that is not asked for by anybody, only to be looked at. */
static int stand_in(struct instance *instance, struct fail *fail)
{
	static const char before[] = "weft-plan";
	cleanup_free char *name = NULL, *dir = NULL;
	int err;

	if (asprintf(&name, "%s-%d-%s", before, (int)getpid(), instance->name) < 0) {
		name = NULL;
		return fail_memory(fail);
	}
	if (asprintf(&dir, "%s/instances/%s", instance->tracing->dir, name) < 0) {
		dir = NULL;
		return fail_memory(fail);
	}
	err = instance->undo ? undo_remember_instance(instance->undo, name, fail) : 0;
	if (!err && mkdir(dir, 0750))
		err = tracing_refused(dir, -errno, "create the instance", fail);
	if (err)
		return err;
	free(instance->dir);
	instance->dir = take(dir);
	if (!plan_mkdir(instance->tracing->plan, instance->name))
		return fail_memory(fail);
	return instance_write(instance, "tracing_on", "0", fail);
}

/* -EEXIST without words: the caller may try another name. */
static int create(const struct tracing *tracing, const char *name, struct undo *undo, struct instance **ret,
		  struct fail *fail)
{
	struct instance *instance;
	int err = instance_alloc(tracing, INSTANCE_PRIVATE, name, undo, &instance, fail);

	if (err)
		return err;
	if (tracing->plan) {
		err = stand_in(instance, fail);
		if (err)
			instance_free(instance);
		else
			*ret = instance;
		return err;
	}
	/* Looked at before it is journaled: what is somebody else's must not be remembered as ours. */
	if (!access(instance->dir, F_OK)) {
		instance_free(instance);
		return fail_set(fail, -EEXIST, "there is an instance '%s' already", name);
	}
	err = undo ? undo_remember_instance(undo, name, fail) : 0;
	if (!err && mkdir(instance->dir, 0750)) {
		err = -errno;
		if (undo)
			undo_forget_instance(undo, name);
		tracing_refused(instance->dir, err, "create the instance", fail);
	}
	if (err) {
		instance_free(instance);
		return err;
	}
	err = instance_write(instance, "tracing_on", "0", fail);
	if (err) {
		instance_close(instance, NULL);
		return err;
	}
	*ret = instance;
	return 0;
}

int instance_new_private(const struct tracing *tracing, struct undo *undo, struct instance **ret, struct fail *fail)
{
	char name[64];
	int err = -EEXIST;

	for (unsigned attempt = 1; err == -EEXIST && attempt < 1000; attempt++) {
		if (attempt == 1)
			snprintf(name, sizeof(name), "weft-%d", (int)getpid());
		else
			snprintf(name, sizeof(name), "weft-%d-%u", (int)getpid(), attempt);
		err = create(tracing, name, undo, ret, fail);
	}
	return err;
}

static int offer_name(const char *name, void *data)
{
	near_offer(data, name);
	return 0;
}

static int check_name(const char *name, struct fail *fail)
{
	if (!*name || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
		return fail_set(fail, -EINVAL, "'%s' cannot be the name of an instance", name);
	return 0;
}

int instance_open(const struct tracing *tracing, const char *name, bool want_new, struct undo *undo,
		  struct instance **ret, struct fail *fail)
{
	struct near near = near_to(name);
	struct instance *instance;
	struct stat st;
	int err = remote_is(tracing, name) && strchr(name, '/') ? remote_refuse(name, fail) : check_name(name, fail);

	if (!err)
		err = instance_alloc(tracing, INSTANCE_EXISTING, name, undo, &instance, fail);
	if (err)
		return err;
	if (!stat(instance->dir, &st)) {
		*ret = instance;
		return 0;
	}
	err = -errno;
	if (err != -ENOENT)
		tracing_refused(instance->dir, err, "open the instance", fail);
	instance_free(instance);
	if (err != -ENOENT)
		return err;
	if (remote_is(tracing, name))
		return remote_refuse(name, fail);
	if (want_new)
		return create(tracing, name, undo, ret, fail);
	err = instance_each(tracing, offer_name, &near, fail);
	return err ? err : near_fail(&near, fail, -ENOENT, "no instance '%s'", name);
}

int instance_open_top(const struct tracing *tracing, struct undo *undo, struct instance **ret, struct fail *fail)
{
	return instance_alloc(tracing, INSTANCE_TOP, "", undo, ret, fail);
}

int instance_close(struct instance *instance, struct fail *fail)
{
	int err = 0;

	if (!instance)
		return 0;
	if (instance->kind == INSTANCE_PRIVATE) {
		if (rmdir(instance->dir) && (errno != ENOENT || tracing_is_gone(instance->tracing)))
			err = tracing_instance_kept(instance->tracing, instance->name, -errno, fail);
		else if (instance->undo)
			undo_forget_instance(instance->undo, instance->name);
	}
	instance_free(instance);
	return err;
}

void instance_leave(struct instance *instance)
{
	if (instance->kind == INSTANCE_PRIVATE)
		instance->kind = INSTANCE_EXISTING;
}

int instance_each(const struct tracing *tracing, int (*each)(const char *name, void *data), void *data,
		  struct fail *fail)
{
	cleanup_free char *path = NULL;
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	if (asprintf(&path, "%s/instances", tracing->dir) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	dir = opendir(path);
	if (!dir)
		return tracing_refused(path, -errno, "open", fail);
	while (!err && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			err = each(entry->d_name, data);
	closedir(dir);
	return err;
}

static int path_of(const struct instance *instance, const char *file, char **ret, struct fail *fail)
{
	int len = *file == '/' ? asprintf(ret, "%s", file) : asprintf(ret, "%s/%s", instance->dir, file);

	if (len >= 0)
		return 0;
	*ret = NULL;
	return fail_memory(fail);
}

bool instance_has(const struct instance *instance, const char *file)
{
	cleanup_free char *path = NULL;

	return !path_of(instance, file, &path, NULL) && !access(path, F_OK);
}

int instance_read(const struct instance *instance, const char *file, struct buf *buf, struct fail *fail)
{
	cleanup_free char *path = NULL;
	int err = path_of(instance, file, &path, fail);

	return err ? err : tracing_read_path(path, buf, fail);
}

int instance_read_word(const struct instance *instance, const char *file, char *into, size_t size, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	int err = instance_read(instance, file, &buf, fail);

	if (err)
		return err;
	if (!control_word(buf_str(&buf), control_kind(file), into, size))
		return fail_set(fail, -EBADMSG, "'%s/%s' holds no word", instance->dir, file);
	return 0;
}

int instance_open_file(const struct instance *instance, const char *file, int flags, int *ret_fd, struct fail *fail)
{
	cleanup_free char *path = NULL;
	int err = path_of(instance, file, &path, fail), fd;

	if (err)
		return err;
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		return tracing_refused(path, -errno, "open", fail);
	*ret_fd = fd;
	return 0;
}

static const char *reason(const struct instance *instance, const char *file, int err)
{
	if (err == -EINVAL && control_kind(file) == CONTROL_LIST && strstr(file, "function"))
		return "no such function";
	if (err == -EBUSY && !strcmp(file, "current_tracer"))
		return "the kernel is busy: somebody reads this buffer (trace_pipe) or it is mapped";
	if (err == -EPERM && instance->kind != INSTANCE_TOP && !geteuid())
		return "this kernel does not permit it";
	return strerror(-err);
}

/* The kernel's own words about this write, with what would have fitted. */
static int explain_by_log(const struct instance *instance, const char *file, const char *value, int err,
			  const struct error_entry *entry, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;

	if (!error_entry_print(entry, &buf) || !fitting_explain(entry, instance, file, value, &buf))
		return fail_memory(fail);
	return fail_set(fail, err, "the kernel refuses this for '%s': %s", file, buf_str(&buf));
}

static int explain(const struct instance *instance, const char *file, const char *value, int err, struct fail *fail)
{
	cleanup_free char *path = NULL;

	if ((err == -EACCES || err == -EPERM) && !path_of(instance, file, &path, NULL)) {
		char doing[128];

		snprintf(doing, sizeof(doing), "write '%.80s' to", value);
		return tracing_refused(path, err, doing, fail);
	}
	return fail_set(fail, err, "cannot write '%s' to '%s': %s", value, file, reason(instance, file, err));
}

static int write_file(const struct instance *instance, const char *file, bool append, const char *value,
		      struct fail *fail)
{
	cleanup_buf struct buf before = BUF_INIT, after = BUF_INIT;
	bool explained = fail && error_log_explains(file);
	cleanup_free char *path = NULL;
	struct error_entry entry;
	int err = path_of(instance, file, &path, fail);

	if (!err && explained)
		err = precheck(instance, file, value, fail);
	if (err)
		return err;
	if (instance->tracing->plan)
		return plan_write(instance->tracing->plan, instance->name, file, append, value) ? 0 : fail_memory(fail);
	if (explained)
		error_log_read(instance, &before);
	err = control_write(path, append, value);
	if (!err)
		return 0;
	if (explained)
		error_log_read(instance, &after);
	if (explained && error_log_find(buf_str(&before), buf_str(&after), value, &entry))
		return explain_by_log(instance, file, value, err, &entry, fail);
	return explain(instance, file, value, err, fail);
}

int instance_write(const struct instance *instance, const char *file, const char *value, struct fail *fail)
{
	return write_file(instance, file, false, value, fail);
}

int instance_append(const struct instance *instance, const char *file, const char *value, struct fail *fail)
{
	return write_file(instance, file, true, value, fail);
}

int instance_remember(struct instance *instance, const char *file, struct fail *fail)
{
	if (instance->kind == INSTANCE_PRIVATE || instance->tracing->plan)
		return 0;
	if (!instance->undo)
		return fail_set(fail, -EINVAL, "'%s/%s' would be changed without a way back", instance->dir, file);
	return undo_remember(instance->undo, instance->name, file, fail);
}

int instance_set(struct instance *instance, const char *file, const char *value, struct fail *fail)
{
	enum control_kind kind = control_kind(file);
	const char *planned;
	char word[256];
	int err;

	if (instance->tracing->plan && (planned = plan_value(instance->tracing->plan, instance->name, file)))
		return strcmp(planned, value) ? instance_write(instance, file, value, fail) : 0;
	if ((kind == CONTROL_VALUE || kind == CONTROL_CHOICE || kind == CONTROL_SIZE) &&
	    !instance_read_word(instance, file, word, sizeof(word), NULL) && !strcmp(word, value))
		return 0;
	err = instance_remember(instance, file, fail);
	return err ? err : instance_write(instance, file, value, fail);
}

int instance_add(struct instance *instance, const char *file, const char *value, struct fail *fail)
{
	int err = instance_remember(instance, file, fail);

	return err ? err : instance_append(instance, file, value, fail);
}

int instance_turn(struct instance *instance, bool on, struct fail *fail)
{
	return instance_set(instance, "tracing_on", on ? "1" : "0", fail);
}

int instance_clear(struct instance *instance, struct fail *fail)
{
	return instance_write(instance, "trace", "", fail);
}
