'use strict';
// Supersteps over time. A superstep wider than a few pixels is drawn individually, others as the
// share of each part in a column of pixels.

const GUTTER = 92;     // left of the tracks, for their names
const WIDE = 3;        // least width in pixels of a superstep drawn individually
const SHOWN_ORDER = ['wait', 'exchange', 'link', 'host', 'compute', 'sync'];

/** The scale of a timeline: places of cycles on the canvas, and the range shown. */
class Stretch {
  constructor(history, from, to, width) {
    Object.assign(this, {history, from, to, width, plot: width - GUTTER - 2});
    this.scale = this.plot / (to - from);
  }
  x(cycle) { return GUTTER + (cycle - this.from) * this.scale; }
  cycle(x) { return this.from + (x - GUTTER) / this.scale; }
  /** Calls each(superstep, x, width) for those wide enough to be drawn individually. */
  wide(each) {
    const {history} = this;
    // Few supersteps can be wide: walk only over the range, and skip narrow ones.
    for (let i = Math.max(0, history.at(this.from)); i < history.count && history.start[i] < this.to; ++i) {
      const width = history.cycles[i] * this.scale;
      if (width >= WIDE) each(i, this.x(history.start[i]), width);
    }
  }
  /** Calls each(x, from, to) for the columns of pixels that hold narrow supersteps. */
  narrow(each) {
    const {history} = this;
    for (let x = 0; x < this.plot; ++x) {
      const from = this.from + x / this.scale;
      const to = this.from + (x + 1) / this.scale;
      const i = history.at(from);
      const inside = i >= 0 && history.cycles[i] * this.scale >= WIDE && history.start[i] + history.cycles[i] >= to;
      if (!inside && to > history.begin && from < history.end) each(GUTTER + x, from, to);
    }
  }
}

function drawParts(context, stretch, top, height) {
  const {history} = stretch;
  stretch.narrow((x, from, to) => {
    const [first, last] = [history.at(from), history.at(to)];
    const spent = SHOWN_ORDER.map(part => history.until(history.sums[part], to, last) -
      history.until(history.sums[part], from, first));
    let y = top + height;
    spent.forEach((cycles, at) => {
      if (cycles <= 0) return;
      const tall = cycles / (to - from) * height;
      context.fillStyle = colour('--' + SHOWN_ORDER[at]);
      context.fillRect(x, y - tall, 1, tall);
      y -= tall;
    });
  });
  stretch.wide((i, x) => {
    for (const part of SHOWN_ORDER) {
      const width = (history.sums[part][i + 1] - history.sums[part][i]) * stretch.scale;
      if (width <= 0) continue;
      context.fillStyle = colour('--' + part);
      context.fillRect(x, top, width, height);
      if (width > 60 && height > 24) {
        context.fillStyle = colour('--card');
        fittedText(context, part, Math.max(x, GUTTER) + 6, top + height / 2, Math.min(x + width, stretch.width) - Math.max(x, GUTTER) - 10);
      }
      x += width;
    }
  });
}

function drawNames(context, stretch, run, top, height) {
  const {steps} = run.history;
  const names = steps.of('name');
  stretch.narrow(x => {
    context.fillStyle = colour('--rule');
    context.fillRect(x, top, 1, height);
  });
  stretch.wide((i, x, width) => {
    context.fillStyle = colour('--name-' + names[i] % 6);
    context.fillRect(x, top, Math.max(1, width - 1), height);
    context.fillStyle = colour('--ink');
    const left = Math.max(x, GUTTER);
    fittedText(context, steps.word('name', i), left + 5, top + height / 2, Math.min(x + width, stretch.width) - left - 8);
  });
}

/** A filled line of value(from, to) per column of pixels; `most` is at the top. */
function drawLevel(context, stretch, top, height, most, value, ink) {
  context.fillStyle = colour(ink);
  for (let x = 0; x < stretch.plot; ++x) {
    const from = stretch.from + x / stretch.scale;
    const tall = Math.min(1, value(from, from + 1 / stretch.scale) / (most || 1)) * height;
    if (tall > 0) context.fillRect(GUTTER + x, top + height - tall, 1, tall);
  }
}

/** The tracks below the parts: {name, most, shown, ink, value(from, to)}. */
function levelTracks(run) {
  const {history} = run;
  const live = history.steps.of('live_bytes');
  const over = (sums, from, to) => history.until(sums, to) - history.until(sums, from);
  const machine = run.report.config.machine;
  const tracks = [{name: 'balance', top: '100 %', most: 1, ink: '--compute', value: (from, to) => {
    const most = over(history.most, from, to);
    return most > 0 ? over(history.mean, from, to) / most : 0;
  }}];
  if (run.report.traffic.exchange_bytes > 0) {
    // A superstep's bytes move only during its exchange part.
    const rate = (from, to) => over(history.bytes, from, to) / Math.max(1e-9, over(history.sums.exchange, from, to));
    const port = machine.fabric.receive_bytes_per_cycle ?? 0;  // an ideal fabric has no rate
    const moved = history.steps.of('exchange_bytes').map((bytes, i) =>
      bytes / Math.max(1, history.steps.of('exchange_cycles')[i]) / machine.tiles);
    const most = Math.max(port, largestOf(moved));
    tracks.push({name: 'exchange', top: `${most.toPrecision(2)} B/cycle`, most, ink: '--exchange',
      value: (from, to) => over(history.sums.exchange, from, to) > 1e-9 ? rate(from, to) / machine.tiles : 0});
  }
  tracks.push({name: 'live buffers', top: kibibytes(largestOf(live)), most: largestOf(live),
    ink: '--tensors', value: (from, to) => history.largest(live, from, to)});
  return tracks;
}

