'use strict';
// Below the timeline: activity of each tile in each superstep, one row per tile.

const TILE_PARTS = ['compute', 'exchange', 'wait'];  // the planes; the rest is idle at the barrier

/** Shares of a tile's time by row (one or several supersteps), at steps of half the detail. */
class TileHistory {
  static async read(packed, tiles, history) {
    if (!packed) return null;
    const made = new TileHistory();
    made.tiles = tiles;
    const cycles = new Float64Array(packed.rows);
    for (let i = 0; i < history.count; ++i) cycles[Math.floor(i / packed.supersteps_a_row)] += history.cycles[i];
    made.levels = [{supersteps: packed.supersteps_a_row, rows: packed.rows, cycles,
                    planes: await Promise.all(packed.planes.map(inflate))}];
    while (made.levels.at(-1).rows > 1024) made.levels.push(made.halved(made.levels.at(-1)));
    made.shown = {from: 0, to: tiles};
    return made;
  }
  halved({supersteps, rows, cycles, planes}) {
    const fewer = Math.ceil(rows / 2);
    const sums = new Float64Array(fewer);
    for (let row = 0; row < rows; ++row) sums[row >> 1] += cycles[row];
    const halves = planes.map(plane => {
      const half = new Uint8Array(fewer * this.tiles);
      for (let row = 0; row < fewer; ++row) {
        const second = 2 * row + 1 < rows ? 2 * row + 1 : 2 * row;
        const weight = second === 2 * row || sums[row] === 0 ? 1 : cycles[2 * row] / sums[row];
        for (let tile = 0; tile < this.tiles; ++tile)
          half[row * this.tiles + tile] = weight * plane[2 * row * this.tiles + tile] +
            (1 - weight) * plane[second * this.tiles + tile] + 0.5;
      }
      return half;
    });
    return {supersteps: 2 * supersteps, rows: fewer, cycles: sums, planes: halves};
  }
  /** The coarsest level that still has a row for each of `columns` within the supersteps shown. */
  levelFor(supersteps, columns) {
    return this.levels.findLast(level => supersteps / level.supersteps >= columns) ?? this.levels[0];
  }
}

/** ImageData's order of [red, green, blue]. */
const packed = ([red, green, blue]) => (255 << 24 | blue << 16 | green << 8 | red) >>> 0;

/** From idle to computing, by the share in 1/255. */
function computingShades() {
  const [low, high] = ['--idle', '--compute'].map(name => channels(colour(name)));
  return Uint32Array.from({length: 256}, (_, share) =>
    packed(low.map((from, c) => from + share / 255 * (high[c] - from))));
}

/** If supersteps are wide, each pixel shows the activity of one tile at one moment; of many tiles in a
 *  pixel, evenly spread ones are chosen. If they are narrow, a shade shows the share of computing. */
function drawTileRows(context, stretch, run, top, height) {
  const {history, tileHistory: tiles} = run;
  const columns = Math.max(1, Math.floor(stretch.plot));
  const rows = Math.floor(height);
  const visible = history.at(stretch.to) - Math.max(0, history.at(stretch.from)) + 1;
  const {planes: [computes, exchanges, waits], supersteps} = tiles.levelFor(visible, columns);
  const [compute, exchange, wait, idle] = [...TILE_PARTS.map(part => '--' + part), '--idle']
    .map(name => packed(channels(colour(name))));
  const shades = computingShades();
  const {from, to} = tiles.shown;
  const many = to - from > rows;
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let x = 0; x < columns; ++x) {
    const cycle = stretch.from + (x + 0.5) / stretch.scale;
    const step = history.at(cycle);
    if (step < 0 || cycle > history.start[step] + history.cycles[step]) continue;
    const apart = supersteps === 1 && history.cycles[step] * stretch.scale >= 6;
    const time = 255 * (cycle - history.start[step]) / history.cycles[step];
    const base = Math.floor(step / supersteps) * tiles.tiles;
    for (let y = 0, at = x; y < rows; ++y, at += columns) {
      // The R2 sequence: even in the plane.
      const grain = many ? (x * 0.7548776662 + y * 0.5698402910) % 1 : 0.5;
      const tile = base + Math.floor(from + (y + grain) / rows * (to - from));
      if (!apart) {
        pixels[at] = shades[computes[tile]];
        continue;
      }
      const waited = waits[tile];
      const exchanged = waited + exchanges[tile];
      pixels[at] = time < waited ? wait : time < exchanged ? exchange
        : time < exchanged + computes[tile] ? compute : idle;
    }
  }
  const small = new OffscreenCanvas(columns, rows);
  small.getContext('2d').putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, GUTTER, top, columns, height);
  separateRows(context, tiles.shown, top, height, columns);
  markTileRow(context, tiles.shown, top, height, columns);
}

