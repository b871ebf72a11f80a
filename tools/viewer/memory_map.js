'use strict';
// The memory map of the fullest tile over time: the program knows each buffer's name and life.

/** Program steps [first, last] that each superstep covers: an exchange and the computation after it. */
function stepsOfSupersteps(steps) {
  const entered = steps.find('program_step')?.values;
  if (!entered) return null;
  const first = entered.map((step, i) => i > 0 && entered[i - 1] < step ? Math.max(entered[i - 1] + 1, step - 1) : step);
  return {first, last: entered};
}

/** [{name, category, buffers, address, bytes, first, last}] by address; none in older folders. */
function buffersOf(run) {
  const {buffers: table} = run;
  if (table.rows === 0) return [];
  return Array.from({length: table.rows}, (_, row) => ({name: table.word('name', row), category: table.word('category', row),
    buffers: table.of('buffers')[row], address: table.of('address')[row], bytes: table.of('bytes')[row],
    first: table.of('first_step')[row], last: table.of('last_step')[row]}));
}

const holds = (buffer, covered, step) => step >= 0 && buffer.first <= covered.last[step] && buffer.last >= covered.first[step];

/** Rectangles of addresses over cycles; returns {stretch, addressAt} for the tip. */
function drawMemoryMap(canvas, run) {
  const {context, width, height} = prepare(canvas, 300);
  const stretch = new Stretch(run.history, state.from, state.to, width);
  const base = height - 24;
  const top = Math.max(...run.ranges.map(range => range.address + range.bytes), 1);
  const y = address => base - address / top * (base - 8);
  context.fillStyle = colour('--grid');
  context.fillRect(GUTTER, 8, stretch.plot, base - 8);
  const columns = Math.floor(stretch.plot);
  const steps = Int32Array.from({length: columns}, (_, x) => run.mapped.at(stretch.from + (x + 0.5) / stretch.scale));
  for (const range of run.ranges) {
    const tall = Math.max(1, y(range.address) - y(range.address + range.bytes));
    for (let from = 0; from < columns; ++from) {
      if (!holds(range, run.covered, steps[from])) continue;
      let to = from;
      while (to < columns && holds(range, run.covered, steps[to])) ++to;
      const box = {x: GUTTER + from, y: y(range.address + range.bytes), width: to - from};
      context.fillStyle = colour(categoryColour(range.category));
      context.fillRect(box.x, box.y, box.width, tall - (tall > 4 ? 1 : 0));
      if (tall >= 13) {
        context.fillStyle = colour('--card');
        fittedText(context, range.name, box.x + 5, box.y + tall / 2, box.width - 8);
      }
      from = to;
    }
  }
  for (const at of ticks(0, top / 1024, 5).map(kib => 1024 * kib)) {
    context.fillStyle = colour('--soft');
    context.fillText(kibibytes(at), 0, Math.max(8, y(at)));
  }
  context.fillText(`cycle ${grouped(state.from)}`, GUTTER, height - 9);
  context.textAlign = 'right';
  context.fillText(grouped(state.to), width, height - 9);
  context.textAlign = 'left';
  return {stretch, addressAt: at => (base - at) / (base - 8) * top};
}

function memoryMapTip(event, run, view, canvas) {
  const box = canvas.getBoundingClientRect();
  const step = run.mapped.at(view.stretch.cycle(event.clientX - box.left));
  const address = view.addressAt(event.clientY - box.top);
  const range = run.ranges.find(each => address >= each.address && address < each.address + each.bytes && holds(each, run.covered, step));
  if (!range) return tip.hide();
  tip.show(event, range.name, [['holds', range.category], ['bytes', grouped(range.bytes)],
    ['buffers', grouped(range.buffers)], ['address', '0x' + range.address.toString(16)],
    ['superstep', `${grouped(step)}  ${run.mapped.steps.word('name', step)}`]]);
}

/** The supersteps of [first, last] that hold a range, as names. */
function lifeOf(range, run) {
  const {covered, mapped: {steps}} = run;
  const found = [];
  for (let i = 0; i < steps.rows; ++i) if (holds(range, covered, i)) found.push(i);
  if (found.length === 0) return 'outside what is measured';
  if (found.length === steps.rows) return 'all the time';
  const name = i => steps.word('name', i);
  return found.length === 1 ? name(found[0]) : `${name(found[0])} \u2013 ${name(found.at(-1))}`;
}

/** Ranges of one name and category together, largest first. */
function namedBuffers(run) {
  const named = new Map();
  for (const range of run.ranges) {
    const key = JSON.stringify([range.name, range.category, range.first, range.last]);
    const known = named.get(key);
    if (known) [known.bytes, known.buffers] = [known.bytes + range.bytes, known.buffers + range.buffers];
    else named.set(key, {...range});
  }
  return [...named.values()].sort((a, b) => b.bytes - a.bytes);
}

/** Elements below the memory section; none without the tables of this version. */
function memoryMap(run) {
  run.ranges = buffersOf(run);
  // The steps of the fullest tile's zone.
  run.mapped = run.zones.find(zone => zone.steps.of('last_tile').includes(run.report.memory.max_tile)) ?? run.history;
  run.covered = stepsOfSupersteps(run.mapped.steps);
  if (run.ranges.length === 0 || !run.covered || run.history.count === 0) return [];
  let view = null;
  const canvas = canvasOf('Address map of the fullest tile over time', own => { view = drawMemoryMap(own, run); }, 'range');
  canvas.addEventListener('pointermove', event => { if (view) memoryMapTip(event, run, view, canvas); });
  canvas.addEventListener('pointerleave', tip.hide);
  const {capacity, beside} = fullestTile(run.report.memory);
  const named = namedBuffers(run);
  const ofSram = ({category, bytes}) => beside === 0 || ['tensors', 'stack'].includes(category) ? percent(bytes / capacity) : '\u2013';
  const rows = named.map(each => [each.name, each.category, grouped(each.buffers), kibibytes(each.bytes),
    ofSram(each), lifeOf(each, run)]);
  const columns = [{name: 'buffer'}, {name: 'holds'}, {name: 'number', n: true}, {name: 'bytes', n: true}, {name: 'of SRAM', n: true}, {name: 'live in'}];
  const csv = () => run.buffers.csv();
  return [element('h3', {style: {marginTop: '14px'}}, `Addresses of tile ${grouped(run.report.memory.max_tile)} over time`),
    element('div', {}, canvas),
    element('div', {class: 'head', style: {marginTop: '14px'}}, element('h3', {style: {flex: '1'}}, 'Named buffers of that tile'), csvButton('buffers.csv', csv)),
    element('div', {class: 'wide'}, foldedTable(columns, rows, 14, 'buffer', () => ({class: 'more'})))];
}
