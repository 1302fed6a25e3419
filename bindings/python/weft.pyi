# SPDX-License-Identifier: LGPL-2.1-or-later
import builtins
import os
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, Literal, NamedTuple, Optional, Sequence, Tuple, Type, Union, overload

__version__: str
RECORD: int
LOST: int

class Error(OSError): ...
class DamageWarning(UserWarning): ...

_Words = Union[str, int, Sequence[Union[str, int]], None]
_Value = Union[int, str, bytes, List[int], None]
_Cell = Union[int, float, str, None]

def open(
    path: Union[str, bytes, "os.PathLike[str]"],
    *,
    offset: int = 0,
    trust_sizes: bool = False,
    plugins: Union[str, bytes, "os.PathLike[str]", None] = None,
) -> Trace: ...
def live(
    words: Union[str, Sequence[str]],
    event: _Words = None,
    /,
    *,
    program: Union[str, bytes, "os.PathLike[str]", None] = None,
    plugins: Union[str, bytes, "os.PathLike[str]", None] = None,
    filter: _Words = None,
    not_filter: _Words = None,
    cpu: _Words = None,
    pid: _Words = None,
    comm: _Words = None,
    limit: _Words = None,
    instance: Optional[str] = None,
    no_hardirq: bool = False,
    no_softirq: bool = False,
    no_self: bool = False,
) -> Live: ...
def analyse(
    traces: Sequence[Trace],
    /,
    *names: str,
    threads: int = 0,
    cpu: _Words = None,
    pid: _Words = None,
    comm: _Words = None,
    since: _Words = None,
    until: _Words = None,
    mark: _Words = None,
    file: _Words = None,
    instance: Optional[str] = None,
    show_self: bool = False,
) -> List[Result]: ...
def analyses() -> Dict[str, str]: ...
def counter(name: str, value: int) -> None: ...
def instant(name: str) -> None: ...

class span:
    def __init__(self, name: str, cookie: Optional[int] = None) -> None: ...
    def __enter__(self) -> span: ...
    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> Literal[False]: ...

class Buffer(NamedTuple):
    name: str
    clock: str
    tracer: str
    clock_is_ns: bool
    first: Optional[int]
    last: Optional[int]
    cpus: int

class Field(NamedTuple):
    name: str
    type: str
    offset: int
    bytes: int
    signed: bool

class Format(NamedTuple):
    system: str
    name: str
    id: int
    fields: List[Field]
    print_fmt: str
    text: str

class Life(NamedTuple):
    pid: int
    comm: str
    parent: Optional[int]
    process: Optional[int]
    began: Optional[int]
    ended: Optional[int]
    status: Optional[int]
    program: Optional[str]

class Slice(NamedTuple):
    kind: str
    start: int
    end: int
    cpu: Optional[int]
    pid: Optional[int]
    name: str
    number: int
    depth: int
    state: Optional[str]
    how: Literal["known", "lost", "open"]
    buffer: int

class CpuStats(NamedTuple):
    cpu: int
    entries: int
    read: int
    overrun: int
    dropped: int
    commit_overrun: int

class ClockPiece(NamedTuple):
    since: int
    step_ns: int
    wall_ns: int
    sampled: int
    bound_ns: Optional[int]
    is_sleep: bool
    is_exact: bool

class Interval(NamedTuple):
    start: int
    end: int
    events: int
    is_whole: bool
    nothing: Optional[str]

class Writer:
    def __init__(
        self,
        *,
        version: int = 7,
        clock: Optional[str] = None,
        release: Optional[str] = None,
        machine: Optional[str] = None,
    ) -> None: ...
    def format(self, system: str, text: str, /) -> int: ...
    def type(
        self, system: str, name: str, fields: Sequence[Tuple[str, str, int, int, bool]], print_fmt: str, /
    ) -> int: ...
    def task(self, pid: int, comm: str, tgid: int = 0, /) -> None: ...
    def add(
        self, ts: int, type: int, data: "builtins.bytes", *, cpu: int = 0, pid: int = 0, flags: int = 0
    ) -> None: ...
    def lost(self, cpu: int, events: int = -1, /) -> None: ...
    def save(self, path: Union[str, "builtins.bytes", "os.PathLike[str]"], /) -> None: ...

