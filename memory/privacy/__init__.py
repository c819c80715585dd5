"""Cleaning and classifying what comes in: plain values in and out.

Everything from outside passes `clean_text`, `clean_json` or `clean_id` once, at the single write point, before anything
is stored: secrets are replaced there and exist nowhere else.
"""

from memory.privacy.cleaning import (
    ID_LIMIT,
    TEXT_LIMIT,
    BadIdentifier,
    CleanText,
    classify,
    clean_id,
    clean_text,
)
from memory.privacy.findings import CATEGORIES, Finding, findings_from, mask, worst_category
from memory.privacy.invisible import holds_invisible, is_invisible, without_invisible
from memory.privacy.statements import of_statement
from memory.privacy.structured import CleanJson, clean_json

__all__ = [
    "CATEGORIES",
    "ID_LIMIT",
    "TEXT_LIMIT",
    "BadIdentifier",
    "CleanJson",
    "CleanText",
    "Finding",
    "classify",
    "clean_id",
    "clean_json",
    "clean_text",
    "findings_from",
    "holds_invisible",
    "is_invisible",
    "mask",
    "of_statement",
    "without_invisible",
    "worst_category",
]
