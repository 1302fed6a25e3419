// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bindings/python/python_weft.h"

#include <stdlib.h>
#include <string.h>

/* weft.Writer: a trace.dat of the events of a program. */
struct py_writer {
	PyObject_HEAD;
	weft_writer *writer;
};

PyObject *open_to_write(PyObject *path, int *ret_fd)
{
	PyObject *io = PyImport_ImportModule("io"), *file = NULL;

	if (io)
		file = PyObject_CallMethod(io, "open", "Osi", path, "wb", 0);
	Py_XDECREF(io);
	*ret_fd = file ? PyObject_AsFileDescriptor(file) : -1;
	if (*ret_fd < 0)
		Py_CLEAR(file);
	return file;
}

bool close_written(PyObject *file)
{
	PyObject *closed = PyObject_CallMethod(file, "close", NULL);

	Py_DECREF(file);
	Py_XDECREF(closed);
	return closed;
}

static PyObject *writer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	static const char *const keys[] = { "version", "clock", "release", "machine", NULL };
	struct weft_writer_options options = { .size = sizeof(options) };
	struct weft_error error;
	struct py_writer *self;
	unsigned version = 7;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$Izzz:Writer", (char **)(uintptr_t)keys, &version,
					 &options.clock, &options.release, &options.machine))
		return NULL;
	options.version = version;
	options.recorder = "weft for Python";
	self = PyObject_New(struct py_writer, type);
	if (!self)
		return NULL;
	self->writer = NULL;
	if (!weft_writer_new(&options, &self->writer, &error))
		return (PyObject *)self;
	Py_DECREF((PyObject *)self);
	return raise_error(&error);
}

static void writer_dealloc(PyObject *self)
{
	weft_writer_free(((struct py_writer *)self)->writer);
	object_end(self);
}

static PyObject *writer_format(PyObject *self, PyObject *args)
{
	const char *system, *text;
	struct weft_error error;
	Py_ssize_t len;
	int32_t id;

	if (!PyArg_ParseTuple(args, "ss#:format", &system, &text, &len))
		return NULL;
	if (weft_writer_format(((struct py_writer *)self)->writer, system, text, (size_t)len, &id, &error))
		return raise_error(&error);
	return PyLong_FromLong(id);
}

/* Reads (name, type, offset, bytes, signed) of each field; the texts live as long as `fields`. */
static struct weft_field_info *read_fields(PyObject *fields, Py_ssize_t nr)
{
	struct weft_field_info *infos = calloc((size_t)nr + 1, sizeof(*infos));
	int is_signed;

	if (!infos)
		PyErr_NoMemory();
	for (Py_ssize_t i = 0; infos && i < nr; i++) {
		infos[i].size = sizeof(*infos);
		if (!PyArg_ParseTuple(PyTuple_GetItem(fields, i), "ssIIp", &infos[i].name, &infos[i].c_type,
				      &infos[i].offset, &infos[i].bytes, &is_signed)) {
			free(infos);
			return NULL;
		}
		infos[i].is_signed = is_signed;
	}
	return infos;
}

static PyObject *tuple_of_tuples(PyObject *fields)
{
	PyObject *tuple = PySequence_Tuple(fields);

	for (Py_ssize_t i = 0; tuple && i < PyTuple_Size(tuple); i++)
		if (!PyTuple_Check(PyTuple_GetItem(tuple, i))) {
			PyErr_SetString(PyExc_TypeError, "a field is a tuple: name, type, offset, bytes, signed");
			Py_CLEAR(tuple);
		}
	return tuple;
}

static PyObject *writer_type(PyObject *self, PyObject *args)
{
	const char *system, *name, *print_fmt;
	struct weft_field_info *infos;
	struct weft_error error;
	PyObject *fields, *tuple;
	int32_t id = 0;
	int r;

	if (!PyArg_ParseTuple(args, "ssOs:type", &system, &name, &fields, &print_fmt) ||
	    !(tuple = tuple_of_tuples(fields)))
		return NULL;
	infos = read_fields(tuple, PyTuple_Size(tuple));
	if (!infos) {
		Py_DECREF(tuple);
		return NULL;
	}
	r = weft_writer_type(((struct py_writer *)self)->writer, system, name, infos, (size_t)PyTuple_Size(tuple),
			     print_fmt, &id, &error);
	free(infos);
	Py_DECREF(tuple);
	return r ? raise_error(&error) : PyLong_FromLong(id);
}

