"""What a customer says about themselves: where they are, what they have, whom they work for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.distillers.local import dates
from memory.distillers.local.phrases import phrase
from memory.distillers.local.sentences import ONE_OFF, Sentence
from memory.distillers.local.session import Session, quote
from memory.distillers.local.wording import as_sentence, fits, plain, segment, topic, without_openers
from memory.distillers.local.words import any_of
from memory.languages import language_of
from memory.lint import faults
from memory.transcript import Candidate, Quote

_CAPITAL = r"[A-ZÀ-Ý][\w'’.-]*"
_PLACE = rf"(?P<place>{_CAPITAL}(?:[ -](?:(?:de|la|am|an der|of|upon|sur|den|le)[ -])?{_CAPITAL})*)"
_HAN_PLACE = r"(?P<place>[\u4e00-\u9fff]{2,8}?)(?=[，,。.！!；;了]|$)"
_KANA_PLACE = r"(?P<place>[\u30a0-\u30ff\u4e00-\u9fff]{1,10})"
_LIVES = (
    re.compile(
        r"\b(?:I|[Ww]e)(?: (?:now |still )?(?:live|reside)|(?:'m| am|'re| are) (?:now )?(?:based|located)|(?:'ve"
        r"| have) "
        rf"(?:been living|lived)) (?:in|near) {_PLACE}"
    ),
    re.compile(rf"\b(?:[Vv]ivo|[Vv]ivimos|(?:ahora )?(?:estoy|estamos) viviendo)(?: ahora| actualmente)? en {_PLACE}"),
    re.compile(
        rf"\b(?:[Ii]ch|[Ww]ir) (?:wohnen?|leben?|sitzen)(?: jetzt| nun| inzwischen"
        rf"| mittlerweile)? in {_PLACE}"
    ),
    re.compile(rf"\b[Jj](?:e vis|['’]habite)(?: maintenant| désormais)? (?:à|en) {_PLACE}"),
    re.compile(rf"我们?(?:现在)?住在{_HAN_PLACE}"),
    re.compile(rf"(?:^|は|、){_KANA_PLACE}に住んで"),
)
_OLD = rf"(?P<old>{_CAPITAL}(?: {_CAPITAL})*)"
_MOVED = (
    re.compile(
        r"\b(?:I|[Ww]e)(?:'ve| have)? (?:just |recently )?(?:moved|relocated)(?: (?:our )?(?:office|home|house"
        r"|company))? "
        rf"(?:from {_OLD} )?to {_PLACE}(?! \d)"
    ),
    re.compile(
        rf"\b(?:[Mm]e|[Nn]os) (?:he mudado|hemos mudado|mud[éa]\w*|traslad\w+)(?: (?:de|desde) {_OLD})? a {_PLACE}"
    ),
    re.compile(rf"\b(?:[Ii]ch bin|[Ww]ir sind)(?: \w+){{0,2}}?(?: (?:von|aus) {_OLD})? nach {_PLACE} (?:um)?gezogen"),
    re.compile(rf"\b(?:[Jj]['’]ai|[Nn]ous avons) (?:récemment )?(?:dé|em)ménagé(?: de {_OLD})? à {_PLACE}"),
    re.compile(rf"我们?(?:已经|刚刚?|最近)?(?:从(?P<old>[\u4e00-\u9fff]{{2,4}}))?(?:搬到|搬去|迁到)了?{_HAN_PLACE}"),
    re.compile(
        rf"(?:(?P<old>[\u4e00-\u9fff]{{2,4}})から)?{_KANA_PLACE}(?:に|へ)(?:引っ越し|引越し|移転し|転居し)(?:まし)?た"
    ),
)
# A street with its number; it ends where the sentence goes on with something else.
_ADDRESS_ENDS = (
    r"(?=\s+(?:on|since|last|and|so|but|please|from|now|instead|in (?:january|february|march|april|may|june|july"
    r"|august"
    r"|september|october|november|december)|am|seit|und|bitte|desde|y|por|depuis|et|le)\b|[.;!?。]|$)"
)
_ADDRESS = (
    re.compile(
        r"\b(?:(?:my|our|the) (?:new |home |office |billing |shipping |postal |delivery "
        r"|correct )*address(?:es)?(?: is(?: now)?)?:?"
        r"|(?:I|we)(?:'ve| have)? (?:just |recently )?moved to|(?:I|we) (?:now )?live at)\s*:?\s"
        rf"(?P<place>(?!the\b)[^.;!?]*?\d[^.;!?]*?){_ADDRESS_ENDS}",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:mi|nuestra) (?:nueva )?dirección (?:nueva )?es(?: ahora)?\s*:?\s(?P<place>[^;!?]*?\d[^.;!?]*?)"
        + _ADDRESS_ENDS,
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:meine|unsere|die) (?:neue )?(?:anschrift|adresse) (?:ist|lautet)(?: jetzt"
        r"| nun)?\s*:?\s(?P<place>[^;!?]*?\d[^.;!?]*?)" + _ADDRESS_ENDS,
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:mon|notre|ma|l['’])\s?(?:nouvelle )?adresse est(?: maintenant"
        r"| désormais)?\s*:?\s(?P<place>[^;!?]*?\d[^.;!?]*?)" + _ADDRESS_ENDS,
        re.IGNORECASE,
    ),
    re.compile(r"(?:地址|住址)(?:改为|改成|是|：)(?P<place>[^，。；！]{4,40})"),
    re.compile(r"住所は(?P<place>[^。、！]{4,40}?)(?:です|になりました|に変わりました)"),
)
_PLAN = (
    re.compile(
        r"\b(?:on|have|use|using|(?:switched|upgraded|downgraded|changed)(?: from [\w ]+?)? to) (?:the |your |a |an )?"
        r"(?P<place>[A-Z]\w+(?: [A-Z]\w+)?) (?:plan|tier|subscription|package)\b"
    ),
    re.compile(
        r"\b(?:tengo|tenemos|estoy en|estamos en|uso|usamos) (?:contratado )?(?:el |un )?plan (?P<place>[A-ZÀ-Ý]\w+)"
    ),
    re.compile(
        r"\b(?:haben|habe|nutzen|nutze|im|in der|mit dem) (?:den |die |das )?(?P<place>[A-Z]\w+)[- ](?:Tarif|Plan"
        r"|Abo|Paket)\b"
    ),
    re.compile(
        r"\b(?:avons|ai|sommes sur|suis sur|utilis\w+) (?:l['’]|la |le |une? )?(?:offre|formule|forfait|abonnement"
        r"|plan) (?P<place>[A-Z]\w+)"
    ),
    re.compile(r"我们?(?:用的?是?|使用的?是?|买了|订阅了|订的是)(?P<place>[\u4e00-\u9fff\w]{1,6}版)"),
)
_COMPANY = rf"{_CAPITAL.replace('.', '&')}(?:\.\w+)?(?: [A-ZÀ-Ý][\w&-]*){{0,3}}"
_WORKS = re.compile(
    rf"\b(?:(?:I|and|now) (?:now )?work (?:at|for)|I(?:'ve| have) joined|[Mm]y (?:company|employer) is(?: called)?"
    rf"|I(?:'m| am) with) (?P<company>{_COMPANY})"
)
_SEATS = re.compile(
    r"\b(?:we (?:have|are|employ|need)|(?:plan|tier|package) (?:and (?:have|use)|with)|(?:company|shop|bakery|firm"
    r"|team|business|\w+ery) (?:with|of)) "
    r"(?:about |around |currently |now )?(?P<count>\d[\d,.]*) "
    r"(?P<what>employees|people|seats|users|agents|licen[cs]es|stores|shops|branches|locations|developers"
    r"|warehouses)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\bmy (?P<what>account|customer|client|member|membership|contract|policy)(?: (?:number|no\.?|id))? is "
    r"#?(?P<number>[A-Z0-9][\w-]*\d[\w-]*)",
    re.IGNORECASE,
)
_TIER = re.compile(
    r"\b(?:I'm|I am) (?:a |an |on )?(?:the )?(?P<tier>bronze|silver|gold|platinum|diamond|premium"
    r"|basic|free)(?: (?:member|tier|level|customer))?\s*[.!]?$",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"\bI(?:'m| am) the (?:new )?(?P<role>(?:\w+ )?(?:admin|administrator|owner|accountant|treasurer|CFO|CTO|CEO"
    r"|manager|lead"
    r"|secretary|bookkeeper)|head of \w+)(?: (?:of|at|for|here)\b[^.,;]*)?\s*(?:[.,;!]|$)"
)
_OFFICE = re.compile(
    rf"\b[Oo]ur (?P<what>office|headquarters|shop|store|warehouse|company) is (?:now )?(?:based |located )?in {_PLACE}"
)
_DEVICE = re.compile(
    r"\b[Ii](?:'m| am)? (?:use|using|on|have|run)\b.*?\b(?P<device>(?:Android|iOS|iPadOS|Windows|macOS|Ubuntu|iPhone"
    r"|Pixel"
    r"|Galaxy) [\w.]+)"
)
_OURS = re.compile(
    r"^(?:[Oo]ur (?P<what>[a-zA-Z-]+(?: [a-zA-Z-]+){0,3}?)|[Mm]y (?P<mine>time ?zone|(?:vat|tax|company) \w+|company"
    r"|business|website"
    r"|domain|language)) (?P<verb>is|are|ends?|starts?|begins?|renews?|closes?|opens?) (?P<rest>.+)$"
)
_OURS_PASSING = any_of(
    r"\b(?:order|parcel|package|delivery|refund|payment|question|problem|issue|ticket|screen|app|site|website|page"
    r"|button"
    r"|password|login|card|export|import|sync|invoice|bill|guess|point|bad|fault|name|dog|cat|wife|husband|boss"
    r"|manager|colleague"
    r"|neighbou?r|customer|client|friend|son|daughter|mother|father|meeting|appointment|call|flight|event|party"
    r"|prefer\w+|favou?rite)s?\b",
)
_USES = re.compile(
    r"^[Ww]e (?P<verb>use|run|sell|ship|export|import|bill) (?P<rest>[^.,;]*(?:[A-Z]{2,}|\b[A-Z][a-z]+)[^.,;]*)$"
)
# One thing after another in one breath.
_PARTS = re.compile(r",\s+(?:and\s+)?(?=(?:our|we|my|please|invoices?|so)\b)", re.IGNORECASE)
_COMPLAINT = any_of(
    r"\b(?:not|n't|never|no longer|wrong|broken|fail\w*|error|slow|missing|late|stuck|lost|down|grey|empty|locked"
    r"|blocked|bad)\b"
)
_TRANSIENT = any_of(
    r"\b(?:this week|this month|today|right now|at the moment|currently|for now|until|no wait|used to|before"
    r"|any ?more)\b",
    r"\b(?:visiting|on (?:holiday|vacation|a trip)|travel\w*|next (?:week|month|year)|soon|planning|if|will"
    r"|going to)\b",
)
_PLANNED = any_of(
    r"\b(?:will|going to|planning|might|next|want to|about to|werde\w*|voy a|vamos a|vais|allons|打算|下个?月|予定)\b"
)
_LAST_WEEK = re.compile(r"\blast week\b", re.IGNORECASE)


def read(session: Session) -> Iterator[Candidate]:
    if session.is_coding:
        return
    for sentence in session.said_by_user:
        if not sentence.is_firm:
            continue
        moved = _addressed(sentence) or _moved(session, sentence)
        if moved is not None:
            yield moved
            continue
        if seats := _SEATS.search(sentence.text):
            yield _counted(session, sentence, seats)
        if not (_TRANSIENT.search(sentence.text) or ONE_OFF.search(sentence.text)):
            yield from _self_told(sentence)


def _self_told(sentence: Sentence) -> Iterator[Candidate]:
    text = plain(sentence.text)
    language = language_of(text)
    if (hit := _first(_LIVES, text)) is not None:
        place = hit["place"].rstrip(".")
        yield _fact(sentence, hit, "customer_fact", "city", place, phrase("lives", language, place=place))
    if (hit := _first(_PLAN, text)) is not None:
        plan = hit["place"]
        yield _fact(sentence, hit, "account_detail", "plan", plan, phrase("plan", language, place=plan))
    if hit := _WORKS.search(text):
        company = hit["company"].rstrip(".")
        yield _fact(sentence, hit, "customer_fact", "company", company, f"The customer works for {company}.")
    if hit := _TIER.search(text):
        tier = hit["tier"].casefold()
        yield _fact(sentence, hit, "account_detail", "membership", tier, f"The customer's membership level is {tier}.")
    if hit := _OFFICE.search(text):
        place = hit["place"].rstrip(".")
        yield _fact(sentence, hit, "customer_fact", hit["what"], place, f"The customer's {hit['what']} is in {place}.")
    elif (ours := _of_ours(sentence, text)) is not None:
        yield ours
    if hit := _DEVICE.search(text):
        device = hit["device"].rstrip(".")
        yield _fact(sentence, hit, "customer_fact", "device", device, f"The customer uses {device}.")
    if hit := _ROLE.search(text):
        yield _fact(
            sentence, hit, "customer_fact", "role", hit["role"], f"The customer's contact is the {hit['role']}."
        )
    if hit := _NUMBER.search(text):
        what = hit["what"].casefold()
        number = hit["number"]
        told = f"The customer's {what} number is {number}."
        yield _fact(sentence, hit, "account_detail", f"{what}_number", number, told)


def _counted(session: Session, sentence: Sentence, seats: re.Match[str]) -> Candidate:
    """How many of something the customer has, as support left it at the end of the talk."""
    what, count, quotes = seats["what"].casefold(), seats["count"], [_said(sentence, seats)]
    for said in session.said_by_assistant:
        now = re.search(rf"\byou (?:now )?have (?P<count>\d[\d,.]*) {re.escape(what)}\b", said.text, re.IGNORECASE)
        if now and said.at > sentence.at and said.is_firm:
            count, quotes = now["count"], [said.quote(), *quotes]
    text = f"The customer's company has {count} {what}."
    return Candidate("customer_fact", f"customer_fact:{segment(what)}", count, text, tuple(quotes), "customer")


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> re.Match[str] | None:
    return next((hit for pattern in patterns if (hit := pattern.search(text))), None)


def _of_ours(sentence: Sentence, text: str) -> Candidate | None:
    """ "Our fiscal year ends in March"; "We use SAP for invoices": how things are at the customer's."""
    for part in _PARTS.split(without_openers(text).rstrip(" .!")):
        if (told := _of_ours_in(sentence, part)) is not None:
            return told
    return None


