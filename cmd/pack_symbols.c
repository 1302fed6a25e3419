// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/pack_symbols.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/names/symbol_subset.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { PAGES_MAX = 16 << 20 };

bool pack_symbols_readable(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && (fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND)) == O_RDWR;
}

int pack_symbols_choose(int fd, struct buf *ret, struct fail *fail)
{
	struct trace *trace = NULL;
	int r = trace_open_fd(fd, "the new file", &trace, fail);

	if (!r)
		r = symbol_subset_of_trace(trace, PAGES_MAX, ret, fail);
	trace_free(trace);
	return r == -ENOMEM ? r : 0;
}
