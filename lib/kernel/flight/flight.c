// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/flight.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/flight/budget.h"
#include "lib/kernel/flight/condition.h"
#include "lib/kernel/flight/control_socket.h"
#include "lib/kernel/flight/log_writer_internal.h"
#include "lib/kernel/flight/message_internal.h"
#include "lib/kernel/flight/persistent.h"
#include "lib/kernel/flight/service_internal.h"
#include "lib/kernel/flight/status_internal.h"
#include "lib/kernel/flight/trigger_hit_internal.h"
#include "lib/kernel/flight/upload_internal.h"
#include "lib/kernel/flight/watch_internal.h"
#include "lib/kernel/record/clock_sampler.h"
#include "lib/kernel/record/extraction.h"
#include "lib/kernel/record/flight_recording.h"
#include "lib/kernel/record/kept_parts_dir.h"
#include "lib/kernel/record/recovery.h"
#include "lib/kernel/record/sampling.h"
#include "lib/kernel/record/urgency.h"
#include "lib/kernel/record/wake.h"
#include "lib/kernel/record/workload.h"

struct previous_run_options {
	const char *name; /* of the flight */
	const char *dir;  /* of the file */
	mode_t mode;
	void (*tell)(const char *text);
};

static const char previous_run_trigger[] = "left";
static const char killed[] = "the previous flight ended without closing";

/* A file of this trigger, and the line beside it. */
struct previous_run {
	const char *reason, *flight;
	int64_t unix_ns;
	char *path, *beside; /* owned */
	uint64_t size, raw;
	bool complete;
};

static void previous_run_release(struct previous_run *left)
{
	free(left->path);
	free(left->beside);
}

static int name(const struct previous_run_options *options, struct previous_run *left, struct fail *fail)
{
	cleanup_free char *base = NULL;
	int err;

	left->unix_ns = now_unix_ns();
	err = log_file_name(options->dir, left->unix_ns, previous_run_trigger, &base, fail);
	if (err)
		return err;
	if (asprintf(&left->path, "%s.dat", base) < 0)
		left->path = NULL;
	if (asprintf(&left->beside, "%s.json", base) < 0)
		left->beside = NULL;
	return left->path && left->beside ? 0 : fail_memory(fail);
}

static void put_facts(struct json *json, const void *arg)
{
	const struct previous_run *left = arg;

	budget_begin(json, strrchr(left->path, '/') + 1, left->flight);
	json_key(json, "trigger");
	json_put_text(json, previous_run_trigger);
	json_key(json, "reason");
	json_put_text(json, left->reason);
	json_key(json, "unix_time");
	json_put_decimal(json, left->unix_ns, 9);
	json_key(json, "size");
	json_put_u64(json, left->size);
	json_key(json, "raw");
	json_put_u64(json, left->raw);
	json_key(json, "complete");
	json_put_bool(json, left->complete);
	json_end(json);
}

static int take_over(const struct previous_run_options *options, const char *parts, struct previous_run *left,
		     struct recovery *recovery, struct fail *fail)
{
	int err = name(options, left, fail);

	if (!err)
		err = recovery_take_over(parts, left->path, options->mode, recovery, fail);
	if (err)
		return err;
	left->size = recovery->file_size;
	left->raw = recovery->raw;
	left->complete = !recovery->unread && !recovery->torn && !recovery->gaps && !cpus_count(&recovery->lost);
	return log_file_beside(left->beside, options->mode, put_facts, left, fail);
}

static int save_parts(const char *parts, void *data)
{
	const struct previous_run_options *options = *(const struct previous_run_options **)data;
	struct recovery recovery = { .output = NULL };
	struct previous_run left = { .reason = killed, .flight = options->name };
	struct fail fail = FAIL_INIT;
	char raw[TEXT_HUMAN], drained[TEXT_HUMAN];
	int err = take_over(options, parts, &left, &recovery, &fail);

	/* -ENODATA: the flight was killed before it began. */
	if (!err)
		message_line(options->tell, "%s: %s; %s of pages, %s of them were still in the kernel%s", left.path,
			     killed, text_size(raw, recovery.raw), text_size(drained, recovery.drained),
			     left.complete ? "" : "; it is not complete");
	else if (err != -ENODATA)
		message_line(options->tell, "%s, and is not saved: %s; 'weft recover %s' can try again", killed,
			     fail.text, parts);
	recovery_release(&recovery);
	previous_run_release(&left);
	return 0;
}

