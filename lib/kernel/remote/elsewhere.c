// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/remote/elsewhere.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/record/arrival.h"
#include "lib/kernel/record/recovery.h"
#include "lib/kernel/record/result.h"
#include "lib/kernel/remote/agentless_internal.h"
#include "lib/kernel/remote/door.h"
#include "lib/kernel/remote/link_internal.h"
#include "lib/kernel/remote/receiver_internal.h"
#include "lib/kernel/remote/wire_internal.h"
#include "lib/meaning/clock/pings.h"

enum {
	RSH_MS = 20000,  /* the program that led there has this long to end */
	NOT_FOUND = 127, /* of a shell */
	/* Pings: at first many, one after the other, then some after each pause, which grows. */
	PINGS_FIRST = 64,
	PINGS_EACH = 8,
	PAUSE_MIN_MS = 50,
	PAUSE_MAX_MS = 1000,
	SILENCE_MS = 2 * LINK_HERE_MS,
};

enum place { PLACE_IN, PLACE_OUT, PLACE_RSH, PLACE_SIGNAL, PLACES };

struct elsewhere {
	const struct elsewhere_options *options;
	struct receiver receiver;
	struct agentless *agentless; /* NULL: a weft is there */
	struct link link;
	int signal_fd, stderr_fd;
	sigset_t old_mask;
	pid_t rsh; /* 0: none */
	bool stopped;
	uint64_t now;          /* when the last turn had read, by the clock of pings */
	uint64_t ping, sent;   /* the number of the last ping, and when it was sent */
	bool waits;            /* for its answer */
	unsigned pings_left;   /* until the next pause */
	unsigned pause_ms;     /* the last one */
	uint64_t next_ping_ns; /* the end of the pause */
	bool silent;           /* it was said that nothing comes */
	bool hushed;           /* nobody reads any more what is printed */
};

/* A session of its own: a Ctrl-C of the terminal is not for it, and it asks nothing there. */
__attribute__((noreturn)) static void be_rsh(const struct elsewhere *elsewhere, const int ends[3])
{
	const sigset_t *mask = elsewhere->options->mask;

	(void)!setsid();
	(void)!sigprocmask(SIG_SETMASK, mask ? mask : &elsewhere->old_mask, NULL);
	if (dup2(ends[0], STDIN_FILENO) >= 0 && dup2(ends[1], STDOUT_FILENO) >= 0 && dup2(ends[2], STDERR_FILENO) >= 0)
		execvp(elsewhere->options->rsh[0], elsewhere->options->rsh);
	_exit(NOT_FOUND);
}

/* The connection has one descriptor for both directions. */
static int knock(struct elsewhere *elsewhere, struct fail *fail)
{
	cleanup_fd int in = -1;
	int out, err = door_open(elsewhere->options->host, &in, fail);

	if (err)
		return err;
	out = fcntl(in, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (out < 0)
		return fail_set(fail, -errno, "cannot use the connection: %s", strerror(errno));
	link_init(&elsewhere->link, fd_take(&in), out);
	return 0;
}

static int start(struct elsewhere *elsewhere, struct fail *fail)
{
	int pipes[3][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 } }, err = 0;

	for (size_t i = 0; !err && i < array_size(pipes); i++)
		if (pipe2(pipes[i], O_CLOEXEC))
			err = fail_set(fail, -errno, "cannot make a pipe: %s", strerror(errno));
	elsewhere->rsh = err ? 0 : fork();
	if (!err && !elsewhere->rsh)
		be_rsh(elsewhere, (int[]){ pipes[0][0], pipes[1][1], pipes[2][1] });
	if (elsewhere->rsh < 0) {
		err = fail_set(fail, -errno, "cannot start a process: %s", strerror(errno));
		elsewhere->rsh = 0;
	}
	cleanup_fd_close(&pipes[0][0]);
	cleanup_fd_close(&pipes[1][1]);
	cleanup_fd_close(&pipes[2][1]);
	link_init(&elsewhere->link, pipes[1][0], pipes[0][1]);
	elsewhere->stderr_fd = pipes[2][0];
	return err;
}

