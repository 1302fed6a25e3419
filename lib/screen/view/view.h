/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_VIEW_H
#define WEFT_SCREEN_VIEW_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/clock/face.h"
#include "lib/meaning/reader/back.h"
#include "lib/meaning/reader/extent.h"
#include "lib/meaning/reader/reader.h"
#include "lib/screen/term/key.h"

struct fail;
struct folds;
struct picture;
struct query;
struct query_manner;
struct trace;
struct guest_host;
struct view_columns;

/*
 * The model of `weft view`: panes that show the same recording, linked by one cursor, which is an event, and one window
 * of time. It knows no terminal: a pane gives rows of text, and gets keys. lib/screen/view/screen.h makes a frame of
 * them. An event has a place as lib/meaning/reader/back.h numbers those of a reader without a selection: filters change
 * no place.
 */

/*
 * The rows that a pane gives: lines of `text`, each ended with a newline. Control characters in them are escaped
 * (lib/ground/base/escape.h), except the colours of formats/palette.h. The screen cuts lines that are too long.
 */
struct rows {
	unsigned width, height; /* what there is room for; 0 columns: as wide as it likes */
	struct out text;
	size_t nr;
	size_t cursor;  /* the row that is shown reversed; SIZE_MAX: none */
	size_t more;    /* so many rows below it belong to the same line */
	bool unwrapped; /* no line is to be wrapped, as somebody copies it */
	unsigned skip;  /* columns that are left out at the left, of all rows but the first `fixed` ones */
	size_t fixed;
	size_t top; /* rows that are left out above */
};

/* Ends the line that was appended to rows->text. False: there is no room for another. */
bool rows_end_line(struct rows *rows);
/*
 * Moves to another line, from 0 to `last`, by the keys that do so in every list: arrows, pages, ends, the letters of
 * less, and the wheel by one. False: it is another key.
 */
bool rows_move(const struct key *key, size_t *at, size_t page, size_t last);
/* Appends a text of strangers: control characters are escaped, newlines too. */
void rows_foreign(struct rows *rows, const char *text, size_t len);

struct view;

struct pane {
	const struct pane_ops *ops;
	struct view *view;
};

/* A pane is a file of lib/screen/view: its ops, and one line in view_panes.h. */
struct pane_ops {
	char letter;      /* the key that shows it: '1' to '9' */
	const char *name; /* one word */
	const char *hint; /* the keys in the help line at the bottom, 70 columns */
	const char *help; /* the lines that '?' shows: "KEY\twhat it does\n", or sentences: they are wrapped */
	int (*create)(struct view *view, struct pane **ret, struct fail *fail);
	void (*free)(struct pane *pane);
	/* Appends at most rows->height lines. It also reads what it needs: view_waits() asks whether to go on. */
	int (*draw)(struct pane *pane, struct rows *rows, struct fail *fail);
	/* Returns 1 if the key was the pane's, 0 if it means what it means everywhere, or -errno. */
	int (*key)(struct pane *pane, const struct key *key, struct fail *fail);
	/* The command line that prints what the pane shows, without the file; NULL: it has none. */
	bool (*command)(struct pane *pane, struct buf *into);
	/* What the pane shows has changed: other filters, another scope. NULL: it looks each time. */
	void (*changed)(struct pane *pane);
	/* How the pane is saved in a session, as words; NULL: not. */
	void (*save)(const struct pane *pane, struct out *into);
};

enum { VIEW_PANES_MAX = 9, VIEW_HISTORY = 100, VIEW_FILTERS_MAX = 9, VIEW_BOOKMARKS = 26 };

/* A filter of the user, as the options of report: -f EXPRESSION, -e EVENT, --pid, --comm, --cpu. */
struct view_filter {
	enum view_filter_kind {
		VIEW_FILTER_EXPRESSION,
		VIEW_FILTER_EVENT,
		VIEW_FILTER_PID,
		VIEW_FILTER_COMM,
		VIEW_FILTER_CPU,
		VIEW_FILTER_QUERY /* all that the command line chooses */
	} kind;
	char *text;
	bool negated, off;
};

struct view_stop {
	struct walk_place place;
	uint64_t from, to; /* the window */
};

struct view {
	struct trace *trace;       /* borrowed */
	const char *path;          /* of the file, as the user gave it; borrowed */
	const struct query *query; /* of the command line; borrowed */
	struct reader reader;      /* its contexts and their windows; it is never started */
	struct extent extent;
	bool counts; /* the clock does not count ns */

	const struct pane_ops *const *all_panes; /* in the order of their letters; borrowed */
	size_t nr_all_panes;

	/* What all panes share. */
	struct walk_place cursor;
	uint64_t from, to; /* the window of time: the whole recording at first */
	struct {
		bool set;
		struct walk_place place;
	} marks[2]; /* A and B */
	struct walk_place bookmarks[VIEW_BOOKMARKS];
	bool bookmarked[VIEW_BOOKMARKS];
	struct view_filter filters[VIEW_FILTERS_MAX];
	size_t nr_filters;
	uint64_t filter_round; /* changes with the filters */
	struct folds *folds;   /* of the list of events */

	/* Where the user was: view_go() remembers, view_back() and view_forward() return. */
	struct view_stop history[VIEW_HISTORY];
	size_t nr_history, at_history;

	unsigned threads; /* so many may search; 0: one */

	/* The survey of the recording, once it is wanted: of the time line, and of the numbers of events. */
	struct picture *picture;
	const char *const *counters; /* fields that it has as counters; borrowed */
	size_t nr_counters;
	/* Of a guest: its host, and its own buffer, which alone is in the time line; NULL: it is none. Borrowed. */
	const struct guest_host *host;
	const char *guest;
	struct view_numbered {
		struct walk_place of;
		uint64_t number;
		bool looked, known;
	} numbered; /* of the cursor */

