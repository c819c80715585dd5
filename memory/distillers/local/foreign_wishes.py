"""Lasting wishes in Spanish, German, French, Chinese and Japanese, as parts of the expressions in `wishes`.

An order is told from a report by its verb: a closed list of what one asks an agent or a support desk to do.
"""

from __future__ import annotations

from memory.distillers.local.words import patterns

_DE_VERB = (
    r"(?:schreibe?|antworte|erkläre?|nutze?|benutze?|verwende|nimm|mache?|lass|frage?|rufe?|schicke?|sende"
    r"|kontaktiere?"
    r"|sprich|sage?|zeige?|gib|halte?|führe?|stelle?|setze?|pushe?|committe|deploye|teste|prüfe?|achte|vermeide"
    r"|formatiere|kommentiere|duze?|sieze?|verzichte|starte|lösche|ändere|fasse?|liefere?|lege?|melde|\w+en sie)"
)
_ES_VERB = (
    r"(?:us[ae]s?|utili[zc][ae]s?|escr[ií]b[ea]\w*|resp[oó]nd[ea]\w*|contest[ae]\w*|ll[aá]m[ae]\w*|env[ií][ae]\w*"
    r"|mand[ae]\w*"
    r"|mánd[ae]\w*|haz|haga[s]?|pon|pongas?|expl[ií](?:ca|que)\w*|h[aá]bl[ae]\w*|tr[aá]t[ae]\w*|dime|díg[ae]\w*"
    r"|pregunt[ae]\w*"
    r"|evit[ae]|añad[ae]|dej[ae]\w*|ejecut[ae]|mant[eé]n\w*|cont[aá]ct[ae]\w*|avís[ae]\w*|confirm[ae]|comenta|nombra"
    r"|formatea)"
)
_FR_VERB = (
    r"(?:utilise[zs]?|emploie|employez|réponds?|répondez|écris|écrivez|explique[zs]?|parle[zs]?|appele[zr]|appelle"
    r"|rappele[zr]"
    r"|envoie|envoyez|mets|mettez|fais|faites|laisse[zs]?|garde[zs]?|lance[zs]?|demande[zs]?|contacte[zs]?|préviens"
    r"|prévenez"
    r"|évite[zs]?|teste[zs]?|vérifie[zs]?|formate[zs]?|nomme[zs]?|tutoie\w*|vouvoie\w*|vouvoyez|tutoyez|livre[zs]?"
    r"|adresse[zs]?)"
)
_FR_ME = r"(?:-(?:moi|nous|le|la|les))?"

