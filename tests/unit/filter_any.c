// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/query/filter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/* One event, on CPU 2, whose fields have each size and sign. */
static const char script[] =
	"2 100 7 any a=200 b=500 c=4000000000 d=9223372036854775813 e=-7 f=-70000000000 name=lathe mask=!\n";

static const struct {
	const char *name;
	uint64_t value;
	bool is_signed;
} fields[] = {
	{ "a", 200, false },         { "b", 500, false },
	{ "c", 4000000000, false },  { "d", UINT64_C(9223372036854775813), false },
	{ "e", (uint64_t)-7, true }, { "f", (uint64_t)-70000000000, true },
	{ "CPU", 2, true },          { "common_pid", 7, true },
};

struct scene {
	struct loom loom;
	struct trace *trace;
	struct context *context;
	struct events *events;
	struct event event;
};

static bool begin(struct scene *scene)
{
	const struct events_options options = { .until = UINT64_MAX };

	*scene = (struct scene){ .trace = NULL };
	loom_init(&scene->loom);
	loom_type(&scene->loom, "test", "any",
		  "u8 a; u16 b; u32 c; u64 d; int e; long f; char name[16]; __data_loc cpumask_t[] mask", "\"\"");
	loom_task(&scene->loom, 7, "weaver");
	loom_play(&scene->loom, script);
	scene->trace = loom_trace(&scene->loom);
	return CHECK(scene->trace && !context_new(scene->trace, 0, &scene->context, NULL)) &&
	       CHECK(!events_open(scene->context, &options, &scene->events, NULL)) &&
	       CHECK(events_next(scene->events, &scene->event, NULL) > 0 && scene->event.type);
}

static void end(struct scene *scene)
{
	events_free(scene->events);
	context_free(scene->context);
	trace_free(scene->trace);
	loom_release(&scene->loom);
}

/* A filter and whether the event meets it; `binds`: 1 of ||, 2 of &&, 3 of all else. */
struct grown {
	char text[600];
	bool met;
	unsigned binds;
};

static uint32_t dice(uint32_t *seed, uint32_t sides)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % sides;
}

static bool compare(const char *sign, uint64_t a, uint64_t b, bool is_signed)
{
	bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;

	if (*sign == '=' || *sign == '!')
		return (a == b) == (*sign == '=');
	if (*sign == '&')
		return a & b;
	return *sign == '<' ? less || (sign[1] && a == b) : !less && (sign[1] || a != b);
}

static struct grown number_term(uint32_t *seed)
{
	static const char *const signs[] = { "==", "!=", "<", "<=", ">", ">=", "&" };
	size_t field = dice(seed, sizeof(fields) / sizeof(fields[0]));
	uint64_t value = fields[field].value, number = value + dice(seed, 3) - 1;
	const char *sign = signs[dice(seed, 7)], *form = dice(seed, 2) ? "%s %s 0x%" PRIx64 : "%s%s%" PRIu64;
	struct grown made = { .binds = 3 };

	/* `CPU` has no bits. */
	if (*sign == '&' && !strcmp(fields[field].name, "CPU"))
		sign = "==";
	if (*sign == '&')
		number = UINT64_C(1) << dice(seed, 8);
	if (fields[field].is_signed && (int64_t)number < 0)
		snprintf(made.text, sizeof(made.text), "%s %s %" PRId64, fields[field].name, sign, (int64_t)number);
	else
		snprintf(made.text, sizeof(made.text), form, fields[field].name, sign, number);
	made.met = compare(sign, value, number, fields[field].is_signed);
	return made;
}

static struct grown term(uint32_t *seed)
{
	static const struct grown others[] = {
		{ "name == \"lathe\"", true, 3 },  { "name == 'lath'", false, 3 },
		{ "name != \"lathes\"", true, 3 }, { "name != \"lathe\"", false, 3 },
		{ "name ~ \"la*\"", true, 3 },     { "name~\"*th*\"", true, 3 },
		{ "name ~ \"*la\"", false, 3 },    { "name ~ \"!la*\"", false, 3 },
		{ "name ~ \"!x*\"", true, 3 },     { "CPU & CPUS{0-2}", true, 3 },
		{ "CPU == CPUS{2}", true, 3 },     { "CPU == CPUS{1-2}", false, 3 },
		{ "CPU != CPUS{1-2}", true, 3 },   { "CPU & CPUS{0,1,3-5}", false, 3 },
		{ "cpu != CPUS{2}", false, 3 },    { "a & CPUS{200}", true, 3 },
		{ "a & CPUS{199,201}", false, 3 },
	};

	if (dice(seed, 3))
		return number_term(seed);
	return others[dice(seed, sizeof(others) / sizeof(others[0]))];
}

