"""The sentence lint: would a colleague have written this one sentence? Plain values, no ORM."""

from __future__ import annotations

import re
import unicodedata

from memory.languages import language_of

MAX_CHARS = 240

_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CODE = re.compile(r"`[^`]*`|“[^”]*”|„[^“]*“|«[^»]*»|「[^」]*」|\"[^\"]*\"")
_BREAK = re.compile(
    r"(?<![.\d])(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?<!\bNo)(?<!\bDr)(?<!\bMr)(?<!\bSt)(?<![.\s][A-Z])[.!?][\"”’)]?\s+(?=[^\W\d_a-z]"
    r"|[\"“`])|[。！？](?=.)"
)
_DANGLING = re.compile(
    r"^(?:it|this|that|these|those|they|he|she|there|here|so|then|which)\b(?!\s+(?:project|repo|repository)\b)"
    r"|\b(?:do|does|did|fix|fixes|fixed|use|uses|like|want|wants|change|keep|make|doing|using)\s+(?:it"
    r"|this|that|those|them|these)(?=[.,;!]|$)"
    r"|\b(?:this|that|these|those) ones?\b|\bthe (?:old|new|other|first|second|last|same|right|wrong) ones?\b(?! of\b)"
    r"|^(?:(?:please|always|never|don't|do not|only|support|the (?:customer|user|agent|team)|we|will|must|should"
    r"|has to)\s+)+"
    r"\w+\s+(?:it|them|(?:this|that|these|those)(?=[.,;!]|\s+(?:on|in|at|by|to|for|with|again|as|from|before|after"
    r"|until)\b))(?!')\b"
    r"|^(?:eso|esto|ello|ça|cela|(?:das|dies) (?:ist|war|geht|muss|soll|hilft|funktioniert|passiert|liegt))\b",
    re.IGNORECASE,
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_RELATIVE = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|(?:next|last|this|coming|by|until|on)\s+" + _DAY + r"(?!s)"
    r"|(?:next|last|this|coming)\s+(?:week|month|year|quarter|morning|evening|weekend)"
    r"|in\s+(?:\d+|an?|two|three|four|five|six|seven)\s+(?:minutes?|hours?|days?|weeks?|months?)(?=[.,;]|$)"
    r"|(?:\d+|an?|two|three|few)\s+(?:minutes?|hours?|days?|weeks?|months?|years?)\s+ago"
    r"|right now|just now|a while ago"
    r"|hoy|ayer|mañana por la|pasado mañana|la semana (?:que viene|pasada)|heute|gestern|übermorgen"
    r"|nächste[nr]? Woche|letzte Woche"
    r"|aujourd'hui|demain|la semaine (?:prochaine|dernière))\b"
    r"|今天|明天|昨天|后天|上周|下周|今日|明日|昨日|来週|先週",
    re.IGNORECASE,
)
_HIER = re.compile(r"\bhier\b", re.IGNORECASE)  # "yesterday" in French, "here" in German
_CHATTER = re.compile(
    r"^(?:ok(?:ay)?|great|perfect|sure|thanks|thank you|sorry|hello|hi|hey|yes|yep|right|done"
    r"|understood|noted|let me|let's|now i|i'll|i will|i've|i have)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|me|my|mine|myself)\b")
