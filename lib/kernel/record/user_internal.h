/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_USER_INTERNAL_H
#define WEFT_KERNEL_RECORD_USER_INTERNAL_H

#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/* The user as whom a command runs: the ids, and the environment that `runuser -l` would set. Owns its strings. */
struct user {
	char *name, *home, *shell;
	char *path; /* value for PATH from /etc/login.defs, for root or for other users */
	uid_t uid;
	gid_t gid;
};

#define USER_INIT            \
	{                    \
		.name = NULL \
	}

int must_check user_find(const char *name, struct user *ret, struct fail *fail);
void user_release(struct user *user);

/* Changes the user of the calling process. The rest of its environment stays. Returns -errno. */
int must_check user_become(const struct user *user);

#endif
