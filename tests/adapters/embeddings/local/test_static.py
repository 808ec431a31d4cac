"""The provider `static` against the package whose files it reads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import notewell
from notewell.adapters.embeddings.base import EmbeddingIdentity, EmbedsQuestions
from notewell.adapters.embeddings.local.static import (
    DIMENSION,
    StaticEmbedder,
    Tokenizer,
    open_package,
    read_vocabulary,
    spelled_like_words,
)
from notewell.errors import EmbeddingError


def package() -> Path:
    found = find_spec("wordllama")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


VOCABULARY: Final = package() / "tokenizers" / "l2_supercat_tokenizer_config.json"
TABLE: Final = package() / "weights" / "l2_supercat_256.safetensors"

TEXTS: Final = (
    "The machine running the gateway",
    "- Incident TP-331, 07:10 to 08:35.\n\n  ===== ====  =\n| a | b |\t|---|",
    "数据库部署在新加坡。次の会議は火曜日です。 한국어 텍스트도 있습니다.",
    "Привет, мир! مرحبا بالعالم שלום हिन्दी ไทย Ελληνικά",
    "👩‍👩‍👧 café naïve ﬁ \x00\x01\u2028\ufffd\u3000",
    "<s>a</s> <unk> <0x0A> ▁▁",
    "   ",
    "x" * 3_000 + " " + "aé" * 2_000,
    "a half \ud83d of a pair",
)

THE_PACKAGES_OWN: Final = """
import json, sys
from pathlib import Path
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from wordllama.inference import WordLlamaInference

vocabulary, table = sys.argv[1:]
[numbers] = load_file(table).values()
encoder = WordLlamaInference(numbers, Tokenizer.from_file(vocabulary))
texts = json.load(sys.stdin)
vectors = [encoder.embed(text, norm=True)[0].tolist() for text in texts]
json.dump(vectors, sys.stdout)
"""


Cut: TypeAlias = Callable[[str], list[int]]


@pytest.fixture(scope="module")
def original() -> Cut:
    """The package's tokenizer, set up as its encoder does."""
    tokenizer: Any = import_module("tokenizers").Tokenizer.from_file(str(VOCABULARY))
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def cut(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    return cut


@pytest.fixture(scope="module")
def ours() -> Tokenizer:
    return Tokenizer(read_vocabulary(VOCABULARY))


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return open_package()


def well_formed(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
@example(text="")
@example(text="a  b   c    d" + " " * 70 + "e")
def test_any_text_is_cut_as_the_package_cuts_it(
    original: Cut, ours: Tokenizer, text: str
) -> None:
    assert ours.pieces(text) == original(text)


@given(text=st.text("=-#*| aetTs\n.é<>/", max_size=60))
def test_runs_of_marks_and_letters_are_cut_as_the_package_cuts_them(
    original: Cut, ours: Tokenizer, text: str
) -> None:
    assert ours.pieces(text) == original(text)


@pytest.mark.parametrize("text", TEXTS)
def test_texts_of_many_scripts_are_cut_as_the_package_cuts_them(
    original: Cut, ours: Tokenizer, text: str
) -> None:
    assert ours.pieces(text) == original(well_formed(text))


def test_vectors_are_those_of_the_packages_own_encoder(
    embedder: StaticEmbedder,
) -> None:
    asked = json.dumps([well_formed(text) for text in TEXTS])

    ran = subprocess.run(
        [sys.executable, "-c", THE_PACKAGES_OWN, str(VOCABULARY), str(TABLE)],
        input=asked.encode(),
        capture_output=True,
        check=True,
        timeout=120,
    )
    theirs = np.array(json.loads(ran.stdout), dtype=np.float32)

    assert np.allclose(embedder.embed(TEXTS, "document"), theirs, atol=1e-5)
    assert np.allclose(embedder.embed(TEXTS, "query"), theirs, atol=1e-5)


@pytest.mark.parametrize("text", TEXTS)
def test_a_question_has_the_vector_that_a_passage_has(
    embedder: StaticEmbedder, text: str
) -> None:
    assert isinstance(embedder, EmbedsQuestions)

    light = np.frombuffer(embedder.embed_question(text), dtype="<f4")

    assert light.shape == (DIMENSION,)
    assert np.allclose(light, embedder.embed([text], "query")[0], atol=1e-5)


def test_a_question_of_any_length_takes_the_memory_of_its_vocabulary(
    embedder: StaticEmbedder,
) -> None:
    once = np.frombuffer(embedder.embed_question("note"), dtype="<f4")
    tracemalloc.start()

    many = np.frombuffer(embedder.embed_question("note " * 100_000), dtype="<f4")

    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.allclose(once, many, atol=1e-6)
    assert most < 50_000_000


def test_a_text_without_a_character_has_no_vector(embedder: StaticEmbedder) -> None:
    [nothing, something] = embedder.embed(["", "note"], "document")

    assert np.isnan(nothing).all()
    assert np.isfinite(something).all()
    assert embedder.embed_question("") == b""
    assert embedder.embed([], "document").shape == (0, DIMENSION)


def test_a_vector_does_not_depend_on_the_texts_beside_it(
    embedder: StaticEmbedder,
) -> None:
    together = embedder.embed(TEXTS, "document")
    alone = [embedder.embed([text], "document")[0] for text in TEXTS]

    assert np.array_equal(together, np.array(alone))


def test_the_vectors_are_known_by_release_and_content(
    embedder: StaticEmbedder,
) -> None:
    identity = embedder.identity()

    assert identity.model.startswith("wordllama-0.4.0.post1@")
    assert identity == EmbeddingIdentity(
        provider="static",
        model=identity.model,
        endpoint="",
        dimension=DIMENSION,
        prefixes="",
    )


def test_a_question_loads_neither_numpy_nor_the_package() -> None:
    program = (
        "import sys\n"
        "from notewell.adapters.embeddings.local.static import open_package\n"
        "assert open_package().embed_question('what does it load?')\n"
        "heavy = {'numpy', 'wordllama', 'tokenizers', 'pydantic', 'logging'}\n"
        "heavy.add('_hashlib')  # with OpenSSL\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )

    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(Path(notewell.__file__).parents[1])},
        capture_output=True,
        check=True,
        timeout=300,
    )

    assert ran.stdout.strip() == b"[]"


def test_without_the_package_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)

    with pytest.raises(EmbeddingError, match="wordllama is not installed") as caught:
        open_package()

    assert caught.value.reason == "model-missing"
    assert caught.value.remedy.endswith("install wordllama==0.4.0.post1")


