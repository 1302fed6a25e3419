// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/recovery.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "lib/ground/base/cpus.h"
#include "lib/ground/base/destination.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/buffer/ring_buffer.h"
#include "lib/kernel/record/assembly_internal.h"
#include "lib/kernel/record/counters_internal.h"
#include "lib/kernel/record/facts_internal.h"
#include "lib/kernel/record/foreign_parts_internal.h"
#include "lib/kernel/record/kept_parts_dir.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/page_staging_internal.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/parts_name.h"
#include "lib/kernel/record/recorder.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/shared.h"
#include "lib/kernel/undo/undo.h"

enum { ROOM_MIN = 1 << 20, BUSY_TRIES = 50, BUSY_NAP_MS = 20 };

struct work {
	struct parts *parts;
	struct recovery *recovery;
	mode_t mode;
	bool keep;                     /* the user named no output, so an existing file is not replaced */
	struct assembly_piece *pieces; /* their descriptors are owned */
	size_t nr;
};

static int add_piece(struct work *work, const struct assembly_piece *piece, struct fail *fail)
{
	struct assembly_piece *added = vec_push(work->pieces, work->nr);

	if (!added)
		return fail_memory(fail);
	*added = *piece;
	work->recovery->cpus += piece->size > 0;
	return 0;
}

static int open_buffer(const struct work *work, const struct instance *instance, struct recorder *recorder,
		       struct fail *fail)
{
	int err = counters_save(work->parts->ledger, instance, recorder->buffer, recorder->cpu, fail);

	if (!err)
		err = cpu_pipe_open(instance, recorder->cpu, recorder->spool.options.shape.size, &recorder->pipe, fail);
	return err;
}

/* Appends what this CPU's recorder had taken out of the kernel to its spool, and what the kernel still holds. */
static int take_rest(struct work *work, const struct instance *instance, struct recorder *recorder, struct fail *fail)
{
	uint64_t before = recorder->spool.raw;
	struct landed landed;
	int err = page_staging_left(work->parts->dir, recorder->buffer, recorder->cpu, &recorder->spool, &landed, fail);

	if (err)
		return err;
	recorder->options.landed = &landed;
	if (instance)
		err = open_buffer(work, instance, recorder, fail);
	if (!err && (instance || landed.len))
		err = recorder_drain(recorder, fail);
	cpu_pipe_close(&recorder->pipe);
	free(landed.pages);
	if (err)
		return err;
	work->recovery->drained += recorder->spool.raw - before - landed.len;
	/* A chunk that the kill interrupted has pages that are still where they had landed. */
	work->recovery->torn += landed.len ? 0 : recorder->spool.torn;
	work->recovery->gaps += landed.fetching;
	return 0;
}

/* The number of events in a CPU's buffer; 0 also if there is no such CPU. */
static uint64_t events_of(const struct instance *instance, uint32_t cpu)
{
	struct ring_buffer_stats stats = { .entries = 0 };
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%" PRIu32 "/stats", cpu);
	return instance_has(instance, file) && !ring_buffer_stats(instance, cpu, &stats, NULL) ? stats.entries : 0;
}

/* Whether the metadata has an item of that kind about the CPU. */
static bool is_noted(const struct work *work, enum ledger_kind kind, uint32_t buffer, uint32_t cpu)
{
	char key[16];

	snprintf(key, sizeof(key), "%u", cpu);
	return ledger_find(work->parts->ledger, kind, buffer, key);
}

