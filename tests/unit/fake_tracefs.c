// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/fake_tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/ground/base/buf.h"
#include "tests/unit/test.h"

int __real_control_write(const char *path, bool append, const char *value);
int __wrap_control_write(const char *path, bool append, const char *value);

/* The file, value and error of fake_refuse(). */
static struct refusal {
	char path[FAKE_PATH];
	const char *value;
	int error;
} refusals[8];
static size_t nr_refusals;

bool fake_new(struct fake *fake)
{
	*fake = (struct fake){ .dir = "/tmp/weft-unit-XXXXXX" };
	if (!mkdtemp(fake->dir) || tracing_at(fake->dir, &fake->tracing, NULL))
		return false;
	snprintf(fake->journals, sizeof(fake->journals), "%s/journals", fake->dir);
	fake->top = instance_top(&fake->tracing);
	fake_mkdir(fake, "instances");
	return true;
}

void fake_free(struct fake *fake)
{
	char command[128];

	nr_refusals = 0;
	tracing_release(&fake->tracing);
	snprintf(command, sizeof(command), "rm -rf '%s'", fake->dir);
	CHECK(!system(command));
}

const char *fake_path(const struct fake *fake, const char *file, char into[FAKE_PATH])
{
	snprintf(into, FAKE_PATH, "%s/%s", fake->dir, file);
	return into;
}

static void make_above(const struct fake *fake, const char *file)
{
	char path[FAKE_PATH];

	fake_path(fake, file, path);
	for (char *slash = path + strlen(fake->dir) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		CHECK(!mkdir(path, 0755) || errno == EEXIST);
	}
}

void fake_mkdir(const struct fake *fake, const char *dir)
{
	char path[FAKE_PATH];

	make_above(fake, dir);
	CHECK(!mkdir(fake_path(fake, dir, path), 0755));
}

void fake_write(const struct fake *fake, const char *file, const char *text)
{
	char path[FAKE_PATH];
	FILE *out;

	make_above(fake, file);
	out = fopen(fake_path(fake, file, path), "w");
	if (CHECK(out != NULL)) {
		fputs(text, out);
		fclose(out);
	}
}

int fake_pipe(const struct fake *fake, const char *file)
{
	char path[FAKE_PATH];
	int fd = -1;

	make_above(fake, file);
	if (CHECK(!mkfifo(fake_path(fake, file, path), 0600)))
		fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	CHECK(fd >= 0);
	return fd;
}

bool fake_holds(const struct fake *fake, const char *file, const char *text)
{
	cleanup_buf struct buf buf = BUF_INIT;
	char path[FAKE_PATH];

	return !tracing_read_path(fake_path(fake, file, path), &buf, NULL) && !strcmp(buf_str(&buf), text);
}

void fake_refuse(const struct fake *fake, const char *file, const char *value, int error)
{
	struct refusal *refusal = &refusals[nr_refusals];

	if (!CHECK(nr_refusals < sizeof(refusals) / sizeof(*refusals)))
		return;
	fake_path(fake, file, refusal->path);
	refusal->value = value;
	refusal->error = error;
	nr_refusals++;
}

int __wrap_control_write(const char *path, bool append, const char *value)
{
	for (size_t i = 0; i < nr_refusals; i++)
		if (!strcmp(path, refusals[i].path) && strstr(value, refusals[i].value))
			return -refusals[i].error;
	return __real_control_write(path, append, value);
}
