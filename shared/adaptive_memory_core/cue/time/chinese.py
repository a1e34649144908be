"""The `Chinese` language for times in questions: "三周前", "2021年3月", "最初"."""

from __future__ import annotations

import re
from datetime import datetime

from adaptive_memory_core.cue.time import phrases
from adaptive_memory_core.cue.time.calendar import WEEKDAYS, Span, current, midnight, months, season_of_year
from adaptive_memory_core.cue.time.english_relative import Resolve
from adaptive_memory_core.cue.time.phrases import PhraseLanguage, PhraseRule, Vocabulary, any_of


def _in_year(match: re.Match[str], today: datetime) -> list[Span]:
    """A month of this year, of last year or of the year before."""
    return [months(today.year - _BACK[match["which"]], _MONTHS[match["month"]], today)]


def _season(match: re.Match[str], today: datetime) -> list[Span]:
    year = int(match["year"]) if match["year"] else today.year - _BACK[match["which"]]
    return season_of_year(_SEASONS[match["season"]], year, today)


def _year(match: re.Match[str], today: datetime) -> list[Span]:
    return [current("year", today, _BACK[match["which"]])]


def _weekday_of_week(match: re.Match[str], today: datetime) -> list[Span]:
    """A day of this week or of one of the last two. Weeks begin on Monday."""
    monday = midnight(
        today, -today.weekday() - 7 * len(match["which"].replace("这", "").replace("這", "").replace("本", ""))
    )
    first = (monday - midnight(today)).days + WEEKDAYS.index(_WEEKDAYS[match["weekday"]])
    return [Span(midnight(today, first), midnight(today, first + 1))]


_DIGITS = dict(zip("一二三四五六七八九十", range(1, 11), strict=True))
_NUMBERS: dict[str, float | str] = {**_DIGITS, "两": 2, "兩": 2, "十一": 11, "十二": 12, "十五": 15, "二十": 20, "三十": 30, "半": 0.5,
                      "几": "few", "幾": "few", "好几": "several", "好幾": "several"}  # fmt: skip
_MONTHS = _DIGITS | {"十一": 11, "十二": 12} | {str(number): number for number in range(1, 13)}
_WEEKDAYS = dict(zip("一二三四五六日天", (*WEEKDAYS, "sunday"), strict=True))
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_BACK = {"今年": 0, "去年": 1, "前年": 2}
_UNITS = {
    "分钟": "minute", "分鐘": "minute", "小时": "hour", "小時": "hour", "天": "day", "日": "day", "周": "week", "週": "week",
    "星期": "week", "礼拜": "week", "禮拜": "week", "月": "month", "年": "year", "周末": "weekend", "週末": "weekend", "季度": "quarter",
}  # fmt: skip
_COUNT = rf"(?P<count>\d{{1,3}}|{any_of(_NUMBERS)})"
_UNIT, _YEAR = rf"(?P<unit>{any_of(_UNITS)})", r"(?P<year>(?:1\d|20)\d\d)"
_WEEK = "(?:周|週|星期|礼拜|禮拜)"
_MONTH = rf"(?P<month>1[0-2]|[1-9]|{any_of(name for name in _MONTHS if not name.isdigit())})"


def _rule(words: str, resolve: Resolve, *, past: bool = False) -> PhraseRule:
    return PhraseRule(phrases.pattern(words, whole=False), resolve, past)


_RULES = (
    _rule(rf"{_YEAR}年{_MONTH}月(?P<day>\d{{1,2}})[日号號]", phrases.date_in_month(_MONTHS)),
    _rule(rf"(?<!\d){_MONTH}月(?P<day>\d{{1,2}})[日号號]", phrases.date_in_month(_MONTHS), past=True),
    _rule(rf"{_YEAR}年{_MONTH}月(?:份)?", phrases.month(_MONTHS)),
    _rule(rf"(?P<which>今年|去年|前年){_MONTH}月(?:份)?", _in_year),
    _rule(rf"(?:{_YEAR}年|(?P<which>今年|去年|前年))的?(?P<season>[春夏秋冬])[天季]?", _season),
    _rule(rf"(?:最近|过去|過去|近)(?:的)?{_COUNT}[个個]?{_UNIT}", phrases.rolling(_UNITS, _NUMBERS)),
    _rule(rf"(?:大约|大約|差不多)?(?<!\d){_COUNT}[个個]?{_UNIT}(?:以)?前", phrases.ago(_UNITS, _NUMBERS)),
    _rule(rf"(?P<which>上上?|[这這本]){_WEEK}(?P<weekday>[一二三四五六日天])", _weekday_of_week),
    _rule(r"上上[个個]?(?P<unit>周末|週末|周|週|星期|礼拜|月|季度)", phrases.whole_unit(_UNITS, 2)),
    _rule(r"上[个個]?(?P<unit>周末|週末|周|週|星期|礼拜|禮拜|月|季度)", phrases.whole_unit(_UNITS, 1)),
    _rule(r"[这這本][个個]?(?P<unit>周末|週末|周|週|星期|礼拜|禮拜|月|季度)", phrases.whole_unit(_UNITS, 0), past=True),
    _rule(rf"(?<![每下上]){_WEEK}(?P<weekday>[一二三四五六日天])", phrases.weekday(_WEEKDAYS), past=True),
    _rule(r"大前天", phrases.days_back(3)),
    _rule(r"前天", phrases.days_back(2)),
    _rule(r"昨(?:天|日|晚)", phrases.days_back(1)),
    _rule(r"今(?:天|日|早|晚)", phrases.days_back(0), past=True),
    _rule(r"(?P<which>去年|前年)", _year),
    _rule(r"(?P<which>今年)", _year, past=True),
    _rule(rf"(?<!\d){_YEAR}年", phrases.year),
    _rule(rf"(?<![\d年]){_MONTH}月(?:份)?", phrases.month(_MONTHS), past=True),
)
_CHINESE = Vocabulary(
    code=None,  # only Japanese also has these words, with the same meaning
    some=phrases.pattern(
        "[年月周週天日前昨今]|星期|礼拜|禮拜|最初|起初|最早|当初|當初|一开始|一開始|以前|从前|從前|过去|過去|曾|原来|原來|目前|现在|現在|最近|最新|如今",
        whole=False,
    ),
    rules=_RULES,
    leans=(
        ("earliest", phrases.pattern("最初|起初|最早|当初|當初|一开始|一開始|第一次", whole=False)),
        ("past", phrases.pattern("从前|從前|以前|过去|過去|曾经|曾經|那时候|那時候", whole=False)),
        ("present", phrases.pattern("目前|现在|現在|最近|最新|如今|眼下", whole=False)),
    ),
    bound=phrases.pattern(
        r"(?P<since>自从|自從|自|从|從)\0|\0(?:以)?(?P<before>之前|以前|前)|\0(?P<after>之后|之後|以后|以後)",
        whole=False,
    ),
    past=phrases.pattern("[了过過]|做什么|曾|已经|已經|当时|说的|去的|买的|是怎么|[是]谁|吃的|见的", whole=False),
    future=phrases.pattern(
        "将|將|会议安排|打算|要去|计划|下周|下个|下個|明天|明年|每[天周週年月]|应该|應該", whole=False
    ),
)


class Chinese(PhraseLanguage):
    """Chinese questions, in simplified or traditional characters; days begin and end in `zone`.

    >>> [sign.phrase for sign in Chinese()("三周前我们决定了什么?", 1.7e9)]
    ['三周前']
    """

    vocabulary, hint = _CHINESE, _CHINESE.hint
