"""The settings: one closed, bounded tree, which is also the shape of `citewell.toml`.

Every key is optional, an unknown key is refused with its path. Environment variables override the file:
`CITEWELL_RETRIEVAL__KEEP=8` sets `keep` in `[retrieval]`. Secrets are never settings: they are read from the
environment where they are used.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

import regex
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from citewell.complaints import MOST, SHOWN, complaints, near_key
from citewell.errors import SettingsError
from citewell.filters import BUILT_IN, FieldType
from citewell.types import EVERYONE, Principal

SETTINGS_FILE = "citewell.toml"
STATE_FILE = "service.sqlite3"
"""In the state folder of the service, which it is known by."""

Groups = tuple[Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")], ...]

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "fast": {"retrieval": {"candidates": 20, "rerank": False}},
    "balanced": {},
    "accurate": {"retrieval": {"candidates": 200, "rerank_candidates": 100}},
}
"""What a preset sets; a key given in the file or the environment wins over it."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Loading(_Table):
    """`[loading]`: limits for one file."""

    max_file_mb: float = Field(200, gt=0, le=100_000)
    max_pages: int = Field(5_000, ge=1)
    max_text_mb: float = Field(50, gt=0, le=2_000)
    max_inflation: float = Field(100, ge=1, description="unpacked bytes over packed bytes, for zipped formats")
    max_depth: int = Field(3, ge=0, le=20, description="of files within files: a mail in an archive is 1")
    max_inside: int = Field(2_000, ge=0, description="files in one archive or mail")
    max_seconds: float = Field(120, gt=0, le=86_400, description="for a file, and again for each page read by OCR")
    max_memory_mb: int = Field(3_000, ge=200, description="for reading a file")
    ocr: Literal["auto", "off"] = "auto"
    plugins: tuple[str, ...] = Field((), description="loaders of other packages, asked first, in this order")
    ignore: tuple[str, ...] = Field(("node_modules", "__pycache__", "~$*", "Thumbs.db", "desktop.ini"))


class Chunking(_Table):
    """`[chunking]`: sizes in the embedder's tokens."""

    method: Literal["structure", "semantic", "fixed"] = "structure"
    size: int = Field(240, ge=16, le=8_192)
    overlap: int = Field(30, ge=0, le=4_096)
    parents: int = Field(0, ge=0, le=8_192, description="size of the passage read around a chunk found; 0 is off")
    table_rows: bool = False
    summaries: bool = Field(False, description="an entry for each document and section, from its headings and leads")
    semantic_inside: bool = Field(False, description="cut sections that are too long by meaning")
    semantic_threshold: Literal["deviation", "percentile"] = "deviation"
    semantic_cut: float = Field(1.0, ge=0, le=100, description="deviations above the mean, or the percentile")

    @model_validator(mode="after")
    def _overlap_fits(self) -> Self:
        if self.overlap * 2 > self.size:
            raise ValueError(f"overlap {self.overlap} is more than half of size {self.size}")
        return self


class Enrichment(_Table):
    """`[enrichment]`: what a language model writes of each passage, to be searched beside the documents' own words."""

    context: bool = Field(False, description="where in its document a passage stands, put before it")
    questions: int = Field(0, ge=0, le=20, description="that an approved passage answers, for each of them")
    summaries: bool = Field(False, description="an entry for each document")
    parallel: int = Field(4, ge=1, le=64, description="calls of the language model at the same time")

    @property
    def of_a_model(self) -> tuple[str, ...]:
        """The keys that are on; each needs a language model."""
        on = {"context": self.context, "questions": self.questions > 0, "summaries": self.summaries}
        return tuple(name for name, is_on in on.items() if is_on)


