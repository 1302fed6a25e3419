/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCHEMA_HELPER_INTERNAL_H
#define WEFT_SCHEMA_HELPER_INTERNAL_H

#include "lib/schema/expr_internal.h"

struct token;

/*
 * Kernel functions that print fmts call to format data of the record. `takes` has a letter for each argument: p the
 * kernel's trace_seq, which has no value; n a number; m a place in the record. text() reads expr->args, without the
 * trace_seq.
 */
struct helper {
	const char *name;
	const char *takes;
	void (*text)(const struct expr *expr, const struct run *run, struct out *out);
};

/* NULL when the name is not among them. */
const struct helper *helper_find(const struct token *name);

/* Parses the call's arguments up to its ')'; the name and '(' are taken. */
const struct expr *parse_helper(struct expr_parser *parser, const struct helper *helper);

/* "yes" : "no" of include/linux/string_choices.h: str_yes_no() and the like. False when the name is not among them. */
bool helper_choice(const struct token *name, const char **ret_yes, const char **ret_no);

/*
 * A byte at a place; bytes beyond the end of the record are 0. `be`: big-endian, as in the kernel's
 * get_unaligned_be*().
 */
uint8_t place_byte(struct place place, size_t at);
uint64_t place_be(struct place place, size_t at, size_t size);
/* A number in the byte order of the traced kernel. */
uint64_t place_number(struct place place, size_t at, size_t size, const struct run *run);

/* The name of a bit of a value, printed with a blank after it. */
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
