'use strict';
// Memory: by category on the fullest tile, over the tiles, and over time.

function drawTileMemory(canvas, run, order) {
  const {context, width, height} = prepare(canvas, 190);
  const plot = width - GUTTER;
  const base = height - 24;
  const capacity = run.report.memory.capacity_bytes_per_tile;
  const most = largestOf(run.tileMemory);
  const high = capacity < 1.6 * most ? Math.max(capacity, most) : most * 1.08;
  const columns = CATEGORIES.map(name => run.tiles.of(name + '_bytes'));
  for (let x = 0; x < plot; ++x) {
    // The fullest tile in this column of pixels: peaks must not vanish.
    const first = Math.floor(x / plot * order.length);
    const last = Math.max(first + 1, Math.floor((x + 1) / plot * order.length));
    let tile = order[first];
    for (let i = first; i < last; ++i)
      if (run.tileMemory[order[i]] > run.tileMemory[tile]) tile = order[i];
    let y = base;
    columns.forEach((bytes, at) => {
      const tall = bytes[tile] / high * (base - 6);
      context.fillStyle = colour(categoryColour(CATEGORIES[at]));
      context.fillRect(GUTTER + x, y - tall, 1, tall);
      y -= tall;
    });
  }
  context.fillStyle = colour('--soft');
  for (const at of ticks(0, high / 1024, 4).map(kib => 1024 * kib)) {
    const y = base - at / high * (base - 6);
    context.fillStyle = colour('--soft');
    context.fillText(kibibytes(at), 0, y);
    context.fillStyle = colour('--faint');
    context.fillRect(GUTTER - 6, y, 4, 1);
  }
  if (capacity <= high) {
    context.fillStyle = colour('--ink');
    context.fillRect(GUTTER, base - capacity / high * (base - 6), plot, 1);
    const name = {y: base - capacity / high * (base - 6) + 9, width: context.measureText('capacity').width};
    context.fillStyle = colour('--card');
    context.fillRect(GUTTER + 3, name.y - 7, name.width + 6, 14);
    context.fillStyle = colour('--ink');
    context.fillText('capacity', GUTTER + 6, name.y);
  }
  context.fillStyle = colour('--soft');
  context.fillText(order === run.byMemory ? 'tiles, fullest first' : 'tiles by number', GUTTER, height - 9);
}

function drawLive(canvas, run) {
  const {context, width, height} = prepare(canvas, 96);
  const stretch = new Stretch(run.history, state.from, state.to, width);
  const live = run.steps.of('live_bytes');
  const most = largestOf(live);
  const base = height - 20;
  context.fillStyle = colour('--grid');
  context.fillRect(GUTTER, 4, stretch.plot, base - 4);
  drawLevel(context, stretch, 4, base - 4, most * 1.05, (from, to) => Math.max(...run.zones.map(zone => zone.largest(zone.steps.of('live_bytes'), from, to))), '--tensors');
  context.fillStyle = colour('--soft');
  context.fillText(kibibytes(most), 0, 10);
  context.fillText(`cycle ${grouped(state.from)}`, GUTTER, height - 7);
  context.textAlign = 'right';
  context.fillText(grouped(state.to), width, height - 7);
  context.textAlign = 'left';
}

/** Bytes of the fullest tile's SRAM and its size; `beside`: those of code and lists with a memory of their own. */
function fullestTile(memory) {
  const sram = memory.max_tile_sram_bytes;
  if (sram === undefined)
    return {bytes: memory.max_tile_bytes, capacity: memory.max_tile_capacity_bytes ?? memory.capacity_bytes_per_tile, beside: 0};
  const bytes = memory.categories.tensors + memory.categories.stack;
  return {bytes, capacity: sram, beside: memory.max_tile_bytes - bytes};
}

function memoryView(run) {
  const {memory} = run.report;
  const pieces = CATEGORIES.map(name => ({value: memory.categories[name], colour: categoryColour(name),
    title: `${name}: ${grouped(memory.categories[name])} B`}));
  run.byMemory ??= Array.from(run.tileMemory.keys()).sort((a, b) => run.tileMemory[b] - run.tileMemory[a] || a - b);
  const byNumber = Array.from(run.tileMemory.keys());
  let order = run.byMemory;
  const tiles = canvasOf('Memory of each tile by category', canvas => drawTileMemory(canvas, run, order));
  const time = canvasOf('Live buffers over time', canvas => drawLive(canvas, run), 'range');
  const select = element('select', {'aria-label': 'Order of the tiles',
    change: () => { order = select.selectedIndex === 0 ? run.byMemory : byNumber; drawTileMemory(tiles, run, order); }},
    element('option', {}, 'fullest first'), element('option', {}, 'by number'));
  const csv = () => csvOf(['category', 'bytes'], CATEGORIES.map(name => [name, memory.categories[name]]));
  const fullest = fullestTile(memory);
  const share = fullest.bytes / fullest.capacity;
  const beside = fullest.beside > 0 ? `; ${kibibytes(fullest.beside)} of code and lists in a memory of their own` : '';
  const lists = memory.lists ? '; it fits with its shortest lists alone, so that exchanges take longer' : '';
  return section('memory', 'Memory',
    `${kibibytes(fullest.bytes)} of ${kibibytes(fullest.capacity)} on ${tileName(run, memory.max_tile)}, the fullest${beside}${lists}`,
    [select, csvButton('memory.csv', csv)],
    element('h3', {}, 'The fullest tile, by category'),
    stackedBar(pieces, share > 0.5 && fullest.beside === 0 ? fullest.capacity : memory.max_tile_bytes),
    legend(CATEGORIES.filter(name => memory.categories[name] > 0).map(name => ({ink: categoryColour(name), name,
      value: kibibytes(memory.categories[name]), more: ' ' + percent(memory.categories[name] / memory.max_tile_bytes)}))),
    element('h3', {style: {marginTop: '18px'}}, 'All tiles'), element('div', {}, tiles),
    element('h3', {style: {marginTop: '14px'}}, 'Live buffers over time, on the tile where they are most'),
    element('div', {}, time),
    ...memoryMap(run),
    element('p', {class: 'note'}, 'Follows the timeline\u2019s stretch. A tile\u2019s memory is its peak: buffers that are never live together share bytes.'));
}
