// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

enum { JOBS = 100 };

struct square {
	struct pool_job job;
	uint64_t number;
};

static void square_run(struct pool_job *job)
{
	struct square *square = (struct square *)job;

	square->number *= square->number;
}

static void run_with(unsigned threads)
{
	struct square squares[JOBS] = { 0 };
	struct fail fail = FAIL_INIT;
	struct pool *pool = NULL;

	REQUIRE(!pool_new(threads, &pool, &fail));
	for (unsigned i = 0; i < JOBS; i++) {
		squares[i] = (struct square){ .job.run = square_run, .number = i };
		pool_submit(pool, &squares[i].job);
	}
	for (unsigned i = 0; i < JOBS; i++) {
		pool_wait(pool, &squares[i].job);
		CHECK(squares[i].number == (uint64_t)i * i);
	}
	pool_free(pool);
}

TEST(pool_runs_every_job_with_any_number_of_threads)
{
	run_with(0);
	run_with(1);
	run_with(7);
}

TEST(pool_runs_a_job_again)
{
	struct square square = { .job.run = square_run, .number = 3 };
	struct fail fail = FAIL_INIT;
	struct pool *pool = NULL;

	REQUIRE(!pool_new(2, &pool, &fail));
	for (int i = 0; i < 3; i++) {
		pool_submit(pool, &square.job);
		pool_wait(pool, &square.job);
	}
	CHECK(square.number == 6561);
	pool_free(pool);
}

TEST(pool_may_be_waited_for_in_any_order_while_jobs_are_put_in_front)
{
	struct square squares[JOBS] = { 0 };
	struct pool *pool = NULL;

	for (unsigned threads = 0; threads < 4; threads++) {
		REQUIRE(!pool_new(threads, &pool, NULL));
		CHECK(pool_threads(pool) == threads);
		for (unsigned i = 0; i < JOBS; i++) {
			squares[i] = (struct square){ .job.run = square_run, .number = i };
			(i % 3 ? pool_submit : pool_submit_first)(pool, &squares[i].job);
			/*
			 * Waits for the last or the first job of the queue. The next job is queued behind the remaining
			 * jobs.
			 */
			if (i % 5 == 4)
				pool_wait(pool, &squares[i].job);
		}
		for (unsigned i = JOBS; i-- > 0;) {
			if (i % 5 != 4)
				pool_wait(pool, &squares[i].job);
			CHECK(squares[i].number == (uint64_t)i * i);
		}
		pool_free(pool);
	}
	CHECK(pool_threads(NULL) == 0);
}

struct told {
	struct pool_job job;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool ran;
};

static void told_run(struct pool_job *job)
{
	struct told *told = (struct told *)job;

	pthread_mutex_lock(&told->lock);
	told->ran = true;
	pthread_cond_signal(&told->cond);
	pthread_mutex_unlock(&told->lock);
}

TEST(pool_begins_a_single_job_put_in_front_while_the_owner_does_something_else)
{
	struct told told = { .job.run = told_run, .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };
	struct pool *pool = NULL;
	struct timespec until;
	int err = 0;

	REQUIRE(!pool_new(1, &pool, NULL));
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 60;
	pool_submit_first(pool, &told.job);
	pthread_mutex_lock(&told.lock);
	while (!told.ran && !err)
		err = pthread_cond_timedwait(&told.cond, &told.lock, &until);
	pthread_mutex_unlock(&told.lock);
	CHECK(!err);
	pool_wait(pool, &told.job);
	pool_free(pool);
}

struct writing {
	struct pool_job job;
	int fd;
};

static void writing_run(struct pool_job *job)
{
	(void)!write(((struct writing *)job)->fd, "x", 1);
}

/* How a process ends of which a thread of the pool writes to a closed pipe. */
static int ended_by(bool blocked)
{
	struct writing writing = { .job.run = writing_run };
	struct pool *pool = NULL;
	int fds[2], status = 0;
	pid_t pid = fork();

	if (!pid) {
		sigset_t set;

		signal(SIGPIPE, SIG_DFL);
		sigemptyset(&set);
		sigaddset(&set, SIGPIPE);
		sigprocmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
		if (pipe(fds) || close(fds[0]) || pool_new(1, &pool, NULL))
			_exit(2);
		writing.fd = fds[1];
		pool_submit(pool, &writing.job);
		pool_wait(pool, &writing.job);
		pool_free(pool);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

TEST(pool_threads_end_the_process_at_a_closed_pipe_as_its_owner_would)
{
	int by_signal = ended_by(false), with_error = ended_by(true);

	CHECK(WIFSIGNALED(by_signal) && WTERMSIG(by_signal) == SIGPIPE);
	CHECK(WIFEXITED(with_error) && !WEXITSTATUS(with_error));
}
