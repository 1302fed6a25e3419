# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads a stream of Arrow with the C library of DuckDB, which Python's ctypes calls."""
import ctypes


class Result(ctypes.Structure):
    _fields_ = [("a", ctypes.c_uint64 * 3), ("b", ctypes.c_void_p * 3)]


def table(path, capsule):
    """All rows of the stream, each value as DuckDB prints it, or None."""
    library = ctypes.CDLL(path)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    library.duckdb_value_varchar.restype = ctypes.c_void_p
    library.duckdb_column_count.restype = library.duckdb_row_count.restype = ctypes.c_uint64
    library.duckdb_value_is_null.restype = ctypes.c_bool
    for function in (library.duckdb_value_varchar, library.duckdb_value_is_null):
        function.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
    library.duckdb_free.argtypes = [ctypes.c_void_p]
    database, connection, result = ctypes.c_void_p(), ctypes.c_void_p(), Result()
    assert library.duckdb_open(None, ctypes.byref(database)) == 0
    assert library.duckdb_connect(database, ctypes.byref(connection)) == 0
    stream = ctypes.c_void_p(pointer(capsule, b"arrow_array_stream"))
    assert library.duckdb_arrow_scan(connection, b"events", stream) == 0
    assert library.duckdb_query(connection, b"select * from events", ctypes.byref(result)) == 0
    at = ctypes.byref(result)
    rows = []
    for row in range(library.duckdb_row_count(at)):
        values = []
        for column in range(library.duckdb_column_count(at)):
            text = None
            if not library.duckdb_value_is_null(at, column, row):
                address = library.duckdb_value_varchar(at, column, row)
                text = ctypes.string_at(address).decode()
                library.duckdb_free(address)
            values.append(text)
        rows.append(values)
    library.duckdb_destroy_result(at)
    library.duckdb_disconnect(ctypes.byref(connection))
    library.duckdb_close(ctypes.byref(database))
    return rows
