'use strict';
// The tables of a run as sim/report/page.h writes them: a column is the zigzag differences of its
// numbers, seven bits a byte, deflated, in base64.

async function inflate(text) {
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; ++i) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function numbersOf(bytes, rows, decimals) {
  const values = new Float64Array(rows);
  const unit = 10 ** decimals;
  let at = 0;
  let sum = 0;
  for (let row = 0; row < rows; ++row) {
    let code = 0;
    let scale = 1;
    let byte;
    do {  // no shifts: they would cut at 32 bits
      byte = bytes[at++];
      code += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    sum += code % 2 === 0 ? code / 2 : -(code + 1) / 2;
    values[row] = sum / unit;
  }
  return values;
}

class Table {
  /** `packed`: {rows, columns: [{name, decimals, words?, data}]} */
  static async read(packed) {
    const table = new Table();
    table.rows = packed.rows;
    table.columns = await Promise.all(packed.columns.map(async column => ({
      name: column.name,
      decimals: column.decimals,
      words: column.words,
      values: numbersOf(await inflate(column.data), packed.rows, column.decimals),
    })));
    return table;
  }
  find(name) { return this.columns.find(column => column.name === name); }
  /** The numbers of a column. */
  of(name) { return this.find(name).values; }
  word(name, row) {
    const column = this.find(name);
    return column.words[column.values[row]];
  }
  /** A table of these rows alone, with the same columns. */
  only(rows) {
    const table = new Table();
    table.rows = rows.length;
    table.columns = this.columns.map(column =>
      ({...column, values: Float64Array.from(rows, row => column.values[row])}));
    return table;
  }
  /** The file as the run wrote it, byte for byte. */
  csv() {
    let text = csvRow(this.columns.map(column => column.name));
    for (let row = 0; row < this.rows; ++row) {
      text += csvRow(this.columns.map(column => column.words
        ? column.words[column.values[row]] : column.values[row].toFixed(column.decimals)));
    }
    return text;
  }
}

/** The largest value; arrays of 100,000 are too long for Math.max(...). */
const largestOf = values => values.reduce((most, value) => Math.max(most, value), 0);
const sumOf = values => values.reduce((sum, value) => sum + value, 0);
