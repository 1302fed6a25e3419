// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fails one call of a command at a time and judges how the command handles it. This file is compiled twice: with
 * -DPRELOAD as the library that is preloaded into the command, without it as the program that starts the command.
 *
 *     inject LIBRARY KIND [-n POINTS] [-a AFTER] [-o] [-f] [-k] [-l DIR] COMMAND...
 *
 * KIND is a row of kinds[]. The command runs once without a fault; then its first call of that kind fails, then its
 * second, and so on. With -n only that many calls fail, spread evenly. Each run must end by itself, either with status
 * 0 and the same bytes on standard output, or with another status and a message.
 * AFTER is a shell command that must succeed after each run; $STATUS is the exit status of the run, $CHILD was its
 * process. -o: the output differs from run to run and is not compared. -f: calls of forked processes count, too. -k:
 * the process is killed where the call would fail, and $STATUS is 137. -l: then the machine is taken to have lost its
 * power: each file in DIR and its folders has what it had when it was last synced, or nothing; what made it shorter
 * stays. Prints a line for each run that breaks these rules, and at the end "POINTS KIND TRIED BAD THERE": THERE is
 * the number of calls of that kind.
 *
 * Allocations are counted inside the process. System calls are counted outside of it: the library installs a seccomp
 * filter that asks the starter about them, so that calls from inside the C library count, too. Without -f the
 * command's children are left alone. If the kernel has no seccomp, the process itself counts the opens, reads and
 * writes that the command calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* On ARM the call has its arguments in another order, and another name. */
#ifndef SYS_sync_file_range
#define SYS_sync_file_range SYS_sync_file_range2
#endif

enum { CALLS_MAX = 24, COUNTER_FD = 500, SOCKET_FD = 501, PATIENCE_MS = 90000, TOLD_MAX = 12 };

/* Memory that starter and command share. */
struct counter {
	uint64_t calls; /* number of calls so far */
	uint64_t at;    /* the call that fails; 0: none */
	bool allocations;
	int kind;
};

static const struct kind {
	const char *name;
	int error;
	int calls[CALLS_MAX]; /* -1 ends the list */
} kinds[] = {
	{ "alloc", ENOMEM, { -1 } },
	{ "open",
	  EMFILE,
	  {
#ifdef SYS_open
		  SYS_open,
#endif
		  SYS_openat, SYS_openat2, SYS_memfd_create, -1 } },
	{ "read", EIO, { SYS_read, SYS_pread64, SYS_readv, SYS_preadv, -1 } },
	{ "write",
	  ENOSPC,
	  { SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev, SYS_splice, SYS_sendfile, SYS_copy_file_range, -1 } },
	{ "map",
	  ENOMEM,
	  {
#ifdef SYS_mmap
		  SYS_mmap,
#endif
#ifdef SYS_mmap2
		  SYS_mmap2,
#endif
		  SYS_mremap, -1 } },
	{ "sync", EIO, { SYS_fsync, SYS_fdatasync, SYS_sync_file_range, -1 } },
	{ "rename",
	  EACCES,
	  {
#ifdef SYS_rename
		  SYS_rename, SYS_link, SYS_mkdir,
#endif
#ifdef SYS_renameat
		  SYS_renameat,
#endif
		  SYS_renameat2, SYS_linkat, SYS_mkdirat, -1 } },
	{ "thread", EAGAIN, { SYS_clone, SYS_clone3, -1 } },
	/* What changes a file or a folder: the places where a kill leaves another state behind. */
	{ "change",
	  EIO,
	  { SYS_write,
	    SYS_pwrite64,
	    SYS_writev,
	    SYS_pwritev,
	    SYS_splice,
	    SYS_sendfile,
	    SYS_copy_file_range,
	    SYS_fsync,
	    SYS_fdatasync,
	    SYS_ftruncate,
	    SYS_renameat2,
	    SYS_linkat,
	    SYS_mkdirat,
	    SYS_unlinkat,
#ifdef SYS_rename
	    SYS_rename,
	    SYS_link,
	    SYS_mkdir,
	    SYS_unlink,
	    SYS_rmdir,
#endif
#ifdef SYS_renameat
	    SYS_renameat,
#endif
	    -1 } },
};
enum { NR_KINDS = sizeof(kinds) / sizeof(*kinds) };

