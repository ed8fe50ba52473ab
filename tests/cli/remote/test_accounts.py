"""Who one is on a server: registering, logging in and out, and tokens that nobody else sees."""

import io
import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.support.helpers import ESCAPE
from tests.cli.support.inside import Inside
from tests.cli.support.remote_server import running
from tests.server.support.serving import Served

TOKEN = re.compile(r"klt_[A-Za-z0-9_-]{20,}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with running(tmp_path_factory.mktemp("ladder")) as found:
        yield found


@pytest.fixture(autouse=True)
def nobody_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin without a login, and without a server on this machine."""
    for name in ("KELTIS_SERVER", "KELTIS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("KELTIS_DATA", str(tmp_path / "data"))


@pytest.fixture
def inside(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Inside:
    return Inside(capsys, monkeypatch)


@pytest.fixture
def login(tmp_path: Path) -> Path:
    return tmp_path / "config" / "keltis-ladder" / "login.json"


def test_on_the_servers_own_machine_no_login_is_needed(
    server: Served, inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KELTIS_DATA", str(server.site.home.directory))
    told = inside.output("whoami")
    assert server.url in told
    assert "no login is needed" in told
    assert server.site.local_key.text not in told
    assert re.search(r"^draining +no$", inside.output("admin", "status"), re.MULTILINE)


def test_an_account_is_opened_used_and_left(
    server: Served, inside: Inside, login: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = inside.output("register", "ada", "--server", server.url)
    [token] = TOKEN.findall(told)
    assert "shown only once" in told
    assert stat.S_IMODE(login.stat().st_mode) == 0o600
    assert stat.S_IMODE(login.parent.stat().st_mode) == 0o700
    assert json.loads(login.read_text())["default"] == server.url

    assert inside.output("whoami").startswith(f"ada  {server.url}\n")
    assert json.loads(inside.output("whoami", "--json"))["name"] == "ada"
    again = inside.run("register", "eve")
    assert (again.code, again.out) == (2, "")
    assert "log out first" in again.err

    made = inside.run("tokens", "create", "for the robot", "--days", "3")
    assert TOKEN.fullmatch(made.out.strip())
    assert made.out.strip() != token
    assert "only once" in made.err
    listed = inside.output("tokens", "list")
    assert re.search(r"for the robot +read, submit, play +20..-..-.. +20", listed)
    assert "(this one)" in listed
    assert not TOKEN.search(listed)
    second = json.loads(inside.output("tokens", "list", "--json"))["tokens"][1]["id"]
    assert inside.run("tokens", "revoke", str(second)).code != 0  # nobody said yes
    inside.output("tokens", "revoke", str(second), "--yes")
    refused = inside.run("whoami", "--token", made.out.strip())
    assert refused.code == 2
    assert "not valid" in refused.err
    assert made.out.strip() not in refused.err

    assert "still valid" in inside.output("logout")
    assert token not in login.read_text()
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{token}\n"))
    told = inside.output("login", server.url)
    assert "as ada" in told
    assert token not in told
    assert "revoked" in inside.output("logout", "--revoke")
    assert inside.run("whoami", "--server", server.url, "--token", token).code == 2


def test_a_wrong_token_is_not_saved(server: Served, inside: Inside, login: Path) -> None:
    done = inside.run("login", server.url, "--token", "klt_wrong")
    assert done.code == 2
    assert done.err.startswith("keltis-ladder: this token is not valid")
    assert done.err.count("\n") == 1
    assert "klt_wrong" not in done.err
    assert not login.exists()


def test_what_needs_a_token_says_so(server: Served, inside: Inside) -> None:
    done = inside.run("whoami", "--server", server.url)
    assert done.code == 2
    assert "keltis-ladder register" in done.err


def test_a_login_that_others_could_read_is_closed(
    server: Served, inside: Inside, login: Path
) -> None:
    inside.output("register", "bob", "--server", server.url)
    login.chmod(0o644)
    done = inside.run("whoami")
    assert done.code == 0
    assert "could be read by others" in done.err
    assert stat.S_IMODE(login.stat().st_mode) == 0o600
    assert inside.run("whoami").err == ""


def test_a_damaged_login_is_told(inside: Inside, login: Path) -> None:
    login.parent.mkdir(parents=True)
    login.write_text('{"format": "something else"}')
    login.chmod(0o600)
    done = inside.run("whoami")
    assert done.code == 2
    assert "is damaged" in done.err
    assert done.err.count("\n") == 1


def test_operators_use_the_key_of_their_machine_even_when_they_are_logged_in(
    server: Served, inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside.output("register", "carol", "--server", server.url)
    done = inside.run("admin", "status")
    assert done.code == 2
    assert "'admin'" in done.err
    monkeypatch.setenv("KELTIS_DATA", str(server.site.home.directory))
    assert inside.output("whoami").startswith("carol ")
    assert json.loads(inside.output("admin", "drain", "--yes", "--json"))["draining"] is True
    assert json.loads(inside.output("admin", "resume", "--json"))["draining"] is False
    invited = inside.run("admin", "invite", "for dave")
    assert invited.out.startswith("kli_")
    inside.output("admin", "disable-author", "carol", "--yes")
    assert inside.run("whoami").code == 2
    inside.output("admin", "enable-author", "carol")
    assert (
        inside.run("admin", "rerate", "--yes").out == "Rated 0 matches again; 0 ratings changed.\n"
    )
    inside.output("admin", "remove-author", "carol", "--yes")
    assert inside.run("admin", "enable-author", "carol").code == 2


@pytest.mark.parametrize("url", ["ftp://host", "http://", "http://a b:x", "http://u:p@host"])
def test_what_is_no_address_is_refused(inside: Inside, url: str) -> None:
    done = inside.run("login", url, "--token", "klt_x")
    assert done.code == 2
    assert "is not the address of a server" in done.err


@pytest.mark.parametrize("token", ["klt_\x1b[31m", "two words", "k\xe9"])
def test_what_is_no_token_is_never_sent(inside: Inside, token: str) -> None:
    done = inside.run("login", "http://127.0.0.1:9", "--token", token)
    assert done.code == 2
    assert ESCAPE not in done.err
    assert "invalid token" in done.err
