// SPDX-License-Identifier: GPL-2.0-only
/* Which of a process's interval timers an event is about: include/uapi/linux/time.h. */
#include "include/weft/plugin.h"
#include "plugins/words.h"

enum { WHICH };

static const char *const fields[] = { "which", NULL };
static const char *const facts[] = { "timer", NULL };

static void format_itimer(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	static const struct word timers[] = { { 0, "ITIMER_REAL" }, { 1, "ITIMER_VIRTUAL" }, { 2, "ITIMER_PROF" } };

	put_word(host, "timer", WORDS(timers), host->integer(record, WHICH, 0), output);
}

static const struct weft_handler handlers[] = {
	{ "itimer_*", fields, format_itimer, facts },
};

WEFT_PLUGIN("timer", handlers);
