// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/view/board.h"

#include "formats/palette.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/base/table_item.h"
#include "lib/base/text.h"
#include "lib/base/u64_map.h"
#include "lib/base/utf8.h"
#include "lib/term/key.h"
#include "lib/view/bar_internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* COURSE: intervals that a row remembers; ROWS_MAX: rows that are remembered. */
enum { COURSE = 60, SHOWN = 24, ROWS_MAX = 20000, TABLES = 9, FILTER = 64, FIRST_LINES = 2, LAST_LINES = 1 };

/* How the value of a row went. */
struct course {
	uint64_t values[COURSE]; /* by the number of the interval, modulo */
	uint64_t first;          /* the interval in which the row appeared */
	uint64_t last;           /* and the last one in which it was there */
};

struct board {
	struct board_options options;
	struct findings findings; /* of the interval that is shown */
	bool some;
	uint64_t from, to, events; /* of that interval */
	char *nothing;             /* why there are no tables; NULL */
	uint64_t round;            /* number of the interval that came last */
	uint64_t shown;            /* and of the one that is shown */
	unsigned table;            /* which one is shown */
	int sort[TABLES];          /* its column; -1: not chosen so far */
	struct u64_map courses[TABLES];
	size_t top;
	bool paused, help, typing;
	char filter[FILTER];
	size_t filter_len;
	uint64_t cpu_ns, wall_ns;
};

static const char help_text[] = "Tab, 1 to 9     the next table; the table with this number\n"
				"< >, s          the column by which the rows are sorted\n"
				"j k, PgDn PgUp  rows\n"
				"/               only rows with this text; Esc shows all again\n"
				"Space, p        pause and go on\n"
				"?               these keys\n"
				"q               leave\n"
				"\n"
				"The bars at the right are the column of the order in the intervals before, the\n"
				"last one at the right.\n";

int board_new(const struct board_options *options, struct board **ret, struct fail *fail)
{
	struct board *board = calloc(1, sizeof(*board));

	if (!board)
		return fail_memory(fail);
	board->options = *options;
	findings_init(&board->findings);
	for (size_t i = 0; i < TABLES; i++) {
		board->sort[i] = -1;
		u64_map_init(&board->courses[i], sizeof(struct course));
	}
	*ret = board;
	return 0;
}

void board_free(struct board *board)
{
	if (!board)
		return;
	findings_release(&board->findings);
	for (size_t i = 0; i < TABLES; i++)
		u64_map_release(&board->courses[i]);
	free(board->nothing);
	free(board);
}

void board_cost(struct board *board, uint64_t cpu_ns, uint64_t wall_ns)
{
	board->cpu_ns = cpu_ns;
	board->wall_ns = wall_ns;
}

/* Which row of the next interval this one is: its texts and numbers that name it. */
static uint64_t identity(const struct finding *finding, size_t row)
{
	const struct table *table = &finding->table;
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < table->nr_columns; i++) {
		struct table_item item;
		bool names = finding->same ? table_marks(finding->same, i) : table->columns[i].kind == TABLE_TEXT;

		if (!names)
			continue;
		item = table_item_at(table, row, i);
		hash = (hash ^ item.number) * 0x100000001b3;
		for (size_t at = 0; item.value == VALUE_TEXT && at < item.len; at++)
			hash = (hash ^ (uint8_t)item.text[at]) * 0x100000001b3;
	}
	return hash;
}

/* The column of which rows remember values: that of the order, or the first time if that has names or numbers. */
static size_t course_column(const struct board *board, size_t index)
{
	const struct table *table = &board->findings.items[index].table;
	size_t column = (size_t)board->sort[index];

	if (table->columns[column].kind != TABLE_TEXT && table->columns[column].kind != TABLE_NUMBER)
		return column;
	for (size_t i = 0; i < table->nr_columns; i++)
		if (table->columns[i].kind == TABLE_TIME)
			return i;
	return column;
}

static void remember(struct board *board, size_t index)
{
	const struct finding *finding = &board->findings.items[index];
	struct u64_map *courses = &board->courses[index];
	size_t rows = table_rows(&finding->table);

	if (courses->len > ROWS_MAX)
		u64_map_clear(courses);
	for (size_t row = 0; row < rows && row < ROWS_MAX; row++) {
		struct course *course = u64_map_add(courses, identity(finding, row));
		uint64_t value = 0;

		if (!course)
			return;
		table_number_at(&finding->table, row, course_column(board, index), &value);
		if (!course->last)
			course->first = board->shown;
		/* In the intervals between it was not there. */
		for (uint64_t round = course->last + 1;
		     course->last && round < board->shown && round < course->last + 1 + COURSE; round++)
			course->values[round % COURSE] = 0;
		course->values[board->shown % COURSE] = value;
		course->last = board->shown;
	}
}

