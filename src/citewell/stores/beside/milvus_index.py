"""Milvus beside a store: one collection on a server, or in Milvus Lite, which is for trying it out."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.errors import Refused
from citewell.settings import Storage
from citewell.stores.beside import milvus_terms as terms
from citewell.stores.beside.connection import Connection, NoCollection
from citewell.stores.beside.local import LocalClients
from citewell.stores.beside.server import Server
from citewell.stores.beside.vector_index import Allowed, Found, Points, in_parts

if TYPE_CHECKING:
    from pymilvus import MilvusClient

    from citewell.models.embedder import Vectors

DATABASE = "vectors.db"
AT_ONCE = 512
TIMEOUT_S = 30
MOST_FOUND = 16_384

CONNECT_FAILED, RATE_LIMIT, NO_COLLECTION = 2, 8, 100


class MilvusIndex:
    """A `VectorIndex` on a server where the settings or MILVUS_URI name one, and otherwise in a folder."""

    def __init__(self, folder: Path, dimensions: int, storage: Storage) -> None:
        """
        Raises:
            SettingsError: the server's URL or token cannot be used.
        """
        server = Server.named("Milvus", storage, "MILVUS_URI", "MILVUS_TOKEN")
        self._connection = Connection(_Driver(), folder, server)
        self._dimensions = dimensions

    def state(self) -> str:
        try:
            with self._connection.asked() as (client, name):
                return terms.state_in(client.get(name, [terms.STATE], output_fields=list(terms.IDS)))
        except (NoCollection, Refused):  # refused: another process has the local form
            return ""

    def apply(self, put: Points, drop: Collection[str], state: str) -> None:
        """See `VectorIndex.apply`.

        Raises:
            IndexLocked, PermissionRefused, DiskFull: the folder cannot be used.
            ServiceRefused: an entry has more groups and values than Milvus takes (`terms.MAX_TAGS`).
        """
        with self._connection.made(self._make) as (client, name):
            if put.points or drop:
                client.upsert(name, [terms.state_row("", self._dimensions)])
            for versions in in_parts(sorted(drop), AT_ONCE):
                client.delete(name, filter=terms.of_versions(versions))
            for rows in in_parts(list(terms.rows(put)), AT_ONCE):
                client.upsert(name, rows)
            client.upsert(name, [terms.state_row(state, self._dimensions)])

    def search(self, vector: Vectors, k: int, allowed: Allowed, *, exact: bool) -> list[Found]:  # noqa: ARG002
        """See `VectorIndex.search`. The index that we make compares all in any case."""
        try:
            with self._connection.asked() as (client, name):
                (hits,) = client.search(
                    name,
                    data=[vector.tolist()],
                    anns_field="vector",
                    filter=terms.within(allowed),
                    search_params={"metric_type": "IP"},
                    limit=min(k, MOST_FOUND),
                    output_fields=list(terms.IDS),
                )
        except NoCollection:
            return []
        return [Found(*(hit["entity"][column] for column in terms.IDS)) for hit in hits]

    def reset(self) -> None:
        """See `VectorIndex.reset`. A server may keep for a while, in its log and segments, what it deleted."""
        try:
            with self._connection.asked() as (client, name):
                client.drop_collection(name)
        except NoCollection:
            return

    def close(self) -> None:
        self._connection.close()

    def _make(self, client: MilvusClient, name: str) -> None:
        """So that whoever asks sees all that was written before."""
        client.create_collection(name, schema=terms.schema(self._dimensions), consistency_level="Strong")
        client.create_index(name, terms.indexes(), sync=False)  # it is empty, and Milvus Lite cannot wait for it
        client.load_collection(name)


def _open_folder(folder: Path) -> MilvusClient:
    from pymilvus import MilvusClient

    client = MilvusClient(str(folder / DATABASE))
    if client.has_collection(_Driver.name):
        client.load_collection(_Driver.name)
    return client


def _close_folder(client: MilvusClient, folder: Path) -> None:
    from milvus_lite.server_manager import server_manager_instance

    client.close()
    server_manager_instance.release_server(str(folder / DATABASE))


class _Driver:
    name = "milvus"
    local = LocalClients(_open_folder, _close_folder)

    def connect(self, server: Server) -> MilvusClient:
        from pymilvus import MilvusClient

        return MilvusClient(uri=server.url, token=server.key, timeout=TIMEOUT_S)

    def has(self, client: MilvusClient, collection: str) -> bool:
        return bool(client.has_collection(collection))

    @contextmanager
    def in_our_words(self, server: Server) -> Iterator[None]:
        from grpc import RpcError
        from pymilvus.exceptions import MilvusException, MilvusUnavailableException

        try:
            yield
        except MilvusException as error:
            if error.code == NO_COLLECTION:
                raise NoCollection from None
            if error.code in (CONNECT_FAILED, RATE_LIMIT) or isinstance(error, MilvusUnavailableException):
                raise server.unreachable(f"error {error.code}") from None
            raise server.refused(f"error {error.code}") from None
        except RpcError as error:
            raise server.unreachable(type(error).__name__) from None
