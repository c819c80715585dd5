from django.contrib.postgres.indexes import HashIndex
from django.db import migrations
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("memory", "0007_ends_that_somebody_named")]

    operations = [
        migrations.AddIndex(
            "observation",
            HashIndex(fields=["external_id"], condition=Q(external_id__contains="#"), name="observation_line"),
        ),
    ]
