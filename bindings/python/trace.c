// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* An open file, and the queries of what is read from it. */

bool trace_is_open(const struct trace *trace)
{
	if (trace->file)
		return true;
	PyErr_SetString(PyExc_ValueError, "the trace is closed");
	return false;
}

static void trace_dealloc(PyObject *self)
{
	struct trace *trace = (struct trace *)self;

	weft_file_free(trace->file);
	Py_XDECREF(trace->path);
	object_end(self);
}

static PyObject *trace_close(PyObject *self, PyObject *ignored)
{
	struct trace *trace = (struct trace *)self;

	(void)ignored;
	weft_file_free(trace->file);
	trace->file = NULL;
	Py_RETURN_NONE;
}

static PyObject *trace_enter(PyObject *self, PyObject *ignored)
{
	(void)ignored;
	if (!trace_is_open((struct trace *)self))
		return NULL;
	Py_INCREF(self);
	return self;
}

static PyObject *trace_repr(PyObject *self)
{
	const struct trace *trace = (const struct trace *)self;

	return PyUnicode_FromFormat("<weft.Trace %R%s>", trace->path, trace->file ? "" : ", closed");
}

enum fact {
	FACT_RELEASE,
	FACT_MACHINE,
	FACT_CODEC,
	FACT_RECORDER,
	FACT_VERSION,
	FACT_CPUS,
	FACT_LONG_SIZE,
	FACT_BIG_ENDIAN,
	FACT_DATE_OFFSET,
	FACT_PAGE_SIZE
};

static PyObject *trace_fact(PyObject *self, void *which)
{
	const struct trace *trace = (const struct trace *)self;
	struct weft_file_info info = { .size = sizeof(info) };
	struct weft_error error;

	if (!trace_is_open(trace))
		return NULL;
	if (weft_file_info(trace->file, &info, &error))
		return raise_error(&error);
	switch ((enum fact)(uintptr_t)which) {
	case FACT_RELEASE:
		return text_of(info.release, strlen(info.release));
	case FACT_MACHINE:
		return text_of(info.machine, strlen(info.machine));
	case FACT_CODEC:
		return text_of(info.codec, strlen(info.codec));
	case FACT_RECORDER:
		return text_of(info.recorder, strlen(info.recorder));
	case FACT_VERSION:
		return PyLong_FromUnsignedLong(info.version);
	case FACT_CPUS:
		return PyLong_FromUnsignedLong(info.cpus);
	case FACT_LONG_SIZE:
		return PyLong_FromUnsignedLong(info.long_size);
	case FACT_PAGE_SIZE:
		return PyLong_FromUnsignedLong(info.page_size);
	case FACT_BIG_ENDIAN:
		return PyBool_FromLong(info.big_endian);
	case FACT_DATE_OFFSET:
		if (info.has_date)
			return PyLong_FromLongLong(info.date_offset);
		break;
	}
	Py_RETURN_NONE;
}

static PyObject *trace_damage(PyObject *self, void *ignored)
{
	const struct trace *trace = (const struct trace *)self;
	const char *damage;

	(void)ignored;
	if (!trace_is_open(trace))
		return NULL;
	damage = weft_file_damage(trace->file);
	if (damage)
		return text_of(damage, strlen(damage));
	Py_RETURN_NONE;
}

static PyObject *number_if(bool has, uint64_t number)
{
	if (has)
		return PyLong_FromUnsignedLongLong(number);
	Py_RETURN_NONE;
}

/* Fills a structure with objects; false: an exception is set. */
static bool fill_struct(PyObject *into, PyObject *const *objects, Py_ssize_t nr)
{
	bool ok = true;

	for (Py_ssize_t i = 0; i < nr; i++)
		ok = ok && objects[i];
	for (Py_ssize_t i = 0; i < nr; i++) {
		if (ok)
			PyStructSequence_SetItem(into, i, objects[i]);
		else
			Py_XDECREF(objects[i]);
	}
	return ok;
}

static PyObject *buffer_at(weft_file *file, size_t index)
{
	struct weft_buffer_info info = { .size = sizeof(info) };
	struct weft_error error;
	PyObject *buffer;
	int r;

	Py_BEGIN_ALLOW_THREADS;
	r = weft_file_buffer(file, index, &info, &error);
	Py_END_ALLOW_THREADS;
	if (r)
		return raise_error(&error);
	buffer = PyStructSequence_New(python_weft.buffer);
	if (buffer) {
		PyObject *const objects[] = {
			text_of(info.name, strlen(info.name)),     text_of(info.clock, strlen(info.clock)),
			text_of(info.tracer, strlen(info.tracer)), PyBool_FromLong(info.clock_is_ns),
			number_if(info.has_events, info.first),    number_if(info.has_events, info.last),
			PyLong_FromUnsignedLong(info.cpus),
		};

		if (!fill_struct(buffer, objects, sizeof(objects) / sizeof(*objects)))
			Py_CLEAR(buffer);
	}
	return buffer;
}

