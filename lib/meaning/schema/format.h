/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_SCHEMA_FORMAT_H
#define WEFT_MEANING_SCHEMA_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct near;
struct program;

/*
 * The format of one event type, as events/SYSTEM/EVENT/format tells it (kernel/trace/trace_events.c: f_show()).
 * Invariants: each field lies inside the first `size` bytes of a record, or is dynamic and checked per record; names
 * and types are NUL-terminated and owned by the format.
 */
enum field_flags {
	FIELD_SIGNED = 1 << 0,
	FIELD_ARRAY = 1 << 1,    /* fixed: count elements of elem_size */
	FIELD_STRING = 1 << 2,   /* char array, fixed or dynamic */
	FIELD_DYNAMIC = 1 << 3,  /* __data_loc: u32 of offset in the record | len << 16, also as the begin of a u64 */
	FIELD_RELATIVE = 1 << 4, /* __rel_loc: the offset counts from the end of the u32 */
	FIELD_POINTER = 1 << 5,  /* the type has a '*' */
	FIELD_LONG = 1 << 6,     /* the type is (unsigned) long, whose size is the traced kernel's */
};

struct field {
	const char *name;
	const char *type;   /* as declared, without the name: "const char *", "pid_t", "char[16]" */
	uint32_t offset;    /* in the record */
	uint32_t size;      /* size of the field as stored; 4 or 8 for a dynamic one */
	uint32_t elem_size; /* size of an array's element; else `size` */
	uint32_t flags;
};

struct format {
	const char *system; /* "sched" */
	const char *name;   /* "sched_switch" */
	int32_t id;
	uint32_t size;      /* end of the last fixed field */
	uint32_t nr_common; /* the first fields are the common ones */
	uint32_t nr_fields; /* all fields */
	const struct field *fields;
	const char *print_fmt; /* the text after "print fmt: "; "" when there is none */
};

/*
 * All formats of one file. They are indexed by id when they are added and parsed when they are first used. The
 * functions are not thread-safe; the objects that they return may be used by any thread.
 */
struct schema;

struct schema_abi {
	bool swap; /* records are not in this machine's byte order */
	bool big_endian;
	uint8_t long_size;
	uint32_t hz; /* CONFIG_HZ of the traced kernel; 0: unknown, taken as 250 */
	/* the address of the kernel's array of struct page, from a dump of its memory; 0: unknown, as nearly always */
	uint64_t page_array;
	bool cper_blanks; /* kernels before 5.18: "node: 1", not "node:1", where memory failed */
	/*
	 * The value of an enumerator that formats use by name, from another source; may be NULL. False when it is
	 * unknown.
	 */
	bool (*enumerator)(const void *arg, const char *name, size_t len, uint64_t *ret);
	const void *enumerators; /* its arg */
};

int must_check schema_new(const struct schema_abi *abi, struct schema **ret, struct fail *fail);
void schema_free(struct schema *schema);
const struct schema_abi *schema_abi(const struct schema *schema);

/* Borrows `system` and `text` for its lifetime. Only "name:" and "ID:" are read. -EBADMSG without them. */
int must_check schema_add(struct schema *schema, const char *system, size_t system_len, const char *text, size_t len,
			  struct fail *fail);

/* NULL when no such format was added, or when it cannot be parsed: *ret_why (may be NULL) then has the reason. */
const struct format *schema_format(struct schema *schema, int32_t id, const char **ret_why);

/* Whether a format or a program is missing or incomplete for lack of memory. */
bool schema_starved(const struct schema *schema);

/* The id of an event by its names; -ENOENT. system may be NULL: the first event of that name. Parses nothing. */
int32_t schema_find(const struct schema *schema, const char *system, const char *name);

/* Lists all formats in the order they were added, without parsing: false after the last. */
bool schema_at(const struct schema *schema, size_t index, int32_t *ret_id, const char **ret_system,
	       const char **ret_name);
/*
 * Offers the events' names to those that are near a word: "system:event" if the word has both parts, else the event
 * alone. `calls`: a system call also by its own name.
 */
void schema_offer(const struct schema *schema, bool calls, struct near *near);
/* Whether the text of the format at `index` has these bytes: a quick look that parses nothing. */
bool schema_mentions(const struct schema *schema, size_t index, const char *text, size_t len);

const struct field *format_field(const struct format *format, const char *name);

/*
 * The value of a field in a record. field_int() reads integers of 1, 2, 4 and 8 bytes (field_int_size()), sign-extended
 * if the field is signed; it returns 0 for other sizes and for a field beyond the end of the record. field_bytes()
 * returns the bytes of any field, of a dynamic field the bytes that it refers to: false when they are not inside the
 * record.
 */
static inline bool field_int_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

uint64_t field_int(const struct field *field, const struct schema_abi *abi, const uint8_t *data, size_t len);
bool field_bytes(const struct field *field, const struct schema_abi *abi, const uint8_t *data, size_t len,
		 const uint8_t **ret, size_t *ret_len);

#endif
