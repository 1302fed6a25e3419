// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "lib/ground/base/cpus.h"
#include "lib/ground/base/destination.h"
#include "lib/ground/base/dir.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/trust.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/parts_name.h"
#include "lib/kernel/record/spool.h"

static const char file_format[] = "weft-parts 3 version=%u compress=%u level=%d big_endian=%u long=%u page=%" PRIu32
				  " swap=%u cpus=%" PRIu32 " id=%" PRIu64;
static const char unfinished_name[] = "unfinished.";

struct parts_file parts_file_here(unsigned version, bool compress, int level, const struct page_shape *shape,
				  uint32_t cpu_count)
{
	struct parts_file file = {
		.options = {
			.version = version, .compress = compress, .level = level,
			.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, .long_size = shape->long_size,
			.page_size = shape->size,
		},
		.cpu_count = cpu_count,
	};

	if (getrandom(&file.trace_id, sizeof(file.trace_id), GRND_NONBLOCK) < 0)
		file.trace_id = now_ns();
	return file;
}

int parts_describe(struct parts *parts, const struct parts_file *file, struct fail *fail)
{
	const struct writer_options *options = &file->options;
	char text[256];

	snprintf(text, sizeof(text), file_format, options->version, options->compress, options->level,
		 options->big_endian, options->long_size, options->page_size, file->swap, file->cpu_count,
		 file->trace_id);
	parts->file = *file;
	return ledger_add_text(parts->ledger, LEDGER_FILE, text, fail);
}

static bool is_page_size(uint64_t size)
{
	return size >= 64 && size <= 1 << 26;
}

int parts_parse_file(const char *text, struct parts_file *ret)
{
	struct parts_file file = { .swap = false };
	unsigned compress, big_endian, long_size, swap;

	if (sscanf(text, file_format, &file.options.version, &compress, &file.options.level, &big_endian, &long_size,
		   &file.options.page_size, &swap, &file.cpu_count, &file.trace_id) != 9 ||
	    !is_page_size(file.options.page_size) || (long_size != 4 && long_size != 8) || file.cpu_count > CPUS_MAX)
		return -EBADMSG;
	file.options.compress = compress;
	file.options.big_endian = big_endian;
	file.options.long_size = (uint8_t)long_size;
	file.swap = swap;
	*ret = file;
	return 0;
}

int parts_buffer(const struct ledger_item *item, uint32_t *ret_page_size, const char **ret_clock, struct fail *fail)
{
	char *end;
	unsigned long size = strtoul(item->data, &end, 10);

	if (!is_page_size(size))
		return fail_set(fail, -EBADMSG, "the metadata gives buffer %u sub-buffers of %lu bytes", item->buffer,
				size);
	*ret_page_size = (uint32_t)size;
	*ret_clock = *end == ' ' ? end + 1 : "local";
	return 0;
}

static int add_output(struct ledger *ledger, const char *output, struct fail *fail)
{
	cleanup_free char *cwd = NULL, *path = NULL;

	if (!strcmp(output, "-") || *output == '/')
		return ledger_add_text(ledger, LEDGER_OUTPUT, output, fail);
	cwd = getcwd(NULL, 0);
	if (!cwd)
		return fail_set(fail, -errno, "cannot find out the working directory: %s", strerror(errno));
	if (asprintf(&path, "%s/%s", cwd, output) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	return ledger_add_text(ledger, LEDGER_OUTPUT, path, fail);
}

static int add_secret(struct parts *parts, struct fail *fail)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return fail_set(fail, -errno, "cannot get a random number from the kernel: %s", strerror(errno));
	snprintf(parts->secret, sizeof(parts->secret), "%016" PRIx64, random);
	return ledger_add_text(parts->ledger, LEDGER_SECRET, parts->secret, fail);
}

static int parts_begin(struct parts *parts, const char *output, struct fail *fail)
{
	int err = trust_check(parts->dir, S_IFDIR, parts->path, fail);

	/* Keeps parts_discard() away. Some filesystems have no locks. */
	if (!err)
		(void)flock(parts->dir, LOCK_SH | LOCK_NB);
	if (!err)
		err = ledger_new(parts->dir, &parts->ledger, fail);
	if (!err)
		err = add_secret(parts, fail);
	return err ? err : add_output(parts->ledger, output, fail);
}

/* Checks before anything is traced whether the output can be written at the end. */
static int check_output(const char *output, const char *temp_dir, struct fail *fail)
{
	struct destination destination;
	struct draft draft = { .fd = -1 };
	int err = destination_open(output, &destination, fail);

	if (err)
		return err;
	if (destination.kind == DESTINATION_SPECIAL)
		err = destination_special_check(&destination, fail);
	/* If the parts are beside the output, making them is the same check. */
	if (destination.kind == DESTINATION_FILE && temp_dir)
		err = destination_draft(&destination, &draft, fail);
	draft_discard(&draft);
	destination_release(&destination);
	return err;
}

