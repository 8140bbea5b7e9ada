import type { NoticeName } from '../../contracts/event-names.ts';
import type { EventDraft, Publish } from '../platform/database/event-draft.ts';
import { sha256 } from '../platform/ids.ts';
import type { SendMail } from './mail.ts';
import type { UnsentWarning, Warning } from './warning.ts';
import type { WarningStore } from './warning-store.ts';

/** The recipients of a warning: e-mail addresses, and API keys that have opted in to notices. */
export interface Recipients {
  name: string;
  emails: readonly string[];
  keyIds: readonly string[];
}

interface Dependencies {
  store: Pick<WarningStore, 'addMailed' | 'markSent'>;
  findRecipients: (warning: Pick<Warning, 'partnerId' | 'mode'>) => Promise<Recipients>;
  publish: Publish;
  /** Sends an e-mail. Undefined if no mail server is configured. */
  sendMail: SendMail | undefined;
}

/** Addresses are personal data, so a warning keeps only their hashes. */
const hashOf = (address: string): string => sha256(address).slice(0, 22);

/**
 * Makes the event that tells one key that a warning was raised or is over. The event's id is derived from `cause`, so that
 * publishing it twice gives one event. `notice_id` is the same for both states.
 */
function noticeEvent(warning: Warning, state: 'raised' | 'over', keyId: string): EventDraft {
  const { _id, kind, partnerId, mode, about: subject, text, since, raisedAt, overAt } = warning;
  const type: NoticeName = `notice.${kind}`;
  const warningKey = `${_id}|${since.toISOString()}`;
  const stateSince = state === 'over' ? overAt : raisedAt;
  return {
    type,
    cause: [warningKey, state, keyId],
    partnerId,
    mode,
    keyId,
    // A notice is about no session, enrollment or user.
    about: {},
    at: stateSince ?? since,
    fields: {
      notice_id: sha256(warningKey).slice(0, 22),
      state,
      about: subject,
      text,
      since: since.toISOString(),
      over_at: overAt?.toISOString() ?? null,
    },
  };
}

export type WarningSender = ReturnType<typeof createWarningSender>;

/** Sends the state of a warning in two parts, because e-mails may take long and notices do not. Both can be repeated. */
export function createWarningSender({ store, findRecipients, publish, sendMail }: Dependencies) {
  return {
    /** Publishes one notice for each key that has opted in. */
    async publishNotices(warning: UnsentWarning): Promise<void> {
      const { keyIds } = await findRecipients(warning);
      await publish(keyIds.map((keyId) => noticeEvent(warning, warning.untold, keyId)));
    },

    /**
     * Sends one e-mail to each address, and then marks the warning as sent. If an e-mail fails, the others are still sent, and
     * the next call sends the failed one.
     */
    async sendMails(warning: UnsentWarning): Promise<void> {
      const { untold: state, mode, text, mailed, _id, since } = warning;
      const { name, emails } = await findRecipients(warning);
      const unmailed = sendMail ? emails.filter((address) => !mailed.includes(hashOf(address))) : [];
      const results = await Promise.allSettled(
        unmailed.map(async (to) => {
          const id = sha256(`${_id}|${since.toISOString()}|${state}|${to}`).slice(0, 32);
          await sendMail?.({ to, id, name, mode, text, isOver: state === 'over' });
          await store.addMailed(warning, hashOf(to));
        }),
      );
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
      await store.markSent(warning);
    },
  };
}
