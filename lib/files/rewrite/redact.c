// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/rewrite/redact.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/files/rewrite/redact_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/part.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/writer.h"

/* Fewer letters of base64 than LETTERS_MIN stand in large files by chance. */
enum { BLOCK = 1 << 20, FORM_BYTES = 1 << 10, WORDS_MAX = 1 << 16, ZEROS_MAX = 4, LETTERS_MIN = 6, SHOWN = 48 };

/*
 * A word as it may stand in bytes: as it is, with 1 to 4 zero bytes between its letters (as UTF-16 and UTF-32 of both
 * orders have it), reversed, as hexadecimal digits, and as base64, wherever in a group of three bytes it begins.
 */
struct form {
	struct buf bytes;
	size_t line;
};

struct hunt {
	struct form *forms;
	size_t nr, longest;
	struct buf rest; /* the end of what was searched last, which a word may begin in */
	struct fail *fail;
};

static bool add(struct hunt *hunt, size_t line, struct buf *bytes)
{
	struct form *form = vec_push(hunt->forms, hunt->nr);

	if (!form)
		return false;
	*form = (struct form){ *bytes, line };
	*bytes = (struct buf)BUF_INIT;
	hunt->longest = form->bytes.len > hunt->longest ? form->bytes.len : hunt->longest;
	return true;
}

static bool add_apart(struct hunt *hunt, size_t line, struct text_word word, size_t zeros)
{
	static const char none[ZEROS_MAX];
	cleanup_buf struct buf bytes = BUF_INIT;
	bool ok = true;

	for (size_t i = 0; ok && i < word.len; i++)
		ok = buf_add(&bytes, &word.at[i], 1) && (i + 1 == word.len || buf_add(&bytes, none, zeros));
	return ok && add(hunt, line, &bytes);
}

/* RFC 4648, 4. Letters that also depend on the `before` bytes before the word, or on those behind it, are left out. */
static bool add_base64(struct hunt *hunt, size_t line, struct text_word word, size_t before)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	cleanup_buf struct buf text = BUF_INIT;
	size_t first = (before * 8 + 5) / 6, end = (before + word.len) * 8 / 6;
	bool ok = true;

	if (end < first + LETTERS_MIN)
		return true;
	for (size_t i = first; ok && i < end; i++) {
		size_t bit = i * 6 - before * 8;
		unsigned byte = (unsigned char)word.at[bit / 8], next = 0;

		if (bit / 8 + 1 < word.len)
			next = (unsigned char)word.at[bit / 8 + 1];
		ok = buf_add(&text, &letters[(byte << 8 | next) >> (10 - bit % 8) & 63], 1);
	}
	return ok && add(hunt, line, &text);
}

static bool add_forms(struct hunt *hunt, size_t line, struct text_word word)
{
	cleanup_buf struct buf back = BUF_INIT, hex = BUF_INIT, capitals = BUF_INIT;
	bool ok = true;

	for (size_t i = 0; ok && i < word.len; i++)
		ok = buf_add(&back, &word.at[word.len - 1 - i], 1) &&
		     buf_addf(&hex, "%02x", (unsigned char)word.at[i]) &&
		     buf_addf(&capitals, "%02X", (unsigned char)word.at[i]);
	ok = ok && add(hunt, line, &back) && add(hunt, line, &hex) && add(hunt, line, &capitals);
	for (size_t zeros = 0; ok && zeros <= ZEROS_MAX; zeros++)
		ok = add_apart(hunt, line, word, zeros);
	for (size_t before = 0; ok && before < 3; before++)
		ok = add_base64(hunt, line, word, before);
	return ok;
}

/* The bytes around what was found, as one short word: others than those of text are dots. */
static void show_around(const struct hunt *hunt, size_t at, size_t len, char text[SHOWN + 1])
{
	size_t from = at < SHOWN / 4 ? 0 : at - SHOWN / 4, end = at + len + SHOWN / 4, nr = 0;

	for (size_t i = from; i < end && i < hunt->rest.len && nr < SHOWN; i++, nr++)
		text[nr] = hunt->rest.data[i] >= ' ' && hunt->rest.data[i] <= '~' ? hunt->rest.data[i] : '.';
	text[nr] = '\0';
}

/* Searches bytes that follow those of the call before. */
static int search(struct hunt *hunt, const char *where, uint64_t offset, const void *data, size_t len)
{
	size_t kept = hunt->rest.len, tail;
	char around[SHOWN + 1];

	if (!buf_add(&hunt->rest, data, len))
		return fail_memory(hunt->fail);
	for (size_t i = 0; i < hunt->nr; i++) {
		const char *at =
			memmem(hunt->rest.data, hunt->rest.len, hunt->forms[i].bytes.data, hunt->forms[i].bytes.len);

		if (!at)
			continue;
		show_around(hunt, (size_t)(at - hunt->rest.data), hunt->forms[i].bytes.len, around);
		return fail_set(hunt->fail, -ENOKEY,
				"the word in line %zu of the list is in the output: %s, byte %llu, '%s'; every place "
				"counts, also inside a longer word, as in the names of the kernel's functions: if that "
				"is no secret, put a longer word into the list",
				hunt->forms[i].line, where,
				(unsigned long long)(offset + (uint64_t)(at - hunt->rest.data) - kept), around);
	}
	tail = hunt->rest.len < hunt->longest ? hunt->rest.len : hunt->longest - (hunt->longest > 0);
	memmove(hunt->rest.data, hunt->rest.data + hunt->rest.len - tail, tail);
	hunt->rest.len = tail;
	return 0;
}