	struct pane *panes[VIEW_PANES_MAX + 1]; /* by the digit of their letter; NULL: not shown so far */
	unsigned shown, second;                 /* digits; second 0: one pane only */
	bool in_second, wide;                   /* the keys go to the second one; only that with the keys is shown */

	/* How it is drawn. */
	bool color, ascii;
	bool nanoseconds, raw;        /* as report -t and -R */
	bool decodes, trusts_size;    /* the user gave --decode, --trust-size */
	const char *plugin_dir;       /* and this --plugin-dir; NULL: none; borrowed */
	struct face face;             /* as report --time; times to type stay those of the trace */
	const char *format;           /* of the event list: "ftrace" or "pretty" */
	struct view_columns *columns; /* of the event list instead; NULL: its text */

	/* What is explained: this task, between the marks A and B. Each question has another round. */
	struct {
		int32_t pid;
		uint64_t round;
	} explained;
	/* What was waited for in the interval that weft why explained last, in the order of time. */
	struct view_link {
		uint64_t from, to;
		char text[56]; /* "sleep slept its own timer" */
	} * links;
	size_t nr_links;

	char message[256]; /* for the user, until the next key */
	char *searched;    /* the last search, for n and N */
	bool searched_back;
	struct buf copy; /* what a key copied, for the loop to send to the terminal */
	bool copied, save, quit, redraw, suspend, mouse_off;
	bool pending; /* what is shown will change by itself: the loop draws again soon */

	/*
	 * Asks the loop whether to go on with work that takes long: it returns true when a key waits. The panes call it
	 * every few thousand events. NULL: nobody waits.
	 */
	bool (*waits)(void *arg, const char *what, unsigned percent);
	void *waits_arg;

	/* The zones that times which the user typed have named; zone() reads one more. False: there is no such one. */
	struct zones zones;
	bool (*zone)(void *arg, const char *time, struct zone **ret);
	void *zone_arg;
};

/* Borrows the query, whose times and buffers are all that there is; `manner` may be NULL. */
int must_check view_new(struct trace *trace, const struct query *query, const struct query_manner *manner,
			struct view **ret, struct fail *fail);
void view_free(struct view *view);

/* The lines of '?' for what all panes have; its own come before them. */
extern const char view_help[];

/* Adds a filter, which is checked; the message says what is wrong with it. view_unfilter() drops the last one. */
int must_check view_filter_add(struct view *view, const struct view_filter *filter, struct fail *fail);
bool view_unfilter(struct view *view);
/* After a filter was switched: all panes look again. */
void view_filters_changed(struct view *view);
/* The options for the buffer and the CPUs that the command line chose, each with a blank in front. */
bool view_part_options(const struct view *view, struct buf *into);
/* These, and the options of report for the filters that are on. */
bool view_filter_options(const struct view *view, struct buf *into);
/* Appends a word as a shell takes it, without a byte that a terminal obeys. */
bool view_quote(const char *text, struct buf *into);

/* Chooses the columns of the list of events, by their names; "": the kernel's text. */
int must_check view_choose_columns(struct view *view, const char *words, struct fail *fail);

/* Copies a text for the user: the loop sends it to the terminal. */
void view_copy(struct view *view, const char *text, size_t len);

/* Appends the marks, bookmarks, filters and panes as lines of text; view_load() takes them again. */
void view_save(const struct view *view, struct out *into);
/* Lines that it does not know are left out. */
int must_check view_load(struct view *view, const char *text, size_t len, struct fail *fail);

/* Shows the pane with this letter, in place of the one that has the keys; makes it at its first use. */
int must_check view_show(struct view *view, char letter, struct fail *fail);
struct pane *view_pane(const struct view *view);
/* Shows all about the event of the cursor, below the list if nothing else is there, with the keys. */
int must_check view_details(struct view *view, struct fail *fail);
/* Leaves the pane with the keys; the last one with weft. */
void view_leave(struct view *view);

/* What a key does everywhere, if its pane does not take it. */
int must_check view_key(struct view *view, const struct key *key, struct fail *fail);

/* Moves the cursor. view_go() remembers where it was; view_move() does not, for steps. */
void view_go(struct view *view, struct walk_place place);
void view_move(struct view *view, struct walk_place place);
bool view_back(struct view *view);
bool view_forward(struct view *view);
/* Changes the window of time, and remembers the one before. */
void view_zoom(struct view *view, uint64_t from, uint64_t to);

/* Makes view->picture, which reads the recording in the background. */
int must_check view_picture(struct view *view, struct fail *fail);
/* The number of the event of the cursor, from 1; false: it is not known, perhaps not yet. */
bool view_number(struct view *view, uint64_t *ret);
int must_check view_go_number(struct view *view, uint64_t number, struct fail *fail);

/* A message for the user, until the next key. */
__attribute__((format(printf, 2, 3))) void view_say(struct view *view, const char *format, ...);
/* True when a key waits: the caller stops, and shows what it has. */
bool view_waits(const struct view *view, const char *what, uint64_t at, uint64_t from, uint64_t to);

/* A time as the trace prints it, with the digits that the user chose. */
void view_put_time(const struct view *view, uint64_t ts, struct out *out);
/* A time as --since takes it, with all digits. */
void view_put_exact(const struct view *view, uint64_t ts, struct out *out);
/* A span for people: "1.234 ms"; a count, if the clock counts. */
void view_put_span(const struct view *view, uint64_t span, struct out *out);

#endif
