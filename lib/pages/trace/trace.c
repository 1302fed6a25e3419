// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/readable.h"
#include "lib/ground/base/sandbox.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/trace/internal.h"
#include "lib/pages/trace/sums_internal.h"

static const unsigned char magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

static bool is_text(const unsigned char *head, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (head[i] < ' ' && (head[i] < '\t' || head[i] > '\r'))
			return false;
	return len;
}

bool trace_is_own(const uint8_t *head, size_t len)
{
	return len >= 8 && !memcmp(head, magic, len < sizeof(magic) ? len : sizeof(magic));
}

/* Packets are fields 1 with a length (TracePacket of Trace), and have fields themselves. */
bool trace_is_perfetto(const uint8_t *head, size_t len)
{
	static const uint8_t types = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5;
	size_t at = 1;

	while (at < len && at < 5 && head[at] & 0x80)
		at++;
	at++;
	return len >= 4 && at < len && head[0] == '\n' && !is_text(head, len) && head[at] >> 3 &&
	       types >> (head[at] & 7) & 1;
}

/* The text of a file that a program has compressed; NULL: it is none. */
static const char *compressed_by(const unsigned char *head, size_t len)
{
	static const struct {
		const char *begin, *text;
	} programs[] = {
		{ "\x1f\x8b\x08", "it is compressed: 'gunzip' makes what it was" },
		{ "\x28\xb5\x2f\xfd", "it is compressed: 'unzstd' makes what it was" },
		{ "\xfd"
		  "7zXZ",
		  "it is compressed: 'unxz' makes what it was" },
		{ "BZh", "it is compressed: 'bunzip2' makes what it was" },
	};

	for (size_t i = 0; i < array_size(programs); i++)
		if (len > strlen(programs[i].begin) && !memcmp(head, programs[i].begin, strlen(programs[i].begin)))
			return programs[i].text;
	return NULL;
}

/* Names the type of a file that is not a trace.dat, from its first bytes, because people mix up files. */
static int fail_foreign(const struct trace *trace, const unsigned char *head, size_t len, struct fail *fail)
{
	const char *what = "it begins with other bytes";

	if (!trace->input.size)
		what = "it is empty";
	else if (len < sizeof(magic) && !memcmp(head, magic, len))
		what = "it ends inside its header";
	else if (len >= 4 && !memcmp(head, "\177ELF", 4))
		what = "it is an ELF file";
	else if (len >= 8 && (!memcmp(head, "PERFILE2", 8) || !memcmp(head, "2ELIFREP", 8)))
		what = "it is a perf.data, of which 'weft import' makes one";
	else if (len >= 18 && !memcmp(head, "# tracer: mmiotrace", 18))
		what = "it is text of the tracer mmiotrace, which cannot be imported; 'weft record -p mmiotrace' makes "
		       "a trace.dat";
	else if (len >= 9 && !memcmp(head, "# tracer:", 9))
		what = "it is text of the kernel's 'trace' file, of which 'weft import' makes one";
	else if (trace_is_perfetto(head, len))
		what = "it " TRACE_OF_PERFETTO;
	else if (compressed_by(head, len))
		what = compressed_by(head, len);
	else if (is_text(head, len))
		what = "it is a text; 'weft import' makes one of the texts of the kernel, trace-cmd and perf script";
	return fail_set(fail, -EBADMSG, "not a trace.dat: %s (offset 0)", what);
}

static int open_head(struct trace *trace, uint64_t *ret_end, struct fail *fail)
{
	size_t len = trace->input.size < INITIAL_HEAD_SIZE ? (size_t)trace->input.size : INITIAL_HEAD_SIZE;
	unsigned char head[INITIAL_HEAD_SIZE] = { 0 };
	struct trace_info *info = &trace->info;
	int r = input_read(&trace->input, 0, head, len, fail);

	if (r)
		return r;
	if (len < sizeof(magic) || memcmp(head, magic, sizeof(magic)))
		return fail_foreign(trace, head, len, fail);
	if (len < sizeof(head))
		return fail_set(fail, -EBADMSG, "cut short: it ends inside its header, after %zu bytes", len);
	if ((head[10] != '6' && head[10] != '7') || head[11])
		return fail_set(fail, -EBADMSG, "of an unknown version: weft reads 6 and 7 (offset 10)");
	if (head[12] > 1)
		return fail_set(fail, -EBADMSG, "broken header: byte order %d (offset 12)", head[12]);
	if (head[13] != 4 && head[13] != 8)
		return fail_set(fail, -EBADMSG, "broken header: words of %d bytes (offset 13)", head[13]);
	info->version = head[10] - (unsigned)'0';
	info->big_endian = head[12];
	info->swap = info->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	info->user_long_size = head[13];
	info->long_size = head[13];
	info->page_size = load_u32(head + 14, info->swap);
	info->page_data_offset = 8u + info->long_size;
	info->codec = "none";
	if (!page_size_ok(info->page_size))
		return fail_set(fail, -EBADMSG, "broken header: pages of %" PRIu32 " bytes (offset 14)",
				info->page_size);
	*ret_end = sizeof(head);
	return 0;
}

