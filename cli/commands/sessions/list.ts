import { createHash } from 'node:crypto';
import * as Flags from '@oclif/core/flags';
import { retentionMs } from '../../../contracts/retention.ts';
import { modeFilter, moment, pageFlags, requireFromBeforeTo } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { columnsSameFor, ListCommand } from '../../list/list-command.ts';

/** How many characters of the hash of a `state` the server keeps. */
const hashCharacters = 22;

/** Returns the hash of a `state` as the server stores it. The `state` itself is not sent, because it may contain anything. */
const hashOf = (state: string): string =>
  createHash('sha256').update(state).digest('base64url').slice(0, hashCharacters);

const states = ['pending', 'authenticated', 'verified', 'complete', 'open', 'failed', 'expired'] as const;

export default class SessionsList extends ListCommand<typeof SessionsList> {
  static override summary = 'List sessions, newest first, with their state and the reason of a failure.';
  static override description =
    '`open` can still get a code. `failed` ended with an event. `expired` ended without an event, and is kept for a day. The other states are the last status. `step` says how far the user came: to consent, authenticate, confirm, verify, issue, or completed. Other columns: `returning`, a user who was enrolled before, and `code`, which is used, unused, expired, or locked by five wrong verifiers.';
  static override examples = [
    '<%= config.bin %> sessions list --partner ptr_… --since 2h',
    '<%= config.bin %> sessions list --state b0c3…',
    '<%= config.bin %> sessions list --reference order-1734',
    '<%= config.bin %> sessions list --partner ptr_… --status expired --since 2026-07-01T14:00 --until 2026-07-01T15:00',
  ];
  static override flags = {
    partner: idFlag('partner')({ description: 'only of this partner' }),
    client: idFlag('client')({ description: 'only of this client' }),
    enrollment: idFlag('enrollment')({ description: 'only of this enrollment' }),
    state: Flags.string({ description: 'only started with this state; only its hash is sent' }),
    reference: Flags.string({ description: 'only started with this client_reference_id' }),
    mode: modeFilter,
    status: Flags.option({ options: states })({ description: 'only these' }),
    since: moment({ description: 'only started since this time' }),
    until: moment({ description: 'only started before this time' }),
    ...pageFlags,
  };

  async run() {
    const { partner, client, enrollment, state, reference, mode, status, since, until } = this.flags;
    requireFromBeforeTo(since, until);
    const ids = {
      partnerId: partner,
      clientId: client,
      enrollmentId: enrollment,
      clientReferenceId: reference,
    };
    const stateHash = state === undefined ? undefined : hashOf(state);
    const wanted = { ...ids, stateHash, mode, status, since, until };
    return this.showList({
      keptMs: retentionMs.session,
      page: (page) => this.api.sessions.list.query({ ...wanted, ...page }),
      count: () => this.api.sessions.count.query(wanted),
      fields: async () =>
        Object.keys((await import('../../../contracts/admin/sessions.ts')).ListedSession.shape),
      columns: [
        'id',
        'createdAt',
        'status',
        'reason',
        'step',
        'partnerName',
        'mode',
        'source',
        'clientId',
        'clientReferenceId',
        'sub',
      ],
      // In the list of one partner, its name is the same in every row.
      dropIfNarrow: [
        ...columnsSameFor(partner),
        'sub',
        'clientReferenceId',
        'clientId',
        'step',
        'source',
        'mode',
        'createdAt',
      ],
    });
  }
}
