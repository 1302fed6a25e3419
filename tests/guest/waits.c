// SPDX-License-Identifier: GPL-2.0-only
/*
 * waits WORKLOAD [FILE]: makes a task wait for reasons that are known, for weft why. The task that waits is called
 * root; what the others do for it, and for how long, says the comment at each workload. On a busy host a task runs for
 * longer than it means to: what each has run for that, and in its whole life, by its own clock, is printed as
 * "ran NAME NS NS".
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static long long ran;
static const char *path = "/dev/vda"; /* of the file or device of the workloads that need a disk */

static void run_ms(int ms)
{
	struct timespec begin, now;
	long long ns;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		ns = (now.tv_sec - begin.tv_sec) * 1000000000LL + now.tv_nsec - begin.tv_nsec;
	} while (ns < ms * 1000000LL);
	ran += ns;
}

static void end(void)
{
	struct timespec all;
	char comm[16];

	prctl(PR_GET_NAME, comm);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &all);
	dprintf(STDOUT_FILENO, "ran %s %lld %lld\n", comm, ran, all.tv_sec * 1000000000LL + all.tv_nsec);
	_exit(0);
}

/* Waits until a task waits. */
static void until_asleep(pid_t pid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (state != 'S') {
		file = fopen(path, "r");
		if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			_exit(3);
		fclose(file);
		sched_yield();
	}
}

static void sleep_ms(int ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

static void put(int fd)
{
	if (write(fd, "x", 1) != 1)
		_exit(3);
}

/* False at the end of the pipe. */
static int get(int fd)
{
	char c;

	return read(fd, &c, 1) == 1;
}

static void name(const char *comm)
{
	prctl(PR_SET_NAME, comm);
}

/* In the child 0, with its name. */
static pid_t child(const char *comm)
{
	pid_t pid = fork();

	if (pid < 0)
		_exit(3);
	if (!pid)
		name(comm);
	return pid;
}

static void pipes(int (*fds)[2], int nr)
{
	while (nr--)
		if (pipe(fds[nr]))
			_exit(3);
}

static void on_cpu(int cpu, int fifo)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) ||
	    (fifo && sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = fifo })))
		_exit(4);
}

/* leaf sleeps 100 ms and runs 10, then middle runs 20, and root has waited for it in read(). */
static void chain(void)
{
	int fds[3][2];

	pipes(fds, 3);
	if (!child("leaf")) {
		until_asleep(getppid());
		sleep_ms(100);
		run_ms(10);
		put(fds[1][1]);
		end();
	}
	if (!child("middle")) {
		get(fds[1][0]);
		run_ms(20);
		put(fds[2][1]);
		end();
	}
	get(fds[2][0]);
}

/* Three holders run for 30 ms each with a lock; root comes last, and waits for it in futex(). */
static void convoy(void)
{
	pthread_mutex_t *lock = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static const char *const names[] = { "first", "second", "third" };
	pthread_mutexattr_t shared;
	int fds[1][2];

	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	if (lock == MAP_FAILED || pthread_mutex_init(lock, &shared))
		_exit(3);
	pipes(fds, 1);
	for (int i = 0; i < 3; i++) {
		pid_t pid = child(names[i]);

		if (pid) {
			if (i)
				until_asleep(pid);
			else
				get(fds[0][0]);
			continue;
		}
		pthread_mutex_lock(lock);
		if (!i) {
			put(fds[0][1]);
			until_asleep(getppid());
		}
		run_ms(30);
		pthread_mutex_unlock(lock);
		end();
	}
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
}

/* victim runs 20 ms, for which root waits in read(); hog of real time has its CPU for 30 ms meanwhile. */
static void hog(void)
{
	int fds[2][2];

	pipes(fds, 2);
	if (!child("hog")) {
		on_cpu(0, 50);
		get(fds[1][0]);
		run_ms(30);
		sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ .sched_priority = 0 });
		end();
	}
	if (!child("victim")) {
		on_cpu(0, 0);
		until_asleep(getppid());
		put(fds[1][1]);
		run_ms(20);
		put(fds[0][1]);
		end();
	}
	on_cpu(1, 0);
	get(fds[0][0]);
}