#ifdef PRELOAD

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static struct counter *counter;
static bool inside; /* this process counts system calls itself */

static bool fails(void)
{
	if (!counter || !counter->allocations ||
	    __atomic_add_fetch(&counter->calls, 1, __ATOMIC_RELAXED) != counter->at)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t nr, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(nr, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, all);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	void *memory = fails() ? NULL : __libc_memalign(alignment, size);

	if (!memory)
		return ENOMEM;
	*ret = memory;
	return 0;
}

static bool call_fails(const char *kind)
{
	if (!inside || strcmp(kinds[counter->kind].name, kind) ||
	    __atomic_add_fetch(&counter->calls, 1, __ATOMIC_RELAXED) != counter->at)
		return false;
	errno = kinds[counter->kind].error;
	return true;
}

ssize_t write(int fd, const void *at, size_t len)
{
	return fd != STDERR_FILENO && call_fails("write") ? -1 : syscall(SYS_write, fd, at, len);
}

ssize_t read(int fd, void *at, size_t len)
{
	return call_fails("read") ? -1 : syscall(SYS_read, fd, at, len);
}

int open64(const char *path, int flags, ...)
{
	va_list args;
	int mode, fd;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
	fd = call_fails("open") ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	va_end(args);
	return fd;
}

static void die(const char *what)
{
	dprintf(STDERR_FILENO, "inject: %s: %s\n", what, strerror(errno));
	_exit(99);
}

static void send_fd(int socket, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	if (sendmsg(socket, &message, 0) < 0)
		die("sendmsg");
}

static void ask_about(const int *calls)
{
	struct sock_filter filter[CALLS_MAX * 2 + 4];
	struct sock_fprog program = { .filter = filter };
	int fd;

	filter[program.len++] =
		(struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (int i = 0; calls[i] >= 0; i++) {
		filter[program.len++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
		filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	}
	filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (geteuid() && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		die("prctl");
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (fd < 0 && (errno == EINVAL || errno == ENOSYS)) {
		inside = true;
		return;
	}
	if (fd < 0)
		die("seccomp");
	send_fd(SOCKET_FD, fd);
	close(fd);
}

__attribute__((constructor)) static void begin(void)
{
	struct counter *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, COUNTER_FD, 0);

	unsetenv("LD_PRELOAD");
	if (shared == MAP_FAILED)
		die("no counter");
	close(COUNTER_FD);
	counter = shared;
	if (!shared->allocations)
		ask_about(kinds[shared->kind].calls);
	close(SOCKET_FD);
}

#else

/* Runs the command once. */
struct trial {
	int status, out, err;
	pid_t pid;
	uint64_t calls;
	bool late;
};

static const char *library;
static char **command;
static struct counter *counter;
static int counter_fd;
static bool any_output, forked_too, killing;
static const char *losing; /* the folder whose files lose what was not synced; NULL: none */

/* What a file had when it was last synced. */
static struct synced {
	struct synced *next;
	ino_t inode;
	size_t len;
	char *data;
} * synced;

static void die(const char *what)
{
	fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
	exit(99);
}

static int receive_fd(int socket)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *head;
	int fd = -1;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) > 0 && (head = CMSG_FIRSTHDR(&message)))
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

static void start(const struct trial *trial, int socket)
{
	int null = open("/dev/null", O_RDONLY);

	setenv("LD_PRELOAD", library, 1);
	if (dup2(null, STDIN_FILENO) < 0 || dup2(trial->out, STDOUT_FILENO) < 0 ||
	    dup2(trial->err, STDERR_FILENO) < 0 || dup2(counter_fd, COUNTER_FD) < 0 || dup2(socket, SOCKET_FD) < 0)
		_exit(99);
	execvp(command[0], command);
	_exit(99);
}

