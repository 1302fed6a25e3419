// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/restoring.h"

#include "lib/base/cleanup.h"
#include "lib/kernel/shared.h"
#include "lib/kernel/undo.h"
#include "lib/record/switches.h"
#include "lib/record/target.h"

#include <errno.h>

static void note(struct restoring *restoring, int err, const struct fail *fail)
{
	restoring->err = fail_first(restoring->err, err, &restoring->fail, fail);
}

/* Settings, then instances, then the command lines that all recordings share. */
static void restore(struct restoring *restoring)
{
	struct fail fail = FAIL_INIT;

	for (size_t i = 0; i < restoring->nr_targets; i++)
		target_close_pipes(&restoring->targets[i]);
	switches_release(restoring->switches);
	if (restoring->undo)
		note(restoring, undo_restore(restoring->undo, &fail), &fail);
	for (size_t i = 0; i < restoring->nr_targets; i++) {
		if (!restoring->targets[i].instance)
			continue;
		note(restoring, instance_close(restoring->targets[i].instance, &fail), &fail);
		restoring->targets[i].instance = NULL;
	}
	note(restoring, shared_cmdlines_leave(restoring->cmdlines, &fail), &fail);
}

static void *restoring_main(void *data)
{
	struct restoring *restoring = data;
	struct fail fail;

	/* Whatever this cannot switch off goes with the instance. */
	for (size_t i = 0; i < restoring->nr_targets; i++)
		if (target_quiet(&restoring->targets[i], &fail))
			break;
	while (sem_wait(&restoring->drained) && errno == EINTR)
		continue;
	restore(restoring);
	return NULL;
}

void restoring_start(struct restoring *restoring)
{
	sem_init(&restoring->drained, 0, 0);
	restoring->started = !pthread_create(&restoring->thread, NULL, restoring_main, restoring);
	if (!restoring->started)
		sem_destroy(&restoring->drained);
}

void restoring_go(struct restoring *restoring)
{
	if (restoring->started)
		sem_post(&restoring->drained);
	else
		restore(restoring);
}

void restoring_end(struct restoring *restoring)
{
	if (!restoring->started)
		return;
	pthread_join(restoring->thread, NULL);
	sem_destroy(&restoring->drained);
	restoring->started = false;
}
