const longestLine = 118;

/** Splits a text into words. Inline code and links are one word each. */
const wordsOf = (text: string): string[] => text.match(/(?:`[^`]*`|\[[^\]]*\]\([^)\s]*\)|\S)+/g) ?? [];

const endsSentence = (word: string, next: string): boolean =>
  /[.?!][*)"]*$/.test(word) && !/^\d+\.$/.test(word) && /^[*("]*[A-Z0-9`[<]/.test(next);

/** Rates a word as the end of a line: higher after a clause, and higher late in the line. */
function rankOf(word: string, length: number): number {
  if (/[;:]$/.test(word)) return length + 70;
  return /,$/.test(word) ? length + 45 : length;
}

/** Returns how many words fit into one line. The line ends after a clause if possible. */
function countOfLine(words: readonly string[], room: number): number {
  let length = -1;
  let best = { count: 1, rank: 0 };
  for (const [index, word] of words.entries()) {
    length += word.length + 1;
    if (length > room) return best.count;
    const rank = rankOf(word, length);
    if (rank >= best.rank) best = { count: index + 1, rank };
  }
  return words.length;
}

/** Formats generated prose with one sentence per line, and breaks long lines. `indent` is for later lines. */
export function proseLines(text: string, indent = ''): string {
  const lines: string[] = [];
  let sentence: string[] = [];
  const words = wordsOf(text);
  for (const [index, word] of words.entries()) {
    sentence.push(word);
    const next = words[index + 1];
    if (next !== undefined && !endsSentence(word, next)) continue;
    while (sentence.length > 0)
      lines.push(sentence.splice(0, countOfLine(sentence, longestLine - indent.length)).join(' '));
    sentence = [];
  }
  return lines.join(`\n${indent}`);
}
