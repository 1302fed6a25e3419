// SPDX-License-Identifier: LGPL-2.1-or-later
/* weft_query: the words of lib/meaning/reader/query.h, which the query owns here. */
#include "lib/api/api_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"

weft_query *weft_query_new(void)
{
	weft_query *query = calloc(1, sizeof(*query));

	if (query)
		query->query = (struct query)QUERY_INIT;
	if (query)
		query->query.dashes = "";
	return query;
}

void api_query_use(weft_query *query)
{
	__atomic_add_fetch(&query->uses, 1, __ATOMIC_RELAXED);
}

void weft_query_free(weft_query *query)
{
	if (!query || __atomic_fetch_sub(&query->uses, 1, __ATOMIC_ACQ_REL))
		return;
	query_release(&query->query);
	for (size_t i = 0; i < query->nr_words; i++)
		free(query->words[i]);
	free(query->words);
	free(query);
}

static int add_event(struct query *query, const char *word, struct fail *fail)
{
	return query_add_word(&query->events, word, fail);
}

static int add_filter(struct query *query, const char *word, struct fail *fail)
{
	int r = query_check_filter(word, fail);

	query->invert = false;
	return r ? r : query_add_filter(query, word, fail);
}

static int add_not_filter(struct query *query, const char *word, struct fail *fail)
{
	int r = query_check_filter(word, fail);

	query->invert = true;
	return r ? r : query_add_filter(query, word, fail);
}

static int add_longer(struct query *query, const char *word, struct fail *fail)
{
	uint64_t ns;
	int r = text_parse_time(word, &ns, fail);

	if (!r && !ns)
		r = fail_set(fail, -EINVAL, "the time cannot be 0");
	return r ? r : query_add_longer(query, ns, fail);
}

static int add_cpu(struct query *query, const char *word, struct fail *fail)
{
	struct cpus cpus;
	int r = cpus_parse(word, &cpus, fail);

	if (!r) {
		query->cpus = cpus;
		query->some_cpus = true;
	}
	return r;
}

static int add_comm(struct query *query, const char *word, struct fail *fail)
{
	return query_add_word(&query->comms, word, fail);
}

static int add_mark(struct query *query, const char *word, struct fail *fail)
{
	return query_add_word(&query->marks, word, fail);
}

static int add_file(struct query *query, const char *word, struct fail *fail)
{
	return query_add_word(&query->files, word, fail);
}

static int add_since(struct query *query, const char *word, struct fail *fail)
{
	int r = query_check_time("since", word, fail);

	if (!r)
		query->since = word;
	return r;
}

static int add_until(struct query *query, const char *word, struct fail *fail)
{
	int r = query_check_time("until", word, fail);

	if (!r)
		query->until = word;
	return r;
}

static int add_limit(struct query *query, const char *word, struct fail *fail)
{
	return text_parse_u64(word, &query->limit, fail);
}

static int add_tail(struct query *query, const char *word, struct fail *fail)
{
	return text_parse_u64(word, &query->tail, fail);
}

static int add_instance(struct query *query, const char *word, struct fail *fail)
{
	(void)fail;
	query->instance = word;
	return 0;
}

static int add_no_hardirq(struct query *query, const char *word, struct fail *fail)
{
	(void)word;
	(void)fail;
	query->flags_out |= EVENT_HARDIRQ;
	return 0;
}

static int add_no_softirq(struct query *query, const char *word, struct fail *fail)
{
	(void)word;
	(void)fail;
	query->flags_out |= EVENT_SOFTIRQ;
	return 0;
}

static int add_no_self(struct query *query, const char *word, struct fail *fail)
{
	(void)word;
	(void)fail;
	query->self = QUERY_SELF_OUT;
	return 0;
}

static int add_self(struct query *query, const char *word, struct fail *fail)
{
	(void)word;
	(void)fail;
	query->self = QUERY_SELF_IN;
	return 0;
}

/* The option of the command that has the same word, and what takes it. */
static const struct key {
	const char *option;
	int (*add)(struct query *query, const char *word, struct fail *fail);
	bool no_word;
} keys[] = {
	[WEFT_QUERY_EVENT] = { "event", add_event, false },
	[WEFT_QUERY_FILTER] = { "filter", add_filter, false },
	[WEFT_QUERY_NOT_FILTER] = { "filter", add_not_filter, false },
	[WEFT_QUERY_LONGER] = { "longer", add_longer, false },
	[WEFT_QUERY_CPU] = { "cpu", add_cpu, false },
	[WEFT_QUERY_PID] = { "pid", query_add_pids, false },
	[WEFT_QUERY_COMM] = { "comm", add_comm, false },
	[WEFT_QUERY_SINCE] = { "since", add_since, false },
	[WEFT_QUERY_UNTIL] = { "until", add_until, false },
	[WEFT_QUERY_LIMIT] = { "limit", add_limit, false },
	[WEFT_QUERY_TAIL] = { "tail", add_tail, false },
	[WEFT_QUERY_INSTANCE] = { "instance", add_instance, false },
	[WEFT_QUERY_NO_HARDIRQ] = { "no-hardirq", add_no_hardirq, true },
	[WEFT_QUERY_NO_SOFTIRQ] = { "no-softirq", add_no_softirq, true },
	[WEFT_QUERY_NO_SELF] = { "no-self", add_no_self, true },
	[WEFT_QUERY_SELF] = { "self", add_self, true },
	[WEFT_QUERY_MARK] = { "mark", add_mark, false },
	[WEFT_QUERY_FILE] = { "file", add_file, false },
};

/* A copy that lives as long as the query; NULL without memory. */
static char *keep_word(weft_query *query, const char *word)
{
	char *copy = strdup(word), **added = copy ? vec_push(query->words, query->nr_words) : NULL;

	if (added)
		*added = copy;
	else
		free(copy);
	return added ? copy : NULL;
}

static int add(weft_query *query, enum weft_query_key key, const char *word, struct fail *fail)
{
	const char *copy = NULL;
	int r;

	if ((size_t)key >= array_size(keys) || !keys[key].add)
		return fail_set(fail, -EINVAL, "this version of the library knows no key %d of a query", (int)key);
	if (!keys[key].no_word && !word)
		return fail_set(fail, -EINVAL, "%s: there is no word", keys[key].option);
	if (word && !(copy = keep_word(query, word)))
		return fail_memory(fail);
	r = keys[key].add(&query->query, copy, fail);
	if (!r || r == -ENOMEM || keys[key].add == add_since || keys[key].add == add_until)
		return r;
	return fail_in(fail, r, "%s", keys[key].option);
}

int weft_query_add(weft_query *query, enum weft_query_key key, const char *word, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	int r = add(query, key, word, &fail);

	return api_result(error, r, &fail);
}