class Models(_Table):
    """`[models]`: `llm` is "none" (the answer quotes its sources), "openai:MODEL" at any compatible `llm_url`,
    "anthropic:MODEL" or "ollama:MODEL".

    `embedder` is the built-in one, "onnx:FOLDER" (a folder with model.onnx and tokenizer.json) or "openai:MODEL" at any
    compatible `embedder_url`. `sparse` is "none" or "onnx:FOLDER" with a masked language model (SPLADE). `reranker` is
    "maxsim", "llm", "onnx:FOLDER" or "hosted:MODEL" at `reranker_url`.
    """

    embedder: str = Field("all-MiniLM-L6-v2-int8", pattern=r"^(all-MiniLM-L6-v2-int8|onnx:.+|openai:\S+)$")
    embedder_url: str = Field("", pattern=r"^(https?://\S+)?$")
    embedder_timeout_s: float = Field(60, gt=0, le=3_600)
    embedder_max_tokens: int = Field(256, ge=16, le=1_000_000, description="that it reads of a text; not the built-in")
    pooling: Literal["mean", "cls"] = Field("mean", description='of "onnx:FOLDER"')
    query_prefix: str = Field("", max_length=200, description="put before each query; not the built-in embedder's")
    passage_prefix: str = Field("", max_length=200, description="put before each passage; not the built-in embedder's")
    dimensions: int = Field(0, ge=0, le=100_000, description="keep the first of each vector (Matryoshka); 0 keeps all")
    threads: int = Field(0, ge=0, le=256, description="for the embedder and a judge; 0 takes the machine's cores")
    sparse: str = Field("none", pattern=r"^(none|onnx:.+)$")
    sparse_pooling: Literal["max", "sum"] = Field("max", description="of SPLADE v2, or of the first SPLADE")
    sparse_max_tokens: int = Field(256, ge=16, le=8_192, description="that it reads of a text")
    reranker: str = Field("maxsim", pattern=r"^(maxsim|llm|onnx:.+|hosted:\S+)$")
    reranker_url: str = Field("", pattern=r"^(https?://\S+)?$")
    reranker_timeout_s: float = Field(60, gt=0, le=3_600)
    llm: str = Field("none", pattern=r"^(none|(openai|anthropic|ollama):\S+)$")
    llm_url: str = Field("", pattern=r"^(https?://\S+)?$")
    llm_timeout_s: float = Field(60, gt=0, le=3_600)
    llm_max_tokens: int = Field(600, ge=16, le=100_000)
    llm_price_in: float | None = Field(None, ge=0, le=1e6, description="USD for a million tokens of a prompt")
    llm_price_out: float | None = Field(None, ge=0, le=1e6, description="USD for a million tokens of an answer")
    llm_price_cached: float | None = Field(None, ge=0, le=1e6, description="of a prompt's that the provider cached")

    @model_validator(mode="after")
    def _has_whole_prices(self) -> Self:
        if (self.llm_price_in is None) != (self.llm_price_out is None):
            raise ValueError("llm_price_in and llm_price_out are given together")
        if self.llm_price_in is None and self.llm_price_cached is not None:
            raise ValueError("llm_price_cached is given beside llm_price_in")
        return self


_WRITTEN: Mapping[str, str] = {
    "models.embedder": '"all-MiniLM-L6-v2-int8", "onnx:FOLDER" or "openai:MODEL"',
    "models.sparse": '"none" or "onnx:FOLDER"',
    "models.reranker": '"maxsim", "llm", "onnx:FOLDER" or "hosted:MODEL"',
    "models.llm": '"none", "openai:MODEL", "anthropic:MODEL" or "ollama:MODEL"',
    **dict.fromkeys(
        ["models.embedder_url", "models.reranker_url", "models.llm_url", "storage.vectors_url", "security.web_url"],
        'an address, "https://..."',
    ),
}
"""How values are written that have a form of their own."""


class Storage(_Table):
    """`[storage]`: how vectors are searched, and how long what was replaced or deleted is kept."""

    exact_up_to: int = Field(20_000, ge=0, description="entries in scope up to which every vector is compared")
    quantise: Literal["none", "int8", "binary"] = "binary"
    vectors: Literal["built-in", "faiss", "qdrant", "milvus"] = "built-in"
    vectors_url: str = Field("", pattern=r"^(https?://\S+)?$", description="of a Qdrant or Milvus server; '' is local")
    token_vectors: bool = Field(True, description="keep one for each word, for the MaxSim re-ranker")
    keep_versions: int = Field(10, ge=0, description="past versions of a document that are found by their date")
    keep_deleted_days: int = Field(30, ge=0, le=36_500, description="for which a deleted document can be brought back")


Weight = Annotated[float, Field(gt=0, le=1_000)]


class Weights(_Table):
    """`[retrieval.weights]`: how much each list counts when they are joined."""

    dense: Weight = 1.0
    keyword: Weight = 1.0
    sparse: Weight = 1.0
    rerank: Weight = 2.0

    @property
    def of_legs(self) -> dict[str, float]:
        return {"dense": self.dense, "keyword": self.keyword, "sparse": self.sparse}


