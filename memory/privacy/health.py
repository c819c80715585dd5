"""Words about somebody's health (GDPR Art. 9), in the languages our users' customers write.

A lexicon, because nothing else found the sentence "I have a medical condition that affects my speech" (Presidio with
and without a model, datafog and scrubadub: 0). Developers use the same words for data sets and machines, so a word
counts less without a person in its sentence, and not at all in a sentence about tables, models and files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.privacy.findings import Finding
from memory.privacy.secrets import lower

# Said of people only. A stem stands for what begins with it.
CONDITIONS = """
diabet* insulin asthma* asma epilep* hiv vih sida chemotherap* chimiothérapie quimioterapia dialysis dialyse
parkinson* alzheimer* dementia demenz demencia schizophren* esquizofren* antidepress* autism* autist* adhd tdah ptsd
miscarriage fehlgeburt hepatitis migraine* migräne migraña leukemia leukaemia leukämie leucemia lymphoma fibromyalgia
endometriosis anorexi* bulimi* dyslexi* multiple·sclerosis multiple·sklerose esclerosis·múltiple sclérose·en·plaques
cystic·fibrosis crohn* celiac coeliac zöliakie arthritis sciatica heart·attack herzinfarkt crise·cardiaque infarto
schlaganfall panic·attack* anxiety·disorder bipolar·disorder eating·disorder clinical·depression postpartum·depression
burnout wheelchair* rollstuhl* medical·condition* health·condition* medical·history medical·leave sick·leave
krankgeschrieben krankschreib* arrêt·maladie baja·médica chronic·illness chronic·pain chronically·ill terminally·ill
mental·health·issue* mental·illness speech·impediment hearing·impaired hard·of·hearing visually·impaired hearing·loss
physical·disability mental·disability schwerbehindert* schwanger* embarazada embarazo grossesse gravidez grávida
incinta gravidanza zwanger zwangerschap ivf·treatment gynecologist gynaecologist oncolog* cardiologist psychiatrist*
psychotherap* hospice séropositi* seropositi* suikerziekte blutdruck blood·pressure blood·type prosthe* pacemaker
organ·transplant alcoholi* drug·addict* addiction·treatment erkrank* enfermedad* malattia doença discapacidad
handicapé* invalidité behindert* behinderung
"""
# Said of machines, tests and metaphors too: only with a person in the sentence.
AMBIGUOUS = """
cancer* krebs cáncer cancro câncer kanker tumor* tumour* depress* depresión depressão depressione dépressi* anxiety
surgery surgeries pregnan* enceinte disability disabilities disabled·person medication* medicament* medikament*
prescri* diagnosed diagnostiziert allerg* alérgic* alergia stroke seizure* therapy therapist therapie hospital*
krankenhaus hôpital ospedale krank krankheit maladie illness disease* sick injury injured fever symptoms disorder deaf
blind autoimmune infection treatment doctor·appointment rehab overdose suicid* self·harm
"""

_PERSON = re.compile(
    r"\b(?:i|i'm|i've|i'd|me|my|myself|he|she|his|her|him|hers|you|your|their|they|we|our|wife|husband"
    r"|partner|son|daughter|child|children"
    r"|kid|kids|baby|mother|father|mom|mum|dad|brother|sister|grandmother|grandfather|friend|colleague|boss"
    r"|employee|customer|client"
    r"|caller|patient|patients|passenger|guest|member|traveller|traveler|mr|mrs|ms|suffers?|suffering"
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
    r"|struct|svg|css|canvas|regex|lexicon"
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


def _terms(lexicon: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The literal that must be in the text, and the pattern that finds the word whole, for each term."""
    terms = []
    for entry in lexicon.split():
        words = entry.rstrip("*").replace("·", " ")
        body = re.escape(words).replace(r"\ ", r"[ \n-]") + (r"\w*" if entry.endswith("*") else "")
        terms.append((words.split(" ")[0], re.compile(rf"(?<![\w/.@#-]){body}(?![\w/=@-]|\.\w)")))
    return tuple(terms)


_CONDITIONS = _terms(CONDITIONS)
_AMBIGUOUS = _terms(AMBIGUOUS)


def find(text: str) -> Iterator[Finding]:
    """Every health word that is said of a person; 0.9 with a person in the sentence, 0.6 without."""
    lowered = lower(text)
    for literal, pattern in _CONDITIONS:
        if literal in lowered:
            for start, end, sentence in _hits(pattern, lowered):
                if not _MACHINERY.search(sentence):
                    yield Finding(start, end, "health", "condition", 0.9 if _PERSON.search(sentence) else 0.6)
    for literal, pattern in _AMBIGUOUS:
        if literal in lowered:
            for start, end, sentence in _hits(pattern, lowered):
                if _PERSON.search(sentence) and not _MACHINERY.search(sentence):
                    yield Finding(start, end, "health", "health-word", 0.7)


def _hits(pattern: re.Pattern[str], lowered: str) -> Iterator[tuple[int, int, str]]:
    for match in pattern.finditer(lowered):
        yield match.start(), match.end(), _sentence(lowered, match.start(), match.end())


def _sentence(text: str, start: int, end: int) -> str:
    """The sentence around the word, at most 200 characters to each side."""
    left = max(0, start - 200)
    for mark in _SENTENCE_END.finditer(text, left, start):
        left = mark.end()
    right = min(len(text), end + 200)
    mark_after = _SENTENCE_END.search(text, end, right)
    return text[left : mark_after.start() if mark_after else right]
