import type { Row } from './suite.ts';

interface Part {
  title: string;
  /** Figures that must be nothing, and those that are told only; by their name in the findings. */
  faults: Record<string, string>;
  told: Record<string, string>;
}

const parts: Record<Row['part'], Part> = {
  money: {
    title: 'Money',
    faults: { lostCents: 'lost cents', doubleDebits: 'double debits', orphanTokens: 'orphan tokens' },
    told: { lostAnswers: 'lost answers' },
  },
  webhooks: {
    title: 'Webhooks',
    faults: { lost: 'lost', altered: 'altered', invented: 'invented' },
    told: { events: 'events', repeated: 'repeated' },
  },
};

/** How much is wrong in a row. */
export const faultsOf = ({ part, figures, other }: Row): number =>
  Object.keys(parts[part].faults).reduce((sum, name) => sum + (figures[name] ?? 0), other.length);

function line(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
    .join('  ')
    .trimEnd();
}

function tableOf(part: Row['part'], rows: readonly Row[]): string {
  const { title, faults, told } = parts[part];
  const names = [...Object.keys(faults), ...Object.keys(told)];
  const head = ['point', 'runs', ...Object.values(faults), 'other', ...Object.values(told)];
  const place = 2 + Object.keys(faults).length;
  const body = rows.map(({ point, runs, figures, other }) => {
    const cells = names.map((name) => String(figures[name] ?? 0));
    return [point, String(runs), ...cells].toSpliced(place, 0, String(other.length));
  });
  const widths = head.map((_, column) =>
    Math.max(...[head, ...body].map((cells) => cells[column]?.length ?? 0)),
  );
  return [title, ...[head, ...body].map((cells) => line(cells, widths))].join('\n');
}

/** The rows as tables, with what is wrong in words below. */
export function report(rows: readonly Row[]): string {
  const tables = (['money', 'webhooks'] as const).flatMap((part) => {
    const own = rows.filter((row) => row.part === part);
    return own.length > 0 ? [tableOf(part, own)] : [];
  });
  const words = rows.flatMap(({ point, other }) => [...new Set(other)].map((each) => `${point}: ${each}`));
  return [...tables, ...(words.length > 0 ? [words.join('\n')] : [])].join('\n\n');
}
