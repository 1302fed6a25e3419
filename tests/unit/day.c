// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/clock/day.h"
#include "tests/unit/test.h"

#define S INT64_C(1000000000)
static const char *const names[] = { "Europe/Berlin", "America/New_York", "Asia/Kathmandu" };
enum { ZONES = 3 };

/* clang-format off */
/* What GNU date says: TZ=ZONE date -d TEXT +%s%N, and @S for unix:S. */
static const struct {
	const char *text;
	int64_t ns[ZONES];
} dated[] = {
	{ "2026-11-28 12:03", { 1795863780000000000, 1795885380000000000, 1795846680000000000 } },
	{ "2026-11-28 12:03:10.5", { 1795863790500000000, 1795885390500000000, 1795846690500000000 } },
	{ "2026-11-28T12:03:10", { 1795863790000000000, 1795885390000000000, 1795846690000000000 } },
	{ "2026-11-28", { 1795820400000000000, 1795842000000000000, 1795803300000000000 } },
	{ "2026-1-2 3:04", { 1767319440000000000, 1767341040000000000, 1767302340000000000 } },
	{ "1970-01-02 00:00", { 82800000000000, 104400000000000, 66600000000000 } },
	{ "2038-01-19 03:14:07", { 2147480047000000000, 2147501647000000000, 2147462947000000000 } },
	{ "2038-01-19 03:14:08", { 2147480048000000000, 2147501648000000000, 2147462948000000000 } },
	{ "2026-11-28 12:03Z", { 1795867380000000000, 1795867380000000000, 1795867380000000000 } },
	{ "2026-11-28T12:03:10.123456789Z", { 1795867390123456789, 1795867390123456789, 1795867390123456789 } },
	{ "2026-11-28 12:03 UTC", { 1795867380000000000, 1795867380000000000, 1795867380000000000 } },
	{ "2026-11-28 12:03 utc", { 1795867380000000000, 1795867380000000000, 1795867380000000000 } },
	{ "2026-11-28 12:03 GMT", { 1795867380000000000, 1795867380000000000, 1795867380000000000 } },
	{ "2026-11-28 12:03+01:00", { 1795863780000000000, 1795863780000000000, 1795863780000000000 } },
	{ "2026-11-28 12:03:10-05:00", { 1795885390000000000, 1795885390000000000, 1795885390000000000 } },
	{ "2026-11-28 12:03 +0545", { 1795846680000000000, 1795846680000000000, 1795846680000000000 } },
	{ "2026-11-28 12:03 +5", { 1795849380000000000, 1795849380000000000, 1795849380000000000 } },
	{ "2026-02-28 23:59:59.999999999", { 1772319599999999999, 1772341199999999999, 1772302499999999999 } },
	{ "2024-02-29 12:00", { 1709204400000000000, 1709226000000000000, 1709187300000000000 } },
	{ "2000-02-29 00:00", { 951778800000000000, 951800400000000000, 951761700000000000 } },
	{ "2100-02-28 12:00", { 4107495600000000000, 4107517200000000000, 4107478500000000000 } },
	{ "2026-12-31 23:59:59", { 1798757999000000000, 1798779599000000000, 1798740899000000000 } },
	{ "2027-01-01 00:00", { 1798758000000000000, 1798779600000000000, 1798740900000000000 } },
	{ "2026-03-29 01:59:59", { 1774745999000000000, 1774763999000000000, 1774728899000000000 } },
	{ "2026-03-29 01:30", { 1774744200000000000, 1774762200000000000, 1774727100000000000 } },
	{ "2026-03-29 03:00", { 1774746000000000000, 1774767600000000000, 1774732500000000000 } },
	{ "2026-03-29 03:30", { 1774747800000000000, 1774769400000000000, 1774734300000000000 } },
	{ "2026-03-29 12:00", { 1774778400000000000, 1774800000000000000, 1774764900000000000 } },
	{ "2026-03-29", { 1774738800000000000, 1774756800000000000, 1774721700000000000 } },
	{ "2026-03-30 00:00", { 1774821600000000000, 1774843200000000000, 1774808100000000000 } },
	{ "2026-03-28 02:30", { 1774661400000000000, 1774679400000000000, 1774644300000000000 } },
	{ "2026-03-29 02:30Z", { 1774751400000000000, 1774751400000000000, 1774751400000000000 } },
	{ "2026-03-29 02:30+01:00", { 1774747800000000000, 1774747800000000000, 1774747800000000000 } },
	{ "2026-10-25 01:59:59", { 1792886399000000000, 1792907999000000000, 1792872899000000000 } },
	{ "2026-10-25 03:00", { 1792893600000000000, 1792911600000000000, 1792876500000000000 } },
	{ "2026-10-25 03:30", { 1792895400000000000, 1792913400000000000, 1792878300000000000 } },
	{ "2026-10-25 12:00", { 1792926000000000000, 1792944000000000000, 1792908900000000000 } },
	{ "2026-10-25", { 1792879200000000000, 1792900800000000000, 1792865700000000000 } },
	{ "2026-10-26 00:00", { 1792969200000000000, 1792987200000000000, 1792952100000000000 } },
	{ "2026-10-25 02:30+02:00", { 1792888200000000000, 1792888200000000000, 1792888200000000000 } },
	{ "2026-10-25 02:30+01:00", { 1792891800000000000, 1792891800000000000, 1792891800000000000 } },
	{ "2026-10-25 00:30Z", { 1792888200000000000, 1792888200000000000, 1792888200000000000 } },
	{ "2026-03-08 01:59:59", { 1772931599000000000, 1772953199000000000, 1772914499000000000 } },
	{ "2026-03-08 03:00", { 1772935200000000000, 1772953200000000000, 1772918100000000000 } },
	{ "2026-03-08 03:30", { 1772937000000000000, 1772955000000000000, 1772919900000000000 } },
	{ "2026-03-08 12:00", { 1772967600000000000, 1772985600000000000, 1772950500000000000 } },
	{ "2026-03-08", { 1772924400000000000, 1772946000000000000, 1772907300000000000 } },
	{ "2026-03-08 02:30-05:00", { 1772955000000000000, 1772955000000000000, 1772955000000000000 } },
	{ "2026-11-01 00:59:59", { 1793491199000000000, 1793509199000000000, 1793474099000000000 } },
	{ "2026-11-01 02:00", { 1793494800000000000, 1793516400000000000, 1793477700000000000 } },
	{ "2026-11-01 12:00", { 1793530800000000000, 1793552400000000000, 1793513700000000000 } },
	{ "2026-11-01", { 1793487600000000000, 1793505600000000000, 1793470500000000000 } },
	{ "2026-11-01 01:30-04:00", { 1793511000000000000, 1793511000000000000, 1793511000000000000 } },
	{ "2026-11-01 01:30-05:00", { 1793514600000000000, 1793514600000000000, 1793514600000000000 } },
	{ "1985-12-31 23:59", { 504917940000000000, 504939540000000000, 504901740000000000 } },
	{ "1986-01-01 00:30", { 504919800000000000, 504941400000000000, 504902700000000000 } },
	{ "1980-06-15 12:00", { 329911200000000000, 329932800000000000, 329898600000000000 } },
	{ "2026-07-01 12:00", { 1782900000000000000, 1782921600000000000, 1782886500000000000 } },
	{ "2099-07-01 12:00", { 4086583200000000000, 4086604800000000000, 4086569700000000000 } },
	{ "unix:1795872176.6", { 1795872176600000000, 1795872176600000000, 1795872176600000000 } },
};
/* clang-format on */

