"""Row-level security on what reviewing needs."""

from django.db import migrations

from projects.tenancy import policy

TABLES = ("lease", "assignment", "savedview", "sample", "golditem", "goldanswer", "webhook", "notice")


class Migration(migrations.Migration):
    dependencies = [("review", "0001_how_people_decide")]

    operations = [*(policy(f"review_{table}") for table in TABLES)]
