'use strict';
// The timeline on the page: wheel and drag, keys, the tip's text.

function superstepTip(event, run, i) {
  const {steps} = run.history;
  const of = name => steps.of(name)[i];
  const rows = [['cycles', grouped(of('cycles'))]];
  for (const part of PARTS)
    if (of(part + '_cycles') > 0) rows.push([part, `${grouped(of(part + '_cycles'))}  (${percent(of(part + '_cycles') / of('cycles'))})`]);
  for (const [name, column] of [['waiting for ports', 'port_wait_cycles'], ['exchanges beside, mean', 'mean_overlapped_cycles']])
    if (steps.find(column) && of(column) >= 1) rows.push([name, grouped(Math.round(of(column)))]);
  rows.push(['last tile', grouped(of('last_tile'))]);
  if (of('mean_compute_cycles') > 0) rows.push(['imbalance', (of('most_compute_cycles') / of('mean_compute_cycles')).toFixed(2)]);
  if (of('exchange_bytes') > 0) rows.push(['exchanged', scaled(of('exchange_bytes'), 'B')]);
  if (of('flops') > 0) rows.push(['operations', scaled(of('flops'), 'FLOP')]);
  rows.push(['live buffers', kibibytes(of('live_bytes'))]);
  tip.show(event, `${grouped(i)}  ${steps.word('name', i)}`, rows);
}

/** Zooms by `factor` (below 1: in) around a cycle. */
function zoomAround(cycle, factor) {
  showRange(cycle - (cycle - state.from) * factor, cycle + (state.to - cycle) * factor);
}

/** Place of an event on the timeline: pixels, cycle, and the share of the tile rows' height if it is over them. */
function placeOf(event, canvas, run, view) {
  const box = canvas.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const share = run.tileHistory ? (y - view.tilesTop) / view.tileTall : -1;
  return {x, y, share: share >= 0 && share < 1 ? share : null, cycle: view.stretch.cycle(x)};
}

function turnWheel(event, place, run, view) {
  const factor = Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300)));
  const across = Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (event.shiftKey && place.share !== null) return zoomTiles(run, place.share, factor);
  if (!across) return zoomAround(view.stretch.cycle(Math.max(GUTTER, place.x)), factor);
  const by = event.deltaX / view.stretch.scale;
  showRange(state.from + by, state.to + by);
}

function timelineTip(event, place, run) {
  const i = run.history.at(place.cycle);
  if (place.x < GUTTER || i < 0) tip.hide();
  else if (place.share !== null) tileStepTip(event, run, i, tileAt(run, place.share));
  else superstepTip(event, run, i);
}

function listenToTimeline(canvas, run, view) {
  let drag = null;
  const place = event => placeOf(event, canvas, run, view());
  const moveWindow = x => {
    const all = new Stretch(run.history, run.history.begin, run.history.end, view().stretch.width);
    const half = (state.to - state.from) / 2;
    showRange(all.cycle(x) - half, all.cycle(x) + half);
  };
  canvas.addEventListener('wheel', event => {
    event.preventDefault();
    turnWheel(event, place(event), run, view());
  }, {passive: false});
  canvas.addEventListener('pointerdown', event => {
    canvas.setPointerCapture(event.pointerId);
    const {x, y, share} = place(event);
    drag = {x, from: state.from, to: state.to, overview: y < NAMES_TOP - 6};
    if (drag.overview) moveWindow(x);
    if (share !== null) chooseTile(tileAt(run, share));
  });
  canvas.addEventListener('pointermove', event => {
    if (!drag) return timelineTip(event, place(event), run);
    const {x} = place(event);
    if (drag.overview) return moveWindow(x);
    const by = (drag.x - x) / view().stretch.scale;
    showRange(drag.from + by, drag.to + by);
  });
  canvas.addEventListener('pointerup', () => { drag = null; });
  canvas.addEventListener('pointerleave', tip.hide);
  canvas.addEventListener('dblclick', event => {
    const i = run.history.at(place(event).cycle);
    if (i >= 0) showSuperstep(i);
  });
  canvas.addEventListener('keydown', event => timelineKey(event, run));
}

function timelineKey(event, run) {
  const {history} = run;
  const length = state.to - state.from;
  const middle = (state.from + state.to) / 2;
  const at = Math.max(0, history.at(middle));
  const acts = {
    ArrowLeft: () => showRange(state.from - length / 4, state.to - length / 4),
    ArrowRight: () => showRange(state.from + length / 4, state.to + length / 4),
    ArrowUp: () => chooseTile(state.tile - 1),
    ArrowDown: () => chooseTile(state.tile + 1),
    '+': () => zoomAround(middle, 0.5), '=': () => zoomAround(middle, 0.5),
    '-': () => zoomAround(middle, 2),
    '0': () => showAll(run),
    '.': () => zoomChosenTile(run, 0.5), ',': () => zoomChosenTile(run, 2),
    '[': () => showSuperstep(Math.max(0, at - 1)),
    ']': () => showSuperstep(Math.min(history.count - 1, at + 1)),
  };
  if (!acts[event.key] || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  event.stopPropagation();
  acts[event.key]();
}

function timelineView(run) {
  const canvas = element('canvas', {tabindex: 0, id: 'timeline-canvas',
    'aria-label': 'Supersteps over time; plus and minus zoom, arrows move, 0 shows all'});
  let view = null;
  const draw = () => { if (canvas.isConnected) view = drawTimeline(canvas, run); };
  drawn(draw, 'range', ...(run.tileHistory ? ['tile'] : []));
  listenToTimeline(canvas, run, () => view);
  const button = (text, title, click) => element('button', {title, click}, text);
  const middle = () => (state.from + state.to) / 2;
  const note = 'Parts are those along the last-arriving tile, in their order: a superstep is an exchange, what is computed behind it, and the barrier at its end. ' +
    (run.tileHistory ? 'With shift the wheel (or . and ,) zooms the rows of tiles; where supersteps are narrow, a row\u2019s shade is its share of computing.'
      : run.history.count < run.steps.rows ? `Zones of tiles go on by themselves: these are the supersteps of zone ${run.history.steps.of('zone')[0]}, which computes most. A trace shows every tile.`
                     : 'For a row a tile, run with --set report.tile_steps=4000000.');
  return section('timeline', 'Timeline', `${counted(run.history.count, 'superstep')}; wheel zooms, drag moves`,
    [button('+', 'Nearer', () => zoomAround(middle(), 0.5)), button('\u2212', 'Farther', () => zoomAround(middle(), 2)),
      button('all', 'The whole run, all tiles (0)', () => showAll(run)),
      csvButton('steps.csv', () => run.steps.csv())],
    element('div', {}, canvas), element('p', {class: 'note'}, note));
}
