// SPDX-License-Identifier: GPL-2.0-only
/* Commands of MMC, SD and SDIO cards by number: include/linux/mmc/mmc.h, sd.h and sdio.h. */
#include "include/weft/plugin.h"
#include "plugins/words.h"

enum { COMMAND, STOP };

static const char *const fields[] = { "cmd_opcode", "stop_opcode", NULL };
static const char *const facts[] = { "command", "stop", NULL };

/* Numbers that SD and MMC cards use for different commands have both names. */
static const struct word commands[] = {
	{ 0, "GO_IDLE_STATE" },
	{ 1, "SEND_OP_COND" },
	{ 2, "ALL_SEND_CID" },
	{ 3, "SET_RELATIVE_ADDR" },
	{ 4, "SET_DSR" },
	{ 5, "IO_SEND_OP_COND" },
	{ 6, "SWITCH" },
	{ 7, "SELECT_CARD" },
	{ 8, "SEND_EXT_CSD/SEND_IF_COND" },
	{ 9, "SEND_CSD" },
	{ 10, "SEND_CID" },
	{ 11, "READ_DAT_UNTIL_STOP/SWITCH_VOLTAGE" },
	{ 12, "STOP_TRANSMISSION" },
	{ 13, "SEND_STATUS" },
	{ 16, "SET_BLOCKLEN" },
	{ 17, "READ_SINGLE_BLOCK" },
	{ 18, "READ_MULTIPLE_BLOCK" },
	{ 19, "SEND_TUNING_BLOCK" },
	{ 21, "SEND_TUNING_BLOCK_HS200" },
	{ 23, "SET_BLOCK_COUNT" },
	{ 24, "WRITE_BLOCK" },
	{ 25, "WRITE_MULTIPLE_BLOCK" },
	{ 32, "ERASE_WR_BLK_START" },
	{ 33, "ERASE_WR_BLK_END" },
	{ 35, "ERASE_GROUP_START" },
	{ 36, "ERASE_GROUP_END" },
	{ 38, "ERASE" },
	{ 41, "SD_APP_OP_COND" },
	{ 42, "LOCK_UNLOCK" },
	{ 44, "QUE_TASK_PARAMS" },
	{ 45, "QUE_TASK_ADDR" },
	{ 46, "EXECUTE_READ_TASK" },
	{ 47, "EXECUTE_WRITE_TASK" },
	{ 48, "CMDQ_TASK_MGMT" },
	{ 51, "SD_APP_SEND_SCR" },
	{ 52, "IO_RW_DIRECT" },
	{ 53, "IO_RW_EXTENDED" },
	{ 55, "APP_CMD" },
	{ 56, "GEN_CMD" },
};

static void format_request(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	uint64_t stop = host->integer(record, STOP, 0);

	put_word(host, "command", WORDS(commands), host->integer(record, COMMAND, 0), output);
	if (stop)
		put_word(host, "stop", WORDS(commands), stop, output);
}

static const struct weft_handler handlers[] = {
	{ "mmc_request_*", fields, format_request, facts },
};

WEFT_PLUGIN("mmc", handlers);
