import type { Actor, AuditEntry } from '../admin/procedures.ts';

interface Difference {
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
}

/** The entry of one change to `target`. One request changes a record once, so both name the entry. */
export function auditEntry(
  actor: Actor,
  target: { id: string; at: number },
  difference: Difference,
): AuditEntry {
  return {
    ...actor,
    id: `${actor.requestId}:${target.id}`,
    at: new Date(target.at),
    target: target.id,
    ...difference,
  };
}
