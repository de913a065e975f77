"""Four people plan a summer party: votes, changed minds, one who goes out and comes back.

    python scenarios/starter/ms-party-meeting/make/scene.py      # what it needs: making/people.py

What is agreed is typed on the screen behind them, and not everything typed is said aloud.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "making"))

from people import BOARD, CAMERA, DOWN, Scene  # noqa: E402
from people_look import Look  # noqa: E402

scene = Scene("office", size=50, door=1085.0, board=(300.0, 26.0, 690.0, 292.0),
              fps=10)
SEAT = 575 - 2.25 * 50
helen = scene.person("Helen", Look(skin="#f3cfae", hair="#8f8f92", style="bun", top="#2f8f8f",
                                   cut="blazer"), x=180, voice="bf_emma")
raj = scene.person("Raj", Look(skin="#a8714a", hair="#1d1512", style="side", top="#e08a2e",
                               cut="shirt", beard="#241a15"), x=410, voice="bm_george")
sofia = scene.person("Sofia", Look(skin="#f0c39c", hair="#7a3b1a", style="long", top="#b23a6a"),
                     x=645, voice="af_bella")
walter = scene.person("Walter", Look(skin="#f4cfb0", hair="#d9b25a", style="bald",
                                     glasses="#2a2a2a", top="#4a8a4a"), x=880, voice="am_onyx")
postman = scene.person("postman", Look(skin="#c68e63", hair="#2a1d16", style="short",
                                       top="#4a8a4a"), x=1600, voice="am_puck")
postman.behind.set(0, True)
TEAM = (helen, raj, sofia, walter)

laptop = scene.thing("laptop", 880, 656)
ROWS = {name: 88 + 38 * k for k, name in enumerate(
    ("Date", "Place", "Guests", "Budget", "Food", "Music"))}
scene.write(330, 36, "SUMMER PARTY", at=-1, takes=0, size=32, colour="#2f6db5", hand=False)
for name, y in ROWS.items():
    scene.write(330, y, f"{name}:", at=-1, takes=0, size=28, colour="#6b7683", hand=False)


def typed(row, text, by, x=470.0):
    """Somebody types a line into the screen."""
    scene.look(by, DOWN)
    scene.wait(1.0)
    done = scene.write(x, ROWS[row], text, size=28, hand=False, takes=0.2 * len(text))
    scene.wait(done.takes)
    scene.event(f"typed {row}: {text}")
    return done


def idle(to=helen):
    for who in TEAM:
        if who is not to:
            scene.look(who, to)


def say(who, text, to="", **how):
    """People in a meeting leave each other a little time."""
    return scene.say(who, text, to, **{"gap": 2.1, **how})


def turn(name, **how):
    return scene.turn(name, **{"lead": 2.5, **how})


scene.look(helen, raj, at=0, over=0)
scene.look(raj, helen, at=0, over=0)
scene.look(sofia, walter, at=0, over=0)
scene.look(walter, DOWN, at=0, over=0)

# 1. who is who
say(helen, "Good morning, everybody, and thank you for coming in so early.", sofia, gap=3.0,
    mood="smile")
say(helen, "There is only one thing to settle today, and that is the summer party.", raj)
say(helen, "Raj, you look after the money again this year.", raj)
say(raj, "As always. Please don't spend it all at once.", helen, mood="smile")
say(helen, "Sofia, you know every cook in town, so you look after the food.", sofia)
say(sofia, "With pleasure.", helen, mood="smile")
say(helen, "And Walter types what we agree on, so that it goes straight to the screen.", walter)
say(walter, "Only if nobody laughs at my spelling.", helen, mood="smile")
turn("welcome")

# 2. the first question
say(sofia, "Can we please have better weather than last time?", helen, gap=1.0)
say(raj, "It rained from the first minute to the last. My shoes never dried.", sofia)
say(helen, "Then let us choose the month with care.", raj)
scene.look(helen, DOWN)
turn("money", ask="What is the man who looks after the money wearing?")

# 3. the date
say(sofia, "I would say the twelfth of July. It is a Saturday.", helen, gap=1.0)
say(walter, "The twelfth is fine with me.", sofia)
say(raj, "Not with me, I am afraid. My sister gets married on the twelfth.", sofia, mood="worried")
say(sofia, "Oh, how nice for her! Then we can't do it on that day, of course.", raj, mood="smile")
say(helen, "What about one week later, then? That would be the nineteenth.", walter)
scene.look(walter, DOWN)
scene.look(raj, DOWN)
scene.wait(1.6)
say(walter, "I am free.", helen)
say(raj, "So am I. The wedding will be paid by then.", helen, mood="smile")
say(helen, "The nineteenth of July it is. Walter, would you put that down?", walter)
first_date = typed("Date", "Sat 19 July", walter)
turn("date")

# 4. a standing instruction
scene.look(walter, helen)
say(helen, "Good. One thing done, and it isn't even nine o'clock.", sofia, gap=1.0)
scene.look(helen, DOWN)
turn("standing-out", ask="Please tell me when Walter leaves the room.")

# 5. guests
say(helen, "Now, how many people shall we invite?", sofia, gap=1.0)
say(sofia, "Last summer there were sixty of us.", helen)
say(walter, "I would like to ask the families as well. That would make ninety.", helen)
say(raj, "Ninety! Walter, who is going to feed ninety people?", walter, mood="surprise")
say(sofia, "Raj has a point. Ninety is a lot for one kitchen.", walter)
say(helen, "Let us meet somewhere in between, and say seventy five.", raj)
say(raj, "Seventy five I can pay for.", helen)
guests = typed("Guests", "75", walter)
scene.look(walter, helen)
scene.look(helen, DOWN)
turn("walter-wanted", ask="How many guests did Walter want to have?")

# 6. the place: a vote that nobody puts into words
say(helen, "Next, the place. We have two offers, the boat house and the old mill.", sofia, gap=1.0)
say(sofia, "The boat house is right by the water. The children could swim.", helen)
say(raj, "And the old mill has a roof. I have not forgotten my shoes.", sofia)
say(helen, "Then we vote. Hands up, please, for the boat house.", CAMERA)
scene.arm(sofia, "right", "up", at=scene.now + 0.4)
scene.wait(1.0)
scene.event("hand up for the boat house")
for who in (helen, raj, walter):
    scene.look(who, sofia)
scene.wait(3.0)
say(helen, "Thank you. And now for the old mill.", CAMERA, heed=False)
scene.arm(sofia, "right", "table", at=scene.now)
scene.arm(raj, "left", "up", at=scene.now + 0.4)
scene.arm(walter, "left", "up", at=scene.now + 0.7)
scene.arm(helen, "left", "up", at=scene.now + 1.0)
scene.wait(1.6)
scene.event("hands up for the old mill")
scene.wait(3.0)
for who in (raj, walter, helen):
    scene.arm(who, "left", "table")
typed("Place", "old mill", walter)
turn("vote")

# 7. who voted
scene.look(walter, helen)
scene.look(helen, DOWN)
turn("boat-house", ask="Who voted for the boat house?")

# 8. Walter goes out; before him, Raj gets up and sits down again
say(helen, "Raj, could you open the window a little? It is warm in here.", raj, gap=1.0)
t = scene.now + 0.2
for side in ("left", "right"):
    scene.arm(raj, side, "hang", at=t, over=0.3)
scene.walk(raj, 410, y=SEAT - 75, seconds=0.6, at=t)
scene.walk(raj, 262, y=SEAT - 75, seconds=1.0, at=t + 0.7)
scene.event("Raj is at the window", t + 1.8)
scene.now = t + 5.0
say(sofia, "That is much better, thank you.", raj, heed=False)
t = scene.now
scene.walk(raj, 410, y=SEAT - 75, seconds=1.0, at=t)
scene.walk(raj, 410, y=SEAT, seconds=0.6, at=t + 1.1)
raj.behind.set(t + 1.7, False)
for side in ("left", "right"):
    scene.arm(raj, side, "table", at=t + 1.75, over=0)
scene.now = t + 2.0
turn("window")

# 9. the event
say(walter, "I had better call the mill, before somebody else takes our day.", helen, gap=1.0)
say(helen, "Good idea. Raj can type as long as you are away.", walter)
laptop.place.set(scene.now, (410.0, 656.0), 0.9)
scene.event("Walter leaves", scene.leave(walter))
scene.wait(5.0)
turn("out")

# 10. the budget is typed, and not said
say(helen, "Raj, how much can we spend this year?", raj, gap=1.0)
say(raj, "I would rather not say it aloud. Look at the screen.", helen, mood="smile")
typed("Budget", "4,200 pounds", raj)
for who in (helen, sofia):
    scene.look(who, BOARD)
scene.wait(3.0)
say(sofia, "That is more than I thought!", raj, mood="joy")
scene.look(raj, DOWN)
turn("missing", ask="Which of the four is not in the room now?")

# 11. another standing instruction
scene.wait(0.2)
scene.look(helen, DOWN)
turn("standing-back", ask="Tell me as soon as he is back.")

# 12. the food; a man in the same green comes in
say(helen, "Sofia, what shall we eat?", sofia, gap=1.0)
say(sofia, "I have asked three cooks. There is a barbecue, there is Greek, and there is Indian.",
    helen)
say(raj, "Remember that I don't eat meat, so no barbecue for me.", sofia)
scene.wait(1.0)
scene.knock()
for who in (helen, raj, sofia):
    scene.look(who, (1160.0, 330.0))
scene.wait(0.5)
t = scene.now
scene.open_door(1.0, at=t)
postman.place.set(t + 0.3, (1500.0, SEAT - 75), 0.0)
for side in ("left", "right"):
    scene.arm(postman, side, "hang", at=0, over=0)
scene.walk(postman, 1160.0, y=SEAT - 75, seconds=1.0, at=t + 0.5)
scene.event("the postman is seen", t + 1.45)
scene.now = t + 1.6
say(postman, "Good morning! A parcel for the office. Shall I leave it outside?", sofia, gap=0.3,
    mood="smile")
say(helen, "Yes, please do. Thank you very much.", postman, mood="smile")
t = scene.now
scene.walk(postman, 1500.0, seconds=1.0, at=t + 0.2)
scene.open_door(0.0, at=t + 1.1)
scene.now = t + 1.8
say(helen, "Where were we? So it will be Greek food, I think.", sofia)
typed("Food", "Greek", raj)
turn("food")

# 13. Walter is back, with news
scene.wait(2.0)
scene.wait(0.8)
scene.event("Walter is back", scene.come(walter, 880, SEAT))
scene.wait(4.0)
turn("back")

# 14. the date changes
say(walter, "I have good news and bad news about the mill.", helen, gap=1.0, mood="worried")
say(walter, "On the nineteenth somebody else has got it, for a wedding.", helen)
say(walter, "The good news is that we can have it one week later.", helen)
say(helen, "Can everybody come on the twenty sixth?", CAMERA)
for who in (sofia, raj):
    scene.look(who, DOWN)
scene.wait(1.6)
say(sofia, "I can.", helen, gap=0.3)
say(raj, "Me too.", helen, gap=0.3)
say(helen, "So be it.", raj)
scene.look(raj, DOWN)
scene.wait(0.4)
first_date.crossed = scene.frame(scene.now)
scene.event("the old date is crossed out")
scene.wait(0.8)
typed("Date", "Sat 26 July", raj, x=660.0)
turn("new-date")

# 15. asked long after the first date
scene.wait(1.0)
laptop.place.set(scene.now, (880.0, 656.0), 0.9)
scene.wait(2.0)
scene.look(helen, DOWN)
turn("agreed", ask="What date have they agreed on now?")

# 16. Sofia gets something, and says nothing of what and how many
say(sofia, "I will get us something to drink.", helen, gap=1.0)
scene.leave(sofia)
for who in (helen, raj, walter):
    scene.look(who, BOARD)
scene.wait(8.0)
scene.wait(3.0)
scene.come(sofia, 645, SEAT)
for x, colour in ((480, "red"), (565, "red"), (700, "red")):
    scene.wait(0.6)
    scene.thing(f"{colour} cup", x, 668)
scene.event("three cups are on the table")
turn("drinks")

# 17.
scene.look(helen, DOWN)
scene.look(sofia, helen)
scene.wait(0.4)
turn("cups", ask="How many cups did Sofia bring?")

# 18. music: kind words with rolled eyes
say(helen, "That leaves the music.", sofia, gap=1.0)
say(sofia, "My brother's band would play for us, as they did last year!", helen, mood="joy")
say(raj, "Oh, wonderful. Three hours of drums. I can hardly wait.", CAMERA, heed=False, rate=0.9,
    mood="scorn", keep=True)
scene.roll_eyes(raj, at=scene.now - 1.0)
scene.event("Raj rolls his eyes", scene.now - 0.7)
scene.wait(0.9)
scene.mood(raj, "")
scene.look(raj, sofia)
typed("Music", "Sofia's brother", walter)
scene.look(walter, helen)
scene.look(helen, DOWN)
turn("pleased", ask="Is Raj really looking forward to the band?")

# 19. who does what, and then the other way round
say(helen, "Now, who does what? Walter, will you send the invitations?", walter, gap=1.0)
say(helen, "Raj, you pay the mill, so that it is really ours.", raj)
scene.wait(0.8)
say(walter, "One moment, Helen. I have just seen that I am in Spain from tomorrow.", helen,
    mood="worried")
say(sofia, "Give them to me. I have all the addresses anyway.", walter)
scene.mood(walter, "joy", at=scene.now + 0.3)
scene.wait(1.5)
scene.mood(walter, "")
turn("who-does-what")

# 20.
scene.look(helen, DOWN)
scene.look(walter, sofia)
scene.wait(0.3)
turn("invitations", ask="So who sends the invitations?")

# 21. the number of guests changes on the screen, while they talk of something else
say(helen, "I have a message here from our friends in Leeds.", sofia, gap=1.0, pitch=0.3)
say(helen, "They would love to come to the party as well, all of them.", sofia)
say(helen, "A few. I have sent it to Walter, he can change it while we go on.", walter)
scene.look(walter, DOWN, at=scene.now)
t = scene.now
guests.crossed = scene.frame(t + 4.0)
scene.event("the old number of guests is crossed out", t + 4.0)
new_guests = scene.write(540, ROWS["Guests"], "88", at=t + 5.2, takes=0.3, size=28, hand=False)
scene.event("typed Guests: 88", new_guests.end)
scene.wait(2.5)
say(raj, "I only know the station. I missed my train there, twice on one day.", sofia, heed=False)
scene.wait(2.0)
turn("leeds")

# 22.
scene.look(walter, helen)
scene.look(raj, helen)
scene.look(sofia, helen)
scene.look(helen, DOWN)
scene.wait(0.3)
turn("guests-now", ask="How many guests will there be now?")

# 23. long after the evidence
for who in TEAM:
    scene.look(who, BOARD, at=scene.now + 0.6)
scene.wait(14.0)
say(walter, "The coffee is still warm.", helen, gap=1.0, mood="smile")
scene.look(helen, DOWN)
turn("twelfth", ask="Why couldn't Raj come on the twelfth of July?")

# 24. on the screen since long ago, and never said
scene.wait(0.3)
turn("budget", ask="And how much may it all cost?")

# 25. good-bye
say(helen, "Thank you all. We meet again in two weeks, at the same time.", CAMERA, gap=1.0,
    mood="smile")
say(raj, "I will bring the figures.", helen)
say(sofia, "And I will bring something Greek to try.", helen, mood="smile")
say(walter, "And I will bring you sun from Spain. Good bye!", helen, mood="joy")
scene.wait(5.0)
turn("good-bye", rest=1.2)

scene.save(HERE.parent / "media/scene.mp4", HERE / "events.json", crf=30,
           audio=("-c:a", "libopus", "-b:a", "32k", "-application", "voip"))
