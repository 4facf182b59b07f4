"""Redact secrets before anything is stored, indexed, embedded or logged.

    redactor = Redactor(key=load_key(path))
    redactor.redact("sshpass -p 'hunter2hunter2' ssh root@192.0.2.4")
    # sshpass -p '[REDACTED:password:5f0c...]' ssh root@192.0.2.4

The way through the package: `scanner` stops at hints and calls the finders (`formats`,
`addresses`, `blocks`, `headers`, `commands`, `logins`, `calls`, `outputs`, `named`, `prose`);
`named` reads a name and asks `assignments`, `fields` and `prose` for its value; `reading` reads
values, and `names`, `values`, `place` and `belief` judge them; `redactor` writes the `labels` and
finds `repeats`; `keyfile` keeps their key.
"""

from __future__ import annotations

from factbook.redaction.keyfile import load_key
from factbook.redaction.redactor import NO_REDACTION, NoRedaction, Redaction, Redactor

__all__ = ["NO_REDACTION", "NoRedaction", "Redaction", "Redactor", "load_key"]
