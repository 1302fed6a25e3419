// SPDX-License-Identifier: LGPL-2.1-or-later
/* weft_contents: what a file has besides its events. */
#include "lib/api/api_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/schema/program.h"
#include "lib/pages/trace/trace.h"

/* The text of a format, by its names: the formats of a schema are some of those of the file. */
static struct trace_text format_text(const weft_file *file, const char *system, const char *name)
{
	size_t nr, len = strlen(name);
	const struct trace_format *formats = trace_formats(file->trace, &nr);

	for (size_t i = 0; i < nr; i++) {
		struct trace_text text = formats[i].text;

		if (formats[i].system.len == strlen(system) &&
		    !memcmp(formats[i].system.text, system, strlen(system)) && text.len > 6 + len &&
		    !memcmp(text.text, "name: ", 6) && !memcmp(text.text + 6, name, len) && text.text[6 + len] == '\n')
			return text;
	}
	return (struct trace_text){ .text = "" };
}

/* Parses the format at an index, under the lock of the file. *ret is NULL if it cannot be understood. */
static int parse_format(const weft_file *file, size_t buffer, size_t index, const struct format **ret,
			struct weft_format_info *ret_info, struct fail *fail)
{
	pthread_mutex_t *lock = &((weft_file *)(uintptr_t)file)->lock;
	const struct context *context = NULL;
	int r = api_file_context(file, buffer, &context, fail);

	if (r)
		return r;
	pthread_mutex_lock(lock);
	if (schema_at(context->schema, index, &ret_info->id, &ret_info->system, &ret_info->name)) {
		*ret = schema_format(context->schema, ret_info->id, &ret_info->note);
		if (*ret && strcmp(ret_info->system, "ftrace"))
			(void)schema_program(context->schema, *ret, &ret_info->note);
		r = 1;
	}
	if (schema_starved(context->schema))
		r = fail_memory(fail);
	pthread_mutex_unlock(lock);
	return r;
}

int weft_file_format(const weft_file *file, size_t buffer, size_t index, struct weft_format_info *ret,
		     struct weft_error *error)
{
	struct weft_format_info info = { .print_fmt = "" };
	struct fail fail = FAIL_INIT;
	const struct format *format = NULL;
	struct trace_text text;
	int r = parse_format(file, buffer, index, &format, &info, &fail);

	if (r <= 0)
		return api_result(error, r, &fail);
	text = format_text(file, info.system, info.name);
	info.text = text.text;
	info.text_len = text.len;
	if (format) {
		info.print_fmt = format->print_fmt;
		info.fields = format->nr_fields;
		info.bytes = format->size;
	}
	api_fill(ret, &info, sizeof(info));
	return 1;
}

int weft_file_field(const weft_file *file, size_t buffer, size_t format, size_t index, struct weft_field_info *ret,
		    struct weft_error *error)
{
	struct weft_format_info info;
	struct fail fail = FAIL_INIT;
	const struct format *known = NULL;
	int r = parse_format(file, buffer, format, &known, &info, &fail);

	if (r <= 0 || !known || index >= known->nr_fields)
		return r < 0 ? api_result(error, r, &fail) : 0;
	api_field_fill(&known->fields[index], index < known->nr_common, ret);
	return 1;
}

int weft_file_setting_at(const weft_file *file, size_t index, struct weft_setting_info *ret)
{
	struct weft_setting_info info = { .size = 0 };
	struct trace_text text;

	if (!trace_setting_at(file->trace, index, &info.buffer, &info.name, &text))
		return 0;
	info.text = text.text;
	info.text_len = text.len;
	api_fill(ret, &info, sizeof(info));
	return 1;
}

int weft_file_stats(const weft_file *file, size_t buffer, size_t index, struct weft_cpu_stats *ret,
		    struct weft_error *error)
{
	const struct context *context = NULL;
	struct fail fail = FAIL_INIT;
	const struct cpu_stats *stats;
	int r = api_file_context(file, buffer, &context, &fail);

	if (r || index >= context->nr_stats)
		return api_result(error, r, &fail);
	stats = &context->stats[index];
	api_fill(ret,
		 &(struct weft_cpu_stats){ .cpu = stats->cpu,
					   .entries = stats->entries,
					   .read = stats->read,
					   .overrun = stats->overrun,
					   .dropped = stats->dropped,
					   .commit_overrun = stats->commit_overrun },
		 sizeof(*ret));
	return 1;
}