static int search_text(struct hunt *hunt, const char *where, struct trace_text text)
{
	int r;

	buf_clear(&hunt->rest);
	r = text.text ? search(hunt, where, 0, text.text, text.len) : 0;
	buf_clear(&hunt->rest);
	return r;
}

static int search_file(struct hunt *hunt, const struct trace *trace)
{
	cleanup_free char *block = malloc(BLOCK);
	size_t got;
	int r = block ? 0 : fail_memory(hunt->fail);

	for (uint64_t at = 0; !r && (got = trace_bytes(trace, at, block, BLOCK)); at += got)
		r = search(hunt, "the file", at, block, got);
	return r;
}

static int search_texts(struct hunt *hunt, struct trace *trace)
{
	struct trace_text text;
	const char *name;
	size_t nr, buffer;
	const struct trace_format *formats = trace_formats(trace, &nr);
	int r = 0;

	for (size_t i = 0; !r && i < nr; i++) {
		r = search_text(hunt, "an event format", formats[i].text);
		if (!r)
			r = search_text(hunt, "an event format", formats[i].system);
	}
	for (unsigned which = 0; !r && which < TRACE_META_NR; which++) {
		r = trace_meta(trace, which, &text, hunt->fail);
		if (!r)
			r = search_text(hunt, "a text of the file", text);
	}
	for (size_t i = 0; !r && trace_setting_at(trace, i, &buffer, &name, &text); i++) {
		r = search_text(hunt, name, text);
		if (!r)
			r = search_text(hunt, "the name of a setting", (struct trace_text){ name, strlen(name) });
	}
	return r;
}

static int search_pages(struct hunt *hunt, struct trace *trace, size_t buffer, size_t cpu, struct frame_reader *reader)
{
	cleanup_buf struct buf scratch = BUF_INIT, bytes = BUF_INIT;
	struct trace_pages pages;
	uint64_t at = 0;
	size_t size;
	int r = trace_pages_init(&pages, trace, buffer, cpu, hunt->fail);

	buf_clear(&hunt->rest);
	while (!r && (r = trace_pages_size(&pages, BLOCK, &size, hunt->fail)) > 0) {
		buf_clear(&bytes);
		r = buf_reserve(&bytes, size) ? 0 : fail_memory(hunt->fail);
		if (!r)
			r = trace_pages_read(&pages, reader, &scratch, bytes.data, size, hunt->fail);
		if (!r)
			r = search(hunt, "pages", at, bytes.data, size);
		at += size;
	}
	return r;
}

static int search_all(struct hunt *hunt, int fd)
{
	struct trace *trace = NULL;
	struct frame_reader *reader = NULL;
	int r = trace_open_fd(fd, "the output", &trace, hunt->fail);

	if (!r)
		r = frame_reader_new(&reader, hunt->fail);
	if (!r)
		r = search_file(hunt, trace);
	if (!r)
		r = search_texts(hunt, trace);
	for (size_t i = 0; !r && i < trace_buffers(trace); i++)
		for (size_t k = 0; !r && k < trace_buffer(trace, i)->nr_cpus; k++)
			r = search_pages(hunt, trace, i, k, reader);
	frame_reader_free(reader);
	trace_free(trace);
	return r;
}

/* Looks for words in a file that was written. */
static int redact_check(int fd, const char *words, struct fail *fail)
{
	struct hunt hunt = { .fail = fail };
	size_t left = strlen(words), line = 0;
	struct text_word word;
	int r = 0;

	while (!r && text_next_line(&words, &left, &word) && line++ < WORDS_MAX) {
		if (word.len > FORM_BYTES)
			r = fail_set(fail, -EINVAL, "line %zu of the list is longer than %d bytes", line, FORM_BYTES);
		else if (word.len && !add_forms(&hunt, line, word))
			r = fail_memory(fail);
	}
	if (!r)
		r = search_all(&hunt, fd);
	for (size_t i = 0; i < hunt.nr; i++)
		buf_release(&hunt.forms[i].bytes);
	free(hunt.forms);
	buf_release(&hunt.rest);
	return r;
}

struct work {
	struct trace *trace;
	struct redacted *done;
	struct redact_names names;
	struct redact_shifts shifts;
	struct redact_texts texts;
	struct context **contexts;
	struct redact_types *types; /* of the buffer that is written */
	struct page_shape shape;
	struct buf blank; /* the new pages */
};

void redacted_release(struct redacted *redacted)
{
	buf_release(&redacted->events);
	buf_release(&redacted->fields);
	buf_release(&redacted->settings);
}

