// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/stream_print.h"

#include "cmd/options/formats.h"
#include "cmd/terminal/terminal.h"
#include "formats/kernel/prefix.h"
#include "formats/lanes.h"
#include "formats/painted.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/event/context.h"
#include "lib/live/tables.h"
#include "lib/reader/reader.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct printing {
	const struct stream_options *options;
	struct live *live;
	struct reader *reader; /* of the stream */
	struct lanes lanes;
	struct sink_times times;
	char **prefixes; /* one for each lane; NULL: none */
	struct out scratch;
};

static int open_sink(struct printing *printing, size_t index, struct fail *fail)
{
	const struct stream_options *options = printing->options;
	struct context *context = printing->reader->buffers[index].context;
	struct sink_options sink = options->sink;
	int err = 0;

	if (!(options->has_self ? options->self : !options->format->leaves_out_self))
		err = live_leave_out_self(printing->live, index, &sink.left_out, fail);
	if (!err)
		err = decode_open(&options->decode, context, fail);
	sink.times = &printing->times;
	sink.one_line = format_is_one_line(&sink);
	return err ? err : painted_new(options->format, context, &sink, &printing->lanes.at[index].sink, fail);
}

static int open_sinks(struct printing *printing, struct fail *fail)
{
	size_t nr = printing->reader->nr_buffers;
	int err = 0;

	if (!printing->options->tables) {
		printing->lanes.at = calloc(nr, sizeof(*printing->lanes.at));
		if (!printing->lanes.at)
			return fail_memory(fail);
		printing->lanes.nr = nr;
	}
	for (size_t i = 0; !err && i < printing->lanes.nr; i++)
		err = open_sink(printing, i, fail);
	return err;
}

static char *name_of(const struct printing *printing, size_t lane)
{
	return format_instance_name(printing->reader->buffers[lane].context->instance, &printing->options->sink);
}

/* Makes the prefixes "  NAME: ", all of the same width; blanks for the main instance. */
static int set_prefixes(struct printing *printing, struct fail *fail)
{
	size_t nr = printing->lanes.nr;
	int width = 0;

	printing->prefixes = calloc(nr, sizeof(*printing->prefixes));
	if (!printing->prefixes || !out_init(&printing->scratch, 0))
		return fail_memory(fail);
	for (size_t i = 0; i < nr; i++) {
		cleanup_free char *name = name_of(printing, i);
		int len = name ? (int)strlen(name) : 0;

		if (!name)
			return fail_memory(fail);
		width = len > width ? len : width;
	}
	for (size_t i = 0; i < nr; i++) {
		cleanup_free char *name = name_of(printing, i);

		printing->prefixes[i] = name ? prefix_of(name, width) : NULL;
		if (!printing->prefixes[i])
			return fail_memory(fail);
		printing->lanes.at[i].prefix = printing->prefixes[i];
	}
	printing->lanes.scratch = &printing->scratch;
	return 0;
}

static int print(struct printing *printing, struct fail *fail)
{
	const struct stream_options *options = printing->options;
	struct flow_consumer consumer;
	int err = open_sinks(printing, fail);

	if (!err)
		err = live_start(printing->live, fail);
	if (!err && printing->lanes.nr > 1 && !options->format->tells_instance)
		err = set_prefixes(printing, fail);
	if (!err && options->tables)
		err = live_tables_begin(options->tables, printing->reader, live_out(printing->live), fail);
	if (err)
		return err;
	printing->lanes.reader = printing->reader;
	printing->lanes.out = live_out(printing->live);
	consumer = options->tables ? live_tables_consumer(options->tables) : lanes_consumer(&printing->lanes);
	err = live_run(printing->live, &consumer, fail);
	return err ? err : decode_check_all(printing->reader, fail);
}

static void release(struct printing *printing)
{
	struct reader *reader = printing->reader;

	for (size_t i = 0; i < printing->lanes.nr; i++) {
		if (printing->lanes.at[i].sink)
			printing->lanes.at[i].sink->ops->free(printing->lanes.at[i].sink);
		if (printing->prefixes)
			free(printing->prefixes[i]);
	}
	decode_end(reader);
	for (size_t i = 0; i < reader->nr_buffers; i++)
		if (reader->buffers[i].events)
			format_tell_fields(reader->buffers[i].events);
	if (printing->options->tables)
		live_tables_release(printing->options->tables);
	free(printing->prefixes);
	free(printing->lanes.at);
	out_release(&printing->scratch);
}

int stream_print(struct stream_options *options, struct live_result *ret, struct fail *fail)
{
	struct printing printing = { .options = options };
	struct fail later = FAIL_INIT;
	int err, closed;

	options->live.fd = STDOUT_FILENO;
	/* Tables that are redrawn contain escape sequences of weft's own, and escape everything else themselves. */
	options->live.escapes = options->tables ? terminal_escapes() && !options->tables->redraws :
						  format_is_escaped(options->format, &options->sink);
	err = live_new(&options->live, ret, &printing.live, fail);
	if (err)
		return err;
	printing.reader = live_reader(printing.live);
	err = print(&printing, fail);
	release(&printing);
	closed = live_free(printing.live, &later);
	return fail_first(err, closed, fail, &later);
}