static PyObject *trace_buffers(PyObject *self, void *ignored)
{
	const struct trace *trace = (const struct trace *)self;
	PyObject *list;

	(void)ignored;
	if (!trace_is_open(trace))
		return NULL;
	list = PyList_New(0);
	for (size_t i = 0; list && i < weft_file_buffers(trace->file); i++) {
		PyObject *buffer = buffer_at(trace->file, i);

		if (!buffer || PyList_Append(list, buffer))
			Py_CLEAR(list);
		Py_XDECREF(buffer);
	}
	return list;
}

static PyObject *trace_setting(PyObject *self, PyObject *args)
{
	const struct trace *trace = (const struct trace *)self;
	unsigned long buffer = 0;
	const char *name, *text;
	size_t len;

	if (!PyArg_ParseTuple(args, "s|k:setting", &name, &buffer) || !trace_is_open(trace))
		return NULL;
	text = weft_file_setting(trace->file, buffer, name, &len);
	if (text)
		return text_of(text, len);
	Py_RETURN_NONE;
}

static PyObject *trace_events(PyObject *self, PyObject *args, PyObject *kwargs)
{
	PyObject *event = NULL;
	weft_query *query;

	if (!PyArg_ParseTuple(args, "|O:events", &event) || !trace_is_open((struct trace *)self))
		return NULL;
	query = query_of(event, kwargs);
	return query ? events_new((struct trace *)self, query) : NULL;
}

/* The event at or after a time, or before it, of a query: a copy, or None. */
static PyObject *event_near(PyObject *self, PyObject *args, PyObject *kwargs, const char *format, const char *move)
{
	PyObject *event = NULL, *events = NULL, *found = NULL, *copy = NULL, *moved;
	unsigned long long ts;
	weft_query *query;

	if (!PyArg_ParseTuple(args, format, &ts, &event) || !trace_is_open((struct trace *)self))
		return NULL;
	query = query_of(event, kwargs);
	events = query ? events_new((struct trace *)self, query) : NULL;
	moved = events ? PyObject_CallMethod(events, "seek", "K", ts) : NULL;
	if (moved)
		found = *move ? PyObject_CallMethod(events, move, NULL) : PyIter_Next(events);
	if (found == Py_None || (moved && !found && !PyErr_Occurred())) {
		Py_INCREF(Py_None);
		copy = Py_None;
	} else if (found) {
		copy = PyObject_CallMethod(found, "copy", NULL);
	}
	Py_XDECREF(moved);
	Py_XDECREF(found);
	Py_XDECREF(events);
	return copy;
}

static PyObject *trace_at(PyObject *self, PyObject *args, PyObject *kwargs)
{
	return event_near(self, args, kwargs, "K|O:at", "");
}

static PyObject *trace_before(PyObject *self, PyObject *args, PyObject *kwargs)
{
	return event_near(self, args, kwargs, "K|O:before", "previous");
}

static PyObject *trace_save(PyObject *self, PyObject *args, PyObject *kwargs)
{
	const struct trace *trace = (const struct trace *)self;
	PyObject *event = NULL, *path, *file;
	weft_reader *reader = NULL;
	struct weft_error error;
	weft_query *query;
	uint64_t events = 0;
	int fd, r;

	if (!PyArg_ParseTuple(args, "O|O:save", &path, &event) || !trace_is_open(trace) ||
	    !(query = query_of(event, kwargs)))
		return NULL;
	file = open_to_write(path, &fd);
	reader = file ? weft_reader_new() : NULL;
	if (!reader) {
		Py_XDECREF(file);
		weft_query_free(query);
		return PyErr_Occurred() ? NULL : PyErr_NoMemory();
	}
	r = weft_reader_add(reader, trace->file, query, &error);
	Py_BEGIN_ALLOW_THREADS;
	if (!r)
		r = weft_reader_save(reader, fd, NULL, &events, &error);
	weft_reader_free(reader);
	weft_query_free(query);
	Py_END_ALLOW_THREADS;
	if (!close_written(file))
		return NULL;
	return r ? raise_error(&error) : PyLong_FromUnsignedLongLong(events);
}

