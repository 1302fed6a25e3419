// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/kernel_pids.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/random.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/instance_open.h"

bool kernel_pids_are_ours(void)
{
	enum { PROC_PID_INIT_INO = 0xeffffffc };
	struct stat st;

	if (!stat("/proc/self/ns/pid", &st))
		return st.st_ino == PROC_PID_INIT_INO;
	/* A kernel without PID namespaces has no such file. Without /proc nothing is known. */
	return !access("/proc/self", F_OK);
}

/* The thread group of a task that may get the signal: this process, or a child of it. 0: another task, or none. */
static pid_t group_of(pid_t pid)
{
	siginfo_t info;

	if (!syscall(SYS_tgkill, getpid(), pid, 0))
		return getpid();
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) ? 0 : pid;
}

static int refuse(pid_t pid, struct fail *fail)
{
	if (access("/proc/self", F_OK))
		return fail_set(fail, -EOPNOTSUPP,
				"/proc is not mounted, so it is unknown by which PID the kernel traces task %d: "
				"mount /proc, or trace a command of weft's (-F -c -- COMMAND)",
				(int)pid);
	return fail_set(fail, -EOPNOTSUPP,
			"weft runs in a PID namespace (a container), where task %d has not the PID that the kernel "
			"traces it by: name a PID on the host, or trace a command of weft's (-F -c -- COMMAND)",
			(int)pid);
}

/* Sends each task SIGURG, which is ignored unless a task has a handler, with a number of its own as its errno. */
static int send_signals(const pid_t *pids, size_t nr, int cookie, struct fail *fail)
{
	for (size_t i = 0; i < nr; i++) {
		siginfo_t info = { .si_signo = SIGURG, .si_code = SI_QUEUE, .si_errno = cookie + (int)i };
		pid_t group = group_of(pids[i]);

		if (syscall(SYS_rt_tgsigqueueinfo, group, pids[i], SIGURG, &info))
			return fail_set(fail, -errno, "cannot ask for the kernel's PID of task %d: %s", (int)pids[i],
					strerror(errno));
	}
	return 0;
}

/* The PID of a line. It is behind the name, which may contain anything. */
static pid_t last_pid(const char *line)
{
	const char *end = line + strcspn(line, "\n");
	pid_t pid = 0;

	while ((line = strstr(line, " pid=")) && line < end) {
		line += strlen(" pid=");
		pid = (pid_t)strtol(line, NULL, 10);
	}
	return pid;
}

/* Finds the PIDs in lines such as "...: signal_generate: sig=23 errno=77 code=-1 comm=weft pid=1234 grp=0 res=1". */
static int parse(const struct buf *text, const pid_t *pids, size_t nr, int cookie, pid_t *ret, struct fail *fail)
{
	memset(ret, 0, nr * sizeof(*ret));
	for (const char *at = text->len ? text->data : ""; (at = strstr(at, "signal_generate: "));) {
		int sig, number, code;

		at += strlen("signal_generate: ");
		if (sscanf(at, "sig=%d errno=%d code=%d", &sig, &number, &code) == 3 && sig == SIGURG &&
		    code == SI_QUEUE && number >= cookie && (size_t)(number - cookie) < nr)
			ret[number - cookie] = last_pid(at);
	}
	for (size_t i = 0; i < nr; i++)
		if (ret[i] <= 0)
			return refuse(pids[i], fail);
	return 0;
}

static int ask(struct instance *instance, const pid_t *pids, size_t nr, pid_t *ret, struct fail *fail)
{
	static const char event[] = "events/signal/signal_generate/enable";
	int cookie = (int)(random_number() & 0x3fffff00);
	cleanup_buf struct buf text = BUF_INIT;
	int err = instance_has(instance, event) ? 0 : refuse(pids[0], fail);

	if (!err)
		err = instance_write(instance, event, "1", fail);
	if (!err)
		err = instance_turn(instance, true, fail);
	if (!err)
		err = send_signals(pids, nr, cookie, fail);
	if (!err)
		err = instance_turn(instance, false, fail);
	if (!err)
		err = instance_read(instance, "trace", &text, fail);
	return err ? err : parse(&text, pids, nr, cookie, ret, fail);
}

bool kernel_pids_is_there(pid_t pid)
{
	return !kill(pid, 0) || errno != ESRCH;
}

int kernel_pids_find(const struct tracing *tracing, struct undo *undo, const pid_t *pids, size_t nr, pid_t *ret,
		     struct fail *fail)
{
	struct instance *instance;
	struct fail later;
	int err, closed;

	memcpy(ret, pids, nr * sizeof(*ret));
	/* Behind a directory that is no tracefs there is no kernel, and a plan is for another run. */
	if (!nr || tracing->plan || !tracing_is_tracefs(tracing))
		return 0;
	if (kernel_pids_are_ours())
		return 0;
	for (size_t i = 0; i < nr; i++)
		if (!kernel_pids_is_there(pids[i]))
			return fail_set(fail, -ESRCH, "there is no task with pid %d", (int)pids[i]);
	for (size_t i = 0; i < nr; i++)
		if (!group_of(pids[i]))
			return refuse(pids[i], fail);
	err = instance_new_helper(tracing, undo, &instance, fail);
	if (err)
		return err;
	err = ask(instance, pids, nr, ret, fail);
	closed = instance_close(instance, &later);
	return fail_first(err, closed, fail, &later);
}
