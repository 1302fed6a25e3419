// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/probe/usdt.h"

#include <elf.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "tests/unit/test.h"

/* At the first place of a probe that has up to three. */
static const char *fetched_at(char *first, char *second, char *third, uint16_t machine, struct buf *into)
{
	struct usdt_place places[] = { { .arguments = first }, { .arguments = second }, { .arguments = third } };
	struct usdt usdt = { .places = places, .nr_places = third ? 3 : second ? 2 : 1 };
	struct usdt_types types;

	buf_clear(into);
	usdt_types(&usdt, machine, &types);
	return usdt_fetch(first, machine, &types, into) ? buf_str(into) : "no memory";
}

static const char *fetched(char *arguments, uint16_t machine, struct buf *into)
{
	return fetched_at(arguments, NULL, NULL, machine, into);
}

TEST(usdt_fetches_what_the_kernel_can_of_x86)
{
	struct buf buf = BUF_INIT;

	CHECK_STR(fetched("-4@112(%rsp)", EM_X86_64, &buf), " arg1=+112(%sp):s32");
	CHECK_STR(fetched("8@%rdi -4@%eax 1@%sil 2@%bx 4@%r9d 1@%al", EM_X86_64, &buf),
		  " arg1=%di:u64 arg2=%ax:s32 arg3=%si:u8 arg4=%bx:u16 arg5=%r9:u32 arg6=%ax:u8");
	CHECK_STR(fetched("-4@$-5 8@-16(%rbp) 8@(%r12)", EM_X86_64, &buf),
		  " arg1=\\-5:s32 arg2=-16(%bp):u64 arg3=+0(%r12):u64");
	/* An index, a symbol, the high byte of a register and a size that is none are left out. */
	CHECK_STR(fetched("8@(%rax,%rbx,8) 4@NBuffers(%rip) 1@%ah 3@%rax 8@%rax 8@8(%rax", EM_X86_64, &buf),
		  " arg5=%ax:u64");
	CHECK_STR(fetched("", EM_X86_64, &buf), "");
	CHECK_STR(fetched("8@%rax", EM_S390, &buf), "");
	buf_release(&buf);
}

TEST(usdt_has_an_argument_where_all_places_have_its_type)
{
	struct buf buf = BUF_INIT;

	/* A constant takes the type of the others. */
	CHECK_STR(fetched_at("8@%rax 4@%r14d", "8@%rax 4@%r14d", "8@%rbx -4@$0", EM_X86_64, &buf),
		  " arg1=%ax:u64 arg2=%r14:u32");
	CHECK_STR(fetched_at("-4@$0", "-4@$0", "1@-57(%rbp)", EM_X86_64, &buf), " arg1=\\0:u8");
	CHECK_STR(fetched_at("-4@$0", "-8@$7", NULL, EM_X86_64, &buf), " arg1=\\0:s32");
	CHECK_STR(fetched_at("-4@$256 -4@$-1", "1@%al 1@%bl", NULL, EM_X86_64, &buf), " arg2=\\-1:u8");
	CHECK_STR(fetched_at("4@%eax 8@%rbx", "-4@%eax 8@N(%rip)", NULL, EM_X86_64, &buf), "");
	CHECK_STR(fetched_at("8@%rax 8@%rbx", "8@%rcx", NULL, EM_X86_64, &buf), " arg1=%ax:u64");
	buf_release(&buf);
}

TEST(usdt_fetches_what_the_kernel_can_of_arm64)
{
	struct buf buf = BUF_INIT;

	CHECK_STR(fetched("-4@[sp, 60] 8@x19 4@w0 8@[x1] -4@12", EM_AARCH64, &buf),
		  " arg1=+60(%sp):s32 arg2=%x19:u64 arg3=%x0:u32 arg4=+0(%x1):u64 arg5=\\12:s32");
	CHECK_STR(fetched("8@[x1, x2] 8@x", EM_AARCH64, &buf), "");
	buf_release(&buf);
}

TEST(usdt_note_has_three_words_and_three_texts)
{
	static const uint64_t words[] = { 0x4000, 0x5000, 0 };
	static const char texts[] = "python\0gc__start\0-4@%eax";
	struct usdt_note note;
	uint8_t bytes[128];
	size_t len = sizeof(words) + sizeof(texts);

	memcpy(bytes, words, sizeof(words));
	memcpy(bytes + sizeof(words), texts, sizeof(texts));
	REQUIRE(usdt_note(bytes, len, true, false, &note));
	CHECK(note.pc == 0x4000 && note.base == 0x5000 && !note.semaphore);
	CHECK_STR(note.provider, "python");
	CHECK_STR(note.name, "gc__start");
	CHECK_STR(note.arguments, "-4@%eax");
	for (size_t cut = 0; cut < len; cut++)
		CHECK(!usdt_note(bytes, cut, true, false, &note));
}
