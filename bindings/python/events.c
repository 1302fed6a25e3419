// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <errno.h>
#include <string.h>

/* The iterator over the events of a query. */

PyObject *events_new(struct trace *trace, weft_query *query)
{
	struct events *events = PyObject_New(struct events, python_weft.events);
	struct weft_error error;
	int r;

	if (!events) {
		weft_query_free(query);
		return NULL;
	}
	memset((char *)events + sizeof(PyObject), 0, sizeof(*events) - sizeof(PyObject));
	Py_INCREF((PyObject *)trace);
	events->trace = trace;
	events->reader = weft_reader_new();
	if (!events->reader) {
		weft_query_free(query);
		Py_DECREF((PyObject *)events);
		return PyErr_NoMemory();
	}
	r = weft_reader_add(events->reader, trace->file, query, &error);
	if (!r) {
		Py_BEGIN_ALLOW_THREADS;
		r = weft_reader_start(events->reader, NULL, &error);
		Py_END_ALLOW_THREADS;
	}
	weft_query_free(query);
	if (!r)
		return (PyObject *)events;
	Py_DECREF((PyObject *)events);
	return raise_error(&error);
}

void events_dealloc(PyObject *self)
{
	struct events *events = (struct events *)self;

	for (size_t i = 0; i < FIELD_MEMOS; i++)
		Py_XDECREF(events->memos[i].name);
	weft_reader_free(events->reader);
	handlers_free(events);
	Py_DECREF((PyObject *)events->trace);
	object_end(self);
}

/* How many events come between two looks for Ctrl-C. */
enum { LOOK_EVERY = 64 };

/*
 * The next event of the running kernel, which may be long in coming: a signal's handler runs meanwhile. A signal that
 * comes when the reader is about to wait interrupts nothing, and is seen when the wait is over (LIVE_WAIT_MS).
 */
static int wait_next(struct events *events, struct weft_error *error)
{
	int r;

	do {
		Py_BEGIN_ALLOW_THREADS;
		r = weft_reader_next(events->reader, &events->at, error);
		Py_END_ALLOW_THREADS;
	} while ((r == -EINTR || r == -EAGAIN) && !PyErr_CheckSignals());
	live_give(events);
	return r;
}

/* The next event into events->at. The lock of the interpreter is kept, unless it is one of the running kernel. */
static bool read_next(struct events *events)
{
	struct weft_error error;
	int r;

	if (events->ended || (events->generation % LOOK_EVERY == 1 && PyErr_CheckSignals()) ||
	    (events->is_live && !live_take(events)))
		return false;
	r = events->is_live ? wait_next(events, &error) : weft_reader_next(events->reader, &events->at, &error);
	if (r > 0)
		return true;
	events->ended = true;
	if (r < 0)
		raise_error(&error);
	else
		warn_damage(weft_reader_damage(events->reader));
	return false;
}

/* A view of events->at. */
static PyObject *view(struct events *events)
{
	struct event *event = PyObject_New(struct event, python_weft.event);

	if (!event)
		return NULL;
	Py_INCREF((PyObject *)events);
	event->events = events;
	event->event = events->at;
	event->generation = events->generation;
	event->bytes = NULL;
	return (PyObject *)event;
}

PyObject *events_next(PyObject *self)
{
	struct events *events = (struct events *)self;

	if (!trace_is_open(events->trace))
		return NULL;
	/* From here on the last view is not valid, also at the end. */
	events->generation++;
	return read_next(events) ? view(events) : NULL;
}

static PyObject *events_previous(PyObject *self, PyObject *ignored)
{
	struct events *events = (struct events *)self;
	struct weft_error error;
	int r;

	(void)ignored;
	if (!trace_is_open(events->trace))
		return NULL;
	events->generation++;
	events->ended = false;
	if (events->generation % LOOK_EVERY == 1 && PyErr_CheckSignals())
		return NULL;
	r = weft_reader_previous(events->reader, &events->at, &error);
	if (r < 0)
		return raise_error(&error);
	if (r)
		return view(events);
	Py_RETURN_NONE;
}

/* After a call that moved the reader: the iterator itself. */
static PyObject *moved(struct events *events, int r, const struct weft_error *error)
{
	if (r)
		return raise_error(error);
	events->generation++;
	events->ended = false;
	Py_INCREF((PyObject *)events);
	return (PyObject *)events;
}

