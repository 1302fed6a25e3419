// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: any text as the kernel's `trace`. The imported file must be readable and have as many events as were imported,
 * and its report must have no number that the text does not have.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/files/import/import.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/pages/trace/trace.h"
#include "tests/fuzz/shared/readable.h"
#include "tests/unit/printed.h"
#include "tests/unit/values.h"

enum { CHECKED_MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct rest {
	const uint8_t *at;
	size_t len;
};

static int read_rest(void *arg, uint8_t *to, size_t size, struct fail *fail)
{
	struct rest *rest = arg;
	size_t len = size < rest->len ? size : rest->len;

	(void)fail;
	memcpy(to, rest->at, len);
	rest->at += len;
	rest->len -= len;
	return (int)len;
}

static void check_values(int fd, const uint8_t *text, size_t len)
{
	cleanup_buf struct buf report = BUF_INIT;
	struct trace *trace = NULL;
	char told[400];

	if (trace_open_fd(fd, "imported", &trace, NULL))
		return;
	if (!printed_trace(trace, &(struct printed){ .format = "ftrace" }, &report, NULL) &&
	    values_find_strange((const char *)text, len, report.data, report.len, told, sizeof(told))) {
		fprintf(stderr, "a number that the text does not have: %s\n", told);
		__builtin_trap();
	}
	trace_free(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct recast_options form = { .version = 7, .compress = true, .level = 1 };
	struct rest rest = { data, len };
	struct import *import = NULL;
	uint64_t size;
	int fd, r = import_new(NULL, &form, &import, NULL);

	if (!r)
		r = import_read(import, &(struct import_source){ .read = read_rest, .arg = &rest }, NULL);
	fd = r ? -1 : memfd_create("imported", MFD_CLOEXEC);
	if (fd >= 0 && !import_write(import, fd, &size, NULL) &&
	    readable_count(dup(fd)) != import_counts(import).events)
		__builtin_trap();
	/* Set where a finding must not depend on how many inputs there is time for. */
	if (fd >= 0 && !r && len <= CHECKED_MAX && !getenv("WEFT_FUZZ_NO_VALUES"))
		check_values(dup(fd), data, len);
	cleanup_fd_close(&fd);
	import_free(import);
	return 0;
}
