// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/who_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/number.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/cgroup_words_internal.h"
#include "lib/meaning/follow/lives.h"
#include "lib/meaning/follow/roles.h"
#include "lib/pages/trace/trace.h"

enum {
	BATCH = 256,
	WORDS_MAX = 1 << 24,
	TEXTS_MAX = 1 << 28,
	FIELD_MAX = 8192,
	STREAMS_MAX = 256,
	MEMBERS_MIN = 1 << 16
};

/* CLONE_INTO_CGROUP of include/uapi/linux/sched.h: the task is born in another group, and no event says in which. */
#define INTO_CGROUP (UINT64_C(1) << 33)
/* CLONE_PARENT: the new process has the parent of the one that started it. */
#define OF_THE_SAME UINT64_C(0x8000)

enum role { ATTACH = 1, MKDIR, BORN };

static const struct role_name group_events[] = {
	{ "cgroup", "cgroup_attach_task", ATTACH },
	{ "cgroup", "cgroup_mkdir", MKDIR },
	/* A probe of record --quota: the group of a child, right before its task_newtask. */
	{ "weft", "cgroup_post_fork*", BORN },
	{ NULL, NULL, 0 },
};

/* The events of one buffer, in batches. */
struct stream {
	struct context *context;
	struct events *events;
	struct event *batch;
	int at, nr;
	uint64_t *last; /* by CPU: when it had its last event */
	size_t nr_last;
	bool *unused; /* by event_type::index: no event of this type tells anything */
	size_t nr_unused;
};

struct load {
	struct who *who;
	struct lives *lives;
	struct roles roles;
	struct places {
		struct place root, id, pid, path;
	} places[BORN + 1];
	struct u64_map paths;   /* by the text of the path: uint32_t, the program's index + 1 */
	struct u64_map ids;     /* of a group: uint32_t, its index + 1 */
	struct u64_map uids;    /* of a user: the same */
	struct u64_map called;  /* by the text of a container's or pod's id: uint32_t, that of its name */
	struct u64_map threads; /* by PID of the task: uint32_t, that of its process so far */
	struct u64_map members; /* by PID of the process: uint32_t, index + 1 of its last member */
	struct member {
		uint32_t pid, next;
	} * list;
	size_t nr_list;
	struct u64_map born;    /* by PID: uint32_t, the group of a child whose task_newtask is to come */
	struct u64_map started; /* by PID: uint64_t, when the task of the first list began */
	int64_t hierarchy;      /* -1: not known yet */
	uint64_t first, last;   /* times of the first and the last event */
	struct stream streams[STREAMS_MAX];
	size_t nr_streams;
};

uint32_t who_text_at(struct who *who, const char *text, size_t len)
{
	uint32_t number = LABEL_NONE;
	bool added = false;

	if (!who->texts.nr)
		who->starved |= labels_add(&who->texts, "", 0, &added) == LABEL_NONE;
	if (!len)
		return 1;
	if (who->texts_len < TEXTS_MAX)
		number = labels_add(&who->texts, text, len, &added);
	who->starved |= number == LABEL_NONE;
	who->texts_len += added ? len : 0;
	return number == LABEL_NONE ? 1 : number + 1;
}

/* A child is of the process of the task that it comes from. */
static enum who_fact inherited(enum who_fact fact)
{
	return fact == FACT_PARENT ? FACT_PROCESS : fact;
}

static void say_now(struct who *who, enum who_fact fact, const struct who_word *word)
{
	uint32_t value = word->value, from = word->from, *now;
	enum who_how how;

	if (!value && from && fact == FACT_PROGRAM)
		from = who_look(who, FACT_PROCESS, from, word->ts, &how);
	if (!value && from)
		value = who_look(who, inherited(fact), from, word->ts, &how);
	now = u64_map_add(&who->now[fact], word->key);
	who->starved |= !now;
	if (now)
		*now = value;
}

