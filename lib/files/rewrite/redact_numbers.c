// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/rewrite/redact_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/text.h"

enum { SMALL = 1 << 16, LARGE_PAGE = 2 << 20, PAGE = 1 << 12 };

/* Addresses of programs are below this on machines with 64 bits; of 2001, in ns since 1970. */
static const uint64_t user_end = 1ull << 47, kernel_begin = 1ull << 63, any_day = 1000000000000000000u;

void redact_shifts_init(struct redact_shifts *shifts, const struct redact_names *names, uint8_t long_size, bool pids)
{
	uint64_t user = redact_number(names, "user"), data = redact_number(names, "data");

	*shifts = (struct redact_shifts){
		.long_size = long_size,
		.lo = UINT64_MAX,
		.text = (1 + redact_number(names, "text") % (long_size == 8 ? 510 : 62)) * LARGE_PAGE,
		.data = (1 + data % (long_size == 8 ? 1 << 24 : 1 << 13)) * PAGE,
		.user = (1 + user % (long_size == 8 ? 1 << 24 : 1 << 16)) * PAGE,
		.pfn = 1 + redact_number(names, "pfn") % (1 << 22),
		.inode = 1 + redact_number(names, "inode") % (1 << 22),
		.sector = (1 + redact_number(names, "sector") % (1 << 22)) * 8,
		.ids = 1 + redact_number(names, "id") % 30000,
		.day = (1 + redact_number(names, "day") % (1 << 27)) * 1000000000u,
		.pids = pids ? (int32_t)(1 + redact_number(names, "pid") % 3000000) : 0,
	};
}

void redact_shifts_of(struct redact_shifts *shifts, const char *kallsyms, size_t len)
{
	uint64_t low = shifts->long_size == 8 ? kernel_begin : SMALL;
	struct text_word line;
	uint64_t lo = UINT64_MAX, hi = 0;

	/* Where kernels are not in the upper half, as on s390x, all are above the first 64 KiB. */
	for (int tries = 0; tries < 2 && lo > hi; tries++, low = SMALL) {
		const char *at = kallsyms;
		size_t left = len;

		while (at && text_next_line(&at, &left, &line)) {
			uint64_t value = strtoull(line.at, NULL, 16);

			if (value < low)
				continue;
			lo = value < lo ? value : lo;
			hi = value > hi ? value : hi;
		}
	}
	if (lo > hi)
		return;
	shifts->lo = lo < shifts->lo ? lo : shifts->lo;
	shifts->hi = hi + LARGE_PAGE > shifts->hi && hi < UINT64_MAX - LARGE_PAGE ? hi + LARGE_PAGE : shifts->hi;
}

static uint64_t wide_address(const struct redact_shifts *shifts, uint64_t value)
{
	if (value >= kernel_begin)
		return value >= 0xffffff00ull << 32 ? value - shifts->data : value + shifts->data;
	if (value >= user_end)
		return value + shifts->user;
	return (value - SMALL + shifts->user) % (user_end - SMALL) + SMALL;
}

uint64_t redact_address(const struct redact_shifts *shifts, uint64_t value)
{
	uint64_t all = shifts->long_size == 8 ? UINT64_MAX : UINT32_MAX;

	value &= all;
	/* NULL and its neighbours, -errno, and INT_MAX, which is the kernel's mark of a trampoline in stacks */
	if (value < SMALL || value > all - SMALL || value == INT32_MAX)
		return value;
	if (value >= shifts->lo && value <= shifts->hi)
		return (shifts->lo > all / 2 + 1 ? value - shifts->text : value + shifts->text) & all;
	if (shifts->long_size == 8)
		return wide_address(shifts, value);
	return (value - SMALL + shifts->user) % (UINT32_MAX - 2 * (uint64_t)SMALL) + SMALL;
}

int32_t redact_pid(const struct redact_shifts *shifts, int32_t pid)
{
	return pid > 2 && pid < INT32_MAX - shifts->pids ? pid + shifts->pids : pid;
}

uint64_t redact_value(const struct redact_shifts *shifts, enum redact_kind kind, uint64_t value)
{
	int64_t signed_value = (int64_t)value;

	switch (kind) {
	case REDACT_KEEP:
		return value;
	case REDACT_ADDRESS:
		return redact_address(shifts, value);
	case REDACT_SHORT:
		if (signed_value >= -4096 && signed_value <= UINT32_MAX)
			return value;
		return redact_address(shifts, value);
	case REDACT_VALUE:
		/* What is no address on any machine may be a text. */
		if (shifts->long_size == 8 && value >= user_end && value < kernel_begin)
			return 0;
		return redact_address(shifts, value);
	case REDACT_PFN:
		return value && value < UINT32_MAX ? value + shifts->pfn : value == UINT64_MAX ? value : 0;
	case REDACT_INODE:
		return value > 2 && value != UINT64_MAX ? value + shifts->inode : value;
	case REDACT_SECTOR:
		return value && value != UINT64_MAX ? value + shifts->sector : value;
	case REDACT_ID:
		return value && value != 65534 && value < UINT16_MAX * 64 ? value + shifts->ids :
		       value > INT32_MAX                                  ? UINT32_MAX :
									    value;
	case REDACT_PID:
		return (uint64_t)(int64_t)redact_pid(shifts, (int32_t)value);
	case REDACT_WHEN:
		return value > any_day && signed_value > 0 ? value - shifts->day : value;
	case REDACT_ZERO:
	case REDACT_NAME:
	case REDACT_PATH:
	case REDACT_WORDS:
	case REDACT_LETTERS:
	case REDACT_MARK:
	case REDACT_GROUP:
	case REDACT_FILE:
	case REDACT_HOST:
	case REDACT_ADDRESSES:
	case REDACT_ARGUMENTS:
	case REDACT_RESULT:
		break;
	}
	return 0;
}

enum redact_kind redact_argument(char letter)
{
	switch (letter) {
	case 'n':
		return REDACT_SHORT;
	case 'p':
	case 'v':
		return REDACT_VALUE;
	case 'i':
		return REDACT_PID;
	case 'u':
		return REDACT_ID;
	default:
		return REDACT_ZERO;
	}
}

enum redact_kind redact_result(const char *call)
{
	static const struct {
		const char *calls;
		enum redact_kind kind;
	} rules[] = {
		{ " mmap mmap2 mremap brk shmat ", REDACT_VALUE },
		{ " time add_key keyctl request_key ", REDACT_ZERO },
		{ " getuid getgid geteuid getegid getuid32 getgid32 geteuid32 getegid32 ", REDACT_ID },
		{ " fork vfork clone clone3 wait4 waitpid getpid gettid getppid getpgid getsid setsid set_tid_address ",
		  REDACT_PID },
	};
	size_t nr;

	if (!call)
		return REDACT_SHORT;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (redact_listed(rules[i].calls, call, strlen(call)))
			return rules[i].kind;
	return redact_call(call, &nr) ? REDACT_KEEP : REDACT_SHORT;
}
