// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/graph/call_sums.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/screen/view/analysis_job_internal.h"
#include "lib/screen/view/view_panes_internal.h"

/*
 * Which function called which, in the time that the view shows: all calls as a tree, or what one function called, or
 * who called it. The children of a node are in the order of a column; those that are folded are not shown.
 */

/* NODES: chains of callers that are kept, about 70 bytes each, once more for the tree of one function. */
enum { NODES = 200000, FIXED = 2, FIGURE = 10, DEPTH_STEP = 2, DEPTH_SHOWN = 40 };

enum shows { SHOWS_ALL, SHOWS_BELOW, SHOWS_ABOVE };

struct calls_pane {
	struct pane pane; /* first */
	struct analysis_job job;
	struct call_sums sums;
	enum shows shows;
	uint64_t func;
	struct call_tree own; /* of SHOWS_BELOW and SHOWS_ABOVE */
	enum call_tree_order order;
	uint8_t *open;   /* by node: its children are shown */
	uint32_t *lines; /* the nodes that are shown */
	size_t nr, at, top;
	unsigned height; /* of the last drawing, without the head */
};

static const struct {
	const char *title;
	enum call_tree_order order;
} figures[] = {
	{ "TOTAL", CALL_TREE_BY_TOTAL },
	{ "SELF", CALL_TREE_BY_SELF },
	{ "CALLS", CALL_TREE_BY_CALLS },
	{ "LONGEST", CALL_TREE_BY_LONGEST },
};

static int calls_create(struct view *view, struct pane **ret, struct fail *fail)
{
	struct calls_pane *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return fail_memory(fail);
	calls->sums.nodes_max = NODES;
	calls->height = 20;
	analysis_job_init(&calls->job, view, &call_sums_analysis, &calls->sums);
	*ret = &calls->pane;
	return 0;
}

static void forget_tree(struct calls_pane *calls)
{
	call_tree_release(&calls->own);
	free(calls->open);
	free(calls->lines);
	calls->open = NULL;
	calls->lines = NULL;
	calls->nr = calls->at = calls->top = 0;
}

static void calls_free_pane(struct pane *pane)
{
	struct calls_pane *calls = (struct calls_pane *)pane;

	forget_tree(calls);
	analysis_job_release(&calls->job);
	call_sums_release(&calls->sums);
	free(calls);
}

static void calls_changed(struct pane *pane)
{
	struct calls_pane *calls = (struct calls_pane *)pane;

	if (!analysis_job_is_old(&calls->job))
		return;
	forget_tree(calls);
	analysis_job_restart(&calls->job, &call_sums_analysis);
	call_sums_release(&calls->sums);
	calls->sums.nodes_max = NODES;
}

/* Whether there is a tree to look at. */
static bool is_there(const struct calls_pane *calls)
{
	return calls->lines;
}

static struct call_tree *tree_of(struct calls_pane *calls)
{
	return calls->shows == SHOWS_ALL ? &calls->sums.tree : &calls->own;
}

static const struct call_node *node_at(struct calls_pane *calls, size_t line)
{
	return &tree_of(calls)->nodes[calls->lines[line]];
}

static unsigned depth_of(const struct call_tree *tree, uint32_t node)
{
	unsigned depth = 0;

	while ((node = tree->nodes[node].parent) != CALL_TREE_NONE)
		depth++;
	return depth;
}

/* Makes the lines anew; the cursor stays on its node, or on the nearest caller that is shown. */
static void arrange(struct calls_pane *calls, uint32_t node)
{
	const struct call_tree *tree = tree_of(calls);
	uint32_t up;

	for (up = tree->nodes[node].parent; up != CALL_TREE_NONE; up = tree->nodes[up].parent)
		if (!calls->open[up])
			node = up;
	calls->nr = 0;
	for (uint32_t at = 0; at != CALL_TREE_NONE; at = call_tree_next(tree, at, calls->open[at])) {
		if (at == node)
			calls->at = calls->nr;
		calls->lines[calls->nr++] = at;
	}
}