/* root waits in recv() for 48 ms of server, over TCP: it runs 8 ms, sleeps 40 and runs 4. */
static void tcp(void)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd;
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	char c;

	if (bind(listener, (struct sockaddr *)&at, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&at, &len))
		_exit(4);
	if (!child("server")) {
		fd = accept(listener, NULL, NULL);
		while (recv(fd, &c, 1, 0) == 1) {
			until_asleep(getppid());
			run_ms(8);
			sleep_ms(40);
			run_ms(4);
			send(fd, &c, 1, 0);
		}
		end();
	}
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd, (struct sockaddr *)&at, len))
		_exit(4);
	send(fd, "x", 1, 0);
	recv(fd, &c, 1, 0);
	shutdown(fd, SHUT_WR);
}

/* root waits in read() for server, which looks for work each 30 ms only, and then runs 3 ms for it. */
static void polls(void)
{
	int fds[2][2];

	pipes(fds, 2);
	if (!child("server")) {
		fcntl(fds[0][0], F_SETFL, O_NONBLOCK);
		put(fds[1][1]);
		do
			sleep_ms(30);
		while (!get(fds[0][0]));
		run_ms(3);
		put(fds[1][1]);
		end();
	}
	get(fds[1][0]);
	put(fds[0][1]);
	get(fds[1][0]);
}

/*
 * server runs for other until root asks, too, and 60 ms longer; then 5 ms for root, which waits in read(). It makes no
 * call meanwhile, in which it might receive something.
 */
static void busy(void)
{
	int *asks = mmap(NULL, sizeof(*asks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), fds[4][2];

	if (asks == MAP_FAILED)
		_exit(4);
	pipes(fds, 4);
	if (!child("server")) {
		struct pollfd from[] = { { fds[0][0], POLLIN, 0 }, { fds[1][0], POLLIN, 0 } };

		for (int done = 0; done < 2;) {
			poll(from, 2, -1);
			for (int i = 0; i < 2; i++) {
				if (!(from[i].revents & POLLIN) || !get(from[i].fd))
					continue;
				if (!i)
					put(fds[2][1]);
				while (!i && !__atomic_load_n(asks, __ATOMIC_ACQUIRE))
					;
				run_ms(i ? 5 : 60);
				put(fds[2 + i][1]);
				done++;
			}
		}
		end();
	}
	/* It begins with the work for this one; root is the next. */
	put(fds[0][1]);
	poll(&(struct pollfd){ fds[2][0], POLLIN, 0 }, 1, -1);
	get(fds[2][0]);
	__atomic_store_n(asks, 1, __ATOMIC_RELEASE);
	put(fds[1][1]);
	get(fds[3][0]);
}

/* root reads a timer, which setter sets after a sleep of 21 ms, for 40 ms later. */
static void timer(void)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t times;

	if (fd < 0)
		_exit(4);
	if (!child("setter")) {
		until_asleep(getppid());
		sleep_ms(21);
		timerfd_settime(fd, 0, &(struct itimerspec){ .it_value.tv_nsec = 40000000 }, NULL);
		end();
	}
	if (read(fd, &times, sizeof(times)) != sizeof(times))
		_exit(4);
}

/* server answers 300 times in read() of root; each 60th time it sleeps 40 ms first. */
static void requests(void)
{
	int fds[2][2];

	pipes(fds, 2);
	if (!child("server")) {
		close(fds[0][1]);
		for (int i = 1; get(fds[0][0]); i++) {
			if (i % 60 == 0)
				sleep_ms(40);
			put(fds[1][1]);
		}
		end();
	}
	close(fds[0][0]);
	for (int i = 0; i < 300; i++) {
		put(fds[0][1]);
		get(fds[1][0]);
	}
	close(fds[0][1]);
}

/*
 * root, of real time, waits 20 ms in recv() on the CPU that hog has for 60 ms, with less priority. On PREEMPT_RT the
 * thread that expires the timer has still less.
 */
static void inversion(void)
{
	int fds[1][2], pair[2];
	char c;

	pipes(fds, 1);
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) ||
	    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){ .tv_usec = 20000 }, sizeof(struct timeval)))
		_exit(4);
	if (!child("hog")) {
		on_cpu(1, 50);
		get(fds[0][0]);
		run_ms(60);
		end();
	}
	on_cpu(1, 60);
	put(fds[0][1]);
	(void)recv(pair[0], &c, 1, 0);
}

/* A lock of several processes. */
struct lock {
	pthread_mutex_t mutex;
	pthread_cond_t cond, done;
	int turn;
};