class Retrieval(_Table):
    """`[retrieval]`: which legs search, how their lists are joined, what is re-ranked, how many passages are kept."""

    legs: tuple[Literal["dense", "keyword", "sparse"], ...] = Field(("dense", "keyword"), min_length=1)
    fusion: Literal["rrf", "convex", "distribution"] = "convex"
    rrf_k: int = Field(5, ge=1, le=10_000)
    weights: Weights = Weights()
    rerank: bool = True
    rerank_candidates: int = Field(50, ge=2, le=1_000, description="of the joined list that the re-ranker reads")
    rerank_budget_s: float = Field(10, gt=0, le=3_600, description="after which what is not read stays where it was")
    candidates: int = Field(100, ge=1, le=10_000)
    keep: int = Field(5, ge=1, le=100)
    diversity: float = Field(0, ge=0, le=1, description="of the candidates' order, how much is difference (MMR)")
    near_duplicates: Literal["all", "first"] = Field("all", description="passages that say the same: one is kept")
    floor: Literal["calibrated", "off"] | Annotated[float, Field(ge=-1, le=1.15)] = "calibrated"


class Cache(_Table):
    """`[cache]`: what an open index remembers, in memory only."""

    queries: int = Field(1_000, ge=0, le=1_000_000, description="queries whose vectors are kept")
    answers: int = Field(0, ge=0, le=1_000_000, description="answers, each for who may read just the same")


class Queries(_Table):
    """`[queries]`: what a question becomes before it is searched."""

    rewrite: bool = Field(True, description="in a conversation, search too for the question as it stands alone")
    decompose: Literal["off", "rules", "llm"] = Field("off", description="search for each part of a question")
    second_hop: bool = Field(False, description="search on with a name that the first passages give")
    variants: int = Field(0, ge=0, le=8, description="other wordings, by the language model (RAG-Fusion)")
    hyde: bool = Field(False, description="a passage that would answer it, by the language model")
    step_back: bool = Field(False, description="the broader question behind it, by the language model")
    route: Literal["off", "rules", "trained"] = Field("off", description="none, one or many steps for each question")

    @property
    def of_a_model(self) -> tuple[str, ...]:
        """The keys that are on and need a language model."""
        on = {"variants": self.variants > 0, "hyde": self.hyde, "step_back": self.step_back}
        return tuple(name for name, is_on in {**on, "decompose": self.decompose == "llm"}.items() if is_on)


class Metadata(_Table):
    """`[metadata]`: the fields that a search can be filtered by, beside source, title, version, language and trust."""

    fields: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")], FieldType] = Field({}, max_length=50)

    @field_validator("fields")
    @classmethod
    def _not_built_in(cls, fields: dict[str, FieldType]) -> dict[str, FieldType]:
        taken = sorted(fields.keys() & BUILT_IN.keys())
        if taken:
            raise ValueError(f"{taken[0]} is a field of every document already")
        return fields


class Rule(_Table):
    """`[[generation.rules]]`: a sentence in which `says` is found needs a citation whose source fits the glob `source`
    and whose text holds `quote`; with neither, nothing allows it. Patterns are regular expressions, without case."""

    name: str = Field(min_length=1, max_length=100)
    says: str = Field(min_length=1, max_length=1_000)
    source: str = Field("", max_length=1_000)
    quote: str = Field("", max_length=1_000)
    otherwise: Literal["strike", "flag", "abstain"] = "strike"

    @field_validator("says", "quote")
    @classmethod
    def _is_a_pattern(cls, pattern: str) -> str:
        try:
            regex.compile(pattern)
        except regex.error as error:
            raise ValueError(f"no regular expression: {error}") from None
        return pattern


