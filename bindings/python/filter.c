// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

/* A query that is asked about one event after the other. */

struct filter {
	PyObject_HEAD;
	struct events *events;
	struct filter *next; /* of the same events */
	weft_filter *filter; /* NULL: the reader is gone */
};

void filters_close(struct events *events)
{
	for (struct filter *at = events->filters; at; at = at->next) {
		weft_filter_free(at->filter);
		at->filter = NULL;
	}
}

static void filter_dealloc(PyObject *self)
{
	struct filter *filter = (struct filter *)self;

	struct filter **at = &filter->events->filters;

	while (*at && *at != filter)
		at = &(*at)->next;
	if (*at)
		*at = filter->next;
	weft_filter_free(filter->filter);
	Py_DECREF((PyObject *)filter->events);
	object_end(self);
}

PyObject *events_filter(PyObject *self, PyObject *args, PyObject *kwargs)
{
	struct events *events = (struct events *)self;
	PyObject *event = NULL;
	struct filter *filter;
	struct weft_error error;
	weft_query *query;
	int r;

	if (!PyArg_ParseTuple(args, "|O:filter", &event) || !trace_is_open(events->trace) ||
	    !(query = query_of(event, kwargs)))
		return NULL;
	filter = PyObject_New(struct filter, python_weft.filter);
	if (!filter) {
		weft_query_free(query);
		return NULL;
	}
	Py_INCREF(self);
	filter->events = events;
	filter->filter = NULL;
	filter->next = events->filters;
	events->filters = filter;
	r = weft_filter_new(events->reader, query, &filter->filter, &error);
	weft_query_free(query);
	if (!r)
		return (PyObject *)filter;
	Py_DECREF((PyObject *)filter);
	return raise_error(&error);
}

static PyObject *filter_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
	struct filter *filter = (struct filter *)self;
	const struct weft_event *event;
	PyObject *asked;

	(void)kwargs;
	if (!PyArg_ParseTuple(args, "O!:Filter", (PyObject *)python_weft.event, &asked))
		return NULL;
	event = event_of(asked);
	if (!event)
		return NULL;
	if (((struct event *)asked)->events != filter->events) {
		PyErr_SetString(PyExc_ValueError, "the event is not of the iterator that made the filter");
		return NULL;
	}
	return PyBool_FromLong(weft_filter_passes(filter->filter, event));
}

static PyMethodDef methods[] = {
	{ "__reduce__", refuse_pickle, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_dealloc, filter_dealloc },
	{ Py_tp_call, filter_call },
	{ Py_tp_methods, methods },
	{ Py_tp_new, refuse_new },
	{ Py_tp_doc, "Tells of an event whether a query lets it pass; Events.filter() makes it." },
	{ 0, NULL },
};

static PyType_Spec spec = { "weft.Filter", sizeof(struct filter), 0, Py_TPFLAGS_DEFAULT, slots };

bool module_add_filter(PyObject *module)
{
	python_weft.filter = module_add_type(module, "Filter", &spec);
	return python_weft.filter;
}