def _of_ours_in(sentence: Sentence, body: str) -> Candidate | None:
    if _COMPLAINT.search(body) or len(body.split()) > 16:
        return None
    if hit := _OURS.match(body):
        what = hit["what"] or hit["mine"]
        if _OURS_PASSING.search(what) or not re.search(r"[A-Z0-9]", hit["rest"]):
            return None
        told = f"The customer's {what} {hit['verb']} {hit['rest']}"
        key = topic(what)
    elif hit := _USES.match(body):
        told = f"The customer {hit['verb']}s {hit['rest']}"
        key = topic(f"{hit['verb']} {hit['rest']}")
    else:
        return None
    told = as_sentence(re.sub(r"\b(?:our|my)\b", "the customer's", told))
    if not fits(told) or faults(told):
        return None
    return Candidate("customer_fact", f"customer_fact:{key}", told, told, (_said(sentence, hit),), "customer")


def _fact(sentence: Sentence, hit: re.Match[str], kind: str, key: str, value: str, text: str) -> Candidate:
    return Candidate(kind, f"{kind}:{key}", value, text, (_said(sentence, hit),), "customer")


def _said(sentence: Sentence, hit: re.Match[str]) -> Quote:
    """The words that say it, or the sentence where they do not stand letter by letter."""
    return quote(sentence.seen, hit.group(), sentence.start) or sentence.quote()