class Generation(_Table):
    """`[generation]`: how an answer is made from passages."""

    max_sentences: int = Field(3, ge=1, le=20, description='quoted by the extractive answer (llm = "none")')
    passage_tokens: int = Field(
        3_000, ge=200, le=1_000_000, description="of passages in a prompt, at 4 characters each"
    )
    check: Literal["off", "rules", "llm"] = Field("off", description="who grades the passages found (CRAG)")
    check_upper: float = Field(0.50, ge=0, le=1, description="the grade above which a passage answers the question")
    check_lower: float = Field(0.45, ge=0, le=1, description="the grade below which it does not")
    verify: Literal["off", "flag", "strike"] = Field("flag", description="sentences of a model that nothing supports")
    compress: Literal["off", "sentences", "llm"] = Field("off", description="show a model only what bears on it")
    order: Literal["best-first", "best-last"] = Field("best-first", description="of the passages in a prompt")
    whole_tokens: int = Field(0, ge=0, le=10_000_000, description="up to which all is shown if passages fail; 0 is off")
    rules: tuple[Rule, ...] = Field((), max_length=100, description="what an answer may say only with which source")
    reflect: Literal["off", "loop"] = Field("off", description="a model judges passages and drafts (Self-RAG)")
    reflect_rounds: int = Field(2, ge=1, le=5, description="of searching and drafting, at most, in that loop")

    @property
    def may_strike(self) -> bool:
        """Whether a sentence that a model wrote may be taken out before the answer is shown."""
        return self.verify == "strike" or any(rule.otherwise != "flag" for rule in self.rules)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.check_lower > self.check_upper:
            raise ValueError(f"check_lower {self.check_lower} is above check_upper {self.check_upper}")
        return self


Untrusted = Literal["plain", "cut", "mark"]
"""How prompts show the text of an untrusted document: see `models.fenced`."""


class Security(_Table):
    """`[security]`: `default_groups` may read what has no rights; a query without a principal is in `as_groups`."""

    default_groups: Groups = (EVERYONE,)
    as_groups: Groups = ()
    untrusted: Untrusted = Field("cut", description="how prompts show an untrusted document")
    web: Literal["deny", "allow"] = Field("deny", description="whether a question may be sent to web_url")
    web_url: str = Field("", pattern=r"^(https?://\S+)?$", description="of a SearXNG, for generation.check")

    @model_validator(mode="after")
    def _web_is_somewhere(self) -> Self:
        if self.web == "allow" and not self.web_url:
            raise ValueError('web = "allow" is given together with web_url')
        return self

    @property
    def principal(self) -> Principal:
        """Of a query that does not say who asks."""
        return Principal(groups=frozenset(self.as_groups))


class _NoModel(ValueError):
    """Keys need a language model, and there is none; by each of them, the value that switches it off."""

    def __init__(self, off: Mapping[str, object]) -> None:
        super().__init__(
            f"{', '.join(off)} need{'s' if len(off) == 1 else ''} a language model, and models.llm is none"
        )
        switches = " and ".join(f"{key} = {json.dumps(value)}" for key, value in off.items())
        self.remedy = f'Name one under [models], for example llm = "ollama:qwen3:4b", or set {switches}.'


class Service(_Table):
    """`[service]`: the folder and the limits of `citewell serve`, and whose tokens it takes beside its own keys."""

    state: str = Field(".citewell-service", min_length=1, max_length=4_096, pattern=r"^[^\x00]*$")
    max_upload_mb: float = Field(50, gt=0, le=100_000, description="of one request that uploads files")
    max_running: int = Field(8, ge=1, le=1_024, description="questions and searches answered at once, in a process")
    max_waiting: int = Field(32, ge=0, le=100_000, description="that wait for their turn; the next one is sent away")
    rate_per_minute: int = Field(0, ge=0, le=1_000_000, description="requests of one key; 0 sets no limit")
    cors_origins: tuple[Annotated[str, Field(pattern=r"^https?://[^\s/*]+$")], ...] = Field((), max_length=100)
    oidc_issuer: str = Field("", pattern=r"^(https?://\S+)?$", description='"" takes no tokens but our own keys')
    oidc_audience: str = Field("", max_length=1_000)
    oidc_jwks_url: str = Field("", pattern=r"^(https?://\S+)?$", description='"" is found from the issuer')
    oidc_groups_claim: str = Field("groups", min_length=1, max_length=200)
    conversation_days: int = Field(90, ge=0, le=36_500, description="for which one is kept after its last turn")

    @model_validator(mode="after")
    def _whose_tokens(self) -> Self:
        if self.oidc_issuer and not self.oidc_audience:
            raise ValueError("oidc_issuer is given together with oidc_audience")
        if not self.oidc_issuer and (self.oidc_audience or self.oidc_jwks_url):
            raise ValueError("oidc_audience and oidc_jwks_url are given beside oidc_issuer")
        return self


