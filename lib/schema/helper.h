/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SCHEMA_HELPER_H
#define WEFT_SCHEMA_HELPER_H

#include "lib/schema/expr.h"

struct token;

/*
 * Functions of the kernel that print fmts call and that make a text of what the record holds. `takes` has a letter for each argument:
 * p the kernel's trace_seq, which is no value; n a number; m a place in the record.
 * text() reads expr->args, in which the trace_seq is left out.
 */
struct helper {
	const char *name;
	const char *takes;
	void (*text)(const struct expr *expr, const struct run *run, struct out *out);
};

/* NULL when the name is none of them. */
const struct helper *helper_find(const struct token *name);

/* The call's arguments up to its ')'; the name and '(' are taken. */
const struct expr *parse_helper(struct expr_parser *parser, const struct helper *helper);

/* "yes" : "no" of include/linux/string_choices.h: str_yes_no() and the like. False when the name is none of them. */
bool helper_choice(const struct token *name, const char **ret_yes, const char **ret_no);

/* Bytes at a place as C code there reads them; those that the record does not have are 0. `be` as in the kernel's get_unaligned_be*(). */
uint8_t place_byte(struct place place, size_t at);
uint64_t place_be(struct place place, size_t at, size_t size);
/* In the byte order of the kernel that was traced. */
uint64_t place_number(struct place place, size_t at, size_t size, const struct run *run);

/* A name for each bit of a value, each with a blank behind it. */
struct bit_name {
	uint32_t mask;
	const char *name;
};
void text_bit_names(uint32_t value, const struct bit_name *names, size_t count, struct out *out);

void text_scsi_cdb(const struct expr *expr, const struct run *run, struct out *out);
void text_ata_status(const struct expr *expr, const struct run *run, struct out *out);
void text_ata_host_stat(const struct expr *expr, const struct run *run, struct out *out);
void text_ata_eh_action(const struct expr *expr, const struct run *run, struct out *out);
void text_ata_eh_err_mask(const struct expr *expr, const struct run *run, struct out *out);
void text_ata_qc_flags(const struct expr *expr, const struct run *run, struct out *out);
void text_ata_tf_flags(const struct expr *expr, const struct run *run, struct out *out);
void text_ata_subcmd(const struct expr *expr, const struct run *run, struct out *out);
void text_cper_severity(const struct expr *expr, const struct run *run, struct out *out);
void text_cper_mem_type(const struct expr *expr, const struct run *run, struct out *out);
void text_cper_mem(const struct expr *expr, const struct run *run, struct out *out);
void text_xen_hypercall(const struct expr *expr, const struct run *run, struct out *out);
void text_prq_descriptor(const struct expr *expr, const struct run *run, struct out *out);
void text_nvme_disk(const struct expr *expr, const struct run *run, struct out *out);
void text_nvmet_controller(const struct expr *expr, const struct run *run, struct out *out);
void text_untrusted(const struct expr *expr, const struct run *run, struct out *out);
void text_layers(const struct expr *expr, const struct run *run, struct out *out);

#endif
