// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/log.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/meaning/clock/day.h"
#include "lib/meaning/clock/wall.h"

enum { LINE_MOST = 1 << 16, READ_SIZE = 1 << 16, TEXT_MOST = 900, NAME_MOST = 64, DAY_S = 86400 };

/* What one line says. */
struct line {
	int64_t ns, unit;
	int64_t pid;
	char name[NAME_MOST];
	char text[TEXT_MOST];
};

void log_reader_release(struct log_reader *reader)
{
	buf_release(&reader->in);
	buf_release(&reader->out);
}

/* Copies a text without what would end a line. */
static void take_text(char *into, size_t size, const char *from)
{
	size_t len = 0;

	for (; *from && len + 1 < size; from++)
		into[len++] = (unsigned char)*from < ' ' || *from == 0x7f ? ' ' : *from;
	into[len] = '\0';
}

/* "prog[123]: text", after the name of the host. */
static void take_message(const char *at, struct line *line)
{
	size_t name = strcspn(at, "[: ");
	const char *to = at + name;

	if (name && name < NAME_MOST && *to == '[' && isdigit((unsigned char)to[1])) {
		char *end;

		line->pid = strtoll(to + 1, &end, 10);
		to = *end == ']' ? end + 1 : to;
	}
	if (name && name < NAME_MOST && *to == ':')
		snprintf(line->name, sizeof(line->name), "%.*s", (int)name, at);
	else
		line->pid = 0;
	take_text(line->text, sizeof(line->text), at);
}

/* Reads ".5" or ",5" behind the seconds. */
static const char *take_fraction(const char *at, struct line *line)
{
	if ((*at != '.' && *at != ',') || !isdigit((unsigned char)at[1]))
		return at;
	for (at++; isdigit((unsigned char)*at); at++) {
		line->unit /= 10;
		line->ns += (*at - '0') * line->unit;
	}
	line->unit = line->unit ? line->unit : 1;
	return at;
}

/* The instant at which clocks of the zone showed this; the first of two. */
static bool find_instant(const struct log_reader *reader, const struct tm *tm, bool has_offset, int64_t *ret_s)
{
	int64_t s;
	struct tm copy = *tm;

	copy.tm_isdst = 0;
	s = timegm(&copy);
	if (has_offset) {
		*ret_s = s - tm->tm_gmtoff;
		return true;
	}
	for (size_t i = 0; i < reader->zone->nr; i++) {
		int64_t utc = s - reader->zone->spans[i].offset_s;

		if (zone_at(reader->zone, utc)->offset_s != reader->zone->spans[i].offset_s)
			continue;
		*ret_s = utc;
		return true;
	}
	return false;
}

/* "Z", "+01:00" or "+0100" */
static const char *take_offset(const char *at, struct tm *tm, bool *ret_has)
{
	const char *end;

	if (*at != 'Z' && *at != 'z' && *at != '+' && *at != '-')
		return at;
	end = strptime(at, "%z", tm);
	*ret_has = end;
	return end ? end : at;
}

static bool set_time(const struct log_reader *reader, const struct tm *tm, bool has_offset, struct line *line)
{
	int64_t s;

	if (!find_instant(reader, tm, has_offset, &s) || s <= 0 || s > INT64_MAX / 4 / NS_PER_S)
		return false;
	line->ns += s * NS_PER_S;
	return true;
}

/* "2026-11-28T14:02:31.5+0100 host prog[1]: text"; before it may stand the "<30>1 " of RFC 5424. */
static bool take_iso(const struct log_reader *reader, const char *at, struct line *line)
{
	struct tm tm = { .tm_mday = 1 };
	bool has_offset = false;

	if (*at == '<' && strchr(at, ' ') && strchr(at, ' ') - at < 8)
		at = strchr(at, ' ') + 1;
	line->unit = NS_PER_S;
	at = strptime(at, "%Y-%m-%d", &tm);
	if (!at || (*at != 'T' && *at != ' '))
		return false;
	at = strptime(at + 1, "%H:%M:%S", &tm);
	if (!at)
		return false;
	at = take_offset(take_fraction(at, line), &tm, &has_offset);
	if (*at != ' ' || !set_time(reader, &tm, has_offset, line))
		return false;
	at += strspn(at, " ");
	at += strcspn(at, " ");
	take_message(at + strspn(at, " "), line);
	return true;
}