static int take_part(struct work *work, uint32_t buffer, uint32_t cpu, uint32_t page_size,
		     const struct instance *instance, struct fail *fail)
{
	const struct writer_options *file = &work->parts->file.options;
	struct spool_options options = { .compressed = file->compress,
					 .swap = work->parts->file.swap,
					 .shape = { .size = page_size, .long_size = file->long_size } };
	struct recorder recorder = {
		.buffer = buffer,
		.cpu = cpu,
		.pipe = CPU_PIPE_INIT,
		.watch = RING_WATCH_INIT,
		.options = { .stop_fd = -1, .failed_fd = -1, .level = file->level },
	};
	struct spool *spool = &recorder.spool;
	int err = spool_open(work->parts->dir, buffer, cpu, &options, spool, fail);

	if (err == -ENOENT && is_noted(work, LEDGER_SPOOL, buffer, cpu))
		(void)cpus_add(&work->recovery->lost, cpu);
	/* The CPU was offline, the spools lay in the memory of the process, or somebody has removed this one. */
	if (err == -ENOENT && !(instance && events_of(instance, cpu)))
		return 0;
	if (err == -ENOENT)
		err = spool_new(work->parts->dir, buffer, cpu, &options, spool, fail);
	if (err)
		return parts_disbelieved(fail_in(fail, err, "'%s'", work->parts->path), fail);
	err = take_rest(work, instance, &recorder, fail);
	if (!err)
		err = add_piece(work,
				&(struct assembly_piece){ .buffer = buffer,
							  .cpu = cpu,
							  .fd = spool->fd,
							  .offset = spool->begin,
							  .size = spool_size(spool),
							  .chunks = spool->chunks,
							  .is_part = true },
				fail);
	if (err) {
		spool_release(spool);
		return err;
	}
	work->recovery->raw += spool->raw;
	/* The piece has the file now. */
	spool->fd = -1;
	spool_release(spool);
	return 0;
}

/*
 * Uses pages that were already in the unfinished file when the recording was interrupted while it finished that file.
 */
static int take_moved(struct work *work, uint32_t buffer, uint32_t cpu, struct fail *fail)
{
	const struct ledger_item *item;
	struct assembly_piece piece = { .buffer = buffer, .cpu = cpu };
	struct stat st;
	char key[16];
	int path, err;

	snprintf(key, sizeof(key), "%u", cpu);
	item = ledger_find(work->parts->ledger, LEDGER_MOVED, buffer, key);
	if (!item || sscanf(item->data, "%" SCNu64 " %" SCNu64 " %" SCNu32 " %n", &piece.offset, &piece.size,
			    &piece.chunks, &path) != 3)
		return 0;
	err = parts_unfinished_open(work->parts, item->data + path, &piece.fd, fail);
	if (err)
		return fail_in(fail, err, "the data of CPU %u", cpu);
	if (fstat(piece.fd, &st) || (uint64_t)st.st_size < piece.offset ||
	    (uint64_t)st.st_size - piece.offset < piece.size) {
		close(piece.fd);
		return fail_set(fail, -EBADMSG, "'%s' is shorter than it was", item->data + path);
	}
	if (!work->parts->file.options.compress)
		work->recovery->raw += piece.size;
	return add_piece(work, &piece, fail);
}

static int take_buffer(struct work *work, const struct ledger_item *buffer, const struct instance *instance,
		       struct fail *fail)
{
	uint32_t page_size, index = buffer->buffer;
	const char *clock;
	int err = parts_buffer(buffer, &page_size, &clock, fail);

	if (err)
		return fail_in(fail, err, "'%s'", work->parts->path);
	for (uint32_t cpu = 0; cpu < work->parts->file.cpu_count; cpu++) {
		if (is_noted(work, LEDGER_MOVED, index, cpu))
			err = take_moved(work, index, cpu, fail);
		else
			err = take_part(work, index, cpu, page_size, instance, fail);
		if (err)
			return err;
	}
	return 0;
}

/*
 * The private instance of the dead recorder, if it was made in this boot and still exists, and its journal confirms it.
 * Otherwise NULL.
 */
static struct instance *find_instance(struct work *work, const struct tracing *tracing, uint32_t buffer)
{
	const struct ledger_item *item = ledger_find(work->parts->ledger, LEDGER_INSTANCE, buffer, NULL);
	struct instance *instance;
	char boot[BOOT_ID];

