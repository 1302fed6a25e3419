// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/word.h"

#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/kernel/tracefs/instance.h"

unsigned header_page_long_size(const char *text)
{
	const char *local = strstr(text, "local_t commit;");
	unsigned size;

	if (!local || sscanf(local, "local_t commit; offset:%*u; size:%u;", &size) != 1 || (size != 4 && size != 8))
		return 0;
	return size;
}

unsigned kernel_long_size(const struct instance *top)
{
	cleanup_buf struct buf buf = BUF_INIT;
	unsigned size = instance_read(top, "events/header_page", &buf, NULL) ? 0 : header_page_long_size(buf_str(&buf));

	return size ? size : sizeof(long);
}