static void say(struct load *load, enum who_fact fact, const struct who_word *word)
{
	struct who_words *facts = &load->who->facts[fact];

	if (load->who->live) {
		say_now(load->who, fact, word);
		return;
	}

	struct who_word *added = facts->nr < WORDS_MAX ? vec_push(facts->at, facts->nr) : NULL;

	if (added)
		*added = *word;
	load->who->starved |= !added;
}

/* The index + 1 of a program; 0: unknown, or no memory. */
static uint32_t program_of(struct load *load, const char *path, size_t len)
{
	struct who *who = load->who;
	uint32_t text = len ? who_text_at(who, path, len) : 0;
	uint32_t *known = text ? u64_map_add(&load->paths, text) : NULL;
	const char *slash = len ? memrchr(path, '/', len) : NULL;
	struct who_name *name;

	who->starved |= text && !known;
	if (!known || *known)
		return known ? *known : 0;
	name = vec_push(who->programs, who->nr_programs);
	if (!name) {
		who->starved = true;
		return 0;
	}
	*name = (struct who_name){ .path = text };
	name->texts[WHO_PROGRAM] = slash ? who_text_at(who, slash + 1, (size_t)(path + len - slash - 1)) : name->path;
	return *known = (uint32_t)who->nr_programs;
}

/* The index + 1 of a group. `path` may be NULL: then it must be known. */
static uint32_t group_of(struct load *load, uint64_t id, const char *path, size_t len)
{
	static const enum who_part parts[] = {
		[CGROUP_UNIT] = WHO_UNIT, [CGROUP_CONTAINER] = WHO_CONTAINER, [CGROUP_POD] = WHO_POD
	};
	struct who *who = load->who;
	uint32_t *known = path ? u64_map_add(&load->ids, id) : u64_map_find(&load->ids, id);
	struct who_name *name;

	who->starved |= path && !known;
	if (!known || *known || !path)
		return known ? *known : 0;
	name = vec_push(who->groups, who->nr_groups);
	if (!name) {
		who->starved = true;
		return 0;
	}
	*name = (struct who_name){ .id = id, .path = who_text_at(who, path, len) };
	name->texts[WHO_CGROUP] = name->path;
	for (size_t i = 0; i < array_size(parts); i++) {
		char word[CGROUP_WORD];
		const uint32_t *call;

		cgroup_word(who_text_of(who, name->path), (enum cgroup_word)i, word);
		name->texts[parts[i]] = who_text_at(who, word, strlen(word));
		call = u64_map_find(&load->called, (uint64_t)parts[i] << 32 | name->texts[parts[i]]);
		if (call)
			name->texts[parts[i]] = *call;
	}
	return *known = (uint32_t)who->nr_groups;
}

/* The index + 1 of a user. */
static uint32_t user_of(struct load *load, uint64_t uid)
{
	struct who *who = load->who;
	uint32_t *known = u64_map_add(&load->uids, uid);
	struct who_name *name = known && !*known ? vec_push(who->users, who->nr_users) : NULL;
	char text[24];
	int len;

	if (known && *known)
		return *known;
	if (!name) {
		who->starved = true;
		return 0;
	}
	len = uid ? snprintf(text, sizeof(text), "%" PRIu64, uid) : snprintf(text, sizeof(text), "root");
	*name = (struct who_name){ .path = who_text_at(who, text, (size_t)len) };
	name->texts[WHO_USER] = name->path;
	return *known = (uint32_t)who->nr_users;
}

/* Takes a field up to `end` and undoes \xNN. Returns its length in `into`. */
static size_t take_field(const char **at, const char *end, char separator, char into[FIELD_MAX])
{
	size_t len = 0;

	while (*at < end && **at != separator) {
		unsigned char c = (unsigned char)*(*at)++;

		if (c == '\\' && end - *at >= 3 && **at == 'x') {
			const char digits[] = { (*at)[1], (*at)[2], '\0' };
			const char *digit = digits;
			uint64_t code;

			if (number_hex(&digit, &code) && !*digit && code) {
				c = (unsigned char)code;
				*at += 3;
			}
		}
		if (len < FIELD_MAX - 1)
			into[len++] = (char)c;
	}
	if (*at < end)
		(*at)++;
	into[len] = '\0';
	return len;
}

