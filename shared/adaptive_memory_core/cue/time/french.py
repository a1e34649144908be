"""The `French` language for times in questions: "il y a trois semaines", "en mars 2021", "à l'origine"."""

from __future__ import annotations

from adaptive_memory_core.cue.time import phrases
from adaptive_memory_core.cue.time.calendar import WEEKDAYS
from adaptive_memory_core.cue.time.phrases import PhraseLanguage, PhraseRule, Vocabulary, any_of, pattern

_MONTHS = dict(
    zip(
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(),
        range(1, 13),
        strict=True,
    )
) | {"fevrier": 2, "aout": 8, "decembre": 12}
_WEEKDAYS = dict(zip("lundi mardi mercredi jeudi vendredi samedi dimanche".split(), WEEKDAYS, strict=True))
_SEASONS = {"printemps": "spring", "été": "summer", "automne": "autumn", "hiver": "winter"}
_UNITS = {
    "minute": "minute", "heure": "hour", "jour": "day", "semaine": "week", "mois": "month", "an": "year", "année": "year",
    "décennie": "decade", "minutes": "minute", "heures": "hour", "jours": "day", "semaines": "week", "ans": "year",
    "années": "year", "décennies": "decade", "week-end": "weekend", "weekend": "weekend", "trimestre": "quarter",
}  # fmt: skip
_NUMBERS: dict[str, float | str] = {**dict(
    zip("un deux trois quatre cinq six sept huit neuf dix onze douze".split(), range(1, 13), strict=True)
), "une": 1, "quinze": 15, "vingt": 20, "trente": 30, "quelques": "few", "plusieurs": "several"}  # fmt: skip
_M, _D, _S = any_of(_MONTHS), any_of(_WEEKDAYS), any_of(_SEASONS)
_COUNT, _UNIT, _YEAR = (
    rf"(?P<count>\d{{1,3}}|{any_of(_NUMBERS)})",
    rf"(?P<unit>{any_of(_UNITS)})",
    r"(?P<year>(?:1\d|20)\d\d)",
)
_LAST = r"(?:derni(?:er|ère)|passée?)"
_RULES = (
    PhraseRule(pattern(r"(?P<day>\d{1,2})/(?P<month>\d{1,2})/(?P<year>(?:19|20)\d\d)"), phrases.date_in_month(_MONTHS)),
    PhraseRule(pattern(rf"(?:le )?(?P<day>\d{{1,2}})(?:er)? (?P<month>{_M}),? {_YEAR}"), phrases.date_in_month(_MONTHS)),
    PhraseRule(pattern(rf"le (?P<day>\d{{1,2}})(?:er)? (?P<month>{_M})"), phrases.date_in_month(_MONTHS), past=True),
    PhraseRule(pattern(rf"(?:en |au mois de |au mois d'|de |d')?(?P<month>{_M}) {_YEAR}"), phrases.month(_MONTHS)),
    PhraseRule(pattern(rf"(?:en )?(?P<month>{_M}) (?:de l'année |de l'an )(?:derni(?:er|ère)|passée?)"), phrases.month(_MONTHS, year_back=1)),
    PhraseRule(pattern(rf"(?:en )?(?P<month>{_M}) {_LAST}"), phrases.month(_MONTHS)),
    PhraseRule(pattern(rf"(?:à l'|en |au |l')?(?P<season>{_S})(?: de)? {_YEAR}"), phrases.season_phrase(_SEASONS)),
    PhraseRule(pattern(rf"(?:l'|le )(?P<season>{_S}) {_LAST}"), phrases.season_phrase(_SEASONS, over=True)),
    PhraseRule(pattern(rf"il y a (?:environ |à peu près |plus de )?{_COUNT} {_UNIT}"), phrases.ago(_UNITS, _NUMBERS)),
    PhraseRule(pattern(rf"(?:ces |les |au cours des |des )?{_COUNT} (?:derniers|dernières) {_UNIT}"), phrases.rolling(_UNITS, _NUMBERS)),
    PhraseRule(pattern(rf"(?:ces )?(?:derniers|dernières) (?P<count>\d{{1,3}}) {_UNIT}"), phrases.rolling(_UNITS, _NUMBERS)),
    PhraseRule(pattern(rf"(?:la |le |l'){_UNIT} (?:d'avant|précédente?)"), phrases.whole_unit(_UNITS, 1)),
    PhraseRule(pattern(rf"(?:la |le |l'){_UNIT} {_LAST}"), phrases.whole_unit(_UNITS, 1)),
    PhraseRule(pattern(r"(?:cette|ce) (?P<unit>semaine|mois|année|week-end|trimestre)(?:-ci)?"), phrases.whole_unit(_UNITS, 0), past=True),
    PhraseRule(pattern(rf"(?P<weekday>{_D}) {_LAST}"), phrases.weekday(_WEEKDAYS)),
    PhraseRule(pattern(rf"(?<!le )(?P<weekday>{_D})"), phrases.weekday(_WEEKDAYS), past=True),
    PhraseRule(pattern(r"avant-hier(?: soir| matin)?"), phrases.days_back(2)),
    PhraseRule(pattern(r"hier(?: soir| matin| après-midi)?|la nuit dernière"), phrases.days_back(1)),
    PhraseRule(pattern(r"aujourd'hui|ce matin|cet après-midi|ce soir"), phrases.days_back(0), past=True),
    PhraseRule(pattern(rf"(?:en |au mois de |au mois d'|(?<=depuis )|(?<=avant )|(?<=après ))(?P<month>{_M})"), phrases.month(_MONTHS), past=True),
    PhraseRule(pattern(rf"(?:en |en l'an |l'an |l'année |(?<=depuis )|(?<=avant )|(?<=après ))(?<![\d.,/:-]){_YEAR}(?! (?:euros|personnes|mètres|fois))"),
         phrases.year),
)  # fmt: skip
_FRENCH = Vocabulary(
    code="fr",
    some=pattern(
        rf"\d{{4}}|{_M}|{_D}|il y a|hier|avant-hier|aujourd'hui|derni(?:er|ère)s?|passée?|précédente?|ce|cet|cette|autrefois|jadis"
        r"|à l'origine|initialement|au début|au départ|pour la première fois|auparavant|à l'époque|actuel\w*|maintenant|en ce moment|récemment|désormais|de nos jours"
    ),
    rules=_RULES,
    leans=(
        (
            "earliest",
            pattern(r"à l'origine|initialement|au (?:tout )?début(?! d)|au départ|(?:pour )?la première fois"),
        ),
        ("past", pattern(r"autrefois|jadis|auparavant|à l'époque|dans le passé|par le passé|dans le temps")),
        (
            "present",
            pattern(
                r"actuel(?:le)?s?|actuellement|maintenant|en ce moment|récemment|désormais|de nos jours|ces derniers temps|ne \w+ plus"
            ),
        ),
    ),
    bound=pattern(
        r"(?P<since>depuis|à partir de|dès)(?: le| la| l')? ?\0|(?P<before>avant)(?: le| la)? ?\0"
        r"|(?P<until>jusqu'(?:à|en|au))(?: la)? ?\0|(?P<after>après)(?: le| la)? ?\0",
    ),
    past=pattern(
        r"j'ai|j'avais|as-tu|ai-je|ai|as|avons|avez|ont|(?:ne )?l'a|a|a-t-(?:il|elle|on)|suis|sommes|est|étais|était|étaient|avait"
        r"|avaient|qu'ai|qu'a|\w+(?:é|ée|és|ées|ait|aient)"
    ),
    future=pattern(
        r"vais|va|vas|vont|allons|prochaine?s?|demain|dois|doit|faut|chaque|tous les|\w+(?:rai|ras|ra|rons|rez|ront)"
    ),
)


class French(PhraseLanguage):
    """French questions; days begin and end in `zone`.

    >>> [sign.phrase for sign in French()("Qu'avons-nous décidé il y a trois semaines ?", 1.7e9)]
    ['il y a trois semaines']
    """

    vocabulary, hint = _FRENCH, _FRENCH.hint
