// SPDX-License-Identifier: GPL-2.0-only
/* simulator FILE: a machine sends messages; weft, trace-cmd and KernelShark read FILE, which has them. */
#include <stdio.h>
#include <string.h>
#include <weft/weft.h>

struct message {
	int number;
	char text[16];
	uint64_t bytes;
};

static const struct weft_field_info fields[] = {
	{ .size = sizeof(fields[0]), .name = "number", .c_type = "int", .offset = 8, .bytes = 4, .is_signed = true },
	{ .size = sizeof(fields[0]), .name = "text", .c_type = "char[16]", .offset = 12, .bytes = 16 },
	{ .size = sizeof(fields[0]), .name = "bytes", .c_type = "u64", .offset = 32, .bytes = 8 },
};

static int simulate(weft_writer *writer, int32_t type, struct weft_error *error)
{
	struct message message = { .bytes = 100 };
	struct weft_new_event event = {
		.size = sizeof(event), .type = type, .data = &message, .bytes = sizeof(message)
	};
	int r = 0;

	for (message.number = 0; !r && message.number < 10; message.number++) {
		memcpy(message.text, message.number % 2 ? "pong" : "ping", sizeof("ping"));
		event.cpu = (uint32_t)message.number % 2;
		event.pid = 100;
		event.ts = 1000000000 + (uint64_t)message.number * 1500;
		message.bytes *= 3;
		r = weft_writer_add(writer, &event, error);
	}
	return r;
}

int main(int argc, char **argv)
{
	struct weft_error error = { .code = 0, .text = "usage: simulator FILE" };
	weft_writer *writer = NULL;
	FILE *file = argc == 2 ? fopen(argv[1], "wb") : NULL;
	int32_t type;
	int r = file ? weft_writer_new(NULL, &writer, &error) : -1;

	if (!r)
		r = weft_writer_type(writer, "sim", "message", fields, 3,
				     "\"%d: %s, %llu bytes\", REC->number, REC->text, REC->bytes", &type, &error);
	if (!r)
		r = weft_writer_task(writer, 100, 0, "left", &error);
	if (!r)
		r = simulate(writer, type, &error);
	if (!r)
		r = weft_writer_finish(writer, fileno(file), &error);
	if (r)
		fprintf(stderr, "simulator: %s\n", error.text);
	weft_writer_free(writer);
	return (file && fclose(file)) || r;
}
