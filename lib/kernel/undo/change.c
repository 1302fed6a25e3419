// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/undo/change.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/refusals/error_log.h"
#include "lib/kernel/refusals/fitting.h"
#include "lib/kernel/refusals/precheck.h"
#include "lib/kernel/tracefs/control.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/tracefs/plan.h"
#include "lib/kernel/undo/undo.h"

static bool is_function_list(const char *file)
{
	return control_kind(file) == CONTROL_LIST &&
	       (!strncmp(file, "set_ftrace_", 11) || !strncmp(file, "set_graph_", 10)) && !strstr(file, "_pid");
}

static const char *reason(const struct instance *instance, const char *file, int err)
{
	if (err == -EINVAL && is_function_list(file))
		return "the kernel has no function of this name that can be traced, or not what follows it; 'weft "
		       "list functions' has the names (available_filter_functions)";
	if (err == -EBUSY && !strcmp(file, "current_tracer"))
		return "the buffer is busy: a process reads it (trace_pipe) or has mapped it";
	if (err == -EPERM && instance->kind != INSTANCE_TOP && !geteuid())
		return "this kernel does not permit it";
	return strerror(-err);
}

/* Adds the kernel's message about this write (error_log), and the names that the kernel would accept. */
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

	if ((err == -EACCES || err == -EPERM) && !instance_path(instance, file, &path, NULL)) {
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
	int err = instance_path(instance, file, &path, fail);

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
		return fail_set(fail, -EINVAL, "'%s/%s' would be changed without an entry in the journal",
				instance->dir, file);
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

int instance_restore(const struct instance *instance, const char *file, const char *was, struct fail *fail)
{
	cleanup_free char *path = NULL;
	int err = instance_path(instance, file, &path, fail);

	if (err)
		return err;
	err = control_restore(path, file, was);
	return err ? fail_set(fail, err, "cannot put back '%s': %s", path, strerror(-err)) : 0;
}

int instance_turn(struct instance *instance, bool on, struct fail *fail)
{
	return instance_set(instance, "tracing_on", on ? "1" : "0", fail);
}

int instance_clear(struct instance *instance, struct fail *fail)
{
	return instance_write(instance, "trace", "", fail);
}
