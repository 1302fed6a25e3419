// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/choice.h"
#include "cmd/options/decode.h"
#include "cmd/options/host_options.h"
#include "cmd/options/option_value.h"
#include "cmd/options/output_options.h"
#include "cmd/options/reading.h"
#include "cmd/terminal/canvas.h"
#include "cmd/terminal/color.h"
#include "cmd/terminal/keeper.h"
#include "cmd/terminal/terminal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/destination.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/clock/day.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/guest/host.h"
#include "lib/meaning/reader/query.h"
#include "lib/pages/trace/trace.h"
#include "lib/screen/term/frame.h"
#include "lib/screen/term/key.h"
#include "lib/screen/view/screen.h"
#include "lib/screen/view/view.h"

/* weft view: a recording on the whole terminal. Here is the loop; what is shown is in lib/screen/view. */

/* A line of progress is shown after a while, and not often. */
enum { PENDING_MS = 100, PROGRESS_MS = 100 };

#define MOUSE_ON "\033[?1000h\033[?1002h\033[?1006h"
#define MOUSE_OFF "\033[?1006l\033[?1002l\033[?1000l"

struct arguments {
	const char *input;
	struct query query;
	struct option_words counters;
	struct decode decode;
	struct reading reading;
	bool color, ascii, no_mouse, nanoseconds;
	enum face_kind face;
	struct guest_host host;
};

static const struct option_row options[] = {
	{ "input", 'i', "FILE", 0, "Look into FILE (default: trace.dat)", 1,
	  OPTION_ONCE(struct arguments, input, "file") },
	{ "color", 0, COLOR_VALUES, 0, COLOR_HELP, 3, OPTION_CALL(struct arguments, color, color_take) },
	{ "ascii", 0, NULL, 0, "Draw with ASCII only (default where the locale has no UTF-8)", 3,
	  OPTION_FLAG(struct arguments, ascii) },
	{ "counter", 0, "EVENT:FIELD", 0, "Draw the values of this field in the time line, too; repeatable", 3,
	  OPTION_WORDS(struct arguments, counters) },
	{ "no-mouse", 0, NULL, 0, "Leave the mouse to the terminal; the key M does it later", 3,
	  OPTION_FLAG(struct arguments, no_mouse) },
	{ "nanoseconds", 't', NULL, 0, "Show time stamps with nine digits", 3,
	  OPTION_FLAG(struct arguments, nanoseconds) },
	{ "time", 0, CHOICE_FACES, 0,
	  "Show times as the trace clock has them (trace, the default), or as weft report --time does", 3,
	  OPTION_CALL(struct arguments, face, choice_take_face) },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		option_once("file", &arguments->input, choice_take_file(&arguments->query, arg, state), state);
		return 0;
	case ARGP_KEY_SUCCESS:
		/* The view opens there, and shows all. */
		if (arguments->query.before_ns == QUERY_UNSAID && arguments->query.after_ns == QUERY_UNSAID)
			arguments->query.before_ns = arguments->query.after_ns = QUERY_WHOLE;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options_child children[] = {
	{ &choice_part_options, offsetof(struct arguments, query), 2, NULL },
	{ &choice_events_options, offsetof(struct arguments, query), 2, NULL },
	{ &decode_options, offsetof(struct arguments, decode), 3, NULL },
	{ &host_options, offsetof(struct arguments, host), 3, NULL },
	{ &reading_options, offsetof(struct arguments, reading), 4, NULL },
	{ 0 },
};

static const struct options command_options = {
	.rows = options,
	.parser = parse,
	.args_doc = "[FILE]",
	.doc = "Looks around in a recording of any size, on the whole terminal. The key ? shows the keys.",
	.children = children,
};

/*
 * The file FILE.view beside the recording, with marks, filters and the like. Its directory is opened before the
 * recording, and once: what another user exchanges on the way to it later leads nowhere.
 */
struct session {
	char *path;
	struct destination to;
	int err; /* the place cannot be had: */
	struct fail fail;
	struct buf text; /* of the file, if there is one */
};

/* The loop and its terminal. */
struct loop {
	const struct arguments *arguments;
	struct session session;
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

static int open_session(struct session *session, const char *input, struct fail *fail)
{
	session->to = (struct destination)DESTINATION_INIT;
	if (asprintf(&session->path, "%s.view", input) < 0) {
		session->path = NULL;
		return fail_memory(fail);
	}
	session->err = destination_open(session->path, &session->to, &session->fail);
	if (!session->err && session->to.kind != DESTINATION_FILE)
		session->err =
			fail_set(&session->fail, -EINVAL, "'%s' is no regular file; move it away", session->path);
	return 0;
}

static void release_session(struct session *session)
{
	destination_release(&session->to);
	buf_release(&session->text);
	free(session->path);
}

/* Before the right to open files is given up. What is no regular file is not waited for. */
static void read_session(struct session *session)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	cleanup_fd int fd = session->err ? -1 : openat(session->to.dir, session->to.leaf, flags);

	if (fd >= 0 && io_read_all(fd, KEEPER_TEXT_MAX, &session->text))
		buf_clear(&session->text);
}

struct saving {
	const char *text;
	size_t len;
};

static int write_text(void *arg, int fd, struct fail *fail)
{
	const struct saving *saving = arg;
	int err = io_write(fd, saving->text, saving->len);

	return err ? fail_set(fail, err, FAIL_WRITE "%s", strerror(-err)) : 0;
}

/* In the keeper, for KEEPER_SAVE. The old file stays until the new one is complete. */
static void save_session(void *arg, const char *text, size_t len, char *into, size_t size)
{
	const struct session *session = arg;
	struct saving saving = { text, len };
	struct fail fail = session->fail;
	int err = session->err;

	if (!err)
		err = destination_write(&session->to, OUTPUT_MODE, false, write_text, &saving, &fail);
	if (err)
		snprintf(into, size, "not saved: %s", fail.text);
	else
		snprintf(into, size, "saved as '%.200s'", session->path);
}

/* What cannot be loaded is told, and the recording is shown nevertheless. */
static void load_session(struct loop *loop)
{
	const struct session *session = &loop->session;
	struct fail fail = FAIL_INIT;

	if (!session->text.len)
		return;
	if (view_load(loop->view, session->text.data, session->text.len, &fail))
		view_say(loop->view, "%s: %.*s", session->path, (int)strcspn(fail.text, "\n"), fail.text);
	else
		view_say(loop->view, "with the marks and filters of '%s'", session->path);
}

/* In the keeper, for KEEPER_ZONE: the drawing process can open no file. */
static void tell_zone(const char *time, struct buf *into)
{
	struct zone *zone = NULL;
	char name[ZONE_LABEL];

	if (!day_time_zone_name(time, name) || choice_read_zone(name, &zone, NULL))
		return;
	if (!zone_put(zone, into))
		buf_clear(into);
	zone_free(zone);
}

static bool ask_zone(void *arg, const char *time, struct zone **ret)
{
	struct loop *loop = arg;
	cleanup_free char *text = malloc(KEEPER_TEXT_MAX);
	int word = 0;

	if (!text || keeper_wish(loop->socket, KEEPER_ZONE, time, strlen(time)))
		return false;
	/* The user may go on after Ctrl-Z meanwhile. */
	while ((word = keeper_hear(loop->socket, text, KEEPER_TEXT_MAX)) == KEEPER_GO)
		loop->canvas.all = true;
	if (word != KEEPER_ZONED)
		loop->gone = true;
	return word == KEEPER_ZONED && !zone_new_of(text, ret, NULL);
}

/* Of a guest: which of the buffers it is, beside its host's. */
static int find_guest(struct view *view, const struct arguments *arguments, struct trace *trace, struct fail *fail)
{
	size_t guest = 0;
	int r = arguments->host.buffer ? guest_find(&arguments->host, trace, arguments->query.instance, &guest, fail) :
					 0;

	if (r || !arguments->host.buffer)
		return r;
	view->host = &arguments->host;
	view->guest = trace_buffer(trace, guest)->name.text;
	return 0;
}

/* In the last line, until the first key. */
static void tell_unknown(const struct loop *loop)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (choice_unknown(&loop->arguments->query, &loop->view->reader, &text) && text.len)
		view_say(loop->view, "%.*s", (int)strcspn(buf_str(&text), "\n"), buf_str(&text));
}

