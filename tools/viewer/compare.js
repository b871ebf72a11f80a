'use strict';
// Comparison of runs; A, the first one, is the baseline.

/** A to Z, then A2 to Z2. */
const letterOf = at => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[at % 26] + (at < 26 ? '' : Math.floor(at / 26) + 1);

function comparedRows(runs) {
  const row = (what, value, shown, better) => ({what, values: runs.map(value), shown, better});
  const time = part => row(`${part} cycles`, run => run.report.time[part + '_cycles'], grouped, -1);
  const [, unit] = usefulRate(runs[0].report.rate);
  const sameUnit = runs.every(run => usefulRate(run.report.rate)[1] === unit);
  return [
    row('cycles', run => run.report.time.cycles, grouped, -1),
    ...(clocksDiffer(runs) ? [row('clock', run => run.report.config.machine.clock_ghz, value => `${value} GHz`, 0)] : []),
    row('time', run => run.report.time.seconds, seconds, -1),
    ...PARTS.map(time).filter(found => found.values.some(value => value > 0)),
    row('supersteps', run => run.report.time.supersteps, grouped, 0),
    ...(sameUnit ? [row(unit === 'B/s' ? 'useful bytes' : 'useful rate', run => usefulRate(run.report.rate)[0], value => scaled(value, unit), 1)] : []),
    row('fraction of peak', run => run.report.rate.fraction_of_peak, percent, 1),
    row('instructions', run => run.report.work.instructions, grouped, -1),
    row('tiles computing', run => run.busy, percent, 1),
    row('imbalance', run => run.analysis.whole.imbalance, value => value.toFixed(3), -1),
    row('memory of the fullest tile', run => fullestTile(run.report.memory).bytes, kibibytes, -1),
    row('memory of all tiles', run => run.report.memory.total_bytes, kibibytes, -1),
    row('exchanged', run => run.report.traffic.exchange_bytes, value => scaled(value, 'B'), -1),
    row('busiest receiver', run => run.report.traffic.max_tile_received, value => scaled(value, 'B'), -1),
    ...(runs.every(run => run.report.energy) ? [
      row('energy', run => run.report.energy.joules, joules, -1),
      row('power', run => run.report.energy.watts, value => `${value.toFixed(1)} W`, -1)] : [])];
}

const clocksDiffer = runs => runs.some(run => run.report.config.machine.clock_ghz !== runs[0].report.config.machine.clock_ghz);

/** A number with its change against the first run's. Better is shown by the sign and an arrow, not only by colour. */
function comparedCell(row, at) {
  const [first, value] = [row.values[0], row.values[at]];
  if (at === 0) return row.shown(value);
  const told = change(first, value);
  if (row.better === 0 || first === value)
    return element('span', {}, row.shown(value), ' ', element('span', {class: 'soft'}, told));
  const better = (value > first) === (row.better > 0);
  return element('span', {}, row.shown(value), ' ', element('span', {style: {color: better ? 'var(--host)' : 'var(--wait)', fontWeight: 600}},
    `${told} ${better ? '\u25b2' : '\u25bd'}`));
}

/** The phases of all runs, largest difference of times first: [{name, kind, seconds, cycles}]. */
function comparedPhases(runs) {
  const key = phase => `${phase.name}\n${phase.kind}`;
  const named = new Map();
  runs.forEach((run, at) => {
    for (const phase of run.analysis.phases) {
      if (!named.has(key(phase))) named.set(key(phase), {name: phase.name, kind: phase.kind, cycles: runs.map(() => null)});
      named.get(key(phase)).cycles[at] = phase.cycles;
    }
  });
  const apart = ({cycles}) => {
    const times = cycles.map((value, at) => (value ?? 0) * secondsOfCycle(runs[at]));
    return Math.max(...times) - Math.min(...times);
  };
  return [...named.values()].sort((x, y) => apart(y) - apart(x));
}

const secondsOfCycle = run => 1e-9 / run.report.config.machine.clock_ghz;

function comparedConfig(runs) {
  const settings = runs.map(run => new Map([...flattened(run.report.config), ...flattened(run.report.plan, 'plan')]
    .map(([path, value]) => [path, shownValue(value)])));
  return [...new Set(settings.flatMap(each => [...each.keys()]))]
    .filter(path => settings.some(each => each.get(path) !== settings[0].get(path)))
    .map(path => [path, ...settings.map(each => each.get(path) ?? '\u2013')]);
}

/** One bar per run with the parts of its time, on one scale in seconds, as clocks may differ. */
function drawTimes(canvas, runs) {
  const {context, width} = prepare(canvas, 8 + runs.length * 26);
  const longest = Math.max(...runs.map(run => run.report.time.seconds));
  const left = 30;
  const room = width - left - 130;
  runs.forEach((run, at) => {
    const top = 4 + at * 26;
    context.fillStyle = colour('--ink');
    context.fillText(letterOf(at), 0, top + 10);
    let x = left;
    for (const part of PARTS) {
      const wide = room * run.report.time[part + '_cycles'] * secondsOfCycle(run) / longest;
      context.fillStyle = colour('--' + part);
      context.fillRect(x, top, wide, 20);
      x += wide;
    }
    context.fillStyle = colour('--soft');
    const ratio = run.report.time.seconds / runs[0].report.time.seconds;
    context.fillText(seconds(run.report.time.seconds) + (at > 0 ? `  ${ratio.toFixed(2)}x` : ''), x + 8, top + 10);
  });
}

