// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/choice.h"
#include "cmd/options/decode.h"
#include "cmd/options/option_value.h"
#include "cmd/options/reading.h"
#include "cmd/terminal/canvas.h"
#include "cmd/terminal/color.h"
#include "cmd/terminal/keeper.h"
#include "cmd/terminal/terminal.h"
#include "lib/base/io.h"
#include "lib/base/now.h"
#include "lib/base/out.h"
#include "lib/reader/query.h"
#include "lib/term/frame.h"
#include "lib/term/key.h"
#include "lib/trace/trace.h"
#include "lib/view/screen.h"
#include "lib/view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* weft view: a recording on the whole terminal. Here is the loop; what is shown is in lib/view. */

enum { OPT_COLOR = 256, OPT_ASCII, OPT_NO_MOUSE };

/* A line of progress is shown after a while, and not often. */
enum { PENDING_MS = 100, PROGRESS_MS = 100 };

#define MOUSE_ON "\033[?1000h\033[?1002h\033[?1006h"
#define MOUSE_OFF "\033[?1006l\033[?1002l\033[?1000l"

struct arguments {
	const char *input;
	struct query query;
	struct decode decode;
	struct reading reading;
	bool color, ascii, no_mouse, nanoseconds;
};

static const struct argp_option options[] = {
	{ "input", 'i', "FILE", 0, "Look into FILE (default: trace.dat)", 1 },
	{ "color", OPT_COLOR, COLOR_VALUES, 0, COLOR_HELP, 3 },
	{ "ascii", OPT_ASCII, NULL, 0, "Draw with ASCII only (default where the locale has no UTF-8)", 3 },
	{ "no-mouse", OPT_NO_MOUSE, NULL, 0, "Leave the mouse to the terminal; the key M does it later", 3 },
	{ "nanoseconds", 't', NULL, 0, "Show time stamps with nine digits", 3 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->query;
		state->child_inputs[1] = &arguments->query;
		state->child_inputs[2] = &arguments->decode;
		state->child_inputs[3] = &arguments->reading;
		return 0;
	case 'i':
	case ARGP_KEY_ARG:
		option_once("file", &arguments->input, arg, state);
		return 0;
	case OPT_COLOR:
		arguments->color = color_wanted(arg, state);
		return 0;
	case OPT_ASCII:
		arguments->ascii = true;
		return 0;
	case OPT_NO_MOUSE:
		arguments->no_mouse = true;
		return 0;
	case 't':
		arguments->nanoseconds = true;
		return 0;
	case ARGP_KEY_SUCCESS:
		/* The view opens there, and shows all. */
		if (arguments->query.before_ns == QUERY_UNSAID && arguments->query.after_ns == QUERY_UNSAID)
			arguments->query.before_ns = arguments->query.after_ns = QUERY_WHOLE;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{ &choice_part_argp, 0, NULL, 2 },
	{ &choice_events_argp, 0, NULL, 2 },
	{ &decode_argp, 0, NULL, 3 },
	{ &reading_argp, 0, NULL, 4 },
	{ 0 },
};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[FILE]",
	.doc = "Looks around in a recording of any size, on the whole terminal. The key ? shows the keys.",
	.children = children,
};

/* The loop and its terminal. */
struct loop {
	const struct arguments *arguments;
	const char *save_as; /* the file of the session, beside the recording */
	int socket;
	int signals[2]; /* a pipe: SIGWINCH arrived */
	struct view *view;
	struct screen *screen;
	struct canvas canvas;
	bool acting;         /* a key is being done: only Esc stops it */
	uint64_t since;      /* when the work began that view_waits() asks about */
	uint64_t progressed; /* when its progress was shown last */
	bool mouse;          /* is on */
	bool gone;           /* the keeper is */
	struct buf session;  /* of the file beside the recording, if there is one */
};

/* The writing end of the pipe, for the signal handler. */
static int resized = -1;

