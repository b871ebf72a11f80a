'use strict';
// Numbers as people read them.

const grouped = value => Math.round(value).toLocaleString('en-US');

/** "1 superstep", "2,000 supersteps" */
const counted = (value, noun) => `${grouped(value)} ${noun}${value === 1 ? '' : 's'}`;

/** 3.2e12 with unit FLOP/s as "3.20 TFLOP/s"; decimal prefixes. */
function scaled(value, unit = '') {
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
  let prefix = 0;
  let shown = Math.abs(value);
  while (shown >= 999.5 && prefix + 1 < prefixes.length) {
    shown /= 1000;
    ++prefix;
  }
  const digits = prefix === 0 ? (Number.isInteger(shown) ? String(shown) : shown.toPrecision(3))
                              : shown.toPrecision(3);
  return `${value < 0 ? '\u2212' : ''}${digits} ${prefixes[prefix]}${unit}`.trimEnd();
}

/** Bytes of SRAM, in binary units. */
function kibibytes(bytes) {
  if (bytes < 1024) return `${grouped(bytes)} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(bytes < 102400 ? 1 : 0)} KiB`;
  return `${(bytes / 1048576).toFixed(bytes < 104857600 ? 1 : 0)} MiB`;
}

function seconds(value) {
  if (value >= 1) return `${value.toFixed(3)} s`;
  if (value >= 1e-3) return `${(value * 1e3).toFixed(3)} ms`;
  return `${(value * 1e6).toFixed(3)} \u00b5s`;
}

function percent(share) {
  const value = 100 * share;
  return `${value !== 0 && Math.abs(value) < 0.1 ? value.toPrecision(1) : value.toFixed(1)} %`;
}

/** The difference of `now` from `before`: "+4.2 %". */
function change(before, now) {
  if (before === now) return '=';
  if (before === 0) return 'new';
  if (now / before >= 10) return `${(now / before).toFixed(1)} x`;
  const difference = 100 * (now / before - 1);
  return (difference >= 0 ? '+' : '\u2212') + Math.abs(difference).toFixed(1) + ' %';
}

/** A row of a CSV file. */
function csvRow(cells) {
  return cells.map(cell => {
    const text = String(cell);
    return /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  }).join(',') + '\n';
}

/** A key as words: max_error as "max error". */
const spoken = name => name.replaceAll('_', ' ');
