// SPDX-License-Identifier: GPL-2.0-only
/* contents WHAT FILE: prints what a file has besides its events: formats, fields, symbols, tasks, lives, stats... */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

static void formats(const weft_file *file)
{
	struct weft_format_info info = { .size = sizeof(info) };

	for (size_t i = 0; weft_file_format(file, 0, i, &info, NULL) > 0; i++)
		printf("system: %s\n%.*s\n", info.system, (int)info.text_len, info.text);
}

/* As the file `format` has them, to be compared with it. */
static void fields(const weft_file *file)
{
	struct weft_format_info info = { .size = sizeof(info) };
	struct weft_field_info field = { .size = sizeof(field) };

	for (size_t i = 0; weft_file_format(file, 0, i, &info, NULL) > 0; i++) {
		printf("name: %s\nID: %d\n", info.name, (int)info.id);
		for (size_t j = 0; weft_file_field(file, 0, i, j, &field, NULL) > 0; j++)
			printf("%s offset:%u; size:%u; signed:%d;\n", field.name, field.offset, field.bytes,
			       field.is_signed);
		printf("print fmt: %s\n", info.print_fmt);
	}
}

static void settings(const weft_file *file)
{
	struct weft_setting_info info = { .size = sizeof(info) };
	size_t len;

	for (size_t i = 0; weft_file_setting_at(file, i, &info); i++)
		if (weft_file_setting(file, info.buffer, info.name, &len) && len == strlen(info.text))
			printf("%zu %s %zu\n", info.buffer, info.name, info.text_len);
}

static void stats(const weft_file *file)
{
	struct weft_cpu_stats stats = { .size = sizeof(stats) };

	for (size_t i = 0; weft_file_stats(file, 0, i, &stats, NULL) > 0; i++)
		printf("%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", stats.cpu, stats.entries,
		       stats.overrun, stats.commit_overrun, stats.dropped, stats.read);
}

static void clocks(const weft_file *file)
{
	struct weft_clock_piece piece = { .size = sizeof(piece) };
	uint64_t when[4];

	for (size_t i = 0; weft_file_clock(file, 0, i, &piece, NULL) > 0; i++)
		printf("%" PRIu64 " %" PRId64 " %d\n", piece.sampled, piece.wall_ns,
		       weft_file_when(file, 0, piece.wall_ns, when, 4, NULL));
}

static int put_task(void *arg, const struct weft_task *task)
{
	(void)arg;
	printf("%d %.*s\n", (int)task->pid, (int)task->comm_len, task->comm);
	return 0;
}

static int put_symbol(void *arg, const struct weft_symbol *symbol)
{
	const weft_file *file = arg;
	uint64_t address = 0;
	char name[512];

	snprintf(name, sizeof(name), "%.*s", (int)symbol->name_len, symbol->name);
	if (!symbol->module && (strcmp(name, "_text") == 0 || strcmp(name, "schedule") == 0) &&
	    (weft_file_address(file, name, &address, NULL) != 1 || address != symbol->address))
		return 5;
	printf("%016" PRIx64 " %s\n", symbol->address, name);
	return 0;
}

static int put_life(void *arg, const struct weft_life *life)
{
	(void)arg;
	printf("%d %s %d %" PRIu64 " %d %" PRIu64 " %d %d\n", (int)life->pid, life->comm, life->has_begun, life->began,
	       life->has_ended, life->ended, (int)life->parent, (int)life->status);
	return 0;
}

static int lives(weft_file *file, weft_life_fn *see)
{
	weft_reader *reader = weft_reader_new();
	int r = weft_reader_add(reader, file, NULL, NULL);

	if (!r)
		r = weft_reader_lives(reader, see, NULL, NULL);
	weft_reader_free(reader);
	return r;
}

static int put_name(void *arg, const char *name)
{
	printf("%d %s\n", *(const int *)arg, name);
	return 0;
}

static int names(const weft_file *file)
{
	int r = 0;

	for (int part = WEFT_WHO_PROCESS; !r && part <= WEFT_WHO_USER; part++)
		r = weft_file_names(file, 0, (enum weft_who)part, put_name, &part, NULL);
	return r;
}

/* The process and the unit of each task that the kernel remembered. */
static int put_who(void *arg, const struct weft_task *task)
{
	const weft_file *file = arg;
	enum weft_how_known how;
	const char *process, *unit;

	if (weft_file_who(file, 0, WEFT_WHO_PROCESS, task->pid, UINT64_MAX, &process, &how, NULL) ||
	    weft_file_who(file, 0, WEFT_WHO_UNIT, task->pid, UINT64_MAX, &unit, NULL, NULL))
		return 4;
	printf("%d %s %s %d\n", (int)task->pid, process, unit, (int)how);
	return 0;
}

int main(int argc, char **argv)
{
	struct weft_error error = { .text = "usage: contents WHAT FILE" };
	const char *what = argv[1];
	weft_file *file = NULL;
	int r = 0;

	if (argc != 3 || weft_file_open(argv[2], NULL, &file, &error)) {
		fprintf(stderr, "contents: %s\n", error.text);
		return 2;
	}
	if (!strcmp(what, "formats"))
		formats(file);
	else if (!strcmp(what, "fields"))
		fields(file);
	else if (!strcmp(what, "settings"))
		settings(file);
	else if (!strcmp(what, "stats"))
		stats(file);
	else if (!strcmp(what, "clocks"))
		clocks(file);
	else if (!strcmp(what, "tasks"))
		r = weft_file_tasks(file, 0, put_task, NULL, NULL);
	else if (!strcmp(what, "symbols"))
		r = weft_file_symbols(file, put_symbol, file, NULL);
	else if (!strcmp(what, "lives"))
		r = lives(file, put_life);
	else if (!strcmp(what, "names"))
		r = names(file);
	else if (!strcmp(what, "who"))
		r = weft_file_tasks(file, 0, put_who, file, NULL);
	weft_file_free(file);
	return r;
}
