// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/html/bands_internal.h"
#include "formats/export/html/html_internal.h"
#include "formats/export/html/texts_internal.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/state/state.h"
#include "lib/meaning/timeline/timeline.h"
#include "lib/pages/trace/trace.h"

/*
 * How often each name occurs in the bands of a kind, for the kinds of which bands are folded: the page's search counts
 * with these numbers. Where they would take too much of the file, the rarest are left out.
 */
struct html_totals {
	struct html_total {
		uint64_t count;
		uint32_t name;
		uint8_t kind; /* enum band_kind */
	} * items;            /* the most frequent first */
	size_t nr, left;
};

/* Bytes that one total takes: its numbers, and a name that may be used nowhere else. */
enum { TOTAL_COST = 32 };

static void html_totals_release(struct html_totals *totals)
{
	free(totals->items);
	*totals = (struct html_totals){ .nr = 0 };
}

static uint32_t folded_kinds(const struct bands *bands)
{
	uint32_t kinds = 0;

	for (size_t i = 0; i < bands->nr; i++)
		if (bands->items[i].band.fold)
			kinds |= 1u << bands->items[i].kind;
	return kinds;
}

static int compare(const void *a, const void *b)
{
	const struct html_total *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/* False without memory. */
static bool html_totals_choose(struct bands *bands, uint64_t bytes, struct html_totals *ret)
{
	uint32_t kinds = folded_kinds(bands);
	const uint64_t *count;
	const struct u64_map *map = bands_totals(bands);
	uint64_t key, most = bytes / TOTAL_COST;

	*ret = (struct html_totals){ .items = calloc(map->len + 1, sizeof(*ret->items)) };
	if (!ret->items || bands->failed)
		return false;
	for (size_t at = 0; (count = u64_map_next(map, &at, &key));)
		if (kinds >> (key >> 32) & 1)
			ret->items[ret->nr++] = (struct html_total){ *count, (uint32_t)key, (uint8_t)(key >> 32) };
	qsort(ret->items, ret->nr, sizeof(*ret->items), compare);
	if (ret->nr > most) {
		ret->left = ret->nr - (size_t)most;
		ret->nr = (size_t)most;
	}
	return true;
}

static void html_totals_put(const struct html_totals *totals, struct out *out)
{
	out_f(out, "\"left\":%zu,\"totals\":[", totals->left);
	for (size_t i = 0; i < totals->nr; i++) {
		const struct html_total *total = &totals->items[i];

		out_f(out, "%s[%u,%" PRIu32 ",%" PRIu64 "]", i ? "," : "", total->kind, total->name, total->count);
	}
	out_str(out, "],\n");
}

enum { BASE64_PART = 3 << 10, TRIES = 6, OVERVIEW_PARTS = 2048, OVERVIEW_FROM = 4000 };

static uint64_t take_varint(const char **at)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = (uint8_t) * (*at)++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

static void mark_words(const struct slice *slice, uint8_t *used)
{
	const char *at = slice->text, *end;

	if (!at)
		return;
	end = at + slice->text_len;
	while (at < end) {
		uint64_t label = take_varint(&at);

		if (label)
			used[label - 1] = 1;
		else
			at += take_varint(&at);
	}
}

/* Folding drops texts, so that many words are no longer used. */
static uint8_t *used_labels(const struct html *html)
{
	uint8_t *used = calloc(html->labels.nr + 1, 1);

	for (size_t i = 0; used && i < html->bands.nr; i++) {
		struct band_walk walk = { .band = &html->bands.items[i].band };
		struct slice slice;

		while (band_next(&walk, &slice)) {
			used[slice.name] = 1;
			mark_words(&slice, used);
		}
	}
	return used;
}

static void put_text(struct html *html, const char *text)
{
	html_put_string(html, text, strlen(text));
}

static void put_names(struct html *html, const uint8_t *used)
{
	struct out *out = html->export.out;

	out_str(out, "\"names\":[");
	for (size_t i = 0; i < html->labels.nr; i++) {
		if (i)
			out_char(out, ',');
		html_put_string(html, html->labels.at[i].text, used[i] ? html->labels.at[i].len : 0);
	}
	out_str(out, "],\n");
}

static bool is_of_task(uint8_t kind)
{
	return kind == BAND_STATE || kind == BAND_CALL || kind == BAND_GRAPH || kind == BAND_MARK ||
	       kind == BAND_ASYNC || kind == BAND_PAIR || kind == BAND_VALUE || kind == BAND_WHY;
}

static void put_task(struct html *html, int32_t pid, bool first)
{
	const struct tasks *tasks = html->buffers[0].context->tasks;
	struct out *out = html->export.out;
	const struct state *state = timeline_state(html->timeline);
	uint32_t id = state_task_of(state, pid);
	const char *comm = id == STATE_NO_TASK ? "" : state->tasks[id].comm;

	for (size_t i = state->nr_tasks; !*comm && !task_known(tasks, pid) && i-- > 0;)
		if (state->tasks[i].pid == pid)
			comm = state->tasks[i].comm;
	comm = *comm ? comm : task_name(tasks, pid).text;
	out_f(out, "%s[%" PRId32 ",%" PRId32 ",", first ? "" : ",", pid,
	      who_process(html->buffers[0].context, pid, UINT64_MAX, NULL));
	html_put_string(html, comm, strnlen(comm, HTML_NAME_MAX));
	out_char(out, ']');
}

static bool put_tasks(struct html *html)
{
	struct u64_map pids;
	bool ok = true;

	u64_map_init(&pids, 1);
	out_str(html->export.out, "\"tasks\":[");
	for (size_t i = 0; i < html->bands.nr; i++) {
		const struct bands_item *item = &html->bands.items[i];
		size_t before = pids.len;

		if (!is_of_task(item->kind))
			continue;
		ok = u64_map_add(&pids, item->id) && ok;
		if (pids.len > before)
			put_task(html, (int32_t)item->id, !before);
	}
	out_str(html->export.out, "],\n");
	u64_map_release(&pids);
	return ok;
}

/* The two digits of each number of 12 bits. */
struct base64 {
	char pairs[1 << 12][2];
};

static void base64_init(struct base64 *base64)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (unsigned i = 0; i < 1 << 12; i++) {
		base64->pairs[i][0] = digits[i >> 6];
		base64->pairs[i][1] = digits[i & 63];
	}
}

