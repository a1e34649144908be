"""What do people ask, and when do they mean? Questions with answers, written by hand, in two halves.

All are asked on Wednesday, 13 May 2026, at noon UTC. A line is `kind | question`, for a window
`from..to | question` with dates (the last one excluded; nothing for an open end; several windows with "+"). The rules
were tuned on the questions of one half; of the other half nobody looked at errors before the rules were done.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timezone
from typing import NamedTuple

ASKED_AT = datetime(2026, 5, 13, 12, tzinfo=timezone.utc).timestamp()


class Question(NamedTuple):
    text: str
    kind: str  # "none", "window", "past", "earliest" or "present"
    windows: tuple[tuple[str, str], ...] = ()

    @property
    def tuned_on(self) -> bool:
        return hashlib.sha256(self.text.encode()).digest()[0] % 2 == 0


TABLE = """
2026-01-28..2026-02-28 | what did we decide three months ago?
2026-05-12..2026-05-13 | What did I have for lunch yesterday?
2019-01-01..2020-01-01 | Where did I work in 2019?
2021-06-01..2021-09-01 | who came along on the hike in summer 2021
2026-05-04..2026-05-11 | what was the outcome of the meeting last week?
2020-03-01..2020-06-01 | Which projects was I on between March and May 2020?
2025-01-01..2026-01-01 | How much did I spend on flights last year?
2026-04-01..2026-05-01 | did I see the dentist last month?
2026-05-11..2026-05-12 | What did Priya tell me on Monday?
2026-05-08..2026-05-09 | what did I promise Sam last Friday
2023-05-07..2023-05-08 | What happened on 7 May 2023?
2023-05-07..2023-05-08 | what did we talk about on 2023-05-07?
2024-12-25..2024-12-26 | Where was I on December 25th, 2024?
2022-07-01..2022-10-01 | What were our goals for Q3 2022?
2022-07-01..2022-10-01 | what went wrong in the third quarter of 2022
2026-05-11..2026-05-12 | what did I say the day before yesterday about the budget?
2024-11-12..2025-11-12 | What was I reading about a year ago?
2026-04-26..2026-05-03 | Who did I meet two weeks ago?
2026-05-10..2026-05-11 | what medication did I take 3 days ago
2020-01-01.. | How many jobs have I had since 2020?
..2018-01-01 | Where did we live before 2018?
2024-07-01.. | which books have I finished since July 2024?
1990-01-01..2000-01-01 | what music did my father play in the 1990s?
1980-01-01..1990-01-01 | which car did grandpa drive in the 80s?
2026-05-06.. | what errors did the build throw in the last 7 days?
2026-02-11.. | Summarise what I learned over the past three months
2025-05-13.. | How often did I go running in the past year?
2026-04-01..2026-05-01 | which invoices came in during April?
2026-03-01..2026-04-01 | What did the landlord write in March?
2025-08-01..2025-09-01 | what did we do back in August?
2025-06-01..2025-09-01 | Where did we go last summer?
2025-12-01..2026-03-01 | how high was the heating bill this past winter
2026-05-12..2026-05-13 | what was the name of the film we watched last night
2026-05-09..2026-05-11 | What did the kids do last weekend?
2026-05-02..2026-05-11 | What did I tell you the other day about my sister?
2015-01-01..2018-01-01 | Which countries did she visit from 2015 to 2017?
2023-10-01..2023-11-01 | Who joined the team in October 2023?
2021-02-01..2021-03-01 | what did the doctor prescribe in Feb 2021
2025-05-13..2026-05-13 | what changed within the last year
2025-12-24..2025-12-27 | What did I get for my mother last Christmas?
..2020-03-01 | How did I commute before March 2020?
2019-06-01.. | Whom have I dated since June 2019?
2026-05-13..2026-05-14 | what have I eaten today?
2026-05-13..2026-05-14 | What did I note this morning?
2026-05-11..2026-05-18 | what did I get done this week?
2026-01-01..2027-01-01 | how many books did I read this year?
2017-04-01..2017-05-01 | the trip to Lisbon in April of 2017: who paid?
2022-11-14..2022-11-15 | What did the contract of November 14, 2022 say about notice?
2022-11-14..2022-11-15 | which server failed on 11/14/2022
2023-01-01..2023-05-01 | What was I working on in early 2023?
2023-09-01..2024-01-01 | what did we discuss in late 2023?
2016-05-13..2021-05-13 | what did I believe several years ago about investing?
2026-05-08..2026-05-11 | what did mum say a few days ago about the garden
2026-04-22..2026-05-03 | What did I order a couple of weeks ago?
..2024-05-13 | what did I want to become more than two years ago?
2024-09-01..2024-12-01 | how did the harvest go in autumn 2024?
2020-12-01..2021-03-01+2021-12-01..2022-03-01 | Did we go skiing in winter 2021?
2019-01-01..2020-01-01+2022-01-01..2023-01-01 | Compare my salary in 2019 with my salary in 2022
2018-01-01..2019-01-01 | What did she study back in 2018?
2014-09-03..2014-09-04 | where was I on the 3rd of September 2014?
2026-05-05..2026-05-06 | what did the vet say on May 5
2026-05-05..2026-05-06 | What did the vet say on the 5th of May?
2020-03-03..2020-03-06 | What did we agree between 3 and 5 March 2020?
2025-03-01.. | what have I spent on the car since March 2025
2024-05-13..2026-05-13 | Which cities did I visit during the last two years?
2025-04-01..2025-07-01 | what was revenue in Q2 2025?
2023-07-01..2024-01-01 | What were the top complaints in H2 2023?
2010-01-01..2020-01-01 | Which phones did I own in the 2010s?
2026-05-13..2026-05-14 | What did Tom ask earlier today?
2025-09-13..2026-03-13 | what was my blood pressure half a year ago?
2026-02-01..2026-03-01 | did the plumber come in february?
2012-01-01..2013-01-01 | What did I weigh in 2012?
2021-12-31..2022-01-01 | Where did we celebrate on 31 December 2021?
2024-01-01..2025-01-01 | Who was our main customer throughout 2024?
..2019-01-01 | what did we use for logging until 2018
2021-01-01.. | what has changed after 2020?
2026-04-01..2026-05-01 | what was last month's electricity bill?
2025-01-01..2026-01-01 | What were last year's OKRs?
2026-05-12..2026-05-13 | what were the action items from yesterday's standup?
2008-01-01..2009-01-01 | Which bank did I use in 2008?
2026-05-10..2026-05-11 | What did grandma cook on Sunday?
2023-08-21..2023-08-22 | when we spoke on Aug 21st 2023, what was the price?
2016-02-29..2016-03-01 | What did I write on 29 February 2016?
2025-04-22..2025-06-03 | What was I worried about this time last year?
2026-05-13..2026-05-13 | what did the server log ten minutes ago?
..2024-11-11 | what did I think of this years ago?
earliest | What was the plan originally?
earliest | Why did we originally choose Postgres?
earliest | what did I initially think of my flatmate?
earliest | what was my original estimate for the kitchen?
earliest | When did I first mention the knee pain?
earliest | what was the first thing I ever told you
earliest | where did Ilse live first?
earliest | what was Ilse's first job?
earliest | who was my first dentist
earliest | At first, how did the team react to remote work?
earliest | Who was there in the beginning?
earliest | what name did the project have at the start?
earliest | What was the original deadline for the thesis?
earliest | how did we meet, the first time?
earliest | what were the initial requirements of the client
earliest | what is the oldest note you have about Berlin?
earliest | Which framework did we start out with to begin with?
past | Where did I use to live?
past | What did Anna used to do for a living?
past | Which editor was my favourite back then?
past | where did we live before the move?
past | What was our architecture before we switched to microservices?
past | what's my old address?
past | Who was my previous employer?
past | what have I said about this in the past?
past | Which plan was I previously subscribed to?
past | You told me a while ago about a bakery, which one?
past | who was my boss at the time?
past | What was her former company called?
past | what did I eat before I became vegetarian?
past | a long time ago you recommended a book, what was it
past | what did he do before having kids?
past | Ages ago I lost a ring, where did I look for it?
present | Where do I currently live?
present | What am I working on right now?
present | what is my address now?
present | Which medication do I take these days?
present | what has been bothering me lately?
present | What have I been reading recently?
present | who is my current employer?
present | What's the latest status of the migration?
present | do I still work at Acme?
present | what is our up-to-date pricing?
present | What is the most recent address you have for Lena?
present | at the moment, which diet am I on?
present | am I no longer allergic to nuts?
present | Who do I report to nowadays?
present | What does she think of it at present?
present | Is Kim still dating Alex?
present | which phone do I have now
present | as of today, how much do I owe?
present | when was the last time I saw the dentist?
present | what's my newest hobby?
present | Where does Ben live now?
present | What are Maria's current goals?
present | what was I just now asking about?
none | what may I eat with this allergy?
none | May I bring the dog to the office?
none | how do I march in step with the band?
none | Which march did Sousa write for the navy?
none | what is the second argument of the function?
none | Give me a second opinion on the lease
none | now that we have a dog, which park is closest?
none | What present did I want to give Anna?
none | who was present at the board meeting?
none | How do I present my results to the board?
none | how many calories does date fruit have?
none | which date did Mia and I agree on for the wedding?
none | What happens in 1984 by Orwell?
none | is it true that in 1984 by George Orwell everyone is watched
none | what does the fall of Rome have to do with lead?
none | did I fall off the bike or was I pushed?
none | which spring mattress did I like?
none | how do I inject beans in Spring Boot?
none | What database does Alice prefer?
none | my sister's name
none | How old is my daughter?
none | which hotel was too loud?
none | What is the limit of 2000 words for?
none | does the 2048 game run on my phone
none | what did April say about the cake?
none | June's phone number
none | who is August's godfather?
none | Which movie did I like more, Blade Runner 2049 or Dune?
none | how do I measure electric current?
none | what does the water current in the bay do to swimmers
none | tell me about my first name
none | what was Ilse's first name?
none | did we finish the first half?
none | since when does he have his first pet?
none | is my apartment on the first floor?
none | do I have a first-aid kit in the car?
none | every now and then I get a headache, what helps?
none | From now on, what should I avoid?
none | Which exercises should I do before bed?
none | What do I need to buy before the trip?
none | what do I have planned for next week?
none | When is my flight tomorrow?
none | which room is 2019?
none | what is error 2013 about?
none | how is a hammer used to drive screws?
none | I am used to waking up early; which alarm did you suggest?
none | what is "the summer of 2021" a quote from?
none | which original recipe chips do I buy?
none | Is the original painting in the Louvre?
none | what kind of still water do I like?
none | which still life did I paint?
none | What is my last name?
none | who finished last in the race?
none | how long does the battery last?
none | did I pass the past tense exam?
none | which pasta do I like?
none | what is my Monday routine?
none | on Fridays, when does the gym close?
none | What does the song Yesterday by the Beatles mean to me?
none | which winter tires fit my car?
none | what is a sundial?
none | do I like dates and figs?
none | what is at 10 Downing Street
none | how many people fit in 2020 seats?
none | which port does the service listen on, 2021 or 8080?
none | what does version 2023.1 fix?
none | the USB stick with 32 GB: where is it?
none | What is my daughter May allergic to?
none | which of the two may fail first?
none | how far did we march with the scouts?
none | who has a minute to help with the move?
none | How does the company now known as Meta make money?
none | what time is dinner?
none | When is my mother's birthday?
none | how do I get to the gym before 7?
none | which week of pregnancy is she in?
none | What are the five love languages?
none | how do I undo the last commit?
none | what is the day rate of the freelancer?
none | which year was I born?
none | is there a monthly fee?
none | who sings Summer of '69?
none | What did we decide about the logo?
"""


def _question(line: str) -> Question:
    label, _, text = line.partition(" | ")
    if ".." not in label:
        return Question(text, label)
    pairs = (window.partition("..") for window in label.split("+"))
    return Question(text, "window", tuple((start, end) for start, _, end in pairs))


def questions(table: str) -> list[Question]:
    return [_question(line) for line in table.strip().splitlines()]


QUESTIONS = questions(TABLE)
