'use strict';
// Figures of a sweep: any column over any other, coloured by a third; or two axes and a colour.

const SERIES = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8a8f94'];

const columnTitle = column => column.unit ? `${column.label} (${column.unit})` : column.label;
/** The title of an axis, with the axes that are swept together with it. */
const axisTitle = column => [columnTitle(column), ...(column.with ?? []).map(columnTitle)].join(', with ');
const numbersIn = column => column.values.filter(value => typeof value === 'number');
const isNumeric = column => column.values.every(value => value === null || typeof value === 'number');

/** Places of a column's values from 0 to 1, with the marks of its axis. */
function scaleOf(column) {
  if (!isNumeric(column)) {
    const words = [...new Set(column.values.filter(value => value !== null).map(String))];
    return {place: value => (words.indexOf(String(value)) + 0.5) / words.length,
      marks: words.map((word, i) => [(i + 0.5) / words.length, word])};
  }
  const values = numbersIn(column);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const shown = value => value !== 0 && Math.abs(value) < 0.01 ? smallNumber(value) : scaled(Number(value.toPrecision(6))).replace(/(\.\d*?)0+(?= |$)/, '$1').replace(/\.(?= |$)/, '');
  const swept = column.axis ? [...new Set(values)].sort((a, b) => a - b) : [];
  const marksAt = (place, usual) => swept.length > 0 && swept.length <= 16 ? swept.map(at => [place(at), String(at)]) : usual().map(at => [place(at), shown(at)]);
  if (low > 0 && high / low > 15) {
    const [from, to] = [Math.log10(low), Math.log10(high)];
    const room = 0.04 * (to - from);
    const place = value => (Math.log10(value) - from + room) / (to - from + 2 * room);
    const marks = [];
    for (let power = Math.floor(from); power <= Math.ceil(to); ++power)
      for (const times of to - from < 2.5 ? [1, 2, 5] : [1])
        if (times * 10 ** power >= low * 0.95 && times * 10 ** power <= high * 1.05) marks.push(times * 10 ** power);
    return {place, marks: marksAt(place, () => marks)};
  }
  const begin = low >= 0 && low < 0.6 * high ? 0 : low;
  const span = high > begin ? high - begin : 1;
  const place = value => (value - begin) / span * 0.94 + 0.03;
  return {place, marks: marksAt(place, () => ticks(begin, begin + span, 6))};
}

/** Each point's colour, and [[colour, name]] of the legend (or the ends of a scale). */
function coloursOf(column) {
  if (!column) return {of: () => SERIES[0], legend: [], series: () => ''};
  const words = [...new Set(column.values.map(value => value === null ? '\u2013' : String(value)))];
  if (words.length <= SERIES.length || !isNumeric(column)) {
    if (isNumeric(column)) words.sort((a, b) => a - b);
    const ink = word => SERIES[words.indexOf(word) % SERIES.length];
    const word = i => column.values[i] === null ? '\u2013' : String(column.values[i]);
    return {of: i => ink(word(i)), legend: words.map(each => [ink(each), each]), series: word};
  }
  const {place} = scaleOf(column);
  const values = numbersIn(column);
  return {of: i => column.values[i] === null ? '#999999' : rgb(heat(place(column.values[i]))), series: null,
    legend: [0, 0.25, 0.5, 0.75, 1].map(share => [rgb(heat(share)), share === 0 ? scaled(Math.min(...values)) : share === 1 ? scaled(Math.max(...values)) : ''])};
}

function drawAxes(context, box, across, up, titles) {
  context.fillStyle = colour('--soft');
  context.textAlign = 'center';
  const x = at => box.x + at * box.width;
  context.fillStyle = colour('--grid');
  for (const [at] of across.marks) context.fillRect(x(at), box.y, 1, box.height);
  context.fillStyle = colour('--soft');
  apartTexts(context, across.marks.map(([at, text]) => [x(at), text]), box.y + box.height + 13, 8);
  context.textAlign = 'right';
  for (const [at, text] of up.marks) {
    const y = box.y + (1 - at) * box.height;
    context.fillStyle = colour('--grid');
    context.fillRect(box.x, y, box.width, 1);
    context.fillStyle = colour('--soft');
    context.fillText(text, box.x - 8, y);
  }
  context.textAlign = 'center';
  context.fillStyle = colour('--ink');
  context.fillText(titles[0], box.x + box.width / 2, box.y + box.height + 33);
  upwardText(context, titles[1], 11, box.y + box.height / 2);
  context.textAlign = 'left';
}

