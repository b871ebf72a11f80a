'use strict';
// One point of a sweep: the sections that need only its report.

/** True if its row has numbers: a run's, or a plan's. */
const hasNumbers = point => point.status === 'done' || point.status === 'predicted';

async function reportOf(point) {
  return JSON.parse(new TextDecoder().decode(await inflate(point.report)));
}

const axesText = axes => Object.entries(axes).filter(([, value]) => value !== null)
  .map(([path, value]) => `${path.split('.').at(-1)} ${shownValue(value)}`).join(', ');

/** A plan's predictions, without a run. */
const predictedFacts = ({prediction}) => element('p', {class: 'facts'}, element('span', {}, 'predicted, not simulated: ', element('b', {}, grouped(prediction.cycles)), ' cycles'),
  element('span', {}, seconds(prediction.seconds)));

/** The sections of a point's report, or the reason why it has none. */
async function pointView(point, vectorFlops) {
  const title = element('h2', {}, axesText(point.axes) || 'the only point');
  if (point.report === null)
    return [title, element('p', {class: 'verdict-bad'}, `${point.status}: ${point.error || 'no result'}`)];
  const report = await reportOf(point);
  // A sweep keeps no tables of supersteps and tiles.
  const run = {report, vectorFlops, folder: '', analysis: {phases: []}};
  if (point.status === 'predicted') return [title, predictedFacts(report), configView(run)].filter(view => view !== null);
  const {time, memory, rate} = report;
  const facts = element('p', {class: 'facts'}, element('span', {}, element('b', {}, grouped(time.cycles)), ' cycles'),
    element('span', {}, seconds(time.seconds)), element('span', {}, `${percent(rate.fraction_of_peak)} of the ${rate.peak_type} peak`),
    element('span', {}, `${kibibytes(fullestTile(memory).bytes)} on the fullest tile`),
    point.status === 'done' ? null : element('span', {class: 'verdict-bad'}, point.status + (point.error ? ': ' + point.error : '')));
  const again = {machine: report.config.machine, workload: report.config.workload};
  const save = element('button', {title: 'Its config, for tessera run and tessera report',
    click: () => download('point.json', JSON.stringify(again, null, 1))}, 'Config');
  const views = [section('point-where', 'Where time goes', 'along the last-arriving tile', [save], partsBar(run)),
    stallsView(run), rooflineView(run), energyView(run), configView(run)].filter(view => view !== null);
  for (const view of views) view.id = 'point-' + view.id.replace('point-', '');
  return [title, facts, ...views];
}
