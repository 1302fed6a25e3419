// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "lib/base/fail.h"
#include "lib/base/now.h"
#include "lib/record/ledger.h"
#include "lib/record/spool.h"

static const char file_format[] = "weft-parts 2 version=%u compress=%u level=%d big_endian=%u long=%u page=%" PRIu32
				  " swap=%u cpus=%" PRIu32 " id=%" PRIu64;
static const char default_temp_dir[] = "/var/tmp";
static const char name_infix[] = ".weft-";

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The directory that a path is in, to be freed. */
static char *directory_of(const char *path)
{
	const char *base = base_name(path);

	if (base == path)
		return strdup(".");
	return base == path + 1 ? strdup("/") : strndup(path, (size_t)(base - path) - 1);
}

static char *parts_path(const char *output, const char *temp_dir)
{
	bool is_stdout = !strcmp(output, "-");
	const char *base = is_stdout ? "stdout" : base_name(output);
	const char *dir = !temp_dir && is_stdout ? default_temp_dir : temp_dir;
	int beside = dir ? 0 : (int)(base - output);
	char *path;

	if (asprintf(&path, "%s%s%.*s%s%s%d%s", dir ? dir : "", dir ? "/" : "", beside, output, base, name_infix,
		     getpid(), PARTS_SUFFIX) < 0)
		return NULL;
	return path;
}

