// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/elsewhere.h"
#include "cmd/options/analyse_by.h"
#include "cmd/options/choice.h"
#include "cmd/options/option_value.h"
#include "cmd/options/output_options.h"
#include "cmd/options/setup_for.h"
#include "cmd/options/setup_options.h"
#include "cmd/options/setup_values.h"
#include "cmd/setup_run.h"
#include "cmd/terminal/canvas.h"
#include "cmd/terminal/color.h"
#include "cmd/terminal/keeper.h"
#include "cmd/terminal/terminal.h"
#include "lib/answers/frame/analysis.h"
#include "lib/files/rewrite/excerpt.h"
#include "lib/files/rewrite/recent.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/destination.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/sandbox.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/live/far_live.h"
#include "lib/kernel/live/live.h"
#include "lib/kernel/live/tables.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/kernel/undo/shared.h"
#include "lib/kernel/undo/undo.h"
#include "lib/meaning/clock/face.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/trace/input.h"
#include "lib/screen/view/table_pane_model.h"

/*
 * weft top: the tables of an analysis of what happens now, on the whole terminal. One thread reads the kernel's buffers
 * (lib/kernel/live), and gives the tables of each interval to a board; another one draws the board and does the keys.
 */

/* KEEP_*: what the key w writes. */
enum {
	EVERY_NS = NS_PER_S,
	LATENCY_NS = 100000000,
	WAIT_MS = 200,
	KEEP_S = 10,
	KEEP_BYTES = 64 << 20,
	SPARES = 16,
	PATIENCE_S = 3, /* for the end of another machine */
};

struct arguments {
	struct setup_arguments setup;
	struct live_options live;
	struct live_tables tables;
	const char *by;
	struct row_options *rows; /* of the analysis, with `by`; or NULL */
	enum face_kind face;
	bool color, ascii;
	struct elsewhere_arguments elsewhere;
};

static const struct option_row table[] = {
	{ .doc = "Output:", .group = SETUP_OWN_GROUP },
	{ "by", 0, "task|process|program|unit|container|pod|cgroup|user", 0,
	  "A row for each of these, or of what else the command of the analysis takes for its own --by",
	  SETUP_OWN_GROUP, OPTION_TEXT(struct arguments, by) },
	{ "every", 0, "TIME", 0, "The interval of the tables (default 1s)", SETUP_OWN_GROUP,
	  OPTION_TIME(struct arguments, tables.every_ns) },
	{ "duration", 0, "TIME", 0, "End after TIME: 500ms, 10s, 2m; a bare number counts seconds", SETUP_OWN_GROUP,
	  OPTION_TIME(struct arguments, live.tap.duration_ns) },
	{ "time", 0, CHOICE_LIVE_FACES, 0,
	  "Show times as the trace clock has them (trace, the default), or as times of day of this machine's zone "
	  "(wall) or of UTC (utc)",
	  SETUP_OWN_GROUP, OPTION_CALL(struct arguments, face, choice_take_live_face) },
	{ "color", 0, COLOR_VALUES, 0, COLOR_HELP, SETUP_OWN_GROUP, OPTION_CALL(struct arguments, color, color_take) },
	{ "ascii", 0, NULL, 0, "Draw with ASCII only (default where the locale has no UTF-8)", SETUP_OWN_GROUP,
	  OPTION_FLAG(struct arguments, ascii) },
	{ 0 },
};