int weft_file_clock(const weft_file *file, size_t buffer, size_t index, struct weft_clock_piece *ret,
		    struct weft_error *error)
{
	struct weft_clock_piece info = { .bound_ns = UINT64_MAX };
	const struct context *context = NULL;
	struct fail fail = FAIL_INIT;
	const struct wall_piece *piece;
	int r = api_file_context(file, buffer, &context, &fail);

	if (r || !context->wall || !(piece = wall_piece_at(context->wall, index)))
		return api_result(error, r, &fail);
	info.since = piece->since;
	info.step_ns = piece->step_ns;
	info.sampled = piece->sampled;
	info.is_sleep = piece->slept_ns && !piece->set_ns;
	info.is_exact = piece->is_exact;
	(void)wall_of(context->wall, piece->sampled, &info.wall_ns, &info.bound_ns);
	api_fill(ret, &info, sizeof(info));
	return 1;
}

int weft_file_when(const weft_file *file, size_t buffer, int64_t ns, uint64_t *ret, size_t max,
		   struct weft_error *error)
{
	const struct context *context = NULL;
	struct fail fail = FAIL_INIT;
	int r = api_file_context(file, buffer, &context, &fail);

	if (r || !context->wall)
		return api_result(error, r, &fail);
	return (int)wall_places(context->wall, ns, ret, max);
}

int weft_file_tasks(const weft_file *file, size_t buffer, weft_task_fn *see, void *arg, struct weft_error *error)
{
	const struct context *context = NULL;
	struct fail fail = FAIL_INIT;
	int32_t pid;
	int r = api_file_context(file, buffer, &context, &fail);

	if (r)
		return api_result(error, r, &fail);
	for (size_t at = 0; !r && tasks_each(context->tasks, &at, &pid);) {
		struct task_name name = task_name(context->tasks, pid);
		const struct weft_task task = { .size = sizeof(task),
						.pid = pid,
						.tgid = task_tgid(context->tasks, pid),
						.comm = name.text,
						.comm_len = name.len };

		r = see(arg, &task);
	}
	return r;
}

int weft_file_symbols(const weft_file *file, weft_symbol_fn *see, void *arg, struct weft_error *error)
{
	const struct context *context = NULL;
	struct fail fail = FAIL_INIT;
	struct symbol symbol;
	int r = api_file_context(file, 0, &context, &fail);

	if (r)
		return api_result(error, r, &fail);
	for (size_t i = 0; !r && symbols_at(context->symbols, i, &symbol); i++) {
		struct weft_symbol shown = { .size = sizeof(shown) };

		/* Between ranges of which the file has the symbols, there are entries without a name. */
		if (!symbol.name_len)
			continue;
		api_symbol_fill(&symbol, &shown);
		r = see(arg, &shown);
	}
	return r;
}

int weft_file_address(const weft_file *file, const char *name, uint64_t *ret, struct weft_error *error)
{
	const struct context *context = NULL;
	struct fail fail = FAIL_INIT;
	int r = api_file_context(file, 0, &context, &fail);

	return r ? api_result(error, r, &fail) : symbols_address(context->symbols, name, ret);
}

static int check_part(enum weft_who part, struct fail *fail)
{
	return (unsigned)part < WHO_PARTS ? 0 : fail_set(fail, -EINVAL, "there is no part %d", (int)part);
}

int weft_file_who(const weft_file *file, size_t buffer, enum weft_who part, int32_t pid, uint64_t ts, const char **ret,
		  enum weft_how_known *ret_how, struct weft_error *error)
{
	const struct context *context = NULL;
	struct fail fail = FAIL_INIT;
	enum who_how how = WHO_UNKNOWN;
	int r = check_part(part, &fail);

	if (!r)
		r = api_file_context(file, buffer, &context, &fail);
	if (r)
		return api_result(error, r, &fail);
	*ret = who_text(context, (enum who_part)part, who_is(context, (enum who_part)part, pid, ts, &how));
	if (ret_how)
		*ret_how = (enum weft_how_known)how;
	return 0;
}

struct naming {
	weft_name_fn *see;
	void *arg;
	int r;
};

static void see_name(const char *name, void *arg)
{
	struct naming *naming = arg;

	if (!naming->r)
		naming->r = naming->see(naming->arg, name);
}

int weft_file_names(const weft_file *file, size_t buffer, enum weft_who part, weft_name_fn *see, void *arg,
		    struct weft_error *error)
{
	struct naming naming = { .see = see, .arg = arg };
	const struct context *context = NULL;
	struct fail fail = FAIL_INIT;
	int r = check_part(part, &fail);

	if (!r)
		r = api_file_context(file, buffer, &context, &fail);
	if (r)
		return api_result(error, r, &fail);
	who_each(context, (enum who_part)part, see_name, &naming);
	return naming.r;
}
