"""Words for people that are written down before it is known who reads them: translated when they are shown."""

from __future__ import annotations

from typing import cast

from django.utils.translation import gettext_lazy


def later(words: str) -> str:
    """Marks `words` for translation and gives something that turns into them in the reader's language."""
    return cast(str, gettext_lazy(words))