	if (!item)
		return NULL;
	if (tracing->dir && *facts_boot_id(boot) && !strcmp(item->key, boot) &&
	    undo_knows_instance(NULL, item->data, work->parts->secret) &&
	    !instance_open(tracing, item->data, false, NULL, &instance, NULL))
		return instance;
	/* Once pages were moved into the unfinished file, nothing was left in the kernel. */
	work->recovery->unread |= !ledger_find(work->parts->ledger, LEDGER_MOVED, buffer, NULL) &&
				  !ledger_find(work->parts->ledger, LEDGER_DRAINED, 0, NULL);
	return NULL;
}

/*
 * Checks the free space first, because a page that has left the kernel and finds no space is lost. Compressed pages
 * need less.
 */
static int check_room(const struct work *work, const struct instance *instance, struct fail *fail)
{
	const struct parts_file *file = &work->parts->file;
	uint64_t need = ROOM_MIN, there;
	struct statvfs vfs;
	char name[64];

	for (uint32_t cpu = 0; cpu < file->cpu_count; cpu++) {
		struct ring_buffer_stats stats;
		int err;

		snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", cpu);
		if (!instance_has(instance, name))
			continue;
		err = ring_buffer_stats(instance, cpu, &stats, fail);
		if (err)
			return err;
		/* Pages are not full to the last byte, so they need more space than the bytes of their events. */
		need += stats.bytes + stats.bytes / 8 + file->options.page_size;
	}
	if (fstatvfs(work->parts->dir, &vfs))
		return 0;
	there = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	if (there >= need)
		return 0;
	return fail_set(
		fail, -ENOSPC,
		"%" PRIu64 " MiB may be needed in '%s' for what is in the kernel's buffers, and %" PRIu64 " are "
		"free; nothing was taken out of them: make room, or copy the directory (cp -r) to another filesystem "
		"and recover the copy",
		(need >> 20) + 1, work->parts->path, there >> 20);
}

static int take_all(struct work *work, const struct tracing *tracing, struct fail *fail)
{
	struct ledger *ledger = work->parts->ledger;
	int err = 0;

	for (uint32_t i = 0; !err && i <= LEDGER_BUFFERS_MAX; i++) {
		const struct ledger_item *buffer = ledger_find(ledger, LEDGER_BUFFER, i, NULL);
		struct instance *instance;

		if (!buffer)
			continue;
		instance = find_instance(work, tracing, i);
		if (instance)
			err = instance_write(instance, "tracing_on", "0", fail);
		if (!err && instance)
			err = check_room(work, instance, fail);
		if (!err)
			err = take_buffer(work, buffer, instance, fail);
		if (!err && instance)
			err = facts_of_kernel(ledger, tracing, fail);
		if (instance)
			instance_close(instance, NULL);
	}
	return err;
}

/*
 * The default output is beside the parts and has their name; that of a flight is in the working directory. The path in
 * the metadata is not used: it may be of another machine, or belong to another user.
 */
static char *default_output(const struct parts *parts)
{
	const char *asked = ledger_text(parts->ledger, LEDGER_OUTPUT);
	char *name;

	if (kept_parts_dir_has(parts->path, &name))
		return name;
	return asked && !strcmp(asked, "-") ? strdup("trace.dat") : parts_output(parts->path);
}

static int choose_output(struct work *work, const char *output, struct fail *fail)
{
	struct recovery *recovery = work->recovery;
	struct destination destination;
	int err;

	recovery->output = output ? strdup(output) : default_output(work->parts);
	if (!recovery->output)
		return fail_set(fail, -EINVAL,
				"'%s' does not have the name of a recording's parts; name a file with -o",
				work->parts->path);
	work->keep = !output;
	err = destination_open(recovery->output, &destination, fail);
	if (err)
		return err;
	if (work->keep && destination.exists)
		err = fail_set(fail, -EEXIST, "'%s' exists; choose another file with -o", recovery->output);
	destination_release(&destination);
	return err;
}

