"""What the user wants from now on, in the user's own words: lasting wishes, not orders for this once."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.distillers.local import wishes
from memory.distillers.local.sentences import ONE_OFF, Sentence
from memory.distillers.local.session import Session
from memory.distillers.local.wording import as_sentence, fits, plain, topic, without_openers
from memory.distillers.local.words import any_of
from memory.languages import language_of
from memory.lint import faults
from memory.transcript import Candidate, Quote

_POLITE_QUESTION = re.compile(
    r"(?:can|could|would|will) you (?:please\b|.*\bfrom now on\b)|(?:can|could) you (?:only|never|always) (?:call"
    r"|write|contact|text"
    r"|ring|e-?mail)\b"
    r"|(?:can|could) you (?:call|write|contact|text|ring|e-?mail) (?:to )?(?:me|us) only\b|(?:pourriez"
    r"|pouvez)-vous\b|(?:könnten|können) sie\b|(?:podrían?"
    r"|puede[n]?)\b",
    re.IGNORECASE,
)
# "Pourriez-vous m'appeler …": as a note it is the infinitive.
_ASKED = re.compile(
    r"^¿?(?:(?:pourriez|pouvez)-vous|(?:könnten|können) sie|(?:podrían?"
    r"|puede[n]?)(?: ustedes)?)\s+(?:s['’]il vous pla[iî]t |bitte |por favor )?",
    re.IGNORECASE,
)
_TOLD_TO_AGENT = any_of(
    r"^(?:can|could|would|will) you (?:please\s+)?",
    r"^(?:please|kindly|just)\s+",
    r"^you (?:should|must|need to|have to)\s+(?=always|never|only)",
    r"^you (?:may|can|should)\s+(?=call|phone|ring|contact|reach|text|e-?mail|write|message|notify|only)",
    r"^(?:i|we)(?:'d| would)? (?:like|want|need) you to\s+(?=always|never|only|stop)",
)
# Where one sentence holds a second wish: before words that mark it as one of its own …
_SPLITS = any_of(
    r",\s*(?=please\s+(?:always|never)\b)",
    r",\s*(?=(?:always|never|don't|do not)\s+\w+\s+\S.*,\s+and\b)",
    r",\s+(?:and\s+)?(?=(?:my |our |the |all )?(?:invoices?|bills?|statements?|letters?|receipts?)\b)",
    r",?\s+and\s+(?=(?:in|for) (?:this|our|the) (?:repo|repository|project|codebase|team)\b)",
    r"(?:,\s*|\s+)(?:and|but|also)\s+(?:also\s+)?(?=(?:please\s+)?(?:never|always|don't|do not|no longer|stop|avoid"
    r"|only"
    r"|we (?:never|always|only|don't))\b)",
    r"(?:,\s*|\s+)(?:y|e)\s+(?=(?:no (?:me |nos |lo |la )?\w+[ea][sn]?|nunca|siempre|por favor|\w+(?:me|nos)"
    r"|(?:pon|usa|escribe|haz|deja)\w*)\b)",
    r"(?:,\s*|\s+)und\s+(?=(?:nie|niemals|immer|bitte|keine?|\w+ (?:mir|mich|uns))\b)",
    r"(?:,\s*|\s+)et\s+(?=(?:ne|n['’]|jamais|toujours|\w+-moi)\b)",
    r"[，,；;]\s*(?=\S{2,12}?(?:必须|要|需要|应该)(?:在)?每)|[，,；;]\s*(?=(?:不要|别|请|另外|并且|提交|注释|代码"
    r"|回复))",
)
# … and, under a frame that holds for both, before any verb.
_SPLITS_FRAMED = any_of(
    r"(?:,\s*|\s+)(?:and|but|also)\s+(?:also\s+)?(?=(?:please\s+)?(?:use|prefer|keep|write|put|add|run|call)\b)",
)
# An order for one thing.
_TASK = re.compile(
    r"^(?:please |can you |could you |kannst du |bitte |puedes |peux-tu )?(?:make|write|create|generate|draw|list"
    r"|give|show|build|add|implement"
    r"|summari[sz]e|convert|translate|rename|move|draft|compose|prepare|sort|plot|print|produce|tell|explain|find"
    r"|run|schreib|erstell|mach"
    r"|haz|crea|escribe|fais|écris|crée)\w{0,2} (?:me |us |mir |uns )?(?:a|an|the|this|that|these|all|some|my|one"
    r"|\d+|eine?n?|den|die|das|una?"
    r"|el|la|los|un|une|le|les)\b",
    re.IGNORECASE,
)
_REASON = any_of(
    r",\s*(?:because|since|as|for)\s+(?:i|we|it|that|the|this|my|our)\b.*$",
    r",\s*(?:i|i'm|i've|it|it's|that's|the|my|we|we're|they|she|he)\s+(?!(?:not|never|only)\b)\w+.*$",
    r",\s+(?!(?:not|never|only|always|instead|unless|except|and|or|but|for|in|on|with|without|please|even"
    r"|including|when|if)\b)"
    r"(?:\w+\s+){1,4}?(?:is|are|was|were|has|have|gets?|makes?|works?)\b.*$",
    r",\s*(?:ich|es|das|mein\w*|wir|weil|denn|da)\s+\w+.*$|,\s*(?:porque|es que|ya que|mi|yo|tengo|trabajo"
    r"|soy)\s+\w+.*$",
    r",\s*(?:car|parce que?|je|j['’]\w+|c['’]est|mon|ma|on)\s*\w+.*$",
    r"[，,]\s*(?:因为|我|不然|否则).*$|(?:から|ので)、?.*$",
)
MOST_CLAUSES = 6
_REVOKES = re.compile(
    r"(?:please )?(?:drop|stop|skip|no more|forget|leave out|lass|lassen sie|kein\w* .* mehr|deja de|arrête\w*"
    r"|plus de|不要再|别再)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^[^\W\d][\w ,'’]{1,40}:\s+(?=\S)")
_DIAGNOSIS = re.compile(
    r"\b(?:medical|condition|illness|disease|diagnos\w*|stroke|cancer|disab\w+|depress\w+|pregnan\w+"
    r"|surgery|hospital|therap\w+|medication|diabet\w+|epilep\w+|hiv|allerg\w+)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«]([^\"”“»]*)[\"”“»]")
_LANGUAGE = re.compile(
    r"\b(?:english|spanish|german|french|chinese|japanese|italian|portuguese|dutch|español|inglés|alemán|francés"
    r"|deutsch"
    r"|englisch|französisch|spanisch|français|anglais|allemand|espagnol)\b|[中英德法日韩]文|[日英中韓仏独]本?語",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:mornings?|afternoons?|evenings?|nights?|noon|weekdays?|weekends?|\w+days?\b(?<!today)"
    r"|\d{1,2}(?::\d\d)? ?(?:am|pm|h|uhr"
    r"|heures?|o'clock)|\d{1,2}:\d\d|(?:after|before|between|nach|vor|ab|après|avant|después de las"
    r"|antes de las) \d{1,2}"
    r"|office hours|vormittags?|nachmittags?|abends?|morgens|tarde|mañana|noche|matin|après-midi|soir)\b"
    r"|[上下]午|晚上|早上"
    r"|午[前後]|夜",
    re.IGNORECASE,
)
# To reach a person, and not to call a function: with somebody who is reached, by a way, or at a time.
_REACH = re.compile(
    r"\b(?:call|calls|phone|ring|e-?mails?|mail|text|message|contact|signal|write to|ping|notify) "
    r"(?:back )?(?:me|us|him|her|them|the (?:customer|user|client)|my \w+)\b"
    r"|\breach(?:ed|able)?\b|\bbe (?:called|contacted|phoned|rung|texted|e-?mailed|messaged)\b|\bcall back\b"
    r"|\b(?:by|via|per|through|over|on (?:my|the)|prefers|i prefer|would prefer|instead of|rather than) "
    r"(?:the |an? |my )?(?:phone|telephone|mobile|e-?mails?|mail|post|letters?|sms|text messages?|texts|whatsapp"
    r"|signal|slack|(?:phone )?calls)\b(?! from)"
    r"|\b(?:not|never|no|to|or) (?:the |my )?(?:phone|telephone|mobile|e-?mails?|sms|text messages?|phone calls)\b"
    r"(?! from)"
    r"|\bget an? (?:text|call)\b"
    r"|^(?:please |only |always |never |do not |don't |just )*(?:call|phone|telephone|ring|text|e-?mail)"
    r"(?: only)? (?:before|after|between|in the|on|at|until|from|during|mornings|evenings|instead|first)\b"
    r"|\b(?:contact|e-?mail|phone|telephone|sms)\b.*\b(?:channel|preferred|works|only|best|fine)\b"
    r"|\bpreferred contact\b"
    r"|\b(?:anruf\w*|ruf(?:e|en|st|t)?|kontakt\w*|telefon\w*|ll[aá]m\w+|escrib\w+|contact[eaéo]\w*"
    r"|tel[eé]fono|correo|r?appel\w*|téléphone|courriel)\b|电话|短信|邮件|微信|联系|電話|メール|連絡",
    re.IGNORECASE,
)
# A rule of the place, which holds whoever works there.
_OF_THE_HOUSE = any_of(
    r"\b(?:in|for) (?:this|our) (?:repo|repository|project|codebase|code base|team)\b|\bhere\b|^(?:we|our team"
    r"|nobody)\b|\bwe (?:use|write|never|always)\b",
    r"\bin (?:diesem|unserem) (?:repo|projekt)\b|^(?:hier|bei uns|wir)\b|\ben este (?:repo|proyecto)\b|^usamos\b"
    r"|\bdans ce (?:dépôt|projet|repo)\b|^ici\b",
    r"这个(?:仓库|项目)|本项目|我们(?:统一|一律|都)|このプロジェクト|このリポジトリ|弊社|当社",
)
# Wishes about one thing have one key, so that a later one meets the earlier: in this session and in others.
_TOPICS = (
    ("package_manager", re.compile(r"\b(?:uv|pip|poetry|conda|pipenv|npm|pnpm|yarn|bun)\b", re.IGNORECASE)),
    ("merging", re.compile(r"\b(?:squash\w*|rebas\w+|merge commits?|fast-forward)\b", re.IGNORECASE)),
    ("indentation", re.compile(r"\b(?:tabs|spaces|indent\w*)\b", re.IGNORECASE)),
    ("quotes", re.compile(r"\b(?:single|double) quotes\b", re.IGNORECASE)),
    (
        "answer_length",
        re.compile(
            r"^(?=.*\b(?:answers?|repl(?:y|ies)|responses?|explanations?|explain|summar\w+|antworten?|respuestas?"
            r"|réponses?|回答|回复)\b)"
            r".*\b(?:short\w*|brief\w*|concise\w*|terse|long\w*|detail\w*|full|verbose|sentences?|words|bullet\w*"
            r"|lines|kurz\w*"
            r"|knapp|ausführlich\w*|cort[ao]s?|breves?|détaill\w*|court\w*)\b|^(?=.*(?:回答|回复)).*(?:简短|简洁"
            r"|详细|短く|詳しく)",
            re.IGNORECASE,
        ),
    ),
    (
        "form_of_address",
        re.compile(
            r"\b(?:usted|tutea\w*|siezen?|duzen?|vouvoye\w*|tutoye\w*|tutoie\w*|formal(?:ly)?|first name|last name"
            r"|pronouns)\b",
            re.IGNORECASE,
        ),
    ),
)
_LANGUAGE_OF = (
    ("commit_messages", re.compile(r"\bcommit\w*|提交信息|コミット", re.IGNORECASE)),
    ("comments", re.compile(r"\bcomment\w*|kommentar\w*|comentario\w*|commentaire\w*|注释|コメント", re.IGNORECASE)),
    ("docs", re.compile(r"\bdoc(?:s|umentation|strings?)\b|文档|ドキュメント", re.IGNORECASE)),
)
# What is sent to a customer, each with a way of its own.
_PAPERS = re.compile(
    r"\b(?P<invoices>invoices?|bills?|rechnung(?:en)?|factur(?:e|a)s?)\b|\b(?P<statements>statements?|kontoausz\w+"
    r"|extractos?|relevés?)\b"
    r"|\b(?P<parcels>parcels?|packages?|deliver\w*|pakete?|liefer\w+|paquetes?|entreg\w+|colis|livr\w+)\b"
    r"|\b(?P<newsletters>newsletters?|werbung|publicidad|publicité)\b|(?P<invoices_>发票|請求書)|(?P<parcels_>包裹"
    r"|快递|荷物)",
    re.IGNORECASE,
)
_COMMITS = re.compile(r"\bcommit messages?\b|\bcommits\b", re.IGNORECASE)


def read(session: Session) -> Iterator[Candidate]:
    found: list[Candidate] = []
    for sentence in session.said_by_user:
        body = without_openers(sentence.text)
        is_polite = sentence.is_meant and _POLITE_QUESTION.match(body) is not None
        if not (sentence.is_firm or is_polite) or ONE_OFF.search(wishes.FRAME.sub("", body)):
            continue
        if _DIAGNOSIS.search(sentence.text):
            continue  # a wish tied to a diagnosis is for a person to write down, without the diagnosis
        for wish, quote in _wishes(sentence):
            if (candidate := _candidate(session, wish, quote)) is not None:
                if _REVOKES.match(wish):
                    found = [one for one in found if not _is_about_the_same(one, wish)]
                found.append(candidate)
    yield from found


def _is_about_the_same(earlier: Candidate, wish: str) -> bool:
    """Whether a word of the earlier wish comes back, in the singular or the plural."""
    before, now = ({word[:6] for word in topic(text, 12).split("_") if len(word) > 4} for text in (earlier.text, wish))
    return bool(before & now)


def _wishes(sentence: Sentence) -> Iterator[tuple[str, Quote]]:
    """The lasting wishes in one sentence, each with where it says so; a frame such as "from now on" holds for all."""
    body = without_openers(sentence.text)
    labelled = _LABEL.match(body)
    if labelled and not _is_lasting(body):
        body = without_openers(body[labelled.end() :])
    framed = any(hit is not None for hit in (wishes.FRAME.match(body), wishes.FRAME_END.search(body)))
    framed = framed or wishes.FRAME_INSIDE.search(body) is not None
    body = wishes.FRAME_END.sub("", wishes.FRAME.sub("", body))
    if not framed and _TASK.match(body) and not _is_lasting(_SPLITS.split(body)[0]):
        return  # "make a table, always with the method first": it holds for that table
    for piece in re.split(r";\s+", body):
        lasting = framed
        for clause in _clauses(piece, framed=framed):
            clause = _without_reason(clause)
            bare = _QUOTED.sub(" ", clause)
            if not clause or wishes.ONLY_LOOKS_SO.search(bare):
                continue
            if (lasting and _is_order(bare)) or _is_lasting(bare):
                yield clause, _quote(sentence, clause)
                lasting = lasting or not wishes.WISH.search(bare)  # "always do A and do B": it holds for both


def _without_reason(clause: str) -> str:
    """ "Call me in the evening, I work nights": the wish without the sentence that says why."""
    cut = _REASON.search(clause)
    return clause[: cut.start()].rstrip() if cut and len(clause[: cut.start()].split()) >= 3 else clause


def _clauses(piece: str, *, framed: bool) -> list[str]:
    """The wishes of a sentence one by one; what says nothing alone ("only after six") stays with what it limits."""
    found: list[str] = []
    start = 0
    splits = sorted(
        (hit.start(), hit.end())
        for pattern in ((_SPLITS, _SPLITS_FRAMED) if framed else (_SPLITS,))
        for hit in pattern.finditer(piece)
    )
    for begin, end in (*splits[:MOST_CLAUSES], (len(piece), len(piece))):
        rest = piece[end:].strip(" ,;.!")
        if begin < start or (rest and "no_claim" in faults(f"{rest.capitalize()}.")):
            continue
        if rest and _key(piece[start:begin]) == _key(rest):
            continue  # "never squash, always rebase": two sides of one wish
        found.append(without_openers(piece[start:begin].strip(" ,;")))
        start = end
    return found


def _quote(sentence: Sentence, clause: str) -> Quote:
    """The clause where it stands, or the whole sentence when the clause alone would hide the frame."""
    found = sentence.text.find(clause)
    if found < 0 or _is_lasting(clause) is False:
        return sentence.quote()
    start = sentence.start + found
    return Quote(sentence.seen.ref, start, start + len(clause), clause)


def _is_lasting(clause: str) -> bool:
    lasting = (wishes.ORDER, wishes.WISH, wishes.HOUSE_RULE, wishes.CONTACT, wishes.REFUSAL)
    return any(pattern.search(clause) for pattern in lasting)


def _is_order(clause: str) -> bool:
    """Under a frame anything counts but a mere report ("from now on the job runs hourly" is no wish)."""
    return not re.match(
        r"(?:the|a|an|it|they|he|she|there|this|that"
        r"|(?:our|my)(?! (?:\w+ )?(?:invoices?|bills?|statements?|letters?|receipts?|parcels?|orders)\b))\b",
        clause,
        re.IGNORECASE,
    )


def _candidate(session: Session, wish: str, quote: Quote) -> Candidate | None:
    language = language_of(wish) or session.language
    about = (
        "repo"
        if session.is_coding and _OF_THE_HOUSE.search(wish)
        else "customer"
        if session.is_support or (not session.is_coding and _is_to_customer(wish, language))
        else "person"
    )
    who = "customer" if about == "customer" else "user"
    text = as_sentence(
        _in_third_person(wish, who) if language == "en" else _ASKED.sub("", wish.rstrip(" ?？")), language
    )
    if not fits(text) or faults(text):
        return None
    return Candidate("user_preference", f"user_preference:{_key(wish)}", {"wish": text}, text, (quote,), about)


def _is_to_customer(wish: str, language: str) -> bool:
    """How to reach or address somebody, where no tool shows what kind of session it is."""
    return (
        wishes.CONTACT.search(wish) is not None
        or _PAPERS.search(wish) is not None
        or (language != "en" and re.search(r"\w(?:me|nos)\b|\b(?:mir|uns|moi|nous)\b", wish, re.IGNORECASE) is not None)
    )


def _in_third_person(wish: str, who: str) -> str:
    """ "call me only in the afternoon" becomes "call the customer only in the afternoon"."""
    text = _TOLD_TO_AGENT.sub("", plain(wish).rstrip(" ?"))
    text = re.sub(r"\bI(?:'d| would) (?:always |much )?prefer\b", f"the {who} prefers", text)
    text = re.sub(r"\bI(?:'d| would)\b", f"the {who} would", text)
    text = re.sub(r"\bI(?:'m| am)\b", f"the {who} is", text)
    text = re.sub(r"\bI(?:'ve| have)\b", f"the {who} has", text)
    text = re.sub(r"\bI (?:don't|do not)\b", f"the {who} does not", text)
    text = re.sub(
        r"\bI ((?:(?:always|never|only|also|still|often|just|\w+(?<!app)(?<!re)(?<!rep)(?<!supp)ly) )*)([a-z]+)\b",
        lambda hit: f"the {who} {hit[1]}{_third(hit[2])}",
        text,
    )
    text = re.sub(r"\b(?:me|myself)\b", f"the {who}", text)
    text = re.sub(r"\b[Mm]y\b", f"the {who}'s", text)
    if who == "customer":
        text = re.sub(r"\b[Oo]ur\b", "the customer's", text)
    return re.sub(r"^the ", "The ", text)


def _third(verb: str) -> str:
    if verb in ("can", "could", "may", "might", "must", "should", "will", "would", "did", "had", "was"):
        return verb
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z")) else "s")


def _key(wish: str) -> str:
    for name, pattern in _TOPICS:
        if pattern.search(wish):
            return name
    if _LANGUAGE.search(wish):
        area = next((name for name, pattern in _LANGUAGE_OF if pattern.search(wish)), "")
        return f"{area}.language" if area else "language"
    if papers := _PAPERS.search(wish):
        what = next(name for name, found in papers.groupdict().items() if found).rstrip("_")
        return f"{what}.time" if _TIME.search(wish) else f"{what}.way"
    if _REACH.search(wish):
        return "contact.time" if _TIME.search(wish) else "contact.channel"
    if _COMMITS.search(wish):
        return f"commit_messages.{topic(_COMMITS.sub(' ', wish), 2)}"
    return topic(wish)
