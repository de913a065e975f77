"""Two friends in a kitchen ask each other things, and sometimes ask the assistant.

    python scenarios/starter/ai-friends/make/scene.py      # what it needs: making/people.py

The same question is asked of a friend and of the camera; only head and eyes tell which.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "making"))

from people import CAMERA, DOWN, Scene  # noqa: E402
from people_look import Look  # noqa: E402

scene = Scene("kitchen", size=72, wood="#c9a06c")
maya = scene.person("Maya", Look(skin="#b9825a", hair="#1f1715", style="bun", top="#e07a3a",
                                 lips="#a04a44"), x=420, voice="af_bella")
leo = scene.person("Leo", Look(skin="#f4d0ae", hair="#5a3a22", style="side", top="#3f6fb5",
                               cut="shirt"), x=850, voice="bm_george")
scene.clocks.append((640, 130, 4, 10))
for x, colour in ((560, "red"), (640, "blue"), (720, "yellow")):
    scene.thing(f"{colour} cup", x, 668)
scene.look(maya, leo, at=0, over=0)
scene.look(leo, maya, at=0, over=0)
say = scene.say

say(leo, "It smells good in here.", maya, gap=1.0, mood="smile")
scene.look(maya, DOWN)
scene.look(leo, DOWN)
scene.turn("standing", ask="When one of my friends looks at you and asks, please answer. "
                           "Otherwise keep quiet.")

say(maya, "What time is it?", leo, gap=0.7)
scene.wait(0.4)
say(leo, "Oh, I have left my watch at home.", maya)
scene.turn("asks-leo", rest=0.8)

scene.wait(0.2)
scene.look(leo, DOWN)
asked = say(maya, "What time is it?", CAMERA, gap=0.6, heed=False)
scene.turn("asks-you", rest=0.0)

scene.look(maya, leo, at=scene.now + 0.2)
say(maya, "Then the cake needs ten more minutes.", leo, gap=0.7)
say(leo, "Which cup is mine, by the way?", maya)
say(maya, "I have no idea.", leo)
scene.turn("cups", rest=0.8)

scene.look(leo, maya)
scene.look(maya, DOWN)
scene.wait(0.2)
scene.turn("who-was-asked", ask="Who did Leo, the man in blue, ask about the cup?")

scene.arm(leo, "left", (800.0, 575.0), at=scene.now + 0.3)
counted = say(leo, "How many cups are there on the table?", CAMERA, gap=0.8, heed=False)
scene.turn("counts", rest=0.0)

scene.arm(leo, "left", "table", at=scene.now + 0.3)
scene.look(leo, maya, at=scene.now + 0.2)
say(leo, "And how many guests are coming?", maya, gap=0.9)
say(maya, "Only two, I think.", leo, mood="smile")
scene.wait(1.0)
scene.turn("guests", rest=1.2)

scene.save(HERE.parent / "media/scene.mp4", HERE / "events.json")
