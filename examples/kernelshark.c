// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin with which KernelShark reads files through libweft: those whose names do not end in ".dat", which
 * KernelShark always reads itself. Its column of texts then has what the kernel prints.
 *
 *	cc -shared -fPIC -I/usr/include/kernelshark -o weft_input.so kernelshark.c $(pkg-config --cflags --libs weft)
 *	ln -s trace.dat trace.weft
 *	kernelshark -p ./weft_input.so trace.weft
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <libkshark.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/weft.h>

struct input {
	weft_file *file;
	weft_reader *reader;            /* goes to the events that KernelShark asks about */
	struct weft_place *places;      /* of all events: kshark_entry.offset is an index */
	int64_t at;                     /* the last one that KernelShark asked about, */
	const struct weft_event *event; /* and its event; NULL: none */
	struct kshark_entry **rows;
	size_t nr, nr_places;
};

static struct input *input_of(const struct kshark_data_stream *stream)
{
	return ((struct kshark_generic_stream_interface *)stream->interface)->handle;
}

static const struct weft_event *event_of(const struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	struct input *input = input_of(stream);

	if (entry->event_id < 0)
		return NULL;
	if (!input->event || input->at != entry->offset) {
		input->event = NULL;
		input->at = entry->offset;
		if (weft_reader_go(input->reader, &input->places[entry->offset], NULL) ||
		    weft_reader_next(input->reader, &input->event, NULL) <= 0)
			input->event = NULL;
	}
	return input->event;
}

/* The piece of a text of the event, or all behind `from`, that ends before `to`. */
static char *text_of(struct kshark_data_stream *stream, const struct kshark_entry *entry, enum weft_text kind,
		     const char *from, const char *to)
{
	char text[8192] = "", *begin, *end, *copy = NULL;
	const struct weft_event *event;

	pthread_mutex_lock(&stream->input_mutex);
	event = event_of(stream, entry);
	if (event && weft_event_text(input_of(stream)->reader, event, kind, text, sizeof(text)) >= 0) {
		begin = strstr(text, from);
		begin = begin ? begin + strlen(from) : text;
		end = to ? strstr(begin, to) : NULL;
		copy = end ? strndup(begin, (size_t)(end - begin)) : strdup(begin);
	}
	pthread_mutex_unlock(&stream->input_mutex);
	return copy;
}

static char *get_info(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	char *text = NULL;

	if (entry->event_id != KS_EVENT_OVERFLOW)
		return text_of(stream, entry, WEFT_TEXT_BODY, ": ", NULL);
	return asprintf(&text, "missed_events=%i", (int)entry->offset) < 0 ? NULL : text;
}

static char *get_flags(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	return text_of(stream, entry, WEFT_TEXT_LINE, "] ", " ");
}

static bool format_at(const struct kshark_data_stream *stream, size_t index, struct weft_format_info *ret)
{
	*ret = (struct weft_format_info){ .size = sizeof(*ret) };
	return weft_file_format(input_of(stream)->file, 0, index, ret, NULL) > 0;
}

/* The index of the event's format, or -1. */
static int format_of(const struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	struct weft_format_info format;

	for (int i = 0; format_at(stream, (size_t)i, &format); i++)
		if (format.id == entry->event_id)
			return i;
	return -1;
}

static char *get_event_name(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	struct weft_format_info format;
	int at = format_of(stream, entry);
	char *name = NULL;

	if (entry->event_id == KS_EVENT_OVERFLOW)
		return strdup("missed_events");
	if (at < 0 || !format_at(stream, (size_t)at, &format) ||
	    asprintf(&name, "%s/%s", format.system, format.name) < 0)
		return NULL;
	return name;
}

static int find_event_id(struct kshark_data_stream *stream, const char *name)
{
	const char *slash = strchr(name, '/');
	struct weft_format_info format;

	for (size_t i = 0; slash && format_at(stream, i, &format); i++)
		if (!strncmp(format.system, name, (size_t)(slash - name)) && !format.system[slash - name] &&
		    !strcmp(format.name, slash + 1))
			return format.id;
	return -1;
}

