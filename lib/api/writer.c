// SPDX-License-Identifier: LGPL-2.1-or-later
/* weft_writer: a trace.dat of events of a program, and excerpts of a reader's events. */
#include "lib/api/api_internal.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/files/rewrite/binder.h"
#include "lib/files/rewrite/excerpt.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/writer.h"

enum {
	PAGE_BYTES = 16384, /* of the ring buffer that a file claims to be from */
	RECORD_MAX = 12000,
	COMMON_BYTES = 8,
	FIRST_ID = 1000, /* of formats that the writer numbers */
	WRITER_CPUS = 65536,
	NAME_MAX_LEN = 200,
	CLOCK_MAX_LEN = 30,
};

struct weft_writer {
	struct weft_writer_options options;
	char *clock, *uname;
	struct schema *schema; /* what is known of the formats: to look their numbers up */
	struct writer_format *formats;
	size_t nr_formats;
	struct binder *binder;
	struct buf names, tgids; /* of tasks */
	int64_t *lost;           /* by CPU: events that were lost before the next one */
	uint64_t *last;          /* by CPU: the time of the last one */
	uint32_t nr_cpus;
	int32_t next_id;
	bool written;
};

static const struct page_shape shape = { .size = PAGE_BYTES, .long_size = sizeof(long) };

void weft_writer_free(weft_writer *writer)
{
	if (!writer)
		return;
	for (size_t i = 0; i < writer->nr_formats; i++) {
		free((char *)(uintptr_t)writer->formats[i].system);
		free((char *)(uintptr_t)writer->formats[i].text);
	}
	free(writer->formats);
	schema_free(writer->schema);
	binder_free(writer->binder);
	buf_release(&writer->names);
	buf_release(&writer->tgids);
	free(writer->lost);
	free(writer->last);
	free(writer->clock);
	free(writer->uname);
	free(writer);
}

static bool is_name(const char *name)
{
	size_t len = strlen(name);

	return len && len <= NAME_MAX_LEN &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == len;
}

static int check_options(const struct weft_writer_options *options, struct fail *fail)
{
	if (options->version && options->version != 6 && options->version != 7)
		return fail_set(fail, -EINVAL, "there is no version %u of a trace.dat: 6 and 7 are", options->version);
	if (options->clock && (!is_name(options->clock) || strlen(options->clock) > CLOCK_MAX_LEN))
		return fail_set(fail, -EINVAL, "'%s' is no name of a trace clock: 'local' and 'mono' are some",
				options->clock);
	if (options->machine && !options->release)
		return fail_set(fail, -EINVAL, "a machine needs a release beside it");
	return 0;
}

static struct schema_abi abi_here(void)
{
	return (struct schema_abi){ .big_endian = __BYTE_ORDER == __BIG_ENDIAN, .long_size = sizeof(long) };
}

static int init(weft_writer *writer, const struct weft_writer_options *options, struct fail *fail)
{
	const struct schema_abi abi = abi_here();
	int r = api_options(options, &writer->options, sizeof(writer->options), fail);

	if (!r)
		r = check_options(&writer->options, fail);
	if (r)
		return r;
	writer->next_id = FIRST_ID;
	writer->clock = strdup(writer->options.clock ? writer->options.clock : "local");
	if (writer->options.release && asprintf(&writer->uname, "Linux host %s %s", writer->options.release,
						writer->options.machine ? writer->options.machine : "") < 0)
		writer->uname = NULL;
	if (!writer->clock || (writer->options.release && !writer->uname))
		return fail_memory(fail);
	r = schema_new(&abi, &writer->schema, fail);
	return r ? r : binder_new(&shape, NULL, &writer->binder, fail);
}

int weft_writer_new(const struct weft_writer_options *options, weft_writer **ret, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	weft_writer *writer = calloc(1, sizeof(*writer));
	int r = writer ? init(writer, options, &fail) : fail_memory(&fail);

	if (r)
		weft_writer_free(writer);
	else
		*ret = writer;
	return api_result(error, r, &fail);
}

/* Whether the text is a format whose number is free: in a schema of its own, which forgets it. */
static int check_format(const weft_writer *writer, const char *system, const char *text, size_t len, int32_t *ret_id,
			struct fail *fail)
{
	const struct schema_abi abi = abi_here();
	struct schema *alone = NULL;
	const char *why = NULL, *of, *name;
	int r = schema_new(&abi, &alone, fail);

	if (!r)
		r = schema_add(alone, system, strlen(system), text, len, fail);
	if (!r && (!schema_at(alone, 0, ret_id, &of, &name) || !schema_format(alone, *ret_id, &why)))
		r = fail_set(fail, -EINVAL, "the format cannot be understood: %s", why ? why : "it is none");
	if (!r && schema_format(writer->schema, *ret_id, NULL))
		r = fail_set(fail, -EEXIST, "the number %d of '%s' is in use", (int)*ret_id, name);
	schema_free(alone);
	return r;
}

