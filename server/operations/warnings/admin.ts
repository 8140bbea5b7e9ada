import { z } from 'zod';
import { PartnerReference } from '../../../contracts/admin/partners.ts';
import { pageFields, Total } from '../../../contracts/admin/references.ts';
import {
  ListedWarning,
  ListWarnings,
  SetWarnings,
  WarningSettings,
  WarningView,
} from '../../../contracts/admin/warnings.ts';
import type { PartnersFeature } from '../../partners/feature.ts';
import { mutation, query, router } from '../../platform/admin-api/procedures.ts';
import { viewAs } from '../../platform/admin-api/view.ts';
import { type PartnerNames, withPartnerName } from '../../platform/database/partner-names.ts';
import type { Warning } from './warning.ts';
import type { WarningStore } from './warning-store.ts';

const view = (warning: Warning): WarningView =>
  viewAs(WarningView, {
    ...warning,
    id: warning._id,
    state: warning.overAt ? 'over' : 'raised',
    told: warning.untold === undefined,
  });

/** Makes the procedures that `svcadmin warnings` calls. */
export const createWarningProcedures = (
  store: Pick<WarningStore, 'list' | 'count'>,
  settings: PartnersFeature['warningSettings'],
  partnerNames: PartnerNames,
) =>
  router({
    list: query(ListWarnings, z.array(ListedWarning), async (input) =>
      withPartnerName((await store.list(input)).map(view), partnerNames),
    ),
    count: query(ListWarnings.omit(pageFields), Total, (input) => store.count(input)),
    settings: query(PartnerReference, WarningSettings, ({ partnerId }) => settings.read(partnerId)),
    set: mutation({ target: 'partnerId', record: 'several' })(SetWarnings, WarningSettings, (input, actor) =>
      settings.set(input, actor),
    ),
  });