static int recover_foreign(struct work *work, struct fail *fail)
{
	struct recovery *recovery = work->recovery;
	struct foreign_parts_written written;
	int err = foreign_parts_write(work->parts, recovery->output, work->mode, work->keep, &written, fail);

	if (err)
		return err;
	recovery->file_size = written.file_size;
	recovery->raw = written.raw;
	recovery->torn = written.torn;
	recovery->cpus = written.cpus;
	recovery->lost = written.lost;
	return parts_remove(work->parts, fail);
}

static int recover(struct work *work, const char *output, struct fail *fail)
{
	struct tracing tracing = { .dir = NULL };
	int err = choose_output(work, output, fail);

	if (err)
		return err;
	if (foreign_parts_are(work->parts))
		return recover_foreign(work, fail);
	/* A file can be finished without tracefs, and by a user who may not use tracefs. */
	if (tracing_find(&tracing, NULL))
		tracing = (struct tracing){ .dir = NULL };
	work->recovery->torn += ledger_torn(work->parts->ledger);
	err = take_all(work, &tracing, fail);
	if (!err)
		err = assembly_write(work->parts, work->pieces, work->nr,
				     &(struct assembly_options){ .output = work->recovery->output,
								 .mode = work->mode,
								 .keep = work->keep,
								 .synced = true },
				     &work->recovery->file_size, fail);
	if (!err)
		err = parts_remove(work->parts, fail);
	if (tracing.dir)
		tracing_release(&tracing);
	return err;
}

/*
 * Removes parts without any content, unless a running process can still write them. The PID is that of this namespace;
 * a process of another one has the parts' lock (parts_discard()). A directory without a parts name is
 * not weft's.
 */
static void discard(const char *path, struct fail *fail)
{
	pid_t owner = parts_owner(path);

	if (owner && kill(owner, 0) && errno == ESRCH && !parts_discard(path, NULL))
		fail_set(fail, -ENODATA,
			 "'%s' held no recording: it ended before it had begun, or its file is complete; "
			 "the directory is removed",
			 path);
}

int recovery_run(const char *path, const char *output, mode_t mode, struct recovery *ret, struct fail *fail)
{
	struct recovery recovery = { .output = NULL };
	struct work work = { .recovery = &recovery, .mode = mode };
	int err = parts_open(path, &work.parts, fail);

	if (err == -ENODATA)
		discard(path, fail);
	if (!err) {
		snprintf(recovery.secret, sizeof(recovery.secret), "%s", work.parts->secret);
		err = recover(&work, output, fail);
	}
	for (size_t i = 0; i < work.nr; i++)
		close(work.pieces[i].fd);
	free(work.pieces);
	parts_free(work.parts);
	if (err) {
		recovery_release(&recovery);
		return err;
	}
	*ret = recovery;
	return 0;
}

void recovery_release(struct recovery *recovery)
{
	free(recovery->output);
	recovery->output = NULL;
}

struct waiting {
	const struct tracing *tracing;
	const struct recovery *done;
	recovery_waits *waits;
};

/* The number of events in all CPUs' buffers of an instance. 0 also if there is no such instance. */
static uint64_t events_held(const struct tracing *tracing, const char *name)
{
	struct instance *instance;
	struct cpus cpus;
	uint64_t sum = 0;

	if (tracing_possible_cpus(&cpus, NULL) || instance_open(tracing, name, false, NULL, &instance, NULL))
		return 0;
	for (int cpu = cpus_next(&cpus, 0); cpu >= 0; cpu = cpus_next(&cpus, cpu + 1))
		sum += events_of(instance, (uint32_t)cpu);
	instance_close(instance, NULL);
	return sum;
}

