/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_FLIGHT_AGAIN_H
#define WEFT_CMD_FLIGHT_AGAIN_H

#include "lib/base/cleanup.h"

#include <sys/types.h>

struct fail;
struct service_options;

/* `weft flight` once more, with the same command line: its options may have changed in the files that it names. */

/* Keeps the command line as it was given. */
void flight_again_keep(int argc, char **argv);

/* Begins a process that tries the command line: it ends with 0 if the flight could begin. */
int must_check flight_again_try(pid_t *ret, struct fail *fail);

/* Becomes that flight. Returns only if that fails. */
int flight_again_begin(struct fail *fail);

/* What the manager of services has put into the environment: the socket, and how long it waits for signs of life. */
void flight_again_managed(struct service_options *service);

#endif
