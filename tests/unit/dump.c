// SPDX-License-Identifier: GPL-2.0-only
/*
 * A core of a machine with six pages of memory, of which the first four are its page tables: what is where is known
 * without weft. Real dumps are those of tests/cases/dump.bats.
 */
#include "lib/memory/dump/dump.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/memory/image/memory.h"
#include "lib/memory/image/note.h"
#include "tests/unit/test.h"

enum { PAGE = 4096, PAGES = 6, DATA = 4, PRESENT = 1, LARGE = 0x80 };

#define BASE UINT64_C(0x1000000)
#define MAPPED UINT64_C(0xffff888000001000)
#define LARGE_AT UINT64_C(0xffff888000200000)
#define NOTE "OSRELEASE=6.12.0\nSYMBOL(swapper_pg_dir)=ffffffff81000000\nNUMBER(phys_base)=0\nNUMBER(neg)=-5\n"

struct core {
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr headers[2];
		struct {
			Elf64_Nhdr head;
			char name[12], text[sizeof(NOTE) + 3];
		} note;
	} front;
	uint8_t pages[PAGES][PAGE];
};

static void put_entry(struct core *core, unsigned page, uint64_t address, unsigned shift, uint64_t entry)
{
	memcpy(&core->pages[page][(address >> shift & 511) * 8], &entry, 8);
}

/* The page at MAPPED is the last one, the page behind it the last but one. All memory is at LARGE_AT, too. */
static void build(struct core *core)
{
	const uint64_t pages = BASE | PRESENT;

	*core = (struct core){ .front = {
				       .head = { .e_ident = { ELFMAG0, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
							      EV_CURRENT },
						 .e_type = ET_CORE,
						 .e_machine = EM_X86_64,
						 .e_version = EV_CURRENT,
						 .e_ehsize = sizeof(Elf64_Ehdr),
						 .e_phoff = sizeof(Elf64_Ehdr),
						 .e_phentsize = sizeof(Elf64_Phdr),
						 .e_phnum = 2 },
				       .headers = { { .p_type = PT_NOTE,
						      .p_offset = offsetof(struct core, front.note),
						      .p_filesz = sizeof(core->front.note) },
						    { .p_type = PT_LOAD,
						      .p_offset = offsetof(struct core, pages),
						      .p_paddr = BASE,
						      .p_filesz = sizeof(core->pages),
						      .p_memsz = sizeof(core->pages) } },
				       .note = { .head = { .n_namesz = sizeof("VMCOREINFO"),
							   .n_descsz = sizeof(NOTE) - 1 },
						 .name = "VMCOREINFO",
						 .text = NOTE },
			       } };
	put_entry(core, 0, MAPPED, 39, pages + PAGE);
	put_entry(core, 1, MAPPED, 30, pages + 2 * PAGE);
	put_entry(core, 2, MAPPED, 21, pages + 3 * PAGE);
	put_entry(core, 2, LARGE_AT, 21, pages | LARGE);
	put_entry(core, 3, MAPPED, 12, pages + 5 * PAGE);
	put_entry(core, 3, MAPPED + PAGE, 12, pages + 4 * PAGE);
	memset(core->pages[DATA], 'b', PAGE);
	memset(core->pages[DATA + 1], 'a', PAGE);
	core->pages[DATA][3] = '\0';
}

static int open_core(const struct core *core, struct dump **ret, struct fail *fail)
{
	cleanup_fd int fd = memfd_create("core", MFD_CLOEXEC);

	if (!CHECK(fd >= 0 && write(fd, core, sizeof(*core)) == sizeof(*core) && !lseek(fd, 0, SEEK_SET)))
		return -EIO;
	return dump_open(fd, "core", ret, fail);
}

