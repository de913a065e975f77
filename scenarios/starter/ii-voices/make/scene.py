"""Three people say their names and go out; later only voices tell who is there.

    python scenarios/starter/ii-voices/make/scene.py      # what it needs: making/people.py

Somebody is heard through the shut door, and somebody comes back in another one's coat.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "making"))

from people import CAMERA, Scene  # noqa: E402
from people_look import Look  # noqa: E402

scene = Scene("living", size=60, door=1065.0, wood="#8a5a3a")
SEAT = 575 - 2.25 * 60
coat = Look(top="#f0c419", cut="blazer")
lena = scene.person("Lena", Look(skin="#f6d7bb", hair="#e0b95a", style="long", top="#7a4aa0"),
                    x=230, voice="bf_isabella")
tom = scene.person("Tom", Look(skin="#8d5a3b", hair="#1d1410", style="short", top="#2f8f8f",
                               cut="hood", beard="#1d1410"), x=520, voice="am_onyx")
ivy = scene.person("Ivy", Look(skin="#f0c39c", hair="#7a2a1a", style="curly", top="#4a78c0"),
                   x=810, voice="af_nova")
lena.coat.set(0, coat)
scene.look(lena, tom, at=0, over=0)
scene.look(tom, ivy, at=0, over=0)
scene.look(ivy, tom, at=0, over=0)

scene.say(tom, "Hello there! My name is Tom.", CAMERA, gap=0.8, mood="smile")
scene.say(ivy, "And I'm Ivy. It is very nice to meet you.", CAMERA, mood="smile")
scene.say(lena, "I am Lena, and I keep my coat on. It is freezing in here.", CAMERA, mood="smile")
scene.turn("names")

scene.wait(0.2)
scene.look(lena, tom)
scene.turn("coat", ask="What is the one in the yellow coat called?")

scene.say(tom, "Let us get some wood for the fire.", ivy, gap=0.5)
scene.wait(0.1)
for who in (ivy, tom, lena):
    scene.leave(who)
    scene.wait(-0.9)
scene.wait(1.2)
scene.event("all are out")
scene.turn("going")

scene.wait(0.4)
scene.say(ivy, "Has anybody seen my gloves?", gap=0.2, hidden=True)
scene.wait(0.1)
scene.turn("behind-the-door", ask="Whose voice was that?")

scene.wait(0.2)
scene.turn("standing", ask="Let me know when Tom comes in.")

scene.say(lena, "Hurry up, you two. I am going to be late.", gap=0.8, hidden=True)
scene.wait(0.5)
ivy.coat.set(scene.now, coat)
lena.coat.set(scene.now, None)
seen = scene.come(ivy, 810, SEAT)
scene.event("Ivy comes in, in the yellow coat", seen)
scene.turn("other-coat", rest=0.6)

scene.wait(0.2)
scene.look(ivy, (560.0, 640.0))
scene.turn("who-is-back", ask="Who has just come back?")

scene.wait(0.7)
seen = scene.come(tom, 520, SEAT)
scene.event("Tom comes in", seen)
scene.turn("tom", rest=1.0)

scene.say(tom, "Where is Lena?", ivy, gap=0.5)
scene.say(ivy, "Still outside.", tom)
scene.turn("rest")

scene.save(HERE.parent / "media/scene.mp4", HERE / "events.json")
