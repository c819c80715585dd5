"""What the queue and the schedules call for the desk: one line each, ids only, further keyword arguments tolerated."""

from __future__ import annotations
