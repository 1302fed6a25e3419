// SPDX-License-Identifier: GPL-2.0-only
/*
 * places FILE [KEY WORD]: goes to many places of a file, and reads on from them forward and backward, of all CPUs and
 * of each CPU. What is there must be what a reader that only goes forward has read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

enum { TRIES = 300, STEPS = 40, LINE = 4096 };

struct list {
	struct item {
		uint64_t ts;
		int cpu;
		struct weft_place place; /* before it */
		char *line;
	} * items;
	size_t nr;
};

static int failed;

static void fail(const char *what, size_t at)
{
	if (failed++ < 10)
		fprintf(stderr, "places: %s at event %zu\n", what, at);
}

static char *line_of(weft_reader *reader, const struct weft_event *event)
{
	char line[LINE];

	if (weft_event_text(reader, event, WEFT_TEXT_JSON, line, sizeof(line)) < 0)
		abort();
	return strdup(line);
}

static weft_reader *reader_of(weft_file *file, const weft_query *query)
{
	weft_reader *reader = weft_reader_new();

	if (!reader || weft_reader_add(reader, file, query, NULL))
		abort();
	return reader;
}

/* The events of a CPU, or of all. Their order may not be that of the times: only where it is, places are asked for. */
static void read_all(weft_reader *reader, struct list *list, int cpu)
{
	const struct weft_event *event;
	struct weft_place place;

	while (weft_reader_place(reader, &place), weft_reader_next(reader, &event, NULL) > 0) {
		if (cpu >= 0 && event->cpu != cpu)
			continue;
		list->items = realloc(list->items, (list->nr + 1) * sizeof(*list->items));
		if (!list->items)
			abort();
		list->items[list->nr++] = (struct item){
			.ts = event->ts, .cpu = event->cpu, .place = place, .line = line_of(reader, event)
		};
	}
}

static void release(struct list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i].line);
	free(list->items);
	*list = (struct list){ NULL, 0 };
}

static void same(weft_reader *reader, const struct list *list, size_t at, const struct weft_event *event,
		 const char *what)
{
	char *line = line_of(reader, event);

	if (at >= list->nr || strcmp(line, list->items[at].line))
		fail(what, at);
	free(line);
}

static void forward(weft_reader *reader, const struct list *list, size_t at, size_t steps)
{
	const struct weft_event *event;

	for (; steps && at < list->nr; steps--, at++) {
		if (weft_reader_next(reader, &event, NULL) <= 0)
			return fail("no next event", at);
		same(reader, list, at, event, "another next event");
	}
	if (at == list->nr && steps && weft_reader_next(reader, &event, NULL))
		fail("an event behind the end", at);
}

static void backward(weft_reader *reader, const struct list *list, size_t at, size_t steps)
{
	const struct weft_event *event;

	for (; steps && at; steps--, at--) {
		if (weft_reader_previous(reader, &event, NULL) <= 0)
			return fail("no event before", at);
		same(reader, list, at - 1, event, "another event before");
	}
	if (!at && steps && weft_reader_previous(reader, &event, NULL))
		fail("an event before the start", at);
}

/* The index of the first event that is not earlier. */
static size_t find(const struct list *list, uint64_t ts)
{
	size_t at = 0;

	while (at < list->nr && list->items[at].ts < ts)
		at++;
	return at;
}

static uint64_t chance(uint64_t *state, uint64_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (*state >> 33) % below;
}

static void check(weft_reader *reader, weft_reader *other, const struct list *list)
{
	uint64_t state = 1, first = list->items[0].ts, span = list->items[list->nr - 1].ts - first + 1000;
	struct weft_place place;

	for (int i = 0; i < TRIES; i++) {
		uint64_t ts =
			i % 2 ? list->items[chance(&state, list->nr)].ts :
				first - 500 + (uint64_t)((double)chance(&state, 1u << 31) / (1u << 31) * (double)span);
		size_t at = find(list, ts), steps = 1 + chance(&state, STEPS), back = chance(&state, STEPS);

		if (weft_reader_seek(reader, ts, NULL))
			fail("no place", at);
		if (i % 3)
			forward(reader, list, at, steps);
		else
			steps = 0;
		at = at + steps < list->nr ? at + steps : list->nr;
		weft_reader_place(reader, &place);
		backward(reader, list, at, back);
		forward(reader, list, at > back ? at - back : 0, back);
		/* A place that was told by one reader is the same for another one. */
		if (weft_reader_go(other, &place, NULL))
			fail("no such place", at);
		forward(other, list, at, 3);
		at = chance(&state, list->nr);
		if (weft_reader_go(other, &list->items[at].place, NULL))
			fail("not the place before an event", at);
		forward(other, list, at, 2);
	}
	weft_reader_seek(reader, UINT64_MAX, NULL);
	backward(reader, list, list->nr, list->nr + 1);
	forward(reader, list, 0, list->nr + 1);
	weft_reader_seek(reader, 0, NULL);
	forward(reader, list, 0, 5);
}

int main(int argc, char **argv)
{
	weft_query *query = weft_query_new();
	struct weft_error error = { .text = "usage: places FILE [KEY WORD]" };
	struct list all = { NULL, 0 }, one = { NULL, 0 };
	weft_reader *reader, *other;
	weft_file *file = NULL;

	if (argc < 2 || weft_file_open(argv[1], NULL, &file, &error) ||
	    (argc > 3 && weft_query_add(query, (enum weft_query_key)strtol(argv[2], NULL, 10), argv[3], &error))) {
		fprintf(stderr, "places: %s\n", error.text);
		return 2;
	}
	reader = reader_of(file, query);
	other = reader_of(file, query);
	read_all(reader, &all, -1);
	for (size_t i = 1; i < all.nr; i++)
		if (all.items[i].ts < all.items[i - 1].ts)
			return fprintf(stderr, "places: the time goes back\n"), 3;
	if (all.nr)
		check(reader, other, &all);
	for (int cpu = 0; cpu < 64; cpu++) {
		int r = weft_reader_cpu(reader, cpu, NULL);

		if (r == -ENOENT || (r | weft_reader_cpu(other, cpu, NULL)))
			continue;
		read_all(reader, &one, cpu);
		if (one.nr)
			check(reader, other, &one);
		release(&one);
	}
	if (weft_reader_cpu(reader, -1, NULL) || weft_reader_cpu(reader, 9999, &error) != -ENOENT)
		fail("the CPUs are not told apart", 0);
	forward(reader, &all, 0, all.nr + 1);
	printf("%zu events\n", all.nr);
	release(&all);
	weft_reader_free(reader);
	weft_reader_free(other);
	weft_query_free(query);
	weft_file_free(file);
	return failed != 0;
}