/** The axis of cycles; with `hertz`, the range's length in cycles and seconds is written below. */
function drawAxis(context, stretch, top, hertz = 0) {
  context.fillStyle = colour('--soft');
  context.textAlign = 'center';
  const found = ticks(stretch.from, stretch.to, stretch.plot / 130);
  for (const at of found) {
    const x = stretch.x(at);
    context.fillStyle = colour('--rule');
    context.fillRect(x, top, 1, 5);
    context.fillStyle = colour('--soft');
    if (x > GUTTER + 30 && x < stretch.width - 30) context.fillText(grouped(at), x, top + 13);
  }
  context.textAlign = 'left';
  context.fillText('cycle', 0, top + 13);
  if (!hertz) return;
  context.fillStyle = colour('--faint');
  context.textAlign = 'right';
  context.fillText(`${grouped(stretch.to - stretch.from)} cycles = ${seconds((stretch.to - stretch.from) / hertz)}`, stretch.width, top + 30);
  context.textAlign = 'left';
}

/** The whole run in one strip, drawn once per width and theme. */
function overviewStrip(run, width) {
  const key = `${width} ${theme()} ${devicePixelRatio}`;
  if (run.overview?.key === key) return run.overview.strip;
  const scale = devicePixelRatio || 1;
  const strip = new OffscreenCanvas(width * scale, 22 * scale);
  const context = strip.getContext('2d');
  context.scale(scale, scale);
  drawParts(context, new Stretch(run.history, run.history.begin, run.history.end, width), 0, 22);
  run.overview = {key, strip};
  return strip;
}

/** The strip with a window that marks the range shown below. */
function drawOverview(context, run, width) {
  const all = new Stretch(run.history, run.history.begin, run.history.end, width);
  context.globalAlpha = 0.55;
  context.drawImage(overviewStrip(run, width), 0, 2, width, 22);
  context.globalAlpha = 1;
  const [left, right] = [all.x(state.from), Math.max(all.x(state.from) + 3, all.x(state.to))];
  context.strokeStyle = colour('--ink');
  context.lineWidth = 1.5;
  context.strokeRect(left, 1, right - left - 1, 24);
  context.fillStyle = colour('--soft');
  context.fillText('whole run', 0, 13);
}

const NAMES_TOP = 36;
const NAMES = 20;
const PARTS_TOP = NAMES_TOP + NAMES + 2;
const PARTS_TALL = 84;
const LEVEL = 40;

function drawTimeline(canvas, run) {
  const tracks = run.tracks ??= levelTracks(run);
  const tileTall = run.tileHistory ? Math.max(160, Math.min(420, run.tiles.rows * 4)) + 10 : 0;
  const levelsTop = PARTS_TOP + PARTS_TALL + 10;
  const tilesTop = levelsTop + tracks.length * (LEVEL + 8);
  const axisTop = tilesTop + tileTall;
  const {context, width} = prepare(canvas, axisTop + 40);
  const stretch = new Stretch(run.history, state.from, state.to, width);
  drawOverview(context, run, width);
  context.save();
  context.beginPath();
  context.rect(GUTTER, NAMES_TOP, width - GUTTER, axisTop - NAMES_TOP);
  context.clip();
  drawNames(context, stretch, run, NAMES_TOP, NAMES);
  drawParts(context, stretch, PARTS_TOP, PARTS_TALL);
  tracks.forEach((track, at) => {
    const top = levelsTop + at * (LEVEL + 8);
    context.fillStyle = colour('--grid');
    context.fillRect(GUTTER, top, stretch.plot, LEVEL);
    context.globalAlpha = 0.8;
    drawLevel(context, stretch, top, LEVEL, track.most, track.value, track.ink);
    context.globalAlpha = 1;
  });
  if (run.tileHistory) drawTileRows(context, stretch, run, tilesTop, tileTall - 10);
  context.restore();
  const label = (text, y, ink = '--soft') => {
    context.fillStyle = colour(ink);
    context.fillText(text, 0, y);
  };
  label('superstep', NAMES_TOP + NAMES / 2);
  label('last tile', PARTS_TOP + PARTS_TALL / 2);
  tracks.forEach((track, at) => {
    const top = levelsTop + at * (LEVEL + 8);
    label(track.name, top + LEVEL / 2 - 7);
    label(track.top, top + LEVEL / 2 + 8, '--faint');
  });
  if (run.tileHistory) labelTileRows(context, run, tilesTop, tileTall - 10);
  drawAxis(context, stretch, axisTop, run.report.config.machine.clock_ghz * 1e9);
  return {stretch, tilesTop, tileTall: tileTall - 10};
}
