"""The product's settings on a data folder of the test run's own.

A settings module, because pytest-django reads the settings before any conftest is imported.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

# One folder for all xdist workers: they inherit the name from the process that made it.
OWNS_DATA = "COUNTERSIGN_TEST_DATA" not in os.environ
if OWNS_DATA:
    os.environ["COUNTERSIGN_TEST_DATA"] = tempfile.mkdtemp(prefix="countersign-tests-")
    # As root the server runs as another user, who must get through here.
    Path(os.environ["COUNTERSIGN_TEST_DATA"]).chmod(0o755)
os.environ["COUNTERSIGN_DATA"] = os.environ["COUNTERSIGN_TEST_DATA"]

from config.settings import *  # noqa: E402, F403

# A key in the developer's own environment must not reach a test.
ANTHROPIC_API_KEY = ANTHROPIC_BASE_URL = OPENAI_API_KEY = OPENAI_BASE_URL = ""

# To look through the folders of static files took 40 ms for each client; what a test asks of them it switches on.
WHITENOISE_USE_FINDERS = False
