// SPDX-License-Identifier: GPL-2.0-only
/*
 * gaps FILE: where the kernel lost events, and whether the file is damaged. Exit status: 0 it is whole, 1 it is
 * damaged, 2 it cannot be read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <weft/weft.h>

static void tell(const struct weft_event *gap)
{
	printf("CPU %u before %" PRIu64 ": ", gap->cpu, gap->ts);
	if (gap->lost > 0)
		printf("%" PRId64 " events lost\n", gap->lost);
	else
		printf("events lost, nobody knows how many\n");
}

static int read_all(weft_reader *reader, struct weft_error *error)
{
	const struct weft_event *event;
	const char *damage;
	uint64_t events = 0;
	int r;

	while ((r = weft_reader_next(reader, &event, error)) > 0) {
		if (event->kind == WEFT_LOST)
			tell(event);
		else
			events++;
	}
	if (r < 0)
		return 2;
	printf("%" PRIu64 " events\n", events);
	damage = weft_reader_damage(reader);
	if (damage)
		printf("%s\n", damage);
	return damage ? 1 : 0;
}

int main(int argc, char **argv)
{
	weft_reader *reader = weft_reader_new();
	weft_file *file = NULL;
	struct weft_error error = { .code = 0, .text = "usage: gaps FILE" };
	int status = 2;

	if (argc == 2 && reader && !weft_file_open(argv[1], NULL, &file, &error) &&
	    !weft_reader_add(reader, file, NULL, &error))
		status = read_all(reader, &error);
	if (status == 2)
		fprintf(stderr, "gaps: %s\n", error.text);
	weft_reader_free(reader);
	weft_file_free(file);
	return status;
}