static bool is_of(pid_t process, pid_t thread)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", process, thread);
	return !access(path, F_OK);
}

static bool is_forked_of(pid_t process, pid_t thread)
{
	char path[64], line[128];
	int parent = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", thread);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "PPid: %d", &parent) == 1)
			break;
	if (status)
		fclose(status);
	return parent == process;
}

/* The file whose read or write failed last; "": there is none. */
static char failed_on[160];

static void note_file(pid_t thread, uint64_t fd)
{
	char path[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", thread, (int)fd);
	len = readlink(path, failed_on, sizeof(failed_on) - 1);
	failed_on[len > 0 ? len : 0] = 0;
}

/* A sync of a file in the folder `losing` is about to be made: keeps what the file has. */
static void keep_synced(pid_t thread, int fd)
{
	char path[64];
	struct synced *known;
	struct stat st;
	int copy;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", thread, fd);
	copy = open(path, O_RDONLY | O_CLOEXEC);
	if (copy < 0 || fstat(copy, &st) || !S_ISREG(st.st_mode)) {
		if (copy >= 0)
			close(copy);
		return;
	}
	for (known = synced; known && known->inode != st.st_ino; known = known->next)
		;
	if (!known) {
		known = calloc(1, sizeof(*known));
		if (!known)
			die("calloc");
		known->next = synced;
		known->inode = st.st_ino;
		synced = known;
	}
	free(known->data);
	known->data = malloc((size_t)st.st_size + 1);
	known->len = (size_t)st.st_size;
	if (!known->data || pread(copy, known->data, known->len, 0) != st.st_size)
		die("pread");
	close(copy);
}

static void forget_synced(void)
{
	while (synced) {
		struct synced *next = synced->next;

		free(synced->data);
		free(synced);
		synced = next;
	}
}

static int lose(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	const struct synced *known;
	size_t len;
	int fd;

	(void)ftw;
	if (type != FTW_F)
		return 0;
	for (known = synced; known && known->inode != st->st_ino; known = known->next)
		;
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
	len = known && (size_t)st->st_size > known->len ? known->len : known ? (size_t)st->st_size : 0;
	if (fd < 0 || (len && write(fd, known->data, len) != (ssize_t)len))
		die("lose");
	close(fd);
	return 0;
}

static bool is_sync(int call)
{
	return call == SYS_fsync || call == SYS_fdatasync;
}

static void answer(int listener, pid_t child)
{
	struct seccomp_notif question = { 0 };
	struct seccomp_notif_resp reply;
	bool messages, known;

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question))
		return;
	reply = (struct seccomp_notif_resp){ .id = question.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	messages = (question.data.nr == SYS_write || question.data.nr == SYS_writev) &&
		   question.data.args[0] == STDERR_FILENO;
	known = is_of(child, (pid_t)question.pid) || (forked_too && is_forked_of(child, (pid_t)question.pid));
	if (!messages && known && ++counter->calls == counter->at) {
		reply.flags = 0;
		reply.error = -kinds[counter->kind].error;
		note_file((pid_t)question.pid, question.data.args[0]);
		if (killing) {
			kill(child, SIGKILL);
			return;
		}
	} else if (losing && known && is_sync(question.data.nr)) {
		keep_synced((pid_t)question.pid, (int)question.data.args[0]);
	}
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Processes that outlive a killed command ask, too: lets each call be made until the last of them has ended. */
static void serve_heirs(int listener)
{
	struct pollfd poll_fd = { .fd = listener, .events = POLLIN };
	pid_t server = fork();

	if (server < 0)
		die("fork");
	if (server)
		return;
	while (poll(&poll_fd, 1, PATIENCE_MS) > 0 && poll_fd.revents & POLLIN) {
		struct seccomp_notif question = { 0 };
		struct seccomp_notif_resp reply = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question))
			continue;
		reply.id = question.id;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
	}
	_exit(0);
}

