"""The words by which a wish shows that it is meant to last, and those that only look so. English; the other languages
have theirs in `foreign_wishes`."""

from __future__ import annotations

from memory.distillers.local import foreign_wishes as foreign
from memory.distillers.local.words import any_of

# "From now on …": what follows lasts, whatever its form.
FRAME = any_of(
    r"^(?:from (?:now|here|today) on(?:wards?)?|going forward|moving forward|in (?:the )?future"
    r"|henceforth)\b[,:]?\s*",
    r"^(?:as a (?:general )?rule|by default|in general|generally|every time|each time"
    r"|for all (?:future )?\w+)\b[,:]?\s*",
    *foreign.FRAME,
)
FRAME_END = any_of(
    r",?\s*\b(?:from (?:now|here) on(?:wards?)?|going forward|moving forward|in (?:the )?future|as a rule|by default)"
    r"(?:,? please)?\s*[.!]*$",
    *foreign.FRAME_END,
)
# What one asks an agent or a support desk to do: an order begins with one of these, a report with its subject.
_VERB = (
    r"(?:please |kindly |just )?(?:don't |do not )?(?:use|write|keep|put|add|run|call|make|ask|check|send|read"
    r"|open|close|name|format"
    r"|answer|reply|respond|explain|give"
    r"|show|tell|prefer|avoid|follow|include|leave|skip|start|stop|test|commit|push|pull|merge|squash|rebase"
    r"|deploy|release|build|install|generate"
    r"|regenerate|create|delete|remove|update|review|document|comment|log|sort|wrap|indent|quote|set|turn|switch"
    r"|do|let|try|wait|notify|ping|e-?mail"
    r"|text|phone|ring|contact|deliver|ship|address|charge|bill|refund|book|cancel|mark|tag|label|assign|attach"
    r"|upload|download|store|save|encrypt"
    r"|sign|verify|validate|escape|translate|speak|talk|drop|have|get|take|bring|hand|pass|round|convert|lint|bump"
    r"|pin|mention|link|cite)"
)
# In the middle of an order, which keeps it.
FRAME_INSIDE = any_of(rf"^{_VERB}\b .*\b(?:from (?:now|here) on(?:wards?)?|going forward)\b")
_YOU = r"(?:i|we)(?:'d| would)? (?:like|want|need) you to"
_EVERY = (
    r"(?:every|each|any) (?:single )?(?:commit|push|release|merge|change|pr|pull request|deploy\w*|migration"
    r"|edit|refund|call)"
)
ORDER = any_of(
    r"^(?:please |kindly )?(?:always|never|don't ever|do not ever|under no circumstances)\b",
    r"^(?:please )?(?:make sure|be sure|ensure|take care)(?: that)?(?: you| to)? (?:always|never)\b",
    r"^you (?:should|must|need to|have to|may|can) (?:always|never|only)\b",
    r"^(?:you|we|everyone|everybody) (?:always|never|only) (?:have to|has to|must|need to|needs to|should)\b",
    rf"^{_YOU} (?:always|never|only|stop)\b",
    rf"^{_VERB}\b .*, (?:always|never)[.!]?$",
    r"^(?:for|in|on|with) [^,]{3,60}, (?:please )?(?:always|never) \w",
    rf"^(?:before|after|for|on|in|with) {_EVERY}s?\b,? (?!i\b|we\b|it\b|the\b|they\b)\w+",
    rf"^{_VERB}\b .*\b(?:before|after|on|for|with) {_EVERY}\b",
    r"^(?!(?:i|we|it|this|that|you|they|he|she)\b)[\w -]{3,50}? (?:must|has to|have to|should) (?:start|begin|end"
    r"|be|have|use|contain|follow|go"
    r"|carry|include)s?\b.*\b(?:here|in (?:this|our) (?:repo|repository|project|codebase|team))\b",
    r"^(?!(?:i|we|it|this|that|you|they|he|she)\b)[\w -]{3,50}? (?:is|are|get|gets|go|goes) (?:always|never"
    r"|only) (?!broken|rejected|failed|blocked)"
    r"(?:\w+ed|cut|made|done|built|sent|kept|run|put|written|through|to|from|by)\b.*\b(?:here|in (?:this|our) \w+"
    r"|with us)\b",
    r"^whenever (?:you|we|i)\b.+,",
    r"^(?:when|if|before|after) (?:you|we) [^,]{3,70}, (?:please )?(?:always|never)\b",
    r"^(?:when|whenever) you [^,]{3,70}, .*\b(?:always|never|every time)[.!]?$",
    rf"^{_VERB} (?:every|each) (?:single )?(?:commit|pr|pull request|release|change|message|file|function|test|tag"
    rf"|deploy\w*)\b",
    r"^(?!this|that|it )\w.* (?:should|must|shall) (?:always|never)\b",
    r"^(?:can|could|would|will) you (?:please )?(?:always|never|stop|only (?:call|write|contact|text|ring|e-?mail))\b",
    r"^(?:can|could|would|will) you (?:please )?(?:call|write|contact|text|ring|e-?mail)\b.*\b(?:only|always|never)\b",
    *foreign.ORDER,
)
_HABIT = (
    r"(?:use|want|write|deploy|work|run|need|like|keep|read|answer|commit|squash|format|name|review|merge|test|start"
    r"|ship|log|put|speak|reply|pay by|shop|order by|fly|eat|drink)s?"
)
WISH = any_of(
    r"^(?:i|we) (?:want|need|expect|like) (?!to\b).*\b(?:always|never|every time|(?:on|in|for|with|at) (?:every"
    r"|each|all) \w+)\b",
    r"^(?:i|we) (?:(?:always|never|really|strongly|much|usually|generally) )*(?:prefer|dislike|insist)\b",
    r"^(?:i'd|we'd|i would|we would) (?:always |much )?(?:rather|prefer)\b",
    r"^my preference is\b|^my preferred \w+(?: \w+){0,2} is\b|^my pronouns are\b",
    rf"^(?:i|we|our (?:team|company|shop|office|group)) (?:always|never|only) {_HABIT}(?:es)?\b",
    r"^our (?:team|company|shop|office|group) (?:always|never|only) \w+s\b",
    *foreign.WISH,
)
HOUSE_RULE = any_of(
    r"^(?:here )?(?:we|our team|in this (?:repo|repository|project|codebase),? we) (?:only |always )?"
    r"(?:use|write|keep|follow|deploy|run|name|format|indent) .+(?:\binstead of\b|, not\b"
    r"|\brather than\b|\bnever\b|\bonly\b)",
    r"^we (?:only |always )?(?:use|write|keep|follow|deploy with|name|format|indent|pin|stick to|stay on) .+"
    r"\b(?:here|everywhere|in (?:this|our|the whole|all our) (?:repo|repository|project|codebase|code"
    r"|team))(?:[.!,]|$)",
    r"^(?:for|in) (?:this|our) (?:project|repo|repository|codebase|team|company),? .+\b(?:always|never|must|only)\b",
    r"^(?:we|nobody|no one) (?:don't|do not|ever)? ?(?:deploy|merge|release|ship|push|commit)s? .*\b(?:on \w+days?"
    r"|without|before|directly)\b",
    *foreign.HOUSE_RULE,
)
_KINDS = r"(?:phone )?calls?|sms|letters?|newsletters?|e-?mails?|mails?|text messages?|emojis?|comments?|summaries"
_PLACES = (
    r"(?:commit messages?|commits|code|comments?|docs?|docstrings?|variable names?|names|tests?|branch(?:es)?"
    r"|titles?|replies|answers?)"
)
REFUSAL = any_of(
    r"^(?:please )?(?:don't|do not|stop|avoid|refrain from|no more) "
    r"(?!worry|bother|mind|panic|forget|hesitate|know|think|have|see|understand)\w+.*"
    r"\b(?:commit messages?|comments?|docs?|replies|answers?|titles?|branch(?:es)?|master|main|prod(?:uction)?|ever"
    rf"|without asking|unless|{_KINDS})\b",
    rf"^(?:i|we) (?:don't|do not) (?:want|like)\b.*\b(?:{_KINDS})\b",
    rf"^(?:please )?no (?!one|problem|idea|need|worries|way|luck|longer|wait|change)\w+(?: \w+)? in (?:the |our "
    rf"|your )?{_PLACES}\b",
)
_POLITE = r"(?:please |kindly )?"
_WAY = (
    r"(?:only|by|via|in the|not|never|instead|after|before|between|rather|as"
    r"|on (?:my )?(?:mobile|cell|work|weekdays|weekends))"
)
CONTACT = any_of(
    rf"^{_POLITE}(?:deliver|ship|leave|drop off|collect|pick up)\b.*\b(?:only|never|always|not (?:before|after))\b",
    r"^(?:can|could) you (?:please )?(?:answer|reply|write|call|speak|talk|respond|send)\b.*\bfrom now on\b",
    rf"^{_POLITE}(?:just |you (?:may|can|should) )?(?:only )?(?:call|phone|ring|contact|reach|text"
    rf"|e-?mail|write(?: to)?|message|notify"
    rf"|address|send)\s+(?:me|us)\b.*\b{_WAY}\b",
    r"^(?:please |kindly )?(?:call|address) me (?:as |by )?[A-Z]\w+, not\b|^(?:please )?address (?:me|us) (?:as|by"
    r"|with)\b",
    r"^(?:please |kindly )?(?:send|ship|mail|deliver|address|use|leave) (?:my |our |all |the |any |every "
    r"|future )*(?:invoices?|bills?"
    r"|statements?|letters?|reports?|mail|correspondence|parcels?|packages?|deliver\w+|receipts?|newsletters?"
    r"|everything"
    r"|e-?mail|mobile|number)\b"
    r".*\b(?:instead|only|not|always|never)\b",
    rf"^{_POLITE}(?:only|don't|do not|never) (?:call|phone|ring|contact|text|e-?mail|write(?: to)?"
    rf"|message|visit) (?:me|us)\b",
    r"^i(?:'m| am) (?:only|best) (?:reachable|available|reached)\b",
    r"^(?:the |my )?best (?:way|time|number|place) to (?:reach|call|contact|get)\b",
    r"^(?:please )?(?:answer|reply|respond|talk|speak|write)(?: to (?:me|us))? (?:only |always )?in [A-Z]\w+",
    *foreign.CONTACT,
)
ONLY_LOOKS_SO = any_of(
    r"^(?:i|we) (?:always|never|only) (?:(?!need|feed|embed|shed|speed|proceed|exceed)\w+ed|said|had|got|saw|knew"
    r"|did|was|were|have|get|see|know|thought|meant)\b",
    r"^(?:never|always) (?:mind|again|happy|a|the|so|nice|good|glad|seen|heard|had|been|done|got|tried"
    r"|used to|thought|knew|when|whenever|if|change|forget|say|been|fails?|works?|better|there|here|in|on|at)\b",
    r"^(?:never|always) (?!need|feed|embed|shed|speed|proceed|exceed)\w+ed\b",
    r"^(?:i|we)(?:'d| would)? (?:really |much )?prefer (?:the (?:first|second|third|last|other|former"
    r"|latter|new|old|one"
    r"|option|version|approach|design|idea)|this|that|it|these|those|your|option|to (?:do|go|start"
    r"|wait|stop)|not to)\b",
    r"^(?:i|we)(?:'d| would) rather (?:you|we|not (?:do|say)|do|go|wait|start|stop|see|have (?:it|this|that))\b",
    *foreign.ONLY_LOOKS_SO,
)
