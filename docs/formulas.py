"""Typesets the formulas of docstrings: the plain notation that reads well in a terminal, as MathML that every browser
shows without a script.

The notation: ``D_ij`` and ``e_{y_i}`` have subscripts, ``x^2`` superscripts; ``sum_k`` and ``sum_{k != y}`` are sums;
``[x]+`` is a hinge, ``|x|`` a norm; Greek letters and functions go by their names; any other word is a word.
"""

import re
from html import escape

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η", "theta": "θ", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "psi": "ψ",
    "omega": "ω",
}  # fmt: skip
FUNCTIONS = {
    "exp", "log", "cos", "sin", "tan", "tanh", "arccos", "arctan", "max", "min", "argmax", "argmin", "softmax", "sqrt",
    "floor", "relu", "var", "std", "tr", "sigmoid",
}  # fmt: skip
SIGNS = {
    "!=": "≠",
    "<=": "≤",
    ">=": "≥",
    "->": "→",
    "<-": "←",
    "*": "·",
    "-": "−",
    ".": "·",
    "...": "…",
    "||": "‖",
}
TOKEN = re.compile(
    r"\s+|[A-Za-z]\w*?_[a-z]{3,}\w*|\d+(?:\.\d+)?(?:e[+-]?\d+)?|[A-Za-zα-ω]+\d*|\.\.\.|!=|<=|>=|<-|->|\|\||[_^(){}\[\]|+\-*/=<>,;:.'&]|."
)

SYMBOL = re.compile(r"(?<![\w\\])([A-Za-z])(?:\\?_([a-z]{1,2})|\^(\d))(?!\w)")


def mathml(formula: str) -> str:
    """One line of a formula as a MathML element."""
    return f'<math display="block">{_Reader(formula).row()}</math>'


def block(lines: list[str]) -> str:
    """A block of a docstring: lines that say the cases of one definition stand below each other, aligned as they were."""
    return "\n".join(mathml(line.strip()) for line in lines if line.strip())


def in_text(markdown: str) -> str:
    """Single letters of running text with their subscripts (``D_ij``) and powers (``B^2``); code stays as it is."""
    pieces = re.split(r"(`[^`]*`)", markdown)
    pieces[::2] = (SYMBOL.sub(_symbol, piece) for piece in pieces[::2])
    return "".join(pieces)


def _symbol(found: re.Match[str]) -> str:
    letter, below, above = found.groups()
    return f"<i>{letter}</i>" + (f"<sub><i>{below}</i></sub>" if below else f"<sup>{above}</sup>")


class _Reader:
    """Reads a formula from left to right. What it does not know it shows as it stands."""

    def __init__(self, text: str):
        self.tokens = [token for token in TOKEN.findall(text) if token]
        self.at = 0

    def row(self, until: str = "") -> str:
        parts = []
        while self.at < len(self.tokens):
            if until and self.tokens[self.at] == until:
                self.at += 1
                break
            parts.append(self.term())
        return f"<mrow>{''.join(parts)}</mrow>"

    def term(self) -> str:
        token = self._next()
        if token.isspace():
            return '<mspace width="0.6em"/>' if len(token) > 1 else _gap(self._before(), self._peek())
        base = self._base(token)
        below, above = "", ""
        while self._peek() in ("_", "^") and self.at + 1 < len(self.tokens):
            mark = self._next()
            if mark == "_":
                below = self._script()
            else:
                above = self._script()
        if not (below or above):
            return base
        if token == "sum":
            return f"<munder>{base}{below}</munder>" if below else f"<msup>{base}{above}</msup>"
        if below and above:
            return f"<msubsup>{base}{below}{above}</msubsup>"
        return f"<msub>{base}{below}</msub>" if below else f"<msup>{base}{above}</msup>"

    def _base(self, token: str) -> str:
        if token in "([":
            return self._bracket(token)
        if token == "sum" and self._peek() == "_":
            return '<mo movablelimits="false">∑</mo>'
        if token in GREEK:
            return f"<mi>{GREEK[token]}</mi>"
        if token in FUNCTIONS:
            return f'<mi mathvariant="normal">{token}</mi>'
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token[0].isalpha():
            return f"<mi>{token}</mi>" if len(token) == 1 else f"<mtext>{token}</mtext>"
        if token in ".,:;" and not self._peek().strip():  # the end of a sentence, no product
            return f"<mtext>{token}</mtext>"
        return f'<mo stretchy="false">{escape(SIGNS.get(token, token))}</mo>'

    def _bracket(self, opening: str) -> str:
        closing = {"(": ")", "[": "]"}[opening]
        inside = self.row(closing)
        whole = f'<mrow><mo stretchy="false">{opening}</mo>{inside}<mo stretchy="false">{closing}</mo></mrow>'
        if opening == "[" and self._peek() == "+":  # a hinge
            self.at += 1
            whole = f"<msub>{whole}<mo>+</mo></msub>"
        return whole

    def _script(self) -> str:
        token = self._next()
        if token == "{":
            return self.row("}")
        if token == "(":
            return self._bracket("(")
        if token in "+-" and self._peek()[:1].isdigit():
            return f"<mrow><mo>{SIGNS.get(token, token)}</mo><mn>{self._next()}</mn></mrow>"
        if token.isalpha() and token not in GREEK and len(token) > 1 and not token.islower():
            return f"<mtext>{token}</mtext>"
        if token.isalpha() and token not in GREEK:  # D_ij: two indices
            return "<mrow>" + "".join(f"<mi>{letter}</mi>" for letter in token) + "</mrow>"
        return self._base(token)

    def _next(self) -> str:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _before(self) -> str:
        return self.tokens[self.at - 2] if self.at >= 2 else ""


def _gap(before: str, after: str) -> str:
    """The space between two tokens: words stand apart, signs bring their own space."""
    return '<mspace width="0.3em"/>' if _is_word(before) or _is_word(after) else '<mspace width="0.15em"/>'


def _is_word(token: str) -> bool:
    return token.isalpha() and len(token) > 1 and token not in GREEK