/* Takes numbers with blanks between them; false where there are fewer. */
static bool take_numbers(const char **at, const char *end, uint64_t *ret, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (*at >= end || !number_u64(at, &ret[i]) || *at >= end || (**at != ' ' && **at != '\t'))
			return false;
		(*at)++;
	}
	return true;
}

/* Lines "container ID" and "pod UID", and behind a tab what people call it. */
static void read_names(struct load *load, const char *setting)
{
	const struct context *context = load->who->context;
	struct trace_text text = own_setting(context->trace, context->buffer, setting);
	char field[FIELD_MAX];
	struct text_word line;

	while (text.text && text_next_line(&text.text, &text.len, &line)) {
		const char *at = line.at, *end = line.at + line.len;
		uint32_t id, *call;
		enum who_part part;
		size_t len;

		(void)take_field(&at, end, ' ', field);
		part = !strcmp(field, "pod") ? WHO_POD : WHO_CONTAINER;
		if (part == WHO_CONTAINER && strcmp(field, "container"))
			continue;
		len = take_field(&at, end, '\t', field);
		id = len ? who_text_at(load->who, field, len) : 0;
		len = take_field(&at, end, '\n', field);
		call = id && len ? u64_map_add(&load->called, (uint64_t)part << 32 | id) : NULL;
		load->who->starved |= id && len && !call;
		if (call)
			*call = who_text_at(load->who, field, len);
	}
}

static void read_groups(struct load *load, const char *setting)
{
	const struct context *context = load->who->context;
	struct trace_text text = own_setting(context->trace, context->buffer, setting);
	char path[FIELD_MAX];
	struct text_word line;

	while (text.text && text_next_line(&text.text, &text.len, &line)) {
		const char *at = line.at;
		uint64_t numbers[2];
		size_t len;

		if (!take_numbers(&at, line.at + line.len, numbers, array_size(numbers)))
			continue;
		len = take_field(&at, line.at + line.len, '\n', path);
		load->hierarchy = (int64_t)(numbers[0] & INT32_MAX);
		(void)group_of(load, numbers[1], path, len);
	}
}

static void join_process(struct load *load, uint32_t pid, uint32_t process)
{
	uint32_t *thread = u64_map_add(&load->threads, pid), *last = u64_map_add(&load->members, process);
	struct member *member = thread && last ? vec_push(load->list, load->nr_list) : NULL;

	if (!member) {
		load->who->starved = true;
		return;
	}
	*thread = process;
	*member = (struct member){ pid, *last };
	*last = (uint32_t)load->nr_list;
}

/* Fields of a line of weft/tasks. */
enum { TID, TGID, PPID, STARTTIME, UID, NSPID, CGROUP, NUMBERS };

static void take_task(struct load *load, const uint64_t numbers[NUMBERS], const char *program, size_t len, bool at_end)
{
	struct who_word word = { .ts = at_end ? UINT64_MAX : 0,
				 .key = (uint32_t)numbers[TID],
				 .value = (uint32_t)numbers[TGID],
				 .how = WHO_SCANNED,
				 .held = true };
	uint64_t *started = at_end ? u64_map_find(&load->started, word.key) : u64_map_add(&load->started, word.key);

	/* Another task has the PID since. */
	word.begins = at_end && started && *started != numbers[STARTTIME];
	if (!at_end && started)
		*started = numbers[STARTTIME];
	load->who->starved |= !at_end && !started;
	say(load, FACT_PROCESS, &word);
	if (!at_end)
		join_process(load, word.key, word.value);
	word.value = group_of(load, numbers[CGROUP], NULL, 0);
	if (word.value)
		say(load, FACT_GROUP, &word);
	word.value = user_of(load, numbers[UID]);
	if (word.value)
		say(load, FACT_USER, &word);
	if (numbers[TID] != numbers[TGID])
		return;
	word.value = program_of(load, program, len);
	if (word.value)
		say(load, FACT_PROGRAM, &word);
	word.value = numbers[PPID] <= INT32_MAX ? (uint32_t)numbers[PPID] : 0;
	if (word.value)
		say(load, FACT_PARENT, &word);
}

