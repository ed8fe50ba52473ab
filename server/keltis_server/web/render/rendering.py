"""Pages as answers: templates, headers, and what every page knows."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from keltis_engine import VARIANTS
from keltis_ladder.files.sizes import KIB
from keltis_ladder.ratings.scopes import ALL
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import Media
from keltis_server.http.wire import REVALIDATE
from keltis_server.site.encoding import dump_json
from keltis_server.site.site import SITE
from keltis_server.web.render import drawing
from keltis_server.web.render.assets import Assets
from keltis_server.web.render.modules import Modules
from keltis_server.web.render.words import LANGUAGES, language_of, words_of

TEMPLATES: Final = Path(__file__).parents[1] / "templates"
POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; connect-src 'self' {socket}; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors {frames}"
)
HTML: Final = Media(("text/html",), "A page.")
PACKED_HERE: Final = 128 * KIB  # bytes of a page; larger ones are compressed in a thread
NOBODY: Final = "'none'"
ANYBODY: Final = "*"


class Address:
    """Tells templates where files are."""

    def __init__(self, assets: Assets) -> None:
        self._assets = assets

    def __call__(self, name: str) -> str:
        """Return the address of a file."""
        return self._assets.url(name)

    def exists(self, name: str) -> bool:
        """Return whether there is such a file."""
        return name in self._assets.files


class Printer:
    """Makes pages from templates."""

    def __init__(self, assets: Assets) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(
            asset=Address(assets),
            modules=Modules(assets),
            drawing=drawing,
            variants=list(VARIANTS),
            every_variant=[ALL, *VARIANTS],
            languages=LANGUAGES,
        )
        self._environment.filters["data"] = as_data

    def page(self, request: web.Request, template: str, **context: Any) -> str:
        """Return a page as text, in the language of the client."""
        words = words_of(language_of(request))
        return self._environment.get_template(template).render(
            t=words,
            language=words.language,
            here=request.path,
            here_with_query=request.path_qs,
            host=request.host,
            site_url=request.app[SITE].url,
            **context,
        )


PRINTER: Final[web.AppKey[Printer]] = web.AppKey("printer", Printer)


def as_data(plain: Any) -> Markup:
    """Return data for a script, as JSON that cannot end its element."""
    text = dump_json(plain).decode()
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def show(
    call: Call,
    template: str,
    status: HTTPStatus = HTTPStatus.OK,
    frames: str = NOBODY,
    **context: Any,
) -> web.Response:
    """Return a page as an answer."""
    return answer(call.request, template, status, frames, **context)


def answer(
    request: web.Request, template: str, status: HTTPStatus, frames: str, **context: Any
) -> web.Response:
    """Return a page for a request."""
    response = web.Response(
        text=request.app[PRINTER].page(request, template, **context),
        status=status,
        content_type="text/html",
        headers={
            "Cache-Control": REVALIDATE,
            "Content-Security-Policy": policy(request, frames),
            "Vary": "Accept-Language, Cookie, Accept-Encoding",
        },
        zlib_executor_size=PACKED_HERE,
    )
    response.enable_compression()
    return response


def policy(request: web.Request, frames: str = NOBODY) -> str:
    """Return what a page may load: nothing that is not ours."""
    # Some browsers do not take 'self' for the websocket of the same host.
    host = request.host if _is_plain(request.host) else ""
    return POLICY.format(socket=f"ws://{host} wss://{host}" if host else "", frames=frames)


def _is_plain(host: str) -> bool:
    return bool(host) and all(sign.isalnum() or sign in ".-:[]" for sign in host) and host.isascii()
