"""A switch of its own for the mails that come at once."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0005_row_level_security_of_configs")]

    operations = [
        migrations.AddField(model_name="person", name="wants_alerts", field=models.BooleanField(default=True)),
    ]
