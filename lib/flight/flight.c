// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/flight/flight.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/now.h"
#include "lib/base/text.h"
#include "lib/flight/condition.h"
#include "lib/flight/hit_internal.h"
#include "lib/flight/left_internal.h"
#include "lib/flight/log_writer_internal.h"
#include "lib/flight/lookout_internal.h"
#include "lib/flight/radio.h"
#include "lib/flight/service_internal.h"
#include "lib/flight/status_internal.h"
#include "lib/flight/tell_internal.h"
#include "lib/flight/upload_internal.h"
#include "lib/flight/watch_internal.h"
#include "lib/record/cruise.h"
#include "lib/record/urgency.h"
#include "lib/record/wake.h"
#include "lib/record/workload.h"

/* More is held than asked for: a trigger is noticed after its time. */
#define MARGIN_NS UINT64_C(1000000000)
#define HOUR_NS UINT64_C(3600000000000)

enum {
	LONGEST = 10, /* a file may be extended to this many times of --after */
	FDS = WAKE_FDS + SERVICE_FDS + RADIO_CLIENTS + 5,
	MARKS_MAX = 100, /* of one file, by members of the group */
};

/* A condition, and when its last file was. */
struct sentry {
	struct watch *watch;
	bool had_file;
	uint64_t last; /* the time of the trigger of its last file */
};

struct flight {
	const struct flight_options *options;
	struct flight_result *result;
	struct cruise *cruise;
	struct wake wake;
	struct workload nothing; /* a flight has no command */
	struct service service;
	struct sentry *sentries;
	size_t nr_sentries;
	struct radio radio;
	struct log_writer writer;
	struct upload upload;
	struct piece piece; /* that grows, until its time is over and the writer is free */
	unsigned pieces;
	/* the times of the last triggers of conditions that began a file, a ring of max_per_hour */
	uint64_t *begun, nr_begun;
	bool told_full;
	struct status status;
	struct lookout lookout;
	struct pollfd *fds;
};

/* Nothing that the growing piece needs may be dropped. */
static void keep(const struct flight *flight)
{
	cruise_keep_from(flight->cruise, flight->piece.number ? flight->piece.from : UINT64_MAX);
}

static void begin_piece(struct flight *flight, const char *name, const char *reason, uint64_t time, uint64_t to)
{
	const struct flight_options *options = flight->options;
	struct piece *piece = &flight->piece;
	uint64_t now = cruise_now(flight->cruise);

	*piece = (struct piece){
		.number = ++flight->pieces,
		.time = time,
		.from = time > options->before_ns ? time - options->before_ns : 0,
		.to = to,
		.latest = time + options->after_ns * LONGEST,
		.unix_ns = now_unix_ns() - (int64_t)(now > time ? now - time : 0),
	};
	snprintf(piece->name, sizeof(piece->name), "%s", name);
	snprintf(piece->reason, sizeof(piece->reason), "%s", reason);
	keep(flight);
}

/* Marks the trigger in the trace, and begins or extends a piece. */
static int trigger(struct flight *flight, const char *name, const char *reason, uint64_t time, struct fail *fail)
{
	struct piece *piece = &flight->piece;
	char text[WATCH_REASON + 96], stamp[TEXT_HUMAN];
	uint64_t to = time + flight->options->after_ns, marked;
	int err;

	snprintf(text, sizeof(text), "weft: trigger %s at %s: %s", name, text_stamp(stamp, time), reason);
	err = cruise_mark(flight->cruise, text, fail);
	if (err)
		return err;
	/* The mark is in the file, even if it comes later than the time that was asked for. */
	marked = cruise_now(flight->cruise);
	to = to > marked ? to : marked;
	flight->result->triggers++;
	flight->status.triggers++;
	if (!piece->number)
		begin_piece(flight, name, reason, time, to);
	/* While the writer is busy, a piece may grow without a limit. */
	else if (flight->writer.busy || to < piece->latest)
		piece->to = to > piece->to ? to : piece->to;
	else
		piece->to = piece->latest > marked ? piece->latest : marked;
	piece->triggers++;
	return 0;
}

static bool is_cooling(const struct flight *flight, const struct sentry *sentry, uint64_t time)
{
	return sentry->had_file && time < sentry->last + flight->options->cool_ns;
}

/* Whether conditions have begun as many files within the last hour as they may. Otherwise counts one more. */
static bool is_hour_full(struct flight *flight, uint64_t time)
{
	unsigned max = flight->options->budget.max_per_hour;
	uint64_t *oldest;

	if (!max)
		return false;
	oldest = &flight->begun[flight->nr_begun % max];
	if (flight->nr_begun >= max && time < *oldest + HOUR_NS) {
		if (!flight->told_full)
			tell_line(flight->options->tell,
				  "%u files were begun within an hour (--max-per-hour): further triggers are only "
				  "counted",
				  max);
		flight->told_full = true;
		return true;
	}
	*oldest = time;
	flight->nr_begun++;
	flight->told_full = false;
	return false;
}

