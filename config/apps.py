from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"
    verbose_name = "Where the parts are joined"

    def ready(self) -> None:
        from config import health
        from review.pages import health_pages

        # Whether `make test` finds a browser is nothing to those who use the pages.
        health_pages.register(lambda: [found for found in health.report() if found.name != "chromium"])
