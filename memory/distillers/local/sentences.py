"""What was said, cut into sentences whose place in the observation is kept, and what kind of saying it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from memory.distillers.local import dates
from memory.distillers.local.words import any_of
from memory.transcript import Quote, Seen

# Longer than this a user "message" is a pasted document: its lines are not the user's own wishes.
PASTED_CHARS = 3_000
# Longer than this no sentence is a claim that fits into one memory; and long lines make expressions slow.
MAX_SENTENCE_CHARS = 600

_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|no|nr|dr|mr|mrs|ms|st|z\.? ?B|bzw|ca|evtl|inkl|usw|d\.? ?h|u\.? ?a|p\.? ?ej|sr"
    r"|sra"
    r"|srta|núm|tel|mme|mlle|p\.? ?ex|env|av)|\.\.)$",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?:^|\s)\d{1,2}$")  # "am 13. November": the stop belongs to the number
_STOP = re.compile(r"[.!?]+(?=[\"”')\]*]*(?:\s|$))|[。！？]")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_BULLET = re.compile(r"^(?:\s*(?:[-*•+]|\d{1,2}[.)])\s+|\s+)")

# Guards: a sentence of one of these kinds is never a lasting claim.
HEDGED = any_of(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|might|may be|could (?:be|also|have)"
    r"|seems?(?: to)?|appears? to)\b",
    r"\b(?:likely|not sure|unsure|i'd (?:bet|say|guess)|my (?:guess|hunch|suspicion|hypothesis)|apparently|supposedly"
    r"|allegedly|if i remember|iirc|afaik|no idea|hopefully)\b",
    r"\bi (?:(?:would|still|kind of|sort of) )?(?:think|guess|suspect|assume|believe|wonder|suppose)\b",
    r"\b(?:quizás?|tal vez|a lo mejor|puede que|podría ser|creo que|supongo que|no estoy segur[oa]|vielleicht"
    r"|vermutlich"
    r"|wahrscheinlich|eventuell|möglicherweise|ich (?:glaube|denke|vermute|nehme an)|könnte (?:sein|an)|nicht sicher"
    r"|peut-être|sans doute|probablement|je (?:crois|pense|suppose)|pas sûre?)\b",
    r"也许|可能|大概|好像|我猜|估计|应该是|たぶん|かもしれ|と思い|と思う|おそらく|気がし",
)
HYPOTHETICAL = any_of(
    r"\bif (?:i|we|you|they|he|she|it|the|a|an|this|that|someone|anyone)\b.*\b(?:would|could|might|were|had)\b",
    r"\b(?:what if|suppose|imagine|let's say|say we|hypothetically|as an example|wish|pretend)\b",
    r"\b(?:would (?:you|it|we|they)|should (?:we|i|it)|could (?:we|you)|in theory|thinking (?:of"
    r"|about)|considering)\b",
    r"\b(?:supongamos|imagina(?:te|mos)?|en teoría|angenommen|wenn .* würde|stell dir vor|supposons|imaginons"
    r"|en théorie)\b"
    r"|^si (?:\w+ )*(?:fuera|tuviera|tuviéramos|usáramos|était|avions|avait|utilisions)\b|^falls\b",
    r"假如|假设|如果|要是|もし|仮に|としたら",
)
ONE_OFF = any_of(
    r"\b(?:just (?:this )?once|this once|one[- ]time|this (?:one )?time|for now|for the moment"
    r"|right now|at the moment)\b",
    r"\b(?:today|tonight|this (?:morning|afternoon|evening|week|month|time|pr|commit|branch|session|task|run))\b",
    r"\bin this (?:pr|commit|branch|session|task|case|file|function|test|class|module|component)\b",
    r"\bfor this (?:one|pr|commit|task|session|call|order|ticket|time|file|function|method|class"
    r"|component|page|change"
    r"|step|script|feature|fix|request|e-?mail|reply|question|test|run|release)\b",
    r"\b(?:temporar\w+|until (?:i|we|you|then|the|to|next)|only (?:today|now|this)|yet|meanwhile|in a hurry)\b",
    r"\b(?:exceptionally|an exception)\b",
    r"\b(?:por (?:ahora|esta vez|el momento|hoy)|solo (?:hoy|esta vez)|sólo (?:hoy|esta vez)|esta vez|hoy|de momento"
    r"|esta (?:semana|tarde|mañana|noche)|provisionalmente|temporalmente)\b",
    r"\b(?:ausnahmsweise|diesmal|dieses (?:eine )?mal|nur heute|heute|vorerst|momentan|gerade|im moment|diese woche"
    r"|vorübergehend|einmalig)\b",
    r"\b(?:pour (?:l'instant|le moment|cette fois)|cette (?:fois|semaine)|ce (?:matin|soir)|aujourd'hui|temporairement"
    r"|exceptionnellement)\b",
    r"这次|这一次|今天|暂时|先别|本周|今回|今日(?!中)|今だけ|とりあえず|一時的|今週",
)
_OTHERS = (
    r"(?:(?<!-)he|she|they|someone|somebody|people|everyone|everybody"
    r"|my (?:boss|colleague|wife|husband|friend|manager|partner|mother|father|sister|brother|neighbou?r|teammate"
    r"|co-?worker|client|son|daughter)"
    r"|(?:the|our|your|their) (?:docs?|documentation|readme|article|blog|guide|manual|style ?guide"
    r"|book|vendor|boss|manager"
    r"|old team|other team|ticket|website|page|faq|customer|client|user|colleague)s?)"
)
_SAY = (
    r"(?:say|says|said|told|tells|wrote|writes|claims?|claimed|prefers?|preferred|wants?|wanted|likes?|liked|thinks?"
    r"|thought|suggests?|suggested|recommends?|recommended|keeps? saying|insists?|lives?|hates?|uses?|used)"
)
REPORTED = any_of(
    rf"\b{_OTHERS} (?:\w+ )?{_SAY}\b|\b(?:said|says|wrote) (?:the|a|my|our|some|no)\b",
    r"\b(?:my|our|a) (?:(?:late|old|best) )?(?:friend|neighbou?r|aunt|uncle|roommate|flatmate|cousin|grand\w+"
    r"|in-laws?|kid|child)(?:'s|s)?\b"
    r"|\b(?:mein|meine|unser|unsere) (?:nachbar\w*|freund\w*|tante|onkel|mutter|vater|schwester|bruder"
    r"|mitbewohner\w*)\b"
    r"|\b(?:mi|nuestr[oa]) (?:vecin[oa]|amig[oa]|tía|tío|madre|padre|herman[oa]|prim[oa])\b"
    r"|\b(?:mon|ma|notre) (?:voisine?|amie?|tante|oncle|mère|père|sœur|frère|cousine?)\b|我的?(?:邻居|朋友|妈妈"
    r"|爸爸|同学)|友人|隣人"
    r"|母|父",
    r"\b(?:that|which|it) (?:says?|reads?|states?)\b|^translate\b",
    r"^(?:please )?(?:write|draft|compose|add|put|insert|send|reply with) (?:a|an|the|this|another"
    r"|me)?\s*(?:\w+ )?(?:line|sentence|note"
    r"|comment|readme|text|section|letter|e-?mail|mail|message|post|tweet|reply|announcement|invitation|prompt"
    # "… instead of calling" says how to be reached, not what to write.
    r"|story|poem)\b(?!,? (?:instead of|rather than|(?:but |and )?(?:not|do not|don't|never|only))\b)",
    r"\b(?:according to|i (?:read|heard)|dice que|dijo que|sagt(?:e)?,? dass|er sagt|sie sagt|dit que"
    r"|il dit|elle dit)\b",
    r"\b(?:mein|meine|unser|unsere|der|die) (?:chef|chefin|kolleg\w*|frau|mann|nachbar\w*|freund\w*|kunde"
    r"|kundin) (?:\w+ )?"
    r"(?:sagt|sagte|meint|meinte|will|wollte|findet|mag|hätte)\b|\blaut (?:\w+ )?(?:chef|kolleg\w*|kund\w*|handbuch"
    r"|doku)",
    r"\b(?:mi|nuestr[oa]|el|la) (?:jefe|jefa|compañer[oa]|mujer|marido|vecin[oa]|amig[oa]|cliente) (?:\w+ )?"
    r"(?:dice|dijo|quiere|prefiere|cree|opina)\b|\bsegún\b",
    r"\b(?:mon|ma|notre|le|la) (?:chef|cheffe|patron|collègue|femme|mari|voisine?|amie?|client) (?:\w+ )?"
    r"(?:dit|veut|préfère|pense|trouve)\b|\bselon\b",
    r"[他她]们?(?:说|觉得|认为|喜欢|想)|同事|老板说|客户说|と言って|によると|上司|同僚|らしい",
)
RETRACTED = any_of(
    r"\b(?:no wait|wait,? no|scratch that|strike that|just kidding|never ?mind|i mean|i take (?:it|that) back)\b",
    r"\b(?:forget (?:it|that|what)|ignore (?:that|what i)|kidding|sarcasm)\b",
    r"\b(?:olv[ií]d[ae]lo|olvid[ae] (?:eso|lo)|vergiss (?:es|das)|vergessen sie (?:es|das)|war nur (?:ein )?(?:spaß"
    r"|scherz))\b",
    r"\b(?:oublie[zs]? (?:ça|cela)|laisse[zs]? tomber|je plaisante|es broma)\b",
    r"^(?:当我没说|算了|忘了吧)|今のは(?:なし|忘れて)|やっぱり(?:いい|やめ)",
)
JOKING = re.compile(
    r"\b(?:haha\w*|lol|rofl|hehe|jaja\w*|mdr|ptdr)\b|[\U0001f602\U0001f923\U0001f61c\U0001f609\U0001f604]|;-?\)"
    r"|哈哈|（笑）",
    re.IGNORECASE,
)
# A secret spelled out: never a lesson, whatever else the sentence says.
SECRET_TOLD = re.compile(
    r"\b(?:pass(?:word|phrase|code)|pwd|pin|secret|api[- ]?key|token|passwor[td]|kennwort|contraseña|clave"
    r"|mot de passe)\b[^.;]{0,50}?"
    r"(?:\b(?:is|was|=|lautet|ist|es|est)|[:=])\s*[\"'`]?(?=\S*[\d!@#$%^&*_-])(?!\S*[/.]\w)\S{4,}|(?:密码"
    r"|パスワード)[^。]{0,12}(?:是|は|：|:)\s*[\w!@#$%]{4,}",
    re.IGNORECASE,
)
# One such mark, and nothing in the whole message is meant as it is said.
IRONIC = any_of(
    r"(?:^|\s)/s(?:\s|$|[.!])|[\U0001f644\U0001f643]",
    r"\b(?:yeah,? right|oh,? (?:sure|great|wonderful|fantastic|lovely|brilliant)\b|as if\b|how (?:lovely"
    r"|wonderful) that)",
    r"\b(?:just|absolutely|simply|so) (?:love|adore|enjoy) (?:it|that|how|when|being|waiting)\b",
    r"\b(?:of course|naturally|obviously),? (?:i|we) (?:love|adore|enjoy|prefer)\b",
    r"\b(?:na toll|na super|ganz toll|qué (?:bien|maravilla)|super génial|quelle joie)\b",
)
# From here on a message repeats what somebody else wrote.
_FORWARDED = re.compile(
    r"^[ \t]*(?:-{2,} ?(?:original message|forwarded message|ursprüngliche nachricht|message (?:original|transféré)"
    r"|mensaje (?:original|reenviado))\b.*|(?:on|am|le|el) .{5,80} (?:wrote|schrieb|a écrit|escribió) ?:)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class Sentence:
    """One sentence of one message: `seen.text[start:end]`, with its place in the session."""

    seen: Seen
    at: int
    start: int
    end: int
    text: str
    is_question: bool = False
    is_meant: bool = True  # False: taken back, ironic, or a prompt in a person's name

    def quote(self) -> Quote:
        return Quote(self.seen.ref, self.start, self.end, self.text)

    @cached_property
    def is_firm(self) -> bool:
        """Meant, and neither asked, guessed, imagined nor somebody else's words."""
        return self.is_meant and not (
            self.is_question
            or HEDGED.search(self.text)
            or HYPOTHETICAL.search(self.text)
            or REPORTED.search(self.text)
            or RETRACTED.search(self.text)
            or JOKING.search(self.text)
            or SECRET_TOLD.search(self.text)
        )


