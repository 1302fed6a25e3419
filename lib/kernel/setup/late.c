// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/late.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/refusals/precheck.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/undo/change.h"

static const char hist_is[] = "hist:";

/* A count as the kernel reads it (kstrtoul() with base 0). */
static bool is_count(struct text_word word)
{
	char digits[32], *end;

	if (!word.len || word.len >= sizeof(digits) || strchr(" \t-", *word.at))
		return false;
	snprintf(digits, sizeof(digits), "%.*s", (int)word.len, word.at);
	errno = 0;
	(void)strtoull(digits, &end, 0);
	return !errno && !*end;
}

/* The words of "NAME:WORD:...", at most `nr`. */
static size_t split(struct text_word text, struct text_word *words, size_t nr)
{
	size_t found = 0;

	while (found < nr) {
		const char *colon = memchr(text.at, ':', text.len);
		size_t len = colon ? (size_t)(colon - text.at) : text.len;

		words[found++] = (struct text_word){ .at = text.at, .len = len };
		if (!colon)
			break;
		text.at += len + 1;
		text.len -= len + 1;
	}
	return found;
}

/*
 * A trigger or command with a count of 0. Its count is the word after its name, or after the event that it switches
 * (event_trigger_parse_num() of trace_events_trigger.c, ftrace_trace_probe_callback() of trace_functions.c). What is no
 * count stays, and the kernel refuses it.
 */
static char *with_count_0(const char *before, size_t len, struct text_word action, const char *after)
{
	struct text_word words[4] = { { 0 } };
	size_t nr = split(action, words, array_size(words)), at;
	bool switches = words[0].len > 6 && (!strncmp(words[0].at, "enable_", 7) || !strncmp(words[0].at, "disabl", 6));
	char *text;
	int done;

	at = switches ? 3 : 1;
	if (nr < at || (nr > at && !is_count(words[at])))
		done = asprintf(&text, "%.*s%.*s%s", (int)len, before, (int)action.len, action.at, after);
	else
		done = asprintf(&text, "%.*s%.*s:0%s", (int)len, before,
				(int)(words[at - 1].at + words[at - 1].len - action.at), action.at, after);
	return done < 0 ? NULL : text;
}

/*
 * Whether a second write can let a paused histogram count. The kernel then reads its text once more, and refuses a
 * variable that it has already (create_var_field() of trace_events_hist.c).
 */
static bool is_plain_hist(struct text_word text)
{
	static const char *const words[] = { "key=", "keys=", "val=", "vals=", "values=", "sort=", "size=" };
	struct text_word left = text, word;

	if (memchr(text.at, '$', text.len))
		return false;
	left.at += strlen(hist_is);
	left.len -= strlen(hist_is);
	while (split(left, &word, 1)) {
		bool known = false;

		for (size_t i = 0; i < array_size(words); i++)
			known |= word.len > strlen(words[i]) && !memcmp(word.at, words[i], strlen(words[i]));
		if (!known)
			return false;
		if (word.len == left.len)
			break;
		left.at += word.len + 1;
		left.len -= word.len + 1;
	}
	return true;
}

void late_form_release(struct late_form *form)
{
	free(form->tried);
	free(form->arm);
}

/* The text with a word more, before its filter. NULL: no memory. */
static char *with_word(struct text_word text, const char *word, const char *filter)
{
	char *with;

	return asprintf(&with, "%.*s%s%s", (int)text.len, text.at, word, filter) < 0 ? NULL : with;
}

int late_form(const char *file, const char *text, struct late_form *ret, struct fail *fail)
{
	bool command = !strcmp(file, LATE_COMMANDS), hist = !command && !strncmp(text, hist_is, strlen(hist_is));
	const char *colon = command ? strchr(text, ':') : NULL, *action = colon ? colon + 1 : text;
	const char *found = command ? NULL : strstr(action, " if "), *filter = found ? found : "";
	struct text_word word = { .at = action, .len = strlen(action) - strlen(filter) };
	struct late_form form = { .stays = hist && is_plain_hist(word) };
	/* The kernel gives these commands a count of 1, whatever is behind them (ftrace_dump_callback()). */
	bool dumps = command && (!strncmp(action, "dump", 4) || !strncmp(action, "cpudump", 7));

	if (!dumps)
		form.tried = hist ? with_word(word, ":pause", filter) :
				    with_count_0(text, (size_t)(action - text), word, filter);
	form.arm = form.stays ? with_word(word, ":continue", filter) : strdup(text);
	if (!form.arm || (!form.tried && !dumps)) {
		late_form_release(&form);
		return fail_memory(fail);
	}
	*ret = form;
	return 0;
}