static void read_tasks(struct load *load, const char *setting, bool at_end)
{
	const struct context *context = load->who->context;
	struct trace_text text = own_setting(context->trace, context->buffer, setting);
	char program[FIELD_MAX];
	struct text_word line;

	while (text.text && text_next_line(&text.text, &text.len, &line)) {
		const char *at = line.at, *end = line.at + line.len;
		uint64_t numbers[NUMBERS];
		size_t len;

		if (!take_numbers(&at, end, numbers, NUMBERS) || !numbers[TID] || numbers[TID] > INT32_MAX ||
		    !numbers[TGID] || numbers[TGID] > INT32_MAX)
			continue;
		(void)take_field(&at, end, '\t', program); /* the name */
		len = take_field(&at, end, '\t', program);
		take_task(load, numbers, program, len, at_end);
	}
}

static bool is_self(const struct context *context, uint64_t pid)
{
	const char *at = context->self;
	int32_t self;

	while (context_next_self(&at, &self))
		if (self >= 0 && (uint64_t)self == pid)
			return true;
	return false;
}

int32_t who_command(const struct context *context)
{
	struct trace_text text = own_setting(context->trace, context->buffer, "weft/tasks");
	int32_t found = 0;
	struct text_word line;

	while (context->self && text.text && text_next_line(&text.text, &text.len, &line)) {
		const char *at = line.at;
		uint64_t numbers[NUMBERS];

		if (!take_numbers(&at, line.at + line.len, numbers, NUMBERS) || numbers[TID] > INT32_MAX ||
		    numbers[TID] != numbers[TGID] || !is_self(context, numbers[PPID]) || is_self(context, numbers[TID]))
			continue;
		if (found)
			return 0;
		found = (int32_t)numbers[TID];
	}
	return found;
}

static void see_birth(struct load *load, const struct life *life, const struct event *event)
{
	uint32_t pid = (uint32_t)life->pid, parent = (uint32_t)life->parent_pid,
		 *of_parent = u64_map_find(&load->threads, parent), *born = u64_map_find(&load->born, pid);
	struct who_word word = { .ts = event->ts, .key = pid, .from = parent, .how = WHO_FOLLOWED, .begins = true };
	bool known = life->known & LIFE_FLAGS, thread = life_is_thread(life);
	struct who_word process = word;

	load->who->flags_known |= known;
	if (!thread)
		process.from = 0;
	if (!thread && known)
		process.value = pid;
	say(load, FACT_PROCESS, &process);
	if (!thread)
		say(load, FACT_PROGRAM, &word);
	if (!thread && known && !(life->flags & OF_THE_SAME))
		say(load, FACT_PARENT, &word);
	if (born && *born) {
		word.from = 0;
		word.value = *born;
		*born = 0;
	} else if (known && life->flags & INTO_CGROUP)
		word.from = 0;
	else if (!known)
		word.how = WHO_GUESSED;
	say(load, FACT_GROUP, &word);
	/* No event says that a task becomes another user. */
	word.value = 0;
	word.from = parent;
	word.how = WHO_GUESSED;
	say(load, FACT_USER, &word);
	join_process(load, pid, !thread ? pid : of_parent ? *of_parent : 0);
}

