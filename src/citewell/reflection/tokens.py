"""The reflection tokens of Self-RAG, by their names in the models that its authors published.

Asai et al. 2023, "Self-RAG: Learning to Retrieve, Generate, and Critique through Self-Reflection" (arXiv:2310.11511),
table 1.
"""

from __future__ import annotations

from enum import Enum


class Token(Enum):
    """What a model was trained to write, or to read, as one token. Not a str: no text is one."""

    RETRIEVAL = "[Retrieval]"
    NO_RETRIEVAL = "[No Retrieval]"
    PASSAGE = "<paragraph>"
    PASSAGE_END = "</paragraph>"
    RELEVANT = "[Relevant]"
    IRRELEVANT = "[Irrelevant]"
    FULLY_SUPPORTED = "[Fully supported]"
    PARTIALLY_SUPPORTED = "[Partially supported]"
    NO_SUPPORT = "[No support / Contradictory]"
    UTILITY_1 = "[Utility:1]"
    UTILITY_2 = "[Utility:2]"
    UTILITY_3 = "[Utility:3]"
    UTILITY_4 = "[Utility:4]"
    UTILITY_5 = "[Utility:5]"


RETRIEVE = (Token.RETRIEVAL, Token.NO_RETRIEVAL)
"""Are passages needed? The paper's third, to go on with the passage at hand, is of answers of several segments."""

IS_RELEVANT = (Token.RELEVANT, Token.IRRELEVANT)
IS_SUPPORTED = (Token.FULLY_SUPPORTED, Token.PARTIALLY_SUPPORTED, Token.NO_SUPPORT)
IS_USEFUL = (Token.UTILITY_1, Token.UTILITY_2, Token.UTILITY_3, Token.UTILITY_4, Token.UTILITY_5)
