// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/side_tap.h"

#include "lib/kernel/record/rig.h"
#include "lib/kernel/record/tap_trace_internal.h"
#include "lib/pages/trace/trace.h"

int side_tap_open(const struct rig *rig, struct instance *instance, bool tasks, struct side_tap *ret, struct fail *fail)
{
	int err;

	*ret = (struct side_tap){ .rig = rig, .target.events.catalog = rig->catalog };
	ret->target.wanted = &ret->wanted;
	err = target_take(&ret->target, instance, fail);
	if (!err)
		err = tap_trace_new(rig, &ret->target, 1, tasks, &ret->trace, fail);
	return err ? err : tap_buffer_open(&ret->buffer, &ret->target, fail);
}

int side_tap_names(const struct side_tap *tap, struct buf *names, struct fail *fail)
{
	struct instance top = instance_top(&tap->rig->tracing);

	return instance_read(&top, "saved_cmdlines", names, fail);
}

void side_tap_close(struct side_tap *tap)
{
	tap_buffer_release(&tap->buffer);
	target_release(&tap->target);
	trace_free(tap->trace);
	*tap = (struct side_tap){ .rig = NULL };
}
