// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/flight_recording.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/record/assembly_internal.h"
#include "lib/kernel/record/assembly_piece_internal.h"
#include "lib/kernel/record/chunk_history_internal.h"
#include "lib/kernel/record/clock_sampler.h"
#include "lib/kernel/record/facts_internal.h"
#include "lib/kernel/record/kept_parts_dir.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/quiet_internal.h"
#include "lib/kernel/record/rig.h"
#include "lib/kernel/record/spool.h"
#include "lib/kernel/record/symbol_copy_internal.h"
#include "lib/kernel/record/type_facts_internal.h"
#include "lib/kernel/undo/change.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/kernel/undo/marker.h"
#include "lib/kernel/undo/undo.h"
#include "lib/meaning/clock/clocks.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/trace.h"

struct fail;
struct chunk_history_piece;
struct page_shape;

/*
 * An edge is the first or the last chunk of a part of what is held, without the events before or after the time of
 * the part. Its pages are trimmed, compressed again, and lie in memory; the chunks between the edges stay where they
 * are. `edges` owns the memory of all edges of one file.
 */
struct edges;

static void edges_free(struct edges *edges);

struct edges {
	struct frame_reader *reader;
	struct frame_writer *writer;
	struct spool spool; /* the trimmed chunks */
	struct buf packed, in, out;
};

/* A chunk of a spool: the bytes of its pages, and the times of its events after they were trimmed. */
struct chunk {
	uint32_t size, raw; /* with its head */
	uint64_t first, last;
};

static int edges_new(struct edges **ret, struct fail *fail)
{
	static const struct spool_options options = { .compressed = true };
	struct edges *edges = calloc(1, sizeof(*edges));
	int err;

	if (!edges)
		return fail_memory(fail);
	edges->spool.fd = -1;
	err = spool_new_in_memory(&options, &edges->spool, fail);
	if (!err)
		err = frame_reader_new(&edges->reader, fail);
	if (!err)
		err = frame_writer_new(FRAME_LEVEL_DEFAULT, &edges->writer, fail);
	if (err) {
		edges_free(edges);
		return err;
	}
	frame_writer_pages(edges->writer);
	*ret = edges;
	return 0;
}

static void edges_free(struct edges *edges)
{
	if (!edges)
		return;
	frame_reader_free(edges->reader);
	frame_writer_free(edges->writer);
	spool_release(&edges->spool);
	buf_release(&edges->packed);
	buf_release(&edges->in);
	buf_release(&edges->out);
	free(edges);
}

static int read_exactly(int fd, void *into, size_t len, uint64_t at, struct fail *fail)
{
	ssize_t got = io_pread(fd, into, len, at);

	return got == (ssize_t)len ? 0 : fail_set(fail, got < 0 ? (int)got : -EIO, "cannot read back a spool");
}

/* Decompresses the chunk at this offset into edges->in. */
static int read_chunk(struct edges *edges, int fd, uint64_t offset, const struct page_shape *shape, struct chunk *ret,
		      struct fail *fail)
{
	uint8_t head[SPOOL_CHUNK_HEAD];
	uint32_t packed, raw;
	int err = read_exactly(fd, head, sizeof(head), offset, fail);

	if (err)
		return err;
	packed = load_u32(head, false);
	raw = load_u32(head + 4, false);
	if (!raw || raw % shape->size || raw > (uint64_t)shape->size * SPOOL_CHUNK_PAGES || packed > frame_bound(raw))
		return fail_set(fail, -EBADMSG, "a spool has a damaged chunk");
	buf_clear(&edges->packed);
	buf_clear(&edges->in);
	if (!buf_reserve(&edges->packed, packed) || !buf_reserve(&edges->in, raw))
		return fail_memory(fail);
	err = read_exactly(fd, edges->packed.data, packed, offset + sizeof(head), fail);
	if (!err)
		err = frame_read(edges->reader, edges->packed.data, packed, edges->in.data, raw, fail);
	*ret = (struct chunk){ .size = (uint32_t)sizeof(head) + packed, .raw = raw };
	return err;
}

