"""Techniques that are paid for once, over all documents: each a function from a case to its forecast."""

from __future__ import annotations

from dataclasses import replace

from citewell.evaluation.forecast import formulas
from citewell.evaluation.forecast.case import (
    LANGUAGE_MODEL,
    LATE_INTERACTION,
    VISION_MODEL,
    Case,
    Forecast,
    question,
    read_once,
)
from citewell.evaluation.forecast.work import Work


def stored_questions(case: Case) -> Forecast:
    """Questions that each passage answers are written and embedded beside it (doc2query, Nogueira et al. 2019)."""
    texts, assumed = case.collection, case.assumed
    written = texts.passages * assumed.questions_per_passage
    return Forecast(
        "stored questions",
        once=Work(
            calls=texts.passages,
            input_tokens=read_once(case),
            output_tokens=written * assumed.stored_question_tokens,
            embedding_tokens=written * assumed.stored_question_tokens,
        ),
        per_question=question(case),
        stored_bytes=formulas.vector_bytes(written, texts.dimensions),
        needs=LANGUAGE_MODEL,
        note="one call for each passage that changes",
    )


def contextual(case: Case) -> Forecast:
    """A sentence that places each passage in its document is put before it (Anthropic 2024).

    The whole document is in each call.
    """
    texts = case.collection
    read = texts.first_reading + texts.readings_again
    return _contextual(case, "contextual retrieval", Work(input_tokens=read))


def cached_contextual(case: Case) -> Forecast:
    """As `contextual`, with each document found in the provider's cache by all of its calls but the first."""
    texts = case.collection
    read = Work(cache_write_tokens=texts.first_reading, cached_tokens=texts.readings_again)
    return _contextual(case, "contextual retrieval, cached", read)


def token_vectors(case: Case) -> Forecast:
    """A vector of each token, in 16 bits (ColBERT, Khattab and Zaharia 2020)."""
    vectors = case.collection.embedded_tokens
    return Forecast(
        "ColBERT, 16 bits",
        once=Work(embedding_tokens=vectors),
        per_question=question(case),
        stored_bytes=formulas.vector_bytes(vectors, formulas.COLBERT_DIMENSIONS, formulas.F16),
        needs=LATE_INTERACTION,
        note=f"{vectors:,} vectors",
    )


def compressed_token_vectors(case: Case) -> Forecast:
    """As `token_vectors`, as a centroid and 2 bits a dimension (ColBERTv2, Santhanam et al. 2022)."""
    plain = token_vectors(case)
    size = formulas.residual_bytes(case.collection.embedded_tokens, formulas.COLBERT_DIMENSIONS, bits=2)
    return replace(plain, name="ColBERT, 2-bit residuals", stored_bytes=size)


def page_images(case: Case) -> Forecast:
    """Each page as an image, a vector of each patch, in 16 bits (ColPali, Faysse et al. 2024)."""
    pages = case.collection.pages(case.assumed.tokens_per_page)
    vectors = pages * formulas.PAGE_VECTORS
    return Forecast(
        "page images, 16 bits",
        once=Work(embedding_tokens=vectors),
        per_question=question(case),
        stored_bytes=formulas.vector_bytes(vectors, formulas.COLBERT_DIMENSIONS, formulas.F16),
        needs=VISION_MODEL,
        note=f"{pages:,} pages of {formulas.PAGE_VECTORS:,} vectors",
    )


def summary_tree(case: Case) -> Forecast:
    """Clusters of passages are summarised, and the summaries again, up to a root (RAPTOR, Sarthi et al. 2024)."""
    texts, assumed = case.collection, case.assumed
    levels = formulas.tree_levels(texts.passages, assumed.members_per_cluster)
    summaries = sum(levels[1:])
    written = summaries * assumed.summary_tokens
    below_root = sum(levels[1:-1]) * assumed.summary_tokens
    return Forecast(
        "RAPTOR",
        once=Work(
            calls=summaries,
            input_tokens=round(texts.passages * texts.passage_tokens)
            + below_root
            + summaries * assumed.instruction_tokens,
            output_tokens=written,
            embedding_tokens=written,
        ),
        per_question=question(case),
        stored_bytes=formulas.vector_bytes(summaries, texts.dimensions),
        needs=LANGUAGE_MODEL,
        note=f"{summaries:,} summaries; a new passage touches {len(levels) - 1}",
    )


def graph(case: Case) -> Forecast:
    """Entities and relations of each passage, and a report of each community (GraphRAG, Edge et al. 2024).

    A local question reads as much as one of the current settings.
    """
    texts, assumed = case.collection, case.assumed
    reports = _reports(case)
    extracted = texts.passages * assumed.relation_tokens
    written = reports * assumed.report_tokens
    return Forecast(
        "graph, local questions",
        once=Work(
            calls=texts.passages + reports,
            input_tokens=read_once(case) + extracted + reports * assumed.instruction_tokens,
            output_tokens=extracted + written,
            embedding_tokens=written,
        ),
        per_question=question(case),
        stored_bytes=formulas.vector_bytes(reports, texts.dimensions),
        needs=LANGUAGE_MODEL,
        note=f"{reports:,} reports",
    )


def global_graph(case: Case) -> Forecast:
    """As `graph`, every question a global one: a partial answer from each report read, and one answer from these."""
    assumed = case.assumed
    read = max(1, round(_reports(case) * assumed.reports_read))
    partial = read * assumed.partial_answer_tokens
    mapped = Work(
        calls=read,
        input_tokens=formulas.map_tokens(read, assumed.report_tokens)
        + read * (assumed.instruction_tokens + assumed.question_tokens),
        output_tokens=partial,
    )
    reduced = Work(
        calls=1,
        input_tokens=partial + case.asking.instruction_tokens,
        output_tokens=case.asking.answer_tokens,
    )
    return replace(
        graph(case), name="graph, global questions", per_question=mapped + reduced, note=f"each reads {read:,} reports"
    )


def _contextual(case: Case, name: str, documents: Work) -> Forecast:
    texts = case.collection
    written = texts.passages * case.assumed.context_tokens
    calls = Work(
        calls=texts.passages,
        input_tokens=read_once(case),
        output_tokens=written,
        embedding_tokens=texts.embedded_tokens + written,
    )
    return Forecast(
        name,
        once=documents + calls,
        per_question=question(case),
        needs=LANGUAGE_MODEL,
        note="the whole document is in each call",
    )


def _reports(case: Case) -> int:
    return max(1, round(case.collection.tokens / 1_000 * case.assumed.reports_per_1000_tokens))
