"""Bad news at work: three people take it in words that do not say what their faces do.

    python scenarios/starter/ce-saturday/make/scene.py      # what it needs: making/people.py

Two say the very same sentence, one with rolled eyes and one with a real smile.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "making"))

from people import CAMERA, DOWN, Scene  # noqa: E402
from people_look import Look  # noqa: E402

scene = Scene("office", size=62)
boss = scene.person("boss", Look(skin="#f3cfae", hair="#8f8f92", style="side", top="#39424e",
                                 cut="blazer"), x=200, voice="bm_george")
red = scene.person("woman in red", Look(skin="#f0c39c", hair="#c8842e", style="long",
                                        top="#c23b3b"), x=490, voice="af_bella")
blue = scene.person("man in blue", Look(skin="#8d5a3b", hair="#1d1410", style="short",
                                        top="#3f6fb5", cut="shirt"), x=780, voice="am_puck")
yellow = scene.person("man in yellow", Look(skin="#f4d0ae", hair="#5a3a22", style="bald",
                                            beard="#5a3a22", top="#e0b13a", cut="hood"),
                      x=1070, voice="am_michael")
TEAM = (boss, red, blue, yellow)
for who in TEAM:
    scene.look(who, red if who is boss else boss, at=0, over=0)
say = scene.say

say(boss, "Thank you for waiting. I have some news for you.", red, gap=0.8, mood="smile")
say(boss, "We will all be working this Saturday.", blue)
scene.turn("news", rest=0.8)

say(red, "Oh, wonderful. I can hardly wait.", boss, gap=0.7, rate=0.9, mood="scorn", keep=True)
scene.roll_eyes(red, at=scene.now - 1.2)
scene.event("the woman in red rolls her eyes", scene.now - 0.9)
scene.wait(0.9)
scene.look(red, DOWN)
scene.mood(red, "bored", over=0.4)
scene.wait(0.3)
scene.turn("red", ask="How does the woman in red feel about Saturday?")

scene.mood(red, "", at=scene.now + 1.0)
line = say(blue, "Oh, wonderful. I can hardly wait.", boss, gap=0.7, mood="joy", keep=True)
scene.event("the man in blue beams", line.start)
scene.look(blue, boss, at=scene.now + 0.2)
scene.wait(0.3)
scene.turn("blue", ask="And is the man in blue pleased or annoyed?")

scene.mood(blue, "smile", at=scene.now + 0.6)
say(boss, "I am glad to hear that. Lunch is on me, of course.", blue, gap=0.7, mood="smile")
say(blue, "Then I will bring the coffee.", boss, mood="smile")
scene.mood(blue, "")
scene.turn("lunch", rest=0.8)

scene.look(yellow, DOWN, at=scene.now + 0.2)
scene.mood(yellow, "sad", at=scene.now + 0.2, over=0.6)
for who in (boss, red, blue):
    scene.look(who, yellow, at=scene.now + 0.6)
say(red, "Are you all right?", yellow, gap=1.2)
scene.cry(yellow, at=scene.now)
scene.event("tears", scene.now + 0.3)
line = say(yellow, "Yes, yes. I am fine. Everything is fine.", red, gap=0.8, rate=0.85, mood="sad",
           keep=True)
scene.look(yellow, CAMERA, at=scene.now + 0.2)
scene.wait(0.4)
scene.turn("fine", ask="How is the man in yellow really?")

scene.cry(yellow, False, at=scene.now + 1.5)
scene.mood(yellow, "", at=scene.now + 1.6)
say(boss, "Let us talk about it later, in my room.", yellow, gap=0.7)
say(yellow, "Thank you.", boss)
scene.turn("later", rest=0.8)

scene.save(HERE.parent / "media/scene.mp4", HERE / "events.json")