/* Shows another tree, with the children of its root. */
static int show(struct calls_pane *calls, enum shows shows, uint64_t func, struct fail *fail)
{
	bool ok = true;

	forget_tree(calls);
	calls->shows = shows;
	calls->func = func;
	if (shows == SHOWS_BELOW)
		ok = call_tree_below(&calls->sums.tree, func, &calls->own);
	else if (shows == SHOWS_ABOVE)
		ok = call_tree_above(&calls->sums.tree, func, &calls->own);
	ok = ok && call_tree_sort(tree_of(calls), calls->order);
	calls->open = ok ? calloc(tree_of(calls)->nr, sizeof(*calls->open)) : NULL;
	calls->lines = calls->open ? calloc(tree_of(calls)->nr, sizeof(*calls->lines)) : NULL;
	if (!calls->lines)
		return fail_memory(fail);
	calls->open[0] = true;
	arrange(calls, 0);
	return 0;
}

/* The tree of one function stays that of the function when the time has changed. */
static int read_on(struct calls_pane *calls, struct fail *fail)
{
	bool ended;
	int r;

	calls_changed(&calls->pane);
	r = analysis_job_read(&calls->job, &ended, fail);
	if (!r && ended && !*calls->job.why.text)
		r = show(calls, calls->shows, calls->func, fail);
	return r;
}

static void put_figure(enum call_tree_order order, const struct call_node *node, const struct view *view,
		       struct out *out)
{
	uint64_t value = order == CALL_TREE_BY_TOTAL ? node->total :
			 order == CALL_TREE_BY_SELF  ? node->self :
			 order == CALL_TREE_BY_CALLS ? node->calls :
						       node->longest;
	size_t from = out_len(out), len;
	char text[TEXT_HUMAN];

	if (order == CALL_TREE_BY_CALLS)
		out_str(out, text_count(text, value));
	else if (node->calls || order != CALL_TREE_BY_LONGEST)
		view_put_span(view, value, out);
	len = out_len(out) - from;
	if (len >= FIGURE)
		return;
	/* At the right. */
	out_fill(out, ' ', FIGURE - len);
	memmove(out->start + from + FIGURE - len, out->start + from, len);
	memset(out->start + from, ' ', FIGURE - len);
}

/* A narrow screen has only the figure that orders the rows. */
static bool has_room(const struct calls_pane *calls, const struct rows *rows, size_t figure)
{
	return rows->width >= 70 || figures[figure].order == calls->order;
}

static void put_titles(const struct calls_pane *calls, struct rows *rows)
{
	static const char *const of[] = {
		[SHOWS_ALL] = "", [SHOWS_BELOW] = " and what it called", [SHOWS_ABOVE] = " and who called it"
	};
	char name[CALL_SUMS_NAME];

	analysis_job_put_time(&calls->job, &rows->text);
	if (calls->sums.left_out)
		out_f(&rows->text, "  %" PRIu64 " calls in more than %d chains are left out", calls->sums.left_out,
		      NODES);
	if (!rows_end_line(rows))
		return;
	for (size_t i = 0; i < array_size(figures); i++)
		if (has_room(calls, rows, i))
			out_f(&rows->text, "%*s", FIGURE, figures[i].title);
	call_sums_name(&calls->sums, calls->shows == SHOWS_ALL ? 0 : calls->func, name);
	out_str(&rows->text, "  ");
	rows_foreign(rows, name, strlen(name));
	out_f(&rows->text, "%s, by %s", of[calls->shows], figures[calls->order].title);
	rows_end_line(rows);
}

static void put_node(struct calls_pane *calls, size_t line, struct rows *rows)
{
	const struct call_tree *tree = tree_of(calls);
	uint32_t index = calls->lines[line];
	const struct call_node *node = &tree->nodes[index];
	unsigned depth = depth_of(tree, index);
	char name[CALL_SUMS_NAME];

	for (size_t i = 0; i < array_size(figures); i++)
		if (has_room(calls, rows, i))
			put_figure(figures[i].order, node, calls->pane.view, &rows->text);
	out_fill(&rows->text, ' ', 2 + (depth < DEPTH_SHOWN ? depth : DEPTH_SHOWN) * DEPTH_STEP);
	out_str(&rows->text, node->first == CALL_TREE_NONE ? "  " : calls->open[index] ? "- " : "+ ");
	if (depth > DEPTH_SHOWN)
		out_f(&rows->text, "[%u] ", depth);
	call_sums_name(&calls->sums, node->func, name);
	rows_foreign(rows, name, strlen(name));
	if (node->calls && node->interrupts == node->calls)
		out_str(&rows->text, " (interrupt)");
	rows_end_line(rows);
}