static bool ask(struct elsewhere *elsewhere)
{
	const struct elsewhere_options *options = elsewhere->options;
	cleanup_buf struct buf words = BUF_INIT;
	bool ok;

	if (elsewhere->agentless)
		return agentless_greet(elsewhere->agentless, &elsewhere->link.going);
	ok = wire_greet(&elsewhere->link.going);
	for (size_t i = 0; ok && i < options->nr_words; i++)
		ok = buf_add(&words, options->words[i], strlen(options->words[i]) + 1);
	return ok &&
	       wire_add(&elsewhere->link.going, options->output ? WIRE_SETUP : WIRE_RUN, 0, words.data, words.len);
}

static int take_all(struct elsewhere *elsewhere, struct fail *fail)
{
	struct bytes in = link_came(&elsewhere->link);
	int err = elsewhere->agentless ? agentless_take(elsewhere->agentless, &in, fail) :
					 receiver_take(&elsewhere->receiver, &in, fail);

	link_took(&elsewhere->link, &in);
	return err;
}

static int stop(struct elsewhere *elsewhere, uint8_t sig, struct fail *fail)
{
	elsewhere->stopped = true;
	return (elsewhere->agentless ? agentless_stop(&elsewhere->link.going) :
				       wire_add(&elsewhere->link.going, WIRE_STOP, 0, &sig, 1)) ?
		       0 :
		       fail_memory(fail);
}

/*
 * The first signal ends the recording there; a second one does not wait for that. A shell that has not answered yet
 * takes no order.
 */
