// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/schema/program.h"

#include <stdio.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/schema/format.h"
#include "tests/unit/test.h"

/*
 * Texts that the kernel's functions make for print fmts. The expected texts were printed by the kernel's own functions,
 * compiled from the source of 7.2: drivers/scsi/scsi_trace.c, drivers/ata/libata-trace.c, drivers/firmware/efi/cper.c,
 * drivers/iommu/intel/iommu.h.
 */
static const char fields[] = "name: thing\nID: 9\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			     "\tfield:u32 word;\toffset:8;\tsize:4;\tsigned:0;\n"
			     "\tfield:__data_loc char[] str;\toffset:12;\tsize:4;\tsigned:0;\n"
			     "\tfield:u8 b[64];\toffset:16;\tsize:64;\tsigned:0;\n"
			     "\tfield:u64 w[8];\toffset:16;\tsize:64;\tsigned:0;\n"
			     "\tfield:__data_loc access_mask_t[] masks;\toffset:80;\tsize:4;\tsigned:0;\n"
			     "\nprint fmt: ";

enum { FIXED = 84 };

struct record {
	uint8_t bytes[160];
	size_t len;
};

static void put(struct record *record, size_t at, const void *value, size_t size)
{
	memcpy(record->bytes + at, value, size);
}

static void put_dynamic(struct record *record, size_t at, const void *data, size_t size)
{
	uint32_t where = (uint32_t)(record->len | size << 16);

	put(record, at, &where, sizeof(where));
	put(record, record->len, data, size);
	record->len += size;
}

static char printed[512];

/* Prints the record by a print fmt of one %s. */
static const char *print_of(const char *argument, const struct record *record, bool old)
{
	struct schema_abi abi = { .long_size = 8, .big_endian = HOST_BIG_ENDIAN, .hz = 250, .cper_blanks = old };
	struct program_env env = { .arg = NULL };
	const struct format *format;
	struct schema *schema = NULL;
	const char *note;
	char text[2048];
	struct out out;
	int len = snprintf(text, sizeof(text), "%s%s%s\n", fields, *argument == '"' ? "" : "\"%s\", ", argument);

	if (schema_new(&abi, &schema, NULL) || schema_add(schema, "test", 4, text, (size_t)len, NULL))
		return "";
	format = schema_format(schema, 9, &note);
	if (!format || !out_init(&out, 4096))
		return "";
	program_run(schema_program(schema, format, &note), &env, record->bytes, record->len, &out);
	out_char(&out, 0);
	snprintf(printed, sizeof(printed), "%s%s", note ? note : "", out.start);
	out_release(&out);
	schema_free(schema);
	return printed;
}

static const char *print(const char *argument, const struct record *record)
{
	return print_of(argument, record, false);
}

static void put_hex(struct record *record, size_t at, const char *hex)
{
	unsigned byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		record->bytes[at++] = (uint8_t)byte;
}

TEST(helper_tells_what_a_scsi_command_asks_for)
{
	static const struct {
		const char *cdb, *text;
	} commands[] = {
		{ "08123456", "lba=1193046 txlen=256" },
		{ "0a00001020", "lba=16 txlen=32" },
		{ "2800000102030012aa", "lba=66051 txlen=4778 protect=0" },
		{ "2fe0010203040a00ff00", "lba=16909060 txlen=255 protect=7" },
		{ "410800000010000200", "lba=16 txlen=512 protect=0 unmap=1" },
		{ "a8200a0b0c0d00010000", "lba=168496141 txlen=65536 protect=1" },
		{ "8a60000000123456789abc0000080000", "lba=78187493530 txlen=3154116616 protect=3" },
		{ "93080000000000000001ffffffff", "lba=1 txlen=4294967295 protect=0 unmap=1" },
		{ "4200000000000000180000", "regions=1" },
		{ "9e100000000000000000000000200000", "READ_CAPACITY_16 lba=0 alloc_len=32" },
		{ "9e12000000000000010000000020", "GET_LBA_STATUS lba=256 alloc_len=32" },
		{ "9e1f", "UNKNOWN" },
		{ "7f00000000000000000940000000000000000010deadbeef0000000000000008",
		  "READ_32 lba=16 txlen=8 protect=2 ei_lbrt=3735928559" },
		{ "7f00000000000000000d68000000000000000010deadbeef0000000000000008",
		  "WRITE_SAME_32 lba=16 txlen=8 protect=3 ei_lbrt=3735928559 unmap=1" },
		{ "7f000000000000000007", "-" },
		{ "a30a000000000000100000", "REPORT_TARGET_PORT_GROUPS alloc_len=4096" },
		{ "a311", "UNKNOWN" },
		{ "a40f000000000000000c", "SET_TIMESTAMP alloc_len=12" },
		{ "95000000000000080000000000408500", "REPORT_ZONES zone=524288 alloc_len=64 options=5 partial=1" },
		{ "940400000000000000200000000001", "RESET_WRITE_POINTER zone=32 all=1" },
		/* The action is in 5 bits. */
		{ "a3ea000000000000100000", "REPORT_TARGET_PORT_GROUPS alloc_len=4096" },
		{ "a4ef000000000000000c", "SET_TIMESTAMP alloc_len=12" },
		{ "95e0000000000008000000000040bf00", "REPORT_ZONES zone=524288 alloc_len=64 options=63 partial=1" },
		{ "94e400000000000000200000000001", "RESET_WRITE_POINTER zone=32 all=1" },
		{ "9ef00000000000000000000000200000", "READ_CAPACITY_16 lba=0 alloc_len=32" },
		{ "12", "-" },
	};

	for (size_t i = 0; i < array_size(commands); i++) {
		struct record record = { .len = FIXED };

		put_hex(&record, 16, commands[i].cdb);
		CHECK_STR(print("scsi_trace_parse_cdb(p, REC->b, 32)", &record), commands[i].text);
	}
}

