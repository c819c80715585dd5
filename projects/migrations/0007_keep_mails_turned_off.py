"""Whoever had turned all mails off by the one switch there was gets none by the second."""

from django.db import migrations


def keep(apps, schema_editor):
    person = apps.get_model("projects", "Person").objects.using(schema_editor.connection.alias)
    person.filter(wants_digest=False).update(wants_alerts=False)


class Migration(migrations.Migration):
    dependencies = [("projects", "0006_mails_at_once")]

    operations = [migrations.RunPython(keep, migrations.RunPython.noop)]
