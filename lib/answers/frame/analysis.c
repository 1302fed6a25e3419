// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/analysis.h"

#include <stdlib.h>

#include "lib/ground/base/fail.h"

struct row_options *analysis_options(const struct analysis_ops *ops)
{
	return calloc(1, ops->options_size ? ops->options_size : sizeof(struct row_options));
}

int analysis_new(const struct analysis_ops *ops, struct pass *pass, const void *options, void **ret, struct fail *fail)
{
	void *analysis = calloc(1, ops->size);

	if (analysis && ops->init(analysis, pass, options)) {
		*ret = analysis;
		return 0;
	}
	analysis_free(ops, analysis);
	return fail_memory(fail);
}

void analysis_free(const struct analysis_ops *ops, void *analysis)
{
	if (!analysis)
		return;
	ops->release(analysis);
	free(analysis);
}
