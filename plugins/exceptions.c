// SPDX-License-Identifier: GPL-2.0-only
/* The error code of a page fault of x86. Other machines print another code, of which nothing is said. */
#include "include/weft/plugin.h"
#include "plugins/page_fault.h"

enum { ERROR_CODE };

static const char *const fields[] = { "error_code", NULL };

static void format_fault(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	const char *machine = host->machine(record);

	if (*machine && may_be_x86(machine))
		put_page_fault(host, host->integer(record, ERROR_CODE, 0), output);
}

static const struct weft_handler handlers[] = {
	{ "page_fault_*", fields, format_fault, page_fault_facts },
};

WEFT_PLUGIN("exceptions", handlers);