static int sentry_look(struct flight *flight, struct sentry *sentry, struct fail *fail)
{
	const struct condition *condition = watch_condition(sentry->watch);
	struct watch_hit hit;
	int r = watch_look(sentry->watch, &hit, fail);

	if (r <= 0)
		return r;
	/* It extends the file of which it is a part, and begins none while it cools down. */
	if (!flight->piece.number && (is_cooling(flight, sentry, hit.time) || is_hour_full(flight, hit.time))) {
		flight->status.skipped += 1 + hit.more;
		return 0;
	}
	if (!flight->piece.number) {
		sentry->had_file = true;
		sentry->last = hit.time;
	}
	return trigger(flight, condition->name, hit.reason, hit.time, fail);
}

/* A condition that cannot be watched any more ends neither the flight nor the others. */
static int look_at_sentries(struct flight *flight, const struct pollfd *fds, struct fail *fail)
{
	int err = 0;

	for (size_t i = 0; !err && i < flight->nr_sentries; i++) {
		struct sentry *sentry = &flight->sentries[i];
		struct fail why;

		if (!sentry->watch || !fds[i].revents)
			continue;
		err = sentry_look(flight, sentry, &why);
		if (err >= 0)
			continue;
		tell_line(flight->options->tell, "%s is not watched any more: %s", watch_condition(sentry->watch)->name,
			  why.text);
		err = watch_free(take(sentry->watch), fail);
	}
	return err;
}

/* Moves the piece to the writer when its time is over. */
static int write_piece(struct flight *flight, struct fail *fail)
{
	int err;

	if (!flight->piece.number || flight->writer.busy || cruise_now(flight->cruise) < flight->piece.to)
		return 0;
	err = log_writer_begin(&flight->writer, &flight->piece, fail);
	if (err)
		return err;
	/* What is being written stays until it is written. */
	flight->piece.number = 0;
	return 0;
}

static void answer_waiting(struct flight *flight)
{
	const struct log_writer *writer = &flight->writer;
	cleanup_buf struct buf text = BUF_INIT;
	bool ok = writer->err ? buf_addf(&text, "error %s\n", writer->fail.text) :
				buf_addf(&text, "file %s\n", writer->path);

	for (size_t i = 0; ok && i < RADIO_CLIENTS; i++) {
		struct radio_client *client = &flight->radio.clients[i];

		if (client->fd >= 0 && client->waits_for && client->waits_for <= writer->piece.number)
			radio_answer(client, buf_str(&text), text.len);
	}
}

static void end_piece(struct flight *flight)
{
	struct log_writer *writer = &flight->writer;

	log_writer_end(writer);
	keep(flight);
	answer_waiting(flight);
	if (writer->err) {
		flight->result->failed++;
		flight->status.failed++;
		tell_line(flight->options->tell, "no file of the trigger %s (%s): %s", writer->piece.name,
			  writer->piece.reason, writer->fail.text);
	} else {
		flight->result->files++;
		flight->status.files++;
		flight->status.bytes += writer->written.size;
		log_writer_tell(writer, flight->options->tell);
		upload_add(&flight->upload, writer->path);
	}
	log_writer_forget(writer);
}

/* Members of the group begin no more files than conditions do, and do not fill the trace with markers. */
static int ask_dump(struct flight *flight, struct radio_client *client, struct fail *fail)
{
	const char *text = client->line[4] ? client->line + 5 : "";
	uint64_t now = cruise_now(flight->cruise);
	struct watch_hit hit = { .time = now };
	int err = 0;

	text = *text ? text : "asked for";
	watch_reason(&hit, text, strlen(text));
	if (!client->is_owner && !flight->piece.number && is_hour_full(flight, now)) {
		flight->status.skipped++;
		return fail_set(fail, -EAGAIN, "%u files were begun within an hour (--max-per-hour)",
				flight->options->budget.max_per_hour);
	}
	if (!client->is_owner && flight->piece.number && flight->piece.triggers >= MARKS_MAX)
		flight->status.skipped++;
	else
		err = trigger(flight, "dump", hit.reason, now, fail);
	client->waits_for = flight->piece.number;
	return err;
}

static void heed(void *arg, struct radio_client *client)
{
	struct flight *flight = arg;
	cleanup_buf struct buf text = BUF_INIT;
	struct fail why = FAIL_INIT;

	if (!strcmp(client->line, "status")) {
		if (!status_print(&flight->status, flight->cruise, &text))
			buf_clear(&text);
	} else if (!strcmp(client->line, "dump") || !strncmp(client->line, "dump ", 5)) {
		if (!ask_dump(flight, client, &why))
			return;
		(void)!buf_addf(&text, "error %s\n", why.text);
	} else {
		(void)!buf_addf(&text, "error a flight knows 'dump REASON' and 'status'\n");
	}
	radio_answer(client, buf_str(&text), text.len);
}

