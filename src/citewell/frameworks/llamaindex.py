"""An index as a LlamaIndex retriever. Needs the extra `llamaindex`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from citewell.filters import Filter
from citewell.frameworks.metadata import metadata
from citewell.index import Index
from citewell.types import Hit, Principal

SHOWN_TO_A_MODEL = frozenset({"title", "section", "page"})
"""Of the metadata; LlamaIndex would put all of it above the text of every passage."""


class CitewellRetriever(BaseRetriever):  # type: ignore[misc]  # it has no types where it is not installed
    """The `k` best passages that `principal` may read (the default principal of the settings where it is None), that
    were in force on `as_of` (today) and meet `where`.

    Raises:
        as `Index.search`.
    """

    def __init__(
        self,
        index: Index,
        *,
        k: int | None = None,
        principal: Principal | None = None,
        as_of: date | None = None,
        where: Filter | None = None,
    ) -> None:
        super().__init__()
        self.index, self.k, self.principal, self.as_of, self.where = index, k, principal, as_of, where

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(
            self.index.search(
                query_bundle.query_str, k=self.k, principal=self.principal, as_of=self.as_of, where=self.where
            )
        )

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(
            await self.index.asearch(
                query_bundle.query_str, k=self.k, principal=self.principal, as_of=self.as_of, where=self.where
            )
        )


def _nodes(hits: Iterable[Hit]) -> list[NodeWithScore]:
    return [NodeWithScore(node=_node(hit), score=hit.score) for hit in hits]


def _node(hit: Hit) -> TextNode:
    told = metadata(hit)
    hidden = [key for key in told if key not in SHOWN_TO_A_MODEL]
    return TextNode(
        id_=hit.chunk.id,
        text=hit.chunk.text,
        metadata=told,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=list(told),
        start_char_idx=hit.chunk.start,
        end_char_idx=hit.chunk.end,
    )
