"""Where two people decide, they are never the same one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0014_find_frozen_subjects")]

    operations = [
        migrations.AddConstraint(
            model_name="fact",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("first_yes_by__isnull", True),
                    ("approved_by__isnull", True),
                    models.Q(("first_yes_by", models.F("approved_by")), _negated=True),
                    _connector="OR",
                ),
                name="fact_two_are_two",
            ),
        ),
    ]
