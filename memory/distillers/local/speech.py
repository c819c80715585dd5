"""What a person meant of what they typed: taken back, ironic or pasted from elsewhere is not meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from memory.distillers.local.sentences import IRONIC, RETRACTED, Sentence
from memory.distillers.local.wording import topic, without_openers
from memory.distillers.local.words import any_of

# How much of the message before a retraction may refer to; a longer one was not taken back as a whole.
RETRACTED_SENTENCES = 3
# A sentence as short as this says nothing but that.
BARE_WORDS = 4
# Where a retraction must stand, and how much must follow, so that what follows is said in its place.
EARLY, LEAST_WORDS = 20, 4
_REST = re.compile(r"\s*[:;,–—-]\s*(?=\w)")

# What was said before is no longer so.
OLD = any_of(
    r"^(?:hm+,? )?(?:no,? )?(?:that|this|it)(?:'s| is| was) (?:the )?(?:old|wrong|other|outdated|previous)\b"
    r"|^wrong (?:one|file|name|port|host)\b",
    r"^(?P<name>[\w./:-]+) (?:is|was) (?:only )?(?:the|its|an|our) (?:old|former|previous|wrong) (?:name|one"
    r"|address|host|port|path|file)\b",
    r"^(?:nein,? )?das (?:ist|war) (?:der|die|das) (?:alte|falsche)\w*\b|^(?:no,? )?(?:ese|esa|eso) (?:es"
    r"|era) (?:el|la) (?:viej|antigu|equivocad)\w+"
    r"|^(?:non,? )?c['’](?:est|était) l['’]ancien\w*\b|^(?:不对，?)?那是旧的|^それは古い",
)
# The speaker was wrong in the message before.
CORRECTED = any_of(
    r"^(?:correction|i was wrong|that was wrong|my mistake|i stand corrected|on second (?:thought|look)"
    r"|actually,? (?:no|not|that)"
    r"|no,? (?:actually|wait)|sorry,? (?:no|i was|that was|that's|that is|wrong|i meant))\b",
    r"^(?:korrektur|ich lag falsch|das war falsch|corrección|me equivoqué|correction|je me suis trompée?)\b|^(?:更正"
    r"|我错了|訂正)",
)
_ROLE_GIVEN = re.compile(
    r"\b(?:you are|act as|du bist|eres|tu es) (?:\w+[, ]+){0,4}?(?:assistant|agent|engineer|developer|expert|bot"
    r"|model|ai)\b"
    r"|你是一[个名位]|あなたは.{0,20}(?:アシスタント|エージェント|エンジニア)",
    re.IGNORECASE,
)
_PROMPT_MARKS = (
    re.compile(r"^#{1,4} ", re.MULTILINE),
    re.compile(r"</?[a-z_]{3,}>"),
    re.compile(r"^(?:IMPORTANT|NOTE|RULES|CONTEXT|INSTRUCTIONS|CRITICAL)\b", re.MULTILINE),
    re.compile(r"\b(?:ONLY|NEVER|ALWAYS|MUST|NOT|SHOULD)\b"),
    re.compile(r"\byou (?:will be|have been|may assume|are given|are tasked)\b|\byour task is\b", re.IGNORECASE),
)
MARKS_OF_A_PROMPT = 3
_ABOUT = any_of(
    r"\b(?:forget|ignore) (?:what|everything) (?:i|we) (?:said|told you|wrote) (?:about|on|regarding) (?P<what>.+)$"
)


def what_stands(messages: Iterable[list[Sentence]]) -> Iterator[Sentence]:
    """The sentences of one speaker's messages in order, those that do not stand marked as not meant."""
    told: list[list[Sentence]] = []
    for message in messages:
        whole = " ".join(sentence.text for sentence in message)
        if message and (IRONIC.search(whole) or is_prompt(message[0].seen.text)):
            told.append([replace(sentence, is_meant=False) for sentence in message])
            continue
        told.append([])
        for sentence in message:
            if RETRACTED.search(sentence.text):
                _withdraw(told, sentence)
                if (rest := _said_instead(sentence)) is not None:
                    told[-1].append(rest)
            elif old := OLD.match(without_openers(sentence.text)):
                _withdraw_old(told, old)
            elif CORRECTED.match(sentence.text) and told[-1]:
                told[-1][-1] = replace(told[-1][-1], is_meant=False)
            elif CORRECTED.match(sentence.text) and len(told) > 1:
                told[-2] = [replace(one, is_meant=False) for one in told[-2]]
            told[-1].append(sentence)
    for message in told:
        yield from message


def _withdraw_old(told: list[list[Sentence]], old: re.Match[str]) -> None:
    """What named the old thing, else the sentence before."""
    if name := old["name"]:
        for message in told:
            message[:] = [replace(one, is_meant=False) if name in one.text else one for one in message]
    elif told[-1]:
        told[-1][-1] = replace(told[-1][-1], is_meant=False)
    elif len(told) > 1 and told[-2]:
        told[-2][-1] = replace(told[-2][-1], is_meant=False)


def _said_instead(sentence: Sentence) -> Sentence | None:
    """ "Forget that: X": what is said in its place, in the same breath."""
    hit = RETRACTED.search(sentence.text)
    rest = _REST.match(sentence.text, hit.end()) if hit and hit.start() <= EARLY else None
    if rest is None or len(sentence.text[rest.end() :].split()) < LEAST_WORDS:
        return None
    text = sentence.text[rest.end() :]
    return replace(sentence, start=sentence.start + rest.end(), text=text)


def is_prompt(text: str) -> bool:
    """Whether a message is an agent's instructions, which some harness sent in a person's name."""
    if _ROLE_GIVEN.search(text):
        return True
    return sum(mark.search(text) is not None for mark in _PROMPT_MARKS) >= MARKS_OF_A_PROMPT


def _withdraw(told: list[list[Sentence]], sentence: Sentence) -> None:
    """Marks what the sentence takes back: what it names, else the sentence before it, else a short message before."""
    if named := _ABOUT.search(sentence.text):
        wanted = set(topic(named["what"], 6).split("_"))
        for message in told:
            message[:] = [
                replace(one, is_meant=False) if wanted & set(topic(one.text, 40).split("_")) else one for one in message
            ]
        return
    leads = RETRACTED.match(without_openers(sentence.text)) or RETRACTED.match(sentence.text)
    if leads is None and len(sentence.text.split()) > BARE_WORDS:
        return  # in the middle of a sentence it takes back its own beginning
    if told[-1]:
        told[-1][-1] = replace(told[-1][-1], is_meant=False)
    elif len(told) > 1 and len(told[-2]) <= RETRACTED_SENTENCES:
        told[-2] = [replace(one, is_meant=False) for one in told[-2]]
    elif len(told) > 1 and told[-2]:
        told[-2][-1] = replace(told[-2][-1], is_meant=False)
