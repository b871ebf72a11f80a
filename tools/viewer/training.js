'use strict';
// Loss and accuracy of a training, and memory of its parts.

/** Up to this many steps, each one has a mark. */
const FEW_STEPS = 40;
const anyNumber = values => values.some(Number.isFinite);

function drawTraining(canvas, {loss, accuracy}) {
  const {context, width, height} = prepare(canvas, 240);
  const box = {x: 52, y: 10, width: width - 112, height: height - 44};
  const top = Math.max(1e-9, ...loss.filter(Number.isFinite));
  const x = i => box.x + box.width * (loss.length > 1 ? i / (loss.length - 1) : 0.5);
  const y = share => box.y + box.height * (1 - share);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    context.fillStyle = colour('--grid');
    context.fillRect(box.x, y(share), box.width, 1);
    context.fillStyle = colour('--soft');
    context.textAlign = 'right';
    if (anyNumber(loss)) context.fillText((top * share).toPrecision(3), box.x - 6, y(share));
    context.textAlign = 'left';
    if (anyNumber(accuracy)) context.fillText(percent(share), box.x + box.width + 6, y(share));
  }
  if (loss.length === 1) context.textAlign = 'center';
  context.fillText('step 1', x(0), height - 14);
  context.textAlign = 'right';
  if (loss.length > 1) context.fillText(`step ${grouped(loss.length)}`, box.x + box.width, height - 14);
  context.textAlign = 'left';
  context.lineWidth = 1.5;
  const line = (values, most, ink) => {
    context.strokeStyle = colour(ink);
    context.beginPath();
    let joined = false;  // a value that is not finite is a gap
    values.forEach((value, i) => {
      if (Number.isFinite(value)) joined ? context.lineTo(x(i), y(value / most)) : context.moveTo(x(i), y(value / most));
      joined = Number.isFinite(value);
    });
    context.stroke();
    if (values.length > FEW_STEPS) return;
    context.fillStyle = colour(ink);
    values.forEach((value, i) => { if (Number.isFinite(value)) context.fillRect(x(i) - 3, y(value / most) - 3, 6, 6); });
  };
  line(loss, top, '--compute');
  line(accuracy, 1, '--sync');
}

/** Nothing for a run that trains nothing. */
function trainingView(run) {
  const {results, workload} = run.report;
  if (!results?.loss?.length) return null;
  const curves = {loss: results.loss, accuracy: results.accuracy ?? []};
  const canvas = canvasOf('Loss and accuracy of each step; the CSV holds the numbers', own => drawTraining(own, curves));
  const csv = () => csvOf(['step', 'loss', 'accuracy'], curves.loss.map((value, i) => [i + 1, value ?? '', curves.accuracy[i] ?? '']));
  const last = curves.loss.length > 1 ? ` to ${curves.loss.at(-1)?.toPrecision(4)}` : '';
  const told = `loss ${curves.loss[0]?.toPrecision(4)}${last} in ${counted(curves.loss.length, 'step')}` +
    (results.test_accuracy === undefined ? '' : `; ${percent(results.test_accuracy)} of test samples right`);
  const parts = Object.entries(workload?.memory ?? {});
  return section('training', 'Training', told, [csvButton('loss.csv', csv)], element('div', {}, canvas),
    legend([{name: 'loss (mean of a batch)', ink: '--compute'},
      anyNumber(curves.accuracy) ? {name: 'accuracy (share of a batch)', ink: '--sync'} : null]),
    results.dropped ? element('p', {}, results.dropped.join('; ')) : null,
    parts.length === 0 ? null : tableOf([{name: 'memory of'}, {name: 'all tiles', n: true}, {name: 'fullest tile', n: true}],
      parts.map(([name, each]) => [spoken(name), kibibytes(each.total_bytes), kibibytes(each.max_tile_bytes)])));
}