/* "Nov 28 14:02:31 host prog[1]: text": the year is the last one in which that is not in the future. */
static bool take_syslog(const struct log_reader *reader, const char *at, struct line *line)
{
	struct tm tm = { .tm_mday = 1 };
	struct day today;

	line->unit = NS_PER_S;
	day_split(reader->zone, reader->now, &today);
	tm.tm_year = (int)today.year - 1900;
	at = strptime(at, "%b %d %H:%M:%S", &tm);
	if (!at || (*at != ' ' && *at != '.'))
		return false;
	at = take_fraction(at, line);
	if (*at != ' ' || !set_time(reader, &tm, false, line))
		return false;
	if (line->ns > reader->now + DAY_S * NS_PER_S) {
		line->ns %= line->unit == NS_PER_S ? 1 : NS_PER_S;
		tm.tm_year--;
		if (!set_time(reader, &tm, false, line))
			return false;
	}
	at += strspn(at, " ");
	at += strcspn(at, " ");
	take_message(at + strspn(at, " "), line);
	return true;
}

/* Reads a string of JSON behind its quote into `into`, as far as it fits; NULL: it does not end. */
static const char *take_string(const char *at, char *into, size_t size)
{
	static const char letters[] = "ntrbf";
	size_t len = 0;

	for (; *at && *at != '"'; at++) {
		char c = *at;

		if (c == '\\') {
			c = *++at;
			if (!c)
				return NULL;
			if (c == 'u') {
				c = '?';
				for (int i = 0; i < 4 && isxdigit((unsigned char)at[1]); i++)
					at++;
			} else if (strchr(letters, c)) {
				c = ' ';
			}
		}
		if (len + 1 < size)
			into[len++] = c;
	}
	if (size)
		into[len] = '\0';
	return *at ? at + 1 : NULL;
}

/* Steps over a value that is no string: a number, null, an array of numbers. */
static const char *skip_value(const char *at)
{
	unsigned depth = 0;

	for (; *at; at++) {
		if (*at == '"') {
			at = take_string(at + 1, NULL, 0);
			if (!at)
				return "";
			at--;
		} else if (*at == '[' || *at == '{') {
			depth++;
		} else if ((*at == ']' || *at == '}') && depth) {
			depth--;
		} else if (!depth && (*at == ',' || *at == '}')) {
			break;
		}
	}
	return at;
}

/* The value of a key that has a string. False: the object has none. */
static bool find_string(const char *object, const char *key, char *into, size_t size)
{
	const char *at = object + 1;
	char name[NAME_MOST];

	for (;;) {
		at += strspn(at, " ,\t");
		if (*at != '"')
			return false;
		at = take_string(at + 1, name, sizeof(name));
		if (!at)
			return false;
		at += strspn(at, " :\t");
		if (*at != '"') {
			at = skip_value(at);
			continue;
		}
		if (!strcmp(name, key))
			return take_string(at + 1, into, size);
		at = take_string(at + 1, NULL, 0);
		if (!at)
			return false;
	}
}

/* journalctl -o json: the time when the program wrote it, if it is known, or when the journal got it. */
static bool take_journal(const char *at, struct line *line)
{
	char text[TEXT_MOST];
	int64_t us;

	if (*at != '{')
		return false;
	if (!find_string(at, "_SOURCE_REALTIME_TIMESTAMP", text, sizeof(text)) &&
	    !find_string(at, "__REALTIME_TIMESTAMP", text, sizeof(text)))
		return false;
	us = strtoll(text, NULL, 10);
	if (us <= 0 || us > INT64_MAX / 4 / NS_PER_US)
		return false;
	line->ns = us * NS_PER_US;
	line->unit = NS_PER_US;
	if (find_string(at, "_PID", text, sizeof(text)) || find_string(at, "SYSLOG_PID", text, sizeof(text)))
		line->pid = strtoll(text, NULL, 10);
	if (find_string(at, "SYSLOG_IDENTIFIER", text, sizeof(text)) || find_string(at, "_COMM", text, sizeof(text)))
		take_text(line->name, sizeof(line->name), text);
	if (!find_string(at, "MESSAGE", text, sizeof(text)))
		return false;
	snprintf(line->text, sizeof(line->text), "%s%s", line->name, *line->name ? ": " : "");
	take_text(line->text + strlen(line->text), sizeof(line->text) - strlen(line->text), text);
	return true;
}

