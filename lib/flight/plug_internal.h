/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FLIGHT_PLUG_INTERNAL_H
#define WEFT_FLIGHT_PLUG_INTERNAL_H

#include <stdbool.h>

/*
 * Listens for what the kernel says when a CPU comes online. The descriptor becomes readable at any event of a device;
 * -1: the kernel says nothing here (another network namespace, a filter of system calls), so who needs to know has to
 * look from time to time.
 */
int plug_open(void);
/* Takes what was said. Whether it was about a CPU. */
bool plug_look(int fd);

#endif
