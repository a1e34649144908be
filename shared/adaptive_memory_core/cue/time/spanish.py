"""The `Spanish` language for times in questions: "hace tres semanas", "en marzo de 2021", "al principio"."""

from __future__ import annotations

import re
from datetime import datetime

from adaptive_memory_core.cue.time import phrases
from adaptive_memory_core.cue.time.calendar import WEEKDAYS, Span, current, latest_month
from adaptive_memory_core.cue.time.phrases import PhraseLanguage, PhraseRule, Vocabulary, any_of, pattern


def _last_unit(match: re.Match[str], today: datetime) -> list[Span]:
    return [current(_UNITS[(match["unit"] or match["u2"]).lower()], today, 1)]


def _last_month(match: re.Match[str], today: datetime) -> list[Span]:
    return [latest_month(_MONTHS[(match["month"] or match["m2"]).lower()], today)]


_MONTHS = dict(
    zip(
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(),
        range(1, 13),
        strict=True,
    )
) | {"setiembre": 9}
_WEEKDAYS = dict(zip("lunes martes miércoles jueves viernes sábado domingo".split(), WEEKDAYS, strict=True)) | {
    "miercoles": "wednesday", "sabado": "saturday",
}  # fmt: skip
_SEASONS = {"primavera": "spring", "verano": "summer", "otoño": "autumn", "invierno": "winter"}
_UNITS = {
    "minuto": "minute", "hora": "hour", "día": "day", "dia": "day", "semana": "week", "mes": "month", "año": "year",
    "década": "decade", "minutos": "minute", "horas": "hour", "días": "day", "dias": "day", "semanas": "week",
    "meses": "month", "años": "year", "décadas": "decade", "fin de semana": "weekend", "trimestre": "quarter",
}  # fmt: skip
_NUMBERS: dict[str, float | str] = {**dict(
    zip("uno dos tres cuatro cinco seis siete ocho nueve diez once doce".split(), range(1, 13), strict=True)
), "un": 1, "una": 1, "quince": 15, "veinte": 20, "treinta": 30, "unos": "few", "unas": "few", "algunos": "few",
     "algunas": "few", "pocos": "few", "pocas": "few", "varios": "several", "varias": "several"}  # fmt: skip
