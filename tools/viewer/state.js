'use strict';
// The page's choices, and the listeners to their changes.

const PARTS = ['compute', 'exchange', 'sync', 'link', 'host', 'wait'];
const CATEGORIES = ['tensors', 'code', 'exchange', 'control', 'arguments', 'stack'];
const categoryColour = name => name === 'exchange' ? '--exchange-lists' : '--' + name;

const state = {
  runs: [],      // as read; see main.js
  at: 0,         // index of the run that single-run views show
  tile: 0,       // chosen tile
  from: 0,       // the cycles that the timeline shows
  to: 1,
};

const listeners = {range: [], tile: [], look: []};  // look: theme or size
const waiting = new Set();

/** Calls `draw` now and in the next frame after each of these changes. */
function drawn(draw, ...kinds) {
  for (const kind of ['look', ...kinds]) listeners[kind].push(draw);
  waiting.add(draw);
}

function changed(kind) {
  if (waiting.size === 0) requestAnimationFrame(drawWaiting);
  for (const draw of listeners[kind]) waiting.add(draw);
}

function drawWaiting() {
  const draws = [...waiting];
  waiting.clear();
  for (const draw of draws) draw();
}

function forgetViews() {
  for (const kind of Object.keys(listeners)) listeners[kind] = [];
  waiting.clear();
}

const theRun = () => state.runs[state.at];

/** 'tile 70 (memory)': with its class if the machine has nodes of several classes. */
function tileName(run, tile) {
  const name = `tile ${grouped(tile)}`;
  const kind = run.tiles.find('class') ? run.tiles.word('class', tile) : 'tile';
  return kind === 'tile' ? name : `${name} (${kind})`;
}

function chooseTile(tile) {
  const count = theRun().tiles.rows;
  state.tile = Math.max(0, Math.min(count - 1, tile));
  changed('tile');
}

/** Shows the cycles [from, to) in the timeline, kept within the run. */
function showRange(from, to) {
  const {begin, end} = theRun().history;
  const least = Math.min(20, end - begin);
  const length = Math.max(least, Math.min(end - begin, to - from));
  const middle = (from + to) / 2;
  state.from = Math.max(begin, Math.min(end - length, middle - length / 2));
  state.to = state.from + length;
  changed('range');
}
