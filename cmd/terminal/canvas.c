// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/terminal/canvas.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"

static enum frame_colors find_colors(bool color)
{
	const char *depth = getenv("COLORTERM"), *term = getenv("TERM");

	if (!color)
		return FRAME_COLORS_NONE;
	if (depth && (!strcmp(depth, "truecolor") || !strcmp(depth, "24bit")))
		return FRAME_COLORS_TRUE;
	return term && strstr(term, "256color") ? FRAME_COLORS_256 : FRAME_COLORS_16;
}

int canvas_open(struct canvas *canvas, bool color, struct fail *fail)
{
	canvas->tty = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (canvas->tty < 0)
		return fail_set(fail, -errno, "cannot open the terminal: %s", strerror(errno));
	canvas->colors = find_colors(color);
	return out_init(&canvas->out, 1 << 16) ? 0 : fail_memory(fail);
}

void canvas_close(struct canvas *canvas)
{
	frame_release(&canvas->frame);
	frame_release(&canvas->shown);
	if (canvas->out.start)
		out_release(&canvas->out);
}

int canvas_fit(struct canvas *canvas, struct fail *fail)
{
	struct winsize size = { .ws_col = 80, .ws_row = 24 };
	struct frame *frame = &canvas->frame;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row) {
		size.ws_col = 80;
		size.ws_row = 24;
	}
	if (frame->cells && frame->width == size.ws_col && frame->height == size.ws_row)
		return 0;
	frame_release(frame);
	return frame_init(frame, size.ws_col, size.ws_row) ? 0 : fail_memory(fail);
}

void canvas_flush(struct canvas *canvas)
{
	if (canvas->out.failed || out_flush(&canvas->out, STDOUT_FILENO))
		canvas->gone = true;
}

void canvas_show(struct canvas *canvas)
{
	frame_draw(&canvas->shown, &canvas->frame, canvas->colors, canvas->all, &canvas->out);
	canvas->all = false;
	canvas_flush(canvas);
}

bool canvas_can_read(const struct canvas *canvas)
{
	struct pollfd wait = { .fd = canvas->tty, .events = POLLIN };

	return poll(&wait, 1, 0) > 0;
}

void canvas_read(struct canvas *canvas)
{
	ssize_t got;

	if (canvas->nr_input == sizeof(canvas->input))
		return;
	got = io_read(canvas->tty, canvas->input + canvas->nr_input, sizeof(canvas->input) - canvas->nr_input);
	if (got <= 0)
		canvas->gone = true;
	else
		canvas->nr_input += (size_t)got;
}

bool canvas_key(struct canvas *canvas, bool ended, struct key *ret)
{
	size_t used = canvas->nr_input ? key_decode(&canvas->keys, canvas->input, canvas->nr_input, ended, ret) : 0;

	canvas->nr_input -= used;
	memmove(canvas->input, canvas->input + used, canvas->nr_input);
	return used;
}
