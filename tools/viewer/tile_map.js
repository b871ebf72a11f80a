'use strict';
// All tiles as a map, coloured by a metric; one tile is chosen.

/** The operations that `flops` counts: on an array of cores in i8 or i16, integer operations of the matrix unit. */
function operationsName(report) {
  return ['i8', 'i16'].includes(report.rate.peak_type) ? 'integer operations' : 'floating-point operations';
}

/** The metrics that the map can show: {name, title, values, shown: number -> text}. */
function tileMetrics(run) {
  const {tiles, report} = run;
  const cycles = report.time.cycles;
  const ofCycles = value => `${grouped(value)} cycles`;
  const operations = operationsName(report);
  const metric = (name, title, values, shown) => ({name, title, values, shown});
  const found = [
    metric('compute', 'Cycles computing', tiles.of('compute_cycles'), ofCycles),
    metric('exchange', 'Cycles in exchanges', tiles.of('exchange_cycles'), ofCycles),
    metric('sync', 'Cycles waiting at barriers', tiles.of('sync_cycles'), ofCycles),
    metric('instructions', 'Instructions a cycle', tiles.of('instructions').map(value => value / cycles),
      value => value.toFixed(3)),
    metric('flops', `${operations[0].toUpperCase()}${operations.slice(1)} a cycle`, tiles.of('flops').map(value => value / cycles),
      value => value.toFixed(2)),
    metric('sent', 'Bytes sent', tiles.of('sent_bytes'), value => scaled(value, 'B')),
    metric('received', 'Bytes received', tiles.of('received_bytes'), value => scaled(value, 'B')),
    metric('memory', 'Memory', run.tileMemory, kibibytes)];
  const microjoules = tiles.find('microjoules');
  if (microjoules) found.push(metric('energy', 'Energy', microjoules.values, value => joules(value / 1e6)));
  for (const category of CATEGORIES) {
    const column = tiles.find(category + '_bytes');
    if (column) found.push(metric('memory-' + category, `Memory: ${category}`, column.values, kibibytes));
  }
  return found;
}

/** A wide grid, with all rows full if there is one of about that shape. */
function tileGrid(count, width) {
  const ideal = Math.ceil(Math.sqrt(count * 2.5));
  let columns = Math.min(count, ideal);
  for (let off = 0; off < ideal / 4; ++off) {
    const full = [ideal + off, ideal - off].find(each => count % each === 0);
    if (!full) continue;
    columns = full;
    break;
  }
  const rows = Math.ceil(count / columns);
  const cell = Math.min(40, width / columns);
  return {columns, rows, cell: cell >= 4 ? Math.floor(cell) : cell};
}

class TileMap {
  constructor(run, canvas, metric) {
    Object.assign(this, {count: run.tiles.rows, canvas, metric, grid: null});
    canvas.addEventListener('pointermove', event => this.tell(event));
    canvas.addEventListener('pointerleave', tip.hide);
    canvas.addEventListener('click', event => {
      const tile = this.tileUnder(event);
      if (tile !== null) chooseTile(tile);
    });
    canvas.addEventListener('keydown', event => this.key(event));
  }
  draw() {
    if (!this.canvas.isConnected) return;
    const {count, metric} = this;
    this.grid = tileGrid(count, this.canvas.parentElement.clientWidth);
    const {columns, rows, cell} = this.grid;
    const {context} = prepare(this.canvas, rows * cell + 32);
    const {low, high, cut} = colourRange(metric);
    const share = tile => high > low ? (metric.values[tile] - low) / (high - low) : 0.5;
    if (cell < 5) {
      paintGrid(context, columns, rows, {x: 0, y: 0, width: columns * cell, height: rows * cell},
        (x, y) => y * columns + x < count ? heat(share(y * columns + x)) : null);
    } else {
      for (let tile = 0; tile < count; ++tile) {
        context.fillStyle = rgb(heat(share(tile)));
        context.fillRect((tile % columns) * cell, Math.floor(tile / columns) * cell, cell - 1, cell - 1);
      }
    }
    this.mark(context, state.tile);
    heatStrip(context, 0, rows * cell + 8, Math.min(220, columns * cell),
      (cut ? '\u2264 ' : '') + metric.shown(low), metric.shown(high));
  }
  mark(context, tile) {
    const {columns, cell} = this.grid;
    const size = Math.max(cell, 7);
    const x = (tile % columns + 0.5) * cell - size / 2;
    const y = (Math.floor(tile / columns) + 0.5) * cell - size / 2;
    for (const [width, ink] of [[4, '--card'], [2, '--ink']]) {
      context.lineWidth = width;
      context.strokeStyle = colour(ink);
      context.strokeRect(x - 0.5, y - 0.5, size, size);
    }
  }
  tileUnder(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = Math.floor((event.clientX - box.left) / this.grid.cell);
    const y = Math.floor((event.clientY - box.top) / this.grid.cell);
    const tile = y * this.grid.columns + x;
    return x >= 0 && x < this.grid.columns && y >= 0 && tile < this.count ? tile : null;
  }
  tell(event) {
    const tile = this.tileUnder(event);
    if (tile === null) return tip.hide();
    tip.show(event, tileName(theRun(), tile), [[this.metric.title, this.metric.shown(this.metric.values[tile])]]);
  }
  key(event) {
    const {columns} = this.grid;
    const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns}[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    chooseTile(state.tile + step);
  }
}

function tileMapView(run) {
  const metrics = tileMetrics(run);
  const canvas = element('canvas', {tabindex: 0, 'aria-label': 'Map of the tiles; arrow keys choose one'});
  const map = new TileMap(run, canvas, metrics[0]);
  const facts = element('div', {class: 'side'});
  const draw = () => {
    map.draw();
    facts.replaceChildren(...tileFacts(run, map.metric));
  };
  const select = element('select', {'aria-label': 'Metric of the map', id: 'metric',
    change: () => { map.metric = metrics[select.selectedIndex]; draw(); }},
    metrics.map(each => element('option', {value: each.name}, each.title)));
  drawn(draw, 'tile');
  return section('tiles', 'Tiles', `${grouped(run.tiles.rows)}, numbered along the rows`,
    [select, csvButton('tiles.csv', () => run.tiles.csv())],
    element('div', {class: 'columns'}, element('div', {class: 'grow'}, canvas), facts));
}
