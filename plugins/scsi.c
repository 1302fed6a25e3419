// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why a driver did not take a command: the values that queuecommand() returns, SCSI_MLQUEUE_* in include/scsi/scsi.h
 * of Linux 6.12. The kernel prints commands and statuses by name, and this as a number.
 */
#include "include/weft/plugin.h"
#include "plugins/words.h"

enum { RTN };

static const char *const fields[] = { "rtn", NULL };
static const char *const facts[] = { "refused", NULL };

static const struct word reasons[] = {
	{ 0x1055, "host-busy" },
	{ 0x1056, "device-busy" },
	{ 0x1057, "retry" },
	{ 0x1058, "target-busy" },
};

static void format_refusal(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_word(host, "refused", WORDS(reasons), host->integer(record, RTN, 0), output);
}

static const struct weft_handler handlers[] = {
	{ "scsi_dispatch_cmd_error", fields, format_refusal, facts },
};

WEFT_PLUGIN("scsi", handlers);
