// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/probe/elf_unwind.h"

#include <elf.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/vec.h"

/*
 * .eh_frame as the Linux Standard Base ("Exception Frames") and DWARF 5, 6.4 have it: a list of CIEs, which several
 * functions share, and of FDEs, one for each piece of code. Both hold a program whose states are the rules of a place.
 */
enum {
	REGISTERS = 17, /* those of the psABI of x86-64; the last one is the return address */
	STACK_POINTER = 7,
	RETURN = 16,
	DEPTH = 16, /* remembered states */
	PIECES_MAX = 1 << 20,
	ROWS_MAX = 1 << 12, /* of a piece */
	SEGMENTS_MAX = 64,
};

enum { PE_ABSOLUTE = 0, PE_U4 = 3, PE_S4 = 0xb, PE_S8 = 0xc, PE_U8 = 4, PE_FORM = 0xf, PE_RELATIVE = 0x10 };

enum { SAME, AT_CFA, AT_REGISTER, UNDEFINED, OTHER };

/* Where the caller's value of a register is. */
struct saved {
	uint8_t kind, base;
	int64_t offset;
};

enum { CFA_REGISTER, CFA_BEHIND, CFA_PLT, CFA_OTHER };

struct rules {
	uint8_t cfa, base; /* the value of `base` + offset; CFA_BEHIND: what is stored there */
	int64_t offset;
	struct saved saved[REGISTERS];
};

struct cie {
	uint64_t code, encoding;
	int64_t data;
	bool sized, signal; /* sized: data of the language follow in an FDE, with their length */
	struct bytes program;
};

struct piece {
	uint64_t start, size;
	size_t at, len; /* in unwind::text */
};

struct unwind {
	struct bytes section;
	uint64_t address; /* of the section */
	struct segment {
		uint64_t address, size, place;
	} segments[SEGMENTS_MAX];
	size_t nr_segments;
	struct piece *pieces;
	size_t nr;
	struct buf text;
	size_t most;
	bool failed;
};

/* The run of a program. */
struct run {
	struct rules now, first, stack[DEPTH];
	unsigned depth;
	uint64_t location; /* from the start of the piece */
	const struct cie *cie;
	struct buf *into; /* NULL: the program of a CIE, which has no rows */
	size_t rows;
	bool failed;
};

/* A LEB128 number; one with a sign takes it from its last byte. */
static bool take_leb(struct bytes *bytes, bool has_sign, uint64_t *ret)
{
	uint64_t value = 0;
	uint8_t byte;

	for (unsigned shift = 0; bytes_u8(bytes, &byte); shift += 7) {
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (has_sign && byte & 0x40 && shift + 7 < 64)
			value |= UINT64_MAX << (shift + 7);
		*ret = value;
		return true;
	}
	return false;
}

static bool take_uleb(struct bytes *bytes, uint64_t *ret)
{
	return take_leb(bytes, false, ret);
}

static bool take_sleb(struct bytes *bytes, int64_t *ret)
{
	uint64_t value;

	if (!take_leb(bytes, true, &value))
		return false;
	*ret = (int64_t)value;
	return true;
}

static bool take_block(struct bytes *bytes, struct bytes *ret)
{
	const uint8_t *at;
	uint64_t len;

	if (!take_uleb(bytes, &len) || len > bytes->left || !bytes_take(bytes, (size_t)len, &at))
		return false;
	*ret = bytes_of(at, (size_t)len, false);
	return true;
}

/* DW_OP_breg of a register that is followed by an offset. */
static bool take_base(struct bytes *bytes, uint8_t *base, int64_t *offset)
{
	enum { DW_OP_BREG0 = 0x70 };
	struct bytes rest = *bytes;
	uint8_t op;

	if (!bytes_u8(&rest, &op) || op < DW_OP_BREG0 || op >= DW_OP_BREG0 + REGISTERS || !take_sleb(&rest, offset))
		return false;
	*base = (uint8_t)(op - DW_OP_BREG0);
	*bytes = rest;
	return true;
}

/*
 * Of expressions there are three in practice: a register and an offset, what is stored there, and that of binutils for
 * the .plt, whose code pushes one word from its N-th byte on: rsp + 8 + ((rip & 15) >= N) << 3.
 */
