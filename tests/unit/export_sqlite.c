// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/test.h"

#ifdef WEFT_SQLITE

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/export/export.h"
#include "formats/export/sqlite/db_internal.h"
#include "formats/export/sqlite/db_query.h"
#include "lib/ground/base/draft.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/table.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"

/* sh sleeps and ls wakes it. The trace has a system call, an interrupt, a softirq, and the frequency of a CPU. */
static const char script[] =
	"0 1000 0 sched_switch prev_comm=swapper/0 next_comm=sh next_pid=7 next_prio=120\n"
	"0 2000 7 sys_enter id=0\n"
	"0 2500 7 sys_exit id=0 ret=12\n"
	"0 3000 7 irq_handler_entry irq=9 name=acpi\n"
	"0 3400 7 irq_handler_exit irq=9 ret=1\n"
	"0 3500 7 softirq_entry vec=3\n"
	"0 3900 7 softirq_exit vec=3\n"
	"0 5000 7 sched_switch prev_comm=sh prev_pid=7 prev_prio=120 prev_state=1 next_comm=ls next_pid=8 "
	"next_prio=100\n"
	"0 6000 8 cpu_frequency state=1800000 cpu_id=0\n"
	"0 7000 8 sched_waking comm=sh pid=7 prio=120 target_cpu=0\n"
	"0 9000 8 sched_switch prev_comm=ls prev_pid=8 prev_prio=100 prev_state=0 next_comm=sh next_pid=7 "
	"next_prio=120\n"
	"0 9900 7 sys_enter id=1\n";

struct scene {
	struct loom loom;
	int fd;
	struct db *db;
	struct db_map map;
	struct db *handle;
};

static void export_to(struct scene *scene, const struct export_ops *ops, struct trace *trace)
{
	struct export *export = NULL;
	struct reader reader;
	struct event event;
	struct out out;

	reader_init(&reader);
	if (CHECK(out_init(&out, 4096) && !reader_add_trace(&reader, trace, NULL)) &&
	    CHECK(!export_new(ops, &(struct export_input){ .reader = &reader, .db = scene->db }, &out, &export,
			      NULL)) &&
	    CHECK(!reader_start(&reader, &(struct reader_options){ .pool = NULL }, NULL))) {
		if (export->ops->begin)
			export->ops->begin(export);
		while (reader_next(&reader, &event, NULL) > 0)
			export->ops->event(export, &event);
		if (export->ops->end)
			export->ops->end(export);
		CHECK(!export->error);
	}
	export_free(export);
	reader_release(&reader);
	out_release(&out);
}

static bool begin_with(struct scene *scene, const char *lines)
{
	const struct export_ops *ops = export_find("sqlite");
	struct trace *trace;

	*scene = (struct scene){ .db = NULL };
	loom_init(&scene->loom);
	loom_task(&scene->loom, 7, "sh");
	loom_task(&scene->loom, 8, "ls");
	loom_type(&scene->loom, "raw_syscalls", "sys_enter", "long id", "\"NR %ld\", REC->id");
	loom_type(&scene->loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"NR %ld = %ld\", REC->id, REC->ret");
	loom_type(&scene->loom, "irq", "softirq_entry", "u32 vec", "\"vec=%u\", REC->vec");
	loom_type(&scene->loom, "irq", "softirq_exit", "u32 vec", "\"vec=%u\", REC->vec");
	loom_type(&scene->loom, "power", "cpu_frequency", "u32 state; u32 cpu_id",
		  "\"state=%u cpu_id=%u\", REC->state, REC->cpu_id");
	loom_graph(&scene->loom);
	loom_play(&scene->loom, lines);
	trace = loom_trace(&scene->loom);
	if (!CHECK(trace && !draft_nameless("/tmp", &scene->fd)) || !CHECK(!ops->open(scene->fd, &scene->db, NULL)))
		return false;
	if (!CHECK(!db_query_open(&scene->handle, NULL)))
		return false;
	export_to(scene, ops, trace);
	trace_free(trace);
	return CHECK(!db_query_use(scene->handle, scene->fd, &scene->map, NULL));
}

static bool begin(struct scene *scene)
{
	return begin_with(scene, script);
}

static void end(struct scene *scene)
{
	db_query_close(scene->handle);
	db_map_release(&scene->map);
	export_find("sqlite")->close(scene->db);
	close(scene->fd);
	loom_release(&scene->loom);
}

