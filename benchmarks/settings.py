"""The product's settings with one more address: the floor that the product's own calls are compared with."""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.urls"
