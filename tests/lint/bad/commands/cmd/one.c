// SPDX-License-Identifier: GPL-2.0-only
static void see(void *arg, const struct event *event)
{
}