static void set_cfa(struct rules *rules, struct bytes block)
{
	static const uint8_t head[] = { 0x77, 8, 0x80, 0, 0x3f, 0x1a }, tail[] = { 0x2a, 0x33, 0x24, 0x22 };
	enum { LITERAL = 0x30, DEREFERENCE = 6 };

	rules->cfa = CFA_OTHER;
	if (block.left == sizeof(head) + 1 + sizeof(tail) && !memcmp(block.at, head, sizeof(head)) &&
	    !memcmp(block.at + sizeof(head) + 1, tail, sizeof(tail)) && block.at[sizeof(head)] >= LITERAL &&
	    block.at[sizeof(head)] < LITERAL + 16) {
		rules->cfa = CFA_PLT;
		rules->offset = block.at[sizeof(head)] - LITERAL;
	} else if (take_base(&block, &rules->base, &rules->offset)) {
		if (!block.left)
			rules->cfa = CFA_REGISTER;
		else if (block.left == 1 && *block.at == DEREFERENCE)
			rules->cfa = CFA_BEHIND;
	}
}

static void set_saved(struct run *run, uint64_t number, struct saved saved)
{
	if (number < REGISTERS)
		run->now.saved[number] = saved;
}

/* Only registers that a function has to keep are told. */
static bool put_saved(unsigned number, const struct saved *saved, struct buf *into)
{
	bool kept = number == 3 || number == 6 || (number >= 12 && number <= 15);

	if (number == RETURN && saved->kind == AT_CFA && saved->offset == -8)
		return true;
	if (number == RETURN && saved->kind == UNDEFINED)
		return buf_add_str(into, " e");
	if ((!kept && number != RETURN) || (saved->kind == SAME && number != RETURN))
		return true;
	if (saved->kind == AT_CFA)
		return buf_addf(into, " %u%+" PRId64, number, saved->offset);
	if (saved->kind == AT_REGISTER)
		return buf_addf(into, " %u=%u%+" PRId64, number, saved->base, saved->offset);
	return buf_addf(into, " %u?", number);
}

/* The rules from run::location on. */
static void put_row(struct run *run)
{
	const struct rules *rules = &run->now;
	struct buf *into = run->into;
	bool ok;

	if (!into || ++run->rows > ROWS_MAX)
		return;
	ok = buf_addf(into, "%s%" PRIx64 " ", run->rows > 1 ? ";" : "", run->location);
	/* setcontext() has a caller whose stack pointer is not the CFA. */
	if (rules->cfa == CFA_OTHER || rules->saved[STACK_POINTER].kind != SAME)
		ok = ok && buf_add_str(into, "?");
	else if (rules->cfa == CFA_PLT)
		ok = ok && buf_addf(into, "p%" PRId64, rules->offset);
	else
		ok = ok &&
		     buf_addf(into, "%s%u%+" PRId64, rules->cfa == CFA_BEHIND ? "*" : "", rules->base, rules->offset);
	for (unsigned i = 0; ok && i < REGISTERS; i++)
		ok = put_saved(i, &rules->saved[i], into);
	if (ok && run->cie->signal)
		ok = buf_add_str(into, " s");
	run->failed |= !ok;
}

static void advance(struct run *run, uint64_t by)
{
	uint64_t distance = by * run->cie->code;

	if (!distance)
		return;
	put_row(run);
	run->location += distance;
}

static bool do_saved(struct run *run, struct bytes *program, uint64_t number, bool is_signed)
{
	uint64_t factor = 0;
	int64_t offset = 0;

	if (is_signed ? !take_sleb(program, &offset) : !take_uleb(program, &factor))
		return false;
	if (!is_signed)
		offset = (int64_t)factor;
	set_saved(run, number,
		  (struct saved){ .kind = AT_CFA, .offset = (int64_t)((uint64_t)offset * (uint64_t)run->cie->data) });
	return true;
}

static bool do_cfa(struct run *run, struct bytes *program, uint8_t op)
{
	struct rules *now = &run->now;
	uint64_t number = now->base, plain = 0;
	int64_t offset = now->offset;
	bool sets_register = op == 0xc || op == 0xd || op == 0x12, sets_offset = op != 0xd;
	bool is_signed = op == 0x12 || op == 0x13;

	if (sets_register && !take_uleb(program, &number))
		return false;
	if (sets_offset && is_signed) {
		if (!take_sleb(program, &offset))
			return false;
		offset = (int64_t)((uint64_t)offset * (uint64_t)run->cie->data);
	} else if (sets_offset) {
		if (!take_uleb(program, &plain))
			return false;
		offset = (int64_t)plain;
	}
	/* What is an expression stays one until a register is set. */
	if (sets_register || now->cfa == CFA_REGISTER)
		now->cfa = number < RETURN ? CFA_REGISTER : CFA_OTHER;
	now->base = number < RETURN ? (uint8_t)number : 0;
	now->offset = offset;
	return true;
}

