import { setTimeout as pause } from 'node:timers/promises';
import { sha256 } from '../../platform/ids.ts';
import type { SendMail } from '../../platform/mail.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import type { MembersStores } from './store.ts';

/** A text for members of a partner. `cause` makes the message id, so that a repeated message is shown once. */
export interface MemberText {
  cause: string;
  subject: string;
  text: string;
}

/** The waits before the second and the third attempt, in milliseconds. */
const retryDelays = [5_000, 60_000];

interface Dependencies {
  stores: Pick<MembersStores, 'members'>;
  /** Undefined if no mail server is configured. */
  send: SendMail | undefined;
  logger: Pick<Logger, 'warn'>;
}

/** Sends e-mails to members about acts of support. No call waits for the mail server. */
export function createMemberMail({ stores: { members }, send, logger }: Dependencies) {
  async function deliver(to: string, { cause, subject, text }: MemberText): Promise<void> {
    const id = sha256(`${cause}|${to}`).slice(0, 32);
    for (const delay of [...retryDelays, undefined]) {
      try {
        return await send?.({ to, id, subject, text });
      } catch (error) {
        if (delay === undefined)
          return logger.warn({ err: error, cause }, 'An e-mail to a member was not sent');
        // Without `ref`, a process that stops does not wait for the next attempt.
        await pause(delay, undefined, { ref: false });
      }
    }
  }
  const deliverAll = (addresses: readonly string[], text: MemberText) => {
    for (const address of addresses) void deliver(address, text);
  };

  return {
    /** Sends an e-mail to each active owner of the partner. */
    async toOwners(partnerId: string, text: MemberText): Promise<void> {
      if (send) deliverAll(await members.ownerEmails(partnerId), text);
    },

    /** Sends an e-mail to an active member, and to each active owner. */
    async toMemberAndOwners(memberId: string, partnerId: string, text: MemberText): Promise<void> {
      if (!send) return;
      const member = await members.find(memberId);
      const own = member?.status === 'active' ? [member.email ?? []].flat() : [];
      deliverAll([...new Set([...own, ...(await members.ownerEmails(partnerId))])], text);
    },
  };
}
export type MemberMail = ReturnType<typeof createMemberMail>;
