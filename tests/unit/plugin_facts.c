// SPDX-License-Identifier: GPL-2.0-only
/* What weft's own plugins say about events. The expected names are those of the kernel's headers and of errno(1). */
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "tests/unit/plugged.h"
#include "tests/unit/test.h"

enum { ID = 77, FIELDS = 6, TEXT = 8, HEAD = 8 };

/* An event whose fields are numbers of 8 bytes, and behind them, if `string` names it, a text of 8 bytes. */
struct fact {
	const char *machine, *system, *event;
	const char *fields[FIELDS];
	int64_t values[FIELDS];
	const char *string, *text;
	const char *want;
};

static void make_format(const struct fact *fact, char *format, size_t size, size_t *ret_len)
{
	size_t at = HEAD;
	int len = snprintf(format, size, "name: %s\nID: %d\nformat:\n%s", fact->event, ID, PLUGGED_COMMON);

	for (size_t i = 0; i < FIELDS && fact->fields[i]; i++, at += 8)
		len += snprintf(format + len, size - (size_t)len, "\tfield:%s %s;\toffset:%zu;\tsize:8;\tsigned:1;\n",
				"long", fact->fields[i], at);
	if (fact->string) {
		len += snprintf(format + len, size - (size_t)len,
				"\tfield:char %s[%d];\toffset:%zu;\tsize:%d;\tsigned:0;\n", fact->string, TEXT, at,
				TEXT);
		at += TEXT;
	}
	snprintf(format + len, size - (size_t)len, "\nprint fmt: \"\"\n");
	*ret_len = at;
}

static void check_fact(const struct fact *fact)
{
	uint8_t record[HEAD + 8 * FIELDS + TEXT] = { 0 };
	struct plugged plugged;
	char format[2048];
	size_t len, nr = 0;

	make_format(fact, format, sizeof(format), &len);
	for (; nr < FIELDS && fact->fields[nr]; nr++)
		memcpy(record + HEAD + 8 * nr, &fact->values[nr], 8);
	if (fact->string)
		memcpy(record + HEAD + 8 * nr, fact->text, strnlen(fact->text, TEXT));
	if (CHECK(plugged_init(&plugged, "plugins", fact->machine, fact->system, format)))
		CHECK_STR(plugged_decode(&plugged, ID, record, len), fact->want);
	plugged_release(&plugged);
}

#define X86 "x86_64"
#define CHECK_FACTS(facts)                             \
	for (size_t i = 0; i < array_size(facts); i++) \
	check_fact(&(facts)[i])

TEST(plugin_syscalls_names_flags_and_operations_of_arguments)
{
	static const struct fact facts[] = {
		{ X86,
		  "syscalls",
		  "sys_enter_openat",
		  { "__syscall_nr", "dfd", "filename", "flags", "mode" },
		  { 257, -100, 0x7f00, 0101 | 02000000, 0644 },
		  NULL,
		  NULL,
		  " {dfd=AT_FDCWD flags=O_WRONLY|O_CREAT|O_CLOEXEC mode=0644}" },
		{ X86,
		  "syscalls",
		  "sys_enter_futex",
		  { "__syscall_nr", "uaddr", "op", "val" },
		  { 202, 1, 129, 1 },
		  NULL,
		  NULL,
		  " {op=FUTEX_WAKE|FUTEX_PRIVATE_FLAG}" },
		{ X86,
		  "syscalls",
		  "sys_enter_madvise",
		  { "__syscall_nr", "start", "len_in", "behavior" },
		  { 28, 4096, 4096, 4 },
		  NULL,
		  NULL,
		  " {behavior=MADV_DONTNEED}" },
		{ X86,
		  "syscalls",
		  "sys_enter_unshare",
		  { "__syscall_nr", "unshare_flags" },
		  { 272, 0x20000080 },
		  NULL,
		  NULL,
		  " {unshare_flags=CLONE_NEWTIME|CLONE_NEWPID}" },
		/* A value without a name, and arguments that are 0, give no fact. */
		{ X86,
		  "syscalls",
		  "sys_enter_madvise",
		  { "__syscall_nr", "start", "len_in", "behavior" },
		  { 28, 4096, 4096, 999 },
		  NULL,
		  NULL,
		  "" },
		{ X86,
		  "syscalls",
		  "sys_enter_timerfd_settime",
		  { "__syscall_nr", "ufd", "flags" },
		  { 286, 3, 0 },
		  NULL,
		  NULL,
		  "" },
		/* mips has numbers of its own. */
		{ "mips64",
		  "syscalls",
		  "sys_enter_madvise",
		  { "__syscall_nr", "start", "len_in", "behavior" },
		  { 28, 4096, 4096, 4 },
		  NULL,
		  NULL,
		  "" },
		/* O_DIRECTORY is another bit on arm. */
		{ "aarch64",
		  "syscalls",
		  "sys_enter_openat",
		  { "__syscall_nr", "dfd", "filename", "flags" },
		  { 56, 3, 0x7f00, 0200000 },
		  NULL,
		  NULL,
		  " {flags=O_RDONLY|0x10000}" },
	};

	CHECK_FACTS(facts);
}

