// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/why/why_words_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/utf8.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/timeline/path.h"

/*
 * Paths as stacks: of each link the tasks from the one of the interval on, each of which waited for the next one, and
 * as the last frame what that one did. In which task a link lies that waits for no task, as a disk, is told by the
 * links after it: a wait ends with an act of the one that was waited for.
 */
enum { FRAMES_MAX = 66, FRAME = WHY_CAUSE + 32 };

/* The tasks of a link, from the end of its path back. */
struct chain {
	struct {
		int32_t pid; /* 0: not known */
		uint32_t name;
	} at[FRAMES_MAX];
	unsigned nr;
};

static void follow(struct chain *chain, const struct why_link *link)
{
	unsigned depth = link->depth < FRAMES_MAX - 2 ? link->depth : FRAMES_MAX - 2;

	for (; chain->nr <= depth; chain->nr++)
		chain->at[chain->nr].pid = 0;
	chain->nr = depth + 1;
	if (!link->pid)
		return;
	chain->at[depth].pid = link->pid;
	chain->at[depth].name = link->name;
}

/* What a link was, without its task: "waited behind node". */
static void put_state(const struct why_analysis *why, const struct why_link *link, char into[FRAME])
{
	const char *cause =
		link->state == WHY_UNKNOWN ? why_reasons[link->reason].text : why_log_text(&why->log, link->cause);

	snprintf(into, FRAME, "%s%s%s", why_states[link->state], *cause ? " " : "", cause);
}

static void put_task(const struct why_analysis *why, int32_t pid, uint32_t name, char into[FRAME])
{
	const char *comm = why_comm(why, pid, name);

	snprintf(into, FRAME, "%.32s-%" PRId32, task_shown(comm), pid);
}

/* Frames in which a line has no blank, and a name no semicolon, as flamegraph.pl needs it. */
static void put_folded(const char *frame, struct out *out)
{
	for (const char *end = frame + strlen(frame); frame < end;) {
		size_t size = utf8_len(frame, (size_t)(end - frame));

		if (size > 1)
			out_mem(out, frame, size);
		else
			out_char(out, *frame == ';' ? ':' : !size || *frame < ' ' || *frame == 0x7f ? '?' : *frame);
		frame += size ? size : 1;
	}
}

void why_forms_add(struct why_analysis *why, const struct why_path *path)
{
	struct why_forms *forms = &why->forms;
	struct chain chain = { .nr = 0 };
	char frame[FRAME];

	for (size_t i = path->nr; i-- > 0 && !forms->failed;) {
		const struct why_link *link = &path->links[i];
		uint32_t number;
		bool fresh;

		follow(&chain, link);
		out_clear(&why->scratch);
		for (unsigned k = 0; k < chain.nr; k++) {
			if (!chain.at[k].pid)
				continue;
			put_task(why, chain.at[k].pid, chain.at[k].name, frame);
			put_folded(frame, &why->scratch);
			out_char(&why->scratch, ';');
		}
		/* Where there are too many, all further ones are one. */
		if (forms->stacks.nr >= WHY_STACKS_MAX)
			out_clear(&why->scratch);
		put_state(why, link, frame);
		put_folded(forms->stacks.nr >= WHY_STACKS_MAX ? why_states[link->state] : frame, &why->scratch);
		number = labels_add(&forms->stacks, why->scratch.start, out_len(&why->scratch), &fresh);
		if (number == LABEL_NONE || (fresh && !vec_push(forms->ns, forms->nr)))
			forms->failed = true;
		else
			forms->ns[number] += link->to - link->from;
	}
}

void why_forms_release(struct why_forms *forms)
{
	labels_release(&forms->stacks);
	free(forms->ns);
}

static void write_folded(const struct why_forms *forms, struct out *out)
{
	for (uint32_t i = 0; i < forms->nr; i++) {
		out_mem(out, forms->stacks.at[i].text, forms->stacks.at[i].len);
		out_char(out, ' ');
		out_u64(out, forms->ns[i]);
		out_char(out, '\n');
	}
}

