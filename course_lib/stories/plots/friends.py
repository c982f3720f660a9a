"""What happens with a friend. Facts at hand: Hero, Kind, Trait, Home; Friend, FriendKind, Hobby."""

RULES = {
    "with_friend": [
        "<lost>", "<shared>", "<race>", "<lent>", "<traded>", "<birthday>", "<built>", "<map>", "<quarrel>", "<gathered>",
    ],
    "lost": [
        """One {weather} morning, {Hero} took {Hero.her} {Colour=colour} {Thing=thing} to {Place=place}. <scene> But [on
        the way home|at lunchtime|suddenly] {Hero} [stood still|turned pale]. "My {Thing} is gone!" {Hero.she}
        [cried|wailed]. ¶ "[Don't cry|Never mind|Dry your tears]," said {Friend}, "we will find it." They looked
        {=Place.spots}. [It was not there|Nothing|Only a beetle sat there]. Then {Friend} looked {Nook=Place.nooks}.
        "[Here it is|I see it|Hurrah]!" {Friend.she} [called|shouted|cheered]. ¶ All the way home {Friend} {Hobby.ed},
        and {Hero} [held the {Colour} {Thing} tight|never let go of the {Colour} {Thing}]. [<good_night>|Never again
        did {Hero.she} leave anything {Nook}.]"""
    ],
    "shared": [
        """At noon, {Hero} sat {Place=place.at} with {Count=number} {Treat=treat.s}. [<scene> Along|Soon along] came
        {Friend}, looking {Sad=sad}. "[I [lost|dropped|forgot]|A crow stole] my lunch," [sighed|said] {Friend}. ¶
        {Hero} counted {Hero.her} {Count} {Treat.s} and gave {Friend} one. Now {Hero.she} had {Left:=Count.less}{Left}.
        {Friend} ate [every crumb|it slowly|with both cheeks full] and was not {Sad} any more. ¶ The next
        [day|morning], {Shade=shade.a} {Prize=treasure} lay on the doorstep of {Home}, with a note: "[Thank you,
        {Hero}. That|From {Friend}, because that] was the best {Treat} [ever|of my life]!\""""
    ],
    "race": [
        """On {weekday}, {Hero} and {Friend} ran a race to {Place=place}. The prize was {Shade=shade.a} {Prize=treasure}.
        ¶ {Hero} was [far ahead|nearly there|in the lead] when {Hero.she} heard a cry. {Friend} had [tripped over
        {trip}|slipped on {slip}] and hurt {Friend.her} {Part=part}. {Hero} could already see {Place}. [But|Still,]
        {Hero.she} [turned round|ran back|stopped] to help. ¶ "You could have won the {Prize}!" said {Friend}. "[A
        friend is worth more|No prize is worth a friend]," said {Hero}, and tied a handkerchief round the {Part}. Arm
        in arm they [walked|limped|went] to {Place}. [They shared the {Shade} {Prize}, and {Friend} {Hobby.ed} with
        joy.|Now the {Shade} {Prize} stands in {Home}, and on {weekday.s} {Friend} may borrow it.]"""
    ],
    "lent": [
        """That week, {Friend} lent {Hero} {Friend.her} {Colour=colour} {Thing=thing}. {Hero} took it to {Place=place}.
        <scene> Then {Hero.she} [slipped on {slip}|stumbled over {trip}], and the {Thing} {Thing.broke}. ¶ {Hero} was
        {Sad=sad}. [Should|Could] {Hero.she} hide it {=Place.nooks}? [No|Never]! {Hero.She} went
        [straight|slowly|bravely] to {Friend}. "[Look|See] what I did to your {Colour} {Thing}. I am sorry." ¶ "Thank
        you for telling me," [said|answered] {Friend}. "[Let us|We can] mend it." With {mend} they made it [as good as
        new|stronger than before]. {Friend} {Hobby.ed}, and {Hero} was [not {Sad} any more|as happy as {lark}]."""
    ],
    "traded": [
        """After [breakfast|lunch], {Hero} and {Friend} made a trade. {Hero} gave away {Hero.her} {Colour=colour}
        {Thing=thing} for {Shade=shade.a} {Prize=treasure}, and {Friend} took the {Thing} to {Place=place}. ¶ But by
        [evening|supper|bedtime] {Hero} missed the {Colour} {Thing}. {Hero.She} [set out for|ran to|hurried to]
        {Place}. [<scene> Halfway|Halfway there] stood {Friend}, looking {sad}. "I miss my {Prize}," {Friend.she}
        [sighed|said]. ¶ Then they both [laughed|giggled|smiled] and traded back. {Friend} {Hobby.ed} all the way back,
        and in {Home}, {Hero} slept with the {Colour} {Thing} [beside {Hero.her} bed|under {Hero.her} pillow]."""
    ],
    "birthday": [
        """Soon it was {Friend}'s birthday. In a shop {Hero} saw {Colour=colour.a} {Thing=thing}. It cost {Count=number}
        coins, but {Hero.she} had only {Left:=Count.less}{Left}. ¶ So {Hero} {chore} for the {Boss=job}. "[Well
        done|Good work|Splendid]!" said the {Boss}, and gave {Hero.him} one coin. Now {Hero.she} had {Count} coins and
        ran to the shop. ¶ At the party they [ate {supper}|played {game}]. Then {Friend} opened {Friend.her} present.
        "{Colour.A} {Thing}!" {Friend.she} [cried|shouted|gasped]. "How did you know?" [And {Friend}|{Friend.She}]
        {Hobby.ed} [until dark|for joy]."""
    ],
    "built": [
        """When summer came, {Hero} and {Friend} built {Den=den.a} {Place=place.at} out of {Material=material}. It took
        {Count=number} days. <scene> Then came a storm, and the {Den} [fell down|blew away]. ¶ {Friend} was {Sad=sad}.
        "[We did it once|It took us {Count} days]," said {Hero}, "so [we can do it again|let us begin]." This time they
        used {Strong=strong} instead of {Material}. ¶ The next storm [howled|roared|raged] all night, but the {Den} of
        {Strong} stood firm. [Inside|Under its roof] {Friend} {Hobby.ed}, and nobody was {Sad} any more."""
    ],
    "map": [
        """Under {furniture} {Hero} found an old map. It showed {Place=place} with a cross {Nook=Place.nooks}.
        "[Treasure|An adventure]!" [whispered|cried] {Friend}, and they set off with {Count=number} {Treat=treat.s}.
        <scene> ¶ [First|By mistake] they searched {=Place.spots}. But the cross was {Nook}, and there lay
        {Shade=shade.a} {Prize=treasure} with a letter: "[Share|Enjoy] this {Prize} with a friend." ¶ [So they did|They
        were glad to]. They ate the {Count} {Treat.s}, and {Friend} {Hobby.ed} [with joy|all the way home]. The {Shade}
        {Prize} is still in {Home}."""
    ],
    "quarrel": [
        """Only once did they quarrel. They had found {Colour=colour.a} {Thing=thing} {Place=place.at}. "I saw it first!"
        [said|cried|shouted] {Hero}. "No, I did!" [said|cried|shouted] {Friend}. {Hero} took the {Thing} and
        [ran|stamped|marched] home. ¶ For {Count=number} days {Friend} neither spoke nor {Hobby.ed}. {Hero} tried to
        {Thing.use}, but [alone it was no fun|it only made {Hero.him} {sad}]. ¶ After {Count} days, {Hero} knocked at
        {Friend}'s door. "The {Colour} {Thing} is yours," {Hero.she} said. "[Let us share it|It is ours]," said
        {Friend}. [Together they went back to {Place}.|And once more {Friend} {Hobby.ed}.] <good_night>"""
    ],
    "gathered": [
        """Early one [morning|day], {Hero} and {Friend} went to {Place=place} to [gather|look for] {Find=Place.finds.s}.
        <scene> {Hero} put {Count=number} {Find.s} in {Hero.her} {Colour=colour} {Bag=bag}. {Friend} found only one and
        was {Sad=sad}. ¶ "[Here|Look|Wait]," said {Hero}, "[this|one more] is for you. Now I have
        {Left:=Count.less}{Left}, and you have two." {Friend} [smiled|beamed|blushed] and was not {Sad} any more. ¶ [On
        the way back {Friend} {Hobby.ed}.|They came home late.] Now {Left} {Find.s} lie on the windowsill of {Home},
        [to remind {Hero.him} of|a greeting from] {Place}."""
    ],
}  # fmt: skip
