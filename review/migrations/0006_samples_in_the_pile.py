from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('review', '0005_row_level_security_of_sittings'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='sample',
            index=models.Index(condition=models.Q(('drawn', True), ('verdict', '')), fields=['project'], name='sample_open'),
        ),
    ]
