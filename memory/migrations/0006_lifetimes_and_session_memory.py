from django.contrib.postgres.indexes import BrinIndex
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0005_runs_that_wait"),
        ("projects", "0003_distillers_and_types"),
    ]

    operations = [
        migrations.AddField("fact", "ends_by_type", models.BooleanField(default=True)),
        migrations.AddField("fact", "helped_count", models.PositiveIntegerField(default=0)),
        # No feedback was taken before it had a day.
        migrations.AddField("feedback", "said_on", models.DateField(default="2000-01-01"), preserve_default=False),
        migrations.AddConstraint(
            "feedback",
            models.UniqueConstraint(fields=["fact", "agent", "verdict", "said_on"], name="feedback_once_a_day"),
        ),
        migrations.AddIndex("session", models.Index(fields=["last_seen_at"], name="session_by_last_word")),
        migrations.AddIndex(
            "session",
            models.Index(fields=["last_seen_at"], condition=~models.Q(summary=""), name="session_summarised"),
        ),
        migrations.AddIndex("briefserved", BrinIndex(fields=["at"], name="brief_by_time")),
    ]