static void order(struct board *board, size_t index)
{
	struct finding *finding = &board->findings.items[index];

	if (board->sort[index] < 0)
		board->sort[index] = finding->sort ? table_column_named(&finding->table, finding->sort) : 0;
	if (board->sort[index] < 0)
		board->sort[index] = 0;
	/* Rows that are in an order of their own stay in it. */
	if (!finding->ordered && finding->table.nr_columns)
		(void)table_sort(&finding->table, (size_t)board->sort[index]);
}

void board_take(struct board *board, struct findings *findings, const struct findings_span *span)
{
	board->round++;
	if (board->paused && board->some)
		return;
	findings_release(&board->findings);
	board->findings = *findings;
	findings_init(findings);
	board->some = true;
	board->shown = board->round;
	board->from = span->from;
	board->to = span->to;
	board->events = span->events;
	free(board->nothing);
	board->nothing = span->nothing ? strdup(span->nothing) : NULL;
	for (size_t i = 0; i < board->findings.nr && i < TABLES; i++) {
		order(board, i);
		remember(board, i);
	}
}

static size_t nr_tables(const struct board *board)
{
	return board->findings.nr < TABLES ? board->findings.nr : TABLES;
}

static void put_course(const struct board *board, size_t row, struct out *out)
{
	const struct course *course =
		u64_map_find(&board->courses[board->table], identity(&board->findings.items[board->table], row));
	uint64_t largest = 0;

	for (size_t i = 0; course && i < COURSE; i++)
		if (course->values[i] > largest)
			largest = course->values[i];
	for (uint64_t back = SHOWN; course && back-- > 0;) {
		uint64_t round = board->shown - back;

		if (back >= board->shown || round < course->first || round > course->last) {
			out_char(out, ' ');
			continue;
		}
		out_str(out, bar_text(bar_level(course->values[round % COURSE], largest), board->options.ascii));
	}
}

static bool contains(const char *line, size_t len, const char *what, size_t what_len)
{
	for (size_t at = 0; at + what_len <= len; at++) {
		size_t i = 0;

		while (i < what_len && tolower((unsigned char)line[at + i]) == tolower((unsigned char)what[i]))
			i++;
		if (i == what_len)
			return true;
	}
	return false;
}

static void put_title(const struct board *board, struct out *out)
{
	char events[TEXT_HUMAN], time[TEXT_HUMAN];
	uint64_t span = board->to - board->from;

	out_f(out, " weft top %s", board->options.name);
	if (board->some)
		out_f(out, ": %s to %" PRIu64 ".%03" PRIu64 ", %s events", text_time(time, span),
		      board->to / 1000000000, board->to / 1000000 % 1000, text_count(events, board->events));
	else
		out_str(out, ": waiting for the first interval");
	if (board->wall_ns)
		out_f(out, "; weft takes %.1f %% of a CPU", (double)board->cpu_ns * 100 / (double)board->wall_ns);
	if (board->paused)
		out_str(out, "; PAUSED");
	out_char(out, '\n');
}

static void put_tables(const struct board *board, struct out *out)
{
	const struct table *table;
	char title[TABLE_KEY_SIZE];

	for (size_t i = 0; i < nr_tables(board); i++)
		out_f(out, i == board->table ? "[%zu %s]" : " %zu %s ", i + 1, board->findings.items[i].name);
	if (board->table < nr_tables(board)) {
		table = &board->findings.items[board->table].table;
		out_f(out, "  sorted by %s", table_title(&table->columns[board->sort[board->table]], title));
	}
	if (board->filter_len || board->typing) {
		out_str(out, "  /");
		palette_put("", board->filter, board->filter_len, out);
		if (board->typing)
			out_char(out, '_');
	}
	out_char(out, '\n');
}

