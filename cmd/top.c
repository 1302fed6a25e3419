// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/command.h"
#include "cmd/options/option_value.h"
#include "cmd/options/setup_for.h"
#include "cmd/options/setup_options.h"
#include "cmd/options/setup_values.h"
#include "cmd/setup_run.h"
#include "cmd/terminal/canvas.h"
#include "cmd/terminal/color.h"
#include "cmd/terminal/keeper.h"
#include "cmd/terminal/terminal.h"
#include "lib/analysis/analysis.h"
#include "lib/base/fail.h"
#include "lib/base/now.h"
#include "lib/base/out.h"
#include "lib/base/text.h"
#include "lib/live/live.h"
#include "lib/live/tables.h"
#include "lib/view/board.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * weft top: the tables of an analysis of what happens now, on the whole terminal. One thread reads the kernel's buffers
 * (lib/live), and gives the tables of each interval to a board; another one draws the board and does the keys.
 */

enum { KEY_EVERY = 0x100, KEY_DURATION, KEY_COLOR, KEY_ASCII };

enum { EVERY_NS = 1000000000, LATENCY_NS = 100000000, WAIT_MS = 200 };

struct arguments {
	struct setup_arguments setup;
	struct live_options live;
	struct live_tables tables;
	bool color, ascii;
};

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "Output:", SETUP_OWN_GROUP },
	{ "every", KEY_EVERY, "TIME", 0, "The interval of the tables (default 1s)", SETUP_OWN_GROUP },
	{ "duration", KEY_DURATION, "TIME", 0, "End after TIME: 500ms, 10s, 2m; a bare number counts seconds",
	  SETUP_OWN_GROUP },
	{ "color", KEY_COLOR, COLOR_VALUES, 0, COLOR_HELP, SETUP_OWN_GROUP },
	{ "ascii", KEY_ASCII, NULL, 0, "Draw with ASCII only (default where the locale has no UTF-8)",
	  SETUP_OWN_GROUP },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

