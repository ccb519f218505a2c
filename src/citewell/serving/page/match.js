// Finding a quote in the pieces that a page's text comes in. Spaces, hyphens, bars between cells, the case and the form
// of signs may differ: what broke a line in the file is none of the sentence's.

const IGNORED = /[\s\u00ad\u2010-\u2015|-]/u;
const LEAST = 24; // signs of a quote's beginning that are enough to know it by

// The parts of the pieces that hold the quote: [{ piece, start, end }]. Where it stands several times, the one whose
// first piece is `nearest` (the least number). Of one that goes on over the page, what is on it.
export function find(pieces, quote, nearest = () => 0) {
  const page = folded(pieces);
  const wanted = folded([quote]).signs;
  if (!wanted) return [];
  const whole = places(page.signs, wanted);
  if (whole.length) return parts(page.from, best(whole, page.from, nearest), wanted.length);
  const begun = places(page.signs, wanted.slice(0, LEAST));
  if (wanted.length < LEAST || !begun.length) return [];
  const at = best(begun, page.from, nearest);
  let length = LEAST;
  while (length < wanted.length && page.signs[at + length] === wanted[length]) length += 1;
  return parts(page.from, at, length);
}

// Their signs that count, in one text, and of each the piece and place that it comes from.
function folded(pieces) {
  let signs = "";
  const from = [];
  pieces.forEach((text, piece) => {
    let start = 0;
    for (const sign of text) {
      const end = start + sign.length;
      if (!IGNORED.test(sign)) {
        const form = sign.normalize("NFKC").toLowerCase();
        signs += form;
        for (let i = 0; i < form.length; i += 1) from.push({ piece, start, end });
      }
      start = end;
    }
  });
  return { signs, from };
}

function places(signs, wanted) {
  const found = [];
  for (let at = signs.indexOf(wanted); at >= 0; at = signs.indexOf(wanted, at + 1)) found.push(at);
  return found;
}

const best = (found, from, nearest) => found.reduce((a, b) => (nearest(from[b].piece) < nearest(from[a].piece) ? b : a));

function parts(from, at, length) {
  const made = [];
  for (const { piece, start, end } of from.slice(at, at + length)) {
    const before = made.at(-1);
    if (before?.piece === piece) before.end = end;
    else made.push({ piece, start, end });
  }
  return made;
}
