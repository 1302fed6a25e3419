// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_output.c: trace_print_context(), trace_print_lat_fmt(), trace_print_time(). */
#include "formats/kernel/columns.h"

#include <string.h>

#include "lib/ground/base/digits.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/clock/face.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/tasks.h"

enum {
	US_PER_S = 1000000,
	HEAD_MAX = 192,      /* of all columns without the name */
	LAZY_BIT_510 = 0x80, /* TRACE_FLAG_NEED_RESCHED_LAZY of 5.10-rt */
};

/* The kernel shows a nibble in hex, and a dot for 0. */
static const char nibbles[] = ".123456789abcdef";

/* The common fields are the same in every format. */
static const struct field *common_field(const struct context *context, const char *field_name)
{
	const struct format *format;
	const char *system, *name;
	int32_t id;

	for (size_t i = 0; schema_at(context->schema, i, &id, &system, &name); i++) {
		format = schema_format(context->schema, id, NULL);
		if (format)
			return format_field(format, field_name);
	}
	return NULL;
}

static char irqs_off(const struct columns *columns, unsigned flags)
{
	bool bh_off = columns->bh_off && flags & EVENT_BH_OFF;

	if (flags & EVENT_IRQS_OFF)
		return bh_off ? 'D' : 'd';
	if (bh_off)
		return 'b';
	return flags & EVENT_NEED_RESCHED_LAZY && !columns->lazy_flag && !columns->lazy_columns ? 'X' : '.';
}

static char need_resched(const struct columns *columns, unsigned flags)
{
	static const char known[] = ".npN", lazy[] = "lbLB";
	unsigned which = flags & EVENT_NEED_RESCHED ? 1 : 0;

	/* Kernels with the lazy columns use the bit of preempt-resched for need-resched-lazy, except 5.10-rt. */
	if (flags & EVENT_PREEMPT_RESCHED && columns->lazy_bit != EVENT_PREEMPT_RESCHED)
		which |= 2;

	return columns->lazy_flag && flags & EVENT_NEED_RESCHED_LAZY ? lazy[which] : known[which];
}

static char context_of(unsigned flags)
{
	if (flags & EVENT_NMI)
		return flags & EVENT_HARDIRQ ? 'Z' : 'z';
	if (flags & EVENT_HARDIRQ)
		return flags & EVENT_SOFTIRQ ? 'H' : 'h';
	return flags & EVENT_SOFTIRQ ? 's' : '.';
}

/* Fills the tables of flag characters for each value of the flags byte and of the preempt count. */
static void flags_prepare(struct columns *columns)
{
	for (unsigned flags = 0; flags < 256; flags++) {
		char *at = columns->flags_text[flags];

		*at++ = irqs_off(columns, flags);
		*at++ = need_resched(columns, flags);
		if (columns->lazy_columns)
			*at++ = flags & columns->lazy_bit ? 'L' : '.';
		*at++ = context_of(flags);
	}
	for (unsigned count = 0; count < 256; count++) {
		columns->counts_text[count][0] = nibbles[count & 15];
		columns->counts_text[count][1] = nibbles[count >> 4];
	}
}

/* An imported text knows its columns itself. */
static void of_text(struct columns *columns, const struct context_columns *text)
{
	bool lazy = text->flags >= 6, migrate = text->flags == 5 || text->flags == 7;

	columns->tgid_late = text->tgid_late;
	columns->old_marks |= text->old_marks;
	if (text->pid_width)
		columns->pid_width = text->pid_width;
	if (!text->flags)
		return;
	columns->migrate = migrate;
	columns->whole_depth = !migrate;
	columns->migrate_offset = 0;
	columns->bh_off = true;
	columns->lazy_columns &= lazy;
	columns->lazy_bit = columns->lazy_columns ? EVENT_NEED_RESCHED_LAZY : 0;
	columns->lazy_flag = !lazy && !text->has_x;
}