/* The values of --by are those of the analysis. Whom tasks belong to is recorded for each of them. */
static void choose_rows(struct arguments *arguments, struct argp_state *state)
{
	const struct analysis_ops *ops = arguments->tables.ops;
	struct setup *setup = arguments->setup.setup;

	if (!ops->by)
		setup_usage(state, "--by: the tables of 'weft %s' have one kind of row", ops->name);
	arguments->rows = analysis_options(ops);
	if (!arguments->rows || !setup_want_who(&setup->instances[setup->nr_instances - 1]))
		option_no_memory(state);
	arguments->rows->by = analyse_by(ops->by, arguments->by, state);
	arguments->tables.options = arguments->rows;
	arguments->tables.follows = arguments->live.tap.tasks = true;
}

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
	arguments->tables.ops = setup_for_intervals(name, state);
	if (arguments->by)
		choose_rows(arguments, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		arguments->setup.setup->cmdlines = SETUP_CMDLINES;
		arguments->setup.elsewhere = elsewhere_is_named(state->argc, state->argv);
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
		arguments->live.tap.time_of_day = arguments->face != FACE_TRACE;
		arguments->live.tap.path = getenv("PATH");
		setup_check_command(&arguments->setup, arguments->live.tap.argv, state);
		if (arguments->setup.elsewhere && !arguments->elsewhere.host)
			setup_usage(state, "put -- before the COMMAND, so that its --on is not taken for weft's");
		if (arguments->elsewhere.host && arguments->setup.dry_run)
			setup_usage(state, "--on cannot be used with --dry-run");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct options_child children[] = {
	{ &setup_options, offsetof(struct arguments, setup), SETUP_GROUP, NULL },
	{ &setup_command_options, offsetof(struct arguments, setup), SETUP_COMMAND_GROUP, NULL },
	{ &elsewhere_one_options, offsetof(struct arguments, elsewhere), SETUP_OWN_GROUP + 1, "Other machines:" },
	{ 0 },
};

static const struct options command_options = {
	.children = children,
	.rows = table,
	.parser = parse,
	.args_doc = "[--] [COMMAND...]",
	.doc = "Show tables of what happens now on the whole terminal, until q, or COMMAND ends: of tasks and CPUs, or "
	       "what --for names. The key ? shows the keys.",
};

/* Files in memory for a process that can make none: what is kept needs one for each instance while it is written. */
struct spares {
	int fds[SPARES];
	size_t nr, taken;
};

struct top {
	const struct arguments *arguments;
	struct table_pane_model *model;
	const struct reader *reader;
	struct findings_options times; /* how they are shown */
	struct face face;
	struct live *live;
	/* Another machine, with --on; then `live` is NULL, and this process is in the sandbox. */
	struct elsewhere_pipe pipe;
	struct far_live *far;
	bool said;            /* why it has failed */
	uint64_t gives_up_ns; /* when its end is not waited for any more; 0: it was not asked to end */
	struct spares spares;
	int kept; /* a file in memory, which the keeper copies */
	struct recent *recent;
	pthread_mutex_t lock; /* of the board, `ended`, `gives_up_ns` and what is written to the socket */
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
	char when[FACE_TEXT];

	if (span->whole)
		return 0;
	/* More of it is learnt meanwhile. */
	top->times.wall = top->reader->buffers[0].context->wall;
	/* Of another machine nothing is known at the beginning. */
	if (top->face.kind != top->arguments->face) {
		int r = live_face(top->reader, top->arguments->face, &top->face, fail);

		if (r)
			return r;
	}
	findings_show_times(findings, &top->times);
	if (top->face.kind == FACE_TRACE)
		snprintf(when, sizeof(when), "%" PRIu64 ".%03" PRIu64, span->to / NS_PER_S, span->to / 1000000 % 1000);
	else
		face_text(when, &top->face, top->times.wall, span->to, 3);
	pthread_mutex_lock(&top->lock);
	table_pane_model_take(top->model, findings, span, when);
	pthread_mutex_unlock(&top->lock);
	return 0;
}

static int spare_take(void *arg, int *ret_fd, struct fail *fail)
{
	struct spares *spares = arg;

	if (spares->taken == spares->nr)
		return fail_set(fail, -EMFILE, "more instances than %zu cannot be kept", spares->nr);
	*ret_fd = spares->fds[spares->taken++];
	return 0;
}

/* All are given back together. */
static void spare_give_back(void *arg, int fd)
{
	struct spares *spares = arg;

	spares->taken--;
	spares->fds[spares->taken] = fd;
}

struct keeping {
	struct top *top;
	uint64_t events, span;
};

static int write_recent(void *arg, int fd, struct fail *fail)
{
	struct keeping *keeping = arg;
	struct spares *spares = &keeping->top->spares;
	const struct temporaries temporaries = { .make = spare_take, .give_back = spare_give_back, .arg = spares };
	const struct recast_options form = { .version = 7,
					     .compress = true,
					     .level = FRAME_LEVEL_DEFAULT,
					     .temporaries = keeping->top->far ? &temporaries : NULL };
	cleanup_buf struct buf cmdlines = BUF_INIT, kallsyms = BUF_INIT;
	const struct excerpt_newer newer = { &cmdlines, &kallsyms };
	int r = keeping->top->far ? far_live_texts(keeping->top->far, &cmdlines, &kallsyms, fail) :
				    live_texts(keeping->top->live, &cmdlines, &kallsyms, fail);

	return r ? r : recent_write(keeping->top->recent, &form, &newer, fd, &keeping->events, &keeping->span, fail);
}

/* A file of a name that is free in the present directory. `said`: what became of it. */
static bool keep_file(int (*write)(void *arg, int fd, struct fail *fail), void *arg, const uint64_t *events,
		      const uint64_t *span, char *said, size_t size)
{
	struct destination to = DESTINATION_INIT;
	struct fail fail = FAIL_INIT;
	char path[64], text[TEXT_HUMAN], long_text[TEXT_HUMAN];
	time_t now = time(NULL);
	struct tm tm;
	int r;

	if (!localtime_r(&now, &tm) || !strftime(path, sizeof(path), "weft-top-%Y%m%d-%H%M%S.dat", &tm))
		return false;
	r = destination_open(path, &to, &fail);
	if (!r)
		r = destination_write(&to, OUTPUT_MODE, true, write, arg, &fail);
	destination_release(&to);
	if (r)
		snprintf(said, size, "not kept: %.200s", fail.text);
	else
		snprintf(said, size, "kept the last %s, %s events, as '%s'", text_time(long_text, *span),
			 text_count(text, *events), path);
	return true;
}

static void say(struct top *top, const char *text)
{
	pthread_mutex_lock(&top->lock);
	table_pane_model_say(top->model, text);
	pthread_mutex_unlock(&top->lock);
}

/* What is kept of another machine is written by the keeper: this process can open no file. */
struct kept {
	uint64_t size, events, span;
};

static void keep_far(struct keeping *keeping)
{
	struct top *top = keeping->top;
	struct fail fail = FAIL_INIT;
	char said[256];
	int r = write_recent(keeping, top->kept, &fail);
	off_t end = r ? 0 : lseek(top->kept, 0, SEEK_END);
	const struct kept kept = { end > 0 ? (uint64_t)end : 0, keeping->events, keeping->span };

	if (r) {
		snprintf(said, sizeof(said), "not kept: %.200s", fail.text);
		say(top, said);
	}
	/* Also to empty it. */
	pthread_mutex_lock(&top->lock);
	(void)!keeper_wish(top->socket, KEEPER_SAVE, &kept, sizeof(kept));
	pthread_mutex_unlock(&top->lock);
}

static int copy_kept(void *arg, int fd, struct fail *fail)
{
	const int *from = arg;
	char piece[1 << 16];
	uint64_t at = 0;
	ssize_t got;
	int err = 0;

	while (!err && (got = io_pread(*from, piece, sizeof(piece), at)) > 0) {
		err = io_write(fd, piece, (size_t)got);
		at += (uint64_t)got;
	}
	err = err ? err : got < 0 ? (int)got : 0;
	return err ? fail_set(fail, err, "cannot write the file: %s", strerror(-err)) : 0;
}

/* In the keeper. */
static void save_kept(void *arg, const char *text, size_t len, char *into, size_t size)
{
	const struct top *top = arg;
	int fd = top->kept;
	struct kept kept = { 0 };

	if (len == sizeof(kept))
		memcpy(&kept, text, len);
	if (!kept.size || !keep_file(copy_kept, &fd, &kept.events, &kept.span, into, size))
		*into = '\0';
	if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET))
		snprintf(into, size, "not kept: %s", strerror(errno));
}

