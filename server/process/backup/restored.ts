import { listProcesses, processName } from '../../../contracts/processes.ts';
import { createAuditStore } from '../../operations/audit/audit-store.ts';
import { createOperatorStore } from '../../operations/operators/operator-store.ts';
import { sealedFields } from '../../operations/schema/collections.ts';
import { createMembersStores } from '../../partners/members/store.ts';
import { createRestoreStore } from '../../people/restore-store.ts';
import { connect, type Database, longestScanMs } from '../../platform/database/connect.ts';
import { requireSchema } from '../../platform/database/schema/schema.ts';
import { readServerTime } from '../../platform/database/server-clock.ts';
import { ConfigError } from '../../platform/errors.ts';
import { randomRequestId } from '../../platform/ids.ts';
import { forgetProcesses, livingProcesses } from '../../platform/jobs/processes.ts';
import { requireMasterKeys } from '../../platform/keys/sealed-values.ts';
import { fingerprint } from '../../platform/keys/sealing.ts';
import { schema } from '../wiring/schema.ts';

/** A restored database: its address, and the origin of its state (`source`) for the audit log. */
interface Restored {
  uri: string;
  embedded: boolean;
  source: string;
  /** The master keys of the server that will use the restored database. */
  masterKeys: readonly Uint8Array[];
}

const advice = 'Set SVC_MASTER_KEY to the master key of the time of the backup. Nothing was changed.';

/** @throws ConfigError if processes of the service use the database. It may be the one that serves, and not the restored one */
function requireNobody(living: readonly { host: string; pid: number }[]): void {
  if (living.length === 0) return;
  const names = listProcesses(living.map((process) => processName(process)));
  throw new ConfigError([
    `MONGODB_URI: processes of the service used this database within 45 s: ${names}. Stop them, and wait 45 s. Nothing was changed.`,
  ]);
}

/** Ends all sign-ins and invitations, because members who were removed since the backup are present again. */
async function endSignIns(db: Database['db']) {
  const { members, memberSessions, deviceRequests } = createMembersStores(db);
  await deviceRequests.endAll();
  return { memberSessions: await memberSessions.endAll(), invitations: await members.endInvitations() };
}

/**
 * Makes a restored database safe to use: ends its open sessions, codes and operator tokens, and adds an entry to the audit log.
 * Call this while no process of the service uses the database. Idempotent.
 * @returns the numbers of what was ended
 * @throws ConfigError if this build cannot read the database, no master key opens its keys, or a process uses the database. Then
 * nothing is changed
 */
export async function closeRestored({ uri, embedded, source, masterKeys }: Restored) {
  const { client, db, features } = await connect({
    uri,
    embedded,
    appName: 'svc-gateway-restore',
    answerWithinMs: longestScanMs,
  });
  try {
    await requireSchema(db, schema);
    await requireMasterKeys(db, sealedFields, { masterKeys: masterKeys.map(fingerprint), advice });
    const at = new Date(await readServerTime(db, features.sharded));
    // The embedded database is open in this process alone.
    if (!embedded) requireNobody(await livingProcesses(db, at.getTime()));
    await forgetProcesses(db);
    const ended = {
      ...(await createRestoreStore(db).endOpen(at)),
      ...(await endSignIns(db)),
      // The first operator, who signs in with SVC_ADMIN_TOKEN, has no record.
      operators: await createOperatorStore(db).revokeAll(at),
    };
    const requestId = randomRequestId();
    await createAuditStore(db).add([
      {
        id: `${requestId}:restore`,
        at,
        operatorId: 'svc-gateway',
        operatorName: 'svc-gateway restore',
        action: 'database.restored',
        requestId,
        address: '',
        target: null,
        after: { source, ...ended },
      },
    ]);
    return ended;
  } finally {
    await client.close();
  }
}