static int calls_draw(struct pane *pane, struct rows *rows, struct fail *fail)
{
	struct calls_pane *calls = (struct calls_pane *)pane;
	int r = read_on(calls, fail);

	if (r)
		return r;
	calls->height = rows->height > FIXED ? rows->height - FIXED : 1;
	rows->fixed = FIXED;
	put_titles(calls, rows);
	if (*calls->job.why.text && rows->nr < rows->height) {
		rows_foreign(rows, calls->job.why.text, strlen(calls->job.why.text));
		rows_end_line(rows);
	}
	if (!is_there(calls))
		return 0;
	if (calls->at < calls->top)
		calls->top = calls->at;
	if (calls->at >= calls->top + calls->height)
		calls->top = calls->at - calls->height + 1;
	for (size_t i = calls->top; i < calls->nr && rows->nr < rows->height; i++) {
		if (i == calls->at)
			rows->cursor = rows->nr;
		put_node(calls, i, rows);
	}
	return 0;
}

/* Folds all below a node, or unfolds them. */
static void fold_all(struct calls_pane *calls, uint32_t node, bool open)
{
	const struct call_tree *tree = tree_of(calls);
	uint32_t at = tree->nodes[node].first;

	calls->open[node] = open;
	while (at != CALL_TREE_NONE) {
		uint32_t up;

		calls->open[at] = open;
		at = call_tree_next(tree, at, true);
		for (up = at; up != CALL_TREE_NONE && up != node; up = tree->nodes[up].parent)
			;
		if (up == CALL_TREE_NONE)
			return;
	}
}

/* Unfolds to the child with the most time, and folds the others. */
static void to_longest(struct calls_pane *calls)
{
	const struct call_tree *tree = tree_of(calls);
	uint32_t node = calls->lines[calls->at], most = tree->nodes[node].first;

	if (most == CALL_TREE_NONE) {
		view_say(calls->pane.view, "nothing is known that it called");
		return;
	}
	for (uint32_t at = most; at != CALL_TREE_NONE; at = tree->nodes[at].next) {
		calls->open[at] = false;
		if (tree->nodes[at].total > tree->nodes[most].total)
			most = at;
	}
	calls->open[node] = true;
	arrange(calls, most);
}

static void to_parent(struct calls_pane *calls)
{
	uint32_t parent = node_at(calls, calls->at)->parent;

	if (parent != CALL_TREE_NONE)
		arrange(calls, parent);
}

/* Right: unfolds, then goes into. Left: folds, then goes to the caller. */
static void sideways(struct calls_pane *calls, bool right)
{
	uint32_t node = calls->lines[calls->at];
	bool open = calls->open[node], leaf = tree_of(calls)->nodes[node].first == CALL_TREE_NONE;

	if (leaf && right)
		return;
	if (leaf || open != right) {
		if (!leaf)
			calls->open[node] = right;
		if (leaf)
			to_parent(calls);
		else
			arrange(calls, node);
		return;
	}
	if (right)
		calls->at += calls->at + 1 < calls->nr;
	else
		to_parent(calls);
}

static void go(struct calls_pane *calls)
{
	struct view *view = calls->pane.view;
	const struct call_node *node = node_at(calls, calls->at);

	if (!node->longest_at) {
		view_say(view, "this line has no call of its own");
		return;
	}
	view_go(view, (struct walk_place){ node->longest_at, 0 });
	if (!view->second)
		view->shown = 1;
	else
		view_say(view, "the longest one begins here");
}

static int sort(struct calls_pane *calls, bool back, struct fail *fail)
{
	uint32_t node = calls->lines[calls->at];
	unsigned nr = array_size(figures);

	calls->order = (enum call_tree_order)((calls->order + (back ? nr - 1 : 1)) % nr);
	if (!call_tree_sort(tree_of(calls), calls->order))
		return fail_memory(fail);
	arrange(calls, node);
	return 0;
}

static void turn_page(struct calls_pane *calls, long by)
{
	if (by < 0)
		calls->at -= calls->at < (size_t)-by ? calls->at : (size_t)-by;
	else
		calls->at = calls->at + (size_t)by < calls->nr ? calls->at + (size_t)by : calls->nr - 1;
}

static bool move_key(struct calls_pane *calls, const struct key *key)
{
	if (key->kind == KEY_MOUSE && key->act == MOUSE_PRESS && key->row >= FIXED &&
	    calls->top + key->row - FIXED < calls->nr)
		calls->at = calls->top + key->row - FIXED;
	else if (key->kind == KEY_MOUSE)
		turn_page(calls, key->act == MOUSE_WHEEL_UP ? -3 : key->act == MOUSE_WHEEL_DOWN ? 3 : 0);
	else
		return rows_move(key, &calls->at, calls->height, calls->nr - 1);
	return true;
}

