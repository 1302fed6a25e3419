// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is behind the descriptors of calls, and the names that they have (lib/meaning/follow/files.h). */
#include "lib/answers/syscalls/syscalls_internal.h"

#include "lib/answers/syscalls/syscalls_trace_internal.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/types.h"
#include "lib/meaning/follow/files.h"

const char *syscalls_file(const struct event *event, int64_t fd)
{
	const struct context *context = event->type->context;
	uint32_t file;

	if (fd < 0 || fd > INT32_MAX || !files_are_known(context))
		return NULL;
	file = files_is(context, event->pid, (int32_t)fd, event->ts);
	return file == FILES_CLOSED ? NULL : files_text(context, file);
}

const char *syscalls_given_name(const struct event *event, uint64_t pointer)
{
	return files_name(event->type->context, event->pid, pointer, event->ts);
}