static bool is_kept(const struct late *late, const struct instance *instance, const char *file, const char *text)
{
	for (size_t i = 0; i < late->nr; i++)
		if (late->items[i].instance == instance && !strcmp(late->items[i].file, file) &&
		    !strcmp(late->items[i].named, text))
			return true;
	return false;
}

static int keep(struct late *late, struct instance *instance, const char *file, const char *text,
		const struct late_form *form, struct fail *fail)
{
	bool removes = form->tried && !form->stays && strcmp(file, LATE_COMMANDS) != 0;
	struct late_item *item = vec_push(late->items, late->nr);

	if (!item)
		return fail_memory(fail);
	*item = (struct late_item){ .instance = instance,
				    .file = strdup(file),
				    .text = strdup(form->arm ? form->arm : text),
				    .named = strdup(text),
				    .stop = form->stays ? strdup(form->tried) : NULL };
	if (removes && asprintf(&item->removal, "!%s", form->tried) < 0) {
		item->removal = NULL;
		return fail_memory(fail);
	}
	return item->file && item->text && item->named && (!form->stays || item->stop) ? 0 : fail_memory(fail);
}

/* Keeps what the list of functions and their commands was before the first of them was tried. */
static int keep_list(struct late *late, struct instance *instance, struct fail *fail)
{
	cleanup_buf struct buf was = BUF_INIT;
	struct late_list *list;
	int err;

	for (size_t i = 0; i < late->nr_lists; i++)
		if (late->lists[i].instance == instance)
			return 0;
	err = instance_read(instance, LATE_COMMANDS, &was, fail);
	if (err)
		return err;
	list = vec_push(late->lists, late->nr_lists);
	if (!list || !buf_add_str(&was, ""))
		return fail_memory(fail);
	*list = (struct late_list){ .instance = instance, .was = strdup(buf_str(&was)) };
	return list->was ? 0 : fail_memory(fail);
}

/*
 * If the kernel refuses the tried form, it is asked once more with the text itself, so that its message is about what
 * the user wrote.
 */
static int try_form(struct instance *instance, const char *file, const char *text, const char *tried, struct fail *fail)
{
	struct fail about_tried;
	int err = instance_append(instance, file, tried, &about_tried);

	return err ? instance_append(instance, file, text, fail) : 0;
}

int late_try(struct late *late, struct instance *instance, const char *file, const char *text, struct fail *fail)
{
	struct late_form form = { .stays = false };
	bool command = !strcmp(file, LATE_COMMANDS);
	int err = 0;

	if (is_kept(late, instance, file, text))
		return 0;
	if (!instance->tracing->plan)
		err = late_form(file, text, &form, fail);
	else if (!command)
		err = precheck(instance, file, text, fail);
	if (!err)
		err = instance_remember(instance, file, fail);
	if (!err && form.tried && command)
		err = keep_list(late, instance, fail);
	if (!err && form.tried)
		err = try_form(instance, file, text, form.tried, fail);
	if (!err)
		err = keep(late, instance, file, text, &form, fail);
	late_form_release(&form);
	return err;
}

int late_disarm(struct late *late, struct fail *fail)
{
	int err = 0;

	/* A histogram that refers to another one was tried after it. */
	for (size_t i = late->nr; !err && i-- > 0;) {
		struct late_item *item = &late->items[i];

		if (item->removal)
			err = instance_append(item->instance, item->file, item->removal, fail);
		free(take(item->removal));
	}
	for (size_t i = 0; !err && i < late->nr_lists; i++)
		err = instance_restore(late->lists[i].instance, LATE_COMMANDS, late->lists[i].was, fail);
	for (size_t i = 0; i < late->nr_lists; i++)
		free(late->lists[i].was);
	free(take(late->lists));
	late->nr_lists = 0;
	return err;
}

void late_release(struct late *late)
{
	for (size_t i = 0; i < late->nr; i++) {
		free(late->items[i].file);
		free(late->items[i].text);
		free(late->items[i].stop);
		free(late->items[i].named);
		free(late->items[i].removal);
	}
	for (size_t i = 0; i < late->nr_lists; i++)
		free(late->lists[i].was);
	free(late->items);
	free(late->lists);
	*late = (struct late){ .nr = 0 };
}