/* The answer to a statement as CSV, or its error. */
static const char *ask(struct scene *scene, const char *sql, char *into, size_t size)
{
	struct db_answer answer;
	struct fail fail = FAIL_INIT;
	struct out out;

	into[0] = '\0';
	if (db_query(scene->handle, sql, &answer, &fail)) {
		snprintf(into, size, "%s", fail.text);
	} else if (CHECK(out_init(&out, 4096))) {
		CHECK(table_write(&answer.table, TABLE_AS_CSV, &out));
		snprintf(into, size, "%.*s", (int)out_len(&out), out.start);
		out_release(&out);
	}
	db_answer_release(&answer);
	return into;
}

struct answer {
	const char *sql, *want;
};

static void check_answers_of(const char *lines, const struct answer *answers, size_t nr)
{
	struct scene scene;
	char got[1024];

	if (begin_with(&scene, lines))
		for (size_t i = 0; i < nr; i++)
			CHECK_STR(ask(&scene, answers[i].sql, got, sizeof(got)), answers[i].want);
	end(&scene);
}

static void check_answers(const struct answer *answers, size_t nr)
{
	check_answers_of(script, answers, nr);
}

TEST(sqlite_tables_have_turns_states_slices_and_counters)
{
	static const struct answer table[] = {
		{ "SELECT s.ts, dur, cpu, tid, end_state, priority FROM sched s JOIN thread USING (utid) "
		  "WHERE tid > 0 AND dur > 0 ORDER BY s.ts",
		  "ts,dur,cpu,tid,end_state,priority\n1000,4000,0,7,S,120\n5000,4000,0,8,R,100\n" },
		{ "SELECT t.ts, t.dur, t.state, w.tid AS waker FROM thread_state t JOIN thread USING (utid) "
		  "LEFT JOIN thread w ON w.utid = waker_utid WHERE thread.tid = 7 AND t.dur > 0 ORDER BY t.ts",
		  "ts,dur,state,waker\n1000,4000,Running,\n5000,2000,S,\n7000,2000,R,8\n" },
		/* The recording does not name its machine, so the names of its system calls are unknown. */
		{ "SELECT s.ts, s.dur, s.name, category, k.name AS track FROM slice s JOIN track k ON k.id = track_id "
		  "WHERE s.dur > 0 ORDER BY s.ts",
		  "ts,dur,name,category,track\n2000,500,sys_0,syscall,system calls\n3000,400,irq 9,irq,irq\n"
		  "3500,400,softirq 3,irq,softirq\n" },
		{ "SELECT ts, value, cpu FROM counter JOIN track ON id = track_id", "ts,value,cpu\n6000,1800000,0\n" },
		{ "SELECT tid, name FROM thread WHERE tid > 0 ORDER BY tid", "tid,name\n7,sh\n8,ls\n" },
	};

	check_answers(table, array_size(table));
}

TEST(sqlite_tables_keep_what_runs_on_another_cpu_than_that_of_a_loss)
{
	static const char lines[] = "0 1000 0 sched_switch prev_comm=swapper/0 next_comm=sh next_pid=7 next_prio=120\n"
				    "1 1100 0 sched_switch prev_comm=swapper/1 next_comm=ls next_pid=8 next_prio=120\n"
				    "0 1200 7 sys_enter id=0\n"
				    "1 1300 8 sys_enter id=0\n"
				    "0 1400 7 irq_handler_entry irq=9 name=acpi\n"
				    "1 1500 8 irq_handler_entry irq=8 name=rtc\n"
				    "1 lost 5\n"
				    "1 1800 8 irq_handler_exit irq=8 ret=1\n"
				    "0 1900 7 irq_handler_exit irq=9 ret=1\n"
				    "0 2000 7 sys_exit id=0 ret=12\n"
				    "1 2100 8 sys_exit id=0 ret=12\n"
				    "0 3000 7 sched_switch prev_comm=sh prev_pid=7 prev_state=1 next_comm=swapper/0\n"
				    "1 4000 8 sched_switch prev_comm=ls prev_pid=8 prev_state=1 next_comm=swapper/1\n"
				    "1 5000 0 sched_waking comm=sh pid=7\n";
	static const struct answer table[] = {
		{ "SELECT ts, dur, cpu, tid, end_state FROM sched JOIN thread USING (utid) WHERE tid > 0 ORDER BY ts",
		  "ts,dur,cpu,tid,end_state\n1000,2000,0,7,S\n1100,400,1,8,\n1800,2200,1,8,S\n" },
		{ "SELECT s.ts, s.dur, s.name FROM slice s ORDER BY s.ts",
		  "ts,dur,name\n1200,800,sys_0\n1400,500,irq 9\n" },
		{ "SELECT tid, turns, dur FROM thread_time WHERE tid > 0 ORDER BY tid",
		  "tid,turns,dur\n7,1,2000\n8,2,2600\n" },
		{ "SELECT key, value FROM meta WHERE key IN ('start', 'end')", "key,value\nstart,1000\nend,5000\n" },
	};

	check_answers_of(lines, table, array_size(table));
}

