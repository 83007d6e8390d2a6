"""What the student wrote down before running: a number or a word, a reason, and how it compares with the answer.

A notebook that nobody has filled in runs through as well: `value=None` is "no guess yet", and nothing raises.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from numbers import Real

CLOSE = 1.05        # a guess within 5 % counts as right: nobody is asked for more digits
LEAST, MOST = 1e-100, 1e100    # what is taken for a number: ratios of such numbers neither vanish nor overflow
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?(e[+-]?\d+)?", re.IGNORECASE)
MANIFOLD = 1.5      # from here on "a factor of", below "percent"

_session: dict[str, Guess | Comparison] = {}


def guess(label: str, value: float | str | None = None, because: str = "", lesson: str | None = None) -> Guess:
    """Write down a guess before running: a number or a word, and the reason in one line.

    label   what is guessed, with its unit: "words read per output"; a second guess of that label replaces the first
    value   a number ("2,048" is one, too), a word for a choice, or None for "not yet"; in "1,5" the comma separates
            no thousands, so that one is reported
    lesson  groups guesses for `plot_guesses`

    Never raises for a value: an unusable one is reported when the guess is shown.
    """
    made = Guess(str(label), _read(value), str(because or ""), lesson, _complaint(value))
    _session[made.label] = made
    return made


def guesses(lesson: str | None = None) -> tuple[Guess | Comparison, ...]:
    """What was guessed in this session, in order, of one lesson or of all: comparisons where there is one already."""
    return tuple(g for g in _session.values() if lesson is None or g.lesson == lesson)


def forget_guesses() -> None:
    """Start again without any guess."""
    _session.clear()


def plot_guesses(lesson: str | None = None):
    """All guesses against the truth, of one lesson or of the session: a `Picture`."""
    from gemm_lab.plots import plot_guesses
    return plot_guesses(lesson)


def _read(value) -> float | str | None:
    """A number, a word, or None for what is empty or unusable."""
    if isinstance(value, str):
        text = value.strip()
        try:
            number = float(text.replace(",", "").replace("_", ""))
        except ValueError:
            return text or None
        value = None if _misplaced_comma(text) else number
    if not isinstance(value, Real) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    if number != 0 and not LEAST < abs(number) < MOST:
        return None
    return int(value) if number.is_integer() else number


def _misplaced_comma(text: str) -> bool:
    """Whether a number has a comma that separates no thousands: "1,5" is 1.5 to some readers and 15 to others."""
    return "," in text and not THOUSANDS.fullmatch(text)


def _complaint(value) -> str:
    """Why a value that was given cannot be used; empty for a usable or an absent one."""
    blank = value is None or value is ... or isinstance(value, str) and not value.strip()
    if blank or _read(value) is not None:
        return ""
    if isinstance(value, str) and _misplaced_comma(value.strip()):
        return f"{value!r} has a comma that separates no thousands: write 1.5 with a point, 1500 or 1,500 for thousands"
    return f"{value!r} is neither a finite number nor a word"


@dataclass(frozen=True, repr=False)
class Guess:
    """A guess that waits for its answer. `value` is None while there is none."""

    label: str
    value: float | str | None
    because: str = ""
    lesson: str | None = None
    complaint: str = ""

    def __repr__(self) -> str:
        if self.value is None:
            return f"No guess yet: {self.label}" + (f" ({self.complaint})" if self.complaint else "")
        reason = f", because {self.because.removeprefix('because ')}" if self.because else " (and why? add because=…)"
        return f"Your guess, {self.label}: {shown(self.value)}{reason}"

    def compare(self, actual: float | str, unit: str = "", how: str = "computed") -> Comparison:
        """The guess beside the answer; `how` says where that is from: "computed", "counted", "measured", "recorded".

        The comparison joins the session's registry. Raises TypeError if `actual` is neither a number nor a word: that
        is the lesson's mistake, not the student's.
        """
        answer = _read(actual)
        if answer is None:
            raise TypeError(f"actual is {actual!r}; it must be a finite number or a word")
        done = Comparison(self, answer, unit, how)
        _session[self.label] = done
        return done


@dataclass(frozen=True, repr=False)
class Comparison:
    """A guess and the answer."""

    guess: Guess
    actual: float | str
    unit: str = ""
    how: str = field(default="computed")

    @property
    def label(self) -> str:
        """What was guessed."""
        return self.guess.label

    @property
    def lesson(self) -> str | None:
        """The lesson it belongs to."""
        return self.guess.lesson

    @property
    def ratio(self) -> float | None:
        """Guess / answer, where both are positive numbers; else None."""
        numbers = (self.guess.value, self.actual)
        if any(n is None or isinstance(n, str) for n in numbers) or min(numbers) <= 0:
            return None
        return self.guess.value / self.actual

    @property
    def verdict(self) -> str:
        """How far off, in words; empty without a guess."""
        value, actual = self.guess.value, self.actual
        if value is None:
            return ""
        if isinstance(actual, str):
            return "as you said" if same_words(str(value), actual) else "not as you said"
        if isinstance(value, str):
            return "the answer is a number, the guess a word: write it without quotes"
        if value == actual:
            return "exactly right"
        return off_by(self.ratio) if self.ratio else f"{shown(abs(value - actual))} too {_side(value < actual)}"

    def __repr__(self) -> str:
        answer = f"{self.how}: {shown(self.actual)}{f' {self.unit}' if self.unit else ''}"
        if self.guess.value is None:
            return f"{self.guess}; {answer}"
        return f"{self.label}: you: {shown(self.guess.value)}; {answer}; {self.verdict}"


def same_words(guess: str, answer: str) -> bool:
    """Whether a guess says the answer: "pipe" and "the load/store pipe" both say "load/store pipe"."""
    said, right = (set(re.findall(r"\w+", text.casefold())) for text in (guess, answer))
    return bool(said) and (said <= right or right <= said)


def off_by(ratio: float) -> str:
    """A ratio guess / answer in words: "a factor of 32 too low"."""
    factor, percent, side = max(ratio, 1 / ratio), 100 * abs(ratio - 1), _side(ratio < 1)
    if factor <= CLOSE:
        return f"right within 5 % ({percent:.2g} % too {side})"
    if factor < MANIFOLD:
        return f"{percent:.0f} % too {side}"
    return f"a factor of {shown(float(f'{factor:.3g}'))} too {side}"


def _side(low: bool) -> str:
    return "low" if low else "high"


def shown(value: float | str) -> str:
    """A number with at most four digits that matter, whole numbers in full; a word as it is."""
    if isinstance(value, str):
        return value
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
