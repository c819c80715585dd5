"""Row-level security on how often things were served."""

from django.db import migrations

from projects.tenancy import policy

TABLES = ("factserved", "subjectserved", "servedthrough")


class Migration(migrations.Migration):
    dependencies = [("memory", "0011_count_what_was_served")]

    operations = [*(policy(f"memory_{table}") for table in TABLES)]
