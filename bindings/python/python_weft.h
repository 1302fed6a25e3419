/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PYTHON_WEFT_H
#define WEFT_PYTHON_WEFT_H

/* Only what every Python since 3.9 keeps binary compatible, so that one build serves all of them. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <structmember.h>
#include <weft/weft.h>

/*
 * What the files of the module weft share. weft.pyi describes the module for its users.
 * Ownership: an Event has a reference to its Events, and these have one to their Trace. A view is valid until its
 * Events go on: `generation` says so. Nothing refers back, so there are no cycles.
 */
struct trace {
	PyObject_HEAD;
	weft_file *file; /* NULL: closed */
	PyObject *path;
};

/* A field that was asked for last, by the object of its name. */
struct field_memo {
	const weft_type *type;
	PyObject *name; /* a reference, so that no other object gets its address */
	const weft_field *field;
	enum weft_field_kind kind;
	bool is_signed;
};

enum { FIELD_MEMOS = 64 };

struct filter;
struct handler;

struct events {
	PyObject_HEAD;
	struct trace *trace;
	weft_reader *reader;
	const struct weft_event *at;
	uint64_t generation;
	bool ended;
	struct filter *filters;   /* filter.c */
	struct handler *handlers; /* handler.c */
	PyObject *asked;          /* the Event whose text is made; borrowed */
	bool is_live;             /* a Live: the file of its trace is that of the reader */
	bool is_busy;             /* of a Live: the lock of the interpreter was given up, and the reader is in use */
	struct field_memo memos[FIELD_MEMOS];
};

struct event {
	PyObject_HEAD;
	struct events *events;
	const struct weft_event *event;
	uint64_t generation;
	struct weft_event own; /* of a copy, with its own bytes: */
	uint8_t *bytes;        /* NULL: it is a view */
};

/* What analyses have found, and a table of it. */
struct result {
	PyObject_HEAD;
	weft_result *result;
	PyObject *names; /* a tuple of texts */
};

struct table {
	PyObject_HEAD;
	struct result *result;
	const weft_table *table;
};

/* The types and exceptions of the module; set once, when it is imported. */
struct python_weft {
	PyTypeObject *trace, *buffer, *events, *live, *filter, *event, *columns, *ragged, *result, *table;
	PyObject *error, *damage;
};
extern struct python_weft python_weft;

/* Raises weft.Error, or the exception of Python that an errno has, with the text; returns NULL. */
PyObject *raise_error(const struct weft_error *error);

/* Warns of the damage that a reader found; false: the warning became an exception. */
bool warn_damage(const char *damage);

/* A text of the traced machine, which may hold any byte. */
PyObject *text_of(const char *text, size_t len);

/* Opens a path for writing as an object, and tells its descriptor; closing is up to the object. NULL: an exception. */
PyObject *open_to_write(PyObject *path, int *ret_fd);
/* Closes it, and gives it up; false: with an exception. */
bool close_written(PyObject *file);

/* For tp_new of types that only the module makes. */
PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
/* For __reduce__ of what belongs to an open file. */
PyObject *refuse_pickle(PyObject *self, PyObject *ignored);

/* Frees the memory of an object and its reference to its type. */
void object_end(void *self);

/* False after close(): an exception is set. */
bool trace_is_open(const struct trace *trace);

/*
 * Makes a query from keyword arguments, which have the names of weft report's options. `events` is the argument without
 * a name, or NULL. NULL: an exception is set.
 */
weft_query *query_of(PyObject *events, PyObject *kwargs);

