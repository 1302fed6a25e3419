// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/remote/serving.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/record/clock_sampler.h"
#include "lib/kernel/record/forward.h"
#include "lib/kernel/record/recovery.h"
#include "lib/kernel/remote/link_internal.h"
#include "lib/kernel/remote/wire_internal.h"

enum {
	PIECE = 256 << 10, /* bytes of a frame of data */
	/* How often the parts are looked at: sooner after something was there. */
	LOOK_MIN_MS = 10,
	LOOK_MAX_MS = 160,
	/* A recording whose near side is gone has this long to end; then it is killed, and its settings restored. */
	GRACE_MS = 300,
	OUTCOME_MAX = WIRE_BODY_MAX,
	ANSWERS_MAX = 1 << 20, /* who lets so much wait gets no more answers */
	KILLED = 125,          /* the exit status of a recording that failed */
};

enum place { PLACE_IN, PLACE_OUT, PLACE_STDOUT, PLACE_STDERR, PLACE_CHILD, PLACE_SIGNAL, PLACE_PING, PLACES };

struct serving {
	const struct serving_options *options;
	struct link link;
	bool greeted, gone;
	int signal_fd;
	sigset_t old_mask;
	pid_t child; /* 0: none */
	int child_fd, stdout_fd, stderr_fd, outcome_fd, ping_fd;
	uint64_t read_ns; /* when something was read last */
	bool ended;       /* the child has; `status` is that of waitpid() */
	int status;
	struct forward *forward;
	uint64_t *credit;          /* of each stream */
	size_t nr_credit, streams; /* those that were named to the near side */
	size_t next;               /* the stream whose turn it is */
	int look_ms;
	char *piece; /* PIECE bytes */
};

/* The process that records. Its input is empty: the frames are for the process that sends. */
__attribute__((noreturn)) static void be_child(const struct serving *serving, pid_t parent, int argc, char **argv,
					       const int ends[4])
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)!setpgid(0, 0);
	(void)!prctl(PR_SET_PDEATHSIG, SIGTERM);
	(void)!sigprocmask(SIG_SETMASK, &serving->old_mask, NULL);
	if (getppid() != parent || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(ends[0], STDOUT_FILENO) < 0 ||
	    dup2(ends[1], STDERR_FILENO) < 0)
		_exit(KILLED);
	exit(serving->options->run(argc, argv, ends[2], ends[3], serving->options->arg));
}

