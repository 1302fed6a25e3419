// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/export_slices.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/export/export.h"
#include "formats/render.h"
#include "formats/slices.h"
#include "formats/text_end.h"
#include "lib/ground/base/out.h"

/* The exporter of a thread. */
struct maker {
	struct export *export;
	uint64_t events, gaps;
};

static void maker_free(void *arg)
{
	struct maker *maker = arg;

	export_free(maker->export);
	free(maker);
}

static int create(void *arg, const struct reader *reader, struct out *out, void **ret, struct fail *fail)
{
	const struct export_slices *driver = arg;
	struct export_input input = *driver->input;
	struct maker *maker = calloc(1, sizeof(*maker));
	int r;

	if (!maker)
		return fail_memory(fail);
	input.reader = reader;
	r = export_new(driver->export->ops, &input, out, &maker->export, fail);
	if (r)
		free(maker);
	else
		*ret = maker;
	return r;
}

static void put(void *arg, const struct event *event)
{
	struct maker *maker = arg;

	if (event->kind == EVENT_LOST)
		maker->gaps++;
	else
		maker->events++;
	maker->export->ops->event(maker->export, event);
}

static int check(void *arg, struct fail *fail)
{
	const struct export *export = ((const struct maker *)arg)->export;

	return export->error ? fail_set(fail, export->error, "%s", export->failure.text) : 0;
}

static void done(void *arg, void *made)
{
	struct export_slices *driver = arg;
	struct maker *maker = made;

	driver->events += maker->events;
	driver->gaps += maker->gaps;
	driver->export->ops->join(driver->export, maker->export);
}

static const struct sliced_lines lines = {
	.create = create, .put = put, .check = check, .done = done, .free = maker_free
};

int export_slices(struct export_slices *driver, struct fail *fail)
{
	const struct render_options options = { .pool = driver->pool, .limit = UINT64_MAX };
	const struct sliced sliced = {
		.slices = driver->slices,
		.lines = &lines,
		.options = &options,
		.end = driver->end,
		.wrote = driver->wrote,
		.arg = driver,
	};
	struct export *export = driver->export;
	uint64_t printed;
	int r;

	driver->events = driver->gaps = 0;
	if (export->ops->begin)
		export->ops->begin(export);
	r = text_end_put(driver->end, driver->out, fail);
	if (!r)
		r = slices_render(&sliced, NULL, &printed, fail);
	if (r)
		return r;
	if (export->ops->end)
		export->ops->end(export);
	return export->error ? fail_set(fail, export->error, "%s", export->failure.text) : 0;
}
