// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/record/maps_copy_internal.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "lib/base/fail.h"
#include "lib/base/io.h"
#include "lib/record/ledger_internal.h"
#include "lib/setup/kernel_pids.h"
#include "lib/setup/tracer.h"
#include "lib/tracefs/process_maps.h"

enum { NAP_NS = 1000000, NAP_MAX_NS = 32000000 };

struct maps_copy {
	pid_t command, tid;
	struct settings settings;
	pthread_t thread;
	sem_t started, stop;
	int err;
	struct fail fail;
};

/* Sleeps for `ns`. False: the thread must end. */
static bool nap(struct maps_copy *copy, long ns)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ns;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return sem_timedwait(&copy->stop, &until) < 0;
}

static void *maps_copy_main(void *data)
{
	struct maps_copy *copy = data;
	long ns = NAP_NS;

	copy->tid = (pid_t)syscall(SYS_gettid);
	sem_post(&copy->started);
	while (nap(copy, ns)) {
		int r = process_maps_put_tree(&copy->settings, copy->command, &copy->fail);

		if (r < 0) {
			copy->err = r;
			break;
		}
		/* The sleep is short after the maps of a process have changed, and grows while nothing changes. */
		ns = r ? NAP_NS : ns * 2 > NAP_MAX_NS ? NAP_MAX_NS : ns * 2;
	}
	return NULL;
}

/* In another PID namespace the PIDs of /proc and of the events differ, so its maps would belong to other tasks. */
static bool is_needed(const struct target *targets, size_t nr)
{
	if (!kernel_pids_are_ours())
		return false;
	for (size_t i = 0; i < nr; i++)
		if (option_get(targets[i].instance, "userstacktrace") == 1 ||
		    option_get(targets[i].instance, "sym-userobj") == 1)
			return true;
	return false;
}

int maps_copy_start(const struct target *targets, size_t nr, pid_t command, struct maps_copy **ret, struct fail *fail)
{
	struct maps_copy *copy;
	int err;

	if (!is_needed(targets, nr))
		return 0;
	copy = calloc(1, sizeof(*copy));
	if (!copy)
		return fail_memory(fail);
	*ret = copy;
	copy->command = command;
	if (!command)
		return 0;
	sem_init(&copy->started, 0, 0);
	sem_init(&copy->stop, 0, 0);
	err = pthread_create(&copy->thread, NULL, maps_copy_main, copy);
	if (err) {
		copy->command = 0;
		return fail_set(fail, -err, "cannot start a thread: %s", strerror(err));
	}
	(void)io_again(sem_wait(&copy->started));
	return 0;
}

pid_t maps_copy_tid(const struct maps_copy *copy)
{
	return copy ? copy->tid : 0;
}

static int add_all(const struct maps_copy *copy, struct ledger *ledger, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < copy->settings.nr; i++) {
		const struct setting *setting = &copy->settings.items[i];

		err = ledger_add(ledger,
				 &(struct ledger_item){ .kind = LEDGER_SETTING,
							.key = setting->name,
							.data = setting->text,
							.len = setting->len },
				 fail);
	}
	return err;
}

int maps_copy_finish(struct maps_copy *copy, struct ledger *ledger, const struct tracing *tracing, struct fail *fail)
{
	int err;

	if (!copy)
		return 0;
	if (copy->command) {
		sem_post(&copy->stop);
		pthread_join(copy->thread, NULL);
	}
	err = copy->err ? fail_set(fail, copy->err, "%s", copy->fail.text) : 0;
	if (!err && ledger)
		err = process_maps_put_known(&copy->settings, tracing, fail);
	if (!err && ledger)
		err = add_all(copy, ledger, fail);
	settings_release(&copy->settings);
	free(copy);
	return err;
}
