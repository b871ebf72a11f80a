'use strict';
// Where time goes: parts, phases with their bound and imbalance, the largest supersteps.

const BOUND_COLOURS = {memory: '--tensors'};
const boundPill = (bound, more = '') => element('span', {class: 'pill',
  style: {borderColor: `var(${BOUND_COLOURS[bound] ?? '--' + bound})`}}, bound + more);

const partPieces = (parts, total) => PARTS.map(part => ({value: parts[part], colour: '--' + part,
  title: `${part}: ${grouped(parts[part])} cycles, ${percent(parts[part] / total)}`}));

const timeParts = run => Object.fromEntries(PARTS.map(part => [part, run.report.time[part + '_cycles']]));

/** The parts of the whole run as one bar with its legend; `scale`: cycles of the full width. */
function partsBar(run, scale) {
  const total = run.report.time.cycles;
  const parts = timeParts(run);
  return element('div', {},
    stackedBar(partPieces(parts, total), scale ?? total),
    legend(PARTS.filter(part => parts[part] > 0).map(part =>
      ({ink: '--' + part, name: part, value: percent(parts[part] / total), more: ` ${grouped(parts[part])}`}))));
}

function phaseTable(run) {
  const total = Math.max(1, run.analysis.whole.cycles);
  const phases = run.analysis.phases;
  const columns = [{name: 'phase'}, {name: 'supersteps', n: true}, {name: 'cycles', n: true},
    {name: 'of all', n: true}, {name: 'parts'}, {name: 'bound'},
    {name: 'imbalance', n: true, title: 'longest computing of a superstep over the mean over tiles'},
    {name: 'cycles lost', n: true, title: 'longest minus mean computing, summed over supersteps'},
    {name: 'critical tile', n: true, title: 'the one that the others waited for, for most cycles'},
    {name: 'came last', n: true, title: 'share of the phase\u2019s cycles in which it did'}];
  const rows = phases.map(phase => [
    element('span', {}, phase.name, phase.kind === 'exchange' ? element('span', {class: 'soft'}, ' (exchange)') : null),
    grouped(phase.supersteps), grouped(phase.cycles), percent(phase.cycles / total),
    stackedBar(partPieces(phase.parts, phase.cycles), phases[0].cycles, 'thin'), boundPill(phase.bound),
    ...phase.supersteps === 0 ? ['\u2013', '\u2013', '\u2013', '\u2013']  // host phases: no tile takes part
      : [phase.imbalance.toFixed(2), grouped(phase.most_compute - phase.mean_compute),
        tileLink(phase.critical_tile), percent(phase.critical_cycles / Math.max(1, phase.cycles))]]);
  return tableOf(columns, rows, () => ({class: 'more'}));
}

const tileLink = tile => element('a', {href: '#tiles', style: {color: 'var(--accent)', textDecoration: 'none'},
  click: () => chooseTile(tile)}, grouped(tile));

function largestTable(run) {
  const steps = run.steps;
  const total = Math.max(1, run.analysis.whole.cycles);
  const rows = run.analysis.largest.map(({superstep: row, bound}) => [
    `${grouped(row)}  ${steps.word('name', row)}`, grouped(steps.of('cycles')[row]),
    percent(steps.of('cycles')[row] / total),
    stackedBar(partPieces(Object.fromEntries(PARTS.map(part => [part, steps.of(part + '_cycles')[row]])),
      steps.of('cycles')[row]), steps.of('cycles')[run.analysis.largest[0].superstep], 'thin'),
    boundPill(bound),
    (steps.of('most_compute_cycles')[row] / Math.max(1, steps.of('mean_compute_cycles')[row])).toFixed(2),
    tileLink(steps.of('last_tile')[row])]);
  const go = at => ({class: 'more', 'data-go': '', title: 'Show in the timeline',
    click: event => { if (event.target.tagName !== 'A') showSuperstep(run.analysis.largest[at].superstep, run.everyStep); }});
  return tableOf([{name: 'largest supersteps'}, {name: 'cycles', n: true}, {name: 'of all', n: true},
    {name: 'parts'}, {name: 'bound'}, {name: 'imbalance', n: true}, {name: 'last tile', n: true}], rows, go);
}

function shownFact(value) {
  if (typeof value !== 'number') return shownValue(value ?? '\u2013');
  return Number.isInteger(value) ? grouped(value) : value.toPrecision(4);
}

/** One row per run of the program, if it ran several times with different inputs. */
function runsTable(run) {
  const runs = run.report.runs ?? [];
  if (runs.length < 2) return null;
  const keys = [...new Set(runs.flatMap(Object.keys))];
  return element('div', {style: {marginTop: '18px'}}, tableOf([{name: 'run', n: true}, ...keys.map(key => ({name: spoken(key), n: true}))],
    runs.map((each, at) => [String(at), ...keys.map(key => shownFact(each[key]))]), () => ({class: 'more'})));
}

function phasesCsv(run) {
  const last = ['bound', 'most_compute', 'mean_compute', 'imbalance', 'critical_tile', 'critical_cycles', 'flops', 'exchange_bytes'];
  return csvOf(['phase', 'kind', 'supersteps', 'cycles', ...PARTS.map(part => part + '_cycles'), ...last.map(name => name.replace(/_compute$/, '_compute_cycles'))],
    run.analysis.phases.map(phase => [phase.name, phase.kind, phase.supersteps, phase.cycles,
      ...PARTS.map(part => phase.parts[part]), ...last.map(name => phase[name])]));
}

function whereView(run) {
  const bound = run.analysis.whole.bound;
  const tables = run.analysis.by_stages
    ? [element('p', {class: 'note'}, 'Nodes go on by themselves: what lasts how long stands with the stages.')]
    : [phaseTable(run), element('div', {style: {height: '18px'}}), largestTable(run)];
  return section('where', 'Where time goes', run.analysis.by_stages ? 'along the node that computes most' : 'along the last-arriving tile of each superstep',
    [boundPill(bound, ' bound'), csvButton('phases.csv', () => phasesCsv(run))],
    partsBar(run), element('div', {style: {height: '18px'}}), ...tables, runsTable(run),
    element('p', {class: 'note'}, 'The bound is the largest part. Computing counts as memory where tiles only ' +
      'move bytes of their own SRAM: no floating-point operation, or a workload whose peak is one of bytes.'));
}
