// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/line_internal.h"

#include <ctype.h>
#include <string.h>

#include "lib/files/import/head_internal.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/text.h"

enum { TICKS_MAX = 3, TRY_MAX = 256 };

static const char double_arrow[] = "\xe2\x87\x92", long_arrow[] = "\xe2\x9f\xb9", left_double[] = "\xe2\x87\x90";
static const char left_arrow[] = "\xe2\x86\x90", right_arrow[] = "\xe2\x86\x92", ellipsis[] = "\xe2\x80\xa6";
/* Hyphen, hyphen that breaks no line, en dash, em dash, minus. */
static const char *const dashes[] = { "\xe2\x80\x90", "\xe2\x80\x91", "\xe2\x80\x93", "\xe2\x80\x94", "\xe2\x88\x92" };

static size_t ticks(const char *text, size_t len)
{
	size_t nr = 0;

	while (nr < len && text[nr] == '`')
		nr++;
	return nr;
}

static size_t unwrap_table(char *text, size_t *len)
{
	size_t kept = 0, end = *len;

	while (end && text_is_blank(text[end - 1]))
		end--;
	/* "\|" is a bar inside of a cell. */
	if (end < 4 || text[0] != '|' || text[end - 1] != '|' || text[end - 2] == '\\')
		return 0;
	end--;
	while (end > 1 && text_is_blank(text[end - 1]))
		end--;
	for (size_t i = 1; i < end; i++) {
		i += text[i] == '\\' && i + 1 < end && text[i + 1] == '|';
		text[1 + kept++] = text[i];
	}
	*len = kept;
	return 1;
}

static size_t unwrap_code(const char *text, size_t *len)
{
	size_t blanks = 0, end = *len, nr;

	while (end && text_is_blank(text[end - 1]))
		end--;
	/* The margin of a table's cell. */
	while (blanks < end && text[blanks] == ' ')
		blanks++;
	nr = ticks(text + blanks, end - blanks);
	if (!nr || nr > TICKS_MAX || end - blanks <= 2 * nr)
		return 0;
	for (size_t i = 0; i < nr; i++)
		if (text[end - 1 - i] != '`')
			return 0;
	*len = end - blanks - 2 * nr;
	return blanks + nr;
}

size_t unwrap_unwrap(char *text, size_t *len)
{
	size_t cut = unwrap_table(text, len);

	return cut + unwrap_code(text + cut, len);
}

static bool at(const char *text, size_t len, const char *what)
{
	return len >= strlen(what) && !memcmp(text, what, strlen(what));
}

static bool is_dash(const char *text, size_t len)
{
	for (size_t i = 0; i < array_size(dashes); i++)
		if (at(text, len, dashes[i]))
			return true;
	return false;
}

/* Replaces all dashes, or all ellipses. */
static size_t replace(char *text, size_t len, bool dash, bool dots)
{
	size_t kept = 0;

	for (size_t i = 0; i < len; i++) {
		if (dash && text[i] == dashes[0][0] && is_dash(text + i, len - i)) {
			text[kept++] = '-';
			i += 2;
		} else if (dots && at(text + i, len - i, ellipsis)) {
			memcpy(text + kept, "...", 3);
			kept += 3;
			i += 2;
		} else {
			text[kept++] = text[i];
		}
	}
	return kept;
}

static size_t count_dashes(const char *text, size_t len)
{
	size_t nr = 0;

	for (size_t i = 0; i < len; i++)
		nr += text[i] == dashes[0][0] && is_dash(text + i, len - i);
	return nr;
}

/* "<...>" */
static bool is_unnamed(const struct head *head)
{
	return head->comm_len == 5 && !memcmp(head->comm, "<\xe2\x80\xa6>", 5);
}

