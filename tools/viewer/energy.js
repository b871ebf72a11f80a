'use strict';
// Joules by part of the machine, and area, on machines with an energy table.

const ENERGY_COLOURS = {instructions: '--sync', integer: '--arguments', floating: '--control', matrix: '--compute',
  sram: '--host', exchange: '--exchange', host: '--tensors', external: '--arguments', leakage: '--wait', clock: '--soft'};

const WORK_NAMES = {integer: 'integer instructions', integer_multiply: 'integer multiplies', control: 'control instructions',
  memory: 'memory instructions', floating: 'floating-point instructions', integer_divides: 'integer divides',
  float_divides: 'floating-point divides, roots', activations: 'activations',
  matrix_f16: 'matrix multiply-adds, f16', matrix_f16_f32: 'matrix multiply-adds, f16 to f32',
  matrix_f32: 'matrix multiply-adds, f32', matrix_i8: 'matrix multiply-adds, int8',
  matrix_i16: 'matrix multiply-adds, int16', matrix_bf16: 'matrix multiply-adds, bf16',
  exchange_byte_micrometres: 'bytes sent \u00d7 \u00b5m of wire'};

/** 0.0032 J as "3.20 mJ"; decimal prefixes. */
function joules(value) {
  const prefixes = ['', 'm', '\u00b5', 'n', 'p'];
  let prefix = 0;
  let shown = value;
  while (shown !== 0 && shown < 0.9995 && prefix + 1 < prefixes.length) {
    shown *= 1000;
    ++prefix;
  }
  return `${shown.toPrecision(3)} ${prefixes[prefix]}J`;
}

/** Nothing for a run without joules. */
function energyView(run) {
  const {energy, time} = run.report;
  if (!energy) return null;
  const parts = Object.entries(energy.by_part).filter(([, value]) => value > 0);
  const colourOf = name => ENERGY_COLOURS[name] ?? '--soft';
  const csv = () => csvOf(['part', 'joules'], Object.entries(energy.by_part));
  const areas = Object.entries(energy.area_mm2).map(([name, mm2]) => [spoken(name), `${mm2.toFixed(1)} mm\u00b2`]);
  return section('energy', 'Energy',
    `${joules(energy.joules)} in ${seconds(time.seconds)}: ${energy.watts.toFixed(1)} W, ${scaled(energy.flops_per_joule, 'FLOP/J')}`,
    [csvButton('energy.csv', csv)],
    stackedBar(parts.map(([name, value]) => ({value, colour: colourOf(name), title: `${name}: ${joules(value)}`})), energy.joules),
    legend(parts.map(([name, value]) => ({ink: colourOf(name), name: spoken(name), value: joules(value), more: ' ' + percent(value / energy.joules)}))),
    element('div', {class: 'columns', style: {marginTop: '18px'}},
      element('div', {class: 'grow'}, element('h3', {}, 'What was done'),
        tableOf([{name: ''}, {name: '', n: true}],
          Object.entries(energy.work).filter(([, count]) => count > 0)
            .map(([name, count]) => [WORK_NAMES[name] ?? spoken(name), grouped(count)]))),
      element('div', {class: 'grow'}, element('h3', {}, 'Area of the chip'),
        tableOf([{name: ''}, {name: '', n: true}], areas))),
    element('p', {class: 'note'}, `From the machine\u2019s table (${energy.node}${energy.volts ? `, ${energy.volts.toFixed(2)} V at its clock` : ''}), whose notes name the source of each number.`));
}
