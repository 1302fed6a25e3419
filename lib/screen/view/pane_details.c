// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/escape.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/utf8.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/clock/apart.h"
#include "lib/meaning/columns/value.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/stack.h"
#include "lib/meaning/follow/user_stacks.h"
#include "lib/meaning/plugin/decoded.h"
#include "lib/meaning/plugin/plugins.h"
#include "lib/meaning/schema/format.h"
#include "lib/screen/view/event_cursor_internal.h"
#include "lib/screen/view/pair_internal.h"
#include "lib/screen/view/view_panes_internal.h"

/* All that is known of the event of the cursor: fields, stack, partner, who woke the task, and in which steps. */

/* Partners are looked for among so many events, so that each step of the cursor is answered at once; % reads all. */
enum { PARTNER_EVENTS = 200000 };

struct line {
	char *text;
	bool goes; /* Enter goes to this place */
	struct walk_place place;
};

struct details {
	struct pane pane; /* first */
	struct line *lines;
	size_t nr, at, top;
	unsigned width; /* to which lines were wrapped last */
	bool made;
	struct walk_place of;
	struct user_stacks *unwound; /* of programs, of the recording with this context; NULL: not read yet */
	const struct context *unwound_of;
};

static int details_create(struct view *view, struct pane **ret, struct fail *fail)
{
	struct details *details = calloc(1, sizeof(*details));

	(void)view;
	if (!details)
		return fail_memory(fail);
	*ret = &details->pane;
	return 0;
}

static void clear(struct details *details)
{
	for (size_t i = 0; i < details->nr; i++)
		free(details->lines[i].text);
	free(details->lines);
	details->lines = NULL;
	details->nr = details->at = details->top = 0;
	details->made = false;
}

static void details_free(struct pane *pane)
{
	struct details *details = (struct details *)pane;

	clear(details);
	user_stacks_free(details->unwound);
	free(pane);
}

static void details_changed(struct pane *pane)
{
	((struct details *)pane)->made = false;
}

/* Takes what was written into `out` as one line. */
static int add_line(struct details *details, struct out *out, const struct walk_place *place, struct fail *fail)
{
	struct line *line = vec_push(details->lines, details->nr);

	if (!line)
		return fail_memory(fail);
	line->text = out->failed ? NULL : strndup(out->start, out_len(out));
	out_clear(out);
	if (!line->text) {
		details->nr--;
		return fail_memory(fail);
	}
	if (place) {
		line->goes = true;
		line->place = *place;
	}
	return 0;
}

static void put_foreign(const char *text, size_t len, struct out *out)
{
	struct escape escape = { .len = 0 };
	size_t from = out_len(out);

	escape_text(&escape, text, len, out);
	escape_end(&escape, out);
	out_char(out, '.');
	escape_newlines(out, from);
	out->at--;
}

static void put_task(const struct context *context, int32_t pid, uint64_t ts, struct out *out)
{
	struct task_name name = context_comm(context, pid, ts);

	put_foreign(name.text, name.len, out);
	out_f(out, "-%" PRId32, pid);
}

static int add_head(struct details *details, const struct event *event, struct out *out, struct fail *fail)
{
	const struct view *view = details->pane.view;
	const struct context *context = view->reader.buffers[event->buffer].context;
	int r;

	if (event->kind == EVENT_LOST) {
		if (event->lost > 0)
			out_f(out, "%" PRId64 " lost events on CPU %u, before ", event->lost, event->cpu);
		else
			out_f(out, "lost events on CPU %u, nobody knows how many, before ", event->cpu);
		view_put_exact(view, event->ts, out);
		return add_line(details, out, NULL, fail);
	}
	if (event->type->format)
		out_f(out, "%s:%s", event->type->format->system, event->type->format->name);
	else
		out_f(out, "an event of the unknown type %u", event->id);
	r = add_line(details, out, NULL, fail);
	if (r)
		return r;
	out_str(out, "time     ");
	view_put_exact(view, event->ts, out);
	r = add_line(details, out, NULL, fail);
	if (r)
		return r;
	out_f(out, "CPU      %u", event->cpu);
	if (*context->instance) {
		out_str(out, ", instance ");
		put_foreign(context->instance, strlen(context->instance), out);
	}
	r = add_line(details, out, NULL, fail);
	if (r)
		return r;
	out_str(out, "task     ");
	put_task(context, event->pid, event->ts, out);
	if (task_tgid(context->tasks, event->pid))
		out_f(out, ", process %" PRId32, task_tgid(context->tasks, event->pid));
	return add_line(details, out, NULL, fail);
}

