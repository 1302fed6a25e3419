// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/wake.h"

#include "lib/base/fail.h"
#include "lib/record/workload.h"
#include "tests/unit/test.h"

#include <signal.h>
#include <string.h>

/* A wait that found descriptors in it wrote "0" to whatever they were. */
TEST(wake_turns_nothing_off_that_it_was_not_given)
{
	struct workload workload = { .pid_fd = -1, .go_fd = -1, .errno_fd = -1 };
	enum wake_reason reason = WAKE_FAILED;
	struct wake wake;
	int status = 0;

	memset(&wake, 0xa5, sizeof(wake));
	REQUIRE(!wake_init(&wake, NULL));
	CHECK(!wake.switches);
	CHECK(!wake_after(&wake, 1, NULL));
	CHECK(!wake_wait(&wake, &workload, &reason, &status, NULL) && reason == WAKE_TIME);
	wake_release(&wake);
	sigprocmask(SIG_SETMASK, &wake.old_mask, NULL);
}
