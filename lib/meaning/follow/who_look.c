// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is known of a key at a time: by the last word before it, the next one after it, and the losses between. */
#include "lib/ground/base/vec.h"
#include "lib/meaning/follow/who_internal.h"

/* The number of words before this key at this time, and of lower keys. */
static size_t words_until(const struct who_words *facts, uint32_t key, uint64_t ts)
{
	return vec_count(facts->sorted ? facts->nr : 0, i,
			 facts->at[facts->sorted[i]].key != key ? facts->at[facts->sorted[i]].key < key :
								  facts->at[facts->sorted[i]].ts <= ts);
}

size_t who_losses_until(const struct who *who, uint64_t ts)
{
	return vec_count(who->nr_losses, i, who->losses[i].start < ts);
}

/* Whether events may have been lost after one time and before another. */
static bool is_lost_between(const struct who *who, uint64_t from, uint64_t to)
{
	size_t losses = who_losses_until(who, to);

	return losses && who->losses[losses - 1].latest > from;
}

/* What a later word says of the time before it. */
static uint32_t look_back(const struct who *who, bool followed, const struct who_word *next, uint64_t ts,
			  enum who_how *ret_how)
{
	if (!next || next->begins || !next->held || !next->value)
		return 0;
	*ret_how = followed && !is_lost_between(who, ts, next->ts) ? WHO_SCANNED : WHO_GUESSED;
	return next->value;
}

static uint32_t look_now(const struct who *who, enum who_fact fact, uint32_t key, enum who_how *ret_how)
{
	const uint32_t *value = u64_map_find(&who->now[fact], key);

	if (!value || !*value)
		return 0;
	*ret_how = who->unsure ? WHO_GUESSED : WHO_FOLLOWED;
	return *value;
}

uint32_t who_look(const struct who *who, enum who_fact fact, uint32_t key, uint64_t ts, enum who_how *ret_how)
{
	const struct who_words *facts = &who->facts[fact];
	size_t at = words_until(facts, key, ts);
	const struct who_word *last = at ? &facts->at[facts->sorted[at - 1]] : NULL,
			      *next = facts->sorted && at < facts->nr ? &facts->at[facts->sorted[at]] : NULL;
	bool lost, same;

	*ret_how = WHO_UNKNOWN;
	if (who->live)
		return look_now(who, fact, key, ret_how);
	if (last && last->key != key)
		last = NULL;
	if (next && next->key != key)
		next = NULL;
	if (!last || !last->value)
		return look_back(who, facts->followed, next, ts, ret_how);
	lost = is_lost_between(who, last->ts, ts);
	same = next && !next->begins && next->held && next->value == last->value;
	*ret_how = !lost && facts->followed        ? last->how :
		   same                            ? WHO_SCANNED :
		   lost || (next && !next->begins) ? WHO_UNKNOWN :
						     WHO_GUESSED;
	return *ret_how == WHO_UNKNOWN ? 0 : last->value;
}

uint64_t who_next(const struct who *who, enum who_fact fact, uint32_t key, uint64_t ts)
{
	const struct who_words *facts = &who->facts[fact];
	size_t at = words_until(facts, key, ts);
	const struct who_word *next = facts->sorted && at < facts->nr ? &facts->at[facts->sorted[at]] : NULL;

	return next && next->key == key ? next->ts : UINT64_MAX;
}
