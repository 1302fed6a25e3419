// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/notes_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "formats/export/export.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/timeline/frames.h"

void export_failed(struct export *export, int error, const struct fail *failure)
{
	if (export->error)
		return;
	export->error = error;
	export->failure = *failure;
}

void export_no_memory(struct export *export)
{
	struct fail fail = FAIL_INIT;

	export_failed(export, fail_memory(&fail), &fail);
}

void export_note(struct export *export, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!buf_addf(&export->notes, "%s\n", text))
		export_no_memory(export);
}

void left_note(const struct frames_left *left, struct export *export)
{
	if (left->cut || left->open)
		export_note(export,
			    "own times of calls that the start or the end cuts are left out: %" PRIu64
			    " entered before the start, %" PRIu64 " open at the end",
			    left->cut, left->open);
	if (left->lost_entry || left->lost_exit)
		export_note(export,
			    "own times of calls broken by lost events are left out: %" PRIu64
			    " without their entry, %" PRIu64 " without their end",
			    left->lost_entry, left->lost_exit);
	if (left->dropped || left->unentered)
		export_note(export,
			    "own times of calls are left out for no known reason: %" PRIu64
			    " without their entry, %" PRIu64 " without their end",
			    left->unentered, left->dropped);
	if (left->unpaired)
		export_note(export,
			    "%" PRIu64
			    " calls have no entry in the file: their own time contains the calls that tracing_thresh "
			    "left out",
			    left->unpaired);
}
