import { median } from '../statistics.ts';
import type { Pass } from './passes.ts';

export type FairnessId = 'alone' | 'spend' | 'requests' | 'spend-flood' | 'requests-flood';

/** A line of the table. */
export interface FairnessRow {
  id: FairnessId;
  title: string;
  /** The quiet partner's exchanges per second, and milliseconds: medians over all turns. */
  rate: number;
  p50: number;
  p99: number;
  /** The values of each turn in order, which show how reliable the median is. */
  p99s: readonly number[];
  /** The noisy partner's answers per second over all turns. */
  noisy: { granted: number; refused: number } | undefined;
}

export function rowOf(
  { id, title }: Pick<FairnessRow, 'id' | 'title'>,
  passes: readonly Pass[],
): FairnessRow {
  const quiet = passes.map((pass) => pass.quiet);
  const answers = passes.flatMap(({ noisy }) => noisy ?? []);
  const p99s = quiet.map(({ p99 }) => p99);
  const sum = (key: 'granted' | 'refused' | 'seconds') => answers.reduce((all, each) => all + each[key], 0);
  return {
    id,
    title,
    rate: median(quiet.map(({ statuses, seconds }) => (statuses['200'] ?? 0) / seconds)),
    p50: median(quiet.map(({ p50 }) => p50)),
    p99: median(p99s),
    p99s,
    noisy:
      answers.length > 0
        ? { granted: sum('granted') / sum('seconds'), refused: sum('refused') / sum('seconds') }
        : undefined,
  };
}