/* Without --for it is the tasks and CPUs; with events of the user's own, what is counted of all events. */
static void choose_analysis(struct arguments *arguments, struct argp_state *state)
{
	struct setup *setup = arguments->setup.setup;
	struct setup_instance *wanted = &setup->instances[setup->nr_instances - 1];
	const char *name = arguments->setup.analysis ? arguments->setup.analysis :
			   wanted->nr_events         ? "summary" :
						       "sched";

	if (!arguments->setup.analysis && !wanted->nr_events)
		setup_for(wanted, "--for", name, state);
	arguments->tables.ops = analysis_named(name);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		arguments->setup.setup->cmdlines = SETUP_CMDLINES;
		state->child_inputs[0] = state->child_inputs[1] = &arguments->setup;
		return 0;
	case KEY_EVERY:
		arguments->tables.every_ns = option_time("every", arg, state);
		if (!arguments->tables.every_ns)
			setup_usage(state, "--every: the interval cannot be 0");
		return 0;
	case KEY_DURATION:
		arguments->live.tap.duration_ns = option_time("duration", arg, state);
		return 0;
	case KEY_COLOR:
		arguments->color = color_wanted(arg, state);
		return 0;
	case KEY_ASCII:
		arguments->ascii = true;
		return 0;
	case ARGP_KEY_ARG:
		/* The rest is the COMMAND and its own options. */
		arguments->live.tap.argv = &state->argv[state->next - 1];
		state->next = state->argc;
		choose_analysis(arguments, state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		choose_analysis(arguments, state);
		return 0;
	case ARGP_KEY_END:
		arguments->live.tap.user = arguments->setup.user;
		arguments->live.tap.path = getenv("PATH");
		setup_check_command(&arguments->setup, arguments->live.tap.argv, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{ &setup_argp, 0, NULL, SETUP_GROUP },
	{ &setup_command_argp, 0, NULL, SETUP_COMMAND_GROUP },
	{ NULL, 0, NULL, 0 },
};

static const struct argp argp = {
	.children = children,
	.options = table,
	.parser = parse,
	.args_doc = "[--] [COMMAND...]",
	.doc = "Show tables of what happens now on the whole terminal, until q, or COMMAND ends: of tasks and CPUs, or "
	       "what --for names. The key ? shows the keys.",
};

struct top {
	const struct arguments *arguments;
	struct board *board;
	pthread_mutex_t lock; /* of the board and `ended` */
	bool ended;
	int socket;
	struct canvas canvas;
	struct out text;
	bool quit;
	uint64_t wall, cpu; /* when the cost was asked last, and what it was */
};

static int take_tables(void *arg, struct findings *findings, const struct findings_span *span, struct fail *fail)
{
	struct top *top = arg;

	(void)fail;
	if (span->whole)
		return 0;
	pthread_mutex_lock(&top->lock);
	board_take(top->board, findings, span);
	pthread_mutex_unlock(&top->lock);
	return 0;
}

/* What weft itself costs, once a second. */
static void ask_cost(struct top *top)
{
	struct rusage usage;
	uint64_t now = now_ns(), cpu;

	if (now - top->wall < EVERY_NS || getrusage(RUSAGE_SELF, &usage))
		return;
	cpu = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
	      (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
	if (top->cpu)
		board_cost(top->board, cpu - top->cpu, now - top->wall);
	top->cpu = cpu;
	top->wall = now;
}

static void draw(struct top *top)
{
	const struct pen pens[] = { { .attributes = CELL_REVERSE }, { .attributes = 0 } };
	struct frame *frame = &top->canvas.frame;
	const char *at;

	/* Without memory nothing is drawn, and it is tried again. */
	if (canvas_fit(&top->canvas, NULL))
		return;
	out_clear(&top->text);
	pthread_mutex_lock(&top->lock);
	ask_cost(top);
	board_draw(top->board, frame->width, frame->height, &top->text);
	pthread_mutex_unlock(&top->lock);
	frame_clear(frame);
	at = top->text.start;
	for (unsigned y = 0; y < frame->height && at < top->text.at; y++) {
		const char *end = memchr(at, '\n', (size_t)(top->text.at - at));
		size_t len = (size_t)((end ? end : top->text.at) - at);

		frame_put(frame, 0, y, frame->width, pens[y > 0], at, len);
		at += len + 1;
	}
	frame->ascii = top->arguments->ascii;
	canvas_show(&top->canvas);
}

static void do_keys(struct top *top, bool ended)
{
	struct key key;

	while (!top->quit && canvas_key(&top->canvas, ended, &key)) {
		if (key_is_ctrl(&key, 'l'))
			top->canvas.all = true;
		else if (key_is_ctrl(&key, 'z'))
			top->quit |= keeper_wish(top->socket, KEEPER_SUSPEND, NULL, 0) < 0;
		pthread_mutex_lock(&top->lock);
		board_key(top->board, &key, &top->quit);
		pthread_mutex_unlock(&top->lock);
	}
}

static void hear(struct top *top)
{
	char text[256];

	if (keeper_hear(top->socket, text, sizeof(text)) == KEEPER_GO)
		top->canvas.all = true;
	else
		top->quit = true;
}

static bool has_ended(struct top *top)
{
	bool ended;

	pthread_mutex_lock(&top->lock);
	ended = top->ended;
	pthread_mutex_unlock(&top->lock);
	return ended;
}

static void *look(void *arg)
{
	struct top *top = arg;
	struct canvas *canvas = &top->canvas;
	struct pollfd wait[] = { { .fd = canvas->tty, .events = POLLIN }, { .fd = top->socket, .events = POLLIN } };

	while (!top->quit && !canvas->gone && !has_ended(top)) {
		int ready;

		draw(top);
		ready = poll(wait, array_size(wait), canvas->nr_input ? CANVAS_ESC_MS : WAIT_MS);
		if (ready > 0 && wait[1].revents)
			hear(top);
		if (ready > 0 && wait[0].revents)
			canvas_read(canvas);
		do_keys(top, !ready);
	}
	/* The thread that reads the kernel ends as with Ctrl-C. */
	if (top->quit || canvas->gone)
		kill(getpid(), SIGINT);
	return NULL;
}

/* Reads the kernel until the user, the time or the command ends it. */
static int follow(struct top *top, struct live *live, struct live_tables *tables, struct fail *fail)
{
	struct flow_consumer consumer;
	pthread_t thread;
	int r = live_start(live, fail);

	if (!r)
		r = live_tables_begin(tables, live_reader(live), live_out(live), fail);
	if (!r && keeper_wish(top->socket, KEEPER_READY, NULL, 0))
		r = fail_set(fail, -EPIPE, "the terminal is gone");
	if (!r) {
		hear(top);
		r = pthread_create(&thread, NULL, look, top) ? fail_set(fail, -EAGAIN, "no thread can be started") : 0;
	}
	if (r)
		return r;
	consumer = live_tables_consumer(tables);
	r = live_run(live, &consumer, fail);
	pthread_mutex_lock(&top->lock);
	top->ended = true;
	pthread_mutex_unlock(&top->lock);
	pthread_join(thread, NULL);
	return r;
}

static int run_top(struct top *top, struct fail *fail)
{
	const struct arguments *arguments = top->arguments;
	const struct board_options board = { .name = arguments->tables.ops->name,
					     .color = arguments->color,
					     .ascii = arguments->ascii };
	struct live_options options = arguments->live;
	struct live_tables tables = arguments->tables;
	struct live_result result = { .gone = false };
	struct fail later = FAIL_INIT;
	struct live *live = NULL;
	int r, closed;

	options.fd = STDOUT_FILENO;
	tables.taken = take_tables;
	tables.taken_arg = top;
	r = board_new(&board, &top->board, fail);
	if (!r && !out_init(&top->text, 1 << 14))
		r = fail_memory(fail);
	if (!r)
		r = live_new(&options, &result, &live, fail);
	if (!r)
		r = follow(top, live, &tables, fail);
	live_tables_release(&tables);
	closed = live_free(live, &later);
	if (result.all.lost)
		command_warn("%llu events were lost: a larger buffer (-b) may keep them",
			     (unsigned long long)result.all.lost);
	free(result.sums);
	free(result.tap.missed_probes);
	return fail_first(r, closed, fail, &later);
}

static int draw_process(void *arg, int socket)
{
	struct top *top = arg;
	struct fail fail = FAIL_INIT;
	int r;

	top->socket = socket;
	top->canvas.all = true;
	pthread_mutex_init(&top->lock, NULL);
	r = canvas_open(&top->canvas, top->arguments->color, &fail);
	if (!r)
		r = run_top(top, &fail);
	board_free(top->board);
	canvas_close(&top->canvas);
	if (top->text.start)
		out_release(&top->text);
	return r ? (command_failed(&fail), EXIT_RECORD_FAILED) : EXIT_OK;
}

static int run(int argc, char **argv)
{
	struct setup setup = { .nr_instances = 0 };
	struct arguments arguments = {
		.setup.setup = &setup,
		.live = { .tap.setup = &setup, .latency_ns = LATENCY_NS, .limit = UINT64_MAX },
		.tables.every_ns = EVERY_NS,
	};
	const struct keeper keeper = { .save_as = "", .enter = KEEPER_ENTER, .leave = KEEPER_LEAVE, .waits = true };
	struct fail fail = FAIL_INIT;
	struct top *top;
	int status;

	arguments.color = color_auto();
	arguments.ascii = !terminal_utf8();
	command_parse(&top_command, argc, argv, ARGP_IN_ORDER, &arguments);
	if (arguments.setup.dry_run) {
		status = setup_run_script(&setup, arguments.live.tap.argv, arguments.setup.user);
		setup_release(&setup);
		return status;
	}
	if (!keeper_has_terminal()) {
		fail_set(&fail, -ENOTTY, "weft top needs a terminal; 'weft stream --summary' prints to a pipe");
		fail_usage(&fail, -ENOTTY);
		setup_release(&setup);
		return command_failed(&fail);
	}
	top = calloc(1, sizeof(*top));
	if (!top) {
		fail_memory(&fail);
		setup_release(&setup);
		return command_failed(&fail);
	}
	top->arguments = &arguments;
	status = keeper_run(&keeper, draw_process, top);
	free(top);
	setup_release(&setup);
	return status;
}

const struct command top_command = {
	.name = "top",
	.summary = "show tables of what happens now on the whole terminal",
	.brief = "tables, live",
	.examples = "  weft top\n"
		    "  weft top --for syscalls --every 2s\n"
		    "  weft top --for irq",
	.group = "record",
	.argp = &argp,
	.run = run,
};
