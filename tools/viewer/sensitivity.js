'use strict';
// How time, energy and area depend on the machine's parameters: `tessera sensitivity`.

/** A bar from the middle, to the left for decreases; its length is |log ratio| as a share of `reach`. */
function changeBar(ratio, reach) {
  const share = Math.min(1, Math.abs(Math.log(ratio)) / reach) * 50;
  return element('div', {class: 'change', 'aria-hidden': 'true'}, element('i', {style: {
    left: (ratio < 1 ? 50 - share : 50) + '%', width: share + '%',
    background: `var(${ratio < 1 ? '--host' : '--wait'})`}}));
}

const moved = value => String(Number(value.toPrecision(4)));
const slopeText = value => value === null ? '' : Math.abs(value) < 5e-4 ? '0'
  : (value < 0 ? '\u2212' : '+') + Math.abs(value).toFixed(3);

/** [the key's value, the change of time, its bar] at one end. */
function endCells(stored, end, reach) {
  if (end === null) return ['', element('span', {title: 'the config allows no such value'}, '\u2013'), ''];
  if (end.time === null) return [moved(end.value), element('span', {title: end.error}, 'does not run'), ''];
  const text = change(stored.time, end.time);
  return [moved(end.value), end.replanned
    ? element('span', {title: 'with another plan: ' + JSON.stringify(end.plan)}, text + ' *') : text,
    changeBar(end.time / stored.time, reach)];
}

/** Nothing if the run has no sensitivity results. */
function sensitivityView(run) {
  const stored = run.sensitivity;
  if (!stored) return null;
  const short = key => key.key.replace(/^machine\./, '');
  const acting = stored.keys.filter(key => key.acts);
  const idle = stored.keys.filter(key => !key.acts && !key.held);
  const held = stored.keys.filter(key => key.held);
  const ends = acting.flatMap(key => [key.low, key.high]).filter(end => end?.time);
  const reach = Math.max(1e-3, ...ends.map(end => Math.abs(Math.log(end.time / stored.time))));
  const columns = [{name: 'key of the machine'}, {name: 'value', n: true},
    {name: `\u00f7 ${stored.by}`, n: true}, {name: 'time', n: true}, {name: ''},
    {name: `\u00d7 ${stored.by}`, n: true}, {name: 'time', n: true}, {name: ''},
    ...['time', 'energy', 'area'].map(name => ({name, n: true, title: `d log ${name} / d log key`}))];
  const shown = acting.map(key => [
    element('span', {title: `${key.sentence}${key.unit ? ` [${key.unit}]` : ''}`}, short(key)), moved(key.value),
    ...endCells(stored, key.low, reach), ...endCells(stored, key.high, reach),
    slopeText(key.time_slope), slopeText(key.energy_slope), key.area_model === false
      ? element('span', {title: 'the area of this key\u2019s hardware has no model, as no public number gives it'}, 'no model')
      : slopeText(key.area_slope)]);
  const names = (what, keys) => keys.length === 0 ? null : element('p', {class: 'note'}, what + ' ',
    keys.map((key, i) => element('span', {title: key.held ?? key.sentence}, (i > 0 ? ', ' : '') + short(key))));
  const csv = () => csvOf(['key', 'value', 'low', 'low_seconds', 'high', 'high_seconds', 'time_slope', 'energy_slope', 'area_slope'],
    stored.keys.map(key => [key.key, key.value, key.low?.value ?? '', key.low?.time ?? '', key.high?.value ?? '',
      key.high?.time ?? '', key.time_slope ?? '', key.energy_slope ?? '', key.area_slope ?? '']));
  return section('faster', 'What would make this faster',
    `each number of the machine divided and multiplied by ${stored.by}, the plan made anew; ${stored.simulated ? 'simulated' : 'predicted'}`,
    [csvButton('sensitivity.csv', csv)], element('div', {class: 'wide'}, foldedTable(columns, shown, 16, 'key')),
    element('p', {class: 'note'}, 'The last three columns are d log / d log of the key: +1 grows as it does, \u22121 as its inverse. * with another plan.'),
    names(stored.simulated ? 'Change nothing of this run:' : 'Change nothing that is predicted (--simulate runs them):', idle), names('Cannot be moved:', held));
}
