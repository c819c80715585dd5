"""Row-level security on the tables of people and agents; the audit only grows."""

from django.db import migrations

from projects.tenancy import append_only, policy


class Migration(migrations.Migration):
    dependencies = [("projects", "0001_people_and_agents")]

    operations = [
        policy("projects_project", column="id"),
        policy("projects_membership"),
        policy("projects_agent"),
        policy("projects_apikey"),
        policy("projects_invitation"),
        policy("projects_auditevent"),
        append_only("projects_auditevent"),
    ]
