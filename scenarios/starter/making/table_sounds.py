"""The sounds of a rendered scene, synthesised: each is a short mono array at 48 kHz.

Deterministic: noise comes from a generator with a fixed seed. Counterpart: `table`, which puts them
at their times. Needs numpy.
"""

import numpy as np

RATE = 48_000


def _time(seconds):
    return np.arange(round(seconds * RATE)) / RATE


def _noise(seconds, seed, low=0.0, high=24_000.0, slope=0.0):
    """Noise between two frequencies; `slope` in powers of the frequency (-0.5 is pink)."""
    count = round(seconds * RATE)
    rng = np.random.default_rng(seed)
    spectrum = np.fft.rfft(rng.standard_normal(count))
    f = np.fft.rfftfreq(count, 1 / RATE)
    gain = np.where((f >= low) & (f <= high), np.maximum(f, 20.0) ** slope, 0.0)
    out = np.fft.irfft(spectrum * gain, count)
    return out / np.abs(out).max()


def _fade(sound, attack=0.002, release=0.01):
    n, m = round(attack * RATE), round(release * RATE)
    sound = sound.copy()
    sound[:n] *= np.linspace(0, 1, n)
    sound[-m:] *= np.linspace(1, 0, m)
    return sound


def _ring(partials, seconds):
    """A struck body: partials of (frequency, strength, decay in seconds)."""
    t = _time(seconds)
    return sum(a * np.sin(2 * np.pi * f * t) * np.exp(-t / d) for f, a, d in partials)


def thud():
    """Something is put down on wood."""
    t = _time(0.28)
    body = np.sin(2 * np.pi * (95 * t + 12 * np.exp(-t * 40))) * np.exp(-t / 0.05)
    tick = _noise(0.28, 1, 200, 2500, -0.3) * np.exp(-t / 0.012)
    return _fade(0.75 * body + 0.5 * tick)


def soft():
    """Cloth, or a soft toy, is put down."""
    t = _time(0.3)
    return _fade(_noise(0.3, 2, 60, 1200, -0.5) * np.exp(-t / 0.06), 0.01) * 0.5


def clink():
    """Crockery."""
    return _fade(_ring([(2350, 0.4, 0.06), (3870, 0.3, 0.04), (5520, 0.2, 0.03),
                        (420, 0.4, 0.03)], 0.35))


def click():
    """Two wooden or plastic blocks meet."""
    t = _time(0.12)
    return _fade(_ring([(1250, 0.6, 0.012), (2140, 0.4, 0.008)], 0.12)
                 + 0.5 * _noise(0.12, 3, 800, 7000) * np.exp(-t / 0.004))


def tap():
    """A fingertip."""
    t = _time(0.1)
    return _fade(_ring([(310, 0.7, 0.018), (760, 0.3, 0.01)], 0.1)
                 + 0.3 * _noise(0.1, 4, 300, 4000) * np.exp(-t / 0.005))


def bell(pitch=1.0, seconds=1.6):
    """A bell on a counter."""
    return _fade(_ring([(2093 * pitch, 0.55, 0.5), (2093 * pitch * 2.76, 0.25, 0.25),
                        (2093 * pitch * 5.4, 0.12, 0.1), (2100 * pitch, 0.2, 0.6)], seconds), 0.001)


def gong():
    """A deep bell elsewhere in the house."""
    return _fade(_ring([(392, 0.5, 0.7), (587, 0.35, 0.5), (988, 0.2, 0.35), (394, 0.3, 0.9)], 2.2))


def buzz():
    """An egg timer goes off: a small bell struck quickly."""
    out = np.zeros(round(1.7 * RATE))
    strike = _ring([(2800, 0.4, 0.05), (4300, 0.25, 0.03), (6100, 0.15, 0.02)], 0.2)
    for i in range(34):
        at = round(i * 0.044 * RATE)
        out[at:at + strike.size] += strike * (0.8 + 0.2 * (i % 2))
    return _fade(out, 0.001, 0.05) * 0.75


def phone():
    """A telephone elsewhere: two electronic notes in turn."""
    t = _time(1.5)
    f = np.where((t * 5).astype(int) % 2 == 0, 880.0, 1108.0)
    phase = 2 * np.pi * np.cumsum(f) / RATE
    warble = 0.6 + 0.2 * np.sin(2 * np.pi * 20 * t)
    return _fade((np.sin(phase) + 0.3 * np.sin(2 * phase)) * warble, 0.01, 0.05) * 0.5


def pop():
    """A toaster throws its toast out."""
    t = _time(0.4)
    spring = np.sin(2 * np.pi * (260 * t + 900 * t * t)) * np.exp(-t / 0.06)
    clack = _noise(0.4, 5, 500, 6000, -0.2) * np.exp(-t / 0.012)
    return _fade(0.5 * spring + 0.9 * clack)


def knock():
    """A knuckle on a door, elsewhere."""
    t = _time(0.22)
    return _fade(_ring([(165, 0.8, 0.03), (340, 0.5, 0.025), (610, 0.2, 0.015)], 0.22)
                 + 0.25 * _noise(0.22, 17, 100, 1500, -0.3) * np.exp(-t / 0.01))


