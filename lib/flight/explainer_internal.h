/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FLIGHT_EXPLAINER_INTERNAL_H
#define WEFT_FLIGHT_EXPLAINER_INTERNAL_H

#include "lib/base/cleanup.h"

#include <stdbool.h>

enum { EXPLAINED = 512 };

/*
 * One line that says why a trigger came, for the log and the line of JSON. The file is read by a process of its own,
 * because it has what all tasks of the machine could write into it: `program` is run with the file as its last
 * argument, and what it prints in EXPLAINER_MS is the line. False: it has nothing to say, or took too long.
 */
enum { EXPLAINER_MS = 5000 };
bool explainer_ask(const char *const *program, const char *file, char into[EXPLAINED]);

#endif