def sentences(seen: Seen, at: int) -> Iterator[Sentence]:
    """The sentences of a message outside code blocks and quoted lines."""
    fenced = False
    offset = 0
    forwarded = _FORWARDED.search(seen.text)
    for line in seen.text[: forwarded.start() if forwarded else None].split("\n"):
        start, offset = offset, offset + len(line) + 1
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or line.lstrip().startswith((">", "|", "#", "<")):
            continue
        yield from _of_line(seen, at, start, line)


def _of_line(seen: Seen, at: int, offset: int, line: str) -> Iterator[Sentence]:
    bullet = _BULLET.match(line)
    begin = bullet.end() if bullet else 0
    for end in (*_stops(line, begin), len(line)):
        asked = _ASKED_AFTER.match(line[begin:end].strip()) if end - begin < MAX_SENTENCE_CHARS else None
        borders = (begin, line.index(asked.group(), begin) + asked.end("comma"), end) if asked else (begin, end)
        for start, stop in pairwise(borders):
            if (sentence := _cut(seen, at, offset, line, start, stop)) is not None:
                yield sentence
        begin = end


def _stops(line: str, begin: int) -> Iterator[int]:
    """Where the sentences of a line end."""
    for stop in _STOP.finditer(line, begin):
        head, tail = line[begin : stop.start()], line[stop.end() :].lstrip()
        if stop.group() == "." and (_ABBREVIATION.search(head) or (_ORDINAL.search(head) and _goes_on(tail))):
            continue
        if stop.group().startswith("..") or head.count("`") % 2:
            continue
        yield stop.end()
        begin = stop.end()


