'use strict';
// Published beside simulated numbers: every set with its source, its deviations and their gates.

const comparable = point => point.fits && point.published !== 0 && point.simulated !== null;
const ratioOf = point => point.simulated / point.published;
/** A point's recorded deviation from the published number, as a share of that; 0: not recorded. */
const allowed = point => point.within || (point.within_absolute && point.published ? point.within_absolute / Math.abs(point.published) : 0);
const shortNumber = value => value === null || value === 0 ? '\u2013' : Math.abs(value) >= 1000 ? grouped(value) : String(Number(value.toPrecision(4)));
const deviation = point => { const by = 100 * (ratioOf(point) - 1); return `${by >= 0 ? '+' : '\u2212'}${Math.abs(by).toFixed(1)} %`; };

/** Published across, simulated up, both logarithmic, the diagonal between; bars: where a point was recorded. */
function drawAgreement(canvas, points) {
  const {context, width, height} = prepare(canvas, 320);
  const box = {x: 70, y: 8, width: Math.min(width - 84, 460), height: height - 56};
  const all = points.flatMap(point => [point.published, point.simulated]).filter(value => value > 0);
  const [low, high] = [Math.min(...all) / 1.5, Math.max(...all) * 1.5];
  const place = value => Math.log(value / low) / Math.log(high / low);
  const x = value => box.x + place(value) * box.width;
  const y = value => box.y + (1 - place(value)) * box.height;
  const marks = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; ++power)
    for (const times of high / low < 200 ? [1, 2, 5] : [1]) if (times * 10 ** power >= low && times * 10 ** power <= high) marks.push(times * 10 ** power);
  for (const at of marks) {
    context.fillStyle = colour('--grid');
    context.fillRect(x(at), box.y, 1, box.height);
    context.fillRect(box.x, y(at), box.width, 1);
    context.fillStyle = colour('--soft');
    context.textAlign = 'right';
    context.fillText(shortNumber(at), box.x - 8, y(at));
  }
  context.textAlign = 'center';
  apartTexts(context, marks.map(at => [x(at), shortNumber(at)]), box.y + box.height + 13, 6);
  const line = (times, ink, dash) => {
    context.save();
    context.beginPath();
    context.rect(box.x, box.y, box.width, box.height);
    context.clip();
    context.strokeStyle = colour(ink);
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x(low), y(low * times));
    context.lineTo(x(high), y(high * times));
    context.stroke();
    context.restore();
  };
  line(1, '--soft', []);
  for (const times of [1 / 1.1, 1.1]) line(times, '--faint', [4, 4]);
  for (const point of points) {
    const gate = allowed(point);
    context.strokeStyle = colour('--sync');
    if (gate > 0 && gate < 1) {  // around the published number: the point must lie within
      context.beginPath();
      context.moveTo(x(point.published), y(point.published * (1 - gate)));
      context.lineTo(x(point.published), y(point.published * (1 + gate)));
      context.stroke();
    }
    context.beginPath();
    context.arc(x(point.published), y(point.simulated), 4.5, 0, 2 * Math.PI);
    context.fillStyle = colour(point.passed ? '--compute' : '--wait');
    context.fill();
    context.strokeStyle = colour('--card');
    context.stroke();
  }
  context.fillStyle = colour('--ink');
  context.textAlign = 'center';
  context.fillText('published', box.x + box.width / 2, height - 14);
  upwardText(context, 'simulated', 11, box.y + box.height / 2);
  context.textAlign = 'left';
}