/* Switches from sh to ls were not recorded: sh ran until its last event, and not until ls lost the CPU. */
TEST(sqlite_turns_end_with_the_last_event_where_a_switch_is_missing)
{
	static const char lines[] =
		"0 1000 7 sched_waking comm=sh pid=9\n"
		"0 1300 7 sched_waking comm=sh pid=9\n"
		"0 5000 8 sched_switch prev_comm=ls prev_pid=8 prev_state=1 next_comm=sh next_pid=7\n"
		"0 8000 8 sched_switch prev_comm=ls prev_pid=8 prev_state=1 next_comm=sh next_pid=7\n"
		"0 8400 7 sched_switch prev_comm=sh prev_pid=7 prev_state=1 next_comm=swapper/0\n";
	static const struct answer table[] = {
		{ "SELECT ts, dur, tid FROM sched JOIN thread USING (utid) WHERE tid > 0 ORDER BY ts",
		  "ts,dur,tid\n1000,300,7\n8000,400,7\n" },
	};

	check_answers_of(lines, table, array_size(table));
}

TEST(sqlite_slices_of_a_graph_of_exits_only_are_its_calls)
{
	static const char lines[] = "0 1000 7 sched_waking comm=sh pid=7\n"
				    "0 2000 7 funcgraph_exit func=0x30 depth=1 calltime=1200 rettime=2000\n"
				    "0 5000 7 funcgraph_exit func=0x10 depth=0 calltime=1000 rettime=5000\n";
	static const struct answer table[] = {
		{ "SELECT ts, dur, name, depth FROM slice ORDER BY ts",
		  "ts,dur,name,depth\n1000,4000,0x10,0\n1200,800,0x30,1\n" },
	};

	check_answers_of(lines, table, array_size(table));
}

TEST(sqlite_answers_have_values_of_every_kind)
{
	static const struct answer table[] = {
		{ "SELECT 1.5 AS a, -0.25 AS b, 7 AS c", "a,b,c\n1.5,-0.25,7\n" },
		{ "SELECT 1e300 AS big, NULL AS none, 'a,\"b' AS text", "big,none,text\n1.0e+300,,\"a,\"\"b\"\n" },
		{ "SELECT x'68690aff00' AS bytes", "bytes\nx'68690aff00'\n" },
		{ "-- a comment\n; SELECT 1 AS one; -- another", "one\n1\n" },
	};

	check_answers(table, array_size(table));
}

TEST(sqlite_answers_only_what_reads)
{
	static const struct {
		const char *sql, *said;
	} table[] = {
		{ "DELETE FROM slice", "only reads" },
		{ "CREATE TABLE mine (a)", "only reads" },
		{ "ATTACH '/tmp/other.db' AS other", "only reads" },
		{ "PRAGMA journal_mode = DELETE", "only reads" },
		{ "SELECT nosuch FROM slice", "no such column: nosuch" },
		{ "SELEKT 1", "syntax error" },
	};
	struct scene scene;
	char got[1024];

	if (begin(&scene)) {
		for (size_t i = 0; i < array_size(table); i++)
			if (!CHECK(strstr(ask(&scene, table[i].sql, got, sizeof(got)), table[i].said)))
				fprintf(stderr, "%s: %s\n", table[i].sql, got);
		CHECK_STR(ask(&scene, "SELECT count(*) AS n FROM slice WHERE dur > 0", got, sizeof(got)), "n\n3\n");
		CHECK(strstr(ask(&scene, "PRAGMA table_info(counter)", got, sizeof(got)), "track_id"));
		/* Without a statement: the list of tables. */
		CHECK(strstr(ask(&scene, NULL, got, sizeof(got)), "table,counter,ts track_id value instance\n"));
	}
	end(&scene);
}

TEST(sqlite_takes_one_statement_at_a_time)
{
	struct fail fail = FAIL_INIT;

	CHECK(!db_query_check("SELECT ';' FROM slice;  ", NULL));
	CHECK(!db_query_check("-- a; b\nSELECT 1; -- c", NULL) && !db_query_check("SELECT 1; /* c; */ ;", NULL));
	CHECK(db_query_check(" -- SELECT 1\n/* SELECT 2", &fail) == -EINVAL);
	CHECK(db_query_check(" ; ", &fail) == -EINVAL);
	CHECK_STR(fail.text, "there is no statement in ' ; '");
	CHECK(db_query_check("SELECT 1; SELECT 2", &fail) == -EINVAL);
	CHECK_STR(fail.text, "one statement at a time; the second is 'SELECT 2'");
}

#endif
