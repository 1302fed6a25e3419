// SPDX-License-Identifier: GPL-2.0-only
/* The protocol of a packet, which the kernel prints as a number. */
#include "include/weft/plugin.h"
#include "plugins/ether_types.h"

enum { PROTOCOL };

static const char *const fields[] = { "protocol", NULL };
static const char *const facts[] = { "protocol", NULL };

static void format_packet(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_word(host, "protocol", WORDS(ether_types), host->integer(record, PROTOCOL, 0), output);
}

static const struct weft_handler handlers[] = {
	{ "kfree_skb", fields, format_packet, facts },
};

WEFT_PLUGIN("skb", handlers);