/* The frames of all links of a path, as numbers of names, in the order of time. */
struct frames {
	struct labels names;
	struct {
		uint32_t at[FRAMES_MAX];
		unsigned nr;
	} * links;
	bool failed;
};

static void add_frame(struct frames *frames, size_t link, const char *text)
{
	bool fresh;
	uint32_t name = labels_add(&frames->names, text, strlen(text), &fresh);

	frames->failed |= name == LABEL_NONE;
	frames->links[link].at[frames->links[link].nr++] = name;
}

static bool find_frames(const struct why_analysis *why, const struct why_path *path, struct frames *frames)
{
	struct chain chain = { .nr = 0 };
	char text[FRAME];

	frames->links = calloc(path->nr + 1, sizeof(*frames->links));
	if (!frames->links)
		return false;
	for (size_t i = path->nr; i-- > 0;) {
		follow(&chain, &path->links[i]);
		for (unsigned k = 0; k < chain.nr; k++) {
			if (!chain.at[k].pid)
				continue;
			put_task(why, chain.at[k].pid, chain.at[k].name, text);
			add_frame(frames, i, text);
		}
		put_state(why, &path->links[i], text);
		add_frame(frames, i, text);
	}
	return !frames->failed;
}

static void put_event(struct json *json, const char *type, uint32_t frame, uint64_t at)
{
	json_object(json);
	json_key(json, "type");
	json_put_text(json, type);
	json_key(json, "frame");
	json_put_u64(json, frame);
	json_key(json, "at");
	json_put_u64(json, at);
	json_end(json);
}

/* Closes the frames that the next link does not have, and opens those that only it has. */
static void put_events(struct json *json, const struct frames *frames, const struct why_found *found)
{
	unsigned open = 0, same;

	for (size_t i = 0; i <= found->path.nr; i++) {
		uint64_t at = (i < found->path.nr ? found->path.links[i].from : found->to) - found->from;
		unsigned wanted = i < found->path.nr ? frames->links[i].nr : 0;

		for (same = 0; same < open && same < wanted; same++)
			if (frames->links[i].at[same] != frames->links[i - 1].at[same])
				break;
		while (open > same)
			put_event(json, "C", frames->links[i - 1].at[--open], at);
		for (; open < wanted; open++)
			put_event(json, "O", frames->links[i].at[open], at);
	}
}

static void put_profile(const struct why_analysis *why, struct json *json, const struct frames *frames,
			const struct why_found *found)
{
	char name[128], at[PASS_MOMENT];

	snprintf(name, sizeof(name), "%s of %s-%" PRId32 " at %s", found->what, why_log_text(&why->log, found->name),
		 found->pid, pass_moment(why->pass, found->from, at));
	json_object(json);
	json_key(json, "type");
	json_put_text(json, "evented");
	json_key(json, "name");
	json_put_text(json, name);
	json_key(json, "unit");
	json_put_text(json, "nanoseconds");
	json_key(json, "startValue");
	json_put_u64(json, 0);
	json_key(json, "endValue");
	json_put_u64(json, found->to - found->from);
	json_key(json, "events");
	json_array(json);
	put_events(json, frames, found);
	json_end(json);
	json_end(json);
}

static bool write_speedscope(const struct why_analysis *why, size_t list, struct out *out)
{
	struct frames frames = { .links = NULL };
	bool ok = true;
	struct json json;

	labels_init(&frames.names);
	json_init(&json, out);
	json_object(&json);
	json_key(&json, "$schema");
	json_put_text(&json, "https://www.speedscope.app/file-format-schema.json");
	json_key(&json, "exporter");
	json_put_text(&json, "weft");
	json_key(&json, "profiles");
	json_array(&json);
	for (size_t i = 0; i < why->nr[list] && ok; i++) {
		ok = find_frames(why, &why->found[list][i].path, &frames);
		if (ok)
			put_profile(why, &json, &frames, &why->found[list][i]);
		free(frames.links);
	}
	json_end(&json);
	json_key(&json, "shared");
	json_object(&json);
	json_key(&json, "frames");
	json_array(&json);
	for (uint32_t i = 0; i < frames.names.nr; i++) {
		json_object(&json);
		json_key(&json, "name");
		json_put_bytes(&json, frames.names.at[i].text, frames.names.at[i].len);
		json_end(&json);
	}
	json_end(&json);
	json_end(&json);
	json_end(&json);
	json_line(&json);
	labels_release(&frames.names);
	return ok;
}

