"""Prefixes by family, unit vectors, and names of providers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import notewell
from notewell.adapters.embeddings.prefixes import PLAIN, Prefixes, prefixes_for
from notewell.adapters.embeddings.vectors import unit_rows, usable_rows

PASSAGES = "Represent this sentence for searching relevant passages: "
TASK = (
    "Instruct: Given a web search query, retrieve relevant passages that answer "
    "the query\nQuery:"
)


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        (
            "hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf",
            "task: search result | query: ",
            "title: none | text: ",
        ),
        (
            "embeddinggemma:300m",
            "task: search result | query: ",
            "title: none | text: ",
        ),
        ("Qwen/Qwen3-Embedding-0.6B", TASK, ""),
        ("qwen3-embedding:0.6b", TASK, ""),
        ("/models/Qwen3-Embedding-0.6B-Q8_0.gguf", TASK, ""),
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("intfloat/e5-base-v2", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", f"{TASK} ", ""),
        ("BAAI/bge-small-en-v1.5", PASSAGES, ""),
        ("bge-large", PASSAGES, ""),
        (
            "BAAI/bge-small-zh-v1.5",
            "为这个句子生成表示以用于检索相关文章：",
            "",
        ),
        ("bge-m3", "", ""),
        ("nomic-embed-text", "search_query: ", "search_document: "),
        ("nomic_embed_text_v1.5.gguf", "search_query: ", "search_document: "),
        ("mxbai-embed-large:latest", PASSAGES, ""),
        ("snowflake-arctic-embed:22m", PASSAGES, ""),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("sentence-transformers/all-MiniLM-L6-v2", "", ""),
        ("text-embedding-3-small", "", ""),
        ("/cache/models--intfloat--e5-small-v2/snapshots/ab12", "query: ", "passage: "),
        ("", "", ""),
    ],
)
def test_a_models_family_says_what_stands_before_texts(
    model: str, query: str, document: str
) -> None:
    assert prefixes_for(model) == Prefixes(query, document)


def test_a_role_gets_its_prefix() -> None:
    prefixes = Prefixes("q: ", "d: ")

    assert prefixes.before("text", "query") == "q: text"
    assert prefixes.before("text", "document") == "d: text"
    assert PLAIN.before("text", "query") == "text"


numbers = st.floats(width=64, allow_nan=True, allow_infinity=True)


@given(st.lists(st.none() | st.lists(numbers, max_size=5) | st.binary(max_size=16)))
def test_a_row_is_a_unit_vector_or_nothing(raw: list[object]) -> None:
    rows = unit_rows(raw, 3)

    assert rows.shape == (len(raw), 3)
    assert rows.dtype == np.float32
    norms = np.linalg.norm(rows[usable_rows(rows)], axis=1)
    np.testing.assert_allclose(norms, 1, rtol=1e-5)
    assert np.isnan(rows[~usable_rows(rows)]).all()


@given(st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3))
def test_any_vector_with_a_direction_keeps_it(numbers: list[float]) -> None:
    [row] = unit_rows([numbers], 3)

    if any(numbers):
        largest = np.abs(numbers).argmax()
        assert np.sign(row[largest]) == np.sign(numbers[largest])
        assert np.abs(row).argmax() == largest or np.isclose(
            np.abs(row).max(), abs(row[largest])
        )
    else:
        assert np.isnan(row).all()


def test_choosing_loads_no_http_client_and_no_numpy() -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from notewell.adapters.embeddings.choose import choose_providers\n"
        "from notewell.config import load_settings\n"
        "environ = {'OPENAI_API_KEY': 'sk', 'OPENCLAW_STATE_DIR': '/nowhere'}\n"
        "settings = load_settings(environ=environ, home=Path('/nowhere'))\n"
        "agent = settings.agent(None)\n"
        "choice = choose_providers(settings, agent, environ, configured=True)\n"
        "heavy = {'httpx', 'numpy', 'asyncio', 'ssl', 'logging', 'subprocess'}\n"
        "print(choice.first.name, sorted(heavy & set(sys.modules)))\n"
    )
    source = str(Path(notewell.__file__).parents[1])

    ran = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert ran.stdout == "openai []\n"
