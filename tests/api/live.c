// SPDX-License-Identifier: GPL-2.0-only
/*
 * live PROGRAM HOW WORD...: the events of the running kernel by weft_live_start() with these words, or, with the HOW
 * "fd", of the file WORD. HOW is one of:
 * lines, fd: prints them; json: as JSON
 * wait: begins when something was written into the file of the variable GO
 * NAME:JSON, the tables of an analysis when tracing has ended; NAME:NS, of each interval, and of all events
 * NAME:stop, the same until the first interval is over
 * stop: ends after the first event, and prints how many came in all
 * hold: prints that it began, and waits for its death
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/weft.h>

extern char **environ;

static int print(weft_reader *reader, enum weft_text kind, struct weft_error *error)
{
	const struct weft_event *event;
	char line[65536];
	int r;

	while ((r = weft_reader_next(reader, &event, error)) > 0) {
		if (weft_event_text(reader, event, kind, line, sizeof(line)) < 0)
			return -1;
		puts(line);
	}
	return r;
}

static void wait_for_go(void)
{
	int fd = open(getenv("GO"), O_RDONLY);
	char c;

	if (fd < 0 || read(fd, &c, 1) != 1)
		exit(3);
	close(fd);
}

/* What a reader of the running kernel cannot do fails with a text, and leaves it as it was. */
static int check_limits(weft_reader *reader)
{
	struct weft_place place = { 0, 0 };
	struct weft_error error;
	const struct weft_event *event;

	return weft_reader_seek(reader, 0, &error) == -ENOTSUP && strstr(error.text, "running kernel") &&
	       weft_reader_go(reader, &place, NULL) == -ENOTSUP &&
	       weft_reader_previous(reader, &event, NULL) == -ENOTSUP &&
	       weft_reader_save(reader, 1, NULL, NULL, NULL) == -EBUSY &&
	       weft_reader_slices(reader, 1, NULL, NULL, NULL) == -EBUSY;
}

static int put(const weft_result *result)
{
	char *json = NULL;
	size_t len;
	int r = weft_result_write(result, 0, WEFT_FORM_JSON, NULL, &json, &len, NULL);

	if (!r)
		printf("%s", json);
	weft_free(json);
	return r;
}

/* A line with the span, and the tables. */
static int print_span(void *arg, weft_result *result, const struct weft_span *span)
{
	weft_reader *stopped = arg;

	printf("%s %llu %llu %llu %s\n", span->is_whole ? "whole" : "interval", (unsigned long long)span->from,
	       (unsigned long long)span->to, (unsigned long long)span->events, span->nothing ? span->nothing : "");
	if (!span->nothing && put(result))
		return -1;
	weft_result_free(result);
	return stopped ? weft_live_stop(stopped, NULL) : 0;
}

static int analyse(weft_reader *reader, const char *how, struct weft_error *error)
{
	const char *colon = strchr(how, ':');
	char *name = strndup(how, (size_t)(colon - how));
	const struct weft_event *event;
	weft_result *result = NULL;
	bool stops = !strcmp(colon, ":stop");
	int r;

	if (strcmp(colon, ":json"))
		r = weft_analyse_spans(reader, name, stops ? 50000000 : strtoull(colon + 1, NULL, 10), NULL, print_span,
				       stops ? reader : NULL, error);
	else
		r = weft_analyse(reader, (const char *const *)&name, 1, NULL, &result, error);
	if (result)
		r = put(result);
	weft_result_free(result);
	free(name);
	return !r && weft_reader_next(reader, &event, error) != -EBUSY ? -1 : r;
}

static int stop(weft_reader *reader, struct weft_error *error)
{
	struct pollfd fd = { .fd = weft_live_fd(reader), .events = POLLIN };
	const struct weft_event *event;
	const char *const sched = "sched";
	unsigned events = 0, waits = 0;
	weft_result *result;
	int r;

	if (!check_limits(reader))
		return -1;
	while ((r = weft_reader_next(reader, &event, error)) == -EAGAIN && ++waits)
		if (poll(&fd, 1, -1) < 0)
			return -1;
	if (r > 0)
		r = weft_analyse(reader, &sched, 1, NULL, &result, error) == -EBUSY ? weft_live_stop(reader, error) :
										      -1;
	while (!r && events < 10000000) {
		r = weft_reader_next(reader, &event, error);
		if (r <= 0 && r != -EAGAIN)
			break;
		events += r > 0;
		r = 0;
	}
	if (!r)
		printf("%u events\n", events + 1);
	return r;
}

int main(int argc, char **argv)
{
	struct weft_live_options options = { .size = sizeof(options) };
	struct weft_error error = { .text = "usage: live PROGRAM HOW WORD..." };
	weft_reader *reader = NULL;
	const char *how;
	int r;

	if (argc < 3)
		return fprintf(stderr, "%s\n", error.text), 2;
	options.program = argv[1];
	options.environment = (const char *const *)environ;
	how = argv[2];
	options.wait_ms = strcmp(how, "stop") ? 0 : 20;
	if (argc == 4 && strchr(how, ':'))
		r = weft_live_open_fd(open(argv[3], O_RDONLY), &options, &reader, &error);
	else
		r = strcmp(how, "fd") ? weft_live_start((const char *const *)argv + 3, (size_t)argc - 3, &options,
							&reader, &error) :
					weft_live_open_fd(open(argv[3], O_RDONLY), &options, &reader, &error);
	if (!r && !strcmp(how, "wait"))
		wait_for_go();
	if (!r && !strcmp(how, "stop")) {
		r = stop(reader, &error);
	} else if (!r && !strcmp(how, "hold")) {
		puts("holds");
		fflush(stdout);
		for (;;)
			pause();
	} else if (!r && strchr(how, ':')) {
		r = analyse(reader, how, &error);
	} else if (!r) {
		r = print(reader, strcmp(how, "json") ? WEFT_TEXT_LINE : WEFT_TEXT_JSON, &error);
	}
	if (r)
		fprintf(stderr, "live: %s\n", error.text);
	weft_reader_free(reader);
	return r != 0;
}
