// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/refusals/error_log.h"

#include <ctype.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/kernel/tracefs/control.h"
#include "lib/kernel/tracefs/instance.h"

enum {
	COMMAND_SHOWN = 160,  /* longest command in bytes */
	COMMAND_BEFORE = 100, /* how many of them may stand before the caret */
};

static const char command_prefix[] = "  Command: ";

bool error_log_explains(const char *file)
{
	enum control_kind kind = control_kind(file);
	const char *end = strrchr(file, '_');

	return kind == CONTROL_FILTER || kind == CONTROL_TRIGGER || (end && !strcmp(end, "_events"));
}

void error_log_read(const struct instance *instance, struct buf *buf)
{
	if (instance_read(instance, "error_log", buf, NULL))
		buf_clear(buf);
}

static struct text_word word_of(const char *from, const char *to)
{
	return (struct text_word){ .at = from, .len = (size_t)(to - from) };
}

/* Skips "[  123.456789] ", which begins an entry of the log and no line of a command. */
static const char *after_stamp(const char *line)
{
	if (*line++ != '[')
		return NULL;
	line += strspn(line, " ");
	if (!isdigit((unsigned char)*line))
		return NULL;
	line += strspn(line, "0123456789.");
	return *line == ']' ? line + 1 + strspn(line + 1, " ") : NULL;
}

static const char *next_line(const char *line)
{
	const char *newline = strchr(line, '\n');

	return newline ? newline + 1 : line + strlen(line);
}

static const char *next_entry(const char *at)
{
	while (*at) {
		at = next_line(at);
		if (after_stamp(at))
			break;
	}
	return at;
}

/* Parses the entry between `at` and `end`. */
static bool parse_entry(const char *at, const char *end, struct error_entry *ret)
{
	const char *where = after_stamp(at), *line = next_line(at), *text, *caret;

	if (!where || line > end)
		return false;
	text = memmem(where, (size_t)(line - where), ": error: ", strlen(": error: "));
	if (!text)
		return false;
	ret->where = word_of(where, text);
	text += strlen(": error: ");
	ret->text = word_of(text, text + strcspn(text, "\n"));
	ret->command = word_of(end, end);
	ret->caret = 0;
	if (strncmp(line, command_prefix, strlen(command_prefix)))
		return true;
	line += strlen(command_prefix);
	/* The caret stands alone in the last line: a command may contain several. */
	caret = end;
	while (caret > line && caret[-1] != '^')
		caret--;
	if (caret <= line)
		return true;
	for (text = caret - 1; text > line && text[-1] == ' ';)
		text--;
	if (text <= line || text[-1] != '\n')
		return true;
	ret->command = word_of(line, text - 1);
	ret->caret = (size_t)(caret - 1 - text);
	ret->caret -= ret->caret < strlen(command_prefix) ? ret->caret : strlen(command_prefix);
	if (ret->caret > ret->command.len)
		ret->caret = ret->command.len;
	return true;
}

/* Finds the entries that `before` does not have: after the last one of `before`, or from the start. */
static const char *new_entries(const char *before, const char *after)
{
	const char *last = NULL, *found;

	for (const char *at = before; *at; at = next_entry(at))
		if (after_stamp(at))
			last = at;
	if (!last)
		return after;
	found = strstr(after, last);
	return found ? found + strlen(last) : after;
}

/*
 * The kernel prints what it has parsed: with other blanks, a filter without its trigger, and a probe without the other
 * probes on its line.
 */
static bool is_about(const struct error_entry *entry, const char *value)
{
	const char *at = entry->command.at, *end = at + entry->command.len;

	while (at < end && isspace((unsigned char)*at))
		at++;
	if (at == end)
		return false;
	for (; *value; value++) {
		const char *a = at, *b = value;

		while (a < end && *b) {
			if (isspace((unsigned char)*a) && isspace((unsigned char)*b)) {
				while (a < end && isspace((unsigned char)*a))
					a++;
				while (isspace((unsigned char)*b))
					b++;
			} else if (*a++ != *b++) {
				a = NULL;
				break;
			}
		}
		while (a && a < end && isspace((unsigned char)*a))
			a++;
		if (a == end)
			return true;
	}
	return false;
}

bool error_log_find(const char *before, const char *after, const char *value, struct error_entry *ret)
{
	struct error_entry entry;
	bool found = false, about = false;

	for (const char *at = new_entries(before, after), *end; *at; at = end) {
		end = next_entry(at);
		if (!parse_entry(at, end, &entry))
			continue;
		/*
		 * A histogram can fail because of a second one that the kernel makes by itself. Then the last new entry
		 * is the only clue.
		 */
		if (about && !is_about(&entry, value))
			continue;
		about = is_about(&entry, value);
		*ret = entry;
		found = true;
	}
	return found;
}

void error_entry_culprit(const struct error_entry *entry, char *into, size_t size)
{
	const char *command = entry->command.at;
	size_t begin = entry->caret, end;

	if (begin < entry->command.len && (command[begin] == '$' || command[begin] == '%' || command[begin] == '.'))
		begin++;
	/* The kernel often points to the end of the name that it does not know. */
	if (begin >= entry->command.len || !text_is_name_char(command[begin]))
		while (begin && !text_is_name_char(command[begin - 1]))
			begin--;
	while (begin && text_is_name_char(command[begin - 1]))
		begin--;
	for (end = begin; end < entry->command.len && text_is_name_char(command[end]);)
		end++;
	if (end - begin >= size)
		end = begin;
	memcpy(into, command + begin, end - begin);
	into[end - begin] = '\0';
}

bool error_entry_print(const struct error_entry *entry, struct buf *buf)
{
	size_t from = 0, len = entry->command.len, caret = entry->caret;
	bool ok = buf_add(buf, entry->text.at, entry->text.len);

	if (!len)
		return ok;
	if (len > COMMAND_SHOWN && caret > COMMAND_BEFORE)
		from = caret - COMMAND_BEFORE;
	if (len - from > COMMAND_SHOWN)
		len = from + COMMAND_SHOWN;
	ok = ok && buf_addf(buf, "\n  %s", from ? "..." : "");
	/* Writes a blank for each character without a width, so that the caret is aligned. */
	for (size_t i = from; ok && i < len; i++) {
		char c = entry->command.at[i];

		ok = buf_addf(buf, "%c", iscntrl((unsigned char)c) ? ' ' : c);
	}
	return ok && buf_addf(buf, "%s\n  %*s^", len < entry->command.len ? "..." : "",
			      (int)(caret - from + (from ? 3 : 0)), "");
}
