// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The events of the running kernel: an iterator as Events are, over a reader that weft_live_start() made. */

static bool is_open(const struct events *events)
{
	return trace_is_open(events->trace);
}

bool live_take(struct events *events)
{
	if (!is_open(events))
		return false;
	if (events->is_busy) {
		PyErr_SetString(PyExc_RuntimeError,
				"it is in use: by another thread, or by whoever called this function");
		return false;
	}
	events->is_busy = true;
	return true;
}

void live_give(struct events *events)
{
	events->is_busy = false;
}

/* Ends tracing and waits until everything is restored. What was handed out is closed, too. */
static void end(struct events *events)
{
	weft_reader *reader = events->reader;

	filters_close(events);
	events->reader = NULL;
	events->generation++;
	if (events->trace)
		events->trace->file = NULL;
	Py_BEGIN_ALLOW_THREADS;
	weft_reader_free(reader);
	Py_END_ALLOW_THREADS;
}

static void live_dealloc(PyObject *self)
{
	end((struct events *)self);
	events_dealloc(self);
}

static PyObject *live_close(PyObject *self, PyObject *ignored)
{
	struct events *events = (struct events *)self;

	(void)ignored;
	if (events->trace->file && !live_take(events))
		return NULL;
	end(events);
	live_give(events);
	Py_RETURN_NONE;
}

static PyObject *live_analyse(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static const char *const keys[] = { "sort", NULL };
	struct events *events = (struct events *)self;
	struct analyse_words words = { .sort = NULL };
	PyObject *empty = PyTuple_New(0);
	weft_result *found = NULL;
	bool ok = empty &&
		  PyArg_ParseTupleAndKeywords(empty, kwargs, "|O:analyse", (char **)(uintptr_t)keys, &words.sort);

	Py_XDECREF(empty);
	if (!ok || !live_take(events))
		return NULL;
	events->generation++;
	ok = result_of(events->reader, args, &words, &found);
	live_give(events);
	return ok ? result_wrap(found, args) : NULL;
}

static PyObject *live_enter(PyObject *self, PyObject *ignored)
{
	(void)ignored;
	if (!is_open((struct events *)self))
		return NULL;
	Py_INCREF(self);
	return self;
}

static PyObject *live_stop(PyObject *self, PyObject *ignored)
{
	struct events *events = (struct events *)self;
	struct weft_error error;

	(void)ignored;
	if (!is_open(events))
		return NULL;
	if (weft_live_stop(events->reader, &error))
		return raise_error(&error);
	Py_RETURN_NONE;
}

static PyObject *live_fileno(PyObject *self, PyObject *ignored)
{
	const struct events *events = (const struct events *)self;

	(void)ignored;
	return is_open(events) ? PyLong_FromLong(weft_live_fd(events->reader)) : NULL;
}

static PyObject *live_trace(PyObject *self, void *ignored)
{
	PyObject *trace = (PyObject *)((struct events *)self)->trace;

	(void)ignored;
	Py_INCREF(trace);
	return trace;
}

/* A Trace without a file, and the iterator that it belongs to. */
static struct events *new_live(void)
{
	struct trace *trace = PyObject_New(struct trace, python_weft.trace);
	struct events *events;

	if (!trace)
		return NULL;
	trace->file = NULL;
	trace->path = PyUnicode_FromString("the running kernel");
	events = trace->path ? PyObject_New(struct events, python_weft.live) : NULL;
	if (!events) {
		Py_DECREF((PyObject *)trace);
		return NULL;
	}
	memset((char *)events + sizeof(PyObject), 0, sizeof(*events) - sizeof(PyObject));
	events->trace = trace;
	events->is_live = true;
	return events;
}

static bool start(struct events *events, const char *const *words, size_t nr, const struct weft_live_options *options)
{
	struct weft_source_info source = { .size = sizeof(source) };
	struct weft_error error;
	int r;

	Py_BEGIN_ALLOW_THREADS;
	r = weft_live_start(words, nr, options, &events->reader, &error);
	Py_END_ALLOW_THREADS;
	if (r) {
		raise_error(&error);
		return false;
	}
	if (!weft_reader_buffer(events->reader, 0, &source))
		events->trace->file = (weft_file *)(uintptr_t)source.file;
	return true;
}

/* The words as a tuple of bytes: of a text as a shell divides it, or of a sequence. */
static PyObject *encoded(PyObject *words)
{
	PyObject *shlex, *list = words, *made;

	Py_INCREF(words);
	if (PyUnicode_Check(words)) {
		Py_DECREF(list);
		shlex = PyImport_ImportModule("shlex");
		list = shlex ? PyObject_CallMethod(shlex, "split", "O", words) : NULL;
		Py_XDECREF(shlex);
	}
	made = list ? PyTuple_New(PySequence_Size(list)) : NULL;
	for (Py_ssize_t i = 0; made && i < PyTuple_Size(made); i++) {
		PyObject *word = PySequence_GetItem(list, i), *bytes = word ? PyUnicode_EncodeFSDefault(word) : NULL;

		Py_XDECREF(word);
		if (!bytes || PyTuple_SetItem(made, i, bytes))
			Py_CLEAR(made);
	}
	Py_XDECREF(list);
	return made;
}

