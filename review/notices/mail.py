"""The mails that Countersign sends by itself."""

from __future__ import annotations

import logging
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from projects.models import Person


def send_invitation(email: str, link: str, by: Person) -> bool:
    """Whether a mail with the link is on its way; without a mail server there is none, and the link is handed over."""
    if not settings.MAIL_IS_SENT:
        return False
    body = render_to_string("review/invitation_mail.txt", {"link": link, "by": by})
    try:
        send_mail(_("An invitation to Countersign"), body, None, [email])
    except (SMTPException, OSError) as problem:
        logging.getLogger(__name__).warning(_("An invitation could not be mailed: %s."), type(problem).__name__)
        return False
    return True
