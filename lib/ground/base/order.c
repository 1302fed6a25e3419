// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/order.h"

#include <errno.h>
#include <stdlib.h>

int order_init(struct order *order, uint64_t nr, size_t window)
{
	*order = (struct order){ .nr = nr, .window = window, .made = calloc(window, sizeof(*order->made)) };
	pthread_mutex_init(&order->lock, NULL);
	pthread_cond_init(&order->moved, NULL);
	return order->made ? 0 : -ENOMEM;
}

void order_release(struct order *order)
{
	free(order->made);
	pthread_cond_destroy(&order->moved);
	pthread_mutex_destroy(&order->lock);
}

static bool *made_at(struct order *order, uint64_t item)
{
	return &order->made[item % order->window];
}

bool order_begin(struct order *order, uint64_t *ret)
{
	bool begun;

	pthread_mutex_lock(&order->lock);
	while (!order->stopped && order->next < order->nr && order->next - order->turn >= order->window)
		pthread_cond_wait(&order->moved, &order->lock);
	begun = !order->stopped && order->next < order->nr;
	if (begun)
		*ret = order->next++;
	pthread_mutex_unlock(&order->lock);
	return begun;
}

bool order_take(struct order *order, uint64_t item, bool wait)
{
	bool taken;

	pthread_mutex_lock(&order->lock);
	while (wait && !order->stopped && (order->turn != item || order->busy))
		pthread_cond_wait(&order->moved, &order->lock);
	taken = !order->stopped && order->turn == item && !order->busy;
	order->busy |= taken;
	pthread_mutex_unlock(&order->lock);
	return taken;
}

void order_made(struct order *order, uint64_t item)
{
	pthread_mutex_lock(&order->lock);
	*made_at(order, item) = true;
	/* Only its own thread can have taken the turn of an item that was not complete. */
	if (order->turn == item)
		order->busy = false;
	pthread_mutex_unlock(&order->lock);
}

bool order_due(struct order *order, uint64_t *ret)
{
	bool due;

	pthread_mutex_lock(&order->lock);
	due = !order->stopped && !order->busy && *made_at(order, order->turn);
	order->busy |= due;
	*ret = order->turn;
	pthread_mutex_unlock(&order->lock);
	return due;
}

void order_passed(struct order *order)
{
	pthread_mutex_lock(&order->lock);
	*made_at(order, order->turn) = false;
	order->turn++;
	order->busy = false;
	pthread_cond_broadcast(&order->moved);
	pthread_mutex_unlock(&order->lock);
}

bool order_stop(struct order *order)
{
	bool first;

	pthread_mutex_lock(&order->lock);
	first = !order->stopped;
	order->stopped = true;
	pthread_cond_broadcast(&order->moved);
	pthread_mutex_unlock(&order->lock);
	return first;
}