static void on_resize(int sig)
{
	int saved = errno;

	(void)sig;
	(void)!write(resized, "", 1);
	errno = saved;
}

/* Whether Esc or Ctrl-C is the last byte that was typed: it stops the work, and what was typed before it is done. */
static bool take_stop(struct canvas *canvas)
{
	uint8_t last;

	while (canvas_can_read(canvas) && !canvas->gone && canvas->nr_input < sizeof(canvas->input))
		canvas_read(canvas);
	last = canvas->nr_input ? canvas->input[canvas->nr_input - 1] : 0;
	if (last != 0x1b && last != 3)
		return false;
	canvas->nr_input--;
	return true;
}

/* The terminal or the keeper has gone. */
static bool is_gone(const struct loop *loop)
{
	return loop->gone || loop->canvas.gone;
}

static bool waits(void *arg, const char *what, unsigned percent)
{
	struct loop *loop = arg;
	struct canvas *canvas = &loop->canvas;
	struct frame *shown = &canvas->shown;
	uint64_t now = now_ns();
	bool stops = is_gone(loop) || (loop->acting ? take_stop(canvas) : canvas->nr_input || canvas_can_read(canvas));
	struct frame told;

	if (stops || now - loop->since < PROGRESS_MS * 1000000ULL || now - loop->progressed < PROGRESS_MS * 1000000ULL)
		return stops;
	loop->progressed = now;
	/* Not the frame of the canvas: a pane may be drawing into it. */
	if (shown->width && frame_init(&told, shown->width, shown->height)) {
		memcpy(told.cells, shown->cells, (size_t)shown->width * shown->height * sizeof(*shown->cells));
		told.ascii = loop->view->ascii;
		screen_progress(loop->screen, &told, what, percent);
		frame_draw(shown, &told, canvas->colors, false, &canvas->out);
		canvas_flush(canvas);
		frame_release(&told);
	}
	return is_gone(loop);
}

static void set_mouse(struct loop *loop)
{
	bool wanted = !loop->view->mouse_off;

	if (wanted != loop->mouse || loop->canvas.all)
		out_str(&loop->canvas.out, wanted ? MOUSE_ON : MOUSE_OFF);
	loop->mouse = wanted;
}

static int draw(struct loop *loop, struct fail *fail)
{
	struct canvas *canvas = &loop->canvas;
	int r = canvas_fit(canvas, fail);

	loop->acting = false;
	loop->since = now_ns();
	loop->view->pending = false;
	if (!r)
		r = screen_draw(loop->screen, &canvas->frame, fail);
	if (r)
		return r;
	canvas->frame.ascii = loop->view->ascii;
	set_mouse(loop);
	canvas_show(canvas);
	return 0;
}

/* OSC 52 copies for the user, in terminals that allow it, also through ssh. */
static void copy(struct loop *loop)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const struct buf *text = &loop->view->copy;
	const uint8_t *at = (const uint8_t *)text->data;
	/* xterm takes no more than 100,000 characters. */
	size_t len = text->len < 56000 ? text->len : 56000;

	loop->view->copied = false;
	out_str(&loop->canvas.out, "\033]52;c;");
	for (size_t i = 0; i < len; i += 3) {
		uint32_t three = (uint32_t)at[i] << 16 | (i + 1 < len ? (uint32_t)at[i + 1] << 8 : 0) |
				 (i + 2 < len ? at[i + 2] : 0);

		out_char(&loop->canvas.out, digits[three >> 18]);
		out_char(&loop->canvas.out, digits[three >> 12 & 63]);
		out_char(&loop->canvas.out, i + 1 < len ? digits[three >> 6 & 63] : '=');
		out_char(&loop->canvas.out, i + 2 < len ? digits[three & 63] : '=');
	}
	out_char(&loop->canvas.out, '\a');
	canvas_flush(&loop->canvas);
}

static void hear(struct loop *loop)
{
	char text[256];

	switch (keeper_hear(loop->socket, text, sizeof(text))) {
	case KEEPER_GO:
		loop->canvas.all = true;
		break;
	case KEEPER_SAVED:
		view_say(loop->view, "%s", text);
		break;
	default:
		loop->gone = true;
	}
}

