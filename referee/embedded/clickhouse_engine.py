"""The one chDB engine of a server process: its handles, and how one statement runs on one of them.

chDB opens one path a process, with any number of handles on it. A handle has its own database and settings and runs one
statement at a time; handles run in parallel and release the interpreter while they work.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from chdb import _chdb

from referee.embedded.clickhouse_errors import (
    INTO_OUTFILE_NOT_ALLOWED,
    NOT_IMPLEMENTED,
    SYNTAX_ERROR,
    UNKNOWN_TYPE_OF_QUERY,
    ClickHouseError,
    from_engine,
)
from referee.embedded.clickhouse_statement import FileClauseError, Insert, named_format, split_insert

DEFAULT_DATABASE: Final = "default"


@dataclass(frozen=True)
class Statement:
    """One statement as a client sent it, with everything that it depends on."""

    text: bytes
    read_only: bool = False
    database: str = DEFAULT_DATABASE
    default_format: str = "TabSeparated"
    parameters: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What a statement gave: its rows in ``result_format`` (None when it has no result), and counts."""

    body: bytes = b""
    result_format: str | None = None
    result_rows: int = 0
    read_rows: int = 0
    read_bytes: int = 0
    written_rows: int = 0
    written_bytes: int = 0
    elapsed_ns: int = 0


class _Handle:
    """A connection to the engine with the database and the mode that it is in."""

    def __init__(self, path: str, read_only: bool) -> None:
        self._connection: Any = _chdb.connect(path)  # type: ignore[attr-defined]
        self._database = DEFAULT_DATABASE
        # chDB starts with a console's defaults; these are a server's.
        self.query("SET implicit_select = 0, allow_introspection_functions = 0")
        if read_only:
            self.query("SET readonly = 2")

    def query(
        self,
        text: str | bytes,
        output_format: str = "TabSeparated",
        parameters: Mapping[str, str] = MappingProxyType({}),
    ) -> Any:
        """Run a text; raise ClickHouseError as the engine words it."""
        try:
            return self._connection.query(text, output_format, params=dict(parameters))
        except RuntimeError as error:
            raise from_engine(str(error)) from None

    def classify(self, text: bytes) -> tuple[str, int]:
        """Return the class of a text (READ_ONLY, MUTATING, CONTROL, UNKNOWN) and how many statements it has."""
        report = self._connection.classify_query(text.decode(errors="replace"))
        return report["query_class"].name, report["statement_count"]

    def insert(self, insert: Insert) -> Any:
        """Insert data in the format that it came in; raise ClickHouseError."""
        try:
            stream = self._connection.send_insert(insert.head, insert.data_format)
            if insert.data.nbytes:
                self._connection.insert_append(stream, bytes(insert.data))
            return self._connection.insert_done(stream)
        except RuntimeError as error:
            raise from_engine(str(error)) from None

    def use(self, database: str) -> None:
        """Make this the database of unqualified names."""
        if database != self._database:
            self.query(f"USE {_identifier(database)}")
            self._database = database

    def close(self) -> None:
        self._connection.close()


class Engine:
    """The engine on one directory; ``run`` may be called from any number of threads."""

    def __init__(self, path: Path) -> None:
        """Open or create the directory; raise ClickHouseError when another process has it."""
        self._path = str(path)
        self._lock = threading.Lock()
        self._idle: dict[bool, list[_Handle]] = {False: [], True: []}
        try:
            handle = _Handle(self._path, read_only=False)
        except RuntimeError as error:
            raise from_engine(str(error)) from None
        self.version, self.timezone, self.host_name = (
            handle.query("SELECT version(), timezone(), hostName()").bytes().decode().rstrip("\n").split("\t")
        )
        self._idle[False].append(handle)

    def run(self, statement: Statement) -> Outcome:
        """Run one statement to its end; raise ClickHouseError."""
        if not statement.text.strip():
            raise ClickHouseError(SYNTAX_ERROR, "Empty query. (SYNTAX_ERROR)")
        try:
            insert = split_insert(statement.text)
        except FileClauseError as error:
            raise ClickHouseError(UNKNOWN_TYPE_OF_QUERY, f"{error}. (UNKNOWN_TYPE_OF_QUERY)") from None
        with self._handle(statement.read_only) as (handle, spoil):
            handle.use(statement.database)
            if statement.settings:
                assignments = ", ".join(f"{_identifier(k)} = {_literal(v)}" for k, v in statement.settings.items())
                defaults = ", ".join(f"{_identifier(k)} = DEFAULT" for k in statement.settings)
                handle.query(f"SET {assignments}")
            try:
                if insert is not None and not (statement.parameters and insert.data_format == "Values"):
                    return _insert(handle, insert, statement)
                return _query(handle, statement, spoil)
            finally:
                if statement.settings:
                    handle.query(f"SET {defaults}")

    def close(self) -> None:
        """Close the idle handles; the engine ends with its last handle."""
        with self._lock:
            for handles in self._idle.values():
                while handles:
                    handles.pop().close()

    @contextmanager
    def _handle(self, read_only: bool) -> Iterator[tuple[_Handle, "_Spoil"]]:
        with self._lock:
            handle = self._idle[read_only].pop() if self._idle[read_only] else None
        if handle is None:
            handle = _Handle(self._path, read_only)
        spoil = _Spoil()
        try:
            yield handle, spoil
        except BaseException:
            # Its settings may not have been put back.
            spoil.spoilt = True
            raise
        finally:
            if spoil.spoilt:
                handle.close()
            else:
                with self._lock:
                    self._idle[read_only].append(handle)


@dataclass
class _Spoil:
    """Whether a statement left something behind in its handle, which must not serve another client then."""

    spoilt: bool = False


def _insert(handle: _Handle, insert: Insert, statement: Statement) -> Outcome:
    if statement.parameters:
        raise ClickHouseError(
            NOT_IMPLEMENTED, "Query parameters are not supported with INSERT … FORMAT data. (NOT_IMPLEMENTED)"
        )
    result = handle.insert(insert)
    return Outcome(
        written_rows=result.rows_written(),
        written_bytes=result.bytes_written(),
        elapsed_ns=int(result.elapsed() * 1e9),
    )


def _query(handle: _Handle, statement: Statement, spoil: _Spoil) -> Outcome:
    kind, statements = handle.classify(statement.text)
    if statements > 1:
        raise ClickHouseError(SYNTAX_ERROR, "Syntax error (Multi-statements are not allowed). (SYNTAX_ERROR)")
    if kind == "CONTROL":
        if statement.text.split(None, 1)[0].upper() not in (b"SET", b"USE", b"SYSTEM", b"KILL"):
            raise ClickHouseError(INTO_OUTFILE_NOT_ALLOWED, "INTO OUTFILE is not allowed. (INTO_OUTFILE_NOT_ALLOWED)")
        spoil.spoilt = True
    result = handle.query(statement.text, statement.default_format, statement.parameters)
    body = result.bytes() or b""
    has_result = bool(body) or kind == "READ_ONLY"
    return Outcome(
        body=body,
        result_format=(named_format(statement.text) or statement.default_format) if has_result else None,
        result_rows=result.rows_read(),
        read_rows=result.storage_rows_read(),
        read_bytes=result.storage_bytes_read(),
        written_rows=result.rows_written(),
        written_bytes=result.bytes_written(),
        elapsed_ns=int(result.elapsed() * 1e9),
    )


def _identifier(name: str) -> str:
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def _literal(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
