// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/near.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"

enum { WORD_MAX = 64 };

static unsigned min_of(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Optimal string alignment: insert, delete, change, or swap two neighbours; only the last three rows are kept. */
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned rows[3][WORD_MAX + 1];

	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_len; i++) {
		unsigned *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= b_len; j++) {
			unsigned best = min_of(before[j], now[j - 1]) + 1;

			best = min_of(best, before[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = min_of(best, earlier[j - 2] + 1);
			now[j] = best;
		}
	}
	return rows[a_len % 3][b_len];
}

struct near near_to(const char *word)
{
	return (struct near){ .word = word };
}

void near_offer(struct near *near, const char *name)
{
	near_offer_as(near, name, name);
}

void near_offer_as(struct near *near, const char *part, const char *name)
{
	size_t len = strlen(near->word), part_len = strlen(part), longer = len > part_len ? len : part_len;
	unsigned place, far;

	if (!len || longer > WORD_MAX || strlen(name) >= NEAR_NAME_SIZE)
		return;
	far = distance(near->word, len, part, part_len);
	if (far > (longer + 2) / 3 || far >= longer)
		return;
	for (place = 0; place < near->found && near->names[place].distance <= far; place++)
		if (!strcmp(near->names[place].name, name))
			return;
	if (place == NEAR_NAMES)
		return;
	if (near->found < NEAR_NAMES)
		near->found++;
	memmove(&near->names[place + 1], &near->names[place], (near->found - place - 1) * sizeof(near->names[0]));
	near->names[place].distance = far;
	snprintf(near->names[place].name, NEAR_NAME_SIZE, "%s", name);
}

void near_hint(const struct near *near, char *into, size_t size)
{
	size_t len = 0;

	*into = '\0';
	for (unsigned i = 0; i < near->found && len < size; i++) {
		const char *glue = !i ? "did you mean " : i + 1 < near->found ? ", " : " or ";

		len += (size_t)snprintf(into + len, size - len, "%s'%s'%s", glue, near->names[i].name,
					i + 1 < near->found ? "" : "?");
	}
}

int near_fail(const struct near *near, struct fail *fail, int err, const char *format, ...)
{
	char text[sizeof(fail->text)], hint[NEAR_NAMES * (NEAR_NAME_SIZE + 8) + 32];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	near_hint(near, hint, sizeof(hint));
	return fail_set(fail, err, "%s%s%s", text, near->found ? "; " : "", hint);
}
