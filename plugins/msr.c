// SPDX-License-Identifier: GPL-2.0-only
/* The kernel prints a model-specific register by its number. */
#include "include/weft/plugin.h"
#include "plugins/msr_names.h"

enum { MSR };

static const char *const fields[] = { "msr", NULL };
static const char *const facts[] = { "register", NULL };

static void format_msr(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_string(host, "register", msr_name(host->integer(record, MSR, 0)), output);
}

static const struct weft_handler handlers[] = {
	{ "read_msr", fields, format_msr, facts },
	{ "write_msr", fields, format_msr, facts },
};

WEFT_PLUGIN("msr", handlers);