/* Beside each other machine, if the times of several were compared: the order is known or not. */
static int add_order(struct details *details, const struct event_cursor *event_cursor, const struct event *event,
		     struct out *out, struct fail *fail)
{
	const struct view *view = details->pane.view;
	struct apart_other other;
	int r = 0;

	for (size_t i = 0; !r && event_cursor_other(event_cursor, event, i, &other); i++) {
		out_str(out, "order    known beside events of ");
		put_foreign(other.name.text, other.name.len, out);
		out_str(out, " that are further away than ");
		view_put_span(view, other.within, out);
		r = add_line(details, out, NULL, fail);
		if (r || !other.seen || event->ts - other.last > other.within)
			continue;
		out_str(out, "         not beside the one of ");
		view_put_time(view, other.last, out);
		out_str(out, ", ");
		view_put_span(view, event->ts - other.last, out);
		out_str(out, " before");
		r = add_line(details, out, &(struct walk_place){ other.last, 0 }, fail);
	}
	return r;
}

static int add_flags(struct details *details, const struct event *event, struct out *out, struct fail *fail)
{
	static const struct {
		uint8_t flag;
		const char *what;
	} flags[] = { { EVENT_IRQS_OFF, "interrupts off" }, { EVENT_BH_OFF, "softirqs off" },
		      { EVENT_HARDIRQ, "in an interrupt" }, { EVENT_SOFTIRQ, "in a softirq" },
		      { EVENT_NMI, "in an NMI" },           { EVENT_NEED_RESCHED, "another task is to run" } };
	const char *between = "context  ";

	if (!event_flags_known(event))
		return 0;
	for (size_t i = 0; i < array_size(flags); i++) {
		if (!(event->flags & flags[i].flag))
			continue;
		out_f(out, "%s%s", between, flags[i].what);
		between = ", ";
	}
	if (event->preempt_count & 15) {
		out_f(out, "%spreemption off, depth %u", between, event->preempt_count & 15);
		between = ", ";
	}
	return *between == ',' ? add_line(details, out, NULL, fail) : 0;
}

static int add_fields(struct details *details, const struct event *event, struct out *out, struct fail *fail)
{
	const struct format *format = event->type->format;
	const struct context *context = event->type->context;
	struct out value;
	int r = 0;

	if (!format || !out_init(&value, 256))
		return format ? fail_memory(fail) : 0;
	for (uint32_t i = format->nr_common; !r && i < format->nr_fields; i++) {
		const struct field *field = &format->fields[i];
		bool number = field_int_size(field->size) && !(field->flags & (FIELD_ARRAY | FIELD_DYNAMIC));

		out_clear(&value);
		value_put(field, &context->abi, event, value_is_text(field), &value);
		out_f(out, "  %-20s ", field->name);
		put_foreign(value.start, out_len(&value), out);
		if (number && field_int(field, &context->abi, event->data, event->len) > 9)
			out_f(out, "  0x%" PRIx64,
			      field_int(field, &context->abi, event->data, event->len) &
				      (field->size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * field->size) - 1));
		out_str(out, "  (");
		put_foreign(field->type, strlen(field->type), out);
		out_char(out, ')');
		r = add_line(details, out, NULL, fail);
	}
	out_release(&value);
	return r;
}