static void see_exec(struct load *load, const struct life *life, const struct event *event)
{
	struct who_word word = { .ts = event->ts,
				 .key = (uint32_t)life->pid,
				 .value = (uint32_t)life->pid,
				 .how = WHO_FOLLOWED,
				 .held = true };
	const char *path = NULL;
	size_t len = 0;

	say(load, FACT_PROCESS, &word);
	if (life->program != LIFE_NONE)
		path = lives_program(load->lives, life->program, &len);
	word.value = program_of(load, path, len);
	word.held = false;
	say(load, FACT_PROGRAM, &word);
}

/* The kernel writes one event for a process; what it moved is said by its PID, which is the first thread's. */
static void move_all(struct load *load, struct who_word word)
{
	uint32_t process = word.key, *last = u64_map_find(&load->members, process), *link = last;

	say(load, FACT_GROUP, &word);
	while (link && *link) {
		struct member *member = &load->list[*link - 1];
		const uint32_t *of = u64_map_find(&load->threads, member->pid);

		if (!of || *of != process || member->pid == process) {
			*link = member->next; /* it has ended, or comes by itself */
			continue;
		}
		word.key = member->pid;
		say(load, FACT_GROUP, &word);
		link = &member->next;
	}
}

static void see_group(struct load *load, const struct event *event, enum role role)
{
	const struct places *places = &load->places[role];
	int64_t root = place_s64(&places->root, event);
	uint32_t pid = role == ATTACH ? (uint32_t)place_u64(&places->pid, event) : 0, *process, *born;
	const char *path;
	size_t len;

	if (role == BORN) {
		born = u64_map_add(&load->born, (uint32_t)place_u64(&places->pid, event));
		load->who->starved |= !born;
		if (born)
			*born = group_of(load, place_u64(&places->id, event), NULL, 0);
		return;
	}
	if (load->hierarchy < 0)
		load->hierarchy = root;
	if (root != load->hierarchy || !place_string(&places->path, event, &path, &len))
		return;
	process = u64_map_find(&load->threads, pid);
	struct who_word word = { .ts = event->ts,
				 .key = pid,
				 .value = group_of(load, place_u64(&places->id, event), path, len),
				 .how = WHO_FOLLOWED };
	if (role == ATTACH && process && *process == pid)
		move_all(load, word);
	else if (role == ATTACH)
		say(load, FACT_GROUP, &word);
}

static void bind(struct load *load, const struct event *event, enum role role)
{
	struct places *places = &load->places[role];
	bool attach = role == ATTACH;

	if (role == BORN) {
		(void)place_find(&places->pid, event->type, "pid");
		(void)place_find(&places->id, event->type, "id");
		return;
	}
	(void)place_find(&places->root, event->type, attach ? "dst_root" : "root");
	(void)place_find(&places->id, event->type, attach ? "dst_id" : "id");
	(void)place_find(&places->path, event->type, attach ? "dst_path" : "path");
	if (attach)
		(void)place_find(&places->pid, event->type, "pid");
}

static void add_loss(struct who *who, uint64_t start, uint64_t end)
{
	struct who_loss *loss = who->nr_losses < WORDS_MAX ? vec_push(who->losses, who->nr_losses) : NULL;

	if (loss)
		*loss = (struct who_loss){ .start = start, .end = end };
	who->starved |= !loss;
}

/* Of a file that does not say what was recorded: what occurs was. */
static void see_occurs(struct load *load, const struct stream *stream, enum who_fact fact)
{
	if (stream && !stream->context->switched_on)
		load->who->facts[fact].followed = true;
}

static inline bool is_unused(const struct stream *stream, const struct event *event)
{
	return event->type->index < stream->nr_unused && stream->unused[event->type->index];
}

/* Nearly all events are of such types. */
static void note_unused(struct load *load, struct stream *stream, const struct event *event)
{
	while (stream->nr_unused <= event->type->index)
		if (!vec_push(stream->unused, stream->nr_unused)) {
			load->who->starved = true;
			return;
		}
	stream->unused[event->type->index] = true;
}

