"""Rows that stay on a cluster of Spark, asked through Spark Connect: tables of Arrow go to functions where they lie.

A part of the table is one partition. What is made of a part is one cell of bytes beside its place, so that no RDD is
needed, which Spark Connect has not. To this process come whole-number sums, added up on the workers, and whatever else
``EngineRows`` says; never a row. Workers need dpviz, of the same version.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pyarrow as pa

from dpviz.core import Domain, add_up, check
from dpviz.tables.arrow_intake import ArrowTable, list_wanted, make_batch
from dpviz.tables.declarations import Declaration
from dpviz.tables.given_rows import ClusterRows, refuse_gone
from dpviz.tables.loaded_table import IntakeError
from dpviz.tables.prepared_rows import Batch

SCHEME = "sc"
_SECONDS_TO_ANSWER = 10
_PARTS, _HANDS = "place int, part binary", "place int, source int, part binary"


class SparkPart(NamedTuple):
    """What lies at one place of a frame of parts."""

    frame: Any
    place: int


class SparkEngine:
    """Parts are cells of bytes in a frame of Spark, each beside its place; see ``Engine``.

    Of the columns of a call the first has parts of one frame; what is in the others goes to the workers.
    """

    def map(self, call: Callable[..., Any], *columns: Sequence[Any]) -> list[SparkPart]:
        """What ``call`` makes of the entries of the columns, kept on the workers."""
        with refuse_gone("spark_gone"):
            made = _send(call, *columns).persist()
        return [SparkPart(made, part.place) for part in columns[0]]

    def exchange(
        self, deal: Callable[..., list[Any]], gather: Callable[[list[Any], int], Any], *columns: Sequence[Any]
    ) -> list[SparkPart]:
        """As many parts as before, dealt out and gathered by the workers."""
        given = _key_by_place(*columns)

        def deal_each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for place, part in _read_parts(batches):
                for to, hand in enumerate(deal(part, *given[place])):
                    yield pa.record_batch({"place": _number(to), "source": _number(place), "part": _pack(hand)})

        def gather_each(hands: pa.Table) -> pa.Table:
            place = hands.column("place")[0].as_py()
            parts = [pickle.loads(cell.as_py()) for cell in hands.sort_by("source").column("part")]
            return pa.table({"place": _number(place), "part": _pack(gather(parts, place))})

        with refuse_gone("spark_gone"):
            dealt = columns[0][0].frame.mapInArrow(deal_each, _HANDS)
            gathered = dealt.groupBy("place").applyInArrow(gather_each, _PARTS).persist()
        return [SparkPart(gathered, place) for place in range(len(columns[0]))]

    def total(self, ask: Callable[[Any], list[Any]], parts: Sequence[SparkPart]) -> list[Any]:
        """Sums of the answers over all parts, added up by one worker."""

        def add_each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            answers = [answer for _, answer in _read_parts(batches)]
            if answers:
                yield _make_part(0, add_up(answers))

        with refuse_gone("spark_gone"):
            (found,) = _send(ask, parts).repartition(1).mapInArrow(add_each, _PARTS).collect()
        total: list[Any] = pickle.loads(found["part"])
        return total

    def collect(self, parts: Sequence[SparkPart]) -> list[Any]:
        """The parts, fetched."""
        with refuse_gone("spark_gone"):
            found = {row["place"]: row["part"] for row in parts[0].frame.collect()}
        return [pickle.loads(found[part.place]) for part in parts]


@dataclass(frozen=True, eq=False)
class SparkTable(ArrowTable):
    """A table of Spark; nothing of its rows has been looked at, and they stay where they are.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Of a session that speaks Spark Connect, or any other.
    name : str
        What the table is called on screen.
    """

    frame: Any
    name: str = "Spark table"

    @classmethod
    def find(cls, address: str) -> SparkTable:
        """The table that an address names, on a server of Spark Connect: ``sc://HOST:15002?table=NAME``.

        Raises
        ------
        RequestError
            If it names none, pyspark is not installed, or no server answers.
        """
        remote, _, said = address.partition("?")
        named = said.removeprefix("table=")
        if not remote.removeprefix(f"{SCHEME}://") or not named or named == said:
            raise IntakeError.of("no_spark_address")
        grpc, sql = check.import_extra("grpc"), check.import_extra("pyspark.sql")
        client = check.import_extra("pyspark.sql.connect.client")
        try:  # a session would ask for minutes
            channel = client.DefaultChannelBuilder(remote).toChannel()
            grpc.channel_ready_future(channel).result(timeout=_SECONDS_TO_ANSWER)
            session = sql.SparkSession.builder.remote(remote).getOrCreate()
        except Exception:
            raise IntakeError.of("no_spark_server", address=remote) from None
        return cls(session.read.table(named), named)

    @cached_property
    def fingerprint(self) -> str:
        """Tells tables apart by name and columns: of their states Spark says nothing."""
        return hashlib.sha256(repr((self.name, str(self._schema))).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def size(self) -> int:
        """More than any memory holds: rows stay where they are."""
        return 2**62

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are: a private number under add/remove, neither shown nor used unpaid."""
        with refuse_gone("spark_gone"):
            return int(self.frame.count())

    def check_unchanged(self) -> None:
        """Nothing: parts are read once, and kept."""

    def _read_schema(self) -> pa.Schema:
        with self._refuse_damaged():
            schema: pa.Schema = self.frame.limit(0).toArrow().schema
        return schema

    def _read_parts(self, columns: Sequence[str], rows: int) -> Iterator[Any]:
        raise IntakeError.of("spark_at_once")

    def _read_whole(self, columns: Sequence[str]) -> list[pa.Table]:
        raise IntakeError.of("spark_at_once")

    def _refuse_damaged(self) -> AbstractContextManager[None]:
        return refuse_gone("no_spark_table", name=self.name)

    def prepare(self, declared: Declaration, domain: Domain) -> ClusterRows:
        """The rows, prepared where they lie as declared (see ``Preparation``); refuses as ``read_batches`` does."""
        numbers, id_column, codings = declared.columns, declared.id_column, declared.coded
        self.check_coded(numbers, codings, id_column)
        wanted = list_wanted(numbers, id_column)
        empty = pa.schema([pa.field(name, self._schema.field(name).type) for name in wanted]).empty_table()

        def make(tables: list[pa.Table]) -> Batch:
            return make_batch(pa.concat_tables(tables).combine_chunks(), numbers, id_column, codings, read=1.0)

        def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            place = check.import_extra("pyspark").TaskContext.get().partitionId()
            yield _make_part(place, make([empty, *(pa.Table.from_batches([one]) for one in batches)]))

        with refuse_gone("spark_gone"):
            columns = [self.frame["`" + name.replace("`", "``") + "`"] for name in wanted]
            found = self.frame.select(*columns).mapInArrow(read, _PARTS).persist()
            places = sorted(row["place"] for row in found.select("place").collect())
            if not places:  # a table of no partition has a part without rows, as others of no rows have
                found, places = self.frame.sparkSession.createDataFrame([(0, pickle.dumps(make([empty])))], _PARTS), [0]
        try:
            parts, drops = [SparkPart(found, place) for place in places], declared.drops_incomplete
            most = None if id_column is None else declared.rows_per_person
            return ClusterRows.of(parts, domain, drop_incomplete=drops, rows_per_person=most, engine=SparkEngine())
        finally:
            with refuse_gone("spark_gone"):
                found.unpersist()


def _send(call: Callable[..., Any], *columns: Sequence[Any]) -> Any:
    """The frame of what ``call`` makes of each part of a frame."""
    given = _key_by_place(*columns)

    def call_each(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for place, part in _read_parts(batches):
            yield _make_part(place, call(part, *given[place]))

    return columns[0][0].frame.mapInArrow(call_each, _PARTS)


def _key_by_place(parts: Sequence[SparkPart], *columns: Sequence[Any]) -> dict[int, tuple[Any, ...]]:
    values = zip(*columns, strict=True) if columns else ((),) * len(parts)
    return {part.place: tuple(given) for part, given in zip(parts, values, strict=True)}


def _read_parts(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Any]]:
    for batch in batches:
        for place, cell in zip(batch.column("place").to_pylist(), batch.column("part"), strict=True):
            yield place, pickle.loads(cell.as_py())


def _make_part(place: int, part: Any) -> pa.RecordBatch:
    return pa.record_batch({"place": _number(place), "part": _pack(part)})


def _number(value: int) -> pa.Array:
    return pa.array([value], pa.int32())


def _pack(part: Any) -> pa.Array:
    return pa.array([pickle.dumps(part, protocol=5)], pa.binary())
