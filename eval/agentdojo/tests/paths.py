"""Where the tests find what they test, the stand-in for AgentDojo, and what lies beside the repository."""

import os
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SHARED = ROOT.parent / "shared"
BOUNCER = os.environ.get("BOUNCER_BIN")

sys.path[:0] = [str(HERE / "agentdojo_standin"), str(HERE.parent)]

needs_bouncer = unittest.skipUnless(BOUNCER, "BOUNCER_BIN does not name the program")


def shared(path: str) -> Path:
    """A file beside the repository. Without it the test is skipped, or fails where it must be there."""
    file = SHARED / path
    if not file.exists():
        if os.environ.get("BOUNCER_SHARED") == "required":
            raise AssertionError(f"{file} is missing")
        raise unittest.SkipTest(f"{file} is missing")
    return file
