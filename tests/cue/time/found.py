"""What did strangers ask that was misread? Questions that the rules were mended for; no measure of them."""

from __future__ import annotations

from tests.cue.time.questions import questions

TABLE = """
2024-12-01..2025-03-01 | what did we ski in winter 2024/25
2024-12-01..2025-03-01 | where did we ski in the winter of 2024-2025?
2025-04-01..2025-07-01 | what was revenue in Q2'25
2025-03-01..2025-04-01 | where did we go in March last year
2025-03-01..2025-04-01 | last year in March, where did we go?
2025-04-01..2025-07-01 | what did we ship in Q2 last year
2025-06-01..2025-09-01 | what did we do in summer last year
2025-12-12..2025-12-13 | what did I eat on 12 December last year
2026-03-01..2026-04-01 | what did we do in March this year
2025-04-01..2025-07-01 | what did we ship in the second quarter of last year
2025-04-01..2025-07-01 | what did we ship in 2025 Q2
2025-03-14..2025-03-15 | what did I say on the fourteenth of March 2025
2025-03-01..2025-06-01 | notes of March 2025 to May 2025
2025-03-01..2025-04-01+2025-06-01..2025-07-01 | what did we spend in March and June 2025
2025-03-03..2025-03-10 | what did we do in the week of March 3, 2025
2025-03-08..2025-03-10 | where was I the weekend of 2025-03-08
2025-05-13..2025-05-14 | what did I do one year ago today
2026-05-09..2026-05-10 | what broke three days before yesterday
2026-05-01..2026-05-02 | who called a week before last Friday
2025-01-01..2025-04-01 | results of the 1st quarter 2025
2025-01-01..2025-04-01 | what did we ship in the first quarter 2025
2025-04-01..2025-07-01 | the 2025Q2 results
2025-05-01..2025-09-01 | where did I live in mid-2025
2025-03-01..2025-06-01 | notes of March-May 2025
2025-03-01..2025-04-01 | what did we do in 03/2025
2026-05-01..2026-05-02 | who called two Fridays ago
2026-04-22..2026-05-06 | fortnight ago, who called?
2026-05-09..2026-05-11 | what did I do over the weekend
2026-05-09..2026-05-11 | what happened on the weekend
2026-03-14..2026-03-15 | what did I say on March fourteenth
2024-01-01..2025-01-01 | what did I do not in 2025 but in 2024
2026-05-04..2026-05-11 | what did I eat last week, except yesterday?
2025-12-12..2025-12-13 | what did I eat on the 12 December of last year
2025-06-01..2025-09-01 | what did we do from June to August last year
2025-01-01..2026-01-01 | how far did prices fall last year
2026-04-11..2026-04-21 | what was going on in mid-April?
2026-05-01..2026-06-01 | What has Ana been up to this month?
2026-05-04..2026-05-11 | What were you up to last week?
2026-05-13..2026-05-14 | What is Ben up to today?
2026-05-04..2026-05-11 | tell me what my sister was up to last week
2026-04-01..2026-05-01 | what did the kids get up to in April?
2026-03-01.. | what has she been up to since March?
2026-05-09..2026-05-11 | what have you been up to over the weekend?
..2026-05-11 | what were our sales up to last week?
..2026-05-01 | how much did we spend up to April?
2026-05-09..2026-05-11 | over the weekend
2025-07-01..2025-10-01 | Q3
2025-12-24..2025-12-27 | what did we do around Christmas?
2025-07-21..2025-07-22 | what did Ilse do on the Monday before July 24, 2025?
2025-10-04..2025-10-06 | what did we do over the weekend before 8th October, 2025?
2025-07-27..2025-08-03 | what did he do the week before August 3, 2025
2025-08-02..2025-08-03 | who called the day before 3 August 2025?
none | what must I finish by Friday
none | what do I need to send by Friday
none | which report do I need by Monday
none | how many months ago did we start
none | everything except yesterday
none | datetime.now error
none | what does the function now() do
none | previously inferred memory
none | what is in May's house
none | who may second the motion
none | is the gym open on the weekend?
past | which plan was I previously subscribed to
2026-05-08..2026-05-09 | did we finish the report on Friday?
2025-01-01..2026-01-01 | did the scouts march last year
"""

FOUND = questions(TABLE)