class Settings(BaseSettings):
    """The whole tree. `Settings.load(path)` reads a file; `Settings()` is the default plus the environment."""

    model_config = SettingsConfigDict(
        env_prefix="CITEWELL_",
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
        nested_model_default_partial_update=True,
    )

    preset: Literal["fast", "balanced", "accurate"] = "balanced"
    loading: Loading = Loading()
    chunking: Chunking = Chunking()
    enrichment: Enrichment = Enrichment()
    models: Models = Models()
    storage: Storage = Storage()
    metadata: Metadata = Metadata()
    retrieval: Retrieval = Retrieval()
    queries: Queries = Queries()
    cache: Cache = Cache()
    generation: Generation = Generation()
    security: Security = Security()
    service: Service = Service()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return env_settings, init_settings

    @model_validator(mode="before")
    @classmethod
    def _apply_preset(cls, data: dict[str, Any]) -> dict[str, Any]:
        merged = dict(data)
        for table, values in PRESETS.get(str(data.get("preset", "balanced")), {}).items():
            given = merged.get(table, {})
            # Anything but a table goes on as it is, for the validation to refuse.
            merged[table] = {**values, **given} if isinstance(given, dict) else given
        return merged

    @model_validator(mode="after")
    def _has_a_model(self) -> Self:
        on = [("enrichment", key) for key in self.enrichment.of_a_model]
        on += [("queries", key) for key in self.queries.of_a_model]
        on += [("models", "reranker")] if self.models.reranker == "llm" else []
        on += [("generation", key) for key in ("check", "compress") if getattr(self.generation, key) == "llm"]
        on += [("generation", "reflect")] if self.generation.reflect == "loop" else []
        if on and self.models.llm == "none":
            tables = Settings.model_fields
            raise _NoModel({f"{table}.{key}": getattr(tables[table].default, key) for table, key in on})
        if "sparse" in self.retrieval.legs and self.models.sparse == "none":
            raise ValueError("retrieval.legs has sparse, and models.sparse is none")
        return self

    @classmethod
    def load(cls, path: Path | None = None) -> Settings:
        """Read a settings file, or only the environment where `path` is None.

        Raises:
            SettingsError: the file is missing or does not parse, or a key or value is not allowed.
        """
        data = read_toml(path) if path is not None else {}
        _refuse_unknown_tables(cls)
        try:
            return cls(**data)
        except (ValidationError, ValueError) as error:
            where = str(path) if path is not None else "the environment"
            raise SettingsError(f"Settings from {where}: {_complaints(error)}.", remedy=_remedy(error)) from None


def read_toml(path: Path) -> dict[str, Any]:
    """Parse a TOML file of ours.

    Raises:
        SettingsError: it is missing, unreadable, not UTF-8 or not TOML; the message names the line.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"There is no file {path}.", remedy="Check the path.") from None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.", remedy="Check its permissions.") from None
    except (ValueError, RecursionError) as error:  # also an endless number, and brackets within brackets
        raise SettingsError(f"{path} is not valid TOML: {error}.", remedy="Correct that line.") from None


def _refuse_unknown_tables(settings: type[Settings]) -> None:
    """An override whose table is misspelt would be ignored in silence; other keys are checked with the file's."""
    for name in os.environ:
        table, nested, _ = name.removeprefix("CITEWELL_").lower().partition("__")
        if name.startswith("CITEWELL_") and nested and table not in settings.model_fields:
            raise SettingsError(
                f"The environment sets {name}, and there is no table [{table}].",
                remedy="Correct the name or unset it; docs/settings.md lists every key.",
            )


def _complaints(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    problems = cast("list[dict[str, Any]]", error.errors(include_url=False, include_input=False))
    lines, others = list[str](), list[dict[str, Any]]()
    for problem in problems:
        path = ".".join(str(part)[:SHOWN] for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            if len(lines) == MOST:
                continue
            meant = near_key(Settings, problem["loc"])
            lines.append(f"{path}: unknown key" + (f"; is {meant} meant?" if meant else ""))
        elif problem["type"] == "string_pattern_mismatch" and path in _WRITTEN:
            lines.append(f"{path} is written as {_WRITTEN[path]}")
        else:
            others.append(problem)
    return "; ".join([*lines, complaints(others)] if others else lines)


def _remedy(error: ValueError) -> str:
    problems = error.errors(include_url=False, include_input=False) if isinstance(error, ValidationError) else []
    causes = (problem.get("ctx", {}).get("error") for problem in problems)
    of_their_own = (cause.remedy for cause in causes if isinstance(cause, _NoModel))
    return next(of_their_own, "Correct or remove these keys; docs/settings.md lists every key with its bounds.")
