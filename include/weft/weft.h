/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/*
 * weft - read traces of the Linux kernel from a program
 * -----------------------------------------------------
 * The library reads trace.dat files, as weft(1) and trace-cmd(1) record them: their events in the order of time, with
 * typed fields, with the kernel's own text, as columns for programs of data analysis, and as the tables of weft's
 * analyses. This header is its manual; the manual pages weft(3), weft_file(3), weft_query(3), weft_reader(3),
 * weft_event(3), weft_text(3), weft_slices(3), weft_arrow(3), weft_analyse(3), weft_live(3) and weft_writer(3) are made
 * from it.
 *
 * The whole of a program that prints which task was scheduled:
 *
 *	weft_file *file = NULL;
 *	weft_reader *reader = weft_reader_new();
 *	const struct weft_event *event;
 *	struct weft_error error;
 *	int r = weft_file_open("trace.dat", NULL, &file, &error);
 *
 *	if (!r)
 *		r = weft_reader_add(reader, file, NULL, &error);
 *	while (!r && (r = weft_reader_next(reader, &event, &error)) > 0) {
 *		const weft_field *next = weft_field_find(event->type, "next_pid");
 *
 *		if (next)
 *			printf("%lld\n", (long long)weft_event_s64(event, next));
 *		r = 0;
 *	}
 *	if (r < 0)
 *		fprintf(stderr, "%s\n", error.text);
 *	weft_reader_free(reader);
 *	weft_file_free(file);
 *
 * It is compiled with the flags that pkg-config(1) prints for "weft".
 *
 * RESULTS. A function that can fail returns 0, or an errno as a negative number: -ENOMEM, -EINVAL. A function that
 * hands out one thing after another returns 1 for a thing, 0 at the end, a negative errno for an error. What it
 * returns through a pointer, ret or ret_x, is written only on success. NULL is no valid argument unless the function
 * says so.
 *
 * OWNERSHIP. What a function named weft_X_open, weft_X_new or weft_analyse makes, is freed by weft_X_free, for which
 * NULL is a no-op. Everything else is borrowed, and each function says how long it lives.
 *
 * TEXTS. Names and texts come from the traced kernel or from the file, and may hold any byte. Where a length is beside
 * a text, the text may have no NUL at its end; where none is, it ends with a NUL. Escape them before a terminal
 * shows them.
 *
 * TIMES. A time is in nanoseconds, unless the clock of its buffer counts something else: see weft_buffer_info.
 *
 * THREADS. One thread at a time may use an object; different threads may use different objects. A weft_file does not
 * change after it was opened, and any number of readers in any threads may read it at the same time. The library starts
 * threads only for a reader that asks for them (weft_reader_options); these block all signals.
 *
 * WHAT IT NEVER DOES. The library does not print, exit, read arguments or the environment, and does not change
 * locale, directory, umask, privileges or signals. Only weft_live_start() starts a process. It has no global state. A
 * file may be hostile: reading it has no
 * undefined behaviour, and takes memory within limits that do not depend on what it claims. It has no sandbox: a
 * program that wants one sets it up for itself, after it has opened its files.
 *
 * WHAT IT DOES NOT HAVE. weft-view(1) and weft-stream(1) are made of the rooms below this library, and could be made of
 * this header but for these: texts with colours, and the forms of weft-report(1) with --raw and --format pretty; the
 * event that ends what another one began; names of functions in stacks of programs; what the slices of a part of the
 * trace add up to, without reading all events there; the output of a command that weft_live_start() runs; and the
 * kernel's counts of a buffer while it is traced.
 *
 * LATER VERSIONS. Structures that begin with `size` may grow at their end. In a structure of options, set it to the
 * structure's size and all other members that you do not use to zero, which means the default; -E2BIG says that the
 * library does not know an option that is set. In a structure that the library fills, set `size` before the call; the
 * library writes no more than that, and zeros what it does not know. Enumerations may grow: ignore values that you
 * do not know. All other structures are frozen.
 */

/* The version of this header: major * 10000 + minor * 100 + patch. */
#define WEFT_VERSION_NUMBER 300

/* The version of the library that runs, as this number and as a text, "0.1.0". */
int weft_version_number(void);
const char *weft_version(void);

/*
 * Why a function failed: the errno as a negative number, and one line for people, in English and without a newline at
 * its end. The caller has it, on the stack or elsewhere, and need not initialize it: it is written only by a function
 * that fails. Each function that takes one takes it last, and takes NULL. A text that does not fit is cut.
 */
struct weft_error {
	int code;
	char text[1020];
};

/* Frees memory that a function returned with the words "free it with weft_free()". */
void weft_free(void *memory);

typedef struct weft_file weft_file;
typedef struct weft_query weft_query;
typedef struct weft_reader weft_reader;
typedef struct weft_type weft_type;
typedef struct weft_field weft_field;
typedef struct weft_result weft_result;
typedef struct weft_table weft_table;
struct weft_event;

/*
 * weft_file - open a trace.dat, and what it says about itself
 * -----------------------------------------------------------
 * Opening reads what describes the trace, and none of its events, however large the file is. A damaged file is opened
 * as far as it can be read: weft_file_damage() says what is wrong. Files of version 6 and 7, of any byte order and
 * word size, are read; a pipe is first copied to a temporary file without a name.
 */

struct weft_open_options {
	size_t size;
	/*
	 * Added to all times of the file, in the unit of its clock, before anything else looks at them: to merge files
	 * of several machines. A file whose first event would then be before 0 is refused, -EINVAL.
	 */
	int64_t offset;
	/*
	 * The directory of plugins that decode events (weft-plugin(7)), for weft_event_decoded(); "" is the directory
	 * that weft was installed with, NULL: no plugins. They are programs that the library loads into the process;
	 * those of weft are under the GPL, version 2, and not under the library's licence.
	 */
	const char *plugins;
	/*
	 * Also read files that claim more bytes or memory than any real recording has. A small hostile file can then
	 * take much memory and time.
	 */
	bool trust_sizes;
};

/*
 * Opens a file; "-" is standard input. -ENOENT, -EACCES...: it cannot be opened or read; -EBADMSG: it is no
 * trace.dat, or too damaged; -ENOTSUP: a version or compression that the library does not know; -ENOMEM. `options` may
 * be NULL.
 */
int weft_file_open(const char *path, const struct weft_open_options *options, weft_file **ret,
		   struct weft_error *error);

/* The same for an open descriptor, which the caller keeps and may close. `name` is for messages, and is copied. */
int weft_file_open_fd(int fd, const char *name, const struct weft_open_options *options, weft_file **ret,
		      struct weft_error *error);

/* Readers that were given the file may go on to use it: it is closed after the last of them is freed. */
void weft_file_free(weft_file *file);

struct weft_file_info {
	size_t size;
	unsigned version;     /* of the format: 6 or 7 */
	unsigned long_size;   /* bytes of a long of the traced kernel: 4 or 8 */
	bool big_endian;      /* of the file */
	bool has_date;        /* date_offset is known: */
	int64_t date_offset;  /* a time of the trace plus this is ns since 1970 */
	uint64_t bytes;       /* size of the file */
	uint64_t trace_id;    /* 0: it has none */
	uint32_t cpus;        /* CPUs of the traced machine; 0: unknown */
	uint32_t page_size;   /* of the ring buffer */
	const char *codec;    /* "none", "zstd" */
	const char *release;  /* "6.12.0-1-amd64"; "" when unknown */
	const char *machine;  /* as uname -m names it, "x86_64"; "" when unknown */
	const char *recorder; /* the program that recorded it, and its version; "" when unknown */
};