/*
 * Saves what a flight of the same name left that was killed: what it held and what the kernel still holds, in a file of
 * the trigger "left", and restores what it has changed. What cannot be saved stays, which is told; it is no error.
 */
static void previous_run_save(const struct previous_run_options *options)
{
	(void)!kept_parts_dir_each(options->name, save_parts, &options);
}

static int extract(const struct previous_run_options *options, const struct persistent *persistent,
		   struct previous_run *left, struct fail *fail)
{
	const char *instance = persistent->name;
	struct extraction extraction;
	struct extraction_options how;
	int err = name(options, left, fail);

	if (!err)
		err = budget_check(options->dir, persistent->size, fail);
	if (err)
		return err;
	how = extraction_alone(&instance, left->path, options->mode);
	err = extraction_run(&how, &extraction, fail);
	if (err && extraction.parts)
		message_line(options->tell, "'weft recover %s' makes a file of what was taken out of it",
			     extraction.parts);
	left->size = extraction.file_size;
	left->raw = extraction.raw;
	left->complete = !extraction.went_on;
	extraction_release(&extraction);
	return err ? err : log_file_beside(left->beside, options->mode, put_facts, left, fail);
}

/*
 * Saves likewise what an instance holds that survives a reset (persistent.h). After an error it must not be used,
 * because that would empty it.
 */
static int previous_run_save_persistent(const struct previous_run_options *options, const char *instance,
					struct fail *fail)
{
	struct persistent persistent;
	struct previous_run left = { .flight = options->name };
	char raw[TEXT_HUMAN];
	int err = persistent_find(instance, &persistent, fail);

	if (err)
		return err;
	left.reason = persistent.current ? "the instance was in use before" : "the machine's last boot ended";
	err = extract(options, &persistent, &left, fail);
	if (!err)
		message_line(options->tell, "%s: %s; %s of pages were in the instance '%s'", left.path, left.reason,
			     text_size(raw, left.raw), instance);
	else if (err != -ENODATA && err != -EBUSY)
		fail_in(fail, err, "%s, and what it has left cannot be saved ('weft extract -B %s' tries it, too)",
			left.reason, instance);
	previous_run_release(&left);
	persistent_release(&persistent);
	return err == -ENODATA ? 0 : err;
}

/*
 * What a flight looks after from time to time: whether the memory holds what was asked for, which is told, and CPUs
 * that come online, which get recorders.
 */
struct periodic_checks {
	struct flight_recording *recording;
	const struct status *status;
	void (*tell)(const char *text);
	int plug_fd; /* readable when a CPU may have come online; -1: none */
	uint64_t looked_ns, plugged_ns, warned_ns;
	uint64_t crowded; /* of struct status_reach, as it was told */
};

enum { GROUP_KERNEL = 1, UEVENT_MAX = 4096 };

/*
 * Listens for what the kernel says when a CPU comes online. The descriptor becomes readable at any event of a device;
 * -1: the kernel says nothing here (another network namespace, a filter of system calls), so who needs to know has to
 * look from time to time.
 */
static int cpu_hotplug_open(void)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = GROUP_KERNEL };
	cleanup_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)))
		return -1;
	return fd_take(&fd);
}

/* Takes what was said. Whether it was about a CPU. */
static bool cpu_hotplug_look(int fd)
{
	/* kobject_uevent_env() of the kernel: "ACTION@PATH", and then strings */
	static const char online[] = "online@/devices/system/cpu/";
	char text[UEVENT_MAX + 1];
	bool found = false;
	ssize_t len;

	while ((len = recv(fd, text, UEVENT_MAX, 0)) > 0) {
		text[len] = '\0';
		found |= !strncmp(text, online, sizeof(online) - 1);
	}
	return found;
}

enum {
	LOOK_MS = 1000,
	LOOK_IN_KERNEL_MS = 10000, /* such a flight must not wake up often */
	WARN_S = 60,               /* between two warnings that say the same */
};

static void periodic_checks_begin(struct periodic_checks *checks)
{
	checks->plug_fd = cpu_hotplug_open();
}

