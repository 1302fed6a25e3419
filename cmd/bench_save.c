// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/bench_save.h"

#include "cmd/options/output_options.h"
#include "lib/analysis/bench.h"
#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/io.h"
#include "lib/base/readable.h"

#include <errno.h>
#include <string.h>

enum { SAVED_MAX = 16 << 20 };

int bench_saving_open(struct bench_saving *saving, struct fail *fail)
{
	int r = uname(&saving->machine) ? fail_set(fail, -errno, "uname: %s", strerror(errno)) : 0;

	if (!r)
		r = destination_open(saving->path, &saving->to, fail);
	if (!r && saving->to.kind != DESTINATION_FILE)
		r = fail_set(fail, -EINVAL, "'%s' is not a file that the runs can be saved in", saving->path);
	return r ? r : destination_draft(&saving->to, &saving->draft, fail);
}

int bench_saving_write(const struct bench_saving *saving, const struct bench *bench, const char *of, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (!bench_save(bench, saving->machine.release, of, &text))
		return fail_memory(fail);
	if (text.len > SAVED_MAX)
		return fail_set(fail, -EFBIG, "the runs have too many rows to be saved; choose fewer with --for");
	return fail_writing(fail, io_write(saving->draft.fd, text.data, text.len), saving->path);
}

int bench_saving_name(struct bench_saving *saving, struct fail *fail)
{
	return destination_place(&saving->to, &saving->draft, OUTPUT_MODE, false, fail);
}

void bench_saving_release(struct bench_saving *saving)
{
	draft_discard(&saving->draft);
	destination_release(&saving->to);
}

int bench_saved_read(const char *path, struct bench_saved **ret, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_fd int fd = -1;
	int r = readable_open(path, &fd, fail);

	if (r)
		return r;
	r = io_read_all(fd, SAVED_MAX, &text);
	if (r)
		return fail_set(fail, r, "cannot read '%s': %s", path, strerror(-r));
	r = bench_load(text.len ? text.data : "", text.len, ret, fail);
	return r ? fail_in(fail, r, "'%s'", path) : 0;
}