/* The texts live as long as the file. */
int weft_file_info(const weft_file *file, struct weft_file_info *ret, struct weft_error *error);

/* The number of ring buffers in the file: the top one and one for each instance. */
size_t weft_file_buffers(const weft_file *file);

struct weft_buffer_info {
	size_t size;
	const char *name;   /* of the instance; "" for the top buffer */
	const char *clock;  /* "local", "mono" */
	const char *tracer; /* "function_graph"; "nop" */
	bool clock_is_ns;   /* false: times are what the clock counts, such as cycles */
	bool has_events;    /* first and last are known: */
	uint64_t first;     /* the time of the first event, */
	uint64_t last;      /* and of the last one, of all buffers of the file that have the same clock */
	uint32_t cpus;      /* the CPUs that have events */
};

/* A buffer by index. -ERANGE: there is none. It reads a little of each CPU. The texts live as long as the file. */
int weft_file_buffer(const weft_file *file, size_t index, struct weft_buffer_info *ret, struct weft_error *error);

/*
 * What a file of tracefs or /proc held at the time of the recording: "trace_options", "per_cpu/cpu0/stats",
 * "current_tracer"; only weft records these, weft-dat(5) lists them. NULL: the file has no such text. It lives as long
 * as the file and ends with a NUL. `ret_len` may be NULL.
 */
const char *weft_file_setting(const weft_file *file, size_t buffer, const char *name, size_t *ret_len);

/*
 * The damage that was found when the file was opened, in one line; NULL: none. It lives as long as the file. What
 * readers find later, weft_reader_damage() says.
 */
const char *weft_file_damage(const weft_file *file);

/*
 * weft_contents - what a file has besides its events
 * --------------------------------------------------
 * Formats, settings, counts of the ring buffer, the time of day, names of tasks, symbols, and whom tasks belonged to.
 * Functions with an index return 1 for a thing and 0 after the last one; all texts live as long as the file. A function
 * that takes a callback calls it for each thing, and returns 0, what the callback returned if that was not 0, or a
 * negative errno. -ERANGE: the file has no such buffer.
 */

struct weft_format_info {
	size_t size;
	const char *system;    /* "sched"; "ftrace" for the kernel's own entries */
	const char *name;      /* "sched_switch" */
	const char *print_fmt; /* behind "print fmt: "; "" if the format cannot be understood */
	const char *text;      /* the file events/SYSTEM/NAME/format, without a NUL at its end */
	size_t text_len;
	size_t fields;    /* 0 if the format cannot be understood */
	int32_t id;       /* common_type of its events, weft_type_id() */
	uint32_t bytes;   /* of a record without its dynamic fields */
	const char *note; /* why the kernel's text cannot be made of it, and fields are printed; NULL: it can */
};

/* The formats of a buffer's events by index, also of those that never occur. */
int weft_file_format(const weft_file *file, size_t buffer, size_t index, struct weft_format_info *ret,
		     struct weft_error *error);

/* The fields of the format at `format`, by their index. */
struct weft_field_info;
int weft_file_field(const weft_file *file, size_t buffer, size_t format, size_t index, struct weft_field_info *ret,
		    struct weft_error *error);

struct weft_setting_info {
	size_t size;
	size_t buffer;
	const char *name; /* as weft_file_setting() takes it */
	const char *text; /* ends with a NUL */
	size_t text_len;
};

/* All that weft_file_setting() can be asked for, by index: files of tracefs, such as options, and weft's own notes. */
int weft_file_setting_at(const weft_file *file, size_t index, struct weft_setting_info *ret);

struct weft_cpu_stats {
	size_t size;
	uint32_t cpu;
	uint64_t entries;        /* events in the buffer when the recording ended, */
	uint64_t read;           /* and those that had been read from it */
	uint64_t overrun;        /* events that newer ones overwrote */
	uint64_t dropped;        /* events that found the buffer full */
	uint64_t commit_overrun; /* events that interrupts lost */
};

/* The kernel's counts for the CPUs of a buffer, by index; none if the file does not have them. */
int weft_file_stats(const weft_file *file, size_t buffer, size_t index, struct weft_cpu_stats *ret,
		    struct weft_error *error);

struct weft_clock_piece {
	size_t size;
	uint64_t since;    /* the time of the trace at which it begins; 0: the first piece */
	int64_t step_ns;   /* how far the time of day jumped there */
	int64_t wall_ns;   /* the time of day at its first sample, in ns since 1970, */
	uint64_t sampled;  /* and the time of the trace of this sample */
	uint64_t bound_ns; /* half the width of what it may be; UINT64_MAX: unknown */
	bool is_sleep;     /* the machine slept until then; else somebody set the clock */
	bool is_exact;     /* a sample was taken when it jumped; else it jumped some time before `since` */
};

/* The time of day of a buffer, in pieces in which nobody set the clock, by index; none if the file does not tell it. */
int weft_file_clock(const weft_file *file, size_t buffer, size_t index, struct weft_clock_piece *ret,
		    struct weft_error *error);

/*
 * The times of the trace at which the clock on the wall showed `ns` since 1970, which are several where it was put
 * back. Returns how many there are, of which at most `max` are written.
 */
int weft_file_when(const weft_file *file, size_t buffer, int64_t ns, uint64_t *ret, size_t max,
		   struct weft_error *error);

struct weft_task {
	size_t size;
	int32_t pid;
	int32_t tgid;     /* the PID of its process; 0: unknown */
	const char *comm; /* ends with a NUL */
	size_t comm_len;
};

typedef int weft_task_fn(void *arg, const struct weft_task *task);

/* The tasks whose last names the kernel remembered when the recording ended (saved_cmdlines). No event is read. */
int weft_file_tasks(const weft_file *file, size_t buffer, weft_task_fn *see, void *arg, struct weft_error *error);

struct weft_symbol;
typedef int weft_symbol_fn(void *arg, const struct weft_symbol *symbol);

/* The symbols of the traced kernel, in the order of their addresses: all that the file has. */
int weft_file_symbols(const weft_file *file, weft_symbol_fn *see, void *arg, struct weft_error *error);

/* The address of the first symbol of this name: 1, or 0 if there is none. */
int weft_file_address(const weft_file *file, const char *name, uint64_t *ret, struct weft_error *error);

enum weft_who {
	WEFT_WHO_PROCESS = 0, /* the name of its last program */
	WEFT_WHO_PROGRAM = 1,
	WEFT_WHO_UNIT = 2, /* the service, slice or scope of systemd */
	WEFT_WHO_CONTAINER = 3,
	WEFT_WHO_POD = 4,
	WEFT_WHO_CGROUP = 5, /* the path of the control group */
	WEFT_WHO_USER = 6    /* the UID; "root" for 0 */
};

enum weft_how_known {
	WEFT_HOW_UNKNOWN = 0,
	WEFT_HOW_GUESSED = 1, /* nothing contradicts it, but a change would not have been seen */
	WEFT_HOW_SCANNED = 2, /* a list of all tasks says so */
	WEFT_HOW_FOLLOWED = 3 /* events say so */
};

/*
 * Whom a task belonged to at a time: "" if to none, as one outside of all containers, and "(unknown)". `ret_how` may be
 * NULL. The first call reads all events of the buffer. -EINVAL: there is no such part.
 */
int weft_file_who(const weft_file *file, size_t buffer, enum weft_who part, int32_t pid, uint64_t ts, const char **ret,
		  enum weft_how_known *ret_how, struct weft_error *error);

