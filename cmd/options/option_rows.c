// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/option_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/options/options_check.h"
#include "cmd/options/setup_values.h"
#include "cmd/terminal/config.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"

/* The keys of rows without a letter and a key of their own: behind those that a table gives, by their place. */
enum { KEY_OF_ROW = 0x8000 };

/* The tables of argp for struct options, and what their parser needs: their input in argp is this. */
struct tree {
	struct argp argp; /* first */
	const struct options *options;
	void *input;
	size_t nr;
	struct tree *children;
};

bool option_row_is_end(const struct option_row *row)
{
	return !row->name && !row->key && !row->doc && !row->group;
}

const char *option_row_name(const struct option_row *row)
{
	static char name[64];

	if (row->key > ' ' && row->key < 127)
		snprintf(name, sizeof(name), "-%c", row->key);
	else
		snprintf(name, sizeof(name), "--%s", row->name);
	return name;
}

static bool *given_flag(const struct option_row *row, const void *structure)
{
	return (bool *)structure + row->given - 1;
}

bool option_row_is_given(const struct option_row *row, const void *structure)
{
	const char *member = (const char *)structure + row->at;

	switch (row->kind) {
	case OPTION_IS_FLAG:
		return *(const bool *)member;
	case OPTION_IS_TEXT:
	case OPTION_IS_ONCE:
		return *(const char *const *)member;
	case OPTION_IS_LIST:
		return ((const struct setup_list *)member)->nr || ((const struct setup_list *)member)->nr_gone;
	case OPTION_IS_LENGTH:
		return *(const size_t *)member;
	case OPTION_IS_WORDS:
		return ((const struct option_words *)member)->len;
	case OPTION_IS_CPUS:
		return row->given ? *given_flag(row, structure) : cpus_count((const struct cpus *)member);
	case OPTION_IS_NUMBER:
	case OPTION_IS_RANGE:
	case OPTION_IS_SIZE:
	case OPTION_IS_TIME:
	case OPTION_IS_TIME_OR_0:
		if (row->given)
			return *given_flag(row, structure);
		return row->size == sizeof(uint32_t) ? *(const uint32_t *)member : *(const uint64_t *)member;
	case OPTION_IS_KEY:
	case OPTION_IS_VALUE:
	case OPTION_IS_CALL:
	case OPTION_IS_NOTHING:
		break;
	}
	return false;
}

/* How many bytes a member has. */
static size_t member_size(const struct option_row *row)
{
	static const size_t sizes[] = {
		[OPTION_IS_FLAG] = sizeof(bool),          [OPTION_IS_TEXT] = sizeof(char *),
		[OPTION_IS_ONCE] = sizeof(char *),        [OPTION_IS_SIZE] = sizeof(uint64_t),
		[OPTION_IS_TIME] = sizeof(uint64_t),      [OPTION_IS_CPUS] = sizeof(struct cpus),
		[OPTION_IS_TIME_OR_0] = sizeof(uint64_t),
	};

	return row->size || row->kind >= array_size(sizes) ? row->size : sizes[row->kind];
}

void option_row_pass(const struct option_row *row, const void *from, void *to)
{
	if (!option_row_is_given(row, from) || option_row_is_given(row, to))
		return;
	memcpy((char *)to + row->at, (const char *)from + row->at, member_size(row));
	if (row->given)
		*given_flag(row, to) = true;
}

static void put_number(const struct option_row *row, void *member, uint64_t value)
{
	if (row->size == sizeof(uint8_t))
		*(uint8_t *)member = (uint8_t)value;
	else if (row->size == sizeof(uint32_t))
		*(uint32_t *)member = (uint32_t)value;
	else
		*(uint64_t *)member = value;
}

static void take_number(const struct option_row *row, void *member, const char *arg, struct argp_state *state)
{
	struct fail fail = FAIL_INIT;
	uint64_t value = 0;
	int err = row->kind == OPTION_IS_NUMBER ? text_parse_u64(arg, &value, &fail) :
						  text_parse_range(arg, row->least, row->most, &value, &fail);

	if (err)
		setup_usage(state, "%s: %s", option_row_name(row), fail.text);
	put_number(row, member, value);
}

static void take_value(const struct option_row *row, void *structure, char *arg, struct argp_state *state)
{
	void *member = (char *)structure + row->at;
	struct fail fail = FAIL_INIT;

	if (row->takes) {
		row->takes(row, member, arg, state);
		return;
	}
	switch (row->kind) {
	case OPTION_IS_FLAG:
		*(bool *)member = true;
		break;
	case OPTION_IS_VALUE:
		put_number(row, member, row->least);
		break;
	case OPTION_IS_TEXT:
		*(const char **)member = arg;
		break;
	case OPTION_IS_ONCE:
		option_once(row->what, member, arg, state);
		break;
	case OPTION_IS_NUMBER:
	case OPTION_IS_RANGE:
		take_number(row, member, arg, state);
		break;
	case OPTION_IS_SIZE:
		*(uint64_t *)member = setup_size(option_row_name(row), arg, state);
		break;
	case OPTION_IS_TIME:
		*(uint64_t *)member = option_time(row->name, arg, state);
		break;
	case OPTION_IS_TIME_OR_0:
		*(uint64_t *)member = strcmp(arg, "0") ? option_time(row->name, arg, state) : 0;
		break;
	case OPTION_IS_CPUS:
		if (cpus_parse(arg, member, &fail))
			setup_usage(state, "%s: %s", option_row_name(row), fail.text);
		break;
	case OPTION_IS_WORDS:
		option_add_word(member, arg, state);
		break;
	case OPTION_IS_LIST:
		option_need(setup_list_add(member, arg), state);
		break;
	case OPTION_IS_KEY:
	case OPTION_IS_LENGTH:
	case OPTION_IS_CALL:
	case OPTION_IS_NOTHING:
		break;
	}
}

