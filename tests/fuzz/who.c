// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: the settings from which readers learn whom tasks belong to and what is behind descriptors. A line
 * "@weft/tasks" begins the text of that setting: weft/tasks, weft/tasks_end, weft/cgroups, weft/containers,
 * weft/withheld, weft/open_files, weft/mounts and their like. Every answer about any task, at any time, is a text, and
 * changes no more often than time goes on.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/follow/files.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/follow/withheld.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/part.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/writer.h"
#include "lib/pages/trace/writer_metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { SETTINGS = 16, NAME = 64, PIDS = 24, FDS = 4, PAGE = 4096 };

struct input {
	char names[SETTINGS][NAME];
	struct writer_setting settings[SETTINGS];
	size_t nr;
};

static void take_settings(struct input *input, const char *at, size_t left)
{
	struct text_word line;

	while (text_next_line(&at, &left, &line)) {
		struct writer_setting *last = input->nr ? &input->settings[input->nr - 1] : NULL;

		if (line.len > 1 && *line.at == '@' && line.len < NAME && input->nr < SETTINGS) {
			memcpy(input->names[input->nr], line.at + 1, line.len - 1);
			input->settings[input->nr] =
				(struct writer_setting){ 0, input->names[input->nr], line.at + line.len + 1, 0 };
			input->nr++;
		} else if (last) {
			last->len = (size_t)(line.at + line.len - last->text);
		}
	}
	for (size_t i = 0; i < input->nr; i++)
		if (!input->settings[i].len)
			input->settings[i].text = "";
}

static int write_buffer(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	int r = writer_buffer(writer, "", "local", PAGE, fail);

	(void)arg;
	return r ? r : part_write(part, writer, 0, fail);
}

static struct trace *make(struct input *input)
{
	static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
					  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
					  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
					  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
	const struct writer_options options = { .version = 6, .long_size = 8, .page_size = PAGE };
	const struct writer_metadata metadata = { .header_page = header_page,
						  .header_event = "",
						  .cmdlines = "",
						  .uname = "Linux fuzz 6.12.0",
						  .version = "fuzz",
						  .clock = "[local]",
						  .cpu_count = 1,
						  .settings = input->settings,
						  .nr_settings = input->nr };
	cleanup_fd int fd = memfd_create("who", MFD_CLOEXEC);
	struct trace *trace = NULL;
	uint64_t size;

	if (fd < 0 || made_file_write(fd, &options, &metadata, write_buffer, NULL, &size, NULL) ||
	    trace_open_fd(fd, "who", &trace, NULL))
		return NULL;
	return trace;
}

static void ask(const struct context *context, int32_t pid, uint64_t ts)
{
	for (enum who_part part = 0; part < WHO_PARTS; part++) {
		uint32_t who = who_is(context, part, pid, ts, NULL);
		const char *text = who ? who_text(context, part, who) : "";

		if (part != WHO_PROCESS && strlen(text) > 1 << 20)
			__builtin_trap();
		(void)who_text_matches(part, "/a*", text);
		(void)who_path_matches(part, "ab*", text);
	}
	if (who_until(context, pid, ts) <= ts && ts != UINT64_MAX)
		__builtin_trap();
	for (int32_t fd = 0; fd < FDS; fd++)
		(void)strlen(files_text(context, files_is(context, pid, fd, ts)));
}

static void ask_withheld(const struct context *context)
{
	struct withheld *withheld = withheld_new(context);
	uint64_t times, ns, until;

	if (!withheld)
		return;
	(void)withheld_counted(withheld, &times, &ns);
	(void)withheld_stolen(withheld, 0);
	if (withheld_stops(withheld, who_group(context, 1, 0), 0, 0, &until))
		__builtin_trap();
	withheld_free(withheld);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint64_t times[] = { 0, 1, INT64_MAX, UINT64_MAX };
	struct input input = { .nr = 0 };
	struct context *context = NULL;
	struct trace *trace;

	take_settings(&input, (const char *)data, len);
	trace = make(&input);
	if (trace && !context_new(trace, 0, &context, NULL)) {
		for (int32_t pid = -1; pid < PIDS; pid++)
			for (size_t i = 0; i < array_size(times); i++)
				ask(context, pid, times[i]);
		ask_withheld(context);
		context_free(context);
	}
	trace_free(trace);
	return 0;
}
