// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/probe/parameter_place_internal.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/cleanup.h"

#if defined(__x86_64__) || defined(__i386__)
static const char *const wide_kernel[] = { "%di", "%si", "%dx", "%cx", "%r8", "%r9" };
/* The return address is at the stack pointer. */
static const char *const narrow_kernel[] = { "$stack1", "$stack2", "$stack3", "$stack4", "$stack5", "$stack6" };
/* $stackN counts in longs of the kernel. */
static const char *const narrow_program[] = { "+4(%sp)", "+8(%sp)", "+12(%sp)", "+16(%sp)", "+20(%sp)", "+24(%sp)" };
#elif defined(__aarch64__) || defined(__arm__)
static const char *const wide_kernel[] = { "%x0", "%x1", "%x2", "%x3", "%x4", "%x5", "%x6", "%x7" };
static const char *const narrow_kernel[] = { "%r0", "%r1", "%r2", "%r3" };
static const char *const narrow_program[] = { "%x0", "%x1", "%x2", "%x3" };
#elif defined(__powerpc64__)
static const char *const wide_kernel[] = { "%r3", "%r4", "%r5", "%r6", "%r7", "%r8", "%r9", "%r10" };
#define narrow_kernel wide_kernel
#define narrow_program wide_kernel
#elif defined(__s390x__)
static const char *const wide_kernel[] = { "%r2", "%r3", "%r4", "%r5", "%r6" };
#define narrow_kernel wide_kernel
#define narrow_program wide_kernel
#elif defined(__riscv)
static const char *const wide_kernel[] = { "%a0", "%a1", "%a2", "%a3", "%a4", "%a5", "%a6", "%a7" };
#define narrow_kernel wide_kernel
#define narrow_program wide_kernel
#elif defined(__mips__)
/* n64 and o32. The rest of the parameters of o32 are on the stack. */
static const char *const wide_kernel[] = { "%r4", "%r5", "%r6", "%r7", "%r8", "%r9", "%r10", "%r11" };
static const char *const narrow_kernel[] = { "%r4", "%r5", "%r6", "%r7" };
#define narrow_program narrow_kernel
#elif defined(__loongarch__)
static const char *const wide_kernel[] = { "%r4", "%r5", "%r6", "%r7", "%r8", "%r9", "%r10", "%r11" };
#define narrow_kernel wide_kernel
#define narrow_program wide_kernel
#else
static const char *const wide_kernel[] = { NULL };
#define narrow_kernel wide_kernel
#define narrow_program wide_kernel
#endif

const char *parameter_place(unsigned number, unsigned long_size, bool narrow)
{
	const char *const *names = wide_kernel;
	size_t nr = array_size(wide_kernel);

	if (long_size == 4) {
		names = narrow_kernel;
		nr = array_size(narrow_kernel);
	} else if (narrow) {
		names = narrow_program;
		nr = array_size(narrow_program);
	}
	return number && number <= nr ? names[number - 1] : NULL;
}

bool program_is_narrow(const char *path)
{
	unsigned char ident[EI_NIDENT];
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd >= 0 && read(fd, ident, sizeof(ident)) == (ssize_t)sizeof(ident) && !memcmp(ident, ELFMAG, SELFMAG) &&
	       ident[EI_CLASS] == ELFCLASS32;
}
