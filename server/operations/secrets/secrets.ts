import { FindSecret, type OwnedSecretKind, SecretOwner } from '../../../contracts/admin/secrets.ts';
import { query, router } from '../../platform/admin-api/procedures.ts';
import { adviseCommand, type Role } from '../../platform/admin-api/roles.ts';
import { viewAs } from '../../platform/admin-api/view.ts';
import { requireFound } from '../../platform/errors.ts';
import { sameText, sha256 } from '../../platform/ids.ts';
import { firstOperator } from '../operators/authentication.ts';
import { createSecretOwners, type FoundSecret, type SecretOwnerDependencies } from './secret-owners.ts';

/** The procedure and the command that end a secret. */
const remedies: Readonly<Record<OwnedSecretKind, readonly [path: string, command: string]>> = {
  testKey: ['keys.rotate', 'keys rotate'],
  liveKey: ['keys.rotate', 'keys rotate'],
  clientSecret: ['clients.rotateSecret', 'clients rotate-secret'],
  webhookSecret: ['webhooks.rotateSecret', 'webhooks rotate-secret'],
  integrationSecret: ['integrations.rotateSecret', 'integrations rotate-secret'],
  operatorToken: ['operators.revoke', 'operators revoke'],
  invitation: ['members.remove', 'members remove'],
  memberSession: ['members.remove', 'members remove'],
  deviceCode: ['members.remove', 'members remove'],
  deviceToken: ['members.remove', 'members remove'],
};

/** SVC_ADMIN_TOKEN, which has no record. */
const firstSecret: FoundSecret = {
  id: firstOperator.id,
  partnerId: null,
  partnerName: null,
  mode: null,
  inactiveReason: undefined,
  ended: false,
};

/** Says how to end a secret. Null for a secret that can never work again. */
function adviseRemedy(found: FoundSecret, kind: OwnedSecretKind, role: Role): string | null {
  if (found.ended) return null;
  if (found === firstSecret)
    return 'set SVC_ADMIN_TOKEN to another value, or to off, and replace the processes of the role admin';
  const [path, command] = remedies[kind];
  return adviseCommand(role, path, `svcadmin ${command} ${found.id}`);
}

/**
 * The procedure of `svcadmin secrets find`: it finds the owner of a leaked secret. The CLI sends only the secret's hash.
 * @param firstToken the value of SVC_ADMIN_TOKEN, which has no record; undefined if the token is retired
 */
export function createSecretProcedures(owners: SecretOwnerDependencies, firstToken: string | undefined) {
  const findSecret = createSecretOwners(owners);
  const isFirst = ({ kind, hash }: FindSecret) =>
    kind === 'operatorToken' && firstToken !== undefined && sameText(hash, sha256(firstToken));

  return router({
    find: query(FindSecret, SecretOwner, async (wanted, { operator }) => {
      const found = requireFound(
        isFirst(wanted) ? firstSecret : await findSecret(wanted),
        'Nothing here has this secret: it was rotated, is of another installation, or is not whole',
      );
      return viewAs(SecretOwner, {
        ...found,
        kind: wanted.kind,
        active: found.inactiveReason === undefined,
        inactive: found.inactiveReason,
        next: adviseRemedy(found, wanted.kind, operator.role),
      });
    }),
  });
}
