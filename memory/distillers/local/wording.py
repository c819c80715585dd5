"""How a lesson is put into one sentence, and the key that is the same for the same lesson next time."""

from __future__ import annotations

import re
import unicodedata

from memory.distillers.local.words import words
from memory.lint import MAX_CHARS

_OPENER = re.compile(
    r"^(?:(?:pls|plz)\s+|(?:ok(?:ay)?|right|well|great|perfect|sure|thanks|thank you|yes|yeah|no|nope|hi|hello|hey|oh"
    r"|so|good|correct|stop|sorry|fine|exactly|heads up|careful|attention|warning|important|reminder"
    r"|actually|honestly|basically|in fact|ah|ach|aha|hm+|um|uh|well|listen|look|cool|nice|alright|got it"
    r"|makes sense|fair|understood|no problem|of course|certainly|absolutely|in that case"
    r"|claro|bueno|vale|hola|gracias|perfecto|oye|mira|also|also gut|hallo|danke|ja|nein|gut|super|genau|moin"
    r"|bonjour|salut"
    r"|merci|oui|non|tiens|d['’]accord|parfait)(?: \w+)?[,!.:;—–-]+\s*"
    r"|(?:and|but|also|btw|by the way|fyi|plus|oh and|one more thing|just so you know|for (?:your"
    r"|the) (?:files?|records?|information|reference)|"
    r"(?:please )?(?:note|remember|keep in mind|be aware|bear in mind)(?: that)?|y|pero|además|und"
    r"|aber|außerdem|et|mais|aussi|por cierto|übrigens|au fait|sinon)\b[,:]?\s+)"
    r"|^(?:yeah|yep|yup|yes|no|nah|ok|okay|oh|ah|well|so|then)\s+(?=(?:you|we|the|i|it|please|always|never|our|use"
    r"|don't|do)\b)"
    r"|^(?:好的?|嗯|哦|噢|对了?|是的|另外|还有|顺便|谢谢|没问题|行|はい|ええ|なるほど|あと|それと|ちなみに|了解"
    r"|では|それでは|那么?|失礼しました"
    r"|ありがとう(?:ございます)?)[，,。.、！!：:]\s*",
    re.IGNORECASE,
)
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_FILLER = words(
    "a an and any are as at be by do does don't for from go going have i in is it its me my",
    "need needs never no not now of on only or our please so that the their them then there",
    "these they this to us use using want we when whenever with without you your always prefer",
    "prefers customer user should must every time make sure will would like rather ever us can could i'd i'm m",
    "d ll s stop put add avoid keep",
    "el la los las de del un una en der die das den dem ein eine le les des du une est es ist",
)


def without_openers(text: str) -> str:
    """ "Ok, and note that X" becomes "X"."""
    while (opener := _OPENER.match(text)) and len(text) > opener.end():
        text = text[opener.end() :]
    return text


def plain(text: str) -> str:
    """One line without colours, emphasis and doubled spaces."""
    return " ".join(re.sub(r"\*\*(\S(?:[^*]*\S)?)\*\*", r"\1", _ANSI.sub("", text)).split())


def as_sentence(text: str, language: str = "en") -> str:
    """Capital first (unless it is code), one stop at the end; an inner "!" or "..." at the end becomes a stop."""
    text = plain(text).rstrip(" .!。！,;:…")
    if not text:
        return ""
    # A hyphen inside joins words in French, and names of programs in English.
    joints = "'’-" if language in ("fr", "es", "de") else "'’"
    first = re.match(rf"[^\W\d_]+(?:[{joints}][^\W\d_]+)*(?=\s|[,:;]|$)", text)
    if first and first.group().islower():
        text = text[0].upper() + text[1:]
    return text + ("。" if language in ("zh", "ja") else ".")


def fits(text: str) -> bool:
    return 0 < len(text) <= MAX_CHARS


def segment(text: str, words: int = 3) -> str:
    """A key segment: lower snake, letters of any script, at most `words` words; never empty."""
    folded = unicodedata.normalize("NFC", text).casefold()
    parts = [part for part in re.split(r"[\W_]+", folded) if part]
    return "_".join(parts[:words])[:48] or "other"


def topic(text: str, words: int = 3) -> str:
    """The content words of a sentence as a key segment, in their order."""
    found = [word for word in re.findall(r"[^\W_]+(?:['’]\w+)?", text.casefold()) if word not in _FILLER]
    return segment(" ".join(found) or text, words)


def bare_name(name: str) -> str:
    """A technology's name for comparing: "Next.js", "next" and "NEXT" are one."""
    return re.sub(r"[^a-z0-9]", "", re.sub(r"\.?js$", "", name.casefold().rsplit("/", 1)[-1]))