/* Answers the filter's requests until the command ends. */
static void attend(struct trial *trial, pid_t child, int socket)
{
	struct pollfd fds[] = { { .fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN },
				{ .fd = socket, .events = POLLIN } };
	uint64_t end = now_ms() + PATIENCE_MS;
	int listener = -1;

	for (;;) {
		uint64_t now = now_ms();

		if (now >= end) {
			trial->late = true;
			kill(child, SIGKILL);
			break;
		}
		if (poll(fds, 2, (int)(end - now)) <= 0)
			continue;
		if (fds[0].revents)
			break;
		if (listener < 0) {
			listener = receive_fd(socket);
			fds[1].fd = listener;
		} else if (fds[1].revents & POLLIN) {
			answer(listener, child);
		} else if (fds[1].revents) {
			fds[1].fd = -1;
		}
	}
	while (waitpid(child, &trial->status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	close(fds[0].fd);
	if (listener >= 0 && killing)
		serve_heirs(listener);
	if (listener >= 0)
		close(listener);
}

static struct trial run(uint64_t at)
{
	struct trial trial = { .out = memfd_create("out", MFD_CLOEXEC), .err = memfd_create("err", MFD_CLOEXEC) };
	int sockets[2];
	pid_t child;

	if (trial.out < 0 || trial.err < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		die("socketpair");
	counter->calls = 0;
	counter->at = at;
	*failed_on = 0;
	child = fork();
	if (child < 0)
		die("fork");
	if (!child)
		start(&trial, sockets[1]);
	close(sockets[1]);
	trial.pid = child;
	attend(&trial, child, sockets[0]);
	close(sockets[0]);
	trial.calls = counter->calls;
	if (losing && WIFSIGNALED(trial.status) && nftw(losing, lose, 8, FTW_PHYS))
		die("nftw");
	forget_synced();
	return trial;
}

static void forget(struct trial *trial)
{
	close(trial->out);
	close(trial->err);
}

static size_t content(int fd, char **ret)
{
	struct stat st;

	if (fstat(fd, &st))
		die("fstat");
	*ret = malloc((size_t)st.st_size + 1);
	if (!*ret || pread(fd, *ret, (size_t)st.st_size, 0) != st.st_size)
		die("pread");
	(*ret)[st.st_size] = 0;
	return (size_t)st.st_size;
}

static bool same(int a, int b)
{
	char *left, *right;
	size_t len = content(a, &left);
	bool is = content(b, &right) == len && !memcmp(left, right, len);

	free(left);
	free(right);
	return is;
}

/* Prints the first line of the output that is another one than the first run's. */
static void tell_output(const struct trial *reference, const struct trial *trial)
{
	char *was, *is, *line, *other;

	content(reference->out, &was);
	content(trial->out, &is);
	for (line = is, other = was; *line && !strncmp(line, other, strcspn(line, "\n") + 1);) {
		line += strcspn(line, "\n") + 1;
		other += strcspn(other, "\n") + 1;
	}
	printf("  printed %.*s\n  and not %.*s\n", (int)strcspn(line, "\n"), line, (int)strcspn(other, "\n"), other);
	free(was);
	free(is);
}

static bool after_is_well(const char *after, const struct trial *trial)
{
	char text[16];

	snprintf(text, sizeof(text), "%d",
		 WIFSIGNALED(trial->status) ? 128 + WTERMSIG(trial->status) : WEXITSTATUS(trial->status));
	setenv("STATUS", text, 1);
	snprintf(text, sizeof(text), "%d", trial->pid);
	setenv("CHILD", text, 1);
	return !after || !system(after);
}

/* Returns NULL if the command handled the fault well. */
static const char *judge(const struct trial *reference, const struct trial *trial, const char *after)
{
	static char text[64];
	char *message;
	bool told;

	if (trial->late)
		return "did not end";
	if (killing && WIFSIGNALED(trial->status) && WTERMSIG(trial->status) == SIGKILL)
		return after_is_well(after, trial) ? NULL : "left something wrong behind";
	if (WIFSIGNALED(trial->status)) {
		snprintf(text, sizeof(text), "died of %s", strsignal(WTERMSIG(trial->status)));
		return text;
	}
	content(trial->err, &message);
	told = strstr(message, "weft");
	free(message);
	if (WEXITSTATUS(trial->status) && !told)
		return "failed without a message";
	if (!WEXITSTATUS(trial->status) && !any_output && !same(reference->out, trial->out))
		return told ? "another output, told, with status 0" : "another output with status 0";
	return after_is_well(after, trial) ? NULL : "left something wrong behind";
}

static void tell(uint64_t at, const char *why, const struct trial *trial)
{
	char *message;

	content(trial->err, &message);
	message[strcspn(message, "\n")] = 0;
	printf("%s %llu%s%s: %s (status %d): %.160s\n", kinds[counter->kind].name, (unsigned long long)at,
	       *failed_on ? " of " : "", failed_on, why, WEXITSTATUS(trial->status), message);
	free(message);
}

int main(int argc, char **argv)
{
	const char *after = NULL;
	uint64_t points = UINT64_MAX, bad = 0, tried = 0, step;
	struct trial reference;
	int option;

	counter_fd = memfd_create("counter", MFD_CLOEXEC);
	if (argc < 4 || counter_fd < 0 || ftruncate(counter_fd, sizeof(*counter)))
		die("usage: inject LIBRARY KIND [-n POINTS] [-a AFTER] [-o] [-f] [-k] [-l DIR] COMMAND...");
	counter = mmap(NULL, sizeof(*counter), PROT_READ | PROT_WRITE, MAP_SHARED, counter_fd, 0);
	if (counter == MAP_FAILED)
		die("mmap");
	library = argv[1];
	while (counter->kind < NR_KINDS && strcmp(kinds[counter->kind].name, argv[2]))
		counter->kind++;
	if (counter->kind == NR_KINDS)
		die("no such kind");
	counter->allocations = !counter->kind;
	argv += 2;
	argc -= 2;
	while ((option = getopt(argc, argv, "+n:a:ofkl:")) > 0) {
		if (option == 'n')
			points = strtoull(optarg, NULL, 10);
		else if (option == 'o')
			any_output = true;
		else if (option == 'f')
			forked_too = true;
		else if (option == 'k')
			killing = true;
		else if (option == 'l')
			losing = optarg;
		else
			after = optarg;
	}
	command = argv + optind;
	reference = run(0);
	if (reference.status || !after_is_well(after, &reference)) {
		tell(0, "does not even succeed without a fault", &reference);
		return 1;
	}
	step = points < reference.calls ? reference.calls / points + 1 : 1;
	/* The number of calls may change from run to run: go on as long as the fault was met. */
	for (uint64_t at = 1;; at += step) {
		struct trial trial = run(at);
		bool met = trial.calls >= at;
		/* AFTER also prepares the next run. */
		const char *why = met                          ? judge(&reference, &trial, after) :
				  after_is_well(after, &trial) ? NULL :
								 "left something wrong behind";

		if (why && ++bad <= TOLD_MAX) {
			tell(at, why, &trial);
			if (strstr(why, "another output"))
				tell_output(&reference, &trial);
		}
		forget(&trial);
		if (!met)
			break;
		tried++;
	}
	forget(&reference);
	if (bad > TOLD_MAX)
		printf("%s: and %llu more\n", kinds[counter->kind].name, (unsigned long long)(bad - TOLD_MAX));
	printf("POINTS %s %llu %llu %llu\n", kinds[counter->kind].name, (unsigned long long)tried,
	       (unsigned long long)bad, (unsigned long long)reference.calls);
	return bad > 0;
}

#endif
