const wordPattern = /[\p{L}\p{N}_]+/gu;

/** Words of a text in lower case: `invalid_grant` is one, and its parts are two more. */
function wordsOf(text) {
  const whole = text.toLowerCase().match(wordPattern) ?? [];
  return whole.flatMap((word) => (word.includes('_') ? [word, ...word.split('_')] : [word]));
}

/**
 * The index that the search of the site reads, as JSON: `pages` with address and title, `sections` with page, anchor and
 * heading, and for each word the sections that have it, their numbers in base 36.
 */
export function searchIndex(built) {
  const pages = [];
  const sections = [];
  const words = new Map();
  for (const { name, label, area, headings, sections: texts } of built) {
    const page = pages.push([name === 'README' ? './' : name, label, area.label]) - 1;
    for (const [n, { depth, text, anchor }] of headings.entries()) {
      const section = sections.push([page, depth === 1 ? '' : anchor, text]) - 1;
      for (const word of new Set(wordsOf(`${label} ${text} ${texts[n] ?? ''}`))) {
        if (word.length < 2) continue;
        const found = words.get(word) ?? [];
        words.set(word, found);
        found.push(section.toString(36));
      }
    }
  }
  const sorted = [...words].sort(([a], [b]) => (a < b ? -1 : 1)).map(([word, found]) => [word, found.join(' ')]);
  return JSON.stringify({ pages, sections, words: Object.fromEntries(sorted) });
}
