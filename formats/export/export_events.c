// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/export_events.h"

#include "formats/export/export.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/reader/reader.h"

enum { OUT_SIZE = 1 << 20, FAIL_LOOK = 1024 };

struct driving {
	struct export_events *driver;
	unsigned seen;
	int failed; /* the result of see_in_pass() */
	struct fail *fail;
};

static int write_out(struct export_events *driver, struct fail *fail)
{
	struct out *out = driver->out;
	int r;

	if (out->failed)
		return fail_memory(fail);
	driver->bytes += out_len(out);
	r = driver->write(driver->arg, out->start, out_len(out), fail);
	out_clear(out);
	return r;
}

/* Returns the exporter's failure: an exporter does not stop by itself. */
static int look(const struct export *export, struct fail *fail)
{
	return export->error ? fail_set(fail, export->error, "%s", export->failure.text) : 0;
}

static void see(struct export_events *driver, const struct event *event)
{
	struct export *export = driver->export;

	export->shows = reader_shows(driver->reader, event);
	if (event->kind == EVENT_LOST)
		driver->gaps++;
	else if (export->shows)
		driver->events++;
	export->ops->event(export, event);
}

/* Writes what an event has produced. Looks for failures from time to time. */
static int follow(struct driving *driving, struct fail *fail)
{
	struct export_events *driver = driving->driver;

	if (out_len(driver->out) >= OUT_SIZE && write_out(driver, fail))
		return -1;
	return ++driving->seen % FAIL_LOOK || !look(driver->export, fail) ? 0 : -1;
}

/* Shows an event to the exporter in the pass of others. */
static void see_in_pass(void *arg, const struct event *event)
{
	struct driving *driving = arg;
	struct export_events *driver = driving->driver;

	if (driving->failed || driver->events >= driver->limit)
		return;
	see(driver, event);
	driving->failed = follow(driving, driving->fail);
	if (driving->failed || driver->events >= driver->limit)
		reader_stop(driver->reader);
}

static int run_pass(struct driving *driving, struct fail *fail)
{
	const struct reader_consumer after = { see_in_pass, driving };
	int r;

	driving->fail = fail;
	r = driving->driver->pass(driving->driver->arg, &after, fail);
	return driving->failed ? driving->failed : r;
}

static int read_each(struct driving *driving, struct fail *fail)
{
	struct export_events *driver = driving->driver;
	struct event event;
	int r = 1;

	while (driver->events < driver->limit && (r = reader_next(driver->reader, &event, fail)) > 0) {
		see(driver, &event);
		if (follow(driving, fail))
			return -1;
	}
	return r < 0 ? r : 0;
}

int export_events(struct export_events *driver, struct fail *fail)
{
	struct export *export = driver->export;
	struct driving driving = { .driver = driver };
	int r;

	if (export->ops->begin)
		export->ops->begin(export);
	r = driver->pass ? run_pass(&driving, fail) : read_each(&driving, fail);
	if (r)
		return r;
	if (export->ops->end)
		export->ops->end(export);
	r = look(export, fail);
	return r ? r : write_out(driver, fail);
}

int export_all(struct export *export, struct reader *reader, struct fail *fail)
{
	struct event event;
	int r;

	while ((r = reader_next(reader, &event, fail)) > 0) {
		export->shows = reader_shows(reader, &event);
		export->ops->event(export, &event);
	}
	return r ? r : look(export, fail);
}
