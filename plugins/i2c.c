// SPDX-License-Identifier: GPL-2.0-only
/* Flags of a transfer: include/uapi/linux/i2c.h; and the error with which transfers ended. */
#include "include/weft/plugin.h"
#include "plugins/errors.h"
#include "plugins/words.h"

enum { FLAGS, RET = 0 };

static const char *const fields[] = { "flags", NULL };
static const char *const facts[] = { "flags", NULL };
static const char *const result_fields[] = { "ret", NULL };
static const char *const result_facts[] = { "error", NULL };

static void format_transfer(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	static const struct word flags[] = {
		{ 0x0001, "I2C_M_RD" },           { 0x0010, "I2C_M_TEN" },       { 0x0200, "I2C_M_DMA_SAFE" },
		{ 0x0400, "I2C_M_RECV_LEN" },     { 0x0800, "I2C_M_NO_RD_ACK" }, { 0x1000, "I2C_M_IGNORE_NAK" },
		{ 0x2000, "I2C_M_REV_DIR_ADDR" }, { 0x4000, "I2C_M_NOSTART" },   { 0x8000, "I2C_M_STOP" },
	};

	put_flags(host, "flags", WORDS(flags), host->integer(record, FLAGS, 0), output);
}

static void format_result(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_error(host, record, (int64_t)host->integer(record, RET, 0), output);
}

static const struct weft_handler handlers[] = {
	{ "i2c_result", result_fields, format_result, result_facts },
	{ "i2c_*", fields, format_transfer, facts },
};

WEFT_PLUGIN("i2c", handlers);