/* `stream` is NULL for events of a running kernel. */
static void learn(struct load *load, struct stream *stream, const struct event *event)
{
	uint32_t number;
	bool fresh;
	uint8_t role = roles_of(&load->roles, event, &fresh);

	if (role && fresh)
		bind(load, event, (enum role)role);
	if (role) {
		see_occurs(load, stream, FACT_GROUP);
		see_group(load, event, (enum role)role);
		return;
	}
	role = lives_look(load->lives, event);
	if (!role || lives_is_reason(role)) {
		if (stream)
			note_unused(load, stream, event);
		return;
	}
	switch (lives_see(load->lives, event, role, &number)) {
	case LIFE_FORKED:
		see_occurs(load, stream, FACT_PROCESS);
		see_birth(load, lives_at(load->lives, number), event);
		break;
	case LIFE_EXECED:
		see_occurs(load, stream, FACT_PROGRAM);
		see_exec(load, lives_at(load->lives, number), event);
		break;
	case LIFE_EXITED:
		join_process(load, (uint32_t)lives_at(load->lives, number)->pid, 0);
		break;
	case LIFE_RENAMED:
	case LIFE_NOTHING:
		break;
	}
}

static inline void see(struct load *load, struct stream *stream, const struct event *event)
{
	while (stream->nr_last <= event->cpu) {
		uint64_t *added = vec_push(stream->last, stream->nr_last);

		if (!added) {
			load->who->starved = true;
			return;
		}
		*added = 0;
	}
	if (event->kind == EVENT_LOST)
		add_loss(load->who, stream->last[event->cpu], event->ts);
	load->first = load->last ? load->first : event->ts;
	load->last = event->ts;
	stream->last[event->cpu] = event->ts;
	if (event->kind != EVENT_LOST && !is_unused(stream, event))
		learn(load, stream, event);
}

/* Whether a recording has this event of all tasks: its settings name all that it has. */
static bool has_event(const struct context *context, const char *event)
{
	const char *at = context->switched_on;
	struct text_word line;

	while (at && text_next_word(&at, "\n", &line))
		if (text_word_is(line, event))
			return !context->selected && (!context->filters || !strstr(context->filters, event));
	return false;
}

static bool may_tell(const struct context *context)
{
	const char *on = context->recorded ? context->switched_on : NULL;

	return !on || strstr(on, "sched:sched_process_") || strstr(on, "task:") || strstr(on, "cgroup:") ||
	       strstr(on, "cgroup_post_fork");
}

static void open_stream(struct load *load, struct context *context)
{
	struct events_options options = { .until = UINT64_MAX };
	struct stream *stream = &load->streams[load->nr_streams];
	bool forks, born;
	int r;

	if (!may_tell(context) || load->nr_streams == STREAMS_MAX)
		return;
	*stream = (struct stream){ .context = context, .batch = calloc(BATCH, sizeof(*stream->batch)) };
	r = stream->batch ? events_open(context, &options, &stream->events, NULL) : -ENOMEM;
	load->who->starved |= r == -ENOMEM;
	if (r) {
		free(stream->batch);
		return;
	}
	load->nr_streams++;
	born = has_event(context, "task:task_newtask");
	forks = born || has_event(context, "sched:sched_process_fork");
	load->who->facts[FACT_PROCESS].followed |= forks;
	load->who->flags_known |= born;
	load->who->facts[FACT_PROGRAM].followed |= forks && has_event(context, "sched:sched_process_exec");
	load->who->facts[FACT_GROUP].followed |=
		born && has_event(context, "cgroup:cgroup_attach_task") && !context_has_pids(context);
}

/* 1: the stream has a next event. */
static int refill(struct load *load, struct stream *stream)
{
	if (stream->at < stream->nr)
		return 1;
	stream->at = 0;
	stream->nr = events_batch(stream->events, stream->batch, BATCH, NULL);
	load->who->starved |= stream->nr == -ENOMEM;
	return stream->nr > 0;
}

static struct stream *next_stream(struct load *load)
{
	struct stream *first = NULL;

