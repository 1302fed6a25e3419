// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/stats/diff_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"

void diff_run_release(struct diff_run *run)
{
	for (size_t i = 0; i < run->nr; i++) {
		free(run->rows[i].name);
		free(run->rows[i].values);
	}
	free(run->rows);
	for (size_t i = 0; i < DIFF_LIMITS; i++)
		buf_release(&run->limits[i]);
	*run = (struct diff_run){ .nr = 0 };
}

static bool add_word(struct buf *name, size_t head, const char *word)
{
	return !word || !*word || buf_addf(name, "%s%s", name->len > head ? " " : "", word);
}

static bool is_of_name(const struct table *table, const struct table_attached *attached, size_t column)
{
	return table->columns[column].kind == TABLE_TEXT &&
	       (!attached->columns || table_flagged(table, column, attached->columns));
}

/*
 * Names the row by the texts that identify it in every recording: the cells that the analysis chose, or else the texts
 * in front of the numbers. A PID does not identify a row.
 */
static char *name_of(const struct finding *finding, const struct table_attached *attached)
{
	const struct table *table = &finding->table;
	size_t head = strlen(finding->name) + 1;
	cleanup_buf struct buf name = BUF_INIT;
	bool ok = buf_addf(&name, "%s\t", finding->name) && add_word(&name, head, attached->name);

	for (size_t i = 0; ok && !attached->name && i < table->nr_columns &&
			   (attached->columns || table->columns[i].kind == TABLE_TEXT);
	     i++)
		ok = !is_of_name(table, attached, i) || add_word(&name, head, table_text_at(table, attached->row, i));
	return ok && add_word(&name, head, attached->part) ? buf_take(&name, NULL) : NULL;
}

static int add_row(struct diff_run *run, char *name, const struct samples *samples, struct fail *fail)
{
	struct diff_row *row = name ? vec_push(run->rows, run->nr) : NULL;

	if (!row) {
		free(name);
		return fail_memory(fail);
	}
	row->name = name;
	row->count = samples->count;
	row->sum = samples->sum;
	row->p50 = samples_quantile(samples, 500);
	row->p99 = samples_quantile(samples, 990);
	row->whole = samples->nr_marks == samples->nr && samples->nr == samples->count;
	if (!row->whole)
		return 0;
	row->values = calloc(samples->nr ? samples->nr : 1, sizeof(*row->values));
	if (!row->values)
		return fail_memory(fail);
	row->nr = samples->nr;
	for (size_t i = 0; i < samples->nr; i++)
		row->values[i] = (struct diff_value){ samples->values[i], samples->marks[i] };
	return 0;
}

/* Several analyses may report the same limit: it is added once. */
static bool add_limit(struct buf *limit, const struct buf *said)
{
	if (!said->len || (limit->len && memmem(limit->data, limit->len, said->data, said->len)))
		return true;
	return (!limit->len || buf_add_str(limit, ", ")) && buf_add(limit, said->data, said->len);
}

/* Where the text has this name as a whole word; NULL: nowhere. */
static char *find_name(char *text, const char *name)
{
	size_t len = strlen(name);
	char *at = text;

	while ((at = strstr(at, name)) &&
	       ((at[len] && at[len] != ' ') || at == text || (at[-1] != ' ' && at[-1] != '\t')))
		at++;
	return at;
}

/* Replaces the names of programs that the old side has under other names. Frees `name`. */
static char *rename_row(struct diff *diff, char *name)
{
	for (size_t i = 0; name && i < diff->nr_renamings; i++) {
		struct diff_renaming *renaming = &diff->renamings[i];
		char *at = find_name(name, renaming->from);
		cleanup_free char *old = NULL;

		renaming->reversed |= find_name(name, renaming->to) != NULL;
		if (!at)
			continue;
		renaming->used = true;
		old = name;
		if (asprintf(&name, "%.*s%s%s", (int)(at - old), old, renaming->to, at + strlen(renaming->from)) < 0)
			name = NULL;
	}
	return name;
}

int diff_check_renames(const struct diff *diff, struct fail *fail)
{
	for (size_t i = 0; i < diff->nr_renamings; i++) {
		const struct diff_renaming *renaming = &diff->renamings[i];

		if (renaming->used)
			continue;
		fail_set(fail, -EINVAL, "--match %s=%s: no row of the new side is of a program '%s'%s", renaming->to,
			 renaming->from, renaming->from,
			 renaming->reversed ? ", but the old one's name is there: it is OLD=NEW" : "");
		return fail_usage(fail, -EINVAL);
	}
	return 0;
}

/* The states of tasks, and the columns of sched that have their time and how often they began. */
static const struct state_part {
	const char *column, *count, *part;
} state_parts[] = {
	{ "run_ns", "voluntary", "on a CPU" },
	{ "wait_ns", "involuntary", "waiting for a CPU" },
	{ "sleep_ns", "voluntary", "asleep" },
	{ "blocked_ns", "voluntary", "blocked" },
};

bool diff_row_is_state(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < array_size(state_parts); i++) {
		size_t part = strlen(state_parts[i].part);

		if (!strncmp(name, "tasks\t", 6) && len > part && name[len - part - 1] == ' ' &&
		    !strcmp(name + len - part, state_parts[i].part))
			return true;
	}
	return false;
}

