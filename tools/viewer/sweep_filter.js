'use strict';
// Filters of a sweep: the page shows the points whose axes have chosen values.

/** An axis with more values is filtered by a minimum and a maximum. */
const MOST_VALUES = 24;

/** A column with the values of only the shown points. */
const shownOf = (column, sweep) => ({...column, values: column.values.map((value, at) => sweep.shown[at] ? value : null)});

/** True if the point passes an axis's filter; all pass if nothing is chosen. */
function passes(filter, at) {
  const value = filter.column.values[at];
  if (filter.ranged) return (filter.least === null || (value !== null && value >= filter.least)) &&
    (filter.most === null || (value !== null && value <= filter.most));
  return filter.chosen.size === 0 || filter.chosen.has(value);
}

/** "3 do not fit, 1 wrong": counts of the shown points that are not done. */
function toldStatus(sweep) {
  const counts = new Map();
  sweep.points.forEach((point, at) => {
    if (!sweep.shown[at] || hasNumbers(point)) return;
    const status = point.status === 'failed' && / fit/.test(point.error ?? '') ? 'do not fit' : point.status;
    counts.set(status, (counts.get(status) ?? 0) + 1);
  });
  return [...counts].map(([status, count]) => `${grouped(count)} ${status}`).join(', ');
}

function filterOf(column) {
  const values = [...new Set(column.values)];
  const ranged = values.length > MOST_VALUES && isNumeric(column);
  if (isNumeric(column)) values.sort((a, b) => (a ?? -Infinity) - (b ?? -Infinity));
  return {column, values, ranged, chosen: new Set(), least: null, most: null};
}

/** One button per value with the number of points that it would leave; `count` updates the numbers. */
function valueButtons(filter, change) {
  const buttons = filter.values.map(value => element('button', {'aria-pressed': 'false', click: () => {
    if (!filter.chosen.delete(value)) filter.chosen.add(value);
    change();
  }}));
  const count = counts => buttons.forEach((button, i) => {
    const value = filter.values[i];
    const found = counts.get(value) ?? 0;
    button.setAttribute('aria-pressed', String(filter.chosen.has(value)));
    button.classList.toggle('none', found === 0);
    button.replaceChildren(value === null ? '\u2013' : String(value), ' ', element('span', {class: 'soft'}, grouped(found)));
  });
  return {parts: buttons, count};
}

function rangeInputs(filter, change) {
  const ends = numbersIn(filter.column);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const input = (what, shown) => {
    const made = element('input', {type: 'number', step: 'any', placeholder: String(shown), 'aria-label': `${filter.column.path}: ${what}`,
      input: () => { filter[what] = made.value === '' ? null : Number(made.value); change(); }});
    return made;
  };
  const inputs = {least: input('least', low), most: input('most', high)};
  const count = () => { for (const what of ['least', 'most']) if (filter[what] === null) inputs[what].value = ''; };
  return {parts: [inputs.least, ' to ', inputs.most], count};
}

/** The filters of all axes that vary; nothing if none does. Calls `change` after each choice. */
function sweepFilter(sweep, columns, change) {
  const filters = columns.filter(column => column.axis && new Set(column.values).size > 1).map(filterOf);
  sweep.shown = sweep.points.map(() => true);
  if (filters.length === 0) return null;
  const told = element('p', {role: 'status'});
  const rows = filters.map(filter => ({filter, ...(filter.ranged ? rangeInputs : valueButtons)(filter, () => apply())}));
  /** By value of an axis: the number of points that pass the other axes' filters. */
  const countsOf = filter => {
    const counts = new Map();
    sweep.points.forEach((_, at) => {
      if (!filters.every(other => other === filter || passes(other, at))) return;
      const value = filter.column.values[at];
      counts.set(value, (counts.get(value) ?? 0) + 1);
    });
    return counts;
  };
  const show = () => {
    sweep.shown = sweep.points.map((_, at) => filters.every(filter => passes(filter, at)));
    for (const row of rows) row.count(row.filter.ranged ? null : countsOf(row.filter));
    const failed = toldStatus(sweep);
    told.replaceChildren(`${grouped(sweep.shown.filter(Boolean).length)} of ${counted(sweep.points.length, 'point')} shown` +
      (failed ? `, without a correct result: ${failed}` : ''));
  };
  const apply = () => { show(); change(); };
  const all = () => {
    for (const filter of filters) {
      filter.chosen.clear();
      filter.least = filter.most = null;
    }
    apply();
  };
  sweep.showAll = all;
  show();
  return section('filter', 'Filter', 'values choose, together within an axis; numbers say how many points each leaves',
    [element('button', {title: 'Show all points (a)', click: all}, 'All')],
    ...rows.map(({filter, parts}) => element('div', {class: 'filter', role: 'group', 'aria-label': filter.column.path},
      element('span', {class: 'soft', title: filter.column.path}, columnTitle(filter.column)), ...parts)), told);
}
