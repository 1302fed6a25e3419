// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/cleanup.h"
#include "lib/base/digits.h"
#include "lib/base/out.h"
#include "lib/schema/helper_internal.h"

/* drivers/ata/libata-trace.c. Bits are from include/linux/ata.h and include/linux/libata.h. */
static void put_set(uint32_t value, const struct bit_name *names, size_t count, struct out *out)
{
	out_str(out, "{ ");
	text_bit_names(value, names, count, out);
	out_char(out, '}');
}

/* Prints the value, and the names of its bits if any is known. */
static void put_value_and_set(uint32_t value, const struct bit_name *names, size_t count, struct out *out)
{
	out_need(out, DIGITS_MAX);
	out->at = digits_put_hex(out->at, value);
	if (value)
		put_set(value, names, count, out);
}

static uint32_t argument(const struct expr *expr, const struct run *run)
{
	return (uint32_t)expr_number(expr->args[0], run);
}

void text_ata_status(const struct expr *expr, const struct run *run, struct out *out)
{
	static const struct bit_name names[] = {
		{ 0x80, "BUSY" }, { 0x40, "DRDY" }, { 0x20, "DF" }, { 0x10, "DSC" },
		{ 8, "DRQ" },     { 4, "CORR" },    { 2, "SENSE" }, { 1, "ERR" },
	};

	put_set(argument(expr, run), names, array_size(names), out);
}

void text_ata_host_stat(const struct expr *expr, const struct run *run, struct out *out)
{
	static const struct bit_name names[] = { { 4, "INTR" }, { 2, "ERR" }, { 1, "ACTIVE" } };

	put_set(argument(expr, run), names, array_size(names), out);
}

void text_ata_eh_action(const struct expr *expr, const struct run *run, struct out *out)
{
	/* Both kinds of reset have one name. */
	static const struct bit_name names[] = {
		{ 1, "REVALIDATE" }, { 6, "RESET" }, { 8, "ENABLE_LINK" }, { 0x20, "PARK" }
	};

	put_value_and_set(argument(expr, run), names, array_size(names), out);
}

void text_ata_eh_err_mask(const struct expr *expr, const struct run *run, struct out *out)
{
	static const struct bit_name names[] = {
		{ 1, "DEV" },        { 2, "HSM" },
		{ 4, "TIMEOUT" },    { 8, "MEDIA" },
		{ 0x10, "ATA_BUS" }, { 0x20, "HOST_BUS" },
		{ 0x40, "SYSTEM" },  { 0x80, "INVALID" },
		{ 0x100, "OTHER" },  { 0x200, "NODEV_HINT" },
		{ 0x400, "NCQ" },
	};

	put_value_and_set(argument(expr, run), names, array_size(names), out);
}

void text_ata_qc_flags(const struct expr *expr, const struct run *run, struct out *out)
{
	static const struct bit_name names[] = {
		{ 1, "ACTIVE" },
		{ 2, "DMAMAP" },
		{ 8, "IO" },
		{ 0x10, "RESULT_TF" },
		{ 0x20, "CLEAR_EXCL" },
		{ 0x40, "QUIET" },
		{ 0x80, "RETRY" },
		{ 0x10000, "FAILED" },
		{ 0x20000, "SENSE_VALID" },
		{ 0x40000, "EH_SCHEDULED" },
	};

	put_value_and_set(argument(expr, run), names, array_size(names), out);
}

void text_ata_tf_flags(const struct expr *expr, const struct run *run, struct out *out)
{
	static const struct bit_name names[] = {
		{ 1, "LBA48" },  { 2, "ISADDR" }, { 4, "DEV" },     { 8, "WRITE" },
		{ 0x10, "LBA" }, { 0x20, "FUA" }, { 0x40, "POLL" },
	};

	put_value_and_set(argument(expr, run), names, array_size(names), out);
}

/* (command, feature, hob_nsect): the name of the subcommand that some commands contain. */
void text_ata_subcmd(const struct expr *expr, const struct run *run, struct out *out)
{
	static const struct {
		uint8_t command, code;
		bool of_nsect; /* the code is in hob_nsect, else in feature */
		const char *name;
	} names[] = {
		{ 0x65, 1, true, " READ_LOG_DMA_EXT" },
		{ 0x65, 2, true, " ZAC_MGMT_IN" },
		{ 0x64, 2, true, " WRITE_LOG_DMA_EXT" },
		{ 0x64, 0, true, " DATASET_MANAGEMENT" },
		{ 0x63, 0, false, " ABORT_QUEUE" },
		{ 0x63, 5, false, " SET_FEATURES" },
		{ 0x63, 6, false, " ZERO_EXT" },
		{ 0x63, 7, false, " ZAC_MGMT_OUT" },
		{ 0x4a, 0, false, " REPORT_ZONES" },
		{ 0x9f, 1, false, " CLOSE_ZONE" },
		{ 0x9f, 2, false, " FINISH_ZONE" },
		{ 0x9f, 3, false, " OPEN_ZONE" },
		{ 0x9f, 4, false, " RESET_WRITE_POINTER" },
	};
	uint8_t command = (uint8_t)argument(expr, run), feature = (uint8_t)expr_number(expr->args[1], run);
	uint8_t nsect = (uint8_t)expr_number(expr->args[2], run) & 0x5f;

	for (size_t i = 0; i < array_size(names); i++)
		if (names[i].command == command && names[i].code == (names[i].of_nsect ? nsect : feature))
			return out_str(out, names[i].name);
}