static void keep(void *arg)
{
	struct top *top = arg;
	struct keeping keeping = { .top = top };
	char said[256];

	if (top->far)
		keep_far(&keeping);
	else if (keep_file(write_recent, &keeping, &keeping.events, &keeping.span, said, sizeof(said)))
		say(top, said);
}

/* What weft itself costs, once a second. */
static void ask_cost(struct top *top)
{
	struct rusage usage;
	uint64_t now = now_ns(), cpu;

	if (now - top->wall < EVERY_NS || getrusage(RUSAGE_SELF, &usage))
		return;
	cpu = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
	      (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
	if (top->cpu)
		table_pane_model_cost(top->model, cpu - top->cpu, now - top->wall);
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
	table_pane_model_draw(top->model, frame->width, frame->height, &top->text);
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
		enum table_pane_wish wish;

		if (key_is_ctrl(&key, 'l'))
			top->canvas.all = true;
		pthread_mutex_lock(&top->lock);
		if (key_is_ctrl(&key, 'z'))
			top->quit |= keeper_wish(top->socket, KEEPER_SUSPEND, NULL, 0) < 0;
		wish = table_pane_model_key(top->model, &key);
		if (wish == TABLE_PANE_KEEP)
			table_pane_model_say(top->model, "keeping the last seconds, with the next event");
		pthread_mutex_unlock(&top->lock);
		top->quit |= wish == TABLE_PANE_QUIT;
		if (wish == TABLE_PANE_KEEP)
			recent_ask(top->recent);
	}
}

