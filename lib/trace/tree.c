// SPDX-License-Identifier: GPL-2.0-only
#include "lib/trace/tree.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { READ_SIZE = 1 << 16, SETTING_MAX = 1 << 20 };

int tree_read_file(const char *path, char **ret, size_t *ret_len, struct fail *fail)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	cleanup_buf struct buf text = BUF_INIT;

	if (fd < 0)
		return fail_set(fail, -errno, "cannot open '%s': %s", path, strerror(errno));
	for (;;) {
		ssize_t got;

		if (text.len > TREE_FILE_MAX)
			return fail_set(fail, -EFBIG, "'%s' is larger than %d MiB", path, TREE_FILE_MAX >> 20);
		if (!buf_reserve(&text, READ_SIZE))
			return fail_memory(fail);
		got = read(fd, text.data + text.len, READ_SIZE);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail_set(fail, -errno, "cannot read '%s': %s", path, strerror(errno));
		if (!got)
			break;
		text.len += (size_t)got;
	}
	*ret = buf_take(&text, ret_len);
	return *ret ? 0 : fail_memory(fail);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void tree_list_free(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

int tree_list(const char *path, char ***ret, size_t *ret_count, struct fail *fail)
{
	DIR *dir = opendir(path);
	size_t count = 0, size = 0;
	struct dirent *entry;
	char **names = NULL;

	if (!dir && (errno == ENOENT || errno == ENOTDIR)) {
		*ret = NULL;
		*ret_count = 0;
		return 0;
	}
	if (!dir)
		return fail_set(fail, -errno, "cannot open '%s': %s", path, strerror(errno));
	while ((entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		if (count == size) {
			char **more = reallocarray(names, size = size ? 2 * size : 32, sizeof(*names));

			if (!more)
				break;
			names = more;
		}
		names[count] = strdup(entry->d_name);
		if (!names[count++])
			break;
	}
	closedir(dir);
	if (entry) {
		tree_list_free(names, count);
		return fail_memory(fail);
	}
	if (count)
		qsort(names, count, sizeof(*names), compare_names);
	*ret = names;
	*ret_count = count;
	return 0;
}

/* Files and directories that hold events or what a reader does not need: not read, some would even block. */
static bool is_skipped(const char *name, unsigned depth)
{
	static const char *const everywhere[] = { "trace_pipe", "trace_pipe_raw", "snapshot", "snapshot_raw", "trace_marker",
						  "trace_marker_raw", "trace", "free_buffer", "id", "hist_debug", "kallsyms" };
	static const char *const top[] = { "instances", "options", "raw_main", "raw_snapshot", "available_filter_functions",
					   "available_filter_functions_addrs", "set_ftrace_notrace", "hwlat_detector" };
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

/* Of the files of an event only its histogram is told nowhere else. */
static bool is_hist(const struct tree_file *file)
{
	const char *slash = strrchr(file->name, '/');

	return slash && !strcmp(slash, "/hist") && file->len;
}

static int add_file(struct tree *tree, const char *path, char *name, struct fail *fail)
{
	struct tree_file file = { .name = name };
	int r;

	if (tree->count == tree->size) {
		size_t size = tree->size ? 2 * tree->size : 64;
		struct tree_file *files = reallocarray(tree->files, size, sizeof(*files));

		if (!files)
			return fail_memory(fail);
		tree->files = files;
		tree->size = size;
	}
	r = tree_read_file(path, &file.text, &file.len, fail);
	if (r)
		return r;
	/* Formats, tables and names have places of their own. */
	file.setting = file.len <= SETTING_MAX && !memchr(file.text, 0, file.len) &&
		       (strncmp(name, "events/", 7) || is_hist(&file)) && strcmp(name, "header_page") &&
		       strcmp(name, "header_event") && strcmp(name, "printk_formats");
	tree->files[tree->count++] = file;
	return 0;
}

static int read_below(struct tree *tree, const char *path, const char *prefix, unsigned depth, struct fail *fail)
{
	size_t count;
	char **names;
	int r = tree_list(path, &names, &count, fail);

	if (r)
		return r;
	for (size_t i = 0; !r && i < count; i++) {
		cleanup_free char *at = NULL, *name = NULL;
		struct stat stat_of;

		if (is_skipped(names[i], depth))
			continue;
		if (asprintf(&at, "%s/%s", path, names[i]) < 0 ||
		    asprintf(&name, "%s%s%s", prefix, *prefix ? "/" : "", names[i]) < 0) {
			r = fail_memory(fail);
			break;
		}
		if (stat(at, &stat_of))
			continue;
		if (S_ISDIR(stat_of.st_mode) && depth < TREE_DEPTH_MAX) {
			r = read_below(tree, at, name, depth + 1, fail);
		} else if (S_ISREG(stat_of.st_mode)) {
			r = add_file(tree, at, name, fail);
			if (!r)
				name = NULL;
		}
	}
	tree_list_free(names, count);
	return r;
}

int tree_read(const char *path, struct tree *ret, struct fail *fail)
{
	struct tree tree = { .files = NULL };
	int r = read_below(&tree, path, "", 0, fail);

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

const struct tree_file *tree_find_either(const struct tree *tree, const char *name, const char *other)
{
	const struct tree_file *file = tree_find(tree, name);

	return file ? file : tree_find(tree, other);
}