typedef int weft_name_fn(void *arg, const char *name);

/* All programs, units, containers and so on that the file knows. The first call reads all events of the buffer. */
int weft_file_names(const weft_file *file, size_t buffer, enum weft_who part, weft_name_fn *see, void *arg,
		    struct weft_error *error);

/*
 * weft_query - choose events
 * --------------------------
 * A query holds what weft-report(1) takes as options, in the same words: an event must meet one word of each key that
 * was added, and a key without words lets all events pass. Whether a word has a sense for a file (is there such an
 * event, such a field, such a time) is found when a reader starts.
 */

/* Each key is an option of weft-report(1), which says what its word means. */
enum weft_query_key {
	WEFT_QUERY_EVENT = 1,  /* -e: "sched:sched_switch", "sched", "sys_enter_*"; several with commas */
	WEFT_QUERY_FILTER,     /* -f: "next_prio < 100", "sched_switch: next_comm ~ \"make*\"" */
	WEFT_QUERY_NOT_FILTER, /* -v -f: leave out what meets the filter */
	WEFT_QUERY_LONGER,     /* --longer: "1ms" */
	WEFT_QUERY_CPU,        /* --cpu: "0-3,7"; a second one replaces the first */
	WEFT_QUERY_PID,        /* --pid: "12,34" */
	WEFT_QUERY_COMM,       /* --comm: a glob */
	WEFT_QUERY_SINCE,      /* --since: "12.5" seconds, "+1ms", "-2s", "@EVENT", a date; the last one counts */
	WEFT_QUERY_UNTIL,      /* --until: the same, inclusive */
	WEFT_QUERY_LIMIT,      /* --limit: a number of events, after which the reader ends */
	WEFT_QUERY_TAIL,       /* --tail: only the last so many events */
	WEFT_QUERY_INSTANCE,   /* -B: only the buffer of this instance; "" is the top one */
	WEFT_QUERY_NO_HARDIRQ, /* -I, without a word: NULL */
	WEFT_QUERY_NO_SOFTIRQ, /* -S, without a word: NULL */
	WEFT_QUERY_NO_SELF,    /* --no-self, without a word: leave out the recorder's own events */
	WEFT_QUERY_SELF,       /* --self of the analyses, without a word: show the recorder's own tasks */
	WEFT_QUERY_MARK,       /* --mark: a glob, the name of spans that programs marked */
	WEFT_QUERY_FILE        /* --file: a glob, the name of a file that the events are about */
};

/* A query that lets all events pass; NULL: no memory. */
weft_query *weft_query_new(void);
void weft_query_free(weft_query *query);

/*
 * Adds a word, which is copied. -EINVAL, -ERANGE: it does not have the form that the key wants, or the key is unknown;
 * the message is the one of weft-report(1). After an error the query is as before.
 */
int weft_query_add(weft_query *query, enum weft_query_key key, const char *word, struct weft_error *error);

/*
 * weft_reader - events of one or several files, in the order of time
 * ------------------------------------------------------------------
 * A reader is made, gets the files that it reads, and then hands out their events once. The events of all CPUs, buffers
 * and files come as one stream in the order of their times; at the same time those of the buffer that was added
 * first come first. Times of different clocks cannot be compared: buffers with different clocks follow one another.
 *
 * Where the kernel lost events, an item says so: weft_event.kind is WEFT_LOST, and its type is a type without fields,
 * so that a program which only asks for fields of types need not know about it. Damage does not make the reader fail:
 * it hands out all that can be read, returns 0 at the end, and weft_reader_damage() then says what is missing.
 *
 * A reader is used for one of these: weft_reader_next() and weft_reader_batch(), weft_reader_slices(),
 * weft_reader_arrow(), or weft_analyse(). For another pass make another reader of the same file.
 */

/* A reader of nothing; NULL: no memory. */
weft_reader *weft_reader_new(void);

/* Frees the reader with its types, fields and events. */
void weft_reader_free(weft_reader *reader);

/*
 * Adds a file before the reader starts; `query` (NULL: all events) chooses some of its events and must live until the
 * reader has started. WEFT_QUERY_LIMIT and WEFT_QUERY_TAIL count the events of all files together: the smallest
 * one of all queries holds. -EBUSY: the reader has started; -ENOMEM.
 */
int weft_reader_add(weft_reader *reader, weft_file *file, const weft_query *query, struct weft_error *error);

struct weft_reader_options {
	size_t size;
	/*
	 * How many threads the reader may start to read ahead: 0, the default, starts none; 1 reads and merges while
	 * the caller works; 2 and more also decompress. The caller's loop then takes less time, and all threads
	 * together a little more.
	 */
	unsigned threads;
};

/*
 * Starts the reader: looks up what the queries name, and finds the first event. A call is needed only for options
 * (which may be NULL), or to learn of errors before the first event: weft_reader_next() and all others start a reader
 * that was not started. -ENOENT: a file has no such event, field or instance as a query names; -EINVAL: a word has no
 * sense for the file; -EBUSY: it has started; -ENOMEM, -EIO...
 */
int weft_reader_start(weft_reader *reader, const struct weft_reader_options *options, struct weft_error *error);

/*
 * The next event: 1, or 0 at the end. The event and its bytes are valid until the next call of weft_reader_next() or
 * weft_reader_batch(), or until the reader is freed; a copy of the structure keeps its numbers and its type, but not
 * its bytes. After an error every call returns it again.
 */
int weft_reader_next(weft_reader *reader, const struct weft_event **ret, struct weft_error *error);

/*
 * Many events at once: their number, and in *ret an array of so many; 0 at the end. All of them are valid until the
 * next call of weft_reader_next() or weft_reader_batch().
 */
int weft_reader_batch(weft_reader *reader, const struct weft_event **ret, struct weft_error *error);

/*
 * A place between two events: before an event, and the same for every reader of the same buffers with the same query
 * and CPUs, also in another process: its two numbers can be stored. This structure is frozen.
 */
struct weft_place {
	uint64_t ts;
	uint64_t nth; /* the number of the event among those of this time, from 0 */
};

/*
 * A reader that has no threads can go anywhere, as often as wanted: weft_reader_next() then returns the event behind
 * the place, and weft_reader_previous() the one before it. That costs a search in the file, and reads only what lies
 * there. -ENOTSUP: the reader has threads, counts its events (WEFT_QUERY_LIMIT, WEFT_QUERY_TAIL), has buffers with
 * different clocks, or chooses events by other events (a duration, WEFT_QUERY_MARK, WEFT_QUERY_FILE,
 * WEFT_QUERY_NO_SELF); it stays where it is.
 *
 * weft_reader_seek() goes before the first event that is not earlier than a time: 0 is the start, UINT64_MAX the end.
 * weft_reader_go() goes to a place that weft_reader_place() told, which may be that of another reader.
 */
int weft_reader_seek(weft_reader *reader, uint64_t ts, struct weft_error *error);
int weft_reader_go(weft_reader *reader, const struct weft_place *place, struct weft_error *error);

/* Where the reader stands: before the event that weft_reader_next() will return. */
void weft_reader_place(const weft_reader *reader, struct weft_place *ret);

/*
 * Goes back over one event, and returns it: 1, or 0 at the start. weft_reader_next() would then return the same one. It
 * is valid until the next call that moves the reader. After weft_reader_seek(), it is the last event before a time.
 */
int weft_reader_previous(weft_reader *reader, const struct weft_event **ret, struct weft_error *error);

