"""What the user knows and we do not: prices, speeds, the language model's size, and how long its texts will be.

There is no list of prices in here: prices age, and a forecast with last year's is worse than none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from citewell.complaints import explained
from citewell.errors import SettingsError
from citewell.settings import read_toml

Rate = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Tokens = Annotated[int, Field(ge=0, le=10_000_000)]
Number = Annotated[int, Field(ge=1, le=1_000_000)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Prices(_Table):
    """In US dollars for a million tokens; None is not known. `rerank` is 0 where the model runs on one's own machine.

    `cache_write` and `cached` are for the beginning of a prompt that a provider keeps and finds again.
    """

    input: Rate | None = None
    cache_write: Rate | None = None
    cached: Rate | None = None
    output: Rate | None = None
    embedding: Rate | None = None
    rerank: Rate = 0.0

    @property
    def known(self) -> bool:
        """Whether a question to a language model has a price."""
        return self.input is not None and self.output is not None


class Speeds(_Table):
    """In milliseconds a token; None is not known. `prefill` is the reading of a prompt, `output` the writing.

    `searching` and `quoting` are milliseconds of a question: finding and re-ranking its passages, its embedding aside,
    and quoting them where no language model answers. `embedding` is that of a question. `indexing` is all that a text
    takes once it is read from its file: cutting, embedding and storing, with what is kept of its tokens and words;
    where it is not known, the embedding alone is counted.
    """

    prefill: Rate | None = None
    output: Rate | None = None
    embedding: Rate | None = None
    indexing: Rate | None = None
    searching: Rate | None = None
    quoting: Rate | None = None
    rerank: Rate | None = None

    def beside_models(self, *, is_quoted: bool) -> float:
        """Milliseconds of a question that is searched for, beside those of its tokens: as far as they are known."""
        return (self.searching or 0.0) + (self.quoting or 0.0 if is_quoted else 0.0)

    @property
    def once(self) -> Speeds:
        """Of what is done once: what is embedded is stored too."""
        return self if self.indexing is None else self.model_copy(update={"embedding": self.indexing})


class LanguageModel(_Table):
    """`context_tokens` is the most that fits in a prompt, `kv_mb_per_token` the memory a token of it takes."""

    context_tokens: Number = 128_000
    kv_mb_per_token: Rate | None = None


class Assumptions(_Table):
    """Lengths in tokens and numbers that only a run could tell; docs/cost.md says where each comes from."""

    question_tokens: Tokens = 20
    answer_tokens: Tokens = 100
    instruction_tokens: Tokens = Field(100, description="of a technique's own prompt")
    hypothetical_tokens: Tokens = Field(100, description="of the answer that HyDE makes up")
    sub_questions: Number = 4
    questions_per_passage: Number = 3
    stored_question_tokens: Tokens = 15
    context_tokens: Tokens = Field(75, description="put before each passage by contextual retrieval")
    members_per_cluster: Annotated[int, Field(ge=2, le=1_000)] = 10
    summary_tokens: Tokens = 131
    relation_tokens: Tokens = Field(200, description="extracted from each passage for a graph")
    report_tokens: Tokens = Field(600, description="of a community's report")
    reports_per_1000_tokens: Annotated[float, Field(ge=0, le=1_000)] = 2.6
    reports_read: Annotated[float, Field(gt=0, le=1)] = Field(0.14, description="share that a global question reads")
    partial_answer_tokens: Tokens = Field(100, description="that a global question makes of each report")
    tokens_per_page: Number = Field(500, description="where a format has no pages")
    judged_questions: Number = 100


class Rates(_Table):
    """The whole file of `--prices`."""

    usd_per_million_tokens: Prices = Prices()
    ms_per_token: Speeds = Speeds()
    language_model: LanguageModel = LanguageModel()
    assumptions: Assumptions = Assumptions()


def read_rates(path: Path) -> Rates:
    """The rates of a TOML file.

    Raises:
        SettingsError: it is missing or does not parse, or a key or value is not allowed.
    """
    try:
        return Rates.model_validate(read_toml(path))
    except ValidationError as error:
        raise SettingsError(
            f"{path} has wrong prices: {explained(error, Rates)}.",
            remedy="Correct or remove the key; docs/cost.md lists every key.",
        ) from None