/* Looks whether the line is an event's only with the kernel's dash or dots. A task's name may have a dash itself. */
static void learn(struct unwrap *unwrap, const char *text, size_t len)
{
	char copy[TRY_MAX];
	struct head head;
	size_t tried = len < TRY_MAX ? len : TRY_MAX;
	bool has_dash = count_dashes(text, tried) > 0, has_dots = memmem(text, tried, ellipsis, 3);

	if (head_parse(text, len, &head)) {
		unwrap->dots |= is_unnamed(&head);
		return;
	}
	for (unsigned both = 1; both < 4; both++) {
		bool dash = both & 1, dots = both & 2;

		if ((dash && !has_dash) || (dots && !has_dots))
			continue;
		memcpy(copy, text, tried);
		if (!head_parse(copy, replace(copy, tried, dash, dots), &head))
			continue;
		unwrap->dashes |= dash;
		unwrap->dots |= dots || is_unnamed(&head);
		return;
	}
}

/* Puts `with` in place of an arrow, which is as long or longer. Returns the new length. */
static size_t put(char *text, size_t len, char *arrow, size_t arrow_len, const char *with)
{
	size_t with_len = strlen(with), behind = (size_t)(text + len - arrow) - arrow_len;

	memcpy(arrow, with, with_len);
	memmove(arrow + with_len, arrow + arrow_len, behind);
	return len - arrow_len + with_len;
}

/* "=" in front of an arrow, or behind one to the left, is what is left of a longer one. */
static size_t lengthen(char *text, size_t len)
{
	for (size_t i = 0; i + 4 <= len; i++) {
		if (text[i] == '=' && at(text + i + 1, len - i - 1, double_arrow))
			len = put(text, len, text + i, 4, "==>");
		else if (at(text + i, len - i, left_double) && text[i + 3] == '=')
			len = put(text, len, text + i, 4, "<==");
	}
	return len;
}

static char *find(char *text, size_t len, const char *what)
{
	return memmem(text, len, what, strlen(what));
}

/* The switch of tasks in a graph: " 0)     sh-256     =>   rcuc/0-19". */
static bool is_graph_switch(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && (text[i] == ' ' || isdigit((unsigned char)text[i])))
		i++;
	return i && i < len && text[i] == ')' && isdigit((unsigned char)text[i - 1]);
}

static size_t undo_arrows(char *text, size_t len)
{
	static const char sched[] = "sched_switch:";
	struct head head;
	size_t blanks = 0, start;
	char *arrow;

	len = lengthen(text, len);
	while (blanks < len && text[blanks] == ' ')
		blanks++;
	/* A caller of a stack. */
	if (at(text + blanks, len - blanks, double_arrow) && len - blanks > 3 && text[blanks + 3] == ' ')
		return put(text, len, text + blanks, 3, "=>");
	arrow = find(text, len, double_arrow);
	if (arrow && is_graph_switch(text, len))
		return put(text, len, arrow, 3, "=>");
	if (!head_parse(text, len, &head))
		return len;
	start = (size_t)(head.body - text);
	if (at(head.body, head.body_len, sched)) {
		arrow = arrow ? arrow : find(text + start, len - start, long_arrow);
		return arrow ? put(text, len, arrow, 3, "==>") : len;
	}
	/* A function and its caller have no blanks and no colon. */
	arrow = find(text + start, len - start, left_arrow);
	if (arrow && arrow > text + start + 1 && arrow[-1] == ' ' && !memchr(text + start, ':', len - start) &&
	    memchr(text + start, ' ', len - start) == arrow - 1)
		return put(text, len, arrow, 3, "<-");
	arrow = find(text + start, len - start, right_arrow);
	if (arrow && at(text + start, len - start, "sys_") && text + len - arrow > 6 && !memcmp(arrow + 3, " 0x", 3))
		return put(text, len, arrow, 3, "->");
	return len;
}

size_t unwrap_undo(struct unwrap *unwrap, char *text, size_t len)
{
	if (!unwrap->dashes || !unwrap->dots)
		learn(unwrap, text, len);
	if (unwrap->dashes || unwrap->dots)
		len = replace(text, len, unwrap->dashes, unwrap->dots);
	return memchr(text, double_arrow[0], len) ? undo_arrows(text, len) : len;
}
