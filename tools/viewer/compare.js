'use strict';
// Two runs beside each other: A, the first, is what B is measured against.

function comparedRows(a, b) {
  const row = (what, value, shown, better) => ({what, a: value(a), b: value(b), shown, better});
  const time = part => row(`${part} cycles`, run => run.report.time[part + '_cycles'], grouped, -1);
  const ofBytes = [a, b].every(run => run.report.rate.peak_type === 'bytes');
  return [
    row('cycles', run => run.report.time.cycles, grouped, -1),
    row('time', run => run.report.time.seconds, seconds, -1),
    ...PARTS.map(time).filter(found => found.a > 0 || found.b > 0),
    row('supersteps', run => run.report.time.supersteps, grouped, 0),
    ofBytes ? row('useful bytes', run => run.report.rate.useful_bytes_per_second, value => scaled(value, 'B/s'), 1)
            : row('useful rate', run => run.report.rate.useful_flops_per_second, value => scaled(value, 'FLOP/s'), 1),
    row('fraction of peak', run => run.report.rate.fraction_of_peak, percent, 1),
    row('instructions', run => run.report.work.instructions, grouped, -1),
    row('tiles computing', run => run.busy, percent, 1),
    row('imbalance', run => run.analysis.whole.imbalance, value => value.toFixed(3), -1),
    row('memory of the fullest tile', run => run.report.memory.max_tile_bytes, kibibytes, -1),
    row('memory of all tiles', run => run.report.memory.total_bytes, kibibytes, -1),
    row('exchanged', run => run.report.traffic.exchange_bytes, value => scaled(value, 'B'), -1),
    row('busiest receiver', run => run.report.traffic.max_tile_received, value => scaled(value, 'B'), -1),
    ...(a.report.energy && b.report.energy ? [
      row('energy', run => run.report.energy.joules, joules, -1),
      row('power', run => run.report.energy.watts, value => `${value.toFixed(1)} W`, -1)] : [])];
}

/** Better is told by the sign and an arrow too, not by the colour alone. */
function changeCell(row) {
  const shown = change(row.a, row.b);
  if (row.better === 0 || row.a === row.b) return element('span', {class: 'soft'}, shown);
  const better = (row.b > row.a) === (row.better > 0);
  return element('span', {style: {color: better ? 'var(--host)' : 'var(--wait)', fontWeight: 600}},
    `${shown} ${better ? '\u25b2' : '\u25bd'}`);
}

function comparedPhases(a, b) {
  const key = phase => `${phase.name}\n${phase.kind}`;
  const find = (run, wanted) => run.analysis.phases.find(phase => key(phase) === wanted);
  const keys = [...new Set([...a.analysis.phases, ...b.analysis.phases].map(key))];
  return keys.map(each => {
    const [first, second] = [find(a, each), find(b, each)];
    return {name: (first ?? second).name, kind: (first ?? second).kind, first, second,
            difference: (second?.cycles ?? 0) - (first?.cycles ?? 0)};
  }).sort((x, y) => Math.abs(y.difference) - Math.abs(x.difference));
}

function comparedConfig(a, b) {
  const settings = run => new Map([...flattened(run.report.config), ...flattened(run.report.plan, 'plan')]
    .map(([path, value]) => [path, shownValue(value)]));
  const [first, second] = [settings(a), settings(b)];
  return [...new Set([...first.keys(), ...second.keys()])]
    .filter(path => first.get(path) !== second.get(path))
    .map(path => [path, first.get(path) ?? '\u2013', second.get(path) ?? '\u2013']);
}

function drawBoth(canvas, runs) {
  const {context, width} = prepare(canvas, 128);
  const longest = Math.max(...runs.map(run => run.history.end - run.history.begin));
  runs.forEach((run, at) => {
    const top = 4 + at * 50;
    const stretch = new Stretch(run.history, run.history.begin, run.history.begin + longest, width);
    context.save();
    context.beginPath();
    context.rect(GUTTER, top, width - GUTTER, 44);
    context.clip();
    drawNames(context, stretch, run, top, 16);
    drawParts(context, stretch, top + 17, 26);
    context.restore();
    context.fillStyle = colour('--ink');
    context.fillText('AB'[at], 0, top + 22);
    context.fillStyle = colour('--faint');
    context.fillText(seconds(run.report.time.seconds), 16, top + 22);
  });
  drawAxis(context, new Stretch(runs[0].history, 0, longest, width), 104);
}

function compareView(runs) {
  const [a, b] = runs;
  const rows = comparedRows(a, b);
  const phases = comparedPhases(a, b);
  const settings = comparedConfig(a, b);
  const canvas = element('canvas', {'aria-label': 'The supersteps of both runs on one scale of cycles'});
  drawn(() => { if (canvas.isConnected) drawBoth(canvas, runs); });
  const csv = () => csvRow(['what', 'a', 'b']) + rows.map(row => csvRow([row.what, row.a, row.b])).join('') +
    phases.map(phase => csvRow([`phase ${phase.name} (${phase.kind}) cycles`, phase.first?.cycles ?? 0, phase.second?.cycles ?? 0])).join('');
  const name = (run, letter) => element('p', {}, element('b', {}, letter), ' ', run.title, ' ', element('span', {class: 'soft'}, run.folder));
  const times = change(b.report.time.seconds, a.report.time.seconds) === '=' ? 'both take the same time'
    : `B takes ${(b.report.time.seconds / a.report.time.seconds).toFixed(3)} times the time of A`;
  return section('compare', 'Comparison', times, [csvButton('comparison.csv', csv)],
    name(a, 'A'), name(b, 'B'), element('div', {style: {height: '12px'}}),
    element('div', {}, canvas),
    element('div', {class: 'columns', style: {marginTop: '10px'}},
      element('div', {class: 'grow'}, tableOf([{name: ''}, {name: 'A', n: true}, {name: 'B', n: true}, {name: 'B against A', n: true}],
        rows.map(row => [row.what, row.shown(row.a), row.shown(row.b), changeCell(row)]), () => ({class: 'more'}))),
      element('div', {class: 'grow'},
        tableOf([{name: 'phase'}, {name: 'A, cycles', n: true}, {name: 'B, cycles', n: true}, {name: 'difference', n: true}],
          phases.slice(0, 16).map(phase => [phase.name + (phase.kind === 'exchange' ? ' (exchange)' : ''),
            phase.first ? grouped(phase.first.cycles) : '\u2013', phase.second ? grouped(phase.second.cycles) : '\u2013',
            (phase.difference > 0 ? '+' : '') + grouped(phase.difference).replace('-', '\u2212')]), () => ({class: 'more'})),
        element('div', {style: {height: '16px'}}),
        settings.length === 0 ? element('p', {class: 'soft'}, 'Configs and plans are the same.')
          : tableOf([{name: 'differs', class: 'path'}, {name: 'A', class: 'value'}, {name: 'B', class: 'value'}],
              settings, () => ({class: 'more'})))));
}
