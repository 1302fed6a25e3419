/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_HTML_HTML_INTERNAL_H
#define WEFT_FORMATS_EXPORT_HTML_HTML_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/export/export.h"
#include "formats/export/html/bands_internal.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/kinds.h"
#include "lib/meaning/state/state.h"

/* Private to html*.c: the data that the exporter collects, and the functions that write the file (html_write.c). */
struct context;
struct sink;
struct stacks;
struct timeline;

enum {
	HTML_FUNCTION_BITS = 11,
	HTML_NEAR_BITS = 11,
	HTML_OWNERS = 256,
	HTML_OWNER = 24,
	HTML_CALLS = 512,
	HTML_HELD = 256,      /* bytes of a record that is held */
	HTML_TEXT_MAX = 4096, /* bytes of the text of an event; longer texts are cut */
	HTML_NAME_MAX = 256   /* bytes of a name; longer names are cut */
};

struct html_buffer {
	struct html *html;
	const struct context *context;
	struct sink *sink; /* prints an event as the kernel does */
	uint16_t index;
	struct html_cpu *cpus; /* by number (moments.c) */
	size_t nr_cpus;
	/* Functions that returned lately: most returns then need no symbol. */
	struct html_function {
		uint64_t address;
		uint32_t label; /* + 1; 0: empty */
	} functions[1 << HTML_FUNCTION_BITS];
	/* "COMM-PID" of tasks as packed words, by the low bits of the PID. */
	struct html_owner {
		int32_t pid;
		uint16_t text_len; /* with the blank after it; 0: empty */
		uint8_t len;
		char packed[HTML_OWNER];
	} owners[HTML_OWNERS];
};

struct html {
	struct export export;             /* first */
	const struct export_guest *guest; /* NULL: none */
	struct kinds kinds;
	struct html_buffer *buffers;
	size_t nr_buffers;
	struct timeline *timeline;
	struct bands bands;
	struct stacks *stacks; /* for the flame graph */
	bool shares;           /* its timeline is ours */
	struct labels labels;  /* texts of names, and words of event texts */
	uint64_t label_bytes, limit;
	struct out text, body;
	struct u64_map values;      /* by counter: uint32_t, its row among those of its process + 1 */
	struct u64_map nr_values;   /* by process: uint32_t */
	uint32_t modes[TASK_MODES]; /* label + 1 of each mode that was met */
	/* System calls that returned lately, by the low bits of their numbers. */
	struct html_call {
		const struct event_type *type;
		int64_t number;
		uint32_t label;
	} calls[HTML_CALLS];
	/* Short words that were packed lately. */
	struct html_word {
		uint64_t first, second; /* of its bytes */
		uint32_t len, label;    /* label + 1; 0: empty */
	} near[1 << HTML_NEAR_BITS];
	bool started;
	uint64_t start, end;         /* times of the first and the last event */
	uint64_t events, lost, deep; /* deep: calls below the last row */
};

/* moments.c: the events, each with the label of its name. */
void html_add_moment(struct html_buffer *buffer, const struct event *event, uint64_t start, uint32_t name);
void html_end_moments(struct html *html);
void html_free_moments(struct html_buffer *buffer);

/* html_flame.c: writes the flame graph as a member of an object; ends its events. */
void html_put_flame(struct html *html);
void html_end_flame(struct html *html);

/* Writes JSON in which no HTML tag can begin or end. */
void html_put_string(struct html *html, const char *text, size_t len);

/* Writes the file. */
void html_write(struct html *html);

/* The label of an untrusted name, which is cut if it is too long. LABEL_NONE: failed, and the error is set. */
uint32_t html_label(struct html *html, const char *text, size_t len);

/* Whether words still get numbers: then a word that has one keeps it. */
bool html_numbers_words(const struct html *html);

/*
 * The text of an event's slice: words, each a varint that is a label + 1, or 0 followed by a length and the word.
 * html_pack_text() empties the buffer first. html_pack_body() adds the words of html::body, of at most so many bytes.
 */
void html_pack_body(struct html *html, size_t most, struct out *out);
void html_pack_text(struct html *html, const char *text, size_t len, struct out *out);

#endif
