"""An index as a LangChain retriever. Needs the extra `langchain`."""

from __future__ import annotations

from datetime import date

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import SkipValidation

from citewell.filters import Filter
from citewell.frameworks.metadata import metadata
from citewell.index import Index
from citewell.types import Hit, Principal


class CitewellRetriever(BaseRetriever):
    """The `k` best passages that `principal` may read (the default principal of the settings where it is None), that
    were in force on `as_of` (today) and meet `where`.

    Raises:
        as `Index.search`.
    """

    index: SkipValidation[Index]
    k: int | None = None
    principal: Principal | None = None
    as_of: date | None = None
    where: SkipValidation[Filter | None] = None

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002 - the base class's
        found = self.index.search(query, k=self.k, principal=self.principal, as_of=self.as_of, where=self.where)
        return [_document(hit) for hit in found]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - the base class's
    ) -> list[Document]:
        found = await self.index.asearch(query, k=self.k, principal=self.principal, as_of=self.as_of, where=self.where)
        return [_document(hit) for hit in found]


def _document(hit: Hit) -> Document:
    return Document(page_content=hit.chunk.text, id=hit.chunk.id, metadata=metadata(hit))
