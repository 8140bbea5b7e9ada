import { readFileSync } from 'node:fs';

/** A testable line of the interface: a table's row, an item of a list, or an endpoint. */
export interface Row {
  /** Section and leading cells, or `rule N`, or the heading. The title of its test begins with `interface` and this id. */
  id: string;
  section: string;
  text: string;
}

const first = 2;
const last = 8;

const plain = (cell: string): string => cell.replaceAll('`', '').trim();
const cellsOf = (line: string): string[] => line.split('|').slice(1, -1).map(plain);

/** Returns the smallest number of leading cells that identifies each row of a table. */
function keyWidth(rows: readonly string[][]): number {
  const widest = rows[0]?.length ?? 1;
  for (let width = 1; width < widest; width += 1) {
    const keys = new Set(rows.map((cells) => cells.slice(0, width).join(' / ')));
    if (keys.size === rows.length) return width;
  }
  return widest;
}

function rowsOfTable(section: string, lines: readonly string[]): Row[] {
  const rows = lines.slice(2).map(cellsOf);
  const width = keyWidth(rows);
  return rows.map((cells) => ({
    id: `${section} ${cells.slice(0, width).join(' / ')}`,
    section,
    text: cells.slice(width).filter(Boolean).join(' · '),
  }));
}

function rowsOfSection(section: string, lines: readonly string[]): Row[] {
  const rows: Row[] = [];
  let table: string[] = [];
  let rules = 0;
  for (const line of [...lines, '']) {
    if (line.startsWith('|')) table.push(line);
    else if (table.length > 0) {
      rows.push(...rowsOfTable(section, table));
      table = [];
    }
    const [, event] = /^The event `(.+)` is planned and is not sent\./.exec(line) ?? [];
    if (event) rows.push({ id: `${section} ${event}`, section, text: plain(line) });
    const [, rule] = /^(?:\d+\.|-) (.+)$/.exec(line) ?? [];
    if (rule) {
      rules += 1;
      rows.push({ id: `${section} rule ${rules}`, section, text: plain(rule) });
    }
  }
  return rows;
}

/** Reads every testable line of sections 2 to 8, and the event that must not be sent. */
export function interfaceRows(): Row[] {
  const text = readFileSync(new URL('../../docs/interface-0.8.0.md', import.meta.url), 'utf8');
  const sections: { number: string; lines: string[] }[] = [];
  const headings = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, number] = /^#{2,3} (\d+(?:\.\d+)?)\.? /.exec(line) ?? [];
    if (number) {
      sections.push({ number, lines: [] });
      // An endpoint or a way to authenticate. Its heading is the rule.
      if (/^[45]\.\d/.test(number)) headings.set(number, plain(line.replace(/^#+ [\d.]+ /, '')));
    } else sections.at(-1)?.lines.push(line);
  }
  return sections
    .filter(({ number }) => Number.parseInt(number, 10) >= first && Number.parseInt(number, 10) <= last)
    .flatMap(({ number, lines }) => {
      const heading = headings.get(number);
      const own: Row[] = heading ? [{ id: `${number} ${heading}`, section: number, text: '' }] : [];
      return [...own, ...rowsOfSection(number, lines)];
    });
}
