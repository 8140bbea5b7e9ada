import type { ErrorCode } from '../../../contracts/errors.ts';

/** Who does what: the part of an audit entry that is known before anything is done. */
export interface Actor {
  operatorId: string;
  operatorName: string;
  /** The procedure, for instance `partners.suspend`. */
  action: string;
  requestId: string;
  address: string;
  /** Of a member, who is no operator. */
  partnerId?: string;
}

/** How a call of an operator ended. `repeated`: it had been made before, and moved nothing now. */
export type CallResult = { outcome: 'done'; repeated: boolean } | { outcome: 'refused'; error: ErrorCode };

/** One change by an operator, written into the changed document with the change. Holds no secrets. */
export interface AuditEntry extends Actor {
  /** Identifies the entry: copying it twice is copying it once. */
  id: string;
  at: Date;
  /** Identifier of what was changed. */
  target: string;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
}

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
