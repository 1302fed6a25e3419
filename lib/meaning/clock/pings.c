// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/clock/pings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/clock/clocks.h"
#include "lib/pages/trace/trace.h"

enum {
	PINGS_MAX = 1 << 20,
	PIECES_MAX = 1 << 12,
	VERTICES_MAX = 256,
	LINE_ROOM = 256,
	HOST_ROOM = 256,
	/* A ping that took longer than twice the shortest, and this, says little, and may hide a jump. */
	SPARE_NS = 50000,
};

/* Of each such span the shortest ping counts in any case. */
#define WINDOW_NS (UINT64_C(30) * NS_PER_S)
/* Two clocks of any machines differ by less. */
#define DRIFT_MAX 500e-6
/* Sums of a few times have room. */
#define TIME_MAX ((uint64_t)INT64_MAX / 4)

/* A line: a ns ahead at the piece's origin, and b more for each ns of the trace. */
struct line {
	double a, b;
};

struct piece {
	uint64_t x0, first, last; /* x0: the origin of the lines */
	int64_t y0;               /* is added to what they say */
	struct line *corners;     /* of the polygon, in their order; their convex hull is all that agrees */
	size_t nr;
};

struct pings {
	char boot_id[40], host[HOST_ROOM];
	struct ping *at;
	size_t nr;
	uint64_t shortest;
	struct piece *pieces;
	size_t nr_pieces;
};

bool pings_put_near(const char *boot_id, const char *host, struct buf *into)
{
	return buf_addf(into, "from %.36s %.200s\n", boot_id, host);
}

