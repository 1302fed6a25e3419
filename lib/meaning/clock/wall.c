// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/clock/wall.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/scale.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/clock/clocks.h"
#include "lib/pages/trace/trace.h"

enum {
	SAMPLES_MAX = 1 << 20, /* two years of a recording */
	STEP_NS = 1000,        /* two reads of clocks differ by less while nobody sets one */
	SLEEP_NS = 1000000,
	LINE_ROOM = 256,
	UNSAMPLED_PPB = 500000, /* by which a clock may differ from the time of day if one sample is all there is */
	LATER_PPB = 1000,       /* the same after the last of several samples */
};

#define SCALED_MAX ((uint64_t)INT64_MAX / 2)

/* A sample as a point of the piece: at this time of the trace, the time of day was `ns`, more or less `half`. */
struct point {
	uint64_t ts;
	int64_t ns;
	uint64_t half;
	int64_t slew_ppb;
	size_t piece;
};

struct wall {
	struct point *points;
	size_t nr_points;
	struct wall_piece *pieces;
	size_t nr_pieces;
	struct wall_sample last; /* while the samples are read; */
	uint64_t slept_at;       /* 0, or when the machine slept after it */
	bool even;               /* the trace clock runs as the time of day does */
	bool counts;             /* it counts something else than ns */
	bool no_bound;
	bool synced;
	int64_t error_us;
};

static const char *const whys[WALL_WHY_NR] = {
	[WALL_START] = "start",   [WALL_EVERY] = "every", [WALL_STEP] = "step", [WALL_SLEPT] = "slept",
	[WALL_RESUME] = "resume", [WALL_END] = "end",     [WALL_LOG] = "log",
};

bool wall_sample_put(const struct wall_sample *sample, struct buf *into)
{
	return buf_addf(into,
			"%s %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId32
			" %" PRId64 " %" PRId64 " %s\n",
			sample->clock, sample->lo, sample->hi, sample->wall_lo, sample->wall_hi, sample->mono,
			sample->boot, sample->tai, sample->slew_ppb, sample->error_us, whys[sample->why]);
}

bool wall_sample_parse(const char *line, size_t len, struct wall_sample *ret)
{
	struct wall_sample sample;
	char text[LINE_ROOM], why[8];
	int end = 0;

	if (len >= sizeof(text) || memchr(line, '\0', len))
		return false;
	memcpy(text, line, len);
	text[len] = '\0';
	if (sscanf(text,
		   "%15s %20" SCNu64 " %20" SCNu64 " %20" SCNd64 " %20" SCNd64 " %20" SCNd64 " %20" SCNd64 " %11" SCNd32
		   " %20" SCNd64 " %20" SCNd64 " %7s%n",
		   sample.clock, &sample.lo, &sample.hi, &sample.wall_lo, &sample.wall_hi, &sample.mono, &sample.boot,
		   &sample.tai, &sample.slew_ppb, &sample.error_us, why, &end) != 11 ||
	    text[end + (int)strspn(text + end, "\n")])
		return false;
	/* Sums of two of them have room. */
	if (sample.hi < sample.lo || sample.hi > INT64_MAX / 2 || sample.wall_lo <= 0 ||
	    sample.wall_hi < sample.wall_lo || sample.wall_hi > INT64_MAX / 2 || sample.slew_ppb < -NS_PER_S ||
	    sample.slew_ppb > NS_PER_S || sample.mono < 0 || sample.mono > INT64_MAX / 4 || sample.boot < 0 ||
	    sample.boot > INT64_MAX / 4)
		return false;
	for (sample.why = 0; sample.why < WALL_WHY_NR; sample.why++)
		if (!strcmp(why, whys[sample.why])) {
			*ret = sample;
			return true;
		}
	return false;
}

bool wall_samples_shift(const char *text, size_t len, int64_t by, uint64_t wider, struct buf *into)
{
	struct text_word line;
	bool ok = true;

	while (ok && text_next_line(&text, &len, &line)) {
		struct wall_sample sample;

		if (!wall_sample_parse(line.at, line.len, &sample))
			continue;
		if (__builtin_add_overflow(sample.lo, by, &sample.lo) ||
		    __builtin_add_overflow(sample.hi, by, &sample.hi))
			continue;
		if (wider < (uint64_t)sample.wall_lo) {
			sample.wall_lo -= (int64_t)wider;
			sample.wall_hi += (int64_t)wider;
		}
		ok = wall_sample_put(&sample, into);
	}
	return ok;
}