/* The same of all that a recording made or filled. */
static uint64_t events_left(const struct tracing *tracing, const struct undo_recording *recording)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < recording->nr; i++)
		sum += events_held(tracing, recording->instances[i]);
	return sum;
}

bool recovery_left(const char *journal, const struct tracing *tracing, const char *instance, struct recovery_left *ret)
{
	struct undo_recording recording;

	*ret = (struct recovery_left){ .parts = NULL };
	if (undo_recording(journal, &recording))
		return false;
	if (!access(recording.parts, F_OK))
		ret->parts = strdup(recording.parts);
	ret->events = ret->parts ? events_left(tracing, &recording) : 0;
	for (size_t i = 0; i < recording.nr && instance; i++)
		ret->of_instance |= !strcmp(instance, recording.instances[i]);
	undo_recording_release(&recording);
	return ret->parts != NULL;
}

static bool recording_waits(const struct waiting *waiting, const struct undo_recording *recording)
{
	uint64_t events = 0;

	if (waiting->done && !waiting->done->unread && undo_recording_is(recording, waiting->done->secret))
		return false;
	/* Who has moved the parts can still name their new place. */
	if (access(recording->parts, F_OK)) {
		events = events_left(waiting->tracing, recording);
		if (!events)
			return false;
	}
	waiting->waits(recording->parts, events);
	return true;
}

/* Whether the journal's recording can still be recovered, which will also read its instance. */
static bool waits_for_recovery(const char *journal, void *data)
{
	struct undo_recording recording;
	bool waits;

	if (undo_recording(journal, &recording))
		return false;
	waits = recording_waits(data, &recording);
	undo_recording_release(&recording);
	return waits;
}

static int undo_dead(const struct tracing *tracing, bool (*waits)(const char *journal, void *data), void *data,
		     unsigned *ret, struct fail *fail)
{
	struct undo_sum sum = { .journals = 0 };
	int r, err = undo_recover(tracing, NULL, waits, data, &sum, fail);

	if (err)
		return err;
	undo_sweep(NULL);
	r = shared_cmdlines_recover(tracing, NULL, fail);
	if (r < 0)
		return r;
	*ret = sum.journals;
	return 0;
}

int recovery_undo(const struct recovery *done, recovery_waits *waits, unsigned *ret, struct fail *fail)
{
	struct tracing tracing;
	struct waiting waiting = { .tracing = &tracing, .done = done, .waits = waits };
	int err = tracing_find(&tracing, fail);

	if (err)
		return err;
	err = undo_dead(&tracing, waits_for_recovery, &waiting, ret, fail);
	tracing_release(&tracing);
	return err;
}

/* "DIR/undo-PID-START" */
static bool is_of_another(const char *journal, void *data)
{
	const pid_t *pid = data;
	int owner;

	return sscanf(parts_leaf(journal), "undo-%d-", &owner) != 1 || owner != *pid;
}

int recovery_undo_of(pid_t pid, struct fail *fail)
{
	struct tracing tracing;
	unsigned nr;
	int err = tracing_find(&tracing, fail);

	if (err)
		return err;
	/* Another process that puts back what another recording left holds all journals while it does. */
	for (unsigned i = 0; i < BUSY_TRIES; i++) {
		err = undo_dead(&tracing, is_of_another, &pid, &nr, fail);
		if (err != -EBUSY)
			break;
		(void)!poll(NULL, 0, BUSY_NAP_MS);
	}
	tracing_release(&tracing);
	return err;
}

int recovery_take_over(const char *parts, const char *output, mode_t mode, struct recovery *ret, struct fail *fail)
{
	pid_t owner = parts_owner(parts);
	struct fail later;
	int undone, err = recovery_run(parts, output, mode, ret, fail);

	/* Removing the instance would lose what could not be read out of it. */
	if (err && err != -ENODATA)
		return err;
	undone = recovery_undo_of(owner, &later);
	return fail_first(err, undone, fail, &later);
}
