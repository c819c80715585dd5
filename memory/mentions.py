"""What must not get lost when a talk is shortened (values): names, numbers of orders and accounts, amounts, dates, and
the sentences that promise, ask, or leave something open. By patterns, so the same words give the same every time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from memory.languages import language_of

MOST_CHARACTERS = 60
# Looked at in one text, which may have been made to have thousands.
MOST_NAMES = 100
MOST_NUMBERS = 500
_MONTHS = (
    "january february march april may june july august september october november december"
    " jan feb mar apr jun jul aug sept sep oct nov dec"
    " januar februar märz mai juni juli oktober dezember"
    " janvier février mars avril juin juillet août septembre octobre novembre décembre"
    " enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
)
_DAYS = (
    "monday tuesday wednesday thursday friday saturday sunday"
    " montag dienstag mittwoch donnerstag freitag samstag sonntag"
    " lundi mardi mercredi jeudi vendredi samedi dimanche"
    " lunes martes miércoles jueves viernes sábado domingo"
)


def _any(words: str) -> str:
    return "|".join(sorted(words.split(), key=len, reverse=True))


# Money and shares ----------------------------------------------------------------------------------------------------

_FIGURE = r"\d{1,3}(?:[.,'’ ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,2})?"
_CURRENCY = (
    r"USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|CAD|AUD|BRL|MXN"
    r"|euros?|dollars?|pounds?|francs?|franken|kronor|yen|yuan|pesos?|zł"
)
_AMOUNT = re.compile(
    rf"(?<![\w.,])(?:[$€£¥₹]\s?(?:{_FIGURE})|(?:{_CURRENCY})\s(?:{_FIGURE})"
    rf"|(?:{_FIGURE})\s?(?:[$€£¥₹%]|(?:{_CURRENCY})\b))(?!\w)",
    re.IGNORECASE,
)

# Days ----------------------------------------------------------------------------------------------------------------

_WRITTEN_DAY = re.compile(
    rf"(?<![\w.])(?:\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}\.\s?\d{{1,2}}\.(?:\s?\d{{4}}|(?!\d))|\d{{1,2}}/\d{{1,2}}/\d{{2,4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:of\s|de\s)?(?:{_any(_MONTHS)})\b\.?(?:,?\s(?:de\s)?\d{{4}})?"
    rf"|(?:{_any(_MONTHS)})\.?\s\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s\d{{4}})?)|(?<!\d)(?:\d{{4}}年)?\d{{1,2}}月\d{{1,2}}日",
    re.IGNORECASE,
)
_SPOKEN_DAY = re.compile(
    rf"(?<!\w)(?:(?:next|this|last|on|by|until|nächsten|kommenden|am|bis|prochain|le|el|próximo)\s(?:{_any(_DAYS)})"
    rf"|(?:{_any(_DAYS)})|(?:the day after )?tomorrow|yesterday|tonight|today|(?:next|this|last) (?:week|month|year)"
    r"|in (?:\d+|two|three|four|five|six|seven|ten|fourteen) (?:hours|days|weeks|months)"
    r"|übermorgen|gestern|heute|nächste[rn]? woche|demain|hier|aujourd['’]hui|la semaine prochaine"
    r"|mañana|ayer|hoy|la próxima semana)(?!\w)",
    re.IGNORECASE,
)

# Numbers that name something -----------------------------------------------------------------------------------------

_GROUPS = re.compile(r"(?<![\w.,+])\+?\d{2,}(?:[ -]\d{2,}){1,7}(?!\w|,\d)")
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9_@./])#?(?=[A-Za-z_./+-]{0,60}\d)[A-Za-z0-9](?:[A-Za-z0-9_./+#-]*[A-Za-z0-9])?(?![A-Za-z0-9_@])"
)
_NAMED = re.compile(
    r"(?:\b(order|account|invoice|ticket|case|reference|ref|refund|tracking|parcel|shipment|customer|client|booking"
    r"|reservation|contract|policy|serial|member|article|item|batch|claim|issue|pull request|PR|port|line|room|flight"
    r"|bestellung|auftrag|konto|kundennummer|kunde|rechnung|vertrag|sendung|buchung|vorgang|bestellnummer|rechnungsnummer"
    r"|commande|compte|facture|contrat|dossier|colis|pedido|cuenta|factura|contrato|reserva|envío"
    r")\b|(订单|账号|帐号|发票|注文|口座))(?:\s?(?:number|no\.?|nr\.?|num\.?|id|code|n°|nº|号|番号))?[\s:=#]{0,3}$",
    re.IGNORECASE,
)
_LEAST_CHARACTERS = 4

# Names ---------------------------------------------------------------------------------------------------------------

_CAPITALISED = r"[A-ZÀ-ÖØ-ÞŁŚŻŹĆŃČŠŽĐĞİÇ][\w’'.-]{0,38}\w"
_PARTICLE = r"(?:von|van|der|de|del|della|da|di|du|le|la|bin|al|el|ten|zu)"
_INTRODUCED = re.compile(
    r"(?:\b(?:my|his|her|the) (?:full )?name(?:['’]s| is)|\bname:|\bthis is|\bi am|\bi['’]m|\bask for"
    r"|\bspoke (?:to|with)|\bmein name ist|\bich hei(?:ß|ss)e|\bich bin|\bhier ist|\bje m['’]appelle|\bje suis"
    r"|\bme llamo|\bmi nombre es|\bsoy)"
    rf"\s+((?-i:{_CAPITALISED}(?:\s(?:{_PARTICLE}\s){{0,2}}{_CAPITALISED}){{0,3}}))",
    re.IGNORECASE,
)
_TITLED = re.compile(
    rf"\b((?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau|Mme|Mlle|Monsieur|Madame|Sr|Sra|Señora?)\b\.?\s{_CAPITALISED}"
    rf"(?:\s(?:{_PARTICLE}\s){{0,2}}{_CAPITALISED}){{0,2}})"
)
_SEVERAL = re.compile(rf"(?<![\w’'])({_CAPITALISED}(?:\s(?:{_PARTICLE}\s){{0,2}}{_CAPITALISED}){{1,3}})")
_ONE = re.compile(rf"(?<=[\w,]\s)({_CAPITALISED})")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
# Written with a capital and no name: where a sentence begins, and what every talk is full of.
_COMMON = (
    "a an and any all are as at be but by can could dear did do does find first for from get good has have hello here"
    " hey hi how i i'm i'll i've i'd if in is it it's its just let's let me my need next no not now of ok okay on once"
    " one or our please second should since so sorry still sure thank thanks that the their then there these they this"
    " those to today until was we we'll we're were what when where which who why will with would yes yet you your"
    " der die das ein eine und ich wir sie bitte danke hallo guten wann was wie ja nein ist mein meine"
    " le la les un une et je nous vous merci bonjour oui non est mon ma el los las yo gracias hola sí"
    " order account invoice ticket case refund customer number mr mrs ms dr prof herr frau mme sr sra"
)
_NO_NAMES = frozenset(_COMMON.split())
_CALENDAR = frozenset(f"{_MONTHS} {_DAYS}".split())

# Sentences -----------------------------------------------------------------------------------------------------------

_END = re.compile(r"[.!?]{1,8}[\"'”’)\]]*(?=\s)|[。！？]+|\n+")
_ABBREVIATED = re.compile(
    r"(?:\b(?:no|nr|núm|mr|mrs|ms|dr|prof|st|sr|sra|mme|ca|approx|e\.g|i\.e|z\.\s?b|bzw|inc|ltd|tel|ref|acct)"
    r"|\b[A-Z])\.$",
    re.IGNORECASE,
)
_PROMISE = re.compile(
    r"\b(?:(?:i|we)(?:['’]ll| will| shall| promise| guarantee|(?:['’]m| am|['’]re| are) going to)"
    r"|you(?:['’]ll| will) (?:get|receive|have|hear)|will be (?:\w+ )?(?:refunded|sent|delivered|credited|shipped|ready"
    r"|fixed|replaced|called|there|released|paid)|ich (?:werde|melde|schicke|sende|kümmere|verspreche)"
    r"|wir (?:werden|melden|schicken|senden|kümmern)|sie (?:bekommen|erhalten)|je (?:vais|vous)|nous (?:allons|vous)"
    r"|vous (?:recevrez|aurez)"
    r"|(?:le|te|les) (?:enviar|llamar|devolver|mandar)\w+|voy a|vamos a|recibirá)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:still|not yet|waiting (?:for|on)|pending|unresolved|to[- ]?do|remind|follow[- ]up|outstanding|blocked"
    r"|(?:has|have|had)(?:n['’]t| not)|missing|never (?:arrived|came|got)|noch (?:nicht|immer|offen|kein\w*)|offen"
    r"|warte[nt]?|fehlt|toujours pas|pas encore|en attente|manque|todavía no|aún no|pendiente|falta)\b|还没|尚未|まだ",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\b(?:please|can you|could you|would you|i (?:want|need|would like)|i['’]d like|bitte|ich (?:möchte|brauche|will)"
    r"|können sie|kannst du|s['’]il vous pla[iî]t|je (?:veux|voudrais)|pouvez-vous|por favor|quiero|necesito|puede)\b"
    r"|请|麻烦|お願い|ください",
    re.IGNORECASE,
)


def amounts(text: str) -> list[str]:
    """Sums of money and percentages, as written."""
    return _once(found.group() for found in _AMOUNT.finditer(text))


def days(text: str, said_on: str) -> list[str]:
    """Days as written; a spoken one ("tomorrow") with the day it was said on."""
    found = [(match.start(), match.group().rstrip(". ")) for match in _WRITTEN_DAY.finditer(text)]
    found += [(match.start(), f"{match.group()} (said {said_on})") for match in _SPOKEN_DAY.finditer(text)]
    return _once(words for _, words in sorted(found))


def numbers(text: str) -> list[str]:
    """Numbers of orders, accounts, parcels, versions, ports: four characters or more with a digit among them, or
    shorter ones behind the word for what they number. With that word where it stands before them."""
    taken = bytearray(len(text))
    for pattern in (_AMOUNT, _WRITTEN_DAY, _MAIL):
        for match in pattern.finditer(text):
            _take(taken, match)
    found: list[tuple[int, str]] = []
    for pattern in (_GROUPS, _IDENTIFIER):
        for match in islice(pattern.finditer(text), MOST_NUMBERS):
            start, end = match.span()
            if any(taken[start:end]):
                continue
            if words := _numbered(match.group(), text[max(0, start - 40) : start]):
                found.append((start, words))
                _take(taken, match)
    return _once(words for _, words in sorted(found))


def _take(taken: bytearray, match: re.Match[str]) -> None:
    start, end = match.span()
    taken[start:end] = b"\x01" * (end - start)


def _numbered(written: str, before: str) -> str:
    if not any(char.isdigit() for char in written) or len(written) > MOST_CHARACTERS:
        return ""
    label = _NAMED.search(before)
    named = (label[1] or label[2]) if label else ""
    enough = sum(char.isalnum() for char in written) >= _LEAST_CHARACTERS or written.startswith("#")
    return f"{named} {written}".strip() if named or enough else ""


def names(text: str) -> list[str]:
    """People and companies, and addresses of mail. Where nouns have capitals too, one word alone is no name."""
    found = [(match.start(), match.group()) for match in _MAIL.finditer(text)]
    for pattern in (_INTRODUCED, _TITLED):
        found += [(match.start(1), match[1]) for match in pattern.finditer(text)]
    for match in _SEVERAL.finditer(text):
        words = match[1].split()
        while words and _is_no_name(words[0]):
            words = words[1:]
        if len(words) > 1 and not all(word.isupper() for word in words):
            found.append((match.end() - len(" ".join(words)), " ".join(words)))
    if language_of(text) not in ("de", ""):
        for match in _ONE.finditer(text):
            if not _is_no_name(match[1]) and not (match[1].isupper() and len(match[1]) < 6) and match[1].isalpha():
                found.append((match.start(), match[1]))
    found.sort(key=lambda one: (one[0], -len(one[1])))
    said = _once(
        name
        for _, words in found
        if (name := words.rstrip(".,'’-")) and len(name) <= MOST_CHARACTERS and not _is_no_name(name)
    )[:MOST_NAMES]
    # A part of a name that stands there whole is not a second one.
    whole = [f" {name} " for name in said]
    return [name for name in said if not any(f" {name} " in longer != f" {name} " for longer in whole)]


def _is_no_name(word: str) -> bool:
    plain = word.casefold().strip(".,'’").replace("’", "'")
    return plain in _NO_NAMES or plain in _CALENDAR or plain.split("'")[0] in ("i", "we", "you", "it", "that")


def sentences(text: str) -> list[str]:
    """The sentences of a text. A full stop inside a number, or behind a short word or a number of one, ends none."""
    found, start = [], 0
    for end in _END.finditer(text):
        if end.group() == "." and _goes_on(text, start, end.end()):
            continue
        found.append(text[start : end.end()].strip())
        start = end.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if any(char.isalnum() for char in sentence)]


def promises(sentence: str) -> bool:
    return bool(_PROMISE.search(sentence)) and not asks(sentence)


def is_open(sentence: str) -> bool:
    return bool(_OPEN.search(sentence))


def asks(sentence: str) -> bool:
    return sentence.rstrip().endswith(("?", "？")) or bool(_REQUEST.search(sentence))


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether the full stop at `end` is one of a short word, or of a number as in "the 3. December"."""
    before, after = text[max(start, end - 12) : end], text[end : end + 20].lstrip()
    if _ABBREVIATED.search(before):
        return True
    word = after.split(maxsplit=1)[0].strip(".,;!?").casefold() if after else ""
    return bool(re.search(r"(?<!\d)\d{1,2}\.$", before)) and (word in _CALENDAR or after[:1].islower())


def _once(words: Iterable[str]) -> list[str]:
    return list(_distinct(" ".join(word.split()) for word in words))


def _distinct(words: Iterable[str]) -> Iterator[str]:
    seen = set()
    for word in words:
        if word and word.casefold() not in seen:
            seen.add(word.casefold())
            yield word
