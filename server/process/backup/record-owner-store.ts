import type { Db } from 'mongodb';
import { collection as clientCollection } from '../../partners/clients/client-store.ts';
import { integrationCollection } from '../../partners/integrations/integration-store.ts';
import { collection as keyCollection } from '../../partners/keys/key-store.ts';
import { collection as memberCollection } from '../../partners/members/member-store.ts';
import { collection as enrollmentCollection } from '../../people/enrollments/enrollment-store.ts';
import { collection as sessionCollection } from '../../sessions/session-store.ts';
import { collection as deliveryCollection } from '../../webhooks/delivery/delivery-store.ts';
import { collection as eventCollection } from '../../webhooks/delivery/event-store.ts';

/** The collections of records that belong to a partner, by the prefixes of their ids. */
const collections: Readonly<Record<string, string>> = {
  key: keyCollection,
  cli: clientCollection,
  int: integrationCollection,
  enr: enrollmentCollection,
  ses: sessionCollection,
  dlv: deliveryCollection,
  evt: eventCollection,
  mem: memberCollection,
};

/** Returns a function that finds the partners of records by the ids of the records. Records of no partner are left out. */
export function createRecordOwners(db: Db) {
  return async (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const owners = new Map<string, string>();
    for (const [prefix, collection] of Object.entries(collections)) {
      const wanted = ids.filter((id) => id.startsWith(`${prefix}_`));
      if (wanted.length === 0) continue;
      const found = await db
        .collection<{ _id: string; partnerId?: string }>(collection)
        .find({ _id: { $in: wanted } }, { projection: { partnerId: 1 } })
        .toArray();
      for (const { _id, partnerId } of found) if (partnerId) owners.set(_id, partnerId);
    }
    return owners;
  };
}
