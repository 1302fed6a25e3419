/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_REWRITE_REDACT_INTERNAL_H
#define WEFT_FILES_REWRITE_REDACT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/files/rewrite/redact.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/siphash.h"
#include "lib/ground/base/u64_map.h"
#include "lib/pages/trace/carried.h"

struct context;
struct fail;
struct format;
struct trace;

/* redact_lists.c: words with blanks around each. */
extern const char redact_known_events[], redact_numbers[], redact_calls[], redact_known_names[], redact_known_words[],
	redact_known_modules[];

/* Whether a list has a word. */
bool redact_listed(const char *list, const char *word, size_t len);
bool redact_knows_event(const char *system, const char *name, size_t len);
/* The kinds of the arguments of a system call, a letter for each; *ret_nr 0: the call is unknown. */
const char *redact_call(const char *call, size_t *ret_nr);

/*
 * redact_names.c: stand-ins of names. A stand-in is as long as its name, and different names have different ones. The
 * kernel cuts the name of a task after 15 bytes: the first 15 bytes of a stand-in depend on those of the name only.
 */
struct redact_names {
	struct siphash_key key;
	const char *const *keep;
	size_t nr_keep;
	struct u64_map taken; /* hash of the name, by the hash of its stand-in */
	struct u64_map kept;
};

void redact_names_init(struct redact_names *names, const struct redact_options *options);
void redact_names_release(struct redact_names *names);
/* Each writes `len` bytes to `into`; the texts have no NUL. */
void redact_name(struct redact_names *names, const char *name, size_t len, char *into);
void redact_path(struct redact_names *names, const char *path, size_t len, char *into);
void redact_words(struct redact_names *names, const char *text, size_t len, char *into);
/* Of a path of control groups: what says that a part is a service, a container or a pod is kept. */
void redact_group(struct redact_names *names, const char *path, size_t len, char *into);
void redact_mark(struct redact_names *names, const char *text, size_t len, int32_t pids, char *into);
uint64_t redact_number(const struct redact_names *names, const char *what);

/* redact_numbers.c: numbers that are shifted. */
struct redact_shifts {
	uint8_t long_size;
	uint64_t lo, hi;                                         /* addresses of symbols; lo > hi: there are none */
	uint64_t text, data, user, pfn, inode, sector, ids, day; /* what is added */
	int32_t pids;                                            /* 0: they stay */
};

void redact_shifts_init(struct redact_shifts *shifts, const struct redact_names *names, uint8_t long_size, bool pids);
/* Takes the addresses of a text like /proc/kallsyms for those of symbols. */
void redact_shifts_of(struct redact_shifts *shifts, const char *kallsyms, size_t len);
uint64_t redact_address(const struct redact_shifts *shifts, uint64_t value);
int32_t redact_pid(const struct redact_shifts *shifts, int32_t pid);

enum redact_kind {
	REDACT_ZERO,
	REDACT_KEEP,
	REDACT_ADDRESS,
	REDACT_VALUE, /* a number, or an address */
	REDACT_SHORT, /* a number that fits in 32 bits; else an address */
	REDACT_PFN,
	REDACT_INODE,
	REDACT_SECTOR,
	REDACT_ID, /* a user or a group */
	REDACT_PID,
	REDACT_WHEN, /* a time, which may be one of the day */
	REDACT_NAME,
	REDACT_PATH,
	REDACT_WORDS,
	REDACT_LETTERS, /* as of rwbs: kept, if it has no others than these */
	REDACT_MARK,
	REDACT_GROUP,     /* the path of a control group */
	REDACT_FILE,      /* a part of a path, or the name of what has none */
	REDACT_HOST,      /* the bytes of an address of the internet */
	REDACT_ADDRESSES, /* until the end of the record */
	REDACT_ARGUMENTS, /* registers of a system call */
	REDACT_RESULT,    /* of a system call */
};

uint64_t redact_value(const struct redact_shifts *shifts, enum redact_kind kind, uint64_t value);
/* The kind of an argument, by its letter in redact_calls; of the result of a call. */
enum redact_kind redact_argument(char letter);
enum redact_kind redact_result(const char *call);

/* redact_record.c: the rules for the fields of the types of one buffer. */
struct redact_types;

int must_check redact_types_new(const struct context *context, struct redact_names *names,
				const struct redact_shifts *shifts, struct redacted *done, struct redact_types **ret,
				struct fail *fail);
void redact_types_free(struct redact_types *types);
/* `into` has `len` zeros. */
int must_check redact_record(struct redact_types *types, const uint8_t *data, size_t len, uint8_t *into,
			     struct fail *fail);
/* The kind of a field; *ret_known false: no rule is for it. */
struct field;
enum redact_kind redact_kind_of(const struct format *format, const struct field *field, bool *ret_known);
/* Whether the fields of an event have rules. */
bool redact_has_rules(const char *system);

/*
 * redact_own.c: whether a name is that of one of weft's own probes, and the kind of a field of one; REDACT_ZERO: none
 * has it.
 */
bool redact_own_event(const char *name, size_t len);
enum redact_kind redact_own_kind(const char *field);

/* redact_files.c: what weft's own probes and lists say of descriptors: a name or a part of a path, and an address. */
void redact_file_name(struct redact_names *names, const char *name, size_t len, char *into);
void redact_host(const struct redact_names *names, const uint8_t *from, size_t len, uint8_t *into);
/* Appends what a descriptor is called, a path or "TCP:[10.0.0.1:80]"; false: no memory. */
struct redact_texts;
/* Adds as many bytes as `how` makes of a text. False: no memory. */
bool redact_put(struct redact_texts *texts, struct buf *into, const char *at, size_t len,
		void (*how)(struct redact_names *names, const char *text, size_t len, char *into));
/* Whether only the kernel's numbering chose the name of a disk: "sdb3", "nvme0n1p2"; not so is "md_home". */
bool redact_knows_disk(const char *name, size_t len);
bool redact_target(struct redact_texts *texts, const char *target, size_t len, struct buf *into);

/* redact_texts.c: everything of a file but its pages. */
struct redact_texts {
	struct carried carried;
	struct redact_names *names;
	const struct redact_shifts *shifts;
	struct context *const *contexts; /* of each buffer */
	struct redacted *done;
	char **made; /* owned texts */
	size_t nr_made;
	const char **buffers; /* the names of the buffers */
};

int must_check redact_texts_make(struct redact_texts *texts, struct trace *trace, struct fail *fail);
void redact_texts_release(struct redact_texts *texts);

#endif
