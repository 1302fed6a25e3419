// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/recorder.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "lib/ground/base/cpus.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/kernel/record/chunk_history_internal.h"
#include "lib/kernel/record/intake_internal.h"
#include "lib/kernel/record/page_staging_internal.h"
#include "lib/kernel/record/urgency.h"

enum {
	NAP_MS = 10, /* for kernels that wake readers before there is a full sub-buffer */
	/* The usual 8 MB hold whole huge pages, and the kernel then gives a thread 2 MB for its first call. */
	STACK_SIZE = 512 << 10,
};

/* Flushes the buffer if it is time to, and sets the time of the next flush. *timeout_ms: time until then. */
static int take_on(struct intake *intake, int *timeout_ms, uint64_t *due_ns, struct fail *fail)
{
	uint64_t flush_ms = (uint64_t)intake->options->flush_ms, now = now_ns();
	int err = 0;

	if (now >= *due_ns) {
		err = intake_now(intake, fail);
		*due_ns = now + flush_ms * 1000000;
	}
	*timeout_ms = (int)((*due_ns - now) / 1000000) + 1;
	return err;
}

/* Does what the recorder was woken for. 1: it shall end; 0: it goes on; -errno. */
static int heed(struct recorder *recorder, struct intake *intake, struct fail *fail)
{
	struct chunk_history_cpu *held = recorder->held;
	enum chunk_history_request request = held ? chunk_history_cpu_heed(held) : CHUNK_HISTORY_STOP;
	int err = 0;

	if (request == CHUNK_HISTORY_FLUSH) {
		err = intake_now(intake, fail);
		ring_watch_look(&recorder->watch, 0);
		__atomic_store_n(&recorder->overrun, recorder->watch.last.overrun, __ATOMIC_RELAXED);
		chunk_history_cpu_flushed(held);
	}
	return err ? err : request == CHUNK_HISTORY_STOP;
}

static int record_until_stop(struct recorder *recorder, struct intake *intake, struct fail *fail)
{
	struct pollfd stop = { .fd = recorder->held ? chunk_history_cpu_fd(recorder->held) : recorder->options.stop_fd,
			       .events = POLLIN };
	int r, err = 0, timeout_ms = -1;
	uint64_t due_ns = 0;
	size_t taken;

	for (;;) {
		if (recorder->options.flush_ms)
			err = take_on(intake, &timeout_ms, &due_ns, fail);
		if (err)
			return err;
		r = cpu_pipe_wait(&recorder->pipe, stop.fd, timeout_ms, fail);
		if (r < 0)
			return r;
		err = r ? intake_full(intake, &taken, fail) : 0;
		if (err)
			return err;
		if (r && taken)
			continue;
		if (poll(&stop, 1, r ? NAP_MS : 0) > 0)
			err = heed(recorder, intake, fail);
		if (err)
			return err < 0 ? err : 0;
	}
}

static int wait_until_stop(struct recorder *recorder, struct intake *intake, struct fail *fail)
{
	struct pollfd asked = { .fd = chunk_history_cpu_fd(recorder->held), .events = POLLIN };
	int r = 0;

	while (!r) {
		if (poll(&asked, 1, -1) < 0 && errno != EINTR)
			return fail_set(fail, -errno, "cannot wait to be asked: %s", strerror(errno));
		r = heed(recorder, intake, fail);
	}
	return r < 0 ? r : 0;
}

static int record(struct recorder *recorder, bool only_rest, struct fail *fail)
{
	struct intake intake = {
		.options = &recorder->options,
		.pipe = &recorder->pipe,
		.spool = &recorder->spool,
		.held = recorder->held,
		.staging = recorder->staging,
	};
	int err = intake_init(&intake, fail);

	if (!err && !only_rest)
		err = recorder->options.when_asked ? wait_until_stop(recorder, &intake, fail) :
						     record_until_stop(recorder, &intake, fail);
	if (!err && recorder->options.landed)
		err = intake_landed(&intake, recorder->options.landed, fail);
	/* What is held was written to a file before. */
	if (!err && !recorder->held && recorder->pipe.fd >= 0)
		err = intake_rest(&intake, fail);
	intake_release(&intake);
	return err;
}

