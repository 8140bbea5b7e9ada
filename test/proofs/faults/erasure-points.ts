import { deleting, type MessagePoint, pointsAt, writing } from './message-points.ts';

/** The points of every write of an erasure: first by the operator's command, then by the second pass of the sweep. */
export const erasurePoints: readonly MessagePoint[] = pointsAt({
  user: writing('users', /"erasedAt"/),
  snapshots: writing('sessions', /"snapshot_invalidated"/),
  'snapshots done': writing('users', /"\$unset":\{"invalidateAt"/),
  addresses: writing('requestLog', /"\$unset":\{"address"/),
  revocations: writing('revocations'),
  grants: writing('ledger', /"\$unset"/),
  deliveries: writing('deliveries', /"\$unset":\{"sub"/),
  events: writing('events', /"\$unset":\{"sub"/),
  enrollments: deleting('enrollments'),
  'audit entry': writing('auditLog'),
  'audit entry copied': writing('users', /\$\$REMOVE/),
  links: writing('sessions', /"\$unset":\{"userId"/),
  record: deleting('users'),
});
