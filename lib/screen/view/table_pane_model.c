// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/screen/view/table_pane_model.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/palette.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/utf8.h"
#include "lib/screen/term/key.h"
#include "lib/screen/view/bar_internal.h"

/* COURSE: intervals that a row remembers; ROWS_MAX: rows that are remembered. */
enum {
	COURSE = 60,
	SHOWN = 24,
	ROWS_MAX = 20000,
	TABLES = 9,
	SLOTS = 2 * TABLES,
	FILTER = 64,
	MESSAGE = 256,
	FIRST_LINES = 2,
	LAST_LINES = 1
};

/* How the value of a row went. */
struct course {
	uint64_t values[COURSE]; /* by the number of the interval, modulo */
	uint64_t first;          /* the interval in which the row appeared */
	uint64_t last;           /* and the last one in which it was there */
};

/* What is remembered of a table while others come and go before it: not each interval has the same ones. */
struct slot {
	char *name; /* of the table; NULL: the slot is free */
	size_t nr_columns;
	int sort; /* the column that orders it */
	struct u64_map courses;
};

struct table_pane_model {
	struct table_pane_model_options options;
	struct findings findings; /* of the interval that is shown */
	bool some;
	uint64_t from, to, events; /* of that interval */
	char when[TABLE_MOMENT_TEXT];
	char *nothing;  /* why there are no tables; NULL */
	uint64_t round; /* number of the interval that came last */
	uint64_t shown; /* and of the one that is shown */
	unsigned table; /* which one is shown */
	struct slot slots[SLOTS];
	struct slot *of[TABLES]; /* the slot of each table of the findings; of[0] to of[nr - 1] */
	size_t nr;
	size_t top;
	bool paused, help, typing;
	char filter[FILTER];
	size_t filter_len;
	uint64_t cpu_ns, wall_ns;
	char message[MESSAGE];
};

static const char help_text[] = "Tab, 1 to 9     the next table; the table with this number\n"
				"< >, s          the column by which the rows are sorted\n"
				"j k, PgDn PgUp  rows\n"
				"/               only rows with this text; Esc shows all again\n"
				"Space, p        pause and go on\n"
				"w               writes the last seconds as a file, which weft view opens\n"
				"?               these keys\n"
				"q               leave\n"
				"\n"
				"The bars at the right are the column of the order in the intervals before, the\n"
				"last one at the right.\n";

int table_pane_model_new(const struct table_pane_model_options *options, struct table_pane_model **ret,
			 struct fail *fail)
{
	struct table_pane_model *model = calloc(1, sizeof(*model));

	if (!model)
		return fail_memory(fail);
	model->options = *options;
	findings_init(&model->findings);
	for (size_t i = 0; i < SLOTS; i++)
		u64_map_init(&model->slots[i].courses, sizeof(struct course));
	*ret = model;
	return 0;
}

void table_pane_model_free(struct table_pane_model *model)
{
	if (!model)
		return;
	findings_release(&model->findings);
	for (size_t i = 0; i < SLOTS; i++) {
		u64_map_release(&model->slots[i].courses);
		free(model->slots[i].name);
	}
	free(model->nothing);
	free(model);
}

void table_pane_model_cost(struct table_pane_model *model, uint64_t cpu_ns, uint64_t wall_ns)
{
	model->cpu_ns = cpu_ns;
	model->wall_ns = wall_ns;
}