def lever():
    """A lever is pressed until it clicks."""
    t = _time(0.25)
    return _fade(0.25 * _noise(0.25, 6, 400, 4000) * np.exp(-((t - 0.08) / 0.06) ** 2)
                 + 0.9 * _noise(0.25, 7, 600, 5000) * np.exp(-np.abs(t - 0.2) / 0.006))


def slide(seconds=0.7):
    """A drawer runs, or something is pushed over the table."""
    t = _time(seconds)
    return _fade(_noise(seconds, 8, 120, 1800, -0.4) * (0.7 + 0.3 * np.sin(2 * np.pi * 23 * t)),
                 0.08, 0.1) * 0.5


def rattle():
    """A drawer that is locked."""
    out = np.zeros(round(0.5 * RATE))
    for i, at in enumerate((0.0, 0.11, 0.21, 0.34)):
        hit = _noise(0.1, 20 + i, 150, 3000, -0.2) * np.exp(-_time(0.1) / 0.016)
        n = round(at * RATE)
        out[n:n + hit.size] += hit
    return _fade(out) * 0.8


def shut():
    """A drawer or a lid closes."""
    t = _time(0.3)
    return _fade(0.8 * np.sin(2 * np.pi * 130 * t) * np.exp(-t / 0.04)
                 + 0.7 * _noise(0.3, 9, 150, 3500, -0.3) * np.exp(-t / 0.02))


def hammer():
    """A hammer on a nail."""
    return _fade(_ring([(3100, 0.35, 0.05), (4730, 0.2, 0.03), (190, 0.7, 0.035)], 0.3)
                 + 0.5 * _noise(0.3, 10, 400, 6000) * np.exp(-_time(0.3) / 0.008))


def saw(seconds=0.5):
    """One stroke of a saw."""
    t = _time(seconds)
    teeth = 0.5 + 0.5 * np.sign(np.sin(2 * np.pi * 95 * t))
    return _fade(_noise(seconds, 11, 700, 7000, -0.2) * teeth, 0.06, 0.12) * 0.5


def squeak():
    """A rubber duck."""
    t = _time(0.4)
    f = 900 + 700 * np.sin(np.pi * t / 0.4)
    phase = 2 * np.pi * np.cumsum(f) / RATE
    return _fade((np.sin(phase) + 0.4 * np.sin(2 * phase) + 0.2 * np.sin(3 * phase))
                 * np.sin(np.pi * t / 0.4), 0.02, 0.05) * 0.5


def horn():
    """A toy car's horn."""
    t = _time(0.45)
    tone = sum(np.sign(np.sin(2 * np.pi * f * t)) * 0.25 + np.sin(2 * np.pi * f * t) * 0.3
               for f in (392, 494))
    return _fade(tone, 0.02, 0.06) * 0.5


def sizzle(seconds):
    """A pan, a pot that boils over."""
    t = _time(seconds)
    rng = np.random.default_rng(12)
    crackle = np.zeros(t.size)
    for at in rng.uniform(0, seconds - 0.02, int(seconds * 40)):
        n = int(at * RATE)
        crackle[n:n + 200] += rng.uniform(-1, 1) * np.exp(-np.arange(200) / 30)
    return _fade(0.5 * _noise(seconds, 13, 2500, 12_000, -0.2) + 0.35 * crackle, 0.15, 0.4) * 0.7


def bubble(seconds):
    """Water that boils."""
    rng = np.random.default_rng(14)
    out = np.zeros(round(seconds * RATE))
    for at in rng.uniform(0, seconds - 0.1, int(seconds * 24)):
        n, f = int(at * RATE), rng.uniform(260, 620)
        t = _time(0.07)
        blob = np.sin(2 * np.pi * (f * t + 1800 * t * t)) * np.exp(-t / 0.02)
        out[n:n + blob.size] += blob * rng.uniform(0.2, 0.6)
    return _fade(out, 0.3, 0.4)


def hum(seconds):
    """A conveyor belt's motor."""
    t = _time(seconds)
    tone = sum(a * np.sin(2 * np.pi * f * t) for f, a in ((50, 0.5), (100, 0.3), (150, 0.15)))
    rollers = _noise(seconds, 15, 100, 900, -0.5) * (0.5 + 0.3 * np.sin(2 * np.pi * 3 * t))
    return _fade(0.5 * tone + 0.4 * rollers, 0.25, 0.25) * 0.6


def tick(seconds):
    """A clockwork, four times a second."""
    out = np.zeros(round(seconds * RATE))
    for i in range(int(seconds * 4)):
        hit = _ring([(2600 if i % 2 else 3100, 0.5, 0.004)], 0.05)
        n = round(i * RATE / 4)
        out[n:n + hit.size] += hit[:out.size - n]
    return out


def room(seconds):
    """A quiet room, some 65 dB below full scale."""
    return _noise(seconds, 16, 40, 2500, -0.5) * 10 ** (-52 / 20)
