// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/import/prefix_internal.h"

#include "lib/base/bytes.h"
#include "lib/base/cleanup.h"

#include <ctype.h>
#include <string.h>

enum { PARTS_MAX = 16, BRACKET_MAX = 64, HOST_MAX = 80, INITIALS_MAX = 3 };

/* The rest of a line. */
struct rest {
	const char *at, *end;
};

static bool accept(struct rest *rest, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(rest->end - rest->at) < len || memcmp(rest->at, text, len))
		return false;
	rest->at += len;
	return true;
}

static void blanks(struct rest *rest)
{
	while (rest->at < rest->end && *rest->at == ' ')
		rest->at++;
}

/*
 * Reads a text of this shape: '0' is a digit, 'a' a letter, '_' a digit or a blank, '+' as many digits as there are,
 * anything else is itself.
 */
static bool shape(struct rest *rest, const char *shape)
{
	struct rest at = *rest;

	for (; *shape; shape++) {
		unsigned char c = at.at < at.end ? (unsigned char)*at.at : '\0';

		if (*shape == '0' ? !isdigit(c) :
		    *shape == 'a' ? !isalpha(c) :
		    *shape == '_' ? !isdigit(c) && c != ' ' :
		    *shape == '+' ? !isdigit(c) :
				    c != (unsigned char)*shape)
			return false;
		do
			at.at++;
		while (*shape == '+' && at.at < at.end && isdigit((unsigned char)*at.at));
	}
	*rest = at;
	return true;
}

/* Reads "> ", ">>", "| ", or "JD> ". */
static bool quote(struct rest *rest)
{
	struct rest at = *rest;

	if (accept(&at, "| ")) {
		*rest = at;
		return true;
	}
	while (at.at < at.end && at.at - rest->at < INITIALS_MAX && isupper((unsigned char)*at.at))
		at.at++;
	if (!accept(&at, ">"))
		return false;
	accept(&at, " ");
	*rest = at;
	return true;
}

/* Reads "[   12.345678] ", "[Wed Nov 25 08:00:01 2026]", "[    C0]", "[  +0.000010]", "[0: swapper/0: 0]". */
static bool bracket(struct rest *rest)
{
	const char *at = rest->at + 1;
	bool digit = false;

	if (rest->at >= rest->end || *rest->at != '[')
		return false;
	for (; at < rest->end && *at != ']'; at++) {
		if (at - rest->at > BRACKET_MAX || (!isalnum((unsigned char)*at) && !strchr(" .,:+<>-/@_", *at)))
			return false;
		digit |= isdigit((unsigned char)*at) != 0;
	}
	if (at >= rest->end || !digit)
		return false;
	rest->at = at + 1;
	accept(rest, " ");
	return true;
}

/* Reads "(3)[1234:task]" and "-(1)[0:swapper]", of some vendors' kernels. */
static bool vendor(struct rest *rest)
{
	struct rest at = *rest;

	accept(&at, "-");
	if (!shape(&at, "(0)") || !bracket(&at))
		return false;
	*rest = at;
	return true;
}

/* Reads "2026-11-25T08:00:01,123456+00:00 " and "11-25 08:00:01.123 ". */
static bool date(struct rest *rest)
{
	struct rest at = *rest;

	if (!shape(&at, "0000-00-00T00:00:00") && !shape(&at, "0000-00-00 00:00:00") && !shape(&at, "00-00 00:00:00") &&
	    !shape(&at, "00:00:00"))
		return false;
	(void)(shape(&at, ".+") || shape(&at, ",+"));
	(void)(accept(&at, "Z") ||
	       ((accept(&at, "+") || accept(&at, "-")) && (shape(&at, "00:00") || shape(&at, "0000"))));
	if (!accept(&at, " "))
		return false;
	*rest = at;
	return true;
}

/* Reads what is behind the time of a log: "HOST kernel: ", also with a PID or a level. */
static bool host(struct rest *rest)
{
	const char *end = rest->end - rest->at > HOST_MAX ? rest->at + HOST_MAX : rest->end;
	const char *kernel = memmem(rest->at, (size_t)(end - rest->at), "kernel", 6);

	for (; kernel; kernel = memmem(kernel + 1, (size_t)(end - kernel - 1), "kernel", 6)) {
		struct rest at = { kernel + 6, rest->end };

		if (kernel > rest->at && kernel[-1] != ' ')
			continue;
		(void)shape(&at, "[+]");
		if (!accept(&at, ":"))
			continue;
		accept(&at, " ");
		*rest = at;
		return true;
	}
	return false;
}

/* Reads "Nov 25 08:00:01 HOST kernel: ". */
static bool syslog(struct rest *rest)
{
	struct rest at = *rest;

	if (!shape(&at, "aaa _0 00:00:00"))
		return false;
	(void)shape(&at, ".+");
	if (!accept(&at, " ") || !host(&at))
		return false;
	*rest = at;
	return true;
}

/* Reads "<6>" of printk, "6,1234,5678901,-;" of /dev/kmsg, "kern  :info  : " of dmesg -x. */
static bool level(struct rest *rest)
{
	static const char *const levels[] = { "emerg", "alert", "crit", "err", "warn", "notice", "info", "debug" };
	struct rest at = *rest;

	if (shape(&at, "<+>")) {
		/* "<7952>-7952" is a task whose name systrace did not know. */
		if (at.at < at.end && *at.at == '-')
			return false;
		*rest = at;
		return true;
	}
	if (shape(rest, "+,+,+,-;") || shape(rest, "+,+,+,c;"))
		return true;
	while (at.at < at.end && islower((unsigned char)*at.at))
		at.at++;
	blanks(&at);
	if (at.at == rest->at || !accept(&at, ":"))
		return false;
	for (size_t i = 0; i < array_size(levels); i++) {
		struct rest behind = at;

		if (!accept(&behind, levels[i]))
			continue;
		blanks(&behind);
		if (!accept(&behind, ":"))
			continue;
		accept(&behind, " ");
		*rest = behind;
		return true;
	}
	return false;
}

static bool log_part(struct rest *rest)
{
	if (syslog(rest) || bracket(rest) || vendor(rest) || level(rest))
		return true;
	if (!date(rest))
		return false;
	(void)host(rest);
	return true;
}

/* Reads what ends in "kernel: [", or is "kernel: ": logs whose times have another form. */
static bool elsewhere(struct rest *rest)
{
	struct rest at = *rest;

	if (!host(&at) || (at.at < at.end && *at.at != '[' && at.end - at.at < rest->end - rest->at - 9))
		return false;
	*rest = at;
	return true;
}

struct prefix prefix_read(const char *line, size_t len)
{
	struct rest rest = { line, line + len };
	struct prefix prefix = { .len = 0 };
	unsigned parts = 0;

	while (parts < PARTS_MAX && quote(&rest))
		parts++;
	prefix.quotes = parts;
	while (parts < PARTS_MAX && log_part(&rest)) {
		prefix.is_log = true;
		parts++;
	}
	if (!prefix.is_log && elsewhere(&rest))
		for (prefix.is_log = true; parts < PARTS_MAX && log_part(&rest); parts++)
			;
	prefix.len = (size_t)(rest.at - line);
	return prefix;
}