static void hear(struct top *top)
{
	char text[256];
	int word = keeper_hear(top->socket, text, sizeof(text));

	if (word == KEEPER_GO)
		top->canvas.all = true;
	else if (word != KEEPER_SAVED)
		top->quit = true;
	else if (*text)
		say(top, text);
}

static bool has_ended(struct top *top)
{
	bool ended;

	pthread_mutex_lock(&top->lock);
	ended = top->ended;
	pthread_mutex_unlock(&top->lock);
	return ended;
}

/* The thread that reads the kernel ends as with Ctrl-C; that of another machine when that one has. */
static void ask_end(struct top *top)
{
	if (!top->far) {
		kill(getpid(), SIGINT);
		return;
	}
	pthread_mutex_lock(&top->lock);
	top->gives_up_ns = now_ns() + (uint64_t)PATIENCE_S * NS_PER_S;
	pthread_mutex_unlock(&top->lock);
	elsewhere_pipe_stop(&top->pipe);
}

static bool gives_up(void *arg)
{
	struct top *top = arg;
	bool yes;

	pthread_mutex_lock(&top->lock);
	yes = top->gives_up_ns && now_ns() >= top->gives_up_ns;
	pthread_mutex_unlock(&top->lock);
	return yes;
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
	if (top->quit || canvas->gone)
		ask_end(top);
	return NULL;
}

static struct reader *reader_of(const struct top *top)
{
	return top->far ? far_live_reader(top->far) : live_reader(top->live);
}

static int prepare(struct top *top, struct live_tables *tables, struct fail *fail)
{
	int r = 0;

	top->times.face = &top->face;
	top->reader = reader_of(top);
	if (!top->far && top->arguments->face != FACE_TRACE)
		r = live_face(top->reader, top->arguments->face, &top->face, fail);
	if (!r && !top->far)
		r = live_start(top->live, fail);
	return r ? r :
		   live_tables_begin(tables, reader_of(top), top->far ? far_live_out(top->far) : live_out(top->live),
				     fail);
}

/* Reads the kernel until the user, the time or the command ends it. */
static int follow(struct top *top, struct live_tables *tables, struct fail *fail)
{
	struct flow_consumer consumer;
	pthread_t thread;
	int r = prepare(top, tables, fail);

	if (!r && keeper_wish(top->socket, KEEPER_READY, NULL, 0))
		r = fail_set(fail, -EPIPE, "the terminal is gone");
	if (!r) {
		hear(top);
		r = pthread_create(&thread, NULL, look, top) ? fail_set(fail, -EAGAIN, "no thread can be started") : 0;
	}
	if (r)
		return r;
	consumer = live_tables_consumer(tables);
	r = top->far ? far_live_run(top->far, &consumer, gives_up, top, fail) : live_run(top->live, &consumer, fail);
	pthread_mutex_lock(&top->lock);
	top->ended = true;
	pthread_mutex_unlock(&top->lock);
	pthread_join(thread, NULL);
	return r;
}

/* The tables of what top->live or top->far brings. */
static int show_tables(struct top *top, struct trace *trace, struct fail *fail)
{
	const struct recent_options recent = {
		.span = (uint64_t)KEEP_S * NS_PER_S, .size = KEEP_BYTES, .asked = keep, .arg = top
	};
	struct live_tables tables = top->arguments->tables;
	int r = recent_new(trace, &recent, &top->recent, fail);

	tables.taken = take_tables;
	tables.taken_arg = top;
	tables.seen = recent_see;
	tables.seen_arg = top->recent;
	if (!r)
		r = follow(top, &tables, fail);
	recent_free(top->recent);
	live_tables_release(&tables);
	face_release(&top->face);
	return r;
}

