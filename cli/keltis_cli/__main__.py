"""``python -m keltis_cli`` is ``keltis-ladder``."""

from keltis_cli.main import main

if __name__ == "__main__":
    main()
