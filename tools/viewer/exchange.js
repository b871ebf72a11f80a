'use strict';
// Traffic: bytes sent and received by each tile, and from whom to whom.

function drawPorts(canvas, run) {
  const {context, width, height} = prepare(canvas, 240);
  const sent = run.tiles.of('sent_bytes');
  const received = run.tiles.of('received_bytes');
  const most = Math.max(largestOf(sent), largestOf(received)) || 1;
  const plot = width - GUTTER;
  const half = (height - 26) / 2;
  const middle = half + 2;
  const count = run.tiles.rows;
  const column = (values, x) => {
    const first = Math.floor(x / plot * count);
    let found = 0;
    for (let i = first; i < Math.max(first + 1, Math.floor((x + 1) / plot * count)); ++i) found = Math.max(found, values[i]);
    return found / most * (half - 6);
  };
  for (let x = 0; x < plot; ++x) {
    const up = column(received, x);
    const down = column(sent, x);
    context.fillStyle = colour('--exchange');
    context.fillRect(GUTTER + x, middle - up, 1, up);
    context.fillStyle = colour('--host');
    context.fillRect(GUTTER + x, middle + 1, 1, down);
  }
  context.fillStyle = colour('--ink');
  context.fillRect(GUTTER, middle, plot, 1);
  const chosen = GUTTER + (state.tile + 0.5) / count * plot;
  context.globalAlpha = 0.5;
  context.fillRect(chosen, 2, 1, height - 26);
  context.globalAlpha = 1;
  context.fillStyle = colour('--soft');
  context.fillText('received', 0, middle - half / 2);
  context.fillText('sent', 0, middle + half / 2);
  context.fillStyle = colour('--faint');
  context.fillText(scaled(most, 'B'), 0, 10);
  context.fillText('tile 0', GUTTER, height - 8);
  context.textAlign = 'right';
  context.fillText(`tile ${grouped(count - 1)}`, width, height - 8);
  context.textAlign = 'left';
}

/** The traffic matrix by groups of tiles: {groups, tiles: in a group, bytes: from * groups + to}. */
function matrixOf(run) {
  const {traffic} = run;
  const tiles = traffic.rows > 0 ? traffic.of('tiles')[0] : 1;
  const groups = Math.ceil(run.tiles.rows / tiles);
  const bytes = new Float64Array(groups * groups);
  for (let row = 0; row < traffic.rows; ++row)
    bytes[traffic.of('from_tile')[row] / tiles * groups + traffic.of('to_tile')[row] / tiles] += traffic.of('bytes')[row];
  return {groups, tiles, bytes, most: largestOf(bytes)};
}

function drawMatrix(canvas, matrix) {
  const wide = canvas.parentElement.clientWidth;
  const {context, width} = prepare(canvas, wide);
  const size = width - 22;
  context.fillStyle = colour('--grid');
  context.fillRect(22, 0, size, size);
  paintGrid(context, matrix.groups, matrix.groups, {x: 22, y: 0, width: size, height: size}, (to, from) => {
    const bytes = matrix.bytes[from * matrix.groups + to];
    return bytes > 0 ? heat(Math.sqrt(bytes / matrix.most)) : null;
  });
  context.fillStyle = colour('--soft');
  context.fillText('to', 22, size + 11);
  heatStrip(context, 60, size + 6, Math.min(110, size - 200), '', '');
  context.textAlign = 'right';
  context.fillText(`to ${scaled(matrix.most, 'B')}, by square root`, width, size + 11);
  context.textAlign = 'left';
  upwardText(context, 'from', 9, size);
}

function matrixView(run) {
  const matrix = matrixOf(run);
  const canvas = canvasOf('Bytes from each group of tiles to each', own => drawMatrix(own, matrix));
  const range = group => matrix.tiles === 1 ? grouped(group)
    : `${grouped(group * matrix.tiles)}\u2013${grouped(Math.min(run.tiles.rows, (group + 1) * matrix.tiles) - 1)}`;
  canvas.addEventListener('pointermove', event => {
    const box = canvas.getBoundingClientRect();
    const size = box.width - 22;
    const to = Math.floor((event.clientX - box.left - 22) / size * matrix.groups);
    const from = Math.floor((event.clientY - box.top) / size * matrix.groups);
    if (to < 0 || to >= matrix.groups || from < 0 || from >= matrix.groups) return tip.hide();
    tip.show(event, scaled(matrix.bytes[from * matrix.groups + to], 'B'), [['from tiles', range(from)], ['to tiles', range(to)]]);
  });
  canvas.addEventListener('pointerleave', tip.hide);
  return element('div', {style: {flex: '0 0 340px'}},
    element('h3', {}, matrix.tiles === 1 ? 'From each tile to each' : `Groups of ${matrix.tiles} tiles: from each to each`),
    element('div', {}, canvas));
}

function exchangeView(run) {
  const {traffic} = run.report;
  if (traffic.exchange_bytes === 0)
    return section('exchange', 'Exchange', 'no bytes moved between tiles', []);
  const ports = canvasOf('Bytes received and sent by each tile', canvas => drawPorts(canvas, run), 'tile');
  ports.addEventListener('click', event => {
    const box = ports.getBoundingClientRect();
    chooseTile(Math.floor((event.clientX - box.left - GUTTER) / (box.width - GUTTER) * run.tiles.rows));
  });
  const facts = [['received by tiles', scaled(traffic.exchange_bytes, 'B')],
    ['of it by multicast', `${scaled(traffic.multicast_bytes, 'B')} (${percent(traffic.multicast_bytes / traffic.exchange_bytes)})`],
    ['busiest sender', scaled(traffic.max_tile_sent, 'B')],
    ['busiest receiver', scaled(traffic.max_tile_received, 'B')],
    ['mean receiver', scaled(traffic.exchange_bytes / run.tiles.rows, 'B')],
    ['host', scaled(traffic.host_bytes, 'B')]];
  return section('exchange', 'Exchange', null,
    [csvButton('traffic.csv', () => run.traffic.csv())],
    element('div', {class: 'columns'},
      element('div', {class: 'grow'}, element('h3', {}, 'Bytes received and sent, by tile'), element('div', {}, ports),
        factLine(facts, {style: {marginTop: '14px'}})),
      matrixView(run)));
}