/*
 * From here on the reader has only the events of one CPU, and stands at their start; -1: those of all CPUs that the
 * queries choose. The others are not read. -ENOENT: no buffer of the reader has events of this CPU.
 */
int weft_reader_cpu(weft_reader *reader, int32_t cpu, struct weft_error *error);

/*
 * The damage that was found in any file so far, "FILE: what is damaged"; NULL: none. It is complete once the reader has
 * returned 0. It is valid until the next call for the reader.
 */
const char *weft_reader_damage(weft_reader *reader);

/* The number of buffers that the reader reads, after it has started: weft_event.buffer is smaller. */
size_t weft_reader_buffers(const weft_reader *reader);

struct weft_source_info {
	size_t size;
	const weft_file *file; /* as it was added; do not free it on behalf of this pointer */
	size_t buffer;         /* the index of the buffer in the file */
	const char *name;      /* of the instance; "" for the top buffer */
	bool clock_is_ns;
};

/* Where a buffer of the reader is from. -ERANGE: there is none. The text lives as long as the reader. */
int weft_reader_buffer(const weft_reader *reader, size_t index, struct weft_source_info *ret);

/*
 * weft_event - an event, its type and its fields
 * ----------------------------------------------
 * A field is looked up once for each type, by its name, and then read from each event without a search. A program that
 * wants one field of one event keeps the type that it saw last and the field of it:
 *
 *	if (event->type != type) {
 *		type = event->type;
 *		field = weft_field_find(type, "next_prio");
 *	}
 *	if (field)
 *		count[weft_event_u64(event, field) % 140]++;
 *
 * A program that wants many keeps an array, at weft_type_index(). Each buffer has types of its own.
 */

enum weft_kind {
	WEFT_RECORD = 0, /* an event */
	WEFT_LOST = 1    /* the kernel lost events of this CPU before this time; `lost` tells how many */
};

/* Bits of weft_event.flags; other bits may be set. */
enum weft_flag {
	WEFT_IRQS_OFF = 0x01,
	WEFT_NEED_RESCHED_LAZY = 0x02,
	WEFT_NEED_RESCHED = 0x04,
	WEFT_HARDIRQ = 0x08, /* it happened in a hard interrupt, */
	WEFT_SOFTIRQ = 0x10, /* in a softirq, */
	WEFT_PREEMPT_RESCHED = 0x20,
	WEFT_NMI = 0x40, /* in a non-maskable interrupt */
	WEFT_BH_OFF = 0x80
};

/* This structure is frozen. Members that an item of WEFT_LOST does not name are zero. */
struct weft_event {
	uint64_t ts;           /* also of WEFT_LOST: of the first event after the loss */
	const weft_type *type; /* never NULL; it lives as long as the reader */
	const uint8_t *data;   /* the record as the kernel wrote it, from its common fields on */
	int64_t lost;          /* of WEFT_LOST: how many events, or -1: unknown */
	uint32_t len;          /* bytes of data */
	int32_t pid;           /* the task on the CPU; its number in the traced machine */
	uint16_t cpu;          /* also of WEFT_LOST */
	uint16_t buffer;       /* index for weft_reader_buffer(); also of WEFT_LOST */
	uint8_t kind;          /* enum weft_kind */
	uint8_t flags;         /* enum weft_flag */
	uint8_t preempt;       /* the kernel's preempt count, and in its upper half the migrate-disable count */
	uint8_t unused;
	uint64_t reserved[2]; /* the library's own: copy them with the rest, and do not change them */
};

/*
 * A copy of an event with its bytes, which go into the caller's memory: it is valid as long as that memory and the
 * reader. Returns how many bytes they take; if `size` is smaller, nothing is copied.
 */
size_t weft_event_copy(const struct weft_event *event, void *memory, size_t size, struct weft_event *ret);

/* The types that have occurred so far, by index; NULL after the last. They live as long as the reader. */
const weft_type *weft_reader_type(const weft_reader *reader, size_t index);

/*
 * A query as an object that is asked about events one by one, of a reader that need not have the same query: by its
 * words for events, filters, tasks, CPUs and flags. -ENOENT: the reader has no such event or field; -ENOTSUP: the query
 * chooses events by other events, by a duration or a mark. The reader must have started, and outlive the filter.
 */
typedef struct weft_filter weft_filter;
int weft_filter_new(weft_reader *reader, const weft_query *query, weft_filter **ret, struct weft_error *error);
void weft_filter_free(weft_filter *filter);

/*
 * Whether the filter lets the event pass. Lost events always do. A stack passes if the event passed that the same
 * filter was asked about before it on the same CPU.
 */
bool weft_filter_passes(weft_filter *filter, const struct weft_event *event);

/* From 0, in the order in which types occurred first: an index for arrays of the caller. */
size_t weft_type_index(const weft_type *type);

/*
 * "sched" and "sched_switch". The type of lost events has the system "" and the name "lost events"; a type that the
 * file does not describe, or not in a form that can be understood, has the system "" and the name "". They live as long
 * as the type.
 */
const char *weft_type_system(const weft_type *type);
const char *weft_type_name(const weft_type *type);

/* The kernel's number of the type, common_type; -1 for lost events. */
int32_t weft_type_id(const weft_type *type);

/* The number of fields. The first ones, weft_field_info.is_common, are those that all events have. */
size_t weft_type_fields(const weft_type *type);

/* A field by index; NULL after the last. It lives as long as the type. */
const weft_field *weft_type_field(const weft_type *type, size_t index);

/* A field by its name; NULL: the type has none of this name. */
const weft_field *weft_field_find(const weft_type *type, const char *name);

enum weft_field_kind {
	WEFT_FIELD_INTEGER = 1, /* weft_event_u64() or weft_event_s64() */
	WEFT_FIELD_STRING = 2,  /* weft_event_string() */
	WEFT_FIELD_ARRAY = 3,   /* of integers: weft_event_element() */
	WEFT_FIELD_BYTES = 4    /* anything else: weft_event_bytes() */
};

struct weft_field_info {
	size_t size;
	const char *name;
	const char *c_type; /* as the kernel declares it, without the name: "pid_t", "char[16]" */
	enum weft_field_kind kind;
	uint32_t offset;        /* in weft_event.data; of a dynamic field: of the word that says where it is */
	uint32_t bytes;         /* there */
	uint32_t element_bytes; /* of an array's element; else those of the field */
	bool is_signed;
	bool is_pointer; /* an integer that is an address */
	bool is_dynamic; /* its size differs from event to event */
	bool is_common;
};

/* Fills *ret; its texts live as long as the type. */
void weft_field_info(const weft_field *field, struct weft_field_info *ret);

/*
 * An integer, extended to 64 bits with its sign if the field is signed. It is 0 for a field of NULL or of another type,
 * for one that is no integer, and for one that lies outside the record: no call fails.
 */
uint64_t weft_event_u64(const struct weft_event *event, const weft_field *field);
int64_t weft_event_s64(const struct weft_event *event, const weft_field *field);

/*
 * The bytes of any field, in the byte order of the file; of a dynamic field those that it refers to. They are valid as
 * long as the event. -EINVAL: the field is NULL or of another type; -ENODATA: it lies outside the record.
 */
int weft_event_bytes(const struct weft_event *event, const weft_field *field, const void **ret, size_t *ret_len);

/* The same for a string, without its NUL: *ret has none at its end. -EINVAL also if the field is no string. */
int weft_event_string(const struct weft_event *event, const weft_field *field, const char **ret, size_t *ret_len);

/* An element of an array of integers: 1, or 0 after the last one and for a field that is no such array. */
int weft_event_element(const struct weft_event *event, const weft_field *field, size_t index, uint64_t *ret);

