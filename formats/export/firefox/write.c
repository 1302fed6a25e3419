// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A processed profile of version 60; newer readers convert it to their own version. Tables are columns of the same
 * length.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/firefox/firefox_internal.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/timeline/timeline.h"

enum { NS_DIGITS = 6 };

struct writing {
	const struct firefox *firefox;
	struct out *out;
	struct timed *samples;
	struct timed_sample *list; /* samples of all threads */
	size_t nr;
	enum firefox_weight weight;
};

/* Writes milliseconds since the first event, exactly. */
static void put_time(const struct writing *writing, uint64_t ts)
{
	out_decimal_u64(writing->out, ts > writing->firefox->first ? ts - writing->firefox->first : 0, NS_DIGITS);
}

/* Writes "NAME":[TEXT,TEXT,...] with `nr` times the same text, and a comma. */
static void put_same(struct out *out, const char *name, const char *text, size_t nr)
{
	out_f(out, "\"%s\":[", name);
	for (size_t i = 0; i < nr; i++) {
		if (i)
			out_char(out, ',');
		out_str(out, text);
	}
	out_str(out, "],");
}

/* Writes the numbers 0, 1, 2... */
static void put_numbers(struct out *out, const char *name, size_t nr)
{
	out_f(out, "\"%s\":[", name);
	for (size_t i = 0; i < nr; i++) {
		if (i)
			out_char(out, ',');
		out_u64(out, i);
	}
	out_str(out, "],");
}

static bool is_first(const struct reader *reader, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (reader->buffers[i].context->recording && reader->buffers[index].context->recording &&
		    !strcmp(reader->buffers[i].context->recording, reader->buffers[index].context->recording))
			return false;
	return true;
}

/*
 * Of machines whose clocks were compared: how far the times of each may be off beside those of another one. The
 * profiler shows it where it tells about the profile.
 */
static void put_clock_errors(const struct writing *writing)
{
	const struct reader *reader = writing->firefox->export.reader;
	struct out *out = writing->out;
	char error[TEXT_HUMAN];
	bool any = false;

	for (size_t i = 0; i < reader->nr_buffers; i++) {
		const struct context *context = reader->buffers[i].context;

		if (!context->compared || !is_first(reader, i))
			continue;
		out_str(out, any ? "," : ",\"extra\":[{\"label\":\"Times are exact to within\",\"entries\":[");
		any = true;
		out_str(out, "{\"label\":");
		json_text(out, context->recording ? context->recording : context->instance);
		out_f(out, ",\"format\":\"string\",\"value\":\"+-%s\"}", text_time(error, context->clock_error_ns));
	}
	if (any)
		out_str(out, "]}]");
}

static void put_meta(const struct writing *writing)
{
	static const char *const categories[FIREFOX_CATEGORIES][2] = {
		{ "Other", "grey" },    { "Functions", "blue" }, { "System calls", "orange" }, { "Interrupts", "red" },
		{ "Running", "green" }, { "Events", "purple" },  { "Marks", "magenta" },
	};
	const struct firefox *firefox = writing->firefox;
	struct out *out = writing->out;
	int64_t start = 0;

	(void)!wall_of(export_wall(firefox->export.reader), firefox->first, &start, NULL);
	out_str(out, "{\"meta\":{\"interval\":1,\"startTime\":");
	out_decimal(out, start, NS_DIGITS);
	out_str(out, ",\"processType\":0,\"product\":\"weft\",\"stackwalk\":1,\"version\":33,"
		     "\"preprocessedProfileVersion\":60,\"symbolicated\":true,\"categories\":[");
	for (size_t i = 0; i < FIREFOX_CATEGORIES; i++)
		out_f(out, "%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}", i ? "," : "",
		      categories[i][0], categories[i][1]);
	out_str(out, "],\"markerSchema\":[{\"name\":\"ftrace\",\"display\":[\"marker-chart\",\"marker-table\"],"
		     "\"tableLabel\":\"{marker.data.text}\",\"fields\":[{\"key\":\"cpu\",\"label\":\"CPU\","
		     "\"format\":\"integer\"},{\"key\":\"text\",\"label\":\"Fields\",\"format\":\"string\"}]}]");
	put_clock_errors(writing);
	out_str(out, "},\"libs\":[],\"pages\":[],");
}

/*
 * A counter's value is the sum of its samples so far, so each sample is a difference. A counter must belong to a
 * thread: here the first one.
 */