# "Only in the morning.", "Siempre después de las 18:00.": the end of a sentence whose beginning was lost.
_LIMITS = (
    r"(?:only|always|never|not|just|preferably|also|even|and|or|but|solo|sólo|siempre|nunca|también|immer|nie|nur"
    r"|niemals"
    r"|und|oder|auch|toujours|jamais|seulement|uniquement|et|ou)"
)
_SMALL = (
    r"(?:in|on|at|by|via|from|for|after|before|between|during|until|with|without|to|per|into|than|as|antes|después"
    r"|desde"
    r"|hasta|para|por|con|sin|en|entre|nach|vor|zwischen|mit|ohne|für|bei|ab|bis|auf|um|avant|après|entre|pour|par"
    r"|avec|sans"
    r"|dès|chez|à)"
)
_FRAGMENT = re.compile(rf"^(?:{_LIMITS}\s+)*{_SMALL}\b|^{_LIMITS}\s+(?:the|a|an|my|\d)\b", re.IGNORECASE)
_NOUN_FIRST = re.compile(r"^(?:the|a|an|our|their|all|every|each|no|some)\b", re.IGNORECASE)
_VERBS = (
    r"(?:is|are|was|were|be|has|have|had|do|does|did|can|could|may|might|must|shall|should|will|would|went|won|left"
    r"|lost|made"
    r"|paid|ran|said|sat|sent|sold|told|took|isn't|aren't|wasn't|can't|won't|don't|doesn't"
    r"|(?:get|go|goe|run|use|need|keep|live|take|make|want|like|read|write|come|give|hold|lie|own|call|work|fail"
    r"|start|stop|end"
    r"|cost|let|put|set|show|belong|depend|require|contain|mean|happen|break|build|cut|expire|hate|know|prefer"
    r"|expect|avoid"
    r"|refuse)s?)"
)
_SURE_VERB = re.compile(rf"\b{_VERBS}\b", re.IGNORECASE)
_VERB = re.compile(rf"\b(?:{_VERBS}|\w+(?:s|ed|ize|ise|ate|ify))\b", re.IGNORECASE)
_TRAILING = {
    "en": re.compile(r"\b(?:and|or|but|the|a|an|because)\s*[.!]$", re.IGNORECASE),
    "de": re.compile(r"\b(?:und|oder|aber|der|die|das|weil)\s*[.!]$", re.IGNORECASE),
    "es": re.compile(r"\b(?:y|o|pero|el|la|porque)\s*[.!]$", re.IGNORECASE),
    "fr": re.compile(r"\b(?:et|ou|mais|le|la|les|parce que)\s*[.!]$", re.IGNORECASE),
}
_MARKUP = re.compile(r"^\s*(?:#{1,6}\s|[-*•]\s|\d+[.)]\s|>|\||```)|\*\*|</?[a-z-]+>", re.IGNORECASE)
_PAIRS = {"(": ")", "[": "]", "{": "}", "“": "”", "「": "」", "（": "）"}


def faults(text: str) -> list[str]:
    """What is wrong with a memory's sentence, as short codes; empty when a reviewer could approve it as it stands."""
    found = []
    bare = _CODE.sub("X", text)
    if not text.strip():
        return ["empty"]
    if len(text) > MAX_CHARS:
        found.append("too_long")
    if text != text.strip() or any(unicodedata.category(letter) == "Cc" for letter in text):
        found.append("not_one_line")
    if _BREAK.search(bare.rstrip()):
        found.append("more_than_one_sentence")
    if _DANGLING.search(bare):
        found.append("dangling_it")
    if _RELATIVE.search(bare) or (language_of(bare) == "fr" and _HIER.search(bare)):
        found.append("relative_date")
    if _is_cut(text):
        found.append("cut_word")
    if _CHATTER.search(bare):
        found.append("chatter")
    if _FIRST_PERSON.search(bare) and language_of(bare) == "en":
        found.append("first_person")
    if _MARKUP.search(bare):
        found.append("markup")
    if bare.rstrip().endswith(("?", "？")):
        found.append("question")
    if not _has_claim(text, bare):
        found.append("no_claim")
    return found


def _is_cut(text: str) -> bool:
    """Ends in dots, a hyphen, a comma or no stop at all, or opens what it does not close."""
    end = text.rstrip()
    if end.endswith(("…", "...", "-", ",", ":", ";", "/", "、", "，")) or not end.endswith(
        (".", "!", "?", "。", "！", "？", "”", '"', ")", "`", "」", "）")
    ):
        return True
    if text.count("`") % 2 or text.count('"') % 2:
        return True
    trailing = _TRAILING.get(language_of(text))
    if trailing is not None and trailing.search(text):
        return True
    outside = re.sub(r"`[^`]*`|„[^“]*“", "", text)
    return any(outside.count(opening) != outside.count(closing) for opening, closing in _PAIRS.items())


def _has_claim(text: str, bare: str) -> bool:
    if _UNSPACED.search(text):
        return len(text) >= 5
    words = len(text.split())
    if words < 3:
        return False
    is_english = language_of(bare) == "en"
    if _FRAGMENT.search(bare) and words <= (7 if is_english else 5) and not re.search(r"[,:]\s", bare):
        return is_english and _SURE_VERB.search(bare) is not None
    return not (is_english and _NOUN_FIRST.match(bare)) or _VERB.search(bare) is not None
