"""Which facts change in `benchmarks.updates`? Relations in several wordings, with values, subjects and other talk.

All of it is made up. A relation is tuned on if its number is even, and held out if it is odd.
"""

from __future__ import annotations

from typing import NamedTuple


class Relation(NamedTuple):
    """What can be said of a subject `{s}` with a value `{v}`: as a question, as a plain statement, in other words."""

    name: str
    question: str
    plain: str
    others: tuple[str, ...]
    values: tuple[str, ...]
    of_things: bool = False  # of projects and services, else of people


RELATIONS = (
    Relation(
        "home", "Where does {s} live?", "{s} lives in {v}.",
        ("{s} has moved to {v}.", "{s} found a flat in {v} and has settled there.", "{s}'s new home is {v}."),
        ("Oslo", "Turin", "Bergen", "Porto", "Lyon", "Graz", "Malaga", "Ghent"),
    ),
    Relation(
        "doctor", "Who is {s}'s dentist?", "{s}'s dentist is {v}.",
        ("{s} now goes to {v} for dental care.", "{s} has switched to {v} for teeth cleaning.",
         "{s} gets fillings done by {v} these days."),
        ("Dr. Weber", "Dr. Okafor", "Dr. Lindqvist", "Dr. Marchetti", "Dr. Yoon", "Dr. Sato"),
    ),
    Relation(
        "employer", "Where does {s} work?", "{s} works at {v}.",
        ("{s} has started a new job at {v}.", "{v} hired {s} last week.", "{s} is employed by {v} now."),
        ("Acme", "Globex", "Initech", "Umbra Labs", "Northwind", "Contoso", "Fabrikam"),
    ),
    Relation(
        "pet", "What pet does {s} have?", "{s} has a pet {v}.",
        ("{s} has adopted a {v}.", "A {v} keeps {s} company at home now.", "{s} bought a {v} from the animal shelter."),
        ("cat", "parrot", "tortoise", "rabbit", "beagle", "hamster"),
    ),
    Relation(
        "car", "What car does {s} drive?", "{s} drives a {v} car.",
        ("{s} traded the old vehicle for a {v}.", "{s} gets around in a {v} now.", "{s} has bought a {v}."),
        ("Volvo", "Fiat", "Tesla", "Skoda", "Renault", "Mazda"),
    ),
    Relation(
        "database", "Which database does {s} use?", "{s} uses the {v} database.",
        ("{s} was migrated to {v}.", "{s} stores its rows in {v} now.", "{s} has switched to {v} for persistence."),
        ("PostgreSQL", "MySQL", "SQLite", "MongoDB", "Cassandra", "MariaDB"), of_things=True,
    ),
    Relation(
        "drink", "What is {s}'s favourite drink?", "{s}'s favourite drink is {v}.",
        ("{s} likes {v} best now.", "{s} has come to prefer {v} over anything else.", "{s} orders {v} every time now."),
        ("green tea", "espresso", "lemonade", "cider", "cocoa", "ginger ale"),
    ),
    Relation(
        "instrument", "Which instrument does {s} play?", "{s} plays the {v} as an instrument.",
        ("{s} has taken up the {v}.", "{s} is learning the {v} now.", "{s} sold it and practises the {v} in a band."),
        ("cello", "trumpet", "banjo", "oboe", "accordion", "harp"),
    ),
    Relation(
        "deadline", "When is the deadline of {s}?", "The deadline of {s} is {v}.",
        ("{s} is due on {v} now.", "{s} was postponed to {v}.", "We have to hand in {s} by {v}."),
        ("3 March", "17 April", "9 May", "21 June", "5 July", "28 August"), of_things=True,
    ),
    Relation(
        "manager", "Who is {s}'s manager?", "{s}'s manager is {v}.",
        ("{s} reports to {v} now.", "{v} has become {s}'s boss.", "{s} has a new boss, {v}."),
        ("Priya", "Gustav", "Lena", "Hiroshi", "Carmen", "Dmitri"),
    ),
    Relation(
        "diet", "What diet does {s} follow?", "{s} follows a {v} diet.",
        ("{s} has gone {v}.", "{s} eats only {v} food now.", "{s} has become {v}."),
        ("vegan", "keto", "vegetarian", "pescatarian", "paleo", "kosher"),
    ),
    Relation(
        "owner", "Who owns {s}?", "{s} is owned by {v}.",
        ("{s} was handed over to {v}.", "{v} has taken over {s}.", "{v} is responsible for {s} now."),
        ("the platform team", "the data team", "the mobile team", "the search team", "the core team"), of_things=True,
    ),
    Relation(
        "phone", "What is {s}'s phone number?", "{s}'s phone number is {v}.",
        ("{s} can be reached at {v} now.", "{s} has a new number: {v}.", "Call {s} at {v} from now on."),
        ("555-0142", "555-0199", "555-0117", "555-0163", "555-0128", "555-0185"),
    ),
    Relation(
        "price", "How much does {s} cost?", "{s} costs {v} a month.",
        ("The price of {s} has gone to {v}.", "{s} is billed at {v} now.", "We pay {v} for {s} since the renewal."),
        ("40 euros", "55 euros", "75 euros", "90 euros", "120 euros", "20 euros"), of_things=True,
    ),
    Relation(
        "sport", "What sport does {s} do?", "{s} does {v} as a sport.",
        ("{s} has switched to {v}.", "{s} trains for {v} twice a week now.", "{s} joined a {v} club."),
        ("judo", "rowing", "fencing", "badminton", "climbing", "handball"),
    ),
    Relation(
        "school", "Which school does {s} attend?", "{s} attends {v} school.",
        ("{s} has transferred to {v}.", "{s} is a pupil at {v} now.", "{s} was enrolled at {v}."),
        ("Hillcrest", "Lakeside", "Saint Anne", "Riverdale", "Oakwood", "Maple Grove"),
    ),
)  # fmt: skip
PEOPLE = (
    "Ilse", "Tomas", "Farida", "Bruno", "Noor", "Kenji", "Odile", "Piotr", "Ximena", "Anders", "Leila", "Marek",
    "Yusuf", "Greta", "Solveig", "Rafael", "Imani", "Jonas", "Beatriz", "Colm",
)  # fmt: skip
THINGS = (
    "Falcon", "the billing service", "Project Aurora", "the search gateway", "Basecamp", "the invoice exporter",
    "Heron", "the login portal", "Project Tundra", "the report builder", "Kestrel", "the mail relay",
)  # fmt: skip
TALK = (
    "{s} was late for lunch again.", "{s} sent a postcard from the coast.", "Had a long call about {s} on Tuesday.",
    "{s} liked the film about the lighthouse.", "{s} asked for the slides of last week.",
    "The plants on the balcony belong next to {s}.",
)  # fmt: skip
