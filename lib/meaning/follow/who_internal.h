/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_WHO_INTERNAL_H
#define WEFT_MEANING_FOLLOW_WHO_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "lib/ground/base/labels.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/follow/who.h"

/* What is known of whom: of a task its process, its group and its user, of a process its program and its parent. */
enum who_fact { FACT_PROCESS, FACT_PROGRAM, FACT_GROUP, FACT_USER, FACT_PARENT, FACTS };

/* From this time on. Words are kept in the order of time; a list at the start has time 0, one at the end UINT64_MAX. */
struct who_word {
	uint64_t ts;
	uint32_t key;   /* PID of the task, or of the process for FACT_PROGRAM and FACT_PARENT */
	uint32_t value; /* PID of the process or of its parent; index + 1 of the program, group or user; 0: unknown */
	uint32_t from;  /* the task that this one inherits it from; 0: none */
	uint8_t how;    /* enum who_how */
	bool begins;    /* a task begins: what was before is about another one */
	bool held;      /* it was so before, too, unless an event said otherwise */
};

/* Events may have been lost from `start` to `end`. */
struct who_loss {
	uint64_t start, end;
	uint64_t latest; /* the last end up to here */
};

struct who_name {
	uint64_t id;                     /* of a group, by the kernel */
	uint32_t path, texts[WHO_PARTS]; /* who_text_at() */
};

struct who {
	struct context_later later; /* first: the context frees it */
	const struct context *context;
	pthread_mutex_t lock;
	atomic_bool loaded;
	struct who_words {
		struct who_word *at;
		size_t nr;
		uint32_t *sorted; /* indices, by key and time */
		bool followed;    /* the events that tell changes were recorded */
	} facts[FACTS];
	struct who_loss *losses; /* by start */
	size_t nr_losses;
	struct who_name *programs, *groups, *users;
	size_t nr_programs, nr_groups, nr_users;
	struct labels texts; /* "" is the first one */
	size_t texts_len;    /* of all of them */
	bool starved;
	bool flags_known;          /* task_newtask was recorded, which tells threads from processes */
	struct who_live *live;     /* who_follow(); NULL: the events are in a file */
	struct u64_map now[FACTS]; /* of `live`, by key: uint32_t, the value */
	bool unsure;               /* of `live`: events were lost */
};

/* Fills it. What cannot be read is missing, as it is in the text of the events, which says so. */
void who_load(struct who *who);

/* The same, of the lists alone; then follow events one by one. */
struct who_live *who_live_new(struct who *who);
void who_live_see(struct who_live *live, const struct event *event);
void who_live_free(struct who_live *live);

/* The number of a text, from 1 on; without memory that of "". */
uint32_t who_text_at(struct who *who, const char *text, size_t len);
static inline const char *who_text_of(const struct who *who, uint32_t number)
{
	return number && number <= who->texts.nr ? who->texts.at[number - 1].text : "";
}

/* The value at a time, once the words of earlier times are complete. */
uint32_t who_look(const struct who *who, enum who_fact fact, uint32_t key, uint64_t ts, enum who_how *ret_how);
/* When the next word about this key comes; UINT64_MAX: none comes. */
uint64_t who_next(const struct who *who, enum who_fact fact, uint32_t key, uint64_t ts);
/* The number of losses that start before a time. */
size_t who_losses_until(const struct who *who, uint64_t ts);

#endif
