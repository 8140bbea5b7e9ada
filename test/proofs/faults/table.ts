import type { Part } from './parts.ts';
import type { Row } from './suite.ts';

/** Returns the number of faults in a row. */
export const failuresOf = ({ part, figures, other }: Row): number =>
  Object.keys(part.failures).reduce((sum, name) => sum + (figures[name] ?? 0), other.length);

function line(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
    .join('  ')
    .trimEnd();
}

function total(rows: readonly Row[], part: Part): Row {
  const figures: Record<string, number> = {};
  for (const [name, value] of rows.flatMap((row) => Object.entries(row.figures)))
    figures[name] = (figures[name] ?? 0) + value;
  const runs = rows.reduce((sum, row) => sum + row.runs, 0);
  return { part, point: 'all', runs, figures, other: rows.flatMap(({ other }) => other) };
}

function tableOf(part: Part, rows: readonly Row[]): string {
  const { title, failures, figures: told } = part;
  const names = [...Object.keys(failures), ...Object.keys(told)];
  const head = ['point', 'runs', ...Object.values(failures), 'other', ...Object.values(told)];
  const otherColumn = 2 + Object.keys(failures).length;
  const body = [...rows, total(rows, part)].map(({ point, runs, figures, other }) => {
    const cells = names.map((name) => String(figures[name] ?? 0));
    return [point, String(runs), ...cells].toSpliced(otherColumn, 0, String(other.length));
  });
  const widths = head.map((_, column) =>
    Math.max(...[head, ...body].map((cells) => cells[column]?.length ?? 0)),
  );
  return [title, ...[head, ...body].map((cells) => line(cells, widths))].join('\n');
}

/** Renders the rows as tables, and below them the other faults. */
export function report(rows: readonly Row[]): string {
  const tables = [...new Set(rows.map(({ part }) => part))].map((part) =>
    tableOf(
      part,
      rows.filter((row) => row.part === part),
    ),
  );
  const words = rows.flatMap(({ point, other }) => [...new Set(other)].map((each) => `${point}: ${each}`));
  return [...tables, ...(words.length > 0 ? [words.join('\n')] : [])].join('\n\n');
}
