// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/timing.h"

#include <errno.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/record/wake.h"

static int run(struct wake *wake, const struct workload_options *options, struct workload *workload, int *ret_status,
	       struct fail *fail)
{
	enum wake_reason reason;
	int r = workload_fork(options, workload, fail);

	if (!r)
		r = workload_go(workload, NULL, fail);
	if (!r)
		r = wake_wait(wake, workload, &reason, ret_status, fail);
	if (!r)
		r = workload_executed(workload, options->argv[0], ret_status, fail);
	if (!r && reason != WAKE_COMMAND) {
		(void)workload_wait(workload->pid, ret_status);
		workload->pid = 0;
		r = fail_set(fail, -EINTR, "a signal has ended it");
	}
	return r;
}

int timing_run(const struct workload_options *options, struct timing *ret, struct fail *fail)
{
	struct workload workload = { .pid_fd = -1, .go_fd = -1, .errno_fd = -1 };
	struct workload_options masked = *options;
	struct wake wake = WAKE_NONE;
	int status = 0, r = wake_init(&wake, fail);

	if (r)
		return r;
	masked.mask = wake.old_mask;
	r = run(&wake, &masked, &workload, &status, fail);
	if (!r)
		*ret = (struct timing){ .times = workload.times, .status = status };
	workload_release(&workload);
	wake_release(&wake);
	if (!r)
		ret->interrupted = wake.interrupted;
	return r;
}