/* The records of a page again, at their places. */
static int take_page(struct work *work, const uint8_t *data, size_t len, uint8_t *into, struct fail *fail)
{
	const struct page_shape *shape = &work->shape;
	uint8_t *body = into + page_head_size(shape);
	struct record record;
	struct fail damage;
	struct page page;
	int r;

	page_blank(shape, data, len, into);
	if (page_init(&page, shape, data, len, &damage))
		return 0;
	while ((r = page_next(&page, &record, &damage)) > 0) {
		r = redact_record(work->types, record.data, record.len, body + (record.data - page.data), fail);
		if (r)
			return r;
	}
	return 0;
}

static int take_run(void *arg, const void *data, size_t size, size_t padded, const void **ret, struct fail *fail)
{
	struct work *work = arg;
	size_t page_size = work->shape.size;
	int r = 0;

	buf_clear(&work->blank);
	if (!buf_reserve(&work->blank, padded))
		return fail_memory(fail);
	for (size_t at = 0; !r && at < size; at += page_size)
		r = take_page(work, (const uint8_t *)data + at, size - at < page_size ? size - at : page_size,
			      (uint8_t *)work->blank.data + at, fail);
	*ret = work->blank.data;
	return r;
}

static int take_cpu(struct work *work, size_t buffer, size_t cpu, struct part *part, struct fail *fail)
{
	struct trace_pages pages;
	int r = trace_pages_init(&pages, work->trace, buffer, cpu, fail);

	return r ? r : part_add_changed(part, &pages, take_run, work, fail);
}

static int take_buffer(struct work *work, size_t index, struct part *part, struct writer *writer, struct fail *fail)
{
	const struct trace_buffer *buffer = trace_buffer(work->trace, index);
	const struct trace_info *info = trace_info(work->trace);
	int r = made_file_buffer(writer, work->texts.buffers[index], buffer, fail);

	work->shape =
		(struct page_shape){ .size = buffer->page_size, .long_size = info->long_size, .swap = info->swap };
	if (!r)
		r = redact_types_new(work->contexts[index], &work->names, &work->shifts, work->done, &work->types,
				     fail);
	for (size_t i = 0; !r && i < buffer->nr_cpus; i++) {
		r = take_cpu(work, index, i, part, fail);
		if (!r)
			r = part_write(part, writer, buffer->cpus[i].cpu, fail);
	}
	redact_types_free(work->types);
	work->types = NULL;
	return r;
}

static int take_buffers(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	struct work *work = arg;
	int r = 0;

	for (size_t i = 0; !r && i < trace_buffers(work->trace); i++)
		r = take_buffer(work, i, part, writer, fail);
	return r;
}

/* The contexts of all buffers, and where the kernel's symbols are. */
static int prepare(struct work *work, struct fail *fail)
{
	size_t nr = trace_buffers(work->trace);
	struct trace_text text = { .text = NULL };
	int r = 0;

	work->contexts = calloc(nr + 1, sizeof(struct context *));
	if (!work->contexts)
		return fail_memory(fail);
	for (size_t i = 0; !r && i < nr; i++)
		r = context_new(work->trace, i, &work->contexts[i], fail);
	if (!r)
		r = trace_meta(work->trace, TRACE_KALLSYMS, &text, fail);
	if (!r && text.text)
		redact_shifts_of(&work->shifts, text.text, text.len);
	for (size_t i = 0; !r && i < nr; i++) {
		text = trace_setting(work->trace, i, "kallsyms");
		if (text.text)
			redact_shifts_of(&work->shifts, text.text, text.len);
	}
	work->texts.contexts = work->contexts;
	return r;
}

static void release(struct work *work)
{
	for (size_t i = 0; work->contexts && i < trace_buffers(work->trace); i++)
		context_free(work->contexts[i]);
	free(work->contexts);
	redact_texts_release(&work->texts);
	redact_names_release(&work->names);
	buf_release(&work->blank);
}

int redact(struct trace *trace, const struct redact_options *options, int fd, struct redacted *ret, struct fail *fail)
{
	struct work work = { .trace = trace, .done = ret };
	const struct writer_options form = recast_form(&options->form, trace);
	int r;

	if (!trace_buffers(trace))
		return fail_set(fail, -ENODATA, "'%s' has no events%s%s", trace_path(trace),
				trace_damage(trace) ? "; it is damaged: " : "",
				trace_damage(trace) ? trace_damage(trace) : "");
	redact_names_init(&work.names, options);
	redact_shifts_init(&work.shifts, &work.names, trace_info(trace)->long_size, options->pids);
	work.texts = (struct redact_texts){ .names = &work.names, .shifts = &work.shifts, .done = ret };
	r = prepare(&work, fail);
	if (!r)
		r = redact_texts_make(&work.texts, trace, fail);
	if (!r)
		r = made_file_write(fd, &form, &work.texts.carried.metadata, take_buffers, &work, &ret->size, fail);
	ret->names = work.names.taken.len;
	ret->kept = work.names.kept.len;
	release(&work);
	if (!r && options->check)
		r = redact_check(fd, options->check, fail);
	return r;
}
