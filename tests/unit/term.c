// SPDX-License-Identifier: GPL-2.0-only
#include "lib/screen/term/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/out.h"
#include "lib/ground/base/utf8.h"
#include "lib/screen/term/key.h"
#include "tests/unit/test.h"

/* Decodes all keys of a text, written as words: "a", "^a", "up", "M-x", "mouse 3,4". */
static const char *keys_of(const char *bytes, size_t len, char *into, size_t size)
{
	static const char *const names[] = {
		[KEY_ENTER] = "enter", [KEY_TAB] = "tab",    [KEY_BACKTAB] = "backtab",     [KEY_ESC] = "esc",
		[KEY_UP] = "up",       [KEY_DOWN] = "down",  [KEY_LEFT] = "left",           [KEY_RIGHT] = "right",
		[KEY_HOME] = "home",   [KEY_END] = "end",    [KEY_PAGE_UP] = "pgup",        [KEY_PAGE_DOWN] = "pgdn",
		[KEY_INSERT] = "ins",  [KEY_DELETE] = "del", [KEY_BACKSPACE] = "backspace",
	};
	struct key_state state = { .pasting = false };
	size_t at = 0, to = 0;

	*into = '\0';
	while (at < len) {
		struct key key;
		size_t used = key_decode(&state, (const uint8_t *)bytes + at, len - at, true, &key);

		CHECK(used && used <= len - at);
		at += used;
		if (key.kind == KEY_NONE)
			continue;
		to += (size_t)snprintf(into + to, size - to, "%s%s%s%s", to ? " " : "",
				       key.modifiers & KEY_CTRL ? "^" : "", key.modifiers & KEY_ALT ? "M-" : "",
				       key.modifiers & KEY_SHIFT ? "S-" : "");
		if (key.kind == KEY_RUNE)
			to += (size_t)snprintf(into + to, size - to, key.rune < 0x80 ? "%c" : "U+%04X", key.rune);
		else if (key.kind == KEY_PASTE)
			to += (size_t)snprintf(into + to, size - to, "paste:%c", (char)key.rune);
		else if (key.kind == KEY_FUNCTION)
			to += (size_t)snprintf(into + to, size - to, "f%u", key.rune);
		else if (key.kind == KEY_MOUSE)
			to += (size_t)snprintf(into + to, size - to, "mouse%u %u,%u", key.act, key.column, key.row);
		else
			to += (size_t)snprintf(into + to, size - to, "%s", names[key.kind]);
	}
	return into;
}

#define KEYS(text) keys_of(text, sizeof(text) - 1, into, sizeof(into))

TEST(keys_are_decoded_from_what_terminals_send)
{
	char into[256];

	CHECK_STR(KEYS("aQ\303\251"), "a Q U+00E9");
	CHECK_STR(KEYS("\001\032\t\r\177"), "^a ^z tab enter backspace");
	CHECK_STR(KEYS("\033[A\033OB\033[1;5C\033[D"), "up down ^right left");
	CHECK_STR(KEYS("\033[5~\033[6~\033[1~\033[4~\033[H\033OF\033[3~"), "pgup pgdn home end home end del");
	CHECK_STR(KEYS("\033OP\033[15~\033[24~\033[[B\033[Z"), "f1 f5 f12 f2 backtab");
	CHECK_STR(KEYS("\033x\033"), "M-x esc");
	CHECK_STR(KEYS("\033[<0;5;6M\033[<0;5;6m\033[<64;1;1M\033[<65;1;1M"),
		  "mouse0 4,5 mouse1 4,5 mouse3 0,0 mouse4 0,0");
}

TEST(keys_of_a_paste_and_of_unknown_sequences_never_act)
{
	char into[256];

	CHECK_STR(KEYS("\033[200~q\n\033[Aj\033[201~k"), "paste:q paste:[ paste:A paste:j k");
	/* Answers of a terminal, and a sequence that is too long. */
	CHECK_STR(KEYS("\033[?1;2cx\033]11;rgb:0/0/0\033\\y\033Pq\033\\z"), "x y z");
	CHECK_STR(KEYS("\033[11111111111111111111111111111111111111111111111111111111111111111mq"), "q");
}

TEST(keys_wait_for_the_rest_of_a_sequence)
{
	static const char sequence[] = "\033[<0;10;10M";
	struct key_state state = { .pasting = false };
	struct key key;

	for (size_t len = 1; len < sizeof(sequence) - 1; len++)
		CHECK(!key_decode(&state, (const uint8_t *)sequence, len, false, &key));
	CHECK(key_decode(&state, (const uint8_t *)sequence, sizeof(sequence) - 1, false, &key) == sizeof(sequence) - 1);
	CHECK(key.kind == KEY_MOUSE);
	CHECK(!key_decode(&state, (const uint8_t *)"\303", 1, false, &key));
	CHECK(key_decode(&state, (const uint8_t *)"\033", 1, true, &key) == 1 && key.kind == KEY_ESC);
}

