"""Words about somebody's health (GDPR Art. 9), in the languages our users' customers write.

A lexicon, because nothing else found the sentence "I have a medical condition that affects my speech" (Presidio with
and without a model, datafog and scrubadub: 0). Developers use the same words for data sets and machines, so a word
counts less without a person in its sentence, and not at all in a sentence about tables, models and files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.privacy.findings import Finding

# Said of people only. A stem stands for what begins with it.
CONDITIONS = """
diabet* diabét* insulin asthma* asma epilep* hiv vih sida chemotherap* chimiothérapie quimioterapia dialysis dialyse
parkinson* alzheimer* dementia demenz demencia schizophren* esquizofren* antidepress* autism* autist* adhd tdah ptsd
miscarri* chemo long·covid covid·positive fehlgeburt hepatitis migraine* migräne migraña leukemia leukaemia leukämie
leucemia lymphoma fibromyalgia endometriosis anorexi* bulimi* dyslexi* multiple·sclerosis multiple·sklerose
esclerosis·múltiple sclérose·en·plaques cystic·fibrosis crohn* celiac coeliac zöliakie arthritis sciatica heart·attack
herzinfarkt crise·cardiaque infarto schlaganfall panic·attack* anxiety·disorder bipolar·disorder eating·disorder
clinical·depression postpartum·depression burnout wheelchair* rollstuhl* medical·condition* health·condition*
medical·history medical·leave medical·treatment sick·leave krankgeschrieben krankschreib* arrêt·maladie baja·médica
chronic·illness chronic·pain chronically·ill terminally·ill mental·health·issue* mental·illness speech·impediment
hearing·impaired hard·of·hearing visually·impaired hearing·loss physical·disability mental·disability schwerbehinder*
schwanger* embarazada embarazo grossesse gravidez grávida incinta gravidanza zwanger zwangerschap ivf·treatment
gynecologist gynaecologist oncolog* cardiologist psychiatrist* psychotherap* hospice séropositi* seropositi*
suikerziekte blutdruck blood·pressure blood·type prosthe* pacemaker organ·transplant alcoholi* drug·addict*
addiction·treatment erkrank* enfermedad* malattia doença discapacidad handicapé* invalidité behindert* behinderung
"""
# Said of machines, tests and metaphors too: only with a person in the sentence.
AMBIGUOUS = """
cancer* krebs cáncer cancro câncer kanker tumor* tumour* depress* depresión depressão depressione dépressi* anxiety
surgery surgeries pregnan* enceinte disability disabilities disabled·person medication* medicament* medikament*
prescri* diagnosed diagnostiziert allerg* alérgic* alergia stroke seizure* therapy therapist therapie hospital*
krankenhaus hôpital ospedale krank krankheit maladie illness disease* feeling·sick called·in·sick off·sick i·am·sick
i'm·sick is·ill injury injured fever deaf blind autoimmune infection doctor·appointment rehab overdose suicid*
self·harm
"""

_PERSON = re.compile(
    r"\b(?:i|i'm|i've|i'd|me|my|myself|he|she|his|her|him|hers|your|their|wife|husband"
    r"|partner|son|daughter|child|children"
    r"|kid|kids|baby|mother|father|mom|mum|dad|brother|sister|grandmother|grandfather|friend|colleague|boss"
    r"|employee|customer|client"
    r"|caller|user|patient|patients|passenger|guest|member|traveller|traveler|mr|mrs|ms|suffers?|suffering"
    r"|undergo\w*|recovering"
    r"|ich|mich|mir|mein\w*|er|sie|ihr\w*|sein\w*|kund\w+|patient\w*|mutter|vater|frau|mann|tochter|sohn|kind"
    r"|leide[tn]?"
    r"|je|j'ai|moi|mon|ma|mes|il|elle|son|sa|client\w*|patiente?|mère|père|fils|fille|souffre\w*"
    r"|yo|mi|mis|tengo|soy|estoy|él|ella|su|cliente\w*|paciente\w*|hijo|hija|madre|padre|padece|sufro|sufre"
    r"|tiene"
    r"|io|mio|mia|ho|sono|lui|lei|suo|sua|figlio|figlia|soffre|eu|meu|minha|tenho|sou|estou|ele|ela|seu|sua"
    r"|sofre"
    r"|ik|mijn|hij|zij|haar|zijn|klant|heb|heeft)\b",
    re.IGNORECASE,
)
# A sentence about data, code or a product. "class" and "test" are left out: people attend classes and take tests.
_MACHINERY = re.compile(
    r"\b(?:datasets?|data\s?sets?|models?|classifiers?|classification|predict\w*|sklearn|scikit|kaggle|csv"
    r"|json|parquet|columns?|tables?"
    r"|schema|sql|select|api|apis|endpoints?|functions?|methods?|module|import|def|return|const|var|enum"
    r"|struct|svg|css|canvas|regex"
    r"|lexicon"
    r"|parser|parse|corpus|benchmark|training|train|accuracy|features?|labels?|notebooks?|pandas|dataframe"
    r"|pipeline|repo|repository|commit"
    r"|branch|merge|pull request|bug|bugs|stack ?trace|traceback|exception|compiler|linter|pytest|unit tests?"
    r"|fixtures?|docker|kubernetes"
    r"|pods?|containers?|servers?|service|services|deploy\w*|cpu|gpu|memory leak|database|query|queries"
    r"|cluster|config\w*|app|website|page"
    r"|component|button|screen reader|accessibility|a11y|wcag|aria|dropdown|inputs?|flag|flags|transistor"
    r"|keyboard|mouse|cursor|brush|width)\b"
    r"|\w\(|[{}]|=>|==|</|\w_\w",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")


# Words are told apart in UTF-8: translating bytes is several times as quick, and only ASCII marks end a word here.
_APART = bytes(byte if byte >= 128 or chr(byte).isalpha() else 32 for byte in range(256))


@dataclass(frozen=True, slots=True)
class _Term:
    pattern: re.Pattern[str]
    rule: str


def _terms() -> dict[bytes, list[_Term]]:
    """The terms by the first five bytes of their first word, which is how a text is asked for them."""
    terms: dict[bytes, list[_Term]] = {}
    for rule, lexicon in (("condition", CONDITIONS), ("health-word", AMBIGUOUS)):
        for entry in lexicon.split():
            words = entry.rstrip("*").replace("·", " ")
            body = re.escape(words).replace(r"\ ", r"[ \n-]") + (r"\w*" if entry.endswith("*") else "")
            pattern = re.compile(rf"(?<![\w/.@#-]){body}(?![\w/=@-]|\.\w)")
            terms.setdefault(re.split(r"[' ]", words)[0].encode()[:5], []).append(_Term(pattern, rule))
    return terms


_TERMS = _terms()
_STARTS = frozenset(_TERMS)


def find(text: str, lowered: str) -> Iterator[Finding]:
    """Every health word that is said of a person; `lowered` is the text in lower case, of the same length.

    A condition counts 0.9 with a person in its sentence and 0.6 without; an ambiguous word needs the person.
    """
    words = set(lowered.encode().translate(_APART).split())
    said_of: dict[tuple[int, int], str] = {}
    for start in _STARTS.intersection([word[:5] for word in words]):
        for term in _TERMS[start]:
            for match in term.pattern.finditer(lowered):
                sentence = _sentence(lowered, *match.span())
                if sentence not in said_of:
                    said_of[sentence] = _said_of(lowered[slice(*sentence)])
                if said_of[sentence] == "person":
                    yield Finding(*match.span(), "health", term.rule, 0.9 if term.rule == "condition" else 0.7)
                elif said_of[sentence] == "nobody" and term.rule == "condition":
                    yield Finding(*match.span(), "health", term.rule, 0.6)


def _said_of(sentence: str) -> str:
    if _MACHINERY.search(sentence):
        return "machinery"
    return "person" if _PERSON.search(sentence) else "nobody"


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the sentence around the word begins and ends, some 200 characters to each side at most.

    Without sentence ends the bounds fall on hundreds, so that a text full of health words is not read again for each.
    """
    left = max(0, start - 200) // 100 * 100
    for mark in _SENTENCE_END.finditer(text, left, start):
        left = mark.end()
    right = min(len(text), (end + 299) // 100 * 100)
    mark_after = _SENTENCE_END.search(text, end, right)
    return left, mark_after.start() if mark_after else right
