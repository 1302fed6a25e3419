// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/log_writer_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>
#include <time.h>

#include "lib/ground/base/destination.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/flight/budget.h"

int log_writer_init(struct log_writer *writer, struct fail *fail)
{
	writer->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (writer->done_fd < 0)
		return fail_set(fail, -errno, "cannot make an eventfd: %s", strerror(errno));
	return budget_files_new(writer->dir, writer->flight, &writer->files, fail);
}

int log_writer_check(const char *dir, struct fail *fail)
{
	struct destination destination = DESTINATION_INIT;
	struct draft draft = { .fd = -1 };
	cleanup_free char *path = NULL;
	int err;

	if (asprintf(&path, "%s/weft.dat", dir) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	err = destination_open(path, &destination, fail);
	if (err)
		return fail_set(fail, err, "cannot write into '%s' (-o): %s", dir, strerror(-err));
	err = destination_draft(&destination, &draft, fail);
	draft_discard(&draft);
	destination_release(&destination);
	return err;
}

int log_file_name(const char *dir, int64_t unix_ns, const char *trigger, char **ret, struct fail *fail)
{
	time_t s = (time_t)(unix_ns / NS_PER_S);
	struct utsname host;
	struct tm tm;
	char when[40];

	if (uname(&host) || !gmtime_r(&s, &tm) || !strftime(when, sizeof(when), "%Y-%m-%dT%H-%M-%S", &tm))
		return fail_set(fail, -EINVAL, "cannot name a file of this time");
	host.nodename[strcspn(host.nodename, "/.")] = '\0';
	if (asprintf(ret, "%s/%s-%s.%03d-%s", dir, host.nodename, when, (int)(unix_ns / 1000000 % 1000), trigger) < 0) {
		*ret = NULL;
		return fail_memory(fail);
	}
	return 0;
}

static void put_cpu(struct json *json, const struct flight_recording_cpu *cpu)
{
	json_object(json);
	if (*cpu->instance) {
		json_key(json, "instance");
		json_put_text(json, cpu->instance);
	}
	json_key(json, "cpu");
	json_put_u64(json, cpu->cpu);
	json_key(json, "since");
	json_put_decimal(json, (int64_t)cpu->since, 9);
	if (cpu->chunks) {
		json_key(json, "first");
		json_put_decimal(json, (int64_t)cpu->first, 9);
		json_key(json, "last");
		json_put_decimal(json, (int64_t)cpu->last, 9);
	}
	json_key(json, "bytes");
	json_put_u64(json, cpu->bytes);
	json_key(json, "raw");
	json_put_u64(json, cpu->raw);
	json_key(json, "lost");
	json_put_u64(json, cpu->lost);
	json_end(json);
}

static void put_facts(struct json *json, const void *arg)
{
	const struct log_writer *writer = arg;
	const struct piece *piece = &writer->piece;
	const struct flight_recording_written *written = &writer->written;

	budget_begin(json, strrchr(writer->path, '/') + 1, writer->flight);
	json_key(json, "trigger");
	json_put_text(json, piece->name);
	json_key(json, "reason");
	json_put_text(json, piece->reason);
	if (*writer->why) {
		json_key(json, "because");
		json_put_text(json, writer->why);
	}
	json_key(json, "weight");
	json_put_u64(json, piece->sample_of ? piece->sample_of : 1);
	json_key(json, "triggers");
	json_put_u64(json, piece->triggers);
	json_key(json, "time");
	json_put_decimal(json, (int64_t)piece->time, 9);
	json_key(json, "unix_time");
	json_put_decimal(json, piece->unix_ns, 9);
	json_key(json, "clock");
	json_put_text(json, flight_recording_clock(writer->recording));
	json_key(json, "from");
	json_put_decimal(json, (int64_t)written->from, 9);
	json_key(json, "to");
	json_put_decimal(json, (int64_t)piece->to, 9);
	json_key(json, "size");
	json_put_u64(json, written->size);
	json_key(json, "written_in");
	json_put_decimal(json, (int64_t)writer->took_ns, 9);
	json_key(json, "complete");
	json_put_bool(json, !written->late);
	json_key(json, "cpus");
	json_array(json);
	for (size_t i = 0; i < written->cpus.nr; i++)
		put_cpu(json, &written->cpus.at[i]);
	json_end(json);
	json_end(json);
}

static int write_text(void *arg, int fd, struct fail *fail)
{
	const struct out *out = arg;
	int err = io_write(fd, out->start, out_len(out));

	return err ? fail_set(fail, err, FAIL_WRITE "%s", strerror(-err)) : 0;
}

int log_file_beside(const char *path, mode_t mode, void (*put)(struct json *json, const void *arg), const void *arg,
		    struct fail *fail)
{
	struct destination destination = DESTINATION_INIT;
	struct json json;
	struct out out;
	int err = -ENOMEM;

	if (out_init(&out, 0)) {
		json_init(&json, &out);
		put(&json, arg);
		err = json_done(&json) ? 0 : -ENOMEM;
		json_line(&json);
	}
	if (err) {
		fail_memory(fail);
	} else {
		err = destination_open(path, &destination, fail);
		if (!err) {
			err = destination_write(&destination, mode, true, write_text, &out, fail);
			destination_release(&destination);
		}
	}
	out_release(&out);
	return fail_writing(fail, err, path);
}

/* A file is not larger than all that is held, besides its metadata. */
static int check_room(const struct log_writer *writer, struct fail *fail)
{
	struct flight_recording_cpus cpus = { .nr = 0 };
	int err = flight_recording_look(writer->recording, &cpus, fail);
	uint64_t bytes = flight_recording_bytes(&cpus);

	free(cpus.at);
	return err ? err : budget_check(writer->dir, bytes, fail);
}

static int write_all(struct log_writer *writer, struct fail *fail)
{
	const struct piece *piece = &writer->piece;
	cleanup_free char *base = NULL, *beside = NULL, *trigger = NULL;
	struct flight_recording_file file = {
		.from = piece->from, .to = piece->to, .ragged = writer->ragged, .mode = writer->mode
	};
	uint64_t begin = now_ns();
	int err = log_file_name(writer->dir, piece->unix_ns, piece->name, &base, fail);

	if (!err)
		err = check_room(writer, fail);
	if (err)
		return err;
	if (asprintf(&writer->path, "%s.dat", base) < 0)
		writer->path = NULL;
	if (asprintf(&beside, "%s.json", base) < 0)
		beside = NULL;
	if (asprintf(&trigger, "%s %" PRIu64 " %s\n", piece->name, piece->time, piece->reason) < 0)
		trigger = NULL;
	if (!writer->path || !beside || !trigger)
		return fail_memory(fail);
	file.output = writer->path;
	file.trigger = trigger;
	file.sample_of = piece->sample_of;
	err = flight_recording_write(writer->recording, &file, &writer->written, fail);
	writer->took_ns = now_ns() - begin;
	if (!err)
		err = budget_add(writer->files, writer->path, &writer->written.stat, fail);
	if (err)
		return err;
	/* The file is there already, whatever becomes of this. */
	if (!writer->explain || !explainer_ask(writer->explain, writer->path, writer->why))
		*writer->why = '\0';
	err = log_file_beside(beside, writer->mode, put_facts, writer, fail);
	if (err)
		return fail_hint(fail, err, "; the trace beside it is complete");
	return budget_keep(writer->budget, writer->files, piece->name, &writer->removed, fail);
}

static void *log_writer_main(void *data)
{
	struct log_writer *writer = data;

	writer->err = write_all(writer, &writer->fail);
	io_nudge(writer->done_fd);
	return NULL;
}

int log_writer_begin(struct log_writer *writer, const struct piece *piece, struct fail *fail)
{
	int err;

	writer->piece = *piece;
	err = pthread_create(&writer->thread, NULL, log_writer_main, writer);
	if (err)
		return fail_set(fail, -err, "cannot start a thread: %s", strerror(err));
	writer->busy = true;
	return 0;
}

void log_writer_end(struct log_writer *writer)
{
	uint64_t count;

	pthread_join(writer->thread, NULL);
	(void)!read(writer->done_fd, &count, sizeof(count));
	writer->busy = false;
}

/* What was lost before another file was told with that one. */
static void tell_lost(struct log_writer *writer, void (*tell)(const char *text))
{
	uint64_t lost = flight_recording_lost(&writer->written.cpus),
		 more = lost > writer->lost ? lost - writer->lost : 0;
	char text[1200], count[TEXT_HUMAN];

	if (!more)
		return;
	snprintf(text, sizeof(text), "%s: %s event%s lost since the %s; a larger buffer (-b) may keep them",
		 writer->path, text_count(count, more), more == 1 ? " was" : "s were",
		 writer->lost ? "last such line" : "flight began");
	tell(text);
	writer->lost = lost;
}

void log_writer_tell(struct log_writer *writer, void (*tell)(const char *text))
{
	char text[1200], size[TEXT_HUMAN], time[TEXT_HUMAN];

	snprintf(text, sizeof(text), "%s: %s, %s, written in %s", writer->path, writer->piece.reason,
		 text_size(size, writer->written.size), text_time(time, writer->took_ns));
	tell(text);
	if (*writer->why) {
		snprintf(text, sizeof(text), "%s: %s", writer->path, writer->why);
		tell(text);
	}
	tell_lost(writer, tell);
	if (writer->removed) {
		snprintf(text, sizeof(text), "%u older file%s removed, to keep to --max-files and --max-bytes",
			 writer->removed, writer->removed == 1 ? " was" : "s were");
		tell(text);
	}
	if (writer->written.late) {
		snprintf(text, sizeof(text), "%s: a CPU was too busy to give its last events in time", writer->path);
		tell(text);
	}
}

void log_writer_forget(struct log_writer *writer)
{
	free(writer->written.cpus.at);
	free(writer->path);
	writer->written = (struct flight_recording_written){ .size = 0 };
	writer->path = NULL;
	*writer->why = '\0';
	writer->removed = 0;
	writer->err = 0;
}

void log_writer_release(struct log_writer *writer)
{
	if (writer->busy)
		log_writer_end(writer);
	log_writer_forget(writer);
	budget_files_free(writer->files);
	cleanup_fd_close(&writer->done_fd);
}
