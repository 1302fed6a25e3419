// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/values.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/files/import/document_internal.h"
#include "lib/files/import/graph_internal.h"
#include "lib/files/import/head_internal.h"
#include "lib/files/import/line_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/u64_map.h"

struct words {
	struct u64_map known;
	struct buf text; /* as it came, and decoded */
	struct line_reader reader;
	struct buf raw;
	const char *at; /* of what is read */
	size_t left;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool has_digit(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (isdigit((unsigned char)at[i]))
			return true;
	return false;
}

static bool is_decimal(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)at[i]))
			return false;
	return len;
}

/* FNV-1a of the word without leading zeros, in lower case. */
static uint64_t key_of(const char *at, size_t len)
{
	uint64_t key = UINT64_C(0xcbf29ce484222325);

	if (len > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
		at += 2;
		len -= 2;
	}
	while (len > 1 && *at == '0') {
		at++;
		len--;
	}
	for (size_t i = 0; i < len; i++)
		key = (key ^ (uint64_t)tolower((unsigned char)at[i])) * UINT64_C(0x100000001b3);
	return key;
}

static void add(struct words *words, const char *at, size_t len)
{
	(void)u64_map_add(&words->known, key_of(at, len));
}

static uint64_t number(const char *at, size_t len)
{
	uint64_t value = 0;

	for (size_t i = 0; i < len && i < 18; i++)
		value = value * 10 + (uint64_t)(at[i] - '0');
	return value;
}

/* The PID of a task that no line of a graph names. */
static bool is_stand_in(const char *at, size_t len)
{
	return len == 7 && is_decimal(at, len) && number(at, len) >= GRAPH_UNKNOWN_PID &&
	       number(at, len) < GRAPH_UNKNOWN_PID + HEAD_CPU_MAX;
}

static bool is_known(const struct words *words, const char *at, size_t len)
{
	return !has_digit(at, len) || (len == 1 && *at == '0') || u64_map_find(&words->known, key_of(at, len)) ||
	       is_stand_in(at, len);
}

static bool knows_number(const struct words *words, uint64_t value)
{
	char text[24];

	return is_known(words, text, (size_t)snprintf(text, sizeof(text), "%" PRIu64, value));
}

static void add_number(struct words *words, uint64_t value)
{
	char text[24];

	add(words, text, (size_t)snprintf(text, sizeof(text), "%" PRIu64, value));
}

/* Times in microseconds are also printed as seconds with six decimals, and the other way round. */
static void add_us(struct words *words, uint64_t us)
{
	char text[32];

	add_number(words, us / 1000000);
	add_number(words, us % 1000000);
	add(words, text, (size_t)snprintf(text, sizeof(text), "%" PRIu64 "us", us));
}

/* A time of the option verbose, "[04c9278a]", in microseconds. */
static void add_hex_us(struct words *words, const char *at, size_t len)
{
	uint64_t us = 0;

	for (size_t i = 0; i < len; i++)
		if (!isxdigit((unsigned char)at[i]))
			return;
	for (size_t i = 0; i < len && i < 16; i++)
		us = us << 4 | (uint64_t)(isdigit((unsigned char)at[i]) ? at[i] - '0' : tolower(at[i]) - 'a' + 10);
	add_us(words, us);
}

static void add_call(struct words *words, const char *name, size_t len)
{
	char call[80];
	int all = snprintf(call, sizeof(call), "sys_%.*s", (int)len, name);

	if (all > 0 && (size_t)all < sizeof(call))
		add(words, call, (size_t)all);
}

/* Adds a word of the text, and what a report derives of it. `before` is the number in front of a decimal point. */
static void add_word(struct words *words, const char *at, size_t len, const char *before, size_t before_len)
{
	static const uint64_t tens[] = { 1, 10, 100, 1000 };
	static const char *const events[] = { "sys_enter_", "sys_exit_" };

	add(words, at, len);
	/* perf names the event of a call, sys_enter_dup2, and the kernel's text the call. */
	for (size_t i = 0; i < array_size(events); i++)
		if (len > strlen(events[i]) && !memcmp(at, events[i], strlen(events[i])))
			add_call(words, at + strlen(events[i]), len - strlen(events[i]));
	/* A duration is printed with seven digits at most (trace_print_graph_duration()). */
	if (before && is_decimal(at, len) && before_len > 4 && before_len < 7 && before_len + len > 7)
		add(words, at, 7 - before_len);
	/* The same duration with all of its decimals. */
	if (before && is_decimal(at, len) && len < 3)
		add_number(words, number(at, len) * tens[3 - len]);
	if (before && is_decimal(at, len) && len > 6 && len <= 9)
		add_us(words,
		       number(before, before_len) * 1000000 + (number(at, len) + tens[len - 6] / 2) / tens[len - 6]);
	if (len > 2 && !memcmp(at + len - 2, "us", 2) && is_decimal(at, len - 2))
		add_us(words, number(at, len - 2));
	if (before && len == 5 && !memcmp(at + 3, "ms", 2) && is_decimal(at, 3))
		add_us(words, number(before, before_len) * 1000 + number(at, 3));
	for (size_t cut = 1; cut < len && len < 16 && isalpha((unsigned char)*at); cut++)
		add(words, at, cut);
}