/* The other trees: 1 if the key was one of theirs. */
static int show_key(struct calls_pane *calls, const struct key *key, struct fail *fail)
{
	const struct call_node *node = node_at(calls, calls->at);
	int r = 0;

	if (key_is(key, 'd') || key_is(key, 'u')) {
		if (!node->func || node->func == CALL_TREE_INTERRUPT || node->func == CALL_TREE_NOT_SEEN)
			view_say(calls->pane.view, "this line is no function");
		else
			r = show(calls, key_is(key, 'd') ? SHOWS_BELOW : SHOWS_ABOVE, node->func, fail);
	} else if (key_is(key, 'r') || (key->kind == KEY_ESC && calls->shows != SHOWS_ALL)) {
		r = show(calls, SHOWS_ALL, 0, fail);
	} else {
		return 0;
	}
	return r ? r : 1;
}

static int calls_key(struct pane *pane, const struct key *key, struct fail *fail)
{
	struct calls_pane *calls = (struct calls_pane *)pane;
	uint32_t node;
	int r;

	if (key_is(key, '0')) {
		view_zoom(pane->view, pane->view->extent.first, pane->view->extent.last);
		return 1;
	}
	if (!is_there(calls))
		return 0;
	if (move_key(calls, key))
		return 1;
	r = show_key(calls, key, fail);
	if (r)
		return r;
	node = calls->lines[calls->at];
	if (key_is(key, 'l')) {
		to_longest(calls);
	} else if (key_is(key, 'h')) {
		to_parent(calls);
	} else if (key->kind == KEY_RIGHT || key->kind == KEY_LEFT) {
		sideways(calls, key->kind == KEY_RIGHT);
	} else if (key_is(key, 'z')) {
		calls->open[node] = !calls->open[node];
		arrange(calls, node);
	} else if (key_is(key, 'Z')) {
		fold_all(calls, node, !calls->open[node]);
		arrange(calls, node);
	} else if (key_is(key, 's') || key_is(key, 'S')) {
		r = sort(calls, key_is(key, 'S'), fail);
	} else if (key->kind == KEY_ENTER) {
		go(calls);
	} else {
		return 0;
	}
	return r ? r : 1;
}

static bool calls_command(struct pane *pane, struct buf *into)
{
	struct calls_pane *calls = (struct calls_pane *)pane;
	char name[CALL_SUMS_NAME];
	uint64_t func = calls->func;
	bool ok;

	if (is_there(calls) && calls->shows == SHOWS_ALL)
		func = node_at(calls, calls->at)->func;
	if (!func || func == CALL_TREE_INTERRUPT || func == CALL_TREE_NOT_SEEN) {
		ok = buf_addf(into, "weft %s", calls->sums.functions || !calls->sums.syscalls ? "graph" : "syscalls");
	} else if (call_sums_is_syscall(func)) {
		ok = buf_add_str(into, "weft syscalls");
	} else {
		call_sums_name(&calls->sums, func, name);
		/* Without the module. */
		name[strcspn(name, " ")] = '\0';
		ok = buf_add_str(into, "weft graph --tree ") && view_quote(name, into);
	}
	return ok && analysis_job_options(&calls->job, into);
}

const struct pane_ops calls_pane = {
	.letter = '3',
	.name = "calls",
	.hint = "j k  l longest  h caller  z fold  s sort  d u this one  Enter moment  ? keys",
	.help = "j k, PgDn PgUp, Space\tlines; g G first and last\n"
		"l\tto the child with the most time, and folds the others\n"
		"h\tto the caller\n"
		"z Z, right left\tfold and unfold; all that is below\n"
		"s S\tsort by total, own time, calls, longest call; the other way\n"
		"d u\tonly this function: what it called; who called it\n"
		"r, Esc\tall calls again\n"
		"Enter\tgoes to the longest call of the line\n"
		"0\tabout the whole recording, where the time line was closer\n"
		"System calls stand above the functions that were called in them. The tree is about what the time line "
		"shows, or the time between the marks A and B.\n",
	.create = calls_create,
	.free = calls_free_pane,
	.draw = calls_draw,
	.key = calls_key,
	.command = calls_command,
	.changed = calls_changed,
};