struct parts_file parts_file_here(unsigned version, bool compress, int level, uint32_t page_size, uint32_t cpu_count)
{
	struct parts_file file = {
		.options = {
			.version = version, .compress = compress, .level = level,
			.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, .long_size = sizeof(long),
			.page_size = page_size,
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

static bool parse_file(const char *text, struct parts_file *ret)
{
	struct parts_file file = { .swap = false };
	unsigned compress, big_endian, long_size, swap;

	if (sscanf(text, file_format, &file.options.version, &compress, &file.options.level, &big_endian, &long_size,
		   &file.options.page_size, &swap, &file.cpu_count, &file.trace_id) != 9)
		return false;
	file.options.compress = compress;
	file.options.big_endian = big_endian;
	file.options.long_size = (uint8_t)long_size;
	file.swap = swap;
	*ret = file;
	return file.options.page_size >= 64 && file.options.page_size <= 1 << 26;
}

static int add_output(struct ledger *ledger, const char *output, struct fail *fail)
{
	cleanup_free char *cwd = NULL, *path = NULL;

	if (!strcmp(output, "-") || *output == '/')
		return ledger_add_text(ledger, LEDGER_OUTPUT, output, fail);
	cwd = getcwd(NULL, 0);
	if (!cwd)
		return fail_set(fail, -errno, "cannot tell the working directory: %s", strerror(errno));
	if (asprintf(&path, "%s/%s", cwd, output) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	return ledger_add_text(ledger, LEDGER_OUTPUT, path, fail);
}

static int parts_begin(struct parts *parts, const char *output, struct fail *fail)
{
	int err;

	parts->dir = open(parts->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parts->dir < 0)
		return fail_set(fail, -errno, "cannot open '%s': %s", parts->path, strerror(errno));
	err = ledger_new(parts->dir, &parts->ledger, fail);
	return err ? err : add_output(parts->ledger, output, fail);
}

int parts_new(const char *output, const char *temp_dir, struct parts **ret, struct fail *fail)
{
	struct parts *parts = calloc(1, sizeof(*parts));
	int err = 0;

	if (!parts)
		return fail_memory(fail);
	parts->dir = -1;
	parts->path = parts_path(output, temp_dir);
	if (!parts->path)
		err = fail_memory(fail);
	else if (mkdir(parts->path, 0700))
		err = fail_set(fail, -errno, "cannot make '%s': %s", parts->path, strerror(errno));
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
	struct parts *parts = calloc(1, sizeof(*parts));
	int err;

	if (!parts)
		return fail_memory(fail);
	parts->dir = -1;
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
	int err;

	parts->dir = open(parts->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parts->dir < 0)
		return fail_set(fail, -errno, "cannot open '%s': %s", parts->path, strerror(errno));
	err = ledger_open(parts->dir, &parts->ledger, fail);
	if (err)
		return fail_in(fail, err == -ENOENT ? -ENODATA : err, "'%s'", parts->path);
	text = ledger_text(parts->ledger, LEDGER_FILE);
	/* The headers of pages and events are saved before tracing is turned on. */
	if (!text || !ledger_text(parts->ledger, LEDGER_HEADER_PAGE) || !ledger_text(parts->ledger, LEDGER_HEADER_EVENT))
		return fail_set(fail, -ENODATA, "'%s' holds no recording: it ended before it had begun", parts->path);
	if (!parse_file(text, &parts->file))
		return fail_set(fail, -EBADMSG, "'%s' is of another version of weft or damaged", parts->path);
	return 0;
}

int parts_open(const char *path, struct parts **ret, struct fail *fail)
{
	struct parts *parts = calloc(1, sizeof(*parts));
	int err;

	if (!parts)
		return fail_memory(fail);
	parts->dir = -1;
	parts->path = strdup(path);
	err = parts->path ? parts_load(parts, fail) : fail_memory(fail);
	if (err) {
		parts_free(parts);
		return err;
	}
	*ret = parts;
	return 0;
}

void parts_free(struct parts *parts)
{
	if (!parts)
		return;
	ledger_free(parts->ledger);
	if (parts->dir >= 0)
		close(parts->dir);
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
	return !strcmp(name, "metadata") || (*name >= '0' && *name <= '9' && !name[strspn(name, "0123456789.")]);
}

int parts_remove(struct parts *parts, struct fail *fail)
{
	DIR *dir = opendir(parts->path);
	const struct dirent *entry;

	if (!dir)
		return fail_set(fail, -errno, "cannot open '%s': %s", parts->path, strerror(errno));
	while ((entry = readdir(dir)))
		if (is_ours(entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	if (rmdir(parts->path))
		return fail_set(fail, -errno, "cannot remove '%s': %s", parts->path, strerror(errno));
	return 0;
}

/* Of ".weft-PID.parts", the end of a path: PID, or 0 when it is not of that form. */
static pid_t owner_at(const char *at)
{
	char *end;
	long pid;

	if (strncmp(at, name_infix, strlen(name_infix)))
		return 0;
	at += strlen(name_infix);
	if (*at < '0' || *at > '9')
		return 0;
	pid = strtol(at, &end, 10);
	if (pid <= 0 || pid > INT_MAX || strncmp(end, PARTS_SUFFIX, strlen(PARTS_SUFFIX)))
		return 0;
	end += strlen(PARTS_SUFFIX);
	return end[strspn(end, "/")] ? 0 : (pid_t)pid;
}

pid_t parts_owner(const char *path)
{
	pid_t pid = 0;

	for (const char *at = strstr(path, name_infix); at && !pid; at = strstr(at + 1, name_infix))
		pid = owner_at(at);
	return pid;
}

/* "OUTPUT.weft-PID.parts" */
static bool is_parts_name(const char *name, const char *output)
{
	return !strncmp(name, output, strlen(output)) && owner_at(name + strlen(output));
}

int parts_each(const char *output, int (*each)(const char *path, void *data), void *data)
{
	cleanup_free char *directory = directory_of(output);
	struct dirent **names;
	int nr = directory ? scandir(directory, &names, NULL, alphasort) : -1;
	int ret = 0;

	for (int i = 0; i < nr; i++) {
		char *path = NULL;

		if (!ret && is_parts_name(names[i]->d_name, base_name(output)) &&
		    asprintf(&path, "%.*s%s", (int)(base_name(output) - output), output, names[i]->d_name) >= 0) {
			ret = each(path, data);
			free(path);
		}
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
	return ret;
}

/* Opening takes the lock that a living recorder holds. */
static int find_dead(const char *path, void *data)
{
	char **ret = data;
	struct parts *parts;
	int err = parts_open(path, &parts, NULL);

	if (err == -EBUSY)
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