static int run_on(const struct cpus *cpus, struct fail *fail)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	int err = 0;

	if (!set)
		return fail_memory(fail);
	CPU_ZERO_S(size, set);
	for (int cpu = cpus_next(cpus, 0); cpu >= 0; cpu = cpus_next(cpus, cpu + 1))
		CPU_SET_S((size_t)cpu, size, set);
	if (sched_setaffinity(0, size, set))
		err = fail_set(fail, -errno, "a recorder cannot run on these CPUs: %s",
			       errno == EINVAL ? "none of these CPUs is online" : strerror(errno));
	CPU_FREE(set);
	return err;
}

static int place(const struct recorder_options *options, struct fail *fail)
{
	const struct sched_param param = { .sched_priority = options->priority };
	int err = options->run_on ? run_on(options->run_on, fail) : 0;

	urgency_raise(URGENCY_RECORDER);
	if (!err && options->priority && sched_setscheduler(0, SCHED_FIFO, &param))
		err = fail_set(fail, -errno, "a recorder cannot have the priority %d: %s", options->priority,
			       strerror(errno));
	return err;
}

/* Of a thread that was started, until recorder_await(). */
struct placing {
	sem_t placed;
	int err;
	struct fail fail;
};

static void placing_free(struct recorder *recorder)
{
	if (recorder->placing)
		sem_destroy(&recorder->placing->placed);
	free(recorder->placing);
	recorder->placing = NULL;
}

static void *recorder_main(void *data)
{
	struct recorder *recorder = data;
	struct placing *placing = recorder->placing;
	int err;

	recorder->tid = (pid_t)syscall(SYS_gettid);
	err = placing->err = place(&recorder->options, &placing->fail);
	sem_post(&placing->placed); /* `placing` is invalid from here on */
	if (err)
		return NULL;
	recorder->err = record(recorder, false, &recorder->fail);
	if (recorder->err) {
		fail_in(&recorder->fail, recorder->err, "CPU %u", recorder->cpu);
		io_nudge(recorder->options.failed_fd);
	}
	return NULL;
}

static int create_thread(struct recorder *recorder)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return err;
	err = pthread_attr_setstacksize(&attr, STACK_SIZE);
	if (!err)
		err = pthread_create(&recorder->thread, &attr, recorder_main, recorder);
	pthread_attr_destroy(&attr);
	return err;
}

int recorder_start(struct recorder *recorder, struct fail *fail)
{
	int err;

	recorder->placing = calloc(1, sizeof(*recorder->placing));
	if (recorder->placing)
		sem_init(&recorder->placing->placed, 0, 0);
	err = recorder->placing ? create_thread(recorder) : ENOMEM;
	if (err) {
		err = fail_set(fail, -err, "cannot start a thread: %s", strerror(err));
		recorder_release(recorder);
		return err;
	}
	recorder->started = true;
	return 0;
}

int recorder_await(struct recorder *recorder, struct fail *fail)
{
	int err;

	if (!recorder->placing)
		return 0;
	(void)io_again(sem_wait(&recorder->placing->placed));
	err = recorder->placing->err;
	if (err)
		fail_set(fail, err, "%s", recorder->placing->fail.text);
	placing_free(recorder);
	return err;
}

void recorder_join(struct recorder *recorder)
{
	if (!recorder->started)
		return;
	pthread_join(recorder->thread, NULL);
	recorder->started = false;
}

void recorder_release(struct recorder *recorder)
{
	cpu_pipe_close(&recorder->pipe);
	ring_watch_close(&recorder->watch);
	spool_release(&recorder->spool);
	page_staging_free(recorder->staging);
	recorder->staging = NULL;
	placing_free(recorder);
}

int recorder_drain(struct recorder *recorder, struct fail *fail)
{
	return record(recorder, true, fail);
}
