/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCHEMA_ENUMERATORS_INTERNAL_H
#define WEFT_SCHEMA_ENUMERATORS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct token;

/* The value of a kernel enumerator that formats use by name. False when the name is unknown. */
bool enumerator_find(const struct token *name, uint32_t *ret);

#endif
