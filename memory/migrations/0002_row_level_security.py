"""Row-level security on everything that is known; decisions only grow; vectors are stored plain."""

from django.db import migrations

from projects.tenancy import append_only, policy

TABLES = (
    "subject",
    "session",
    "sessionsubject",
    "observation",
    "payload",
    "capturebatch",
    "fact",
    "factembedding",
    "evidence",
    "decision",
    "briefserved",
    "retraction",
    "distilljob",
)


class Migration(migrations.Migration):
    dependencies = [("memory", "0001_what_is_known"), ("projects", "0002_row_level_security")]

    operations = [
        *(policy(f"memory_{table}") for table in TABLES),
        append_only("memory_decision"),
        # A compressed or out-of-line vector makes an exact scan several times slower.
        migrations.RunSQL(
            "ALTER TABLE memory_factembedding ALTER COLUMN vector SET STORAGE PLAIN",
            migrations.RunSQL.noop,
        ),
    ]
