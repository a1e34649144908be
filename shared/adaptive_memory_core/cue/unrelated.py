"""Which questions have nothing to do with a user's memory? Those that a relevance floor is calibrated with.

Half are of the kind that an encyclopedia answers, half of the kind that is asked of somebody's memories, about people
and things that nobody has: a memory that is of such a kind itself knows many of the words, and the answer to none.
"""

from __future__ import annotations

import re

_OF_THE_WORLD = """
How long should I boil an egg so that the yolk stays soft? Which planet has the most moons? Why do cats purr?
What is the capital of Mongolia? How do vaccines train the immune system? Who painted the Sistine Chapel?
What is the boiling point of mercury? How many players are on a rugby team? Can penguins fly? How far is the moon?
What does a carburettor do? How do I fold a paper crane? When was the printing press invented? Is tin magnetic?
What causes the northern lights? Which spice goes best with pumpkin soup? How far is it from Lisbon to Madrid?
What is the plot of Hamlet? How do submarines dive and surface? Is it true that bats are blind? What is a mantissa?
What was the longest war in history? How do I sharpen a kitchen knife? Why is the sea salty? Who wrote the Odyssey?
How does a refrigerator keep things cold? What are the rules of cricket? How many bones does a shark have?
What is the difference between a violin and a viola? When do cherry trees bloom in Kyoto? What is a good pirate name?
What is the tallest waterfall in the world? How is glass made from sand? Why do onions make people cry?
How do I prune a rose bush? What language is spoken in Brazil? Which metal is liquid at room temperature?
Who was the first woman in space? How do solar panels make electricity? What does the word serendipity mean?
How deep is the Mariana Trench? How do bees find their way back to the hive? What year did the Titanic sink?
How do I get candle wax out of a carpet? What is the square root of two hundred and twenty five? What is basalt?
Which countries border Switzerland? How do you play the saxophone? What makes bread rise? Who discovered penicillin?
How are diamonds formed? What is the national bird of New Zealand? How does a piano produce its sound?
When did the Berlin Wall fall? What should I feed a hedgehog? How do I knit a scarf? What is the currency of Thailand?
Why do leaves turn red in autumn? How many strings does a harp have? What is the speed of sound under water?
Who invented the telephone? How do I remove rust from an old bicycle chain? Where do eels spawn? Why is rust red?
What is the best time of year to see whales in Iceland? How do volcanoes erupt? What is the rhyme scheme of a sonnet?
How many chromosomes does a fruit fly have? Which philosopher wrote The Republic? How do I make a compost heap?
What is photosynthesis? Who won the chess championship in 1972? What does a stethoscope measure? What do koalas eat?
How do elevators know where to stop? What is the population of Iceland? How do you say thank you in Japanese?
What is quantum entanglement? Which bird lays the largest egg? How do I fix a leaking tap? How do I write a haiku?
Why does the moon have phases? What is the oldest university in Europe? What is the atomic number of carbon?
Tell me how a clutch works in a manual car. Explain inflation to a child. Give me a recipe for lentil curry.
Show me how to tie a bowline knot. Tell me a joke about a horse. Describe the taste of durian. Name three rivers.
List the kings of France after 1600. Translate good morning into Finnish. Convert twelve miles into kilometres.
"""

_OF_OTHER_PEOPLE = """
What did the senator say about the farming bill? Where did the expedition find the fossil? Who feeds Yuki's iguana?
When did the orchestra announce its new conductor? Who repaired the lighthouse after the storm? Has Ingmar called?
What did the judge decide in the patent case? Which team won the regatta on Saturday? Is Osvaldo allergic to shellfish?
Where was the stolen painting found? What did the astronomers see through the telescope? Does Ragnar have a twin?
Why did the factory close its second assembly line? How much did the museum pay for the statue?
What did Igor build in his greenhouse? Where did Fatima leave the spare key of the boathouse? What does Zdenka sell?
When did Bartholomew move to Antarctica? What instrument does Yuki's grandfather repair? Why was Ragnar late?
Which mountain did Priscilla climb before breakfast? What colour is Svetlana's helicopter? How tall is Casimir?
How many goats does Mateo keep? What did Anselm's uncle carve out of walnut wood? Who taught Leocadia to blow glass?
How often does Dmitri visit the beekeepers' guild? What is the name of Olumide's parrot? Where was Oriana born?
What did Gwendolyn bring back from the salt mine? When is Thaddeus going to publish his atlas of moss?
What does Hedwig like to do on her days off? What kind of books does Ferdinand read to his nieces?
Which country does Amarachi want to visit next summer? What gift did Wolfgang receive from his fencing teacher?
How did Seraphina feel after the sled race? When did Kwame start taking pottery classes? Who is Ottilie's best friend?
What are Isidora's plans for the weekend? What advice did Balthazar give about the loan? Why was Mireille so proud?
What does Theodora think about the new zoning law? What is Rupert's favourite opera? When is Umberto's birthday?
Where did Anoushka go on her honeymoon? How long has Cornelius been a locksmith? What did Xiomara's brother study?
What happened at Eustace's retirement party? Which sport did Philippa give up after her injury? Did Zoltan get the job?
How many siblings does Ambrose have? What did Nkechi and her mother cook for the wedding? What did Lorcan lose at sea?
What was the name of the shop that Evander opened? How did Marguerite learn to juggle? Who adopted Bogdan's llama?
What did Sigrid decide to do with her inheritance? When did Alasdair last see a dentist? What scares Perpetua most?
What pets does Calliope have? Which job did Horatio apply for in the spring? What has Tindra been painting lately?
What motivated Leopold to join the volunteer fire brigade? Why does Evgenia avoid trains? What did Quentin promise?
What does Ignatius do to relax after a long day? When did Rosalind's choir perform for the first time?
Which charity did Desmond raise money for? What did the twins name their sailing boat? Who designed Astrid's tattoo?
Can you order forty litres of paint for the barn? Did I ever mention the meteorite in the attic? Is the kiln warm yet?
What was the password of the observatory's guest network? Please book the squash court for the ambassador.
How many people signed up for the falconry course? What is the serial number of the loom? Who borrowed my sextant?
"""


def _questions(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(re.split(r"(?<=[?.]) ", " ".join(text.split()))))


UNRELATED: tuple[str, ...] = (*_questions(_OF_THE_WORLD), *_questions(_OF_OTHER_PEOPLE))
