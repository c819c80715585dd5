"""Row-level security on what came with proposals that are weighed: suppressions, parts, feedback, calls."""

from django.db import migrations

from projects.tenancy import policy

TABLES = ("suppression", "standingpart", "feedback", "modelcall")


class Migration(migrations.Migration):
    dependencies = [("memory", "0003_what_proposals_need")]

    operations = [*(policy(f"memory_{table}") for table in TABLES)]