static int add_decoded(struct details *details, const struct event *event, struct out *out, struct fail *fail)
{
	const struct context *context = event->type->context;
	const struct decoder *decoder;

	if (!context->plugins || !event->type->format)
		return 0;
	decoder = plugins_decoder(context->plugins, event->type->format);
	if (decoder) {
		struct out text;

		if (!out_init(&text, 256))
			return fail_memory(fail);
		decoder_run(decoder, event->data, event->len, &text);
		if (out_len(&text)) {
			out_str(out, "decoded ");
			put_foreign(text.start, out_len(&text), out);
		}
		out_release(&text);
	}
	return out_len(out) ? add_line(details, out, NULL, fail) : 0;
}

/* The functions of a program behind the addresses of its stack; 0 for all other events. */
static size_t user_frames(const struct event *event, int32_t *ret_tgid, uint64_t frames[STACK_USER_ENTRIES])
{
	struct place caller, tgid;

	if (event->kind != EVENT_RECORD || !event->type->format || strcmp(event->type->format->name, "user_stack") ||
	    !place_find(&caller, event->type, "caller") || !place_find(&tgid, event->type, "tgid"))
		return 0;
	*ret_tgid = (int32_t)place_u64(&tgid, event);
	return stack_user_frames(&caller, *ret_tgid, event, frames);
}

/* The lines of the kernel's text of a stack; what the kernel prints of a program's has no names of functions. */
static int add_stack_text(struct details *details, const struct event *event, const struct out *text, struct out *out,
			  struct fail *fail)
{
	uint64_t frames[STACK_USER_ENTRIES];
	char name[STACK_USER_NAME];
	int32_t tgid = 0;
	size_t nr = user_frames(event, &tgid, frames), frame = 0;
	int r = 0;

	for (const char *at = text->start; !r && at < text->at;) {
		const char *newline = memchr(at, '\n', (size_t)(text->at - at));
		size_t len = (size_t)((newline ? newline : text->at) - at);

		out_mem(out, at, len);
		if (frame < nr && len > 4 && !memcmp(at, " => ", 4)) {
			size_t name_len =
				stack_user_name(event->type->context, tgid, frames[frame++], name, sizeof(name));

			if (memcmp(name, "0x", 2) != 0)
				out_str(out, "  ");
			if (memcmp(name, "0x", 2) != 0)
				put_foreign(name, name_len, out);
		}
		r = add_line(details, out, NULL, fail);
		at += len + 1;
	}
	return r;
}

/* The next event of this CPU if it is a stack; 0: it is not. */
static int next_stack(struct event_cursor *event_cursor, const struct event *event, struct event *ret,
		      struct fail *fail)
{
	struct walk_place place;
	int r = 0;

	for (unsigned i = 0; i < 64 && (r = event_cursor_next(event_cursor, ret, &place, fail)) > 0; i++)
		if (ret->cpu == event->cpu && ret->buffer == event->buffer)
			break;
	if (r <= 0 || ret->kind != EVENT_RECORD || ret->cpu != event->cpu || !ret->type->format)
		return r < 0 ? r : 0;
	return !strcmp(ret->type->format->name, "kernel_stack") || !strcmp(ret->type->format->name, "user_stack");
}

/* The stacks that were stored with the event follow it on its CPU: the kernel's, and that of the program. */
static int add_stacks(struct details *details, struct event_cursor *event_cursor, const struct event *event,
		      struct out *out, struct fail *fail)
{
	const struct event at = *event;
	struct event next;
	struct out text;
	int r;

	if (!out_init(&text, 1024))
		return fail_memory(fail);
	while ((r = next_stack(event_cursor, &at, &next, fail)) > 0) {
		out_clear(&text);
		event_cursor_text(event_cursor, &next, &text);
		r = add_stack_text(details, &next, &text, out, fail);
		if (r)
			break;
	}
	out_release(&text);
	return r;
}

/* What can have a copy of a program's stack beside it. All copies are read for the first such event. */
static bool find_unwound(struct details *details, const struct event *event, struct stack *ret, int32_t *ret_tgid)
{
	const struct context *context = event->type->context;

	if (!event->type->format)
		return false;
	if (details->unwound_of != context) {
		user_stacks_free(details->unwound);
		details->unwound = user_stacks_new(context);
		details->unwound_of = context;
	}
	return details->unwound && user_stacks_beside(details->unwound, event, ret, ret_tgid);
}

