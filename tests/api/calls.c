// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls FILE COUNT [SEED]: COUNT calls of the functions of weft.h that go on in any order, with arguments that are
 * often wrong: places, filters, handlers, contents, writers. What must stay true is checked; what a call may refuse, it
 * may.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/weft.h>

static uint64_t state, calls, sum;

static uint64_t any(uint64_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % below;
}

/* A number that is small, large or near a limit. */
static uint64_t number(void)
{
	switch (any(5)) {
	case 0:
		return any(4);
	case 1:
		return any(5000);
	case 2:
		return UINT64_MAX - any(3);
	case 3:
		return (any(1u << 31) << 33) ^ any(1u << 31);
	}
	return 1000000000 + any(1u << 31);
}

static void is_said(int r, const struct weft_error *error)
{
	if (r < 0 && (error->code != r || !*error->text)) {
		fprintf(stderr, "calls: an error %d is not told: %d '%s'\n", r, error->code, error->text);
		abort();
	}
}

static const char *const words[] = {
	"sched_switch", "sched:*",        "next_pid > 3", "CPU == 1", "*", "0", "1-3", "+1ms", "", "(",
	"nonsense",     "duration > 1us", "12.5",         "-1s",      "ls"
};

static const char *word(void)
{
	return words[any(sizeof(words) / sizeof(*words))];
}

static int text(void *arg, const struct weft_event *event, char *buffer, size_t size)
{
	(void)arg;
	calls++;
	return any(3) ? snprintf(buffer, size, "%*d", (int)any(400), (int)event->pid) : -(int)any(5);
}

static int end_soon(void *arg)
{
	(void)arg;
	calls++;
	return any(400) == 0;
}

static int see_task(void *arg, const struct weft_task *task)
{
	(void)arg;
	sum += strlen(task->comm);
	return end_soon(NULL);
}

static int see_name(void *arg, const char *name)
{
	(void)arg;
	sum += strlen(name);
	return end_soon(NULL);
}

static int see_life(void *arg, const struct weft_life *life)
{
	(void)arg;
	sum += strlen(life->comm) + life->program_len;
	return end_soon(NULL);
}

static int see_symbol(void *arg, const struct weft_symbol *symbol)
{
	(void)arg;
	sum += symbol->name_len;
	return end_soon(NULL);
}

static void look(weft_reader *reader, const struct weft_event *event)
{
	const weft_field *field = weft_type_field(event->type, any(12));
	char line[300];
	const char *at;
	const void *bytes;
	size_t len;
	uint64_t value;

	calls += 8;
	sum += (uint64_t)weft_event_text(reader, event, (enum weft_text)any(5), line, any(sizeof(line)));
	if (!weft_event_comm(reader, event, &at, &len))
		sum += len;
	sum += weft_event_u64(event, field);
	if (!weft_event_bytes(event, field, &bytes, &len))
		sum += len;
	if (!weft_event_string(event, field, &at, &len))
		sum += len;
	sum += (uint64_t)weft_event_element(event, field, number() % 40, &value);
	sum += (uint64_t)weft_event_stack(event, &value, any(2)) + weft_type_index(event->type) % 2;
}

/* A reader that goes anywhere. */
static void wander(weft_file *file, uint64_t until)
{
	weft_query *query = weft_query_new(), *asked = weft_query_new();
	weft_reader *reader = weft_reader_new();
	struct weft_reader_options options = { .size = sizeof(options), .threads = any(20) ? 0 : (unsigned)any(3) };
	struct weft_place place = { 0, 0 }, here;
	const struct weft_event *event = NULL, *events;
	struct weft_error error;
	weft_filter *filter = NULL;

	for (uint64_t i = any(3); i; i--) {
		int r = weft_query_add(query, (enum weft_query_key)any(19), word(), &error);

		is_said(r, &error);
		(void)!weft_query_add(asked, (enum weft_query_key)any(19), word(), NULL);
	}
	is_said(weft_reader_add(reader, file, any(3) ? query : NULL, &error), &error);
	is_said(weft_reader_start(reader, &options, &error), &error);
	for (uint64_t steps = any(3000); steps && calls < until; steps--, calls++) {
		int r = 0;

		switch (any(12)) {
		case 0:
			r = weft_reader_seek(reader, number(), &error);
			break;
		case 1:
			weft_reader_place(reader, &place);
			break;
		case 2:
			r = weft_reader_go(reader, &place, &error);
			if (!r) {
				weft_reader_place(reader, &here);
				if (here.ts != place.ts || here.nth != place.nth)
					abort();
			}
			break;
		case 3:
			r = any(50) ? 0 : weft_reader_cpu(reader, (int32_t)any(12) - 2, &error);
			break;
		case 4:
			if (!filter)
				r = weft_filter_new(reader, asked, &filter, &error);
			break;
		case 5:
			r = any(10) ? 0 :
				      weft_reader_handler(reader, any(2) ? "sched:sched_switch" : word(),
							  any(4) ? text : NULL, NULL, &error);
			break;
		case 6:
			r = weft_reader_batch(reader, &events, &error);
			event = r > 0 ? &events[r - 1] : NULL;
			break;
		case 7:
		case 8:
			r = weft_reader_previous(reader, &event, &error);
			break;
		default:
			r = weft_reader_next(reader, &event, &error);
			break;
		}
		is_said(r, &error);
		if (r > 0) {
			look(reader, event);
			sum += filter && weft_filter_passes(filter, event);
		}
	}
	weft_filter_free(filter);
	weft_reader_free(reader);
	weft_query_free(query);
	weft_query_free(asked);
}

