import { deleting, type MessagePoint, pointsAt, writing } from './message-points.ts';

/** Every write of an erasure: by the operator's command first, then by the sweep's second pass. */
export const erasurePoints: readonly MessagePoint[] = pointsAt({
  user: writing('users', /"erasedAt"/),
  snapshots: writing('sessions', /"revised"/),
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