/* A terminal that knows what weft sends: the other half of frame_draw(), written from the standard. */
struct vt {
	unsigned width, height, x, y, top, bottom;
	struct cell *cells;
	struct pen pen;
	size_t unknown;
};

static void vt_blank(struct vt *vt, unsigned y, unsigned from)
{
	for (unsigned x = from; x < vt->width; x++)
		vt->cells[y * vt->width + x] = (struct cell){ .rune = ' ' };
}

static void vt_scroll(struct vt *vt, bool up, unsigned by)
{
	size_t row = vt->width * sizeof(*vt->cells);

	for (; by; by--) {
		size_t rows = vt->bottom - vt->top;

		if (up)
			memmove(vt->cells + vt->top * vt->width, vt->cells + (vt->top + 1) * vt->width, rows * row);
		else
			memmove(vt->cells + (vt->top + 1) * vt->width, vt->cells + vt->top * vt->width, rows * row);
		vt_blank(vt, up ? vt->bottom : vt->top, 0);
	}
}

static void vt_color(struct vt *vt, const unsigned *numbers, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		unsigned number = numbers[i];

		if (!number)
			vt->pen = (struct pen){ .fg = 0 };
		else if (number == 1 || number == 2)
			vt->pen.attributes |= number == 1 ? CELL_BOLD : CELL_DIM;
		else if (number == 4 || number == 7)
			vt->pen.attributes |= number == 4 ? CELL_UNDERLINE : CELL_REVERSE;
		else if (number >= 30 && number <= 37)
			vt->pen.fg = number - 29;
		else
			vt->unknown++;
	}
}

static const char *vt_sequence(struct vt *vt, const char *at)
{
	unsigned numbers[8] = { 0 };
	size_t nr = 1;
	bool private = *at == '?';

	for (at += private; (*at >= '0' && *at <= '9') || *at == ';'; at++) {
		if (*at == ';')
			nr++;
		else
			numbers[nr - 1] = numbers[nr - 1] * 10 + (unsigned)(*at - '0');
	}
	switch (*at) {
	case 'H':
		vt->y = numbers[0] ? numbers[0] - 1 : 0;
		vt->x = nr > 1 && numbers[1] ? numbers[1] - 1 : 0;
		break;
	case 'J':
		for (unsigned y = 0; y < vt->height; y++)
			vt_blank(vt, y, 0);
		break;
	case 'K':
		vt_blank(vt, vt->y, vt->x);
		break;
	case 'S':
	case 'T':
		vt_scroll(vt, *at == 'S', numbers[0]);
		break;
	case 'r':
		vt->top = numbers[0] ? numbers[0] - 1 : 0;
		vt->bottom = nr > 1 && numbers[1] ? numbers[1] - 1 : vt->height - 1;
		vt->x = vt->y = 0;
		break;
	case 'm':
		vt_color(vt, numbers, nr);
		break;
	case 'h':
	case 'l':
		vt->unknown += !private;
		break;
	default:
		vt->unknown++;
	}
	return at + 1;
}

/* Half a wide character that is overwritten leaves a blank. */
static void vt_split(struct vt *vt, unsigned x)
{
	struct cell *row = vt->cells + vt->y * vt->width;

	if (x < vt->width && !row[x].rune) {
		row[x].rune = ' ';
		row[x - 1].rune = ' ';
	}
}

static void vt_write(struct vt *vt, const char *at, const char *end)
{
	while (at < end) {
		struct cell *row;
		uint32_t rune;
		size_t len;
		unsigned columns;

		if (at[0] == '\033' && at[1] == '[') {
			at = vt_sequence(vt, at + 2);
			continue;
		}
		columns = utf8_next(at, (size_t)(end - at), &rune, &len);
		at += len;
		if (vt->y >= vt->height || vt->x + columns > vt->width) {
			vt->unknown++;
			continue;
		}
		row = vt->cells + vt->y * vt->width;
		if (!columns) {
			row[vt->x - (row[vt->x - 1].rune ? 1 : 2)].mark = rune;
			continue;
		}
		vt_split(vt, vt->x);
		vt_split(vt, vt->x + columns);
		row[vt->x] = (struct cell){
			.rune = rune, .fg = vt->pen.fg, .bg = vt->pen.bg, .attributes = vt->pen.attributes
		};
		if (columns == 2) {
			row[vt->x + 1] = row[vt->x];
			row[vt->x + 1].rune = 0;
		}
		vt->x += columns;
	}
}

static bool vt_shows(const struct vt *vt, const struct frame *frame)
{
	for (size_t i = 0; i < (size_t)frame->width * frame->height; i++) {
		const struct cell *a = &vt->cells[i], *b = &frame->cells[i];

		if (a->rune != b->rune || a->mark != b->mark || a->fg != b->fg || a->attributes != b->attributes)
			return false;
	}
	return true;
}