static void put_base64(const struct base64 *base64, const struct buf *buf, struct out *out)
{
	const uint8_t *at = (const uint8_t *)buf->data;
	size_t left = buf->len;
	uint32_t bits;

	while (left >= 3) {
		size_t some = left < BASE64_PART ? left / 3 : BASE64_PART / 3;
		char *to;

		out_need(out, some * 4);
		to = out->at;
		for (const uint8_t *end = at + some * 3; at < end; at += 3, to += 4) {
			bits = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
			memcpy(to, base64->pairs[bits >> 12], 2);
			memcpy(to + 2, base64->pairs[bits & 0xfff], 2);
		}
		out->at = to;
		left -= some * 3;
	}
	if (!left)
		return;
	bits = (uint32_t)at[0] << 16 | (left > 1 ? (uint32_t)at[1] << 8 : 0);
	out_mem(out, base64->pairs[bits >> 12], 2);
	out_char(out, left > 1 ? base64->pairs[bits & 0xfff][0] : '=');
	out_char(out, '=');
}

/*
 * The first picture is drawn from a coarse copy of each large band, in which a part of time is about half a pixel of
 * the whole. Without it all bands would have to be unpacked and folded before anything is seen.
 */
static void put_overview(struct html *html, const struct base64 *base64, const struct band *band)
{
	struct out *out = html->export.out;
	uint64_t whole = html->end - html->start;
	struct band overview;
	unsigned k = 0;

	while (whole >> k > OVERVIEW_PARTS)
		k++;
	if (band->slices <= OVERVIEW_FROM || k <= band->fold)
		return;
	if (!band_overview(band, k, &overview)) {
		export_no_memory(&html->export);
		return;
	}
	if (overview.slices < band->slices / 2) {
		out_f(out, ",%u,%" PRIu64 ",\"", k, overview.slices);
		put_base64(base64, &overview.bytes, out);
		out_char(out, '"');
	}
	band_release(&overview);
}

static void put_bands(struct html *html)
{
	struct out *out = html->export.out;
	struct base64 base64;

	base64_init(&base64);
	out_str(out, "\"bands\":[");
	for (size_t i = 0; i < html->bands.nr; i++) {
		const struct bands_item *item = &html->bands.items[i];
		const struct band *band = &item->band;

		out_f(out, "%s\n[%u,%u,%u,%" PRIu32 ",%u,%" PRIu64 ",%" PRIu64 ",\"", i ? "," : "", item->kind,
		      item->row, item->buffer, item->id, band->fold, band->slices, band->added);
		put_base64(&base64, &band->bytes, out);
		out_char(out, '"');
		put_overview(html, &base64, band);
		out_char(out, ']');
	}
	out_str(out, "]}\n");
}