/*
 * weft_text - the kernel's text, tasks, stacks, symbols, decoded fields
 * ---------------------------------------------------------------------
 * What an event means besides its fields: most of it is what the file knows about the traced kernel. These functions
 * use the reader that handed the event out, and the event while it is valid.
 */

enum weft_text {
	/* "NAME: " and what the kernel prints behind it; of a call of the function graph the function */
	WEFT_TEXT_BODY = 1,
	/*
	 * The line of the event as the kernel's file `trace` has it, with task, CPU, flags and time in front. Only what
	 * depends on other events is not in it: a call of the function graph is one line, and its return another one.
	 */
	WEFT_TEXT_LINE = 2,
	/* an object of JSON, as weft-report(1) prints it with --format json */
	WEFT_TEXT_JSON = 3
};

/*
 * The text of an event or of lost events, without a newline at its end. As snprintf(3): it writes at most `size` bytes
 * with the NUL, and returns the length that the whole text has; `size` may be 0, and `buffer` then NULL. -EINVAL: the
 * event is of another reader, or there is no such kind of text; -ENOMEM.
 */
int weft_event_text(weft_reader *reader, const struct weft_event *event, enum weft_text kind, char *buffer,
		    size_t size);

/*
 * Makes the text of an event in place of the kernel: writes at most `size` bytes with a NUL, and returns the length
 * that the whole text has, as snprintf(3), or a negative number: the kernel's text shall be used.
 */
typedef int weft_text_fn(void *arg, const struct weft_event *event, char *buffer, size_t size);

/*
 * From here on, `make` makes the text behind "NAME: " of each event "SYSTEM:NAME", in WEFT_TEXT_BODY and
 * WEFT_TEXT_LINE. NULL: no longer. It may read the fields of the event, and must not call anything else of this reader.
 * -EINVAL: the name has not this form; -ENOMEM.
 */
int weft_reader_handler(weft_reader *reader, const char *name, weft_text_fn *make, void *arg, struct weft_error *error);

/*
 * The name of the event's task as the file has it, or else as the events say; "<idle>" for PID 0, "<...>" when it is
 * unknown; "" for lost events. It lives as long as the reader.
 */
int weft_event_comm(const weft_reader *reader, const struct weft_event *event, const char **ret, size_t *ret_len);

/*
 * The time of day in ns since 1970 of a time of the events of a buffer, and the half width of what it may be:
 * UINT64_MAX if nobody knows how exact it is. ret_bound may be NULL. -ENODATA: the file does not tell the time of day;
 * -ERANGE: there is no such buffer.
 */
int weft_wall(const weft_reader *reader, size_t buffer, uint64_t ts, int64_t *ret_ns, uint64_t *ret_bound);

struct weft_task_info {
	size_t size;
	const char *comm; /* ends with a NUL, and lives as long as the reader */
	size_t comm_len;
	int32_t tgid; /* the PID of its process; 0: unknown */
	bool known;   /* false: comm is "<...>" */
};

/* What a buffer knows about a task. -ERANGE: the reader has no such buffer. */
int weft_reader_task(const weft_reader *reader, size_t buffer, int32_t pid, struct weft_task_info *ret);

/*
 * The addresses of a stack, of the events kernel_stack and user_stack of the system "ftrace" and of others with a field
 * of a stack: the innermost first. Returns how many there are, of which at most `max` are written; 0: the event has
 * no stack. A stack is an event of its own, after the event that it belongs to, of the same CPU.
 */
int weft_event_stack(const struct weft_event *event, uint64_t *ret, size_t max);

struct weft_symbol {
	size_t size;
	const char *name; /* without a NUL at its end; it lives as long as the reader */
	size_t name_len;
	const char *module; /* NULL: the kernel itself */
	size_t module_len;
	uint64_t address; /* where the symbol begins */
	uint64_t bytes;   /* to the next symbol */
};

/*
 * The symbol of the traced kernel that an address belongs to: 1, or 0 when it is not known. The first call reads the
 * symbols of the file. -ERANGE: the reader has no such buffer.
 */
int weft_symbol_find(weft_reader *reader, size_t buffer, uint64_t address, struct weft_symbol *ret);

enum weft_decoded_kind {
	WEFT_DECODED_TEXT = 1,
	WEFT_DECODED_INTEGER = 2,
	WEFT_DECODED_HEX = 3 /* a number that people read in hexadecimal */
};

struct weft_decoded {
	size_t size;
	const char *name;
	enum weft_decoded_kind kind;
	int64_t value;    /* of a number */
	const char *text; /* without a NUL at its end */
	size_t text_len;
};

/*
 * What a plugin makes of an event (weft_open_options.plugins): its fields by index, as `weft report --decode` prints
 * them. 1, or 0 after the last one, which also means that no plugin is for this event. The texts are valid until this
 * function is called for another event. -ENOEXEC: the plugin for the event cannot be used; -ENOMEM.
 */
int weft_event_decoded(weft_reader *reader, const struct weft_event *event, size_t index, struct weft_decoded *ret,
		       struct weft_error *error);

/*
 * weft_slices - what CPUs and tasks did, as slices of time
 * --------------------------------------------------------
 * A slice has a beginning, an end, an owner and a name: a task that had a CPU, a task that waited, a system call, an
 * interrupt, a function of the function graph. The exports of weft-export(1) have the same ones. Time about which
 * nothing is known, because events were lost or not recorded, has no slice.
 */

enum weft_slice_kind {
	WEFT_SLICE_RUN = 0,     /* a task had a CPU */
	WEFT_SLICE_STATE = 1,   /* a task was in `state` */
	WEFT_SLICE_CALL = 2,    /* a system call of a task */
	WEFT_SLICE_IRQ = 3,     /* the handler of a device's interrupt `number` */
	WEFT_SLICE_SOFTIRQ = 4, /* the handler of softirq `number` */
	WEFT_SLICE_TASKLET = 5,
	WEFT_SLICE_VECTOR = 6,   /* an interrupt of the CPU itself */
	WEFT_SLICE_FUNCTION = 7, /* a call of the function graph, at `depth` */
	WEFT_SLICE_COUNTER = 8,  /* a moment from which `number` holds */
	WEFT_SLICE_LOSS = 9,     /* a moment: events of a CPU were lost */
	WEFT_SLICE_MARK = 10,    /* a span of a thread that a program marked, at `depth` */
	WEFT_SLICE_ASYNC = 11,   /* a span of a process that a program marked, with the cookie `number` */
	WEFT_SLICE_INSTANT = 12, /* a moment that a program marked */
	WEFT_SLICE_PAIR = 13     /* what two other events begin and end: mm_compaction_begin and _end */
};

enum weft_slice_end {
	WEFT_END_KNOWN = 0, /* an event ended it */
	WEFT_END_LOST = 1,  /* events were lost: it may have ended later */
	WEFT_END_OPEN = 2   /* it goes on when the trace ends */
};

enum weft_state {
	WEFT_STATE_UNKNOWN = 0,
	WEFT_STATE_NEW = 1,       /* forked, and not yet woken */
	WEFT_STATE_RUNNING = 2,   /* has a CPU */
	WEFT_STATE_PREEMPTED = 3, /* lost its CPU, and waits for one */
	WEFT_STATE_WAKING = 4,    /* being woken */
	WEFT_STATE_QUEUED = 5,    /* woken, and waits for a CPU */
	WEFT_STATE_SLEEPING = 6,  /* can be woken by a signal */
	WEFT_STATE_BLOCKED = 7,   /* cannot: 'D' of ps(1) */
	WEFT_STATE_STOPPED = 8,
	WEFT_STATE_DEAD = 9
};

