'use strict';
// Spikes of a sample: neurons over time steps, one band per layer.

const RASTER_INKS = ['--compute', '--exchange', '--host', '--link', '--wait'];

/** Bands of the layers from the bottom up, as shares of the height; each is high enough to be seen. */
function rasterBands(layers) {
  const all = layers.reduce((sum, layer) => sum + layer.neurons, 0);
  const shares = layers.map(layer => Math.max(layer.neurons / all, 0.12));
  const sum = shares.reduce((a, b) => a + b, 0);
  let low = 0;
  return new Map(layers.map((layer, i) => {
    const band = {...layer, low, high: low + shares[i] / sum, ink: RASTER_INKS[i % RASTER_INKS.length],
      name: layer.layer === 0 ? 'inputs' : `layer ${layer.layer - 1}`};
    low = band.high;
    return [layer.layer, band];
  }));
}

function drawRaster(canvas, {table, facts, sample}) {
  const {context, width, height} = prepare(canvas, 420);
  const box = {x: 96, y: 8, width: width - 104, height: height - 40};
  const bands = rasterBands(facts.layers);
  const x = step => box.x + box.width * (step + 0.5) / facts.time_steps;
  const y = share => box.y + box.height * (1 - share);
  for (const band of bands.values()) {
    context.fillStyle = colour('--grid');
    context.fillRect(box.x, y(band.high), box.width, 1);
    context.fillStyle = colour('--soft');
    context.textAlign = 'right';
    context.fillText(band.name, box.x - 8, y((band.low + band.high) / 2) - 7);
    context.fillText(grouped(band.neurons), box.x - 8, y((band.low + band.high) / 2) + 8);
  }
  context.textAlign = 'center';
  for (const step of ticks(0, facts.time_steps - 1, 8)) context.fillText(grouped(step), x(step), height - 22);
  context.fillText('time step', box.x + box.width / 2, height - 6);
  context.textAlign = 'left';
  const [samples, layers, steps, neurons] = ['sample', 'layer', 'step', 'neuron'].map(name => table.of(name));
  const wide = Math.max(1.5, Math.min(5, 0.7 * box.width / facts.time_steps));
  for (let i = 0; i < table.rows; ++i) {
    if (samples[i] !== sample) continue;
    const band = bands.get(layers[i]);
    const tall = Math.max(1.5, Math.min(5, 0.8 * box.height * (band.high - band.low) / band.neurons));
    context.fillStyle = colour(band.ink);
    context.fillRect(x(steps[i]) - wide / 2,
      y(band.low + (band.high - band.low) * (neurons[i] + 0.5) / band.neurons) - tall / 2, wide, tall);
  }
}

/** Nothing for a run without spikes. */
function rasterView(run) {
  const table = run.raster, facts = run.report.results?.raster;
  if (!facts || table.rows === 0) return null;
  const shown = {table, facts, sample: 0};
  const canvas = element('canvas', {'aria-label': 'Spikes by neuron and time step; the CSV holds them'});
  const draw = () => drawRaster(canvas, shown);
  drawn(draw);
  const choice = element('select', {id: 'raster-sample', 'aria-label': 'Sample',
    change: event => { shown.sample = Number(event.target.value); draw(); }},
  Array.from({length: facts.samples}, (_, i) => element('option', {value: i}, `sample ${i}`)));
  const told = `${counted(facts.spikes, 'spike')} of ${facts.samples} of the last batch's ${counted(facts.of_samples, 'sample')}` +
    (facts.left_out > 0 ? `; ${grouped(facts.left_out)} spikes left out` : '');
  return section('raster', 'Spikes', told, [choice, csvButton('raster.csv', () => table.csv())], element('div', {}, canvas));
}
