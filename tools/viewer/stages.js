'use strict';
// Stages of a program, such as layers of a network: cycles, computing and waiting of the busiest tile, and busy cycles
// of the busiest port of each kind of stream, or cycles of exchanges if all tiles synchronise.

/** The longest part of a stage: computing, or a kind of stream. */
function bindsOf(stage) {
  return [['compute', stage.compute_cycles], ...Object.entries(stage.streams).map(([name, each]) => [name, each.cycles])]
    .reduce((most, each) => each[1] > most[1] ? each : most);
}

/** Nothing for programs without stages. */
function stagesView(run) {
  const {stages, time} = run.report;
  if (!stages) return null;
  const rows = Object.entries(stages);
  const streams = [...(run.report.config.machine.fabric.streams ?? []).map(each => each.name), 'exchange']
    .filter(name => rows.some(([, stage]) => stage.streams[name]));
  const cyclesOf = (stage, name) => stage.streams[name]?.cycles ?? 0;
  const csv = () => csvOf(['stage', 'cycles', 'compute_cycles', 'wait_cycles', ...streams.flatMap(name => [name + '_cycles', name + '_bytes']), 'binds'],
    rows.map(([name, stage]) => [name, stage.cycles, stage.compute_cycles, stage.wait_cycles,
      ...streams.flatMap(each => [cyclesOf(stage, each), stage.streams[each]?.bytes ?? 0]), bindsOf(stage)[0]]));
  const most = Math.max(1, ...rows.map(([, stage]) => stage.cycles));
  const binding = {};
  for (const [, stage] of rows) binding[bindsOf(stage)[0]] = (binding[bindsOf(stage)[0]] ?? 0) + stage.cycles;
  const bar = stage => {
    const [name, cycles] = bindsOf(stage);
    const bound = Math.min(cycles, stage.cycles);
    return stackedBar([{value: bound, colour: name === 'compute' ? '--compute' : '--exchange', title: `${name}: ${grouped(cycles)} cycles`},
      {value: stage.cycles - bound, colour: '--wait', title: `beyond it: ${grouped(stage.cycles - bound)} cycles`}], most, 'thin');
  };
  const table = tableOf([{name: 'stage'}, {name: 'cycles', n: true}, {name: ''}, {name: 'binds'}, {name: 'compute', n: true},
    {name: 'waiting', n: true, title: 'cycles in which the tile that computed most waited for transfers'},
    ...streams.map(name => ({name: spoken(name), n: true, title: 'cycles of the busiest port of these streams, or of exchanges'}))],
    rows.map(([name, stage]) => [name, grouped(stage.cycles), bar(stage), spoken(bindsOf(stage)[0]), grouped(stage.compute_cycles),
      grouped(stage.wait_cycles), ...streams.map(each => grouped(cyclesOf(stage, each)))]));
  return section('stages', 'Stages', `${counted(rows.length, 'stage')}: what binds each, of computing and streams`,
    [csvButton('stages.csv', csv)],
    factLine(Object.entries(binding).sort((a, b) => b[1] - a[1]).map(([name, cycles]) => [`${spoken(name)} binds`, percent(cycles / time.cycles)])),
    table);
}