static void periodic_checks_end(struct periodic_checks *checks)
{
	cleanup_fd_close(&checks->plug_fd);
}

/* How long it may sleep. */
static uint64_t periodic_checks_ms(const struct periodic_checks *checks)
{
	return checks->status->in_kernel ? LOOK_IN_KERNEL_MS : LOOK_MS;
}

/* Warns if less is held than was asked for, because the memory is too small, or no memory is free. */
static void check_span(struct periodic_checks *checks, uint64_t now)
{
	const struct status *status = checks->status;
	char held[TEXT_HUMAN], wanted[TEXT_HUMAN], size[TEXT_HUMAN], text[256];
	struct status_reach reach;

	if (now - checks->looked_ns < periodic_checks_ms(checks) * UINT64_C(1000000) ||
	    (checks->warned_ns && now - checks->warned_ns < WARN_S * NS_PER_S))
		return;
	checks->looked_ns = now;
	if (!status_reach(status, checks->recording, &reach) || (!reach.is_short && reach.crowded == checks->crowded))
		return;
	checks->warned_ns = now;
	text_time(held, reach.span);
	text_time(wanted, status->keep_ns);
	if (reach.crowded != checks->crowded)
		snprintf(text, sizeof(text),
			 "there is no free memory for the history (%s): what was older than %s is gone, and the "
			 "recording goes on",
			 wanted, held);
	else
		snprintf(text, sizeof(text), "%s of memory reach back %s, not %s: %s or fewer events help",
			 text_size(size, status->max_memory), held, wanted,
			 status->persistent ? "more reserved memory" : "a larger --max-memory");
	checks->crowded = reach.crowded;
	checks->tell(text);
}

/* Gives a CPU that has come online a recorder. */
static void check_cpus(struct periodic_checks *checks, uint64_t now)
{
	char text[sizeof(((struct fail *)NULL)->text) + 64];
	struct fail why;
	unsigned nr;
	int err;

	if (checks->plug_fd >= 0 ? !cpu_hotplug_look(checks->plug_fd) :
				   now - checks->plugged_ns < periodic_checks_ms(checks) * UINT64_C(1000000))
		return;
	checks->plugged_ns = now;
	err = flight_recording_add_cpus(checks->recording, &nr, &why);
	if (!err && !nr)
		return;
	if (err)
		snprintf(text, sizeof(text), "a CPU that has come online is not recorded: %s", why.text);
	else
		snprintf(text, sizeof(text), "%u CPU%s come online, and %s recorded from now on", nr,
			 nr == 1 ? " has" : "s have", nr == 1 ? "is" : "are");
	checks->tell(text);
}

static void periodic_checks_look(struct periodic_checks *checks)
{
	uint64_t now = now_ns();

	check_span(checks, now);
	check_cpus(checks, now);
}

/* More is held than asked for: a trigger is noticed after its time. */
#define MARGIN_NS NS_PER_S
#define HOUR_NS UINT64_C(3600000000000)

enum {
	LONGEST = 10, /* a file may be extended to this many times of --after */
	FDS = WAKE_FDS + SERVICE_FDS + CONTROL_SOCKET_CLIENTS + 5,
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
	struct flight_recording *recording;
	struct wake wake;
	struct workload nothing; /* a flight has no command */
	struct service service;
	struct sentry *sentries;
	size_t nr_sentries;
	struct control_socket control;
	struct log_writer writer;
	struct upload upload;
	struct piece piece; /* that grows, until its time is over and the writer is free */
	unsigned pieces;
	/* the times of the last triggers of conditions that began a file, a ring of max_per_hour */
	uint64_t *begun, nr_begun;
	bool told_full;
	struct status status;
	struct periodic_checks checks;
	struct pollfd *fds;
};

/* Nothing that the growing piece needs may be dropped. */
static void keep(const struct flight *flight)
{
	flight_recording_keep_from(flight->recording, flight->piece.number ? flight->piece.from : UINT64_MAX);
}

static void begin_piece(struct flight *flight, const char *name, const char *reason, uint64_t time, uint64_t to)
{
	const struct flight_options *options = flight->options;
	struct piece *piece = &flight->piece;
	uint64_t now = flight_recording_now(flight->recording);

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
	err = flight_recording_mark(flight->recording, text, fail);
	if (err)
		return err;
	/* The mark is in the file, even if it comes later than the time that was asked for. */
	marked = flight_recording_now(flight->recording);
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
			message_line(flight->options->tell,
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
		message_line(flight->options->tell, "%s is not watched any more: %s",
			     watch_condition(sentry->watch)->name, why.text);
		err = watch_free(take(sentry->watch), fail);
	}
	return err;
}

