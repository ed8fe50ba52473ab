"""Our own documents, from Markdown: headings get names, links lead to our pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

# Where documents are pages, whatever folder they are in; links to others are left as words.
PAGE_OF_DOCUMENT: Final = {
    "protocol.md": "/protocol",
    "rules.md": "/rules",
    "ratings.md": "/about",
    "duplicate-deals.md": "/about",
    "replay.md": "/about",
}
DEEPEST: Final = ("h2", "h3")  # headings that the contents list


@dataclass(frozen=True)
class Heading:
    """A heading, for the contents."""

    id: str
    text: str
    level: int


@dataclass(frozen=True)
class Text:
    """A document, ready for a page."""

    title: str
    headings: tuple[Heading, ...]
    html: Markup


def read_markdown(source: str) -> Text:
    """Return a document; its first heading is its title, and not in the text."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(source)
    title = ""
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        title, tokens = _plain(tokens[1]), tokens[3:]
    headings = _name_headings(tokens)
    for token in tokens:
        if token.children:
            token.children = _lead(token.children)
    _frame_tables(tokens)
    html = Markup(reader.renderer.render(tokens, reader.options, {}))
    return Text(title, tuple(headings), html)


def _name_headings(tokens: Sequence[Token]) -> list[Heading]:
    found: list[Heading] = []
    taken: dict[str, int] = {}
    for token, inline in pairwise(tokens):
        if token.type != "heading_open":
            continue
        text = _plain(inline)
        slug = re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") or "section"
        count = taken[slug] = taken.get(slug, -1) + 1
        id = f"{slug}-{count}" if count else slug
        token.attrSet("id", id)
        if token.tag in DEEPEST:
            found.append(Heading(id, text, int(token.tag[1])))
    return found


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or [])


def _lead(children: list[Token]) -> list[Token]:
    """Let links lead to our pages, or nowhere."""
    kept: list[Token] = []
    dropped = False
    for child in children:
        if child.type == "link_open":
            target = _target(str(child.attrGet("href") or ""))
            dropped = target is None
            if target is not None:
                child.attrSet("href", target)
                if "//" in target:
                    child.attrSet("rel", "noreferrer")
        if dropped and child.type in ("link_open", "link_close"):
            dropped = child.type == "link_open"
            continue
        kept.append(child)
    return kept


def _target(href: str) -> str | None:
    if href.startswith(("#", "https://")):
        return href
    document, _, anchor = href.partition("#")
    page = PAGE_OF_DOCUMENT.get(PurePosixPath(document).name)
    if page is None:
        return None
    return f"{page}#{anchor}" if anchor and page == "/protocol" else page


def _frame_tables(tokens: list[Token]) -> None:
    """Let wide tables scroll by themselves, by keyboard, too."""
    for token in tokens:
        if token.type == "fence":
            token.attrSet("tabindex", "0")
    for opened, inline, closed in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opened.type == "th_open" and not inline.content:
            opened.tag = closed.tag = "td"  # a heading without words confuses who hears it
    for k in range(len(tokens) - 1, -1, -1):
        if tokens[k].type == "table_close":
            tokens.insert(k + 1, Token("div_close", "div", -1, block=True))
        elif tokens[k].type == "table_open":
            frame = Token("div_open", "div", 1, block=True)
            frame.attrSet("class", "wide")
            frame.attrSet("tabindex", "0")
            frame.attrSet("role", "group")
            tokens.insert(k, frame)