/* Takes the text. */
static int add_format(weft_writer *writer, const char *system, char *text, size_t len, int32_t *ret_id,
		      struct fail *fail)
{
	int32_t id = 0;
	int r = check_format(writer, system, text, len, &id, fail);
	char *name = r ? NULL : strdup(system);
	struct writer_format *format = name ? vec_push(writer->formats, writer->nr_formats) : NULL;

	if (!format) {
		free(name);
		free(text);
		return r ? r : fail_memory(fail);
	}
	*format = (struct writer_format){ .system = name, .text = text, .len = len };
	r = schema_add(writer->schema, name, strlen(name), text, len, fail);
	if (!r)
		*ret_id = id;
	return r;
}

static int take_text(weft_writer *writer, const char *system, const char *text, size_t len, int32_t *ret_id,
		     struct fail *fail)
{
	char *copy;

	if (!is_name(system))
		return fail_set(fail, -EINVAL, "'%s' is no name of a system of events", system);
	copy = malloc(len + 1);
	if (!copy)
		return fail_memory(fail);
	memcpy(copy, text, len);
	copy[len] = '\0';
	return add_format(writer, system, copy, len, ret_id, fail);
}

int weft_writer_format(weft_writer *writer, const char *system, const char *text, size_t len, int32_t *ret_id,
		       struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	int32_t id = 0;
	int r = take_text(writer, system, text, len, &id, &fail);

	if (!r && ret_id)
		*ret_id = id;
	return api_result(error, r, &fail);
}

/* "char comm[16]" of "char[16]" and "comm". */
static bool put_field(struct buf *text, const struct weft_field_info *field)
{
	const char *array = strchr(field->c_type, '[');
	size_t len = array ? (size_t)(array - field->c_type) : strlen(field->c_type);
	bool is_dynamic = !strncmp(field->c_type, "__data_loc ", strlen("__data_loc "));

	if (is_dynamic)
		return buf_addf(text, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", field->c_type, field->name,
				field->offset, field->bytes, field->is_signed);
	return buf_addf(text, "\tfield:%.*s %s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", (int)len, field->c_type,
			field->name, array ? array : "", field->offset, field->bytes, field->is_signed);
}

static int check_field(const struct weft_field_info *field, struct fail *fail)
{
	if (field->size < offsetof(struct weft_field_info, is_common))
		return fail_set(fail, -EINVAL, "a structure of a field has no size");
	if (!field->name || !is_name(field->name) || !field->c_type || strpbrk(field->c_type, ";\n"))
		return fail_set(fail, -EINVAL, "'%s' is no field", field->name ? field->name : "");
	if (field->offset < COMMON_BYTES || field->offset > RECORD_MAX || field->bytes > RECORD_MAX)
		return fail_set(fail, -EINVAL, "the field '%s' lies outside of a record behind its 8 common bytes",
				field->name);
	return 0;
}

static int make_format(weft_writer *writer, const char *system, const char *name, const struct weft_field_info *fields,
		       size_t nr, const char *print_fmt, int32_t *ret_id, struct fail *fail)
{
	static const char common[] = "format:\n"
				     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
				     "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
				     "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
				     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
	cleanup_buf struct buf text = BUF_INIT;
	size_t len;
	char *taken;
	bool ok;

	if (!is_name(system) || !is_name(name))
		return fail_set(fail, -EINVAL, "'%s:%s' is no name of an event", system, name);
	if (strchr(print_fmt, '\n'))
		return fail_set(fail, -EINVAL, "a print fmt is one line");
	ok = buf_addf(&text, "name: %s\nID: %d\n%s", name, (int)writer->next_id, common);
	for (size_t i = 0; ok && i < nr; i++) {
		int r = check_field(&fields[i], fail);

		if (r)
			return r;
		ok = put_field(&text, &fields[i]);
	}
	ok = ok && buf_addf(&text, "\nprint fmt: %s\n", print_fmt);
	taken = ok ? buf_take(&text, &len) : NULL;
	if (!taken)
		return fail_memory(fail);
	writer->next_id++;
	return add_format(writer, system, taken, len, ret_id, fail);
}

int weft_writer_type(weft_writer *writer, const char *system, const char *name, const struct weft_field_info *fields,
		     size_t nr, const char *print_fmt, int32_t *ret_id, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	int r = make_format(writer, system, name, fields, nr, print_fmt, ret_id, &fail);

	return api_result(error, r, &fail);
}