static PyObject *nothing_or(int r, const struct weft_error *error)
{
	if (r)
		return raise_error(error);
	Py_RETURN_NONE;
}

static PyObject *writer_task(PyObject *self, PyObject *args)
{
	struct weft_error error;
	const char *comm;
	int pid, tgid = 0;

	if (!PyArg_ParseTuple(args, "is|i:task", &pid, &comm, &tgid))
		return NULL;
	return nothing_or(weft_writer_task(((struct py_writer *)self)->writer, pid, tgid, comm, &error), &error);
}

static PyObject *writer_add(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static const char *const keys[] = { "ts", "type", "data", "cpu", "pid", "flags", NULL };
	struct weft_new_event event = { .size = sizeof(event) };
	struct weft_error error;
	unsigned long long ts;
	unsigned char flags = 0;
	const char *data;
	Py_ssize_t len;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Kiy#|$Iib:add", (char **)(uintptr_t)keys, &ts, &event.type,
					 &data, &len, &event.cpu, &event.pid, &flags))
		return NULL;
	event.ts = ts;
	event.data = data;
	event.bytes = len > INT32_MAX ? INT32_MAX : (uint32_t)len;
	event.flags = flags;
	return nothing_or(weft_writer_add(((struct py_writer *)self)->writer, &event, &error), &error);
}

static PyObject *writer_lost(PyObject *self, PyObject *args)
{
	struct weft_error error;
	unsigned cpu;
	long long events = -1;

	if (!PyArg_ParseTuple(args, "I|L:lost", &cpu, &events))
		return NULL;
	return nothing_or(weft_writer_lost(((struct py_writer *)self)->writer, cpu, events, &error), &error);
}

static PyObject *writer_save(PyObject *self, PyObject *args)
{
	struct weft_error error;
	PyObject *path, *file;
	int fd, r;

	if (!PyArg_ParseTuple(args, "O:save", &path) || !(file = open_to_write(path, &fd)))
		return NULL;
	r = weft_writer_finish(((struct py_writer *)self)->writer, fd, &error);
	return close_written(file) ? nothing_or(r, &error) : NULL;
}

static PyMethodDef methods[] = {
	{ "format", writer_format, METH_VARARGS,
	  "format(system, text, /)\n--\n\nAdds the format of an event as the kernel has it; returns its number." },
	{ "type", writer_type, METH_VARARGS,
	  "type(system, name, fields, print_fmt, /)\n--\n\nAdds an event. A field is (name, type, offset, bytes,\n"
	  "signed); the first 8 bytes of a record are not the caller's. Returns the event's number." },
	{ "task", writer_task, METH_VARARGS, "task(pid, comm, tgid=0, /)\n--\n\nThe name of a task." },
	{ "add", (PyCFunction)(void (*)(void))writer_add, METH_VARARGS | METH_KEYWORDS,
	  "add(ts, type, data, *, cpu=0, pid=0, flags=0)\n--\n\nAdds an event: `data` is its record from byte 8 on." },
	{ "lost", writer_lost, METH_VARARGS,
	  "lost(cpu, events=-1, /)\n--\n\nEvents were lost on a CPU before the next one." },
	{ "save", writer_save, METH_VARARGS, "save(path, /)\n--\n\nWrites the file; afterwards nothing can be added." },
	{ "__reduce__", refuse_pickle, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_new, writer_new },
	{ Py_tp_dealloc, writer_dealloc },
	{ Py_tp_methods, methods },
	{ Py_tp_doc, "Writer(*, version=7, clock=None, release=None, machine=None)\n--\n\n"
		     "Makes a trace.dat that weft, trace-cmd and KernelShark read." },
	{ 0, NULL },
};

static PyType_Spec spec = { "weft.Writer", sizeof(struct py_writer), 0, Py_TPFLAGS_DEFAULT, slots };

bool module_add_writer(PyObject *module)
{
	return module_add_type(module, "Writer", &spec);
}
