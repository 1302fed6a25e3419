// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/kept_parts_dir.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/parts_name.h"
#include "lib/kernel/undo/undo.h"

static const char *const places[] = { UNDO_DIR, "/dev/shm" };

static bool is_memory(const char *dir)
{
	struct statfs fs;

	/* Its type is signed on machines of 32 bits. */
	return !statfs(dir, &fs) && ((uint32_t)fs.f_type == TMPFS_MAGIC || (uint32_t)fs.f_type == RAMFS_MAGIC);
}

/* A ramfs has no limit, and says 0. */
static bool has_room(const char *dir, uint64_t need)
{
	struct statvfs vfs;

	return !statvfs(dir, &vfs) && (!vfs.f_blocks || (uint64_t)vfs.f_bavail * vfs.f_frsize >= need);
}

static void name_output(struct kept_parts_dir *parts_dir, const char *dir, const char *name)
{
	snprintf(parts_dir->output, sizeof(parts_dir->output), "%s/%s.dat", dir, name);
}

struct kept_parts_dir kept_parts_dir_find(const char *name, uint64_t need)
{
	struct kept_parts_dir parts_dir = { .holds = false };

	for (size_t i = 0; !parts_dir.holds && i < array_size(places); i++) {
		parts_dir.holds = is_memory(places[i]) && has_room(places[i], need);
		name_output(&parts_dir, places[i], name);
	}
	if (!parts_dir.holds)
		name_output(&parts_dir, UNDO_DIR, name);
	return parts_dir;
}

bool kept_parts_dir_has(const char *parts, char **ret)
{
	cleanup_free char *path = realpath(parts, NULL), *output = NULL;
	size_t len = path ? (size_t)(parts_leaf(path) - path) : 0;
	bool has = false;

	for (size_t i = 0; path && i < array_size(places); i++)
		has |= len == strlen(places[i]) + 1 && !strncmp(path, places[i], len - 1);
	output = has ? parts_output(path) : NULL;
	if (output)
		*ret = strdup(parts_leaf(output));
	return output && *ret;
}

struct visit {
	int (*each)(const char *parts, void *data);
	void *data;
};

/* A recording that runs holds the lock of its parts. Parts that are not trusted are none of weft's. */
static int visit_dead(const char *path, void *data)
{
	const struct visit *visit = data;
	struct parts *parts = NULL;
	int err = parts_open(path, &parts, NULL);

	if (!err)
		parts_free(parts);
	return err == -EBUSY || err == -EPERM || err == -EACCES ? 0 : visit->each(path, visit->data);
}

int kept_parts_dir_each(const char *name, int (*each)(const char *parts, void *data), void *data)
{
	struct visit visit = { each, data };
	struct kept_parts_dir parts_dir;
	int ret = 0;

	for (size_t i = 0; !ret && i < array_size(places); i++) {
		if (name)
			name_output(&parts_dir, places[i], name);
		else
			snprintf(parts_dir.output, sizeof(parts_dir.output), "%s/", places[i]);
		ret = parts_each(parts_dir.output, visit_dead, &visit);
	}
	return ret;
}