int weft_writer_task(weft_writer *writer, int32_t pid, int32_t tgid, const char *comm, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	bool ok;

	if (pid <= 0 || strchr(comm, '\n') || strlen(comm) > NAME_MAX_LEN) {
		(void)fail_set(&fail, -EINVAL, "PID %d cannot have the name '%s'", (int)pid, comm);
		return api_result(error, -EINVAL, &fail);
	}
	ok = buf_addf(&writer->names, "%d %s\n", (int)pid, comm) &&
	     (!tgid || buf_addf(&writer->tgids, "%d %d\n", (int)pid, (int)tgid));
	return ok ? 0 : api_result(error, fail_memory(&fail), &fail);
}

static int make_cpu(weft_writer *writer, uint32_t cpu, struct fail *fail)
{
	if (cpu >= WRITER_CPUS)
		return fail_set(fail, -EINVAL, "there is no CPU %u", cpu);
	for (; writer->nr_cpus <= cpu; writer->nr_cpus++) {
		size_t nr = writer->nr_cpus;
		int64_t *lost = vec_room(writer->lost, nr, sizeof(*lost));
		uint64_t *last = lost ? vec_room(writer->last, nr, sizeof(*last)) : NULL;

		if (lost)
			writer->lost = lost;
		if (!last)
			return fail_memory(fail);
		writer->last = last;
		lost[nr] = 0;
		last[nr] = 0;
	}
	return 0;
}

static int check_event(weft_writer *writer, const struct weft_new_event *event, struct fail *fail)
{
	const struct format *format = schema_format(writer->schema, event->type, NULL);

	if (writer->written)
		return fail_set(fail, -EBUSY, "the file has been written");
	if (!format)
		return fail_set(fail, -ENOENT, "no format has the number %d", (int)event->type);
	if (event->bytes > RECORD_MAX || event->bytes + COMMON_BYTES < format->size)
		return fail_set(fail, -EINVAL, "an event '%s' takes %u bytes and more, up to %d, not %u", format->name,
				format->size - COMMON_BYTES, RECORD_MAX, event->bytes);
	return make_cpu(writer, event->cpu, fail);
}

static int add(weft_writer *writer, const struct weft_new_event *event, struct fail *fail)
{
	/* Whole words, whose last bytes are zero. */
	uint32_t words[(RECORD_MAX + COMMON_BYTES) / 4 + 1];
	uint8_t *bytes = (uint8_t *)words;
	struct record record = { .ts = event->ts, .data = bytes, .len = (event->bytes + COMMON_BYTES + 3) & ~3u };
	uint16_t type = (uint16_t)event->type;
	int r = check_event(writer, event, fail);

	if (r)
		return r;
	if (event->ts < writer->last[event->cpu])
		return fail_set(fail, -EINVAL, "the events of CPU %u do not come in the order of their times",
				event->cpu);
	words[record.len / 4 - 1] = 0;
	memcpy(bytes, &type, sizeof(type));
	bytes[2] = event->flags;
	bytes[3] = event->preempt;
	memcpy(bytes + 4, &event->pid, sizeof(event->pid));
	if (event->bytes)
		memcpy(bytes + COMMON_BYTES, event->data, event->bytes);
	r = binder_add(writer->binder, event->cpu, &record, writer->lost[event->cpu], fail);
	if (!r) {
		writer->lost[event->cpu] = 0;
		writer->last[event->cpu] = event->ts;
	}
	return r;
}

int weft_writer_add(weft_writer *writer, const struct weft_new_event *event, struct weft_error *error)
{
	struct weft_new_event known;
	struct fail fail = FAIL_INIT;
	int r = api_options(event, &known, sizeof(known), &fail);

	if (!r)
		r = add(writer, &known, &fail);
	return api_result(error, r, &fail);
}

int weft_writer_lost(weft_writer *writer, uint32_t cpu, int64_t events, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	int r = make_cpu(writer, cpu, &fail);

	if (!r)
		writer->lost[cpu] = events > 0 ? events : PAGE_LOST_UNKNOWN;
	return api_result(error, r, &fail);
}

static int write_buffer(void *arg, struct part *part, struct writer *out, struct fail *fail)
{
	weft_writer *writer = arg;
	int r = writer_buffer(out, "", writer->clock, PAGE_BYTES, fail);

	return r ? r : binder_write(writer->binder, part, out, fail);
}