static bool take_pattern(const struct log_reader *reader, const char *line_text, struct line *line)
{
	const char *pattern = reader->pattern + (*reader->pattern == '*'), *at = line_text, *end;
	bool anywhere = pattern != reader->pattern, has_offset = strstr(pattern, "%z");
	struct day today;

	day_split(reader->zone, reader->now, &today);
	do {
		struct tm tm = { .tm_year = (int)today.year - 1900, .tm_mon = today.month - 1, .tm_mday = today.day };

		end = strptime(at, pattern, &tm);
		if (!end)
			continue;
		line->ns = 0;
		line->unit = NS_PER_S;
		end = take_fraction(end, line);
		if (!has_offset)
			end = take_offset(end, &tm, &has_offset);
		if (!set_time(reader, &tm, has_offset, line))
			return false;
		take_message(anywhere ? line_text : end + strspn(end, " :-"), line);
		return true;
	} while (anywhere && *at++);
	return false;
}

static bool put_line(struct log_reader *reader, const struct line *line)
{
	bool known = line->pid > 0 && line->pid < LOG_NO_PID, in_us = !(line->ns % NS_PER_US);

	if (!reader->first)
		reader->first = line->ns;
	reader->unit = line->unit > reader->unit ? line->unit : reader->unit;
	/* Nine digits only where the log has them. */
	return buf_addf(&reader->out,
			"%16.15s-%-7" PRId64 " [000] ..... %5" PRId64 ".%0*" PRId64 ": tracing_mark_write: %s\n",
			known && *line->name ? line->name : "log", known ? line->pid : (int64_t)LOG_NO_PID,
			line->ns / NS_PER_S, in_us ? 6 : 9, line->ns % NS_PER_S / (in_us ? NS_PER_US : 1),
			*line->text ? line->text : " ");
}

static bool take_line(struct log_reader *reader, const char *text)
{
	struct line line = { .pid = 0 }, none = line;

	if (reader->pattern) {
		if (take_pattern(reader, text, &line))
			return put_line(reader, &line);
	} else if (take_journal(text, &line) || (line = none, take_iso(reader, text, &line)) ||
		   (line = none, take_syslog(reader, text, &line))) {
		return put_line(reader, &line);
	}
	reader->no_times += *text != '\0';
	return true;
}

/* Takes the whole lines of `in`; with `all` also what lies behind the last newline. */
static bool take_lines(struct log_reader *reader, bool all)
{
	char *at = reader->in.data, *end = at + reader->in.len;
	bool ok = true;

	while (ok && at < end) {
		char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;

		if (!newline && !all && end - at < LINE_MOST)
			break;
		for (char *byte = at; byte < stop; byte++)
			*byte = *byte ? *byte : ' ';
		if (stop > at && stop[-1] == '\r')
			stop[-1] = '\0';
		if (newline) {
			*newline = '\0';
			ok = take_line(reader, at);
			at = newline + 1;
			continue;
		}
		ok = buf_add(&reader->in, "", 1);
		if (ok)
			ok = take_line(reader, reader->in.data + reader->in.len - 1 - (end - at));
		reader->in.len = 0;
		return ok;
	}
	if (at > reader->in.data)
		memmove(reader->in.data, at, (size_t)(end - at));
	reader->in.len = (size_t)(end - at);
	return ok;
}

static int fill(struct log_reader *reader, struct fail *fail)
{
	int got;

	buf_clear(&reader->out);
	reader->given = 0;
	while (!reader->out.len && !reader->ended) {
		if (!buf_reserve(&reader->in, READ_SIZE + 1))
			return fail_memory(fail);
		got = reader->source.read(reader->source.arg, (uint8_t *)reader->in.data + reader->in.len, READ_SIZE,
					  fail);
		if (got < 0)
			return got;
		reader->in.len += (size_t)got;
		reader->ended = !got;
		if (reader->in.len && !take_lines(reader, reader->ended))
			return fail_memory(fail);
	}
	return 0;
}

int log_reader_read(void *arg, uint8_t *to, size_t size, struct fail *fail)
{
	struct log_reader *reader = arg;
	size_t left = reader->out.len - reader->given;
	int r = left ? 0 : fill(reader, fail);

	if (r)
		return r;
	left = reader->out.len - reader->given;
	left = left < size ? left : size;
	if (left)
		memcpy(to, reader->out.data + reader->given, left);
	reader->given += left;
	return (int)left;
}

bool log_reader_samples(const struct log_reader *reader, struct buf *into)
{
	int64_t unit = reader->unit > NS_PER_US ? reader->unit : NS_PER_US;
	struct wall_sample sample = { .clock = LOG_CLOCK,
				      .lo = (uint64_t)reader->first,
				      .hi = (uint64_t)reader->first,
				      .wall_lo = reader->first - unit,
				      .wall_hi = reader->first + unit,
				      .error_us = -1,
				      .why = WALL_LOG };

	return !reader->first || wall_sample_put(&sample, into);
}
