/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_PLUGINS_ERRORS_H
#define WEFT_PLUGINS_ERRORS_H

#include "lib/plugin/plugin.h"

#include <string.h>

/* Results of system calls that only the kernel itself sees: include/linux/errno.h. */
static inline const char *restart_name(int64_t error)
{
	switch (error) {
	case 512: return "ERESTARTSYS";
	case 513: return "ERESTARTNOINTR";
	case 514: return "ERESTARTNOHAND";
	case 515: return "ENOIOCTLCMD";
	case 516: return "ERESTART_RESTARTBLOCK";
	}
	return NULL;
}

/* Says the name of the error if the result of a system call is one: -4095..-1, include/linux/err.h. */
static inline void put_error(const struct weft_host *host, int64_t result, struct weft_output *output)
{
	const char *name;

	if (result >= 0 || result < -4095)
		return;
	name = restart_name(-result);
	if (!name)
		name = strerrorname_np((int)-result);
	if (name)
		host->put_text(output, "error", name, strlen(name));
}

#endif