static int write_file(weft_writer *writer, int fd, struct fail *fail)
{
	const struct writer_options form = { .version = writer->options.version ? writer->options.version : 7,
					     .compress = !writer->options.plain && writer->options.version != 6,
					     .level = 3,
					     .big_endian = __BYTE_ORDER == __BIG_ENDIAN,
					     .long_size = sizeof(long),
					     .page_size = PAGE_BYTES };
	struct writer_setting tgids = { .name = "saved_tgids", .text = writer->tgids.data, .len = writer->tgids.len };
	struct writer_metadata metadata = { .header_event = "",
					    .formats = writer->formats,
					    .nr_formats = writer->nr_formats,
					    .cmdlines = writer->names.data,
					    .cmdlines_len = writer->names.len,
					    .uname = writer->uname,
					    .version = writer->options.recorder ? writer->options.recorder : "libweft",
					    .settings = &tgids,
					    .nr_settings = writer->tgids.len > 0,
					    .cpu_count = binder_cpus(writer->binder),
					    .has_date = writer->options.date_offset != 0,
					    .date_offset_ns = writer->options.date_offset };
	char head[300], clock[64];
	uint64_t size;

	if (writer->written)
		return fail_set(fail, -EBUSY, "the file has been written");
	writer->written = true;
	snprintf(head, sizeof(head),
		 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:%zu;\tsigned:1;\n"
		 "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		 "\tfield: char data;\toffset:%zu;\tsize:%zu;\tsigned:1;\n",
		 sizeof(long), 8 + sizeof(long), PAGE_BYTES - 8 - sizeof(long));
	snprintf(clock, sizeof(clock), "[%s]", writer->clock);
	metadata.header_page = head;
	metadata.clock = clock;
	return made_file_write(fd, &form, &metadata, write_buffer, writer, &size, fail);
}

int weft_writer_finish(weft_writer *writer, int fd, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	int r = write_file(writer, fd, &fail);

	return api_result(error, r, &fail);
}

/* What was lost on each CPU of each buffer before its next event that is kept. */
struct saving {
	int64_t **lost;
	struct excerpt *excerpt;
	uint64_t events;
};

static int add_to_excerpt(const weft_reader *reader, struct saving *saving, const struct event *event,
			  struct fail *fail)
{
	const struct context *context = reader->reader.buffers[event->buffer].context;
	int64_t *lost = &saving->lost[event->buffer][event->cpu_index], before = *lost;

	if (event->kind == EVENT_LOST) {
		*lost = before < 0 || event->lost < 0 ? PAGE_LOST_UNKNOWN : before + event->lost;
		return 0;
	}
	*lost = 0;
	saving->events++;
	return excerpt_add(saving->excerpt, context->buffer, event, before, fail);
}

static int begin_saving(const weft_reader *reader, struct saving *saving, struct fail *fail)
{
	saving->lost = calloc(reader->reader.nr_buffers + 1, sizeof(int64_t *));
	if (!saving->lost)
		return fail_memory(fail);
	for (size_t i = 0; i < reader->reader.nr_buffers; i++) {
		const struct context *context = reader->reader.buffers[i].context;
		size_t nr = trace_buffer(context->trace, context->buffer)->nr_cpus;

		saving->lost[i] = calloc(nr + 1, sizeof(int64_t));
		if (!saving->lost[i])
			return fail_memory(fail);
	}
	return 0;
}

static int save(weft_reader *reader, int fd, const struct weft_save_options *options, struct saving *saving,
		struct fail *fail)
{
	const struct recast_options form = { .version = options->version ? options->version : 7,
					     .compress = !options->plain && options->version != 6,
					     .level = 3 };
	cleanup_buf struct buf choice = BUF_INIT;
	struct event event;
	uint64_t size;
	int r = api_reader_start(reader, API_EVENTS, NULL, fail);

	if (!r && reader->nr_sources != 1)
		r = fail_set(fail, -EINVAL, "an excerpt is of one file");
	if (!r && form.version != 6 && form.version != 7)
		r = fail_set(fail, -EINVAL, "there is no version %u of a trace.dat: 6 and 7 are", form.version);
	if (!r)
		r = excerpt_new(reader->sources[0].file->trace, &form, &saving->excerpt, fail);
	if (!r)
		r = begin_saving(reader, saving, fail);
	while (!r && (r = reader_next(&reader->reader, &event, fail)) > 0)
		r = add_to_excerpt(reader, saving, &event, fail);
	if (!r && !query_put_choice(reader->sources[0].query, &choice))
		r = fail_memory(fail);
	if (r)
		return r;
	if (choice.len)
		excerpt_selected(saving->excerpt, buf_str(&choice));
	return excerpt_write(saving->excerpt, fd, &size, fail);
}

int weft_reader_save(weft_reader *reader, int fd, const struct weft_save_options *options, uint64_t *ret_events,
		     struct weft_error *error)
{
	struct weft_save_options known;
	struct saving saving = { .lost = NULL };
	struct fail fail = FAIL_INIT;
	int r = api_options(options, &known, sizeof(known), &fail);

	if (!r)
		r = save(reader, fd, &known, &saving, &fail);
	for (size_t i = 0; saving.lost && i < reader->reader.nr_buffers; i++)
		free(saving.lost[i]);
	free(saving.lost);
	excerpt_free(saving.excerpt);
	if (!r && ret_events)
		*ret_events = saving.events;
	return api_result(error, r, &fail);
}
