'use strict';
// The page of a sweep: figures, a table of its points, and the sections of the chosen point.

const AXIS_UNITS = {clock_ghz: 'GHz', sram_kib: 'KiB'};

function sweepColumns(sweep) {
  const axes = sweep.axes.map(path => ({path, label: spoken(path.split('.').slice(1).join(' ') || path), axis: true,
    unit: AXIS_UNITS[path.split('.').at(-1)] ?? '', values: sweep.points.map(point => point.axes[path] ?? null)}));
  for (const axis of axes.filter(varies)) axis.with = axes.filter(other => other !== axis && varies(other) && together(axis, other));
  return [...axes, ...sweep.columns];
}

/** True if two axes are swept together: each value of one occurs with only one value of the other. */
function together(one, other) {
  const pairs = new Set(one.values.map((value, at) => JSON.stringify([value, other.values[at]])));
  return pairs.size === new Set(one.values).size && pairs.size === new Set(other.values).size;
}

const varies = column => new Set(column.values.filter(value => value !== null)).size > 1;
/** 3.12e-6 as "3.12 \u00b5". */
function smallNumber(value) {
  const prefixes = ['', 'm', '\u00b5', 'n', 'p'];
  const prefix = Math.min(prefixes.length - 1, Math.ceil(-Math.log10(Math.abs(value)) / 3));
  return `${(value * 1000 ** prefix).toPrecision(3)} ${prefixes[prefix]}`;
}

/** Counts; a rate may happen to be a whole number. */
const isWhole = column => column.whole ??= column.values.every(value => value === null || Number.isInteger(value));

const cellText = (value, column) => value === null ? '' : typeof value !== 'number' ? String(value)
  : isWhole(column) ? grouped(value) : column.axis ? String(value) : Math.abs(value) < 0.01 ? smallNumber(value) : scaled(Number(value.toPrecision(4)), '');

/** The column of a run's time, else that of a plan's time. */
const timeOf = columns => columns.find(column => column.path === 'time.cycles') ?? columns.find(column => column.path === 'prediction.cycles');

/** The figure's initial choice: time over the numeric axis with the most values. */
function firstChoice(columns) {
  const different = column => new Set(column.values).size;
  const axes = columns.filter(column => column.axis && varies(column));
  const numeric = axes.filter(isNumeric).sort((a, b) => different(b) - different(a));
  const x = numeric[0] ?? axes[0] ?? columns[0];
  return {x, y: timeOf(columns) ?? columns.at(-1), tint: axes.find(column => column !== x && !x.with?.includes(column)) ?? null};
}

function chooser(columns, label, first, change, none) {
  const listed = none ? [null, ...columns] : columns;
  const select = element('select', {'aria-label': label, change: () => change(listed[select.selectedIndex])},
    listed.map(column => element('option', {value: column?.path ?? ''}, column ? column.path : none)));
  select.selectedIndex = Math.max(0, listed.indexOf(first));
  return element('label', {class: 'soft'}, label + ' ', select);
}

function sweepFigure(sweep, columns, choose) {
  const shown = firstChoice(columns);
  const canvas = element('canvas', {'aria-label': 'A point a run; click one for its sections', style: {cursor: 'pointer'}});
  const key = element('div');
  let drawing = {points: []};
  const draw = () => {
    if (!canvas.isConnected) return;
    drawing = drawSweep(canvas, shown.x, shown.y, shown.tint, sweep);
    key.replaceChildren(legend([shown.tint ? {name: columnTitle(shown.tint)} : null, ...drawing.legend.map(([ink, name]) => ({ink, name}))]));
  };
  drawn(draw, 'tile');
  const under = event => {
    const box = canvas.getBoundingClientRect();
    const away = point => Math.hypot(point.x - event.clientX + box.left, point.y - event.clientY + box.top);
    return drawing.points.filter(point => away(point) < 12).sort((a, b) => away(a) - away(b))[0];
  };
  canvas.addEventListener('pointermove', event => {
    const point = under(event);
    if (!point) return tip.hide();
    tip.show(event, axesText(sweep.points[point.at].axes), [shown.x, shown.y, shown.tint].filter(each => each)
      .map(column => [columnTitle(column), cellText(column.values[point.at], column)]));
  });
  canvas.addEventListener('pointerleave', tip.hide);
  canvas.addEventListener('click', event => { const point = under(event); if (point) choose(point.at); });
  const pick = what => column => { shown[what] = column; draw(); };
  return section('figure', 'Figure', 'click a point for its sections', [chooser(columns, 'x', shown.x, pick('x')),
    chooser(columns.filter(isNumeric), 'y', shown.y, pick('y')), chooser(columns.filter(varies), 'colour', shown.tint, pick('tint'), 'none')],
    element('div', {}, canvas), key);
}

