// SPDX-License-Identifier: GPL-2.0-only
#include "lib/schema/fallback.h"

#include "lib/base/out.h"
#include "lib/schema/expr.h"
#include "lib/schema/format.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>
#include <unistd.h>

enum { TRY_MS = 2000, RECORD_MAX = 1 << 16, RECORD_ROOM = RECORD_MAX * 4 };

struct fallback {
	struct tep_handle *tep;
	struct tep_event *event;
	pthread_mutex_t *lock;
	pthread_mutex_t own;
	/* libtraceevent follows offsets without asking where they lead: behind the record there are zeros enough. */
	uint8_t *record;
};

static struct tep_handle *load(const struct schema_abi *abi, const struct format *format, const char *text, size_t len,
			       struct tep_event **ret)
{
	struct tep_handle *tep = tep_alloc();

	if (!tep)
		return NULL;
	tep_set_flag(tep, TEP_DISABLE_PLUGINS);
	tep_set_flag(tep, TEP_DISABLE_SYS_PLUGINS);
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(tep, abi->long_size);
	tep_set_file_bigendian(tep, abi->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	if (tep_parse_event(tep, text, len, format->system))
		*ret = NULL;
	else
		*ret = tep_find_event(tep, format->id);
	if (!*ret || (*ret)->flags & (int)TEP_EVENT_FL_FAILED) {
		tep_free(tep);
		return NULL;
	}
	return tep;
}

static void print(struct tep_event *event, struct trace_seq *seq, const uint8_t *data, size_t len)
{
	struct tep_record record = { .data = (void *)data, .size = (int)len };

	trace_seq_init(seq);
	tep_print_event(event->tep, seq, &record, "%s", TEP_PRINT_INFO);
}

/* In the child: what may go wrong goes wrong here. */
static void try_in_child(const struct schema_abi *abi, const struct format *format, const char *text, size_t len)
{
	uint8_t *record = calloc(1, RECORD_ROOM);
	uint16_t id = (uint16_t)format->id;
	struct tep_event *event = NULL;
	struct tep_handle *tep;
	struct trace_seq seq;

	close(STDERR_FILENO);
	close(STDOUT_FILENO);
	tep = load(abi, format, text, len, &event);
	if (!tep || !record)
		_exit(1);
	/* Its first field says what a record is, and libtraceevent looks. */
	if (abi->swap)
		id = __builtin_bswap16(id);
	memcpy(record, &id, sizeof(id));
	print(event, &seq, record, format->size);
	_exit(seq.state == TRACE_SEQ__GOOD && seq.len ? 0 : 1);
}

/* Waits for the child, but not for ever: the pipe that it holds closes when it ends. */
static bool ended_well(pid_t child, int pipe_fd)
{
	struct pollfd end = { .fd = pipe_fd, .events = POLLIN };
	int status, r;

	do
		r = poll(&end, 1, TRY_MS);
	while (r < 0 && errno == EINTR);
	if (r <= 0)
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return r > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool is_harmless(const struct schema_abi *abi, const struct format *format, const char *text, size_t len)
{
	int pipe_fds[2];
	bool well;
	pid_t child;

	if (pipe2(pipe_fds, O_CLOEXEC))
		return false;
	child = fork();
	if (!child)
		try_in_child(abi, format, text, len);
	close(pipe_fds[1]);
	well = child > 0 && ended_well(child, pipe_fds[0]);
	close(pipe_fds[0]);
	return well;
}

struct fallback *fallback_new(const struct schema_abi *abi, const struct format *format, const char *text, size_t len)
{
	struct fallback *fallback;

	if (!is_harmless(abi, format, text, len))
		return NULL;
	fallback = calloc(1, sizeof(*fallback));
	if (!fallback)
		return NULL;
	fallback->record = calloc(1, RECORD_ROOM);
	fallback->tep = fallback->record ? load(abi, format, text, len, &fallback->event) : NULL;
	if (!fallback->tep) {
		free(fallback->record);
		free(fallback);
		return NULL;
	}
	pthread_mutex_init(&fallback->own, NULL);
	fallback->lock = &fallback->own;
	return fallback;
}

void fallback_free(struct fallback *fallback)
{
	if (!fallback)
		return;
	tep_free(fallback->tep);
	pthread_mutex_destroy(&fallback->own);
	free(fallback->record);
	free(fallback);
}

void fallback_run(const struct fallback *fallback, const struct run *run, struct out *out)
{
	size_t len = run->len < RECORD_MAX ? run->len : RECORD_MAX;
	struct trace_seq seq;

	/* Every program has its own handle, so one lock per program is enough. */
	pthread_mutex_lock(fallback->lock);
	memcpy(fallback->record, run->data, len);
	print(fallback->event, &seq, fallback->record, len);
	memset(fallback->record, 0, len);
	if (seq.state == TRACE_SEQ__GOOD)
		out_mem(out, seq.buffer, seq.len);
	trace_seq_destroy(&seq);
	pthread_mutex_unlock(fallback->lock);
}
