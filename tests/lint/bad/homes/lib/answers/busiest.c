// SPDX-License-Identifier: LGPL-2.1-or-later
enum { NS_PER_S = 1000000000 };

static void put_time(struct out *out, uint64_t ns)
{
	out_f(out, "%" PRIu64 ".%09" PRIu64, ns / NS_PER_S, ns % NS_PER_S);
}
