// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/losses.h"

#include "cmd/command.h"

void losses_cleared(const char *name, unsigned times)
{
	if (!times)
		return;
	command_warn("%s%ssomebody else cleared the buffer meanwhile (%u time%s as far as noticed); what it held then is in no "
		     "count", name, *name ? ": " : "", times, times == 1 ? "" : "s");
}