static int compare_sections(const void *a, const void *b)
{
	const struct trace_section *left = a, *right = b;

	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	return (left->size < right->size) - (left->size > right->size);
}

static int open_all(struct trace *trace, struct fail *fail)
{
	uint64_t at;
	int r = open_head(trace, &at, fail);

	if (!r)
		r = trace->info.version == 7 ? trace_open_v7(trace, at, fail) : trace_open_v6(trace, at, fail);
	if (!r)
		r = metadata_load(trace, fail);
	if (!r)
		r = settings_load(trace, fail);
	if (!r)
		r = sums_find(trace, fail);
	if (!r)
		r = trace_take_overlaps(trace, fail);
	for (size_t i = 0; !r && i < trace->nr_rings; i++) {
		const struct trace_buffer *buffer = &trace->rings[i].pub;

		for (size_t j = 0; !r && j < buffer->nr_cpus; j++)
			r = trace_add_section(trace, buffer->cpus[j].offset, buffer->cpus[j].size,
					      buffer->compressed ? 0 : buffer->cpus[j].size, fail,
					      "pages of CPU %" PRIu32 "%s%s", buffer->cpus[j].cpu,
					      buffer->name.len ? " of " : "", buffer->name.text);
	}
	if (trace->nr_sections)
		qsort(trace->sections, trace->nr_sections, sizeof(*trace->sections), compare_sections);
	return r;
}

static int new_of_fd(int fd, const char *path, struct trace **ret, struct fail *fail)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	int r;

	if (!trace)
		return fail_memory(fail);
	trace->input.fd = -1;
	pthread_mutex_init(&trace->lock, NULL);
	trace->path = strdup(path);
	r = trace->path ? input_init(&trace->input, fd, path, fail) : fail_memory(fail);
	if (r) {
		trace_free(trace);
		return r;
	}
	trace->info.size = trace->input.size;
	*ret = trace;
	return 0;
}

int trace_new(const char *path, struct trace **ret, struct fail *fail)
{
	cleanup_fd int fd = -1;
	int r;

	if (!strcmp(path, "-"))
		return new_of_fd(STDIN_FILENO, "standard input", ret, fail);
	r = readable_open(path, &fd, fail);
	return r ? r : new_of_fd(fd, path, ret, fail);
}

const struct input *trace_input(const struct trace *trace)
{
	return &trace->input;
}

int trace_replace(struct trace *trace, int fd, struct fail *fail)
{
	struct input other;
	int r = input_init(&other, fd, trace->path, fail);

	if (r)
		return r;
	trace->info.replaced_size = trace->input.size;
	input_release(&trace->input);
	trace->input = other;
	trace->info.size = other.size;
	return 0;
}

int trace_load(struct trace *trace, struct fail *fail)
{
	int r = open_all(trace, fail);

	return r ? fail_in(fail, r, "'%s'", trace->path) : 0;
}

static int loaded(struct trace *trace, struct trace **ret, struct fail *fail)
{
	int r = trace_load(trace, fail);

	if (r) {
		trace_free(trace);
		return r;
	}
	*ret = trace;
	return 0;
}

int trace_open_fd(int fd, const char *path, struct trace **ret, struct fail *fail)
{
	struct trace *trace;
	int r = new_of_fd(fd, path, &trace, fail);

	return r ? r : loaded(trace, ret, fail);
}

int trace_open(const char *path, struct trace **ret, struct fail *fail)
{
	struct trace *trace;
	int r = trace_new(path, &trace, fail);

	return r ? r : loaded(trace, ret, fail);
}

static void ring_release(struct trace_ring *ring)
{
	free(ring->name);
	free(ring->clock);
	free(ring->cpus);
	free(ring->cut);
}