static uint64_t size_of(int64_t n)
{
	return n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
}

/* Where a file lies, the result has no sense, but there is one. */
static int64_t minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* n * mul / div; a result that has no room is cut to what has. */
static int64_t scale(int64_t n, int64_t mul, int64_t div)
{
	uint64_t a = size_of(n), b = size_of(mul), by = size_of(div);
	uint64_t size = by && scale_product(a, b).high < by ? scale_mul_div(a, b, by) : SCALED_MAX;
	int64_t cut = (int64_t)(size < SCALED_MAX ? size : SCALED_MAX);

	return (n < 0) ^ (mul < 0) ^ (div < 0) ? -cut : cut;
}

static struct wall_piece *add_piece(struct wall *wall, const struct wall_piece *piece)
{
	struct wall_piece *added = vec_push(wall->pieces, wall->nr_pieces);

	if (added)
		*added = *piece;
	return added;
}

/* The piece that begins with this sample. */
static struct wall_piece find_step(const struct wall *wall, const struct wall_sample *sample)
{
	const struct wall_sample *last = &wall->last;
	struct wall_piece piece = { .since = sample->lo, .sampled = sample->lo };
	int64_t set, slept, width = (sample->wall_hi - sample->wall_lo) + (last->wall_hi - last->wall_lo);

	if (!last->boot || !sample->boot)
		return piece;
	set = minus(sample->wall_lo - sample->boot, last->wall_lo - last->boot);
	slept = minus(sample->boot - sample->mono, last->boot - last->mono);
	if (size_of(set) <= (uint64_t)width + STEP_NS)
		set = 0;
	if (size_of(slept) <= SLEEP_NS)
		slept = 0;
	/* With a time of day that did not jump, CLOCK_TAI jumps only by its own offset. */
	if (!strcmp(sample->clock, "tai"))
		set = ((int64_t)last->tai - sample->tai) * NS_PER_S;
	piece.step_ns = clock_kind(sample->clock)->runs_on ? set : minus(set, minus(0, slept));
	piece.slept_ns = slept;
	piece.set_ns = set;
	piece.is_exact = sample->why == WALL_STEP || sample->why == WALL_RESUME;
	/* Tasks and interrupts ran on between that and the sample. */
	if (slept && wall->slept_at > last->lo && wall->slept_at <= sample->lo)
		piece.since = wall->slept_at;
	return piece;
}

static int add_sample(struct wall *wall, const struct wall_sample *sample, uint64_t shift, struct fail *fail)
{
	struct wall_piece piece = { .sampled = sample->lo };
	struct point *point;

	if (wall->nr_points) {
		piece = find_step(wall, sample);
		/* The clock was changed, which empties the buffer: what was sampled before is of no event. */
		if (strcmp(sample->clock, wall->last.clock) || sample->lo < wall->last.lo) {
			wall->nr_points = wall->nr_pieces = 0;
			piece = (struct wall_piece){ .sampled = sample->lo };
		}
	}
	if ((!wall->nr_points || piece.set_ns || piece.slept_ns) && !add_piece(wall, &piece))
		return fail_memory(fail);
	point = vec_push(wall->points, wall->nr_points);
	if (!point)
		return fail_memory(fail);
	*point = (struct point){ .ts = sample->lo + (sample->hi - sample->lo) / 2,
				 .ns = sample->wall_lo + (sample->wall_hi - sample->wall_lo) / 2,
				 .half = (uint64_t)(sample->wall_hi - sample->wall_lo + 1) / 2,
				 .slew_ppb = sample->slew_ppb,
				 .piece = wall->nr_pieces - 1 };
	/* A width of the trace clock; for one that counts no ns it is turned into ns later. */
	if (!wall->counts)
		point->half += (sample->hi - sample->lo + 1) / 2;
	point->ts += shift;
	wall->last = *sample;
	wall->slept_at = 0;
	wall->error_us = sample->error_us > wall->error_us ? sample->error_us : wall->error_us;
	wall->synced &= sample->error_us >= 0;
	return 0;
}