/* Takes a keyword out of a dict, as bytes of a path; false: an exception. */
static bool take_path(PyObject *dict, const char *name, PyObject **ret)
{
	PyObject *value = PyDict_GetItemString(dict, name);

	if (!value || value == Py_None)
		return !value || !PyDict_DelItemString(dict, name);
	return PyUnicode_FSConverter(value, ret) && !PyDict_DelItemString(dict, name);
}

static PyObject *start_with(PyObject *words, const struct weft_live_options *options)
{
	PyObject *tuple = encoded(words);
	size_t nr = tuple ? (size_t)PyTuple_Size(tuple) : 0;
	const char **texts = tuple ? PyMem_Calloc(nr + 1, sizeof(*texts)) : NULL;
	struct events *events = texts ? new_live() : NULL;

	for (size_t i = 0; events && i < nr; i++)
		texts[i] = PyBytes_AsString(PyTuple_GetItem(tuple, (Py_ssize_t)i));
	if (events && !start(events, texts, nr, options)) {
		Py_DECREF((PyObject *)events);
		events = NULL;
	}
	if (tuple && !texts)
		PyErr_NoMemory();
	PyMem_Free(texts);
	Py_XDECREF(tuple);
	return (PyObject *)events;
}

PyObject *live_new(PyObject *module, PyObject *args, PyObject *kwargs)
{
	struct weft_live_options options = { .size = sizeof(options),
					     .environment = (const char *const *)environ,
					     .wait_ms = LIVE_WAIT_MS };
	PyObject *words, *event = NULL, *program = NULL, *plugins = NULL, *live = NULL;
	PyObject *rest = kwargs ? PyDict_Copy(kwargs) : PyDict_New();
	weft_query *query = NULL;

	(void)module;
	if (rest && PyArg_ParseTuple(args, "O|O:live", &words, &event) && take_path(rest, "program", &program) &&
	    take_path(rest, "plugins", &plugins))
		query = query_of(event, rest);
	if (query) {
		options.query = query;
		options.program = program ? PyBytes_AsString(program) : NULL;
		options.plugins = plugins ? PyBytes_AsString(plugins) : NULL;
		live = start_with(words, &options);
	}
	weft_query_free(query);
	Py_XDECREF(program);
	Py_XDECREF(plugins);
	Py_XDECREF(rest);
	return live;
}

static PyMethodDef methods[] = {
	{ "stop", live_stop, METH_NOARGS,
	  "stop()\n--\n\nEnds tracing; the events until then still come, if they are asked for within a second." },
	{ "close", live_close, METH_NOARGS, "close()\n--\n\nEnds tracing, and waits until everything is restored." },
	{ "analyse", (PyCFunction)(void (*)(void))live_analyse, METH_VARARGS | METH_KEYWORDS,
	  "analyse(*names, sort=None)\n--\n\nRuns analyses until tracing ends: of a command, after --duration, or by "
	  "Ctrl-C." },
	{ "intervals", (PyCFunction)(void (*)(void))live_intervals, METH_VARARGS | METH_KEYWORDS,
	  "intervals(name, every_ns, see, *, sort=None)\n--\n\n"
	  "Calls see(result, interval) when an interval is over, until tracing ends or it returns a true value." },
	{ "fileno", live_fileno, METH_NOARGS,
	  "fileno()\n--\n\nA descriptor for select and asyncio: when it can be read, there may be events." },
	EVENTS_METHODS,
	{ "__enter__", live_enter, METH_NOARGS, NULL },
	{ "__exit__", live_close, METH_VARARGS, NULL },
	{ "__reduce__", refuse_pickle, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef attributes[] = {
	{ "trace", live_trace, NULL, "the Trace with what describes the events: formats, settings, buffers", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_dealloc, live_dealloc },
	{ Py_tp_iter, events_iter },
	{ Py_tp_iternext, events_next },
	{ Py_tp_methods, methods },
	{ Py_tp_getset, attributes },
	{ Py_tp_new, refuse_new },
	{ Py_tp_doc, "Iterates over the events of the running kernel; weft.live() makes it." },
	{ 0, NULL },
};

static PyType_Spec spec = { "weft.Live", sizeof(struct events), 0, Py_TPFLAGS_DEFAULT, slots };

bool module_add_live(PyObject *module)
{
	python_weft.live = module_add_type(module, "Live", &spec);
	return python_weft.live;
}
