import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.ts';
import { sha256 } from '../../platform/ids.ts';
import type { SendMail } from '../../platform/mail.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import type { BrandDecision } from '../context.ts';
import type { Member } from './member-store.ts';
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
  clock: Pick<Clock, 'now'>;
  logger: Pick<Logger, 'warn'>;
  /** The root of the addresses in texts. */
  baseUrl: string;
}

/** Sends e-mails to members about acts of support, and about their own passkeys. No call waits for the mail server. */
export function createMemberMail({ stores: { members }, send, clock, logger, baseUrl }: Dependencies) {
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
  const deliverAll = (addresses: Iterable<string>, text: MemberText) => {
    for (const address of addresses) void deliver(address, text);
  };

  return {
    toMember({ email }: Pick<Member, 'email'>, text: MemberText): void {
      if (send && email !== undefined) void deliver(email, text);
    },

    async toOwners(partnerId: string, text: MemberText): Promise<void> {
      if (send) deliverAll(await members.ownerEmails(partnerId), text);
    },

    /** Tells the member who asked for a change of a live brand, and each active owner, that it was decided. */
    async brandDecided({ id, partnerId, memberId, reason }: BrandDecision): Promise<void> {
      if (!send) return;
      const member = await members.find(memberId);
      const own = member?.status === 'active' ? [member.email ?? []].flat() : [];
      const addresses = new Set([...own, ...(await members.ownerEmails(partnerId))]);
      const decision = reason === undefined ? 'approved, and is on the live pages' : `refused: ${reason}`;
      deliverAll(addresses, {
        cause: `brand of ${id}, ${clock.now()}`,
        subject: reason === undefined ? 'Your brand was approved' : 'Your brand was not approved',
        text: `The change of the brand of ${id} that a member asked for was ${decision}.\n${baseUrl}/portal/clients\n`,
      });
    },
  };
}
export type MemberMail = ReturnType<typeof createMemberMail>;