/** Simulated over published of each point along one axis; the band is where the set was recorded. */
function drawResiduals(canvas, points, axis, gates) {
  const {context, width} = prepare(canvas, 190);
  const box = {x: 56, y: 8, width: width - 70, height: 132};
  const column = {values: points.map(point => axis === null ? point.name : point.axes[axis] ?? null)};
  const across = axis === null ? {place: name => (points.findIndex(point => point.name === name) + 0.5) / points.length, marks: []} : scaleOf(column);
  const reach = Math.max(1.06, ...points.map(point => Math.max(ratioOf(point), 1 / ratioOf(point)))) * 1.04;
  const y = ratio => box.y + box.height / 2 - Math.log(ratio) / Math.log(reach) * box.height / 2;
  const [low, high] = [gates.median_low || gates.none_below, gates.median_high || gates.none_above];
  if (low && high) {
    context.fillStyle = colour('--hover');
    const top = Math.max(box.y, y(high));
    context.fillRect(box.x, top, box.width, Math.min(box.y + box.height, y(low)) - top);
  }
  for (const [ratio, ink] of [[1, '--soft'], [Math.sqrt(reach), '--grid'], [1 / Math.sqrt(reach), '--grid'], [reach / 1.02, '--grid'], [1.02 / reach, '--grid']]) {
    context.fillStyle = colour(ink);
    context.fillRect(box.x, y(ratio), box.width, 1);
    context.fillStyle = colour('--soft');
    context.textAlign = 'right';
    context.fillText(ratio.toFixed(2), box.x - 8, y(ratio));
  }
  context.textAlign = 'center';
  apartTexts(context, across.marks.map(([at, text]) => [box.x + at * box.width, text]), box.y + box.height + 13, 6);
  context.fillStyle = colour('--ink');
  context.fillText(axis ?? 'point by point', box.x + box.width / 2, box.y + box.height + 34);
  context.textAlign = 'left';
  points.forEach((point, i) => {
    if (column.values[i] === null) return;
    const middle = box.x + across.place(column.values[i]) * box.width;
    const gate = allowed(point);
    if (gate > 0 && gate < 1) {
      context.fillStyle = colour('--sync');
      const top = Math.max(box.y, y(1 + gate));
      context.fillRect(middle - 0.5, top, 1, Math.min(box.y + box.height, y(1 - gate)) - top);
    }
    context.beginPath();
    context.arc(middle, y(ratioOf(point)), 4, 0, 2 * Math.PI);
    context.fillStyle = colour(point.passed ? '--compute' : '--wait');
    context.fill();
  });
}

function pointTable(set) {
  const speedups = set.points.some(point => point.speedup);
  const columns = [{name: 'point'}, {name: 'published', n: true}, {name: 'simulated', n: true}, {name: ''}, {name: 'deviation', n: true},
    {name: 'recorded within', n: true}, ...(speedups ? [{name: 'speed-up, published', n: true}, {name: 'simulated', n: true}] : []), {name: 'parts of time'}, {name: ''}];
  const rows = set.points.map(point => {
    const known = comparable(point);
    const gate = allowed(point);
    return [element('span', {title: point.why, style: {whiteSpace: point.name.length < 40 ? 'nowrap' : 'normal'}}, point.name), point.fits ? shortNumber(point.published) : 'too large',
      point.simulated === null ? element('span', {class: 'soft', title: point.error}, point.error.split('\n')[0].slice(0, 40) + '\u2026') : shortNumber(point.simulated),
      element('span', {class: 'soft'}, point.simulated === null ? '' : point.unit), known ? deviation(point) : '', known && gate ? `\u00b1${Number((100 * gate).toPrecision(2))} %` : '',
      ...(speedups ? [point.speedup?.published ? shortNumber(point.speedup.published) : '', point.speedup ? shortNumber(point.speedup.simulated) : ''] : []),
      point.simulated === null ? '' : stackedBar(['compute', 'exchange', 'sync', 'host', 'wait'].map((part, i) => ({value: point.parts[i], colour: '--' + part,
        title: `${part}: ${percent(point.parts[i])}`})), 1, 'thin'),
      point.passed ? element('span', {class: 'soft'}, (known && gate) || !point.fits ? 'as recorded' : '') : element('span', {class: 'verdict-bad'}, 'moved')];
  });
  return element('div', {class: 'wide'}, tableOf(columns, rows, () => ({class: 'more'})));
}