static struct grown grow(uint32_t *seed, unsigned depth)
{
	struct grown a, b, made = { .binds = 3 };

	if (!depth || !dice(seed, 6))
		return term(seed);
	a = grow(seed, depth - 1);
	if (!dice(seed, 4)) {
		if (snprintf(made.text, sizeof(made.text), dice(seed, 2) ? "!(%s)" : "! ! !( %s )", a.text) >=
		    (int)sizeof(made.text))
			return a;
		made.met = !a.met;
		return made;
	}
	b = grow(seed, depth - 1);
	made.binds = 1 + dice(seed, 2);
	made.met = made.binds == 2 ? a.met && b.met : a.met || b.met;
	/* Brackets only where they are needed. */
	if (snprintf(made.text, sizeof(made.text), "%s%s%s%s%s%s%s", a.binds < made.binds ? "(" : "", a.text,
		     a.binds < made.binds ? ")" : "", made.binds == 2 ? " && " : "||", b.binds < made.binds ? "(" : "",
		     b.text, b.binds < made.binds ? ")" : "") >= (int)sizeof(made.text))
		return a;
	return made;
}

TEST(filter_keeps_what_any_condition_says)
{
	struct scene scene;
	uint32_t seed = 1;
	unsigned met = 0;

	if (begin(&scene))
		for (unsigned i = 0; i < 6000; i++) {
			struct grown grown = grow(&seed, i % 6);
			struct fail fail = FAIL_INIT;
			struct filter *filter = NULL;
			int r = filter_new(grown.text, scene.event.type->format, scene.context, NULL, &filter, &fail);

			if (!CHECK(!r) || !CHECK(filter_match(filter, &scene.event) == grown.met)) {
				fprintf(stderr, "%s: %s\n", grown.text, fail.text);
				filter_free(filter);
				break;
			}
			met += grown.met;
			/* No field is asked for its type there. */
			CHECK(!filter_check(grown.text, NULL));
			CHECK(!filter_needs_task(filter));
			filter_free(filter);
		}
	CHECK(met > 1000 && met < 5000);
	end(&scene);
}

TEST(filter_asks_for_the_task_where_the_event_does_not_name_one)
{
	static const struct {
		const char *text;
		bool needs, met;
	} rows[] = {
		{ "comm == \"weaver\"", true, true },       { "COMM ~ \"*eave*\"", true, true },
		{ "a == 1 || comm != \"sh\"", true, true }, { "a == 200 && comm == \"sh\"", true, false },
		{ "name == \"lathe\"", false, true },       { "a == 200", false, true },
	};
	struct scene scene;

	if (begin(&scene))
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			struct filter *filter = NULL;

			if (!CHECK(!filter_new(rows[i].text, scene.event.type->format, scene.context, NULL, &filter,
					       NULL)))
				continue;
			CHECK(filter_needs_task(filter) == rows[i].needs);
			CHECK(filter_match(filter, &scene.event) == rows[i].met);
			filter_free(filter);
		}
	end(&scene);
}

/* The bytes of "!" are 0x21 and 0: CPUs 0 and 5. */
TEST(filter_compares_masks_of_cpus)
{
	static const struct {
		const char *text;
		bool met;
	} rows[] = {
		{ "mask & CPUS{0}", true },     { "mask & CPUS{5,9}", true },     { "mask & CPUS{1-4,6-99}", false },
		{ "mask == CPUS{0,5}", true },  { "mask == CPUS{0}", false },     { "mask == CPUS{0,5,6}", false },
		{ "mask != CPUS{0,5}", false }, { "mask != CPUS{0,5,15}", true }, { "!(mask & CPUS{7})", true },
	};
	struct scene scene;

	/* In the other byte order, the first byte of a word has its last bits. */
	if (CHECK(begin(&scene)) && !HOST_BIG_ENDIAN)
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			struct filter *filter = NULL;
			struct fail fail = FAIL_INIT;

			if (CHECK(!filter_new(rows[i].text, scene.event.type->format, scene.context, NULL, &filter,
					      &fail)))
				CHECK(filter_match(filter, &scene.event) == rows[i].met);
			CHECK_STR(fail.text, "");
			filter_free(filter);
		}
	end(&scene);
}

