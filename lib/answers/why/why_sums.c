// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/why/why_sums_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/vec.h"

/* What makes two links the same. Tasks without a name are told apart by their PIDs. */
struct key {
	uint32_t name, cause;
	int32_t pid;
	uint8_t state, reason;
	uint16_t zero;
};

static struct key key_of(const struct why_link *link, bool all_causes)
{
	return (struct key){ .name = link->name,
			     .cause = all_causes ? 0 : link->cause,
			     .pid = link->name ? 0 : link->pid,
			     .state = link->state,
			     .reason = link->reason };
}

static struct why_part part_of(const struct why_link *link)
{
	uint64_t ns = link->to - link->from;

	return (struct why_part){ .link = *link, .ns = ns, .links = 1, .longest = ns, .longest_at = link->from };
}

static void join(struct why_part *into, const struct why_part *part)
{
	into->ns += part->ns;
	into->links += part->links;
	into->several |= part->several || into->link.pid != part->link.pid;
	if (part->longest > into->longest) {
		into->longest = part->longest;
		into->longest_at = part->longest_at;
	}
}

void why_sums_init(struct why_sums *sums)
{
	*sums = (struct why_sums){ .rows = NULL };
	labels_init(&sums->keys);
}

void why_sums_release(struct why_sums *sums)
{
	for (size_t i = 0; i < sums->nr; i++)
		free(sums->rows[i].shares);
	free(sums->rows);
	labels_release(&sums->keys);
}

static void add_share(struct why_sums *sums, struct why_row *row, uint32_t cause, uint64_t ns)
{
	struct why_share *share;

	for (size_t i = 0; i < row->nr_shares; i++)
		if (row->shares[i].cause == cause) {
			row->shares[i].ns += ns;
			return;
		}
	share = vec_push(row->shares, row->nr_shares);
	sums->failed |= !share;
	if (share)
		*share = (struct why_share){ cause, ns };
}

static struct why_row *row_of(struct why_sums *sums, const struct why_link *link)
{
	const struct key key = key_of(link, why_has_shares(link->state));
	bool fresh;
	uint32_t number = labels_add(&sums->keys, &key, sizeof(key), &fresh);
	struct why_row *row = NULL;

	if (number != LABEL_NONE && number < sums->nr)
		return &sums->rows[number];
	if (number != LABEL_NONE)
		row = vec_push(sums->rows, sums->nr);
	sums->failed |= !row;
	return row;
}

const struct why_row *why_sums_find(struct why_sums *sums, const struct why_link *link)
{
	const struct key key = key_of(link, why_has_shares(link->state));
	bool fresh;
	uint32_t number = labels_add(&sums->keys, &key, sizeof(key), &fresh);

	return number < sums->nr ? &sums->rows[number] : NULL;
}

void why_sums_part(struct why_sums *sums, const struct why_part *part)
{
	struct why_row *row = sums->failed ? NULL : row_of(sums, &part->link);

	if (!row)
		return;
	if (row->part.links)
		join(&row->part, part);
	else
		row->part = *part;
	if (why_has_shares(part->link.state))
		add_share(sums, row, part->link.cause, part->ns);
	sums->ns += part->ns;
	sums->links += part->links;
	sums->unknown += part->link.state == WHY_UNKNOWN ? part->ns : 0;
}

void why_sums_path(struct why_sums *sums, const struct why_path *path)
{
	for (size_t i = 0; i < path->nr; i++) {
		const struct why_part part = part_of(&path->links[i]);

		why_sums_part(sums, &part);
	}
}

static int by_ns(const void *a, const void *b)
{
	const struct why_row *x = a, *y = b;

	if (x->part.ns != y->part.ns)
		return x->part.ns < y->part.ns ? 1 : -1;
	return memcmp(&x->part.link, &y->part.link, sizeof(x->part.link));
}

static int by_share(const void *a, const void *b)
{
	const struct why_share *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->cause < y->cause ? -1 : x->cause > y->cause;
}

void why_sums_sort_shares(struct why_sums *sums)
{
	for (size_t i = 0; i < sums->nr; i++)
		if (sums->rows[i].nr_shares)
			qsort(sums->rows[i].shares, sums->rows[i].nr_shares, sizeof(struct why_share), by_share);
}

void why_sums_sort(struct why_sums *sums)
{
	why_sums_sort_shares(sums);
	if (sums->nr)
		qsort(sums->rows, sums->nr, sizeof(*sums->rows), by_ns);
}

