// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/kernel/record/command_path.h"
#include "lib/kernel/record/quiet_internal.h"
#include "lib/kernel/record/switches.h"
#include "lib/kernel/record/user_internal.h"
#include "lib/kernel/tracefs/tracing.h"

enum { EXEC_DENIED = 126, EXEC_MISSING = 127 };

static int mute(void)
{
	cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	return null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ? -errno : 0;
}

/* Runs in the child. The parent has no other threads at the fork, so the child may call any function. */
static int prepare_child(const struct workload_options *options, const struct user *user, struct command_path *path)
{
	if (options->stdout_to_stderr && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return -errno;
	if (options->mute) {
		int err = mute();

		if (err)
			return err;
	}
	/* Errors that can occur before the start are reported before it. */
	if (options->user) {
		int err = user_become(user);

		if (err)
			return err;
	}
	return command_path_find(path, options->argv[0], options->user ? user->path : options->path);
}

/* Waits for the message to go. False: the parent has ended. */
static bool wait_for_word(int go_fd, struct switches *switches)
{
	bool go = false;

	while (!go)
		if (!switches_receive(switches, go_fd, &go))
			return false;
	return true;
}

static _Noreturn void child_run(const struct workload_options *options, const struct user *user, pid_t parent,
				int go_fd, int errno_fd, uint64_t *stamp)
{
	struct command_path path = { .path = NULL };
	struct switches switches = { .nr = 0 };
	struct fail fail;
	int err = prepare_child(options, user, &path);

	if (!err && !wait_for_word(go_fd, &switches))
		_exit(0);
	if (!err) {
		sigprocmask(SIG_SETMASK, &options->mask, NULL);
		if (switches.nr)
			quiet_wait(parent, 0);
		if (getppid() != parent)
			_exit(0);
		/* From here on the child's work is not weft's, so it gets the name of the command. */
		prctl(PR_SET_NAME, basename(path.path));
		err = switches_turn(&switches, true, &fail);
	}
	if (!err) {
		*stamp = now_ns();
		err = command_path_exec(&path, options->argv);
		if (switches_turn(&switches, false, &fail))
			err = err ? err : -EIO; /* The parent also turns tracing off. */
	}
	/* After this message the parent may remove the instances. */
	switches_release(&switches);
	if (write(errno_fd, &err, sizeof(err)) < 0)
		_exit(EXEC_DENIED);
	_exit(err == -ENOENT ? EXEC_MISSING : EXEC_DENIED);
}

static int fork_as(const struct workload_options *options, const struct user *user, struct workload *ret,
		   struct fail *fail)
{
	int go[2] = { -1, -1 }, told[2] = { -1, -1 };
	pid_t self = getpid(), pid;
	uint64_t *stamp;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, go))
		return fail_set(fail, -errno, "cannot make a socket: %s", strerror(errno));
	cleanup_fd int go_read = go[0], go_write = go[1];
	if (pipe2(told, O_CLOEXEC))
		return fail_set(fail, -errno, "cannot make a pipe: %s", strerror(errno));
	cleanup_fd int told_read = told[0], told_write = told[1];
	stamp = mmap(NULL, sizeof(*stamp), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (stamp == MAP_FAILED)
		return fail_memory(fail);
	pid = fork();
	if (pid < 0) {
		int err = fail_set(fail, -errno, "cannot fork: %s", strerror(errno));

		munmap(stamp, sizeof(*stamp));
		return err;
	}
	if (!pid) {
		/* A copy of this descriptor in the child would keep the socket open after weft has died. */
		close(go_write);
		child_run(options, user, self, go_read, told_write, stamp);
	}
	*ret = (struct workload){
		.pid = pid, .stamp = stamp, .go_fd = fd_take(&go_write), .errno_fd = fd_take(&told_read)
	};
	ret->pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (ret->pid_fd < 0) {
		int err = fail_set(fail, -errno, "cannot watch the command: %s", strerror(errno));

		workload_release(ret);
		return err;
	}
	return 0;
}

int workload_fork(const struct workload_options *options, struct workload *ret, struct fail *fail)
{
	struct user user = USER_INIT;
	int err = options->user ? user_find(options->user, &user, fail) : 0;

	if (!err)
		err = fork_as(options, &user, ret, fail);
	user_release(&user);
	return err;
}