static bool do_expression(struct run *run, struct bytes *program, uint8_t op)
{
	struct saved saved = { .kind = OTHER };
	struct bytes block;
	uint64_t number;

	if (op == 0xf) {
		if (!take_block(program, &block))
			return false;
		set_cfa(&run->now, block);
		return true;
	}
	if (!take_uleb(program, &number) || !take_block(program, &block))
		return false;
	if (op == 0x10 && take_base(&block, &saved.base, &saved.offset) && !block.left)
		saved.kind = AT_REGISTER;
	set_saved(run, number, saved);
	return true;
}

static bool do_states(struct run *run, uint8_t op)
{
	if (op == 0xa) {
		if (run->depth == DEPTH)
			return false;
		run->stack[run->depth++] = run->now;
		return true;
	}
	if (!run->depth)
		return false;
	run->now = run->stack[--run->depth];
	return true;
}

/* False: the rest of the program cannot be understood. */
static bool do_one(struct run *run, struct bytes *program)
{
	uint64_t number;
	uint32_t u32;
	uint16_t u16;
	uint8_t op, u8;

	if (!bytes_u8(program, &op))
		return false;
	switch (op >> 6) {
	case 1: /* DW_CFA_advance_loc */
		advance(run, op & 0x3f);
		return true;
	case 2: /* DW_CFA_offset */
		return do_saved(run, program, op & 0x3f, false);
	case 3: /* DW_CFA_restore */
		set_saved(run, op & 0x3f, run->first.saved[(op & 0x3f) < REGISTERS ? op & 0x3f : 0]);
		return true;
	default:
		break;
	}
	switch (op) {
	case 0x00: /* DW_CFA_nop */
		return true;
	case 0x02: /* DW_CFA_advance_loc1, 2 and 4 */
		return bytes_u8(program, &u8) && (advance(run, u8), true);
	case 0x03:
		return bytes_u16(program, &u16) && (advance(run, u16), true);
	case 0x04:
		return bytes_u32(program, &u32) && (advance(run, u32), true);
	case 0x05: /* DW_CFA_offset_extended and _sf */
	case 0x11:
		return take_uleb(program, &number) && do_saved(run, program, number, op == 0x11);
	case 0x06: /* DW_CFA_restore_extended */
		if (!take_uleb(program, &number))
			return false;
		set_saved(run, number, run->first.saved[number < REGISTERS ? number : 0]);
		return true;
	case 0x07: /* DW_CFA_undefined and same_value */
	case 0x08:
		if (!take_uleb(program, &number))
			return false;
		set_saved(run, number, (struct saved){ .kind = op == 0x07 ? UNDEFINED : SAME });
		return true;
	case 0x0a: /* DW_CFA_remember_state and restore_state */
	case 0x0b:
		return do_states(run, op);
	case 0x0c: /* DW_CFA_def_cfa, _register, _offset, _sf, _offset_sf */
	case 0x0d:
	case 0x0e:
	case 0x12:
	case 0x13:
		return do_cfa(run, program, op);
	case 0x0f: /* DW_CFA_def_cfa_expression, expression, val_expression */
	case 0x10:
	case 0x16:
		return do_expression(run, program, op);
	case 0x2e: /* DW_CFA_GNU_args_size */
		return take_uleb(program, &number);
	default:
		return false;
	}
}

static void run_program(struct run *run, struct bytes program)
{
	while (program.left && run->rows <= ROWS_MAX && !run->failed)
		if (!do_one(run, &program)) {
			run->now.cfa = CFA_OTHER;
			return;
		}
}

