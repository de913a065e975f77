"""Three people at a table; the one in the middle turns to one side, to the other, and to us.

    python scenarios/starter/ai-tea/make/scene.py      # what it needs: making/people.py

Nobody is called by name, so that only head and eyes tell who is spoken to.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "making"))

from people import CAMERA, DOWN, Scene  # noqa: E402
from people_look import Look  # noqa: E402

scene = Scene("living", size=66, wood="#8a5a3a")
man = scene.person("man in green", Look(skin="#f0c7a2", hair="#d9b25a", style="short",
                                        top="#3f8a52", cut="hood"), x=250, voice="am_michael")
girl = scene.person("woman in the middle", Look(skin="#f6d7bb", hair="#2a211d", style="bob",
                                                top="#ffffff", glasses="#b03030"),
                    x=640, voice="bf_emma")
old = scene.person("woman in purple", Look(skin="#b9825a", hair="#8f8f92", style="bun",
                                           top="#7a4aa0", cut="shirt"), x=1030, voice="af_bella")
scene.thing("salt", 430, 668)
scene.thing("cake", 640, 690)
scene.look(man, girl, at=0, over=0)
scene.look(girl, DOWN, at=0, over=0)
scene.look(old, girl, at=0, over=0)
say = scene.say

say(man, "The cake looks wonderful.", girl, gap=0.8, mood="smile")
say(girl, "Thank you. I made it this morning.", man, mood="smile")
scene.turn("cake", rest=0.9)

say(girl, "Can you close the window, please?", old, gap=0.6, heed=False)
scene.look(girl, DOWN, at=scene.now + 0.3)
scene.wait(0.3)
scene.turn("window", ask="Who was asked to close the window?")

say(girl, "And can you pass me the salt, please?", man, gap=0.6, heed=False)
scene.look(girl, DOWN, at=scene.now + 0.3)
scene.wait(0.3)
scene.turn("salt", ask="And who was asked for the salt?")

say(man, "Salt, on a cake?", old, gap=0.6, mood="surprise")
say(old, "Perhaps it is for the eggs.", man)
scene.turn("chatter", rest=1.5)

scene.look(man, girl)
scene.look(old, girl)
say(girl, "Do you like chocolate?", CAMERA, gap=0.6, heed=False)
scene.look(girl, DOWN, at=scene.now + 0.6)
scene.wait(0.5)
scene.turn("chocolate", ask="Was her question for me, or for one of the two?")

say(old, "You are very quiet today. Are you tired?", man, gap=0.6, heed=False)
scene.look(old, DOWN, at=scene.now + 0.3)
scene.wait(0.3)
scene.turn("tired", ask="Who is she worried about?")

say(man, "No, no. I am only hungry.", old, gap=0.6, mood="smile")
say(girl, "Then let us start.", CAMERA, mood="smile")
scene.turn("start", rest=1.8)

scene.save(HERE.parent / "media/scene.mp4", HERE / "events.json")
