// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/record/restoring_internal.h"

#include "lib/base/io.h"
#include "lib/record/rig.h"

#include <errno.h>

static void restore(struct restoring *restoring)
{
	restoring->err = rig_restore(restoring->rig, &restoring->fail);
}

static void *restoring_main(void *data)
{
	struct restoring *restoring = data;
	struct fail fail;

	/* An error is ignored: events that stay enabled disappear with their instance. */
	for (size_t i = 0; i < restoring->rig->nr_targets; i++)
		if (target_quiet(&restoring->rig->targets[i], &fail))
			break;
	(void)io_again(sem_wait(&restoring->drained));
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