static size_t piece_begin(const struct wall *wall, size_t piece)
{
	return vec_count(wall->nr_points, i, wall->points[i].piece < piece);
}

/* A clock that runs as the time of day has one offset in a piece: what all of its samples allow. */
static void fit_even(struct wall *wall)
{
	for (size_t i = 0; i < wall->nr_pieces; i++) {
		size_t begin = piece_begin(wall, i), end = piece_begin(wall, i + 1);
		int64_t lo = INT64_MIN, hi = INT64_MAX;

		for (size_t k = begin; k < end; k++) {
			const struct point *point = &wall->points[k];
			int64_t at = minus(point->ns, (int64_t)point->ts), half = (int64_t)point->half;

			lo = minus(at, half) > lo ? minus(at, half) : lo;
			hi = minus(at, -half) < hi ? minus(at, -half) : hi;
		}
		/* Something else than the time of day was changed: each sample counts for itself. */
		if (lo > hi) {
			wall->even = false;
			return;
		}
		for (size_t k = begin; k < end; k++) {
			wall->points[k].ns = (int64_t)(wall->points[k].ts + (uint64_t)(lo + (hi - lo) / 2));
			wall->points[k].half = (uint64_t)(hi - lo + 1) / 2 + 1;
		}
	}
}

/* A count is exact to one unit, whatever that is in ns. */
static void fit_counts(struct wall *wall)
{
	const struct point *first = &wall->points[0], *last = &wall->points[wall->nr_points - 1];
	uint64_t unit =
		last->ts > first->ts ? size_of(scale(last->ns - first->ns, 1, (int64_t)(last->ts - first->ts))) : 0;

	for (size_t i = 0; i < wall->nr_points; i++)
		wall->points[i].half += unit + 1;
}

static int read_samples(struct wall *wall, const char *at, size_t left, uint64_t shift, struct fail *fail)
{
	struct text_word line;
	struct wall_sample sample;
	int r = 0;

	wall->synced = true;
	while (!r && wall->nr_points < SAMPLES_MAX && text_next_line(&at, &left, &line)) {
		if (!wall_sample_parse(line.at, line.len, &sample))
			continue;
		if (sample.why == WALL_SLEPT) {
			wall->slept_at = sample.lo;
			continue;
		}
		if (!wall->nr_points) {
			wall->even = clock_kind(sample.clock)->even;
			wall->counts = clock_kind(sample.clock)->counts != CLOCK_COUNTS_NS;
		}
		r = add_sample(wall, &sample, shift, fail);
	}
	for (size_t i = 0; i < wall->nr_pieces; i++) {
		wall->pieces[i].since += i ? shift : 0;
		wall->pieces[i].sampled += shift;
	}
	if (wall->even)
		fit_even(wall);
	else if (wall->counts && wall->nr_points)
		fit_counts(wall);
	return r;
}

/* The option DATE, as `trace-cmd record --date` writes it: a constant, and nobody knows how exact it is. */
static int read_date(struct wall *wall, const struct trace_info *info, struct fail *fail)
{
	struct point *point = vec_push(wall->points, wall->nr_points);

	if (!point || !add_piece(wall, &(struct wall_piece){ .since = 0 }))
		return fail_memory(fail);
	*point = (struct point){ .ns = info->day_offset_ns };
	wall->even = wall->no_bound = true;
	wall->error_us = -1;
	return 0;
}

/* Frees what tells nothing. */
static int wall_made(struct wall *wall, int r, struct wall **ret)
{
	if (r || !wall->nr_points || (wall->counts && wall->nr_points < 2))
		wall_free(wall);
	else
		*ret = wall;
	return r;
}

int wall_new_of_text(const char *text, size_t len, uint64_t shift, struct wall **ret, struct fail *fail)
{
	struct wall *wall = calloc(1, sizeof(*wall));

	*ret = NULL;
	if (!wall)
		return fail_memory(fail);
	wall->error_us = -1;
	return wall_made(wall, read_samples(wall, text, len, shift, fail), ret);
}

