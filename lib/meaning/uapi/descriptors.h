/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_UAPI_DESCRIPTORS_H
#define WEFT_MEANING_UAPI_DESCRIPTORS_H

#include <stdbool.h>

/* Which numbers of system calls are descriptors, and which calls tell how much they moved through them. */

/* An argument, by the name that the kernel gives to it. */
bool descriptor_is_argument(const char *argument);
/* What the call of this name returns. */
bool descriptor_is_result(const char *call);
/* The first argument of the call of this name. */
bool descriptor_is_first(const char *call);
/* What the call of this name returns is a number of bytes. */
bool descriptor_moves_bytes(const char *call);

#endif
