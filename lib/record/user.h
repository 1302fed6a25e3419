/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_USER_H
#define WEFT_RECORD_USER_H

#include "lib/base/cleanup.h"

#include <sys/types.h>

struct fail;

/* As whom a command runs: its ids, and the environment that `runuser -l` would give it. Owns its strings. */
struct user {
	char *name, *home, *shell;
	char *path; /* of PATH: /etc/login.defs says it, for root and for others */
	uid_t uid;
	gid_t gid;
};

#define USER_INIT            \
	{                    \
		.name = NULL \
	}

int must_check user_find(const char *name, struct user *ret, struct fail *fail);
void user_release(struct user *user);

/* Of the calling process, which keeps the rest of its environment; -errno. */
int must_check user_become(const struct user *user);

#endif