TEST(plugin_signal_names_the_signal_its_cause_and_its_fate)
{
	static const struct fact facts[] = {
		{ X86,
		  "signal",
		  "signal_generate",
		  { "sig", "errno", "code", "pid", "group", "result" },
		  { 11, 0, 1, 5, 0, 0 },
		  NULL,
		  NULL,
		  " {signal=SIGSEGV cause=SEGV_MAPERR fate=delivered}" },
		{ X86,
		  "signal",
		  "signal_generate",
		  { "sig", "errno", "code", "pid", "group", "result" },
		  { 15, 0, 0, 5, 1, 2 },
		  NULL,
		  NULL,
		  " {signal=SIGTERM cause=SI_USER fate=already-pending}" },
		{ X86,
		  "signal",
		  "signal_deliver",
		  { "sig", "errno", "code" },
		  { 17, 0, 1 },
		  NULL,
		  NULL,
		  " {signal=SIGCHLD cause=CLD_EXITED}" },
		{ X86, "signal", "signal_deliver", { "sig", "errno", "code" }, { 40, 0, -6 }, NULL, NULL, "" },
		{ "mips", "signal", "signal_deliver", { "sig", "errno", "code" }, { 18, 0, 1 }, NULL, NULL, "" },
	};

	CHECK_FACTS(facts);
}

TEST(plugin_block_spells_the_letters_of_a_request)
{
	static const struct fact facts[] = {
		{ X86,
		  "block",
		  "block_rq_issue",
		  { "sector" },
		  { 8 },
		  "rwbs",
		  "WSM",
		  " {operation=write flags=sync|meta}" },
		{ X86,
		  "block",
		  "block_rq_issue",
		  { "sector" },
		  { 8 },
		  "rwbs",
		  "FWFS",
		  " {operation=write flags=preflush|fua|sync}" },
		{ X86,
		  "block",
		  "block_rq_issue",
		  { "sector" },
		  { 8 },
		  "rwbs",
		  "FF",
		  " {operation=flush flags=preflush}" },
		{ X86,
		  "block",
		  "block_rq_issue",
		  { "sector" },
		  { 8 },
		  "rwbs",
		  "RA",
		  " {operation=read flags=readahead}" },
		{ X86,
		  "block",
		  "block_bio_queue",
		  { "sector" },
		  { 8 },
		  "rwbs",
		  "DES",
		  " {operation=secure-erase flags=sync}" },
		{ X86, "block", "block_bio_queue", { "sector" }, { 8 }, "rwbs", "R", " {operation=read}" },
		{ X86, "block", "block_bio_queue", { "sector" }, { 8 }, "rwbs", "", "" },
		{ X86, "block", "block_rq_complete", { "error" }, { -5 }, "rwbs", "W", " {operation=write error=EIO}" },
		{ X86,
		  "block",
		  "block_rq_complete",
		  { "errors" },
		  { -28 },
		  "rwbs",
		  "W",
		  " {operation=write error=ENOSPC}" },
		{ X86, "block", "block_rq_complete", { "error" }, { 0 }, "rwbs", "W", " {operation=write}" },
		{ X86,
		  "block",
		  "block_bio_queue",
		  { "sector" },
		  { 8 },
		  "rwbs",
		  "FFFFFFFF",
		  " {operation=flush flags=preflush|fua|fua|fua|fua|fua|fua}" },
	};

	CHECK_FACTS(facts);
}

TEST(plugin_exceptions_and_kvm_explain_what_x86_faults_on)
{
	static const struct fact facts[] = {
		{ X86,
		  "exceptions",
		  "page_fault_user",
		  { "address", "ip", "error_code" },
		  { 4096, 1, 6 },
		  NULL,
		  NULL,
		  " {access=write mode=user why=not-present}" },
		{ X86,
		  "exceptions",
		  "page_fault_kernel",
		  { "address", "ip", "error_code" },
		  { 4096, 1, 0x11 },
		  NULL,
		  NULL,
		  " {access=execute mode=kernel why=protection}" },
		{ "riscv64",
		  "exceptions",
		  "page_fault_user",
		  { "address", "ip", "error_code" },
		  { 4096, 1, 6 },
		  NULL,
		  NULL,
		  "" },
		{ X86,
		  "kvm",
		  "kvm_exit",
		  { "exit_reason", "guest_rip", "isa", "info1" },
		  { 48, 1, 1, 0x8a },
		  NULL,
		  NULL,
		  " {access=write allowed=read}" },
		{ X86,
		  "kvm",
		  "kvm_exit",
		  { "exit_reason", "guest_rip", "isa", "info1" },
		  { 30, 1, 1, 0x03f80008 },
		  NULL,
		  NULL,
		  " {access=in port=0x3f8 size=1}" },
		{ X86,
		  "kvm",
		  "kvm_exit",
		  { "exit_reason", "guest_rip", "isa", "info1" },
		  { 48, 1, 2, 0x8a },
		  NULL,
		  NULL,
		  "" },
		{ X86,
		  "kvm",
		  "kvm_msr",
		  { "write", "ecx", "data" },
		  { 1, 0x6e0, 7 },
		  NULL,
		  NULL,
		  " {register=IA32_TSC_DEADLINE}" },
		{ X86,
		  "msr",
		  "write_msr",
		  { "msr", "val", "failed" },
		  { 0x830, 7, 0 },
		  NULL,
		  NULL,
		  " {register=X2APIC_ICR}" },
		{ X86, "msr", "read_msr", { "msr", "val", "failed" }, { 0x12345, 7, 0 }, NULL, NULL, "" },
		{ X86,
		  "mce",
		  "mce_record",
		  { "mcgcap", "status" },
		  { 0, (int64_t)0xbc00000000000135ULL },
		  NULL,
		  NULL,
		  " {flags=VAL|UC|EN|MISCV|ADDRV error=cache}" },
	};

	CHECK_FACTS(facts);
}

