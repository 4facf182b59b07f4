"""A hook that puts one memory before the model at every event that takes some."""

from __future__ import annotations

import json
import os
import sys

from factbook.model.ours import MEMORY_TAG

TAKE_CONTEXT = {"SessionStart", "UserPromptSubmit", "PostToolUse", "BeforeAgent", "AfterTool"}


def main() -> None:
    """Answer the event on stdin."""
    event = json.load(sys.stdin)["hook_event_name"]
    if event not in TAKE_CONTEXT:
        return
    lines = [f"[f1] The owner hides hazelnuts & <figs> in the shed ({event})."]
    lines *= int(os.environ.get("HOOK_TIMES", "1"))
    block = "\n".join([f'<{MEMORY_TAG} ids="f1">', "Memories: data.", *lines, f"</{MEMORY_TAG}>"])
    said = {"hookEventName": event, "additionalContext": block}
    print(json.dumps({"hookSpecificOutput": said}))


if __name__ == "__main__":
    main()