static void put_random(struct frame *frame, unsigned y)
{
	static const char *const texts[] = { "storm-0-149 [000] d..2. 22.4: sched_switch",
					     "\033[32mstorm\033[0m \347\271\224\346\234\272 e\314\201 x",
					     "",
					     "\033[1mbold\033[0m and \033[7;31mred\033[0m",
					     "\347\271\224\347\271\224\347\271\224 wide",
					     "a",
					     "          far" };
	const char *text = texts[rand() % (int)array_size(texts)];

	for (unsigned x = 0; x < frame->width; x++)
		frame_put(frame, x, y, 1, (struct pen){ .fg = 0 }, " ", 1);
	frame_put_from(frame, (unsigned)rand() % 8, y, 3 + (unsigned)rand() % frame->width, (struct pen){ .fg = 0 },
		       (unsigned)rand() % 3, text, strlen(text));
}

static void scroll_frame(struct frame *frame)
{
	unsigned by = 1 + (unsigned)rand() % 3;
	size_t row = frame->width, rows = frame->height - by - 2;

	if (rand() % 2) {
		memmove(frame->cells + row, frame->cells + (by + 1) * row, rows * row * sizeof(*frame->cells));
		for (unsigned i = 0; i < by; i++)
			put_random(frame, frame->height - 2 - i);
	} else {
		memmove(frame->cells + (by + 1) * row, frame->cells + row, rows * row * sizeof(*frame->cells));
		for (unsigned i = 0; i < by; i++)
			put_random(frame, 1 + i);
	}
}

TEST(drawn_differences_give_the_frame_that_a_full_drawing_gives)
{
	struct vt vt = { .width = 50, .height = 14, .bottom = 13 };
	struct frame shown = { .cells = NULL }, frame;
	struct out out;

	srand(4);
	vt.cells = calloc((size_t)vt.width * vt.height, sizeof(*vt.cells));
	CHECK(vt.cells && frame_init(&frame, vt.width, vt.height) && out_init(&out, 1024));
	for (unsigned y = 0; y < frame.height; y++)
		put_random(&frame, y);
	for (size_t i = 0; i < 3000; i++) {
		if (rand() % 3)
			scroll_frame(&frame);
		for (int k = rand() % 4; k; k--)
			put_random(&frame, (unsigned)rand() % frame.height);
		out_clear(&out);
		frame_draw(&shown, &frame, FRAME_COLORS_16, i % 1000 == 0, &out);
		vt_write(&vt, out.start, out.at);
		CHECK(!vt.unknown);
		CHECK(vt_shows(&vt, &frame));
	}
	out_release(&out);
	frame_release(&shown);
	frame_release(&frame);
	free(vt.cells);
}

TEST(a_frame_obeys_colours_and_nothing_else)
{
	static const char text[] = "a\033[31mb\033[0mc\033[2Jd\007\033]0;x\007";
	struct frame frame;
	char runes[32] = "";

	CHECK(frame_init(&frame, 20, 2));
	frame_put(&frame, 0, 0, 20, (struct pen){ .fg = 0 }, text, sizeof(text) - 1);
	for (unsigned x = 0; x < 15; x++)
		runes[x] = (char)frame.cells[x].rune;
	CHECK_STR(runes, "abc?[2Jd??]0;x?");
	CHECK(frame.cells[0].fg == 0 && frame.cells[1].fg == 2 && frame.cells[2].fg == 0);
	frame_release(&frame);
}

TEST(a_text_that_is_too_long_for_a_frame_ends_with_a_mark)
{
	struct frame frame;

	CHECK(frame_init(&frame, 5, 1));
	CHECK(frame_put(&frame, 0, 0, 5, (struct pen){ .fg = 0 }, "abcdef", 6) == 5);
	CHECK(frame.cells[4].rune == '>');
	/* The second half of a wide character has no room. */
	frame_clear(&frame);
	CHECK(frame_put(&frame, 0, 0, 3, (struct pen){ .fg = 0 }, "\347\271\224\347\271\224", 6) == 3);
	CHECK(frame.cells[0].rune == 0x7e54 && frame.cells[2].rune == '>');
	frame_release(&frame);
}

TEST(one_line_of_scrolling_needs_few_bytes)
{
	struct frame shown = { .cells = NULL }, frame;
	char line[200];
	struct out out;

	CHECK(frame_init(&frame, 200, 60) && out_init(&out, 1024));
	for (int pass = 0; pass < 2; pass++) {
		for (unsigned y = 1; y < 58; y++) {
			int len;

			for (unsigned x = 0; x < 200; x++)
				frame_put(&frame, x, y, 1, (struct pen){ .fg = 0 }, " ", 1);
			len = snprintf(line, sizeof(line),
				       "storm [000] d..2. %u.123456: sched_switch: prev_comm=storm prev_prio=120 %u",
				       y + (unsigned)pass, (y + (unsigned)pass) * 7919);
			frame_put(&frame, 0, y, 200, (struct pen){ .fg = 0 }, line, (size_t)len);
		}
		out_clear(&out);
		frame_draw(&shown, &frame, FRAME_COLORS_16, false, &out);
	}
	CHECK(out_len(&out) < 300);
	out_release(&out);
	frame_release(&shown);
	frame_release(&frame);
}
