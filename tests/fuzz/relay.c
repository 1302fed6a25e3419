// SPDX-License-Identifier: GPL-2.0-only
/* What somebody writes instead of `weft stream --pages`: weft_live_open_fd() of include/weft/weft.h, and its events. */
#include "include/weft/weft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { EVENTS_MAX = 3000 };

static volatile uint64_t sink;

static void look(weft_reader *reader, const struct weft_event *event)
{
	struct weft_symbol symbol = { .size = sizeof(symbol) };
	uint64_t stack[8];
	int64_t wall;
	char text[300];
	const char *comm;
	size_t nr;

	for (int kind = WEFT_TEXT_BODY; kind <= WEFT_TEXT_JSON; kind++)
		if (weft_event_text(reader, event, (enum weft_text)kind, text, sizeof(text)) >= 0)
			sink += strlen(text);
	if (!weft_event_comm(reader, event, &comm, &nr))
		sink += nr;
	if (!weft_wall(reader, event->buffer, event->ts, &wall, NULL))
		sink += (uint64_t)wall;
	if (weft_event_stack(event, stack, 8) > 0)
		sink += (uint64_t)weft_symbol_find(reader, event->buffer, stack[0], &symbol);
}

static int see_span(void *arg, weft_result *result, const struct weft_span *span)
{
	char *text = NULL;
	size_t text_len;

	(void)arg;
	if (!weft_result_write(result, 0, WEFT_FORM_JSON, NULL, &text, &text_len, NULL))
		sink += text_len + span->events;
	weft_free(text);
	weft_result_free(result);
	return 0;
}

/* The tables of an analysis in place of events. */
static void analyse(int fd, size_t which)
{
	static const char *const names[] = { "sched", "syscalls", "latency", "summary", "irq", "tasks" };
	const char *name = names[which % (sizeof(names) / sizeof(*names))];
	struct weft_error error = { .code = 0 };
	weft_result *result = NULL;
	weft_reader *reader = NULL;
	int r = weft_live_open_fd(fd, NULL, &reader, NULL);

	if (!r && which & 8)
		r = weft_analyse(reader, &name, 1, NULL, &result, &error);
	else if (!r)
		r = weft_analyse_spans(reader, name, which & 16 ? 1000000 : 0, NULL, see_span, NULL, &error);
	if (reader && r < 0 && (error.code != r || !*error.text))
		abort();
	weft_result_free(result);
	weft_reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int fd = memfd_create("relay", MFD_CLOEXEC);
	const struct weft_event *event;
	struct weft_error error = { .code = 0 };
	weft_reader *reader = NULL;
	unsigned events = 0;
	int r;

	if (fd < 0 || write(fd, data, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET))
		abort();
	r = weft_live_open_fd(fd, NULL, &reader, &error);
	while (!r && events++ < EVENTS_MAX) {
		r = weft_reader_next(reader, &event, &error);
		if (r <= 0)
			break;
		look(reader, event);
		r = 0;
	}
	/* Each failure has a text, and is the same when it is asked for again. */
	if (r < 0 && (error.code != r || !*error.text))
		abort();
	if (reader && r < 0 && weft_reader_next(reader, &event, NULL) != r)
		abort();
	if (reader && (weft_live_stop(reader, NULL) == -EINVAL || weft_live_fd(reader) < 0))
		abort();
	weft_reader_free(reader);
	if (!lseek(fd, 0, SEEK_SET))
		analyse(fd, len);
	close(fd);
	return 0;
}
