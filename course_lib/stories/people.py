"""Who the stories are about: a small cast of names and kinds, and what may be said of them. Most used first."""

from course_lib.stories.grammar import Word, Words, word

SHE = {"she": "she", "her": "her", "him": "her", "girl": "girl"}
HE = {"she": "he", "her": "his", "him": "him", "girl": "boy"}


def names(girls: str, boys: str) -> list[Word]:
    """Names with their pronouns, girls and boys in turn."""
    pairs = zip(girls.split(), boys.split(), strict=True)
    return [word(name, "name", **forms) for pair in pairs for name, forms in zip(pair, (SHE, HE), strict=True)]


HEROES = names("Mia Lily Rosa Nora Ella Zoe Poppy Ada", "Tom Ben Leo Sam Max Finn Otto Hugo")
FRIENDS = names("Daisy Ruby Hazel Clara Bella Tilly Olive Greta", "Jack Oscar Felix Gus Bruno Toby Milo Walter")
HERO_ANIMALS = Words.parse("animal", "rabbit, mouse, fox, bear, squirrel, hedgehog", 0.5).words
CHILDREN = {child: word(child, "animal") for child in ("girl", "boy")}

# A hero carries the kinds that fit the name, and a kind the names that fit it, so that either can be told first.
for hero in HEROES:
    hero.forms["kinds"] = Words([CHILDREN[hero["girl"]], *HERO_ANIMALS], 0.7)
for name, child in CHILDREN.items():
    child.forms["names"] = Words([hero for hero in HEROES if hero["girl"] == name], 0.6)
for animal in HERO_ANIMALS:
    animal.forms["names"] = Words(HEROES, 0.6)

RELATIVES = [
    *(word(name, "relative", **SHE) for name in ("mother", "grandmother", "aunt", "sister")),
    *(word(name, "relative", **HE) for name in ("father", "grandfather", "uncle", "brother")),
]

LISTS = {
    "hero": Words(HEROES, 0.6),
    "friend": Words(FRIENDS, 0.6),
    "kind": Words([CHILDREN["girl"], CHILDREN["boy"], *HERO_ANIMALS], 0.7),
    "friendkind": Words.parse("animal", "badger, frog, otter, goose, mole, hare, beaver, goat, tortoise, hamster", 0.6),
    "relative": Words(RELATIVES[::2] + RELATIVES[1::2], 0.5),
    "trait": Words.parse(
        "trait",
        """kind, brave, funny, curious, cheerful, clever, shy, sleepy, wise, gentle, merry, noisy, thoughtful, polite, round,
        quiet, patient, dreamy, lively, honest, plump, busy, playful, bold, friendly, careful, fluffy, eager, jolly,
        nimble, stubborn, tidy, generous, talkative, sensible, giddy, adventurous, hopeful, stout, forgetful, plucky,
        hungry, inquisitive, freckled, bashful, grumpy, loyal, untidy, dapper, absent-minded, chatty, daring, bouncy,
        sunny, spirited, muddy, bright-eyed, short-sighted, dignified, ticklish, big-hearted""",
        1.0,
    ),
    "home": Words.parse(
        "home",
        """the house with the blue door, the cottage by the bridge, the last house in the lane, the house under the oak,
        the crooked house on the hill, the cottage behind the church, the house with the round windows, the old mill,
        the little house by the well, the cottage with the thatched roof, the house above the bakery, the lighthouse,
        the house with the creaky stairs, the gardener's cottage, the cottage among the hollyhocks, the tall house in
        the square""",
        0.5,
    ),
    "hobby": Words.parse(
        "hobby",
        """sing/sang/singing, dance/danced/dancing, whistle/whistled/whistling, laugh/laughed/laughing,
        hum/hummed/humming, skip/skipped/skipping, tell jokes/told jokes/telling jokes, hop on one leg/hopped on one
        leg/hopping on one leg, ask riddles/asked riddles/asking riddles, make up rhymes/made up rhymes/making up
        rhymes, walk backwards/walked backwards/walking backwards, giggle/giggled/giggling, twirl/twirled/twirling,
        count the clouds/counted the clouds/counting the clouds, yodel/yodelled/yodelling, recite poems/recited
        poems/reciting poems""",
        0.7,
        ("ed", "ing"),
    ),
    "job": Words.parse(
        "job",
        """baker, gardener, teacher, farmer, carpenter, doctor, painter, tailor, shepherd, beekeeper, miller, sailor,
        blacksmith, pastry cook, potter, clockmaker, weaver, librarian, cobbler, musician, ferryman, inventor,
        toymaker, gamekeeper, bricklayer, dentist, candlemaker, chimney sweep, organist, astronomer, locksmith,
        glassblower, bookbinder, goldsmith, woodcutter, cheesemaker, nurse, mapmaker, umbrella maker, magician,
        plumber, lamplighter, bell ringer, basket weaver, puppeteer, juggler, milliner, upholsterer""",
        0.9,
    ),
    "town": Words.parse(
        "town",
        """Willowbrook, Appleton, Bramblewick, Mossbury, Thistledown, Honeyford, Pebblestone, Ferndale, Puddleby,
        Hazelmere, Cloverfield, Otterbourne, Nettlecombe, Windleham, Larkspur, Foxglove Hill, Buttercross, Marshwood,
        Rosethorne, Kettleburn, Drizzleton, Snowdrop Vale, Barleycote, Gooseberry Green, Tumbledown, Quillbrook,
        Sparrowfield, Merrydown, Elderwick, Candleford, Dovecote, Ivybridge""",
        0.9,
    ),
}
