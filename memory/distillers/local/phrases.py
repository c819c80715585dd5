"""Lessons told in the words of the session's language, where a rule cannot leave the speaker's own."""

from __future__ import annotations

PHRASES = {
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
    "lives": {
        "en": "The customer lives in {place}.",
        "zh": "客户住在{place}。",
        "ja": "お客様は{place}に住んでいる。",
        "es": "El cliente vive en {place}.",
        "de": "Der Kunde wohnt in {place}.",
        "fr": "Le client habite à {place}.",
    },
    "moved": {
        "en": "The customer moved to {place}, as said on {day}.",
        "zh": "客户于 {day} 告知已搬到{place}。",
        "ja": "お客様は{place}に移転した（{day} の連絡）。",
        "es": "El cliente se mudó a {place} (dicho el {day}).",
        "de": "Der Kunde ist nach {place} umgezogen (gesagt am {day}).",
        "fr": "Le client a déménagé à {place} (dit le {day}).",
    },
    "address": {
        "en": "The customer's address is {place}.",
        "zh": "客户的地址是{place}。",
        "ja": "お客様の住所は{place}。",
        "es": "La dirección del cliente es {place}.",
        "de": "Die Anschrift des Kunden ist {place}.",
        "fr": "L'adresse du client est {place}.",
    },
    "plan": {
        "en": "The customer is on the {place} plan.",
        "zh": "客户使用{place}。",
        "ja": "お客様は{place}を利用している。",
        "es": "El cliente tiene el plan {place}.",
        "de": "Der Kunde hat den Tarif {place}.",
        "fr": "Le client a la formule {place}.",
    },
}


def phrase(lesson: str, language: str, /, **parts: str) -> str:
    """The named lesson in the session's language."""
    forms = PHRASES[lesson]
    return forms.get(language, forms["en"]).format(**parts)
