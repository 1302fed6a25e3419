// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/column_layout_internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/import/head_internal.h"
#include "lib/ground/base/cleanup.h"

enum { PID_OLD = 5, PID_NEW = 7, LATENCY_MAX = 4096 };

void column_layout_init(struct column_layout *shape)
{
	*shape = (struct column_layout){ .latency = BUF_INIT };
}

void column_layout_release(struct column_layout *shape)
{
	buf_release(&shape->latency);
}

/* Copies the word behind `start` if the line has it. */
static bool word_after(const char *line, size_t len, const char *start, char *ret, size_t size)
{
	const char *at = memmem(line, len, start, strlen(start)), *end = line + len;
	size_t nr = 0;

	if (!at)
		return false;
	at += strlen(start);
	while (at + nr < end && nr < size - 1 && isgraph((unsigned char)at[nr]))
		nr++;
	memcpy(ret, at, nr);
	ret[nr] = '\0';
	return nr;
}

bool column_layout_header(struct column_layout *shape, const char *line, size_t len)
{
	static const char tracer[] = "# tracer: ", latency[] = " latency trace v1.1.5 on ";
	static const char *const facts[] = { "# latency: ", "#    | task: ", "#  => started at: ", "#  => ended at: " };

	char online[12];

	if (!len || *line != '#')
		return true;
	if (len > strlen(tracer) && !memcmp(line, tracer, strlen(tracer))) {
		shape->has_header = true;
		(void)word_after(line, len, tracer, shape->tracer, sizeof(shape->tracer));
		return true;
	}
	if (memmem(line, len, "=> irqs-off", 11))
		*(memmem(line, len, "/BH-disabled", 12) ? &shape->has_bh : &shape->no_bh) = true;
	if (word_after(line, len, "#P:", online, sizeof(online)))
		shape->online = (unsigned)strtoul(online, NULL, 10);
	if (word_after(line, len, "| (M:", shape->preempt_model, sizeof(shape->preempt_model)))
		(void)word_after(line, len, ", CPU#", shape->buffer_cpu, sizeof(shape->buffer_cpu));
	(void)word_after(line, len, latency, shape->release, sizeof(shape->release));
	for (size_t i = 0; i < array_size(facts); i++)
		if (len > strlen(facts[i]) && !memcmp(line, facts[i], strlen(facts[i])) &&
		    shape->latency.len + len < LATENCY_MAX)
			return buf_add(&shape->latency, line, len) && buf_add(&shape->latency, "\n", 1);
	return true;
}

static bool begins(const char *line, size_t len, const char *with)
{
	return len >= strlen(with) && !memcmp(line, with, strlen(with));
}

int column_layout_old_header(struct column_layout *shape, const char *line, size_t len)
{
	static const char begin[] = "preemption latency trace v1.1.", tracer[] = "preemption", end[] = "vim:ft=help";
	static const struct {
		const char *old, *now;
	} facts[] = {
		{ " latency: ", "#" }, { "    | task: ", "#" }, { " => started at: ", "# " }, { " => ended at: ", "# " }
	};
	char text[256];

	if (begins(line, len, begin)) {
		shape->is_old = shape->has_header = true;
		memcpy(shape->tracer, tracer, sizeof(tracer));
		(void)word_after(line, len, " on ", shape->release, sizeof(shape->release));
		return 1;
	}
	if (shape->is_old && len == strlen(end) && begins(line, len, end))
		return 1;
	if (!shape->is_old || shape->has_event || len >= sizeof(text) - 2)
		return 0;
	for (size_t i = 0; i < array_size(facts); i++) {
		size_t more = strlen(facts[i].now);

		if (!begins(line, len, facts[i].old))
			continue;
		memcpy(text, facts[i].now, more);
		memcpy(text + more, line, len);
		return column_layout_header(shape, text, more + len) ? 1 : -ENOMEM;
	}
	/* The legend has no letters at its beginning, and the names of columns. */
	while (len && strchr(" \\/|_-", *line)) {
		line++;
		len--;
	}
	return !len || begins(line, len, "=> ") || begins(line, len, "cmd     pid") || begins(line, len, "delay");
}

/* Since 3.19, a plus says more than 10 us. */
bool column_layout_mark(struct column_layout *shape, const struct head *head)
{
	enum { CERTAIN = 8000 };

	bool old = !column_layout_has_old_marks(shape) && shape->last_mark == '+' && head->ts >= shape->last_time &&
		   head->ts - shape->last_time <= CERTAIN;

	shape->old_marks |= old;
	shape->new_marks |= head->mark && strchr("#*@$", head->mark);
	shape->last_mark = head->mark;
	shape->last_time = head->ts;
	return old && !shape->new_marks;
}

