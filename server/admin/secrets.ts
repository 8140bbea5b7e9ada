import { FindSecret, type OwnedSecretKind, SecretOwner } from '../../contracts/admin/secrets.ts';
import { procedure, router } from '../platform/admin-api/procedures.ts';
import { adviseCommand } from '../platform/admin-api/roles.ts';
import { ApiError } from '../platform/errors.ts';
import { sameText, sha256 } from '../platform/ids.ts';
import { firstOperator } from './authentication.ts';

/** A secret that a record has. */
export interface FoundSecret extends Pick<SecretOwner, 'id' | 'partnerId' | 'partnerName' | 'mode'> {
  /** Why the secret does not work now; undefined if it works. */
  inactiveReason: string | undefined;
  /** Whether the secret can never work again. */
  ended: boolean;
  expiresAt?: Date | undefined;
}

interface Dependencies {
  find: (wanted: FindSecret) => Promise<FoundSecret | undefined>;
  /** The value of SVC_ADMIN_TOKEN, which has no record. Undefined if the token is retired. */
  firstToken: string | undefined;
}

/** The procedure and the command that end a secret. */
const remedies: Readonly<Record<OwnedSecretKind, readonly [path: string, command: string]>> = {
  testKey: ['keys.rotate', 'keys rotate'],
  liveKey: ['keys.rotate', 'keys rotate'],
  clientSecret: ['clients.rotateSecret', 'clients rotate-secret'],
  webhookSecret: ['webhooks.rotateSecret', 'webhooks rotate-secret'],
  integrationSecret: ['integrations.rotateSecret', 'integrations rotate-secret'],
  operatorToken: ['operators.revoke', 'operators revoke'],
};

const firstTokenRemedy =
  'set SVC_ADMIN_TOKEN to another value, or to off, and replace the processes of the role admin';

/** The procedure of `svcadmin secrets find`: it finds the owner of a leaked secret. The CLI sends only the secret's hash. */
export function createSecretProcedures({ find, firstToken }: Dependencies) {
  const firstSecret: FoundSecret = {
    id: firstOperator.id,
    partnerId: null,
    partnerName: null,
    mode: null,
    inactiveReason: undefined,
    ended: false,
  };
  const isFirst = ({ kind, hash }: FindSecret) =>
    kind === 'operatorToken' && firstToken !== undefined && sameText(hash, sha256(firstToken));

  return router({
    find: procedure
      .input(FindSecret)
      .output(SecretOwner)
      .query(async ({ input, ctx }) => {
        const found = isFirst(input) ? firstSecret : await find(input);
        if (!found)
          throw new ApiError('not_found', {
            description:
              'Nothing here has this secret: it was rotated, is of another installation, or is not whole',
          });
        const { ended, inactiveReason, expiresAt, ...owner } = found;
        const [path, command] = remedies[input.kind];
        const next =
          found === firstSecret
            ? firstTokenRemedy
            : adviseCommand(ctx.operator.role, path, `svcadmin ${command} ${found.id}`);
        return {
          kind: input.kind,
          ...owner,
          active: inactiveReason === undefined,
          inactive: inactiveReason ?? null,
          expiresAt: expiresAt?.toISOString() ?? null,
          // A secret that can never work again needs no remedy.
          next: ended ? null : next,
        };
      }),
  });
}