const said = (text, kind) => element('span', {class: kind, style: {whiteSpace: 'nowrap'}}, text);
const verdict = (good, well, badly) => good === null ? said('not judged', 'soft') : good ? said(well, 'soft') : said(badly, 'verdict-bad');
const accuracyOf = set => verdict(set.reproduces, 'reproduces', set.shortfall ? 'falls short, stated' : 'falls short');
const regressionOf = set => verdict(set.as_recorded, 'as recorded', 'moved');

function setView(set) {
  const points = set.points.filter(comparable);
  const units = new Set(points.map(point => point.unit));
  const positive = points.filter(point => point.published > 0 && point.simulated > 0);
  const canvases = [];
  if (positive.length > 2 && units.size === 1) {
    canvases.push(element('div', {style: {flex: '1 1 420px', maxWidth: '560px'}},
      canvasOf(`${set.name}: simulated over published`, canvas => drawAgreement(canvas, positive))));
  }
  const axes = positive.length > 2 ? set.axes.filter(axis => new Set(positive.map(point => point.axes[axis])).size > 1) : [];
  const residuals = (axes.length > 0 ? axes : positive.length > 1 ? [null] : []).map(axis => {
    const canvas = canvasOf(`${set.name}: simulated / published by ${axis ?? 'point'}`, own => drawResiduals(own, positive, axis, set.gates));
    return element('div', {style: {flex: '1 1 360px'}}, element('div', {}, canvas));
  });
  const csv = () => csvOf(['point', ...set.axes, 'evidence', 'unit', 'published', 'simulated', 'ratio', 'recorded_within', 'as_recorded'], set.points.map(point =>
    [point.name, ...set.axes.map(axis => point.axes[axis] ?? ''), set.evidence, point.unit, point.published, point.simulated ?? '', point.ratio ?? '', allowed(point), point.passed]));
  return section(set.name, set.title, '', [element('span', {class: 'pill'}, set.evidence), accuracyOf(set), regressionOf(set),
    csvButton(set.name + '.csv', csv)],
    element('p', {class: 'note', style: {margin: '0 0 10px'}}, 'Source: ' + set.citation),
    element('div', {class: 'columns'}, ...canvases, ...residuals),
    set.shortfall ? element('p', {style: {margin: '8px 0'}}, 'Shortfall: ' + set.shortfall) : null,
    set.unexplained ? element('p', {style: {margin: '8px 0'}}, 'Unexplained: ' + set.unexplained) : null,
    set.why ? element('p', {style: {margin: '8px 0'}}, set.why) : null,
    ...set.crossings.map(text => element('p', {style: {margin: '2px 0'}}, text)), pointTable(set));
}

/** One row per set: number of points, their median and worst ratio. */
function setsTable(sets) {
  const rows = sets.map(set => {
    const ratios = set.points.map(point => point.ratio).filter(ratio => ratio !== null).sort((a, b) => a - b);
    const worst = ratios.reduce((most, ratio) => Math.abs(Math.log(ratio)) > Math.abs(Math.log(most)) ? ratio : most, 1);
    const median = ratios.length === 0 ? null : (ratios[(ratios.length - 1) >> 1] + ratios[ratios.length >> 1]) / 2;
    return [element('a', {href: '#' + set.name, style: {color: 'var(--accent)', textDecoration: 'none'}}, set.name), set.title, set.evidence,
      String(ratios.length), median === null ? '\u2013' : median.toFixed(3), ratios.length === 0 ? '\u2013' : worst.toFixed(3),
      accuracyOf(set), regressionOf(set)];
  });
  return element('div', {class: 'wide'}, tableOf([{name: 'set'}, {name: ''}, {name: 'evidence'}, {name: 'points', n: true},
    {name: 'median', n: true, title: 'of simulated / published'}, {name: 'farthest', n: true, title: 'from 1, of simulated / published'}, {name: 'accuracy', title: 'beside what is published, by the gate of its kind of evidence'}, {name: 'regression', title: 'beside our own record'}], rows, () => ({class: 'more'})));
}