static bool take_address(const struct unwind *unwind, struct bytes *bytes, uint64_t encoding, uint64_t *ret)
{
	uint64_t here = unwind->address + (uint64_t)(bytes->at - unwind->section.at);
	uint32_t half = 0;

	switch (encoding & PE_FORM) {
	case PE_ABSOLUTE:
	case PE_U8:
	case PE_S8:
		if (!bytes_u64(bytes, ret))
			return false;
		break;
	case PE_U4:
	case PE_S4:
		if (!bytes_u32(bytes, &half))
			return false;
		*ret = (encoding & PE_FORM) == PE_S4 ? (uint64_t)(int64_t)(int32_t)half : half;
		break;
	default:
		return false;
	}
	if (encoding & PE_RELATIVE)
		*ret += here;
	return !(encoding & ~(uint64_t)(PE_FORM | PE_RELATIVE));
}

/* The data of an augmentation: of what only some is of interest here, but all is of a known length. */
static bool take_augmentation(const char *text, struct bytes *bytes, struct cie *cie)
{
	struct bytes data;
	uint8_t encoding;

	if (!*text)
		return true;
	if (*text != 'z' || !take_block(bytes, &data))
		return false;
	cie->sized = true;
	while (*++text) {
		if (*text == 'R') {
			if (!bytes_u8(&data, &encoding))
				return false;
			cie->encoding = encoding;
		} else if (*text == 'S') {
			cie->signal = true;
		} else if (*text == 'L') {
			if (!bytes_u8(&data, &encoding))
				return false;
		} else if (*text == 'P') {
			static const uint8_t sizes[] = { 8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8, 0, 0, 0 };
			const uint8_t *skipped;

			if (!bytes_u8(&data, &encoding) || !sizes[encoding & PE_FORM] ||
			    !bytes_take(&data, sizes[encoding & PE_FORM], &skipped))
				return false;
		} else if (*text != 'B') {
			return false;
		}
	}
	return true;
}

static bool read_cie(struct bytes bytes, struct cie *ret)
{
	const char *augmentation;
	uint64_t number;
	uint8_t version;
	size_t len;

	*ret = (struct cie){ .code = 0 };
	if (!bytes_u8(&bytes, &version) || (version != 1 && version != 3) || !bytes_cstr(&bytes, &augmentation, &len) ||
	    !take_uleb(&bytes, &ret->code) || !take_sleb(&bytes, &ret->data) || !take_uleb(&bytes, &number) ||
	    number != RETURN || !take_augmentation(augmentation, &bytes, ret))
		return false;
	ret->program = bytes;
	return true;
}

/* One record of the section at an offset. False: there is none. *ret_id: the word behind the length. */
static bool record_at(const struct unwind *unwind, uint64_t at, struct bytes *ret, uint32_t *ret_id, uint64_t *ret_next)
{
	struct bytes bytes = unwind->section;
	const uint8_t *skipped;
	uint32_t len;

	/* 0 is the end; lengths of 64 bits are of files that are too large for this anyway. */
	if (at > bytes.left || !bytes_take(&bytes, (size_t)at, &skipped) || !bytes_u32(&bytes, &len) || len < 4 ||
	    len > bytes.left)
		return false;
	*ret_next = at + 4 + len;
	bytes.left = len;
	(void)bytes_u32(&bytes, ret_id);
	*ret = bytes;
	return true;
}

static bool place_of(const struct unwind *unwind, uint64_t address, uint64_t *ret)
{
	for (size_t i = 0; i < unwind->nr_segments; i++) {
		const struct segment *segment = &unwind->segments[i];

		if (address < segment->address || address - segment->address >= segment->size)
			continue;
		*ret = address - segment->address + segment->place;
		return true;
	}
	return false;
}

static void add_piece(struct unwind *unwind, struct bytes bytes, const struct cie *cie)
{
	struct run run = { .cie = cie };
	struct piece piece = { .at = unwind->text.len }, *added;
	struct bytes data;
	uint64_t address;

	if (!take_address(unwind, &bytes, cie->encoding, &address) ||
	    !take_address(unwind, &bytes, cie->encoding & PE_FORM, &piece.size) || !piece.size ||
	    !place_of(unwind, address, &piece.start) || piece.size > UINT64_MAX - piece.start ||
	    (cie->sized && !take_block(&bytes, &data)))
		return;
	for (unsigned i = 0; i < REGISTERS; i++)
		run.now.saved[i].kind = SAME;
	run_program(&run, cie->program);
	run.first = run.now;
	run.location = 0;
	run.depth = 0;
	run.into = &unwind->text;
	run_program(&run, bytes);
	put_row(&run);
	piece.len = unwind->text.len - piece.at;
	added = vec_push(unwind->pieces, unwind->nr);
	if (added)
		*added = piece;
	unwind->failed |= run.failed || !added;
}