@pytest.mark.parametrize("damage", ["gone", "empty", "cut off", "of another kind"])
def test_a_table_that_is_damaged_is_not_used(tmp_path: Path, damage: str) -> None:
    table = tmp_path / "table.safetensors"
    whole = TABLE.read_bytes()
    spoilt = {
        "empty": b"",
        "cut off": whole[:-100],
        "of another kind": whole.replace(b'"F16"', b'"I16"', 1),
    }
    if damage in spoilt:
        table.write_bytes(spoilt[damage])

    with pytest.raises(EmbeddingError, match="cannot be used") as caught:
        StaticEmbedder(VOCABULARY, table)

    assert caught.value.reason == "corrupt"
    assert "--force-reinstall wordllama==0.4.0.post1" in caught.value.remedy


@pytest.mark.parametrize("raw", [b"", b"{}", b'{"model": {"vocab": [1]}}', b"\xff"])
def test_a_vocabulary_that_is_damaged_is_not_used(tmp_path: Path, raw: bytes) -> None:
    vocabulary = tmp_path / "vocabulary.json"
    vocabulary.write_bytes(raw)
    embedder = StaticEmbedder(vocabulary, TABLE)

    with pytest.raises(EmbeddingError, match="cannot be used"):
        embedder.embed_question("note")


@pytest.mark.parametrize(
    ("question", "in_words"),
    [
        ("growing vegetables", True),
        ("automobile", True),
        ("wifi", True),
        ("zxqv bloopty", False),
        ("krzbtq vlmnop", False),
        ("hjkl", False),
        ("", False),
    ],
)
def test_words_are_told_from_keys_hit_at_random(question: str, in_words: bool) -> None:
    assert spelled_like_words(question.split()) == in_words