bool ping_put(const struct ping *ping, struct buf *into)
{
	return buf_addf(into, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", ping->clock, ping->lo, ping->hi, ping->far);
}

bool ping_parse(const char *line, size_t len, struct ping *ret)
{
	struct ping ping;
	char text[LINE_ROOM];
	int end = 0;

	if (len >= sizeof(text) || memchr(line, '\0', len))
		return false;
	memcpy(text, line, len);
	text[len] = '\0';
	if (sscanf(text, "%15s %20" SCNu64 " %20" SCNu64 " %20" SCNu64 "%n", ping.clock, &ping.lo, &ping.hi, &ping.far,
		   &end) != 4 ||
	    text[end + (int)strspn(text + end, "\n")])
		return false;
	if (ping.lo > ping.hi || ping.hi > TIME_MAX || ping.far > TIME_MAX)
		return false;
	*ret = ping;
	return true;
}

/* "from BOOT-ID HOST" */
static bool take_near(struct pings *pings, const char *line, size_t len)
{
	char text[LINE_ROOM];
	int at = 0;

	if (len >= sizeof(text) || memchr(line, '\0', len))
		return false;
	memcpy(text, line, len);
	text[len] = '\0';
	if (sscanf(text, "from %39s %n", pings->boot_id, &at) != 1 || !at)
		return false;
	snprintf(pings->host, sizeof(pings->host), "%.*s", (int)strcspn(text + at, "\n"), text + at);
	return true;
}

static double span(uint64_t from, uint64_t to)
{
	return to >= from ? (double)(to - from) : -(double)(from - to);
}

static double at_line(const struct line *line, double x)
{
	return line->a + line->b * x;
}

/*
 * Cuts off the corners at which the line lies below (sign 1) or above (sign -1) the point. False: nothing is left. A
 * polygon with too many corners is not cut, which only makes it larger.
 */
static bool cut(struct line *corners, size_t *nr, double x, double y, int sign)
{
	struct line made[VERTICES_MAX];
	size_t kept = 0;

	for (size_t i = 0; i < *nr; i++) {
		const struct line *one = &corners[i], *next = &corners[(i + 1) % *nr];
		double d = sign * (at_line(one, x) - y), e = sign * (at_line(next, x) - y);

		if (kept + 2 > VERTICES_MAX)
			return true;
		if (d >= 0)
			made[kept++] = *one;
		if ((d >= 0) != (e >= 0)) {
			double t = d / (d - e);

			made[kept++] =
				(struct line){ one->a + t * (next->a - one->a), one->b + t * (next->b - one->b) };
		}
	}
	if (!kept)
		return false;
	memcpy(corners, made, kept * sizeof(*made));
	*nr = kept;
	return true;
}

/* Rounding never makes the polygon too small. */
static double spare(double x)
{
	return 1 + (x < 0 ? -x : x) * 1e-15;
}

static bool cut_by(const struct piece *piece, struct line *corners, size_t *nr, const struct ping *ping)
{
	double x = span(piece->x0, ping->far);
	double lo = (double)((int64_t)ping->lo - (int64_t)ping->far - piece->y0) - spare(x);
	double hi = (double)((int64_t)ping->hi - (int64_t)ping->far - piece->y0) + spare(x);

	return cut(corners, nr, x, lo, 1) && cut(corners, nr, x, hi, -1);
}

static int end_piece(struct piece *piece, const struct line *corners, size_t nr, struct fail *fail)
{
	piece->corners = malloc(nr * sizeof(*corners));
	if (!piece->corners)
		return fail_memory(fail);
	memcpy(piece->corners, corners, nr * sizeof(*corners));
	piece->nr = nr;
	return 0;
}

static void drop_pieces(struct pings *pings)
{
	for (size_t i = 0; i < pings->nr_pieces; i++)
		free(pings->pieces[i].corners);
	pings->nr_pieces = 0;
}

/* All lines that agree with the first ping of a piece. */
static struct piece *begin_piece(struct pings *pings, const struct ping *ping, struct line corners[4])
{
	double half = (double)(ping->hi - ping->lo) + spare(0);
	struct piece *piece = vec_push(pings->pieces, pings->nr_pieces);

	if (!piece)
		return NULL;
	*piece = (struct piece){
		.x0 = ping->far, .first = ping->far, .last = ping->far, .y0 = (int64_t)ping->lo - (int64_t)ping->far
	};
	corners[0] = (struct line){ -spare(0), -DRIFT_MAX };
	corners[1] = (struct line){ half, -DRIFT_MAX };
	corners[2] = (struct line){ half, DRIFT_MAX };
	corners[3] = (struct line){ -spare(0), DRIFT_MAX };
	return piece;
}

/* The shortest ping of the span of time in which it lies. */
static size_t best_of_window(const struct pings *pings, size_t from, size_t *ret_end)
{
	size_t best = from, i = from;

	for (; i < pings->nr && pings->at[i].far / WINDOW_NS == pings->at[from].far / WINDOW_NS; i++)
		if (pings->at[i].hi - pings->at[i].lo < pings->at[best].hi - pings->at[best].lo)
			best = i;
	*ret_end = i;
	return best;
}

static int fit(struct pings *pings, struct fail *fail)
{
	struct line corners[VERTICES_MAX], tried[VERTICES_MAX];
	struct piece *piece = NULL;
	size_t nr = 0, best = 0, window_end = 0;
	int err = 0;

	for (size_t i = 0; !err && i < pings->nr && pings->nr_pieces < PIECES_MAX; i++) {
		const struct ping *ping = &pings->at[i];
		size_t nr_tried = nr;

		if (i == window_end)
			best = best_of_window(pings, i, &window_end);
		if (i != best && ping->hi - ping->lo > 2 * pings->shortest + SPARE_NS)
			continue;
		memcpy(tried, corners, nr * sizeof(*corners));
		if (piece && cut_by(piece, tried, &nr_tried, ping)) {
			memcpy(corners, tried, nr_tried * sizeof(*corners));
			nr = nr_tried;
			piece->last = ping->far > piece->last ? ping->far : piece->last;
			continue;
		}
		err = piece ? end_piece(piece, corners, nr, fail) : 0;
		/* The trace clock was changed, which empties the buffer: what was before is of no event. */
		if (!err && piece && ping->far <= piece->last)
			drop_pieces(pings);
		if (err)
			break;
		piece = begin_piece(pings, ping, corners);
		nr = 4;
		if (!piece)
			return fail_memory(fail);
	}
	/* Its corners are not stored yet. */
	if (piece && !err)
		err = end_piece(piece, corners, nr, fail);
	return err;
}

static int read_text(struct pings *pings, const char *at, size_t left, uint64_t shift, struct fail *fail)
{
	struct text_word line;

	pings->shortest = UINT64_MAX;
	while (pings->nr < PINGS_MAX && text_next_line(&at, &left, &line)) {
		struct ping ping, *added;

		if (take_near(pings, line.at, line.len) || !ping_parse(line.at, line.len, &ping) ||
		    clock_kind(ping.clock)->counts != CLOCK_COUNTS_NS)
			continue;
		ping.far += shift;
		if (ping.far > TIME_MAX)
			continue;
		added = vec_push(pings->at, pings->nr);
		if (!added)
			return fail_memory(fail);
		*added = ping;
		if (ping.hi - ping.lo < pings->shortest)
			pings->shortest = ping.hi - ping.lo;
	}
	return fit(pings, fail);
}

int pings_new(const char *text, size_t len, uint64_t shift, struct pings **ret, struct fail *fail)
{
	struct pings *pings = calloc(1, sizeof(*pings));
	int err;

	*ret = NULL;
	if (!pings)
		return fail_memory(fail);
	err = read_text(pings, text, len, shift, fail);
	if (err || !pings->nr_pieces)
		pings_free(pings);
	else
		*ret = pings;
	return err;
}

int pings_of(const struct trace *trace, size_t buffer, struct pings **ret, struct fail *fail)
{
	struct trace_text text = trace_setting(trace, buffer, SETTING_PINGS);

	*ret = NULL;
	return text.text ? pings_new(text.text, text.len, trace_ts_offset(trace), ret, fail) : 0;
}

void pings_free(struct pings *pings)
{
	if (!pings)
		return;
	drop_pieces(pings);
	free(pings->pieces);
	free(pings->at);
	free(pings);
}

const char *pings_boot_id(const struct pings *pings)
{
	return pings->boot_id;
}

const char *pings_host(const struct pings *pings)
{
	return pings->host;
}

/* What the lines of a piece say of a time, without y0: from *ret_lo to *ret_hi. */
static void range(const struct piece *piece, uint64_t ts, double *ret_lo, double *ret_hi)
{
	double x = span(piece->x0, ts), lo = at_line(&piece->corners[0], x), hi = lo;

	for (size_t i = 1; i < piece->nr; i++) {
		double y = at_line(&piece->corners[i], x);

		lo = y < lo ? y : lo;
		hi = y > hi ? y : hi;
	}
	*ret_lo = lo;
	*ret_hi = hi;
}

static int64_t middle(const struct piece *piece, uint64_t ts)
{
	double lo, hi;

	range(piece, ts, &lo, &hi);
	return piece->y0 + (int64_t)((lo + hi) / 2);
}

static size_t find_piece(const struct pings *pings, uint64_t ts)
{
	size_t until = vec_count(pings->nr_pieces, i, pings->pieces[i].first <= ts);

	return until ? until - 1 : 0;
}

int64_t pings_ahead(const struct pings *pings, uint64_t ts, uint64_t *ret_half)
{
	size_t at = find_piece(pings, ts);
	const struct piece *piece = &pings->pieces[at];
	double lo, hi, mid, next_lo, next_hi;

	range(piece, ts, &lo, &hi);
	mid = (lo + hi) / 2;
	/* Nobody knows when between two pings the clock jumped. */
	if (at + 1 < pings->nr_pieces && ts > piece->last) {
		double more = (double)(piece[1].y0 - piece->y0);

		range(piece + 1, ts, &next_lo, &next_hi);
		next_lo += more;
		next_hi += more;
		lo = next_lo < lo ? next_lo : lo;
		hi = next_hi > hi ? next_hi : hi;
	}
	if (ret_half)
		*ret_half = (uint64_t)(hi - mid > mid - lo ? hi - mid : mid - lo) + 2;
	return piece->y0 + (int64_t)mid;
}

/* What has no room has no sense either, but there is a result. */
static int64_t minus(uint64_t near, int64_t ahead)
{
	return (int64_t)(near - (uint64_t)ahead);
}

uint64_t pings_back(const struct pings *pings, uint64_t near)
{
	const struct piece *first = &pings->pieces[0];
	int64_t ts = minus(near, middle(first, first->first));

	/* The lines are so flat that each round is a thousand times as near. */
	for (unsigned i = 0; i < 8; i++)
		ts = minus(near, pings_ahead(pings, ts < 0 ? 0 : (uint64_t)ts, NULL));
	return ts < 0 ? 0 : (uint64_t)ts;
}

bool pings_piece(const struct pings *pings, size_t index, struct pings_piece *ret)
{
	const struct piece *piece;
	double lo, hi;

	if (!pings || index >= pings->nr_pieces)
		return false;
	piece = &pings->pieces[index];
	lo = hi = piece->corners[0].b;
	for (size_t i = 1; i < piece->nr; i++) {
		lo = piece->corners[i].b < lo ? piece->corners[i].b : lo;
		hi = piece->corners[i].b > hi ? piece->corners[i].b : hi;
	}
	*ret = (struct pings_piece){
		.first = piece->first,
		.last = piece->last,
		.step_ns = index ? middle(piece, piece->first) - middle(piece - 1, piece->first) : 0,
		.drift_lo_ppb = (int64_t)(lo * 1e9),
		.drift_hi_ppb = (int64_t)(hi * 1e9),
	};
	return true;
}

size_t pings_count(const struct pings *pings)
{
	return pings->nr;
}

uint64_t pings_shortest(const struct pings *pings)
{
	return pings->shortest;
}
