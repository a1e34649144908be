"""By which phrases does a conversation turn elsewhere, or end? What leans on what came before, or is of oneself?

English, German, French, Spanish and Chinese; what another language says so is told by vectors and words alone.
"""

from __future__ import annotations

import re

from adaptive_memory_core.channels.words.words_of_text import words

_TURNS_TO = (
    r"by the way|btw|anyway|any way|changing (?:the )?(?:topic|subject)s?|on another note|on a different note|"
    r"speaking of|quick question|another thing|oh,? (?:right|before i forget)|before i forget|unrelated",
    r"übrigens|apropos|ach,? übrigens|nebenbei|anderes thema|themenwechsel|bevor ich(?: e)?s vergesse|was anderes",
    r"au fait|à propos|d['\u2019]ailleurs|sinon|changeons de sujet|autre chose|avant que j['\u2019]oublie|rien à voir",
    r"por cierto|a propósito|cambiando de tema|otra cosa|antes de que (?:se me olvide|me olvide)|hablando de",
)
_ENDS = (
    r"good ?bye|bye|see (?:you|ya)|talk (?:to you )?(?:soon|later)|good night|take care",
    r"tschüss|tschüs|tschau|ciao|auf wiedersehen|bis (?:bald|später|morgen|dann|dahin)|gute nacht|mach['\u2019]?s gut",
    r"au revoir|à (?:bientôt|demain|plus tard|plus|tout à l['\u2019]heure)|bonne (?:nuit|soirée|journée)|salut",
    r"adiós|hasta (?:luego|mañana|pronto|la vista)|nos vemos|buenas noches|cuídate|chao|chau",
)
_DANGLES = (
    r"it|that|this|these|those|they|he|she|which|and|but|so|because",
    r"es|das|dies(?:e[rs]?)?|sie|er|und|aber|weil|denn|deshalb",
    r"il|elle|ils|elles|ça|cela|c['\u2019]est|ce|et|mais|donc|parce que",
    r"eso|esto|él|ella|ellos|ellas|y|pero|porque|así que",
)
_ONESELF = (
    r"I|my|we|our",
    r"ich|mein\w{0,2}|wir|unser\w{0,2}",
    r"je|mon|notre|nous|(?-i:ma|mes)",
    r"yo|nosotr[oa]s|nuestr[oa]s?|(?-i:mi|mis)",
)
TURNS_TO = re.compile(
    rf"\W*(?:(?:{'|'.join(_TURNS_TO)})\b|顺便(?:说|问|提)|对了|话说回来|换个话题|另外)", re.IGNORECASE
)
ENDS = re.compile(rf"(?:\b(?:{'|'.join(_ENDS)})\b|再见|拜拜|晚安|回头见|明天见|保重)\W*$", re.IGNORECASE)
DANGLES = re.compile(rf"\W*(?:(?:{'|'.join(_DANGLES)})\b|它|他|她|这|那|而且|但是|所以|因为)", re.IGNORECASE)
ONESELF = re.compile(rf"\b(?:{'|'.join(_ONESELF)})\b|\bj['\u2019]|我", re.IGNORECASE)
SMALL_TALK = frozenset(
    words(
        "yeah yes no ok yep nope hmm wow great good nice cool awesome amazing thanks thank sure okay oh hey hi hello "
        "glad sorry sounds really absolutely definitely totally think know got get lot see look like love let one "
        "thing things way much going go pretty always would could well haha luck congrats congratulations fun "
        "ja nein doch danke bitte super toll klasse schön prima klar genau hallo gern gerne echt wirklich stimmt "
        "oui non merci salut bonjour bien génial vraiment chouette "
        "sí gracias hola claro vale genial bueno bien verdad"
    )
)
