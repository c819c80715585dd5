from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"
    verbose_name = "Where the parts are joined"

    def ready(self) -> None:
        from config import health
        from review import health_pages

        health_pages.register(health.report)