static void tell_lost(const struct live_result *result)
{
	if (result->all.lost)
		command_warn("%llu events were lost: a larger buffer (-b) may keep them",
			     (unsigned long long)result->all.lost);
}

static void release_result(struct live_result *result)
{
	free(result->sums);
	free(result->tap.missed_probes);
}

static int run_here(struct top *top, struct fail *fail)
{
	struct live_options options = top->arguments->live;
	struct live_result result = { .gone = false };
	struct fail later = FAIL_INIT;
	int r, closed;

	options.fd = STDOUT_FILENO;
	r = live_new(&options, &result, &top->live, fail);
	if (!r)
		r = show_tables(top, live_trace(top->live), fail);
	closed = live_free(top->live, &later);
	keeper_done(top->socket);
	tell_lost(&result);
	release_result(&result);
	return fail_first(r, closed, fail, &later);
}

/* In the sandbox: what comes was written on another machine. */
static int read_far(struct top *top, int file, struct fail *fail)
{
	int r = sandbox_enter(getuid(), getgid(), fail);

	if (!r)
		r = far_live_new(top->pipe.pages, file, &top->far, fail);
	if (!r)
		r = show_tables(top, far_live_trace(top->far), fail);
	far_live_free(top->far);
	return r;
}

/* What ended it is said by the command there, or by what leads there, where these have failed. */
static int run_elsewhere(struct top *top, struct fail *fail)
{
	const struct arguments *arguments = top->arguments;
	cleanup_fd int file = memfd_create("weft-live", MFD_CLOEXEC);
	int r = 0, status;

	tzset();
	while (top->spares.nr < SPARES &&
	       (top->spares.fds[top->spares.nr] = memfd_create("weft-spare", MFD_CLOEXEC)) >= 0)
		top->spares.nr++;
	if (file < 0)
		r = fail_set(fail, -errno, "cannot make a file in memory: %s", strerror(errno));
	if (!r)
		r = elsewhere_pipe_open(&arguments->elsewhere, arguments->live.tap.argv, &top->pipe, fail);
	/* The process behind the pipe may have ended when it is asked to. */
	(void)signal(SIGPIPE, SIG_IGN);
	if (!r)
		r = read_far(top, file, fail);
	keeper_done(top->socket);
	status = elsewhere_pipe_close(&top->pipe);
	while (top->spares.nr)
		close(top->spares.fds[--top->spares.nr]);
	top->said = r == -ENODATA && status;
	return r ? fail_in(fail, r, "%s", arguments->elsewhere.host) : 0;
}

static int run_top(struct top *top, struct fail *fail)
{
	const struct arguments *arguments = top->arguments;
	const struct table_pane_model_options model = { .name = arguments->tables.ops->name,
							.color = arguments->color,
							.ascii = arguments->ascii };
	int r = table_pane_model_new(&model, &top->model, fail);

	if (!r && !out_init(&top->text, 1 << 14))
		r = fail_memory(fail);
	if (r)
		return r;
	return arguments->elsewhere.host ? run_elsewhere(top, fail) : run_here(top, fail);
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
	table_pane_model_free(top->model);
	canvas_close(&top->canvas);
	if (top->text.start)
		out_release(&top->text);
	if (r && !top->said)
		command_failed(&fail);
	return r ? EXIT_RECORD_FAILED : EXIT_OK;
}

/* Puts back what the process that was killed had set up, which could not do so itself. */
static int put_back(pid_t pid, struct undo_sum *ret, struct fail *fail)
{
	struct tracing tracing = { .dir = NULL };
	int r = tracing_find(&tracing, fail);

	if (!r)
		r = undo_recover_of(&tracing, NULL, pid, ret, fail);
	if (!r)
		r = shared_cmdlines_recover(&tracing, NULL, fail);
	ret->entries += r > 0;
	undo_sweep(NULL);
	tracing_release(&tracing);
	return r < 0 ? r : 0;
}

static void killed(pid_t pid, int sig)
{
	struct fail fail = FAIL_INIT;
	struct undo_sum sum = { .entries = 0 };
	int r = put_back(pid, &sum, &fail);

	command_warn("the process that traces was killed by signal %d (%s): tracing has ended, %u instance%s of weft "
		     "removed, %u setting%s put back",
		     sig, strsignal(sig), sum.instances, text_plural(sum.instances), sum.entries,
		     text_plural(sum.entries));
	if (r)
		command_warn("not all could be put back: %s; 'weft reset' tries again", fail.text);
}

