import type { SetWarnings, WarningSettings } from '../../contracts/admin/warnings.ts';
import type { Clock } from '../platform/clock.ts';
import { type Actor, auditEntry } from '../platform/database/audit-entry.ts';
import { ApiError } from '../platform/errors.ts';
import type { Partner, PartnerStore } from './partner-store.ts';

interface Dependencies {
  store: Pick<PartnerStore, 'find' | 'change'>;
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

/** Manages how a partner is warned. The methods throw ApiError. */
export function createWarningSettings({ store, clock }: Dependencies) {
  return {
    async read(partnerId: string): Promise<WarningSettings> {
      const partner = await store.find(partnerId);
      if (!partner) throw new ApiError('not_found', { description: `No partner ${partnerId}` });
      return view(partner);
    },

    async set({ partnerId, emails, lowBalance }: SetWarnings, actor: Actor): Promise<WarningSettings> {
      const changed = await store.change(partnerId, ({ warnings: before = {} }) => {
        const { lowBalance: low, ...rest } = before;
        const wanted = lowBalance === undefined ? low : (lowBalance ?? undefined);
        const after = { ...rest, ...(emails ? { emails } : {}), ...(wanted ? { lowBalance: wanted } : {}) };
        const target = { id: partnerId, at: clock.now() };
        const difference = { before: summaryOf(before), after: summaryOf(after) };
        return { set: { warnings: after }, entry: auditEntry(actor, target, difference) };
      });
      return view(changed);
    },
  };
}
