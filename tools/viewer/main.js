'use strict';
// Reads the runs of the page, builds the views, listens to the keyboard.

async function readRun(packed) {
  const run = {report: packed.report, analysis: packed.analysis, folder: packed.folder,
    sensitivity: packed.sensitivity};
  run.vectorFlops = packed.vector_flops;
  [run.steps, run.tiles, run.traffic, run.buffers, run.raster] = await Promise.all(
    [packed.steps, packed.tiles, packed.traffic, packed.buffers, packed.raster].map(Table.read));
  run.zones = historiesOfZones(run.steps);
  run.history = busiestOf(run.zones);
  run.everyStep = new History(run.steps);
  const zones = run.history.count < run.steps.rows;  // rows of tiles show one after the other
  run.tileHistory = zones ? null : await TileHistory.read(packed.tile_steps, run.tiles.rows, run.history);
  const machine = run.report.config.machine;
  run.busy = sumOf(run.tiles.of('compute_cycles')) / Math.max(1, run.tiles.rows * run.report.time.cycles);
  run.tileMemory = new Float64Array(run.tiles.rows);
  for (const category of CATEGORIES) {
    const column = run.tiles.find(category + '_bytes');
    if (column) for (let i = 0; i < run.tiles.rows; ++i) run.tileMemory[i] += column.values[i];
  }
  run.title = `${run.report.identity?.problem ?? run.report.config.workload.kernel} on ${machine.name || 'a machine of its own'}`;
  return run;
}

const SECTIONS = [['achieved', 'Achieved'], ['where', 'Where time goes'], ['tiles', 'Tiles'],
  ['contexts', 'Contexts'], ['stages', 'Stages'], ['timeline', 'Timeline'], ['memory', 'Memory'], ['exchange', 'Exchange'], ['external', 'Memory outside'], ['roofline', 'Roofline'],
  ['energy', 'Energy'], ['faster', 'Faster'], ['training', 'Training'],
  ['raster', 'Spikes'], ['config', 'Config']];

function theme() { return document.documentElement.dataset.theme; }

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  themeColours = new Map();
  changed('look');
}

const turnTheme = () => setTheme(theme() === 'dark' ? 'light' : 'dark');
const themeButton = () => element('button', {title: 'Light or dark (d)', click: turnTheme}, 'Light / dark');

function head(run) {
  const {time, config, check} = run.report;
  const verdict = check?.passed === true ? element('span', {}, 'check passed')
    : check?.passed === false ? element('span', {class: 'verdict-bad'}, 'check FAILED') : element('span', {}, 'check off');
  const facts = element('p', {class: 'facts'},
    element('span', {}, element('b', {}, grouped(time.cycles)), ' cycles'),
    element('span', {}, element('b', {}, seconds(time.seconds))),
    element('span', {}, counted(time.supersteps, 'superstep')),
    element('span', {}, `${counted(config.machine.tiles, 'tile')} at ${config.machine.clock_ghz} GHz`), verdict);
  const pick = state.runs.length < 2 ? [] : state.runs.map((each, at) =>
    element('button', {'aria-pressed': String(at === state.at), title: each.folder, click: () => showRun(at)}, letterOf(at)));
  return [
    element('div', {class: 'title'}, element('h1', {}, state.runs.length > 1 ? `${letterOf(state.at)}: ${run.title}` : run.title), facts),
    element('div', {class: 'tools'}, ...pick, themeButton())];
}

function foot(run) {
  const key = name => element('kbd', {}, name);
  return element('footer', {}, element('p', {}, key('1'), '\u2013', key('9'), ' sections  ', key('+'), key('\u2212'),
    ' zoom  ', key('\u2190'), key('\u2192'), ' move  ', key('['), key(']'), ' supersteps  ', key('0'), ' whole run  ',
    key('\u2191'), key('\u2193'), ' tiles  ', key('.'), key(','), ' zoom tiles  ', key('d'), ' dark  ', state.runs.length > 1 ? [key('r'), ' next run'] : []),
    element('p', {style: {marginTop: '6px'}}, `tessera ${run.report.tessera?.version ?? ''} (${run.report.tessera?.commit ?? ''})`));
}

function showRun(at) {
  state.at = at;
  const run = theRun();
  forgetViews();
  state.tile = Math.min(run.analysis.whole.critical_tile, run.tiles.rows - 1);
  [state.from, state.to] = [run.history.begin, run.history.end];
  const several = state.runs.length > 1;
  const known = SECTIONS.filter(([id]) => (id !== 'energy' || run.report.energy) && (id !== 'contexts' || run.report.stalls) && (id !== 'external' || run.report.external) && (id !== 'stages' || run.report.stages) &&
    (id !== 'faster' || run.sensitivity) && (id !== 'training' || run.report.results?.loss?.length) && (id !== 'raster' || run.raster.rows > 0));
  const sections = several ? [['compare', 'Comparison'], ...known] : known;
  document.getElementById('head').replaceChildren(...head(run));
  document.getElementById('sections').replaceChildren(...sections.map(([id, title], i) =>
    element('a', {href: '#' + id}, element('kbd', {}, String(i + 1)), title)));
  const views = [achievedView, whereView, tileMapView, stallsView, stagesView, timelineView, memoryView, exchangeView, externalView, rooflineView, energyView, sensitivityView, trainingView, rasterView, configView];
  document.getElementById('main').replaceChildren(...(several ? [compareView(state.runs)] : []),
    ...views.map(view => view(run)).filter(view => view !== null), foot(run));
  document.title = several ? state.runs.map((each, i) => `${letterOf(i)}: ${each.title}`).join(', ') : `${run.title}: ${grouped(run.report.time.cycles)} cycles`;
  requestAnimationFrame(drawWaiting);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) return;
  const links = document.querySelectorAll('#sections a');
  if (/^[1-9]$/.test(event.key) && links[event.key - 1]) links[event.key - 1].click();
  else if (event.key === 'd') turnTheme();
  else if (event.key === 'a' && pressed.all) pressed.all();
  else if (state.runs.length === 0) return;
  else if (event.key === 'r' && state.runs.length > 1) showRun((state.at + 1) % state.runs.length);
  else if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') timelineKey(event, theRun());
}

/** For printing, redraws canvases at the paper's width in the light theme, and restores them after. */
function printed(begins) {
  document.documentElement.classList.toggle('printing', begins);
  if (begins) printed.theme = theme();
  setTheme(begins ? 'light' : printed.theme);
  drawWaiting();
}

async function start() {
  const wanted = matchMedia('(prefers-color-scheme: dark)');
  setTheme(wanted.matches ? 'dark' : 'light');
  wanted.addEventListener('change', () => setTheme(wanted.matches ? 'dark' : 'light'));
  const packed = JSON.parse(document.getElementById('runs').textContent);
  watchWords(document.getElementById('main'));
  if (packed.sweep) showSweep(packed.sweep);
  else if (packed.validation) showValidation(packed.validation);
  else {
    state.runs = await Promise.all(packed.map(readRun));
    showRun(0);
  }
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
  addEventListener('keydown', pressed);
  addEventListener('resize', () => changed('look'));
  addEventListener('beforeprint', () => printed(true));
  addEventListener('afterprint', () => printed(false));
  // Twice: the first frame draws, by the second it is on the screen.
  requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('painted')));
}

start();
