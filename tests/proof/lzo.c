// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes are read as a stream of LZO: nothing outside is read, nor anything written outside of the result. */
#include "lib/pages/codec/lzo.h"

#include "tests/proof/proof.h"

enum { IN = 12, OUT = 8 };

int main(void)
{
	static uint8_t bytes[IN], made[OUT];
	size_t len = (size_t)Frama_C_interval(0, IN);

	Frama_C_make_unknown((char *)bytes, sizeof(bytes));
	//@ split len;
	return lzo_read(bytes + IN - len, len, made, OUT);
}
