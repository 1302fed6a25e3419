// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/schema/make_internal.h"
#include "lib/meaning/schema/token_internal.h"

/*
 * Enumerators that print fmts of modules use by name, so that neither the format nor the type information of vmlinux
 * has their values. Each group names its header. All values are the same from 5.10, or the kernel that added them, to
 * 7.3.
 */
static const struct {
	const char *name;
	uint32_t value;
} enumerators[] = {
	/* linux/ata.h: commands of the ATA standard */
	{ "ATA_CMD_NOP", 0x0 },
	{ "ATA_CMD_CFA_REQ_EXT_ERR", 0x3 },
	{ "ATA_CMD_DSM", 0x6 },
	{ "ATA_CMD_DEV_RESET", 0x8 },
	{ "ATA_CMD_REQ_SENSE_DATA", 0xb },
	{ "ATA_CMD_RESTORE", 0x10 },
	{ "ATA_CMD_PIO_READ", 0x20 },
	{ "ATA_CMD_READ_LONG", 0x22 },
	{ "ATA_CMD_READ_LONG_ONCE", 0x23 },
	{ "ATA_CMD_PIO_READ_EXT", 0x24 },
	{ "ATA_CMD_READ_EXT", 0x25 },
	{ "ATA_CMD_READ_QUEUED", 0x26 },
	{ "ATA_CMD_READ_NATIVE_MAX_EXT", 0x27 },
	{ "ATA_CMD_READ_MULTI_EXT", 0x29 },
	{ "ATA_CMD_READ_STREAM_DMA_EXT", 0x2a },
	{ "ATA_CMD_READ_STREAM_EXT", 0x2b },
	{ "ATA_CMD_READ_LOG_EXT", 0x2f },
	{ "ATA_CMD_PIO_WRITE", 0x30 },
	{ "ATA_CMD_WRITE_LONG", 0x32 },
	{ "ATA_CMD_WRITE_LONG_ONCE", 0x33 },
	{ "ATA_CMD_PIO_WRITE_EXT", 0x34 },
	{ "ATA_CMD_WRITE_EXT", 0x35 },
	{ "ATA_CMD_WRITE_QUEUED", 0x36 },
	{ "ATA_CMD_SET_MAX_EXT", 0x37 },
	{ "ATA_CMD_CFA_WRITE_NE", 0x38 },
	{ "ATA_CMD_WRITE_MULTI_EXT", 0x39 },
	{ "ATA_CMD_WRITE_STREAM_DMA_EXT", 0x3a },
	{ "ATA_CMD_WRITE_STREAM_EXT", 0x3b },
	{ "ATA_CMD_WRITE_FUA_EXT", 0x3d },
	{ "ATA_CMD_WRITE_QUEUED_FUA_EXT", 0x3e },
	{ "ATA_CMD_WRITE_LOG_EXT", 0x3f },
	{ "ATA_CMD_VERIFY", 0x40 },
	{ "ATA_CMD_VERIFY_EXT", 0x42 },
	{ "ATA_CMD_WRITE_UNCORR_EXT", 0x45 },
	{ "ATA_CMD_READ_LOG_DMA_EXT", 0x47 },
	{ "ATA_CMD_ZAC_MGMT_IN", 0x4a },
	{ "ATA_CMD_CONFIG_STREAM", 0x51 },
	{ "ATA_CMD_WRITE_LOG_DMA_EXT", 0x57 },
	{ "ATA_CMD_TRUSTED_NONDATA", 0x5b },
	{ "ATA_CMD_TRUSTED_RCV", 0x5c },
	{ "ATA_CMD_TRUSTED_RCV_DMA", 0x5d },
	{ "ATA_CMD_TRUSTED_SND", 0x5e },
	{ "ATA_CMD_TRUSTED_SND_DMA", 0x5f },
	{ "ATA_CMD_FPDMA_READ", 0x60 },
	{ "ATA_CMD_FPDMA_WRITE", 0x61 },
	{ "ATA_CMD_NCQ_NON_DATA", 0x63 },
	{ "ATA_CMD_FPDMA_SEND", 0x64 },
	{ "ATA_CMD_FPDMA_RECV", 0x65 },
	{ "ATA_CMD_CFA_TRANS_SECT", 0x87 },
	{ "ATA_CMD_EDD", 0x90 },
	{ "ATA_CMD_INIT_DEV_PARAMS", 0x91 },
	{ "ATA_CMD_DOWNLOAD_MICRO", 0x92 },
	{ "ATA_CMD_DOWNLOAD_MICRO_DMA", 0x93 },
	{ "ATA_CMD_ZAC_MGMT_OUT", 0x9f },
	{ "ATA_CMD_PACKET", 0xa0 },
	{ "ATA_CMD_ID_ATAPI", 0xa1 },
	{ "ATA_CMD_SERVICE", 0xa2 },
	{ "ATA_CMD_SMART", 0xb0 },
	{ "ATA_CMD_CONF_OVERLAY", 0xb1 },
	{ "ATA_CMD_SANITIZE_DEVICE", 0xb4 },
	{ "ATA_CMD_CFA_ERASE", 0xc0 },
	{ "ATA_CMD_READ_MULTI", 0xc4 },
	{ "ATA_CMD_WRITE_MULTI", 0xc5 },
	{ "ATA_CMD_SET_MULTI", 0xc6 },
	{ "ATA_CMD_READ", 0xc8 },
	{ "ATA_CMD_WRITE", 0xca },
	{ "ATA_CMD_CFA_WRITE_MULT_NE", 0xcd },
	{ "ATA_CMD_WRITE_MULTI_FUA_EXT", 0xce },
	{ "ATA_CMD_CHK_MED_CRD_TYP", 0xd1 },
	{ "ATA_CMD_MEDIA_LOCK", 0xde },
	{ "ATA_CMD_MEDIA_UNLOCK", 0xdf },
	{ "ATA_CMD_STANDBYNOW1", 0xe0 },
	{ "ATA_CMD_IDLEIMMEDIATE", 0xe1 },
	{ "ATA_CMD_STANDBY", 0xe2 },
	{ "ATA_CMD_IDLE", 0xe3 },
	{ "ATA_CMD_PMP_READ", 0xe4 },
	{ "ATA_CMD_CHK_POWER", 0xe5 },
	{ "ATA_CMD_SLEEP", 0xe6 },
	{ "ATA_CMD_FLUSH", 0xe7 },
	{ "ATA_CMD_PMP_WRITE", 0xe8 },
	{ "ATA_CMD_PMP_READ_DMA", 0xe9 },
	{ "ATA_CMD_FLUSH_EXT", 0xea },
	{ "ATA_CMD_PMP_WRITE_DMA", 0xeb },
	{ "ATA_CMD_ID_ATA", 0xec },
	{ "ATA_CMD_SET_FEATURES", 0xef },
	{ "ATA_CMD_SEC_SET_PASS", 0xf1 },
	{ "ATA_CMD_SEC_UNLOCK", 0xf2 },
	{ "ATA_CMD_SEC_ERASE_PREP", 0xf3 },
	{ "ATA_CMD_SEC_ERASE_UNIT", 0xf4 },
	{ "ATA_CMD_SEC_FREEZE_LOCK", 0xf5 },
	{ "ATA_CMD_SEC_DISABLE_PASS", 0xf6 },
	{ "ATA_CMD_READ_NATIVE_MAX", 0xf8 },
	{ "ATA_CMD_SET_MAX", 0xf9 },
	/* linux/ata.h: enum ata_prot_flags */
	{ "ATA_PROT_NODATA", 0 },
	{ "ATA_PROT_PIO", 1 },
	{ "ATA_PROT_DMA", 2 },
	{ "ATA_PROT_NCQ_NODATA", 4 },
	{ "ATA_PROT_NCQ", 6 },
	{ "ATAPI_PROT_NODATA", 8 },
	{ "ATAPI_PROT_PIO", 9 },
	{ "ATAPI_PROT_DMA", 10 },
	{ "ATA_PROT_UNKNOWN", 255 },
	/* linux/libata.h: classes of devices */
	{ "ATA_DEV_UNKNOWN", 0 },
	{ "ATA_DEV_ATA", 1 },
	{ "ATA_DEV_ATA_UNSUP", 2 },
	{ "ATA_DEV_ATAPI", 3 },
	{ "ATA_DEV_ATAPI_UNSUP", 4 },
	{ "ATA_DEV_PMP", 5 },
	{ "ATA_DEV_PMP_UNSUP", 6 },
	{ "ATA_DEV_SEMB", 7 },
	{ "ATA_DEV_SEMB_UNSUP", 8 },
	{ "ATA_DEV_ZAC", 9 },
	{ "ATA_DEV_ZAC_UNSUP", 10 },
	{ "ATA_DEV_NONE", 11 },
	/* linux/libata.h: enum hsm_task_states */
	{ "HSM_ST_IDLE", 0 },
	{ "HSM_ST_FIRST", 1 },
	{ "HSM_ST", 2 },
	{ "HSM_ST_LAST", 3 },
	{ "HSM_ST_ERR", 4 },
	/* scsi/scsi_proto.h: enum sam_status */
	{ "SAM_STAT_GOOD", 0x0 },
	{ "SAM_STAT_CHECK_CONDITION", 0x2 },
	{ "SAM_STAT_CONDITION_MET", 0x4 },
	{ "SAM_STAT_BUSY", 0x8 },
	{ "SAM_STAT_INTERMEDIATE", 0x10 },
	{ "SAM_STAT_INTERMEDIATE_CONDITION_MET", 0x14 },
	{ "SAM_STAT_RESERVATION_CONFLICT", 0x18 },
	{ "SAM_STAT_COMMAND_TERMINATED", 0x22 },
	{ "SAM_STAT_TASK_SET_FULL", 0x28 },
	{ "SAM_STAT_ACA_ACTIVE", 0x30 },
	{ "SAM_STAT_TASK_ABORTED", 0x40 },
	/* scsi/scsi_status.h: enum scsi_host_status */
	{ "DID_OK", 0x0 },
	{ "DID_NO_CONNECT", 0x1 },
	{ "DID_BUS_BUSY", 0x2 },
	{ "DID_TIME_OUT", 0x3 },
	{ "DID_BAD_TARGET", 0x4 },
	{ "DID_ABORT", 0x5 },
	{ "DID_PARITY", 0x6 },
	{ "DID_ERROR", 0x7 },
	{ "DID_RESET", 0x8 },
	{ "DID_BAD_INTR", 0x9 },
	{ "DID_PASSTHROUGH", 0xa },
	{ "DID_SOFT_ERROR", 0xb },
	{ "DID_IMM_RETRY", 0xc },
	{ "DID_REQUEUE", 0xd },
	{ "DID_TRANSPORT_DISRUPTED", 0xe },
	{ "DID_TRANSPORT_FAILFAST", 0xf },
	/* scsi/scsi.h */
	{ "SCSI_MLQUEUE_HOST_BUSY", 0x1055 },
	{ "SCSI_MLQUEUE_DEVICE_BUSY", 0x1056 },
	{ "SCSI_MLQUEUE_EH_RETRY", 0x1057 },
	{ "SCSI_MLQUEUE_TARGET_BUSY", 0x1058 },
	/* scsi/scsi_cmnd.h: enum scsi_prot_operations */
	{ "SCSI_PROT_NORMAL", 0 },
	{ "SCSI_PROT_READ_INSERT", 1 },
	{ "SCSI_PROT_WRITE_STRIP", 2 },
	{ "SCSI_PROT_READ_STRIP", 3 },
	{ "SCSI_PROT_WRITE_INSERT", 4 },
	{ "SCSI_PROT_READ_PASS", 5 },
	{ "SCSI_PROT_WRITE_PASS", 6 },
	/* linux/fs.h: enum inode_state_flags_enum of 7.0 and later; before, formats have the numbers */
	{ "I_NEW", 0x1 },
	{ "I_SYNC", 0x2 },
	{ "I_LRU_ISOLATING", 0x4 },
	{ "I_DIRTY_SYNC", 0x10 },
	{ "I_DIRTY_DATASYNC", 0x20 },
	{ "I_DIRTY_PAGES", 0x40 },
	{ "I_WILL_FREE", 0x80 },
	{ "I_FREEING", 0x100 },
	{ "I_CLEAR", 0x200 },
	{ "I_REFERENCED", 0x400 },
	{ "I_LINKABLE", 0x800 },
	{ "I_DIRTY_TIME", 0x1000 },
	{ "I_WB_SWITCH", 0x2000 },
	{ "I_OVL_INUSE", 0x4000 },
	{ "I_CREATING", 0x8000 },
	{ "I_DONTCACHE", 0x10000 },
	{ "I_SYNC_QUEUED", 0x20000 },
	{ "I_PINNING_NETFS_WB", 0x40000 },
	{ "I_METADATA_WRITEBACK", 0x80000 },
	/* drivers/cxl/cxlmem.h: enum cxl_event_log_type */
	{ "CXL_EVENT_TYPE_INFO", 0 },
	{ "CXL_EVENT_TYPE_WARN", 1 },
	{ "CXL_EVENT_TYPE_FAIL", 2 },
	{ "CXL_EVENT_TYPE_FATAL", 3 },
	/* drivers/cxl/core/core.h: enum cxl_poison_trace_type */
	{ "CXL_POISON_TRACE_LIST", 0 },
	{ "CXL_POISON_TRACE_INJECT", 1 },
	{ "CXL_POISON_TRACE_CLEAR", 2 },
	/* drivers/iommu/intel/iommu.h: enum cache_tag_type */
	{ "CACHE_TAG_IOTLB", 0 },
	{ "CACHE_TAG_DEVTLB", 1 },
	{ "CACHE_TAG_NESTING_IOTLB", 2 },
	{ "CACHE_TAG_NESTING_DEVTLB", 3 },
	/* linux/swiotlb.h: enum swiotlb_force, which 6.0 removed */
	{ "SWIOTLB_NORMAL", 0 },
	{ "SWIOTLB_FORCE", 1 },
	{ "SWIOTLB_NO_FORCE", 2 },
	/* trace/events/fscache.h, before 5.17 */
	{ "fscache_page_op_alloc_one", 0 },
	{ "fscache_page_op_attr_changed", 1 },
	{ "fscache_page_op_check_consistency", 2 },
	{ "fscache_page_op_invalidate", 3 },
	{ "fscache_page_op_retr_multi", 4 },
	{ "fscache_page_op_retr_one", 5 },
	{ "fscache_page_op_write_one", 6 },
	{ "fscache_page_cached", 0 },
	{ "fscache_page_inval", 1 },
	{ "fscache_page_maybe_release", 2 },
	{ "fscache_page_radix_clear_store", 3 },
	{ "fscache_page_radix_delete", 4 },
	{ "fscache_page_radix_insert", 5 },
	{ "fscache_page_radix_pend2store", 6 },
	{ "fscache_page_radix_set_pend", 7 },
	{ "fscache_page_uncache", 8 },
	{ "fscache_page_write", 9 },
	{ "fscache_page_write_end", 10 },
	{ "fscache_page_write_end_pend", 11 },
	{ "fscache_page_write_end_noc", 12 },
	{ "fscache_page_write_wait", 13 },
	{ "fscache_op_cancel", 0 },
	{ "fscache_op_cancel_all", 1 },
	{ "fscache_op_cancelled", 2 },
	{ "fscache_op_completed", 3 },
	{ "fscache_op_enqueue_async", 4 },
	{ "fscache_op_enqueue_mythread", 5 },
	{ "fscache_op_gc", 6 },
	{ "fscache_op_init", 7 },
	{ "fscache_op_put", 8 },
	{ "fscache_op_run", 9 },
	{ "fscache_op_signal", 10 },
	{ "fscache_op_submit", 11 },
	{ "fscache_op_submit_ex", 12 },
	{ "fscache_op_work", 13 },
	/* trace/events/fscache.h, since 5.17 */
	{ "fscache_active_use", 0 },
	{ "fscache_active_use_modify", 1 },
	{ "fscache_active_unuse", 2 },
};