static int make_directory(struct parts *parts, const char *output, const char *temp_dir, struct fail *fail)
{
	cleanup_free char *above = parts_directory_of(parts->path);
	int err = above ? dir_open(AT_FDCWD, above, parts->path, &parts->above, fail) : -ENOMEM;

	if (err == -EPERM)
		return fail_hint(fail, err, " with --temp-dir or -o");
	if (!err)
		err = dir_make(parts->above, parts_leaf(parts->path), &parts->dir);
	if (err == -ESTALE)
		return fail_set(fail, -EPERM,
				"cannot keep data in '%s': it was replaced by another directory; "
				"name a directory of your own with --temp-dir",
				parts->path);
	if (err && temp_dir)
		return fail_set(fail, err, "cannot keep data in '%s' (--temp-dir): %s", temp_dir, strerror(-err));
	return err ? fail_set(fail, err, "cannot write '%s': %s", output, strerror(-err)) : 0;
}

static struct parts *new (void)
{
	struct parts *parts = calloc(1, sizeof(*parts));

	if (parts)
		parts->dir = parts->above = -1;
	return parts;
}

int parts_new(const char *output, const char *temp_dir, struct parts **ret, struct fail *fail)
{
	struct parts *parts = new ();
	int err;

	if (!parts)
		return fail_memory(fail);
	parts->path = parts_name_new(output, temp_dir);
	err = parts->path ? check_output(output, temp_dir, fail) : fail_memory(fail);
	if (!err)
		err = make_directory(parts, output, temp_dir, fail);
	if (!err) {
		err = parts_begin(parts, output, fail);
		if (err && parts_remove(parts, NULL))
			fail_in(fail, err, "'%s' remains", parts->path);
	}
	if (err) {
		parts_free(parts);
		return err;
	}
	*ret = parts;
	return 0;
}

int parts_new_in_memory(struct parts **ret, struct fail *fail)
{
	struct parts *parts = new ();
	int err;

	if (!parts)
		return fail_memory(fail);
	err = ledger_new_in_memory(&parts->ledger, fail);
	if (err) {
		parts_free(parts);
		return err;
	}
	*ret = parts;
	return 0;
}

static int parts_load(struct parts *parts, struct fail *fail)
{
	const char *text;
	int err = ledger_open(parts->dir, &parts->ledger, fail);

	if (err)
		return fail_in(fail, err == -ENOENT ? -ENODATA : err, "'%s'", parts->path);
	text = ledger_text(parts->ledger, LEDGER_FILE);
	/* The headers of pages and events are saved before tracing is turned on. */
	if (!text || !ledger_text(parts->ledger, LEDGER_HEADER_PAGE) ||
	    !ledger_text(parts->ledger, LEDGER_HEADER_EVENT))
		return fail_set(fail, -ENODATA, "'%s' holds no recording: it ended before it had begun", parts->path);
	if (parts_parse_file(text, &parts->file))
		return fail_set(fail, -EBADMSG, "'%s' is of another version of weft or damaged", parts->path);
	text = ledger_text(parts->ledger, LEDGER_SECRET);
	snprintf(parts->secret, sizeof(parts->secret), "%s", text ? text : "");
	return 0;
}