TEST(plugins_name_numbers_of_devices_packets_and_the_scheduler)
{
	static const struct fact facts[] = {
		{ X86,
		  "nvme",
		  "nvme_complete_rq",
		  { "result", "status" },
		  { 0, 0x4281 },
		  NULL,
		  NULL,
		  " {result=READ_ERROR marks=DNR}" },
		{ X86, "nvme", "nvme_complete_rq", { "result", "status" }, { 0, 0 }, NULL, NULL, " {result=SUCCESS}" },
		{ X86,
		  "mmc",
		  "mmc_request_start",
		  { "cmd_opcode", "stop_opcode" },
		  { 18, 12 },
		  NULL,
		  NULL,
		  " {command=READ_MULTIPLE_BLOCK stop=STOP_TRANSMISSION}" },
		{ X86,
		  "net",
		  "netif_receive_skb_entry",
		  { "protocol", "len" },
		  { 0x86dd, 60 },
		  NULL,
		  NULL,
		  " {protocol=IPV6}" },
		{ X86, "skb", "kfree_skb", { "protocol", "location" }, { 2048, 60 }, NULL, NULL, " {protocol=IP}" },
		{ X86,
		  "i2c",
		  "i2c_read",
		  { "flags", "len" },
		  { 0x1001, 2 },
		  NULL,
		  NULL,
		  " {flags=I2C_M_RD|I2C_M_IGNORE_NAK}" },
		{ X86,
		  "sched",
		  "sched_switch",
		  { "prev_prio", "next_prio" },
		  { 120, 49 },
		  NULL,
		  NULL,
		  " {next=rt:50}" },
		{ X86, "sched", "sched_wakeup", { "pid", "prio" }, { 5, 139 }, NULL, NULL, " {priority=nice:19}" },
		{ X86,
		  "sched",
		  "sched_pi_setprio",
		  { "pid", "oldprio", "newprio" },
		  { 5, 120, -1 },
		  NULL,
		  NULL,
		  " {new=deadline}" },
		{ X86, "timer", "itimer_expire", { "which", "pid" }, { 2, 5 }, NULL, NULL, " {timer=ITIMER_PROF}" },
		{ X86, "power", "cpu_idle", { "state", "cpu_id" }, { 4294967295, 0 }, NULL, NULL, " {idle=ends}" },
		{ X86,
		  "task",
		  "task_newtask",
		  { "pid", "clone_flags" },
		  { 5, 0x50f00 },
		  NULL,
		  NULL,
		  " {clone_flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM}" },
	};

	CHECK_FACTS(facts);
}

TEST(plugin_filelock_names_errors)
{
	static const struct fact facts[] = {
		{ X86, "filelock", "posix_lock_inode", { "fl_pid", "ret" }, { 7, -11 }, NULL, NULL, " {error=EAGAIN}" },
		{ "mips64", "filelock", "flock_lock_inode", { "ret" }, { -45 }, NULL, NULL, " {error=EDEADLK}" },
		{ X86, "filelock", "posix_lock_inode", { "ret" }, { 0 }, NULL, NULL, "" },
		{ X86, "filelock", "break_lease_block", { "fl_pid" }, { -11 }, NULL, NULL, "" },
	};

	CHECK_FACTS(facts);
}

TEST(plugin_i2c_names_errors)
{
	static const struct fact facts[] = {
		{ X86, "i2c", "i2c_result", { "nr_msgs", "ret" }, { 2, -121 }, NULL, NULL, " {error=EREMOTEIO}" },
		{ X86, "i2c", "i2c_result", { "nr_msgs", "ret" }, { 2, 2 }, NULL, NULL, "" },
	};

	CHECK_FACTS(facts);
}

TEST(plugin_scsi_says_why_a_driver_did_not_take_a_command)
{
	static const struct fact facts[] = {
		{ X86, "scsi", "scsi_dispatch_cmd_error", { "rtn" }, { 0x1055 }, NULL, NULL, " {refused=host-busy}" },
		{ X86, "scsi", "scsi_dispatch_cmd_error", { "rtn" }, { 0x1058 }, NULL, NULL, " {refused=target-busy}" },
		{ X86, "scsi", "scsi_dispatch_cmd_error", { "rtn" }, { 0x1059 }, NULL, NULL, "" },
	};

	CHECK_FACTS(facts);
}
