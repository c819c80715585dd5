"""Row-level security on sittings."""

from django.db import migrations

from projects.tenancy import policy


class Migration(migrations.Migration):
    dependencies = [("review", "0004_sitting")]

    operations = [policy("review_sitting")]
