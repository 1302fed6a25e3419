// SPDX-License-Identifier: LGPL-2.1-or-later
/* The probes that weft sets for itself (weft record --files and --quota): they are in buffers of weft's own. */
#include <ctype.h>
#include <string.h>

#include "lib/files/rewrite/redact_internal.h"

/* What weft calls its probes: the kernel's function, and what the compiler and the kernel add to its name. */
bool redact_own_event(const char *name, size_t len)
{
	static const char *const functions[] = {
		"fd_install",         "do_dup2",          "file_close_fd",           "close_fd",
		"getname_flags",      "getname",          "sock_alloc_file",         "do_accept",
		"unix_socketpair",    "unix_bind",        "unix_dgram_connect",      "ip4_datagram_release_cb",
		"tg_throttle_down",   "cgroup_post_fork", "ip6_datagram_release_cb", "tg_unthrottle_up",
		"account_steal_time",
	};
	static const char *const tails[] = { "_part", "_isra", "_constprop", "_return" };
	size_t head = 0;

	for (size_t i = 0; i < array_size(functions); i++) {
		size_t nr = strlen(functions[i]);

		if (nr > head && nr <= len && !memcmp(name, functions[i], nr))
			head = nr;
	}
	while (head && head < len) {
		size_t before = head;

		for (size_t i = 0; i < array_size(tails); i++)
			if (len - head >= strlen(tails[i]) && !memcmp(name + head, tails[i], strlen(tails[i])))
				head += strlen(tails[i]);
		/* "_0" */
		if (len - head >= 2 && name[head] == '_' && isdigit((unsigned char)name[head + 1]) &&
		    (len - head == 2 || name[head + 2] == '_'))
			head += 2;
		if (head == before)
			return false;
	}
	return head;
}

/* The kind of a field of such a probe. */
enum redact_kind redact_own_kind(const char *field)
{
	static const struct {
		const char *fields;
		enum redact_kind kind;
	} rules[] = {
		{ " n0 n1 n2 n3 n4 n5 n6 n7 n8 n9 n10 n11 n12 n13 n14 n15 ", REDACT_FILE },
		{ " name path ", REDACT_PATH },
		{ " abstract ", REDACT_WORDS },
		{ " ino pino ", REDACT_INODE },
		{ " pid ", REDACT_PID },
		{ " saddr daddr saddr_v6 daddr_v6 ", REDACT_HOST },
		{ " __probe_ip __probe_func __probe_ret_ip from sk to tosk addr socket ", REDACT_VALUE },
		{ " fd mode dev ret family sport peer len id cpu ns ", REDACT_KEEP },
	};

	for (size_t i = 0; i < array_size(rules); i++)
		if (redact_listed(rules[i].fields, field, strlen(field)))
			return rules[i].kind;
	return REDACT_ZERO;
}
