"""An assignment: its tasks, the numbers they use, and what a seed may change.

The public version of an assignment has the numbers of `shown` and the first form of everything; a seed draws others for
all of them, so that no answer of the public version is right. `form` is the hidden part of that, one letter for each
place where the assignment has several forms (which bug is planted, which way a strip lies).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from gemm_lab.exercises.tasks import Numbers, Task

PUBLIC = "public"       # the seed of the hidden sizes where the instructor gave none


@dataclass(frozen=True)
class Assignment:
    """What one notebook of exercises asks.

    lesson   "02", the lesson it belongs to
    title    of the notebook
    tasks    in order
    shown    name -> the public value of each number or word of the sheet; what it means is in `meaning`
    others   name -> values that a seed draws from; names joined by commas are drawn together, as tuples
    forms    names of the places that have forms -> how many there are; a seed never draws the first
    meaning  name -> what the number is, for the table
    """

    lesson: str
    title: str
    tasks: Sequence[Task]
    shown: Mapping[str, object] = field(default_factory=dict)
    others: Mapping[str, Sequence] = field(default_factory=dict)
    forms: Mapping[str, int] = field(default_factory=dict)
    meaning: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Task:
        for task in self.tasks:
            if task.name == name:
                return task
        raise KeyError(f"exercise {self.lesson} has no task {name!r}; it has {', '.join(t.name for t in self.tasks)}")

    def draw(self, seed: str | None) -> tuple[dict[str, object], str]:
        """The numbers and the form for a seed; without one those of the public version."""
        if seed is None:
            return dict(self.shown), "a" * len(self.forms)
        random, numbers = Random(f"{self.lesson}/{seed}"), dict(self.shown)
        for names, values in sorted(self.others.items()):
            drawn = random.choice(list(values))
            numbers |= zip(names.split(","), drawn if "," in names else (drawn,), strict=True)
        return numbers, "".join(chr(ord("a") + random.randrange(1, count)) for count in self.forms.values())

    def numbers(self, shown: Mapping[str, object], form: str) -> Numbers:
        """What the tasks compute with: the numbers, and for each place with forms the index of its form."""
        if set(shown) != set(self.shown):
            raise ValueError(f"exercise {self.lesson} has the numbers {', '.join(self.shown) or '(none)'}; "
                             f"got {', '.join(shown) or '(none)'}")
        letters = form or "a" * len(self.forms)
        indices = [ord(letter) - ord("a") for letter in letters]
        if len(indices) != len(self.forms) or not all(0 <= n < most for n, most in zip(indices, self.forms.values())):
            raise ValueError(f"form is {form!r}; it must be as the exercise came")
        return Numbers(**shown, **dict(zip(self.forms, indices)))

    def drawn(self, seed: str | None) -> Numbers:
        """`numbers` for a seed."""
        return self.numbers(*self.draw(seed))