/* The stack of the program, if record --stacks user copied it. */
static int add_unwound(struct details *details, const struct event *event, struct out *out, struct fail *fail)
{
	const struct context *context = event->type->context;
	char name[STACK_USER_NAME];
	struct stack stack;
	uint64_t address;
	int32_t tgid;
	bool inner = true;
	int r;

	if (!find_unwound(details, event, &stack, &tgid))
		return 0;
	out_str(out, "<stack of the program, by the rules of its own files>");
	r = add_line(details, out, NULL, fail);
	while (!r && stack_next(&stack, &address)) {
		uint64_t frame = stack_user_frame(context, tgid, address, inner);
		size_t len = stack_user_name(context, tgid, frame, name, sizeof(name));

		inner = false;
		out_str(out, " =>  ");
		put_foreign(name, len, out);
		r = add_line(details, out, NULL, fail);
	}
	if (!r && stack.cut) {
		out_str(out, " =>  ...");
		r = add_line(details, out, NULL, fail);
	}
	return r;
}

static void put_moment(const struct view *view, const struct search_found *found, uint64_t from, struct out *out)
{
	view_put_time(view, found->place.ts, out);
	out_str(out, found->place.ts >= from ? ", after " : ", ");
	view_put_span(view, found->place.ts >= from ? found->place.ts - from : from - found->place.ts, out);
	if (found->place.ts < from)
		out_str(out, " before");
}

static int add_partner(struct details *details, struct walk_place place, const struct pair *pair, struct out *out,
		       struct fail *fail)
{
	struct view *view = details->pane.view;
	struct search_found found;
	int r;

	if (!*pair->what)
		return 0;
	r = pair_search(view, place, pair, PARTNER_EVENTS, &found, fail);
	if (r < 0 && r != -ECANCELED)
		return r;
	out_f(out, "%-8s ", pair->forward ? "until" : "since");
	put_foreign(pair->what, strlen(pair->what), out);
	if (r == -ECANCELED) {
		out_str(out, ": not within the next events; % looks further");
		return add_line(details, out, NULL, fail);
	}
	if (!r) {
		out_str(out, pair->forward ? ": not in the rest of the recording" : ": not in the recording before");
		return add_line(details, out, NULL, fail);
	}
	out_str(out, ": ");
	put_moment(view, &found, place.ts, out);
	return add_line(details, out, &found.place, fail);
}

/* The waking of the task that a switch gives the CPU to: its steps, and who did it. */
static int add_waker(struct details *details, struct walk_place place, const struct event *event,
		     const struct pair *pair, struct out *out, struct fail *fail)
{
	struct view *view = details->pane.view;
	const struct context *context = view->reader.buffers[event->buffer].context;
	struct search_found queued, waking;
	int r;

	if (!*pair->what)
		return 0;
	r = pair_wakeup(view, place, pair, PARTNER_EVENTS, &waking, &queued, fail);
	if (r <= 0)
		return r == -ECANCELED ? 0 : r;
	out_str(out, "woken by ");
	/* An interrupt has nothing to do with the task that it hit. */
	if (waking.event.flags & EVENT_INTERRUPTS)
		out_str(out, waking.event.flags & (EVENT_HARDIRQ | EVENT_NMI) ? "an interrupt that hit " :
										"a softirq that hit ");
	put_task(context, waking.event.pid, waking.event.ts, out);
	out_f(out, " on CPU %u at ", waking.event.cpu);
	put_moment(view, &waking, place.ts, out);
	r = add_line(details, out, &waking.place, fail);
	if (r || !walk_compare(waking.place, queued.place))
		return r;
	out_str(out, "  waking to queued ");
	view_put_span(view, queued.place.ts - waking.place.ts, out);
	out_str(out, ", queued to here ");
	view_put_span(view, place.ts - queued.place.ts, out);
	return add_line(details, out, &queued.place, fail);
}

