// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/screen/view/prompt_internal.h"

#include <stdio.h>
#include <string.h>

#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/utf8.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/schema/format.h"
#include "lib/screen/view/columns_internal.h"

void prompt_open(struct prompt *prompt, char sign, const char *text)
{
	prompt->sign = sign;
	snprintf(prompt->text, sizeof(prompt->text), "%s", text);
	prompt->len = prompt->at = strlen(prompt->text);
	prompt->looked = prompt->nr_kept;
}

static void keep(struct prompt *prompt)
{
	if (prompt->nr_kept == PROMPT_KEPT) {
		memmove(prompt->kept, prompt->kept + 1, (PROMPT_KEPT - 1) * sizeof(*prompt->kept));
		prompt->nr_kept--;
	}
	prompt->kept[prompt->nr_kept].sign = prompt->sign;
	memcpy(prompt->kept[prompt->nr_kept++].text, prompt->text, sizeof(prompt->text));
}

static void insert(struct prompt *prompt, const char *text, size_t len)
{
	if (len >= PROMPT_SIZE - prompt->len)
		return;
	memmove(prompt->text + prompt->at + len, prompt->text + prompt->at, prompt->len - prompt->at + 1);
	memcpy(prompt->text + prompt->at, text, len);
	prompt->len += len;
	prompt->at += len;
}

static void insert_rune(struct prompt *prompt, uint32_t rune)
{
	char text[4];
	size_t len = 0;

	if (rune < 0x80) {
		text[len++] = (char)rune;
	} else if (rune < 0x800) {
		text[len++] = (char)(0xc0 | rune >> 6);
	} else if (rune < 0x10000) {
		text[len++] = (char)(0xe0 | rune >> 12);
		text[len++] = (char)(0x80 | (rune >> 6 & 0x3f));
	} else {
		text[len++] = (char)(0xf0 | rune >> 18);
		text[len++] = (char)(0x80 | (rune >> 12 & 0x3f));
		text[len++] = (char)(0x80 | (rune >> 6 & 0x3f));
	}
	if (rune >= 0x80)
		text[len++] = (char)(0x80 | (rune & 0x3f));
	insert(prompt, text, len);
}

/* The start of the character before `at`. */
static size_t before(const struct prompt *prompt, size_t at)
{
	if (at)
		at--;
	while (at && ((unsigned char)prompt->text[at] & 0xc0) == 0x80)
		at--;
	return at;
}

static size_t behind(const struct prompt *prompt, size_t at)
{
	if (at < prompt->len)
		at++;
	while (at < prompt->len && ((unsigned char)prompt->text[at] & 0xc0) == 0x80)
		at++;
	return at;
}

static void erase(struct prompt *prompt, size_t from, size_t to)
{
	memmove(prompt->text + from, prompt->text + to, prompt->len - to + 1);
	prompt->len -= to - from;
	prompt->at = from;
}

/* Another line of those that were typed at this sign. */
static void look_back(struct prompt *prompt, int by)
{
	size_t at = prompt->looked;

	while (by < 0 ? at > 0 : at + 1 < prompt->nr_kept) {
		at = by < 0 ? at - 1 : at + 1;
		if (prompt->kept[at].sign != prompt->sign)
			continue;
		prompt->looked = at;
		memcpy(prompt->text, prompt->kept[at].text, sizeof(prompt->text));
		prompt->len = prompt->at = strlen(prompt->text);
		return;
	}
}

/* What begins with a word: the part of it that all have in common. */
struct completion {
	const char *word;
	size_t len;
	char common[128];
	size_t nr;
	struct out *choices;
};

static void offer(struct completion *completion, const char *name, size_t len)
{
	size_t same = 0;

	if (len < completion->len || strncmp(name, completion->word, completion->len) ||
	    len >= sizeof(completion->common))
		return;
	if (!completion->nr++) {
		memcpy(completion->common, name, len);
		completion->common[len] = '\0';
	}
	while (same < len && completion->common[same] == name[same])
		same++;
	completion->common[same] = '\0';
	if (completion->nr < 64) {
		out_mem(completion->choices, name, len);
		out_char(completion->choices, '\n');
	}
}

static bool is_offered(const struct completion *completion, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = completion->choices->start; at < completion->choices->at;) {
		const char *newline = memchr(at, '\n', (size_t)(completion->choices->at - at));

		if (!newline)
			return false;
		if ((size_t)(newline - at) == len && !memcmp(at, name, len))
			return true;
		at = newline + 1;
	}
	return false;
}

static void offer_names(struct completion *completion, const struct view *view)
{
	struct schema *schema = view->reader.buffers[0].context->schema;
	const char *system, *name;
	int32_t id;

	for (size_t i = 0; schema_at(schema, i, &id, &system, &name); i++) {
		char both[128];

		offer(completion, name, strlen(name));
		snprintf(both, sizeof(both), "%s:%s", system, name);
		if (memchr(completion->word, ':', completion->len))
			offer(completion, both, strlen(both));
	}
}