FRAME = patterns(
    r"^(?:de ahora en adelante|a partir de (?:ahora|hoy)|en (?:el futuro|adelante)|desde ahora|por (?:regla general"
    r"|defecto))"
    r"\b[,:]?\s*",
    r"^(?:ab (?:jetzt|sofort|heute)|in zukunft|(?:zu)?künftig|grundsätzlich|von nun an|ab sofort gilt)\b[,:]?\s*",
    r"^(?:à partir de maintenant|désormais|dorénavant|à l['’]avenir|par défaut|en règle générale)\b[,:]?\s*",
    r"^请?(?:从现在(?:开始|起)|以后|今后|往后)(?!的)[，、,]?\s*",
    r"^(?:今後は?|これからは?|次回からは?)(?!の)[、,]?\s*",
)
FRAME_END = patterns(
    r",?\s*\b(?:de ahora en adelante|a partir de ahora|en adelante|ab jetzt|ab sofort|in zukunft|künftig|désormais"
    r"|dorénavant|à l['’]avenir)\s*[.!]*$",
)
_POLITE = r"(?:por favor,? |bitte |s['’]il (?:te|vous) pla[iî]t,? |veuillez |merci de )?"
ORDER = patterns(
    rf"^{_POLITE}(?:siempre|nunca|jamás|immer|nie(?:mals)?|toujours|jamais)\b",
    r"\bbitte (?:immer|nie|niemals|stets|grundsätzlich)\b|^ich möchte (?:künftig|in zukunft|ab jetzt|nur noch|immer"
    r"|nie)\b",
    rf"^(?:bitte )?{_DE_VERB} .*\b(?:immer|nie(?:mals)?|stets|grundsätzlich|ab (?:jetzt|sofort)|künftig|nur noch"
    rf"|in zukunft)\b",
    rf"^{_DE_VERB} (?:mir |uns |alles |bitte )+auf (?:deutsch|englisch|französisch|spanisch)\b",
    r"^(?:bitte )?(?:keine?n?|nie(?:mals)? (?:eine?n?)?) \w+ in (?:den |die |der )?(?:commit\w*|kommentar\w*|code"
    r"|tests?|antworten)",
    rf"^(?:por favor,? )?(?:no )?{_ES_VERB}\b.*\b(?:siempre|nunca|jamás|de ahora en adelante)\b",
    rf"^(?:s['’]il (?:te|vous) pla[iî]t,? )?{_FR_VERB}{_FR_ME}\b.*\b(?:toujours|jamais|désormais|dorénavant)\b",
    rf"^(?:merci de )?(?:ne |n['’])(?:m['’]|me |nous )?(?:{_FR_VERB}|\w+er) (?:jamais|plus)\b|^ne (?:jamais"
    rf"|plus) \w+er\b",
    r"^merci de (?:toujours|ne (?:jamais|plus))\b",
    r"^(?:pourriez|pouvez)-vous\b.*\b(?:toujours|jamais|uniquement|seulement|désormais)\b",
    r"^(?:könnten|können) sie\b.*\b(?:immer|nur|nie|künftig)\b|^(?:podrían?|puede[n]?)\b.*\b(?:siempre|solo|sólo"
    r"|nunca|únicamente)\b",
    r"(?:必ず|常に|いつも|絶対に|毎回|全て|すべて).*(?:ください|お願い|ほしい|こと|禁止|ように)|(?:するのは"
    r"|は)禁止(?:です)?",
    r"^(?:请|請|麻烦)?(?:总要|始终|一律|每次都?要(?!求)|永远不?要|千万(?:别|不要))(?!这么|那么|很)",
    r"(?:以后都|以后不要|以后别|一定不要|今后都|一律(?:用|写|使用|采用|放|走)|不要再|别再)",
    r"^(?:请|請).*(?:始终|总是|一律|永远|都要|必须)",
    r"^(?:\w*(?:melo|te|le|lo)|veuillez|\w+ez(?:-moi)?|\w+en sie|\w+e mir)\b.*\b(?:siempre|nunca|immer|nie(?:mals)?"
    r"|toujours|jamais)\b",
)
WISH = patterns(
    r"^(?:yo )?prefiero\b|^preferimos\b|^me gusta(?:ría)? (?:más )?que\b",
    r"^ich (?:bevorzuge|möchte (?:immer|nie|lieber)|hätte (?:gern|lieber) (?:immer|künftig))\b|^wir bevorzugen\b",
    r"^(?:moi,? )?je préfère\b|^nous préférons\b|^je souhaite (?:être|que)\b",
    r"^(?:我|我们)(?:更|比较)?(?:喜欢|偏好|倾向)|^(?:我|我们)希望.*(?:都|以后|每次|一律)|好みです|がいいです"
    r"|希望します",
)
HOUSE_RULE = patterns(
    r"^in (?:diesem|unserem) \w+ \w+en wir (?:nie|immer|nur|stets|keine?)\b|^(?:hier|bei uns) \w+en wir (?:nie"
    r"|immer|nur|stets|keine?)\b",
    r"^(?:les?|la|nos|notre) [\w -]{2,40}? (?:restent?|vont|va|sont|est) toujours (?:dans|en|à|sur)\b",
    r"^(?:der|die|das|alle|unsere) [\w -]{2,40}? (?:liegt|liegen|gehört|gehören|kommt|kommen|bleibt"
    r"|bleiben) immer (?:in|nach|unter|auf)\b",
    r"^(?:los|las|el|la|tod[oa]s l[oa]s) [\w -]{2,40}? (?:van|va|se quedan?|viven?) siempre (?:en|a)\b",
    r"^(?:hier |bei uns |wir |in (?:diesem|unserem) \w+ )(?:\w+ )?(?:nutzen|verwenden|benutzen|schreiben"
    r"|nehmen) (?:wir )?.+\b(?:statt|nicht"
    r"|kein\w*|immer|nur)\b",
    r"^(?:aquí |en este (?:repo|repositorio|proyecto),? )?(?:usamos|utilizamos|escribimos) .+\b(?:en vez de"
    r"|en lugar de|no|nunca|siempre)\b",
    r"^(?:ici,? |dans ce (?:dépôt|projet|repo),? )?(?:on|nous) (?:utilis|écri|emplo)\w+ .+(?:\bau lieu d|\bplutôt qu"
    r"|,? (?:et )?pas\b|\bjamais\b)",
    r"^(?:在?(?:这个|本)(?:仓库|项目|代码库)(?:里|中)?[，,]?)?(?:我们|我们团队|这个项目|本项目|这里)(?:这里|项目"
    r"|团队|仓库|都|一律|统一|只)*(?:用|使用|采用).+(?:不用"
    r"|而不是|不是|别用|不要用)",
    r"^(?:このプロジェクト|うち|弊社|当社|ここ|このリポジトリ)(?:の\w{1,6})?では.+(?:使[いうっ]|統一|書[きいく]|禁止)",
)
CONTACT = patterns(
    r"^(?:请|麻烦).{0,4}用[中英日德法西韩]文(?:回复|回答|写|沟通|交流|跟我)|^(?:日本語|英語|中国語)で(?:答え|回答"
    r"|返信|書い|お願い|返事)",
    r"^(?:por favor,? )?(?:resp[oó]nd|contest|escr[ií]b|h[aá]bl)\w*(?:me|nos) en (?:español|inglés|francés|alemán"
    r"|catalán)\b"
    r"|^(?:répond|écri|parl)\w*-(?:moi|nous) en (?:français|anglais|allemand|espagnol)\b",
    r"^(?:bitte )?(?:siezen|duzen) sie (?:mich|uns)\b|^(?:bitte )?(?:sieze?|duze?) (?:mich|uns)\b|^(?:tutoie"
    r"|vouvoie|tutoyez|vouvoyez)-(?:moi|nous)\b"
    r"|^(?:trát[ae]|tutéa|tuté[ae])(?:me|nos)\b",
    rf"^(?:bitte )?{_DE_VERB}\b.*\b(?:mich|mir|uns)\b.*\b(?:nur|lieber|nicht|erst|statt|per|nach|vor|zwischen|ab)\b",
    r"^(?:bitte )?(?:nur|ausschließlich|lieber) (?:per|über|telefonisch|schriftlich|nach|vor"
    r"|zwischen)\b.*\b(?:kontakt\w*|melden|anrufen|schreiben|mail\w*)\b",
    r"^(?:bitte )?(?:rufen sie|ruf) (?:mich|uns) (?:nicht|nie|nur|erst|bitte)\b|^(?:bitte )?keine (?:anrufe|werbung"
    r"|newsletter)\b",
    r"^(?:ich bin|man erreicht mich) (?:nur|am besten|immer) .*\b(?:erreichbar|zu erreichen|per|unter)\b"
    r"|^am besten erreich\w+ (?:sie|du) mich\b",
    rf"^(?:por favor,? )?(?:no )?(?:me |nos )?{_ES_VERB}\b.*\b(?:solo|sólo|únicamente|por (?:correo|whatsapp"
    rf"|teléfono|sms|escrito)|después|antes|nunca)\b",
    r"^(?:por favor,? )?no (?:me|nos) (?:llam|escrib|contact|mand|env[ií])\w+",
    rf"^(?:s['’]il vous pla[iî]t,? )?{_FR_VERB}{_FR_ME}\b.*\b(?:uniquement|seulement|plutôt|par (?:mail|e-?mail"
    rf"|courriel|sms|téléphone|écrit)|après|avant)\b",
    r"^(?:merci de )?ne (?:m['’]|me |nous )(?:r?appel|contact|écri|envo|dérang)\w+ (?:pas|plus|jamais|qu['’])",
    r"(?:联系|打电话|发短信|发邮件|短信|邮件|微信|电话).*(?:不要|别|只|改用|优先)|(?:不要|别|只"
    r"|请)(?:再)?(?:给我)?(?:打电话|发短信|发邮件|用微信|通过\w+联系).*",
    r"(?:電話|メール|連絡|郵送|LINE).*(?:ではなく|のみ|だけ|以降|までに?|しないで|控えて|希望).*(?:ください|お願い"
    r"|です|ます)?",
)
ONLY_LOOKS_SO = patterns(
    r"^(?:siempre|nunca|jamás) (?:falla|(?:se|me|lo|la) (?!llam|escrib|contact|mand|env|avis)|da|sale|pasa|hay|es"
    r"|está|tarda|funciona|igual|lo mismo)\b"
    r"|^(?:immer|nie) (?:ist|geht|kommt|passiert|dasselbe|das|der|die|es|klappt|funktioniert|er|sie)\b"
    r"|^(?:toujours|jamais) (?:pareil|la|le|des|du|un|une|il|elle|ça|c['’]est)\b|^以后再(?:说|看|聊|弄|改)"
    r"|^再(?:说|看)",
    r"^(?:immer (?:wenn|noch|wieder|mehr)|nie (?:wieder )?(?:gesehen|gehört|passiert)|siempre que|nunca (?:he|había"
    r"|lo)|toujours"
    r" (?:pas|rien|le même|en|aussi)|jamais (?:vu|eu))\b",
    r"^je préfère (?:ça|cela|la (?:première|deuxième|seconde)|le (?:premier|deuxième|second))\b",
    r"^prefiero (?:eso|esto|esa|la (?:primera|segunda|otra)|el (?:primero|segundo))\b",
    r"^ich (?:bevorzuge|nehme) (?:das|die erste|die zweite|den ersten|den zweiten)\b",
    r"いつも(?:ありがと|お世話|助か)|(?:总是|一直)(?:这么|那么|很)|\b(?:immer so|siempre tan|toujours aussi)\b"
    r"|(?:まだ|いつも)(?:エラー|失敗|落ち|動か)|(?:总是|一直|老是)(?:报错|失败|崩溃|不行|出错|卡)",
)