static int take_signal(struct elsewhere *elsewhere, struct fail *fail)
{
	struct signalfd_siginfo info;

	if (read(elsewhere->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return 0;
	if (elsewhere->stopped || (elsewhere->agentless && !elsewhere->receiver.result->ran))
		return fail_set(fail, -EINTR, "the recording was given up before its end");
	return stop(elsewhere, (uint8_t)info.ssi_signo, fail);
}

/* Ends what has lasted as long as it should, where the other side does not see to that. */
static int stop_when_due(struct elsewhere *elsewhere, struct fail *fail)
{
	if (!elsewhere->agentless || elsewhere->stopped || now_ns() < agentless_due(elsewhere->agentless))
		return 0;
	return stop(elsewhere, SIGINT, fail);
}

/* Whether this side may say something now. False: there was no memory. */
static bool say(struct elsewhere *elsewhere)
{
	struct link *link = &elsewhere->link;

	if (!elsewhere->agentless)
		return link_say(link);
	if (!elsewhere->receiver.greeted || link_say_ms(link))
		return true;
	link->said_ns = now_ns();
	return agentless_say(&link->going);
}

static void pass_on_errors(struct elsewhere *elsewhere)
{
	char text[4096];
	ssize_t got = elsewhere->stderr_fd >= 0 ? io_read(elsewhere->stderr_fd, text, sizeof(text)) : 0;

	if (got > 0 && elsewhere->hushed)
		return;
	if (got > 0) {
		(void)!elsewhere->options->print(elsewhere->options->arg, ELSEWHERE_RSH, text, (size_t)got);
		return;
	}
	cleanup_fd_close(&elsewhere->stderr_fd);
	elsewhere->stderr_fd = -1;
}

/* Asks for the time there, one question at a time. */
static int ask_time(struct elsewhere *elsewhere, struct fail *fail)
{
	cleanup_buf struct buf body = BUF_INIT;

	if (elsewhere->waits || elsewhere->agentless || !elsewhere->receiver.greeted || !elsewhere->receiver.arrival)
		return 0;
	if (!elsewhere->pings_left && now_ns() < elsewhere->next_ping_ns)
		return 0;
	if (!elsewhere->pings_left)
		elsewhere->pings_left = PINGS_EACH;
	if (!wire_add_u64(&body, ++elsewhere->ping) ||
	    !wire_add_optional(&elsewhere->link.going, WIRE_PING, body.data, body.len))
		return fail_memory(fail);
	elsewhere->waits = true;
	elsewhere->sent = now_ns();
	/* Who does not read any more may still send. */
	(void)!link_write(&elsewhere->link);
	return 0;
}

static void pause_pings(struct elsewhere *elsewhere)
{
	unsigned *ms = &elsewhere->pause_ms;

	*ms = !*ms ? PAUSE_MIN_MS : 2 * *ms < PAUSE_MAX_MS ? 2 * *ms : PAUSE_MAX_MS;
	elsewhere->next_ping_ns = elsewhere->now + *ms * UINT64_C(1000000);
}

/* Part of the time between question and answer was spent there, by a clock that may run a bit too fast. */
static int take_time(void *arg, const struct receiver_clock *clock, struct fail *fail)
{
	struct elsewhere *elsewhere = arg;
	struct ping ping = { .lo = elsewhere->sent, .hi = elsewhere->now, .far = clock->far };
	uint64_t took = ping.hi - ping.lo, before = clock->before - clock->before / 1000,
		 after = clock->after - clock->after / 1000;

	if (!elsewhere->waits || clock->id != elsewhere->ping)
		return 0;
	elsewhere->waits = false;
	if (!--elsewhere->pings_left)
		pause_pings(elsewhere);
	if (before > took || after > took - before)
		return 0;
	ping.lo += before;
	ping.hi -= after;
	snprintf(ping.clock, sizeof(ping.clock), "%s", clock->clock);
	return arrival_ping(elsewhere->receiver.arrival, &ping, fail);
}

static int wait_ms(const struct elsewhere *elsewhere)
{
	bool asks = !elsewhere->waits && !elsewhere->agentless && elsewhere->receiver.greeted &&
		    elsewhere->receiver.arrival;
	int say = link_say_ms(&elsewhere->link), ms = say > 0 ? say : LINK_HERE_MS;
	uint64_t now = now_ns(), ping;

	if (elsewhere->agentless && !elsewhere->stopped) {
		uint64_t due = agentless_due(elsewhere->agentless);

		ping = due > now ? (due - now) / NS_PER_MS + 1 : 0;
		return ping < (uint64_t)ms ? (int)ping : ms;
	}
	if (!asks)
		return ms;
	ping = elsewhere->next_ping_ns > now ? (elsewhere->next_ping_ns - now) / NS_PER_MS + 1 : 0;
	return ping < (uint64_t)ms ? (int)ping : ms;
}

/* A connection that is cut does not end: what is told is that one can wait, and what becomes of the recording. */
static void tell_silence(struct elsewhere *elsewhere)
{
	static const char *const texts[] = {
		"something comes again\n",
		"nothing comes from there any more: what is recorded waits there, up to the --spool of weft serve; "
		"then the kernel there counts what is lost\n",
		"nothing comes from there any more: what is recorded waits in the kernel's buffer, which counts what "
		"it loses\n",
	};
	const char *text;
	bool silent =
		elsewhere->receiver.greeted && link_silence_ns(&elsewhere->link) >= SILENCE_MS * UINT64_C(1000000);

	if (silent == elsewhere->silent || !elsewhere->receiver.arrival)
		return;
	elsewhere->silent = silent;
	text = texts[silent + (silent && elsewhere->agentless)];
	(void)!elsewhere->options->print(elsewhere->options->arg, ELSEWHERE_RSH, text, strlen(text));
}

/* 1: there may be more; 0: the other side has ended; -errno. */
static int turn(struct elsewhere *elsewhere, struct fail *fail)
{
	struct pollfd fds[PLACES];
	int r;

	r = ask_time(elsewhere, fail);
	if (!r)
		r = stop_when_due(elsewhere, fail);
	if (r)
		return r;
	if (!say(elsewhere))
		return fail_memory(fail);
	link_poll(&elsewhere->link, fds);
	fds[PLACE_RSH] = (struct pollfd){ .fd = elsewhere->stderr_fd, .events = POLLIN };
	fds[PLACE_SIGNAL] = (struct pollfd){ .fd = elsewhere->signal_fd, .events = POLLIN };
	r = io_again(poll(fds, PLACES, wait_ms(elsewhere)));
	if (r < 0)
		return fail_set(fail, -errno, "cannot wait: %s", strerror(errno));
	if (fds[PLACE_RSH].revents)
		pass_on_errors(elsewhere);
	r = fds[PLACE_SIGNAL].revents ? take_signal(elsewhere, fail) : 0;
	if (r)
		return r;
	r = fds[PLACE_IN].revents ? link_read(&elsewhere->link) : 1;
	elsewhere->now = now_ns();
	tell_silence(elsewhere);
	if (r < 0)
		return fail_set(fail, r, "cannot read what comes from there: %s", strerror(-r));
	/* What cannot be written is noticed by the end of what comes. */
	if (link_write(&elsewhere->link))
		buf_clear(&elsewhere->link.going), elsewhere->link.sent = 0;
	return r;
}

static int receive(struct elsewhere *elsewhere, struct fail *fail)
{
	int r = 1;

	while (r > 0 && !elsewhere->receiver.ended) {
		int err;

		r = turn(elsewhere, fail);
		err = r < 0 ? 0 : take_all(elsewhere, fail);
		if (err)
			return err;
	}
	return r < 0 ? r : 0;
}

/* Closes the connection, so that the far side ends if it has not, and returns the exit status of what led there. */
static int hang_up(struct elsewhere *elsewhere)
{
	uint64_t until = now_ns() + (uint64_t)RSH_MS * 1000000;
	int status = 0;
	pid_t done = 0;

	link_release(&elsewhere->link);
	while (elsewhere->rsh && !done && now_ns() < until) {
		struct pollfd fds = { .fd = elsewhere->stderr_fd, .events = POLLIN };

		if (poll(&fds, 1, 10) > 0)
			pass_on_errors(elsewhere);
		done = io_again(waitpid(elsewhere->rsh, &status, WNOHANG));
	}
	if (elsewhere->rsh && !done) {
		(void)!kill(elsewhere->rsh, SIGKILL);
		done = io_again(waitpid(elsewhere->rsh, &status, 0));
	}
	while (elsewhere->stderr_fd >= 0 &&
	       poll(&(struct pollfd){ .fd = elsewhere->stderr_fd, .events = POLLIN }, 1, 0) > 0)
		pass_on_errors(elsewhere);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int why_ended(const struct elsewhere *elsewhere, int status, struct fail *fail)
{
	if (!elsewhere->receiver.greeted && !elsewhere->options->rsh)
		return fail_set(fail, -ECONNREFUSED, "no %s is behind it",
				elsewhere->agentless ? "shell" : "weft serve");
	if (!elsewhere->receiver.greeted && elsewhere->agentless)
		return fail_set(fail, -ECONNREFUSED, "no shell answers: '%s' has ended with status %d",
				elsewhere->options->rsh[0], status);
	if (!elsewhere->receiver.greeted && status == NOT_FOUND)
		return fail_set(fail, -ENOENT, "weft serve does not answer: '%s', or the weft there, cannot be started",
				elsewhere->options->rsh[0]);
	if (!elsewhere->receiver.greeted)
		return fail_set(fail, -ECONNREFUSED, "weft serve does not answer: '%s' has ended with status %d",
				elsewhere->options->rsh[0], status);
	return fail_set(fail, -ECONNRESET, "the connection has ended before the recording did");
}

/* Makes the file of what has arrived; the parts stay if that fails. */
static int finish(struct elsewhere *elsewhere, struct fail *fail)
{
	const struct elsewhere_options *options = elsewhere->options;
	struct record_result *result = elsewhere->receiver.result;
	cleanup_free char *path = strdup(arrival_path(elsewhere->receiver.arrival));
	struct recovery recovery;
	int err;

	if (!path)
		return fail_memory(fail);
	/* Nothing was recorded, and nothing has arrived of which a file could be made. */
	if ((elsewhere->receiver.told && !result->ran) || !arrival_has_begun(elsewhere->receiver.arrival))
		return arrival_remove(elsewhere->receiver.arrival, fail);
	/* Who reads the parts must be their only user. */
	arrival_free(take(elsewhere->receiver.arrival));
	err = recovery_run(path, options->output, options->mode, &recovery, fail);
	if (err) {
		result->parts = take(path);
		return err;
	}
	result->finished = true;
	result->file_size = recovery.file_size;
	result->raw = recovery.raw;
	if (!elsewhere->receiver.told)
		result->at_most = true;
	recovery_release(&recovery);
	return 0;
}

static int conclude(struct elsewhere *elsewhere, int err, int status, struct fail *fail)
{
	struct record_result *result = elsewhere->receiver.result;

	if (err)
		return err;
	if (!elsewhere->receiver.ended)
		return why_ended(elsewhere, status, fail);
	if (!elsewhere->receiver.arrival) {
		result->has_status = true;
		result->status = elsewhere->receiver.status;
		return 0;
	}
	if (!elsewhere->receiver.status)
		return elsewhere->receiver.told ?
			       0 :
			       fail_set(fail, -EBADMSG, "it does not say what became of the recording");
	if (!elsewhere->receiver.told) {
		result->has_status = true;
		result->status = elsewhere->receiver.status;
	}
	return fail_set(fail, -EREMOTEIO, "the recording there has failed");
}

/* A second Ctrl-C that is still pending must not kill the process when everything is done. */
static void drop_signals(const struct elsewhere *elsewhere)
{
	struct signalfd_siginfo info;

	while (elsewhere->signal_fd >= 0 && read(elsewhere->signal_fd, &info, sizeof(info)) > 0)
		continue;
	link_release_signals(&elsewhere->old_mask);
}

static int print(void *arg, bool on_stderr, const void *text, size_t len)
{
	struct elsewhere *elsewhere = arg;
	int err = elsewhere->options->print(elsewhere->options->arg, on_stderr ? ELSEWHERE_STDERR : ELSEWHERE_STDOUT,
					    text, len);

	elsewhere->hushed |= err;
	return err;
}

static int run(struct elsewhere *elsewhere, struct fail *fail)
{
	struct fail later = FAIL_INIT;
	int err = receiver_init(&elsewhere->receiver, fail), finished;

	if (!err && elsewhere->options->agentless)
		err = agentless_new(elsewhere->options->agentless, &elsewhere->receiver, &elsewhere->agentless, fail);
	if (!err)
		err = elsewhere->options->rsh ? start(elsewhere, fail) : knock(elsewhere, fail);
	if (!err && !ask(elsewhere))
		err = fail_memory(fail);
	if (!err)
		err = receive(elsewhere, fail);
	err = conclude(elsewhere, err, hang_up(elsewhere), fail);
	if (err)
		fail_in(fail, err, "%s", elsewhere->options->host);
	finished = elsewhere->receiver.arrival ? finish(elsewhere, &later) : 0;
	return fail_first(err, finished, fail, &later);
}

int elsewhere_run(const struct elsewhere_options *options, struct record_result *ret, struct fail *fail)
{
	struct elsewhere elsewhere = {
		.options = options,
		.receiver = { .print = print, .clock = take_time, .result = ret },
		.pings_left = PINGS_FIRST,
		.link = { .in = -1, .out = -1 },
		.signal_fd = -1,
		.stderr_fd = -1,
	};
	int err;

	*ret = (struct record_result){ .has_status = false };
	elsewhere.receiver.answers = &elsewhere.link.going;
	elsewhere.receiver.arg = &elsewhere;
	err = !options->output ?
		      0 :
		      arrival_new(&(struct arrival_options){ options->output, options->temp_dir, options->host },
				  &elsewhere.receiver.arrival, fail);
	if (err)
		return err;
	err = link_hold_signals(&elsewhere.old_mask, &elsewhere.signal_fd, fail);
	if (!err)
		err = run(&elsewhere, fail);
	agentless_free(elsewhere.agentless);
	arrival_free(elsewhere.receiver.arrival);
	receiver_release(&elsewhere.receiver);
	drop_signals(&elsewhere);
	cleanup_fd_close(&elsewhere.signal_fd);
	cleanup_fd_close(&elsewhere.stderr_fd);
	return err;
}
