// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/pack/tree_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/files/pack/folder_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/readable.h"
#include "lib/ground/base/vec.h"

enum { SETTING_MAX = 1 << 20 };

/* Files and directories that are skipped: they hold events or data that no reader needs, and some would block. */
static bool is_skipped(const char *name, unsigned depth)
{
	static const char *const everywhere[] = { "trace_pipe",   "trace_pipe_raw",   "snapshot", "snapshot_raw",
						  "trace_marker", "trace_marker_raw", "trace",    "free_buffer",
						  "id",           "hist_debug",       "kallsyms" };
	static const char *const top[] = { "instances",
					   "options",
					   "raw_main",
					   "raw_snapshot",
					   "available_filter_functions",
					   "available_filter_functions_addrs",
					   "set_ftrace_notrace",
					   "hwlat_detector" };
	const char *dot = strrchr(name, '.');

	if (dot && (!strcmp(dot, ".txt") || !strcmp(dot, ".dat") || !strcmp(dot, ".gz") || !strcmp(dot, ".raw")))
		return true;
	for (size_t i = 0; i < array_size(everywhere); i++)
		if (!strcmp(name, everywhere[i]))
			return true;
	for (size_t i = 0; !depth && i < array_size(top); i++)
		if (!strcmp(name, top[i]))
			return true;
	return false;
}

/* Among the files of an event only its histogram exists nowhere else. */
static bool is_hist(const struct tree_file *file)
{
	const char *slash = strrchr(file->name, '/');

	return slash && !strcmp(slash, "/hist") && file->len;
}

/* `path` is the name in the folder, `name` the name below the tree's root, which the tree takes. */
static int add_file(struct tree *tree, struct folder *folder, const char *path, char *name, struct fail *fail)
{
	struct tree_file file = { .name = name }, *added;
	int r = folder_text(folder, path, &file.text, &file.len, fail);

	if (r < 0)
		return r;
	/* The file disappeared meanwhile. */
	if (!r) {
		free(name);
		return 0;
	}
	/* Formats, tables and names have places of their own. */
	file.setting = file.len <= SETTING_MAX && !memchr(file.text, 0, file.len) &&
		       (strncmp(name, "events/", 7) || is_hist(&file)) && strcmp(name, "header_page") &&
		       strcmp(name, "header_event") && strcmp(name, "printk_formats");
	added = vec_push(tree->files, tree->count);
	if (!added) {
		free(file.text);
		return fail_memory(fail);
	}
	*added = file;
	return 0;
}

static int read_below(struct tree *tree, struct folder *folder, const char *path, const char *prefix, unsigned depth,
		      struct fail *fail)
{
	size_t count;
	char **names;
	int r = folder_list(folder, path, &names, &count, fail);

	if (r < 0)
		return r;
	for (size_t i = 0; r >= 0 && i < count; i++) {
		cleanup_free char *at = NULL, *name = NULL;
		mode_t type;

		if (is_skipped(names[i], depth))
			continue;
		if (asprintf(&at, "%s%s%s", path, *path ? "/" : "", names[i]) < 0 ||
		    asprintf(&name, "%s%s%s", prefix, *prefix ? "/" : "", names[i]) < 0) {
			r = fail_memory(fail);
			break;
		}
		r = folder_type(folder, at, &type, fail);
		if (r)
			break;
		if (S_ISDIR(type) && depth == TREE_DEPTH_MAX) {
			r = fail_set(fail, -ELOOP, "'%s/%s' is deeper than tracefs is", folder->path, at);
		} else if (S_ISDIR(type)) {
			r = read_below(tree, folder, at, name, depth + 1, fail);
		} else if (type) {
			r = add_file(tree, folder, at, name, fail);
			if (!r)
				name = NULL;
		}
	}
	folder_list_free(names, count);
	return r < 0 ? r : 0;
}

int tree_read(struct folder *folder, const char *root, struct tree *ret, struct fail *fail)
{
	struct tree tree = { .files = NULL };
	int r = read_below(&tree, folder, root, "", 0, fail);

	if (r) {
		tree_release(&tree);
		return r;
	}
	*ret = tree;
	return 0;
}

void tree_release(struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		free(tree->files[i].name);
		free(tree->files[i].text);
	}
	free(tree->files);
	*tree = (struct tree){ .files = NULL };
}

const struct tree_file *tree_find(const struct tree *tree, const char *name)
{
	for (size_t i = 0; i < tree->count; i++)
		if (!strcmp(tree->files[i].name, name))
			return &tree->files[i];
	return NULL;
}