/* NULL: this machine has no such zone, and the test says nothing. */
static struct zone *zone_of(const char *name)
{
	struct zone *zone = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", name);
	if (access(path, R_OK))
		return NULL;
	setenv("TZ", name, 1);
	tzset();
	if (zone_new(name, &zone, NULL))
		zone = NULL;
	unsetenv("TZ");
	tzset();
	return zone;
}

static int find(const char *text, const struct zone *zone, int64_t first, int64_t last, int64_t *ret, struct fail *fail)
{
	struct day_time time;

	*ret = -1;
	*fail = (struct fail)FAIL_INIT;
	if (!day_time_parse(text, NULL, &time))
		return fail_set(fail, -1, "'%s' is not a time", text);
	return day_time_find(&time, zone, first, last, 1795872176 * S, ret, fail);
}

TEST(day_time_means_what_gnu_date_says_in_three_zones)
{
	struct fail fail;
	bool ok = true;
	int64_t ns;

	for (size_t k = 0; k < ZONES; k++) {
		struct zone *zone = zone_of(names[k]);

		for (size_t i = 0; zone && i < sizeof(dated) / sizeof(*dated); i++)
			if (find(dated[i].text, zone, 0, 0, &ns, &fail) || ns != dated[i].ns[k]) {
				printf("%s in %s: %lld, not %lld: %s\n", dated[i].text, names[k], (long long)ns,
				       (long long)dated[i].ns[k], fail.text);
				ok = false;
			}
		zone_free(zone);
	}
	CHECK(ok);
}

