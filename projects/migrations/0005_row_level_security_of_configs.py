"""Row-level security on system memory."""

from django.db import migrations

from projects.tenancy import policy


class Migration(migrations.Migration):
    dependencies = [("projects", "0004_review_desk")]

    operations = [policy("projects_agentconfig")]
