// The calculator of docs/guide/which-mac.md. scripts/site puts it into the page with the module of
// crates/bounds-wasm, in base64, as `tagmacBoundsWasm`. scripts/test-calculator tests it.
"use strict";

(() => {
  // Throws where WebAssembly is switched off: the page then shows its table only.
  const bytes = Uint8Array.from(atob(tagmacBoundsWasm), (letter) => letter.charCodeAt(0));
  const wasm = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;

  const MACS = Array.from({ length: wasm.macs() }, (_, mac) =>
    String.fromCharCode(...new Uint8Array(wasm.memory.buffer, wasm.name(mac), wasm.name_len(mac))));
  const NEEDS_NONCE = /^(UMAC|POLY1305)/;
  // The rule of which-mac.md: the first one that qualifies.
  const CANDIDATES = ["PMAC-AES128", "LIGHTMAC-AES128-S32", "UMAC-128"];
  const MIN_WRONG_TAGS = 1_000_000n;

  const MINUTE = 60;
  const HOUR = 60 * MINUTE;
  const DAY = 24 * HOUR;
  const YEAR = 365.25 * DAY;

  // Limits, exact.

  // Calls `limit` of the module. Returns a BigInt, or null if the MAC has no messages of that length.
  function call(limit, mac, counter, length, probability, keys) {
    const status = limit(MACS.indexOf(mac), counter ? 1 : 0, BigInt(length), probability, BigInt(keys));
    if (status === 1) return null;
    if (status !== 0) throw new RangeError(`${mac}: no limit for ${probability} and ${keys} keys`);
    return (BigInt.asUintN(64, wasm.high()) << 64n) | BigInt.asUintN(64, wasm.low());
  }

  const messages = (...of) => call(wasm.messages, ...of);
  const wrongTags = (...of) => call(wasm.failed_attempts, ...of);

  // Numbers as text. Limits are rounded down.

  const grouped = (number) => number.toLocaleString("en-US");
  const WORDS = [[10n ** 18n, "quintillion"], [10n ** 15n, "quadrillion"], [10n ** 12n, "trillion"],
    [10n ** 9n, "billion"], [10n ** 6n, "million"]];

  // "16 trillion"; a power of 2 if there is no usual word.
  function words(number) {
    if (number >= 10n ** 21n) return power(number);
    const found = WORDS.find(([unit]) => number >= unit);
    if (!found) return grouped(number);
    const [unit, word] = found;
    const tenths = (number * 10n) / unit;
    return `${tenths >= 100n || tenths % 10n === 0n ? tenths / 10n : `${tenths / 10n}.${tenths % 10n}`} ${word}`;
  }

  // "2^47.9". A double may round a number just under a power up to it.
  function power(number) {
    const tenths = Math.floor(Math.log2(Number(number)) * 10);
    return `2^${(number ** 10n < 1n << BigInt(tenths) ? tenths - 1 : tenths) / 10}`;
  }

  function count(number) {
    const text = words(number);
    return number < 10n ** 6n || number >= 10n ** 21n ? text : `${text} (${power(number)})`;
  }

  function duration(seconds) {
    const [value, unit] =
      seconds < 1e-6 ? [seconds * 1e9, "ns"]
      : seconds < 1e-3 ? [seconds * 1e6, "µs"]
      : seconds < 1 ? [seconds * 1000, "ms"]
      : seconds < 2 * MINUTE ? [seconds, "seconds"]
      : seconds < 2 * HOUR ? [seconds / MINUTE, "minutes"]
      : seconds < 2 * DAY ? [seconds / HOUR, "hours"]
      : seconds < 2 * YEAR ? [seconds / DAY, "days"]
      : [seconds / YEAR, "years"];
    if (unit === "years" && value >= 10_000) return "over 10,000 years";
    // Rounded to 12 digits first: 16 messages at 10^7 a second are 1.6 µs, and 1.6e-6 * 1e6 is just below 1.6.
    const exact = Number((value < 10 ? value * 10 : value).toPrecision(12));
    return `${value < 10 ? (Math.floor(exact) / 10).toFixed(1) : grouped(Math.floor(exact))} ${unit}`;
  }

  function size(length) {
    const units = ["KiB", "MiB", "GiB", "TiB"];
    const unit = Math.min(Math.floor(Math.log2(length) / 10), units.length);
    return unit > 0 && length % 1024 ** unit === 0 ? `${length / 1024 ** unit} ${units[unit - 1]}` : `${grouped(length)} bytes`;
  }

  // Limits are whole units, or a byte under them.
  const atMost = (length) => (length % 1024 === 1023 ? `less than ${size(length + 1)}` : `at most ${size(length)}`);

  // Sliders: each has a list of steps.

  const steps125 = (last) => {
    const steps = [];
    for (let ten = 1; ten <= last; ten *= 10) steps.push(ten, 2 * ten, 5 * ten);
    return steps.filter((step) => step <= last);
  };
  const plural = (number, noun) => `${words(BigInt(number))} ${noun}${number === 1 ? "" : "s"}`;
  const UNITS = { day: DAY, minute: MINUTE, second: 1 };
  const RATES = [[1, "day"], [10, "day"], [100, "day"], [1, "minute"], [10, "minute"],
    ...steps125(1e9).map((rate) => [rate, "second"])];

  const slider = (name, steps, start) => ({
    name, steps, start,
    input: document.getElementById(`calculator-${name}`),
    output: document.getElementById(`calculator-${name}-value`),
  });
  // Of a step: `value` is the number, `text` is shown and spoken, `hash` is its form in the URL.
  const SLIDERS = [
    slider("length", [...Array.from({ length: 37 }, (_, i) => 2 ** (i + 4)), 1500].sort((a, b) => a - b)
      .map((value) => ({ value, text: size(value), hash: `${value}` })), 1500),
    slider("rate", RATES.map(([number, unit]) => ({
      value: number / UNITS[unit], text: `${plural(number, "message")} a ${unit}`, hash: `${number}/${unit}`,
    })), 1000),
    slider("keys", steps125(1e9).map((value) => ({ value, text: plural(value, "key"), hash: `${value}` })), 1),
    slider("probability", Array.from({ length: 71 }, (_, i) => i + 10).map((bits) => ({
      value: 2 ** -bits, text: bits < 70 ? `one in ${words(2n ** BigInt(bits))} (2^-${bits})` : `2^-${bits}`, hash: `2^-${bits}`,
    })), 2 ** -32),
  ];
  const counter = document.getElementById("calculator-counter");

  // The step whose value is nearest, by ratio.
  function nearest(steps, value) {
    const distance = (step) => Math.abs(Math.log(step.value / value));
    return steps.reduce((best, step, at) => (distance(step) < distance(steps[best]) ? at : best), 0);
  }

  // "1500", "10/day" or "2^-32" as a number; NaN for anything else.
  function parse(text) {
    const found = /^(?:2\^(-?\d+)|(\d+(?:\.\d+)?)(?:\/(day|minute|second))?)$/.exec(text);
    if (!found) return NaN;
    return found[1] ? 2 ** Number(found[1]) : Number(found[2]) / UNITS[found[3] ?? "second"];
  }

  function readHash() {
    const state = new URLSearchParams(location.hash.slice(1));
    for (const { name, steps, start, input } of SLIDERS) {
      const value = parse(state.get(name) ?? "");
      input.max = steps.length - 1;
      input.value = nearest(steps, value > 0 && value < Infinity ? value : start);
    }
    counter.checked = state.get("counter") === "1";
  }

  function writeHash() {
    const state = SLIDERS.map(({ name, steps, input }) => `${name}=${steps[input.value].hash}`);
    if (counter.checked) state.push("counter=1");
    history.replaceState(null, "", `#${state.join("&")}`);
  }

  // The answer.

  const qualifies = (row) => row.seconds >= YEAR && row.wrongTags >= MIN_WRONG_TAGS;

  function recommend(rows, names) {
    const candidates = names.map((name) => rows.find((row) => row.mac === name));
    return candidates.find(qualifies) ?? candidates.reduce((best, row) => (row.seconds > best.seconds ? row : best));
  }

  // Why a MAC does not qualify.
  const shortcoming = (row, length) =>
    row.messages === null ? `${row.mac} has no messages of ${size(length)}`
    : row.messages === 0n ? `${row.mac} may tag no message`
    : row.seconds < YEAR ? `${row.mac} lasts only ${duration(row.seconds)}`
    : `${row.mac} allows only ${words(row.wrongTags)} wrong tags`;

  function reason(rows, chosen, input) {
    const [pmac, lightmac, umac] = CANDIDATES.map((name) => rows.find((row) => row.mac === name));
    if (!qualifies(chosen)) {
      if (input.counter) return "No MAC of the rule qualifies; this one lasts longest.";
      const counted = messages(umac.mac, true, input.length, input.probability, input.keys);
      return "No MAC without a nonce qualifies; this one lasts longest. "
        + `With a counter, ${umac.mac} would last ${duration(Number(counted) / input.rate)}.`;
    }
    if (chosen === pmac) return "It needs only a key, and that key lasts at least a year.";
    return chosen === lightmac
      ? `${shortcoming(pmac, input.length)}; the limit of this one does not depend on the message length.`
      : `${shortcoming(lightmac, input.length)}; your counter makes nonces that never repeat.`;
  }

  function compute(input) {
    return MACS.map((mac) => {
      const of = [mac, input.counter, input.length, input.probability, input.keys];
      const limit = messages(...of);
      return {
        mac, messages: limit,
        seconds: limit === null ? -1 : Number(limit) / input.rate,
        wrongTags: limit === null ? null : wrongTags(...of),
      };
    });
  }

  function show() {
    const [length, rate, keys, probability] = SLIDERS.map(({ steps, input, output }) => {
      const step = steps[input.value];
      output.textContent = step.text;
      input.setAttribute("aria-valuetext", step.text);
      return step;
    });
    const input = {
      length: length.value, rate: rate.value, keys: keys.value, probability: probability.value,
      counter: counter.checked,
    };
    const rows = compute(input);
    const chosen = recommend(rows, input.counter ? CANDIDATES : CANDIDATES.slice(0, 2));
    const who = keys.value === 1 ? "One key" : `Each of ${keys.text}`;
    const lasts = chosen.messages === 0n
      ? "No message keeps to this probability."
      : `${who} lasts ${duration(chosen.seconds)} at ${rate.text} of ${length.text}.`;
    const text = reason(rows, chosen, input);
    document.getElementById("calculator-mac").textContent = chosen.mac;
    document.getElementById("calculator-lasts").textContent = lasts;
    document.getElementById("calculator-reason").textContent = text;
    fill(rows, chosen, input);
    draw(rows, chosen, input);
    return `${chosen.mac}. ${lasts} ${text}`;
  }

  function element(name, attributes, ...children) {
    const svg = ["svg", "g", "path", "line", "circle", "text"].includes(name);
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  const style = (at, chosen) =>
    `calculator-mac-${at}${NEEDS_NONCE.test(MACS[at]) ? " calculator-dashed" : ""}${chosen ? " calculator-chosen" : ""}`;

  function fill(rows, chosen, input) {
    const body = document.querySelector("#calculator-table tbody");
    body.replaceChildren(...rows.map((row, at) => {
      const swatch = element("svg", { class: "calculator-swatch", "aria-hidden": "true", viewBox: "0 0 24 8" },
        element("path", { d: "M0 4H24", class: style(at, row === chosen) }));
      const nonce = NEEDS_NONCE.test(row.mac) ? (input.counter ? "counter" : "random nonces") : "";
      const name = element("th", { scope: "row" }, swatch, element("code", {}, row.mac),
        nonce ? element("small", {}, ` ${nonce}`) : "");
      const cells = row.messages === null
        ? [element("td", { colspan: "3" }, `messages of ${atMost(Number(wasm.max_length(at)))}`)]
        : [row.messages === 0n ? "not at all" : duration(row.seconds), count(row.messages), count(row.wrongTags)]
          .map((text, column) => element("td", { "data-label": ["lasts", "messages", "wrong tags"][column] }, text));
      return element("tr", row === chosen ? { class: "calculator-chosen" } : {}, name, ...cells);
    }));
  }

  // The curve: how long one key lasts, by the length of messages.

  const chart = document.getElementById("calculator-chart");
  const TIMES = [[1, "1 second"], [MINUTE, "1 minute"], [HOUR, "1 hour"], [DAY, "1 day"], [30 * DAY, "30 days"],
    [YEAR, "1 year"], [100 * YEAR, "100 years"], [10_000 * YEAR, "10,000 years"],
    [1_000_000 * YEAR, "1 million years"]];
  const LENGTHS = [4, 10, 20, 30, 40];
  const HEIGHT = 300;

  // For each MAC the limit at each power of 2; messages of that length are null if they are too long. Kept,
  // because most moves of sliders change none of it.
  let curves = { of: "" };
  function limits({ counter, probability, keys }) {
    const of = `${counter} ${probability} ${keys}`;
    if (curves.of !== of) {
      const curve = (mac) => Array.from({ length: 37 }, (_, at) => messages(mac, counter, 2 ** (at + 4), probability, keys));
      curves = { of, limits: MACS.map(curve) };
    }
    return curves.limits;
  }

  function draw(rows, chosen, input) {
    const width = Math.max(chart.clientWidth, 240);
    const [left, right, top, bottom] = [92, width - 14, 12, HEIGHT - 26];
    const [shortest, longest] = [Math.log10(TIMES[0][0]), Math.log10(TIMES.at(-1)[0])];
    const x = (bits) => left + ((bits - 4) / 36) * (right - left);
    const y = (seconds) => {
      const part = (Math.log10(Math.max(seconds, 1e-9)) - shortest) / (longest - shortest);
      return bottom - Math.min(Math.max(part, 0), 1) * (bottom - top);
    };
    const parts = [];
    for (const [seconds, label] of TIMES) {
      parts.push(element("line", { x1: left, x2: right, y1: y(seconds), y2: y(seconds), class: "calculator-grid" }),
        element("text", { x: left - 6, y: y(seconds) + 4, "text-anchor": "end" }, label));
    }
    for (const bits of width < 480 ? LENGTHS.filter((bits) => bits !== 10) : LENGTHS) {
      parts.push(element("text", { x: x(bits), y: HEIGHT - 6, "text-anchor": bits === 40 ? "end" : "middle" }, size(2 ** bits)));
    }
    const here = x(Math.log2(input.length));
    parts.push(element("line", { x1: here, x2: here, y1: top, y2: bottom, class: "calculator-here" }));
    // The chosen one last, above the others.
    const order = rows.map((row, at) => at).sort((a, b) => (rows[a] === chosen) - (rows[b] === chosen));
    for (const at of order) {
      const points = [];
      limits(input)[at].forEach((limit, from) => {
        if (limit !== null) points.push(`${x(from + 4).toFixed(1)} ${y(Number(limit) / input.rate).toFixed(1)}`);
      });
      parts.push(element("path", { d: `M${points.join("L")}`, class: style(at, rows[at] === chosen) }));
      if (rows[at].messages !== null) {
        parts.push(element("circle", { cx: here, cy: y(rows[at].seconds), r: rows[at] === chosen ? 5 : 3, class: style(at, false) }));
      }
    }
    chart.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    chart.replaceChildren(...parts);
  }

  // Once a slider rests, the URL has its state and the answer is spoken.
  let rest;
  function changed() {
    const spoken = show();
    clearTimeout(rest);
    rest = setTimeout(() => {
      writeHash();
      document.getElementById("calculator-spoken").textContent = spoken;
    }, 400);
  }

  readHash();
  document.getElementById("calculator").hidden = false;
  show();
  document.getElementById("calculator-form").addEventListener("input", changed);
  document.getElementById("calculator-form").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => {
    if (location.hash.includes("=")) {
      readHash();
      show();
    }
  });
  new ResizeObserver(show).observe(chart);

  window.tagmacCalculator = { macs: MACS, messages, wrongTags };
})();