TEST(filter_that_is_none_shows_where)
{
	static const struct {
		const char *text, *why;
		unsigned column;
	} rows[] = {
		{ "", "No filter found", 0 },
		{ "  ", "No filter found", 2 },
		{ "a 1", "Invalid operator; the operators are ==, !=, <, <=, >, >=, & and ~", 2 },
		{ "a = 1", "Invalid operator; the operators are ==, !=, <, <=, >, >=, & and ~", 2 },
		{ "a == ", "Invalid value (did you forget quotes)?", 5 },
		{ "a == x", "Invalid value (did you forget quotes)?", 5 },
		{ "a == 1x", "Illegal integer value", 5 },
		{ "a == -1", "Illegal integer value", 5 },
		{ "a == 0x", "Illegal integer value", 5 },
		{ "a == 08", "Illegal integer value", 5 },
		{ "e == --1", "Illegal integer value", 5 },
		{ "e == 9223372036854775808", "Illegal integer value", 5 },
		{ "e == -9223372036854775809", "Illegal integer value", 5 },
		{ "d == 18446744073709551616", "Illegal integer value", 5 },
		{ "a == 000000000000000000000001", "Operand too long", 5 },
		{ "a ~ 1", "Illegal operation for field type", 4 },
		{ "a == \"x\"", "Expecting numeric field", 5 },
		{ "a < \"x\"", "Illegal operation for field type", 4 },
		{ "name == 1", "Expecting string field", 8 },
		{ "name == \"x", "Missing matching quote", 8 },
		{ "name < \"x\"", "Illegal operation for field type", 7 },
		{ "name & \"x\"", "Illegal operation for field type", 7 },
		{ "name == CPUS{1}", "Illegal operation for field type", 8 },
		{ "a < CPUS{1}", "Illegal operation for field type", 4 },
		{ "a ~ CPUS{1}", "Illegal operation for field type", 4 },
		{ "a == CPUS1}", "Missing '{'", 9 },
		{ "a == CPUS{1", "Missing '}'", 10 },
		{ "a == CPUS{}", "Invalid cpulist", 10 },
		{ "a == CPUS{x}", "Invalid cpulist", 10 },
		{ "a == 1 )", "Too few '('", 7 },
		{ "(a == 1", "Too many '('", 0 },
		{ "a == 1 && (b == 2 || (c == 3)", "Too many '('", 10 },
		{ "a == 1 b == 2", "Too many terms in predicate expression", 7 },
		{ "a == 1 & b == 2", "Too many terms in predicate expression", 7 },
		{ "a == 1 && ", "Meaningless filter expression", 10 },
		{ "!", "Meaningless filter expression", 1 },
		{ "a == 1 || == 2", "Meaningless filter expression", 10 },
		{ "a.function == 1", "Only a running kernel can resolve function names: compare the address", 1 },
	};
	struct scene scene;

	if (begin(&scene))
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			struct fail fail = FAIL_INIT;
			struct filter *filter = NULL;
			char want[256];

			snprintf(want, sizeof(want), "%s\n  %s\n  %*s^", rows[i].why, rows[i].text, (int)rows[i].column,
				 "");
			if (!CHECK(filter_new(rows[i].text, scene.event.type->format, scene.context, NULL, &filter,
					      &fail) == -EINVAL))
				fprintf(stderr, "%s\n", rows[i].text);
			CHECK_STR(fail.text, want);
			CHECK(fail.usage);
		}
	end(&scene);
}

TEST(filter_has_limits_of_the_kernel)
{
	static const struct {
		unsigned name, string;
		int err;
		const char *why;
	} rows[] = {
		{ 127, 0, -ENOENT, "Field not found\n" },
		{ 128, 0, -ENOENT, "Field not found\n" },
		{ 0, 255, 0, "" },
		{ 0, 256, -EINVAL, "Operand too long\n" },
		{ 0, 690, -EINVAL, "Operand too long\n" },
		{ 0, 691, -EINVAL, "Operand too long, at character 9 of the filter" },
	};
	struct scene scene;

	if (begin(&scene))
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			struct fail fail = FAIL_INIT;
			struct filter *filter = NULL;
			char text[1024], letters[1024];
			int r;

			memset(letters, 'x', sizeof(letters));
			if (rows[i].name)
				snprintf(text, sizeof(text), "%.*s == 1", (int)rows[i].name, letters);
			else
				snprintf(text, sizeof(text), "name == \"%.*s\"", (int)rows[i].string, letters);
			r = filter_new(text, scene.event.type->format, scene.context, NULL, &filter, &fail);
			CHECK(r == rows[i].err);
			CHECK(!strncmp(fail.text, rows[i].why, strlen(rows[i].why)));
			if (!r) {
				CHECK(!filter_match(filter, &scene.event));
				filter_free(filter);
			}
			/* Whether there is such a field depends on the file, and is no error of the text. */
			CHECK(filter_check(text, NULL) == (rows[i].err == -ENOENT ? 0 : rows[i].err));
		}
	end(&scene);
}
