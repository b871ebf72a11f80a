'use strict';
// External memory: bytes moved, and activity by channel.

/** The facts that any external memory has. */
function factsOf(external, time) {
  return [['read', scaled(external.read_bytes, 'B')], ['written', scaled(external.written_bytes, 'B')],
    ['tiles waited for it', `${grouped(time.external_cycles)} cycles of ${grouped(time.cycles)}`],
    ['operands', `${scaled(external.used_bytes, 'B')} of ${scaled(external.capacity_bytes, 'B')}`]];
}

/** Nothing for machines without external memory; the platform's memory has no known channels. */
function externalView(run) {
  const {external, time, config} = run.report;
  if (!external) return null;
  if (!external.all)
    return section('external', "Memory outside, the platform's", `${scaled(external.bytes_per_second, 'B/s')} over the run`, [],
      factLine(factsOf(external, time)));
  const requestsOf = channel => channel.row_hits + channel.row_misses + channel.row_conflicts;
  if (requestsOf(external.all) === 0)
    return section('external', 'Memory outside', 'not used by this run', []);
  const clocks = time.seconds * config.machine.external.dram.clock_ghz * 1e9;
  const rows = (external.by_channel ?? []).map((channel, at) => ({at, ...channel}));
  const columns = ['read_bytes', 'written_bytes', 'row_hits', 'row_misses', 'row_conflicts', 'refreshes', 'turnarounds', 'busy_clocks'];
  const csv = () => csvOf(['channel', ...columns], [...rows, {at: 'all', ...external.all}]
    .map(each => [each.at, ...columns.map(name => each[name])]));
  const facts = [...factsOf(external, time),
    ['rate', `${scaled(external.bytes_per_second, 'B/s')} of ${scaled(external.peak_bytes_per_second, 'B/s')}`],
    ['open rows hit', percent(external.all.row_hits / requestsOf(external.all))]];
  const busiest = Math.max(1, ...rows.map(each => each.busy_clocks));
  const table = tableOf([{name: 'channel'}, {name: 'read', n: true}, {name: 'written', n: true}, {name: 'data bus busy', n: true,
    title: 'share of the run in which it moved data'}, {name: ''}, {name: 'open rows hit', n: true}, {name: 'refreshes', n: true}],
    rows.map(each => [String(each.at), scaled(each.read_bytes, 'B'), scaled(each.written_bytes, 'B'),
      percent(each.busy_clocks / clocks),
      stackedBar([{value: each.busy_clocks, colour: '--host', title: `${grouped(each.busy_clocks)} clocks`}], busiest, 'thin'),
      percent(each.row_hits / Math.max(1, requestsOf(each))), grouped(each.refreshes)]));
  return section('external', 'Memory outside',
    `${counted(external.channels, 'channel')}: ${percent(external.share_of_peak)} of their rate over the run`,
    [csvButton('channels.csv', csv)],
    factLine(facts),
    rows.length > 0 ? table : null);
}