/** One row per kind of evidence: all its points together, and the gate of each of its sets. */
function totalsTable(totals, near) {
  const shown = value => value === null ? '\u2013' : value.toFixed(3);
  const rows = totals.map(total => [element('span', {title: total.meaning}, total.kind), String(total.sets), String(total.points), shown(total.median), shown(total.mean),
    total.near === null ? '\u2013' : percent(total.near), total.judged > 0 ? `${total.reproduced} of ${total.judged}` : '\u2013', element('span', {title: total.reason}, total.gate)]);
  return element('div', {class: 'wide'}, tableOf([{name: 'evidence'}, {name: 'sets', n: true}, {name: 'points', n: true}, {name: 'median', n: true}, {name: 'mean', n: true},
    {name: `within ${near}\u00d7`, n: true}, {name: 'sets that reproduce', n: true}, {name: 'gate of each set'}], rows, () => ({class: 'more'})));
}

/** Each model's description from its header; what it leaves out is shown separately. */
function modelledView(models) {
  return section('modelled', 'What is modelled and what is not', 'as each model\u2019s header says', [], element('div', {class: 'wide'},
    tableOf([{name: 'model', class: 'path'}, {name: 'what it does'}, {name: 'what it leaves out'}], models.map(({file, says}) => {
      const at = says.search(/Leaves out/);
      const rest = at < 0 ? '' : says.slice(at).replace(/^Leaves out:? ?/, '');
      return [file.replace(/^models\//, '').replace(/\.h$/, ''), at < 0 ? says : says.slice(0, at), rest];
    }), () => ({class: 'more'}))));
}

function showValidation({sets, totals, near, models, version, commit}) {
  const points = sets.flatMap(set => set.points);
  const short = sets.filter(set => set.reproduces === false);
  const moved = sets.filter(set => !set.as_recorded).length;
  document.getElementById('head').replaceChildren(element('div', {class: 'title'}, element('h1', {}, 'Published and simulated'),
    element('p', {class: 'facts'}, element('span', {}, element('b', {}, grouped(points.length)), ' points of ', element('b', {}, grouped(sets.length)), ' sets'),
      element('span', {}, `${grouped(points.filter(point => point.ratio !== null).length)} beside a published number`),
      short.length === 0 ? element('span', {}, sets.some(set => set.reproduces !== null) ? 'all judged sets reproduce what is published' : 'no set is judged')
        : element('span', {class: 'verdict-bad'}, `${short.length} fall short of it, ${short.filter(set => set.shortfall).length} of them stated`),
      moved === 0 ? element('span', {}, 'all as recorded') : element('span', {class: 'verdict-bad'}, `${moved} moved from their record`),
      element('span', {}, `tessera ${version} (${commit})`))),
    element('div', {class: 'tools'}, themeButton()));
  const kinds = section('kinds', 'By kind of evidence', 'ratios are simulated / published', [], totalsTable(totals, near));
  const overview = section('sets', 'All sets', 'ratios are simulated / published', [], setsTable(sets));
  document.getElementById('sections').replaceChildren(...[['kinds', 'By evidence'], ['sets', 'All sets'], ...sets.map(set => [set.name, set.name]), ['modelled', 'What is modelled']]
    .map(([id, title]) => element('a', {href: '#' + id}, title)));
  document.getElementById('main').replaceChildren(kinds, overview, ...sets.map(setView), modelledView(models),
    element('footer', {}, 'Vertical bars: where a point was recorded around what is published; dashed: \u00b110 %; bands: where the set was recorded.'));
  document.title = 'Published and simulated';
  requestAnimationFrame(drawWaiting);
}
