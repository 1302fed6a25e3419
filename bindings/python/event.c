// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A view of an event, or a copy of one. */

enum { STACK_MAX = 1024 };

static void event_dealloc(PyObject *self)
{
	struct event *event = (struct event *)self;

	free(event->bytes);
	Py_DECREF((PyObject *)event->events);
	object_end(self);
}

static const struct weft_event *look(const struct event *event)
{
	if (!event->bytes && event->generation != event->events->generation) {
		PyErr_SetString(PyExc_ReferenceError,
				"this view of an event was valid until the next one: keep event.copy()");
		return NULL;
	}
	return trace_is_open(event->events->trace) ? event->event : NULL;
}

const struct weft_event *event_of(PyObject *event)
{
	return look((struct event *)event);
}

static PyObject *get_ts(PyObject *self, void *ignored)
{
	const struct weft_event *event = look((struct event *)self);

	(void)ignored;
	return event ? PyLong_FromUnsignedLongLong(event->ts) : NULL;
}

enum number { CPU, FLAGS, PREEMPT, BUFFER, KIND, LEN };

static PyObject *get_number(PyObject *self, void *which)
{
	const struct weft_event *event = look((struct event *)self);

	if (!event)
		return NULL;
	switch ((enum number)(uintptr_t)which) {
	case CPU:
		return PyLong_FromLong(event->cpu);
	case FLAGS:
		return PyLong_FromLong(event->flags);
	case PREEMPT:
		return PyLong_FromLong(event->preempt);
	case BUFFER:
		return PyLong_FromLong(event->buffer);
	case KIND:
		return PyLong_FromLong(event->kind);
	case LEN:
		return PyLong_FromLong((long)event->len);
	}
	Py_RETURN_NONE;
}

static PyObject *get_pid(PyObject *self, void *ignored)
{
	const struct weft_event *event = look((struct event *)self);

	(void)ignored;
	if (!event)
		return NULL;
	if (event->kind != WEFT_LOST)
		return PyLong_FromLong(event->pid);
	Py_RETURN_NONE;
}

static PyObject *get_lost(PyObject *self, void *ignored)
{
	const struct weft_event *event = look((struct event *)self);

	(void)ignored;
	if (!event)
		return NULL;
	if (event->kind == WEFT_LOST && event->lost >= 0)
		return PyLong_FromLongLong(event->lost);
	Py_RETURN_NONE;
}

static PyObject *get_wall(PyObject *self, void *ignored)
{
	const struct weft_event *event = look((struct event *)self);
	int64_t ns;

	(void)ignored;
	if (!event)
		return NULL;
	if (weft_wall(((struct event *)self)->events->reader, event->buffer, event->ts, &ns, NULL))
		Py_RETURN_NONE;
	return PyLong_FromLongLong(ns);
}

static PyObject *get_comm(PyObject *self, void *ignored)
{
	const struct weft_event *event = look((struct event *)self);
	const char *comm;
	size_t len;

	(void)ignored;
	if (!event)
		return NULL;
	if (weft_event_comm(((struct event *)self)->events->reader, event, &comm, &len))
		Py_RETURN_NONE;
	return text_of(comm, len);
}

static PyObject *get_tgid(PyObject *self, void *ignored)
{
	const struct weft_event *event = look((struct event *)self);
	struct weft_task_info info = { .size = sizeof(info) };

	(void)ignored;
	if (!event)
		return NULL;
	if (event->kind != WEFT_LOST &&
	    !weft_reader_task(((struct event *)self)->events->reader, event->buffer, event->pid, &info) && info.tgid)
		return PyLong_FromLong(info.tgid);
	Py_RETURN_NONE;
}

static PyObject *get_name(PyObject *self, void *ignored)
{
	const struct weft_event *event = look((struct event *)self);
	const char *name = event ? weft_type_name(event->type) : NULL;

	(void)ignored;
	return name ? text_of(name, strlen(name)) : NULL;
}

static PyObject *get_system(PyObject *self, void *ignored)
{
	const struct weft_event *event = look((struct event *)self);
	const char *name = event ? weft_type_system(event->type) : NULL;

	(void)ignored;
	return name ? text_of(name, strlen(name)) : NULL;
}

