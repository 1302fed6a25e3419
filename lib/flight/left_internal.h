/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FLIGHT_LEFT_INTERNAL_H
#define WEFT_FLIGHT_LEFT_INTERNAL_H

#include "lib/base/cleanup.h"

#include <sys/types.h>

struct fail;

struct left_options {
	const char *name; /* of the flight */
	const char *dir;  /* of the file */
	mode_t mode;
	void (*tell)(const char *text);
};

/*
 * Saves what a flight of the same name left that was killed: what it held and what the kernel still holds, in a file of
 * the trigger "left", and restores what it has changed. What cannot be saved stays, which is told; it is no error.
 */
void left_save(const struct left_options *options);

/*
 * Saves likewise what an instance holds that survives a reset (persistent.h). After an error it must not be used,
 * because that would empty it.
 */
int must_check left_save_persistent(const struct left_options *options, const char *instance, struct fail *fail);

#endif