TEST(helper_knows_the_atomic_write_of_kernels_that_have_it)
{
	static const char names[] = "\"%s %s\", __print_symbolic(REC->word, { 0x9c, \"WRITE_ATOMIC_16\" }), "
				    "scsi_trace_parse_cdb(p, REC->b, 32)";
	struct record record = { .len = FIXED };

	put_hex(&record, 16, "9c00000000000000100000800010");
	CHECK_STR(print(names, &record), "0x0 lba=4096 txlen=16 boundary_size=128");
	CHECK_STR(print("scsi_trace_parse_cdb(p, REC->b, 32)", &record), "-");
}

TEST(helper_names_the_bits_of_ata_words)
{
	static const struct {
		const char *function;
		uint32_t word;
		const char *text;
	} words[] = {
		{ "eh_action", 0x0, "0" },
		{ "eh_action", 0x1, "1{ REVALIDATE }" },
		{ "eh_action", 0x2c, "2c{ RESET ENABLE_LINK PARK }" },
		{ "eh_action", 0x401, "401{ REVALIDATE }" },
		{ "eh_action", 0x10085, "10085{ REVALIDATE RESET }" },
		{ "eh_action", 0x7f, "7f{ REVALIDATE RESET ENABLE_LINK PARK }" },
		{ "eh_action", 0xffffffff, "ffffffff{ REVALIDATE RESET ENABLE_LINK PARK }" },
		{ "eh_err_mask", 0x0, "0" },
		{ "eh_err_mask", 0x1, "1{ DEV }" },
		{ "eh_err_mask", 0x2c, "2c{ TIMEOUT MEDIA HOST_BUS }" },
		{ "eh_err_mask", 0x401, "401{ DEV NCQ }" },
		{ "eh_err_mask", 0x10085, "10085{ DEV TIMEOUT INVALID }" },
		{ "eh_err_mask", 0x7f, "7f{ DEV HSM TIMEOUT MEDIA ATA_BUS HOST_BUS SYSTEM }" },
		{ "eh_err_mask", 0xffffffff,
		  "ffffffff{ DEV HSM TIMEOUT MEDIA ATA_BUS HOST_BUS SYSTEM INVALID OTHER NODEV_HINT NCQ }" },
		{ "qc_flags", 0x0, "0" },
		{ "qc_flags", 0x1, "1{ ACTIVE }" },
		{ "qc_flags", 0x2c, "2c{ IO CLEAR_EXCL }" },
		{ "qc_flags", 0x401, "401{ ACTIVE }" },
		{ "qc_flags", 0x10085, "10085{ ACTIVE RETRY FAILED }" },
		{ "qc_flags", 0x7f, "7f{ ACTIVE DMAMAP IO RESULT_TF CLEAR_EXCL QUIET }" },
		{ "qc_flags", 0xffffffff,
		  "ffffffff{ ACTIVE DMAMAP IO RESULT_TF CLEAR_EXCL QUIET RETRY FAILED SENSE_VALID EH_SCHEDULED }" },
		{ "tf_flags", 0x0, "0" },
		{ "tf_flags", 0x1, "1{ LBA48 }" },
		{ "tf_flags", 0x2c, "2c{ DEV WRITE FUA }" },
		{ "tf_flags", 0x401, "401{ LBA48 }" },
		{ "tf_flags", 0x10085, "10085{ LBA48 DEV }" },
		{ "tf_flags", 0x7f, "7f{ LBA48 ISADDR DEV WRITE LBA FUA POLL }" },
		{ "tf_flags", 0xffffffff, "ffffffff{ LBA48 ISADDR DEV WRITE LBA FUA POLL }" },
		{ "status", 0x0, "{ }" },
		{ "status", 0x1, "{ ERR }" },
		{ "status", 0x2c, "{ DF DRQ CORR }" },
		{ "status", 0x10085, "{ BUSY CORR ERR }" },
		{ "status", 0x7f, "{ DRDY DF DSC DRQ CORR SENSE ERR }" },
		{ "status", 0xffffffff, "{ BUSY DRDY DF DSC DRQ CORR SENSE ERR }" },
		{ "host_stat", 0x0, "{ }" },
		{ "host_stat", 0x1, "{ ACTIVE }" },
		{ "host_stat", 0x2c, "{ INTR }" },
		{ "host_stat", 0x10085, "{ INTR ACTIVE }" },
		{ "host_stat", 0x7f, "{ INTR ERR ACTIVE }" },
	};
	char argument[80];

	for (size_t i = 0; i < array_size(words); i++) {
		struct record record = { .len = FIXED };

		put(&record, 8, &words[i].word, 4);
		snprintf(argument, sizeof(argument), "libata_trace_parse_%s(p, REC->word)", words[i].function);
		CHECK_STR(print(argument, &record), words[i].text);
	}
}