int wall_new(const struct trace *trace, size_t buffer, struct wall **ret, struct fail *fail)
{
	const struct trace_info *info = trace_info(trace);
	struct trace_text text = trace_setting(trace, buffer, SETTING_CLOCKS);
	struct wall *wall;
	int r = 0;

	*ret = NULL;
	if (text.text)
		r = wall_new_of_text(text.text, text.len, trace_ts_offset(trace), ret, fail);
	if (r || *ret || !info->has_date)
		return r;
	wall = calloc(1, sizeof(*wall));
	return wall ? wall_made(wall, read_date(wall, info, fail), ret) : fail_memory(fail);
}

void wall_free(struct wall *wall)
{
	if (!wall)
		return;
	free(wall->points);
	free(wall->pieces);
	free(wall);
}

static size_t find_piece(const struct wall *wall, uint64_t ts)
{
	size_t until = vec_count(wall->nr_pieces, i, wall->pieces[i].since <= ts);

	return until ? until - 1 : 0;
}

/* Two points of a piece, between which or beside which a time lies; the same twice if it has only one. */
struct chord {
	const struct point *a, *b;
	bool between;
};

/* What the points next to a chord are away from it: the clock's rate changes by so much. */
static uint64_t bend(const struct point *a, const struct point *b, const struct point *c)
{
	int64_t at = a->ns + scale((int64_t)(b->ts - a->ts), c->ns - a->ns, (int64_t)(c->ts - a->ts));
	uint64_t away = size_of(b->ns - at), known = b->half + (a->half > c->half ? a->half : c->half);

	return away > known ? away - known : 0;
}

static uint64_t between_bound(const struct wall *wall, const struct chord *chord)
{
	const struct point *a = chord->a, *b = chord->b, *end = wall->points + wall->nr_points;
	uint64_t half = a->half > b->half ? a->half : b->half, more = 0, other;

	if (a > wall->points && a[-1].piece == a->piece && a[-1].ts < a->ts)
		more = bend(a - 1, a, b);
	if (b + 1 < end && b[1].piece == b->piece && b[1].ts > b->ts) {
		other = bend(a, b, b + 1);
		more = other > more ? other : more;
	}
	/* The rate changed somewhere between: at worst in the middle. */
	other = size_of(scale(b->ns - a->ns, b->slew_ppb - a->slew_ppb, 4 * (int64_t)NS_PER_S));
	return half + 1 + (other > more ? other : more);
}

static uint64_t beside_bound(const struct wall *wall, const struct chord *chord, int64_t away)
{
	const struct point *a = chord->a, *b = chord->b;
	uint64_t far = size_of(away);
	int64_t long_ns = b->ns - a->ns;

	if (wall->even)
		return b->half;
	if (long_ns <= 0)
		return b->half + size_of(scale((int64_t)far, UNSAMPLED_PPB, NS_PER_S));
	return (a->half > b->half ? a->half : b->half) + 1 +
	       size_of(scale((int64_t)far, (int64_t)(a->half + b->half), long_ns)) +
	       size_of(scale((int64_t)far, LATER_PPB, NS_PER_S));
}

static struct chord find_chord(const struct wall *wall, size_t piece, uint64_t ts)
{
	size_t begin = piece_begin(wall, piece), end = piece_begin(wall, piece + 1), lo = begin, hi = end;
	const struct point *points = wall->points;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (points[mid].ts <= ts)
			lo = mid;
		else
			hi = mid;
	}
	if (end - begin == 1)
		return (struct chord){ &points[begin], &points[begin], false };
	if (ts < points[begin].ts)
		return (struct chord){ &points[begin], &points[begin + 1], false };
	if (lo + 1 == end)
		/* Over the whole piece, because a short chord has a rate that is known less. */
		return (struct chord){ &points[begin], &points[end - 1], false };
	return (struct chord){ &points[lo], &points[lo + 1], true };
}