static int *get_all_event_ids(struct kshark_data_stream *stream)
{
	int *ids = calloc((size_t)stream->n_events + 1, sizeof(*ids));
	struct weft_format_info format;

	for (size_t i = 0; ids && format_at(stream, i, &format); i++)
		ids[i] = format.id;
	return ids;
}

static int get_field_names(struct kshark_data_stream *stream, const struct kshark_entry *entry, char ***ret)
{
	struct weft_field_info field = { .size = sizeof(field) };
	int nr = 0, at = format_of(stream, entry);
	char **names = calloc(at < 0 ? 1 : 1024, sizeof(*names));

	while (names && at >= 0 && nr < 1024 &&
	       weft_file_field(input_of(stream)->file, 0, (size_t)at, (size_t)nr, &field, NULL) > 0)
		names[nr++] = strdup(field.name);
	*ret = names;
	return nr;
}

static const int read_record(struct kshark_data_stream *stream, void *record, const char *name, int64_t *ret)
{
	const struct weft_event *event = record;
	const weft_field *field = event ? weft_field_find(event->type, name) : NULL;

	(void)stream;
	if (field)
		*ret = weft_event_s64(event, field);
	return field ? 0 : -EINVAL;
}

static const int read_field(struct kshark_data_stream *stream, const struct kshark_entry *entry, const char *name,
			    int64_t *ret)
{
	int r;

	pthread_mutex_lock(&stream->input_mutex);
	r = read_record(stream, (void *)event_of(stream, entry), name, ret);
	pthread_mutex_unlock(&stream->input_mutex);
	return r;
}

static kshark_event_field_format get_field_type(struct kshark_data_stream *stream, const struct kshark_entry *entry,
						const char *name)
{
	struct weft_field_info field = { .size = sizeof(field) };
	int at = format_of(stream, entry);

	for (size_t i = 0; at >= 0 && weft_file_field(input_of(stream)->file, 0, (size_t)at, i, &field, NULL) > 0; i++)
		if (!strcmp(field.name, name))
			return field.kind == WEFT_FIELD_INTEGER && !field.is_pointer ? KS_INTEGER_FIELD :
										       KS_INVALID_FIELD;
	return KS_INVALID_FIELD;
}

static const int get_pid(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	(void)stream;
	return entry->pid;
}

static const int get_event_id(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	(void)stream;
	return entry->event_id;
}

static char *get_task(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	struct weft_task_info task = { .size = sizeof(task), .comm = "" };

	pthread_mutex_lock(&stream->input_mutex);
	(void)!weft_reader_task(input_of(stream)->reader, 0, entry->pid, &task);
	pthread_mutex_unlock(&stream->input_mutex);
	return strdup(task.comm);
}

static char *dump_entry(struct kshark_data_stream *stream, const struct kshark_entry *entry)
{
	char *task = get_task(stream, entry), *flags = get_flags(stream, entry), *info = get_info(stream, entry);
	char *name = get_event_name(stream, entry), *text = NULL;

	if (asprintf(&text, "%i; %" PRIi64 "; %s-%i; CPU %i; %s; %s; %s; 0x%x", entry->stream_id, entry->ts,
		     task ? task : "", entry->pid, entry->cpu, flags ? flags : "", name ? name : "", info ? info : "",
		     entry->visible) < 0)
		text = NULL;
	free(task);
	free(flags);
	free(info);
	free(name);
	return text;
}

/* Doubles an array when it is full. */
static bool make_room(void *array, size_t nr, size_t size)
{
	void **items = array, *more = nr & (nr - 1) ? *items : realloc(*items, (nr ? 2 * nr : 1) * size);

	if (more)
		*items = more;
	return more != NULL;
}