/* Members that a kind does not have are zero, a PID and a CPU then -1. */
struct weft_slice {
	size_t size;
	enum weft_slice_kind kind;
	enum weft_slice_end end;
	uint64_t from, to;
	int32_t cpu; /* not of a state or a system call */
	int32_t pid; /* of a run, a state, a system call, a function of a task, a mark, a pair of events of a task */
	size_t buffer;
	const char *name; /* without a NUL at its end; it is valid during the call */
	size_t name_len;
	int64_t number;
	int32_t depth;
	enum weft_state state;
	char letter; /* of a state that begins with a switch, as the kernel names it: 'S', 'D'; 0: unknown */
	/* Of a mark and a counter of a program. */
	int32_t process;   /* the PID of its process */
	const char *track; /* without a NUL at its end; NULL: that of the thread, or of the name */
	size_t track_len;
};

/* Gets each slice when it has ended. 0: go on; any other value ends the reading. `slice` is valid during the call. */
typedef int weft_slice_fn(void *arg, const struct weft_slice *slice);

/*
 * Reads all events and calls `see` for each slice of the kinds that have a bit, 1 << WEFT_SLICE_x, in `kinds`. The
 * query chooses CPUs and times; words for events, filters and tasks are ignored, because a slice needs the events of
 * all. Returns 0 at the end, what `see` returned if it was not 0, or a negative errno.
 */
int weft_reader_slices(weft_reader *reader, uint32_t kinds, weft_slice_fn *see, void *arg, struct weft_error *error);

struct weft_life {
	size_t size;
	int32_t pid;
	int32_t parent;       /* the PID of the task that started it; -1: unknown */
	int32_t process;      /* the PID of its process; 0: unknown */
	uint64_t first, last; /* times of the first and the last event that names it */
	bool has_begun;       /* its fork was seen, at `began` */
	bool has_ended;       /* its end was seen, at `ended` */
	bool was_replaced;    /* its end was not seen, but its PID belonged to another task later */
	uint64_t began, ended;
	int32_t status;   /* of exit(2); 0x100 and the number of the signal that killed it; -1: unknown */
	uint32_t execs;   /* programs that it executed, */
	uint32_t started; /* and tasks that it started */
	size_t buffer;
	const char *comm;    /* the last name; "": unknown. It ends with a NUL, and is valid during the call */
	const char *program; /* the file that it executed last, without a NUL; NULL: no exec was seen */
	size_t program_len;
};

typedef int weft_life_fn(void *arg, const struct weft_life *life);

/*
 * All tasks over time: reads all events, and calls `see` for each task that one of them names, in the order in which
 * they were named first; a PID that was used again is another task. What lost events hid is not known. The query
 * chooses the times. Returns as weft_reader_slices().
 */
int weft_reader_lives(weft_reader *reader, weft_life_fn *see, void *arg, struct weft_error *error);

/*
 * weft_arrow - events and tables as columns
 * -----------------------------------------
 * Columns come through the C data interface of Apache Arrow, which is three structures and no library: pandas, polars,
 * DuckDB, pyarrow, nanoarrow and R's arrow take them without a copy. Its documentation,
 * https://arrow.apache.org/docs/format/CDataInterface.html, says what the members mean. Whoever gets such a structure
 * calls its release(), once, from any thread.
 */

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

#endif

struct weft_arrow_options {
	size_t size;
	size_t rows; /* of each array, at most; 0: 65,536; never more than 1,048,576 */
	/* The stream frees the reader when it is released, and when weft_reader_arrow() fails nothing is freed. */
	bool takes_reader;
};

/*
 * The events of the reader as a stream of struct arrays, with a column for each name in `columns`: those of
 * weft-export(1) --fields. "ts", "lost" and "wall" (in ns since 1970) are int64, "cpu", "pid" and "tgid" int32, "flags"
 * and "preempt_count" uint8, "comm", "instance", "system", "event" and "text" utf8, as are "process", "program",
 * "unit", "container", "pod", "cgroup" and "user": whom the task belonged to then; "mark" is the innermost span that
 * its thread had marked; "clock_error" is int64, how many ns the time may be off beside those of other machines; any
 * other name is that of a field: an integer of its size, utf8, or a list of integers; a structure is utf8 with JSON. A
 * field that several types have gets one column with room for all of them; an event without it has null there. Texts
 * are UTF-8: each other byte is U+FFFD. Lost events are rows, with the event "lost", only if the column "lost" is asked
 * for. The reader may be new, or started and not read from; it must live until the stream is released, and nothing else
 * may use it. -ENOENT: no type of the files that the query lets pass has a field of this name; -EINVAL: types have
 * fields of this name that cannot be in one column; -EBUSY; -ENOMEM. `options` may be NULL. The errors of get_next()
 * are positive errno; get_last_error() has the text.
 */
int weft_reader_arrow(weft_reader *reader, const char *const *columns, size_t nr,
		      const struct weft_arrow_options *options, struct ArrowArrayStream *ret, struct weft_error *error);

/* A table as one struct array with its schema, which live longer than the result if need be. */
int weft_table_arrow(const weft_table *table, struct ArrowSchema *ret_schema, struct ArrowArray *ret_array,
		     struct weft_error *error);

/*
 * weft_analyse - analyses and their tables
 * ----------------------------------------
 * An analysis reads all events once and ends with tables: weft-sched(1), weft-latency(1), weft-syscalls(1) and others.
 * Several can share one pass. What an analysis cannot know, because the trace begins or ends in the middle of
 * something, because events were lost or were not recorded, it counts and says: weft_result_limit().
 */

struct weft_analysis_info {
	size_t size;
	const char *name;    /* of the analysis and of its command: "sched" */
	const char *summary; /* one line */
};

/* The analyses by index: 1, or 0 after the last. The texts live as long as the program. */
int weft_analysis_at(size_t index, struct weft_analysis_info *ret);

struct weft_analyse_options {
	size_t size;
	/* the column that orders the rows, as --sort takes it; NULL: each table's own */
	const char *sort;
	/*
	 * Is called after some ten thousand events each: a value other than 0 ends the reading, and weft_analyse()
	 * fails with -EINTR. NULL: nothing is called.
	 */
	int (*interrupted)(void *arg);
	void *arg;
	/* How many threads may read and add up for the analyses; 0 and 1: none but the caller's. */
	unsigned threads;
	/* Is called as often as `interrupted`, with the part that is done, from 0 to 1. NULL: nothing is called. */
	void (*progress)(void *arg, double part);
	/* What the analysis "why" explains; NULL: what was longest. */
	const struct weft_why_options *why;
};

enum weft_why_of {
	WEFT_WHY_LONGEST = 0, /* the longest call that does not wait for work; without calls the longest wakeup */
	WEFT_WHY_CALL = 1,    /* calls of `name`; NULL: all that do not wait for work */
	WEFT_WHY_WAKEUP = 2,  /* from a wakeup until the task ran */
	WEFT_WHY_RUN = 3,     /* lives of tasks of `name`, a glob */
	WEFT_WHY_MARK = 4,    /* spans that programs marked with `name`, a glob */
	WEFT_WHY_TASK = 5     /* what the task of `name`, a PID or a glob, did from `from` to `to` */
};

