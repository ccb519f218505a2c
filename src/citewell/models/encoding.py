"""What is made of a passage to find it by: its vector, and where they are kept those of its tokens and its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.errors import FingerprintMismatch
from citewell.models import token_vectors
from citewell.models.embedder import Embedded, Embedder
from citewell.models.sparse import SparseEncoder


@dataclass(frozen=True, slots=True)
class Encoders:
    """The models that read passages and queries. `sparse` is None where the settings name none."""

    embedder: Embedder
    sparse: SparseEncoder | None = None

    @property
    def sparse_identity(self) -> str:
        """As it is recorded with an index: "" for none."""
        return self.sparse.identity if self.sparse is not None else ""

    def encode(self, texts: Sequence[str], codec: str) -> list[Embedded]:
        """What is made of passages, with token vectors packed by `codec` where it is not "".

        Raises:
            ServiceError: the embedder's endpoint failed.
        """
        made = token_vectors.embed(self.embedder, texts, codec)
        if self.sparse is None:
            return made
        words = self.sparse.encode_passages(texts)
        return [replace(each, sparse=sparse.pack()) for each, sparse in zip(made, words, strict=True)]

    def require_same_sparse(self, recorded: str) -> None:
        """Check the sparse encoder against the one that an index was made with.

        Raises:
            FingerprintMismatch: it is another one, or one of both is none.
        """
        if self.sparse_identity == recorded:
            return
        made = f"with the sparse encoder {recorded}" if recorded else "without sparse vectors"
        raise FingerprintMismatch(
            f"The index was made {made}; that of the settings is {self.sparse_identity or 'none'}.",
            remedy="Set models.sparse as it was, or run `citewell migrate` to build the index with the one named.",
        )