TEST(dump_gives_the_memory_of_a_core_and_none_beyond_it)
{
	struct fail fail = FAIL_INIT;
	struct dump *dump = NULL;
	struct core core;
	uint64_t from, to;
	char bytes[8];

	build(&core);
	REQUIRE(!open_core(&core, &dump, &fail));
	CHECK(dump_machine(dump) == DUMP_X86_64 && !dump_is_live(dump) && !strcmp(dump_kind(dump), "ELF core"));
	CHECK_STR(dump_note(dump), NOTE);
	CHECK(dump_read(dump, BASE + (DATA + 1) * PAGE - 4, bytes, 8) && !memcmp(bytes, "bbbbaaaa", 8));
	CHECK(dump_read(dump, BASE + PAGES * PAGE - 8, bytes, 8));
	CHECK(!dump_read(dump, BASE + PAGES * PAGE - 7, bytes, 8));
	CHECK(!dump_read(dump, BASE - 1, bytes, 8));
	CHECK(!dump_read(dump, UINT64_MAX - 3, bytes, 8));
	CHECK(dump_range(dump, 0, &from, &to) && from == BASE && to == BASE + PAGES * PAGE);
	CHECK(!dump_range(dump, to, &from, &to));
	CHECK(!dump_is_spent(dump) && !dump_damaged(dump));
	dump_free(dump);
}

TEST(dump_refuses_what_is_no_core)
{
	struct fail fail = FAIL_INIT;
	struct dump *dump = NULL;
	struct core core;

	build(&core);
	core.front.head.e_ident[EI_CLASS] = ELFCLASS32;
	CHECK(open_core(&core, &dump, &fail) == -EBADMSG && strstr(fail.text, "no core of a 64-bit"));
	build(&core);
	core.front.headers[1].p_filesz = 0;
	CHECK(open_core(&core, &dump, &fail) == -EBADMSG && strstr(fail.text, "without any memory"));
	build(&core);
	core.front.head.e_ident[0] = 'x';
	CHECK(open_core(&core, &dump, &fail) == -EBADMSG);
	CHECK(!dump);
}

TEST(memory_follows_the_page_tables_of_the_dump)
{
	static struct memory memory;
	struct fail fail = FAIL_INIT;
	struct dump *dump = NULL;
	struct core core;
	uint64_t number;
	char bytes[8];

	build(&core);
	REQUIRE(!open_core(&core, &dump, &fail) && !memory_init(&memory, dump, &fail));
	/* The two pages are next to one another, and their memory is in the other order. */
	CHECK(memory_read(&memory, MAPPED + PAGE - 2, bytes, 5) && !memcmp(bytes, "aabbb", 5));
	CHECK(memory_text(&memory, MAPPED + PAGE, bytes, sizeof(bytes)));
	CHECK_STR(bytes, "bbb");
	CHECK(!memory_text(&memory, MAPPED, bytes, sizeof(bytes)));
	CHECK(memory_u64(&memory, LARGE_AT + 3 * PAGE + (MAPPED >> 12 & 511) * 8, &number) &&
	      number == (BASE | PRESENT) + 5 * PAGE);
	/* Not mapped; mapped, but not in the dump. */
	CHECK(!memory_read(&memory, MAPPED + 2 * PAGE, bytes, 1));
	CHECK(!memory_read(&memory, LARGE_AT + PAGES * PAGE, bytes, 1));
	memory_release(&memory);
	dump_free(dump);
}

TEST(note_tells_whole_lines_of_a_kind)
{
	char text[16];
	uint64_t number = 7;

	CHECK(note_text(NOTE, "OSRELEASE", text, sizeof(text)));
	CHECK_STR(text, "6.12.0");
	CHECK(!note_text(NOTE, "OSRELEASE", text, 6) && !note_text(NOTE, "RELEASE", text, sizeof(text)));
	CHECK(note_symbol(NOTE, "swapper_pg_dir", &number) && number == UINT64_C(0xffffffff81000000));
	CHECK(note_number(NOTE, "neg", &number) && number == (uint64_t)-5);
	CHECK(!note_number(NOTE, "swapper_pg_dir", &number) && number == (uint64_t)-5);
}
