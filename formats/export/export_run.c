// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/export.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/export/exports_internal.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/reader.h"

#define EXPORT_ENTRY(name) &name##_export,

static const struct export_ops *const exports[] = { EXPORTS(EXPORT_ENTRY) };

const struct export_ops *export_at(size_t index)
{
	return index < array_size(exports) ? exports[index] : NULL;
}

const struct export_ops *export_find(const char *name)
{
	for (size_t i = 0; i < array_size(exports); i++)
		if (!strcmp(exports[i]->name, name))
			return exports[i];
	return NULL;
}

int export_new(const struct export_ops *ops, const struct export_input *input, struct out *out, struct export **ret,
	       struct fail *fail)
{
	struct export *export = NULL;
	int r;

	r = ops->create(input, &export, fail);
	if (r)
		return r;
	export->ops = ops;
	export->shows = true;
	export->reader = input->reader;
	export->out = out;
	*ret = export;
	return 0;
}

void export_free(struct export *export)
{
	if (!export)
		return;
	buf_release(&export->notes);
	buf_release(&export->head);
	export->ops->free(export);
}

const struct wall *export_wall(const struct reader *reader)
{
	return reader->nr_buffers ? reader->buffers[0].context->wall : NULL;
}

bool export_day_offset(const struct reader *reader, uint64_t ts, int64_t *ret)
{
	int64_t ns;

	if (!wall_of(export_wall(reader), ts, &ns, NULL))
		return false;
	*ret = (int64_t)((uint64_t)ns - ts);
	return true;
}

static uint64_t next_set(const struct wall *wall, uint64_t ts, uint64_t last)
{
	const struct wall_piece *piece;

	for (size_t i = 1; (piece = wall_piece_at(wall, i)); i++)
		if (piece->since > ts)
			return piece->since <= last ? piece->since : UINT64_MAX;
	return UINT64_MAX;
}

bool export_date_at(const struct reader *reader, uint64_t ts, uint64_t last, struct export_date *ret,
		    uint64_t *ret_next)
{
	const struct wall *wall = export_wall(reader);
	uint64_t next = next_set(wall, ts, last), until = next < last ? next - 1 : last;
	struct export_date date = { .ts = ts };
	int64_t then;

	*ret_next = next;
	if (!wall_of(wall, ts, &date.wall_ns, &date.bound_ns))
		return false;
	if (until > ts && wall_of(wall, until, &then, NULL))
		date.drift = (int64_t)((double)((then - date.wall_ns) - (int64_t)(until - ts)) * 1e12 /
				       (double)(until - ts));
	*ret = date;
	return true;
}

void export_who_at(const struct context *context, int32_t pid, uint64_t ts, uint64_t last, struct export_who *ret)
{
	uint64_t until = who_until(context, pid, ts);

	*ret = (struct export_who){ .ts = ts,
				    .until = until < last ? until : last,
				    .tgid = who_process(context, pid, ts, NULL) };
	for (enum who_part part = 0; part < WHO_PARTS; part++) {
		uint32_t who = who_is(context, part, pid, ts, NULL);

		ret->texts[part] = who ? who_text(context, part, who) : NULL;
	}
}

const struct context *export_context(const struct export *export, const struct event *event)
{
	return reader_context(export->reader, event);
}
