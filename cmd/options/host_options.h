/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_HOST_OPTIONS_H
#define WEFT_CMD_OPTIONS_HOST_OPTIONS_H

#include "cmd/options/option_rows.h"

/* --host and --vcpus of commands that look at a guest: a child table whose input is a struct guest_host. */
extern const struct options host_options;

#endif