/* Prints the lines of the table that are shown; each row is one line. */
static void put_rows(struct board *board, unsigned width, size_t lines, struct out *out)
{
	struct table *table = &board->findings.items[board->table].table;
	size_t row = 0, shown = 0, passed = 0;
	const char *at, *end;
	struct out text;

	table->width = width > SHOWN + 22 ? width - SHOWN - 2 : width;
	if (!out_init(&text, 1 << 14))
		return;
	if (!table_print_fitting(table, &text, &(uint32_t){ 0 }))
		out_clear(&text);
	at = text.start;
	for (bool is_title = true; at < text.at && shown < lines; at = end + 1) {
		size_t len, columns;

		end = memchr(at, '\n', (size_t)(text.at - at));
		if (!end)
			break;
		len = (size_t)(end - at);
		if (is_title) {
			if (board->options.color)
				out_str(out, COLOR_BOLD);
			out_mem(out, at, len);
			if (board->options.color)
				out_str(out, COLOR_NONE);
			out_char(out, '\n');
			is_title = false;
			shown++;
			continue;
		}
		row++;
		if (board->filter_len && !contains(at, len, board->filter, board->filter_len))
			continue;
		if (passed++ < board->top)
			continue;
		out_mem(out, at, len);
		columns = utf8_columns(at, len);
		if (columns + SHOWN + 2 <= width) {
			out_fill(out, ' ', width - SHOWN - columns - 1);
			if (board->options.color)
				out_str(out, COLOR_CYAN);
			put_course(board, row - 1, out);
			if (board->options.color)
				out_str(out, COLOR_NONE);
		}
		out_char(out, '\n');
		shown++;
	}
	if (board->top && passed <= board->top)
		board->top = passed ? passed - 1 : 0;
	out_release(&text);
}

void board_draw(struct board *board, unsigned width, unsigned height, struct out *out)
{
	size_t lines = height > FIRST_LINES + LAST_LINES ? height - FIRST_LINES - LAST_LINES : 1;

	put_title(board, out);
	put_tables(board, out);
	if (board->help)
		out_str(out, help_text);
	else if (board->some && board->nothing)
		palette_put("", board->nothing, strlen(board->nothing), out);
	else if (board->table < nr_tables(board))
		put_rows(board, width, lines, out);
}

static void choose_sort(struct board *board, int by)
{
	struct finding *finding;
	int columns, *sort = &board->sort[board->table];
	size_t tries = 0;

	if (board->table >= nr_tables(board))
		return;
	finding = &board->findings.items[board->table];
	columns = (int)finding->table.nr_columns;
	/* Columns that the text does not show are passed over. */
	do
		*sort = (*sort + by + columns) % columns;
	while (table_marks(finding->table.data_only, (size_t)*sort) && ++tries < finding->table.nr_columns);
	u64_map_clear(&board->courses[board->table]);
	order(board, board->table);
	remember(board, board->table);
}

/* A key of the text that rows must have. */
static void type(struct board *board, const struct key *key)
{
	if (key->kind == KEY_ENTER) {
		board->typing = false;
	} else if (key->kind == KEY_ESC) {
		board->typing = false;
		board->filter_len = 0;
	} else if (key->kind == KEY_BACKSPACE && board->filter_len) {
		board->filter_len--;
	} else if ((key->kind == KEY_RUNE || key->kind == KEY_PASTE) && key->rune >= ' ' && key->rune < 0x7f &&
		   !key->modifiers && board->filter_len < FILTER) {
		board->filter[board->filter_len++] = (char)key->rune;
	}
	board->top = 0;
}

static void move(struct board *board, long by)
{
	if (by < 0)
		board->top -= board->top < (size_t)-by ? board->top : (size_t)-by;
	else
		board->top += (size_t)by;
}

void board_key(struct board *board, const struct key *key, bool *ret_quit)
{
	if (board->typing) {
		type(board, key);
		return;
	}
	if (key_is(key, 'q') || key_is(key, 'Q') || key_is_ctrl(key, 'c'))
		*ret_quit = true;
	else if (key_is(key, '?') || (key->kind == KEY_FUNCTION && key->rune == 1))
		board->help = !board->help;
	else if (key->kind == KEY_ESC) {
		board->help = false;
		board->filter_len = 0;
	} else if (key->kind == KEY_TAB && nr_tables(board)) {
		board->table = (unsigned)((board->table + 1) % nr_tables(board));
		board->top = 0;
	} else if (key->kind == KEY_RUNE && !key->modifiers && key->rune >= '1' && key->rune < '1' + nr_tables(board)) {
		board->table = key->rune - '1';
		board->top = 0;
	} else if (key_is(key, '>') || key_is(key, 's') || key->kind == KEY_RIGHT)
		choose_sort(board, 1);
	else if (key_is(key, '<') || key->kind == KEY_LEFT)
		choose_sort(board, -1);
	else if (key_is(key, ' ') || key_is(key, 'p'))
		board->paused = !board->paused;
	else if (key_is(key, '/')) {
		board->typing = true;
		board->filter_len = 0;
	} else if (key_is(key, 'j') || key->kind == KEY_DOWN)
		move(board, 1);
	else if (key_is(key, 'k') || key->kind == KEY_UP)
		move(board, -1);
	else if (key->kind == KEY_PAGE_DOWN)
		move(board, 20);
	else if (key->kind == KEY_PAGE_UP)
		move(board, -20);
	else if (key->kind == KEY_HOME || key_is(key, 'g'))
		board->top = 0;
}
