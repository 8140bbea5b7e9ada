import type { Row } from './rounds.ts';

export const names = {
  ours: 'SVC Gateway',
  oursTwice: 'SVC Gateway, 2 processes',
  oidcMongo: 'oidc-provider, MongoDB',
  oidcMemory: 'oidc-provider, memory',
  oauth2: 'oauth2-server, MongoDB',
} as const;

/** A ratio that one server process of ours shall reach beside a peer in the same run. */
interface Target {
  row: string;
  peer: string;
  measure: 'rate' | 'p99';
  /** At least for a rate, at most for a p99. */
  bound: number;
}

const rate = (row: string, peer: string, bound: number): Target => ({ row, peer, measure: 'rate', bound });
const p99 = (row: string): Target => ({ row, peer: names.oidcMongo, measure: 'p99', bound: 1 });

const targets: readonly Target[] = [
  rate('hot-1', names.oidcMongo, 0.8),
  rate('hot-16', names.oidcMongo, 2),
  rate('hot-64', names.oidcMongo, 4),
  rate('hot-128', names.oidcMongo, 5),
  rate('crowd-64', names.oidcMongo, 3),
  rate('hot-64', names.oidcMemory, 0.8),
  rate('hot-128', names.oidcMemory, 1),
  rate('userinfo-64-cold', names.oidcMemory, 1),
  ...['hot-1', 'hot-16', 'hot-64', 'hot-128', 'crowd-64'].map(p99),
];

export interface Verdict extends Target {
  title: string;
  ratio: number;
  met: boolean;
}

/** The targets that this run can tell about. */
export function judgeTargets(rows: readonly Row[]): Verdict[] {
  return targets.flatMap((target) => {
    const row = rows.find(({ id }) => id === target.row);
    const ours = row?.results.get(names.ours)?.[target.measure];
    const theirs = row?.results.get(target.peer)?.[target.measure];
    if (!row || ours === undefined || theirs === undefined) return [];
    const ratio = ours / theirs;
    const met = target.measure === 'rate' ? ratio >= target.bound : ratio <= target.bound;
    return [{ ...target, title: row.title, ratio, met }];
  });
}
