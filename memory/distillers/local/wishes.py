"""The words by which a wish shows that it is meant to last, in the languages we know; and those that only look so."""

from __future__ import annotations

from memory.distillers.local.words import any_of

# "From now on …": what follows lasts, whatever its form.
FRAME = any_of(
    r"^(?:from (?:now|here|today) on(?:wards?)?|going forward|moving forward|in (?:the )?future"
    r"|henceforth)\b[,:]?\s*",
    r"^(?:as a (?:general )?rule|by default|in general|generally|every time|each time"
    r"|for all (?:future )?\w+)\b[,:]?\s*",
    r"^(?:de ahora en adelante|a partir de (?:ahora|hoy)|en el futuro|por regla general)\b[,:]?\s*",
    r"^(?:ab (?:jetzt|sofort)|in zukunft|künftig|grundsätzlich)\b[,:]?\s*",
    r"^(?:à partir de maintenant|désormais|dorénavant|à l'avenir)\b[,:]?\s*",
    r"^请?(?:从现在(?:开始|起)|以后|今后)[，、,]?\s*",
    r"^(?:今後は?|これからは?)[、,]?\s*",
)
FRAME_END = any_of(
    r",?\s*\b(?:from (?:now|here) on(?:wards?)?|going forward|moving forward|in (?:the )?future|as a rule|by default)"
    r"(?:,? please)?\s*[.!]*$",
    r",?\s*\b(?:de ahora en adelante|ab jetzt|in zukunft|désormais|à l'avenir)\s*[.!]*$",
)
_POLITE = r"(?:please |kindly |por favor,? |bitte |s'il (?:te|vous) plaît,? |veuillez )?"
_YOU = r"(?:i|we)(?:'d| would)? (?:like|want|need) you to"
ORDER = any_of(
    rf"^{_POLITE}(?:always|never|don't ever|do not ever|under no circumstances|siempre|nunca|jamás|immer|nie(?:mals)?"
    r"|toujours|jamais)\b",
    r"^(?:please )?(?:make sure|be sure|ensure|take care)(?: that)?(?: you| to)? (?:always|never)\b",
    r"^you (?:should|must|need to|have to|may|can) (?:always|never|only)\b",
    rf"^{_YOU} (?:always|never|only|stop)\b",
    r"^(?!(?:i|we|it|this|that|the|he|she|they) )\w+ .*, (?:always|never)[.!]?$",
    r"^(?:for|in|on|with) [^,]{3,60}, (?:please )?(?:always|never)\b",
    r"^whenever (?:you|we|i)\b.+,",
    r"^(?:when|if|before|after) (?:you|we) [^,]{3,70}, (?:please )?(?:always|never)\b",
    r"\bbitte (?:immer|nie|niemals|stets)\b|^ich möchte (?:künftig|in zukunft|ab jetzt|nur noch|immer|nie)\b",
    r"^merci de (?:toujours|ne (?:jamais|plus))\b",
    r"^(?!this|that|it )\w.* (?:should|must|shall) (?:always|never)\b",
    r"^(?:can|could|would|will) you please (?:always|never|stop)\b",
    r"(?:必ず|常に|いつも|絶対に).*(?:ください|お願い|ほしい)|^(?:请|請).*(?:始终|总是|一律|永远)",
    r"^(?:\w*(?:me|nos|melo|te|le|lo)|por favor|bitte|veuillez|\w+ez(?:-moi)?|\w+en sie|\w+e mir)\b.*"
    r"\b(?:siempre|nunca|immer|nie(?:mals)?|toujours|jamais)\b",
    r"^(?:请|請)?(?:总是|总要|始终|一律|每次都?|永远不?要?|千万别|必ず|常に|いつも|絶対に)",
    r"(?:以后都|以后不要|以后别|一定不要)",
)
_HABIT = (
    r"(?:use|want|write|deploy|work|run|need|like|keep|read|answer|commit|squash|format|name|review|merge|test|start"
    r"|ship|log|put|speak|reply|pay by|shop|order by|fly|eat|drink)s?"
)
WISH = any_of(
    r"^(?:i|we) (?:want|need|expect|like) (?!to\b).*\b(?:always|never|every time)\b",
    r"^(?:i|we) (?:(?:always|never|really|strongly|much|usually|generally) )*(?:prefer|dislike|insist)\b",
    r"^(?:i'd|we'd|i would|we would) (?:always |much )?(?:rather|prefer)\b",
    r"^my preference is\b|^my preferred \w+(?: \w+){0,2} is\b",
    rf"^(?:i|we|our (?:team|company|shop|office|group)) (?:always|never|only) {_HABIT}(?:es)?\b",
    r"^our (?:team|company|shop|office|group) (?:always|never|only) \w+s\b",
    r"^prefiero\b|^preferimos\b|^ich (?:bevorzuge|möchte (?:immer|nie|lieber))\b|^je préfère\b",
    r"^(?:我|我们)(?:更)?(?:喜欢|偏好)|好みです|がいいです",
)
HOUSE_RULE = any_of(
    r"^(?:here )?(?:we|our team|in this (?:repo|repository|project|codebase),? we) (?:only |always )?"
    r"(?:use|write|keep|follow|deploy|run|name|format|indent) .+(?:\binstead of\b|, not\b"
    r"|\brather than\b|\bnever\b|\bonly\b)",
    r"^we (?:only |always )?(?:use|write|keep|follow|deploy with|name|format|indent) .+"
    r"\b(?:here|everywhere|in (?:this|our|the whole|all our) (?:repo|repository|project|codebase|code|team))[.!]?$",
    r"^(?:for|in) (?:this|our) (?:project|repo|repository|codebase|team|company),? .+\b(?:always|never|must|only)\b",
)
_KINDS = r"(?:phone )?calls?|sms|letters?|newsletters?|e-?mails?|mails?|text messages?|emojis?|comments?|summaries"
REFUSAL = any_of(
    r"^(?:please )?(?:don't|do not|stop|avoid|refrain from|no more) "
    r"(?!worry|bother|mind|panic|forget|hesitate|know|think|have|see|understand)\w+.*"
    r"\b(?:commit messages?|comments?|docs?|replies|answers?|titles?|branch(?:es)?|master|main|prod(?:uction)?|ever"
    rf"|without asking|unless|{_KINDS})\b",
    rf"^(?:i|we) (?:don't|do not) (?:want|like)\b.*\b(?:{_KINDS})\b",
)
_WAY = (
    r"(?:only|by|via|in the|not|never|instead|after|before|between|rather|as"
    r"|on (?:my )?(?:mobile|cell|work|weekdays|weekends))"
)
CONTACT = any_of(
    rf"^{_POLITE}(?:just |you (?:may|can|should) )?(?:only )?(?:call|phone|ring|contact|reach|text"
    rf"|e-?mail|write(?: to)?|message|notify"
    rf"|address|send)\s+(?:me|us)\b.*\b{_WAY}\b",
    r"^(?:please |kindly )?(?:call|address) me [A-Z]\w+, not\b",
    r"^(?:please |kindly )?(?:send|ship|mail|deliver|address|use) (?:my |our |all |the |any |every "
    r"|future )*(?:invoices?|bills?"
    r"|statements?|letters?|reports?|mail|correspondence|parcels?|receipts?|newsletters?|everything"
    r"|e-?mail|mobile|number)\b"
    r".*\b(?:instead|only|not|always|never)\b",
    rf"^{_POLITE}(?:only|don't|do not|never) (?:call|phone|ring|contact|text|e-?mail|write(?: to)?"
    rf"|message|visit) (?:me|us)\b",
    r"^i(?:'m| am) (?:only|best) (?:reachable|available|reached)\b",
    r"^(?:please )?(?:answer|reply|respond|talk|speak|write)(?: to (?:me|us))? (?:only |always )?in [A-Z]\w+",
)
ONLY_LOOKS_SO = any_of(
    r"^(?:i|we) (?:always|never|only) (?:\w+ed|said|had|got|saw|knew|did|was|were|have|get|see|know|thought|meant)\b",
    r"^(?:never|always) (?:mind|again|happy|a|the|so|nice|good|glad|seen|heard|had|been|done|got|tried"
    r"|used to|thought|knew)\b",
    r"^(?:never|always) (?!need|feed|embed|shed|speed|proceed|exceed)\w+ed\b",
    r"^(?:i|we)(?:'d| would)? (?:really |much )?prefer (?:the (?:first|second|third|last|other|former"
    r"|latter|new|old|one"
    r"|option|version|approach|design|idea)|this|that|it|these|those|your|option|to (?:do|go|start"
    r"|wait|stop)|not to)\b",
    r"^(?:i|we)(?:'d| would) rather (?:you|we|not (?:do|say)|do|go|wait|start|stop|see|have (?:it|this|that))\b",
)
