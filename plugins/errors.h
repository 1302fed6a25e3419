/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_PLUGINS_ERRORS_H
#define WEFT_PLUGINS_ERRORS_H

#include <string.h>

#include "include/weft/plugin.h"

/*
 * Says the name of the error if the result of a system call, or of another function of the kernel, is one: -4095..-1,
 * include/linux/err.h.
 */
static inline void put_error(const struct weft_host *host, const struct weft_record *record, int64_t result,
			     struct weft_output *output)
{
	const char *name = NULL;

	if (result < 0 && result >= -4095 && WEFT_HOST_HAS(host, error))
		name = host->error(record, -result);
	if (name)
		host->put_text(output, "error", name, strlen(name));
}

#endif
