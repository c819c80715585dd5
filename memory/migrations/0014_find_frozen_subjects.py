from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0013_find_by_pasted_words'),
        ('projects', '0005_row_level_security_of_configs'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='subject',
            index=models.Index(condition=models.Q(('frozen_at__isnull', False)), fields=['project'], name='subject_frozen'),
        ),
    ]