/* Copies the pages of edges->in without the events of other times to edges->out. */
static int trim_pages(struct edges *edges, const struct page_shape *shape, uint64_t from, uint64_t to,
		      struct chunk *chunk, struct fail *fail)
{
	uint32_t raw = chunk->raw;

	buf_clear(&edges->out);
	if (!buf_reserve(&edges->out, raw))
		return fail_memory(fail);
	chunk->raw = 0;
	for (uint32_t at = 0; at < raw; at += shape->size) {
		uint64_t first, last;
		int r = page_trim(shape, edges->in.data + at, from, to, edges->out.data + chunk->raw, &first, &last,
				  fail);

		if (r < 0)
			return r;
		if (!r)
			continue;
		chunk->first = chunk->raw ? chunk->first : first;
		chunk->last = last;
		chunk->raw += shape->size;
	}
	return 0;
}

/* Appends the pages of edges->out as a chunk to the memory. */
static int write_chunk(struct edges *edges, struct chunk *chunk, struct fail *fail)
{
	size_t room = frame_bound(chunk->raw), size = 0;
	int err;

	buf_clear(&edges->packed);
	if (!buf_reserve(&edges->packed, SPOOL_CHUNK_HEAD + room))
		return fail_memory(fail);
	err = frame_write(edges->writer, edges->out.data, chunk->raw, edges->packed.data + SPOOL_CHUNK_HEAD, room,
			  &size, fail);
	if (err)
		return err;
	chunk->size = (uint32_t)(SPOOL_CHUNK_HEAD + size);
	spool_chunk_head(&edges->spool.options, (uint32_t)size, chunk->raw, edges->packed.data);
	return spool_append(&edges->spool, edges->packed.data, chunk->size, 1, chunk->raw, fail);
}

/* What edges_divide() works on. */
struct division {
	struct edges *edges;
	struct chunk_history_piece *piece, left; /* before and after */
	const struct page_shape *shape;
	uint64_t from, to;
	struct assembly_piece *at;
	size_t nr;
};

static void add_run(struct division *division, int fd, uint64_t offset, uint64_t size, uint32_t chunks)
{
	const struct chunk_history_piece *piece = division->piece;

	division->at[division->nr] = (struct assembly_piece){
		.buffer = piece->buffer,
		.cpu = piece->cpu,
		.run = (uint32_t)division->nr,
		.fd = fd,
		.offset = offset,
		.size = size,
		.chunks = chunks,
	};
	division->nr++;
	division->left.size += size;
	division->left.chunks += chunks;
}

/* Adds what is left of the chunk at this offset. *ret_size: the bytes that the whole chunk has in the spool. */
static int add_edge(struct division *division, uint64_t offset, uint64_t *ret_size, struct fail *fail)
{
	struct edges *edges = division->edges;
	struct chunk_history_piece *left = &division->left;
	struct chunk chunk = { .size = 0 };
	int err = read_chunk(edges, division->piece->fd, offset, division->shape, &chunk, fail);

	if (err)
		return err;
	*ret_size = chunk.size;
	left->raw -= chunk.raw;
	err = trim_pages(edges, division->shape, division->from, division->to, &chunk, fail);
	if (err || !chunk.raw)
		return err;
	err = write_chunk(edges, &chunk, fail);
	if (err)
		return err;
	left->raw += chunk.raw;
	left->first = offset == division->piece->offset ? chunk.first : left->first;
	left->last = offset == division->piece->last_offset ? chunk.last : left->last;
	add_run(division, edges->spool.fd, edges->spool.end - chunk.size, chunk.size, 1);
	return 0;
}

