// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/who_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/text.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/cgroup_words_internal.h"
#include "lib/pages/trace/trace.h"

static const char *const words[] = { WHO_WORDS };
_Static_assert(array_size(words) == WHO_PARTS, "each part has a word");

const char *who_part_word(enum who_part part)
{
	return (size_t)part < array_size(words) ? words[part] : NULL;
}

static void who_free(struct context_later *made)
{
	struct who *who = (struct who *)made;

	for (size_t i = 0; i < FACTS; i++) {
		free(who->facts[i].at);
		free(who->facts[i].sorted);
	}
	free(who->losses);
	free(who->programs);
	free(who->groups);
	free(who->users);
	labels_release(&who->texts);
	who_live_free(who->live);
	for (size_t i = 0; i < FACTS; i++)
		u64_map_release(&who->now[i]);
	pthread_mutex_destroy(&who->lock);
	free(who);
}

static struct who *who_new(const struct context *context)
{
	struct who *who = calloc(1, sizeof(*who));

	if (!who)
		return NULL;
	who->later.free = who_free;
	who->context = context;
	pthread_mutex_init(&who->lock, NULL);
	labels_init(&who->texts);
	for (size_t i = 0; i < FACTS; i++)
		u64_map_init(&who->now[i], sizeof(uint32_t));
	return who;
}

/* That of the context, which keeps it. NULL without memory. */
static struct who *who_of(const struct context *context)
{
	struct context_later *made = atomic_load_explicit(&context->who->made, memory_order_acquire);
	struct who *who = made ? (struct who *)made : who_new(context);

	if (!who) {
		context_lacks_memory(context);
		return NULL;
	}
	if (!made && !atomic_compare_exchange_strong(&context->who->made, &made, &who->later)) {
		who_free(&who->later);
		who = (struct who *)made;
	}
	if (atomic_load_explicit(&who->loaded, memory_order_acquire))
		return who;
	pthread_mutex_lock(&who->lock);
	if (!atomic_load_explicit(&who->loaded, memory_order_relaxed)) {
		who_load(who);
		if (who->starved)
			context_lacks_memory(context);
		atomic_store_explicit(&who->loaded, true, memory_order_release);
	}
	pthread_mutex_unlock(&who->lock);
	return who;
}

int32_t who_process(const struct context *context, int32_t pid, uint64_t ts, enum who_how *ret_how)
{
	const struct who *who = pid > 0 ? who_of(context) : NULL;
	enum who_how how = WHO_UNKNOWN;
	int32_t process = who ? (int32_t)who_look(who, FACT_PROCESS, (uint32_t)pid, ts, &how) : 0;

	if (!process && pid > 0) {
		process = task_tgid(context->tasks, pid);
		how = process > 0 ? WHO_GUESSED : WHO_UNKNOWN;
	}
	if (ret_how)
		*ret_how = how;
	return process > 0 ? process : 0;
}

int32_t who_parent(const struct context *context, int32_t process, uint64_t ts)
{
	const struct who *who = process > 0 ? who_of(context) : NULL;
	enum who_how how;

	return who ? (int32_t)who_look(who, FACT_PARENT, (uint32_t)process, ts, &how) : 0;
}

static const struct who_name *program_of(const struct who *who, int32_t process, uint64_t ts, enum who_how *ret_how)
{
	uint32_t program = process > 0 && who ? who_look(who, FACT_PROGRAM, (uint32_t)process, ts, ret_how) : 0;

	return program ? &who->programs[program - 1] : NULL;
}

uint32_t who_is(const struct context *context, enum who_part part, int32_t pid, uint64_t ts, enum who_how *ret_how)
{
	const struct who *who = pid > 0 ? who_of(context) : NULL;
	enum who_how how = WHO_UNKNOWN, process_how = WHO_FOLLOWED;
	const struct who_name *name = NULL;
	uint32_t group, user;
	int32_t process;

	if (part == WHO_PROCESS)
		return (uint32_t)who_process(context, pid, ts, ret_how);
	if (who && part == WHO_PROGRAM) {
		process = who_process(context, pid, ts, &process_how);
		name = program_of(who, process, ts, &how);
	} else if (who && part == WHO_USER) {
		user = who_look(who, FACT_USER, (uint32_t)pid, ts, &how);
		name = user ? &who->users[user - 1] : NULL;
	} else if (who) {
		group = who_look(who, FACT_GROUP, (uint32_t)pid, ts, &how);
		name = group ? &who->groups[group - 1] : NULL;
	}
	if (ret_how)
		*ret_how = !name ? WHO_UNKNOWN : process_how < how ? process_how : how;
	return name ? name->texts[part] : WHO_NOBODY;
}