/* 1: the flight shall end. */
static int heed_service(struct flight *flight, const struct pollfd *fds, struct fail *fail)
{
	pid_t pid = 0;
	enum service_event event = service_look(&flight->service, fds, &pid);
	char reason[64];

	if (event == SERVICE_NOTHING)
		return 0;
	flight->result->reload = event == SERVICE_RELOAD;
	if (event != SERVICE_DUMP)
		return 1;
	snprintf(reason, sizeof(reason), "SIGUSR1 of process %d", (int)pid);
	return trigger(flight, "signal", reason, cruise_now(flight->cruise), fail);
}

static int timeout_ms(const struct flight *flight)
{
	uint64_t now = cruise_now(flight->cruise), look = lookout_ms(&flight->lookout);
	uint64_t upload = upload_ms(&flight->upload);

	look = upload < look ? upload : look;
	if (!flight->piece.number || flight->writer.busy)
		return (int)look;
	if (flight->piece.to <= now)
		return 0;
	return (int)(flight->piece.to - now > look * 1000000 ? look : (flight->piece.to - now) / 1000000 + 1);
}

/* Behind those of wake: of the service, the writer, new CPUs, the upload, the conditions, and the socket. */
static size_t list_fds(const struct flight *flight)
{
	struct pollfd *fds = flight->fds + WAKE_FDS;
	size_t nr = SERVICE_FDS;

	service_fds(&flight->service, fds);
	fds[nr++] = (struct pollfd){ .fd = flight->writer.done_fd, .events = POLLIN };
	fds[nr++] = (struct pollfd){ .fd = flight->lookout.plug_fd, .events = POLLIN };
	fds[nr++] = (struct pollfd){ .fd = upload_fd(&flight->upload), .events = POLLIN };
	for (size_t i = 0; i < flight->nr_sentries; i++) {
		short events = 0;
		int fd = flight->sentries[i].watch ? watch_fd(flight->sentries[i].watch, &events) : -1;

		fds[nr++] = (struct pollfd){ .fd = fd, .events = events };
	}
	return WAKE_FDS + nr + radio_fds(&flight->radio, fds + nr);
}

/* One turn of the loop. 1: the flight shall end. */
static int turn(struct flight *flight, struct fail *fail)
{
	const struct pollfd *fds = flight->fds + WAKE_FDS;
	enum wake_reason reason = WAKE_SIGNAL;
	size_t nr = list_fds(flight);
	int timeout = service_alive(&flight->service, timeout_ms(flight)), status;
	int r = wake_poll(&flight->wake, &flight->nothing, flight->fds, nr, timeout, &reason, &status, fail);

	if (r < 0)
		return r;
	if (r && reason == WAKE_FAILED) {
		r = cruise_failed(flight->cruise, fail);
		return r ? r : fail_set(fail, -EIO, "a recorder has ended");
	}
	if (r)
		return 1;
	if (fds[SERVICE_FDS].revents)
		end_piece(flight);
	r = heed_service(flight, fds, fail);
	if (!r)
		r = look_at_sentries(flight, fds + SERVICE_FDS + 3, fail);
	if (r)
		return r;
	upload_look(&flight->upload);
	flight->status.uploads = flight->upload.done;
	flight->status.uploads_failed = flight->upload.failed;
	radio_look(&flight->radio, heed, flight);
	lookout_look(&flight->lookout);
	return write_piece(flight, fail);
}

/* Writes what a trigger has begun, without the rest of its time. */
static int land(struct flight *flight, struct fail *fail)
{
	int err = 0;

	if (flight->writer.busy)
		end_piece(flight);
	if (!flight->piece.number)
		return 0;
	flight->piece.to = cruise_now(flight->cruise);
	err = write_piece(flight, fail);
	if (!err)
		end_piece(flight);
	return err;
}

static int fly(struct flight *flight, struct fail *fail)
{
	struct fail later;
	uint64_t begin = now_ns();
	int r = 0, landed;

	urgency_raise(URGENCY_TRIGGER);
	flight->options->began();
	service_ready(&flight->service, flight->options->dir);
	while (!r)
		r = turn(flight, fail);
	if (!flight->result->reload)
		service_stopping(&flight->service);
	landed = land(flight, &later);
	flight->result->time_ns = now_ns() - begin;
	upload_end(&flight->upload);
	return fail_first(r < 0 ? r : 0, landed, fail, &later);
}