static error_t take_row(const struct options *options, const struct option_row *row, char *arg,
			struct argp_state *state)
{
	void *input = state->input, *structure = options->structure ? options->structure(input, row) : input;
	error_t err = 0;

	if (row->kind == OPTION_IS_KEY)
		err = options->parser(row->key, arg, state);
	else
		take_value(row, structure, arg, state);
	if (row->given)
		*given_flag(row, structure) = true;
	if (options->taken)
		options->taken(input, row);
	return err;
}

static int key_of(const struct options *options, const struct option_row *row)
{
	bool is_own = row->key || row->flags & OPTION_ALIAS || !row->name;

	return is_own ? row->key : KEY_OF_ROW + (int)(row - options->rows);
}

static const struct option_row *find(const struct options *options, int key)
{
	for (const struct option_row *row = options->rows; key && row && !option_row_is_end(row); row++)
		if (key_of(options, row) == key)
			return row;
	return NULL;
}

/* Whether a word is one of the command's options, as "-e" or "--event". */
static bool is_option(const struct argp *argp, const char *word)
{
	if (word[1] == '-')
		return options_find(argp, word + 2, 0, NULL);
	return !word[2] && options_find(argp, NULL, word[1], NULL);
}

/* Who leaves a value out gives the next option instead; who means such a value writes it as --option=-e. */
static void check_separate(const struct option_row *row, const char *arg, struct argp_state *state)
{
	if (!row->may_lack && arg && arg[0] == '-' && arg[1] && state->argv[state->next - 1] == arg &&
	    is_option(state->root_argp, arg))
		setup_usage(state, "%s needs a value, %s, and '%s' is an option", option_row_name(row), row->arg, arg);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct tree *tree = state->input;
	const struct options *options = tree->options;
	const struct option_row *row = find(options, key);
	error_t err = ARGP_ERR_UNKNOWN;

	state->input = tree->input;
	if (row) {
		check_separate(row, arg, state);
		return take_row(options, row, arg, state);
	}
	if (options->parser)
		err = options->parser(key, arg, state);
	for (size_t i = 0; key == ARGP_KEY_INIT && i < tree->nr; i++)
		state->child_inputs[i] =
			options_input(&tree->children[i].argp, (char *)tree->input + options->children[i].at);
	return key == ARGP_KEY_INIT ? 0 : err;
}

__attribute__((noreturn)) static void no_memory(void)
{
	fputs("weft: out of memory\n", stderr);
	exit(EXIT_FAILED);
}

static struct argp_option *copy_rows(const struct options *options)
{
	struct argp_option *copy;
	size_t nr = 0;

	while (!option_row_is_end(&options->rows[nr]))
		nr++;
	copy = calloc(nr + 1, sizeof(*copy));
	if (!copy)
		no_memory();
	for (size_t i = 0; i < nr; i++) {
		const struct option_row *row = &options->rows[i];

		copy[i] = (struct argp_option){ row->name, key_of(options, row), row->arg, row->flags, row->doc,
						row->group };
	}
	return copy;
}

static void make(struct tree *tree, const struct options *options)
{
	struct argp_child *children;

	*tree = (struct tree){ .options = options };
	tree->argp.parser = parse;
	tree->argp.args_doc = options->args_doc;
	tree->argp.doc = options->doc;
	if (options->rows)
		tree->argp.options = copy_rows(options);
	if (!options->children)
		return;
	while (options->children[tree->nr].options)
		tree->nr++;
	tree->children = calloc(tree->nr, sizeof(*tree->children));
	children = calloc(tree->nr + 1, sizeof(*children));
	if (!tree->children || !children)
		no_memory();
	for (size_t i = 0; i < tree->nr; i++) {
		const struct options_child *child = &options->children[i];

		make(&tree->children[i], child->options);
		children[i] = (struct argp_child){ &tree->children[i].argp, 0, child->header, child->group };
	}
	tree->argp.children = children;
}

const struct argp *options_argp(const struct options *options)
{
	static struct made {
		struct tree tree;
		struct made *next;
	} * all; /* made once: they live as long as the process */
	struct made *made = all;

	while (made && made->tree.options != options)
		made = made->next;
	if (made)
		return &made->tree.argp;
	made = malloc(sizeof(*made));
	if (!made)
		no_memory();
	make(&made->tree, options);
	made->next = all;
	all = made;
	return &made->tree.argp;
}

void *options_input(const struct argp *argp, void *input)
{
	struct tree *tree = (struct tree *)argp;

	tree->input = input;
	return tree;
}