static PyObject *events_seek(PyObject *self, PyObject *args)
{
	struct events *events = (struct events *)self;
	struct weft_error error;
	unsigned long long ts;

	if (!PyArg_ParseTuple(args, "K:seek", &ts) || !trace_is_open(events->trace))
		return NULL;
	return moved(events, weft_reader_seek(events->reader, ts, &error), &error);
}

static PyObject *events_go(PyObject *self, PyObject *args)
{
	struct events *events = (struct events *)self;
	struct weft_place place;
	struct weft_error error;
	unsigned long long ts, nth;

	if (!PyArg_ParseTuple(args, "(KK):go", &ts, &nth) || !trace_is_open(events->trace))
		return NULL;
	place = (struct weft_place){ ts, nth };
	return moved(events, weft_reader_go(events->reader, &place, &error), &error);
}

static PyObject *events_only_cpu(PyObject *self, PyObject *args)
{
	struct events *events = (struct events *)self;
	struct weft_error error;
	int cpu;

	if (!PyArg_ParseTuple(args, "i:only_cpu", &cpu) || !trace_is_open(events->trace))
		return NULL;
	return moved(events, weft_reader_cpu(events->reader, cpu, &error), &error);
}

/* reversed(): from the end to the start, previous() until it has none. */
static PyObject *events_reversed(PyObject *self, PyObject *ignored)
{
	struct events *events = (struct events *)self;
	struct weft_error error;
	PyObject *previous, *iterator;

	(void)ignored;
	if (!trace_is_open(events->trace))
		return NULL;
	if (weft_reader_seek(events->reader, UINT64_MAX, &error))
		return raise_error(&error);
	previous = PyObject_GetAttrString(self, "previous");
	iterator = previous ? PyCallIter_New(previous, Py_None) : NULL;
	Py_XDECREF(previous);
	return iterator;
}

static PyObject *events_place(PyObject *self, void *ignored)
{
	const struct events *events = (const struct events *)self;
	struct weft_place place;

	(void)ignored;
	weft_reader_place(events->reader, &place);
	return Py_BuildValue("(KK)", (unsigned long long)place.ts, (unsigned long long)place.nth);
}

PyObject *events_iter(PyObject *self)
{
	Py_INCREF(self);
	return self;
}

static PyObject *events_damage(PyObject *self, void *ignored)
{
	const struct events *events = (const struct events *)self;
	const char *damage = weft_reader_damage(events->reader);

	(void)ignored;
	if (damage)
		return text_of(damage, strlen(damage));
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{ "seek", events_seek, METH_VARARGS,
	  "seek(ts, /)\n--\n\nGoes before the first event that is not earlier than a time; returns the iterator." },
	{ "go", events_go, METH_VARARGS, "go(place, /)\n--\n\nGoes to a place that `place` told, also another's." },
	{ "only_cpu", events_only_cpu, METH_VARARGS,
	  "only_cpu(cpu, /)\n--\n\nFrom here on only the events of one CPU, from their start; -1: all again." },
	{ "previous", events_previous, METH_NOARGS,
	  "previous()\n--\n\nGoes back over one event, and returns it; None at the start." },
	EVENTS_METHODS,
	{ "__reversed__", events_reversed, METH_NOARGS, NULL },
	{ "__reduce__", refuse_pickle, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef attributes[] = {
	{ "place", events_place, NULL, "where it stands, before the next event: two numbers that can be stored", NULL },
	{ "damage", events_damage, NULL, "the damage found so far, complete at the end; None: nothing", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_dealloc, events_dealloc },
	{ Py_tp_iter, events_iter },
	{ Py_tp_iternext, events_next },
	{ Py_tp_methods, methods },
	{ Py_tp_getset, attributes },
	{ Py_tp_new, refuse_new },
	{ Py_tp_doc, "Iterates over events; Trace.events() makes it." },
	{ 0, NULL },
};

static PyType_Spec spec = { "weft.Events", sizeof(struct events), 0, Py_TPFLAGS_DEFAULT, slots };

bool module_add_events(PyObject *module)
{
	python_weft.events = module_add_type(module, "Events", &spec);
	return python_weft.events;
}
