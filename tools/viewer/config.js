'use strict';
// The resolved config and the plan, as paths and values.

const isObject = value => value !== null && typeof value === 'object' && !Array.isArray(value);
const isList = value => Array.isArray(value) && value.length > 0 && value.every(isObject);

/** [[path, value]] of a nested object; elements of a list of objects are named by their name or number. */
function flattened(value, path = '') {
  if (isList(value)) return value.flatMap((each, at) => flattened(each, `${path}.${each.layer ?? each.name ?? at}`));
  if (!isObject(value)) return [[path, value]];
  return Object.entries(value).flatMap(([key, inner]) => flattened(inner, path ? `${path}.${key}` : key));
}

/** Lists of objects as tables, one row each, and all else as paths and values. */
function pathsAndLists(value) {
  const entries = Object.entries(value ?? {});
  const others = Object.fromEntries(entries.filter(([, inner]) => !isList(inner)));
  const lists = entries.filter(([, inner]) => isList(inner)).map(([key, rows]) => {
    const columns = [...new Set(rows.flatMap(Object.keys))];
    return element('div', {class: 'wide', style: {marginTop: '10px'}}, element('h3', {}, spoken(key)),
      tableOf(columns.map(name => ({name: spoken(name)})), rows.map(row => columns.map(name => shownValue(row[name] ?? ''))),
        () => ({class: 'more'})));
  });
  return [Object.keys(others).length === 0 ? null : pathTable(flattened(others)), ...lists];
}

const shownValue = value => typeof value === 'string' ? value : JSON.stringify(value);

const pathTable = rows => tableOf([{name: 'key', class: 'path'}, {name: 'value', class: 'value'}],
  rows.map(([path, value]) => [path, shownValue(value)]), () => ({class: 'more'}));

/** Keys of the machine that the run did not depend on, by reason. */
function unusedKeys(unused) {
  const keys = new Map();
  for (const {key, why} of unused ?? []) keys.set(why, [...(keys.get(why) ?? []), key.replace(/^machine\./, '')]);
  if (keys.size === 0) return null;
  return element('div', {class: 'unused'}, element('h3', {style: {marginTop: '18px'}}, 'Unused'),
    tableOf([{name: 'why'}, {name: 'key', class: 'value'}],
      [...keys].map(([why, its]) => [why, its.join(', ')]), () => ({class: 'more'})));
}

function configView(run) {
  const {config, workload, plan, prediction, check, host, work, traffic, rate, tessera, unused} = run.report;
  const part = (title, value) => element('div', {class: 'grow', style: {flexBasis: '280px'}},
    element('h3', {}, title), pathTable(flattened(value)));
  const below = (title, value) => Object.keys(value ?? {}).length === 0 ? null
    : [element('h3', {style: {marginTop: '18px'}}, title), ...pathsAndLists(value)];
  const csv = () => csvOf(['key', 'value'], flattened(run.report).map(row => [row[0], shownValue(row[1])]));
  const {machine, ...others} = config;
  return section('config', 'Config, resolved', run.folder, [csvButton('report.csv', csv)],
    element('div', {class: 'columns'},
      element('div', {class: 'grow', style: {flexBasis: '280px'}},
        element('h3', {}, 'Machine'), pathTable(flattened(machine)), unusedKeys(unused)),
      element('div', {class: 'grow', style: {flexBasis: '280px'}},
        element('h3', {}, 'Workload and run'), pathTable(flattened(others)),
        below('The problem', workload ?? {}), below('Plan', plan), below('Prediction', prediction)),
      element('div', {class: 'grow', style: {flexBasis: '280px'}},
        element('h3', {}, 'Check'), pathTable(flattened(check)),
        below('Work, rate and traffic', {work, rate, traffic}), below('Host', {tessera, host}))));
}
