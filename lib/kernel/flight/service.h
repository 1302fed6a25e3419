/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_SERVICE_H
#define WEFT_KERNEL_FLIGHT_SERVICE_H

#include <stdint.h>
#include <sys/types.h>

struct fail;

/* What makes a flight a service. All of it may be zero. */
struct service_options {
	/*
	 * SIGHUP that a process sends: begins a process that tries the options as they are now. If it succeeds, the
	 * flight ends, with `reload` in its result, and the caller begins the next one. NULL: SIGHUP ends the flight.
	 */
	int (*reload)(pid_t *ret, struct fail *fail);
	const char *notify;   /* the socket of the manager of services, NOTIFY_SOCKET of sd_notify(3); NULL: none */
	uint64_t watchdog_ns; /* how long it waits for a sign of life; 0: it does not */
};

#endif