uint64_t who_group(const struct context *context, int32_t pid, uint64_t ts)
{
	const struct who *who = pid > 0 ? who_of(context) : NULL;
	enum who_how how;
	uint32_t group = who ? who_look(who, FACT_GROUP, (uint32_t)pid, ts, &how) : 0;

	return group ? who->groups[group - 1].id : 0;
}

const char *who_text(const struct context *context, enum who_part part, uint32_t who)
{
	const struct who *of = who ? who_of(context) : NULL;
	enum who_how how;

	if (of && part == WHO_PROCESS) {
		const struct who_name *name = program_of(of, (int32_t)who, UINT64_MAX, &how);

		return name ? who_text_of(of, name->texts[WHO_PROGRAM]) :
			      context_comm(context, (int32_t)who, COMMS_LAST).text;
	}
	return of && who <= of->texts.nr ? who_text_of(of, who) : "(unknown)";
}

const char *who_program(const struct context *context, int32_t process, uint64_t ts, enum who_how *ret_how)
{
	const struct who *who = process > 0 ? who_of(context) : NULL;
	enum who_how how = WHO_UNKNOWN;
	const struct who_name *name = program_of(who, process, ts, &how);

	if (ret_how)
		*ret_how = how;
	return name ? who_text_of(who, name->path) : NULL;
}

/* A path that begins with '/' means the groups below, too. */
static bool is_below(const char *word, const char *path)
{
	size_t len = strlen(word);

	return *word == '/' && !strncmp(word, path, len) && (word[len - 1] == '/' || path[len] == '/');
}

/* Kubernetes: the name may be written without its namespace and pod. */
static bool matches_last(const char *word, const char *text)
{
	const char *slash = strrchr(text, '/');

	return slash && text_glob(word, slash + 1);
}

bool who_text_matches(enum who_part part, const char *word, const char *text)
{
	size_t len = strlen(word), unit = strlen(text), tail = strlen(".service");

	if (!*text)
		return false;
	if (text_glob(word, text))
		return true;
	switch (part) {
	case WHO_UNIT: {
		char bare[256];

		if (unit <= tail || unit - tail >= sizeof(bare) || strcmp(text + unit - tail, ".service"))
			return false;
		memcpy(bare, text, unit - tail);
		bare[unit - tail] = '\0';
		return text_glob(word, bare);
	}
	case WHO_CONTAINER:
		return (len >= 4 && !strncmp(word, text, len)) || matches_last(word, text);
	case WHO_CGROUP:
		return is_below(word, text);
	case WHO_POD:
		return matches_last(word, text);
	case WHO_PROCESS:
	case WHO_PROGRAM:
	case WHO_USER:
	case WHO_PARTS:
		break;
	}
	return false;
}

const char *who_path_text(enum who_part part, const char *path, char into[WHO_PATH_TEXT])
{
	static const enum cgroup_word words_of[WHO_PARTS] = {
		[WHO_UNIT] = CGROUP_UNIT, [WHO_CONTAINER] = CGROUP_CONTAINER, [WHO_POD] = CGROUP_POD
	};

	_Static_assert((int)WHO_PATH_TEXT == (int)CGROUP_WORD, "the same");
	if (part == WHO_CGROUP)
		return path;
	*into = '\0';
	if (part == WHO_UNIT || part == WHO_CONTAINER || part == WHO_POD)
		cgroup_word(path, words_of[part], into);
	return into;
}

bool who_path_matches(enum who_part part, const char *word, const char *path)
{
	char text[WHO_PATH_TEXT];

	return who_text_matches(part, word, who_path_text(part, path, text));
}

static bool is_process(const struct context *context, const char *word, int32_t pid, uint64_t ts)
{
	uint32_t process = (uint32_t)who_process(context, pid, ts, NULL), program;
	char *end;
	long number = strtol(word, &end, 10);

	if (!process)
		return false;
	if (end > word && !*end && number == (long)process)
		return true;
	program = who_is(context, WHO_PROGRAM, pid, ts, NULL);
	/* Its first thread may have a name of its own. */
	return (program && text_glob(word, who_text(context, WHO_PROGRAM, program))) ||
	       text_glob(word, context_comm(context, (int32_t)process, COMMS_LAST).text);
}

static bool meets(const struct context *context, const struct who_want *want, int32_t pid, uint64_t ts)
{
	uint32_t who;

	if (want->part == WHO_PROCESS)
		return is_process(context, want->word, pid, ts);
	who = who_is(context, want->part, pid, ts, NULL);
	if (!who)
		return false;
	/* It may be called by its id although it has a name. */
	return who_text_matches(want->part, want->word, who_text(context, want->part, who)) ||
	       ((want->part == WHO_CONTAINER || want->part == WHO_POD) &&
		who_path_matches(want->part, want->word,
				 who_text(context, WHO_CGROUP, who_is(context, WHO_CGROUP, pid, ts, NULL))));
}

