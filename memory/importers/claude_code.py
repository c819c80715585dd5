"""Claude Code transcripts (JSONL, one object a line), and tools that write the same envelope (iFlow).

A value in, a value out: nothing is stored here. Which line becomes what, and every reason for leaving one out,
stands in `docs/importers.md`; the traps behind it are those of real files.
"""

from __future__ import annotations

import hashlib
from typing import Any

from memory.importers.claude_lines import Record, Talk
from memory.importers.counts import RawCounts
from memory.importers.detection import CLAUDE_CODE, why_not
from memory.importers.identity import session_id
from memory.importers.reading import Line, Source, read_lines, report, report_replaced, sentence_for
from memory.transcript import Incoming, IncomingSession, ReadResult

FORMAT = CLAUDE_CODE


def read(source: Source) -> ReadResult:
    """Everything one transcript holds, as observations by session. Never raises on content;
    a file that cannot be opened or holds no record comes back with `error` set."""
    try:
        return _Reader(source).read()
    except OSError as error:
        return ReadResult(source.label, FORMAT, error=sentence_for(source, error))


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.result = ReadResult(source.label, FORMAT)
        self.counts = RawCounts()
        self.talks: dict[str, Talk] = {}
        self.current = ""
        self.replaced = 0
        self.is_agent_file = source.name.startswith("agent-")

    def read(self) -> ReadResult:
        with self.source.open() as handle:
            for line in read_lines(handle):
                self._take(line)
        result = self.result
        result.raw = self.counts.result()
        result.bad = result.raw["bad_json_lines"] + result.raw["non_object_lines"]
        report_replaced(result, self.replaced)
        if not result.raw["records"]:
            result.error = why_not(self.source)
        else:
            result.sessions = [self._closed(talk) for talk in self._talks() if talk.session.observations]
        return result

    def _take(self, line: Line) -> None:
        self.source.spend()
        self.replaced += line.replaced
        if line.problem:
            self.counts.bad_json()
        else:
            self.counts.value(line.value)
        if line.problem or not isinstance(line.value, dict):
            code = "bad_line" if line.problem else "not_an_object"
            report(self.result, line.number, line.problem or "is no JSON object", code)
            return
        observations, reason = self._map(line.value, line.number)
        if observations:
            self.result.mapped += 1
        else:
            self.result.skipped[reason] += 1

    def _map(self, record: dict[str, Any], number: int) -> tuple[list[Incoming], str]:
        talk = self._talk_of(record)
        self._place(talk.session, record)
        drafts, reason = Record(record, talk, self.is_agent_file, number).drafts()
        if not drafts:
            return [], reason
        stamped = talk.ids.stamp(record, drafts)
        talk.session.observations += stamped
        return stamped, "repeated_line"

    def _talk_of(self, record: dict[str, Any]) -> Talk:
        # Lines without an id belong to the session around them.
        if named := session_id(record.get("sessionId")):
            self.current = named
        if self.current not in self.talks:
            self.talks[self.current] = Talk(IncomingSession(self.current, FORMAT))
        return self.talks[self.current]

    @staticmethod
    def _place(session: IncomingSession, record: dict[str, Any]) -> None:
        cwd, branch, repository = (record.get("cwd"), record.get("gitBranch"), record.get("prRepository"))
        if not session.cwd and isinstance(cwd, str):
            session.cwd = cwd
        if isinstance(branch, str) and branch:
            session.branch = branch
        if record.get("type") == "pr-link" and isinstance(repository, str):
            session.git_remote = repository

    def _talks(self) -> list[Talk]:
        """The sessions found. Lines before the first id belong to it; without any id, the content names the session."""
        nameless = self.talks.pop("", None)
        talks = list(self.talks.values())
        if nameless is None:
            return talks
        if not talks:
            nameless.session.external_id = f"file-{_digest(self.source)}"
            return [nameless]
        first = talks[0]
        first.session.observations[:0] = nameless.session.observations
        first.leaf_titles[:0] = nameless.leaf_titles
        first.replies = {**nameless.replies, **first.replies}
        return talks

    @staticmethod
    def _closed(talk: Talk) -> IncomingSession:
        session = talk.session
        for reply in talk.replies.values():
            session.usage.update(reply)
        # A summary whose leaf is not here is the title of another branch.
        titles = [title for leaf, title in talk.leaf_titles if leaf in talk.ids.uuids or not leaf]
        session.title = session.title or (titles[-1] if titles else "")
        return session


def _digest(source: Source) -> str:
    sha = hashlib.sha256()
    with source.open() as handle:
        while chunk := handle.read(1024 * 1024):
            sha.update(chunk)
    return sha.hexdigest()[:32]