static void put_counter(const struct writing *writing, const struct firefox_counter *counter)
{
	const struct labels *labels = &writing->firefox->labels;
	bool memory = counter->what == TIMELINE_MEMORY;
	struct out *out = writing->out;
	int64_t before = 0;

	out_str(out, "{\"name\":");
	json_string(out, labels->at[counter->name].text, labels->at[counter->name].len);
	out_f(out,
	      ",\"category\":\"%s\",\"description\":\"%s\",\"pid\":\"%d\",\"mainThreadIndex\":0,"
	      "\"display\":{\"graphType\":\"line-accumulated\",\"unit\":\"%s\",\"color\":\"%s\","
	      "\"markerSchemaLocation\":null,\"sortWeight\":20,\"label\":",
	      memory ? "Memory" : "CPU", memory ? "kmem:rss_stat" : "power:cpu_frequency",
	      writing->firefox->nr_threads ? writing->firefox->threads[0].tgid : 0, memory ? "bytes" : "",
	      memory ? "orange" : "blue");
	json_string(out, labels->at[counter->name].text, labels->at[counter->name].len);
	out_str(out, "},\"samples\":{\"time\":[");
	for (size_t i = 0; i < counter->nr_counts; i++) {
		if (i)
			out_char(out, ',');
		put_time(writing, counter->counts[i].ts);
	}
	out_str(out, "],\"count\":[");
	for (size_t i = 0; i < counter->nr_counts; i++) {
		if (i)
			out_char(out, ',');
		out_s64(out, (int64_t)((uint64_t)counter->counts[i].value - (uint64_t)before));
		before = counter->counts[i].value;
	}
	out_f(out, "],\"length\":%zu}}", counter->nr_counts);
}

static void put_counters(const struct writing *writing)
{
	const struct firefox *firefox = writing->firefox;
	bool some = false;

	out_str(writing->out, "\"counters\":[");
	for (size_t i = 0; firefox->nr_threads && i < firefox->nr_counters; i++) {
		if (!firefox->counters[i].nr_counts)
			continue;
		if (some)
			out_char(writing->out, ',');
		put_counter(writing, &firefox->counters[i]);
		some = true;
	}
	out_str(writing->out, "],");
}

static void put_stacks(const struct writing *writing)
{
	const struct timed *samples = writing->samples;
	struct out *out = writing->out;
	char category[8];

	snprintf(category, sizeof(category), "%d", FIREFOX_FUNCTION);
	out_str(out, "\"stackTable\":{\"frame\":[");
	for (size_t i = 0; i < samples->nr_nodes; i++) {
		if (i)
			out_char(out, ',');
		out_u64(out, samples->nodes[i].name);
	}
	out_str(out, "],\"prefix\":[");
	for (size_t i = 0; i < samples->nr_nodes; i++) {
		if (i)
			out_char(out, ',');
		if (samples->nodes[i].below == TIMED_NO_NODE)
			out_str(out, "null");
		else
			out_u64(out, samples->nodes[i].below);
	}
	out_str(out, "],");
	put_same(out, "category", category, samples->nr_nodes);
	put_same(out, "subcategory", "0", samples->nr_nodes);
	out_f(out, "\"length\":%zu},", samples->nr_nodes);
}

/* A frame and a function for each name. */
static void put_functions(const struct writing *writing)
{
	size_t nr = writing->firefox->labels.nr;
	struct out *out = writing->out;
	char category[8];

	snprintf(category, sizeof(category), "%d", FIREFOX_FUNCTION);
	out_str(out, "\"frameTable\":{");
	put_same(out, "address", "-1", nr);
	put_same(out, "inlineDepth", "0", nr);
	put_same(out, "category", category, nr);
	put_same(out, "subcategory", "0", nr);
	put_numbers(out, "func", nr);
	put_same(out, "nativeSymbol", "null", nr);
	put_same(out, "innerWindowID", "0", nr);
	put_same(out, "line", "null", nr);
	put_same(out, "column", "null", nr);
	out_f(out, "\"length\":%zu},\"funcTable\":{", nr);
	put_numbers(out, "name", nr);
	put_same(out, "isJS", "false", nr);
	put_same(out, "relevantForJS", "false", nr);
	put_same(out, "resource", "-1", nr);
	put_same(out, "source", "null", nr);
	put_same(out, "lineNumber", "null", nr);
	put_same(out, "columnNumber", "null", nr);
	out_f(out, "\"length\":%zu},", nr);
	out_str(out, "\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]},"
		     "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},"
		     "\"sources\":{\"length\":0,\"uuid\":[],\"filename\":[]}},");
}

static void put_shared(const struct writing *writing)
{
	const struct labels *labels = &writing->firefox->labels;
	struct out *out = writing->out;

	out_str(out, "\"shared\":{\"stringArray\":[");
	for (size_t i = 0; i < labels->nr; i++) {
		if (i)
			out_char(out, ',');
		json_string(out, labels->at[i].text, labels->at[i].len);
	}
	out_str(out, "],");
	put_stacks(writing);
	put_functions(writing);
}

static void put_samples(const struct writing *writing, size_t from, size_t nr)
{
	const struct timed_sample *list = nr ? writing->list + from : NULL;
	struct out *out = writing->out;

	out_str(out, "\"samples\":{\"stack\":[");
	for (size_t i = 0; i < nr; i++) {
		if (i)
			out_char(out, ',');
		out_u64(out, list[i].node);
	}
	out_str(out, "],\"time\":[");
	for (size_t i = 0; i < nr; i++) {
		if (i)
			out_char(out, ',');
		put_time(writing, list[i].ts);
	}
	out_str(out, "],\"weight\":[");
	for (size_t i = 0; i < nr; i++) {
		if (i)
			out_char(out, ',');
		out_decimal_u64(out, list[i].weight, writing->weight == FIREFOX_COUNT ? 0 : NS_DIGITS);
	}
	out_f(out, "],\"weightType\":\"%s\",\"length\":%zu},",
	      writing->weight == FIREFOX_COUNT ? "samples" : "tracing-ms", nr);
}

