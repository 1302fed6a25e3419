/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_CHOICE_H
#define WEFT_CMD_OPTIONS_CHOICE_H

#include "cmd/options/option_rows.h"
#include "lib/ground/base/cleanup.h"
#include "lib/meaning/reader/query.h"

struct buf;
struct decode;
struct fail;
struct reader;
struct trace;

/*
 * The options that choose events of a file, as child tables. The input of each is a struct query, which begins as
 * QUERY_INIT. They stand in these tables only and mean the same in all commands.
 */
extern const struct options choice_time_options;   /* --since, --until, --around, --before, --after */
extern const struct options choice_count_options;  /* --limit and --tail */
extern const struct options choice_task_options;   /* those of time, --cpu, --pid, --comm, --process and so on */
extern const struct options choice_part_options;   /* these and --instance */
extern const struct options choice_events_options; /* --event, --filter and --invert */
extern const struct options choice_options;        /* all of these, --longer and so on */

/*
 * Takes the FILE of a command line, or FILE@TIME, as weft brief prints moments: cuts the time off, which is that of
 * --around. What is the name of a file as it stands is one. Returns the file.
 */
const char *choice_take_file(struct query *query, char *arg, struct argp_state *state);

/* Adds -f to a struct query, also under another letter. */
void choice_take_filter(const struct option_row *row, void *query, char *filter, struct argp_state *state);

/*
 * Adds the buffers that are asked for, with the plugins that `decode` wants (NULL: none), and narrows them. A file
 * that only has the text of a latency tracer is refused.
 */
int must_check choice_buffers(const struct query *query, const struct decode *decode, enum query_gives gives,
			      struct trace *trace, struct reader *reader, struct fail *fail);

/* Of --counter EVENT:FIELD: -ENOENT if no buffer of the reader has such an event with such a field. */
int must_check choice_check_counters(const struct reader *reader, const char *const *counters, size_t nr,
				     struct fail *fail);

/* Fails because a file that only has the text of a latency tracer has no events; `what` says what to do instead. */
int choice_refuse_text(struct trace *trace, const char *what, struct fail *fail);

/*
 * Explains an empty answer. If any choice was given, it prints to standard error how many events there are, what time
 * they span, and which choice no event meets, with similar names. It reads the file once more, up to some millions of
 * events. If it cannot, it prints nothing. `rows`: the answer is made from events, so that only a choice that no event
 * meets explains it.
 */
void choice_tell_empty(struct trace *trace, const struct query *query, bool rows);

/*
 * Appends a line for whom --process, --unit and so on leave out because it is not known whom they belong to. For what
 * has no notes of its own; choice_tell_unknown() says them to standard error. False without memory.
 */
bool must_check choice_unknown(const struct query *query, const struct reader *reader, struct buf *into);
void choice_tell_unknown(const struct query *query, const struct reader *reader);

/* Reads the value of --time into an enum face_kind (lib/meaning/clock/face.h). */
#define CHOICE_FACES "trace|wall|utc|relative"
struct option_row;
void choice_take_face(const struct option_row *row, void *face, char *name, struct argp_state *state);
/* The same for what happens now, which has no first event yet. */
#define CHOICE_LIVE_FACES "trace|wall|utc"
void choice_take_live_face(const struct option_row *row, void *face, char *name, struct argp_state *state);

/*
 * Reads the zone that a time names (day_time_zone_name()), in a process without other threads that can open files.
 * -ENOENT: there is no such one.
 */
struct zone;
int must_check choice_read_zone(const char *name, struct zone **ret, struct fail *fail);

#endif