TEST(zone_is_the_same_after_it_was_a_text)
{
	for (size_t k = 0; k < ZONES; k++) {
		struct zone *zone = zone_of(names[k]), *again = NULL;
		cleanup_buf struct buf text = BUF_INIT;

		if (!zone)
			continue;
		if (CHECK(zone_put(zone, &text) && !zone_new_of(buf_str(&text), &again, NULL)) &&
		    CHECK(again->nr == zone->nr)) {
			CHECK_STR(again->label, zone->label);
			for (size_t i = 0; i < zone->nr; i++)
				CHECK(again->spans[i].since_s == zone->spans[i].since_s &&
				      again->spans[i].offset_s == zone->spans[i].offset_s &&
				      !strcmp(again->spans[i].name, zone->spans[i].name));
		}
		zone_free(zone);
		zone_free(again);
	}
	for (const char *const *text = (const char *const[]){ "", "Europe/Berlin\n", "x\n1 CET\n", NULL }; *text;
	     text++) {
		struct zone *none = NULL;

		CHECK(zone_new_of(*text, &none, NULL) == -22 && !none);
	}
}

TEST(day_time_that_the_clocks_skipped_or_showed_twice_is_refused_with_both_instants)
{
	struct zone *berlin = zone_of(names[0]), *york = zone_of(names[1]);
	struct fail fail;
	int64_t ns;

	if (berlin && york) {
		CHECK(find("2026-03-29 02:30", berlin, 0, 0, &ns, &fail) == -22);
		CHECK_STR(fail.text, "the clocks of Europe/Berlin skipped that time: '2026-03-29 01:59:59+01:00' was "
				     "followed by '2026-03-29 03:00:00+02:00'; say which you mean");
		CHECK(find("2026-03-29 02:00", berlin, 0, 0, &ns, &fail) == -22);
		CHECK(find("2026-03-08 02:59:59.9", york, 0, 0, &ns, &fail) == -22);
		CHECK(find("2026-10-25 02:30", berlin, 0, 0, &ns, &fail) == -22);
		CHECK_STR(fail.text, "the clocks of Europe/Berlin showed that time twice: '2026-10-25 02:30:00+02:00' "
				     "or '2026-10-25 02:30:00+01:00'");
		CHECK(find("2026-10-25 02:00", berlin, 0, 0, &ns, &fail) == -22);
		CHECK(find("2026-11-01 01:00", york, 0, 0, &ns, &fail) == -22);
	}
	zone_free(berlin);
	zone_free(york);
}