static int trim_divide(struct division *division, struct fail *fail)
{
	const struct chunk_history_piece *piece = division->piece;
	uint64_t begin = piece->offset, end = piece->offset + piece->size, size;
	bool cut_first = piece->first<division->from, cut_last = piece->last> division->to;
	uint32_t chunks = piece->chunks;
	int err = 0;

	if (cut_last && begin == piece->last_offset)
		cut_first = true;
	if (cut_first) {
		err = add_edge(division, begin, &size, fail);
		begin += err ? 0 : size;
		chunks--;
	}
	cut_last = cut_last && chunks;
	if (cut_last)
		end = piece->last_offset;
	chunks -= cut_last;
	if (!err && chunks)
		add_run(division, piece->fd, begin, end - begin, chunks);
	return err || !cut_last ? err : add_edge(division, piece->last_offset, &size, fail);
}

/*
 * Divides a piece into places of a file, *ret_nr of them, that have only events of the time from `from` to `to`. The
 * sizes and times of the piece become those of what is left. `shape`: of its pages.
 */
static int edges_divide(struct edges *edges, struct chunk_history_piece *piece, const struct page_shape *shape,
			uint64_t from, uint64_t to, struct assembly_piece ret[ASSEMBLY_RUNS], size_t *ret_nr,
			struct fail *fail)
{
	struct division division = {
		.edges = edges, .piece = piece, .left = *piece, .shape = shape, .from = from, .to = to, .at = ret
	};
	int err;

	*ret_nr = 0;
	if (!piece->chunks)
		return 0;
	division.left.size = division.left.chunks = 0;
	division.left.first = piece->first < from ? from : piece->first;
	division.left.last = piece->last > to ? to : piece->last;
	err = trim_divide(&division, fail);
	if (err)
		return err;
	*piece = division.left;
	*ret_nr = division.nr;
	return 0;
}

enum {
	FLUSH_MS = 1000, /* what is older than this is held, not only in the kernel's buffer */
	FLUSH_LEAST_MS = 50,
	FLUSH_STEPS = 4,          /* at least so many flushes in the span */
	WAIT_MS = 1000,           /* for the recorders to empty their buffers */
	READ_MS = 60000,          /* the same for large buffers that were never read */
	PARTS_ROOM = 16 << 20,    /* for the metadata */
	SAMPLES_ROOM = 128 << 10, /* a day of samples of the clock */
	SAMPLES_KEPT = 60,        /* every such one is also in the parts, which would grow for ever */
	STORE_SHARE = 4, /* the part of the memory that may be used for pages for whose compression was no time */
};

struct flight_recording {
	const struct flight_recording_options *options;
	struct rig rig;
	struct chunk_history *held;
	struct parts *parts; /* its ledger, loaded, has what each file begins with */
	bool spools_there;   /* in the parts; false: in the memory of this process */
	clockid_t clock;
	uint64_t since;         /* when the recorders were started */
	pthread_mutex_t lock;   /* of the recorders' lists: flight_recording_add_cpus() */
	struct marker *markers; /* one for each target of the rig */
	size_t nr_markers;
	struct instance **adopted; /* flight_recording_adopt() */
	size_t nr_adopted;
	struct buf samples;       /* the last lines of the clock's samples, which are those of every target */
	size_t nr_samples;        /* all that were taken */
	pthread_mutex_t sampling; /* of the two above */
};

bool flight_recording_clock_known(const char *clock)
{
	return clock_kind(clock)->is_read;
}

const struct rig *flight_recording_rig(const struct flight_recording *recording)
{
	return &recording->rig;
}

const char *flight_recording_clock(const struct flight_recording *recording)
{
	return recording->rig.targets[0].clock;
}