def _goes_on(tail: str) -> bool:
    """Whether what follows "13." is the rest of a date or of the clause."""
    return tail[:1].islower() or dates.MONTH.match(tail) is not None


# "We are on the Team plan, can we get two more seats?": a statement with a question behind it.
_ASKED_AFTER = re.compile(
    r"^(?!(?:if|when|whenever|suppose|say|since|because|in case|once)\b).{15,}?(?P<comma>,)\s+(?:so\s+|and\s+|but\s+)?"
    r"(?:can|could|may|would|will|is|are|do|does|did|what|how|when|where|why|who|shall|should|kann|können|könnten"
    r"|puede\w*"
    r"|podr\w+|pou[rv]\w+)\b[^,]*\?$",
    re.IGNORECASE,
)


def _cut(seen: Seen, at: int, offset: int, line: str, begin: int, end: int) -> Sentence | None:
    raw = line[begin:end]
    text = raw.strip().rstrip(",")
    if len(text) > MAX_SENTENCE_CHARS or sum(letter.isalnum() for letter in text) < 2:
        return None
    start = offset + begin + (len(raw) - len(raw.lstrip()))
    is_question = text.rstrip('"”)').endswith(("?", "？"))
    return Sentence(seen, at, start, start + len(text), text, is_question, not _is_inside_quotes(line[:begin]))


def _is_inside_quotes(before: str) -> bool:
    """Whether a quotation that began earlier in the line is still open."""
    if before.count('"') % 2:
        return True
    return any(before.count(opening) > before.count(closing) for opening, closing in ("“”", "«»", "「」", "„“"))