void trace_free(struct trace *trace)
{
	if (!trace)
		return;
	input_release(&trace->input);
	frame_reader_free(trace->reader);
	for (size_t i = 0; i < trace->nr_rings; i++)
		ring_release(&trace->rings[i]);
	for (size_t i = 0; i < trace->nr_sections; i++)
		free((char *)(uintptr_t)trace->sections[i].what);
	for (size_t i = 0; i < REGION_NR; i++)
		free(trace->bodies[i]);
	buf_release(&trace->cpustat);
	free(trace->rings);
	free(trace->sections);
	free(trace->formats);
	free(trace->settings);
	free(trace->codec);
	free(trace->uname);
	free(trace->version);
	free(trace->clock);
	free(trace->path);
	pthread_mutex_destroy(&trace->lock);
	free(trace);
}

/* Nothing reads standard input any more: input_init() has a descriptor of its own. */
static void leave_input(void)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null < 0)
		return;
	(void)!dup2(null, STDIN_FILENO);
	close(null);
}

int trace_sandbox(const struct trace *trace, struct fail *fail)
{
	struct stat st;

	if (fstat(trace->input.fd, &st))
		return fail_set(fail, -errno, "cannot read '%s': %s", trace->path, strerror(errno));
	leave_input();
	return sandbox_enter(st.st_uid, st.st_gid, fail);
}

void trace_trust_sizes(struct trace *trace)
{
	trace->trusted = true;
}

uint64_t trace_ts_offset(const struct trace *trace)
{
	return (uint64_t)trace->info.ts_offset + (uint64_t)trace->info.date_offset_ns;
}

void trace_shift_times(struct trace *trace, int64_t by)
{
	trace->info.ts_offset = (int64_t)((uint64_t)trace->info.ts_offset + (uint64_t)by);
	trace->info.day_offset_ns = (int64_t)((uint64_t)trace->info.day_offset_ns - (uint64_t)by);
}

bool trace_trusted(const struct trace *trace)
{
	return trace->trusted;
}

const char *trace_path(const struct trace *trace)
{
	return trace->path;
}

const struct trace_info *trace_info(const struct trace *trace)
{
	return &trace->info;
}

const struct trace_section *trace_sections(const struct trace *trace, size_t *ret_count)
{
	*ret_count = trace->nr_sections;
	return trace->sections;
}

size_t trace_bytes(const struct trace *trace, uint64_t offset, void *into, size_t size)
{
	uint64_t left = offset < trace->input.size ? trace->input.size - offset : 0;

	size = size < left ? size : (size_t)left;
	return input_read(&trace->input, offset, into, size, NULL) ? 0 : size;
}

const struct trace_format *trace_formats(const struct trace *trace, size_t *ret_count)
{
	*ret_count = trace->nr_formats;
	return trace->formats;
}

size_t trace_buffers(const struct trace *trace)
{
	return trace->nr_rings;
}

const struct trace_buffer *trace_buffer(const struct trace *trace, size_t index)
{
	return index < trace->nr_rings ? &trace->rings[index].pub : NULL;
}

bool trace_find_buffer(const struct trace *trace, const char *name, size_t *ret)
{
	for (size_t i = 0; i < trace->nr_rings; i++)
		if (!strcmp(trace->rings[i].pub.name.text, name)) {
			*ret = i;
			return true;
		}
	return false;
}

void trace_lacks_memory(struct trace *trace)
{
	__atomic_store_n(&trace->lacks_memory, true, __ATOMIC_RELAXED);
}

bool trace_starved(const struct trace *trace)
{
	return __atomic_load_n(&trace->lacks_memory, __ATOMIC_RELAXED);
}

const char *trace_damage(struct trace *trace)
{
	int err = __atomic_load_n(&trace->input.error, __ATOMIC_RELAXED);
	bool damaged;

	pthread_mutex_lock(&trace->lock);
	/* A caller that searches the file may treat unreadable data as absent. */
	if (!trace->damage.text[0] && err)
		fail_set(&trace->damage, 0, "cannot read all of '%s': %s", trace->path, strerror(err));
	if (!trace->damage.text[0] && trace_starved(trace))
		fail_memory(&trace->damage);
	damaged = trace->damage.text[0];
	pthread_mutex_unlock(&trace->lock);
	return damaged ? trace->damage.text : NULL;
}
