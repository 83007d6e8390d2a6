"""What can be read off CUDA C++ without compiling it: kernels, template parameters, the declarations of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Comments, string and character literals, preprocessor directives (with their continuation lines).
_NOT_CODE = re.compile(r"""
    //(?:\\\n|[^\n])* | /\*.*?(?:\*/|\Z)
  | R"(?P<raw>[^()\s\\]{0,16})\(.*?\)(?P=raw)"
  | "(?:\\.|[^"\\\n])*" | (?<![0-9a-zA-Z])'(?:\\.|[^'\\\n])*'
  | ^[ \t]*\#(?:/\*.*?\*/|\\\r?\n|[^\n])*
""", re.VERBOSE | re.DOTALL | re.MULTILINE)
_COMMENT_OR_TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
_ANYTHING = re.compile(_NOT_CODE.pattern + r"| [^\n]", _NOT_CODE.flags)


def code_only(source: str) -> str:
    """`source` with comments, literals and directives blanked out; every other character stays where it was."""
    return _NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)


def without_comments(source: str) -> str:
    """`source` with a space in the place of each comment. What looks like one within quotes is none."""
    return _COMMENT_OR_TEXT.sub(lambda match: match[0] if match[0][0] in "\"'" else " ", source)


def blank(text: str) -> str:
    """`text` with everything blanked out but its preprocessor directives, which what follows may depend on."""
    def keep(match: re.Match) -> str:
        return match[0] if match[0].lstrip().startswith("#") else re.sub(r"[^\n]", " ", match[0])
    return _ANYTHING.sub(keep, text)


@dataclass(frozen=True)
class KernelName:
    """One `__global__` function: its name and the text of its template parameters, None if it is no template."""

    name: str
    template: str | None


def kernels(source: str) -> tuple[KernelName, ...]:
    """The `__global__` functions of a file in order of appearance, each name once."""
    code = code_only(source)
    found: dict[str, KernelName] = {}
    for keyword in re.finditer(r"\b__global__\b", code):
        kernel = _kernel(code, keyword)
        if kernel:
            found.setdefault(kernel.name, kernel)
    return tuple(found.values())


def _kernel(code: str, keyword: re.Match) -> KernelName | None:
    before = re.split(r"[;{}]", code[:keyword.start()])[-1]
    after = re.split(r"[;{]", code[keyword.end():], maxsplit=1)[0]
    bare = re.sub(r"\b__\w+__\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", " ", after)     # __launch_bounds__(...)
    name = re.search(r"(\w+)\s*\(", bare)
    template = re.search(r"\btemplate\s*<(.*)>", before, re.DOTALL)
    return name and KernelName(name[1], template and " ".join(template[1].split()))


@dataclass(frozen=True)
class Declaration:
    """One declaration at namespace scope. `head_end` is where its first brace opens, or its end."""

    start: int
    head_end: int
    end: int


def declarations(code: str) -> Iterator[Declaration]:
    """Split the result of `code_only` into declarations; namespaces and `extern "C"` blocks are looked into."""
    start, head_end, depth = 0, None, 0
    for match in re.finditer(r"[{};]", code):
        at, mark = match.start(), match[0]
        if mark == "{":
            if depth == 0 and head_end is None and _opens_scope(code[start:at]):
                start = at + 1
                continue
            head_end = at if head_end is None else head_end
            depth += 1
            continue
        if mark == "}" and depth:
            depth -= 1
        elif mark == "}":               # the end of a namespace
            start, head_end = at + 1, None
            continue
        if depth == 0 and (mark == ";" or _is_function(code[start:head_end])):
            yield Declaration(start, at if head_end is None else head_end, at + 1)
            start, head_end = at + 1, None


def _opens_scope(head: str) -> bool:
    return re.fullmatch(r"\s*(?:(?:inline\s+)?namespace\b[\w:\s]*|extern\s*)", head) is not None


def _is_function(head: str) -> bool:
    """True if the brace after `head` opens a function's body, so that no semicolon follows it."""
    head = re.sub(r"^\s*template\s*<[^{}]*>(?=\s*[\w:])", "", head)
    before, parenthesis, _ = head.partition("(")
    is_class = re.match(r"\s*(?:typedef\s+)?(?:struct|class|union|enum)\b[^()]*(?:\([^()]*\)[^()]*)?$", head)
    return bool(parenthesis) and not is_class and ("=" not in before or "operator" in before)