_M, _D, _S = any_of(_MONTHS), any_of(_WEEKDAYS), any_of(_SEASONS)
_COUNT, _UNIT, _YEAR = (
    rf"(?P<count>\d{{1,3}}|{any_of(_NUMBERS)})",
    rf"(?P<unit>{any_of(_UNITS)})",
    r"(?P<year>(?:1\d|20)\d\d)",
)
_LAST = r"(?:pasad[oa]|últim[oa]|ultim[oa])"
_RULES = (
    PhraseRule(pattern(r"(?P<day>\d{1,2})/(?P<month>\d{1,2})/(?P<year>(?:19|20)\d\d)"), phrases.date_in_month(_MONTHS)),
    PhraseRule(pattern(rf"(?:el )?(?P<day>\d{{1,2}}) de (?P<month>{_M}),? (?:de |del )?{_YEAR}"), phrases.date_in_month(_MONTHS)),
    PhraseRule(pattern(rf"el (?P<day>\d{{1,2}}) de (?P<month>{_M})"), phrases.date_in_month(_MONTHS), past=True),
    PhraseRule(pattern(rf"(?:en )?(?P<month>{_M}) (?:de |del )?(?:año )?{_YEAR}"), phrases.month(_MONTHS)),
    PhraseRule(pattern(rf"(?:en )?(?P<month>{_M}) del año pasado"), phrases.month(_MONTHS, year_back=1)),
    PhraseRule(pattern(rf"(?:el )?(?:pasado )?(?P<month>{_M}) pasado|el pasado (?P<m2>{_M})"), _last_month),
    PhraseRule(pattern(rf"(?:en )?(?:el |la )?(?P<season>{_S}) (?:de |del )?{_YEAR}"), phrases.season_phrase(_SEASONS)),
    PhraseRule(pattern(rf"(?:el |la )(?P<season>{_S}) {_LAST}"), phrases.season_phrase(_SEASONS, over=True)),
    PhraseRule(pattern(rf"hace (?:más o menos |aproximadamente |casi |como )?{_COUNT} {_UNIT}"), phrases.ago(_UNITS, _NUMBERS)),
    PhraseRule(pattern(rf"(?:los |las |estos |estas )?(?:últimos|últimas|ultimos|ultimas) {_COUNT} {_UNIT}"), phrases.rolling(_UNITS, _NUMBERS)),
    PhraseRule(pattern(rf"(?:la |el )?{_UNIT} (?:antepasad[oa])"), phrases.whole_unit(_UNITS, 2)),
    PhraseRule(pattern(rf"(?:la |el )?{_UNIT} (?:pasad[oa]|anterior)|(?:la |el )?(?:pasad[oa]|últim[oa]) (?P<u2>{any_of(_UNITS)})"),
         _last_unit),
    PhraseRule(pattern(r"(?:est[ea]) (?P<unit>semana|mes|año|fin de semana|trimestre)"), phrases.whole_unit(_UNITS, 0), past=True),
    PhraseRule(pattern(rf"(?:el )?(?P<weekday>{_D}) {_LAST}"), phrases.weekday(_WEEKDAYS)),
    PhraseRule(pattern(rf"el (?:pasado )?(?P<weekday>{_D})"), phrases.weekday(_WEEKDAYS), past=True),
    PhraseRule(pattern(r"anteayer|antes de ayer|antier"), phrases.days_back(2)),
    PhraseRule(pattern(r"ayer(?: por la (?:mañana|tarde|noche))?|anoche"), phrases.days_back(1)),
    PhraseRule(pattern(r"hoy|esta (?:mañana|tarde|noche)"), phrases.days_back(0), past=True),
    PhraseRule(pattern(rf"(?:en |(?<=desde )|(?<=antes de )|(?<=hasta ))(?P<month>{_M})"), phrases.month(_MONTHS), past=True),
    PhraseRule(pattern(rf"(?:en |en el año |el año |del |(?<=desde )|(?<=antes de )|(?<=después de )|(?<=hasta )|(?<!antes )(?<!después )de )(?<![\d.,/:-]){_YEAR}(?! (?:euros|pesos|personas|metros|veces))"),
         phrases.year),
)  # fmt: skip
_SPANISH = Vocabulary(
    code="es",
    some=pattern(
        rf"\d{{4}}|{_M}|{_D}|hace|ayer|anteayer|antier|anoche|hoy|pasad[oa]|antepasad[oa]|anterior|últim[oa]s?|ultim[oa]s?|est[ea]"
        r"|originalmente|inicialmente|al principio|al inicio|por primera vez|antes|antaño|en aquel entonces|antiguamente|entonces|actual\w*|ahora|recientemente|hoy en día|todavía|ya no"
    ),
    rules=_RULES,
    leans=(
        ("earliest", pattern(r"originalmente|inicialmente|al principio(?! de)|al inicio(?! de)|(?:por )?primera vez")),
        (
            "past",
            pattern(
                r"antaño|en aquel entonces|en aquella época|antiguamente|en el pasado|solía\w*|hace (?:mucho )?tiempo|antes(?! de)"
            ),
        ),
        (
            "present",
            pattern(
                r"actual(?:es)?|actualmente|ahora(?: mismo)?|recientemente|hoy en día|todavía|ya no|últimamente|en este momento"
            ),
        ),
    ),
    bound=pattern(
        r"(?P<since>desde|a partir de)(?: el| la)? ?\0|(?P<before>antes de)(?: el| la|l)? ?\0|(?P<until>hasta)(?: el| la)? ?\0"
        r"|(?P<after>después de|tras)(?: el| la|l)? ?\0",
    ),
    past=pattern(
        r"he|has|ha|hemos|han|fui|fue|fuimos|fueron|era|eran|había|estaba|estuve|estuvo|estuvimos|hice|hizo|hicimos|dije|dijo"
        r"|tuve|tuvo|tuvimos|vino|puse|puso|supe|\w+(?:é|ó|aste|iste|amos|imos|aron|ieron|í|aba|aban|ía|ían)"
    ),
    future=pattern(
        r"voy|vas|va a|vamos a|van a|próxim[oa]s?|proxim[oa]s?|debo|tengo que|tenemos que|hay que|cada|todos los|que viene|\w+(?:aré|eré|iré|remos|rán)"
    ),
)


class Spanish(PhraseLanguage):
    """Spanish questions; days begin and end in `zone`.

    >>> [sign.phrase for sign in Spanish()("¿Qué decidimos hace tres semanas?", 1.7e9)]
    ['hace tres semanas']
    """

    vocabulary, hint = _SPANISH, _SPANISH.hint
