// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/record/tap_trace_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/fail.h"
#include "lib/record/assembly_internal.h"
#include "lib/record/facts_internal.h"
#include "lib/record/parts.h"
#include "lib/record/rig.h"
#include "lib/record/type_facts_internal.h"
#include "lib/trace/trace.h"

int tap_trace_new(const struct rig *rig, const struct target *targets, size_t nr, struct trace **ret, struct fail *fail)
{
	struct parts_file file = parts_file_here(7, false, 0, &targets[0].shape, targets[0].nr_cpus);
	cleanup_fd int fd = memfd_create("weft-tap", MFD_CLOEXEC);
	/* The buffer of an existing instance may already hold events of any type. */
	bool all_formats = false;
	struct parts *parts = NULL;
	int err;

	if (fd < 0)
		return fail_set(fail, -errno, "cannot make a file in memory: %s", strerror(errno));
	for (size_t i = 0; i < nr; i++)
		all_formats |= targets[i].instance->kind == INSTANCE_EXISTING;
	err = parts_new_in_memory(&parts, fail);
	if (!err)
		err = parts_describe(parts, &file, fail);
	if (!err)
		err = facts_at_start(parts->ledger, "record", &rig->tracing, targets, nr, all_formats, fail);
	if (!err)
		err = facts_of_self(parts->ledger, rig, 0, fail);
	if (!err)
		err = facts_of_types(parts->ledger, fail);
	if (!err)
		err = assembly_describe(parts, fd, fail);
	if (!err)
		err = trace_open_fd(fd, "what is traced", ret, fail);
	parts_free(parts);
	return err;
}
