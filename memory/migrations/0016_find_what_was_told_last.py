import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0015_two_people_are_two'),
        ('projects', '0005_row_level_security_of_configs'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='briefserved',
            index=models.Index(fields=['agent', 'session', '-id'], name='brief_told_last'),
        ),
        migrations.AlterField(
            model_name='briefserved',
            name='agent',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='briefs', to='projects.agent'),
        ),
    ]