static int save(struct loop *loop, struct fail *fail)
{
	struct out text;

	loop->view->save = false;
	if (!out_init(&text, 4096))
		return fail_memory(fail);
	view_save(loop->view, &text);
	if (text.failed || keeper_wish(loop->socket, KEEPER_SAVE, text.start, out_len(&text)))
		loop->gone = true;
	out_release(&text);
	return 0;
}

/* What a key asked of the loop. */
static int obey(struct loop *loop, struct fail *fail)
{
	struct view *view = loop->view;

	if (view->copied)
		copy(loop);
	if (view->redraw)
		loop->canvas.all = true;
	view->redraw = false;
	if (view->suspend && keeper_wish(loop->socket, KEEPER_SUSPEND, NULL, 0))
		loop->gone = true;
	view->suspend = false;
	return view->save ? save(loop, fail) : 0;
}

/* Does all keys that were typed. *ret_open: the input ends with the begin of a sequence. */
static int do_keys(struct loop *loop, bool ended, bool *ret_open, struct fail *fail)
{
	struct key key;
	int r = 0;

	*ret_open = false;
	while (!r && loop->canvas.nr_input && !loop->view->quit && !is_gone(loop)) {
		if (!canvas_key(&loop->canvas, ended, &key)) {
			*ret_open = true;
			return 0;
		}
		loop->acting = true;
		loop->since = now_ns();
		r = screen_key(loop->screen, &key, fail);
		if (!r)
			r = obey(loop, fail);
	}
	return r;
}

static int run(struct loop *loop, struct fail *fail)
{
	struct pollfd wait[] = { { .fd = loop->canvas.tty, .events = POLLIN },
				 { .fd = loop->signals[0], .events = POLLIN },
				 { .fd = loop->socket, .events = POLLIN } };
	bool open = false;
	char drain[64];
	int r = 0;

	while (!r && !loop->view->quit && !is_gone(loop)) {
		int ready;

		if (!open)
			r = draw(loop, fail);
		if (r || is_gone(loop))
			break;
		/* Drawing may have been given up for keys that are there already. */
		ready = poll(wait, array_size(wait),
			     loop->canvas.nr_input && !open ? 0 :
			     open                           ? CANVAS_ESC_MS :
			     loop->view->pending            ? PENDING_MS :
							      -1);
		if (ready < 0 && errno != EINTR)
			return fail_set(fail, -errno, "cannot wait for keys: %s", strerror(errno));
		if (ready > 0 && wait[1].revents)
			(void)!read(loop->signals[0], drain, sizeof(drain));
		if (ready > 0 && wait[2].revents)
			hear(loop);
		if (ready > 0 && wait[0].revents)
			canvas_read(&loop->canvas);
		r = do_keys(loop, open && ready == 0, &open, fail);
	}
	return r;
}

/* Before the right to open files is given up. */
static void read_session(struct loop *loop)
{
	cleanup_fd int fd = open(loop->save_as, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && io_read_all(fd, KEEPER_TEXT_MAX, &loop->session))
		buf_clear(&loop->session);
}

/* What cannot be loaded is told, and the recording is shown nevertheless. */
static void load_session(struct loop *loop)
{
	struct fail fail = FAIL_INIT;

	if (!loop->session.len)
		return;
	if (view_load(loop->view, loop->session.data, loop->session.len, &fail))
		view_say(loop->view, "%s: %.*s", loop->save_as, (int)strcspn(fail.text, "\n"), fail.text);
	else
		view_say(loop->view, "with the marks and filters of '%s'", loop->save_as);
}

