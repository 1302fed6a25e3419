// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <stddef.h>

/* The tables of an analysis for each interval, which a function of the program gets. */

static PyTypeObject *interval_type;

struct seeing {
	PyObject *see;
	PyObject *names; /* a tuple with the name of the analysis */
};

static PyObject *interval_of(const struct weft_span *span)
{
	PyObject *interval = PyStructSequence_New(interval_type);
	PyObject *items[] = { PyLong_FromUnsignedLongLong(span->from), PyLong_FromUnsignedLongLong(span->to),
			      PyLong_FromUnsignedLongLong(span->events), PyBool_FromLong(span->is_whole),
			      span->nothing ? PyUnicode_FromString(span->nothing) : (Py_INCREF(Py_None), Py_None) };

	for (Py_ssize_t i = 0; i < 5; i++) {
		if (interval && items[i])
			PyStructSequence_SetItem(interval, i, items[i]);
		else
			Py_XDECREF(items[i]);
	}
	if (PyErr_Occurred())
		Py_CLEAR(interval);
	return interval;
}

/* An exception ends the reading, and stays until it has ended. */
static int see_interval(void *arg, weft_result *found, const struct weft_span *span)
{
	const struct seeing *seeing = arg;
	PyGILState_STATE state = PyGILState_Ensure();
	PyObject *result = result_wrap(found, seeing->names), *interval = result ? interval_of(span) : NULL;
	PyObject *answer = interval ? PyObject_CallFunctionObjArgs(seeing->see, result, interval, NULL) : NULL;
	int r = answer ? PyObject_IsTrue(answer) : -1;

	Py_XDECREF(answer);
	Py_XDECREF(interval);
	Py_XDECREF(result);
	PyGILState_Release(state);
	return r;
}

static bool run(weft_reader *reader, PyObject *args, PyObject *sort)
{
	struct weft_analyse_options options = { .size = sizeof(options), .interrupted = interrupted };
	struct seeing seeing = { .see = NULL };
	struct weft_error error = { .code = 0 };
	unsigned long long every;
	const char *name;
	int r;

	if (!PyArg_ParseTuple(args, "sKO:intervals", &name, &every, &seeing.see) ||
	    (sort && sort != Py_None && !PyArg_Parse(sort, "s", &options.sort)))
		return false;
	seeing.names = PyTuple_GetSlice(args, 0, 1);
	if (!seeing.names)
		return false;
	Py_BEGIN_ALLOW_THREADS;
	r = weft_analyse_spans(reader, name, every, &options, see_interval, &seeing, &error);
	Py_END_ALLOW_THREADS;
	Py_DECREF(seeing.names);
	/* What see() raised stays as it is. */
	if (r < 0 && !PyErr_Occurred())
		raise_error(&error);
	return !PyErr_Occurred();
}

PyObject *trace_intervals(PyObject *self, PyObject *args, PyObject *kwargs)
{
	PyObject *words = kwargs ? PyDict_Copy(kwargs) : PyDict_New();
	PyObject *sort = words ? take_word(words, "sort") : NULL;
	struct trace *trace = (struct trace *)self;
	weft_query *query = words && trace_is_open(trace) ? query_of(NULL, words) : NULL;
	weft_reader *reader = query ? weft_reader_new() : NULL;
	struct weft_error error;
	bool ok = false;

	if (query && !reader)
		PyErr_NoMemory();
	else if (reader && weft_reader_add(reader, trace->file, query, &error))
		raise_error(&error);
	else if (reader)
		ok = run(reader, args, sort) && warn_damage(weft_reader_damage(reader));
	weft_reader_free(reader);
	weft_query_free(query);
	Py_XDECREF(sort);
	Py_XDECREF(words);
	if (!ok)
		return NULL;
	Py_RETURN_NONE;
}

PyObject *live_intervals(PyObject *self, PyObject *args, PyObject *kwargs)
{
	struct events *events = (struct events *)self;
	PyObject *words = kwargs ? PyDict_Copy(kwargs) : PyDict_New();
	PyObject *sort = words ? take_word(words, "sort") : NULL;
	bool ok = words && !PyErr_Occurred();

	if (ok && PyDict_Size(words)) {
		PyErr_SetString(PyExc_TypeError, "intervals() of the running kernel takes no other keyword than sort");
		ok = false;
	}
	ok = ok && live_take(events);
	if (ok) {
		events->generation++;
		ok = run(events->reader, args, sort);
		live_give(events);
	}
	Py_XDECREF(sort);
	Py_XDECREF(words);
	if (!ok)
		return NULL;
	Py_RETURN_NONE;
}

static PyStructSequence_Field fields[] = {
	{ "start", "the time at which it begins" },
	{ "end", "the time at which it ends" },
	{ "events", "how many events are in it" },
	{ "is_whole", "True: these are all events" },
	{ "nothing", "why there are no tables; None: there are" },
	{ NULL, NULL },
};

bool module_add_intervals(PyObject *module)
{
	PyStructSequence_Desc interval = { "weft.Interval", "What the tables of intervals() are about.", fields, 5 };

	interval_type = module_add_structure(module, "Interval", &interval);
	return interval_type;
}
