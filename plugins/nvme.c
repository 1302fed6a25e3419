// SPDX-License-Identifier: GPL-2.0-only
/*
 * The status of a completed command, as enum in include/linux/nvme.h of kernel 6.1 names it: bits 0 to 10, the type and
 * the code; above them how long to wait before a retry, MORE (the log has more) and DNR (do not retry).
 */
#include "include/weft/plugin.h"
#include "plugins/words.h"

enum { STATUS };

static const char *const fields[] = { "status", NULL };
static const char *const facts[] = { "result", "marks", NULL };

static const struct word codes[] = {
	{ 0x0, "SUCCESS" },
	{ 0x1, "INVALID_OPCODE" },
	{ 0x2, "INVALID_FIELD" },
	{ 0x3, "CMDID_CONFLICT" },
	{ 0x4, "DATA_XFER_ERROR" },
	{ 0x5, "POWER_LOSS" },
	{ 0x6, "INTERNAL" },
	{ 0x7, "ABORT_REQ" },
	{ 0x8, "ABORT_QUEUE" },
	{ 0x9, "FUSED_FAIL" },
	{ 0xa, "FUSED_MISSING" },
	{ 0xb, "INVALID_NS" },
	{ 0xc, "CMD_SEQ_ERROR" },
	{ 0xd, "SGL_INVALID_LAST" },
	{ 0xe, "SGL_INVALID_COUNT" },
	{ 0xf, "SGL_INVALID_DATA" },
	{ 0x10, "SGL_INVALID_METADATA" },
	{ 0x11, "SGL_INVALID_TYPE" },
	{ 0x12, "CMB_INVALID_USE" },
	{ 0x13, "PRP_INVALID_OFFSET" },
	{ 0x14, "ATOMIC_WU_EXCEEDED" },
	{ 0x15, "OP_DENIED" },
	{ 0x16, "SGL_INVALID_OFFSET" },
	{ 0x17, "RESERVED" },
	{ 0x18, "HOST_ID_INCONSIST" },
	{ 0x19, "KA_TIMEOUT_EXPIRED" },
	{ 0x1a, "KA_TIMEOUT_INVALID" },
	{ 0x1b, "ABORTED_PREEMPT_ABORT" },
	{ 0x1c, "SANITIZE_FAILED" },
	{ 0x1d, "SANITIZE_IN_PROGRESS" },
	{ 0x1e, "SGL_INVALID_GRANULARITY" },
	{ 0x1f, "CMD_NOT_SUP_CMB_QUEUE" },
	{ 0x20, "NS_WRITE_PROTECTED" },
	{ 0x21, "CMD_INTERRUPTED" },
	{ 0x22, "TRANSIENT_TR_ERR" },
	{ 0x24, "ADMIN_COMMAND_MEDIA_NOT_READY" },
	{ 0x2c, "INVALID_IO_CMD_SET" },
	{ 0x80, "LBA_RANGE" },
	{ 0x81, "CAP_EXCEEDED" },
	{ 0x82, "NS_NOT_READY" },
	{ 0x83, "RESERVATION_CONFLICT" },
	{ 0x84, "FORMAT_IN_PROGRESS" },
	{ 0x100, "CQ_INVALID" },
	{ 0x101, "QID_INVALID" },
	{ 0x102, "QUEUE_SIZE" },
	{ 0x103, "ABORT_LIMIT" },
	{ 0x104, "ABORT_MISSING" },
	{ 0x105, "ASYNC_LIMIT" },
	{ 0x106, "FIRMWARE_SLOT" },
	{ 0x107, "FIRMWARE_IMAGE" },
	{ 0x108, "INVALID_VECTOR" },
	{ 0x109, "INVALID_LOG_PAGE" },
	{ 0x10a, "INVALID_FORMAT" },
	{ 0x10b, "FW_NEEDS_CONV_RESET" },
	{ 0x10c, "INVALID_QUEUE" },
	{ 0x10d, "FEATURE_NOT_SAVEABLE" },
	{ 0x10e, "FEATURE_NOT_CHANGEABLE" },
	{ 0x10f, "FEATURE_NOT_PER_NS" },
	{ 0x110, "FW_NEEDS_SUBSYS_RESET" },
	{ 0x111, "FW_NEEDS_RESET" },
	{ 0x112, "FW_NEEDS_MAX_TIME" },
	{ 0x113, "FW_ACTIVATE_PROHIBITED" },
	{ 0x114, "OVERLAPPING_RANGE" },
	{ 0x115, "NS_INSUFFICIENT_CAP" },
	{ 0x116, "NS_ID_UNAVAILABLE" },
	{ 0x118, "NS_ALREADY_ATTACHED" },
	{ 0x119, "NS_IS_PRIVATE" },
	{ 0x11a, "NS_NOT_ATTACHED" },
	{ 0x11b, "THIN_PROV_NOT_SUPP" },
	{ 0x11c, "CTRL_LIST_INVALID" },
	{ 0x11d, "SELT_TEST_IN_PROGRESS" },
	{ 0x11e, "BP_WRITE_PROHIBITED" },
	{ 0x11f, "CTRL_ID_INVALID" },
	{ 0x120, "SEC_CTRL_STATE_INVALID" },
	{ 0x121, "CTRL_RES_NUM_INVALID" },
	{ 0x122, "RES_ID_INVALID" },
	{ 0x123, "PMR_SAN_PROHIBITED" },
	{ 0x124, "ANA_GROUP_ID_INVALID" },
	{ 0x125, "ANA_ATTACH_FAILED" },
	{ 0x180, "BAD_ATTRIBUTES" },
	{ 0x181, "INVALID_PI" },
	{ 0x182, "READ_ONLY" },
	{ 0x183, "ONCS_NOT_SUPPORTED" },
	{ 0x184, "CONNECT_INVALID_HOST" },
	{ 0x190, "DISCOVERY_RESTART" },
	{ 0x191, "AUTH_REQUIRED" },
	{ 0x1b8, "ZONE_BOUNDARY_ERROR" },
	{ 0x1b9, "ZONE_FULL" },
	{ 0x1ba, "ZONE_READ_ONLY" },
	{ 0x1bb, "ZONE_OFFLINE" },
	{ 0x1bc, "ZONE_INVALID_WRITE" },
	{ 0x1bd, "ZONE_TOO_MANY_ACTIVE" },
	{ 0x1be, "ZONE_TOO_MANY_OPEN" },
	{ 0x1bf, "ZONE_INVALID_TRANSITION" },
	{ 0x280, "WRITE_FAULT" },
	{ 0x281, "READ_ERROR" },
	{ 0x282, "GUARD_CHECK" },
	{ 0x283, "APPTAG_CHECK" },
	{ 0x284, "REFTAG_CHECK" },
	{ 0x285, "COMPARE_FAILED" },
	{ 0x286, "ACCESS_DENIED" },
	{ 0x287, "UNWRITTEN_BLOCK" },
	{ 0x300, "INTERNAL_PATH_ERROR" },
	{ 0x301, "ANA_PERSISTENT_LOSS" },
	{ 0x302, "ANA_INACCESSIBLE" },
	{ 0x303, "ANA_TRANSITION" },
	{ 0x360, "CTRL_PATH_ERROR" },
	{ 0x370, "HOST_PATH_ERROR" },
	{ 0x371, "HOST_ABORTED_CMD" },
};
static const struct word marks[] = { { 0x2000, "MORE" }, { 0x4000, "DNR" } };

static void format_complete(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	uint64_t status = host->integer(record, STATUS, 0);

	put_word(host, "result", WORDS(codes), status & 0x7ff, output);
	put_flags(host, "marks", WORDS(marks), status & 0x6000, output);
}

static const struct weft_handler handlers[] = {
	{ "nvme_complete_rq", fields, format_complete, facts },
};

WEFT_PLUGIN("nvme", handlers);