/* The fields of the events that the filter names; without one, those of the event at the start of the text. */
static void offer_fields(struct completion *completion, const struct view *view, const char *text)
{
	struct schema *schema = view->reader.buffers[0].context->schema;
	const char *system, *name;
	int32_t id;

	for (size_t i = 0; schema_at(schema, i, &id, &system, &name); i++) {
		const struct format *format;
		const char *at = strstr(text, name);

		if (!at || text_is_name_char(at[strlen(name)]))
			continue;
		format = schema_format(schema, id, NULL);
		for (uint32_t k = 0; format && k < format->nr_fields; k++)
			offer(completion, format->fields[k].name, strlen(format->fields[k].name));
	}
}

static void offer_commands(struct completion *completion)
{
	static const char *const names[] = { "filter", "event", "pid", "comm", "cpu", "columns", "write", "quit" };

	for (size_t i = 0; i < array_size(names); i++)
		offer(completion, names[i], strlen(names[i]));
}

/* The fields of all events, each once: many events have the same. */
static void offer_columns(struct completion *completion, const struct view *view)
{
	struct schema *schema = view->reader.buffers[0].context->schema;
	const char *system, *name, *word;
	int32_t id;

	for (size_t i = 0; (word = view_columns_word(i)); i++)
		offer(completion, word, strlen(word));
	for (size_t i = 0; schema_at(schema, i, &id, &system, &name); i++) {
		const struct format *format = schema_format(schema, id, NULL);

		for (uint32_t k = 0; format && k < format->nr_fields; k++) {
			const char *field = format->fields[k].name;

			if (!is_offered(completion, field))
				offer(completion, field, strlen(field));
		}
	}
}

static void complete(struct prompt *prompt, const struct view *view, struct out *choices)
{
	struct completion completion = { .choices = choices };
	size_t from = prompt->at;

	while (from && (text_is_name_char(prompt->text[from - 1]) || prompt->text[from - 1] == ':'))
		from--;
	completion.word = prompt->text + from;
	completion.len = prompt->at - from;
	if (prompt->sign == ':' && !from)
		offer_commands(&completion);
	else if (prompt->sign == ':' && !strncmp(prompt->text, "columns ", 8))
		offer_columns(&completion, view);
	else
		offer_names(&completion, view);
	if (strncmp(prompt->text, "columns ", 8) != 0)
		offer_fields(&completion, view, prompt->text);
	if (completion.nr) {
		size_t len = strlen(completion.common);

		insert(prompt, completion.common + completion.len, len > completion.len ? len - completion.len : 0);
	}
	if (completion.nr == 1)
		out_clear(choices);
}

enum prompt_answer prompt_key(struct prompt *prompt, struct view *view, const struct key *key, struct out *choices)
{
	switch (key->kind) {
	case KEY_ENTER:
		keep(prompt);
		return PROMPT_DONE;
	case KEY_ESC:
		prompt->sign = 0;
		return PROMPT_LEFT;
	case KEY_BACKSPACE:
		if (!prompt->len) {
			prompt->sign = 0;
			return PROMPT_LEFT;
		}
		erase(prompt, before(prompt, prompt->at), prompt->at);
		return PROMPT_TYPED;
	case KEY_DELETE: {
		size_t at = prompt->at;

		erase(prompt, at, behind(prompt, at));
		return PROMPT_TYPED;
	}
	case KEY_LEFT:
		prompt->at = before(prompt, prompt->at);
		return PROMPT_TYPED;
	case KEY_RIGHT:
		prompt->at = behind(prompt, prompt->at);
		return PROMPT_TYPED;
	case KEY_HOME:
		prompt->at = 0;
		return PROMPT_TYPED;
	case KEY_END:
		prompt->at = prompt->len;
		return PROMPT_TYPED;
	case KEY_UP:
		look_back(prompt, -1);
		return PROMPT_TYPED;
	case KEY_DOWN:
		look_back(prompt, 1);
		return PROMPT_TYPED;
	case KEY_TAB:
		complete(prompt, view, choices);
		return PROMPT_TYPED;
	case KEY_RUNE:
		if (key_is_ctrl(key, 'u')) {
			erase(prompt, 0, prompt->at);
		} else if (key_is_ctrl(key, 'a')) {
			prompt->at = 0;
		} else if (key_is_ctrl(key, 'e')) {
			prompt->at = prompt->len;
		} else if (key_is_ctrl(key, 'c') || key_is_ctrl(key, 'g')) {
			prompt->sign = 0;
			return PROMPT_LEFT;
		} else if (!(key->modifiers & (KEY_CTRL | KEY_ALT))) {
			insert_rune(prompt, key->rune);
		}
		return PROMPT_TYPED;
	case KEY_PASTE:
		insert_rune(prompt, key->rune);
		return PROMPT_TYPED;
	default:
		return PROMPT_TYPED;
	}
}
