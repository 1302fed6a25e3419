// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/trust.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/fail.h"

int trust_is_ours(uid_t uid)
{
	return !uid || uid == geteuid();
}

int trust_check(int fd, mode_t type, const char *name, struct fail *fail)
{
	struct stat st;

	if (fstat(fd, &st))
		return fail_set(fail, -errno, "cannot stat '%s': %s", name, strerror(errno));
	if ((st.st_mode & S_IFMT) != type)
		return fail_set(fail, -EPERM, "'%s' is not a %s", name, type == S_IFDIR ? "directory" : "regular file");
	if (!trust_is_ours(st.st_uid))
		return fail_set(fail, -EPERM,
				"'%s' belongs to another user (uid %u), who may have put anything into it", name,
				st.st_uid);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return fail_set(fail, -EPERM,
				"others may write to '%s' (its mode is %03o) and may have put anything into it", name,
				st.st_mode & 07777);
	return 0;
}