static int add_text(struct details *details, struct event_cursor *event_cursor, struct event *event, struct out *out,
		    struct fail *fail)
{
	struct out text;
	int r = 0;

	if (!out_init(&text, 1024))
		return fail_memory(fail);
	event_cursor_text(event_cursor, event, &text);
	if (out_len(&text)) {
		const char *newline = memchr(text.start, '\n', out_len(&text));

		out_mem(out, text.start, newline ? (size_t)(newline - text.start) : out_len(&text));
		r = add_line(details, out, NULL, fail);
	}
	out_release(&text);
	return r;
}

static int add_relations(struct details *details, struct walk_place place, const struct event *event,
			 const struct pair *partner, const struct pair *waker, struct out *out, struct fail *fail)
{
	int r = add_partner(details, place, partner, out, fail);

	return r ? r : add_waker(details, place, event, waker, out, fail);
}

static int make(struct details *details, struct fail *fail)
{
	struct view *view = details->pane.view;
	struct event_cursor *event_cursor = NULL;
	struct pair partner, waker;
	struct walk_place place;
	struct event event;
	struct out out;
	int r;

	clear(details);
	details->made = true;
	details->of = view->cursor;
	r = event_cursor_find(view, view->cursor, &event_cursor, &event, &place, fail);
	if (r <= 0)
		return r;
	if (!out_init(&out, 1024)) {
		event_cursor_free(event_cursor);
		return fail_memory(fail);
	}
	r = event_cursor_print(event_cursor, view->color, fail);
	if (!r)
		r = add_head(details, &event, &out, fail);
	pair_of(&event, false, &partner);
	pair_of(&event, true, &waker);
	if (!r && event.kind == EVENT_RECORD) {
		r = add_order(details, event_cursor, &event, &out, fail);
		if (!r)
			r = add_flags(details, &event, &out, fail);
		if (!r)
			r = add_decoded(details, &event, &out, fail);
		if (!r)
			r = add_relations(details, place, &event, &partner, &waker, &out, fail);
		if (!r)
			r = add_fields(details, &event, &out, fail);
		if (!r)
			r = add_text(details, event_cursor, &event, &out, fail);
		if (!r)
			r = add_stacks(details, event_cursor, &event, &out, fail);
		if (!r)
			r = add_unwound(details, &event, &out, fail);
	}
	out_release(&out);
	event_cursor_free(event_cursor);
	return r;
}

/* How a line goes on in the next row. */
static const char indent[] = "        ";

/*
 * The bytes that fit into so many columns, without cutting a word unless nothing else does. The colours of
 * formats/palette.h take no columns.
 */
static size_t fit(const char *text, unsigned columns)
{
	size_t at = 0, blank = 0, used = 0, text_from = strspn(text, " ");

	while (text[at]) {
		const char *end = text[at] == '\033' ? strchr(text + at, 'm') : NULL;
		uint32_t character;
		size_t len;

		if (end) {
			at = (size_t)(end - text) + 1;
			continue;
		}
		used += utf8_next(text + at, strlen(text + at), &character, &len);
		if (used > columns)
			return blank ? blank : at ? at : len;
		if (text[at] == ' ' && at > text_from)
			blank = at;
		at += len;
	}
	return at;
}

/* Adds a line in as many rows as it needs, if it is to be shown; returns how many. */
static size_t put_wrapped(const char *text, unsigned width, struct rows *rows)
{
	const char *color = "", *escape;
	size_t nr = 0, part;

	do {
		unsigned used = nr ? (unsigned)sizeof(indent) - 1 : 0;

		part = width > used + 1 ? fit(text, width - used) : strlen(text);
		if (rows && rows->nr < rows->height) {
			out_mem(&rows->text, indent, used);
			out_mem(&rows->text, color, strcspn(color, "m") + !!*color);
			out_mem(&rows->text, text, part);
			rows_end_line(rows);
		}
		/* A row begins without the colour of the one before. */
		escape = memrchr(text, '\033', part);
		color = escape ? escape : color;
		text += part;
		text += strspn(text, " ");
		nr++;
	} while (*text);
	return nr;
}

