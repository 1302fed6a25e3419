/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SCHEMA_ENUMERATORS_H
#define WEFT_SCHEMA_ENUMERATORS_H

#include <stdbool.h>
#include <stdint.h>

struct token;

/* The value of an enumerator of the kernel's that formats name without it. False when it is none that is known. */
bool enumerator_find(const struct token *name, uint32_t *ret);

#endif
