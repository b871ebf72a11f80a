'use strict';
// Roofline: operations per byte against operations per second, under the machine's roofs.

function rooflineOf(run) {
  const {config, rate, time, work, traffic} = run.report;
  const {tile, fabric, tiles, clock_ghz: ghz} = config.machine;
  const hertz = ghz * 1e9;
  const all = tiles * hertz;
  const unit = run.report.matrix_unit;
  const integer = ['i8', 'i16'].includes(rate.peak_type);
  const flats = [['f16', unit.f16], ['f16, f32 partials', unit.f16_f32], ['f32', unit.f32],
    ['bf16', unit.bf16], ['i8', unit.i8, 'OP/s'], ['i16', unit.i16, 'OP/s']]
    .filter(([, shape]) => shape)
    .map(([name, shape, of = 'FLOP/s']) => ({name, flops: 2 * shape.macs_per_slot * all, unit: of}));
  const port = fabric.receive_bytes_per_cycle;  // an ideal fabric has none
  // A tile has one slot per cycle, which holds one vector instruction.
  for (const [type, flops] of Object.entries(run.vectorFlops ?? {}))
    flats.push({name: 'vector ' + type, flops: flops * all, unit: 'FLOP/s'});
  flats.sort((a, b) => b.flops - a.flops);
  const slopes = port ? [{name: 'exchange', bytes: port * all, ink: '--exchange'}] : [];
  const points = [];
  const add = (name, flops, bytes, rateOf, ink, whole) => {
    if (flops > 0 && rateOf > 0) points.push({name, intensity: bytes > 0 ? flops / bytes : Infinity, rate: rateOf, ink, whole});
  };
  const useful = (integer ? rate.useful_integer_operations_per_second : rate.useful_flops_per_second) || rate.flops_per_second;
  add('run', useful * time.seconds, traffic.exchange_bytes, useful, '--exchange', true);
  for (const phase of run.analysis.phases.slice(0, 12))
    add(phase.name, phase.flops, phase.exchange_bytes, phase.flops / (phase.cycles / hertz), '--exchange', false);
  slopes.unshift({name: 'local memory', bytes: (tile.load_bytes_per_slot + tile.store_bytes_per_slot) * all, ink: '--tensors'});
  // Counted bytes if the machine has an energy table, else the bytes that the workload must move.
  const counted = run.report.energy?.work;
  const local = counted ? counted.bytes_loaded + counted.bytes_stored : (rate.useful_bytes_per_second ?? 0) * time.seconds;
  if (local > 0)
    add('run (local memory)', useful * time.seconds, local, useful, '--tensors', true);
  return {flats, slopes, points, hertz, time, unit: integer ? 'OP/s' : 'FLOP/s'};
}