/* What a task did during the run: the times in which it was in each state. */
static int take_task(struct diff *diff, bool is_new, struct diff_run *run, const struct table *table, size_t row,
		     struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < array_size(state_parts); i++) {
		uint64_t time = table_number_of(table, row, state_parts[i].column),
			 count = table_number_of(table, row, state_parts[i].count);
		struct samples samples = { .count = count ? count : 1, .sum = time };
		const char *comm = table_text_at(table, row, 0);
		char *name = NULL;

		if (!time || !comm)
			continue;
		if (asprintf(&name, "tasks\t%s %s", comm, state_parts[i].part) < 0)
			name = NULL;
		r = add_row(run, is_new ? rename_row(diff, name) : name, &samples, fail);
		if (!r)
			run->rows[run->nr - 1].shows = diff->per != DIFF_PER_RUN;
	}
	return r;
}

/*
 * Per run, the states of a task matter, and not the delays of its wakeups, which sched attaches to its row. Of one file
 * a side they are there for the tasks that only one of them has.
 */
static bool is_of_states(const struct diff *diff, const struct finding *finding)
{
	return (diff->per == DIFF_PER_RUN || !diff->several) && !strcmp(finding->name, "tasks") &&
	       table_column_named(&finding->table, "wait_ns") >= 0;
}

int diff_run_take(struct diff *diff, bool is_new, struct diff_run *run, const struct findings *findings,
		  struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; i < findings->nr; i++) {
		const struct finding *finding = &findings->items[i];

		if (!r && finding->table.failed)
			r = fail_memory(fail);
		for (size_t j = 0; !r && j < finding->table.nr_attached; j++) {
			const struct table_attached *attached = &finding->table.attached[j];
			bool states = is_of_states(diff, finding);

			if (states)
				r = take_task(diff, is_new, run, &finding->table, attached->row, fail);
			if (!r && !(states && diff->per == DIFF_PER_RUN) && attached->samples.count) {
				char *name = name_of(finding, attached);

				r = add_row(run, is_new ? rename_row(diff, name) : name, &attached->samples, fail);
			}
		}
	}
	if (!r && (!add_limit(&run->limits[DIFF_CUT], &findings->cut) ||
		   !add_limit(&run->limits[DIFF_BROKEN], &findings->broken) ||
		   !add_limit(&run->limits[DIFF_MISSING], &findings->missing)))
		r = fail_memory(fail);
	return r;
}

static const char elapsed[] = "run\telapsed";

int diff_run_take_elapsed(struct diff_run *run, uint64_t ns, struct fail *fail)
{
	const struct samples samples = { .count = 1, .sum = ns };

	return add_row(run, strdup(elapsed), &samples, fail);
}

bool diff_row_is_elapsed(const char *name)
{
	return !strcmp(name, elapsed);
}

static int compare_rows(const void *a, const void *b)
{
	const struct diff_row *first = a, *second = b;

	return strcmp(first->name, second->name);
}

static int compare_values(const void *a, const void *b)
{
	const struct diff_value *first = a, *second = b;

	return first->value < second->value ? -1 : first->value > second->value;
}

/* Adds up rows of one name: tasks with the same name are one row. */
static int add_up(struct diff_row *into, struct diff_row *from, struct fail *fail)
{
	struct diff_value *values;

	into->count += from->count;
	into->sum += from->sum;
	into->whole = into->whole && from->whole;
	values = reallocarray(into->values, into->nr + from->nr + 1, sizeof(*values));
	if (!values)
		return fail_memory(fail);
	if (from->nr)
		memcpy(values + into->nr, from->values, from->nr * sizeof(*values));
	into->values = values;
	into->nr += from->nr;
	free(from->name);
	free(from->values);
	*from = (struct diff_row){ .name = NULL };
	return 0;
}

static uint64_t quantile(const struct diff_row *row, uint64_t per_mille)
{
	uint64_t rank = (row->nr * per_mille + 999) / 1000;

	return row->nr ? row->values[rank ? rank - 1 : 0].value : 0;
}

int diff_run_settle(struct diff_run *run, bool several, struct fail *fail)
{
	size_t kept = 0;
	int r = 0;

	if (run->nr > 1)
		qsort(run->rows, run->nr, sizeof(*run->rows), compare_rows);
	for (size_t i = 1; !r && i < run->nr; i++) {
		if (!strcmp(run->rows[kept].name, run->rows[i].name)) {
			r = add_up(&run->rows[kept], &run->rows[i], fail);
		} else if (++kept != i) {
			run->rows[kept] = run->rows[i];
			run->rows[i] = (struct diff_row){ .name = NULL };
		}
	}
	for (size_t i = 0; !r && i <= kept && i < run->nr; i++) {
		struct diff_row *row = &run->rows[i];

		if (!row->whole)
			continue;
		if (row->nr > 1)
			qsort(row->values, row->nr, sizeof(*row->values), compare_values);
		row->p50 = quantile(row, 500);
		row->p99 = quantile(row, 990);
		if (several) {
			free(row->values);
			row->values = NULL;
			row->nr = 0;
		}
	}
	if (!r && run->nr)
		run->nr = kept + 1;
	return r;
}

const struct diff_row *diff_run_find(const struct diff_run *run, const char *name)
{
	const struct diff_row key = { .name = (char *)(uintptr_t)name };

	return run->nr ? bsearch(&key, run->rows, run->nr, sizeof(*run->rows), compare_rows) : NULL;
}
