import { z } from 'zod';
import { PartnerReference } from '../../contracts/admin/partners.ts';
import { pageFields, Total } from '../../contracts/admin/references.ts';
import { ListWarnings, SetWarnings, WarningSettings, WarningView } from '../../contracts/admin/warnings.ts';
import { procedure, router } from '../platform/admin-api/procedures.ts';
import type { Actor } from '../platform/database/audit-entry.ts';
import type { Warning } from './warning.ts';
import type { WarningStore } from './warning-store.ts';

interface Dependencies {
  store: Pick<WarningStore, 'list' | 'count'>;
  settings: {
    /** @throws ApiError not_found */
    read(partnerId: string): Promise<WarningSettings>;
    set(wanted: SetWarnings, actor: Actor): Promise<WarningSettings>;
  };
}

function view({ _id, kind, partnerId, mode, about, text, since, overAt, untold }: Warning): WarningView {
  return {
    id: _id,
    kind,
    partnerId,
    mode,
    about,
    text,
    state: overAt ? 'over' : 'raised',
    since: since.toISOString(),
    overAt: overAt?.toISOString() ?? null,
    told: untold === undefined,
  };
}

/** Makes the procedures that `svcadmin warnings` calls. */
export const createWarningProcedures = ({ store, settings }: Dependencies) =>
  router({
    list: procedure
      .input(ListWarnings)
      .output(z.array(WarningView))
      .query(async ({ input }) => (await store.list(input)).map(view)),
    count: procedure
      .input(ListWarnings.omit(pageFields))
      .output(Total)
      .query(({ input }) => store.count(input)),
    settings: procedure
      .input(PartnerReference)
      .output(WarningSettings)
      .query(({ input }) => settings.read(input.partnerId)),
    set: procedure
      .input(SetWarnings)
      .output(WarningSettings)
      .mutation(({ input, ctx }) => settings.set(input, ctx.actor)),
  });