def _addressed(sentence: Sentence) -> Candidate | None:
    hit = _first(_ADDRESS, sentence.text)
    if hit is None or _PLANNED.search(sentence.text) or not re.search(r"[^\W\d_]{3}", hit["place"]):
        return None
    place = plain(hit["place"]).strip(" ,")
    text = phrase("address", language_of(sentence.text), place=place)
    if len(place) > 100 or faults(text):
        return None
    return _fact(sentence, hit, "account_detail", "address", place, text)


def _moved(session: Session, sentence: Sentence) -> Candidate | None:
    hit = _first(_MOVED, sentence.text)
    if hit is None or _PLANNED.search(sentence.text):
        return None
    said_at = session.moment(sentence.seen)
    place = hit["place"].rstrip(".")
    language = language_of(sentence.text)
    text = phrase("moved", language, place=place, day=said_at.date().isoformat())
    if language == "en":
        when = f", as said on {said_at.date().isoformat()}"
        if _LAST_WEEK.search(sentence.text):
            first, last = dates.last_week(said_at)
            when = f" between {first.isoformat()} and {last.isoformat()}"
        came_from = f" from {hit['old']}" if hit["old"] else ""
        text = f"The customer moved{came_from} to {place}{when}."
    if not fits(text) or faults(text):
        return None
    return Candidate("customer_fact", "customer_fact:city", place, text, (sentence.quote(),), "customer")