static struct lock *lock_new(void)
{
	struct lock *lock = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t of_mutex;
	pthread_condattr_t of_cond;

	pthread_mutexattr_init(&of_mutex);
	pthread_condattr_init(&of_cond);
	pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
	pthread_condattr_setpshared(&of_cond, PTHREAD_PROCESS_SHARED);
	if (lock == MAP_FAILED || pthread_mutex_init(&lock->mutex, &of_mutex) ||
	    pthread_cond_init(&lock->cond, &of_cond) || pthread_cond_init(&lock->done, &of_cond))
		_exit(3);
	return lock;
}

/* holder sleeps 35 ms while it has the lock for which root waits in futex(). */
static void held(void)
{
	struct lock *lock = lock_new();
	int fds[1][2];

	pipes(fds, 1);
	if (!child("holder")) {
		pthread_mutex_lock(&lock->mutex);
		put(fds[0][1]);
		until_asleep(getppid());
		sleep_ms(35);
		pthread_mutex_unlock(&lock->mutex);
		end();
	}
	get(fds[0][0]);
	pthread_mutex_lock(&lock->mutex);
	pthread_mutex_unlock(&lock->mutex);
}

/*
 * Four tasks, all woken by one condition, run for 10 ms each, one after the other; root waits for the last one in
 * futex().
 */
static void herd(void)
{
	static const char *const names[] = { "herd1", "herd2", "herd3", "herd4" };
	struct lock *lock = lock_new();

	for (int i = 0; i < 4; i++) {
		pid_t pid = child(names[i]);

		if (pid) {
			until_asleep(pid);
			continue;
		}
		pthread_mutex_lock(&lock->mutex);
		/* The first one begins when root is there. */
		while (lock->turn != i + 1)
			pthread_cond_wait(&lock->cond, &lock->mutex);
		run_ms(10);
		lock->turn++;
		pthread_cond_broadcast(i < 3 ? &lock->cond : &lock->done);
		pthread_mutex_unlock(&lock->mutex);
		end();
	}
	if (!child("starter")) {
		until_asleep(getppid());
		pthread_mutex_lock(&lock->mutex);
		lock->turn = 1;
		pthread_cond_broadcast(&lock->cond);
		pthread_mutex_unlock(&lock->mutex);
		_exit(0);
	}
	pthread_mutex_lock(&lock->mutex);
	while (lock->turn != 5)
		pthread_cond_wait(&lock->done, &lock->mutex);
	pthread_mutex_unlock(&lock->mutex);
}

/* writer sleeps 60 ms, runs 5 and writes to the terminal whose other end root reads: a worker carries it there. */
static void terminal(void)
{
	int ends = posix_openpt(O_RDWR | O_NOCTTY), other;
	struct termios raw;

	if (ends < 0 || grantpt(ends) || unlockpt(ends))
		_exit(4);
	other = open(ptsname(ends), O_RDWR | O_NOCTTY);
	if (other < 0 || tcgetattr(other, &raw))
		_exit(4);
	cfmakeraw(&raw);
	tcsetattr(other, TCSANOW, &raw);
	if (!child("writer")) {
		until_asleep(getppid());
		sleep_ms(60);
		run_ms(5);
		put(other);
		end();
	}
	get(ends);
}

/* server runs a program that sleeps 20 ms, waits for it, then runs 4 ms and answers root, which waits in recv(). */
static void spawn(void)
{
	int pair[2], status;
	char c;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		_exit(4);
	if (!child("server")) {
		pid_t pid;

		if (recv(pair[1], &c, 1, 0) != 1)
			_exit(4);
		until_asleep(getppid());
		pid = fork();
		if (!pid) {
			/* What it runs is not the server's. */
			name("child");
			execlp("waits", "waits", "nap", NULL);
			_exit(4);
		}
		waitpid(pid, &status, 0);
		run_ms(4);
		send(pair[1], &c, 1, 0);
		end();
	}
	send(pair[0], "x", 1, 0);
	if (recv(pair[0], &c, 1, 0) != 1)
		_exit(4);
}

static void nap(void)
{
	name("nap");
	sleep_ms(20);
}

static int disk(int flags)
{
	int fd = open(path, flags | O_RDWR | O_CREAT, 0600);

	if (fd < 0)
		_exit(4);
	return fd;
}

static void *block(int size)
{
	void *at = NULL;

	if (posix_memalign(&at, 4096, (size_t)size))
		_exit(3);
	memset(at, 'x', (size_t)size);
	return at;
}

