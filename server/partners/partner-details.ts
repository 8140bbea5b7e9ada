import { isDeepStrictEqual } from 'node:util';
import type { UpdatePartner } from '../../contracts/admin/partners.ts';
import type { Decide } from '../platform/database/audit/audited-change.ts';
import { givenFields } from '../platform/database/reads/look-through.ts';
import type { Partner } from './partner-store.ts';
import { presentValues, storedForm } from './settings.ts';

type Details = Omit<UpdatePartner, 'partnerId'>;

/** Returns fields as the audit log keeps them: the number of contacts, but no address of a person. */
const summaryOf = (fields: Record<string, unknown>) =>
  'contacts' in fields ? { ...fields, contacts: (fields['contacts'] as unknown[]).length } : fields;

/** Decides on the change of a partner's name, contacts, VAT id and address. A field that is left out stays as it is. */
export const changeDetails =
  (details: Details): Decide<Partner> =>
  (partner) => {
    const after: Record<string, unknown> = givenFields(details);
    const before = presentValues({ contacts: [], ...partner }, after);
    if (isDeepStrictEqual(before, after)) return undefined;
    return { set: storedForm(after), before: summaryOf(before), after: summaryOf(after) };
  };
