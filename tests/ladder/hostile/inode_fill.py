"""Makes files until there are no more to be had."""

from common import breach, denied, reply, requests, write

made = 0
for request in requests():
    try:
        while made < 20_000:
            open(f"/tmp/{made}", "wb").close()
            made += 1
        breach("20000 files")
    except OSError as error:
        denied(f"after {made} files: {error}")
    write(reply(request))
