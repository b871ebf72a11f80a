'use strict';
// Where worker contexts' cycles went: they issued, waited (and for what), or were not used.

const STALL_NAMES = {issued: 'issued', paired: 'issued two', load: 'waiting for loads', arithmetic: 'waiting for arithmetic',
  matrix: 'waiting for the matrix unit', branch: 'behind taken branches',
  external: 'waiting for external memory', arbitration: 'other contexts\u2019 turns',
  empty: 'without a worker'};
const STALL_COLOURS = {issued: '--compute', paired: '--code', load: '--exchange', arithmetic: '--control', matrix: '--arguments',
  branch: '--wait', external: '--external', arbitration: '--sync', empty: '--idle'};

const stallNames = of => Object.keys(STALL_NAMES).filter(name => of[name] > 0);
const stallPieces = (of, total) => stallNames(of).map(name => ({value: of[name], colour: STALL_COLOURS[name],
  title: `${STALL_NAMES[name]}: ${grouped(of[name])} context cycles, ${percent(of[name] / total)}`}));
const stallTotal = of => Math.max(1, stallNames(of).reduce((sum, name) => sum + of[name], 0));

/** Nothing for reports without stalls. */
function stallsView(run) {
  const {stalls, config} = run.report;
  if (!stalls) return null;
  const total = stallTotal(stalls);
  const codelets = stalls.codelets.map(each => ({...each, total: stallTotal(each)})).sort((a, b) => b.total - a.total);
  const csv = () => csvOf(['codelet', ...Object.keys(STALL_NAMES)], [...stalls.codelets, {...stalls, codelet: 'all'}]
    .map(each => [each.codelet, ...Object.keys(STALL_NAMES).map(name => each[name] ?? 0)]));
  const table = tableOf([{name: 'codelet'}, {name: 'context cycles', n: true}, {name: 'of all', n: true}, {name: ''},
    {name: 'issuing', n: true, title: 'cycles in which an instruction or a pair was issued'}],
    codelets.map(each => [each.codelet, grouped(each.total), percent(each.total / total),
      stackedBar(stallPieces(each, each.total), codelets[0].total, 'thin'),
      percent((each.issued + each.paired) / each.total)]));
  return section('contexts', 'Contexts',
    `${counted(config.machine.tile.contexts, 'worker context')} a tile, ${config.machine.tile.issue}: where their cycles went`,
    [csvButton('stalls.csv', csv)],
    stackedBar(stallPieces(stalls, total), total),
    legend(stallNames(stalls).map(name => ({ink: STALL_COLOURS[name], name: STALL_NAMES[name], value: percent(stalls[name] / total)}))),
    codelets.length > 0 ? table : null);
}
