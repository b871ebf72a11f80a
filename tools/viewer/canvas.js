'use strict';
// Drawing: sharp canvases, colours of the theme, axes.

/** Sizes a canvas to its place on the page and returns {context, width, height} in CSS pixels. */
function prepare(canvas, height) {
  const width = Math.max(80, Math.floor(canvas.parentElement.clientWidth));
  const scale = devicePixelRatio || 1;
  canvas.style.height = height + 'px';
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = '12px system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif';
  context.textBaseline = 'middle';
  return {context, width, height};
}

let themeColours = new Map();
/** The value of a CSS variable of the theme. */
function colour(name) {
  if (!themeColours.has(name)) {
    themeColours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  }
  return themeColours.get(name);
}

/** #rrggbb as [r, g, b]. */
const channels = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));

// Viridis at nine points (van der Walt and Smith): even steps of lightness, safe for all eyes.
const VIRIDIS = ['#440154', '#472d7b', '#3b528b', '#2c728e', '#21918c', '#28ae80', '#5ec962',
                 '#addc30', '#fde725'].map(channels);
/** [r, g, b] of a share from 0 to 1. */
function heat(share) {
  const at = Math.max(0, Math.min(1, share)) * (VIRIDIS.length - 1);
  const i = Math.min(VIRIDIS.length - 2, Math.floor(at));
  return VIRIDIS[i].map((low, c) => Math.round(low + (at - i) * (VIRIDIS[i + 1][c] - low)));
}
const rgb = ([r, g, b]) => `rgb(${r},${g},${b})`;

/** Round numbers from `low` to `high`, about `wanted` of them. */
function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find(each => each * power >= rough) * power;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(at);
  return found;
}

/** Text with an ellipsis where it is wider than `width`; nothing if none of it fits. */
function fittedText(context, text, x, y, width) {
  if (width < 14) return;
  let shown = text;
  while (shown.length > 1 && context.measureText(shown).width > width) {
    shown = shown.slice(0, Math.max(1, shown.length - 2 - (shown.endsWith('\u2026') ? 1 : 0))) + '\u2026';
    if (shown === '\u2026' || shown.length < 3) return;
  }
  context.fillText(shown, x, y);
}

/** Text that reads upwards from (x, y). */
function upwardText(context, text, x, y) {
  context.save();
  context.translate(x, y);
  context.rotate(-Math.PI / 2);
  context.fillText(text, 0, 0);
  context.restore();
}

/** Draws [[middle, text]] side by side; leaves out texts closer than `gap` pixels to the one before. */
function apartTexts(context, texts, y, gap) {
  let end = -Infinity;
  for (const [middle, text] of texts) {
    const half = context.measureText(text).width / 2;
    if (middle - half < end + gap) continue;
    end = middle + half;
    context.fillText(text, middle, y);
  }
}

/** Paints shares of a grid through `paint(x, y) -> [r, g, b]`, one pixel each, onto `box`. */
function paintGrid(context, columns, rows, box, paint) {
  const image = new ImageData(columns, rows);
  for (let y = 0, at = 0; y < rows; ++y) {
    for (let x = 0; x < columns; ++x, at += 4) {
      const found = paint(x, y);
      if (!found) continue;
      [image.data[at], image.data[at + 1], image.data[at + 2]] = found;
      image.data[at + 3] = 255;
    }
  }
  const small = new OffscreenCanvas(columns, rows);
  small.getContext('2d').putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, box.x, box.y, box.width, box.height);
}

/** A strip of the heat scale with the numbers at its ends. */
function heatStrip(context, x, y, width, low, high) {
  for (let i = 0; i < width; ++i) {
    context.fillStyle = rgb(heat(i / (width - 1)));
    context.fillRect(x + i, y, 1, 8);
  }
  context.fillStyle = colour('--soft');
  context.textAlign = 'left';
  context.fillText(low, x, y + 18);
  context.textAlign = 'right';
  context.fillText(high, x + width, y + 18);
  context.textAlign = 'left';
}