/* The value of a kernel enumerator that formats use by name. False when the name is unknown. */
static bool enumerator_find(const struct token *name, uint32_t *ret)
{
	for (size_t i = 0; i < array_size(enumerators); i++) {
		if (!token_named(name, enumerators[i].name))
			continue;
		*ret = enumerators[i].value;
		return true;
	}
	return false;
}

struct known_name {
	const char *name;
	uint64_t value;
};

/*
 * Names that the kernel's compiler resolved and that its print fmt shows as names (no TRACE_DEFINE_ENUM). Only those
 * whose value has been the same since 5.4; each line names the header.
 */
static const struct known_name known_names[] = {
	{ "NULL", 0 },
	{ "false", 0 },
	{ "true", 1 },
	/* linux/interrupt.h */
	{ "HI_SOFTIRQ", 0 },
	{ "TIMER_SOFTIRQ", 1 },
	{ "NET_TX_SOFTIRQ", 2 },
	{ "NET_RX_SOFTIRQ", 3 },
	{ "BLOCK_SOFTIRQ", 4 },
	{ "IRQ_POLL_SOFTIRQ", 5 },
	{ "TASKLET_SOFTIRQ", 6 },
	{ "SCHED_SOFTIRQ", 7 },
	{ "HRTIMER_SOFTIRQ", 8 },
	{ "RCU_SOFTIRQ", 9 },
	/* uapi/linux/ioprio.h */
	{ "IOPRIO_CLASS_NONE", 0 },
	{ "IOPRIO_CLASS_RT", 1 },
	{ "IOPRIO_CLASS_BE", 2 },
	{ "IOPRIO_CLASS_IDLE", 3 },
	{ "IOPRIO_CLASS_INVALID", 7 },
	/* net/tcp_states.h */
	{ "TCP_ESTABLISHED", 1 },
	{ "TCP_SYN_SENT", 2 },
	{ "TCP_SYN_RECV", 3 },
	{ "TCP_FIN_WAIT1", 4 },
	{ "TCP_FIN_WAIT2", 5 },
	{ "TCP_TIME_WAIT", 6 },
	{ "TCP_CLOSE", 7 },
	{ "TCP_CLOSE_WAIT", 8 },
	{ "TCP_LAST_ACK", 9 },
	{ "TCP_LISTEN", 10 },
	{ "TCP_CLOSING", 11 },
	{ "TCP_NEW_SYN_RECV", 12 },
	/* linux/hrtimer.h */
	{ "HRTIMER_MODE_ABS", 0 },
	{ "HRTIMER_MODE_REL", 1 },
	{ "HRTIMER_MODE_ABS_PINNED", 2 },
	{ "HRTIMER_MODE_REL_PINNED", 3 },
	{ "HRTIMER_MODE_ABS_SOFT", 4 },
	{ "HRTIMER_MODE_REL_SOFT", 5 },
	{ "HRTIMER_MODE_ABS_PINNED_SOFT", 6 },
	{ "HRTIMER_MODE_REL_PINNED_SOFT", 7 },
	{ "HRTIMER_MODE_ABS_HARD", 8 },
	{ "HRTIMER_MODE_REL_HARD", 9 },
	{ "HRTIMER_MODE_ABS_PINNED_HARD", 10 },
	{ "HRTIMER_MODE_REL_PINNED_HARD", 11 },
	/* linux/pm_qos.h */
	{ "PM_QOS_ADD_REQ", 0 },
	{ "PM_QOS_UPDATE_REQ", 1 },
	{ "PM_QOS_REMOVE_REQ", 2 },
	{ "DEV_PM_QOS_RESUME_LATENCY", 1 },
	{ "DEV_PM_QOS_FLAGS", 5 },
	/* linux/mm_types.h: enum vm_fault_reason and enum fault_flag */
	{ "VM_FAULT_OOM", 0x1 },
	{ "VM_FAULT_SIGBUS", 0x2 },
	{ "VM_FAULT_MAJOR", 0x4 },
	{ "VM_FAULT_WRITE", 0x8 },
	{ "VM_FAULT_HWPOISON", 0x10 },
	{ "VM_FAULT_HWPOISON_LARGE", 0x20 },
	{ "VM_FAULT_SIGSEGV", 0x40 },
	{ "VM_FAULT_NOPAGE", 0x100 },
	{ "VM_FAULT_LOCKED", 0x200 },
	{ "VM_FAULT_RETRY", 0x400 },
	{ "VM_FAULT_FALLBACK", 0x800 },
	{ "VM_FAULT_DONE_COW", 0x1000 },
	{ "VM_FAULT_NEEDDSYNC", 0x2000 },
	{ "VM_FAULT_COMPLETED", 0x4000 },
	{ "FAULT_FLAG_WRITE", 0x1 },
	{ "FAULT_FLAG_MKWRITE", 0x2 },
	{ "FAULT_FLAG_ALLOW_RETRY", 0x4 },
	{ "FAULT_FLAG_RETRY_NOWAIT", 0x8 },
	{ "FAULT_FLAG_KILLABLE", 0x10 },
	{ "FAULT_FLAG_TRIED", 0x20 },
	{ "FAULT_FLAG_USER", 0x40 },
	{ "FAULT_FLAG_REMOTE", 0x80 },
	{ "FAULT_FLAG_INSTRUCTION", 0x100 },
	{ "FAULT_FLAG_INTERRUPTIBLE", 0x200 },
	{ "FAULT_FLAG_VMA_LOCK", 0x1000 },
	/* linux/mmzone.h: enum vmscan_throttle_state */
	{ "VMSCAN_THROTTLE_WRITEBACK", 0 },
	{ "VMSCAN_THROTTLE_ISOLATED", 1 },
	{ "VMSCAN_THROTTLE_NOPROGRESS", 2 },
	{ "VMSCAN_THROTTLE_CONGESTED", 3 },
	/* vdso/clocksource.h */
	{ "VDSO_CLOCKMODE_NONE", 0 },
	{ "VDSO_CLOCKMODE_TSC", 1 },
	/* linux/nfs4.h, uapi/linux/in.h, linux/writeback.h, uapi/linux/nl80211.h */
	{ "NFS4_VERIFIER_SIZE", 8 },
	{ "IPPROTO_UDP", 17 },
	{ "WB_SYNC_ALL", 1 },
	{ "NL80211_BAND_2GHZ", 0 },
	/*
	 * trace/trace_events.h: the variable of the function around the print fmt, which then holds TRACE_TYPE_HANDLED
	 */
	{ "ret", 1 },
	/* linux/mm.h of 7.0 and later; VM_SHARED has always been this bit */
	{ "VMA_SHARED_BIT", 3 },
	/* fs/btrfs/delayed-ref.h */
	{ "BTRFS_ADD_DELAYED_REF", 1 },
	{ "BTRFS_DROP_DELAYED_REF", 2 },
	{ "BTRFS_ADD_DELAYED_EXTENT", 3 },
	/* ext4/extents_status.h, before TRACE_DEFINE_ENUM() gave the values to the format */
	{ "ES_WRITTEN_B", 0 },
	{ "ES_UNWRITTEN_B", 1 },
	{ "ES_DELAYED_B", 2 },
	{ "ES_HOLE_B", 3 },
	{ "ES_REFERENCED_B", 4 },
	{ "BTRFS_UPDATE_DELAYED_HEAD", 4 },
	/* trace/events/xen.h and asm/paravirt_types.h */
	{ "XEN_MC_FL_NONE", 0 },
	{ "XEN_MC_FL_BATCH", 1 },
	{ "XEN_MC_FL_ARGS", 2 },
	{ "XEN_MC_FL_CALLBACK", 3 },
	{ "XEN_MC_XE_OK", 0 },
	{ "XEN_MC_XE_BAD_OP", 1 },
	{ "XEN_MC_XE_NO_SPACE", 2 },
	{ "PARAVIRT_LAZY_NONE", 0 },
	{ "PARAVIRT_LAZY_MMU", 1 },
	{ "PARAVIRT_LAZY_CPU", 2 },
	/* linux/platform_data/cros_ec_commands.h */
	{ "EC_RES_SUCCESS", 0 },
	{ "EC_RES_INVALID_COMMAND", 1 },
	{ "EC_RES_ERROR", 2 },
	{ "EC_RES_INVALID_PARAM", 3 },
	{ "EC_RES_ACCESS_DENIED", 4 },
	{ "EC_RES_INVALID_RESPONSE", 5 },
	{ "EC_RES_INVALID_VERSION", 6 },
	{ "EC_RES_INVALID_CHECKSUM", 7 },
	{ "EC_RES_IN_PROGRESS", 8 },
	{ "EC_RES_UNAVAILABLE", 9 },
	{ "EC_RES_TIMEOUT", 10 },
	{ "EC_RES_OVERFLOW", 11 },
	{ "EC_RES_INVALID_HEADER", 12 },
	{ "EC_RES_REQUEST_TRUNCATED", 13 },
	{ "EC_RES_RESPONSE_TOO_BIG", 14 },
	{ "EC_RES_BUS_ERROR", 15 },
	{ "EC_RES_BUSY", 16 },
	{ "EC_RES_INVALID_HEADER_VERSION", 17 },
	{ "EC_RES_INVALID_HEADER_CRC", 18 },
	{ "EC_RES_INVALID_DATA_CRC", 19 },
	{ "EC_RES_DUP_UNAVAILABLE", 20 },
};

