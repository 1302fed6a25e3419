// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/flight_again.h"

#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/flight/service.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The program that runs, also after a newer one has taken its name. */
static const char program[] = "/proc/self/exe";

static char **kept; /* "weft", "flight", the words, and a place for one more; NULL at the end */
static size_t nr_kept;

void flight_again_keep(int argc, char **argv)
{
	static char weft[] = "weft", flight[] = "flight";

	kept = calloc((size_t)argc + 3, sizeof(*kept));
	if (!kept)
		return;
	kept[nr_kept++] = weft;
	kept[nr_kept++] = flight;
	for (int i = 1; i < argc; i++)
		kept[nr_kept++] = argv[i];
}

int flight_again_try(pid_t *ret, struct fail *fail)
{
	static char check[] = "--check";
	posix_spawnattr_t attr;
	sigset_t none;
	int err;

	if (!kept)
		return fail_memory(fail);
	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	kept[nr_kept] = check;
	err = posix_spawn(ret, program, NULL, &attr, kept, environ);
	kept[nr_kept] = NULL;
	posix_spawnattr_destroy(&attr);
	return err ? fail_set(fail, -err, "cannot run '%s': %s", program, strerror(err)) : 0;
}

int flight_again_begin(struct fail *fail)
{
	if (!kept)
		return fail_memory(fail);
	execv(program, kept);
	return fail_set(fail, -errno, "cannot run '%s': %s", program, strerror(errno));
}

void flight_again_managed(struct service_options *service)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t value = 0;

	service->notify = getenv("NOTIFY_SOCKET");
	if (pid && (text_parse_u64(pid, &value, NULL) || value != (uint64_t)getpid()))
		return;
	if (usec && !text_parse_range(usec, 1, UINT64_MAX / 1000, &value, NULL))
		service->watchdog_ns = value * 1000;
}
