import type { NoticeName } from '../../../contracts/event-names.ts';
import type { EventDraft, Publish } from '../../platform/database/event-draft.ts';
import { sha256 } from '../../platform/ids.ts';
import type { SendMail } from '../../platform/mail.ts';
import { type Links, warningMail } from './mail.ts';
import type { UnsentWarning, Warning } from './warning.ts';
import type { WarningStore } from './warning-store.ts';

/** The recipients of a warning: e-mail addresses, and API keys that have opted in to notices. */
export interface Recipients {
  name: string;
  emails: readonly string[];
  keyIds: readonly string[];
}

/** The addresses that still have to get an e-mail about a warning, and the name of the partner. */
export interface Addressees {
  name: string;
  addresses: readonly string[];
}

interface Dependencies {
  store: Pick<WarningStore, 'addMailed' | 'markSent'>;
  findRecipients: (warning: Pick<Warning, 'partnerId' | 'mode'>) => Promise<Recipients>;
  publish: Publish;
  /** Undefined if no mail server is configured. */
  send: SendMail | undefined;
  links: Links;
}

/** Returns 132 bits of a SHA-256 in base64url, which are enough to tell texts apart. */
const hashOf = (text: string): string => sha256(text).slice(0, 22);

/**
 * Makes the event that tells one key that a warning was raised or is over. The event's id is derived from `cause`, so that
 * publishing it twice gives one event. `notice_id` is the same for both states.
 */
function noticeEvent(warning: Warning, state: 'raised' | 'over', keyId: string): EventDraft {
  const { _id, kind, partnerId, mode, about: subject, text, since, raisedAt, overAt } = warning;
  const type: NoticeName = `notice.${kind}`;
  const warningKey = `${_id}|${since.toISOString()}`;
  return {
    type,
    cause: [warningKey, state, keyId],
    partnerId,
    mode,
    keyId,
    // A notice is about no session, enrollment or user.
    about: {},
    at: (state === 'over' ? overAt : raisedAt) ?? since,
    fields: {
      notice_id: hashOf(warningKey),
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
export function createWarningSender({ store, findRecipients, publish, send, links }: Dependencies) {
  return {
    /**
     * Publishes one notice for each key that has opted in. If no e-mail is left to send, nothing else follows, so this marks the
     * warning as sent.
     * @returns the addresses that still have to get an e-mail
     */
    async publishNotices(warning: UnsentWarning): Promise<Addressees> {
      const { name, emails, keyIds } = await findRecipients(warning);
      await publish(keyIds.map((keyId) => noticeEvent(warning, warning.untold, keyId)));
      const unmailed = emails.filter((address) => !warning.mailed.includes(hashOf(address)));
      const addresses = send ? unmailed : [];
      if (addresses.length === 0) await store.markSent(warning);
      return { name, addresses };
    },

    /**
     * Sends one e-mail to each address, and then marks the warning as sent. If an e-mail fails, the others are still sent, and
     * the next check sends the failed one.
     */
    async sendMails(warning: UnsentWarning, { name, addresses }: Addressees): Promise<void> {
      const { untold: state, _id, since } = warning;
      const results = await Promise.allSettled(
        addresses.map(async (to) => {
          const id = sha256(`${_id}|${since.toISOString()}|${state}|${to}`).slice(0, 32);
          await send?.(warningMail(warning, { to, id, name }, links));
          await store.addMailed(warning, hashOf(to));
        }),
      );
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
      await store.markSent(warning);
    },
  };
}