static PyObject *get_instance(PyObject *self, void *ignored)
{
	const struct weft_event *event = look((struct event *)self);
	struct weft_source_info info = { .size = sizeof(info) };

	(void)ignored;
	if (!event)
		return NULL;
	if (weft_reader_buffer(((struct event *)self)->events->reader, event->buffer, &info))
		Py_RETURN_NONE;
	return text_of(info.name, strlen(info.name));
}

/* A handler of the program may be called, which may raise an exception. Returns as weft_event_text(). */
static int make_text(struct event *asked, const struct weft_event *event, enum weft_text kind, char *text, size_t size)
{
	PyObject *before = asked->events->asked;
	int len;

	asked->events->asked = (PyObject *)asked;
	len = weft_event_text(asked->events->reader, event, kind, text, size);
	asked->events->asked = before;
	return len;
}

static PyObject *text_or_error(const char *text, int len)
{
	if (PyErr_Occurred())
		return NULL;
	if (len == -ENOMEM)
		return PyErr_NoMemory();
	return len < 0 ? PyErr_Format(PyExc_ValueError, "the event has no such text") : text_of(text, (size_t)len);
}

/* Most texts fit on the stack; others are asked for once more. */
static PyObject *get_text(PyObject *self, void *kind)
{
	const struct weft_event *event = look((struct event *)self);
	char small[512], *large;
	PyObject *text;
	int len, size;

	if (!event)
		return NULL;
	len = make_text((struct event *)self, event, (enum weft_text)(uintptr_t)kind, small, sizeof(small));
	if (PyErr_Occurred() || len < (int)sizeof(small))
		return text_or_error(small, len);
	size = len + 1;
	large = malloc((size_t)size);
	if (!large)
		return PyErr_NoMemory();
	len = make_text((struct event *)self, event, (enum weft_text)(uintptr_t)kind, large, (size_t)size);
	text = text_or_error(large, len < size ? len : size - 1);
	free(large);
	return text;
}

static PyObject *decoded_value(const struct weft_decoded *decoded)
{
	return decoded->kind == WEFT_DECODED_TEXT ? text_of(decoded->text, decoded->text_len) :
						    PyLong_FromLongLong(decoded->value);
}

static PyObject *event_decoded(PyObject *self, PyObject *ignored)
{
	const struct weft_event *event = look((struct event *)self);
	struct weft_decoded decoded = { .size = sizeof(decoded) };
	weft_reader *reader = ((struct event *)self)->events->reader;
	struct weft_error error;
	PyObject *dict = event ? PyDict_New() : NULL;
	int r = 0;

	(void)ignored;
	for (size_t i = 0; dict && (r = weft_event_decoded(reader, event, i, &decoded, &error)) > 0; i++) {
		PyObject *value = decoded_value(&decoded);

		if (!value || PyDict_SetItemString(dict, decoded.name, value))
			Py_CLEAR(dict);
		Py_XDECREF(value);
	}
	if (dict && r < 0) {
		Py_DECREF(dict);
		return raise_error(&error);
	}
	return dict;
}

static PyObject *get_stack(PyObject *self, void *ignored)
{
	const struct weft_event *event = look((struct event *)self);
	uint64_t at[STACK_MAX];
	PyObject *tuple;
	int nr;

	(void)ignored;
	if (!event)
		return NULL;
	nr = weft_event_stack(event, at, STACK_MAX);
	nr = nr < 0 ? 0 : nr > STACK_MAX ? STACK_MAX : nr;
	tuple = PyTuple_New(nr);
	for (int i = 0; tuple && i < nr; i++) {
		PyObject *address = PyLong_FromUnsignedLongLong(at[i]);

		if (!address || PyTuple_SetItem(tuple, i, address))
			Py_CLEAR(tuple);
	}
	return tuple;
}