/** Draws lines between rows that are tall enough. */
function separateRows(context, {from, to}, top, height, width) {
  if (height / (to - from) < 6) return;
  context.fillStyle = colour('--paper');
  for (let tile = Math.ceil(from); tile < to; ++tile)
    context.fillRect(GUTTER, Math.round(top + (tile - from) / (to - from) * height), width, 1);
}

function markTileRow(context, {from, to}, top, height, width) {
  const y = top + (state.tile + 0.5 - from) / (to - from) * height;
  if (y < top || y > top + height) return;
  context.strokeStyle = colour('--ink');
  context.lineWidth = 1;
  const tall = Math.max(2, height / (to - from));
  context.strokeRect(GUTTER + 0.5, y - tall / 2, width - 1, tall);
}

function labelTileRows(context, run, top, height) {
  const {from, to} = run.tileHistory.shown;
  context.fillStyle = colour('--soft');
  context.fillText(`tile ${grouped(Math.floor(from))}`, 0, top + 7);
  context.fillText(`tile ${grouped(Math.ceil(to) - 1)}`, 0, top + height - 7);
  context.fillStyle = colour('--faint');
  const {supersteps} = run.tileHistory.levels[0];
  if (supersteps > 1) context.fillText(`${supersteps} steps a row`, 0, top + height / 2);
}

const tileAt = (run, share) => {
  const {from, to} = run.tileHistory.shown;
  return Math.max(0, Math.min(run.tileHistory.tiles - 1, Math.floor(from + share * (to - from))));
};

/** Zooms the rows around a share of their height. */
function zoomTiles(run, share, factor) {
  const history = run.tileHistory;
  const {from, to} = history.shown;
  const length = Math.max(Math.min(4, history.tiles), Math.min(history.tiles, (to - from) * factor));
  const begin = from + share * (to - from) - share * length;
  history.shown.from = Math.max(0, Math.min(history.tiles - length, begin));
  history.shown.to = history.shown.from + length;
  changed('range');
}

/** Shows the whole run, all tiles. */
function showAll(run) {
  if (run.tileHistory) run.tileHistory.shown = {from: 0, to: run.tileHistory.tiles};
  showRange(run.history.begin, run.history.end);
}

/** Zooms the rows around the chosen tile. */
function zoomChosenTile(run, factor) {
  if (!run.tileHistory) return;
  const {from, to} = run.tileHistory.shown;
  zoomTiles(run, Math.max(0, Math.min(1, (state.tile + 0.5 - from) / (to - from))), factor);
}

function tileStepTip(event, run, step, tile) {
  const {levels, tiles} = run.tileHistory;
  const row = Math.floor(step / levels[0].supersteps);
  const cycles = levels[0].cycles[row];
  const shares = levels[0].planes.map(plane => plane[row * tiles + tile] / 255);
  const idle = Math.max(0, 1 - sumOf(shares));
  const line = (name, share) => [name, `${percent(share)}  \u2248 ${grouped(share * cycles)}`];
  tip.show(event, `tile ${grouped(tile)} in ${grouped(step)}  ${run.steps.word('name', step)}`,
    [...TILE_PARTS.map((part, at) => line(part, shares[at])).filter((_, at) => shares[at] > 0),
      line('idle at the barrier', idle)]);
}