/* The time of day of `ts` by the samples of this piece, wherever it lies. */
static int64_t at_piece(const struct wall *wall, size_t piece, uint64_t ts, uint64_t *ret_bound)
{
	struct chord chord = find_chord(wall, piece, ts);
	const struct point *a = chord.a, *b = chord.b, *from = ts < a->ts ? a : chord.between ? a : b;
	int64_t away = (int64_t)(ts - from->ts);
	int64_t later = wall->even || b->ts == a->ts ? away : scale(away, b->ns - a->ns, (int64_t)(b->ts - a->ts));
	int64_t ns;

	*ret_bound = chord.between && !wall->even ? between_bound(wall, &chord) : beside_bound(wall, &chord, later);
	return __builtin_add_overflow(from->ns, later, &ns) ? -1 : ns;
}

bool wall_of(const struct wall *wall, uint64_t ts, int64_t *ret_ns, uint64_t *ret_bound)
{
	const struct wall_piece *next;
	uint64_t bound;
	size_t piece;
	int64_t ns;

	if (!wall)
		return false;
	piece = find_piece(wall, ts);
	ns = at_piece(wall, piece, ts, &bound);
	if (ns < 0)
		return false;
	/* Nobody knows where the clock jumped between two samples. */
	next = wall_piece_at(wall, piece + 1);
	if (next && !next->is_exact && ts > wall->points[piece_begin(wall, piece + 1) - 1].ts)
		bound += size_of(next->step_ns);
	*ret_ns = ns;
	if (ret_bound)
		*ret_bound = wall->no_bound ? WALL_NO_BOUND : bound;
	return true;
}

/* The time of the trace in the piece, wherever it lies. */
static uint64_t back_in_piece(const struct wall *wall, size_t piece, int64_t ns)
{
	size_t begin = piece_begin(wall, piece), end = piece_begin(wall, piece + 1), lo = begin, hi = end - 1;
	const struct point *a, *b;
	int64_t later, ts;

	while (lo + 1 < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (wall->points[mid].ns <= ns)
			lo = mid;
		else
			hi = mid;
	}
	a = &wall->points[lo];
	b = lo + 1 < end ? a + 1 : a;
	if (b->ns < ns && end - begin > 2)
		a = &wall->points[begin];
	later = wall->even || b->ns <= a->ns ? ns - b->ns : scale(ns - b->ns, (int64_t)(b->ts - a->ts), b->ns - a->ns);
	if (__builtin_add_overflow((int64_t)b->ts, later, &ts))
		return later < 0 ? 0 : UINT64_MAX;
	return ts < 0 ? 0 : (uint64_t)ts;
}

size_t wall_places(const struct wall *wall, int64_t ns, uint64_t *ret, size_t max)
{
	size_t nr = 0;

	for (size_t i = 0; wall && i < wall->nr_pieces; i++) {
		uint64_t until = i + 1 < wall->nr_pieces ? wall->pieces[i + 1].since : UINT64_MAX;
		uint64_t since = wall->pieces[i].since, place = back_in_piece(wall, i, ns), bound;

		/* The clock jumped over it. */
		if (place < since && i && !nr && at_piece(wall, i - 1, since, &bound) <= ns)
			place = since;
		if (place < since || place >= until)
			continue;
		if (nr < max)
			ret[nr] = place;
		nr++;
	}
	return nr;
}

const struct wall_piece *wall_piece_at(const struct wall *wall, size_t index)
{
	return wall && index < wall->nr_pieces ? &wall->pieces[index] : NULL;
}

bool wall_drift_ppb(const struct wall *wall, int64_t *ret)
{
	size_t end = piece_begin(wall, 1);
	const struct point *a = wall->points, *b = &wall->points[end - 1];

	if (wall->counts || b->ts <= a->ts || wall->no_bound)
		return false;
	*ret = wall->even ? 0 : scale((b->ns - a->ns) - (int64_t)(b->ts - a->ts), NS_PER_S, (int64_t)(b->ts - a->ts));
	return true;
}

int64_t wall_host_error_us(const struct wall *wall)
{
	return wall->synced ? wall->error_us : -1;
}

size_t wall_samples(const struct wall *wall)
{
	return wall->no_bound ? 0 : wall->nr_points;
}