static int start(struct serving *serving, bool is_recording, int argc, char **argv, struct fail *fail)
{
	int *const reads[] = { &serving->stdout_fd, &serving->stderr_fd, &serving->outcome_fd };
	int ends[4] = { -1, -1, -1, -1 }, pair[2];
	pid_t parent = getpid();
	int err = 0;

	/* Only a recording has an outcome, and a clock. */
	for (size_t i = 0; !err && i < array_size(reads) - !is_recording; i++) {
		int fds[2];

		err = pipe2(fds, O_CLOEXEC) ? fail_set(fail, -errno, "cannot make a pipe: %s", strerror(errno)) : 0;
		if (err)
			break;
		*reads[i] = fds[0];
		ends[i] = fds[1];
		link_never_block(fds[0]);
	}
	if (!err && is_recording && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		err = fail_set(fail, -errno, "cannot make a socket: %s", strerror(errno));
	else if (!err && is_recording)
		serving->ping_fd = pair[0], ends[3] = pair[1];
	fflush(NULL);
	serving->child = err ? 0 : fork();
	if (!err && !serving->child)
		be_child(serving, parent, argc, argv, ends);
	if (serving->child < 0) {
		err = fail_set(fail, -errno, "cannot start a process: %s", strerror(errno));
		serving->child = 0;
	}
	for (size_t i = 0; i < array_size(ends); i++)
		cleanup_fd_close(&ends[i]);
	if (err)
		return err;
	(void)!setpgid(serving->child, serving->child);
	serving->child_fd = (int)syscall(SYS_pidfd_open, serving->child, 0);
	if (serving->child_fd < 0)
		return fail_set(fail, -errno, "cannot watch a process: %s", strerror(errno));
	return is_recording ? forward_new(serving->options->dir, serving->child, &serving->forward, fail) : 0;
}

static int take_setup(struct serving *serving, const struct wire_frame *frame, struct fail *fail)
{
	cleanup_free char **words = NULL;
	int nr, err;

	if (serving->child)
		return fail_set(fail, -EBADMSG, "it asks for a second recording or command");
	err = wire_words(frame, &words, &nr, fail);
	return err ? err : start(serving, frame->type == WIRE_SETUP, nr, words, fail);
}

static int take_credit(struct serving *serving, const struct wire_frame *frame, struct fail *fail)
{
	struct bytes body = frame->body;
	uint32_t more;

	if (!bytes_u32(&body, &more) || frame->stream >= serving->nr_credit)
		return fail_set(fail, -EBADMSG, "credit came for a stream that there is not");
	serving->credit[frame->stream] += more;
	return 0;
}

static int take_stop(struct serving *serving, const struct wire_frame *frame, struct fail *fail)
{
	struct bytes body = frame->body;
	uint8_t sig;

	if (!bytes_u8(&body, &sig))
		return fail_set(fail, -EBADMSG, "a signal is missing");
	if (link_stops(sig) && serving->child && !serving->ended)
		(void)!kill(serving->child, sig);
	return 0;
}

/* The process that records knows how to read its clock. One that does not answer is not asked for ever. */
static int take_ping(struct serving *serving, const struct wire_frame *frame, struct fail *fail)
{
	struct clock_answer ask = { .received = serving->read_ns };
	struct bytes body = frame->body;

	if (!bytes_u64(&body, &ask.id))
		return fail_set(fail, -EBADMSG, "a ping has no number");
	if (serving->ping_fd >= 0)
		(void)!send(serving->ping_fd, &ask, sizeof(ask), MSG_DONTWAIT | MSG_NOSIGNAL);
	return 0;
}

static int pass_on_answer(struct serving *serving, struct fail *fail)
{
	cleanup_buf struct buf body = BUF_INIT;
	struct clock_answer answer;
	ssize_t got = recv(serving->ping_fd, &answer, sizeof(answer), MSG_DONTWAIT);

	if (got != (ssize_t)sizeof(answer)) {
		cleanup_fd_close(&serving->ping_fd);
		serving->ping_fd = -1;
		return 0;
	}
	if (!*answer.clock || link_sends(&serving->link) > ANSWERS_MAX)
		return 0;
	if (!wire_add_u64(&body, answer.id) || !wire_add_u64(&body, answer.since - answer.received) ||
	    !wire_add_u64(&body, now_ns() - answer.until) || !wire_add_u64(&body, answer.trace) ||
	    !buf_add(&body, answer.clock, strlen(answer.clock) + 1) ||
	    !wire_add_optional(&serving->link.going, WIRE_CLOCK, body.data, body.len))
		return fail_memory(fail);
	return 0;
}

static int take_frame(struct serving *serving, const struct wire_frame *frame, struct fail *fail)
{
	switch (frame->type) {
	case WIRE_SETUP:
	case WIRE_RUN:
		return take_setup(serving, frame, fail);
	case WIRE_CREDIT:
		return take_credit(serving, frame, fail);
	case WIRE_STOP:
		return take_stop(serving, frame, fail);
	case WIRE_PING:
		return take_ping(serving, frame, fail);
	}
	if (frame->flags & WIRE_OPTIONAL)
		return 0;
	return fail_set(fail, -EPROTO, "a frame of type %u came, which this weft does not know", frame->type);
}

static int take_all(struct serving *serving, struct fail *fail)
{
	struct bytes in = link_came(&serving->link);
	struct wire_greeting greeting;
	struct wire_frame frame;
	int r = 1;

	if (!serving->greeted) {
		r = wire_take_greeting(&in, &greeting, fail);
		serving->greeted = r > 0;
	}
	while (r > 0) {
		r = wire_take(&in, &frame, fail);
		if (r > 0) {
			int err = take_frame(serving, &frame, fail);

			if (err)
				return err;
		}
	}
	link_took(&serving->link, &in);
	return r;
}

static bool add_credit(struct serving *serving)
{
	uint64_t *added = vec_push(serving->credit, serving->nr_credit);

	if (added)
		*added = WIRE_CREDIT_FIRST;
	return added;
}

/* Names the streams that are new. All metadata that is there was sent: what is said of them is in it. */
static bool name_streams(struct serving *serving)
{
	bool ok = true;

	while (ok && serving->streams < forward_spools(serving->forward) && serving->streams < WIRE_STREAMS_MAX) {
		struct forward_spool spool = forward_spool(serving->forward, serving->streams);
		cleanup_buf struct buf body = BUF_INIT;

		serving->streams++;
		ok = add_credit(serving) && wire_add_u32(&body, spool.buffer) && wire_add_u32(&body, spool.cpu) &&
		     wire_add(&serving->link.going, WIRE_STREAM, (uint16_t)serving->streams, body.data, body.len);
	}
	return ok;
}

static size_t allowed(const struct serving *serving, size_t stream)
{
	return serving->credit[stream] < PIECE ? (size_t)serving->credit[stream] : PIECE;
}

static int add_piece(struct serving *serving, enum wire_type type, size_t stream, size_t len, struct fail *fail)
{
	serving->credit[stream] -= len;
	return wire_add(&serving->link.going, (uint8_t)type, (uint16_t)stream, serving->piece, len) ? 0 :
												      fail_memory(fail);
}

/* A frame of the next stream that has one. *ret_more: whether there may be more of any. */
static int add_pages(struct serving *serving, bool *ret_more, struct fail *fail)
{
	for (size_t i = 0; i < serving->streams; i++) {
		size_t stream = serving->next++ % serving->streams + 1, size = allowed(serving, stream), len = 0;
		int err;

		*ret_more |= !size;
		err = size ? forward_pages(serving->forward, stream - 1, serving->piece, size, &len, fail) : 0;
		if (err || len) {
			*ret_more = true;
			return err ? err : add_piece(serving, WIRE_PAGES, stream, len, fail);
		}
	}
	return 0;
}

/*
 * Adds what there is next of the recording: one frame of data at a time, so that nothing else waits long. *ret_more:
 * there was something, or there is no credit for it.
 */
static int add_data(struct serving *serving, bool *ret_more, struct fail *fail)
{
	size_t size = allowed(serving, 0), len = 0;
	int err = serving->forward ? forward_look(serving->forward, fail) : 0;

	if (!serving->forward)
		return 0;
	*ret_more = !size;
	if (!err && size)
		err = forward_meta(serving->forward, serving->piece, size, &len, fail);
	if (err)
		return err;
	if (len) {
		*ret_more = true;
		return add_piece(serving, WIRE_META, 0, len, fail);
	}
	if (!size)
		return 0;
	return name_streams(serving) ? add_pages(serving, ret_more, fail) : fail_memory(fail);
}

/* Passes on what the child has printed. */
static int add_text(struct serving *serving, enum wire_type type, int *fd, struct fail *fail)
{
	ssize_t got = *fd >= 0 ? io_read(*fd, serving->piece, PIECE) : 0;

	if (!got)
		cleanup_fd_close(fd), *fd = -1;
	if (got <= 0)
		return 0;
	return wire_add(&serving->link.going, (uint8_t)type, 0, serving->piece, (size_t)got) ? 0 : fail_memory(fail);
}

static int add_texts(struct serving *serving, struct fail *fail)
{
	int err = add_text(serving, WIRE_STDOUT, &serving->stdout_fd, fail);

	return err ? err : add_text(serving, WIRE_STDERR, &serving->stderr_fd, fail);
}

/* A recording that was killed has left its settings changed, and its COMMAND running. */
static int restore_after_kill(const struct serving *serving, struct fail *fail)
{
	int err = WIFSIGNALED(serving->status) ? recovery_undo_of(serving->child, fail) : 0;

	if (WIFSIGNALED(serving->status))
		(void)!kill(-serving->child, SIGTERM);
	return err == -ENODEV || err == -EPERM || err == -EACCES ? 0 : err;
}

static int add_end(struct serving *serving, struct fail *fail)
{
	cleanup_buf struct buf outcome = BUF_INIT, text = BUF_INIT;
	struct buf *going = &serving->link.going;
	struct fail undone = FAIL_INIT;
	uint8_t status = (uint8_t)(WIFEXITED(serving->status) ? WEXITSTATUS(serving->status) : KILLED);
	bool ok = true;

	if (WIFSIGNALED(serving->status))
		ok = buf_addf(&text, "weft: the process that recorded was killed by signal %d; %s%s\n",
			      WTERMSIG(serving->status),
			      restore_after_kill(serving, &undone) ? "its settings stay changed: " :
								     "its settings are put back",
			      undone.text);
	if (ok && text.len)
		ok = wire_add(going, WIRE_STDERR, 0, text.data, text.len);
	if (serving->outcome_fd >= 0)
		(void)!io_read_all(serving->outcome_fd, OUTCOME_MAX, &outcome);
	if (ok && outcome.len && outcome.len <= OUTCOME_MAX)
		ok = wire_add(going, WIRE_OUTCOME, 0, outcome.data, outcome.len);
	return ok && wire_add(going, WIRE_END, 0, &status, 1) ? 0 : fail_memory(fail);
}

static void reap(struct serving *serving)
{
	if (serving->child && !serving->ended &&
	    io_again(waitpid(serving->child, &serving->status, WNOHANG)) == serving->child)
		serving->ended = true;
}

/* 1: the end is among what is to be sent. */
static int add_next(struct serving *serving, struct fail *fail)
{
	bool more = false, ended = serving->ended;
	int err;

	if (!serving->child || link_sends(&serving->link))
		return 0;
	err = add_texts(serving, fail);
	if (!err)
		err = add_data(serving, &more, fail);
	/* At once, while there is something to send. */
	serving->look_ms = link_sends(&serving->link)     ? 0 :
			   serving->look_ms < LOOK_MIN_MS ? LOOK_MIN_MS :
			   serving->look_ms < LOOK_MAX_MS ? 2 * serving->look_ms :
							    LOOK_MAX_MS;
	if (err || more || !ended || link_sends(&serving->link))
		return err;
	err = add_end(serving, fail);
	return err ? err : 1;
}

/* Until something has to be done without being woken: there may be data, or it is time to say something, or to go. */
static int wait_ms(const struct serving *serving, bool idle)
{
	uint64_t silence = link_silence_ns(&serving->link), most = serving->options->silence_ns;
	uint64_t left = silence < most ? (most - silence) / NS_PER_MS + 1 : 0;
	int ms = left < INT_MAX ? (int)left : INT_MAX, say = link_say_ms(&serving->link);

	if (say >= 0 && say < ms)
		ms = say;
	return idle && serving->look_ms < ms ? serving->look_ms : ms;
}

static int await(struct serving *serving, struct pollfd fds[PLACES])
{
	bool idle = serving->child && !link_sends(&serving->link);

	link_poll(&serving->link, fds);
	fds[PLACE_STDOUT] = (struct pollfd){ .fd = idle ? serving->stdout_fd : -1, .events = POLLIN };
	fds[PLACE_STDERR] = (struct pollfd){ .fd = idle ? serving->stderr_fd : -1, .events = POLLIN };
	fds[PLACE_CHILD] =
		(struct pollfd){ .fd = serving->child && !serving->ended ? serving->child_fd : -1, .events = POLLIN };
	fds[PLACE_SIGNAL] = (struct pollfd){ .fd = serving->signal_fd, .events = POLLIN };
	fds[PLACE_PING] = (struct pollfd){ .fd = serving->ping_fd, .events = POLLIN };
	return io_again(poll(fds, PLACES, wait_ms(serving, idle)));
}

static bool is_silent(const struct serving *serving)
{
	return link_silence_ns(&serving->link) >= serving->options->silence_ns;
}

/* Serves until the end was sent, or nobody is there any more. */
static int serve(struct serving *serving, struct fail *fail)
{
	struct pollfd fds[PLACES];
	bool last = false;

	while (!last || link_sends(&serving->link)) {
		int r = await(serving, fds);

		if (r >= 0 && fds[PLACE_IN].revents)
			r = link_read(&serving->link);
		else if (r >= 0)
			r = 1;
		serving->read_ns = now_ns();
		/* The input has ended: nobody waits for the rest. */
		if (r <= 0 || fds[PLACE_SIGNAL].revents || link_write(&serving->link)) {
			serving->gone = true;
			return fail_set(fail, -EPIPE, "the other side has ended before the recording");
		}
		if (is_silent(serving)) {
			serving->gone = true;
			return fail_set(fail, -ETIMEDOUT, "nothing has come from the other side for too long");
		}
		r = fds[PLACE_PING].revents ? pass_on_answer(serving, fail) : 0;
		if (!r)
			r = take_all(serving, fail);
		if (r < 0)
			return r;
		reap(serving);
		r = last ? 0 : add_next(serving, fail);
		if (r < 0)
			return r;
		last |= r > 0;
		if (!last && !link_say(&serving->link))
			return fail_memory(fail);
		if (link_write(&serving->link))
			serving->gone = true;
	}
	return 0;
}

static void nap(int ms)
{
	(void)!poll(NULL, 0, ms);
}

/* Ends a recording that nobody waits for: what it records is thrown away, so that it need not wait either. */
static void end_child(struct serving *serving)
{
	uint64_t until = now_ns() + (uint64_t)GRACE_MS * 1000000;

	if (!serving->child)
		return;
	reap(serving);
	if (!serving->ended)
		(void)!kill(serving->child, SIGTERM);
	while (!serving->ended && now_ns() < until) {
		if (serving->stdout_fd >= 0)
			(void)!io_read(serving->stdout_fd, serving->piece, PIECE);
		if (serving->stderr_fd >= 0)
			(void)!io_read(serving->stderr_fd, serving->piece, PIECE);
		if (serving->forward && !forward_look(serving->forward, NULL))
			forward_give_up(serving->forward);
		nap(LOOK_MIN_MS);
		reap(serving);
	}
	if (!serving->ended) {
		(void)!kill(-serving->child, SIGKILL);
		serving->ended = io_again(waitpid(serving->child, &serving->status, 0)) == serving->child;
	}
}

static void release(struct serving *serving)
{
	int *const fds[] = { &serving->child_fd,   &serving->stdout_fd, &serving->stderr_fd,
			     &serving->outcome_fd, &serving->signal_fd, &serving->ping_fd };

	for (size_t i = 0; i < array_size(fds); i++)
		cleanup_fd_close(fds[i]);
	link_release(&serving->link);
	forward_free(serving->forward);
	free(serving->credit);
	free(serving->piece);
	link_release_signals(&serving->old_mask);
}

int serving_run(int in, int out, const struct serving_options *options, struct fail *fail)
{
	struct serving serving = {
		.options = options,
		.signal_fd = -1,
		.child_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.outcome_fd = -1,
		.ping_fd = -1,
		.look_ms = LOOK_MIN_MS,
	};
	struct fail later = FAIL_INIT;
	int err = link_hold_signals(&serving.old_mask, &serving.signal_fd, fail), removed = 0;

	link_init(&serving.link, in, out);
	serving.piece = malloc(PIECE);
	if (!err && (!serving.piece || !add_credit(&serving) || !wire_greet(&serving.link.going)))
		err = fail_memory(fail);
	if (!err)
		err = serve(&serving, fail);
	if (err)
		end_child(&serving);
	if (err && serving.child)
		removed = restore_after_kill(&serving, &later);
	err = fail_first(err, removed, fail, &later);
	removed = serving.forward ? forward_remove(serving.forward, &later) : 0;
	err = fail_first(err, removed, fail, &later);
	release(&serving);
	return err;
}