class Trace:
    path: str
    release: str
    machine: str
    codec: str
    recorder: str
    version: int
    cpus: int
    long_size: int
    page_size: int
    big_endian: bool
    date_offset: Optional[int]
    damage: Optional[str]
    buffers: List[Buffer]
    formats: List[Format]
    settings: Dict[str, str]
    tasks: Dict[int, str]
    def events(
        self,
        event: _Words = None,
        /,
        *,
        filter: _Words = None,
        not_filter: _Words = None,
        longer: _Words = None,
        cpu: _Words = None,
        pid: _Words = None,
        comm: _Words = None,
        since: _Words = None,
        until: _Words = None,
        mark: _Words = None,
        file: _Words = None,
        limit: _Words = None,
        tail: _Words = None,
        instance: Optional[str] = None,
        no_hardirq: bool = False,
        no_softirq: bool = False,
        no_self: bool = False,
    ) -> Events: ...
    def columns(
        self,
        names: Union[str, Sequence[str]],
        event: _Words = None,
        /,
        *,
        filter: _Words = None,
        not_filter: _Words = None,
        longer: _Words = None,
        cpu: _Words = None,
        pid: _Words = None,
        comm: _Words = None,
        since: _Words = None,
        until: _Words = None,
        mark: _Words = None,
        file: _Words = None,
        limit: _Words = None,
        tail: _Words = None,
        instance: Optional[str] = None,
        no_hardirq: bool = False,
        no_softirq: bool = False,
        no_self: bool = False,
    ) -> Columns: ...
    def analyse(
        self,
        *names: str,
        sort: Optional[str] = None,
        threads: int = 0,
        progress: Optional[Callable[[float], Any]] = None,
        why: Optional[Dict[str, Any]] = None,
        cpu: _Words = None,
        pid: _Words = None,
        comm: _Words = None,
        since: _Words = None,
        until: _Words = None,
        mark: _Words = None,
        file: _Words = None,
        instance: Optional[str] = None,
        show_self: bool = False,
    ) -> Result: ...
    def intervals(
        self,
        name: str,
        every_ns: int,
        see: Callable[[Result, Interval], Any],
        /,
        *,
        sort: Optional[str] = None,
        cpu: _Words = None,
        pid: _Words = None,
        comm: _Words = None,
        since: _Words = None,
        until: _Words = None,
        mark: _Words = None,
        file: _Words = None,
        instance: Optional[str] = None,
        show_self: bool = False,
    ) -> None: ...
    def at(
        self,
        ts: int,
        event: _Words = None,
        /,
        *,
        filter: _Words = None,
        not_filter: _Words = None,
        cpu: _Words = None,
        pid: _Words = None,
        comm: _Words = None,
        since: _Words = None,
        until: _Words = None,
        instance: Optional[str] = None,
        no_hardirq: bool = False,
        no_softirq: bool = False,
    ) -> Optional[Event]: ...
    def before(
        self,
        ts: int,
        event: _Words = None,
        /,
        *,
        filter: _Words = None,
        not_filter: _Words = None,
        cpu: _Words = None,
        pid: _Words = None,
        comm: _Words = None,
        since: _Words = None,
        until: _Words = None,
        instance: Optional[str] = None,
        no_hardirq: bool = False,
        no_softirq: bool = False,
    ) -> Optional[Event]: ...
    def save(
        self,
        path: Union[str, bytes, "os.PathLike[str]"],
        event: _Words = None,
        /,
        *,
        filter: _Words = None,
        not_filter: _Words = None,
        longer: _Words = None,
        cpu: _Words = None,
        pid: _Words = None,
        comm: _Words = None,
        since: _Words = None,
        until: _Words = None,
        mark: _Words = None,
        file: _Words = None,
        instance: Optional[str] = None,
        no_hardirq: bool = False,
        no_softirq: bool = False,
        limit: _Words = None,
        tail: _Words = None,
        no_self: bool = False,
    ) -> int: ...
    def redact(
        self, path: Union[str, bytes, "os.PathLike[str]"], *, key: Union[str, bytes, None] = None, pids: bool = False
    ) -> Dict[str, int]: ...
    def symbols(self) -> List[Tuple[int, str, Optional[str]]]: ...
    def lives(self) -> List[Life]: ...
    def who(
        self,
        part: Literal["process", "program", "unit", "container", "pod", "cgroup", "user"],
        pid: int,
        ts: int,
        buffer: int = 0,
        /,
    ) -> Optional[str]: ...
    def names(
        self,
        part: Literal["process", "program", "unit", "container", "pod", "cgroup", "user"],
        buffer: int = 0,
        /,
    ) -> List[str]: ...
    def address(self, name: str, /) -> Optional[int]: ...
    def stats(self, buffer: int = 0, /) -> List[CpuStats]: ...
    def clock(self, buffer: int = 0, /) -> List[ClockPiece]: ...
    def when(self, ns: int, buffer: int = 0, /) -> List[int]: ...
    def slices(
        self,
        *kinds: Literal[
            "run",
            "state",
            "call",
            "irq",
            "softirq",
            "tasklet",
            "vector",
            "function",
            "counter",
            "loss",
            "mark",
            "async",
            "instant",
            "pair",
        ],
        cpu: _Words = None,
        since: _Words = None,
        until: _Words = None,
        instance: Optional[str] = None,
    ) -> List[Slice]: ...
    def setting(self, name: str, buffer: int = 0, /) -> Optional[str]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Trace: ...
    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None: ...

