'use strict';
// Loss and accuracy of a training, and what its parts take of memory.

function drawTraining(canvas, {loss, accuracy}) {
  const {context, width, height} = prepare(canvas, 240);
  const box = {x: 52, y: 10, width: width - 104, height: height - 44};
  const top = Math.max(1e-9, ...loss.filter(Number.isFinite));
  const x = i => box.x + box.width * (loss.length > 1 ? i / (loss.length - 1) : 0.5);
  const y = share => box.y + box.height * (1 - share);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    context.fillStyle = colour('--grid');
    context.fillRect(box.x, y(share), box.width, 1);
    context.fillStyle = colour('--soft');
    context.textAlign = 'right';
    context.fillText((top * share).toPrecision(3), box.x - 6, y(share));
    context.textAlign = 'left';
    context.fillText(percent(share), box.x + box.width + 6, y(share));
  }
  context.fillText('step 1', box.x, height - 14);
  context.textAlign = 'right';
  context.fillText(`step ${grouped(loss.length)}`, box.x + box.width, height - 14);
  context.textAlign = 'left';
  context.lineWidth = 1.5;
  const line = (values, most, ink) => {
    context.strokeStyle = colour(ink);
    context.beginPath();
    let joined = false;  // what is no number is a gap
    values.forEach((value, i) => {
      if (Number.isFinite(value)) joined ? context.lineTo(x(i), y(value / most)) : context.moveTo(x(i), y(value / most));
      joined = Number.isFinite(value);
    });
    context.stroke();
  };
  line(loss, top, '--compute');
  line(accuracy, 1, '--sync');
}

/** Nothing for a run that trains nothing. */
function trainingView(run) {
  const {results, workload} = run.report;
  if (!results?.loss?.length) return null;
  const curves = {loss: results.loss, accuracy: results.accuracy ?? []};
  const canvas = element('canvas', {'aria-label': 'Loss and accuracy of each step; the CSV holds the numbers'});
  drawn(() => drawTraining(canvas, curves));
  const csv = () => csvRow(['step', 'loss', 'accuracy']) +
    curves.loss.map((value, i) => csvRow([i + 1, value ?? '', curves.accuracy[i] ?? ''])).join('');
  const key = (name, ink) => element('span', {}, element('i', {style: {background: `var(${ink})`}}), name);
  const told = `loss ${curves.loss[0]?.toPrecision(4)} to ${curves.loss.at(-1)?.toPrecision(4)} in ${counted(curves.loss.length, 'step')}` +
    (results.test_accuracy === undefined ? '' : `; ${percent(results.test_accuracy)} of test samples right`);
  const parts = Object.entries(workload?.memory ?? {});
  return section('training', 'Training', told, [csvButton('loss.csv', csv)], element('div', {}, canvas),
    element('div', {class: 'legend'}, key('loss (mean of a batch)', '--compute'), key('accuracy (share of a batch)', '--sync')),
    results.dropped ? element('p', {}, results.dropped.join('; ')) : null,
    parts.length === 0 ? null : tableOf([{name: 'memory of'}, {name: 'all tiles', n: true}, {name: 'fullest tile', n: true}],
      parts.map(([name, each]) => [spoken(name), kibibytes(each.total_bytes), kibibytes(each.max_tile_bytes)])));
}
