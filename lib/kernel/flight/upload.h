/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_UPLOAD_H
#define WEFT_KERNEL_FLIGHT_UPLOAD_H

#include <stdint.h>

/* What happens to a file of a flight when it and the JSON beside it are complete. */
struct upload_options {
	/* of /bin/sh, which gets the file as its standard input; {}: its path; NULL: nothing happens */
	const char *command;
	const char *user;  /* that the command becomes if weft is root; not root itself */
	uint64_t limit_ns; /* after this time the command is killed */
};

#endif
