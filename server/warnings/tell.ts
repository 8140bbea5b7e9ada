import type { NoticeName } from '../../contracts/event-names.ts';
import type { EventDraft, Publish } from '../platform/database/event-draft.ts';
import { sha256 } from '../platform/ids.ts';
import type { SendMail } from './mail.ts';
import type { Warning } from './warning.ts';
import type { WarningStore } from './warning-store.ts';

/** The recipients of a warning: e-mail addresses, and API keys that have opted in to notices. */
export interface Recipients {
  name: string;
  emails: readonly string[];
  keyIds: readonly string[];
}

interface Dependencies {
  store: Pick<WarningStore, 'addMailed' | 'markTold'>;
  recipients: (warning: Pick<Warning, 'partnerId' | 'mode'>) => Promise<Recipients>;
  publish: Publish;
  /** Sends an e-mail. Undefined if no mail server is configured. */
  sendMail: SendMail | undefined;
}

const hashOf = (address: string): string => sha256(address).slice(0, 22);

/** Makes the notice of a warning's state. The id follows from the cause, so that a second publication is the same event. */
function draftOf(warning: Warning, state: 'raised' | 'over', keyId: string): EventDraft {
  const { _id, kind, partnerId, mode, about, text, since, overAt } = warning;
  const type: NoticeName = `notice.${kind}`;
  const beginning = `${_id}|${since.toISOString()}`;
  return {
    type,
    cause: [beginning, state, keyId],
    partnerId,
    mode,
    keyId,
    about: {},
    at: (state === 'over' ? overAt : warning.raisedAt) ?? since,
    fields: {
      notice_id: sha256(beginning).slice(0, 22),
      state,
      about,
      text,
      since: since.toISOString(),
      over_at: overAt?.toISOString() ?? null,
    },
  };
}

export type Tell = (warning: Warning) => Promise<void>;

/** Returns a function that sends the state of a warning once to each address and key. After a failure, it sends the rest. */
export function createTell({ store, recipients, publish, sendMail }: Dependencies): Tell {
  return async (warning) => {
    const { untold: state, mode, text, mailed, _id, since } = warning;
    if (!state) return;
    const { name, emails, keyIds } = await recipients(warning);
    await publish(keyIds.map((keyId) => draftOf(warning, state, keyId)));
    const missing = sendMail ? emails.filter((address) => !mailed.includes(hashOf(address))) : [];
    const results = await Promise.allSettled(
      missing.map(async (to) => {
        const id = sha256(`${_id}|${since.toISOString()}|${state}|${to}`).slice(0, 32);
        await sendMail?.({ to, id, name, mode, text, isOver: state === 'over' });
        await store.addMailed(warning, hashOf(to));
      }),
    );
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    await store.markTold(warning);
  };
}
