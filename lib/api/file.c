// SPDX-License-Identifier: LGPL-2.1-or-later
/* weft_file: a trace.dat, and what it says about itself. */
#include "lib/api/api_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/pages/trace/trace.h"

void api_file_use(weft_file *file)
{
	__atomic_add_fetch(&file->uses, 1, __ATOMIC_RELAXED);
}

void weft_file_free(weft_file *file)
{
	if (!file || __atomic_sub_fetch(&file->uses, 1, __ATOMIC_ACQ_REL))
		return;
	for (size_t i = 0; file->buffers && i < trace_buffers(file->trace); i++)
		context_free(file->buffers[i].context);
	trace_free(file->trace);
	pthread_mutex_destroy(&file->lock);
	free(file->buffers);
	free(file->plugins);
	free(file->damage);
	free(file);
}

/* The context of a buffer and its times, made by the first who asks. The lock is held. */
static int find_buffer(const weft_file *file, size_t index, bool times, struct api_buffer **ret, struct fail *fail)
{
	struct api_buffer *buffer = &file->buffers[index];
	int r = buffer->context ? 0 : context_new(file->trace, index, &buffer->context, fail);

	if (!r && times)
		r = extent_find(buffer->context, &buffer->extent, fail);
	if (!r)
		*ret = buffer;
	return r;
}

static int look_at(const weft_file *file, size_t index, bool times, struct api_buffer **ret, struct fail *fail)
{
	pthread_mutex_t *lock = &((weft_file *)(uintptr_t)file)->lock;
	int r;

	if (index >= trace_buffers(file->trace))
		return fail_set(fail, -ERANGE, "'%s' has no buffer %zu", trace_path(file->trace), index);
	pthread_mutex_lock(lock);
	r = find_buffer(file, index, times, ret, fail);
	pthread_mutex_unlock(lock);
	return r;
}

int api_file_context(const weft_file *file, size_t buffer, const struct context **ret, struct fail *fail)
{
	struct api_buffer *found;
	int r = look_at(file, buffer, false, &found, fail);

	if (!r)
		*ret = found->context;
	return r;
}

static int take_options(weft_file *file, const struct weft_open_options *options, struct fail *fail)
{
	struct api_buffer *first = NULL;
	int r = 0;

	if (options->trust_sizes)
		trace_trust_sizes(file->trace);
	if (options->offset)
		trace_shift_times(file->trace, options->offset);
	if (options->plugins)
		file->plugins = strdup(*options->plugins ? options->plugins : WEFT_LIBDIR "/plugins");
	if (options->plugins && !file->plugins)
		return fail_memory(fail);
	if (options->offset < 0)
		r = look_at(file, 0, true, &first, fail);
	if (!r && first && first->extent.found && first->extent.first > INT64_MAX)
		r = fail_set(fail, -EINVAL, "'%s' would have times below 0 with this offset", trace_path(file->trace));
	return r;
}

static int init(weft_file *file, struct trace *trace, const struct weft_open_options *options, struct fail *fail)
{
	const char *damage = trace_damage(trace);
	struct fail said;

	file->trace = trace;
	file->uses = 1;
	pthread_mutex_init(&file->lock, NULL);
	file->buffers = calloc(trace_buffers(trace) + 1, sizeof(*file->buffers));
	if (damage)
		api_say(damage, said.text, sizeof(said.text));
	file->damage = damage ? strdup(said.text) : NULL;
	if (!file->buffers || (damage && !file->damage))
		return fail_memory(fail);
	return take_options(file, options, fail);
}

/* Takes the trace. */
static int new_of(struct trace *trace, const struct weft_open_options *options, weft_file **ret, struct fail *fail)
{
	weft_file *file = calloc(1, sizeof(*file));
	int r;

	if (!file) {
		trace_free(trace);
		return fail_memory(fail);
	}
	r = init(file, trace, options, fail);
	if (r)
		weft_file_free(file);
	else
		*ret = file;
	return r;
}

int api_file_of(struct trace *trace, weft_file **ret, struct fail *fail)
{
	static const struct weft_open_options usual;

	return new_of(trace, &usual, ret, fail);
}

int weft_file_open(const char *path, const struct weft_open_options *options, weft_file **ret, struct weft_error *error)
{
	struct weft_open_options known;
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	int r = api_options(options, &known, sizeof(known), &fail);

	if (!r)
		r = trace_open(path, &trace, &fail);
	if (!r)
		r = new_of(trace, &known, ret, &fail);
	return api_result(error, r, &fail);
}

int weft_file_open_fd(int fd, const char *name, const struct weft_open_options *options, weft_file **ret,
		      struct weft_error *error)
{
	struct weft_open_options known;
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	int r = api_options(options, &known, sizeof(known), &fail);

	if (!r)
		r = trace_open_fd(fd, name, &trace, &fail);
	if (!r)
		r = new_of(trace, &known, ret, &fail);
	return api_result(error, r, &fail);
}

static const char *text_or_none(const char *text)
{
	return text ? text : "";
}

int weft_file_info(const weft_file *file, struct weft_file_info *ret, struct weft_error *error)
{
	const struct trace_info *info = trace_info(file->trace);
	struct trace_text recorder = { .text = NULL };
	struct fail fail = FAIL_INIT;
	struct api_buffer *first;
	int r = look_at(file, 0, false, &first, &fail);

	if (!r)
		r = trace_meta(file->trace, TRACE_VERSION, &recorder, &fail);
	if (r)
		return api_result(error, r, &fail);
	api_fill(ret,
		 &(struct weft_file_info){
			 .version = info->version,
			 .long_size = info->long_size,
			 .big_endian = info->big_endian,
			 .has_date = info->has_date,
			 .date_offset = info->day_offset_ns,
			 .bytes = info->size,
			 .trace_id = info->trace_id,
			 .cpus = first->context->online_cpus,
			 .page_size = info->page_size,
			 .codec = text_or_none(info->codec),
			 .release = first->context->release,
			 .machine = first->context->machine,
			 .recorder = text_or_none(recorder.text),
		 },
		 sizeof(*ret));
	return 0;
}

size_t weft_file_buffers(const weft_file *file)
{
	return trace_buffers(file->trace);
}

int weft_file_buffer(const weft_file *file, size_t index, struct weft_buffer_info *ret, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	struct api_buffer *buffer;
	int r = look_at(file, index, true, &buffer, &fail);

	if (r)
		return api_result(error, r, &fail);
	api_fill(ret,
		 &(struct weft_buffer_info){
			 .name = buffer->context->instance,
			 .clock = buffer->context->clock,
			 .tracer = buffer->context->tracer,
			 .clock_is_ns = buffer->context->unit == CLOCK_UNIT_NS,
			 .has_events = buffer->extent.found,
			 .first = buffer->extent.first,
			 .last = buffer->extent.last,
			 .cpus = (uint32_t)trace_buffer(file->trace, index)->nr_cpus,
		 },
		 sizeof(*ret));
	return 0;
}

const char *weft_file_setting(const weft_file *file, size_t buffer, const char *name, size_t *ret_len)
{
	struct trace_text text = trace_setting(file->trace, buffer, name);

	if (text.text && ret_len)
		*ret_len = text.len;
	return text.text;
}

const char *weft_file_damage(const weft_file *file)
{
	return file->damage;
}