/* Which row of the next interval this one is: its texts and numbers that name it. */
static uint64_t identity(const struct finding *finding, size_t row)
{
	const struct table *table = &finding->table;
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < table->nr_columns; i++) {
		struct table_item item;
		bool names = finding_has(finding, SAME) ? table_flagged(table, i, SAME) :
							  table->columns[i].kind == TABLE_TEXT;

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
static size_t course_column(const struct table_pane_model *model, size_t index)
{
	const struct table *table = &model->findings.items[index].table;
	size_t column = (size_t)model->of[index]->sort;

	if (table->columns[column].kind != TABLE_TEXT && table->columns[column].kind != TABLE_NUMBER)
		return column;
	for (size_t i = 0; i < table->nr_columns; i++)
		if (table->columns[i].kind == TABLE_TIME)
			return i;
	return column;
}

static void remember(struct table_pane_model *model, size_t index)
{
	const struct finding *finding = &model->findings.items[index];
	struct u64_map *courses = &model->of[index]->courses;
	size_t rows = table_rows(&finding->table);

	if (courses->len > ROWS_MAX)
		u64_map_clear(courses);
	for (size_t row = 0; row < rows && row < ROWS_MAX; row++) {
		struct course *course = u64_map_add(courses, identity(finding, row));
		uint64_t value = 0;

		if (!course)
			return;
		table_number_at(&finding->table, row, course_column(model, index), &value);
		if (!course->last)
			course->first = model->shown;
		/* In the intervals between it was not there. */
		for (uint64_t round = course->last + 1;
		     course->last && round < model->shown && round < course->last + 1 + COURSE; round++)
			course->values[round % COURSE] = 0;
		course->values[model->shown % COURSE] = value;
		course->last = model->shown;
	}
}

static void order(struct table_pane_model *model, size_t index)
{
	struct finding *finding = &model->findings.items[index];

	/* Rows that are in an order of their own stay in it. */
	if (!finding->ordered)
		(void)table_sort(&finding->table, (size_t)model->of[index]->sort);
}

/* The slot of a table; the first time, a free one. NULL: there is none, or no memory. */
static struct slot *find_slot(struct table_pane_model *model, const struct finding *finding)
{
	const struct table *table = &finding->table;
	struct slot *slot = model->slots;

	while (slot < model->slots + SLOTS && slot->name &&
	       (strcmp(slot->name, finding->name) != 0 || slot->nr_columns != table->nr_columns))
		slot++;
	if (slot == model->slots + SLOTS || slot->name)
		return slot == model->slots + SLOTS ? NULL : slot;
	slot->name = strdup(finding->name);
	slot->nr_columns = table->nr_columns;
	slot->sort = finding->sort ? table_column_named(table, finding->sort) : 0;
	if (slot->sort < 0)
		slot->sort = 0;
	return slot->name ? slot : NULL;
}

/* Finds the slots of the tables, and the table that was shown, among those of the new interval. */
static void find_slots(struct table_pane_model *model, const struct slot *shown)
{
	for (model->nr = 0; model->nr < model->findings.nr && model->nr < TABLES; model->nr++) {
		model->of[model->nr] = find_slot(model, &model->findings.items[model->nr]);
		if (!model->of[model->nr])
			return;
		if (model->of[model->nr] == shown)
			model->table = (unsigned)model->nr;
	}
}

void table_pane_model_take(struct table_pane_model *model, struct findings *findings, const struct findings_span *span,
			   const char *when)
{
	const struct slot *shown = model->table < model->nr ? model->of[model->table] : NULL;

	model->round++;
	if (model->paused && model->some)
		return;
	findings_release(&model->findings);
	model->findings = *findings;
	findings_init(findings);
	model->some = true;
	model->shown = model->round;
	model->from = span->from;
	model->to = span->to;
	snprintf(model->when, sizeof(model->when), "%s", when);
	model->events = span->events;
	free(model->nothing);
	model->nothing = span->nothing ? strdup(span->nothing) : NULL;
	find_slots(model, shown);
	for (size_t i = 0; i < model->nr; i++) {
		order(model, i);
		remember(model, i);
	}
}

static void put_course(const struct table_pane_model *model, size_t row, struct out *out)
{
	const struct course *course =
		u64_map_find(&model->of[model->table]->courses, identity(&model->findings.items[model->table], row));
	uint64_t largest = 0;

	for (size_t i = 0; course && i < COURSE; i++)
		if (course->values[i] > largest)
			largest = course->values[i];
	for (uint64_t back = SHOWN; course && back-- > 0;) {
		uint64_t round = model->shown - back;

		if (back >= model->shown || round < course->first || round > course->last) {
			out_char(out, ' ');
			continue;
		}
		out_str(out, bar_text(bar_level(course->values[round % COURSE], largest), model->options.ascii));
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

static void put_title(const struct table_pane_model *model, struct out *out)
{
	char events[TEXT_HUMAN], time[TEXT_HUMAN];
	uint64_t span = model->to - model->from;

	if (*model->message) {
		out_char(out, ' ');
		palette_put("", model->message, strlen(model->message), out);
		out_char(out, '\n');
		return;
	}
	out_f(out, " weft top %s", model->options.name);
	if (model->some)
		out_f(out, ": %s to %s, %s events", text_time(time, span), model->when,
		      text_count(events, model->events));
	else
		out_str(out, ": waiting for the first interval");
	if (model->wall_ns)
		out_f(out, "; weft takes %.1f %% of a CPU", (double)model->cpu_ns * 100 / (double)model->wall_ns);
	if (model->paused)
		out_str(out, "; PAUSED");
	out_char(out, '\n');
}

static void put_tables(const struct table_pane_model *model, struct out *out)
{
	const struct table *table;
	char title[TABLE_KEY_SIZE];

	for (size_t i = 0; i < model->nr; i++)
		out_f(out, i == model->table ? "[%zu %s]" : " %zu %s ", i + 1, model->findings.items[i].name);
	if (model->table < model->nr) {
		table = &model->findings.items[model->table].table;
		out_f(out, "  sorted by %s", table_title(&table->columns[model->of[model->table]->sort], title));
	}
	if (model->filter_len || model->typing) {
		out_str(out, "  /");
		palette_put("", model->filter, model->filter_len, out);
		if (model->typing)
			out_char(out, '_');
	}
	out_char(out, '\n');
}

/* Prints the lines of the table that are shown; each row is one line. */
static void put_rows(struct table_pane_model *model, unsigned width, size_t lines, struct out *out)
{
	struct table *table = &model->findings.items[model->table].table;
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
			if (model->options.color)
				out_str(out, COLOR_BOLD);
			out_mem(out, at, len);
			if (model->options.color)
				out_str(out, COLOR_NONE);
			out_char(out, '\n');
			is_title = false;
			shown++;
			continue;
		}
		row++;
		if (model->filter_len && !contains(at, len, model->filter, model->filter_len))
			continue;
		if (passed++ < model->top)
			continue;
		out_mem(out, at, len);
		columns = utf8_columns(at, len);
		if (columns + SHOWN + 2 <= width) {
			out_fill(out, ' ', width - SHOWN - columns - 1);
			if (model->options.color)
				out_str(out, COLOR_CYAN);
			put_course(model, row - 1, out);
			if (model->options.color)
				out_str(out, COLOR_NONE);
		}
		out_char(out, '\n');
		shown++;
	}
	if (model->top && passed <= model->top)
		model->top = passed ? passed - 1 : 0;
	out_release(&text);
}

void table_pane_model_draw(struct table_pane_model *model, unsigned width, unsigned height, struct out *out)
{
	size_t lines = height > FIRST_LINES + LAST_LINES ? height - FIRST_LINES - LAST_LINES : 1;

	put_title(model, out);
	put_tables(model, out);
	if (model->help)
		out_str(out, help_text);
	else if (model->some && model->nothing)
		palette_put("", model->nothing, strlen(model->nothing), out);
	else if (model->table < model->nr)
		put_rows(model, width, lines, out);
}

static void choose_sort(struct table_pane_model *model, int by)
{
	struct finding *finding;
	int columns, *sort;
	size_t tries = 0;

	if (model->table >= model->nr)
		return;
	sort = &model->of[model->table]->sort;
	finding = &model->findings.items[model->table];
	columns = (int)finding->table.nr_columns;
	/* Columns that the text does not show are passed over. */
	do
		*sort = (*sort + by + columns) % columns;
	while (table_flagged(&finding->table, (size_t)*sort, DATA) && ++tries < finding->table.nr_columns);
	u64_map_clear(&model->of[model->table]->courses);
	order(model, model->table);
	remember(model, model->table);
}

/* A key of the text that rows must have. */
static void type(struct table_pane_model *model, const struct key *key)
{
	if (key->kind == KEY_ENTER) {
		model->typing = false;
	} else if (key->kind == KEY_ESC) {
		model->typing = false;
		model->filter_len = 0;
	} else if (key->kind == KEY_BACKSPACE && model->filter_len) {
		model->filter_len--;
	} else if ((key->kind == KEY_RUNE || key->kind == KEY_PASTE) && key->rune >= ' ' && key->rune < 0x7f &&
		   !key->modifiers && model->filter_len < FILTER) {
		model->filter[model->filter_len++] = (char)key->rune;
	}
	model->top = 0;
}

static void move(struct table_pane_model *model, long by)
{
	if (by < 0)
		model->top -= model->top < (size_t)-by ? model->top : (size_t)-by;
	else
		model->top += (size_t)by;
}

void table_pane_model_say(struct table_pane_model *model, const char *text)
{
	snprintf(model->message, sizeof(model->message), "%s", text);
}

enum table_pane_wish table_pane_model_key(struct table_pane_model *model, const struct key *key)
{
	*model->message = '\0';
	if (model->typing) {
		type(model, key);
		return TABLE_PANE_NOTHING;
	}
	if (key_is(key, 'q') || key_is(key, 'Q') || key_is_ctrl(key, 'c'))
		return TABLE_PANE_QUIT;
	if (key_is(key, 'w'))
		return TABLE_PANE_KEEP;
	if (key_is(key, '?') || (key->kind == KEY_FUNCTION && key->rune == 1))
		model->help = !model->help;
	else if (key->kind == KEY_ESC) {
		model->help = false;
		model->filter_len = 0;
	} else if (key->kind == KEY_TAB && model->nr) {
		model->table = (unsigned)((model->table + 1) % model->nr);
		model->top = 0;
	} else if (key->kind == KEY_RUNE && !key->modifiers && key->rune >= '1' && key->rune < '1' + model->nr) {
		model->table = key->rune - '1';
		model->top = 0;
	} else if (key_is(key, '>') || key_is(key, 's') || key->kind == KEY_RIGHT)
		choose_sort(model, 1);
	else if (key_is(key, '<') || key->kind == KEY_LEFT)
		choose_sort(model, -1);
	else if (key_is(key, ' ') || key_is(key, 'p'))
		model->paused = !model->paused;
	else if (key_is(key, '/')) {
		model->typing = true;
		model->filter_len = 0;
	} else if (key_is(key, 'j') || key->kind == KEY_DOWN)
		move(model, 1);
	else if (key_is(key, 'k') || key->kind == KEY_UP)
		move(model, -1);
	else if (key->kind == KEY_PAGE_DOWN)
		move(model, 20);
	else if (key->kind == KEY_PAGE_UP)
		move(model, -20);
	else if (key->kind == KEY_HOME || key_is(key, 'g'))
		model->top = 0;
	return TABLE_PANE_NOTHING;
}
