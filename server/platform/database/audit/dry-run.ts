import type { Actor } from './audit-entry.ts';

/** Thrown by `endDryRun`. The API answers it as a success. */
export class DryRunEnd extends Error {
  /** Whether the call would change something. */
  readonly changes: boolean;
  constructor(changes: boolean) {
    super('The dry run ended before the first write');
    this.changes = changes;
  }
}

/**
 * Ends a dry run where all checks have passed. A procedure of `dryRunnable` calls it before its first write.
 * @throws DryRunEnd in a dry run
 */
export function endDryRun({ isDryRun }: Pick<Actor, 'isDryRun'>, { changes = true } = {}): void {
  if (isDryRun) throw new DryRunEnd(changes);
}
