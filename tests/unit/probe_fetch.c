// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/probe/probe_fetch_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/refusals/probe.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

/* Texts as 7.3 and 6.12 print them. */
static const char readme_73[] = "\t           $stack<index>, $stack, $retval, $comm, $arg<N>, $current\n"
				"\t           [(structname[,field])]<argname>[->field[->field|.field...]],\n"
				"\t           this_cpu_read(<fetcharg>), this_cpu_ptr(<fetcharg>)\n";
static const char readme_612[] = "\t           $stack<index>, $stack, $retval, $comm, $arg<N>,\n"
				 "\t           <argname>[->field[->field|.field...]],\n";

struct answer {
	const char *definition; /* in the kernel's syntax */
	int err;
	const char *text; /* words of the message; NULL: no message */
};

static void check_all(const char *readme, const struct answer *answers, size_t nr)
{
	struct fake fake;

	REQUIRE(fake_new(&fake));
	fake_write(&fake, "README", readme);
	for (size_t i = 0; i < nr; i++) {
		struct fail fail = FAIL_INIT;
		struct probe probe;
		int err;

		if (!CHECK(!probe_parse(answers[i].definition, &probe, &fail)))
			continue;
		err = probe_fetch_check(&fake.top, &probe, &fail);
		if (!CHECK(err == answers[i].err) || !CHECK(!answers[i].text || strstr(fail.text, answers[i].text)))
			fprintf(stderr, "%s: %d %s\n", answers[i].definition, err, fail.text);
		probe_release(&probe);
	}
	fake_free(&fake);
}

TEST(probe_fetch_refuses_on_older_kernels_what_came_with_7_3)
{
	static const struct answer answers[] = {
		{ "p:w/a vfs_read n=(task_struct)$arg1->pid", -EOPNOTSUPP,
		  "no casts in probes, as '(task_struct)': they came with Linux 7.3" },
		{ "p:w/a vfs_read +0((task_struct,se)%di->pid):u32", -EOPNOTSUPP, "'(task_struct,se)'" },
		{ "p:w/a vfs_read $current", -EOPNOTSUPP, "does not know '$current'" },
		{ "p:w/a vfs_read c=$current->comm:string", -EOPNOTSUPP, "does not know '$current'" },
		{ "f:w/a vfs_read n=this_cpu_read(@runqueues)", -EOPNOTSUPP, "does not know 'this_cpu_read()'" },
		{ "f:w/a vfs_read n=+8(this_cpu_ptr(@runqueues))", -EOPNOTSUPP, "does not know 'this_cpu_ptr()'" },
		{ "p:w/a vfs_read n=+8(+0(%di)):u32 $comm $arg2 file->f_flags", 0, NULL },
		{ "p:w/a vfs_read n=\\\"(task_struct)$current\"", 0, NULL },
		{ "e:w/a sched.sched_switch $current_pid c=$current if (prev_pid) == 3", 0, NULL },
	};

	check_all(readme_612, answers, sizeof(answers) / sizeof(answers[0]));
}

TEST(probe_fetch_lets_7_3_judge_what_it_knows)
{
	static const struct answer answers[] = {
		{ "p:w/a vfs_read n=(task_struct)$current->pid:s32 $current this_cpu_read(@x) +0(this_cpu_ptr(@y))", 0,
		  NULL },
		{ "p:w/a vfs_read n=(task_struct)(file)->pid", 0, NULL },
		{ "p:w/a vfs_read n=(task_struct)(+0($current))->real_parent->pid", 0, NULL },
		{ "p:w/a vfs_read n=(task_struct)+8($current)->pid", 0, NULL },
		{ "p:w/a vfs_read n=(task_struct)file", -EINVAL,
		  "which member: write it behind the value, as in '(task_struct)VALUE->MEMBER'" },
		{ "p:w/a vfs_read n=(task_struct)(file->x) b=c->d", -EINVAL, "which member" },
		{ "p:w/a vfs_read n=(task_struct)+8($current", -EINVAL, "which member" },
		{ "p:w/a /bin/sh:0x10 n=(task_struct)%di->pid", -EOPNOTSUPP, "only probes of the kernel know" },
		{ "p:w/a /bin/sh:0x10 n=$current", -EOPNOTSUPP, "only probes of the kernel know '$current'" },
		{ "e:w/a sched.sched_switch n=this_cpu_read($prev_pid)", -EOPNOTSUPP, "probes of events do not know" },
		{ "e:w/a sched.sched_switch $current", 0, NULL },
	};

	check_all(readme_73, answers, sizeof(answers) / sizeof(answers[0]));
}
