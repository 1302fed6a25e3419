// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/option_order.h"

#include <argp.h>
#include <stdlib.h>

#include "lib/base/vec.h"

struct order {
	struct argp_option *options;
	size_t nr_options;
	struct argp_child *children;
	size_t nr_children;
	bool failed;
};

bool option_is_end(const struct argp_option *option)
{
	return !option->name && !option->key && !option->doc && !option->group;
}

static void add_option(struct order *order, const struct argp_option *option, int group)
{
	struct argp_option *added = vec_push(order->options, order->nr_options);

	order->failed |= !added;
	if (!added)
		return;
	*added = option ? *option : (struct argp_option){ 0 };
	added->group = group;
}

static void add_child(struct order *order, const struct argp_child *child, const struct argp *argp)
{
	struct argp_child *added = vec_push(order->children, order->nr_children);

	order->failed |= !added;
	if (!added)
		return;
	*added = child ? *child : (struct argp_child){ 0 };
	added->argp = argp;
}

/* The group of an option is that of the one before it, if it has none; argp numbers titles. */
static void add_own(struct order *order, const struct argp_option *options)
{
	int group = 0;

	for (; options && !option_is_end(options); options++) {
		bool title = !options->name && !options->key;

		group = options->group ? options->group : group + title;
		add_option(order, options, group);
	}
}

/* Whether the options have neither groups nor titles nor children: they can stand among those of another table. */
static bool is_plain(const struct argp_child *child, const struct argp *argp)
{
	if (child->header || argp->children)
		return false;
	for (const struct argp_option *option = argp->options; option && !option_is_end(option); option++)
		if (option->group || (!option->name && !option->key))
			return false;
	return true;
}

static void add_shared(struct order *order, const struct argp_child *child)
{
	for (; child && child->argp; child++) {
		const struct argp *argp = option_order(child->argp);

		if (!is_plain(child, argp)) {
			add_child(order, child, argp);
			continue;
		}
		for (const struct argp_option *option = argp->options; option && !option_is_end(option); option++)
			add_option(order, option, child->group);
	}
}

/* Insertion keeps the order of those of one group. An alias follows its option, whose group it has. */
static void sort(struct argp_option *options, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct argp_option option = options[i];
		size_t at = i;

		for (; at && options[at - 1].group > option.group; at--)
			options[at] = options[at - 1];
		options[at] = option;
	}
}

const struct argp *option_order(const struct argp *argp)
{
	struct order order = { .options = NULL };
	struct argp *copy = malloc(sizeof(*copy));

	add_own(&order, argp->options);
	add_shared(&order, argp->children);
	sort(order.options, order.nr_options);
	add_option(&order, NULL, 0);
	if (order.nr_children)
		add_child(&order, NULL, NULL);
	if (!copy || order.failed)
		return argp;
	*copy = *argp;
	copy->options = order.options;
	copy->children = order.children;
	return copy;
}