static int open_directory(struct parts *parts, struct fail *fail)
{
	cleanup_free char *above = parts_directory_of(parts->path);
	int err = above ? dir_open(AT_FDCWD, above, parts->path, &parts->above, fail) : fail_memory(fail);

	if (err)
		return err;
	parts->dir = openat(parts->above, parts_leaf(parts->path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (parts->dir < 0)
		return fail_set(fail, -errno, "cannot open '%s': %s", parts->path,
				errno == ENOTDIR || errno == ELOOP ? "it is not a directory, or is a symbolic link" :
								     strerror(errno));
	return trust_check(parts->dir, S_IFDIR, parts->path, fail);
}

/* Opens the parts at a path. A slash at the end is removed, because with it the kernel would follow a symbolic link. */
static int parts_at(const char *path, struct parts **ret, struct fail *fail)
{
	struct parts *parts = new ();
	size_t len = strlen(path);
	int err;

	if (!parts)
		return fail_memory(fail);
	while (len > 1 && path[len - 1] == '/')
		len--;
	parts->path = strndup(path, len);
	err = parts->path ? open_directory(parts, fail) : fail_memory(fail);
	if (err) {
		parts_free(parts);
		return err;
	}
	*ret = parts;
	return 0;
}

int parts_disbelieved(int err, struct fail *fail)
{
	return err == -EPERM ?
		       fail_hint(fail, err,
				 "; if you trust these parts, copy them as yourself (cp -r) and recover the copy") :
		       err;
}

int parts_open(const char *path, struct parts **ret, struct fail *fail)
{
	struct parts *parts = NULL;
	int err = parts_at(path, &parts, fail);

	if (!err)
		err = parts_load(parts, fail);
	if (err) {
		parts_free(parts);
		return parts_disbelieved(err, fail);
	}
	*ret = parts;
	return 0;
}

void parts_free(struct parts *parts)
{
	if (!parts)
		return;
	ledger_free(parts->ledger);
	cleanup_fd_close(&parts->dir);
	cleanup_fd_close(&parts->above);
	free(parts->path);
	free(parts);
}

int parts_remove_part(struct parts *parts, uint32_t buffer, uint32_t cpu, struct fail *fail)
{
	char name[SPOOL_NAME];

	if (unlinkat(parts->dir, spool_name(name, buffer, cpu), 0) && errno != ENOENT)
		return fail_set(fail, -errno, "cannot remove '%s/%s': %s", parts->path, name, strerror(errno));
	return 0;
}

static bool is_ours(const char *name)
{
	const char *end = name + strspn(name, "0123456789.");

	return !strcmp(name, "metadata") || !strncmp(name, unfinished_name, strlen(unfinished_name)) ||
	       (*name >= '0' && *name <= '9' && (!*end || !strcmp(end, "pages")));
}

int parts_remove(struct parts *parts, struct fail *fail)
{
	int cleared = dir_clear(parts->dir, is_ours, 0);
	int err = dir_remove(parts->above, parts_leaf(parts->path), parts->dir, AT_REMOVEDIR);

	if (err && err != -ESTALE && cleared)
		err = cleared;
	/* A user with write access to the directory above may have replaced the directory. */
	if (err == -ESTALE)
		return fail_set(fail, -EPERM, "cannot remove '%s': it was replaced by another directory meanwhile",
				parts->path);
	return err ? fail_set(fail, err, "cannot remove '%s': %s", parts->path, strerror(-err)) : 0;
}

int parts_discard(const char *path, struct fail *fail)
{
	struct parts *parts = NULL;
	int err = parts_at(path, &parts, fail);

	if (!err && flock(parts->dir, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		err = fail_set(fail, -EBUSY, "a recording has just begun in '%s'", path);
	/* Another directory may have the name since somebody looked into it. */
	if (!err)
		err = parts_load(parts, fail);
	if (!err)
		err = fail_set(fail, -EEXIST, "'%s' holds a recording", path);
	else if (err == -ENODATA && parts)
		err = parts_remove(parts, fail);
	parts_free(parts);
	return err;
}

int parts_unfinished_new(const struct parts *parts, char ret_name[PARTS_NAME], int *ret_fd, struct fail *fail)
{
	int fd = -1;

	errno = EEXIST;
	for (unsigned nr = 1; fd < 0 && errno == EEXIST; nr++) {
		snprintf(ret_name, PARTS_NAME, "%s%u", unfinished_name, nr);
		fd = openat(parts->dir, ret_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	if (fd < 0)
		return fail_set(fail, -errno, "cannot make '%s/%s': %s", parts->path, ret_name, strerror(errno));
	*ret_fd = fd;
	return 0;
}

int parts_unfinished_open(const struct parts *parts, const char *name, int *ret_fd, struct fail *fail)
{
	cleanup_fd int fd = -1;
	int err;

	if (strncmp(name, unfinished_name, strlen(unfinished_name)) || strchr(name, '/'))
		return fail_set(fail, -EBADMSG, "'%s' is not the name of a file in '%s'", name, parts->path);
	fd = openat(parts->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return fail_set(fail, -errno, "cannot open '%s/%s': %s", parts->path, name, strerror(errno));
	err = trust_check(fd, S_IFREG, name, fail);
	if (err)
		return err;
	*ret_fd = fd_take(&fd);
	return 0;
}

/* Finds parts whose recorder is dead: a recorder that runs holds the lock. Parts that are not trusted are skipped. */
static int find_dead(const char *path, void *data)
{
	char **ret = data;
	struct parts *parts;
	int err = parts_open(path, &parts, NULL);

	if (err == -EBUSY || err == -EPERM || err == -EACCES)
		return 0;
	if (!err)
		parts_free(parts);
	*ret = strdup(path);
	return *ret != NULL;
}

bool parts_left_behind(const char *output, char **ret)
{
	return parts_each(output, find_dead, ret) > 0;
}
