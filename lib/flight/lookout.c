// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/flight/lookout_internal.h"

#include <stdio.h>

#include "lib/base/fail.h"
#include "lib/base/now.h"
#include "lib/base/text.h"
#include "lib/flight/plug_internal.h"
#include "lib/flight/status_internal.h"
#include "lib/record/cruise.h"

enum {
	LOOK_MS = 1000,
	LOOK_IN_KERNEL_MS = 10000, /* such a flight must not wake up often */
	WARN_S = 60,               /* between two warnings that say the same */
};

void lookout_begin(struct lookout *lookout)
{
	lookout->plug_fd = plug_open();
}

void lookout_end(struct lookout *lookout)
{
	cleanup_fd_close(&lookout->plug_fd);
}

uint64_t lookout_ms(const struct lookout *lookout)
{
	return lookout->status->in_kernel ? LOOK_IN_KERNEL_MS : LOOK_MS;
}

/* Warns if less is held than was asked for, because the memory is too small, or no memory is free. */
static void check_span(struct lookout *lookout, uint64_t now)
{
	const struct status *status = lookout->status;
	char held[TEXT_HUMAN], wanted[TEXT_HUMAN], size[TEXT_HUMAN], text[256];
	struct status_reach reach;

	if (now - lookout->looked_ns < lookout_ms(lookout) * UINT64_C(1000000) ||
	    (lookout->warned_ns && now - lookout->warned_ns < WARN_S * UINT64_C(1000000000)))
		return;
	lookout->looked_ns = now;
	if (!status_reach(status, lookout->cruise, &reach) || (!reach.is_short && reach.crowded == lookout->crowded))
		return;
	lookout->warned_ns = now;
	text_time(held, reach.span);
	text_time(wanted, status->keep_ns);
	if (reach.crowded != lookout->crowded)
		snprintf(text, sizeof(text),
			 "there is no free memory for the history (%s): what was older than %s is gone, and the "
			 "recording goes on",
			 wanted, held);
	else
		snprintf(text, sizeof(text), "%s of memory reach back %s, not %s: %s or fewer events help",
			 text_size(size, status->max_memory), held, wanted,
			 status->persistent ? "more reserved memory" : "a larger --max-memory");
	lookout->crowded = reach.crowded;
	lookout->tell(text);
}

/* Gives a CPU that has come online a recorder. */
static void check_cpus(struct lookout *lookout, uint64_t now)
{
	char text[sizeof(((struct fail *)NULL)->text) + 64];
	struct fail why;
	unsigned nr;
	int err;

	if (lookout->plug_fd >= 0 ? !plug_look(lookout->plug_fd) :
				    now - lookout->plugged_ns < lookout_ms(lookout) * UINT64_C(1000000))
		return;
	lookout->plugged_ns = now;
	err = cruise_add_cpus(lookout->cruise, &nr, &why);
	if (!err && !nr)
		return;
	if (err)
		snprintf(text, sizeof(text), "a CPU that has come online is not recorded: %s", why.text);
	else
		snprintf(text, sizeof(text), "%u CPU%s come online, and %s recorded from now on", nr,
			 nr == 1 ? " has" : "s have", nr == 1 ? "is" : "are");
	lookout->tell(text);
}

void lookout_look(struct lookout *lookout)
{
	uint64_t now = now_ns();

	check_span(lookout, now);
	check_cpus(lookout, now);
}
