"""Of the facts there are: an end that is not the one of the type, counted from the first day, was named by somebody."""

from django.db import migrations

# The type table as it stood when this was written; a type that is not listed lived a year.
DAYS = {
    "fix": 90,
    "error": 90,
    "failed_command": 90,
    "environment": 180,
    "owning_file": 180,
    "user_preference": None,
    "account_detail": None,
    "problem": 90,
    "commitment": 90,
    "sentiment": 30,
}
NAMED = """
UPDATE memory_fact SET ends_by_type = FALSE
WHERE ends_by_type AND expires_at IS DISTINCT FROM first_seen_at + make_interval(
    hours => 24 * coalesce((%s::jsonb -> type)::text, '365')::int)
"""
ENDLESS = """
UPDATE memory_fact SET ends_by_type = FALSE
WHERE ends_by_type AND type = ANY (%s) AND expires_at IS NOT NULL
"""


def note(apps, schema_editor):
    import json

    ending = {name: days for name, days in DAYS.items() if days is not None}
    endless = [name for name, days in DAYS.items() if days is None]
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(NAMED + " AND NOT type = ANY (%s)", [json.dumps(ending), endless])
        cursor.execute(ENDLESS, [endless])


class Migration(migrations.Migration):
    dependencies = [("memory", "0006_lifetimes_and_session_memory")]

    operations = [migrations.RunPython(note, migrations.RunPython.noop)]
