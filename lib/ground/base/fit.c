// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/fit.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"

static int write_rows(const struct fit *fit, uint64_t rows, struct out *out, bool *ret_fits, struct fail *fail)
{
	int r;

	out_clear(out);
	r = fit->write(fit->arg, rows, out, fail);
	if (!r && out->failed)
		r = fail_memory(fail);
	*ret_fits = !fit->max_bytes || out_len(out) <= fit->max_bytes;
	return r;
}

/* Most answers fit as they are. */
int fit_write(const struct fit *fit, struct out *out, uint64_t *ret_left_out, struct fail *fail)
{
	uint64_t low = 0, high = fit->rows;
	bool fits;
	int r = write_rows(fit, high, out, &fits, fail);

	*ret_left_out = 0;
	if (r || fits)
		return r;
	if (high)
		r = write_rows(fit, 0, out, &fits, fail);
	if (!r && !fits)
		r = fail_set(fail, -EMSGSIZE, "without any row the answer has %zu bytes, more than --max-bytes",
			     out_len(out));
	/* `low` rows fit, `high` do not. */
	while (!r && high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		r = write_rows(fit, middle, out, &fits, fail);
		if (fits)
			low = middle;
		else
			high = middle;
	}
	*ret_left_out = fit->rows - low;
	return r ? r : write_rows(fit, low, out, &fits, fail);
}
