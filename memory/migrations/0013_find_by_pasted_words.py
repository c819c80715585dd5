"""Words of memories, as they read now and as they read once, for whoever pastes a sentence.

Row security lets the app's role use no index whose operator may leak, and those of full text may: a look through 100,000
memories read every one of them (1.1 s beside other work, measured 2026-11-30). These two functions look with the rights
of the tables' owner and say themselves what their caller may see, in the words of the policy (projects/tenancy.py); they
give row numbers, never text, and the rows are read under the policy again.
"""

from __future__ import annotations

from django.db import migrations

from projects.tenancy import APP_ROLE, PROJECTS_SETTING, SYSTEM_SETTING

# Postgres takes a curly quote for a letter of the word before it; here each of these parts two words.
MARKS = (
    "/\\.:;,=_-@#$%&*+?!|~^<>()[]{}\"`''"  # the last two are one, written in SQL
    "’‘“”„‚‛‟′″«»‹›…•·¿¡‐‑‒–—―−、。，．！？：；（）「」『』【】《》・"
)
SPACES = len(MARKS) - 1

SEEN = f"""(
    project_id = ANY (string_to_array(coalesce(nullif(current_setting('{PROJECTS_SETTING}', true), ''), '-1'),
        ',')::bigint[])
    OR coalesce(current_setting('{SYSTEM_SETTING}', true), '') <> '')"""


def _function(name: str, body: str) -> list[str]:
    head = f"CREATE FUNCTION {name}(asked text, most int) RETURNS SETOF bigint LANGUAGE sql STABLE SECURITY DEFINER"
    return [
        f"{head} SET search_path FROM CURRENT AS $$ {body} $$",
        f"REVOKE ALL ON FUNCTION {name}(text, int) FROM PUBLIC",
        f"GRANT EXECUTE ON FUNCTION {name}(text, int) TO {APP_ROLE}",
    ]


FACTS = f"""SELECT id FROM memory_fact WHERE countersign_words(text) @@ asked::tsquery AND {SEEN}
    ORDER BY (status = 'approved') DESC, id DESC LIMIT most"""  # noqa: S608  (constants)
REWORDED = f"""SELECT id FROM memory_decision WHERE before ? 'text'
    AND countersign_words(before ->> 'text') @@ asked::tsquery AND {SEEN}
    ORDER BY id DESC LIMIT most"""  # noqa: S608  (constants)
WORDS = f"""
CREATE FUNCTION countersign_words(said text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT to_tsvector('pg_catalog.simple', translate(said, '{MARKS}', repeat(' ', {SPACES})))
$$"""
EARLIER = """
CREATE INDEX decision_earlier_words ON memory_decision USING gin (countersign_words(before ->> 'text'))
WHERE before ? 'text'"""


class Migration(migrations.Migration):
    dependencies = [("memory", "0012_row_level_security_of_the_tally")]

    operations = [
        migrations.RunSQL(
            sql=[
                WORDS,
                "CREATE INDEX fact_words ON memory_fact USING gin (countersign_words(text))",
                EARLIER,
                *_function("countersign_find_facts", FACTS),
                *_function("countersign_find_reworded", REWORDED),
            ],
            reverse_sql=[
                "DROP FUNCTION countersign_find_reworded(text, int)",
                "DROP FUNCTION countersign_find_facts(text, int)",
                "DROP INDEX decision_earlier_words",
                "DROP INDEX fact_words",
                "DROP FUNCTION countersign_words(text)",
            ],
        ),
    ]
