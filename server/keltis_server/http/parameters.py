"""Parameters that many endpoints share, and pages of lists."""

from __future__ import annotations

from typing import Annotated, Final, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, Field, JsonValue

from keltis_bots.texts import FORBIDDEN, check_text
from keltis_engine import VARIANTS
from keltis_ladder.ratings.scopes import ALL, ANY, Scope
from keltis_server.http.endpoints import Parameters

M = TypeVar("M", bound=BaseModel)

BOT_PATTERN: Final = r"^[a-z0-9][a-z0-9._-]{0,39}$"
LARGEST_PAGE: Final = 200
LARGEST_NUMBER: Final = 2**53 - 1  # that JavaScript counts to

Name = Annotated[str, Field(pattern=BOT_PATTERN, description="A name, as in bot.toml.")]
VariantId = Annotated[
    str, Field(pattern=f"^({'|'.join(VARIANTS)})$", description="One of the four games.")
]
VariantOrAll = Annotated[
    str,
    Field(pattern=f"^({'|'.join((ALL, *VARIANTS))})$", description="One of the games, or all."),
]
Number = Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]
# For a line in people's own words. The pattern is for the document: LINE says what is wrong.
LINE_SCHEMA: Final[dict[str, JsonValue]] = {"pattern": f"^[^{FORBIDDEN}]*$"}
LINE: Final = AfterValidator(check_text)
Label = Annotated[
    str,
    Field(
        max_length=80,
        description="What it is for, so that you know it again.",
        json_schema_extra=LINE_SCHEMA,
    ),
    LINE,
]
Days = Annotated[
    int | None, Field(ge=1, le=3650, description="How long it is valid; null: until revoked.")
]


class NamePath(Parameters):
    """Which bot."""

    bot: Name


class VersionPath(Parameters):
    """Which version of a bot."""

    bot: Name
    number: Annotated[int, Field(ge=1, le=2**31 - 1, description="1 is a bot's first version.")]


class ScopeQuery(Parameters):
    """Which kind of matches a rating is about."""

    variant: VariantOrAll = ALL
    players: Annotated[int, Field(ge=0, le=4, description="2 to 4; 0 is any number.")] = ANY

    @property
    def scope(self) -> Scope:
        """The scope of ratings."""
        return Scope(self.variant, self.players)


class PageQuery(Parameters):
    """Which part of a long list."""

    limit: Annotated[int, Field(ge=1, le=LARGEST_PAGE, description="How many at most.")] = 50
    after: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9._-]{0,64}$",
            description="Go on where a page ended: its next. Empty: from the beginning.",
        ),
    ] = ""


class Page(BaseModel, Generic[M]):
    """A part of a long list."""

    items: list[M]
    next: str | None = Field(description="For after=, to go on; null at the end.")
