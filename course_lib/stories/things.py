"""What the stories are about: things to own, lose, lend and give, and what there is to eat. Most used first.

A thing carries what one does with it (`use`) and how it breaks (`broke`). No word of `thing` is in `treasure`, and no
`colour` in `shade`, so that two things of one story are never the same.
"""

from itertools import pairwise

from course_lib.stories.grammar import Words, word

NUMBERS = [word(number, "number") for number in "one two three four five six seven eight nine ten".split()]
for fewer, more in pairwise(NUMBERS):
    fewer.forms["more"], more.forms["less"] = more, fewer

LISTS = {
    "colour": Words.parse("colour", "red, blue, green, yellow, purple, orange", 0.6),
    "shade": Words.parse("colour", "silver, white, golden, pink, brown, black", 0.6),
    "number": Words(NUMBERS[2:8], 0.5),
    "thing": Words.parse(
        "thing",
        """ball/bounce it/burst, kite/fly it/tore, drum/beat it/split, hat/wear it/ripped, toy boat/sail it/cracked,
        lantern/light it/cracked, scarf/wear it/ripped, whistle/blow it/snapped, umbrella/open it/tore, wagon/pull it
        along/lost a wheel, flute/play it/cracked, spinning top/spin it/cracked, puppet/make it dance/came apart,
        trumpet/play it/cracked, wooden horse/ride it/lost a leg, teapot/fill it/cracked, cape/wear it/ripped, skipping
        rope/swing it/snapped, fan/wave it/tore, banjo/play it/snapped, parasol/twirl it/tore, tambourine/shake
        it/split, sledge/pull it along/cracked, butterfly net/carry it/tore, concertina/squeeze it/tore, hobby
        horse/ride it/snapped""",
        0.9,
        ("use", "broke"),
    ),
    "treasure": Words.parse(
        "thing",
        """bell/ring it/cracked, book/read it/tore, crown/wear it/snapped, cup/drink from it/cracked, ring/wear it/bent,
        feather/admire it/snapped, mirror/look into it/cracked, necklace/wear it/snapped, music box/open it/cracked,
        telescope/look through it/cracked, compass/follow it/cracked, snow globe/shake it/cracked, watch/wind
        it/stopped, medal/polish it/bent, paintbrush/use it/snapped, magnet/play with it/split, brooch/wear it/bent,
        magnifying glass/look through it/cracked, harmonica/play it/cracked, thimble/wear it/bent, quill/write with
        it/snapped, chess piece/hold it/cracked, pocket knife/polish it/snapped, seashell/listen to it/cracked,
        hourglass/turn it over/cracked, mouth organ/play it/split""",
        0.9,
        ("use", "broke"),
    ),
    "treat": Words.parse(
        "treat",
        """apple/apples, cookie/cookies, plum/plums, bun/buns, pear/pears, pancake/pancakes, muffin/muffins,
        strawberry/strawberries, sandwich/sandwiches, peach/peaches, waffle/waffles, carrot/carrots, tart/tarts,
        dumpling/dumplings, orange/oranges, pretzel/pretzels, fig/figs, doughnut/doughnuts, radish/radishes,
        apricot/apricots, macaroon/macaroons, sausage roll/sausage rolls, banana/bananas, biscuit/biscuits, gingerbread
        man/gingerbread men, crumpet/crumpets, honey cake/honey cakes, pasty/pasties, meringue/meringues,
        nectarine/nectarines, scone/scones, truffle/truffles, lollipop/lollipops, tangerine/tangerines""",
        0.9,
        ("s",),
    ),
    "supper": Words.parse(
        "food",
        """pea soup, pancakes, hot porridge, buttered toast, apple pie, baked potatoes, vegetable stew, cheese dumplings,
        cherry tart, rice pudding, mushroom soup, plum cake, noodles, roasted chestnuts, scrambled eggs, tomato soup,
        bread and honey, pumpkin pie, fish cakes, lentil soup, blackberry crumble, macaroni, carrot cake, corn
        fritters, leek pie, gingerbread, cinnamon rolls, onion soup, ravioli, custard, barley broth, spinach omelette,
        shortbread, rhubarb jelly, sardines on toast, cauliflower cheese, parsnip soup, raisin bread, marmalade
        sandwiches, semolina, beetroot salad, cocoa and crackers, chicken casserole, potato salad, vanilla pudding,
        walnut bread""",
        0.9,
    ),
    "game": Words.parse(
        "game",
        """hide-and-seek, tag, leapfrog, pirates, catch, hopscotch, skittles, marbles, explorers, tug-of-war, dominoes,
        blind man's buff, circus, draughts, knights and dragons, cowboys, shopkeepers, rounders, snap, shipwreck,
        charades, detectives, noughts and crosses, kings and queens, mountaineers, cricket, badminton, croquet, cards,
        acrobats""",
        0.9,
    ),
    "material": Words.parse(
        "material",
        """branches, planks, blankets, straw, cardboard, stones, old curtains, sticks and string, bricks, fir twigs,
        barrels, bamboo, crates, canvas, driftwood, wattle, turf, broomsticks, bedsheets, wicker, sailcloth, corrugated
        iron""",
        0.9,
    ),
    "flower": Words.parse(
        "flower",
        """sunflower, rose, tulip, daisy, poppy, lily, bluebell, daffodil, marigold, violet, buttercup, snowdrop, pansy,
        foxglove, lavender bush, peony, primrose, hollyhock, crocus, geranium, cornflower, dahlia, honeysuckle, iris,
        chrysanthemum, sweet pea, begonia, petunia, carnation, orchid, forget-me-not, jasmine, hyacinth, snapdragon,
        anemone, magnolia, nasturtium, camellia""",
        0.9,
    ),
    "bird": Words.parse(
        "bird",
        """robin, blackbird, thrush, cuckoo, lark, sparrow, wren, swallow, finch, starling, nightingale, bluethroat, dove,
        goldfinch, blue tit, wagtail, warbler, linnet, serin, titmouse, oriole, chaffinch, nuthatch, woodpigeon,
        bullfinch, hoopoe, swift, siskin, bunting""",
        0.9,
    ),
    "tree": Words.parse(
        "tree",
        """oak, birch, apple tree, willow, elm, lime tree, hawthorn, beech, maple, pine, hazel, chestnut tree, poplar,
        rowan, cherry tree, alder, larch, sycamore, ash, elder bush, yew, holly bush, spruce, walnut tree, cedar,
        juniper""",
        0.9,
    ),
    "skill": Words.parse(
        "skill",
        """whistle/whistled, swim/swam, juggle/juggled, skate/skated, ride a bicycle/rode a bicycle, climb a rope/climbed
        a rope, do a cartwheel/did a cartwheel, play the violin/played the violin, bake bread/baked bread, tie a
        bow/tied a bow, walk on stilts/walked on stilts, row a boat/rowed a boat, knit/knitted, dive/dived, turn a
        somersault/turned a somersault, crack a nut/cracked a nut, play the piano/played the piano, waltz/waltzed,
        ski/skied, catch a ball/caught a ball, tell the time/told the time, walk a tightrope/walked a tightrope,
        roller-skate/roller-skated, play chess/played chess, sneeze quietly/sneezed quietly""",
        0.8,
        ("ed",),
    ),
}