static void add_text(struct words *words, const char *text, size_t len)
{
	const char *before = NULL;
	size_t before_len = 0;

	for (size_t i = 0, word = 0; i < len; i++) {
		if (!is_word(text[i]))
			continue;
		for (word = i; i + 1 < len && is_word(text[i + 1]);)
			i++;
		if (!has_digit(text + word, i + 1 - word))
			continue;
		if (!before || before + before_len + 1 != text + word || before[before_len] != '.' ||
		    !is_decimal(before, before_len))
			before = NULL;
		add_word(words, text + word, i + 1 - word, before, before_len);
		if (word && text[word - 1] == '[' && i - word >= 7 && i + 1 < len && text[i + 1] == ']')
			add_hex_us(words, text + word, i + 1 - word);
		before = text + word;
		before_len = i + 1 - word;
	}
}

static int read_text(void *arg, uint8_t *to, size_t size, struct fail *fail)
{
	struct words *words = arg;
	size_t len = size < words->left ? size : words->left;

	(void)fail;
	memcpy(to, words->at, len);
	words->at += len;
	words->left -= len;
	return (int)len;
}

static int take_line(void *arg, char *text, size_t len, struct fail *fail)
{
	struct words *words = arg;
	struct line line;
	struct head head;

	(void)fail;
	if (!buf_add(&words->raw, text, len) || !buf_add(&words->raw, "\n", 1))
		return 0;
	line_decode(&words->reader, text, len, &line);
	/* In "1d.h2." of latency-format, the flags follow the CPU without a blank. */
	if (head_parse(line.text, line.len, &head))
		add_number(words, head.cpu);
	if (buf_add(&words->text, line.text, line.len) && !line.ends_soft)
		(void)buf_add(&words->text, "\n", 1);
	return 0;
}

/* Whether all words are known; *ret_word is the first one that is not. */
static bool are_known(const struct words *words, const char *at, size_t len, const char **ret_word, size_t *ret_len)
{
	for (size_t i = 0; i < len; i++) {
		size_t word = i;

		if (!is_word(at[i]))
			continue;
		while (i + 1 < len && is_word(at[i + 1]))
			i++;
		if (is_known(words, at + word, i + 1 - word))
			continue;
		*ret_word = at + word;
		*ret_len = i + 1 - word;
		return false;
	}
	return true;
}

static bool knows_time(const struct words *words, const struct head *head)
{
	uint64_t us = head->ts / 1000;

	if (!head->has_unit)
		return knows_number(words, head->ts);
	return (knows_number(words, us / 1000000) && knows_number(words, us % 1000000)) || knows_number(words, us);
}

/* Whether the columns in front of an event are those of the text; flags are not looked at. */
static bool knows_head(const struct words *words, const struct head *head, const char **ret_word, size_t *ret_len)
{
	const char *what = NULL;

	if (!are_known(words, head->comm, head->comm_len, ret_word, ret_len))
		return false;
	if (!knows_number(words, (uint64_t)head->pid))
		what = "the PID";
	else if (head->tgid && !knows_number(words, (uint64_t)head->tgid))
		what = "the thread group";
	else if (!knows_number(words, head->cpu))
		what = "the CPU";
	else if (!head->is_verbose && !knows_time(words, head))
		what = "the time";
	if (!what)
		return true;
	*ret_word = what;
	*ret_len = strlen(what);
	return false;
}

/* A line of a graph, or any other: flags between the first two bars are not looked at. */
static bool graph_is_known(const struct words *words, const char *line, size_t len, const char **ret_word,
			   size_t *ret_len)
{
	const char *end = line + len, *cpu = memmem(line, len, ")  ", 3), *flags;
	struct head head;

	for (const char *bar = line; (bar = memchr(bar, '|', (size_t)(end - bar))); bar++) {
		const char *at = bar + 1, *from = at;

		while (at < end && *at == ' ')
			at++;
		if (head_flags(&at, end, &head) && end - at > 2 && at[1] == '|')
			return are_known(words, line, (size_t)(from - line), ret_word, ret_len) &&
			       are_known(words, at, (size_t)(end - at), ret_word, ret_len);
	}
	/* Without other columns, the flags are behind the CPU. */
	if (cpu) {
		flags = cpu + 3;
		if (head_flags(&flags, end, &head) && end - flags > 1 && flags[1] == '|')
			return are_known(words, line, (size_t)(cpu - line), ret_word, ret_len) &&
			       are_known(words, flags, (size_t)(end - flags), ret_word, ret_len);
	}
	return are_known(words, line, len, ret_word, ret_len);
}

static bool is_strange(const struct words *words, const char *line, size_t len, char *told, size_t size)
{
	const char *word;
	size_t word_len;
	struct head head;
	bool known;

	if (len && *line == '#')
		return false;
	if (head_parse(line, len, &head))
		known = knows_head(words, &head, &word, &word_len) &&
			are_known(words, head.body, head.body_len, &word, &word_len);
	else
		known = graph_is_known(words, line, len, &word, &word_len);
	if (!known)
		snprintf(told, size, "%.*s in: %.*s", (int)word_len, word, (int)len, line);
	return !known;
}

bool values_find_strange(const char *text, size_t len, const char *report, size_t report_len, char *told, size_t size)
{
	struct words words = { .at = text, .left = len };
	const struct document_ends ends = { .read = read_text, .line = take_line, .arg = &words };
	bool strange = false;

	u64_map_init(&words.known, 1);
	if (!document_read(&ends, NULL)) {
		add_text(&words, words.raw.data, words.raw.len);
		add_text(&words, words.text.data, words.text.len);
		while (!strange && report_len) {
			const char *end = memchr(report, '\n', report_len);
			size_t line = end ? (size_t)(end - report) : report_len;

			strange = is_strange(&words, report, line, told, size);
			report += line + (end != NULL);
			report_len -= line + (end != NULL);
		}
		strange &= !words.known.starved;
	}
	u64_map_release(&words.known);
	buf_release(&words.text);
	buf_release(&words.raw);
	return strange;
}
