"""What happens with a friend. Facts at hand: Hero, Kind, Trait, Home; Friend, FriendKind, Hobby."""

RULES = {
    "with_friend": [
        "<lost>", "<shared>", "<race>", "<lent>", "<traded>", "<birthday>", "<built>", "<map>", "<quarrel>", "<gathered>",
    ],
    "lost": [
        """One [sunny|windy|misty|warm|crisp|golden] morning, {Hero} took {Hero.her} {Colour=colour} {Thing=thing} to
        {Place=place}. <scene> But on the way home, {Hero} stood still. "My {Thing} is gone!" {Hero.she} cried.
        ¶ "[Don't cry|Never mind|Dry your tears]," said {Friend}. "We will find it." They looked {=Place.spots}.
        [It was not there|Nothing]. Then {Friend} looked {Nook=Place.nooks}. "[Here|I see|Hurrah, here] it is!"
        {Friend.she} [called|shouted|cheered].
        ¶ {Hero} hugged {Friend.him}. All the way home {Friend} {Hobby.ed}, and {Hero} held the {Colour} {Thing} tight.
        [Never again did {Hero.she} leave anything {Nook}.|<good_night>]"""
    ],
    "shared": [
        """At noon, {Hero} sat down {Place=place.at} with {Count=number} {Treat=treat.s}. <scene> Along came {Friend},
        looking {Sad=sad}. "[I [dropped|forgot|lost]|A crow stole] my lunch," said {Friend}, "and I am so hungry."
        ¶ {Hero} looked at {Hero.her} {Count} {Treat.s} and gave one to {Friend}. Now {Hero.she} had
        {Left:=Count.less}{Left}. {Friend} ate [every crumb|slowly|it in one bite] and was not {Sad} any more.
        ¶ The next day, {Shade=shade.a} {Prize=treasure} lay on the doorstep of {Home}. With it was a note: "For
        {Hero}, from {Friend}. That was the best {Treat} of my life." [<good_night>|{Hero} keeps the {Prize} to this day.]"""
    ],
    "race": [
        """On [Sunday|Saturday|Friday], {Hero} and {Friend} ran a race to {Place=place}. The prize was {Shade=shade.a}
        {Prize=treasure}. "Ready, steady, go!" ¶ {Hero} was far ahead when {Hero.she} heard a cry. {Friend} had tripped
        over {stone} and hurt {Friend.her} {Part=part}. {Hero} could already see {Place}. But {Hero.she} turned round
        and ran back. ¶ "You could have won the {Prize}!" said {Friend}. "I would rather have a friend," said {Hero}.
        {Hero.She} tied a handkerchief round the {Part}, and arm in arm they walked to {Place}. [They shared the {Shade}
        {Prize}, and {Friend} {Hobby.ed} with joy.|Since then the {Shade} {Prize} has stood in {Home}, and on
        {weekday.s} {Friend} may borrow it.]"""
    ],
    "lent": [
        """That week, {Friend} lent {Hero} {Friend.her} {Colour=colour} {Thing=thing}. "Please be careful with it," said
        {Friend}. {Hero} took it to {Place=place}. <scene> Then {Hero.she} slipped on {stone}, and the {Thing}
        {Thing.broke}. ¶ {Hero} was {Sad=sad}. {Hero.She} wanted to hide the {Thing} {=Place.nooks}. But
        {Hero.she} [was honest|took a deep breath] and went to {Friend}. "I broke your {Colour} {Thing}. I am sorry."
        ¶ "Thank you for telling me," said {Friend}. "We can mend it." [With|Using] {mend} they made it as good as new.
        [{Friend} {Hobby.ed}, and {Hero} was not {Sad} any more.|<good_night>]"""
    ],
    "traded": [
        """After [breakfast|lunch], {Hero} and {Friend} made a trade. {Hero} gave away {Hero.her} {Colour=colour}
        {Thing=thing}, and {Friend} gave {Hero.him} {Shade=shade.a} {Prize=treasure}. {Friend} took the {Thing} to
        {Place=place}. {Hero} stayed at home and looked at the {Prize}. ¶ But by [evening|supper|bedtime], {Hero} missed
        the {Colour} {Thing}. "[Perhaps|Maybe] I was silly," {Hero.she} said, and set out for {Place}. Halfway there
        stood {Friend}, looking {sad}. "I miss my {Prize}," {Friend.she} said. ¶ They both laughed and traded back. So
        {Friend} {Hobby.ed} home with the {Shade} {Prize}, and {Hero} slept with the {Colour} {Thing} beside
        {Hero.her} bed."""
    ],
    "birthday": [
        """Soon it was {Friend}'s birthday. In the window of a shop {Hero} saw {Colour=colour.a} {Thing=thing}. It cost
        {Count=number} coins, but {Hero.she} had only {Left:=Count.less}{Left}. ¶ So {Hero} {chore} for the {Boss=job}.
        "Well done!" said the {Boss}, and gave {Hero.him} one coin. Now {Hero.she} had {Count} coins and ran to the shop.
        ¶ At the party they ate {supper} and played {game}. Then {Friend} opened the box. "{Colour.A} {Thing}!"
        {Friend.she} cried. "How did you know?" [{Friend} was so happy that {Friend.she} {Hobby.ed} until dark.|<good_night>]"""
    ],
    "built": [
        """When the holidays began, {Hero} and {Friend} built a {Den=den} {Place=place.at} out of {Material=material}.
        It took {Count=number} days. <scene> Then came a storm, and in the morning the {Den} lay flat. ¶ "All our work!"
        said {Friend}, feeling {Sad=sad}. "We have done it once," said {Hero}, "so we can do it again." This time they
        used {Strong=strong} instead of {Material}, and it took {More:=Count.more}{More} days. ¶ The next storm came.
        It [howled|roared|raged] all night, but the {Den} of {Strong} stood firm. On its roof {Friend} {Hobby.ed}, and
        nobody was {Sad} any more."""
    ],
    "map": [
        """Under the [stairs|carpet|bed] in {Home}, {Hero} found an old map. It showed {Place=place}, with a cross
        {Nook=Place.nooks}. "Treasure!" whispered {Friend}. They packed {Count=number} {Treat=treat.s} and set off.
        ¶ <scene> First they searched {=Place.spots}, but the map said {Nook}. And there stood {Colour=colour.a} box!
        Inside was {Shade=shade.a} {Prize=treasure} with a letter: "Whoever finds this {Prize} must share it with a
        friend." ¶ So that is what they did. They ate the {Count} {Treat.s} and closed the {Colour} box, and {Friend}
        {Hobby.ed} all the way back from {Place}."""
    ],
    "quarrel": [
        """Only once did they quarrel. They had found {Colour=colour.a} {Thing=thing} {Place=place.at}. "I saw it first!"
        said {Hero}. "No, I did!" said {Friend}. {Hero} took the {Thing} and [stamped|marched|ran] home. ¶ For
        {Count=number} days {Friend} neither spoke nor {Hobby.ed}. {Hero} tried to {Thing.use}, but alone it was no fun.
        {Hero.She} felt {Sad=sad}. ¶ After those {Count} days, {Hero} knocked at {Friend}'s door. "The {Colour} {Thing}
        is yours," {Hero.she} said. "[It is ours|Let us share it]," said {Friend}. Together they went back to {Place},
        and {Hero} was not {Sad} any more. [<good_night>|They never quarrelled again.]"""
    ],
    "gathered": [
        """Early one [morning|day], {Hero} and {Friend} went to {Place=place} to gather {Find=Place.finds.s}. <scene>
        {Hero} filled {Hero.her} {Colour=colour} {Bag=bag} with {Count=number} {Find.s}. {Friend} found only one, and
        looked {Sad=sad}. ¶ "[Look|Here|Wait]," said {Hero}, "this one is for you. Now I have {Left:=Count.less}{Left},
        and you have two." {Friend} [smiled|beamed|blushed] and was not {Sad} any more. ¶ On the way back from {Place},
        {Friend} {Hobby.ed}. In {Home}, {Hero} laid the {Left} {Find.s} on the windowsill. [They shone in the moonlight
        like {marvel}.|But the {Colour} {Bag} was hung on {Friend}'s door, as a present.]"""
    ],
}  # fmt: skip