/* What is added to a time for the time of day; and for each time at which it was set, that, and what is added then. */
static void put_dates(const struct html *html, struct out *out)
{
	const struct wall *wall = export_wall(html->export.reader);
	const struct wall_piece *piece;
	int64_t offset;

	if (!export_day_offset(html->export.reader, html->start, &offset)) {
		out_str(out, "null,\"dates\":[]");
		return;
	}
	out_f(out, "\"%" PRId64 "\",\"dates\":[", offset);
	for (size_t i = 1, nr = 0; (piece = wall_piece_at(wall, i)); i++)
		if (piece->since > html->start && export_day_offset(html->export.reader, piece->since, &offset))
			out_f(out, "%s[\"%" PRIu64 "\",\"%" PRId64 "\"]", nr++ ? "," : "", piece->since, offset);
	out_char(out, ']');
}

static void put_facts(struct html *html)
{
	const struct context *context = html->buffers[0].context;
	const char *slash = strrchr(trace_path(context->trace), '/');
	struct out *out = html->export.out;
	char error[TEXT_HUMAN];

	out_f(out, "{\"weft\":1,\"start\":\"%" PRIu64 "\",\"end\":\"%" PRIu64 "\",\"ns\":%s,\"date\":", html->start,
	      html->end, context->unit == CLOCK_UNIT_NS ? "true" : "false");
	put_dates(html, out);
	out_f(out, ",\"events\":%" PRIu64 ",\"gaps\":%" PRIu64 ",\"clock\":", html->events, html->lost);
	put_text(html, context->clock);
	out_str(out, ",\"clock_error\":");
	if (context->clock_error_ns)
		put_text(html, text_time(error, context->clock_error_ns));
	else
		out_str(out, "null");
	/* With it and a time, report, view, brief and the analyses open there: FILE@TIME. */
	out_str(out, ",\"file\":");
	put_text(html, slash ? slash + 1 : trace_path(context->trace));
	out_str(out, ",\"release\":");
	put_text(html, context->release);
	out_str(out, ",\"machine\":");
	put_text(html, context->machine);
	out_str(out, ",\"buffers\":[");
	for (size_t i = 0; i < html->nr_buffers; i++) {
		if (i)
			out_char(out, ',');
		put_text(html, html->buffers[i].context->instance);
	}
	out_str(out, "],\n\"tables\":");
	if (html->export.tables)
		html_put_string(html, html->export.tables->start, out_len(html->export.tables));
	else
		out_str(out, "null");
	out_str(out, ",\n");
}

static void put_data(struct html *html, const struct html_totals *totals, const uint8_t *used)
{
	put_facts(html);
	html_put_flame(html);
	put_names(html, used);
	html_totals_put(totals, html->export.out);
	if (!put_tasks(html))
		export_no_memory(&html->export);
	put_bands(html);
}

/* Writes the page, with the parts and the data in the places of the lines that name them. */
static void put_page(struct html *html, const struct html_totals *totals, const uint8_t *used)
{
	static const char before[] = "<!-- weft: ", behind[] = " -->\n";
	static const struct {
		const char *name, *text;
	} parts[] = {
		{ "page.css", html_page_css }, { "model.js", html_model_js }, { "rows.js", html_rows_js },
		{ "tools.js", html_tools_js }, { "view.js", html_view_js },   { "flame_view.js", html_flame_view_js },
	};
	const char *at = html_page_html, *mark;

	while ((mark = strstr(at, before))) {
		const char *name = mark + strlen(before), *end = strstr(name, behind);
		const char *text = NULL;

		out_mem(html->export.out, at, (size_t)(mark - at));
		for (size_t i = 0; i < array_size(parts); i++)
			if (!strncmp(name, parts[i].name, (size_t)(end - name)))
				text = parts[i].text;
		if (text)
			out_str(html->export.out, text);
		else
			put_data(html, totals, used);
		at = end + strlen(behind);
	}
	out_str(html->export.out, at);
}

static void put_file(struct html *html)
{
	cleanup_free uint8_t *used = used_labels(html);
	struct html_totals totals;

	if (!html_totals_choose(&html->bands, html->limit / 16, &totals) || !used) {
		html_totals_release(&totals);
		export_no_memory(&html->export);
		return;
	}
	for (size_t i = 0; i < totals.nr; i++)
		used[totals.items[i].name] = 1;
	put_page(html, &totals, used);
	html_totals_release(&totals);
}

/* The size is known only after writing, because names and bands differ in their cost. */
void html_write(struct html *html)
{
	struct out *out = html->export.out;
	size_t from = out_len(out), size = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t excess, bytes = html->bands.bytes;

		out->at = out->start + from;
		put_file(html);
		size = out_len(out) - from;
		if (size <= html->limit || out->failed || html->export.error)
			return;
		excess = (size - html->limit) / 4 * 3 + 4096;
		if (!bands_fit(&html->bands, bytes > excess ? bytes - excess : 0) && html->bands.bytes == bytes)
			break;
	}
	if (size > html->limit)
		export_note(&html->export,
			    "%zu KB is the least that all tasks and CPUs of this recording need; "
			    "select fewer with --pid or -e",
			    size >> 10);
}