TEST(helper_names_what_an_ata_command_carries)
{
	static const struct {
		uint8_t bytes[3];
		const char *text;
	} commands[] = {
		{ { 0x65, 0x0, 0x1 }, " READ_LOG_DMA_EXT" },
		{ { 0x65, 0x0, 0xa2 }, " ZAC_MGMT_IN" },
		{ { 0x64, 0x0, 0x2 }, " WRITE_LOG_DMA_EXT" },
		{ { 0x64, 0x9, 0x0 }, " DATASET_MANAGEMENT" },
		{ { 0x63, 0x5, 0x0 }, " SET_FEATURES" },
		{ { 0x63, 0x1, 0x0 }, "" },
		{ { 0x4a, 0x0, 0x0 }, " REPORT_ZONES" },
		{ { 0x9f, 0x4, 0x0 }, " RESET_WRITE_POINTER" },
		{ { 0x60, 0x0, 0x0 }, "" },
	};

	for (size_t i = 0; i < array_size(commands); i++) {
		struct record record = { .len = FIXED };

		put(&record, 16, commands[i].bytes, 3);
		CHECK_STR(print("libata_trace_parse_subcmd(p, REC->b[0], REC->b[1], REC->b[2])", &record),
			  commands[i].text);
	}
}

/* struct cper_mem_err_compact, packed */
static void put_memory_error(struct record *record, uint64_t valid)
{
	static const uint16_t places[] = { 1, 2, 3, 0x405, 5, 6, 7, 8 }, handles[] = { 9, 10, 11 };
	static const uint64_t ids[] = { 0x11, 0x22, 0x33 };

	put(record, 16, &valid, 8);
	put(record, 24, places, sizeof(places));
	put(record, 40, ids, sizeof(ids));
	put(record, 64, handles, sizeof(handles));
	record->bytes[70] = 0x43;
}

TEST(helper_tells_where_memory_failed)
{
	struct record record = { .len = FIXED };

	put_memory_error(&record, 0x3dfff8);
	CHECK_STR(print("cper_mem_err_unpack(p, &REC->b)", &record),
		  "node:1 card:2 module:3 rank:9 bank:1029 bank_group:4 bank_address:5 device:5 row:196614 column:7 "
		  "bit_position:8 requestor_id:0x0000000000000011 responder_id:0x0000000000000022 "
		  "target_id:0x0000000000000033 chip_id:2 ");
	put_memory_error(&record, 0x150);
	CHECK_STR(print("cper_mem_err_unpack(p, &REC->b)", &record), "card:2 bank:1029 row:6 ");
	CHECK_STR(print_of("cper_mem_err_unpack(p, &REC->b)", &record, true), "card: 2 bank: 1029 row: 6 ");
	/* A trace does not have the firmware's name of the DIMM. */
	put_memory_error(&record, 0x20010);
	CHECK_STR(print("cper_mem_err_unpack(p, &REC->b)", &record), "card:2 DIMM location: ? (DMI handle: 0x000b) ");
}

