"""How a lesson is put into one sentence, and the key that is the same for the same lesson next time."""

from __future__ import annotations

import re
import unicodedata

from memory.distillers.local.words import words
from memory.lint import MAX_CHARS

_OPENER = re.compile(
    r"^(?:(?:ok(?:ay)?|right|well|great|perfect|sure|thanks|thank you|yes|yeah|no|nope|hi|hello|hey|oh"
    r"|so|good|correct|stop|sorry|fine|exactly|heads up|careful|attention|warning|important|reminder"
    r"|actually|honestly|basically|in fact|"
    r"claro|bueno|vale|hola|gracias|also gut|hallo|danke|ja|nein|bonjour|merci|oui|non)(?: \w+)?[,!.:;—–-]+\s*"
    r"|(?:and|but|also|btw|by the way|fyi|plus|oh and|one more thing|just so you know|for (?:your"
    r"|the) (?:files?|records?|information|reference)|"
    r"(?:please )?(?:note|remember|keep in mind|be aware|bear in mind)(?: that)?|y|pero|además|und"
    r"|aber|außerdem|et|mais|aussi)\b[,:]?\s+)",
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
# Lessons in the words of the session's language; English where a language is missing.
_PHRASES = {
    "set_in": {
        "en": "{name} is set in {path}.",
        "zh": "{name} 在 {path} 中设置。",
        "ja": "{name} は {path} で設定されている。",
        "es": "{name} se define en {path}.",
        "de": "{name} wird in {path} gesetzt.",
        "fr": "{name} est défini dans {path}.",
    },
    "version": {
        "en": "The project uses {name} {new}, although {doc} said {old}.",
        "zh": "项目使用 {name} {new}，而 {doc} 曾写作 {old}。",
        "ja": "プロジェクトは {name} {new} を使用している（{doc} には {old} とあった）。",
        "es": "El proyecto usa {name} {new}, aunque {doc} decía {old}.",
        "de": "Das Projekt nutzt {name} {new}, obwohl {doc} {old} nannte.",
        "fr": "Le projet utilise {name} {new}, alors que {doc} indiquait {old}.",
    },
    "no_script": {
        "en": "{manifest} has no `{name}` script, although {doc} named it.",
        "zh": "{manifest} 中没有 `{name}` 脚本，尽管 {doc} 提到过。",
        "ja": "{manifest} に `{name}` スクリプトは存在しない（{doc} には記載があった）。",
        "es": "No existe el script `{name}` en {manifest}, aunque {doc} lo mencionaba.",
        "de": "In {manifest} gibt es kein Skript `{name}`, obwohl {doc} es nannte.",
        "fr": "Le script `{name}` n'existe pas dans {manifest}, bien que {doc} le mentionne.",
    },
    "needs_env": {
        "en": "`{goal}` needs `{cure}`; without that setting: “{error}”.",
        "zh": "`{goal}` 需要 `{cure}`，否则报错：“{error}”。",
        "ja": "`{goal}` には `{cure}` が必要（ない場合：「{error}」）。",
        "es": "`{goal}` necesita `{cure}`; sin eso falla con “{error}”.",
        "de": "`{goal}` braucht `{cure}`, sonst kommt „{error}“.",
        "fr": "`{goal}` a besoin de `{cure}`, sinon : « {error} ».",
    },
    "needs_flag": {
        "en": "`{goal}` fails with “{error}” unless `{cure}` is given.",
        "zh": "`{goal}` 若不加 `{cure}` 会报错：“{error}”。",
        "ja": "`{goal}` は `{cure}` を付けないと「{error}」で失敗する。",
        "es": "`{goal}` falla con “{error}” si no se añade `{cure}`.",
        "de": "`{goal}` scheitert ohne `{cure}` mit „{error}“.",
        "fr": "`{goal}` échoue avec « {error} » sans `{cure}`.",
    },
    "until_installed": {
        "en": "`{goal}` fails {what} until {cure} installed.",
        "zh": "安装 {cure} 之前，`{goal}` 会失败（{what}）。",
        "ja": "{cure} をインストールするまで `{goal}` は失敗する（{what}）。",
        "es": "`{goal}` falla ({what}) hasta instalar {cure}.",
        "de": "`{goal}` scheitert ({what}), bis {cure} installiert ist.",
        "fr": "`{goal}` échoue ({what}) tant que {cure} n'est pas installé.",
    },
    "until_run": {
        "en": "`{goal}` fails with “{error}” until `{cure}` has run.",
        "zh": "先运行 `{cure}`，否则 `{goal}` 会报错：“{error}”。",
        "ja": "先に `{cure}` を実行しないと `{goal}` は「{error}」で失敗する。",
        "es": "`{goal}` falla con “{error}” hasta ejecutar `{cure}`.",
        "de": "`{goal}` scheitert mit „{error}“, bis `{cure}` gelaufen ist.",
        "fr": "`{goal}` échoue avec « {error} » tant que `{cure}` n'a pas été lancé.",
    },
    "instead": {
        "en": "`{goal}` fails with “{error}”; `{cure}` works.",
        "zh": "`{goal}` 会报错：“{error}”；`{cure}` 可用。",
        "ja": "`{goal}` は「{error}」で失敗し、`{cure}` なら動く。",
        "es": "`{goal}` falla con “{error}”; `{cure}` funciona.",
        "de": "`{goal}` scheitert mit „{error}“; `{cure}` geht.",
        "fr": "`{goal}` échoue avec « {error} » ; `{cure}` fonctionne.",
    },
}


def phrase(lesson: str, language: str, /, **parts: str) -> str:
    """The named lesson in the session's language."""
    forms = _PHRASES[lesson]
    return forms.get(language, forms["en"]).format(**parts)


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
    first = re.match(r"[^\W\d_]+(?:['’][a-z]+)?(?=\s|[,:;]|$)", text)
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