static PyObject *trace_columns(PyObject *self, PyObject *args, PyObject *kwargs)
{
	PyObject *names, *event = NULL;
	weft_query *query;

	if (!PyArg_ParseTuple(args, "O|O:columns", &names, &event) || !trace_is_open((struct trace *)self))
		return NULL;
	query = query_of(event, kwargs);
	return query ? columns_new((struct trace *)self, names, query) : NULL;
}

/* Takes a word out of a dict: a new reference, or NULL if it is not there or None. */
PyObject *take_word(PyObject *words, const char *name)
{
	PyObject *value = PyDict_GetItemString(words, name);

	Py_XINCREF(value);
	if (value && PyDict_DelItemString(words, name))
		PyErr_Clear();
	if (value == Py_None)
		Py_CLEAR(value);
	return value;
}

/* The words of `why` as a dict; false: an exception. *ret_name keeps the bytes of a name. */
static bool fill_why(PyObject *why, struct weft_why_options *ret, PyObject **ret_name)
{
	static const char *const keys[] = { "of", "name", "slowest", "start", "end", "tree", "all", NULL };
	static const char *const kinds[] = { "longest", "call", "wakeup", "run", "mark", "task" };
	enum { KINDS = sizeof(kinds) / sizeof(*kinds) };
	const char *of = "longest", *name = NULL;
	unsigned long long slowest = 0, from = 0, to = 0;
	PyObject *none = PyTuple_New(0);
	int tree = 0, all = 0, at = 0;
	bool ok = none && PyArg_ParseTupleAndKeywords(none, why, "|$szKKKpp:why", (char **)(uintptr_t)keys, &of, &name,
						      &slowest, &from, &to, &tree, &all);

	Py_XDECREF(none);
	while (ok && at < KINDS && strcmp(of, kinds[at]))
		at++;
	if (!ok || at == KINDS) {
		if (ok)
			PyErr_Format(PyExc_ValueError, "why: there is nothing '%s' to explain", of);
		return false;
	}
	*ret_name = name ? PyBytes_FromString(name) : NULL;
	*ret = (struct weft_why_options){ .size = sizeof(*ret),
					  .of = (enum weft_why_of)at,
					  .name = *ret_name ? PyBytes_AsString(*ret_name) : NULL,
					  .slowest = slowest,
					  .from = from,
					  .to = to,
					  .tree = tree,
					  .all = all };
	return !name || *ret_name;
}

static PyObject *trace_analyse(PyObject *self, PyObject *args, PyObject *kwargs)
{
	PyObject *words = kwargs ? PyDict_Copy(kwargs) : PyDict_New(), *why, *threads, *name = NULL, *result = NULL;
	struct analyse_words taken = { .sort = NULL };
	struct weft_why_options options;
	weft_query *query = NULL;
	bool ok;

	if (!words || !trace_is_open((struct trace *)self)) {
		Py_XDECREF(words);
		return NULL;
	}
	taken.sort = take_word(words, "sort");
	taken.progress = take_word(words, "progress");
	why = take_word(words, "why");
	threads = take_word(words, "threads");
	if (threads)
		taken.threads = (unsigned)PyLong_AsUnsignedLong(threads);
	ok = !PyErr_Occurred();
	if (ok && why) {
		ok = PyDict_Check(why) ? fill_why(why, &options, &name) :
					 !PyErr_Format(PyExc_TypeError, "why: a dict is wanted");
		taken.why = &options;
	}
	if (ok)
		query = query_of(NULL, words);
	if (query)
		result = result_new((struct trace *)self, args, &taken, query);
	Py_XDECREF(taken.sort);
	Py_XDECREF(taken.progress);
	Py_XDECREF(threads);
	Py_XDECREF(why);
	Py_XDECREF(name);
	Py_DECREF(words);
	return result;
}

static PyObject *trace_redact(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static const char *const keys[] = { "path", "key", "pids", NULL };
	const struct trace *trace = (const struct trace *)self;
	struct weft_redact_options options = { .size = sizeof(options) };
	struct weft_redacted done = { .size = sizeof(done) };
	struct weft_error error;
	const char *key = NULL;
	Py_ssize_t len = 0;
	int pids = 0, fd, r;
	PyObject *path, *file;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$z#p:redact", (char **)(uintptr_t)keys, &path, &key, &len,
					 &pids) ||
	    !trace_is_open(trace))
		return NULL;
	if (key && len < 16) {
		PyErr_SetString(PyExc_ValueError, "a key has 16 bytes");
		return NULL;
	}
	file = open_to_write(path, &fd);
	if (!file)
		return NULL;
	options.key = key;
	options.pids = pids;
	Py_BEGIN_ALLOW_THREADS;
	r = weft_file_redact(trace->file, fd, &options, &done, &error);
	Py_END_ALLOW_THREADS;
	if (!close_written(file))
		return NULL;
	return r ? raise_error(&error) :
		   Py_BuildValue("{sKsKsKsK}", "names", (unsigned long long)done.names, "kept",
				 (unsigned long long)done.kept, "records", (unsigned long long)done.records, "emptied",
				 (unsigned long long)done.emptied);
}