class Events(Iterator[Event]):
    damage: Optional[str]
    place: Tuple[int, int]
    def seek(self, ts: int, /) -> Events: ...
    def go(self, place: Tuple[int, int], /) -> Events: ...
    def only_cpu(self, cpu: int, /) -> Events: ...
    def previous(self) -> Optional[Event]: ...
    def filter(self, event: _Words = None, /, **query: _Words) -> Filter: ...
    def handler(self, name: str, function: Optional[Callable[[Event], Optional[str]]], /) -> None: ...
    def __reversed__(self) -> Iterator[Event]: ...
    def __iter__(self) -> Events: ...
    def __next__(self) -> Event: ...

class Live(Iterator[Event]):
    trace: Trace
    def analyse(self, *names: str, sort: Optional[str] = None) -> Result: ...
    def intervals(
        self, name: str, every_ns: int, see: Callable[[Result, Interval], Any], /, *, sort: Optional[str] = None
    ) -> None: ...
    def stop(self) -> None: ...
    def close(self) -> None: ...
    def fileno(self) -> int: ...
    def filter(self, event: _Words = None, /, **query: _Words) -> Filter: ...
    def handler(self, name: str, function: Optional[Callable[[Event], Optional[str]]], /) -> None: ...
    def __enter__(self) -> Live: ...
    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None: ...
    def __iter__(self) -> Live: ...
    def __next__(self) -> Event: ...

class Filter:
    def __call__(self, event: Event, /) -> bool: ...

class Event:
    ts: int
    wall: Optional[int]
    cpu: int
    pid: Optional[int]
    comm: str
    tgid: Optional[int]
    name: str
    system: str
    instance: str
    kind: int
    lost: Optional[int]
    flags: int
    preempt_count: int
    buffer: int
    size: int
    stack: Tuple[int, ...]
    text: str
    line: str
    json: str
    def __getitem__(self, name: str) -> _Value: ...
    def __contains__(self, name: object) -> bool: ...
    def get(self, name: str, default: Any = None, /) -> Any: ...
    def fields(self) -> Dict[str, _Value]: ...
    def decoded(self) -> Dict[str, Union[int, str]]: ...
    def copy(self) -> Event: ...

class Columns:
    names: Tuple[str, ...]
    def to_dict(self) -> Dict[str, Union[memoryview, Ragged]]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class Ragged(Sequence[Union[str, List[int], None]]):
    offsets: memoryview
    data: memoryview
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Union[str, List[int], None]]: ...
    def __getitem__(self, index: Any) -> Any: ...

class Result:
    names: Tuple[str, ...]
    limits: Dict[str, Dict[str, str]]
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Table]: ...
    def __getitem__(self, key: Union[str, int]) -> Table: ...
    def write(
        self, format: Literal["text", "json", "csv"], *, analysis: int = 0, top: int = 0, width: int = 0
    ) -> bytes: ...

class Table:
    name: str
    title: str
    analysis: str
    columns: Tuple[str, ...]
    limits: Dict[str, str]
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Dict[str, _Cell]]: ...
    @overload
    def __getitem__(self, key: int) -> Dict[str, _Cell]: ...
    @overload
    def __getitem__(self, key: str) -> List[_Cell]: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> Tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