static int prepare(struct loop *loop, struct trace *trace, struct fail *fail)
{
	const struct arguments *arguments = loop->arguments;
	const struct query_manner manner = { .prepare = decode_prepare, .arg = &arguments->decode };
	const struct sigaction action = { .sa_handler = on_resize, .sa_flags = SA_RESTART };
	const char *slash = strrchr(arguments->input, '/');
	int r = view_new(trace, &arguments->query, &manner, &loop->view, fail);

	if (!r)
		r = decode_seal(&arguments->decode, trace, arguments->reading.no_sandbox, fail);
	if (!r)
		r = screen_new(loop->view, slash ? slash + 1 : arguments->input, &loop->screen, fail);
	if (!r && !out_init(&loop->canvas.out, 1 << 16))
		r = fail_memory(fail);
	if (r)
		return r;
	loop->view->color = arguments->color;
	loop->view->ascii = arguments->ascii || !terminal_utf8();
	loop->view->nanoseconds = arguments->nanoseconds;
	loop->view->mouse_off = arguments->no_mouse;
	load_session(loop);
	loop->view->waits = waits;
	loop->view->waits_arg = loop;
	resized = loop->signals[1];
	sigaction(SIGWINCH, &action, NULL);
	return 0;
}

static int draw_process(void *arg, int socket)
{
	struct loop *loop = arg;
	const struct arguments *arguments = loop->arguments;
	struct reading reading = arguments->reading;
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;
	int r = 0;

	loop->socket = socket;
	reading.opens_more = arguments->decode.wanted;
	r = canvas_open(&loop->canvas, arguments->color, &fail);
	if (!r && pipe2(loop->signals, O_CLOEXEC | O_NONBLOCK))
		r = fail_set(&fail, -errno, "cannot make a pipe: %s", strerror(errno));
	if (r) {
		canvas_close(&loop->canvas);
		return command_failed(&fail);
	}
	read_session(loop);
	r = reading_open(arguments->input, &reading, &trace, &fail);
	if (!r)
		r = prepare(loop, trace, &fail);
	if (!r && keeper_wish(socket, KEEPER_READY, NULL, 0))
		loop->gone = true;
	if (!r && !loop->gone) {
		hear(loop);
		r = run(loop, &fail);
	}
	screen_free(loop->screen);
	if (loop->view)
		decode_end(&loop->view->reader);
	view_free(loop->view);
	canvas_close(&loop->canvas);
	buf_release(&loop->session);
	trace_free(trace);
	if (!r)
		return EXIT_OK;
	/* The keeper has the terminal: the message is printed when that is restored. */
	return command_failed(&fail);
}

static int view_run(int argc, char **argv)
{
	struct arguments arguments = { .query = QUERY_INIT };
	struct fail fail = FAIL_INIT;
	cleanup_free char *save_as = NULL;
	struct loop *loop;
	int status;

	arguments.color = color_auto();
	command_parse(&view_command, argc, argv, 0, &arguments);
	if (!keeper_has_terminal()) {
		fail_set(&fail, -ENOTTY, "weft view needs a terminal; 'weft report' prints to a pipe");
		fail_usage(&fail, -ENOTTY);
		return command_failed(&fail);
	}
	if (!arguments.input)
		arguments.input = "trace.dat";
	reading_tell_left_behind(arguments.input);
	if (asprintf(&save_as, "%s.view", arguments.input) < 0)
		save_as = NULL;
	loop = calloc(1, sizeof(*loop));
	if (!loop || !save_as) {
		free(loop);
		fail_memory(&fail);
		return command_failed(&fail);
	}
	loop->arguments = &arguments;
	loop->save_as = save_as;
	status = keeper_run(&(struct keeper){ .save_as = save_as, .enter = KEEPER_ENTER, .leave = KEEPER_LEAVE },
			    draw_process, loop);
	free(loop);
	query_release(&arguments.query);
	return status;
}

const struct command view_command = {
	.name = "view",
	.summary = "look around in a recording on the whole terminal",
	.brief = "on a terminal",
	.examples = "  weft view\n"
		    "  weft view --since 1204.5 -e sched big.dat",
	.group = "read",
	.argp = &argp,
	.run = view_run,
};
