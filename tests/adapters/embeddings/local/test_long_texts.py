"""A text that is too long is cut into pieces that fit, and nothing is lost."""

from hypothesis import given
from hypothesis import strategies as st

from notewell.adapters.embeddings.local.llama_model import split_to_fit


@given(st.text(), st.integers(1, 50))
def test_the_pieces_are_the_text_and_each_fits(text: str, most: int) -> None:
    found = list(split_to_fit(text, lambda piece: len(piece) <= most))

    assert "".join(found) == text
    assert all(len(piece) <= most for piece in found)


@given(st.lists(st.text("abc", min_size=1, max_size=6), min_size=1))
def test_words_stay_whole_where_they_fit(words: list[str]) -> None:
    text = " ".join(words)

    found = list(split_to_fit(text, lambda piece: len(piece) <= 14))

    assert "|".join(found).replace("| ", " ").count("|") == 0


def test_a_letter_that_does_not_fit_is_left_to_the_model() -> None:
    assert list(split_to_fit("abc", lambda _piece: False)) == ["a", "b", "c"]