/* With --on nothing was set up here. */
static void killed_far(pid_t pid, int sig)
{
	(void)pid;
	/* The keeper passes it on. */
	if (sig == SIGTERM)
		return;
	command_warn("the process that draws was killed by signal %d (%s): tracing ends on the other machine", sig,
		     strsignal(sig));
}

/* For another machine: its pages, which make the tables there. */
static int relay(const struct arguments *arguments, const struct far_side *far, struct fail *fail)
{
	struct live_options options = arguments->live;
	struct live_result result = { .gone = false };
	struct live *live = NULL;
	struct flow_consumer consumer;
	struct fail later = FAIL_INIT;
	int r, closed;

	if (options.tap.argv && !far->allow_command)
		return fail_set(fail, -EPERM, "no COMMAND is run here: weft serve was started without --allow-command");
	options.fd = STDOUT_FILENO;
	options.relays = options.tap.time_of_day = true;
	r = live_new(&options, &result, &live, fail);
	if (!r)
		r = live_start(live, fail);
	if (!r) {
		consumer = live_no_text(live);
		r = live_run(live, &consumer, fail);
	}
	closed = live_free(live, &later);
	tell_lost(&result);
	release_result(&result);
	return fail_first(r, closed, fail, &later);
}

static int show_on_terminal(struct arguments *arguments)
{
	struct keeper keeper = { .enter = KEEPER_ENTER, .leave = KEEPER_LEAVE, .waits = true, .killed = killed };
	struct fail fail = FAIL_INIT;
	struct top *top;
	int status;

	if (!keeper_has_terminal()) {
		fail_set(&fail, -ENOTTY, "weft top needs a terminal; 'weft stream --summary' prints to a pipe");
		fail_usage(&fail, -ENOTTY);
		return command_failed(&fail);
	}
	top = calloc(1, sizeof(*top));
	if (!top) {
		fail_memory(&fail);
		return command_failed(&fail);
	}
	top->arguments = arguments;
	top->pipe = (struct elsewhere_pipe)ELSEWHERE_PIPE_INIT;
	top->kept = -1;
	if (arguments->elsewhere.host) {
		top->kept = memfd_create("weft-kept", MFD_CLOEXEC);
		keeper.save = save_kept;
		keeper.save_arg = top;
		keeper.killed = killed_far;
	}
	status = keeper_run(&keeper, draw_process, top);
	cleanup_fd_close(&top->kept);
	free(top);
	return status;
}

static int run_for(int argc, char **argv, const struct far_side *far)
{
	struct setup setup = { .nr_instances = 0 };
	struct arguments arguments = {
		.setup.setup = &setup,
		.live = { .tap.setup = &setup, .latency_ns = LATENCY_NS, .limit = UINT64_MAX },
		.tables.every_ns = EVERY_NS,
	};
	cleanup_free struct row_options *rows = NULL;
	struct fail fail = FAIL_INIT;
	int status = EXIT_OK;

	arguments.color = color_auto();
	arguments.ascii = !terminal_utf8();
	command_parse(&top_command, argc, argv, ARGP_IN_ORDER, &arguments);
	rows = arguments.rows;
	if (far && relay(&arguments, far, &fail)) {
		command_failed(&fail);
		status = EXIT_RECORD_FAILED;
	} else if (!far && arguments.setup.dry_run) {
		status = setup_run_script(&setup, arguments.live.tap.argv, arguments.setup.user);
	} else if (!far) {
		status = show_on_terminal(&arguments);
	}
	elsewhere_release(&arguments.elsewhere);
	setup_release(&setup);
	return status;
}

static int run(int argc, char **argv)
{
	return run_for(argc, argv, NULL);
}

const struct command top_command = {
	.name = "top",
	.summary = "show tables of what happens now on the whole terminal",
	.brief = "tables, live",
	.examples = "  weft top\n"
		    "  weft top --for syscalls --every 2s\n"
		    "  weft top --for block --by unit\n"
		    "  weft top --on build7",
	.group = "record",
	.options = &command_options,
	.run = run,
	.run_far = run_for,
};
