"""The collection of an index: on a server, or in a folder by the local form of the server's client."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from citewell.errors import ServiceRefused
from citewell.stores.beside.local import LocalClients
from citewell.stores.beside.server import Server, name_our_collection, our_collection


class Closable(Protocol):
    def close(self) -> None: ...


Client = TypeVar("Client", bound=Closable)


class NoCollection(ServiceRefused):
    """Ours is not there: nothing was put yet, or it is just being made anew."""

    def __init__(self) -> None:
        super().__init__("The collection of vectors is not there.", remedy="Run the same command again.")


class Driver(Protocol[Client]):
    """What to know of a product's client."""

    name: str
    """Of the local form's folder, and of the only collection in it."""
    local: LocalClients[Client]

    def connect(self, server: Server) -> Client: ...

    def has(self, client: Client, collection: str) -> bool: ...

    def in_our_words(self, server: Server) -> AbstractContextManager[None]:
        """What goes wrong within is raised as ServiceUnreachable, ServiceRefused or NoCollection."""
        ...


class Connection(Generic[Client]):
    """Made when it is first used. `server` is None for the local form."""

    def __init__(self, driver: Driver[Client], folder: Path, server: Server | None) -> None:
        self._driver = driver
        self._folder = folder
        self._server = server
        self._client: Client | None = None
        self._opening = threading.Lock()

    @property
    def is_local(self) -> bool:
        return self._server is None

    @contextmanager
    def asked(self) -> Iterator[tuple[Client, str]]:
        """The client, and the name of our collection. Nothing is made.

        Raises:
            NoCollection: there is none yet.
            IndexLocked: another process has the local form.
            ServiceUnreachable, ServiceRefused: what the server said.
        """
        with self._open(making=False) as (client, name):
            yield client, name

    @contextmanager
    def made(self, make: Callable[[Client, str], None]) -> Iterator[tuple[Client, str]]:
        """As `asked`, where `make` has made the collection if it was missing."""
        with self._open(making=True) as (client, name):
            if not self._driver.has(client, name):
                make(client, name)
            yield client, name

    def close(self) -> None:
        with self._opening:
            client, self._client = self._client, None
        if client is not None and self._server is None:
            self._driver.local.give_back(self._local_folder)
        elif client is not None:
            client.close()

    @property
    def _local_folder(self) -> Path:
        return self._folder / self._driver.name

    @contextmanager
    def _open(self, *, making: bool) -> Iterator[tuple[Client, str]]:
        if self._server is None:
            # To look for a local form that is not there would make it.
            if not making and not self._local_folder.exists():
                raise NoCollection
            with self._driver.local.one_at_a_time:
                client, name = self._connected(), self._driver.name
                if not making and not self._driver.has(client, name):
                    raise NoCollection
                yield client, name
        else:
            name = name_our_collection(self._folder) if making else our_collection(self._folder)
            if not name:
                raise NoCollection
            with self._driver.in_our_words(self._server):
                yield self._connected(), name

    def _connected(self) -> Client:
        with self._opening:
            if self._client is None:
                if self._server is None:
                    self._client = self._driver.local.take(self._local_folder)
                else:
                    self._client = self._driver.connect(self._server)
            return self._client