enum column { COLUMN_NAME, COLUMN_START, COLUMN_END, COLUMN_PHASE, COLUMN_CATEGORY, COLUMN_DATA, NR_COLUMNS };

static void put_cell(const struct writing *writing, enum column column, const struct firefox_marker *marker)
{
	struct out *out = writing->out;

	switch (column) {
	case COLUMN_NAME:
		out_u64(out, marker->name);
		return;
	case COLUMN_START:
		put_time(writing, marker->start);
		return;
	case COLUMN_END:
		if (marker->instant)
			out_str(out, "null");
		else
			put_time(writing, marker->end);
		return;
	case COLUMN_PHASE:
		out_char(out, marker->instant ? '0' : '1');
		return;
	case COLUMN_CATEGORY:
		out_u64(out, marker->category);
		return;
	case COLUMN_DATA:
		out_f(out, "{\"type\":\"ftrace\",\"cpu\":%u,\"text\":", marker->cpu);
		json_string(out, writing->firefox->texts.start + marker->text, marker->len);
		out_char(out, '}');
		return;
	case NR_COLUMNS:
		return;
	}
}

static void put_markers(const struct writing *writing, size_t from, size_t nr)
{
	const struct firefox_marker *markers = nr ? writing->firefox->markers + from : NULL;
	static const char *const names[NR_COLUMNS] = { "name", "startTime", "endTime", "phase", "category", "data" };
	struct out *out = writing->out;

	out_str(out, "\"markers\":{");
	for (enum column column = 0; column < NR_COLUMNS; column++) {
		out_f(out, "\"%s\":[", names[column]);
		for (size_t i = 0; i < nr; i++) {
			if (i)
				out_char(out, ',');
			put_cell(writing, column, &markers[i]);
		}
		out_str(out, "],");
	}
	out_f(out, "\"length\":%zu}", nr);
}

static void put_thread(const struct writing *writing, uint32_t index, size_t *sample, size_t *marker)
{
	const struct firefox *firefox = writing->firefox;
	const struct firefox_thread *thread = &firefox->threads[index];
	size_t samples = *sample, markers = *marker;
	struct out *out = writing->out;

	while (*sample < writing->nr && writing->list[*sample].owner == index)
		++*sample;
	while (*marker < firefox->nr_markers && firefox->markers[*marker].thread == index)
		++*marker;
	out_str(out, index ? ",{\"name\":" : "{\"name\":");
	json_string(out, firefox->labels.at[thread->name].text, firefox->labels.at[thread->name].len);
	out_f(out, ",\"pid\":\"%d\",\"tid\":%d,\"processType\":\"default\",\"registerTime\":", thread->tgid,
	      thread->pid ? thread->pid : -1 - (int)index);
	put_time(writing, thread->first);
	out_str(out, ",\"unregisterTime\":");
	put_time(writing, thread->last);
	out_f(out, ",\"processStartupTime\":0,\"processShutdownTime\":null,\"pausedRanges\":[],\"isMainThread\":%s,",
	      thread->pid && thread->pid == thread->tgid ? "true" : "false");
	put_samples(writing, samples, *sample - samples);
	put_markers(writing, markers, *marker - markers);
	out_char(out, '}');
}

static int compare(const void *a, const void *b)
{
	const struct firefox_marker *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->text < right->text ? -1 : left->text > right->text;
}

static enum firefox_weight choose(const struct firefox *firefox)
{
	if (firefox->chosen >= 0)
		return (enum firefox_weight)firefox->chosen;
	for (enum firefox_weight weight = FIREFOX_SELF_TIME; weight < FIREFOX_WEIGHTS; weight++)
		if (firefox->samples[weight].weights.len)
			return weight;
	return FIREFOX_SELF_TIME;
}

bool firefox_write(struct firefox *firefox, struct out *out)
{
	struct writing writing = { .firefox = firefox, .out = out, .weight = choose(firefox) };
	size_t sample = 0, marker = 0;

	writing.samples = &firefox->samples[writing.weight];
	writing.list = timed_sorted(writing.samples, &writing.nr);
	if (!writing.list)
		return false;
	if (firefox->nr_markers)
		qsort(firefox->markers, firefox->nr_markers, sizeof(*firefox->markers), compare);
	put_meta(&writing);
	put_counters(&writing);
	put_shared(&writing);
	out_str(out, "\"threads\":[");
	for (uint32_t i = 0; i < firefox->nr_threads; i++)
		put_thread(&writing, i, &sample, &marker);
	out_str(out, "]}\n");
	free(writing.list);
	return true;
}
