"""What one may dream of, read about, or see in a cloud: long tails of rare words. Most used first."""

from course_lib.stories.grammar import Words

LISTS = {
    "marvel": Words.parse(
        "marvel",
        """dragons, stars, pirates, whales, castles, giants, elephants, mountains, fairies, ships, tigers, kings, islands,
        dinosaurs, rainbows, lions, mermaids, wizards, comets, unicorns, penguins, waterfalls, camels, caves,
        submarines, volcanoes, snowmen, dolphins, monkeys, knights, treasure, rockets, witches, crocodiles, deserts,
        icebergs, trains, clowns, queens, jungles, goblins, zebras, kangaroos, planets, circus acrobats, tunnels, polar
        bears, giraffes, windmills, ghosts, parrots, robots, princes, flying carpets, lighthouses, peacocks, thunder,
        towers, gnomes, seals, octopuses, magic beans, chocolate, astronauts, inventors, bridges, fireworks,
        butterflies, robbers, palaces, trolls, glaciers, pyramids, airships, hippos, cannons, ostriches, labyrinths,
        phoenixes, wolves, snowflakes, leopards, detectives, cathedrals, hurricanes, meteors, rhinoceroses, pelicans,
        steam engines, buffaloes, jellyfish, caravans, emperors, gladiators, Vikings, reindeer, coral reefs, llamas,
        flamingos, chameleons, walruses, orchestras, skyscrapers, fossils, eagles, cowboys, sultans, canyons,
        ballerinas, hot-air balloons, sea serpents, toucans, gorillas, aeroplanes, werewolves, sorcerers, crystal
        balls, hedgehogs in boots, mammoths, minotaurs, musketeers, seahorses, armadillos, explorers, porcupines,
        beanstalks, galaxies, cheetahs, piranhas, scarecrows, narwhals, sphinxes, earthquakes, mummies, centaurs,
        bandits, alligators, koalas, sailors, antelopes, tornadoes, samurai, ice palaces, pandas, lanterns, griffins,
        chandeliers, jesters, geysers, kraken, moths, stalactites, yaks, oases, tapirs, zeppelins, gondolas, lemurs,
        meerkats, sloths, vampires, orang-utans, constellations, avalanches""",
        1.05,
    ),
    "shape": Words.parse(
        "shape",
        """whale, dragon, ship, rabbit, castle, horse, giant, sheep, snail, elephant, teapot, crocodile, feather, camel,
        swan, mountain, mushroom, boot, lion, cake, fish, bear, pillow, trumpet, cauliflower, turtle, heart, crown,
        umbrella, pig, anchor, spoon, cat, wizard, key, dinosaur, trombone, pear, hat, dolphin, octopus, slipper,
        bathtub, wheelbarrow, saxophone, tortoise, goose, kangaroo, nose, pineapple, rocket, sofa, violin, giraffe,
        piano, moustache, walrus, comb, ladder, lobster, candle, windmill, unicorn, bicycle, harp, seahorse, flying
        saucer, squirrel, saddle, cactus, frying pan, thumb, grand piano, rhinoceros, ice-cream cone, sleeping dog,
        wolf, hammer, clarinet, acorn, bulldog, mermaid, iron, lampshade, loaf, pumpkin, kettle, beard, submarine,
        hippopotamus, typewriter, caterpillar, mattress, jellyfish, vase, croissant, cuttlefish, armchair, scorpion,
        corkscrew, pelican, galleon, dumbbell, chandelier, haystack, sombrero""",
        1.05,
    ),
    "lark": Words.parse(
        "simile",
        """a lark, a king, a sunbeam, a bee in clover, a kitten in a basket, a clown, a duck in the rain, a cricket, a
        songbird, a mouse in a cheese shop, a dog with two tails, a pea in a pod, a frog in a puddle, a sailor on
        holiday, a puppy in a pile of leaves, a hen with a golden egg, a fiddler at a wedding, a cat in cream, a piglet
        in mud, a robin in spring, a baker on pancake day, a fish in the sea, a monkey with a banana, a queen at a
        picnic, a snowman in January, a squirrel in a nut factory, a child at Christmas, a seagull in a bakery""",
        0.9,
    ),
    "noise": Words.parse(
        "noise",
        """rustle, squeak, splash, thump, whisper, rattle, sneeze, sniffle, whimper, tapping, snuffling, creak, cough,
        hiccup, scratching, jingle, humming, sigh, crackle, yelp, snore, clatter, grumble, gurgle, peep, chirp,
        knocking, wheeze, shuffle, twitter, howl, clinking, mumble, fluttering, groan, buzzing, moan, bleating""",
        0.8,
    ),
    "fear": Words.parse(
        "fear",
        """ghost, wolf, monster, giant, burglar, dragon, witch, goblin, tiger, ogre, troll, robber, vampire, werewolf,
        pirate, skeleton, bandit, crocodile, sorcerer, phantom, yeti, banshee, spectre""",
        0.8,
    ),
    # A noise belongs to one cause only: who hears it could know.
    "cause": Words.parse(
        "cause",
        """branch/tapping on the window/tapping, curtain/flapping in the wind/flapping, mouse/rolling a nut/rolling,
        shutter/banging on the wall/banging, tap/dripping into the sink/dripping, kettle/whistling on the
        stove/whistling, puppy/snoring in its basket/snoring, clock/ticking in the dark/ticking, moth/fluttering round
        a lamp/fluttering, gate/squeaking on its hinges/squeaking, cat/scratching at the door/scratching,
        fire/crackling in the grate/crackling, stair/creaking in its sleep/creaking, cricket/chirping under the
        floor/chirping, beetle/rustling in a drawer/rustling, owl/hooting down the chimney/hooting, key/jingling on a
        hook/jingling, window/rattling in its frame/rattling, pigeon/cooing on the sill/cooing, bee/buzzing in a
        jar/buzzing, broom/scraping along the wall/scraping""",
        0.7,
        ("doing", "noise"),
    ),
}