void why_many_init(struct why_many *many)
{
	*many = (struct why_many){ .bins = NULL };
	labels_init(&many->keys);
	u64_map_init(&many->cells, sizeof(uint64_t));
}

void why_many_release(struct why_many *many)
{
	free(many->bins);
	free(many->parts);
	labels_release(&many->keys);
	u64_map_release(&many->cells);
}

/* 64 bins for each doubling. */
static uint32_t bin_of(uint64_t lasted)
{
	uint32_t shift = lasted < 64 ? 0 : 57 - (uint32_t)__builtin_clzll(lasted);

	return shift ? (shift << 6) + (uint32_t)(lasted >> shift) : (uint32_t)lasted;
}

/* The number of the part; the one of all names and causes of the state, where there is no room for more. */
static uint32_t number_of(struct why_many *many, struct why_link *link)
{
	struct key key = key_of(link, false);
	uint32_t number;
	bool fresh;

	if (many->nr_parts >= WHY_PARTS_MAX || many->cells.len >= WHY_CELLS_MAX) {
		link->name = link->cause = 0;
		link->pid = 0;
		key = key_of(link, true);
		many->folded++;
	}
	number = labels_add(&many->keys, &key, sizeof(key), &fresh);
	if (fresh && !vec_push(many->parts, many->nr_parts))
		number = LABEL_NONE;
	many->failed |= number == LABEL_NONE;
	return number;
}

void why_many_add(struct why_many *many, const struct why_path *path, uint64_t lasted)
{
	uint32_t bin = bin_of(lasted);

	if (!many->bins)
		many->bins = calloc(WHY_BINS, sizeof(*many->bins));
	many->failed |= !many->bins;
	if (many->failed)
		return;
	many->bins[bin].nr++;
	many->bins[bin].ns += lasted;
	many->nr++;
	many->ns += lasted;
	for (size_t i = 0; i < path->nr && !many->failed; i++) {
		struct why_part part = part_of(&path->links[i]);
		uint32_t number = number_of(many, &part.link);
		uint64_t *cell = many->failed ? NULL : u64_map_get(&many->cells, (uint64_t)bin << 32 | number);

		many->failed |= !cell;
		if (!cell)
			return;
		*cell += part.ns;
		if (many->parts[number].links)
			join(&many->parts[number], &part);
		else
			many->parts[number] = part;
	}
}

/* The bin from which on so many intervals are slow. */
static uint32_t first_slow(const struct why_many *many, uint32_t per_million)
{
	double wanted = (double)many->nr * per_million / 1000000;
	uint64_t nr = 0;
	uint32_t bin = WHY_BINS;

	if (!per_million)
		return 0;
	do
		nr += many->bins[--bin].nr;
	while (bin && (double)nr < wanted);
	return bin;
}

static void add_part(struct why_group *group, const struct why_part *of, uint64_t ns)
{
	struct why_part part = *of;

	part.ns = ns;
	if (ns)
		why_sums_part(&group->sums, &part);
}

bool why_many_divide(const struct why_many *many, uint32_t per_million, struct why_groups *ret)
{
	uint32_t slow = many->nr ? first_slow(many, per_million) : 0;
	uint64_t *ns = calloc(many->nr_parts + 1, 2 * sizeof(*ns)), key;
	const uint64_t *cell;

	*ret = (struct why_groups){ .slow = { .nr = 0 } };
	why_sums_init(&ret->slow.sums);
	why_sums_init(&ret->others.sums);
	if (!ns)
		return false;
	for (uint32_t bin = 0; many->nr && bin < WHY_BINS; bin++) {
		struct why_group *group = bin < slow ? &ret->others : &ret->slow;

		group->nr += many->bins[bin].nr;
		group->ns += many->bins[bin].ns;
	}
	for (size_t at = 0; (cell = u64_map_next(&many->cells, &at, &key));)
		ns[2 * (uint32_t)key + (key >> 32 < slow)] += *cell;
	/* In the order in which the parts came. */
	for (size_t i = 0; i < many->nr_parts; i++) {
		add_part(&ret->slow, &many->parts[i], ns[2 * i]);
		add_part(&ret->others, &many->parts[i], ns[2 * i + 1]);
	}
	free(ns);
	return !ret->slow.sums.failed && !ret->others.sums.failed;
}

void why_groups_release(struct why_groups *groups)
{
	why_sums_release(&groups->slow.sums);
	why_sums_release(&groups->others.sums);
}
