/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FLIGHT_LEFT_INTERNAL_H
#define WEFT_FLIGHT_LEFT_INTERNAL_H

#include <sys/types.h>

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

#endif