static PyObject *list_of(const struct weft_event *event, const weft_field *field, bool is_signed)
{
	PyObject *list = PyList_New(0);
	uint64_t value;

	for (size_t i = 0; list && weft_event_element(event, field, i, &value) > 0; i++) {
		PyObject *item = is_signed ? PyLong_FromLongLong((int64_t)value) : PyLong_FromUnsignedLongLong(value);

		if (!item || PyList_Append(list, item))
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	return list;
}

/* None for what lies outside the record. */
static PyObject *value_of(const struct weft_event *event, const struct field_memo *memo)
{
	const weft_field *field = memo->field;
	const void *bytes;
	const char *text;
	size_t len;

	switch (memo->kind) {
	case WEFT_FIELD_INTEGER:
		if (weft_event_bytes(event, field, &bytes, &len))
			break;
		return memo->is_signed ? PyLong_FromLongLong(weft_event_s64(event, field)) :
					 PyLong_FromUnsignedLongLong(weft_event_u64(event, field));
	case WEFT_FIELD_STRING:
		if (weft_event_string(event, field, &text, &len))
			break;
		return text_of(text, len);
	case WEFT_FIELD_ARRAY:
		if (weft_event_bytes(event, field, &bytes, &len))
			break;
		return list_of(event, field, memo->is_signed);
	case WEFT_FIELD_BYTES:
		if (weft_event_bytes(event, field, &bytes, &len))
			break;
		return PyBytes_FromStringAndSize(bytes, (Py_ssize_t)len);
	}
	Py_RETURN_NONE;
}

/* The field of a name. A loop asks for the same names again and again: these are found at once. */
static const struct field_memo *find(struct events *events, const weft_type *type, PyObject *name)
{
	struct field_memo *memo = &events->memos[((uintptr_t)name >> 4 ^ (uintptr_t)type >> 6) % FIELD_MEMOS];
	struct weft_field_info info = { .size = sizeof(info) };
	const weft_field *field;
	PyObject *bytes;

	if (memo->type == type && memo->name == name)
		return memo;
	if (!PyUnicode_Check(name)) {
		PyErr_SetString(PyExc_TypeError, "the name of a field is a text");
		return NULL;
	}
	bytes = PyUnicode_AsUTF8String(name);
	if (!bytes)
		return NULL;
	field = weft_field_find(type, PyBytes_AsString(bytes));
	Py_DECREF(bytes);
	if (!field)
		return NULL;
	Py_INCREF(name);
	Py_XDECREF(memo->name);
	weft_field_info(field, &info);
	*memo = (struct field_memo){
		.type = type, .name = name, .field = field, .kind = info.kind, .is_signed = info.is_signed
	};
	return memo;
}

static PyObject *event_item(PyObject *self, PyObject *name)
{
	const struct weft_event *event = look((struct event *)self);
	const struct field_memo *memo = event ? find(((struct event *)self)->events, event->type, name) : NULL;

	if (memo)
		return value_of(event, memo);
	if (!PyErr_Occurred())
		PyErr_SetObject(PyExc_KeyError, name);
	return NULL;
}

static int event_contains(PyObject *self, PyObject *name)
{
	const struct weft_event *event = look((struct event *)self);

	if (!event)
		return -1;
	if (find(((struct event *)self)->events, event->type, name))
		return 1;
	return PyErr_Occurred() ? -1 : 0;
}

static PyObject *event_get(PyObject *self, PyObject *args)
{
	PyObject *name, *otherwise = Py_None;
	int has;

	if (!PyArg_ParseTuple(args, "O|O:get", &name, &otherwise))
		return NULL;
	has = event_contains(self, name);
	if (has > 0)
		return event_item(self, name);
	if (has < 0)
		return NULL;
	Py_INCREF(otherwise);
	return otherwise;
}

/* The fields of the event but for the common ones, as a dict. */
static PyObject *event_fields(PyObject *self, PyObject *ignored)
{
	const struct weft_event *event = look((struct event *)self);
	struct weft_field_info info = { .size = sizeof(info) };
	const weft_field *field;
	PyObject *dict;

	(void)ignored;
	if (!event)
		return NULL;
	dict = PyDict_New();
	for (size_t i = 0; dict && (field = weft_type_field(event->type, i)); i++) {
		PyObject *value;

		weft_field_info(field, &info);
		if (info.is_common)
			continue;
		value = value_of(event, &(struct field_memo){
						.field = field, .kind = info.kind, .is_signed = info.is_signed });
		if (!value || PyDict_SetItemString(dict, info.name, value))
			Py_CLEAR(dict);
		Py_XDECREF(value);
	}
	return dict;
}

static PyObject *event_copy(PyObject *self, PyObject *ignored)
{
	const struct weft_event *from = look((struct event *)self);
	struct event *event;
	size_t size;

	(void)ignored;
	if (!from)
		return NULL;
	event = PyObject_New(struct event, python_weft.event);
	if (!event)
		return NULL;
	event->events = ((struct event *)self)->events;
	Py_INCREF((PyObject *)event->events);
	size = weft_event_copy(from, NULL, 0, &event->own);
	event->bytes = malloc(size + 1);
	event->event = &event->own;
	event->generation = 0;
	if (!event->bytes) {
		Py_DECREF((PyObject *)event);
		return PyErr_NoMemory();
	}
	weft_event_copy(from, event->bytes, size, &event->own);
	return (PyObject *)event;
}

static PyObject *event_repr(PyObject *self)
{
	const struct event *event = (const struct event *)self;

	if (!event->events->trace->file || (!event->bytes && event->generation != event->events->generation))
		return PyUnicode_FromString("<weft.Event, gone>");
	return PyUnicode_FromFormat("<weft.Event %s at %llu on CPU %d>", weft_type_name(event->event->type),
				    (unsigned long long)event->event->ts, (int)event->event->cpu);
}

static PyMethodDef methods[] = {
	{ "fields", event_fields, METH_NOARGS, "fields()\n--\n\nA dict of the event's own fields." },
	{ "decoded", event_decoded, METH_NOARGS,
	  "decoded()\n--\n\nA dict of what a plugin makes of it: weft.open(path, plugins='')." },
	{ "get", event_get, METH_VARARGS,
	  "get(name, default=None, /)\n--\n\nA field, or the default if there is none." },
	{ "copy", event_copy, METH_NOARGS, "copy()\n--\n\nA copy that stays valid as long as the trace is open." },
	{ "__reduce__", refuse_pickle, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

#define NUMBER(name, which, doc)                                        \
	{                                                               \
		name, get_number, NULL, doc, (void *)(uintptr_t)(which) \
	}
#define TEXT(name, which, doc)                                        \
	{                                                             \
		name, get_text, NULL, doc, (void *)(uintptr_t)(which) \
	}

static PyGetSetDef attributes[] = {
	{ "ts", get_ts, NULL, "the time in ns, or what the clock counts", NULL },
	{ "wall", get_wall, NULL, "the time of day in ns since 1970; None: unknown", NULL },
	{ "pid", get_pid, NULL, "the PID of the task on the CPU; None for lost events", NULL },
	{ "comm", get_comm, NULL, "the name of that task", NULL },
	{ "tgid", get_tgid, NULL, "its process; None: unknown", NULL },
	{ "name", get_name, NULL, "the name of the event: 'sched_switch'", NULL },
	{ "system", get_system, NULL, "the system of the event: 'sched'", NULL },
	{ "instance", get_instance, NULL, "the instance whose buffer it is from; '' for the top one", NULL },
	{ "lost", get_lost, NULL, "how many events were lost; None: unknown, or not a loss", NULL },
	{ "stack", get_stack, NULL, "the addresses of a stack, the innermost first", NULL },
	NUMBER("cpu", CPU, "the CPU"),
	NUMBER("flags", FLAGS, "bits: interrupts off, hard interrupt..."),
	NUMBER("preempt_count", PREEMPT, "the kernel's preempt count"),
	NUMBER("buffer", BUFFER, "the index of its buffer"),
	NUMBER("kind", KIND, "RECORD, or LOST: the kernel lost events here"),
	NUMBER("size", LEN, "bytes of the record"),
	TEXT("text", WEFT_TEXT_BODY, "'NAME: ' and what the kernel prints of it"),
	TEXT("line", WEFT_TEXT_LINE, "the line of it as the kernel prints it"),
	TEXT("json", WEFT_TEXT_JSON, "it as an object of JSON, as weft report --format json prints it"),
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_dealloc, event_dealloc },
	{ Py_tp_repr, event_repr },
	{ Py_mp_subscript, event_item },
	{ Py_sq_contains, event_contains },
	{ Py_tp_methods, methods },
	{ Py_tp_getset, attributes },
	{ Py_tp_new, refuse_new },
	{ Py_tp_doc,
	  "An event, or lost events: a view that is valid until the next one. event['next_pid'] is a field." },
	{ 0, NULL },
};

static PyType_Spec spec = { "weft.Event", sizeof(struct event), 0, Py_TPFLAGS_DEFAULT, slots };

bool module_add_event(PyObject *module)
{
	python_weft.event = module_add_type(module, "Event", &spec);
	return python_weft.event;
}
