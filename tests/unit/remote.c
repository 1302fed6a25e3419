// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/tracefs/remote.h"

#include <errno.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/undo/instance_open.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

static int add(const char *name, void *data)
{
	return buf_addf(data, "%s ", name) ? 0 : -ENOMEM;
}

TEST(remotes_are_found_and_are_no_instances)
{
	cleanup_buf struct buf names = BUF_INIT;
	struct instance *instance;
	struct fake fake;
	struct fail fail;

	if (!CHECK(fake_new(&fake)))
		return;
	CHECK(!remote_each(&fake.tracing, add, &names));
	CHECK_STR(buf_str(&names), "");
	/* The files that trace_remote_init_tracefs() of Linux 7.2 makes. */
	fake_write(&fake, "remotes/hypervisor/tracing_on", "0");
	fake_write(&fake, "remotes/test/trace_pipe", "");
	CHECK(!remote_each(&fake.tracing, add, &names));
	CHECK_STR(buf_str(&names), "hypervisor test ");
	CHECK(remote_is(&fake.tracing, "remotes/test"));
	CHECK(!remote_is(&fake.tracing, "tes"));
	CHECK(instance_open(&fake.tracing, "hypervisor", true, NULL, &instance, &fail) == -EOPNOTSUPP);
	CHECK(strstr(fail.text, "weft show remotes/hypervisor/trace"));
	CHECK(instance_open(&fake.tracing, "remotes/test", false, NULL, &instance, &fail) == -EOPNOTSUPP);
	/* A user's instance has that name. */
	fake_mkdir(&fake, "instances/test");
	CHECK(!instance_open(&fake.tracing, "test", false, NULL, &instance, &fail));
	instance_close(instance, NULL);
	fake_free(&fake);
}
