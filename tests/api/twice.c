// SPDX-License-Identifier: GPL-2.0-only
/*
 * twice FILE: four threads, two of which read ahead, read one file at the same time: each sees the same. What the file
 * has besides, all ask at the same time, too.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

enum { THREADS = 4 };

struct work {
	weft_file *file;
	unsigned threads;
	uint64_t events, sum;
	int r;
};

static void take(struct work *work, weft_reader *reader, const struct weft_event *event)
{
	char text[512];
	int len = weft_event_text(reader, event, WEFT_TEXT_LINE, text, sizeof(text));

	work->events++;
	for (int i = 0; i < len && i < (int)sizeof(text) - 1; i++)
		work->sum = work->sum * 31 + (unsigned char)text[i];
}

static int count(struct work *work)
{
	work->sum = work->sum * 31 + 1;
	return 0;
}

static int count_task(void *arg, const struct weft_task *task)
{
	(void)task;
	return count(arg);
}

static int count_symbol(void *arg, const struct weft_symbol *symbol)
{
	(void)symbol;
	return count(arg);
}

static int count_name(void *arg, const char *name)
{
	(void)name;
	return count(arg);
}

/* What the file itself is asked, which it looks up when somebody is the first to ask. */
static int ask_file(struct work *work, uint64_t ts)
{
	struct weft_format_info format = { .size = sizeof(format) };
	struct weft_clock_piece piece = { .size = sizeof(piece) };
	uint64_t times[4];
	const char *name;
	size_t formats = 0;

	while (formats < 50 && weft_file_format(work->file, 0, formats, &format, NULL) > 0)
		formats++;
	work->sum += formats + (uint64_t)weft_file_clock(work->file, 0, 0, &piece, NULL);
	work->sum += (uint64_t)weft_file_when(work->file, 0, piece.wall_ns, times, 4, NULL);
	if (weft_file_tasks(work->file, 0, count_task, work, NULL) ||
	    weft_file_symbols(work->file, count_symbol, work, NULL) ||
	    weft_file_names(work->file, 0, WEFT_WHO_PROGRAM, count_name, work, NULL))
		return -1;
	return weft_file_who(work->file, 0, WEFT_WHO_PROCESS, 1, ts, &name, NULL, NULL);
}

static void *read_file(void *arg)
{
	struct work *work = arg;
	struct weft_reader_options options = { .size = sizeof(options), .threads = work->threads };
	struct weft_buffer_info info = { .size = sizeof(info) };
	weft_reader *reader = weft_reader_new();
	const struct weft_event *event;
	struct weft_symbol symbol = { .size = sizeof(symbol) };

	work->r = weft_reader_add(reader, work->file, NULL, NULL);
	if (!work->r)
		work->r = weft_reader_start(reader, &options, NULL);
	if (!work->r)
		work->r = weft_file_buffer(work->file, 0, &info, NULL);
	(void)!weft_symbol_find(reader, 0, 0xffffffff81000000, &symbol);
	if (!work->r)
		work->r = ask_file(work, info.last);
	while (!work->r && (work->r = weft_reader_next(reader, &event, NULL)) > 0) {
		take(work, reader, event);
		work->r = 0;
	}
	(void)!weft_reader_damage(reader);
	weft_reader_free(reader);
	return NULL;
}

int main(int argc, char **argv)
{
	struct work work[THREADS] = { { .r = 0 } };
	pthread_t threads[THREADS];
	weft_file *file;

	if (argc != 2 || weft_file_open(argv[1], NULL, &file, NULL))
		return 2;
	for (int i = 0; i < THREADS; i++) {
		work[i].file = file;
		work[i].threads = (unsigned)i % 3;
		if (pthread_create(&threads[i], NULL, read_file, &work[i]))
			return 2;
	}
	/* The readers keep the file. */
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	weft_file_free(file);
	for (int i = 0; i < THREADS; i++)
		if (work[i].r || !work[i].events || work[i].events != work[0].events || work[i].sum != work[0].sum) {
			printf("thread %d: result %d, %llu events\n", i, work[i].r, (unsigned long long)work[i].events);
			return 1;
		}
	return 0;
}