static int prepare(struct loop *loop, struct trace *trace, struct fail *fail)
{
	const struct arguments *arguments = loop->arguments;
	const struct query_manner manner = { .prepare = decode_prepare, .arg = &arguments->decode };
	const struct sigaction action = { .sa_handler = on_resize, .sa_flags = SA_RESTART };
	const char *slash = strrchr(arguments->input, '/');
	int r = view_new(trace, &arguments->query, &manner, &loop->view, fail);

	if (!r)
		r = find_guest(loop->view, arguments, trace, fail);
	if (!r)
		r = choice_check_counters(&loop->view->reader, arguments->counters.at, arguments->counters.len, fail);
	if (!r)
		r = face_init(&loop->view->face, arguments->face, loop->view->reader.buffers[0].context->wall,
			      loop->view->extent.first, fail);
	if (!r)
		r = decode_seal(&arguments->decode, trace, arguments->reading.no_sandbox, fail);
	if (!r)
		r = screen_new(loop->view, slash ? slash + 1 : arguments->input, &loop->screen, fail);
	if (!r && !out_init(&loop->canvas.out, 1 << 16))
		r = fail_memory(fail);
	if (r)
		return r;
	loop->view->counters = arguments->counters.at;
	loop->view->nr_counters = arguments->counters.len;
	loop->view->color = arguments->color;
	loop->view->ascii = arguments->ascii || !terminal_utf8();
	loop->view->nanoseconds = arguments->nanoseconds;
	loop->view->decodes = arguments->decode.wanted;
	loop->view->plugin_dir = arguments->decode.dir;
	loop->view->trusts_size = arguments->reading.trust_size;
	loop->view->mouse_off = arguments->no_mouse;
	load_session(loop);
	tell_unknown(loop);
	loop->view->threads = reading_threads();
	loop->view->waits = waits;
	loop->view->waits_arg = loop;
	loop->view->zone = ask_zone;
	loop->view->zone_arg = loop;
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
	read_session(&loop->session);
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
	release_session(&loop->session);
	trace_free(trace);
	if (!r)
		return EXIT_OK;
	keeper_done(socket);
	return command_failed(&fail);
}

static int view_run(int argc, char **argv)
{
	struct arguments arguments = { .query = QUERY_INIT };
	struct fail fail = FAIL_INIT;
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
	loop = calloc(1, sizeof(*loop));
	if (!loop || open_session(&loop->session, arguments.input, &fail)) {
		free(loop);
		fail_memory(&fail);
		return command_failed(&fail);
	}
	loop->arguments = &arguments;
	status = keeper_run(&(struct keeper){ .save = save_session,
					      .save_arg = &loop->session,
					      .zone = tell_zone,
					      .enter = KEEPER_ENTER,
					      .leave = KEEPER_LEAVE },
			    draw_process, loop);
	release_session(&loop->session);
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
	.options = &command_options,
	.run = view_run,
};
