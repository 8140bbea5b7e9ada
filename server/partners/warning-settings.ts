import type { SetWarnings, WarningSettings } from '../../contracts/admin/warnings.ts';
import type { Clock } from '../platform/clock.ts';
import { type Actor, auditEntry } from '../platform/database/audit-entry.ts';
import type { Partner, PartnerStore } from './partner-store.ts';

interface Dependencies {
  store: Pick<PartnerStore, 'get' | 'change'>;
  clock: Pick<Clock, 'now'>;
}

const view = ({ _id, warnings = {} }: Partner): WarningSettings => ({
  partnerId: _id,
  emails: warnings.emails ?? [],
  lowBalance: warnings.lowBalance ?? null,
});

/** Returns the settings as the audit log keeps them: the number of addresses, but no address. */
const summaryOf = ({ emails = [], lowBalance }: NonNullable<Partner['warnings']>) => ({
  emails: emails.length,
  lowBalance: lowBalance ?? null,
});

/** Manages the recipients of warnings and the threshold of a low balance. Null sets the default threshold. The methods throw ApiError. */
export function createWarningSettings({ store, clock }: Dependencies) {
  return {
    read: async (partnerId: string): Promise<WarningSettings> => view(await store.get(partnerId)),

    async set({ partnerId, emails, lowBalance }: SetWarnings, actor: Actor): Promise<WarningSettings> {
      const changed = await store.change(partnerId, ({ warnings: before = {} }) => {
        // A field that is left out stays as it is.
        const after = { ...before };
        if (emails) after.emails = emails;
        if (lowBalance) after.lowBalance = lowBalance;
        if (lowBalance === null) delete after.lowBalance;
        const target = { id: partnerId, at: clock.now() };
        const difference = { before: summaryOf(before), after: summaryOf(after) };
        return { set: { warnings: after }, entry: auditEntry(actor, target, difference) };
      });
      return view(changed);
    },
  };
}