/* As the options of weft-why(1). */
struct weft_why_options {
	size_t size;
	enum weft_why_of of;
	const char *name;
	uint64_t slowest;  /* how many of the longest; 0: 1 */
	uint64_t from, to; /* 0: from the first event, to the last one */
	bool tree;         /* the path in the order of time */
	bool all;          /* adds up all of them */
};

/*
 * Runs the analyses with these names over all events of the reader. The query chooses tasks, CPUs and times. -ENOENT:
 * there is no such analysis or no such column; -ENODATA: the file has nothing that the analysis could be about;
 * -ENOMEM, -EIO... `options` may be NULL.
 */
int weft_analyse(weft_reader *reader, const char *const *names, size_t nr, const struct weft_analyse_options *options,
		 weft_result **ret, struct weft_error *error);

/*
 * The same analyses of several files that have nothing to do with each other, each with its own result in ret[0] to
 * ret[nr_files - 1], which weft_result_free() frees. Up to `threads` of the options read at the same time, a file each;
 * `interrupted` and `progress` are then called by several threads, but never at the same time. If one file fails, the
 * error is that of the first that does, and there are no results.
 */
int weft_analyse_files(weft_file *const *files, size_t nr_files, const weft_query *query, const char *const *names,
		       size_t nr, const struct weft_analyse_options *options, weft_result **ret,
		       struct weft_error *error);

/*
 * An interval, or all events, that the tables of a result are about. Intervals follow each other: one ends when an
 * event comes that is later, and several without an event are one. What is under way when one ends counts in each that
 * it lasts in.
 */
struct weft_span {
	size_t size;
	uint64_t from, to;
	uint64_t events;
	bool is_whole;       /* all events */
	const char *nothing; /* why there are no tables; NULL: there are. It is valid during the call */
};

/* Gets a result and frees it. 0: go on; any other value ends the reading. */
typedef int weft_span_fn(void *arg, weft_result *result, const struct weft_span *span);

/*
 * Calls `see` with the tables of an analysis for each interval of so many ns, and then for all events; 0: only for all.
 * The file may be the running kernel: an interval then comes when it is over. When very many tasks have lived, what is
 * counted of all events begins anew, which `see` gets as one more whole. Returns 0, what `see` returned if that was not
 * 0, or a negative errno as weft_analyse(), but no -ENODATA; -ENOTSUP: the analysis "why" has no intervals.
 */
int weft_analyse_spans(weft_reader *reader, const char *name, uint64_t every_ns,
		       const struct weft_analyse_options *options, weft_span_fn *see, void *arg,
		       struct weft_error *error);

/* Frees the result with its tables. */
void weft_result_free(weft_result *result);

/* All tables, in the order of the analyses. They live as long as the result. NULL after the last. */
size_t weft_result_tables(const weft_result *result);
const weft_table *weft_result_table(const weft_result *result, size_t index);

enum weft_limit {
	WEFT_LIMIT_CUT = 1,     /* cases whose start or end is not in the trace */
	WEFT_LIMIT_BROKEN = 2,  /* cases in which events were lost */
	WEFT_LIMIT_MISSING = 3, /* events that were not recorded, and what is unknown without them */
	WEFT_LIMIT_NOTES = 4    /* other notes, one for each line */
};

/*
 * What limits the findings of an analysis, by its place in `names`: "" if nothing does. It lives as long as the
 * result.
 */
const char *weft_result_limit(const weft_result *result, size_t analysis, enum weft_limit which);

enum weft_form {
	WEFT_FORM_TEXT = 1, /* for people */
	WEFT_FORM_JSON = 2,
	WEFT_FORM_CSV = 3
};

struct weft_write_options {
	size_t size;
	size_t top;     /* rows of each table that is sorted; 0: as the command, 25 as text and else all */
	unsigned width; /* of the terminal, for text; 0: no limit */
};

/*
 * The findings of an analysis, by its place in `names`, byte for byte as its command prints them with --format. As CSV
 * all tables follow one another, with an empty line between; the command writes each into a file (-o DIR). Free *ret
 * with weft_free(); it has a NUL behind its *ret_len bytes. `options` may be NULL.
 */
int weft_result_write(const weft_result *result, size_t analysis, enum weft_form form,
		      const struct weft_write_options *options, char **ret, size_t *ret_len, struct weft_error *error);

struct weft_table_info {
	size_t size;
	const char *name;  /* in JSON: "tasks" */
	const char *title; /* the line above it */
	size_t analysis;   /* its place in `names` */
	size_t rows, columns;
};

/* Fills *ret; its texts live as long as the result. */
void weft_table_info(const weft_table *table, struct weft_table_info *ret);

enum weft_column_kind {
	WEFT_COLUMN_TEXT = 1,
	WEFT_COLUMN_NUMBER = 2,
	WEFT_COLUMN_COUNT = 3,
	WEFT_COLUMN_BYTES = 4,
	WEFT_COLUMN_NS = 5
};

struct weft_column_info {
	size_t size;
	const char *key;   /* in JSON and CSV: "runtime_ns" */
	const char *title; /* in text */
	enum weft_column_kind kind;
};

/* A column by index. -ERANGE: there is none. The texts live as long as the result. */
int weft_table_column(const weft_table *table, size_t column, struct weft_column_info *ret);

enum weft_cell_kind {
	WEFT_CELL_NONE = 0,   /* there is no value */
	WEFT_CELL_TEXT = 1,   /* text, text_len */
	WEFT_CELL_U64 = 2,    /* u64 */
	WEFT_CELL_S64 = 3,    /* s64 */
	WEFT_CELL_DECIMAL = 4 /* s64 / 10^decimals */
};

struct weft_cell {
	size_t size;
	enum weft_cell_kind kind;
	unsigned decimals;
	uint64_t u64;
	int64_t s64;
	const char *text; /* it ends with a NUL, and lives as long as the result */
	size_t text_len;
};

/* A cell. -ERANGE: there is no such row or column. */
int weft_table_cell(const weft_table *table, size_t row, size_t column, struct weft_cell *ret);

/*
 * weft_live - the events of the running kernel
 * --------------------------------------------
 * A reader can hand out events while they happen. Another process, `weft stream`, sets the kernel up in an instance of
 * its own, takes the pages out of it, and writes them into a pipe; the reader makes events of them, with all that
 * weft_reader, weft_event and weft_text have. An event comes at most 100 ms after it happened.
 *
 *	const char *const words[] = { "-e", "sched_process_exec" };
 *	int r = weft_live_start(words, 2, NULL, &reader, &error);
 *
 *	while (!r && (r = weft_reader_next(reader, &event, &error)) > 0)
 *		r = show(event);
 *
 * That process restores every setting of tracing that it has changed, when the reader is freed, and also when the
 * caller dies, however it dies: the kernel then closes the pipe. If it is killed itself, `weft recover` restores them.
 * While the caller takes no events, nothing is taken from the kernel either: its buffer overwrites the oldest ones, and
 * an item of WEFT_LOST says how many.
 *
 * The reader cannot go to places, and is used for weft_reader_next() and weft_reader_batch(), or for weft_analyse() and
 * weft_analyse_spans(). An analysis ends when tracing does: with the command, after "--duration", or after
 * weft_live_stop(), which `interrupted` and `see` may call; `interrupted` is called every 100 ms at least, and
 * `progress` never. The words of an analysis are best "--for" and its name, which choose its events; its query chooses
 * tasks and CPUs. After -EINTR or a value of `see` it may be called again, and goes on from there. Names of tasks that
 * the reader hands out live until the next event is asked for.
 */

