"""Where the stories happen: each place carries what is found, seen and hidden there, so that nothing is out of place.

`spots` are where they look in vain, `nooks` where a thing turns up (no word is in both), `young` the animals that may be
lost there, `finds` the small things one can gather, and `sights` sentences about the place.
"""

from course_lib.stories.grammar import Word, Words, word

PLACES = """
pond | by the pond
  spots: under the little bridge, among the reeds, behind the willow
  nooks: beneath a lily leaf, inside the old rowing boat, between the bulrushes
  young: duckling, cygnet, gosling, newt
  finds: pebble/pebbles, snail shell/snail shells, feather/feathers
  sights: Dragonflies skimmed over the water. The reeds whispered in the breeze. A heron stood on one leg. Two swans glided past.

meadow | in the meadow
  spots: behind the stone wall, among the daisies, under the gate
  nooks: in the tall grass, beside a molehill, in the hollow stump
  young: lamb, leveret, quail chick, shrew
  finds: clover leaf/clover leaves, ladybird/ladybirds, wild strawberry/wild strawberries
  sights: Bees buzzed in the clover. Butterflies fluttered everywhere. The grass was wet with dew. Poppies nodded.

forest | in the forest
  spots: behind the tallest pine, under the ferns, between the roots
  nooks: inside a hollow log, on a bed of moss, beneath a toadstool
  young: owlet, fawn, wolf cub, marten
  finds: acorn/acorns, pine cone/pine cones, chestnut/chestnuts, hazelnut/hazelnuts
  sights: Sunbeams slipped through the branches. A woodpecker hammered. It smelled of moss and resin. Leaves rustled.

beach | on the beach
  spots: behind the dunes, under the jetty, among the rocks
  nooks: in a rock pool, beside a sandcastle, beneath the seaweed
  young: turtle, seal pup, gull chick
  finds: shell/shells, starfish/starfish, smooth stone/smooth stones, sea urchin/sea urchins
  sights: Waves rolled up the sand. Gulls wheeled and cried. The sea glittered like glass. It smelled of salt and seaweed.

orchard | in the orchard
  spots: behind the ladder, under the plum trees, in the wheelbarrow
  nooks: among the fallen apples, inside an empty crate, behind the beehive
  young: fledgling, dormouse, bat
  finds: cherry/cherries, walnut/walnuts, windfall/windfalls, pear/pears
  sights: Blossom drifted down like snow. Wasps hummed around the plums. Ripe fruit shone in the leaves. The ladders creaked.

park | in the park
  spots: under the bench, behind the fountain, among the tulips
  nooks: beneath the bandstand, in the sandpit, beside the statue
  young: kitten, puppy, pigeon chick, parakeet
  finds: conker/conkers, daisy chain/daisy chains, bottle top/bottle tops, maple leaf/maple leaves
  sights: The fountain sparkled. Somebody was feeding the pigeons. A brass band was playing. The swings squeaked cheerfully.

river | by the river
  spots: behind the boathouse, under the stepping stones, among the nettles
  nooks: on a sandbank, in the fisherman's net, between two boulders
  young: kingfisher chick, water vole, dipper chick
  finds: flat stone/flat stones, mussel/mussels, reed/reeds, willow twig/willow twigs
  sights: The water gurgled and chattered. A trout jumped. A kingfisher flashed past. Barges drifted slowly by.

farm | on the farm
  spots: behind the tractor, under the trough, in the stable
  nooks: on top of the haystack, inside a milk churn, beneath the plough
  young: piglet, chick, barn kitten
  finds: egg/eggs, potato/potatoes, turnip/turnips, horseshoe/horseshoes
  sights: Hens scratched in the straw. A cow mooed over the fence. The rooster crowed. The windmill turned lazily.

market | at the market
  spots: under the cheese stall, behind the barrels, among the flowerpots
  nooks: in a basket of onions, between two melons, behind the fishmonger
  young: tabby kitten, canary, stray puppy, guinea pig
  finds: button/buttons, penny/pennies, bead/beads, ribbon/ribbons
  sights: Everyone was shouting about cabbages. It smelled of fresh bread. A fiddler played for coins. Striped awnings flapped.

hill | on the hill
  spots: behind the signpost, among the gorse, under the picnic table
  nooks: in the heather, beside the cairn, in a sheep track
  young: skylark chick, polecat, partridge chick
  finds: blackberry/blackberries, bluebell/bluebells, juniper berry/juniper berries, round stone/round stones
  sights: The whole valley lay below. The wind combed the grass. Larks sang high above. Sheep bells tinkled.

harbour | in the harbour
  spots: behind the anchor, under the fishing nets, among the lobster pots
  nooks: inside a coil of rope, on the lowest step, beneath a tarpaulin
  young: baby seal, ship's kitten, puffin chick, pelican chick
  finds: cork/corks, brass hook/brass hooks, fish scale/fish scales, sea glass bead/sea glass beads
  sights: Masts swayed and clinked. The fishing boats were coming in. A steamer hooted. Sailors were mending nets.

castle | at the castle
  spots: behind the suit of armour, under the drawbridge, in the dungeon
  nooks: on the spiral staircase, inside a cannon, beneath the rose bush
  young: peacock chick, jackdaw, falcon chick, raven chick
  finds: gold coin/gold coins, rusty key/rusty keys, marble/marbles, rose petal/rose petals
  sights: Flags fluttered on the towers. Ravens croaked from the walls. Ivy climbed to the windows. The gate stood open.

lake | by the lake
  spots: behind the canoe, under the landing stage, among the birches
  nooks: in the shallow water, beside the campfire, beneath a blanket of leaves
  young: loon chick, muskrat, grebe chick
  finds: blueberry/blueberries, birch leaf/birch leaves, skimming stone/skimming stones, dewdrop/dewdrops
  sights: Mist hung above the water. The lake was as smooth as a mirror. A fish splashed. Fir trees stood all around.

fairground | at the fairground
  spots: behind the carousel, under the helter-skelter, in the ticket booth
  nooks: inside a popcorn bucket, among the balloons, on the ghost train
  young: parrot, monkey, circus puppy
  finds: ticket/tickets, toffee/toffees, token/tokens, paper star/paper stars
  sights: The organ played a waltz. Coloured lights blinked. It smelled of candyfloss. The big wheel turned against the sky.

station | at the railway station
  spots: under the ticket window, behind the luggage, in the waiting room
  nooks: on the last bench, inside a lost hatbox, beside the signal box
  young: terrier puppy, sparrow chick, carrier pigeon, white kitten
  finds: stamp/stamps, postcard/postcards, luggage label/luggage labels, copper nail/copper nails
  sights: A steam engine puffed and hissed. The stationmaster blew a whistle. Porters hurried about. The clock ticked loudly.

marsh | on the marsh
  spots: behind the peat stack, among the rushes, under the wooden walkway
  nooks: on a tussock, inside an eel trap, beneath the cotton grass
  young: crane chick, toad, curlew chick
  finds: cranberry/cranberries, cattail/cattails, heron feather/heron feathers, speckled stone/speckled stones
  sights: Frogs croaked in chorus. A curlew called. Fog crept between the tussocks. Midges danced in the light.
"""


def place(block: str) -> Word:
    head, *rows = block.strip().split("\n")
    name, inside = head.split(" | ")
    carried = dict(row.strip().split(": ", 1) for row in rows)
    sights = ", ".join(sight.rstrip(".") for sight in carried["sights"].split(". "))
    return word(
        f"the {'railway ' if name == 'station' else ''}{name}",
        "place",
        at=inside,
        spots=Words.parse("spot", carried["spots"], 0.5),
        nooks=Words.parse("spot", carried["nooks"], 0.5),
        young=Words.parse("young animal", carried["young"], 0.7),
        finds=Words.parse("find", carried["finds"], 0.7, ("s",)),
        sights=Words.parse("sight", sights, 0.5),
    )


LISTS = {"place": Words([place(block) for block in PLACES.strip().split("\n\n")], 0.6)}