/* 2026-11-28 12:00 UTC is 1795867200. */
TEST(day_time_without_a_date_is_the_one_in_the_file)
{
	const int64_t noon = 1795867200 * S;
	struct zone *utc, *berlin = zone_of(names[0]);
	struct fail fail;
	int64_t ns;

	REQUIRE(!zone_new_fixed(0, &utc, NULL));
	CHECK(!find("12:03", utc, noon, noon + 600 * S, &ns, &fail) && ns == noon + 180 * S);
	CHECK(!find("12:03:10.5", utc, noon, noon + 600 * S, &ns, &fail) && ns == noon + 190 * S + S / 2);
	CHECK(!find("13:03+01:00", utc, noon, noon + 600 * S, &ns, &fail) && ns == noon + 180 * S);
	/* Not in it: the nearest one. */
	CHECK(!find("11:00", utc, noon, noon + 600 * S, &ns, &fail) && ns == noon - 3600 * S);
	CHECK(!find("23:50", utc, noon - 12 * 3600 * S, noon - 11 * 3600 * S, &ns, &fail) &&
	      ns == noon - 12 * 3600 * S - 600 * S);
	/* Over midnight. */
	CHECK(!find("00:10", utc, noon + 11 * 3600 * S, noon + 13 * 3600 * S, &ns, &fail) &&
	      ns == noon + 12 * 3600 * S + 600 * S);
	CHECK(find("12:03", utc, noon, noon + 3 * 86400 * S, &ns, &fail) == -22);
	CHECK_STR(fail.text, "the file has that time more than once: '2026-11-28 12:03:00+00:00', "
			     "'2026-11-29 12:03:00+00:00', '2026-11-30 12:03:00+00:00'");
	/* The doubled hour is not doubled in a file that has only one of both: 02:30 CET is 01:30 UTC. */
	if (berlin) {
		CHECK(!find("02:30", berlin, 1792890000 * S, 1792893600 * S, &ns, &fail) && ns == 1792891800 * S);
		CHECK(find("02:30", berlin, 1792886400 * S, 1792893600 * S, &ns, &fail) == -22);
	}
	zone_free(berlin);
	zone_free(utc);
}

TEST(day_time_today_and_yesterday_are_the_readers)
{
	struct zone *utc;
	struct fail fail;
	int64_t ns;

	REQUIRE(!zone_new_fixed(0, &utc, NULL));
	CHECK(!find("today", utc, 0, 0, &ns, &fail) && ns == 1795824000 * S);
	CHECK(!find("yesterday", utc, 0, 0, &ns, &fail) && ns == 1795737600 * S);
	CHECK(!find("yesterday 12:03", utc, 0, 0, &ns, &fail) && ns == (1795737600 + 43380) * S);
	zone_free(utc);
}

TEST(day_time_rejects_what_is_no_time)
{
	static const char *const wrong[] = { "",
					     ":",
					     "12",
					     "12:",
					     "24:00",
					     "12:60",
					     "12:03:61",
					     "12:03:",
					     "12:3",
					     "1:2:3",
					     "12:03.5",
					     "12:03:10.",
					     "2026-13-01",
					     "2026-02-29",
					     "2026-00-01",
					     "2026-11-31",
					     "2026-11-28T",
					     "2026-11-28 x",
					     "26-11-28",
					     "1969-12-31",
					     "2300-01-01",
					     "now",
					     "todayx",
					     "today 25:00",
					     "12:03 Nowhere",
					     "12:03+15:00",
					     "12:03+01:60",
					     "12:03 +",
					     "unix:",
					     "unix:x",
					     "unix:1.",
					     "unix:1x",
					     "unix:-1",
					     "12:03Zx",
					     "2026-11-2812:03",
					     "12:03:10.5x",
					     "99999999999:00" };
	struct day_time time;
	bool ok = true;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (day_time_parse(wrong[i], NULL, &time)) {
			printf("'%s' is taken\n", wrong[i]);
			ok = false;
		}
	CHECK(ok);
}

TEST(day_text_is_what_gnu_date_prints)
{
	struct zone *kathmandu = zone_of(names[2]);
	char text[DAY_TEXT];

	if (!kathmandu)
		return;
	/* TZ=Asia/Kathmandu date -d @1795872176.123456789 '+%F %T.%N' */
	day_text(text, kathmandu, INT64_C(1795872176123456789), DAY_ALWAYS, 9);
	CHECK_STR(text, "2026-11-28 19:07:56.123456789");
	day_text(text, kathmandu, INT64_C(1795872176123456789), 20785, 6);
	CHECK_STR(text, "19:07:56.123456");
	day_text(text, kathmandu, INT64_C(951782400000000000), DAY_ALWAYS, 0);
	CHECK_STR(text, "2000-02-29 05:45:00");
	zone_free(kathmandu);
}