function drawRoofline(canvas, model) {
  const {context, width, height} = prepare(canvas, 380);
  const finite = model.points.filter(point => Number.isFinite(point.intensity)).map(point => point.intensity);
  const top = Math.max(...model.flats.map(flat => flat.flops), ...model.points.map(point => point.rate));
  const ridges = model.slopes.map(slope => top / slope.bytes);
  const xLow = Math.floor(Math.log10(Math.min(...finite, ...ridges, 1) / 3));
  const xHigh = Math.ceil(Math.log10(Math.max(...finite, ...ridges) * 4));
  const yHigh = Math.ceil(Math.log10(top * 1.6));
  const yLow = Math.min(yHigh - 3, Math.floor(Math.log10(Math.min(...model.points.map(point => point.rate), top) / 2)));
  const box = {x: 74, y: 8, width: width - 96, height: height - 46};
  const x = value => box.x + (Math.log10(value) - xLow) / (xHigh - xLow) * box.width;
  const y = value => box.y + box.height - (Math.log10(value) - yLow) / (yHigh - yLow) * box.height;
  for (let power = xLow; power <= xHigh; ++power) {
    context.fillStyle = colour('--grid');
    context.fillRect(x(10 ** power), box.y, 1, box.height);
    context.fillStyle = colour('--soft');
    context.textAlign = 'center';
    context.fillText(10 ** power >= 0.01 && power < 5 ? String(10 ** power) : `1e${power}`, x(10 ** power), box.y + box.height + 12);
  }
  context.textAlign = 'right';
  for (let power = yLow; power <= yHigh; ++power) {
    context.fillStyle = colour('--grid');
    context.fillRect(box.x, y(10 ** power), box.width, 1);
    context.fillStyle = colour('--soft');
    context.fillText(scaled(10 ** power, model.unit.replace('FLOP', 'F')).replace('.00', '').replace(/\.0 /, ' '), box.x - 6, y(10 ** power));
  }
  context.textAlign = 'left';
  context.fillText('operations a byte', box.x, height - 8);
  // Texts keep off each other and off points.
  const taken = model.points.map(point => pointPlace(point, box, x, y))
    .map(at => ({left: at.x - 6, right: at.x + 6, top: at.y - 6, bottom: at.y + 6}));
  drawRoofs(context, model, box, x, y, top, taken);
  for (const flat of model.flats)
    taken.push({left: box.x, right: box.x + box.width, top: y(flat.flops) - 1, bottom: y(flat.flops) + 1});
  drawPoints(context, model, box, x, y, taken);
}

function drawRoofs(context, model, box, x, y, top, taken) {
  context.save();
  context.beginPath();
  context.rect(box.x, box.y, box.width, box.height);
  context.clip();
  context.lineWidth = 2;
  const steepest = Math.max(...model.slopes.map(slope => slope.bytes));
  for (const slope of model.slopes) {
    context.strokeStyle = colour(slope.ink);
    context.beginPath();
    context.moveTo(x(1e-9), y(slope.bytes * 1e-9));
    context.lineTo(x(top / slope.bytes), y(top));
    context.stroke();
    // The name lies along the slope, where the plot shows it.
    const text = `${slope.name} ${scaled(slope.bytes, 'B/s')}`;
    const at = placeOnSlope(context, text, slope, box, x, y, top);
    const angle = Math.atan2(y(slope.bytes * at * 10) - y(slope.bytes * at), x(at * 10) - x(at));
    context.save();
    context.translate(x(at), y(slope.bytes * at));
    context.rotate(angle);
    context.fillStyle = colour(slope.ink);
    context.fillText(text, 0, -9);
    context.restore();
    const long = context.measureText(text).width;
    for (let along = 0; along <= long; along += 8) {
      const [px, py] = [x(at) + along * Math.cos(angle) + 9 * Math.sin(angle), y(slope.bytes * at) + along * Math.sin(angle) - 9 * Math.cos(angle)];
      taken.push({left: px - 6, right: px + 6, top: py - 6, bottom: py + 6});
    }
  }
  context.strokeStyle = colour('--compute');
  context.textAlign = 'right';
  for (const flat of model.flats) {
    context.beginPath();
    context.moveTo(x(flat.flops / steepest), y(flat.flops));
    context.lineTo(box.x + box.width, y(flat.flops));
    context.stroke();
    context.fillStyle = colour('--compute');
    const text = `${flat.name} ${scaled(flat.flops, flat.unit)}`;
    const wide = context.measureText(text).width;
    const lines = model.flats.map(each => y(each.flops));
    const places = [6, 120, 240].flatMap(back => [-9, 9].map(up => ({left: box.x + box.width - back - wide,
      right: box.x + box.width - back, top: y(flat.flops) + up - 7, bottom: y(flat.flops) + up + 7})));
    const free = places.find(each => taken.every(other => !meet(each, other)) && lines.every(line => line < each.top || line > each.bottom));
    if (!free) continue;
    taken.push(free);
    context.fillText(text, free.right, (free.top + free.bottom) / 2);
  }
  context.restore();
  context.textAlign = 'left';
}

