"""Writes the README's table of settings from `referee/settings.py`: `python -m deploy.settings_table`."""

from pathlib import Path
from typing import Any, Final, get_args

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from referee.settings import Settings

README: Final = Path(__file__).resolve().parent.parent / "README.md"
BEGIN: Final = "<!-- settings: written by deploy/settings_table.py -->\n"
END: Final = "<!-- end of settings -->\n"


def table() -> str:
    """Return every setting as a row of a Markdown table: variable, default, meaning."""
    lines = ["| variable | default | meaning |", "|---|---|---|"]
    lines += [
        f"| `REFEREE_{name.upper()}` | {default_of(field)} | {field.description} |"
        for name, field in Settings.model_fields.items()
    ]
    return "\n".join(lines) + "\n"


def default_of(field: FieldInfo) -> str:
    """Return a field's default as a reader would set it; a secret never shows one."""
    default: Any = field.default
    if default is None or default == "" or SecretStr in get_args(field.annotation):
        return ""
    if isinstance(default, tuple):
        return "`[" + ", ".join(f'"{item}"' for item in default) + "]`"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def written(readme: str) -> str:
    """Return the README's text with its table written anew; raises `ValueError` when the marks are missing."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md: the marks {BEGIN.strip()} and {END.strip()} must both be there")
    return f"{before}{BEGIN}{table()}{END}{after}"


if __name__ == "__main__":
    README.write_text(written(README.read_text()))
