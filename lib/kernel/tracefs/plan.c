// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/plan.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/vec.h"

struct plan_value {
	char *path;
	char *value; /* NULL: not known, because the file was appended to */
};

void plan_release(struct plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++) {
		free(plan->values[i].path);
		free(plan->values[i].value);
	}
	free(plan->values);
	buf_release(&plan->script);
	*plan = (struct plan)PLAN_INIT;
}

bool plan_quote(struct buf *buf, const char *word)
{
	bool ok;

	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:/.,@%")])
		return buf_add_str(buf, word);
	ok = buf_add_str(buf, "'");
	for (; ok && *word; word++)
		ok = *word == '\'' ? buf_add_str(buf, "'\\''") : buf_add(buf, word, 1);
	return ok && buf_add_str(buf, "'");
}

static bool add_path(struct buf *buf, const char *name, const char *file)
{
	cleanup_buf struct buf path = BUF_INIT;

	return buf_addf(&path, "%s%s%s%s", *name ? "instances/" : "", name, *name && *file ? "/" : "", file) &&
	       plan_quote(buf, buf_str(&path));
}

bool plan_mkdir(struct plan *plan, const char *name)
{
	return buf_add_str(&plan->script, "mkdir ") && add_path(&plan->script, name, "") &&
	       buf_add_str(&plan->script, "\n");
}

static struct plan_value *find(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (!strcmp(plan->values[i].path, path))
			return &plan->values[i];
	return NULL;
}

static bool remember(struct plan *plan, const char *path, const char *value)
{
	struct plan_value *known = find(plan, path);

	if (!known) {
		char *copy = strdup(path);

		known = copy ? vec_push(plan->values, plan->nr) : NULL;
		if (!known) {
			free(copy);
			return false;
		}
		known->path = copy;
	}
	free(known->value);
	known->value = value ? strdup(value) : NULL;
	return !value || known->value;
}

bool plan_write(struct plan *plan, const char *name, const char *file, bool append, const char *value)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct buf *script = &plan->script;
	bool ok;

	if (!add_path(&path, name, file) || !remember(plan, buf_str(&path), append ? NULL : value))
		return false;
	/* Opening the file for writing empties it. */
	if (!*value)
		ok = append || buf_addf(script, ": > %s\n", buf_str(&path));
	else
		/* echo of some shells changes a backslash. */
		ok = buf_add_str(script, *value == '-' || strchr(value, '\\') ? "printf '%s\\n' " : "echo ") &&
		     plan_quote(script, value) && buf_addf(script, " %s %s\n", append ? ">>" : ">", buf_str(&path));
	return ok;
}

const char *plan_value(const struct plan *plan, const char *name, const char *file)
{
	cleanup_buf struct buf path = BUF_INIT;
	const struct plan_value *known = add_path(&path, name, file) ? find(plan, buf_str(&path)) : NULL;

	return known ? known->value : NULL;
}
