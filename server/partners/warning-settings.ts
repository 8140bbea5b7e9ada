import type { SetWarnings, WarningSettings } from '../../contracts/admin/warnings.ts';
import type { Actor } from '../platform/database/audit/audit-entry.ts';
import { createAuditedChange } from '../platform/database/audit/audited-change.ts';
import type { PartnersContext } from './context.ts';
import type { Partner } from './partner-store.ts';

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

/** Manages the recipients of warnings and the threshold of a low balance. The methods throw ApiError. */
export function createWarningSettings({ stores: { partners }, clock }: PartnersContext) {
  const change = createAuditedChange(partners, clock);

  return {
    read: async (partnerId: string): Promise<WarningSettings> => view(await partners.get(partnerId)),

    /** A setting that is left out stays as it is. A `lowBalance` of null sets the default threshold. */
    async set({ partnerId, emails, lowBalance }: SetWarnings, actor: Actor): Promise<WarningSettings> {
      const changed = await change(partnerId, actor, ({ warnings = {} }) => {
        const after = { ...warnings };
        if (emails) after.emails = emails;
        if (lowBalance) after.lowBalance = lowBalance;
        if (lowBalance === null) delete after.lowBalance;
        return { set: { warnings: after }, before: summaryOf(warnings), after: summaryOf(after) };
      });
      return view(changed);
    },
  };
}
