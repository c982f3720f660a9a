"""Small lists: what the plots need besides people, places and things. Most used first."""

from course_lib.stories.grammar import Words

LISTS = {
    "weather": Words.parse(
        "weather", "sunny, windy, warm, bright, misty, fresh, mild, golden, cloudless, breezy, hazy, balmy, still", 0.8
    ),
    "furniture": Words.parse(
        "furniture",
        """the stairs, the bed, the carpet, a loose floorboard, the cupboard, a sofa cushion, the doormat, the piano, an
        armchair""",
        0.8,
    ),
    "sad": Words.parse(
        "feeling",
        """sad, lonely, unhappy, miserable, gloomy, sorry, downcast, glum, wretched, tearful, heavy-hearted, mournful""",
        0.8,
    ),
    "part": Words.parse("part", "knee, toe, nose, elbow, ankle, chin, ear, shoulder", 0.8),
    "trip": Words.parse(
        "stumble",
        """a stone, a root, a twig, a bucket, a garden rake, a sleeping cat, a turnip, a wheelbarrow, a molehill, a
        shoelace""",
        0.8,
    ),
    "slip": Words.parse(
        "stumble",
        """a wet leaf, a banana skin, a plum, some mud, a marble, a piece of soap, a pine cone, a snail, a lettuce leaf,
        the ice cream""",
        0.8,
    ),
    "mend": Words.parse(
        "mend",
        """glue and string, needle and thread, tape and patience, a little paint, paste and paper, nails and wire, ribbon,
        candle wax, three buttons, beeswax, a bandage, a shoelace""",
        0.8,
    ),
    "chore": Words.parse(
        "chore",
        """swept the yard, washed the windows, carried wood, picked cherries, fed the hens, polished the boots, weeded the
        garden, peeled potatoes, delivered parcels, painted the fence, dusted the shelves, beat the rugs, watered the
        tomatoes, sorted the buttons, scrubbed the floor, stacked the plates, raked the leaves, shelled the peas""",
        0.8,
    ),
    "den": Words.parse("den", "hut, tower, castle, den, fort, treehouse, wigwam, palace, cabin, lookout", 0.7),
    "strong": Words.parse(
        "material", "boulders, oak beams, clay bricks, thick logs, iron rods, granite, tree trunks", 0.8
    ),
    "bag": Words.parse("bag", "basket, bag, bucket, sack, satchel, pail, rucksack, apron, purse, hamper", 0.8),
    "wrap": Words.parse(
        "wrap", "scarf, coat, jacket, shawl, pullover, blanket, cardigan, poncho, raincoat, waistcoat", 0.8
    ),
    "room": Words.parse(
        "room", "kitchen, attic, hall, cellar, bathroom, parlour, pantry, library, cupboard, corridor", 0.7
    ),
    "pot": Words.parse("pot", "pot, bowl, jug, mug, tub, vase, jar, saucepan, barrel, wellington boot", 0.8),
    "cap": Words.parse("cap", "cap, hat, glove, shoe, bonnet, boot, apron, slipper, mitten, beret", 0.8),
    "seat": Words.parse("seat", "wall, steps, fence, gate, bench, swing, doorstep, log, kerb", 0.8),
    "weekday": Words.parse(
        "weekday",
        "Sunday/Sundays, Friday/Fridays, Saturday/Saturdays, Tuesday/Tuesdays, Thursday/Thursdays, Wednesday/Wednesdays",
        0.5,
        ("s",),
    ),
    "stranger": Words.parse(
        "stranger",
        """old man, fiddler, pedlar, wanderer, soldier, tinker, knight, pilgrim, old woman, minstrel, scissor-grinder,
        tramp, fortune-teller, poet, organ-grinder, acrobat, hermit, troubadour""",
        0.8,
    ),
}
