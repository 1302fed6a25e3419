// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/event/events.h"

#include <stdlib.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/test.h"

/* A teacher adds the formats that the schema lacks, if it knows them. */
struct teacher {
	struct context *context;
	bool knows;
	unsigned asked[1 << 16];
};

static void teach(void *arg, uint16_t id)
{
	struct teacher *teacher = arg;
	size_t count;
	const struct trace_format *formats = trace_formats(teacher->context->trace, &count);

	teacher->asked[id]++;
	for (size_t i = 0; teacher->knows && i < count; i++)
		CHECK(!schema_add(teacher->context->schema, formats[i].system.text, formats[i].system.len,
				  formats[i].text.text, formats[i].text.len, NULL));
	/* Adds all formats at once, so that the reader asks for no other id. */
	teacher->knows = false;
}

/* Reads a whole file whose formats only the teacher has; returns the number of events with a format. */
static uint64_t read_all(struct teacher *teacher, uint64_t *ret_all, unsigned *ret_asked)
{
	struct events_options options = { .until = UINT64_MAX, .learn = teach, .learn_arg = teacher };
	struct trace *trace = NULL;
	struct context *context = NULL;
	struct events *events = NULL;
	struct schema *own, *empty = NULL;
	struct event event;
	uint64_t known = 0;

	*ret_all = *ret_asked = 0;
	if (trace_open("tests/fixtures/golden/6.12-events-sched.dat", &trace, NULL) ||
	    context_new(trace, 0, &context, NULL) || schema_new(&context->abi, &empty, NULL))
		abort();
	own = context->schema;
	context->schema = empty;
	teacher->context = context;
	CHECK(!events_open(context, &options, &events, NULL));
	while (events && events_next(events, &event, NULL) > 0) {
		if (event.kind != EVENT_RECORD)
			continue;
		known += event.type->format && event.type->program;
		++*ret_all;
	}
	for (size_t i = 0; i < array_size(teacher->asked); i++)
		if (teacher->asked[i] > *ret_asked)
			*ret_asked = teacher->asked[i];
	events_free(events);
	context->schema = own;
	context_free(context);
	schema_free(empty);
	trace_free(trace);
	return known;
}

TEST(events_learn_the_format_of_an_unknown_id_before_its_first_event)
{
	struct teacher *teacher = calloc(1, sizeof(*teacher));
	uint64_t known, all;
	unsigned asked;

	REQUIRE(teacher);
	teacher->knows = true;
	known = read_all(teacher, &all, &asked);
	CHECK(all > 50 && known == all);
	CHECK(asked == 1);
	free(teacher);
}

TEST(events_ask_once_for_an_id_that_nobody_knows)
{
	struct teacher *teacher = calloc(1, sizeof(*teacher));
	uint64_t known, all;
	unsigned asked;

	REQUIRE(teacher);
	known = read_all(teacher, &all, &asked);
	CHECK(all > 50 && !known);
	CHECK(asked == 1);
	free(teacher);
}