TEST(helper_names_kinds_of_errors_and_calls)
{
	struct record record = { .len = FIXED };

	put(&record, 16, "\1\3\20\60\13\54", 6);
	CHECK_STR(print("\"%s, %s, %s\", cper_severity_str(REC->b[0]), cper_mem_err_type_str(REC->b[1]), "
			"cper_mem_err_type_str(REC->b[2])",
			&record),
		  "fatal, multi-bit ECC, unknown");
	CHECK_STR(print("\"%u%s %u%s %u%s\", REC->b[0], xen_hypercall_name(REC->b[0]), REC->b[3], "
			"xen_hypercall_name(REC->b[3]), REC->b[4], xen_hypercall_name(REC->b[4])",
			&record),
		  "1(mmu_update) 48(mca) 11");
	CHECK_STR(print("\"%s %s %s\", str_on_off(REC->b[0]), str_yes_no(REC->b[8]), str_write_read(REC->b[8] == 0)",
			&record),
		  "on no write");
}

TEST(helper_shows_a_page_request)
{
	static const char argument[] =
		"decode_prq_descriptor(__get_str(str), 256, REC->w[0], REC->w[1], REC->w[2], REC->w[3])";
	static const uint64_t words[] = { 0x0013456712345278, 0x123456789abcdffd, 1, 2 },
			      plain[] = { 0x0000000100020000, 2, 1, 2 };
	struct record record = { .len = FIXED };

	put(&record, 16, words, sizeof(words));
	CHECK_STR(print(argument, &record),
		  "rid=0x1234 addr=0x123456789abcd r-x-l pasid=0x34567 index=0x1ff private=0x1/0x2\n");
	put(&record, 16, plain, sizeof(plain));
	CHECK_STR(print(argument, &record), "rid=0x2 addr=0x0 -w--- pasid=0x1 index=0x0");
}

TEST(helper_reads_what_every_record_begins_with)
{
	struct record record = { .len = FIXED };
	int32_t pid = 4711;

	put(&record, 4, &pid, 4);
	record.bytes[2] = 3;
	CHECK_STR(print("\"tid=%d flags=%u\", REC->ent.pid, REC->ent.flags", &record), "tid=4711 flags=3");
}

TEST(helper_escapes_what_a_stranger_named)
{
	static const char name[] = "/a b=c\n\"x\"\\'\033\200";
	struct record record = { .len = FIXED };

	put_dynamic(&record, 12, name, sizeof(name));
	CHECK_STR(print("__trace_print_untrusted_str(p, __get_str(str), __get_dynamic_array_len(str) - 1)", &record),
		  "/a\\040b\\075c\\n\\\"x\\\"\\\\\\047\\e\\200");
}

TEST(helper_names_the_rights_of_each_layer)
{
	static const uint32_t masks[] = { 5, 0, 2 };
	struct record record = { .len = FIXED };

	put_dynamic(&record, 80, masks, sizeof(masks));
	CHECK_STR(print("({ static const struct trace_print_flags __layer_names[] = { { (1ULL << 0), \"execute\" }, "
			"{ (1ULL << 1), \"write\" }, { (1ULL << 2), \"read\" } }; __trace_landlock_print_layers( p, "
			"__get_dynamic_array(masks), __get_dynamic_array_len(masks) / sizeof(access_mask_t), "
			"__layer_names, (sizeof(__layer_names) / sizeof((__layer_names)[0]) + 0)); })",
			&record),
		  "{execute|read,,write}");
}

/*
 * ktime_to_us(), a table without entries, and the parts that a disk without a name omits (drivers/nvme/host/trace.c).
 */
TEST(helper_knows_times_empty_tables_and_disks)
{
	static const int64_t times[] = { -1999, 2500000 };
	struct record record = { .len = FIXED };

	put(&record, 16, times, sizeof(times));
	CHECK_STR(print("\"%lld %lld %lld\", ktime_to_us(REC->w[0]), ktime_to_ms(REC->w[1]), ktime_to_ns(REC->w[1])",
			&record),
		  "-1 2 2500000");
	CHECK_STR(print("\"(%s)\", __print_symbolic(REC->word)", &record), "(0x0)");
	memcpy(record.bytes + 16, "nvme0n1", 8);
	CHECK_STR(print("\"%sqid\", nvme_trace_disk_name(p, REC->b)", &record), "disk=nvme0n1, qid");
	record.bytes[16] = 0;
	CHECK_STR(print("\"%sqid %s\", nvme_trace_disk_name(p, REC->b), nvmet_trace_ctrl_id(p, REC->word)", &record),
		  "qid _");
}
