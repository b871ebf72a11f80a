'use strict';
// Beside the map: the distribution of a metric over the tiles, and the numbers of the chosen tile.

/** Minimum, maximum and mean of a metric. */
function spread(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return {low, high, mean: sumOf(values) / Math.max(1, values.length)};
}

/** The range that the map's colours span, without the lowest 2 % if these would take a third of it. */
function colourRange(metric) {
  if (metric.range) return metric.range;
  const sorted = Float64Array.from(metric.values).sort();
  const [low, most] = [sorted[0], sorted[sorted.length - 1]];
  const common = sorted[Math.ceil(sorted.length / 50)] ?? low;
  const cut = common - low > (most - low) / 3;
  metric.range = {low: cut ? common : low, high: most, cut};
  return metric.range;
}

/** The number of tiles in each of `bins` equal ranges from low to high. */
function histogram(values, low, high, bins) {
  const counts = new Uint32Array(bins);
  for (const value of values)
    ++counts[Math.min(bins - 1, Math.floor((value - low) / (high - low || 1) * bins))];
  return counts;
}

function drawHistogram(canvas, metric) {
  const {context, width, height} = prepare(canvas, 92);
  const {low, high} = spread(metric.values);
  const range = colourRange(metric);
  const bins = Math.min(48, Math.floor(width / 6));
  const counts = histogram(metric.values, low, high, bins);
  const most = largestOf(counts);
  const chosen = Math.min(bins - 1, Math.floor((metric.values[state.tile] - low) / (high - low || 1) * bins));
  const base = height - 22;
  for (let i = 0; i < bins; ++i) {
    // A bin of one tile among thousands must show.
    const tall = counts[i] === 0 ? 0 : Math.max(2, counts[i] / most * (base - 4));
    const middle = low + (i + 0.5) / bins * (high - low);  // coloured as on the map
    context.fillStyle = rgb(heat(range.high > range.low ? (middle - range.low) / (range.high - range.low) : 0.5));
    context.fillRect(i * width / bins, base - tall, width / bins - 1, tall);
    if (i !== chosen) continue;
    context.fillStyle = colour('--ink');
    context.beginPath();
    context.moveTo((i + 0.5) * width / bins, base + 2);
    context.lineTo((i + 0.5) * width / bins - 4, base + 8);
    context.lineTo((i + 0.5) * width / bins + 4, base + 8);
    context.fill();
  }
  context.fillStyle = colour('--faint');
  context.fillText(metric.shown(low), 0, height - 8);
  context.textAlign = 'right';
  context.fillText(metric.shown(high), width, height - 8);
  context.textAlign = 'left';
}

function tileFacts(run, metric) {
  const tile = state.tile;
  const {mean, high} = spread(metric.values);
  const canvas = element('canvas', {'aria-label': `How ${metric.title} spreads over the tiles`});
  queueMicrotask(() => { if (canvas.isConnected) drawHistogram(canvas, metric); });  // once it is on the page
  const cell = (name, shown) => [name, shown];
  const of = name => run.tiles.of(name)[tile];
  const cycles = run.report.time.cycles;
  const rows = [
    cell('computing', `${grouped(of('compute_cycles'))} cycles`),
    cell('in exchanges', `${grouped(of('exchange_cycles'))} cycles`),
    cell('at barriers', `${grouped(of('sync_cycles'))} cycles`),
    cell('instructions', grouped(of('instructions'))),
    cell(operationsName(run.report), grouped(of('flops'))),
    cell('sent', `${grouped(of('sent_bytes'))} B`),
    cell('received', `${grouped(of('received_bytes'))} B`),
    cell('memory', `${grouped(run.tileMemory[tile])} B`)];
  return [
    element('h3', {}, metric.title),
    element('div', {}, canvas),
    element('p', {class: 'note', style: {margin: '4px 0 16px'}},
      `mean ${metric.shown(mean)}; largest over mean ${mean > 0 ? (high / mean).toFixed(2) : '1.00'}`),
    element('h3', {}, tileName(run, tile).replace('tile', 'Tile')),
    stackedBar(['compute', 'exchange', 'sync'].map(part => ({value: of(part + '_cycles'), colour: '--' + part,
      title: part})), cycles, 'thin'),
    element('div', {style: {height: '6px'}}),
    tableOf([{name: ''}, {name: '', n: true}], rows)];
}