void columns_init(struct columns *columns, const struct context *context, bool nanoseconds, const struct face *face)
{
	const struct field *depth = common_field(context, "common_preempt_lazy_count");
	const struct field *migrate = depth ? common_field(context, "common_migrate_disable") : NULL;

	*columns = (struct columns){
		.context = context,
		.info = context_option(context, OPTION_CONTEXT_INFO),
		.tgid = context_option(context, OPTION_RECORD_TGID),
		.flags = context_option(context, OPTION_IRQ_INFO),
		.nanoseconds = nanoseconds,
		.face = face,
		.counts = context->unit == CLOCK_UNIT_COUNT,
		.lazy_columns = depth,
		.lazy_depth_offset = depth ? depth->offset : 0,
		.lazy_bit = !depth  ? 0 :
			    migrate ? LAZY_BIT_510 :
				      EVENT_PREEMPT_RESCHED,
		.migrate_offset = migrate ? migrate->offset : 0,
		.migrate = context_since(context, 5, 15),
		.whole_depth = !context_since(context, 5, 15),
		.bh_off = context_since(context, 5, 19),
		.lazy_flag = !depth &&
			     (context_since(context, 6, 13) || (context->preempt_rt && context_since(context, 6, 12))),
		.pid_width = context_since(context, 5, 10) ? 7 : 5,
		.verbose = context_option(context, OPTION_VERBOSE),
		.old_marks = !context_since(context, 3, 19),
	};
	of_text(columns, &context->columns);
	columns->bh_named = columns->bh_off && !context->columns.no_bh;
	columns->heads = columns->pid_width == 7;
	columns->usual = columns->info && columns->heads && columns->flags && columns->migrate && !columns->tgid &&
			 !columns->whole_depth && !columns->lazy_columns && !columns->counts && !columns->nanoseconds &&
			 !face;
	columns->nr_flags = (uint8_t)(4u + (columns->migrate || columns->migrate_offset) + 2u * columns->lazy_columns);
	flags_prepare(columns);
}

/* "%x", or a dot for 0 */
static char *write_count(unsigned count, char *at)
{
	if (count > 15)
		*at++ = nibbles[count >> 4];
	*at++ = count > 15 && !(count & 15) ? '0' : nibbles[count & 15];
	return at;
}

static unsigned common_count(const struct event *event, uint32_t offset)
{
	return offset < event->len ? event->data[offset] : 0;
}

/* Before 5.15 the whole byte is the preemption depth; 5.10-rt has a byte of its own for migrate_disable(). */
__attribute__((noinline)) static char *flags_of_old(const struct columns *columns, const struct event *event, char *at)
{
	memcpy(at, columns->flags_text[event->flags], 4);
	at += columns->lazy_columns ? 4 : 3;
	at = write_count(event->preempt_count, at);
	if (columns->lazy_columns)
		at = write_count(common_count(event, columns->lazy_depth_offset), at);
	if (columns->migrate_offset)
		at = write_count(common_count(event, columns->migrate_offset), at);
	return at;
}

static inline char *flags_with_lazy(const struct columns *columns, const struct event *event, char *at)
{
	const char *count = columns->counts_text[event->preempt_count];

	memcpy(at, columns->flags_text[event->flags], 4);
	at += 4;
	*at++ = count[0];
	at = write_count(common_count(event, columns->lazy_depth_offset), at);
	if (columns->migrate)
		*at++ = count[1];
	return at;
}

static inline char *write_flags(const struct columns *columns, const struct event *event, char *at)
{
	if (__builtin_expect(columns->whole_depth, 0))
		return flags_of_old(columns, event, at);
	if (columns->lazy_columns)
		return flags_with_lazy(columns, event, at);
	memcpy(at, columns->flags_text[event->flags], 4);
	memcpy(at + 3, columns->counts_text[event->preempt_count], 2);
	return at + 4 + columns->migrate;
}

char *columns_flags(const struct columns *columns, const struct event *event, char *at)
{
	return write_flags(columns, event, at);
}

/* "%-7d" */
static inline char *write_pid(char *at, int32_t pid, unsigned width)
{
	char *end = at + width;
	uint32_t size = (uint32_t)pid;

	if (__builtin_expect(pid < 0, 0)) {
		*at++ = '-';
		size = 0u - size;
	}
	at = digits_put_u64(at, size);
	while (at < end)
		*at++ = ' ';
	return at;
}

/* "%5lu". The number of digits hardly ever changes from line to line. */
static inline char *write_seconds(char *at, uint64_t seconds)
{
	uint32_t few = (uint32_t)seconds, thousands;

	memset(at, ' ', 4);
	if (seconds < 1000) {
		digits_put_few(at + 5 - digits_triples[few].len, few);
		return at + 5;
	}
	if (seconds >= 1000000000)
		return digits_put_long(at, seconds);
	thousands = few / 1000;
	few -= thousands * 1000;
	if (thousands >= 100)
		return digits_put_u64(at, seconds);
	digits_put_few(at + 2 - digits_triples[thousands].len, thousands);
	return digits_put_all(at + 2, few);
}

/* " %5lu.%06lu" of a time in us */
static inline char *write_us(char *at, uint64_t ts)
{
	uint64_t us = (ts + NS_PER_US / 2) / NS_PER_US, seconds = us / US_PER_S;
	uint32_t rest = (uint32_t)(us - seconds * US_PER_S), thousands = rest / 1000;

	*at = ' ';
	at = write_seconds(at + 1, seconds);
	*at = '.';
	at = digits_put_all(at + 1, thousands);
	return digits_put_all(at, rest - thousands * 1000);
}

