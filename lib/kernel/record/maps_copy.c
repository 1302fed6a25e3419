// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/maps_copy_internal.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/maps_watch_internal.h"
#include "lib/kernel/setup/kernel_pids.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/setup/tracer.h"
#include "lib/kernel/tracefs/process_maps.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/names/functions.h"
#include "lib/meaning/names/maps.h"
#include "lib/meaning/names/unwind.h"

enum { NAP_NS = 1000000, NAP_MAX_NS = 32000000 };

struct maps_copy {
	pid_t command, tid; /* 0: there is none */
	struct settings settings;
	struct maps_watch *watch; /* NULL: the kernel does not tell of maps */
	pthread_t thread;
	sem_t started, stop;
	bool runs;   /* the thread */
	bool unwind; /* stacks will be unwound */
	int err;
	struct fail fail;
};

/* Sleeps for `ns`. False: the thread must end. */
static bool nap(struct maps_copy *copy, long ns)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ns;
	if (until.tv_nsec >= NS_PER_S) {
		until.tv_nsec -= NS_PER_S;
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
		int r;

		maps_watch_read(copy->watch);
		r = copy->command ? process_maps_put_tree(&copy->settings, copy->command, &copy->fail) : 0;
		if (r < 0) {
			copy->err = r;
			break;
		}
		/* The sleep is short after the maps of a process have changed, and grows while nothing changes. */
		ns = r ? NAP_NS : ns * 2 > NAP_MAX_NS ? NAP_MAX_NS : ns * 2;
	}
	return NULL;
}

/* Of registers and stacks: the buffer is of record --stacks user. */
static bool has_copies(const struct target *target)
{
	return target->wanted->own && !strcmp(target->wanted->name, OWN_BUFFER_STACKS);
}

/* In another PID namespace the PIDs of /proc and of the events differ, so its maps would belong to other tasks. */
static bool is_needed(const struct target *targets, size_t nr)
{
	if (!kernel_pids_are_ours())
		return false;
	for (size_t i = 0; i < nr; i++)
		if (has_copies(&targets[i]) || option_get(targets[i].instance, "userstacktrace") == 1 ||
		    option_get(targets[i].instance, "sym-userobj") == 1)
			return true;
	return false;
}

int maps_copy_start(const struct target *targets, size_t nr, bool watch, pid_t command, struct maps_copy **ret,
		    struct fail *fail)
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
	for (size_t i = 0; i < nr; i++)
		copy->unwind |= has_copies(&targets[i]);
	err = watch ? maps_watch_start(&copy->watch, fail) : 0;
	if (err || (!command && !copy->watch))
		return err;
	sem_init(&copy->started, 0, 0);
	sem_init(&copy->stop, 0, 0);
	err = pthread_create(&copy->thread, NULL, maps_copy_main, copy);
	if (err)
		return fail_set(fail, -err, "cannot start a thread: %s", strerror(err));
	copy->runs = true;
	(void)io_again(sem_wait(&copy->started));
	return 0;
}

pid_t maps_copy_tid(const struct maps_copy *copy)
{
	return copy ? copy->tid : 0;
}

static int add(struct ledger *ledger, const char *name, const char *text, size_t len, struct fail *fail)
{
	return ledger_add(ledger,
			  &(struct ledger_item){ .kind = LEDGER_SETTING, .key = name, .data = text, .len = len }, fail);
}

static int add_all(const struct maps_copy *copy, size_t tree, struct ledger *ledger, struct fail *fail)
{
	const struct functions_first first = { copy->command, tree };
	cleanup_buf struct buf watched = BUF_INIT, functions = BUF_INIT, unwind = BUF_INIT;
	int err = copy->watch ? maps_watch_put(copy->watch, &watched, fail) : 0;

	for (size_t i = 0; !err && i < copy->settings.nr; i++)
		err = add(ledger, copy->settings.items[i].name, copy->settings.items[i].text,
			  copy->settings.items[i].len, fail);
	if (!err && watched.len)
		err = add(ledger, SETTING_MAPS, buf_str(&watched), watched.len, fail);
	if (!err)
		err = functions_copy(&copy->settings, &first, &watched, &functions, copy->unwind ? &unwind : NULL,
				     fail);
	if (!err && functions.len)
		err = add(ledger, SETTING_FUNCTIONS, buf_str(&functions), functions.len, fail);
	if (!err && unwind.len)
		err = add(ledger, SETTING_UNWIND, buf_str(&unwind), unwind.len, fail);
	return err;
}

int maps_copy_finish(struct maps_copy *copy, struct ledger *ledger, const struct tracing *tracing, struct fail *fail)
{
	size_t tree;
	int err;

	if (!copy)
		return 0;
	if (copy->runs) {
		sem_post(&copy->stop);
		pthread_join(copy->thread, NULL);
	}
	err = copy->err ? fail_set(fail, copy->err, "%s", copy->fail.text) : 0;
	tree = copy->settings.nr;
	if (!err && ledger)
		err = process_maps_put_known(&copy->settings, tracing, fail);
	if (!err && ledger)
		err = add_all(copy, tree, ledger, fail);
	settings_release(&copy->settings);
	maps_watch_free(copy->watch);
	free(copy);
	return err;
}