PyObject *events_new(struct trace *trace, weft_query *query);
/* The parts of it that Live has, too. */
void events_dealloc(PyObject *self);
PyObject *events_next(PyObject *self);
PyObject *events_iter(PyObject *self);
/* live.c: the function weft.live(). */
PyObject *live_new(PyObject *module, PyObject *args, PyObject *kwargs);
bool module_add_live(PyObject *module);
/* filter.c, handler.c: methods of Events and Live. */
PyObject *events_filter(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *events_handler(PyObject *self, PyObject *args);
/* Their rows among the methods of an iterator. */
#define EVENTS_METHODS                                                                                                \
	{ "filter", (PyCFunction)(void (*)(void))events_filter, METH_VARARGS | METH_KEYWORDS,                         \
	  "filter(event=None, /, **query)\n--\n\n"                                                                    \
	  "A function that tells of an event of this iterator whether a query lets it pass." },                       \
	{                                                                                                             \
		"handler", events_handler, METH_VARARGS,                                                              \
			"handler(name, function, /)\n--\n\n"                                                          \
			"From here on function(event) makes the text of 'SYSTEM:NAME', or None: the kernel's. None: " \
			"no longer."                                                                                  \
	}
void handlers_free(struct events *events);
/* Before the reader is freed. */
void filters_close(struct events *events);
bool module_add_filter(PyObject *module);
/* The event, or NULL and an exception if it is gone. */
const struct weft_event *event_of(PyObject *event);
PyObject *columns_new(struct trace *trace, PyObject *names, weft_query *query);
/* What Trace.analyse() takes besides a query; borrowed. */
struct analyse_words {
	PyObject *sort, *progress; /* NULL: not given */
	unsigned threads;
	const struct weft_why_options *why;
};
PyObject *result_new(struct trace *trace, PyObject *names, const struct analyse_words *words, weft_query *query);
/* The same of the running kernel: Live.analyse(). */
bool result_of(weft_reader *reader, PyObject *names, const struct analyse_words *words, weft_result **ret);
/* A Result of these findings, which it frees, and which are freed if there is none. */
PyObject *result_wrap(weft_result *found, PyObject *names);
/* intervals.c: methods of Trace and Live. */
PyObject *trace_intervals(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *live_intervals(PyObject *self, PyObject *args, PyObject *kwargs);
bool module_add_intervals(PyObject *module);
/* So long a call waits for an event of the running kernel before it looks for signals again. */
enum { LIVE_WAIT_MS = 500 };
/* live.c: before and after the reader is used without the lock of the interpreter; false: an exception. */
bool live_take(struct events *events);
void live_give(struct events *events);
/* What weft_analyse_options.interrupted is for: whether a signal's handler has raised an exception. */
int interrupted(void *arg);
/* trace.c: takes a keyword out of a dict: a reference, or NULL. */
PyObject *take_word(PyObject *words, const char *name);

/* The function weft.analyse(): a list with a result for each of several traces. */
PyObject *results_new(PyObject *module, PyObject *args, PyObject *kwargs);

PyObject *table_at(struct result *result, size_t index);
/* A dict of what limits the tables of an analysis. */
PyObject *limits_of(const weft_result *result, size_t analysis);

/* Wraps structures of Arrow into capsules, which release what nobody has taken out of them. The structure is freed. */
PyObject *capsule_of_schema(struct ArrowSchema *schema);
PyObject *capsule_of_array(struct ArrowArray *array);
PyObject *capsule_of_stream(struct ArrowArrayStream *stream);

/* contents.c: what a trace has besides events, as attributes and methods of it. */
PyObject *trace_formats(PyObject *self, void *ignored);
PyObject *trace_settings(PyObject *self, void *ignored);
PyObject *trace_tasks(PyObject *self, void *ignored);
PyObject *trace_symbols(PyObject *self, PyObject *ignored);
PyObject *trace_lives(PyObject *self, PyObject *ignored);
PyObject *trace_who(PyObject *self, PyObject *args);
PyObject *trace_names(PyObject *self, PyObject *args);
PyObject *trace_address(PyObject *self, PyObject *args);
PyObject *trace_stats(PyObject *self, PyObject *args);
PyObject *trace_clock(PyObject *self, PyObject *args);
PyObject *trace_when(PyObject *self, PyObject *args);
/* slices.c */
PyObject *trace_slices(PyObject *self, PyObject *args, PyObject *kwargs);
bool module_add_slices(PyObject *module);
/* Appends what it takes; false: an exception is set. */
bool append_new(PyObject *list, PyObject *item);
/* A structure of these objects, which it takes. */
PyObject *structure_new(PyTypeObject *type, PyObject *const *items, Py_ssize_t nr);
PyTypeObject *module_add_structure(PyObject *module, const char *name, PyStructSequence_Desc *description);
bool module_add_contents(PyObject *module);
bool module_add_writer(PyObject *module);

bool module_add_trace(PyObject *module);
bool module_add_events(PyObject *module);
bool module_add_event(PyObject *module);
bool module_add_columns(PyObject *module);
bool module_add_ragged(PyObject *module);
bool module_add_span(PyObject *module);
bool module_add_result(PyObject *module);
bool module_add_table(PyObject *module);
/* Makes a type and adds it to the module; NULL: an exception is set. */
PyTypeObject *module_add_type(PyObject *module, const char *name, PyType_Spec *spec);

/* Texts or lists of a column (ragged.c). Takes the references; `format` is that of memoryview. */
PyObject *ragged_new(PyObject *offsets, PyObject *bytes, char format, PyObject *valid);
/* A bytearray as a memoryview of this format that cannot be changed. Takes the reference. */
PyObject *view_of(PyObject *bytes, char format);

/* span.c: the functions weft.counter() and weft.instant(). */
PyObject *mark_counter(PyObject *module, PyObject *args);
PyObject *mark_instant(PyObject *module, PyObject *args);

#endif