/* Moves the piece to the writer when its time is over. */
static int write_piece(struct flight *flight, struct fail *fail)
{
	int err;

	if (!flight->piece.number || flight->writer.busy || flight_recording_now(flight->recording) < flight->piece.to)
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

	for (size_t i = 0; ok && i < CONTROL_SOCKET_CLIENTS; i++) {
		struct control_socket_client *client = &flight->control.clients[i];

		if (client->fd >= 0 && client->waits_for && client->waits_for <= writer->piece.number)
			control_socket_answer(client, buf_str(&text), text.len);
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
		message_line(flight->options->tell, "no file of the trigger %s (%s): %s", writer->piece.name,
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

/*
 * Members of the group begin no more files than conditions do, and do not fill the trace with markers. A file that
 * another trigger has begun is no sample: `sample_of` counts for a new one.
 */
static int ask_dump(struct flight *flight, struct control_socket_client *client, const char *text, uint32_t sample_of,
		    struct fail *fail)
{
	uint64_t now = flight_recording_now(flight->recording);
	struct watch_hit hit = { .time = now };
	bool begins = !flight->piece.number;
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
		err = trigger(flight, sample_of ? "sample" : "dump", hit.reason, now, fail);
	if (begins)
		flight->piece.sample_of = sample_of;
	client->waits_for = flight->piece.number;
	return err;
}

static void heed(void *arg, struct control_socket_client *client)
{
	struct flight *flight = arg;
	cleanup_buf struct buf text = BUF_INIT;
	struct fail why = FAIL_INIT;
	const char *at = client->line + strlen("sample ");
	uint32_t of;

	if (!strcmp(client->line, "status")) {
		if (!status_print(&flight->status, flight->recording, &text))
			buf_clear(&text);
	} else if (!strcmp(client->line, "status json")) {
		if (!status_print_json(&flight->status, flight->recording, &text))
			buf_clear(&text);
	} else if (!strcmp(client->line, "dump") || !strncmp(client->line, "dump ", 5)) {
		if (!ask_dump(flight, client, client->line[4] ? client->line + 5 : "", 0, &why))
			return;
		(void)!buf_addf(&text, "error %s\n", why.text);
	} else if (!strncmp(client->line, "sample ", strlen("sample ")) && number_u32(&at, &of) && of &&
		   of <= SAMPLING_OF_MAX && (!*at || *at == ' ')) {
		if (!ask_dump(flight, client, *at ? at + 1 : "", of, &why))
			return;
		(void)!buf_addf(&text, "error %s\n", why.text);
	} else {
		(void)!buf_addf(&text,
				"error a flight knows 'dump REASON', 'sample N REASON', 'status' and 'status json'\n");
	}
	control_socket_answer(client, buf_str(&text), text.len);
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
	return trigger(flight, "signal", reason, flight_recording_now(flight->recording), fail);
}

static int timeout_ms(const struct flight *flight)
{
	uint64_t now = flight_recording_now(flight->recording), look = periodic_checks_ms(&flight->checks);
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
	fds[nr++] = (struct pollfd){ .fd = flight->checks.plug_fd, .events = POLLIN };
	fds[nr++] = (struct pollfd){ .fd = upload_fd(&flight->upload), .events = POLLIN };
	for (size_t i = 0; i < flight->nr_sentries; i++) {
		short events = 0;
		int fd = flight->sentries[i].watch ? watch_fd(flight->sentries[i].watch, &events) : -1;

		fds[nr++] = (struct pollfd){ .fd = fd, .events = events };
	}
	return WAKE_FDS + nr + control_socket_fds(&flight->control, fds + nr);
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
	if (r && reason == WAKE_CLOCK) {
		flight_recording_sample(flight->recording, clock_timer_taken(&flight->wake.clock));
		return 0;
	}
	if (r && reason == WAKE_FAILED) {
		r = flight_recording_failed(flight->recording, fail);
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
	control_socket_look(&flight->control, heed, flight);
	periodic_checks_look(&flight->checks);
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
	flight->piece.to = flight_recording_now(flight->recording);
	err = write_piece(flight, fail);
	if (!err)
		end_piece(flight);
	return err;
}

static uint64_t count_lost(struct flight_recording *recording)
{
	struct flight_recording_cpus cpus = { .nr = 0 };
	uint64_t lost = flight_recording_look(recording, &cpus, NULL) ? 0 : flight_recording_lost(&cpus);

	free(cpus.at);
	return lost;
}

static int fly(struct flight *flight, struct fail *fail)
{
	struct fail later;
	uint64_t begin = now_ns();
	int r = 0, landed;

	urgency_raise(URGENCY_TRIGGER);
	wake_for_clocks(&flight->wake);
	flight->options->began(flight->options);
	service_ready(&flight->service, flight->options->dir);
	while (!r)
		r = turn(flight, fail);
	if (!flight->result->reload)
		service_stopping(&flight->service);
	landed = land(flight, &later);
	flight->result->lost = count_lost(flight->recording);
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
		err = watch_new(flight->recording, &options->conditions[i], (unsigned)i + 1, options->tell,
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
		.recording = flight->recording,
		.dir = options->dir,
		.flight = options->name,
		.budget = &options->budget,
		.mode = options->mode,
		.explain = options->explain,
		.ragged = options->ragged,
		.done_fd = -1,
	};
	return log_writer_init(&flight->writer, fail);
}

static int prepare(struct flight *flight, const struct flight_recording_options *recording, struct fail *fail)
{
	const struct flight_options *options = flight->options;
	const struct previous_run_options left = { options->name, options->dir, options->mode, options->tell };
	int err = log_writer_check(options->dir, fail);

	if (!err)
		err = upload_init(&flight->upload, &options->upload, options->tell, fail);
	if (!err && !options->tries)
		previous_run_save(&left);
	if (!err && !options->tries && options->persistent)
		err = previous_run_save_persistent(&left, options->persistent, fail);
	if (!err)
		err = flight_recording_open(recording, &flight->recording, fail);
	if (!err)
		err = begin_writer(flight, fail);
	if (!err && !options->tries)
		err = control_socket_open(options->name, &flight->control, fail);
	if (!err)
		err = post_sentries(flight, fail);
	if (!err && options->duration_ns)
		err = wake_after(&flight->wake, options->duration_ns, fail);
	flight->status = (struct status){
		.name = options->name,
		.keep_ns = options->keep_ns,
		.max_memory = options->max_memory,
		.in_kernel = options->in_kernel,
		.persistent = options->persistent,
		.dir = options->dir,
		.begin = err ? 0 : flight_recording_now(flight->recording),
	};
	if (err || options->tries)
		return err;
	/* Before the first look, so that no CPU is missed. */
	flight->checks.recording = flight->recording;
	periodic_checks_begin(&flight->checks);
	err = flight_recording_start(flight->recording, fail);
	for (size_t i = 0; !err && i < flight->nr_sentries; i++)
		err = watch_start(flight->sentries[i].watch, fail);
	return err;
}

static int release(struct flight *flight, struct fail *fail)
{
	struct fail later;
	int first = 0, err;

	control_socket_close(&flight->control);
	log_writer_release(&flight->writer);
	for (size_t i = 0; i < flight->nr_sentries; i++) {
		err = watch_free(flight->sentries[i].watch, &later);
		first = fail_first(first, err, fail, &later);
	}
	free(flight->sentries);
	free(flight->fds);
	free(flight->begun);
	err = flight_recording_close(flight->recording, &later);
	first = fail_first(first, err, fail, &later);
	service_close(&flight->service);
	periodic_checks_end(&flight->checks);
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
		.checks = { .status = &flight.status, .tell = options->tell, .plug_fd = -1 },
		.control = { .fd = -1 },
		.writer = { .done_fd = -1 },
		.upload = UPLOAD_NONE,
	};
	struct flight_recording_options recording = {
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
	recording.failed_fd = flight.wake.failed_fd;
	if (!err)
		err = prepare(&flight, &recording, fail);
	if (!err && !options->tries)
		err = fly(&flight, fail);
	released = release(&flight, &later);
	wake_release(&flight.wake);
	return fail_first(err, released, fail, &later);
}
