// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

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

static void events_dealloc(PyObject *self)
{
	struct events *events = (struct events *)self;

	for (size_t i = 0; i < FIELD_MEMOS; i++)
		Py_XDECREF(events->memos[i].name);
	weft_reader_free(events->reader);
	Py_DECREF((PyObject *)events->trace);
	object_end(self);
}

/* The next events into events->at. The lock of the interpreter is kept: a batch takes some 10 us. */
static bool read_more(struct events *events)
{
	struct weft_error error;
	int r;

	if (events->ended || PyErr_CheckSignals())
		return false;
	r = weft_reader_batch(events->reader, &events->at, &error);
	if (r > 0) {
		events->left = (size_t)r;
		return true;
	}
	events->ended = true;
	if (r < 0)
		raise_error(&error);
	else
		warn_damage(weft_reader_damage(events->reader));
	return false;
}

static PyObject *events_next(PyObject *self)
{
	struct events *events = (struct events *)self;
	struct event *event;

	if (!trace_is_open(events->trace))
		return NULL;
	/* From here on the last view is not valid, also at the end. */
	events->generation++;
	if (!events->left && !read_more(events))
		return NULL;
	event = PyObject_New(struct event, python_weft.event);
	if (!event)
		return NULL;
	Py_INCREF(self);
	event->events = events;
	event->event = events->at;
	event->generation = events->generation;
	event->bytes = NULL;
	events->at++;
	events->left--;
	return (PyObject *)event;
}

static PyObject *events_iter(PyObject *self)
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
	{ "__reduce__", refuse_pickle, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef attributes[] = {
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
