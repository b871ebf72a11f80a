'use strict';
// The first table: achieved rates beside the peaks.

/** A row of the table; share: of the peak, 0 to 1. */
const achievedRow = (what, achieved, peak, share, colour, note) => ({what, achieved, peak, share, colour, note});

/** Useful work per second, in the unit of the peak: [value, unit]. */
function usefulRate(rate) {
  if (rate.peak_type === 'bytes') return [rate.useful_bytes_per_second, 'B/s'];
  if (rate.peak_type === 'i8' || rate.peak_type === 'i16') return [rate.useful_integer_operations_per_second, 'OP/s'];
  return [rate.useful_flops_per_second, 'FLOP/s'];
}

function computingRows(run) {
  const {config: {machine}, rate, time, work} = run.report;
  const add = (...cells) => rows.push(achievedRow(...cells));
  const rows = [];
  const ofBytes = rate.peak_type === 'bytes';
  const [useful, unit] = usefulRate(rate);
  add(ofBytes ? 'Useful bytes of local memory' : 'Useful arithmetic', scaled(useful, unit),
      scaled(rate.peak_per_second, unit), rate.fraction_of_peak, '--compute',
      ofBytes ? 'loads and stores of every tile at full width' : `the ${run.report.matrix_unit[rate.peak_type] ? 'matrix units' : 'packed instructions'}\u2019 ${rate.peak_type} peak`);
  if (!ofBytes) {
    add('Executed arithmetic', scaled(rate.flops_per_second, unit),
        scaled(rate.peak_per_second, unit), rate.flops_per_second / rate.peak_per_second,
        '--compute', useful > rate.flops_per_second ? 'less than the useful arithmetic, which is counted by the usual formula'
          : `${percent(1 - useful / Math.max(1, rate.flops_per_second))} of it is not useful: padding, additions of partials`);
  }
  const {bound} = run.report;
  if (bound) {
    add('Cycles, against their bound', grouped(time.cycles - time.host_cycles), grouped(bound.cycles), 1 / bound.times_bound, '--compute',
        `${bound.times_bound.toFixed(2)}x the lower bound: issue slots ${grouped(bound.issue_cycles ?? bound.floating_cycles)}, exchanges ${grouped(bound.exchange_cycles)}`);
  }
  const issue = machine.tile?.dual_issue ? 2 : 1;
  const issued = work.instructions / Math.max(1, machine.tiles * time.cycles);
  add('Instructions a tile and cycle', issued.toPrecision(3), String(issue), issued / issue, '--compute',
      issue === 2 ? 'a slot can hold a pair' : 'a slot holds one');
  add('Tiles computing', percent(run.busy), '100 %', run.busy, '--compute', 'mean over tiles and cycles');
  const {imbalance} = run.analysis.whole;
  add('Balance of computing', percent(1 / imbalance), '100 %', 1 / imbalance, '--compute',
      `mean over longest of a superstep; the longest is ${imbalance.toFixed(2)} times the mean`);
  return rows;
}

function exchangeRows(run) {
  const {config: {machine}, bound, traffic: {ports}} = run.report;
  if (!ports) return [];  // an ideal fabric has none, nor do older reports
  const hertz = machine.clock_ghz * 1e9;
  const peak = scaled(ports.peak_bytes_per_second, 'B/s');
  const row = (what, share, note) =>
    achievedRow(what, scaled(share * ports.peak_bytes_per_second, 'B/s'), peak, share, '--exchange', note);
  const pairs = machine.fabric.pair_sharing ? '; what a pair takes together counts once' : '';
  const rows = [row('Exchange, whole run', ports.share_of_run, 'bytes through receiving ports, all the time' + pairs),
    row('Exchange, while it lasts', ports.share, `${seconds(ports.cycles / hertz)} of schedules` + pairs)];
  rows.push(achievedRow('Exchange schedule', `${grouped(ports.cycles)} cycles`, `${grouped(bound.exchange_cycles)} cycles`,
    bound.exchange_cycles / ports.cycles, '--exchange', 'against what the busiest port needs at least'));
  return rows;
}

function memoryRows(run) {
  const {config: {machine}, memory, nodes, prediction, time} = run.report;
  const capacity = memory.capacity_bytes_per_tile;
  const row = (what, bytes, of, note) =>
    achievedRow(what, kibibytes(bytes), kibibytes(of), bytes / of, '--tensors', note);
  const all = (nodes ?? []).reduce((sum, node) => sum + node.count * node.capacity_bytes, capacity * machine.tiles);
  const fullest = fullestTile(memory);
  const rows = [row('Memory of the fullest tile', fullest.bytes, fullest.capacity, tileName(run, memory.max_tile)),
    row('Memory of all tiles', memory.total_bytes, all, null)];
  if (prediction?.cycles > 0) {
    const cycles = time.cycles - time.host_cycles;  // the host's are not predicted
    rows.push(achievedRow('Cycles, against the plan\u2019s prediction', grouped(cycles),
      grouped(prediction.cycles), prediction.cycles / Math.max(1, cycles), '--sync',
      `${change(prediction.cycles, cycles)} against the prediction${
        time.host_cycles > 0 ? ', without the host' : ''}`));
  }
  return rows;
}

const achievedRows = run => [...computingRows(run), ...exchangeRows(run), ...memoryRows(run)];

function achievedView(run) {
  const rows = achievedRows(run);
  const csv = () => csvOf(['what', 'achieved', 'of', 'share'], rows.map(row => [row.what, row.achieved, row.peak, row.share]));
  return section('achieved', 'Achieved and peak', null, [csvButton('achieved.csv', csv)],
    tableOf([{name: ''}, {name: 'achieved', n: true}, {name: 'of', n: true}, {name: 'share', n: true}, {name: ''}, {name: ''}],
      rows.map(row => [row.what, element('b', {}, row.achieved), row.peak, percent(row.share),
        meter(row.share, row.colour), element('span', {class: 'soft'}, row.note ?? '')]),
      () => ({class: 'more'})));
}
