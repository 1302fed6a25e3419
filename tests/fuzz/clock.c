// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: the text of the settings weft/clocks and weft/pings; its beginning is also a time as a user types it. Pieces
 * are in order, a time of day is after 1970, and what is refused has a message.
 */
#include <stdint.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/clock/day.h"
#include "lib/meaning/clock/pings.h"
#include "lib/meaning/clock/wall.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void look(const struct wall *wall)
{
	static const uint64_t times[] = { 0, 1, 1000000000, INT64_MAX, UINT64_MAX };
	uint64_t places[4], bound;
	int64_t ns;

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (wall_of(wall, times[i], &ns, &bound) && ns < 0)
			__builtin_trap();
		(void)wall_places(wall, (int64_t)(times[i] / 2), places, 4);
	}
	for (size_t i = 1; wall_piece_at(wall, i); i++)
		if (wall_piece_at(wall, i)->since < wall_piece_at(wall, i - 1)->since ||
		    !wall_piece_at(wall, i)->step_ns)
			__builtin_trap();
	if (wall)
		(void)wall_drift_ppb(wall, &ns);
}

static void compare(const struct pings *pings)
{
	static const uint64_t times[] = { 0, 1, 1000000000, INT64_MAX, UINT64_MAX };
	struct pings_piece piece, last = { .first = 0 };
	uint64_t half;

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		(void)pings_ahead(pings, times[i], &half);
		if (!half)
			__builtin_trap();
		(void)pings_back(pings, times[i]);
	}
	for (size_t i = 0; pings_piece(pings, i, &piece); i++) {
		if (piece.first < last.last || piece.last < piece.first || piece.drift_lo_ppb > piece.drift_hi_ppb)
			__builtin_trap();
		last = piece;
	}
	if (!pings_count(pings) || pings_shortest(pings) > INT64_MAX || !pings_host(pings) || !pings_boot_id(pings))
		__builtin_trap();
}

static void type(const char *text, const struct zone *zone)
{
	struct day_time time;
	struct fail fail = FAIL_INIT;
	char name[ZONE_LABEL];
	int64_t ns = -1;

	(void)day_time_zone_name(text, name);
	if (!day_time_parse(text, NULL, &time))
		return;
	if (day_time_find(&time, zone, 0, INT64_MAX, INT64_MAX, &ns, &fail) && !*fail.text)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct pings *pings = NULL;
	struct wall *wall = NULL;
	struct zone *zone = NULL;
	char text[64] = "";

	memcpy(text, data, len < sizeof(text) ? len : sizeof(text) - 1);
	if (!zone_new_fixed(3600, &zone, NULL))
		type(text, zone);
	zone_free(zone);
	if (!wall_new_of_text((const char *)data, len, len > 9 ? data[9] : 0, &wall, NULL))
		look(wall);
	wall_free(wall);
	if (!pings_new((const char *)data, len, len > 9 ? data[9] : 0, &pings, NULL) && pings)
		compare(pings);
	pings_free(pings);
	return 0;
}