uint64_t flight_recording_now(const struct flight_recording *recording)
{
	struct timespec now;

	clock_gettime(recording->clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static int check_target(struct flight_recording *recording, const struct target *target, struct fail *fail)
{
	const struct target *first = &recording->rig.targets[0];

	if (target->keeps_worst)
		return fail_set(fail, -EOPNOTSUPP,
				"the tracer '%s' keeps its longest latency, no history: 'weft record -p %s' saves it",
				target->wanted->tracer, target->wanted->tracer);
	if (strcmp(target->clock, first->clock))
		return fail_set(fail, -EINVAL, "all instances need the same clock, not '%s' and '%s'", first->clock,
				target->clock);
	recording->clock = clock_kind(target->clock)->id;
	if (clock_kind(target->clock)->is_read)
		return 0;
	return fail_set(
		fail, -EINVAL,
		"the time of a trigger cannot be told with the clock '%s'; mono, mono_raw, boot and tai (-C) can",
		target->clock);
}

/* Makes the parts, by which another process can recover what is held after a kill. */
static int begin_parts(struct flight_recording *recording, struct fail *fail)
{
	const struct flight_recording_options *options = recording->options;
	struct kept_parts_dir parts_dir =
		kept_parts_dir_find(options->name, CHUNK_HISTORY_OVER * options->max_bytes + PARTS_ROOM);
	int err = parts_new(parts_dir.output, NULL, &recording->parts, fail);

	recording->spools_there = parts_dir.holds;
	return err ? err : undo_mark(recording->rig.undo, recording->parts->secret, recording->parts->path, fail);
}

/* An instance that weft did not make can be read after a kill only if the journal knows it. */
static int lend(struct flight_recording *recording, struct fail *fail)
{
	char boot[BOOT_ID];
	int err = 0;

	for (size_t i = 0; !err && i < recording->rig.nr_targets; i++) {
		const struct target *target = &recording->rig.targets[i];
		const struct ledger_item item = { .kind = LEDGER_INSTANCE,
						  .buffer = target->index,
						  .key = facts_boot_id(boot),
						  .data = target->instance->name,
						  .len = strlen(target->instance->name) };

		if (target->instance->kind != INSTANCE_EXISTING)
			continue;
		err = undo_remember_lent(recording->rig.undo, target->instance->name, fail);
		if (!err)
			err = ledger_add(recording->parts->ledger, &item, fail);
	}
	return err;
}

/* Saves what does not change from file to file. */
static int learn(struct flight_recording *recording, struct fail *fail)
{
	const struct rig *rig = &recording->rig;
	const struct target *first = &rig->targets[0];
	const struct parts_file properties =
		parts_file_here(7, true, FRAME_LEVEL_DEFAULT, &first->shape, first->nr_cpus);
	struct ledger *facts = recording->parts->ledger;
	struct symbol_copy *symbols = NULL;
	struct fail later;
	bool hidden;
	int finished, err = parts_describe(recording->parts, &properties, fail);

	if (!err)
		err = symbol_copy_start(facts, &symbols, fail);
	if (!err)
		err = facts_at_start(facts, "flight", &rig->tracing, rig->targets, rig->nr_targets, false, fail);
	finished = symbol_copy_finish(symbols, &hidden, &later);
	err = fail_first(err, finished, fail, &later);
	if (!err)
		clock_sampler_zone(facts);
	return err ? err : facts_of_types(facts, fail);
}

static unsigned flush_ms(uint64_t span_ns)
{
	uint64_t ms = span_ns / 1000000 / FLUSH_STEPS;

	return ms < FLUSH_LEAST_MS ? FLUSH_LEAST_MS : ms > FLUSH_MS ? FLUSH_MS : (unsigned)ms;
}

static struct recorder_options recorder_options(const struct flight_recording *recording, const struct cpus *online)
{
	const struct flight_recording_options *options = recording->options;

	return (struct recorder_options){
		.stop_fd = -1,
		.failed_fd = options->failed_fd,
		.level = FRAME_LEVEL_DEFAULT,
		.store_spare = options->max_bytes / STORE_SHARE / cpus_count(online),
		.flush_ms = options->in_kernel ? 0 : (int)flush_ms(options->span_ns),
		.when_asked = options->in_kernel,
		.held = recording->held,
		.since = recording->since,
	};
}

static size_t count_recorders(const struct flight_recording *recording)
{
	size_t nr = 0;

	for (size_t i = 0; i < recording->rig.nr_targets; i++)
		nr += recording->rig.targets[i].nr_recorders;
	return nr;
}

int flight_recording_add_cpus(struct flight_recording *recording, unsigned *ret, struct fail *fail)
{
	const struct spool_options spool = { .compressed = true };
	struct parts *parts = recording->spools_there ? recording->parts : NULL;
	struct cpus online = { .bits = { 0 } };
	size_t before = count_recorders(recording);
	int err = tracing_online_cpus(&online, fail);

	if (err)
		return err;
	pthread_mutex_lock(&recording->lock);
	for (size_t i = 0; !err && i < recording->rig.nr_targets; i++) {
		const struct recorder_options options = recorder_options(recording, &online);

		err = target_record(&recording->rig.targets[i], parts, &online, &spool, &options, fail);
	}
	pthread_mutex_unlock(&recording->lock);
	*ret = (unsigned)(count_recorders(recording) - before);
	return err;
}

static int start_recorders(struct flight_recording *recording, struct fail *fail)
{
	unsigned nr;

	/* A CPU that comes online later had no events before. */
	recording->since = flight_recording_now(recording);
	return flight_recording_add_cpus(recording, &nr, fail);
}

static int open_markers(struct flight_recording *recording, struct fail *fail)
{
	int err = 0;

	recording->markers = calloc(recording->rig.nr_targets, sizeof(*recording->markers));
	if (!recording->markers)
		return fail_memory(fail);
	for (size_t i = 0; !err && i < recording->rig.nr_targets; i++) {
		recording->markers[i] = (struct marker)MARKER_INIT;
		recording->nr_markers++;
		err = marker_open(recording->rig.targets[i].instance, false, &recording->markers[i], fail);
	}
	return err;
}

void flight_recording_sample(struct flight_recording *recording, enum wall_why why)
{
	struct ledger *ledger = recording->parts->ledger;

	pthread_mutex_lock(&recording->sampling);
	if (recording->samples.len > SAMPLES_ROOM) {
		char *begin = recording->samples.data, *end = begin + recording->samples.len;
		const char *half = memchr(begin + SAMPLES_ROOM / 2, '\n', SAMPLES_ROOM / 2);

		recording->samples.len = half ? (size_t)(end - half) - 1 : 0;
		memmove(begin, end - recording->samples.len, recording->samples.len);
	}
	(void)!clock_sampler_line(recording->rig.sampler, 0, why, &recording->samples);
	pthread_mutex_unlock(&recording->sampling);
	if (why != WALL_EVERY || recording->nr_samples % SAMPLES_KEPT == 0)
		clock_sampler_take(recording->rig.sampler, ledger, why);
	recording->nr_samples++;
}

/* Adds those that belong to a file that is written now. */
static int add_samples(struct flight_recording *recording, struct ledger *ledger, struct fail *fail)
{
	int err = 0;

	pthread_mutex_lock(&recording->sampling);
	for (size_t i = 0; !err && recording->samples.len && i < recording->rig.nr_targets; i++)
		err = ledger_add(ledger,
				 &(struct ledger_item){ .kind = LEDGER_SAMPLE,
							.buffer = recording->rig.targets[i].index,
							.data = recording->samples.data,
							.len = recording->samples.len },
				 fail);
	pthread_mutex_unlock(&recording->sampling);
	clock_sampler_take(recording->rig.sampler, ledger, WALL_END);
	return err;
}

static int prepare(struct flight_recording *recording, struct fail *fail)
{
	const struct flight_recording_options *options = recording->options;
	const struct rig_options rig = { .setup = options->setup, .manner = SETUP_PRIVATE };
	int err = rig_find(&recording->rig, NULL, fail);

	if (!err)
		err = begin_parts(recording, fail);
	if (!err)
		err = rig_set_up(&recording->rig, &rig, fail);
	for (size_t i = 0; !err && i < recording->rig.nr_targets; i++)
		err = check_target(recording, &recording->rig.targets[i], fail);
	if (!err)
		err = learn(recording, fail);
	if (!err)
		err = lend(recording, fail);
	if (!err)
		err = chunk_history_new(options->span_ns, options->max_bytes, options->in_kernel, &recording->held,
					fail);
	if (!err)
		err = start_recorders(recording, fail);
	if (!err)
		err = open_markers(recording, fail);
	if (!err) {
		rig_sample(&recording->rig);
		flight_recording_sample(recording, WALL_START);
	}
	return err ? err : rig_hold(&recording->rig, false, fail);
}

int flight_recording_open(const struct flight_recording_options *options, struct flight_recording **ret,
			  struct fail *fail)
{
	struct flight_recording *recording = calloc(1, sizeof(*recording));
	int err;

	if (!recording)
		return fail_memory(fail);
	recording->options = options;
	pthread_mutex_init(&recording->lock, NULL);
	pthread_mutex_init(&recording->sampling, NULL);
	err = prepare(recording, fail);
	if (err) {
		/* The user is told the first error only. */
		flight_recording_close(recording, NULL);
		return err;
	}
	*ret = recording;
	return 0;
}

int flight_recording_adopt(struct flight_recording *recording, struct instance *instance, struct fail *fail)
{
	struct instance **added = vec_push(recording->adopted, recording->nr_adopted);

	if (!added)
		return fail_memory(fail);
	*added = instance;
	return 0;
}

int flight_recording_start(struct flight_recording *recording, struct fail *fail)
{
	/* The result is ignored: tracing starts even if a recorder does not sleep yet. */
	quiet_wait(getpid(), getpid());
	return switches_turn(&recording->rig.switches, true, fail);
}

int flight_recording_mark(struct flight_recording *recording, const char *text, struct fail *fail)
{
	unsigned pieces;
	int err = 0;

	for (size_t i = 0; !err && i < recording->nr_markers; i++)
		err = marker_write(&recording->markers[i], text, strlen(text), &pieces, fail);
	return err;
}

void flight_recording_keep_from(struct flight_recording *recording, uint64_t from)
{
	chunk_history_keep_from(recording->held, from);
}

static const struct target *target_of(const struct flight_recording *recording, uint32_t buffer)
{
	for (size_t i = 0; i < recording->rig.nr_targets; i++)
		if (recording->rig.targets[i].index == buffer)
			return &recording->rig.targets[i];
	return NULL;
}

static const struct recorder *recorder_of(const struct target *target, uint32_t cpu)
{
	for (size_t i = 0; i < target->nr_recorders; i++)
		if (target->recorders[i]->cpu == cpu)
			return target->recorders[i];
	return NULL;
}

/* What the kernel says about the buffer of this CPU. */
static void add_stats(const struct flight_recording *recording, const struct target *target,
		      struct flight_recording_cpu *cpu)
{
	const struct recorder *recorder = recorder_of(target, cpu->cpu);
	struct ring_buffer_stats stats;

	if (!recorder || ring_buffer_stats(target->instance, cpu->cpu, &stats, NULL))
		return;
	cpu->kernel = stats.bytes;
	cpu->lost = ring_watch_lost(&recorder->watch, &stats);
	if (!recording->options->in_kernel)
		return;
	cpu->lost -= ring_watch_overrun(&recorder->watch, &stats);
	if (stats.overrun != __atomic_load_n(&recorder->overrun, __ATOMIC_RELAXED) && stats.oldest > cpu->since)
		cpu->since = stats.oldest;
}

static int list_cpus(struct flight_recording *recording, const struct chunk_history_piece *pieces, size_t nr,
		     struct flight_recording_cpus *ret, struct fail *fail)
{
	struct flight_recording_cpu *cpus = calloc(nr + 1, sizeof(*cpus));

	if (!cpus)
		return fail_memory(fail);
	for (size_t i = 0; i < nr; i++) {
		const struct chunk_history_piece *piece = &pieces[i];
		const struct target *target = target_of(recording, piece->buffer);
		const char *name = target->wanted->name;

		cpus[i] = (struct flight_recording_cpu){ .instance = name ? name : "",
							 .cpu = piece->cpu,
							 .chunks = piece->chunks,
							 .bytes = piece->size,
							 .raw = piece->raw,
							 .first = piece->first,
							 .last = piece->last,
							 .since = piece->since,
							 .crowded = piece->crowded };
		pthread_mutex_lock(&recording->lock);
		add_stats(recording, target, &cpus[i]);
		pthread_mutex_unlock(&recording->lock);
	}
	*ret = (struct flight_recording_cpus){ cpus, nr };
	return 0;
}

int flight_recording_look(struct flight_recording *recording, struct flight_recording_cpus *ret, struct fail *fail)
{
	cleanup_free struct chunk_history_piece *pieces = NULL;
	size_t nr;
	int err = chunk_history_look(recording->held, &pieces, &nr, fail);

	return err ? err : list_cpus(recording, pieces, nr, ret, fail);
}

static int add_setting(struct ledger *ledger, uint32_t buffer, const char *name, const char *text, struct fail *fail)
{
	return ledger_add(
		ledger,
		&(struct ledger_item){
			.kind = LEDGER_SETTING, .buffer = buffer, .key = name, .data = text, .len = strlen(text) },
		fail);
}

/* Fills the metadata of a file: what was known at the start, and what is known only now, such as the names of tasks. */
static int describe(struct flight_recording *recording, const struct flight_recording_file *file, struct parts *parts,
		    struct fail *fail)
{
	const struct target *first = &recording->rig.targets[0];
	struct parts_file properties = parts_file_here(7, true, FRAME_LEVEL_DEFAULT, &first->shape, first->nr_cpus);
	const struct ledger_item *item;
	char weight[32];
	int err = parts_describe(parts, &properties, fail);

	for (size_t i = 0; !err && (item = ledger_at(recording->parts->ledger, i)); i++)
		/* Each file has an identity of its own, and no spools. */
		if (item->kind != LEDGER_FILE && item->kind != LEDGER_SECRET && item->kind != LEDGER_OUTPUT &&
		    item->kind != LEDGER_SPOOL && item->kind != LEDGER_SAMPLE)
			err = ledger_add(parts->ledger, item, fail);
	if (!err)
		err = facts_of_kernel(parts->ledger, &recording->rig.tracing, fail);
	if (!err)
		err = facts_of_self(parts->ledger, &recording->rig, (pid_t)syscall(SYS_gettid), fail);
	if (!err)
		err = add_samples(recording, parts->ledger, fail);
	if (!err)
		err = facts_of_tasks(parts->ledger, NULL, true, fail);
	if (!err && file->trigger)
		err = add_setting(parts->ledger, 0, "weft/trigger", file->trigger, fail);
	if (!err && file->sample_of) {
		snprintf(weight, sizeof(weight), "1/%" PRIu32 "\n", file->sample_of);
		err = add_setting(parts->ledger, 0, SETTING_SAMPLE, weight, fail);
	}
	for (size_t i = 0; !err && i < recording->rig.nr_targets; i++)
		err = add_setting(parts->ledger, recording->rig.targets[i].index, "weft/went_on", "1", fail);
	return err;
}

/* Where what belongs to the file lies. The pieces lose the rest. */
static int divide(struct flight_recording *recording, const struct flight_recording_file *file, uint64_t from,
		  struct chunk_history_piece *pieces, size_t nr, struct edges *edges, struct assembly_piece *places,
		  size_t *ret_nr, struct fail *fail)
{
	uint64_t begin = file->ragged ? file->from : from;
	size_t nr_places = 0, runs;
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		err = edges_divide(edges, &pieces[i], &target_of(recording, pieces[i].buffer)->shape, begin, file->to,
				   places + nr_places, &runs, fail);
		nr_places += runs;
	}
	*ret_nr = nr_places;
	return err;
}

static int assemble(struct flight_recording *recording, const struct flight_recording_file *file,
		    struct assembly_piece *places, size_t nr, struct flight_recording_written *ret, struct fail *fail)
{
	const struct assembly_options options = {
		.output = file->output, .mode = file->mode, .keep = true, .synced = true, .stat = &ret->stat
	};
	struct parts *parts = NULL;
	int err = parts_new_in_memory(&parts, fail);

	if (!err)
		err = describe(recording, file, parts, fail);
	if (!err)
		err = assembly_write(parts, places, nr, &options, &ret->size, fail);
	parts_free(parts);
	return err;
}

static int write_pieces(struct flight_recording *recording, const struct flight_recording_file *file,
			struct chunk_history_piece *pieces, size_t nr, struct flight_recording_written *ret,
			struct fail *fail)
{
	cleanup_free struct assembly_piece *places = calloc(nr * ASSEMBLY_RUNS + 1, sizeof(*places));
	struct edges *edges = NULL;
	int err = places ? edges_new(&edges, fail) : fail_memory(fail);
	size_t nr_places;

	if (!err)
		err = divide(recording, file, ret->from, pieces, nr, edges, places, &nr_places, fail);
	if (!err)
		err = list_cpus(recording, pieces, nr, &ret->cpus, fail);
	if (!err)
		err = assemble(recording, file, places, nr_places, ret, fail);
	edges_free(edges);
	return err;
}

int flight_recording_write(struct flight_recording *recording, const struct flight_recording_file *file,
			   struct flight_recording_written *ret, struct fail *fail)
{
	cleanup_free struct chunk_history_piece *pieces = NULL;
	struct flight_recording_written written = {
		.late = !chunk_history_flush(recording->held, recording->options->in_kernel ? READ_MS : WAIT_MS),
		.from = file->from
	};
	size_t nr;
	int err = chunk_history_take(recording->held, &written.from, file->to, file->ragged, &pieces, &nr, fail);

	if (err)
		return err;
	err = write_pieces(recording, file, pieces, nr, &written, fail);
	chunk_history_written(recording->held);
	if (err)
		free(written.cpus.at);
	else
		*ret = written;
	return fail_writing(fail, err, file->output);
}

int flight_recording_failed(const struct flight_recording *recording, struct fail *fail)
{
	for (size_t i = 0; i < recording->rig.nr_targets; i++)
		for (size_t j = 0; j < recording->rig.targets[i].nr_recorders; j++) {
			const struct recorder *recorder = recording->rig.targets[i].recorders[j];

			if (recorder->err)
				return fail_set(fail, recorder->err, "%s", recorder->fail.text);
		}
	return 0;
}

int flight_recording_close(struct flight_recording *recording, struct fail *fail)
{
	struct fail later;
	int err, first = 0;

	if (!recording)
		return 0;
	if (recording->rig.switches.nr)
		first = rig_stop(&recording->rig, fail);
	if (recording->held)
		chunk_history_stop(recording->held);
	for (size_t i = 0; i < recording->rig.nr_targets; i++)
		for (size_t j = 0; j < recording->rig.targets[i].nr_recorders; j++)
			recorder_join(recording->rig.targets[i].recorders[j]);
	for (size_t i = 0; i < recording->nr_markers; i++)
		marker_close(&recording->markers[i]);
	free(recording->markers);
	setup_step(recording->options->setup, "restoring the settings of tracing");
	if (recording->options->empties && recording->held) {
		err = instance_clear(recording->rig.targets[0].instance, &later);
		first = fail_first(first, err, fail, &later);
	}
	err = rig_restore(&recording->rig, &later);
	setup_step(recording->options->setup, NULL);
	first = fail_first(first, err, fail, &later);
	for (size_t i = 0; i < recording->nr_adopted; i++) {
		err = instance_close(recording->adopted[i], &later);
		first = fail_first(first, err, fail, &later);
	}
	free(recording->adopted);
	rig_release(&recording->rig);
	chunk_history_free(recording->held);
	err = recording->parts ? parts_remove(recording->parts, &later) : 0;
	first = fail_first(first, err, fail, &later);
	parts_free(recording->parts);
	buf_release(&recording->samples);
	pthread_mutex_destroy(&recording->sampling);
	pthread_mutex_destroy(&recording->lock);
	free(recording);
	return first;
}
