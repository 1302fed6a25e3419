/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_OPTION_ROWS_H
#define WEFT_CMD_OPTIONS_OPTION_ROWS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/options/option_value.h"
#include "lib/ground/base/cpus.h"
#include "lib/kernel/setup/setup.h"

/*
 * An option is a row: what argp has to know of it, and the member of the command's arguments that takes its value. The
 * row begins with the members of struct argp_option in their order, and ends with one of the macros below, which
 * checks the type of the member. A wrong value is a usage error that names the option by its letter if it has one, and
 * the line of the file in which it stood.
 *
 * A row without a letter needs a key, below 0x8000, only if the parser of its table takes it. A row that has only a
 * text and a group is the title of those that follow.
 */
enum option_kind {
	OPTION_IS_KEY,
	OPTION_IS_FLAG,
	OPTION_IS_VALUE,
	OPTION_IS_TEXT,
	OPTION_IS_ONCE,
	OPTION_IS_NUMBER,
	OPTION_IS_RANGE,
	OPTION_IS_SIZE,
	OPTION_IS_TIME,
	OPTION_IS_TIME_OR_0,
	OPTION_IS_CPUS,
	OPTION_IS_WORDS,
	OPTION_IS_LIST,
	OPTION_IS_LENGTH,
	OPTION_IS_CALL,
	OPTION_IS_NOTHING,
};

struct option_row;
/* Reads a value into a member. A wrong value is a usage error. */
typedef void option_take(const struct option_row *row, void *member, char *arg, struct argp_state *state);

struct option_row {
	const char *name;
	int key;
	const char *arg;
	int flags;
	const char *doc;
	int group;
	enum option_kind kind;
	unsigned marks;       /* what the owner of the table has to know of the option besides */
	size_t at, size;      /* of the member */
	size_t given;         /* the place of a flag that says that it was given, + 1; 0: there is none */
	uint64_t least, most; /* of a number */
	const char *what;     /* of what there can be one only */
	bool may_lack;        /* takes() knows what the next option in place of the value means */
	option_take *takes;
};

#define OPTION_AT(of, member, type) offsetof(of, member) + 0 * sizeof(char[1 + _Generic(((of *)0)->member, type : 0)])

/* The parser of the table takes it. */
#define OPTION_BY_KEY .kind = OPTION_IS_KEY
/* Nothing happens. */
#define OPTION_NOTHING .kind = OPTION_IS_NOTHING
/* A flag that becomes true. */
#define OPTION_FLAG(of, member) .kind = OPTION_IS_FLAG, .at = OPTION_AT(of, member, bool)
/* A member of 1 or 4 bytes that becomes this value. */
#define OPTION_VALUE(of, member, value) \
	.kind = OPTION_IS_VALUE, .least = (value), .size = sizeof(((of *)0)->member), .at = offsetof(of, member)
/* A text, which is borrowed; of several the last. OPTION_ONCE: several are an error, and `what` they are. */
#define OPTION_TEXT(of, member) .kind = OPTION_IS_TEXT, .at = OPTION_AT(of, member, const char *)
#define OPTION_ONCE(of, member, what_) \
	.kind = OPTION_IS_ONCE, .what = (what_), .at = OPTION_AT(of, member, const char *)
/* A number of 4 or 8 bytes: any of 8 bytes, or one from `least_` to `most_`. */
#define OPTION_NUMBER(of, member) \
	.kind = OPTION_IS_NUMBER, .size = sizeof(uint64_t), .at = OPTION_AT(of, member, uint64_t)
#define OPTION_RANGE(of, member, least_, most_)                                                         \
	.kind = OPTION_IS_RANGE, .least = (least_), .most = (most_), .size = sizeof(((of *)0)->member), \
	.at = offsetof(of, member)
/* Bytes, "10M"; ns, "5ms": more than 0. OPTION_TIME_OR_0: "0" is allowed, too. */
#define OPTION_SIZE(of, member) .kind = OPTION_IS_SIZE, .at = OPTION_AT(of, member, uint64_t)
#define OPTION_TIME(of, member) .kind = OPTION_IS_TIME, .at = OPTION_AT(of, member, uint64_t)
#define OPTION_TIME_OR_0(of, member) .kind = OPTION_IS_TIME_OR_0, .at = OPTION_AT(of, member, uint64_t)
/* A list of CPUs; texts of an option that may be given several times. */
#define OPTION_CPUS(of, member) .kind = OPTION_IS_CPUS, .at = OPTION_AT(of, member, struct cpus)
#define OPTION_WORDS(of, member) .kind = OPTION_IS_WORDS, .at = OPTION_AT(of, member, struct option_words)
#define OPTION_LIST(of, member) .kind = OPTION_IS_LIST, .at = OPTION_AT(of, member, struct setup_list)
/* How many there are of what `.takes` reads. */
#define OPTION_LENGTH(of, member) .kind = OPTION_IS_LENGTH, .at = OPTION_AT(of, member, size_t)
/*
 * What a function makes of the value, in a member or in the whole structure. Behind another macro, .takes = FUNCTION
 * reads the value instead.
 */
#define OPTION_TAKE(take_) .kind = OPTION_IS_CALL, .takes = (take_)
#define OPTION_CALL(of, member, take_) .kind = OPTION_IS_CALL, .takes = (take_), .at = offsetof(of, member)
/* Behind one of these: a flag that becomes true, too, and tells that the option was given. */
#define OPTION_GIVEN(of, member) .given = 1 + OPTION_AT(of, member, bool)

struct options_child;

/* The children of a table that has one child only. */
#define OPTIONS_OF(child, of, member)                        \
	(const struct options_child[])                       \
	{                                                    \
		{ &(child), offsetof(of, member), 0, NULL }, \
		{                                            \
			0                                    \
		}                                            \
	}

/* The options of a command, or some that several commands share. */
struct options {
	const struct option_row *rows; /* ended by a row of zeros; NULL: there are none */
	/*
	 * What argp calls for the rows with a key, for arguments, and at the beginning and the end; NULL: nothing.
	 * state->input is the input of this table.
	 */
	error_t (*parser)(int key, char *arg, struct argp_state *state);
	/* Returns the structure in which the member of a row is; NULL: that is the input. */
	void *(*structure)(void *input, const struct option_row *row);
	/* Called for each option when its value was taken; NULL: nothing. */
	void (*taken)(void *input, const struct option_row *row);
	const char *args_doc, *doc;
	const struct options_child *children; /* ended by zeros */
};

/* Options among those of another table, which stand in its group. Their input is at an offset in that of the other. */
struct options_child {
	const struct options *options;
	size_t at;
	int group;
	const char *header;
};

/*
 * Returns the tables as argp has them. They are made once and live as long as the process, which ends without memory.
 * options_input() says what their input is, and returns what argp_parse() or the parent has to give them as such.
 */
const struct argp *options_argp(const struct options *options);
void *options_input(const struct argp *argp, void *input);

/* Returns the name of an option in messages: "-b", "--longer". */
const char *option_row_name(const struct option_row *row);
/* Whether something was asked for with this row: its member, in `structure`, is not zero. */
bool option_row_is_given(const struct option_row *row, const void *structure);
/* Gives a structure the value of another one, if that has one and it has none. Not for lists. */
void option_row_pass(const struct option_row *row, const void *from, void *to);
bool option_row_is_end(const struct option_row *row);

#endif