/* root writes 64 KiB and waits in fsync(), five times. */
static void syncs(void)
{
	int fd = disk(0);
	void *data = block(65536);

	for (int i = 0; i < 5; i++)
		if (pwrite(fd, data, 65536, i * 65536L) != 65536 || fsync(fd))
			_exit(4);
}

/* root has 4 MiB of dirty pages, and waits in syncfs(). */
static void flush(void)
{
	int fd = disk(0);
	void *data = block(1 << 20);

	for (int i = 0; i < 4; i++)
		if (pwrite(fd, data, 1 << 20, (long)i << 20) != 1 << 20)
			_exit(4);
	if (strncmp(path, "/dev/", 5))
		syncfs(fd);
	else
		sync();
}

/* root writes ten times 64 KiB past the page cache, in pwrite64(); writer may do so, too, meanwhile. */
static void direct(int beside)
{
	int fd = disk(O_DIRECT);
	void *data = block(65536);
	pid_t pid = beside ? child("writer") : -1;

	for (int i = 0; i < (pid ? 10 : 30); i++)
		if (pwrite(fd, data, 65536, (pid ? 0 : 2 << 20) + i * 65536L) != 65536)
			_exit(4);
	if (!pid)
		_exit(0);
	if (beside)
		fsync(fd);
}

static void writes(void)
{
	direct(0);
}

static void beside(void)
{
	direct(1);
}

/* faulter touches 20 pages of a file that are not in memory, one after the other, and ends. */
static void faults(void)
{
	int fd = disk(0);
	volatile char *at = mmap(NULL, 4 << 20, PROT_READ, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED || fsync(fd) || posix_fadvise(fd, 0, 4 << 20, POSIX_FADV_DONTNEED) ||
	    madvise((void *)(uintptr_t)at, 4 << 20, MADV_RANDOM))
		_exit(4);
	if (!child("faulter")) {
		for (int i = 0; i < 20; i++)
			ran += at[i * 65536];
		_exit(0);
	}
}

/* root waits in io_uring_enter() for a read of a pipe, into which writer writes: it sleeps 30 ms and runs 5. */
static void uring(void)
{
	struct io_uring_params params = { 0 };
	int ring = (int)syscall(SYS_io_uring_setup, 2, &params), fds[1][2];
	struct io_uring_sqe *sqe;
	uint32_t *queue;
	char byte;
	char *map;

	if (ring < 0)
		_exit(5);
	pipes(fds, 1);
	map = mmap(NULL, params.sq_off.array + params.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		   IORING_OFF_SQ_RING);
	sqe = mmap(NULL, params.sq_entries * sizeof(*sqe), PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
	if (map == MAP_FAILED || sqe == MAP_FAILED)
		_exit(4);
	*sqe = (struct io_uring_sqe){
		.opcode = IORING_OP_READ, .fd = fds[0][0], .addr = (uintptr_t)&byte, .len = 1, .off = (uint64_t)-1
	};
	queue = (uint32_t *)(map + params.sq_off.array);
	queue[0] = 0;
	__atomic_store_n((uint32_t *)(map + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (!child("writer")) {
		until_asleep(getppid());
		sleep_ms(30);
		run_ms(5);
		put(fds[0][1]);
		end();
	}
	if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		_exit(4);
}

/* root sleeps 50 ms. */
static void sleeps(void)
{
	sleep_ms(50);
}

static const struct {
	const char *name;
	void (*run)(void);
} workloads[] = { { "chain", chain },         { "convoy", convoy }, { "hog", hog },       { "tcp", tcp },
		  { "polls", polls },         { "busy", busy },     { "timer", timer },   { "requests", requests },
		  { "inversion", inversion }, { "sleeps", sleeps }, { "held", held },     { "herd", herd },
		  { "terminal", terminal },   { "spawn", spawn },   { "nap", nap },       { "syncs", syncs },
		  { "flush", flush },         { "writes", writes }, { "beside", beside }, { "faults", faults },
		  { "uring", uring } };

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		if (strcmp(workloads[i].name, argv[1]))
			continue;
		name("root");
		path = argc > 2 ? argv[2] : path;
		workloads[i].run();
		while (wait(NULL) > 0)
			;
		return 0;
	}
	fputs("waits: unknown workload\n", stderr);
	return 2;
}
