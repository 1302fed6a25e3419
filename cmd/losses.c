// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/losses.h"

#include "cmd/command.h"
#include "lib/base/text.h"

#include <inttypes.h>
#include <stdio.h>

void losses_cleared(const char *name, unsigned times)
{
	if (!times)
		return;
	command_warn(
		"%s%ssomebody else cleared the buffer meanwhile (%u time%s as far as noticed; so does the end of a "
		"module or probe whose events are recorded); the events it held then are not counted",
		name, *name ? ": " : "", times, times == 1 ? "" : "s");
}

void losses_missed(const char *lines)
{
	char probe[160], hits[TEXT_HUMAN], missed[TEXT_HUMAN];
	uint64_t made, not_made;
	int end;

	for (; lines && sscanf(lines, "%159s %" SCNu64 " %" SCNu64 "%n", probe, &made, &not_made, &end) == 3;
	     lines += end)
		command_warn(
			"probe %s made no event of %s hits (and %s of others); a return probe follows only as many "
			"calls at once as its definition says: 'r4096:NAME FUNCTION'",
			probe, text_count(missed, not_made), text_count(hits, made));
}
