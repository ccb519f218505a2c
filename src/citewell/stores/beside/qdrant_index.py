"""Qdrant beside a store: one collection on a server, or in the client's local form, which is for trying it out."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.errors import Refused
from citewell.settings import Storage
from citewell.stores.beside import qdrant_terms as terms
from citewell.stores.beside.connection import Connection, NoCollection
from citewell.stores.beside.local import LocalClients
from citewell.stores.beside.server import Server
from citewell.stores.beside.vector_index import Allowed, Found, Points, in_parts

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

    from citewell.models.embedder import Vectors

AT_ONCE = 256
TIMEOUT_S = 30

MISSING, TIMED_OUT, TOO_MANY, BROKEN = 404, 408, 429, 500


class QdrantIndex:
    """A `VectorIndex` on a server where the settings or QDRANT_URL name one, and otherwise in a folder."""

    def __init__(self, folder: Path, dimensions: int, storage: Storage) -> None:
        """
        Raises:
            SettingsError: the server's URL or key cannot be used.
        """
        server = Server.named("Qdrant", storage, "QDRANT_URL", "QDRANT_API_KEY")
        self._connection = Connection(_Driver(), folder, server)
        self._dimensions = dimensions
        self._quantise = storage.quantise

    def state(self) -> str:
        try:
            with self._connection.asked() as (client, name):
                return terms.state_in(client.retrieve(name, [terms.STATE], with_payload=True))
        except (NoCollection, Refused):  # refused: another process has the local form
            return ""

    def apply(self, put: Points, drop: Collection[str], state: str) -> None:
        """See `VectorIndex.apply`.

        Raises:
            IndexLocked, PermissionRefused, DiskFull: the folder cannot be used.
        """
        with self._connection.made(self._make) as (client, name):
            if put.points or drop:
                client.upsert(name, [terms.state_struct("", self._dimensions)])
            for versions in in_parts(sorted(drop), AT_ONCE):
                client.delete(name, terms.of_versions(versions))
            for points in in_parts(list(terms.structs(put)), AT_ONCE):
                client.upsert(name, points)
            client.upsert(name, [terms.state_struct(state, self._dimensions)])

    def search(self, vector: Vectors, k: int, allowed: Allowed, *, exact: bool) -> list[Found]:
        """See `VectorIndex.search`. The local form compares all in any case."""
        try:
            with self._connection.asked() as (client, name):
                answer = client.query_points(
                    name,
                    query=vector.tolist(),
                    query_filter=terms.within(allowed),
                    search_params=None if self._connection.is_local else terms.effort(k, exact=exact),
                    limit=k,
                    with_payload=list(terms.IDS),
                )
        except NoCollection:
            return []
        return terms.found(answer.points)

    def reset(self) -> None:
        """See `VectorIndex.reset`. A server may keep for a while, in its log and snapshots, what it deleted."""
        try:
            with self._connection.asked() as (client, name):
                client.delete_collection(name)
        except NoCollection:
            return

    def close(self) -> None:
        self._connection.close()

    def _make(self, client: QdrantClient, name: str) -> None:
        """On a server with the lists by which it finds what is allowed."""
        from qdrant_client.http.models import PayloadSchemaType

        client.create_collection(name, terms.space(self._dimensions, self._quantise))
        if not self._connection.is_local:
            for field in ("tags", "version"):
                client.create_payload_index(name, field, PayloadSchemaType.KEYWORD)
            for field in ("first", "last"):
                client.create_payload_index(name, field, PayloadSchemaType.INTEGER)


def _open_folder(folder: Path) -> QdrantClient:
    from qdrant_client import QdrantClient

    return QdrantClient(path=str(folder), force_disable_check_same_thread=True)


class _Driver:
    name = "qdrant"
    local = LocalClients(_open_folder, lambda client, _: client.close())

    def connect(self, server: Server) -> QdrantClient:
        from qdrant_client import QdrantClient

        with warnings.catch_warnings():
            # A key over an open connection was refused before, unless it stays on this machine.
            warnings.filterwarnings("ignore", "Api key is used with an insecure connection")
            return QdrantClient(
                url=server.url, port=None, api_key=server.key or None, timeout=TIMEOUT_S, check_compatibility=False
            )

    def has(self, client: QdrantClient, collection: str) -> bool:
        return client.collection_exists(collection)

    @contextmanager
    def in_our_words(self, server: Server) -> Iterator[None]:
        from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        try:
            yield
        except UnexpectedResponse as error:
            status = error.status_code or 0
            if status == MISSING:
                raise NoCollection from None
            if status in (TIMED_OUT, TOO_MANY) or status >= BROKEN:
                raise server.unreachable(f"it answers with status {status}") from None
            raise server.refused(f"status {status}") from None
        except ResourceExhaustedResponse:
            raise server.unreachable("it has too much to do") from None
        except ResponseHandlingException as error:
            raise server.unreachable(type(error.source).__name__) from None