static void add_all(struct unwind *unwind)
{
	uint64_t at = 0, next, of = UINT64_MAX, unused;
	uint32_t id, cie_id;
	struct bytes bytes, cie_bytes;
	struct cie cie = { .code = 0 };
	bool known = false;

	for (; !unwind->failed && unwind->nr < PIECES_MAX && unwind->text.len < unwind->most &&
	       record_at(unwind, at, &bytes, &id, &next);
	     at = next) {
		if (!id || id > at + 4)
			continue;
		/* The distance from this word to the CIE. */
		if (of != at + 4 - id) {
			of = at + 4 - id;
			known = record_at(unwind, of, &cie_bytes, &cie_id, &unused) && !cie_id &&
				read_cie(cie_bytes, &cie);
		}
		if (known)
			add_piece(unwind, bytes, &cie);
	}
}

static bool copy_at(const struct elf_image *file, uint64_t at, void *into, size_t size)
{
	if (at > file->len || size > file->len - at)
		return false;
	memcpy(into, (const char *)file->data + at, size);
	return true;
}

static bool find_section(struct unwind *unwind, const struct elf_image *file, const Elf64_Ehdr *head)
{
	static const char wanted[] = ".eh_frame";
	Elf64_Shdr names, section;
	char name[sizeof(wanted)];

	if (head->e_shentsize != sizeof(section) ||
	    !copy_at(file, head->e_shoff + (uint64_t)head->e_shstrndx * sizeof(names), &names, sizeof(names)))
		return false;
	for (unsigned i = 0; i < head->e_shnum; i++) {
		if (!copy_at(file, head->e_shoff + (uint64_t)i * sizeof(section), &section, sizeof(section)) ||
		    section.sh_type == SHT_NOBITS || section.sh_name > UINT64_MAX - names.sh_offset ||
		    !copy_at(file, names.sh_offset + section.sh_name, name, sizeof(name)) ||
		    memcmp(name, wanted, sizeof(name)) != 0)
			continue;
		if (section.sh_offset > file->len || section.sh_size > file->len - section.sh_offset)
			return false;
		unwind->section =
			bytes_of((const uint8_t *)file->data + section.sh_offset, (size_t)section.sh_size, false);
		unwind->address = section.sh_addr;
		return true;
	}
	return false;
}

static bool find_code(struct unwind *unwind, const struct elf_image *file)
{
	Elf64_Ehdr head;
	Elf64_Phdr segment;

	if (!file->data || !copy_at(file, 0, &head, sizeof(head)) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
	    __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || head.e_machine != EM_X86_64 ||
	    head.e_phentsize != sizeof(segment))
		return false;
	for (unsigned i = 0; i < head.e_phnum && unwind->nr_segments < SEGMENTS_MAX; i++)
		if (copy_at(file, head.e_phoff + (uint64_t)i * sizeof(segment), &segment, sizeof(segment)) &&
		    segment.p_type == PT_LOAD && segment.p_flags & PF_X)
			unwind->segments[unwind->nr_segments++] =
				(struct segment){ segment.p_vaddr, segment.p_filesz, segment.p_offset };
	return find_section(unwind, file, &head);
}

static int compare(const void *a, const void *b)
{
	const struct piece *one = a, *other = b;

	if (one->start != other->start)
		return one->start < other->start ? -1 : 1;
	return one->at < other->at ? -1 : one->at > other->at;
}

bool elf_unwind_put(const struct elf_image *file, size_t most, struct buf *into)
{
	struct unwind unwind = { .text = BUF_INIT, .most = most };
	size_t from = into->len;

	if (find_code(&unwind, file))
		add_all(&unwind);
	if (unwind.nr)
		qsort(unwind.pieces, unwind.nr, sizeof(*unwind.pieces), compare);
	for (size_t i = 0; !unwind.failed && i < unwind.nr && into->len - from < most; i++) {
		const struct piece *piece = &unwind.pieces[i];

		unwind.failed = !buf_addf(into, "%" PRIx64 " %" PRIx64 " ", piece->start, piece->size) ||
				!buf_add(into, unwind.text.data + piece->at, piece->len) || !buf_add(into, "\n", 1);
	}
	free(unwind.pieces);
	buf_release(&unwind.text);
	return !unwind.failed;
}
