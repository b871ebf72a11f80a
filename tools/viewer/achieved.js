'use strict';
// The first table: what was achieved, of what could be.

/** Rows {what, achieved, peak, share, colour, note}; share: of the peak, 0 to 1. */
function achievedRows(run) {
  const {config, rate, time, work, memory, traffic, prediction} = run.report;
  const machine = config.machine;
  const hertz = machine.clock_ghz * 1e9;
  const tileCycles = Math.max(1, machine.tiles * time.cycles);
  const rows = [];
  const add = (what, achieved, peak, share, colour, note) =>
    rows.push({what, achieved, peak, share, colour, note});

  const ofBytes = rate.peak_type === 'bytes';
  const useful = ofBytes ? rate.useful_bytes_per_second : rate.useful_flops_per_second;
  const unit = ofBytes ? 'B/s' : 'FLOP/s';
  add(ofBytes ? 'Useful bytes of local memory' : 'Useful arithmetic', scaled(useful, unit),
      scaled(rate.peak_per_second, unit), rate.fraction_of_peak, '--compute',
      ofBytes ? 'loads and stores of every tile at full width' : `the matrix units' ${rate.peak_type} peak`);
  if (!ofBytes) {
    add('Executed arithmetic', scaled(rate.flops_per_second, 'FLOP/s'),
        scaled(rate.peak_per_second, 'FLOP/s'), rate.flops_per_second / rate.peak_per_second,
        '--compute', `${percent(1 - work.useful_flops / Math.max(1, work.flops))} of it is not useful: padding, additions of partials`);
  }
  const issue = machine.tile?.dual_issue ? 2 : 1;
  add('Instructions a tile and cycle', (work.instructions / tileCycles).toPrecision(3), String(issue),
      work.instructions / tileCycles / issue, '--compute',
      issue === 2 ? 'a slot can hold a pair' : 'a slot holds one');
  add('Tiles computing', percent(run.busy), '100 %', run.busy, '--compute', 'mean over tiles and cycles');
  const whole = run.analysis.whole;
  add('Balance of computing', percent(1 / whole.imbalance), '100 %', 1 / whole.imbalance, '--compute',
      `mean over longest of a superstep; the longest is ${whole.imbalance.toFixed(2)} times the mean`);

  if (traffic.exchange_bytes > 0) {
    const port = machine.fabric.receive_bytes_per_cycle;
    const all = port * machine.tiles * hertz;
    add('Exchange, whole run', scaled(traffic.exchange_bytes / time.seconds, 'B/s'), scaled(all, 'B/s'),
        traffic.exchange_bytes / time.seconds / all, '--exchange', 'bytes received; every port all the time');
    const during = traffic.exchange_bytes / Math.max(1, time.exchange_cycles);
    add('Exchange, while it lasts', scaled(during * hertz, 'B/s'), scaled(all, 'B/s'),
        during / (port * machine.tiles), '--exchange',
        machine.fabric.pair_sharing ? 'pairs that take the same data count twice' : null);
    const makespan = sumOf(run.steps.find('exchange_makespan_cycles')?.values ?? new Float64Array());
    const bound = sumOf(run.steps.find('exchange_bound_cycles')?.values ?? new Float64Array());
    if (makespan > 0) {
      add('Exchange schedule', `${grouped(makespan)} cycles`, `${grouped(bound)} cycles`, bound / makespan,
          '--exchange', 'against what the busiest port needs at least');
    }
  }
  const capacity = memory.capacity_bytes_per_tile;
  add('Memory of the fullest tile', kibibytes(memory.max_tile_bytes), kibibytes(capacity),
      memory.max_tile_bytes / capacity, '--tensors', `tile ${memory.max_tile}`);
  add('Memory of all tiles', kibibytes(memory.total_bytes), kibibytes(capacity * machine.tiles),
      memory.total_bytes / (capacity * machine.tiles), '--tensors', null);
  if (prediction?.cycles > 0) {
    add('Cycles, against the plan\u2019s prediction', grouped(time.cycles), grouped(prediction.cycles),
        prediction.cycles / Math.max(1, time.cycles), '--sync', `${change(prediction.cycles, time.cycles)} against the prediction`);
  }
  return rows;
}

function achievedView(run) {
  const rows = achievedRows(run);
  const csv = () => csvRow(['what', 'achieved', 'of', 'share']) +
    rows.map(row => csvRow([row.what, row.achieved, row.peak, row.share])).join('');
  return section('achieved', 'Achieved and peak', null, [csvButton('achieved.csv', csv)],
    tableOf([{name: ''}, {name: 'achieved', n: true}, {name: 'of', n: true}, {name: 'share', n: true}, {name: ''}, {name: ''}],
      rows.map(row => [row.what, element('b', {}, row.achieved), row.peak, percent(row.share),
        meter(row.share, row.colour), element('span', {class: 'soft'}, row.note ?? '')]),
      () => ({class: 'more'})));
}
