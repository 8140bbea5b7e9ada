import { hash } from 'node:crypto';

/**
 * Returns the `count` processes with the highest hashes of their id and `subject` (rendezvous hashing). Processes that know the
 * same `ids` choose the same ones. If a process leaves, only its own subjects move to other processes.
 */
export function highestHashes(ids: readonly string[], subject: string, count: number): string[] {
  const weighed = ids.map((id) => ({ id, weight: hash('sha256', `${id} ${subject}`, 'hex') }));
  weighed.sort((a, b) => (a.weight < b.weight ? 1 : -1));
  return weighed.slice(0, count).map(({ id }) => id);
}