/* The line of the cursor is shown, all of it if there is room. */
static void scroll(struct details *details, size_t height)
{
	size_t used = 0;

	if (details->at >= details->nr)
		details->at = details->nr ? details->nr - 1 : 0;
	if (details->at < details->top)
		details->top = details->at;
	for (size_t i = details->at + 1; i > details->top && i <= details->nr; i--) {
		used += put_wrapped(details->lines[i - 1].text, details->width, NULL);
		if (used > height && i - 1 < details->at) {
			details->top = i;
			return;
		}
	}
}

/* The line in this row. */
static size_t line_of(const struct details *details, size_t row)
{
	size_t at = details->top, end = 0;

	while (at + 1 < details->nr && (end += put_wrapped(details->lines[at].text, details->width, NULL)) <= row)
		at++;
	return at;
}

static int details_draw(struct pane *pane, struct rows *rows, struct fail *fail)
{
	struct details *details = (struct details *)pane;
	int r = 0;

	if (!details->made || walk_compare(details->of, pane->view->cursor))
		r = make(details, fail);
	if (r)
		return r;
	details->width = rows->width;
	scroll(details, rows->height);
	for (size_t i = details->top; i < details->nr && rows->nr < rows->height; i++) {
		size_t from = rows->nr,
		       nr = put_wrapped(details->lines[i].text, rows->unwrapped ? 0 : rows->width, rows);

		if (i != details->at)
			continue;
		rows->cursor = from;
		rows->more = nr - 1;
	}
	if (!details->nr) {
		out_str(&rows->text, "there is no event here");
		rows_end_line(rows);
	}
	return 0;
}

static int details_key(struct pane *pane, const struct key *key, struct fail *fail)
{
	struct details *details = (struct details *)pane;
	bool press = key->kind == KEY_MOUSE && key->act == MOUSE_PRESS;

	(void)fail;
	if (press)
		details->at = line_of(details, key->row);
	if (key->kind == KEY_DOWN || key_is(key, 'j') || (key->kind == KEY_MOUSE && key->act == MOUSE_WHEEL_DOWN)) {
		details->at += details->at + 1 < details->nr;
	} else if (key->kind == KEY_UP || key_is(key, 'k') || (key->kind == KEY_MOUSE && key->act == MOUSE_WHEEL_UP)) {
		details->at -= details->at > 0;
	} else if (key->kind == KEY_PAGE_DOWN || key_is(key, ' ')) {
		details->at += 10;
	} else if (key->kind == KEY_PAGE_UP) {
		details->at -= details->at < 10 ? details->at : 10;
	} else if (key->kind == KEY_ENTER) {
		if (details->at < details->nr && details->lines[details->at].goes)
			view_go(pane->view, details->lines[details->at].place);
		else
			view_say(pane->view, "Enter goes where a line has another time");
	} else if (key->kind == KEY_ESC) {
		view_leave(pane->view);
	} else {
		return press;
	}
	return 1;
}

static bool details_command(struct pane *pane, struct buf *into)
{
	const struct view *view = pane->view;
	struct out time;
	bool ok;

	if (!out_init(&time, 64))
		return false;
	view_put_exact(view, view->cursor.ts, &time);
	out_char(&time, '\0');
	ok = buf_addf(into, "weft report --format json --since %s --until %s", time.start, time.start) &&
	     view_part_options(view, into);
	out_release(&time);
	return ok;
}

const struct pane_ops details_pane = {
	.letter = '5',
	.name = "details",
	.hint = "j k lines  Enter to the line's time  < back  Esc leaves  y copies  % partner  ? keys",
	.help = "j k, PgDn PgUp, Space\tlines\n"
		"Enter\tgoes to the time of the line: the partner, the waking; < comes back\n"
		"Esc\tleaves the details\n",
	.create = details_create,
	.free = details_free,
	.draw = details_draw,
	.key = details_key,
	.command = details_command,
	.changed = details_changed,
};
