'use strict';
// Explanations of the page's words, the texts of `tessera explain`, as tooltips of headings, columns,
// rows, legends and choices.

/** Compared without case, with blanks for _ and -. */
const plainWord = text => text.toLowerCase().replaceAll('\u2019', '\'').replace(/[_-]/g, ' ').trim();

const words = {names: new Map(), lasts: new Map(), labels: new Map()};

function readWords() {
  const told = JSON.parse(document.getElementById('words').textContent);
  for (const [name, text] of told.words ?? []) {
    const entry = {name, text};
    const add = (map, key) => map.set(key, [...(map.get(key) ?? []), entry]);
    add(words.names, name);
    if (name.includes('.')) add(words.lasts, name.split('.').at(-1));
  }
  words.labels = new Map(Object.entries(told.labels ?? {}));
}

// Sections of report.json whose words a page section uses first.
const WORD_SECTIONS = {contexts: 'stalls', where: 'phase', memory: 'memory', energy: 'energy',
  exchange: 'traffic', training: 'results', config: ''};

/** The meanings of a text: those of its section first; a config key has one by its path. */
function meaningsOf(text, section = '') {
  const wanted = plainWord(text.replace(/\[\d+\]/g, '[]'));
  const direct = [wanted, `machine.${wanted}`].flatMap(name => words.names.get(name) ?? []);
  const label = words.names.get(words.labels.get(wanted)) ?? [];
  const parts = wanted.split('.');
  const lasts = words.lasts.get(parts.at(-1)) ?? [];
  const within = WORD_SECTIONS[section] ? lasts.filter(each => each.name.startsWith(WORD_SECTIONS[section] + '.')) : [];
  const sameFirst = lasts.filter(each => each.name.startsWith(parts[0] + '.') || each.name.startsWith(`workload.${parts[0]}.`));
  const parents = [...words.names.entries()].filter(([name]) => name.includes('.') && wanted.startsWith(name + '.'));
  return [within, direct, label, parts.length > 1 ? sameFirst : [], lasts, parents.flatMap(([, found]) => found)]
    .find(found => found.length > 0) ?? [];
}

function meaningOf(text, section) {
  return meaningsOf(text, section).map(each => `${each.name}: ${each.text}`).join('\n');
}

/** The text that an element begins with; numbers follow it or are in elements of their own. */
const ownText = node => [...node.childNodes].find(child => child.nodeType === Node.TEXT_NODE)?.data.trim() ?? '';

/** The word itself, or without its numbers, or behind its colon: "Tile 3", "Memory: code". */
const spellings = text => [text, text.replace(/\d[\d,.]*/g, '').replace(/ +/g, ' '), text.split(': ').at(-1)];

const WORDS = 'th, h2, h3, .pill, .legend > span, option, td.path, ' +
  ['achieved', 'tiles', 'energy', 'compare', 'training'].map(id => `#${id} td:first-child`).join(', ');

function entitle(root) {
  for (const node of root.querySelectorAll(WORDS)) {
    if (node.title || node.querySelector('[title]')) continue;
    const section = node.closest('section')?.id.replace('point-', '');
    const meaning = spellings(ownText(node)).map(text => text && meaningOf(text, section)).find(Boolean);
    if (meaning) node.title = meaning;
  }
}

/** Gives tooltips to everything put into `root` from now on. */
function watchWords(root) {
  readWords();
  entitle(root);
  new MutationObserver(() => entitle(root)).observe(root, {childList: true, subtree: true});
}
