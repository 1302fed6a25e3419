/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REMOTE_AGENTLESS_H
#define WEFT_KERNEL_REMOTE_AGENTLESS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/kernel/record/plain.h"

struct setup;

/* How to record a machine that has only a shell (elsewhere.h): what its weft would have known. */
struct agentless_options {
	const char *script;        /* cmd/agentless.sh */
	const struct setup *setup; /* see orders_internal.h */
	char *const *argv;         /* the command; NULL: none */
	bool all_formats;
	uint64_t duration_ns; /* 0: no limit */
	struct plain_options file;
};

#endif