struct weft_live_options {
	size_t size;
	const char *program;     /* the program weft; NULL: the one that was installed with the library */
	const weft_query *query; /* as of weft_reader_add(), without WEFT_QUERY_TAIL; NULL: all events */
	const char *plugins;     /* as weft_open_options.plugins */
	/* "NAME=VALUE" for the program and a command, NULL at the end; NULL: only a PATH */
	const char *const *environment;
	/*
	 * For so long weft_reader_next() waits for an event; it then returns -EAGAIN, after which it may be called
	 * again. 0: until there is one, or the end.
	 */
	unsigned wait_ms;
};

/*
 * Starts tracing with these words, which are arguments of weft-stream(1): events, functions, filters, triggers,
 * instances, the size of buffers, also "--" and a command, whose output is not shown. When it returns, tracing is on.
 * The caller needs the rights that weft-stream(1) needs. -EIO:
 * weft refuses the words or the kernel what they ask for, and the text is what weft says; -ENOENT: there is no program
 * weft. `options` may be NULL.
 *
 * weft_reader_next() returns 0 when tracing has ended: after weft_live_stop(), with the command, or after the time of
 * "--duration". It returns -EINTR when a signal came meanwhile, and may be called again.
 */
int weft_live_start(const char *const *words, size_t nr, const struct weft_live_options *options, weft_reader **ret,
		    struct weft_error *error);

/*
 * The same from a descriptor, which is copied: to it somebody else writes what `weft stream --pages` does, also on
 * another machine of the same byte order. -EBADMSG: it is nothing of this kind.
 */
int weft_live_open_fd(int fd, const struct weft_live_options *options, weft_reader **ret, struct weft_error *error);

/*
 * Ends tracing; the events until then are still handed out, if they are asked for within a second. -ENOTSUP: the reader
 * is of weft_live_open_fd(); -EINVAL: it does not read the running kernel.
 */
int weft_live_stop(weft_reader *reader, struct weft_error *error);

/*
 * A descriptor for poll(2), with the reader's lifetime: when it can be read, there may be events. They are asked for
 * until -EAGAIN comes, with a small `wait_ms`. -EINVAL: the reader does not read the running kernel.
 */
int weft_live_fd(const weft_reader *reader);

/*
 * weft_writer - make a trace.dat
 * ------------------------------
 * A program, or a simulator, writes events of its own as a trace.dat that weft, trace-cmd and KernelShark read, or the
 * events that a reader chooses as an excerpt. Pages wait in a temporary file without a name until the file is written.
 * The file has the byte order and the size of a long of the machine that writes it.
 */

typedef struct weft_writer weft_writer;

struct weft_writer_options {
	size_t size;
	unsigned version;     /* of the format: 6 or 7; 0: 7 */
	bool plain;           /* not compressed; version 6 never is */
	const char *clock;    /* of the times: "local", "mono"; NULL: "local" */
	const char *release;  /* of the kernel; NULL: none is told */
	const char *machine;  /* as uname -m names it */
	const char *recorder; /* the name and version of the program; NULL: the library's. It is not copied */
	int64_t date_offset;  /* a time of the file plus this is ns since 1970, to the microsecond; 0: unknown */
};

/* A writer of nothing. `options` may be NULL. -EINVAL: an option has no sense; -ENOMEM. */
int weft_writer_new(const struct weft_writer_options *options, weft_writer **ret, struct weft_error *error);

/* Frees the writer; what was not written is lost. */
void weft_writer_free(weft_writer *writer);

/*
 * Adds a format by its text, that of events/SYSTEM/NAME/format, as weft_file_format() tells it. *ret_id, which may be
 * NULL, is its number, which the text has. -EBADMSG, -EINVAL: it is no format; -EEXIST: the number is in use.
 */
int weft_writer_format(weft_writer *writer, const char *system, const char *text, size_t len, int32_t *ret_id,
		       struct weft_error *error);

/*
 * Adds a format by its fields, of which `name`, `c_type` ("int", "char[16]", "__data_loc char[]"), `offset`, `bytes`
 * and `is_signed` count. The first 8 bytes of a record are the common fields, which the writer adds. `print_fmt` is as
 * in the kernel's formats: "\"pid=%d\", REC->pid". *ret_id is the number that it gets. -EINVAL: a name or a field is
 * none.
 */
int weft_writer_type(weft_writer *writer, const char *system, const char *name, const struct weft_field_info *fields,
		     size_t nr, const char *print_fmt, int32_t *ret_id, struct weft_error *error);

/* The name of a task, and the PID of its process or 0. -EINVAL: the PID or the name cannot be one; -ENOMEM. */
int weft_writer_task(weft_writer *writer, int32_t pid, int32_t tgid, const char *comm, struct weft_error *error);

struct weft_new_event {
	size_t size;
	uint64_t ts;
	const void *data; /* the record behind its common fields */
	uint32_t bytes;
	uint32_t cpu;
	int32_t type; /* the number of its format */
	int32_t pid;
	uint8_t flags; /* enum weft_flag */
	uint8_t preempt;
};

/*
 * Adds an event. Those of one CPU come in the order of their times; CPUs in any order. -ENOENT: there is no such
 * format; -EINVAL: the record is shorter than the format, larger than 12,000 bytes, or earlier than the one before;
 * -EBUSY: the file has been written; -EIO, -ENOSPC, -ENOMEM.
 */
int weft_writer_add(weft_writer *writer, const struct weft_new_event *event, struct weft_error *error);

/* Says that events were lost on a CPU before the next one: how many, or -1. -EINVAL: there is no such CPU. */
int weft_writer_lost(weft_writer *writer, uint32_t cpu, int64_t events, struct weft_error *error);

/* Writes the file to a descriptor, which may be a pipe. Afterwards the writer can only be freed. */
int weft_writer_finish(weft_writer *writer, int fd, struct weft_error *error);

struct weft_save_options {
	size_t size;
	unsigned version; /* of the format: 6 or 7; 0: 7 */
	bool plain;       /* not compressed; version 6 never is */
};

/*
 * Writes all events of a new reader of one file as an excerpt, with the texts and settings of the file, as the exports
 * to trace.dat of weft-export(1) do. The excerpt says what its query left out. `ret_events` and `options` may be NULL.
 * -EBUSY: the reader has started; -EINVAL: it has several files.
 */
int weft_reader_save(weft_reader *reader, int fd, const struct weft_save_options *options, uint64_t *ret_events,
		     struct weft_error *error);

struct weft_redact_options {
	size_t size;
	unsigned version; /* of the format: 6 or 7; 0: 7 */
	bool plain;       /* not compressed; version 6 never is */
	bool pids;        /* PIDs are shifted, too */
	/* 16 secret bytes, by which a name has the same stand-in in several files; NULL: some that are forgotten */
	const void *key;
	const char *const *keep; /* globs: names of tasks that are kept */
	size_t nr_keep;
	const char *check; /* words, one on each line, that must not be in the new file; NULL: none */
};

struct weft_redacted {
	size_t size;
	uint64_t names, kept;      /* different names that were replaced, and kept */
	uint64_t records, emptied; /* events, and those of which only time, task and type are left */
	uint64_t bytes;            /* of the new file */
};

/*
 * Writes the file again without names, paths, addresses and texts that tell whose it is, as weft-redact(1), which says
 * what it still tells. Times, lengths and counts stay. `ret` and `options` may be NULL. -ENOKEY: a word of `check` is
 * in what was written, which nobody should get.
 */
int weft_file_redact(const weft_file *file, int fd, const struct weft_redact_options *options,
		     struct weft_redacted *ret, struct weft_error *error);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
