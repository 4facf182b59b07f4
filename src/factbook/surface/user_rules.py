"""Add a rule to the user's rule file, which is checked whole before it is replaced."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from factbook.errors import FactbookError, RuleError

__all__ = ["append_rule"]


def append_rule(path: Path, toml: str) -> None:
    """Append the TOML of a rule to a file, making the file and its folder where there are none.

    A file that holds the very text already is left as it is, so that doing it twice does it once.

    Raises RuleError where the file as it is, or with the rule, is not as docs/rules.md says; it is
    left untouched then.
    """
    from factbook.extract.user_rules import load_user_rules

    real = path.resolve()  # a link to a file elsewhere stays one
    addition = toml.strip() + "\n"
    try:
        before = real.read_text(encoding="utf-8-sig") if real.exists() else ""
        if addition in before:
            return
        real.parent.mkdir(parents=True, exist_ok=True)
        mode = real.stat().st_mode & 0o777 if real.exists() else 0o644
        lead = before.rstrip("\n") + "\n\n" if before.strip() else before
        handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}-", suffix=".new")
        fresh = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(lead + addition)
                file.flush()
                os.fsync(file.fileno())
            fresh.chmod(mode)
            load_user_rules(fresh)
            fresh.replace(real)
        finally:
            fresh.unlink(missing_ok=True)
    except RuleError as error:
        raise RuleError(
            path=path, line=error.details.get("line", 0), reason=error.details.get("reason", "")
        ) from error
    except UnicodeDecodeError as error:
        raise RuleError(path=path, line=0, reason="this is not UTF-8; save it as such") from error
    except OSError as error:
        raise FactbookError(
            detail=f"{path} cannot be written ({error.strerror}); nothing was decided, make it"
            " writable or name another file with --rules"
        ) from error