const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** FLOP per byte where a slope's name begins: the lowest at which the plot shows the slope. */
function placeOnSlope(context, text, slope, box, x, y, top) {
  const aside = 18;  // a steep name leans back over where it begins
  let at = top / slope.bytes / 1000;
  while (at < top / slope.bytes && (x(at) < box.x + aside || y(slope.bytes * at) > box.y + box.height - 6)) at *= 1.1;
  return at;
}

const pointPlace = (point, box, x, y) => ({x: Number.isFinite(point.intensity) ? x(point.intensity) : box.x + box.width - 8,
  y: Math.min(y(point.rate), box.y + box.height)});

/** Writes a label at a free place beside a point; leaves it out if all places are taken. */
function placeLabel(context, text, x, y, box, taken) {
  const width = context.measureText(text).width;
  const places = [[11, -10], [11, 11], [-11 - width, -10], [-11 - width, 11], [11, 26], [11, -25], [-11 - width, 26], [-11 - width, -25]]
    .map(([dx, dy]) => ({left: x + dx, right: x + dx + width, top: y + dy - 7, bottom: y + dy + 7}))
    .filter(place => place.left > box.x && place.right < box.x + box.width);
  const free = places.find(place => taken.every(other => !meet(place, other)));
  if (!free) return;
  taken.push(free);
  context.lineWidth = 3;
  context.strokeStyle = colour('--paper');
  context.strokeText(text, free.left, free.top + 7);
  context.fillText(text, free.left, free.top + 7);
}

function drawPoints(context, model, box, x, y, taken) {
  for (const point of [...model.points].sort((a, b) => b.whole - a.whole)) {
    const finite = Number.isFinite(point.intensity);
    const {x: px, y: py} = pointPlace(point, box, x, y);
    context.beginPath();
    if (point.whole) context.arc(px, py, 6, 0, 2 * Math.PI);
    else context.rect(px - 3.5, py - 3.5, 7, 7);
    context.fillStyle = point.whole ? colour('--ink') : colour(point.ink);
    context.fill();
    context.lineWidth = 2;
    context.strokeStyle = colour('--card');
    context.stroke();
    context.fillStyle = colour(point.whole ? '--ink' : '--soft');
    placeLabel(context, point.name + (finite ? '' : ' (no byte)'), px, py, box, taken);
  }
}

function rooflineView(run) {
  const model = rooflineOf(run);
  if (model.points.length === 0)
    return section('roofline', 'Roofline', 'no operation of the matrix units or in floating point was executed', []);
  const canvas = canvasOf('Roofline; the table beside it holds the same numbers', own => drawRoofline(own, model));
  const roofAt = point => Math.min(Math.max(...model.flats.map(flat => flat.flops)),
    (model.slopes.find(slope => slope.ink === point.ink) ?? model.slopes[0]).bytes * point.intensity);
  const rows = model.points.map(point => [point.name,
    Number.isFinite(point.intensity) ? point.intensity.toPrecision(3) : 'no byte',
    scaled(point.rate, model.unit), percent(point.rate / roofAt(point))]);
  const csv = () => csvOf(['point', 'flops_per_byte', 'flops_per_second', 'roof_flops_per_second'],
    model.points.map(point => [point.name, point.intensity, point.rate, roofAt(point)]));
  return section('roofline', 'Roofline', 'squares: phases, executed operations by exchanged bytes; discs: the run, useful ones',
    [csvButton('roofline.csv', csv)],
    element('div', {class: 'columns'}, element('div', {class: 'grow'}, element('div', {}, canvas)),
      element('div', {style: {flex: '0 1 430px'}}, tableOf([{name: ''}, {name: `${model.unit.replace('/s', '')} a byte`, n: true},
        {name: 'achieved', n: true}, {name: 'of its roof', n: true}], rows, () => ({class: 'more'})))));
}