	for (size_t i = 0; i < load->nr_streams; i++) {
		struct stream *stream = &load->streams[i];

		if (refill(load, stream) <= 0)
			continue;
		if (!first || stream->batch[stream->at].ts < first->batch[first->at].ts)
			first = stream;
	}
	return first;
}

static void read_events(struct load *load)
{
	const struct context *of = load->who->context;
	struct context *beside[STREAMS_MAX];
	struct stream *stream;
	size_t nr = 0;

	for (size_t i = 0; i < trace_buffers(of->trace) && nr < STREAMS_MAX; i++) {
		int r = context_new(of->trace, i, &beside[nr], NULL);

		load->who->starved |= r == -ENOMEM;
		if (r)
			continue;
		if (context_shares_times(of, beside[nr]))
			open_stream(load, beside[nr++]);
		else
			context_free(beside[nr]);
	}
	while ((stream = next_stream(load)))
		do {
			struct event *event = &stream->batch[stream->at++];

			event->buffer = (uint16_t)(stream - load->streams);
			see(load, stream, event);
		} while (load->nr_streams == 1 && stream->at < stream->nr);
	for (size_t i = 0; i < load->nr_streams; i++) {
		events_free(load->streams[i].events);
		free(load->streams[i].batch);
		free(load->streams[i].last);
		free(load->streams[i].unused);
	}
	for (size_t i = 0; i < nr; i++)
		context_free(beside[i]);
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct who_words *facts = arg;
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
	const struct who_word *first = &facts->at[one], *second = &facts->at[other];

	if (first->key != second->key)
		return first->key < second->key ? -1 : 1;
	if (first->ts != second->ts)
		return first->ts < second->ts ? -1 : 1;
	return one < other ? -1 : one > other;
}

static void sort_words(struct who *who)
{
	for (size_t i = 0; i < FACTS; i++) {
		struct who_words *facts = &who->facts[i];

		facts->sorted = facts->nr ? malloc(facts->nr * sizeof(*facts->sorted)) : NULL;
		who->starved |= facts->nr && !facts->sorted;
		for (size_t j = 0; facts->sorted && j < facts->nr; j++)
			facts->sorted[j] = (uint32_t)j;
		if (facts->sorted)
			qsort_r(facts->sorted, facts->nr, sizeof(*facts->sorted), compare, facts);
	}
}

static int compare_losses(const void *a, const void *b)
{
	const struct who_loss *one = a, *other = b;

	return one->start < other->start ? -1 : one->start > other->start;
}

static void sort_losses(struct who *who)
{
	uint64_t latest = 0;

	if (who->nr_losses)
		qsort(who->losses, who->nr_losses, sizeof(*who->losses), compare_losses);
	for (size_t i = 0; i < who->nr_losses; i++) {
		latest = who->losses[i].end > latest ? who->losses[i].end : latest;
		who->losses[i].latest = latest;
	}
}

/* A task begins as the one that it comes from. In the order of time, so that what came before is complete. */
static void inherit(struct who *who, enum who_fact fact)
{
	struct who_words *facts = &who->facts[fact];

	for (size_t i = 0; i < facts->nr; i++) {
		struct who_word *word = &facts->at[i];
		enum who_how how, process_how = WHO_FOLLOWED;
		uint32_t from = word->from;

		if (!from)
			continue;
		if (fact == FACT_PROGRAM)
			from = who_look(who, FACT_PROCESS, from, word->ts, &process_how);
		word->value = from ? who_look(who, inherited(fact), from, word->ts, &how) : 0;
		if (!word->value)
			word->how = WHO_UNKNOWN;
		else if (how == WHO_GUESSED || process_how == WHO_GUESSED)
			word->how = WHO_GUESSED;
	}
}

static struct load *load_new(struct who *who)
{
	struct load *load = calloc(1, sizeof(*load));

