"""The sentence lint: what a colleague would not have written."""

from __future__ import annotations

import pytest

from memory.lint import faults

GOOD = [
    "`pip install -r requirements.txt` fails on pycairo until pkg-config and libcairo2-dev are installed.",
    "Use uv instead of pip in this repo.",
    "The cluster is called kestrel, not falcon.",
    "A manager will call the customer about RF-2091 by 2026-11-17, 17:00 (America/Chicago).",
    "The customer prefers e-mail, e.g. for invoices.",
    "`npm ci` fails with “peer react@18. Stop” unless `--legacy-peer-deps` is given.",
    "Trátame de usted.",
    "El informe mensual debe salir el día 5.",
    '启动app时确保环境变量 DOCKER_API_VERSION="1.46"。',
    "プロジェクトは Next.js 15.5.2 を使用している（CLAUDE.md には 14 とあった）。",
    "The weekly report must go out every Monday.",
    "This project builds with Node 20.",
    "On staging the queue is called jobs-blue.",
    "In tests, use fixtures.",
    "For refunds above 250 EUR a team lead has to approve.",
    "En staging la cola se llama jobs.",
    "The servers run Debian.",
    "Only use uv here.",
    "The order form refuses addresses in the U.S. Virgin Islands zone v1.2.",
]


@pytest.mark.parametrize("text", GOOD)
def test_a_plain_sentence_passes(text: str) -> None:
    assert faults(text) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        ("x" * 241 + ".", "too_long"),
        ("The build fails.\nInstall gcc.", "not_one_line"),
        ("The build fails. Install gcc first.", "more_than_one_sentence"),
        ("构建失败。先安装 gcc。", "more_than_one_sentence"),
        ("It fails on Mondays.", "dangling_it"),
        ("Never do that.", "dangling_it"),
        ("The customer expects a call next Tuesday.", "relative_date"),
        ("The parcel left yesterday.", "relative_date"),
        ("El pedido sale hoy.", "relative_date"),
        ("订单明天到达仓库。", "relative_date"),
        ("The build fails with “cannot find the lib", "cut_word"),
        ("The build needs the packa…", "cut_word"),
        ("The build needs gcc and", "cut_word"),
        ("Great, the build works on CI.", "chatter"),
        ("I prefer tabs over spaces.", "first_person"),
        ("Call me in the afternoon.", "first_person"),
        ("- The build needs gcc.", "markup"),
        ("The build needs **gcc** here.", "markup"),
        ("Does the build need gcc?", "question"),
        ("Use gcc.", "no_claim"),
        ("Only in the morning.", "no_claim"),
        ("Never on weekends.", "no_claim"),
        ("Siempre después de las 18:00.", "no_claim"),
        ("Nur per E-Mail.", "no_claim"),
        ("Jamais avant 10 heures.", "no_claim"),
        ("The old price list.", "no_claim"),
        ("Never the blue one.", "no_claim"),
        ("The build needs the.", "cut_word"),
        ("Support will send it by 2026-11-13.", "dangling_it"),
        ("Never push that to main.", "dangling_it"),
    ],
)
def test_a_faulty_sentence_is_named(text: str, fault: str) -> None:
    assert fault in faults(text)