static void list(weft_file *file)
{
	struct weft_format_info format = { .size = any(2) ? sizeof(format) : any(sizeof(format) + 1) };
	struct weft_field_info field = { .size = sizeof(field) };
	struct weft_setting_info setting = { .size = sizeof(setting) };
	struct weft_cpu_stats stats = { .size = sizeof(stats) };
	struct weft_clock_piece piece = { .size = sizeof(piece) };
	size_t buffer = any(8) ? 0 : number();
	weft_reader *reader;
	struct weft_error error;
	const char *who;
	uint64_t times[2];

	calls += 10;
	is_said(weft_file_format(file, buffer, number(), &format, &error), &error);
	is_said(weft_file_field(file, buffer, any(800), any(20), &field, &error), &error);
	sum += (uint64_t)weft_file_setting_at(file, number(), &setting);
	is_said(weft_file_stats(file, buffer, any(4), &stats, &error), &error);
	is_said(weft_file_clock(file, buffer, any(3), &piece, &error), &error);
	is_said(weft_file_when(file, buffer, (int64_t)number(), times, any(3), &error), &error);
	is_said(weft_file_who(file, buffer, (enum weft_who)any(9), (int32_t)number(), number(), &who, NULL, &error),
		&error);
	is_said(weft_file_tasks(file, buffer, see_task, NULL, &error), &error);
	is_said(weft_file_names(file, buffer, (enum weft_who)any(9), see_name, NULL, &error), &error);
	if (any(20))
		return;
	is_said(weft_file_address(file, word(), times, &error), &error);
	sum += (uint64_t)weft_file_symbols(file, see_symbol, NULL, NULL);
	reader = weft_reader_new();
	is_said(weft_reader_add(reader, file, NULL, &error), &error);
	sum += (uint64_t)weft_reader_lives(reader, see_life, NULL, NULL);
	weft_reader_free(reader);
}

/* A file is written and opened again: what a writer took, readers read. */
static void write_anew(int fd, uint64_t until)
{
	static const char *const types[] = { "int", "char[8]", "u64", "__data_loc char[]", "a;b", "" };
	static const char *const prints[] = { "\"%d\", REC->a", "\"x\"", "\"%s\", REC->b", "REC->",
					      "\"%s\", __get_str(a)" };
	struct weft_field_info fields[3];
	struct weft_writer_options options = { .size = sizeof(options), .version = any(9) ? 0 : (unsigned)any(9) };
	struct weft_new_event event = { .size = sizeof(event) };
	struct weft_error error;
	weft_writer *writer = NULL;
	weft_file *file = NULL;
	char data[64] = "some bytes";
	uint64_t events = 0, read = 0;
	int r = weft_writer_new(&options, &writer, &error);

	is_said(r, &error);
	for (uint64_t steps = any(2000); !r && steps && calls < until; steps--, calls++) {
		int added = 0;

		for (size_t i = 0; i < 3; i++)
			fields[i] = (struct weft_field_info){ .size = sizeof(fields[i]),
							      .name = i ? "b" : "a",
							      .c_type = types[any(6)],
							      .offset = (uint32_t)(8 + 8 * i),
							      .bytes = any(9) ? 8 : (uint32_t)number() };
		switch (any(40)) {
		case 0:
			added = weft_writer_type(writer, any(9) ? "sim" : word(), any(9) ? "step" : word(), fields,
						 any(4), prints[any(5)], &event.type, &error);
			break;
		case 1:
			added = weft_writer_task(writer, (int32_t)any(99) - 1, 0, word(), &error);
			break;
		case 2:
			added = weft_writer_lost(writer, (uint32_t)(any(30) ? any(4) : number()), (int64_t)any(9) - 1,
						 &error);
			break;
		case 3:
			event.type = (int32_t)(any(4) ? 1000 + any(4) : number());
			break;
		default:
			event.ts += any(50) ? any(100000) : number() >> 8;
			event.cpu = (uint32_t)(any(50) ? any(4) : any(70000));
			event.pid = (int32_t)any(100);
			event.data = data;
			event.bytes = (uint32_t)any(sizeof(data));
			added = weft_writer_add(writer, &event, &error);
			events += !added;
		}
		is_said(added, &error);
	}
	if (!r && !ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET)) {
		is_said(r = weft_writer_finish(writer, fd, &error), &error);
		if (!r && !weft_file_open_fd(fd, "made", NULL, &file, &error)) {
			weft_reader *reader = weft_reader_new();
			const struct weft_event *at;

			is_said(weft_reader_add(reader, file, NULL, &error), &error);
			while (weft_reader_next(reader, &at, NULL) > 0) {
				look(reader, at);
				read += at->kind == WEFT_RECORD;
			}
			if (read != events || weft_reader_damage(reader)) {
				fprintf(stderr, "calls: %" PRIu64 " events were written and %" PRIu64 " read\n", events,
					read);
				abort();
			}
			weft_reader_free(reader);
			weft_file_free(file);
		}
	}
	weft_writer_free(writer);
}

int main(int argc, char **argv)
{
	uint64_t until = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	FILE *made = tmpfile();
	struct weft_error error = { .text = "usage: calls FILE COUNT [SEED]" };
	weft_file *file = NULL;

	state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	if (!until || !made || weft_file_open(argv[1], NULL, &file, &error)) {
		fprintf(stderr, "calls: %s\n", error.text);
		return 2;
	}
	while (calls < until) {
		switch (any(4)) {
		case 0:
			list(file);
			break;
		case 1:
			write_anew(fileno(made), until);
			break;
		default:
			wander(file, until);
			break;
		}
	}
	printf("%" PRIu64 " calls\n", calls);
	weft_file_free(file);
	fclose(made);
	return 0;
}
