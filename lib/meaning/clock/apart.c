// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/clock/apart.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/number.h"

enum { NO_MACHINE = -1 };

struct machine {
	struct trace_text name; /* borrowed */
	uint64_t error, last;
	bool seen;
};

struct apart {
	size_t nr_buffers, nr;
	int *of; /* the machine of each buffer, or NO_MACHINE */
	struct machine *machines;
};

/* The buffers of one file have its name in common. */
static int machine_of(struct apart *apart, struct trace_text name, uint64_t error)
{
	size_t i = 0;

	while (i < apart->nr && (apart->machines[i].name.len != name.len ||
				 memcmp(apart->machines[i].name.text, name.text, name.len) != 0))
		i++;
	if (i == apart->nr)
		apart->machines[apart->nr++] = (struct machine){ .name = name, .error = error };
	return (int)i;
}

bool apart_error(const struct trace *trace, size_t buffer, uint64_t *ret)
{
	struct trace_text error = trace_setting(trace, buffer, SETTING_APART);

	if (error.text)
		*ret = number_of(error.text, 0);
	return error.text;
}

static void find(struct apart *apart, const struct trace *trace)
{
	for (size_t i = 0; i < apart->nr_buffers; i++) {
		struct trace_text name = trace_setting(trace, i, "weft/recording");
		uint64_t error;

		apart->of[i] = apart_error(trace, i, &error) && name.text ? machine_of(apart, name, error) : NO_MACHINE;
	}
}

int apart_of(const struct trace *trace, struct apart **ret, struct fail *fail)
{
	struct apart *apart = calloc(1, sizeof(*apart));

	*ret = NULL;
	if (!apart)
		return fail_memory(fail);
	apart->nr_buffers = trace_buffers(trace);
	apart->of = calloc(apart->nr_buffers + 1, sizeof(*apart->of));
	apart->machines = calloc(apart->nr_buffers + 1, sizeof(*apart->machines));
	if (!apart->of || !apart->machines) {
		apart_free(apart);
		return fail_memory(fail);
	}
	find(apart, trace);
	if (apart->nr > 1)
		*ret = apart;
	else
		apart_free(apart);
	return 0;
}

void apart_free(struct apart *apart)
{
	if (!apart)
		return;
	free(apart->of);
	free(apart->machines);
	free(apart);
}

static struct machine *find_mine(const struct apart *apart, size_t buffer)
{
	int at = buffer < apart->nr_buffers ? apart->of[buffer] : NO_MACHINE;

	return at == NO_MACHINE ? NULL : &apart->machines[at];
}

bool apart_next(struct apart *apart, size_t buffer, uint64_t ts)
{
	struct machine *mine = find_mine(apart, buffer);
	bool close = false;

	for (size_t i = 0; mine && i < apart->nr; i++) {
		const struct machine *other = &apart->machines[i];
		uint64_t since = ts > other->last ? ts - other->last : 0;

		if (other != mine && other->seen && since <= other->error + mine->error)
			close = true;
	}
	if (mine)
		mine->last = ts, mine->seen = true;
	return close;
}

bool apart_other(const struct apart *apart, size_t buffer, size_t index, struct apart_other *ret)
{
	const struct machine *mine = find_mine(apart, buffer), *other;

	if (!mine || index + 1 >= apart->nr)
		return false;
	other = &apart->machines[index];
	other += other >= mine;
	*ret = (struct apart_other){
		.name = other->name, .within = other->error + mine->error, .seen = other->seen, .last = other->last
	};
	return true;
}

uint64_t apart_widest(const struct apart *apart)
{
	uint64_t most = 0, next = 0;

	for (size_t i = 0; i < apart->nr; i++) {
		uint64_t error = apart->machines[i].error;

		next = error > most ? most : error > next ? error : next;
		most = error > most ? error : most;
	}
	return most + next;
}
