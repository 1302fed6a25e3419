// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/trace/whole_file.h"

#include <string.h>
#include <sys/stat.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/readable.h"

enum { READ_SIZE = 1 << 16 };

int tree_read_fd(int fd, const char *path, char **ret, size_t *ret_len, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct stat st;
	size_t step = READ_SIZE;
	char *shrunk;

	/* Most files are small, and there are thousands of them. */
	if (!fstat(fd, &st) && st.st_size > 0 && st.st_size < READ_SIZE)
		step = (size_t)st.st_size + 1;
	for (;;) {
		ssize_t got;

		if (text.len > WHOLE_FILE_MAX)
			return fail_set(fail, -EFBIG, "'%s' is larger than %d MiB", path, WHOLE_FILE_MAX >> 20);
		if (!buf_reserve(&text, step))
			return fail_memory(fail);
		got = io_read(fd, text.data + text.len, step);
		if (got < 0)
			return fail_set(fail, (int)got, "cannot read '%s': %s", path, strerror((int)-got));
		if (!got)
			break;
		text.len += (size_t)got;
	}
	*ret = buf_take(&text, ret_len);
	if (!*ret)
		return fail_memory(fail);
	shrunk = realloc(*ret, *ret_len + 1);
	*ret = shrunk ? shrunk : *ret;
	return 0;
}

int tree_read_file(const char *path, char **ret, size_t *ret_len, struct fail *fail)
{
	cleanup_fd int fd = -1;
	int err = readable_open(path, &fd, fail);

	return err ? err : tree_read_fd(fd, path, ret, ret_len, fail);
}
