'use strict';
// Elements, tables and the tip. Texts of a run only ever become text nodes.

/** element('td', {class: 'n'}, 'text', child, ...); a function among the attributes is a listener. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (name === 'style') Object.assign(made.style, value);
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter(child => child !== null && child !== undefined));
  return made;
}

/** A table from columns [{name, n: right-aligned, title}] and rows of cells (text or element). */
function tableOf(columns, rows, rowAttributes = () => ({})) {
  const cell = (tag, column, content) =>
    element(tag, {class: column.class ?? (column.n ? 'n' : null), title: column.title}, content);
  return element('table', {},
    element('thead', {}, element('tr', {}, columns.map(column =>
      element('th', {class: column.n ? 'n' : null, title: column.title}, column.name)))),
    element('tbody', {}, rows.map((row, at) => element('tr', rowAttributes(at),
      row.map((content, i) => cell('td', {...columns[i], title: null}, content))))));
}

/** A section with its heading; `tools` are at the right of it. */
function section(id, title, note, tools, ...content) {
  return element('section', {id, 'aria-label': title},
    element('div', {class: 'head'}, element('h2', {}, title),
      element('span', {class: 'fill'}, note ?? ''), ...(tools ?? [])),
    ...content);
}

/** A horizontal bar filled to `share` (0 to 1) in the colour of a CSS variable. */
function meter(share, colour = '--compute') {
  const width = Math.max(0, Math.min(1, share)) * 100;
  return element('div', {class: 'meter'},
    element('i', {style: {width: width + '%', background: `var(${colour})`}}));
}

/** Values stacked in one bar; pieces [{value, colour, title}], together `total` wide. */
function stackedBar(pieces, total, kind = '') {
  return element('div', {class: 'stack ' + kind},
    pieces.filter(piece => piece.value > 0).map(piece => element('i', {
      title: piece.title,
      style: {width: 100 * piece.value / total + '%', background: `var(${piece.colour})`}})));
}

/** A legend; entries [{ink, name, value, more}], where all but the name may be missing. */
function legend(entries, attributes = {}) {
  return element('div', {class: 'legend', ...attributes}, entries.filter(Boolean).map(({ink, name, value, more}) => element('span', {},
    ink ? element('i', {style: {background: ink.startsWith('--') ? `var(${ink})` : ink}}) : null,
    value === undefined ? name : name + ' ', value === undefined ? null : element('b', {}, value), more)));
}

/** [[what, value]] as a legend. */
const factLine = (facts, attributes) => legend(facts.map(([name, value]) => ({name, value})), attributes);

/** A canvas that `draw(canvas)` fills while it is on the page, now and after each of these changes. */
function canvasOf(label, draw, ...kinds) {
  const canvas = element('canvas', {'aria-label': label});
  drawn(() => { if (canvas.isConnected) draw(canvas); }, ...kinds);
  return canvas;
}

/** A table whose rows beyond `few` are folded away. */
function foldedTable(columns, rows, few, noun, rowAttributes) {
  const more = rows.length <= few ? null : element('details', {},
    element('summary', {}, `${counted(rows.length - few, noun)} more`), tableOf(columns, rows.slice(few), rowAttributes));
  return [tableOf(columns, rows.slice(0, few), rowAttributes), more];
}

const tip = {
  /** Shows a heading and rows [[what, value]] beside the pointer. */
  show(event, heading, rows) {
    const box = document.getElementById('tip');
    box.replaceChildren(element('h3', {}, heading), element('table', {}, rows.map(([what, value]) =>
      element('tr', {}, element('td', {}, what), element('td', {class: 'n'}, value)))));
    box.hidden = false;
    const {width, height} = box.getBoundingClientRect();
    const right = event.clientX + 16 + width > innerWidth;
    box.style.left = (right ? event.clientX - width - 12 : event.clientX + 16) + 'px';
    box.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - height - 8)) + 'px';
  },
  hide() { document.getElementById('tip').hidden = true; },
};

/** Hands `text` to the user as a file. */
function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], {type: 'text/csv'}));
  element('a', {href: address, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** A heading and rows of cells as CSV. */
const csvOf = (heading, rows) => [heading, ...rows].map(csvRow).join('');

/** A button that saves a table as CSV, which is made when the button is pressed. */
function csvButton(name, text) {
  return element('button', {title: 'Save as ' + name, click: () => download(name, text())}, 'CSV');
}
