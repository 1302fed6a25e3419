/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PLUGIN_H
#define WEFT_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

/*
 * The plugin ABI, weft-plugin(7). A plugin is a shared object SYSTEM.so that exports one constant, `weft_plugin`. It
 * adds to the events of that system what the kernel's text lacks: the name that a number stands for, the error that a
 * result means. `weft report --decode` prints these facts behind the event's text and leaves the text as it is.
 * Invariant: a plugin needs no symbol of weft, has no constructor and no mutable data. Its functions depend only on
 * their arguments, because weft calls them from any thread and for events in any order.
 * Growth: each struct here grows only at its end and carries its size, so that each side knows which members the other
 * has. WEFT_PLUGIN_ABI changes only when a member changes its meaning.
 */
#define WEFT_PLUGIN_ABI 1

struct weft_record; /* one event, while format() runs */
struct weft_output; /* the facts that format() adds to it */

/* The functions that weft offers to format(). A `field` is an index into the handler's fields[]. */
struct weft_host {
	size_t size; /* of this struct in the running weft */

	/*
	 * Element `index` of an integer field or of an array of integers; 0 for a field with a single element. Signed
	 * elements are sign-extended. Returns 0 if the element is missing.
	 */
	uint64_t (*integer)(const struct weft_record *record, unsigned field, size_t index);
	/* The number of elements that the field has in this record. 0: the event has no such field. */
	size_t (*count)(const struct weft_record *record, unsigned field);
	/* The bytes of a field, such as a string, in the traced machine's byte order. NULL: the field is missing. */
	const void *(*bytes)(const struct weft_record *record, unsigned field, size_t *ret_len);
	/* The traced machine as uname -m names it, such as "x86_64". "": the file does not contain it. */
	const char *(*machine)(const struct weft_record *record);

	/* Each adds one fact about the event: a name and a value. */
	void (*put_text)(struct weft_output *output, const char *name, const char *text, size_t len);
	void (*put_integer)(struct weft_output *output, const char *name, int64_t value);
	void (*put_hex)(struct weft_output *output, const char *name, uint64_t value);

	/*
	 * The members from here on exist only if `size` covers them: ask WEFT_HOST_HAS().
	 * They name a system call or an error by the traced machine's own numbers. NULL: the number has no name.
	 */
	const char *(*system_call)(const struct weft_record *record, int64_t number);
	const char *(*error)(const struct weft_record *record, int64_t error);

	/*
	 * Writes the names that programs use for the value of a system call's argument, such as "O_RDONLY|O_CLOEXEC"
	 * for "openat", "flags". Returns the length of the text; 0: the value has no name, or the text has no room.
	 */
	size_t (*argument)(const struct weft_record *record, const char *call, const char *argument, uint64_t value,
			   char *text, size_t size);
	/* For an event sys_enter_NAME: adds a fact for each argument whose value has a name. */
	void (*put_arguments)(const struct weft_record *record, struct weft_output *output);
};

/* Whether the running weft has this member of struct weft_host. */
#define WEFT_HOST_HAS(host, member) ((host)->size >= offsetof(struct weft_host, member) + sizeof((host)->member))

struct weft_handler {
	const char *event; /* "sys_exit"; may end in one '*': "sys_exit_*" */
	/*
	 * The fields that format() uses; NULL ends the list. An event that lacks one of them does not reach the
	 * handler; a field "?NAME" is optional.
	 */
	const char *const *fields;
	void (*format)(const struct weft_host *host, const struct weft_record *record, struct weft_output *output);
	/*
	 * The names of the facts that format() may add; NULL ends the list. "#NAME" is a number. "*" stands for those
	 * of put_arguments(). Filters, keys and columns can name only these. NULL, or a plugin whose handler_size does
	 * not cover this member: unknown.
	 */
	const char *const *facts;
};

struct weft_plugin {
	uint32_t abi;          /* WEFT_PLUGIN_ABI */
	uint32_t size;         /* sizeof(struct weft_plugin) */
	uint32_t handler_size; /* sizeof(struct weft_handler) */
	uint32_t nr_handlers;  /* the first handler that matches an event is used */
	const char *system;    /* of the events: "raw_syscalls"; the file's name without ".so" */
	const struct weft_handler *handlers;
};

/* Defines the plugin's constant: WEFT_PLUGIN("raw_syscalls", handlers); */
#define WEFT_PLUGIN(system_name, handler_table)                                             \
	extern __attribute__((visibility("default"))) const struct weft_plugin weft_plugin; \
	const struct weft_plugin weft_plugin = {                                            \
		.abi = WEFT_PLUGIN_ABI,                                                     \
		.size = sizeof(struct weft_plugin),                                         \
		.handler_size = sizeof(struct weft_handler),                                \
		.nr_handlers = sizeof(handler_table) / sizeof((handler_table)[0]),          \
		.system = (system_name),                                                    \
		.handlers = (handler_table),                                                \
	}

#endif
