// SPDX-License-Identifier: GPL-2.0-only
/*
 * A machine check's status register, arch/x86/include/asm/mce.h (MCI_STATUS_*); its low 16 bits are the error, in the
 * forms of Intel's manual, volume 3B, "Machine-check error codes".
 */
#include "include/weft/plugin.h"
#include "plugins/words.h"

enum { STATUS };

static const char *const fields[] = { "status", NULL };
static const char *const facts[] = { "flags", "error", NULL };

static const char *error_of(unsigned code)
{
	/* The longest form first: each mask leaves the bits that say more, such as the level and the transaction. */
	static const struct {
		unsigned mask, value;
		const char *name;
	} forms[] = {
		{ 0xffff, 0x0001, "unclassified" },
		{ 0xffff, 0x0002, "microcode-parity" },
		{ 0xffff, 0x0003, "external" },
		{ 0xffff, 0x0004, "frc" },
		{ 0xffff, 0x0005, "internal-parity" },
		{ 0xffff, 0x0400, "internal-timer" },
		{ 0xe800, 0x0800, "bus" },
		{ 0xef00, 0x0100, "cache" },
		{ 0xef80, 0x0080, "memory-controller" },
		{ 0xeff0, 0x0010, "tlb" },
		{ 0xeffc, 0x000c, "generic-cache" },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if ((code & forms[i].mask) == forms[i].value)
			return forms[i].name;
	return NULL;
}

static void format_record(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	static const struct word bits[] = {
		{ 1ULL << 63, "VAL" },   { 1ULL << 62, "OVER" },  { 1ULL << 61, "UC" },  { 1ULL << 60, "EN" },
		{ 1ULL << 59, "MISCV" }, { 1ULL << 58, "ADDRV" }, { 1ULL << 57, "PCC" },
	};
	uint64_t status = host->integer(record, STATUS, 0);

	put_flags(host, "flags", WORDS(bits), status & 0x7fULL << 57, output);
	put_string(host, "error", error_of((unsigned)(status & 0xffff)), output);
}

static const struct weft_handler handlers[] = {
	{ "mce_record", fields, format_record, facts },
};

WEFT_PLUGIN("mce", handlers);
