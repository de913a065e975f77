"""Four people introduce themselves; one goes out, another person comes, he comes back.

    python scenarios/starter/ii-introductions/make/scene.py      # what it needs: making/people.py
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "making"))

from people import CAMERA, DOWN, Scene  # noqa: E402
from people_look import Look  # noqa: E402

scene = Scene("office", size=56, door=1085.0)
left = scene.person("Priya", Look(skin="#b9825a", hair="#1f1715", style="long", top="#e0b13a",
                                  lips="#a04a44"), x=190, voice="af_nova")
second = scene.person("Ben", Look(skin="#f0c7a2", hair="#5a3a22", style="side", top="#c8402f",
                                  cut="hood", beard="#6b4528"), x=415, voice="am_michael")
third = scene.person("Nora", Look(skin="#f6d7bb", hair="#2a211d", style="bob", top="#2f6db5",
                                  cut="shirt", glasses="#222222"), x=640, voice="bf_emma")
right = scene.person("Oscar", Look(skin="#7d4f34", hair="#1d1410", style="short", top="#3f8a52"),
                     x=865, voice="am_onyx")
courier = scene.person("courier", Look(skin="#f4d0ae", hair="#d9b25a", style="short",
                                       top="#c8402f", cut="hood"), x=1600, voice="am_puck")
courier.behind.set(0, True)
priya, ben, nora, oscar = left, second, third, right
scene.look(priya, ben, at=0, over=0)
scene.look(ben, nora, at=0, over=0)
scene.look(nora, ben, at=0, over=0)
scene.look(oscar, nora, at=0, over=0)

scene.say(nora, "Hello, I am Nora. Nice to see you.", CAMERA, gap=0.8, mood="smile")
scene.say(oscar, "Good morning. My name is Oscar.", CAMERA, mood="smile")
scene.say(priya, "Hi, I'm Priya.", CAMERA, mood="smile")
scene.say(ben, "And I am Ben. That's all of us.", CAMERA, mood="smile")
scene.turn("introductions")

scene.wait(0.3)
for who in (priya, ben, oscar):
    scene.look(who, nora)
scene.look(nora, DOWN)
scene.turn("green", ask="What is the name of the man in the green jumper?")

scene.say(nora, "I have brought the plans along.", oscar, gap=0.5)
scene.say(priya, "Lovely. Put them on the table, please.", nora)
scene.turn("chatter")

scene.look(priya, DOWN)
scene.turn("spoke", ask="Who spoke last?")

scene.wait(0.4)
scene.event("stands up")
gone = scene.leave(ben)
scene.event("has gone", gone)
scene.say(oscar, "Shall we start without him?", priya, gap=0.2)
scene.look(priya, DOWN, at=scene.now + 0.1)
scene.turn("left", ask="Who has just left the room?")

scene.wait(0.3)
scene.turn("standing", ask="Please tell me when he is back.")

scene.wait(0.3)
scene.knock()
for who in (priya, nora, oscar):
    scene.look(who, (1160.0, 330.0))
scene.wait(0.5)
scene.event("another comes", scene.now + 1.45)
t = scene.now
scene.open_door(1.0, at=t)
courier.place.set(t + 0.3, (1500.0, 375.0), 0.0)
for side in ("left", "right"):
    scene.arm(courier, side, "hang", at=0, over=0)
scene.walk(courier, 1160.0, y=375.0, seconds=1.0, at=t + 0.5)
scene.now = t + 1.6
scene.say(courier, "Sorry, wrong room!", nora, gap=0.3, mood="smile")
scene.say(nora, "No problem.", courier, mood="smile")
t = scene.now
scene.walk(courier, 1500.0, seconds=1.0, at=t + 0.2)
scene.open_door(0.0, at=t + 1.1)
scene.now = t + 1.8
scene.turn("courier")

scene.wait(1.0)
back = scene.come(ben, 415, 449)
scene.event("is back", back)
scene.say(ben, "Here I am again.", nora, gap=0.2)
scene.turn("back", rest=0.8)

scene.look(nora, DOWN)
scene.turn("glasses", ask="And what is the woman with the glasses called?")

scene.save(HERE.parent / "media/scene.mp4", HERE / "events.json")