/* Times of day have all digits, which is what their bound is about. */
__attribute__((noinline)) static char *write_face(const struct columns *columns, uint64_t ts, char *at)
{
	unsigned digits = face_is_of_day(columns->face) || columns->nanoseconds ? 9 : 6;
	char text[FACE_TEXT];
	int len;

	*at++ = ' ';
	if (columns->face->kind == FACE_RELATIVE && columns->counts)
		return digits_put_right(at, ts - columns->face->first, 12);
	len = face_text(text, columns->face, columns->context->wall, ts, digits);
	for (int pad = 6 + (int)digits - len; pad > 0; pad--)
		*at++ = ' ';
	memcpy(at, text, (size_t)len);
	return at + len;
}

/* Also " %12llu" of a count. */
static inline char *write_time(const struct columns *columns, uint64_t ts, char *at)
{
	if (__builtin_expect(columns->face != NULL, 0))
		return write_face(columns, ts, at);
	if (__builtin_expect(!columns->counts && !columns->nanoseconds, 1))
		return write_us(at, ts);
	*at++ = ' ';
	if (columns->counts)
		return digits_put_right(at, ts, 12);
	return digits_put_seconds(at, ts, 5);
}

void columns_time(const struct columns *columns, uint64_t ts, struct out *out)
{
	out_need(out, HEAD_MAX);
	out->at = write_time(columns, ts, out->at);
}

static char *write_tgid(const struct columns *columns, int32_t pid, char *at)
{
	int32_t tgid = task_tgid(columns->context->tasks, pid);

	*at++ = '(';
	if (tgid) {
		at = digits_put_right(at, (uint32_t)tgid, columns->pid_width);
	} else {
		memset(at, '-', columns->pid_width);
		at += columns->pid_width;
	}
	*at++ = ')';
	*at++ = ' ';
	return at;
}

/* "%16s-%-7d " of a task without a name, or of a kernel with narrower columns. */
__attribute__((noinline)) static char *write_task(const struct columns *columns, int32_t pid, struct out *out)
{
	struct task_name name = task_name(columns->context->tasks, pid);
	char *at;

	out_need(out, HEAD_MAX + name.len);
	at = out->at;
	if (__builtin_expect(name.len <= TASK_NAME_PAD, 1)) {
		memcpy(at, name.text + name.len - TASK_NAME_PAD, TASK_NAME_PAD);
		at += TASK_NAME_PAD;
	} else {
		memcpy(at, name.text, name.len);
		at += name.len;
	}
	*at++ = '-';
	at = write_pid(at, pid, columns->pid_width);
	*at++ = ' ';
	return at;
}

/* The columns that are not the usual ones; `head` may be NULL. */
__attribute__((noinline)) static void write_others(const struct columns *columns, const struct event *event,
						   const char *head, struct out *out)
{
	char *at;

	if (head) {
		out_need(out, HEAD_MAX);
		memcpy(out->at, head, TASK_HEAD_ROOM);
		at = out->at + TASK_HEAD_LEN;
	} else {
		at = write_task(columns, event->pid, out);
	}
	if (columns->tgid && !columns->tgid_late)
		at = write_tgid(columns, event->pid, at);
	*at++ = '[';
	if (event->cpu < 1000)
		at = digits_put_all(at, event->cpu);
	else
		at = digits_put_u64(at, event->cpu);
	memcpy(at, "] ", 2);
	at += 2;
	if (columns->tgid_late && columns->tgid)
		at = write_tgid(columns, event->pid, at);
	if (columns->flags)
		at = write_flags(columns, event, at);
	at = write_time(columns, event->ts, at);
	memcpy(at, ": ", 2);
	out->at = at + 2;
}

void columns_write(const struct columns *columns, const struct event *event, struct out *out)
{
	const char *head;
	char *at;

	if (__builtin_expect(!columns->info, 0))
		return;
	head = columns->heads ? task_head(columns->context->tasks, event->pid) : NULL;
	if (__builtin_expect(!head || !columns->usual || event->cpu >= 1000, 0)) {
		write_others(columns, event, head, out);
		return;
	}
	out_need(out, HEAD_MAX);
	at = out->at;
	memcpy(at, head, TASK_HEAD_ROOM);
	at[TASK_HEAD_LEN] = '[';
	at = digits_put_all(at + TASK_HEAD_LEN + 1, event->cpu);
	memcpy(at, "] ", 2);
	memcpy(at + 2, columns->flags_text[event->flags], 4);
	memcpy(at + 5, columns->counts_text[event->preempt_count], 2);
	at = write_us(at + 7, event->ts);
	memcpy(at, ": ", 2);
	out->at = at + 2;
}