static int post_sentries(struct flight *flight, struct fail *fail)
{
	const struct flight_options *options = flight->options;
	int err = 0;

	flight->sentries = calloc(options->nr_conditions + 1, sizeof(*flight->sentries));
	flight->fds = calloc(FDS + options->nr_conditions, sizeof(*flight->fds));
	flight->begun = calloc(options->budget.max_per_hour + 1, sizeof(*flight->begun));
	if (!flight->sentries || !flight->fds || !flight->begun)
		return fail_memory(fail);
	for (size_t i = 0; !err && i < options->nr_conditions; i++) {
		flight->nr_sentries++;
		err = watch_new(flight->cruise, &options->conditions[i], (unsigned)i + 1, options->tell,
				&flight->sentries[i].watch, fail);
		if (err)
			fail_in(fail, err, "--when %s", options->conditions[i].name);
	}
	return err;
}

static int begin_writer(struct flight *flight, struct fail *fail)
{
	const struct flight_options *options = flight->options;

	flight->writer = (struct log_writer){
		.cruise = flight->cruise,
		.dir = options->dir,
		.budget = &options->budget,
		.mode = options->mode,
		.explain = options->explain,
		.ragged = options->ragged,
		.done_fd = -1,
	};
	return log_writer_init(&flight->writer, fail);
}

static int prepare(struct flight *flight, const struct cruise_options *cruise, struct fail *fail)
{
	const struct flight_options *options = flight->options;
	const struct left_options left = { options->name, options->dir, options->mode, options->tell };
	int err = log_writer_check(options->dir, fail);

	if (!err)
		err = upload_init(&flight->upload, &options->upload, options->tell, fail);
	if (!err && !options->tries)
		left_save(&left);
	if (!err && !options->tries && options->persistent)
		err = left_save_persistent(&left, options->persistent, fail);
	if (!err)
		err = cruise_open(cruise, &flight->cruise, fail);
	if (!err)
		err = begin_writer(flight, fail);
	if (!err && !options->tries)
		err = radio_open(options->name, &flight->radio, fail);
	if (!err)
		err = post_sentries(flight, fail);
	if (!err && options->duration_ns)
		err = wake_after(&flight->wake, options->duration_ns, fail);
	flight->status = (struct status){
		.keep_ns = options->keep_ns,
		.max_memory = options->max_memory,
		.in_kernel = options->in_kernel,
		.persistent = options->persistent,
		.dir = options->dir,
		.begin = err ? 0 : cruise_now(flight->cruise),
	};
	if (err || options->tries)
		return err;
	/* Before the first look, so that no CPU is missed. */
	flight->lookout.cruise = flight->cruise;
	lookout_begin(&flight->lookout);
	err = cruise_start(flight->cruise, fail);
	for (size_t i = 0; !err && i < flight->nr_sentries; i++)
		err = watch_start(flight->sentries[i].watch, fail);
	return err;
}

static int release(struct flight *flight, struct fail *fail)
{
	struct fail later;
	int first = 0, err;

	radio_close(&flight->radio);
	log_writer_release(&flight->writer);
	for (size_t i = 0; i < flight->nr_sentries; i++) {
		err = watch_free(flight->sentries[i].watch, &later);
		first = fail_first(first, err, fail, &later);
	}
	free(flight->sentries);
	free(flight->fds);
	free(flight->begun);
	err = cruise_close(flight->cruise, &later);
	first = fail_first(first, err, fail, &later);
	service_close(&flight->service);
	lookout_end(&flight->lookout);
	return first;
}

int flight_run(const struct flight_options *options, struct flight_result *ret, struct fail *fail)
{
	struct flight flight = {
		.options = options,
		.result = ret,
		.wake = WAKE_NONE,
		.nothing = { .pid_fd = -1, .go_fd = -1, .errno_fd = -1 },
		.service = SERVICE_NONE,
		.lookout = { .status = &flight.status, .tell = options->tell, .plug_fd = -1 },
		.radio = { .fd = -1 },
		.writer = { .done_fd = -1 },
		.upload = UPLOAD_NONE,
	};
	struct cruise_options cruise = {
		.setup = options->setup,
		.name = options->name,
		.span_ns = (options->keep_ns > options->before_ns ? options->keep_ns : options->before_ns) + MARGIN_NS,
		.max_bytes = options->max_memory,
		.in_kernel = options->in_kernel,
		.empties = options->persistent,
	};
	struct fail later;
	int err = wake_init(&flight.wake, fail), released;

	*ret = (struct flight_result){ .files = 0 };
	if (!err)
		err = service_open(&flight.service, &options->service, options->tell, &flight.wake, fail);
	cruise.failed_fd = flight.wake.failed_fd;
	if (!err)
		err = prepare(&flight, &cruise, fail);
	if (!err && !options->tries)
		err = fly(&flight, fail);
	released = release(&flight, &later);
	wake_release(&flight.wake);
	return fail_first(err, released, fail, &later);
}
