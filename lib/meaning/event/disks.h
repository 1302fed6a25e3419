/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_DISKS_H
#define WEFT_MEANING_EVENT_DISKS_H

#include <stdint.h>

struct context;

enum { DISK_NAME = 32, DISK_TEXT = 64 };

/*
 * What the machine called a disk or partition, by the kernel's dev_t in an event (20 bits of minor number): "vda". ""
 * if the recording does not know (weft/disks, which older ones lack).
 */
const char *disk_name(const struct context *context, uint32_t device, char into[DISK_NAME]);
/* The same for people: "vda (254:0)", or "254:0". */
const char *disk_text(const struct context *context, uint32_t device, char into[DISK_TEXT]);

#endif
