// SPDX-License-Identifier: GPL-2.0-only
/*
 * The letters of a request, blk_fill_rwbs() in kernel/trace/blktrace.c: F for a flush before it, the operation, then
 * flags; and the error with which a request ended.
 */
#include <stdbool.h>

#include "include/weft/plugin.h"
#include "plugins/errors.h"
#include "plugins/words.h"

enum { RWBS, ERROR, ERRORS };

/* Linux 4.12 and later call it `error`; before it was `errors`. */
static const char *const fields[] = { "rwbs", "?error", "?errors", NULL };
static const char *const facts[] = { "operation", "flags", "error", NULL };

static const struct word operations[] = {
	{ 'R', "read" }, { 'W', "write" }, { 'D', "discard" }, { 'F', "flush" }, { 'N', "other" },
};
static const struct word flags[] = {
	{ 'F', "fua" }, { 'A', "readahead" }, { 'S', "sync" }, { 'M', "meta" }, { 'U', "atomic" },
};

/* The operation at the start of the letters; *ret_len is how many letters it has. NULL: an unknown one. */
static const char *operation_of(const char *letters, size_t len, bool *ret_preflush, size_t *ret_len)
{
	/* FF is a flush request with a flush before it; in FW the F belongs to the write behind it. */
	size_t at = len > 1 && letters[0] == 'F' && memchr("RWDNF", letters[1], 5) ? 1 : 0;

	*ret_preflush = at;
	*ret_len = at + 1;
	if (len <= at)
		return NULL;
	if (letters[at] == 'D' && at + 1 < len && letters[at + 1] == 'E') {
		*ret_len = at + 2;
		return "secure-erase";
	}
	return word_of(WORDS(operations), (unsigned char)letters[at]);
}

static void put_letters(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	size_t len, at;
	const char *letters = host->bytes(record, RWBS, &len), *operation;
	char text[128];
	size_t used = 0;
	bool preflush;

	if (!letters)
		return;
	len = strnlen(letters, len);
	operation = operation_of(letters, len, &preflush, &at);
	if (!operation)
		return;
	put_string(host, "operation", operation, output);
	if (preflush)
		used += (size_t)snprintf(text, sizeof(text), "preflush");
	for (; at < len && used < sizeof(text); at++) {
		const char *flag = word_of(WORDS(flags), (unsigned char)letters[at]);

		if (flag)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? "|" : "", flag);
	}
	if (used && used < sizeof(text))
		host->put_text(output, "flags", text, used);
}

static void format_request(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	unsigned error = host->count(record, ERROR) ? ERROR : ERRORS;

	put_letters(host, record, output);
	put_error(host, record, (int64_t)host->integer(record, error, 0), output);
}

static const struct weft_handler handlers[] = {
	{ "block_*", fields, format_request, facts },
};

WEFT_PLUGIN("block", handlers);