int why_forms_write(struct why_analysis *why, size_t list, struct fail *fail)
{
	struct out *out = why->pass->lines;

	if (why->forms.failed || !out)
		return fail_memory(fail);
	if (why->options.form == WHY_SPEEDSCOPE)
		return write_speedscope(why, list, out) ? 0 : fail_memory(fail);
	if (!why_adds(&why->options))
		for (size_t i = 0; i < why->nr[list]; i++)
			why_forms_add(why, &why->found[list][i].path);
	write_folded(&why->forms, out);
	return why->forms.failed ? fail_memory(fail) : 0;
}

static uint64_t fill_path(const struct why_analysis *why, const struct why_found *found, struct path_link *links,
			  struct path_task *tasks)
{
	struct chain chain = { .nr = 0 };
	uint64_t unknown = 0;

	for (size_t i = found->path.nr; i-- > 0;) {
		const struct why_link *link = &found->path.links[i];

		follow(&chain, link);
		links[i] = (struct path_link){
			.from = link->from,
			.to = link->to,
			.task = { link->pid, link->pid ? why_comm(why, link->pid, link->name) : "" },
			.state = why_states[link->state],
			.cause = link->state == WHY_UNKNOWN ? why_reasons[link->reason].text :
							      why_log_text(&why->log, link->cause),
			.depth = link->depth,
			.chain = tasks,
		};
		for (unsigned k = 0; k < chain.nr; k++)
			if (chain.at[k].pid)
				tasks[links[i].nr_chain++] =
					(struct path_task){ chain.at[k].pid,
							    why_comm(why, chain.at[k].pid, chain.at[k].name) };
		tasks += links[i].nr_chain;
		unknown += link->state == WHY_UNKNOWN ? link->to - link->from : 0;
	}
	return unknown;
}

/* A path has its links and then the tasks of all chains in one piece of memory. */
static int make_path(const struct why_analysis *why, const struct why_found *found, bool is_wakeup, struct path *ret)
{
	size_t tasks = 0;
	struct path_link *links;

	for (size_t i = 0; i < found->path.nr; i++)
		tasks += (found->path.links[i].depth < FRAMES_MAX ? found->path.links[i].depth : FRAMES_MAX) + 1U;
	links = calloc(1, found->path.nr * sizeof(*links) + tasks * sizeof(struct path_task) + 1);
	if (!links)
		return -ENOMEM;
	*ret = (struct path){
		.kind = is_wakeup ? "wakeup" : "call",
		.name = found->what,
		.task = { found->pid, why_log_text(&why->log, found->name) },
		.from = found->from,
		.to = found->to,
		.unknown = fill_path(why, found, links, (struct path_task *)&links[found->path.nr]),
		.links = links,
		.nr_links = found->path.nr,
	};
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct path *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? 1 : x->to > y->to ? -1 : x->task.pid < y->task.pid ? -1 : x->task.pid > y->task.pid;
}

int why_paths(const void *analysis, struct path **ret, size_t *ret_nr)
{
	const struct why_analysis *why = analysis;
	struct path *paths = calloc(why->nr[0] + why->nr[1] + 1, sizeof(*paths));
	size_t nr = 0;
	int r = paths ? 0 : -ENOMEM;

	for (size_t list = 0; list < array_size(why->found); list++)
		for (size_t i = 0; !r && i < why->nr[list]; i++) {
			r = make_path(why, &why->found[list][i], list > 0, &paths[nr]);
			nr += !r;
		}
	if (r) {
		why_paths_free(paths, nr);
		return r;
	}
	qsort(paths, nr, sizeof(*paths), by_begin);
	*ret = paths;
	*ret_nr = nr;
	return 0;
}

void why_paths_free(struct path *paths, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free((void *)(uintptr_t)paths[i].links);
	free(paths);
}
