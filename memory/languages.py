"""Which language a few words are in: enough to keep a sentence in it, no more. Plain values, no ORM."""

from __future__ import annotations

import re

_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_SMALL_WORDS = {
    "en": (
        "the a an of to and is are in on for with it that this not please always never you we i my be do at"
        " me as or use from by was were has have had will can should would must when if there what all our us"
        " your their than but out only after before about"
    ),
    "es": (
        "el la los las de que por favor para con una siempre nunca usted no es está mi su y debe día del en"
        " se al pero me un lo como más yo sus nuestro nuestra son están ha han hay muy ya sin sobre también"
        " cuando porque gracias hola desde hasta ayer aquí eso esto esta este cada ahora nos"
    ),
    "de": (
        "der die das und nicht bitte immer nie mit ist ich wir ein eine für auf den dem zu von auch kein"
        " keine mir uns hier als im sie mich dir sich nur nach vor bis wenn dass oder aber wie wird werden"
        " wurde haben hat sind kann können soll muss ihr ihre ihnen unser unsere mein meine des vom zum zur"
        " bei an um noch schon sehr jetzt"
    ),
    "fr": (
        "le la les des une pas toujours jamais est vous nous je dans pour avec sur du ne et veuillez mon"
        " votre un au moi plaît il elle ce cette ces son notre nos leur par mais ou où qui que quand plus très"
        " merci bonjour depuis sont avez j l d c n qu"
    ),
}
# Letters that one of these languages writes and the others do not.
_LETTERS = {"es": re.compile(r"[ñ¿¡áíóú]"), "de": re.compile(r"[äöüß]"), "fr": re.compile(r"[èêëçœûîâùà]")}
_KNOWN = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}


def language_of(text: str) -> str:
    """ "en" unless the script or the small words say otherwise; "" when there is nothing to go by."""
    if _KANA.search(text):
        return "ja"
    if _HANGUL.search(text):
        return "ko"
    if _HAN.search(text):
        return "zh"
    words = re.findall(r"[^\W\d_]+", text.casefold())
    if not words:
        return ""
    hits = {language: sum(word in known for word in words) for language, known in _KNOWN.items()}
    for language, letters in _LETTERS.items():
        hits[language] += letters.search(text.casefold()) is not None
    best = max(hits, key=lambda language: (hits[language], language == "en"))
    return best if hits[best] else "en"