/** The supersteps of each run, on one scale of time. */
function drawSteps(canvas, runs) {
  const {context, width} = prepare(canvas, 28 + runs.length * 50);
  // Each run shows as many cycles as the longest time has at its clock.
  const longest = Math.max(...runs.map(run => (run.history.end - run.history.begin) * secondsOfCycle(run)));
  const wide = run => longest / secondsOfCycle(run);
  runs.forEach((run, at) => {
    const top = 4 + at * 50;
    const stretch = new Stretch(run.history, run.history.begin, run.history.begin + wide(run), width);
    context.save();
    context.beginPath();
    context.rect(GUTTER, top, width - GUTTER, 44);
    context.clip();
    drawNames(context, stretch, run, top, 16);
    drawParts(context, stretch, top + 17, 26);
    context.restore();
    context.fillStyle = colour('--ink');
    context.fillText(letterOf(at), 0, top + 22);
    context.fillStyle = colour('--faint');
    context.fillText(seconds(run.report.time.seconds), 20, top + 22);
  });
  // The axis counts cycles of the first run; drawn only if all clocks agree.
  if (!clocksDiffer(runs)) drawAxis(context, new Stretch(runs[0].history, 0, wide(runs[0]), width), 4 + runs.length * 50);
}

/** "B takes 1.390 times the time of A"; for several runs, the fastest and the slowest. */
function comparedTimes(runs) {
  const times = runs.map(run => run.report.time.seconds);
  if (times.every(time => change(time, times[0]) === '=')) return `${runs.length === 2 ? 'both' : 'all'} take the same time`;
  if (runs.length === 2) return `B takes ${(times[1] / times[0]).toFixed(3)} times the time of A`;
  const [least, most] = [Math.min(...times), Math.max(...times)];
  return `${letterOf(times.indexOf(least))} is the fastest; ${letterOf(times.indexOf(most))} takes ${(most / least).toFixed(3)} times its time`;
}

function compareView(runs) {
  const rows = comparedRows(runs);
  const phases = comparedPhases(runs);
  const settings = comparedConfig(runs);
  const letters = runs.map((_, at) => letterOf(at));
  const bars = canvasOf('The time of each run by its parts, in seconds; the table below holds the numbers', canvas => drawTimes(canvas, runs));
  const steps = canvasOf('The supersteps of the runs on one scale of time', canvas => drawSteps(canvas, runs));
  const csv = () => csvOf(['what', ...letters.map(letter => letter.toLowerCase())], [...rows.map(row => [row.what, ...row.values]),
    ...phases.map(phase => [`phase ${phase.name} (${phase.kind}) cycles`, ...phase.cycles.map(value => value ?? 0)])]);
  const names = runs.map((run, at) => element('p', {}, element('b', {}, letters[at]), ' ', run.title, ' ', element('span', {class: 'soft'}, run.folder)));
  const used = PARTS.filter(part => runs.some(run => run.report.time[part + '_cycles'] > 0));
  return section('compare', 'Comparison', comparedTimes(runs), [csvButton('comparison.csv', csv)],
    ...names, element('div', {style: {height: '12px'}}),
    element('div', {}, bars),
    legend(used.map(part => ({ink: '--' + part, name: part}))),
    element('div', {}, steps),
    clocksDiffer(runs) ? element('p', {class: 'soft'}, 'The clocks differ: bars and supersteps stand in seconds; cycles count each run\u2019s own.') : null,
    element('div', {class: 'wide', style: {marginTop: '10px'}}, tableOf(
      [{name: ''}, ...letters.map((letter, at) => ({name: at ? `${letter}, against A` : letter, n: true}))],
      rows.map(row => [row.what, ...runs.map((_, at) => comparedCell(row, at))]), () => ({class: 'more'}))),
    element('div', {class: 'columns', style: {marginTop: '16px'}},
      element('div', {class: 'grow wide'},
        tableOf([{name: 'phase'}, ...letters.map(letter => ({name: `${letter}, cycles`, n: true}))],
          phases.slice(0, 16).map(phase => [phase.name + (phase.kind === 'exchange' ? ' (exchange)' : ''),
            ...phase.cycles.map(value => value === null ? '\u2013' : grouped(value))]), () => ({class: 'more'}))),
      element('div', {class: 'grow wide'},
        settings.length === 0 ? element('p', {class: 'soft'}, 'Configs and plans are the same.')
          : tableOf([{name: 'differs', class: 'path'}, ...letters.map(letter => ({name: letter, class: 'value'}))],
              settings, () => ({class: 'more'})))));
}
