import type { Db, Document, Filter } from 'mongodb';
import { ConfigError } from '../errors.ts';
import { type Sealing, sealedUnder } from './sealing.ts';

/** The place of a value that is sealed under the master key. */
export interface SealedField {
  collection: string;
  field: string;
  /** Whether the documents count their changes in `revision`. A resealed value is such a change. */
  counted?: boolean;
}

const putBack = 'Put them back, and run `svcadmin keyring reseal` before you take them out.';

export type SealedCounts = ReadonlyMap<string, number>;

/** How many values have a protected header. This first part of a sealed value names its master key. */
interface HeaderCount {
  /** The header, as it is in the values. */
  _id: string;
  count: number;
}

type Identified = { _id: string };

/** The protected headers of a field's values, with the number of values that have each. */
const headersOf = (db: Db, { collection, field }: SealedField): Promise<HeaderCount[]> =>
  db
    .collection(collection)
    .aggregate<HeaderCount>([
      { $match: { [field]: { $type: 'string' } } },
      { $group: { _id: { $arrayElemAt: [{ $split: [`$${field}`, '.'] }, 0] }, count: { $sum: 1 } } },
    ])
    .toArray();

export async function countSealed(db: Db, fields: readonly SealedField[]): Promise<SealedCounts> {
  const counts = new Map<string, number>();
  for (const field of fields) {
    for (const { _id: header, count } of await headersOf(db, field)) {
      const name = sealedUnder(header);
      counts.set(name, (counts.get(name) ?? 0) + count);
    }
  }
  return counts;
}

/**
 * Checks that all sealed values can be opened.
 * @param advice tells the operator what to do if a master key is missing
 * @throws ConfigError if a value is sealed under a master key that is not in `masterKeys`
 */
export async function requireMasterKeys(
  db: Db,
  fields: readonly SealedField[],
  { masterKeys, advice = putBack }: { masterKeys: readonly string[]; advice?: string },
): Promise<void> {
  const counts = await countSealed(db, fields);
  const missing = [...counts].filter(([name]) => !masterKeys.includes(name));
  if (missing.length === 0) return;
  const list = missing.map(([name, count]) => `${name} (${count})`).join(', ');
  throw new ConfigError([
    `SVC_MASTER_KEY lacks keys that values in the database are sealed under: ${list}. ${advice}`,
  ]);
}

/**
 * Finds the `_id` of a document that has a value for which `matches` is true; undefined if there is none. It opens every
 * value, some thousands a second. A stored digest would be faster, but could be out of date.
 */
export async function findSealed(
  db: Db,
  { collection, field }: SealedField,
  { sealing, matches }: { sealing: Pick<Sealing, 'open'>; matches: (value: string) => boolean },
): Promise<string | undefined> {
  const cursor = db
    .collection<Identified>(collection)
    .find({ [field]: { $type: 'string' } } as Filter<Identified>, { projection: { [field]: 1 } });
  for await (const document of cursor) {
    // A value that was tampered with matches nothing.
    const value = await sealing.open(String(valueAt(document, field))).catch(() => undefined);
    if (value !== undefined && matches(value)) return document._id;
  }
  return undefined;
}

const valueAt = (document: Document, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Document | undefined)?.[name], document);

/** Matches the values with a header, which is base64url. */
const withHeader = (header: string) => new RegExp(`^${header.replace(/[^\w-]/g, '')}\\.`);

/**
 * Seals values again that have this header, at most `limit` of them. A value that was changed since it was read is not
 * overwritten.
 * @returns how many values were read, with those that were changed since
 */
async function resealWithHeader(
  db: Db,
  { collection, field, counted }: SealedField,
  { header, sealing, limit }: { header: string; sealing: Sealing; limit: number },
): Promise<number> {
  const documents = db.collection<Identified>(collection);
  const found = await documents
    .find({ [field]: withHeader(header) } as Filter<Identified>, { projection: { [field]: 1 }, limit })
    .toArray();
  for (const document of found) {
    const sealed = String(valueAt(document, field));
    const resealed = await sealing.seal(await sealing.open(sealed));
    const countChange = counted ? { $inc: { revision: 1 } } : {};
    await documents.updateOne(
      { _id: document._id, [field]: sealed },
      { $set: { [field]: resealed }, ...countChange },
    );
  }
  return found.length;
}

/**
 * Seals values of other master keys again under the first one, at most `limit` of them. Several processes may run it.
 * Idempotent.
 * @returns how many values were handled; fewer than `limit` if none is left
 */
export async function resealSome(
  db: Db,
  fields: readonly SealedField[],
  { sealing, limit }: { sealing: Sealing; limit: number },
): Promise<number> {
  const [currentKey] = sealing.masterKeys;
  let handled = 0;
  for (const sealedField of fields) {
    for (const { _id: header } of await headersOf(db, sealedField)) {
      if (sealedUnder(header) === currentKey) continue;
      handled += await resealWithHeader(db, sealedField, { header, sealing, limit: limit - handled });
      if (handled >= limit) return handled;
    }
  }
  return handled;
}
