// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/section_text.h"

#include <ctype.h>
#include <string.h>

enum { COMM_WIDTH = 8, NUMBER_MAX = 1 << 30, INDENT = 2 };

static struct text_word trimmed(struct text_word word)
{
	while (word.len && *word.at == ' ') {
		word.at++;
		word.len--;
	}
	while (word.len && word.at[word.len - 1] == ' ')
		word.len--;
	return word;
}

static struct text_word rest_of(struct text_word line, const char *at)
{
	return (struct text_word){ at, (size_t)(line.at + line.len - at) };
}

static bool take_number(struct text_word *left, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;
	size_t digits = 0;

	while (digits < left->len && isdigit((unsigned char)left->at[digits])) {
		value = value * 10 + (uint64_t)(left->at[digits++] - '0');
		if (value > max)
			return false;
	}
	left->at += digits;
	left->len -= digits;
	*ret = value;
	return digits;
}

/*
 * Reads flags such as "1d.h1." (without the CPU) as trace_print_lat_fmt() of kernel/trace/trace_output.c writes them.
 * No other column has these letters.
 */
static enum section_context context_of(struct text_word flags, int32_t pid)
{
	enum section_context context = pid ? SECTION_TASK : SECTION_IDLE;

	for (size_t i = 0; i < flags.len; i++) {
		if (memchr("zZ", flags.at[i], 2))
			return SECTION_NMI;
		if (memchr("hH", flags.at[i], 2))
			return SECTION_IRQ;
		if (flags.at[i] == 's')
			context = SECTION_SOFTIRQ;
	}
	return context;
}

/* Reads "bash-1234". The name itself may contain a '-'. */
static bool take_task(struct text_word word, struct section_entry *ret)
{
	const char *dash;
	uint64_t pid;

	word = trimmed(word);
	dash = memrchr(word.at, '-', word.len);
	if (!dash)
		return false;
	ret->comm = (struct text_word){ word.at, (size_t)(dash - word.at) };
	word = rest_of(word, dash + 1);
	if (!take_number(&word, NUMBER_MAX, &pid) || word.len)
		return false;
	ret->pid = (int32_t)pid;
	return true;
}

static void take_what(struct text_word rest, struct section_entry *ret)
{
	const char *parent = memmem(rest.at, rest.len, " <-", 3), *colon = memmem(rest.at, rest.len, ": ", 2);

	ret->stack = text_word_is(rest, "<stack trace>") || text_word_is(rest, "<user stack trace>");
	ret->what = trimmed(rest);
	if (parent) {
		ret->what = trimmed((struct text_word){ rest.at, (size_t)(parent - rest.at) });
		ret->caller = trimmed(rest_of(rest, parent + 3));
	} else if (colon && colon > rest.at && !memchr(rest.at, ' ', (size_t)(colon - rest.at))) {
		ret->what.len = (size_t)(colon - ret->what.at);
	}
}

/* Reads a line such as "  <idle>-0         1dn.h5..   19us!: sched_wakeup: comm=rcuc/1". */
static bool take_line(struct text_word line, struct section_entry *ret)
{
	struct text_word left = line, task, flags;
	uint64_t cpu;
	size_t end;

	if (line.len <= COMM_WIDTH || line.at[COMM_WIDTH] != '-')
		return false;
	for (end = COMM_WIDTH; end < line.len && line.at[end] != ' ';)
		end++;
	task = (struct text_word){ line.at, end };
	left = trimmed(rest_of(line, line.at + end));
	if (!take_task(task, ret) || !take_number(&left, NUMBER_MAX, &cpu))
		return false;
	flags = left;
	for (flags.len = 0; flags.len < left.len && left.at[flags.len] != ' ';)
		flags.len++;
	left = trimmed(rest_of(left, flags.at + flags.len));
	if (!flags.len || !take_number(&left, UINT64_MAX / 20, &ret->us) || left.len < 6 || memcmp(left.at, "us", 2) ||
	    memcmp(left.at + 3, ": ", 2))
		return false;
	ret->cpu = (uint32_t)cpu;
	ret->context = (uint8_t)context_of(flags, ret->pid);
	take_what(rest_of(left, left.at + 5), ret);
	return true;
}

/* Reads what follows the last bar of a graph: "  handle_softirqs() {", "  preempt_count_add();" or "  }". */
static void take_call(struct text_word text, struct section_entry *ret)
{
	size_t indent = 0;
	const char *paren;

	while (indent < text.len && text.at[indent] == ' ')
		indent++;
	ret->depth = (uint32_t)(indent / INDENT);
	text = trimmed(text);
	ret->what = text;
	ret->closes = text.len && *text.at == '}';
	ret->opens = text.len && !ret->closes && text.at[text.len - 1] == '{';
	paren = memchr(text.at, '(', text.len);
	if (ret->closes)
		ret->what.len = 1;
	else if (paren && *text.at != '/')
		ret->what.len = (size_t)(paren - text.at);
}

/*
 * Reads a line such as "       10 us |   0)     sh-164     |  d.h.. |   4.387 us    |  }". The option funcgraph-proc is
 * on together with the others.
 */
static bool take_graph(struct text_word line, struct section_entry *ret)
{
	struct text_word left = trimmed(line), word;
	uint64_t cpu;
	const char *bar;

	if (!take_number(&left, UINT64_MAX / 20, &ret->us) || left.len < 5 || memcmp(left.at, " us |", 5))
		return false;
	left = trimmed(rest_of(left, left.at + 5));
	if (!take_number(&left, NUMBER_MAX, &cpu) || !left.len || *left.at != ')')
		return false;
	ret->cpu = (uint32_t)cpu;
	left = rest_of(left, left.at + 1);
	bar = memchr(left.at, '|', left.len);
	if (!bar || !take_task((struct text_word){ left.at, (size_t)(bar - left.at) }, ret))
		return false;
	left = rest_of(left, bar + 1);
	bar = memchr(left.at, '|', left.len);
	if (!bar)
		return false;
	word = trimmed((struct text_word){ left.at, (size_t)(bar - left.at) });
	ret->context = (uint8_t)context_of(word, ret->pid);
	left = rest_of(left, bar + 1);
	/* Skips the column of the duration, if it is on. */
	bar = memchr(left.at, '|', left.len);
	take_call(bar ? rest_of(left, bar + 1) : left, ret);
	return true;
}

bool section_next(const char **text, size_t *left, struct section_entry *ret)
{
	struct text_word line;

	while (text_next_line(text, left, &line)) {
		*ret = (struct section_entry){ .us = 0 };
		if (line.len && *line.at != '#' && (take_line(line, ret) || take_graph(line, ret)))
			return true;
	}
	return false;
}

bool section_frame(struct text_word line, struct text_word *ret)
{
	if (line.len < 5 || memcmp(line.at, " => ", 4))
		return false;
	*ret = trimmed(rest_of(line, line.at + 4));
	return true;
}
