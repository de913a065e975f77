"""A birthday: two presents, the same thanks, and a winner who is not cheered by everybody.

    python scenarios/starter/ce-presents/make/scene.py      # what it needs: making/people.py

A forced smile has teeth but no eyes in it; a real one lifts cheeks and lower lids.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "making"))

from people import AWAY, CAMERA, DOWN, Scene  # noqa: E402
from people_look import Look  # noqa: E402

scene = Scene("living", size=68, wood="#8a5a3a")
aunt = scene.person("aunt", Look(skin="#f3cfae", hair="#8f8f92", style="bun", top="#7a4aa0"),
                    x=240, voice="bf_isabella")
girl = scene.person("girl in green", Look(skin="#f6d7bb", hair="#7a3b1a", style="curly",
                                          top="#3f8a52"), x=640, voice="af_nova")
boy = scene.person("boy in orange", Look(skin="#b9825a", hair="#1f1715", style="side",
                                         top="#e07a3a", cut="hood"), x=1040, voice="am_puck")
scene.look(aunt, girl, at=0, over=0)
scene.look(girl, aunt, at=0, over=0)
scene.look(boy, girl, at=0, over=0)
say = scene.say
red = scene.thing("red gift", 560, 690)
blue = scene.thing("blue gift", 720, 690)

say(aunt, "Happy birthday, my dear! The red one is from me.", girl, gap=0.8, mood="smile")
say(boy, "And the blue one is mine.", girl, mood="smile")
scene.turn("birthday", rest=0.8)

scene.look(girl, DOWN, at=scene.now + 0.3)
scene.arm(girl, "left", (560.0, 610.0), at=scene.now + 0.3)
scene.wait(1.2)
red = scene.become(red, "red gift, open")
scene.thing("socks", 420, 690)
scene.event("the red present is open: socks")
scene.arm(girl, "left", "table", at=scene.now + 0.4)
scene.mood(girl, "frown", 0.8, at=scene.now + 0.3)
scene.wait(1.3)
line = say(girl, "Oh, how lovely. Just what I wanted.", aunt, gap=0.3, rate=0.92, mood="forced",
           keep=True)
scene.event("a forced smile", line.start)
scene.look(girl, AWAY, at=line.end + 0.1)
scene.wait(0.5)
scene.turn("socks", ask="Does the girl really like the socks?")

scene.mood(girl, "", at=scene.now + 0.3)
scene.look(girl, DOWN, at=scene.now + 0.3)
scene.arm(girl, "right", (720.0, 610.0), at=scene.now + 0.5)
scene.wait(1.3)
blue = scene.become(blue, "blue gift, open")
scene.thing("camera", 870, 690)
scene.event("the blue present is open: a camera")
scene.arm(girl, "right", "table", at=scene.now + 0.4)
scene.mood(girl, "surprise", at=scene.now + 0.2)
scene.wait(0.8)
line = say(girl, "Oh, how lovely! Just what I wanted!", boy, gap=0.3, rate=1.05, mood="joy",
           keep=True)
scene.event("a real smile", line.start)
scene.wait(0.2)
scene.turn("better", ask="Which present makes her really happy?")

scene.mood(girl, "smile", at=scene.now + 0.3)
say(boy, "I am glad that you like it.", girl, gap=0.6, mood="smile")
say(aunt, "And now, who won the quiz?", boy)
say(boy, "She did. By one point.", aunt)
scene.turn("quiz", rest=0.8)

scene.wait(0.3)
scene.thing("trophy", 1010, 690)
scene.event("the cup for the winner")
scene.wait(0.6)
line = say(boy, "Well done. I am so happy for you.", girl, gap=0.4, rate=0.92, mood="angry",
           keep=True)
scene.event("an angry face", line.start)
scene.look(boy, CAMERA, at=scene.now + 0.2)
scene.wait(0.3)
scene.turn("jealous", ask="How does the boy feel about her winning?")

scene.mood(boy, "", at=scene.now + 0.5)
say(aunt, "Let us have some cake.", girl, gap=0.6, mood="smile")
say(girl, "Yes, please!", aunt, mood="smile")
scene.turn("cake", rest=0.8)

scene.save(HERE.parent / "media/scene.mp4", HERE / "events.json")