static uint64_t earlier(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

/* Up to when nothing changes. */
static uint64_t known_until(const struct who *who, int32_t pid, uint64_t ts)
{
	uint64_t until = who_next(who, FACT_PROCESS, (uint32_t)pid, ts);
	int32_t process = who_process(who->context, pid, ts, NULL);
	size_t loss = who_losses_until(who, ts);

	until = earlier(until, who_next(who, FACT_GROUP, (uint32_t)pid, ts));
	until = earlier(until, who_next(who, FACT_USER, (uint32_t)pid, ts));
	if (process)
		until = earlier(until, who_next(who, FACT_PROGRAM, (uint32_t)process, ts));
	/* A loss makes unknown what is behind its start, and what is said later vouches for no time before its end. */
	if (loss < who->nr_losses)
		until = earlier(until, who->losses[loss].start + 1);
	if (loss && who->losses[loss - 1].latest > ts)
		until = earlier(until, who->losses[loss - 1].latest);
	return until > ts ? until : ts + 1;
}

uint64_t who_until(const struct context *context, int32_t pid, uint64_t ts)
{
	const struct who *who = pid > 0 ? who_of(context) : NULL;

	return who ? known_until(who, pid, ts) : UINT64_MAX;
}

bool who_wants(const struct context *context, const struct who_want *wants, size_t nr, int32_t pid, uint64_t ts,
	       uint64_t *ret_until)
{
	const struct who *who = pid > 0 ? who_of(context) : NULL;
	unsigned asked = 0, met = 0;

	for (size_t i = 0; i < nr; i++) {
		unsigned part = 1u << wants[i].part;

		asked |= part;
		if (!(met & part) && who && meets(context, &wants[i], pid, ts))
			met |= part;
	}
	if (ret_until)
		*ret_until = who ? known_until(who, pid, ts) : UINT64_MAX;
	return met == asked;
}

/* Whether events or the kernel's own list, which may be of any task, tell the process of a new one. */
static bool may_know(const struct who *who)
{
	const struct context *context = who->context;

	return who->facts[FACT_PROCESS].followed || !context->switched_on || context->selected ||
	       trace_setting(context->trace, context->buffer, "saved_tgids").len ||
	       trace_setting(context->trace, 0, "saved_tgids").len;
}

bool who_leaves_out(const struct context *context, enum who_part part, uint64_t *ret_tasks, const char **ret_event)
{
	const struct who *who = who_of(context);
	const struct who_words *facts = who ? &who->facts[FACT_PROCESS] : NULL;
	uint64_t tasks = 0;

	if (!who || who->live)
		return false;
	for (size_t i = 0; i < facts->nr; i++)
		tasks += facts->at[i].begins && facts->at[i].ts != UINT64_MAX &&
			 !who_is(context, part, (int32_t)facts->at[i].key, facts->at[i].ts, NULL);
	if (!tasks && may_know(who))
		return false;
	*ret_tasks = tasks;
	*ret_event = who->flags_known ? NULL : "task:task_newtask";
	return true;
}

void who_follow(const struct context *context, const struct event *event)
{
	struct context_later *made = atomic_load_explicit(&context->who->made, memory_order_acquire);
	struct who *who = (struct who *)made;

	if (!made) {
		who = who_new(context);
		if (who)
			who->live = who_live_new(who);
		if (!who || !who->live) {
			if (who)
				who_free(&who->later);
			context_lacks_memory(context);
			return;
		}
		atomic_store_explicit(&who->loaded, true, memory_order_release);
		atomic_store_explicit(&context->who->made, &who->later, memory_order_release);
	}
	if (who->live)
		who_live_see(who->live, event);
	if (who->starved)
		context_lacks_memory(context);
}

void who_each(const struct context *context, enum who_part part, void (*see)(const char *text, void *arg), void *arg)
{
	const struct who *who = who_of(context);
	bool programs = part == WHO_PROCESS || part == WHO_PROGRAM, users = part == WHO_USER;
	const struct who_name *names;
	size_t nr;

	if (!who)
		return;
	names = programs ? who->programs : users ? who->users : who->groups;
	nr = programs ? who->nr_programs : users ? who->nr_users : who->nr_groups;
	for (size_t i = 0; i < nr; i++) {
		const char *text = who_text_of(who, names[i].texts[programs ? WHO_PROGRAM : part]);

		if (*text)
			see(text, arg);
	}
}