int workload_go(struct workload *workload, const struct switches *switches, struct fail *fail)
{
	static const struct switches none = { .nr = 0 };
	int err = switches_send(switches ? switches : &none, workload->go_fd, fail);

	workload->running = !err;
	if (err != -EPIPE && err != -ECONNRESET)
		return err;
	/* A child that has ended has already sent its error. One that still waits must not do so for ever. */
	close(workload->go_fd);
	workload->go_fd = -1;
	return 0;
}

int workload_executed(struct workload *workload, const char *name, int *ret_status, struct fail *fail)
{
	ssize_t len;
	int err = 0;

	len = io_again(read(workload->errno_fd, &err, sizeof(err)));
	if (len < 0) {
		*ret_status = EXEC_DENIED;
		return fail_set(fail, -errno, "cannot read whether '%s' runs: %s", name, strerror(errno));
	}
	/* The child sets the time as its last step before it executes the command. */
	if (len != (ssize_t)sizeof(err) && *workload->stamp)
		return 0;
	if (len != (ssize_t)sizeof(err)) {
		*ret_status = EXEC_DENIED;
		return fail_set(fail, -ECHILD, "cannot run '%s': its process ended before it was told to start", name);
	}
	*ret_status = err == -ENOENT ? EXEC_MISSING : EXEC_DENIED;
	return fail_set(fail, err, "cannot run '%s': %s", name, strerror(-err));
}

/* The exit status as a shell gives it: 128 + the number of a signal. */
static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Numbers of a stat file of /proc: of a process, or of one of its threads. */
struct task_stat {
	char state;
	int parent;
	unsigned long faults, faults_of_children;
};

static bool read_stat(const char *path, struct task_stat *ret)
{
	cleanup_buf struct buf text = BUF_INIT;
	/* The name may contain anything. */
	const char *end = tracing_read_path(path, &text, NULL) ? NULL : strrchr(buf_str(&text), ')');

	return end && sscanf(end, ") %c %d %*d %*d %*d %*d %*u %lu %lu", &ret->state, &ret->parent, &ret->faults,
			     &ret->faults_of_children) == 4;
}

/*
 * Of a command that has ended and was not reaped. The kernel adds up the page faults of a process, of the threads that
 * have ended, and of the children that were waited for, and a task that runs has some.
 */
static bool has_made_tasks(pid_t pid)
{
	struct task_stat process, first;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	/* In a PID namespace with the /proc of another one, this is another process. */
	if (!read_stat(path, &process) || process.state != 'Z' || process.parent != getpid())
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)pid);
	return process.faults_of_children || (read_stat(path, &first) && first.faults < process.faults);
}

bool workload_ended(struct workload *workload, int *ret_status)
{
	siginfo_t ended = { .si_pid = 0 };
	int status;

	if (workload->pid && !waitid(P_PID, (id_t)workload->pid, &ended, WEXITED | WNOHANG | WNOWAIT) && ended.si_pid)
		workload->times.made_tasks = has_made_tasks(workload->pid);
	if (!workload->pid || wait4(workload->pid, &status, WNOHANG, &workload->times.usage) != workload->pid)
		return false;
	workload_stamp_end(workload);
	workload->times.started_ns = workload->stamp ? *workload->stamp : 0;
	workload->pid = 0;
	workload->running = false;
	workload->status = status;
	*ret_status = exit_status(status);
	return true;
}

void workload_stamp_end(struct workload *workload)
{
	if (!workload->times.ended_ns)
		workload->times.ended_ns = now_ns();
}

bool workload_wait(pid_t command, int *ret_status)
{
	int status;

	if (!command)
		return false;
	if (io_again(waitpid(command, &status, 0)) < 0)
		return false;
	*ret_status = exit_status(status);
	return true;
}

void workload_signal(const struct workload *workload, int sig)
{
	if (workload->pid)
		kill(workload->pid, sig);
}

void workload_release(struct workload *workload)
{
	if (workload->go_fd >= 0)
		close(workload->go_fd);
	if (workload->errno_fd >= 0)
		close(workload->errno_fd);
	if (workload->pid_fd >= 0)
		close(workload->pid_fd);
	/* A child without the message to go ends by itself. */
	if (workload->pid && !workload->running)
		waitpid(workload->pid, NULL, 0);
	if (workload->stamp)
		munmap(workload->stamp, sizeof(*workload->stamp));
	*workload = (struct workload){ .pid_fd = -1, .go_fd = -1, .errno_fd = -1 };
}