bool column_layout_has_old_marks(const struct column_layout *shape)
{
	char *end;
	unsigned long major = strtoul(shape->release, &end, 10);

	if (shape->old_marks)
		return !shape->new_marks;
	return end > shape->release && (major < 3 || (major == 3 && *end == '.' && strtoul(end + 1, NULL, 10) < 19));
}

bool column_layout_fits(const struct column_layout *shape, const struct head *head)
{
	return head->has_unit ? !shape->has_count : !shape->has_unit;
}

void column_layout_event(struct column_layout *shape, const struct head *head)
{
	shape->has_event = true;
	shape->has_tgid |= head->has_tgid;
	shape->has_unit |= head->has_unit;
	shape->tgid_late |= head->tgid_late;
	if (head->is_placed)
		return;
	shape->has_count |= !head->has_unit;
	*(head->has_flags ? &shape->has_flags : &shape->has_no_flags) = true;
	*(head->is_latency ? &shape->has_latency : &shape->has_plain) = true;
	if (head->is_verbose && !shape->has_verbose && head->ts >= head->since)
		shape->start = head->ts - head->since;
	*(head->is_verbose ? &shape->has_verbose : &shape->has_brief) = true;
	shape->has_x |= head->has_x;
	/* The option verbose has numbers in place of flags. */
	if (!head->is_verbose && head->nr_flags <= COLUMN_LAYOUT_FLAGS_MAX)
		shape->by_flags[head->nr_flags]++;
	if (head->nr_flags > shape->nr_flags)
		shape->nr_flags = head->nr_flags;
	shape->narrow |= head->pid_width == PID_OLD || head->tgid_width == PID_OLD;
	shape->wide |= head->pid_width == PID_NEW || head->tgid_width == PID_NEW;
}

void column_layout_symbol(struct column_layout *shape, bool offset, bool address, bool number)
{
	if (!number)
		*(offset ? &shape->offsets : &shape->no_offsets) = true;
	*(address ? &shape->addresses : &shape->no_addresses) = true;
}

void column_layout_partial_flags(const struct column_layout *shape, char *ret, size_t size)
{
	unsigned kinds = 0;
	size_t len = 0;

	*ret = '\0';
	for (unsigned nr = 0; nr <= COLUMN_LAYOUT_FLAGS_MAX; nr++)
		kinds += shape->by_flags[nr] > 0;
	for (unsigned nr = 0; kinds > 1 && nr <= COLUMN_LAYOUT_FLAGS_MAX; nr++)
		if (shape->by_flags[nr] && len < size)
			len += (size_t)snprintf(ret + len, size - len, "%s%" PRIu64 " with %u", len ? ", " : "",
						shape->by_flags[nr], nr);
}

bool column_layout_options(const struct column_layout *shape, struct buf *options)
{
	bool latency = shape->has_latency && !shape->has_plain && shape->has_header;

	return buf_add_str(options, shape->has_tgid ? "record-tgid\n" : "norecord-tgid\n") &&
	       buf_add_str(options, shape->has_no_flags && !shape->has_flags ? "noirq-info\n" : "irq-info\n") &&
	       (!shape->offsets || shape->no_offsets || buf_add_str(options, "sym-offset\n")) &&
	       (!shape->addresses || shape->no_addresses || buf_add_str(options, "sym-addr\n")) &&
	       (!latency || buf_add_str(options, "latency-format\n")) &&
	       (!shape->has_verbose || shape->has_brief || buf_add_str(options, "verbose\n"));
}

bool column_layout_columns(const struct column_layout *shape, struct buf *columns)
{
	return (!shape->nr_flags || buf_addf(columns, "flags=%u\n", shape->nr_flags)) &&
	       (!shape->narrow || shape->wide || buf_addf(columns, "pid=%d\n", PID_OLD)) &&
	       (!shape->has_x || buf_add_str(columns, "x=1\n")) &&
	       (!shape->no_bh || shape->has_bh || buf_add_str(columns, "bh=0\n")) &&
	       (!shape->old_marks || shape->new_marks || buf_add_str(columns, "old-marks=1\n")) &&
	       (!shape->tgid_late || buf_add_str(columns, "tgid-late=1\n"));
}