static PyMethodDef methods[] = {
	{ "events", (PyCFunction)(void (*)(void))trace_events, METH_VARARGS | METH_KEYWORDS,
	  "events(event=None, /, **query)\n--\n\n"
	  "Iterates over the events, in the order of time. Each item is a view that is valid until the next one: keep\n"
	  "event.copy(). The words are those of weft report: filter, not_filter, longer, cpu, pid, comm, since,\n"
	  "until, mark, file, limit, tail, instance, no_self, no_hardirq, no_softirq; a list gives several." },
	{ "columns", (PyCFunction)(void (*)(void))trace_columns, METH_VARARGS | METH_KEYWORDS,
	  "columns(names, event=None, /, **query)\n--\n\n"
	  "The events as columns: ts, wall, cpu, pid, comm, tgid, flags, preempt_count, instance, system, event,\n"
	  "lost, mark, "
	  "text, or fields. pandas, polars, pyarrow and DuckDB take the result as it is; to_dict() is for numpy." },
	{ "analyse", (PyCFunction)(void (*)(void))trace_analyse, METH_VARARGS | METH_KEYWORDS,
	  "analyse(*names, sort=None, threads=0, progress=None, why=None, **query)\n--\n\n"
	  "Runs analyses of weft (see weft.analyses()) in one pass; the result holds their tables. progress(part)\n"
	  "is called meanwhile; what it raises ends the reading. why is a dict: of, name, slowest, start, end..." },
	{ "intervals", (PyCFunction)(void (*)(void))trace_intervals, METH_VARARGS | METH_KEYWORDS,
	  "intervals(name, every_ns, see, *, sort=None, **query)\n--\n\n"
	  "Calls see(result, interval) with the tables of an analysis for each interval, and then for all events;\n"
	  "0: only for all. A true value that it returns ends the reading." },
	{ "redact", (PyCFunction)(void (*)(void))trace_redact, METH_VARARGS | METH_KEYWORDS,
	  "redact(path, *, key=None, pids=False)\n--\n\n"
	  "Writes the file again without what identifies anybody, and returns counts. The key has 16 secret bytes." },
	{ "at", (PyCFunction)(void (*)(void))trace_at, METH_VARARGS | METH_KEYWORDS,
	  "at(ts, event=None, /, **query)\n--\n\nThe first event that is not earlier than a time, or None." },
	{ "before", (PyCFunction)(void (*)(void))trace_before, METH_VARARGS | METH_KEYWORDS,
	  "before(ts, event=None, /, **query)\n--\n\nThe last event before a time, or None." },
	{ "save", (PyCFunction)(void (*)(void))trace_save, METH_VARARGS | METH_KEYWORDS,
	  "save(path, event=None, /, **query)\n--\n\nWrites these events as a trace.dat; returns how many." },
	{ "symbols", trace_symbols, METH_NOARGS,
	  "symbols()\n--\n\nAll symbols of the traced kernel: (address, name, module or None)." },
	{ "lives", trace_lives, METH_NOARGS,
	  "lives()\n--\n\nA Life for each task that an event names, in the order in which they came." },
	{ "who", trace_who, METH_VARARGS,
	  "who(part, pid, ts, buffer=0, /)\n--\n\nWhom a task belonged to at a time; `part` is 'process', 'program', "
	  "'unit',\n'container', 'pod', 'cgroup' or 'user'. None: unknown." },
	{ "names", trace_names, METH_VARARGS,
	  "names(part, buffer=0, /)\n--\n\nAll programs, units, containers and so on that the file knows." },
	{ "address", trace_address, METH_VARARGS,
	  "address(name, /)\n--\n\nThe address of the first symbol of this name, or None." },
	{ "stats", trace_stats, METH_VARARGS,
	  "stats(buffer=0, /)\n--\n\nThe kernel's counts: a CpuStats for each CPU; none if the file lacks them." },
	{ "clock", trace_clock, METH_VARARGS,
	  "clock(buffer=0, /)\n--\n\nThe time of day, as a list of ClockPiece in which nobody set the clock." },
	{ "when", trace_when, METH_VARARGS,
	  "when(ns, buffer=0, /)\n--\n\n"
	  "The times of the trace at which the clock on the wall showed ns since 1970." },
	{ "slices", (PyCFunction)(void (*)(void))trace_slices, METH_VARARGS | METH_KEYWORDS,
	  "slices(*kinds, **query)\n--\n\n"
	  "What CPUs and tasks did: a list of Slice, of these kinds ('run', 'state', 'call'...) or of all." },
	{ "setting", trace_setting, METH_VARARGS,
	  "setting(name, buffer=0, /)\n--\n\nThe text of a file of tracefs at the time of the recording, or None." },
	{ "close", trace_close, METH_NOARGS, "close()\n--\n\nCloses the file. What was read from it is closed, too." },
	{ "__enter__", trace_enter, METH_NOARGS, NULL },
	{ "__exit__", trace_close, METH_VARARGS, NULL },
	{ "__reduce__", refuse_pickle, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

#define FACT(name, which, doc)                                          \
	{                                                               \
		name, trace_fact, NULL, doc, (void *)(uintptr_t)(which) \
	}

static PyGetSetDef attributes[] = {
	FACT("release", FACT_RELEASE, "the release of the traced kernel; '' when unknown"),
	FACT("machine", FACT_MACHINE, "the traced machine as uname -m names it; '' when unknown"),
	FACT("codec", FACT_CODEC, "how the file is compressed: 'none', 'zstd'"),
	FACT("recorder", FACT_RECORDER, "the program that recorded it; '' when unknown"),
	FACT("version", FACT_VERSION, "the version of the file's format, 6 or 7"),
	FACT("cpus", FACT_CPUS, "the number of CPUs of the traced machine; 0: unknown"),
	FACT("long_size", FACT_LONG_SIZE, "bytes of a long of the traced kernel"),
	FACT("page_size", FACT_PAGE_SIZE, "bytes of a page of the ring buffer"),
	FACT("big_endian", FACT_BIG_ENDIAN, "whether the traced machine is big-endian"),
	FACT("date_offset", FACT_DATE_OFFSET, "a time of the trace plus this is ns since 1970; None: unknown"),
	{ "damage", trace_damage, NULL, "what is damaged, as far as opening found it; None: nothing", NULL },
	{ "formats", trace_formats, NULL, "a Format for each event that the file describes", NULL },
	{ "settings", trace_settings, NULL, "a dict of all that setting() can be asked for, of the top buffer", NULL },
	{ "tasks", trace_tasks, NULL, "a dict of the PIDs and names that the kernel remembered", NULL },
	{ "buffers", trace_buffers, NULL, "a Buffer for the top ring buffer and for each instance", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMemberDef members[] = {
	{ "path", T_OBJECT, offsetof(struct trace, path), READONLY, "the path as it was opened" },
	{ NULL, 0, 0, 0, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_dealloc, trace_dealloc },
	{ Py_tp_repr, trace_repr },
	{ Py_tp_methods, methods },
	{ Py_tp_getset, attributes },
	{ Py_tp_members, members },
	{ Py_tp_new, refuse_new },
	{ Py_tp_doc, "An open trace.dat; weft.open() makes it." },
	{ 0, NULL },
};

static PyType_Spec spec = { "weft.Trace", sizeof(struct trace), 0, Py_TPFLAGS_DEFAULT, slots };

static PyStructSequence_Field buffer_fields[] = {
	{ "name", "of the instance; '' for the top buffer" },
	{ "clock", "the clock of its times" },
	{ "tracer", "the tracer that ran, 'nop' for none" },
	{ "clock_is_ns", "False: times are what the clock counts" },
	{ "first", "the time of the first event; None: there is none" },
	{ "last", "the time of the last event; None: there is none" },
	{ "cpus", "the number of CPUs that have events" },
	{ NULL, NULL },
};

static PyStructSequence_Desc buffer_description = { "weft.Buffer", "A ring buffer of a trace.", buffer_fields, 7 };

bool module_add_trace(PyObject *module)
{
	python_weft.trace = module_add_type(module, "Trace", &spec);
	python_weft.buffer = PyStructSequence_NewType(&buffer_description);
	if (!python_weft.trace || !python_weft.buffer)
		return false;
	Py_INCREF((PyObject *)python_weft.buffer);
	return !PyModule_AddObject(module, "Buffer", (PyObject *)python_weft.buffer);
}
