// What both pages need: how loud a stream is, waiting, and telling the test what was seen.

export const query = new URLSearchParams(location.search);
export const bridge = query.get("bridge");

/** Loudness over time of what a page is sent: [milliseconds, root mean square] each 20 ms. */
export class Meter {
  levels = [];

  listen(stream) {
    const context = new AudioContext();
    const analyser = new AnalyserNode(context, { fftSize: 1024 });
    context.createMediaStreamSource(stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    this.timer = setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      const power = samples.reduce((sum, x) => sum + x * x, 0) / samples.length;
      this.levels.push([performance.now(), Math.sqrt(power)]);
    }, 20);
  }

  stop() {
    clearInterval(this.timer);
    return this.levels;
  }
}

/** The server events of one call, with when each came; `until` waits for the nth of a type. */
export class Events {
  all = [];
  #waiting = [];

  take(event) {
    this.all.push({ at: performance.now(), ...event });
    this.#waiting = this.#waiting.filter((look) => !look());
  }

  until(type, nth = 1) {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.all.filter((event) => event.type === type)[nth - 1];
        if (found) resolve(found);
        return Boolean(found);
      };
      if (!look()) this.#waiting.push(look);
    });
  }
}

export const after = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

export async function report(seen) {
  document.body.append(Object.assign(document.createElement("pre"), { textContent: JSON.stringify(seen, null, 1) }));
  await fetch("/report", { method: "POST", body: JSON.stringify(seen) });
}

const broke = (error) => report({ broke: String(error?.stack ?? error) });
addEventListener("error", (event) => broke(event.error ?? event.message));
addEventListener("unhandledrejection", (event) => broke(event.reason));
