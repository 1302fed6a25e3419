// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/service_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/kernel/record/wake.h"

int service_open(struct service *service, const struct service_options *options, void (*tell)(const char *text),
		 struct wake *wake, struct fail *fail)
{
	sigset_t set;
	int err;

	service->options = *options;
	service->tell = tell;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (options->reload)
		sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, &service->old_mask);
	service->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (service->signal_fd < 0) {
		err = fail_set(fail, -errno, "cannot wait for signals: %s", strerror(errno));
		pthread_sigmask(SIG_SETMASK, &service->old_mask, NULL);
		return err;
	}
	err = options->reload ? wake_leave(wake, SIGHUP, fail) : 0;
	return err ? err : notify_open(options->notify, options->watchdog_ns, &service->notify, fail);
}

/* Whether the process that tried the options has found them good. */
static bool end_trial(struct service *service)
{
	int status = 0;

	(void)!io_again(waitpid(service->trying, &status, 0));
	cleanup_fd_close(&service->try_fd);
	service->try_fd = -1;
	service->trying = 0;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

void service_close(struct service *service)
{
	if (service->trying) {
		/* So it removes what it has set up. */
		kill(service->trying, SIGTERM);
		(void)!end_trial(service);
	}
	notify_close(&service->notify);
	if (service->signal_fd < 0)
		return;
	cleanup_fd_close(&service->signal_fd);
	service->signal_fd = -1;
	pthread_sigmask(SIG_SETMASK, &service->old_mask, NULL);
}

void service_fds(const struct service *service, struct pollfd *fds)
{
	fds[0] = (struct pollfd){ .fd = service->signal_fd, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = service->try_fd, .events = POLLIN };
}

static void refuse(struct service *service, const char *colon, const char *why)
{
	char text[1200];

	snprintf(text, sizeof(text), "the new options are refused%s%s; the flight goes on with the old ones", colon,
		 why);
	service->tell(text);
	notify_say(&service->notify, "READY=1");
	notify_status(&service->notify, "%s", text);
}

static int begin_trial(struct service *service, struct fail *fail)
{
	int err = service->options.reload(&service->trying, fail);

	if (err)
		return err;
	service->try_fd = (int)syscall(SYS_pidfd_open, service->trying, 0);
	if (service->try_fd >= 0)
		return 0;
	err = fail_set(fail, -errno, "cannot wait for a process: %s", strerror(errno));
	kill(service->trying, SIGTERM);
	(void)!end_trial(service);
	return err;
}

static void reload(struct service *service)
{
	struct fail why = FAIL_INIT;

	notify_reloading(&service->notify);
	service->again = service->trying;
	if (service->trying)
		return;
	if (begin_trial(service, &why))
		refuse(service, ": ", why.text);
}

static enum service_event take_signal(struct service *service, pid_t *ret_pid)
{
	struct signalfd_siginfo info;

	if (read(service->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return SERVICE_NOTHING;
	*ret_pid = (pid_t)info.ssi_pid;
	if (info.ssi_signo == SIGUSR1)
		return SERVICE_DUMP;
	/* The kernel sends SIGHUP when a terminal goes away. */
	if (info.ssi_code == SI_KERNEL)
		return SERVICE_END;
	reload(service);
	return SERVICE_NOTHING;
}

enum service_event service_look(struct service *service, const struct pollfd *fds, pid_t *ret_pid)
{
	bool good;

	if (fds[0].revents)
		return take_signal(service, ret_pid);
	if (!fds[1].revents)
		return SERVICE_NOTHING;
	good = end_trial(service);
	if (service->again)
		reload(service);
	else if (good)
		return SERVICE_RELOAD;
	else
		refuse(service, "", "");
	return SERVICE_NOTHING;
}

int service_alive(struct service *service, int most)
{
	return notify_alive(&service->notify, most);
}

void service_ready(struct service *service, const char *dir)
{
	notify_say(&service->notify, "READY=1");
	notify_status(&service->notify, "flying; files go to %s", dir);
}

void service_stopping(struct service *service)
{
	notify_say(&service->notify, "STOPPING=1");
}