/* Symbols set by the linker: they are looked up when the program runs. */
static const char *const addresses[] = { "_stext", "_text", "_etext" };

static const struct expr *parse_address(struct expr_parser *parser, const struct token *name)
{
	struct expr *expr;

	for (size_t i = 0; i < array_size(addresses); i++) {
		if (!token_named(name, addresses[i]))
			continue;
		expr = make_node(parser, EXPR_SYMBOL_ADDRESS, (struct ctype){ .size = 1, .stars = 1 });
		if (expr)
			expr->text = addresses[i];
		return expr;
	}
	return NULL;
}

/*
 * Kernel variables that hold the address of the array of struct page, by machine: no file has their values, unless it
 * comes from a dump. They are used for %p only, so while pointers are hashed any address does, except those that stand
 * for errors.
 */
static bool parse_page_base(struct expr_parser *parser, const struct token *name, const struct expr **ret)
{
	static const char *const arrays[] = { "vmemmap", "mem_map" };
	static const char *const numbers[] = { "vmemmap_base", "memstart_addr", "kernel_map", "__pv_phys_pfn_offset",
					       "__pv_phys_offset" };
	uint64_t start = parser->abi->page_array ?: parser->abi->long_size == 8 ? 0xffffea0000000000 : 0xc0000000;
	bool known = false;

	for (size_t i = 0; i < array_size(arrays); i++)
		if (token_named(name, arrays[i]))
			known = (*ret = make_cast(parser, make_const(parser, start, parser->abi->long_size, false),
						  (struct ctype){ .size = 0, .stars = 1 }));
	for (size_t i = 0; i < array_size(numbers) && !known; i++)
		if (token_named(name, numbers[i]))
			known = (*ret = make_const(parser, i ? 0 : start, parser->abi->long_size, false));
	/* Its members are also unknown. */
	if (known && tokens_take(parser->tokens, '.'))
		tokens_next(parser->tokens);
	parser->unknown_address = parser->unknown_address || (known && !parser->abi->page_array);
	return known;
}

const struct expr *parse_known_name(struct expr_parser *parser, const struct token *name)
{
	const struct expr *address = parse_address(parser, name), *base;
	int len = (int)(name->len < 60 ? name->len : 60);
	uint64_t value;
	uint32_t known;

	if (address)
		return address;
	for (size_t i = 0; i < array_size(known_names); i++)
		if (token_named(name, known_names[i].name))
			return make_const(parser, known_names[i].value, 4, true);
	if (parse_page_base(parser, name, &base))
		return base;
	if (parser->abi->enumerator && parser->abi->enumerator(parser->abi->enumerators, name->text, name->len, &value))
		return make_const(parser, value, value <= INT32_MAX || value >= (uint64_t)INT32_MIN ? 4 : 8, true);
	if (enumerator_find(name, &known))
		return make_const(parser, known, 4, true);
	/* The time of printing, and a variable of ppc64: no trace has them. */
	if (token_named(name, "jiffies") || token_named(name, "pageblock_order")) {
		parser->unknowable = true;
		return make_const(parser, 0, parser->abi->long_size, false);
	}
	snprintf(parser->unknown, sizeof(parser->unknown), "%.*s", len, name->text);
	return make_fail(parser, "the value of '%s' is unknown", parser->unknown);
}
