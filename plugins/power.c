// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of cpu_idle that ends an idle period is PWR_EVENT_EXIT, include/trace/events/power.h: the kernel prints
 * it as 4294967295.
 */
#include "include/weft/plugin.h"
#include "plugins/words.h"

enum { STATE };

static const char *const fields[] = { "state", NULL };
static const char *const facts[] = { "idle", NULL };

static void format_idle(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_string(host, "idle", (uint32_t)host->integer(record, STATE, 0) == UINT32_MAX ? "ends" : "begins", output);
}

static const struct weft_handler handlers[] = {
	{ "cpu_idle", fields, format_idle, facts },
};

WEFT_PLUGIN("power", handlers);
