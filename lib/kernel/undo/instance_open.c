// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/undo/instance_open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/kernel/tracefs/plan.h"
#include "lib/kernel/tracefs/remote.h"
#include "lib/kernel/tracefs/users.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/undo.h"

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

/* Makes an empty instance that represents a planned one: its files are read, but nothing is traced in it. */
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

/* Makes an instance. -EEXIST without a text: the caller may try another name. */
static int create(const struct tracing *tracing, const char *name, struct undo *undo, bool helper,
		  struct instance **ret, struct fail *fail)
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
	/* This check comes before the journal entry, so that somebody else's instance is never journaled as weft's. */
	if (!access(instance->dir, F_OK)) {
		instance_free(instance);
		return fail_set(fail, -EEXIST, "the instance '%s' exists already", name);
	}
	err = undo ? (helper ? undo_remember_helper : undo_remember_instance)(undo, name, fail) : 0;
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

static int create_numbered(const struct tracing *tracing, struct undo *undo, bool helper, struct instance **ret,
			   struct fail *fail)
{
	char name[64];
	int err = -EEXIST;

	for (unsigned attempt = 1; err == -EEXIST && attempt < 1000; attempt++) {
		if (attempt == 1)
			snprintf(name, sizeof(name), "weft-%d", (int)getpid());
		else
			snprintf(name, sizeof(name), "weft-%d-%u", (int)getpid(), attempt);
		err = create(tracing, name, undo, helper, ret, fail);
	}
	return err;
}

int instance_new_private(const struct tracing *tracing, struct undo *undo, struct instance **ret, struct fail *fail)
{
	return create_numbered(tracing, undo, false, ret, fail);
}

int instance_new_helper(const struct tracing *tracing, struct undo *undo, struct instance **ret, struct fail *fail)
{
	return create_numbered(tracing, undo, true, ret, fail);
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
		return create(tracing, name, undo, false, ret, fail);
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
		err = undo_remove_instance(instance->dir);
		if (err == -ENOENT && !tracing_is_gone(instance->tracing))
			err = 0;
		if (err)
			err = tracing_instance_kept(instance->tracing, instance->name, err, fail);
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