	if (load)
		load->lives = lives_new();
	if (!load || !load->lives) {
		free(load);
		who->starved = true;
		return NULL;
	}
	load->who = who;
	load->hierarchy = -1;
	roles_init(&load->roles, group_events);
	u64_map_init(&load->paths, sizeof(uint32_t));
	u64_map_init(&load->ids, sizeof(uint32_t));
	u64_map_init(&load->uids, sizeof(uint32_t));
	u64_map_init(&load->called, sizeof(uint32_t));
	u64_map_init(&load->threads, sizeof(uint32_t));
	u64_map_init(&load->members, sizeof(uint32_t));
	u64_map_init(&load->born, sizeof(uint32_t));
	u64_map_init(&load->started, sizeof(uint64_t));
	return load;
}

static void load_free(struct load *load)
{
	load->who->starved |= lives_failed(load->lives) || load->roles.failed;
	lives_free(load->lives);
	roles_release(&load->roles);
	u64_map_release(&load->paths);
	u64_map_release(&load->ids);
	u64_map_release(&load->uids);
	u64_map_release(&load->called);
	u64_map_release(&load->threads);
	u64_map_release(&load->members);
	u64_map_release(&load->born);
	u64_map_release(&load->started);
	free(load->list);
	free(load);
}

static void read_start(struct load *load)
{
	read_names(load, "weft/containers");
	read_names(load, "weft/containers_end");
	read_groups(load, "weft/cgroups");
	read_groups(load, "weft/cgroups_end");
	read_tasks(load, "weft/tasks", false);
	read_tasks(load, "weft/tasks_before", false);
}

void who_load(struct who *who)
{
	struct load *load = load_new(who);

	if (!load)
		return;
	read_start(load);
	read_events(load);
	read_tasks(load, "weft/tasks_end", true);
	read_tasks(load, "weft/tasks_after", true);
	if (load->started.len && own_setting(who->context->trace, who->context->buffer, "weft/tasks_before").text)
		add_loss(who, 0, load->first);
	if (own_setting(who->context->trace, who->context->buffer, "weft/tasks_after").text)
		add_loss(who, load->last, UINT64_MAX);
	sort_losses(who);
	sort_words(who);
	for (size_t i = 0; i < FACTS; i++)
		inherit(who, (enum who_fact)i);
	load_free(load);
}

struct who_live {
	struct load *load;
	size_t kept; /* number of members when the ended ones were forgotten */
};

struct who_live *who_live_new(struct who *who)
{
	struct who_live *live = calloc(1, sizeof(*live));

	if (live)
		live->load = load_new(who);
	if (!live || !live->load) {
		free(live);
		return NULL;
	}
	who->live = live;
	read_start(live->load);
	return live;
}

void who_live_free(struct who_live *live)
{
	if (live)
		load_free(live->load);
	free(live);
}

/* Memory grows with the tasks that live, not with those that have lived. */
static void forget_ended(struct load *load)
{
	struct lives *lives = lives_new();
	uint32_t *process;
	uint64_t pid;

	load->who->starved |= !lives;
	if (!lives)
		return;
	lives_free(load->lives);
	load->lives = lives;
	free(load->list);
	load->list = NULL;
	load->nr_list = 0;
	u64_map_clear(&load->members);
	u64_map_clear(&load->born);
	for (size_t at = 0; (process = u64_map_next(&load->threads, &at, &pid));) {
		uint32_t *last = *process ? u64_map_add(&load->members, *process) : NULL;
		struct member *member = last ? vec_push(load->list, load->nr_list) : NULL;

		load->who->starved |= *process && !member;
		if (!member)
			continue;
		*member = (struct member){ (uint32_t)pid, *last };
		*last = (uint32_t)load->nr_list;
	}
}

void who_live_see(struct who_live *live, const struct event *event)
{
	struct load *load = live->load;

	if (event->kind == EVENT_LOST) {
		load->who->unsure = true;
		return;
	}
	learn(load, NULL, event);
	if (load->nr_list < 2 * live->kept + MEMBERS_MIN)
		return;
	forget_ended(load);
	live->kept = load->nr_list;
}
