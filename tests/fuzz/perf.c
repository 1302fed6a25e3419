// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: the bytes of a perf.data, with --samples if their number is odd. The imported file must be readable, with as
 * many events as were imported: looked at for one length in eight, because that takes more time than the import.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/files/import/perf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/input.h"
#include "lib/pages/trace/trace.h"
#include "tests/fuzz/shared/readable.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const bool look = len / 2 % 8 == 0;
	const struct recast_options form = { .version = 7, .compress = look, .level = 1 };
	int fd = memfd_create("perf.data", MFD_CLOEXEC), made = -1;
	struct perf_import *import = NULL;
	struct fail damage = FAIL_INIT, fail = FAIL_INIT;
	struct input input;
	uint64_t size;
	int r;

	if (fd < 0 || write(fd, data, len) != (ssize_t)len || input_init(&input, fd, "perf.data", NULL))
		abort();
	close(fd);
	r = perf_import_new(&input, 1, NULL, &form, &import, &fail);
	if (!r && len % 2)
		perf_import_samples(import);
	if (!r && !perf_import_read(import, &damage, &fail)) {
		made = memfd_create("imported", MFD_CLOEXEC);
		if (made >= 0 && !perf_import_write(import, made, &size, &fail)) {
			const struct perf_import_counts *counts = perf_import_counts(import);

			if (look && readable_count(dup(made)) != counts->events + counts->stacks)
				__builtin_trap();
		}
	}
	cleanup_fd_close(&made);
	perf_import_free(import);
	input_release(&input);
	return 0;
}