static bool add_row(struct kshark_context *context, struct kshark_data_stream *stream, const struct weft_event *event,
		    const struct weft_place *place)
{
	struct input *input = input_of(stream);
	struct kshark_entry *entry = calloc(1, sizeof(*entry));

	if (!entry || !make_room(&input->rows, input->nr, sizeof(*input->rows)) ||
	    !make_room(&input->places, input->nr_places, sizeof(*input->places))) {
		free(entry);
		return false;
	}
	*entry = (struct kshark_entry){ .visible = 0xff,
					.stream_id = stream->stream_id,
					.event_id = (int16_t)weft_type_id(event->type),
					.cpu = (int16_t)event->cpu,
					.pid = event->pid,
					.offset = (int64_t)input->nr_places,
					.ts = (int64_t)event->ts };
	input->rows[input->nr++] = entry;
	if (event->kind == WEFT_LOST) {
		entry->event_id = KS_EVENT_OVERFLOW;
		entry->offset = event->lost;
	} else {
		input->places[input->nr_places++] = *place;
		kshark_hash_id_add(stream->tasks, entry->pid);
	}
	kshark_postprocess_entry(stream, (void *)event, entry);
	kshark_apply_filters(context, stream, entry);
	return true;
}

static ssize_t load_entries(struct kshark_data_stream *stream, struct kshark_context *context,
			    struct kshark_entry ***ret)
{
	struct input *input = input_of(stream);
	const struct weft_event *event;
	struct weft_place place;
	int r = weft_reader_seek(input->reader, 0, NULL);

	input->event = NULL;
	input->rows = NULL;
	input->nr = input->nr_places = 0;
	while (!r) {
		weft_reader_place(input->reader, &place);
		r = weft_reader_next(input->reader, &event, NULL);
		if (r <= 0)
			break;
		r = add_row(context, stream, event, &place) ? 0 : -ENOMEM;
	}
	for (size_t i = 0; r && i < input->nr; i++)
		free(input->rows[i]);
	if (r) {
		free(input->rows);
		return r;
	}
	*ret = input->rows;
	return (ssize_t)input->nr;
}

static void release(struct input *input)
{
	weft_reader_free(input->reader);
	weft_file_free(input->file);
	free(input->places);
	free(input);
}

static int open_input(struct input *input, const char *path)
{
	struct weft_error error;
	weft_query *query = weft_query_new();
	int r = weft_file_open(path, NULL, &input->file, &error);

	input->reader = weft_reader_new();
	/* Instances are streams of their own for KernelShark. */
	if (!r)
		r = weft_query_add(query, WEFT_QUERY_INSTANCE, "", &error);
	if (!r)
		r = weft_reader_add(input->reader, input->file, query, &error);
	if (!r)
		r = weft_reader_start(input->reader, NULL, &error);
	weft_query_free(query);
	if (r)
		fprintf(stderr, "weft: %s\n", error.text);
	return r;
}

bool KSHARK_INPUT_CHECK(const char *path)
{
	weft_file *file = NULL;
	int r = weft_file_open(path, NULL, &file, NULL);

	weft_file_free(file);
	return !r;
}

const char *KSHARK_INPUT_FORMAT(void)
{
	return "weft";
}

int KSHARK_INPUT_INITIALIZER(struct kshark_data_stream *stream)
{
	struct kshark_generic_stream_interface *interface = calloc(1, sizeof(*interface));
	struct input *input = calloc(1, sizeof(*input));
	struct weft_file_info info = { .size = sizeof(info) };
	struct weft_format_info format;
	int r = interface && input ? open_input(input, stream->file) : -ENOMEM;

	if (r) {
		free(interface);
		if (input)
			release(input);
		return r;
	}
	*interface = (struct kshark_generic_stream_interface){ .type = KS_GENERIC_DATA_INTERFACE,
							       .get_pid = get_pid,
							       .get_event_id = get_event_id,
							       .get_event_name = get_event_name,
							       .get_task = get_task,
							       .get_info = get_info,
							       .aux_info = get_flags,
							       .find_event_id = find_event_id,
							       .get_all_event_ids = get_all_event_ids,
							       .dump_entry = dump_entry,
							       .get_all_event_field_names = get_field_names,
							       .get_event_field_type = get_field_type,
							       .read_event_field_int64 = read_field,
							       .read_record_field_int64 = read_record,
							       .load_entries = load_entries,
							       .handle = input };
	stream->interface = interface;
	(void)!weft_file_info(input->file, &info, NULL);
	stream->n_cpus = (int)info.cpus;
	while (format_at(stream, (size_t)stream->n_events, &format))
		stream->n_events++;
	return 0;
}

void KSHARK_INPUT_DEINITIALIZER(struct kshark_data_stream *stream)
{
	release(input_of(stream));
}
