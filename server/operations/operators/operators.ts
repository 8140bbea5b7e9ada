import { z } from 'zod';
import {
  CreateOperator,
  Identity,
  ListOperators,
  OperatorReference,
  OperatorView,
  OperatorWithToken,
  PermissionView,
} from '../../../contracts/admin/operators.ts';
import { pageFields, Total } from '../../../contracts/admin/references.ts';
import { mutation, query, router } from '../../platform/admin-api/procedures.ts';
import { permissions, type Role, scopeOf } from '../../platform/admin-api/roles.ts';
import { viewAs } from '../../platform/admin-api/view.ts';
import type { Clock } from '../../platform/clock.ts';
import { auditEntry } from '../../platform/database/audit/audit-entry.ts';
import { createAuditedChange } from '../../platform/database/audit/audited-change.ts';
import { ApiError } from '../../platform/errors.ts';
import { randomId, randomSecret, sha256 } from '../../platform/ids.ts';
import { firstOperator } from './authentication.ts';
import { type Operator, type OperatorStore, statusOf, withStatus } from './operator-store.ts';

const operatorMutation = mutation({ target: 'operatorId', record: 'several' });

/** Returns what each role may do with a procedure: `yes`, `no`, or the scope to which the role is restricted. */
function viewPermission(path: string): PermissionView {
  const permissionOf = (role: Role) => {
    const scope = scopeOf(role, path) ?? 'no';
    return scope === 'any' ? 'yes' : scope;
  };
  return {
    procedure: path,
    support: permissionOf('support'),
    ops: permissionOf('ops'),
    owner: permissionOf('owner'),
  };
}

/** The procedures of `svcadmin operators …`, `svcadmin roles` and `svcadmin whoami`. */
export function createOperatorProcedures(store: OperatorStore, clock: Pick<Clock, 'now'>) {
  const change = createAuditedChange(store, clock);
  const viewOperator = (operator: Operator): OperatorView =>
    viewAs(OperatorView, { ...operator, id: operator._id, status: statusOf(operator, clock.now()) });

  return router({
    whoami: query(z.void(), Identity, (_input, { operator }) => ({
      ...operator,
      expiresAt: operator.expiresAt ?? null,
    })),
    roles: query(z.void(), z.array(PermissionView), () =>
      Object.keys(permissions)
        // Other permissions are of pages, such as `/ops`.
        .filter((path) => !path.startsWith('/'))
        .map(viewPermission),
    ),
    show: query(OperatorReference, OperatorView, async ({ operatorId }) => {
      if (operatorId === firstOperator.id)
        throw new ApiError('not_found', {
          description: `${operatorId} is who signs in with ${firstOperator.name}; no record is kept of it`,
        });
      return viewOperator(await store.get(operatorId));
    }),
    list: query(ListOperators, z.array(OperatorView), async ({ status, ...page }) =>
      (await store.list(withStatus(status, clock.now()), page)).map(viewOperator),
    ),
    count: query(ListOperators.omit(pageFields), Total, ({ status }) =>
      store.count(withStatus(status, clock.now())),
    ),
    create: mutation({ target: null, record: 'several' })(
      CreateOperator,
      OperatorWithToken,
      async ({ name, role, expiresIn }, actor) => {
        const now = clock.now();
        const id = randomId('operator');
        const token = randomSecret('operatorToken');
        const expiresAt = expiresIn === undefined ? undefined : new Date(now + expiresIn * 1000);
        const shown = { name, role, status: 'active' as const, ...(expiresAt && { expiresAt }) };
        const secret = { hash: sha256(token), last4: token.slice(-4) };
        const operator = await store.insert(
          { _id: id, ...shown, ...secret, createdAt: new Date(now) },
          auditEntry(actor, { id, at: now }, { after: shown }),
        );
        return { ...viewOperator(operator), token };
      },
    ),
    /** Makes the operator's token invalid immediately. */
    revoke: operatorMutation(OperatorReference, OperatorView, async ({ operatorId }, actor) => {
      if (operatorId === actor.operatorId) {
        throw new ApiError('refused', { description: 'Another owner has to revoke you' });
      }
      const revoked = await change(operatorId, actor, ({ status }, now) => {
        if (status === 'revoked') return undefined;
        const set = { status: 'revoked', revokedAt: new Date(now) } as const;
        return { set, before: { status }, after: { status: 'revoked' } };
      });
      return viewOperator(revoked);
    }),
  });
}