/** Draws the shown points; returns them as [{at, x, y}] for the tip. Colours stay those of all points. Points of a series are joined if their x differ. */
function drawSweep(canvas, allX, allY, tint, sweep) {
  const [x, y] = [shownOf(allX, sweep), shownOf(allY, sweep)];
  const {chosen} = sweep;
  const {context, width, height} = prepare(canvas, 380);
  const box = {x: 84, y: 10, width: width - 100, height: height - 58};
  if (numbersIn(y).length === 0) {
    context.fillStyle = colour('--soft');
    context.fillText('No point that is shown has this number.', 0, 16);
    return {points: [], legend: []};
  }
  const [across, up] = [scaleOf(x), scaleOf(y)];
  drawAxes(context, box, across, up, [axisTitle(x), axisTitle(y)]);
  const inks = coloursOf(tint);
  const points = [];
  x.values.forEach((value, at) => {
    if (value === null || y.values[at] === null) return;
    points.push({at, x: box.x + across.place(value) * box.width, y: box.y + (1 - up.place(y.values[at])) * box.height, series: inks.series?.(at)});
  });
  const series = inks.series ? [...new Set(points.map(point => point.series))] : [];
  for (const name of series) {
    const own = points.filter(point => point.series === name).sort((a, b) => a.x - b.x);
    if (own.length < 2 || own.some((point, i) => i > 0 && point.x - own[i - 1].x < 1e-6) || !isNumeric(x)) continue;
    context.strokeStyle = inks.of(own[0].at);
    context.globalAlpha = 0.6;
    context.beginPath();
    own.forEach((point, i) => context[i ? 'lineTo' : 'moveTo'](point.x, point.y));
    context.stroke();
    context.globalAlpha = 1;
  }
  for (const point of points) {
    context.beginPath();
    context.arc(point.x, point.y, point.at === chosen ? 7 : 4.5, 0, 2 * Math.PI);
    context.fillStyle = inks.of(point.at);
    context.fill();
    context.strokeStyle = colour(point.at === chosen ? '--ink' : '--card');
    context.lineWidth = point.at === chosen ? 2.5 : 1;
    context.stroke();
  }
  context.lineWidth = 1;
  return {points, legend: inks.series && tint ? inks.legend.filter(([, name]) => series.includes(name)) : inks.legend};
}

/** Two axes and a colour; crosses where a point cannot run. */
function drawSweepMap(canvas, x, y, tint, sweep) {
  const order = column => [...new Set(shownOf(column, sweep).values.filter(value => value !== null))]
    .sort(isNumeric(column) ? (a, b) => a - b : () => 0);
  const [columns, rows] = [order(x), order(y)];
  const {context, width} = prepare(canvas, 70 + Math.min(420, rows.length * 44));
  const cell = {width: Math.min(110, (width - 100) / columns.length), height: Math.min(420, rows.length * 44) / rows.length};
  const {place} = scaleOf(shownOf(tint, sweep));
  context.textAlign = 'center';
  sweep.points.forEach((point, at) => {
    if (!sweep.shown[at]) return;
    const [i, j] = [columns.indexOf(x.values[at]), rows.indexOf(y.values[at])];
    if (i < 0 || j < 0) return;
    const [left, top] = [84 + i * cell.width, 8 + (rows.length - 1 - j) * cell.height];
    const value = tint.values[at];
    if (value !== null) {
      const share = place(value);
      context.fillStyle = rgb(heat(share));
      context.fillRect(left, top, cell.width - 1, cell.height - 1);
      const text = scaled(Number(value.toPrecision(3)));
      context.fillStyle = share > 0.55 ? '#000' : '#fff';
      if (context.measureText(text).width < cell.width - 4 && cell.height > 13) context.fillText(text, left + cell.width / 2, top + cell.height / 2);
    } else if (!hasNumbers(point)) {
      context.fillStyle = colour('--faint');
      context.fillText('\u00d7', left + cell.width / 2, top + cell.height / 2);
    }
  });
  context.fillStyle = colour('--soft');
  apartTexts(context, columns.map((value, i) => [84 + (i + 0.5) * cell.width, String(value)]), 8 + rows.length * cell.height + 12, 6);
  context.textAlign = 'right';
  rows.forEach((value, j) => { if (cell.height > 12 || j % 4 === 0) context.fillText(String(value), 76, 8 + (rows.length - 0.5 - j) * cell.height); });
  context.textAlign = 'center';
  context.fillStyle = colour('--ink');
  context.fillText(axisTitle(x), 84 + columns.length * cell.width / 2, 8 + rows.length * cell.height + 34);
  context.textAlign = 'left';
  context.fillText(axisTitle(y), 0, 8 + rows.length * cell.height + 34);
}
