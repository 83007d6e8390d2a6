"""Guesses: filled, unfilled and unusable ones, what they say, and what the session remembers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gemm_lab as gl
from gemm_lab.guesses import Comparison, Guess, forget_guesses, guesses, off_by


@pytest.fixture(autouse=True)
def fresh_session():
    forget_guesses()
    yield
    forget_guesses()


@pytest.mark.parametrize("nothing", [None, ..., "", "   "])
def test_no_guess_is_a_neutral_line(nothing):
    made = gl.guess("words per output", nothing)
    assert repr(made) == "No guess yet: words per output"
    assert repr(made.compare(2048, "words")) == "No guess yet: words per output; computed: 2,048 words"


def test_the_sentence_of_a_comparison():
    made = gl.guess("words per output", 64, "half of N")
    assert repr(made) == "Your guess, words per output: 64, because half of N"
    assert repr(made.compare(2048, "words")) == \
        "words per output: you: 64; computed: 2,048 words; a factor of 32 too low"


def test_a_guess_without_a_reason_asks_for_one():
    assert "because=" in repr(gl.guess("w", 2)) and "because=" not in repr(gl.guess("w", 2, "two lines"))


@pytest.mark.parametrize(("value", "actual", "verdict"), [
    (2048, 2048, "exactly right"),
    ("2,048", 2048, "exactly right"),
    (np.float32(2048), np.int64(2048), "exactly right"),
    (100, 98, "right within 5 % (2 % too high)"),
    (4, 5, "20 % too low"),
    (10, 5, "a factor of 2 too high"),
    (0, 5, "5 too low"),
    (-3, 5, "8 too low"),
    (3, 0, "3 too high"),
    ("faster", "slower", "not as you said"),
    ("Faster ", "faster", "as you said"),
    (3, "faster", "not as you said"),
    ("2K", 2048, "the answer is a number, the guess a word: write it without quotes"),
])
def test_verdicts(value, actual, verdict):
    assert gl.guess("x", value).compare(actual).verdict == verdict


@pytest.mark.parametrize("bad", [math.nan, math.inf, 10**400, 1e-310, True, [1, 2], {}, 1j, object, b"2"])
def test_an_unusable_value_is_reported_and_raises_nothing(bad):
    made = gl.guess("x", bad)
    assert made.value is None
    assert "neither a finite number nor a word" in repr(made)
    assert "computed: 5" in repr(made.compare(5))
    gl.plot_guesses()


@pytest.mark.parametrize("bad", [None, math.nan, [1], ""])
def test_an_answer_that_is_none_is_the_lessons_mistake(bad):
    with pytest.raises(TypeError, match="actual is"):
        gl.guess("x", 1).compare(bad)


def test_a_second_guess_replaces_the_first():
    gl.guess("a", 1).compare(2)
    gl.guess("b", 1)
    gl.guess("a", 3)
    assert [(g.label, type(g)) for g in guesses()] == [("a", Guess), ("b", Guess)]
    gl.guess("a", 4).compare(2)
    first = guesses()[0]
    assert isinstance(first, Comparison) and first.guess.value == 4 and len(guesses()) == 2


def test_guesses_of_one_lesson():
    gl.guess("a", 1, lesson="01")
    gl.guess("b", 1, lesson="02")
    assert [g.label for g in guesses("02")] == ["b"]
    assert [g.label for g in guesses()] == ["a", "b"]


def test_where_the_answer_is_from():
    assert "measured: slower" in repr(gl.guess("x").compare("slower", how="measured"))


positive = st.floats(1e-6, 1e9)


@given(positive, positive)
def test_the_ratio_in_words_agrees_with_the_numbers(value, actual):
    words = off_by(value / actual)
    assert ("high" in words) == (value >= actual)
    if "a factor of" in words:
        factor = float(words.split("a factor of ")[1].split()[0].replace(",", ""))
        assert factor == pytest.approx(max(value / actual, actual / value), rel=0.006)


@given(st.one_of(st.none(), st.text(), st.integers(), st.floats(), st.lists(st.integers())))
def test_no_value_ever_raises(value):
    made = gl.guess("anything", value)
    assert "\n" not in repr(made) or isinstance(value, str)
    repr(made.compare(7)), repr(made.compare("slower"))


@pytest.mark.parametrize("text", ["1,5", "1,23,456", "12,3e4", "1,", ",5", "1,0000", "1234,567", " 0,25 ", "-1,5"])
def test_a_comma_that_separates_no_thousands_is_no_guess_and_says_how_to_write_it(text):
    made = gl.guess("a", text)
    assert made.value is None and "write 1.5 with a point, 1500 or 1,500 for thousands" in repr(made)


@pytest.mark.parametrize(("text", "value"), [("2,048", 2048), ("-1,234,567.5", -1234567.5), ("1,000e3", 10**6),
                                             ("999", 999), ("1_000", 1000), ("+12,345", 12345)])
def test_a_comma_before_each_three_digits_separates_thousands(text, value):
    assert gl.guess("a", text).value == value


@pytest.mark.parametrize("text", ["faster, I think", "a,b", "1,5 times"])
def test_words_may_have_commas(text):
    assert gl.guess("a", text).value == text


@pytest.mark.parametrize("word, answer, verdict", [
    ("pipe", "load/store pipe", "as you said"), ("the load/store pipe", "load/store pipe", "as you said"),
    ("Depends, on the order", "depends", "as you said"), ("DRAM", "load/store pipe", "not as you said"),
    ("row", "column", "not as you said"), ("no", "yes", "not as you said"), ("?!", "yes", "not as you said")])
def test_words_are_compared_as_a_reader_would(word, answer, verdict):
    assert gl.guess("which", word).compare(answer).verdict == verdict