function sweepMap(sweep, columns) {
  const axes = columns.filter(column => column.axis && varies(column) && new Set(column.values).size <= 40);
  if (axes.length < 2) return null;
  const numbers = columns.filter(column => !column.axis && isNumeric(column));
  const y = axes.findLast(column => column !== axes.at(-1) && !axes.at(-1).with.includes(column));
  if (!y) return null;
  const shown = {x: axes.at(-1), y, tint: timeOf(numbers) ?? numbers[0]};
  const canvas = element('canvas', {'aria-label': 'A number by two axes'});
  const draw = () => { if (canvas.isConnected) drawSweepMap(canvas, shown.x, shown.y, shown.tint, sweep); };
  drawn(draw, 'tile');
  const pick = what => column => { shown[what] = column; draw(); };
  return section('map', 'By two axes', '\u00d7: cannot run or failed; of several points at one place the last', [chooser(axes, 'x', shown.x, pick('x')),
    chooser(axes, 'y', shown.y, pick('y')), chooser(numbers, 'colour', shown.tint, pick('tint'))], element('div', {}, canvas));
}

const TABLE_PATHS = ['time.cycles', 'time.seconds', 'rate.useful_flops_per_second', 'rate.fraction_of_peak',
  'memory.max_tile_bytes', 'energy.joules', 'prediction.cycles', 'prediction.seconds', 'prediction.joules'];

function sweepTable(sweep, columns, choose) {
  const shown = columns.filter(column => column.axis || TABLE_PATHS.includes(column.path));
  const body = element('div', {class: 'wide', style: {maxHeight: '520px', overflowY: 'auto'}});
  let by = null;
  let down = false;
  const draw = () => {
    const order = sweep.points.map((_, at) => at).filter(at => sweep.shown[at]);
    const key = at => by.values[at] ?? -Infinity;
    if (by) order.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a - b) * (down ? -1 : 1));
    const table = tableOf([...shown.map(column => ({name: columnTitle(column), n: isNumeric(column), title: column.path + '; click to sort'})), {name: 'status'}],
      order.map(at => [...shown.map(column => cellText(column.values[at], column)),
        element('span', {class: hasNumbers(sweep.points[at]) ? 'soft' : 'verdict-bad', title: sweep.points[at].error ?? ''}, sweep.points[at].status)]),
      row => ({class: order[row] === sweep.chosen ? 'more chosen' : 'more', 'data-go': '', title: 'Show its sections', click: () => choose(order[row])}));
    table.querySelectorAll('th').forEach((cell, i) => {
      if (i >= shown.length) return;
      cell.classList.add('sort');
      cell.addEventListener('click', () => { down = by === shown[i] && !down; by = shown[i]; draw(); });
    });
    body.replaceChildren(table);
  };
  drawn(draw, 'tile');
  const csv = () => csvOf([...columns.map(column => column.path), 'status'], sweep.points.flatMap((point, at) =>
    sweep.shown[at] ? [[...columns.map(column => column.values[at] ?? ''), point.status]] : []));
  return section('points', 'Points', 'headings sort, rows choose; the CSV holds what is shown', [csvButton('results.csv', csv)], body);
}

function showSweep(sweep) {
  const done = sweep.points.filter(hasNumbers).length;
  const columns = sweepColumns(sweep);
  sweep.chosen = -1;
  const filter = sweepFilter(sweep, columns, () => changed('tile'));
  const failed = toldStatus(sweep);
  const place = element('section', {id: 'point', 'aria-label': 'The chosen point'}, element('p', {class: 'soft'}, 'Choose a point above.'));
  const choose = async at => {
    sweep.chosen = at;
    const parts = await pointView(sweep.points[at], sweep.vector_flops);
    place.replaceChildren(...parts);
    changed('look');
    requestAnimationFrame(drawWaiting);
    place.scrollIntoView({block: 'start'});
  };
  sweep.choose = choose;
  document.getElementById('head').replaceChildren(element('div', {class: 'title'}, element('h1', {}, `Sweep ${sweep.folder}`),
    element('p', {class: 'facts'}, element('span', {}, element('b', {}, counted(sweep.points.length, 'point'))),
      element('span', {}, `over ${sweep.axes.join(', ') || 'nothing'}`),
      failed === '' ? element('span', {}, sweep.points.some(point => point.status === 'predicted') ? 'predicted, not simulated' : 'all done')
        : element('span', {class: 'verdict-bad'}, `${grouped(sweep.points.length - done)} without a correct result: ${failed}`))),
    element('div', {class: 'tools'}, themeButton()));
  const views = [filter, sweepFigure(sweep, columns, choose), sweepMap(sweep, columns), sweepTable(sweep, columns, choose)].filter(view => view !== null);
  document.getElementById('sections').replaceChildren(...views.concat(place).map((view, i) =>
    element('a', {href: '#' + view.id}, element('kbd', {}, String(i + 1)), view.getAttribute('aria-label'))));
  document.getElementById('main').replaceChildren(...views, place);
  pressed.all = sweep.showAll;
  document.title = `Sweep ${sweep.folder}`;
  requestAnimationFrame(drawWaiting);
}
