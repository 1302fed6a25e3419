// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/left_note_internal.h"

#include <inttypes.h>

#include "formats/export/export.h"
#include "lib/meaning/timeline/frames.h"

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
