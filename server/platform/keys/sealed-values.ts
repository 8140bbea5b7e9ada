import type { Db, Document, Filter } from 'mongodb';
import { ConfigError } from '../config/config.ts';
import { type Sealing, sealedUnder } from './sealing.ts';

/** Where a store keeps a value that is sealed under the master key. */
export interface SealedField {
  collection: string;
  /** Its path in the document. */
  field: string;
  /** Documents that count their changes in `revision`: resealing is one. */
  counted?: boolean;
}

const putBack = 'Put them back, and run `svcadmin keyring reseal` before you take them out.';

/** How many values are sealed under each master key. */
export type SealedCounts = ReadonlyMap<string, number>;

interface Group {
  _id: string;
  count: number;
}

/** The protected headers of a field's values, with the number of values that have each. */
const headersOf = (db: Db, { collection, field }: SealedField): Promise<Group[]> =>
  db
    .collection(collection)
    .aggregate<Group>([
      { $match: { [field]: { $type: 'string' } } },
      { $group: { _id: { $arrayElemAt: [{ $split: [`$${field}`, '.'] }, 0] }, count: { $sum: 1 } } },
    ])
    .toArray();

/** Counts the sealed values of all fields by the name of their master key. */
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
 * @param advice what to do about it
 * @throws ConfigError where something is sealed under a master key that is not among these
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

/** Values that are opened at the same time. */
const openedAtOnce = 100;

/**
 * The `_id` of a document whose value at one of these places is what `matches` recognises; undefined where there is none. It
 * opens every value, some thousands a second: no stored digest can be out of date, and builds beside this one need not know of it.
 */
export async function findSealed(
  db: Db,
  fields: readonly SealedField[],
  { sealing, matches }: { sealing: Pick<Sealing, 'open'>; matches: (value: string) => boolean },
): Promise<string | undefined> {
  for (const { collection, field } of fields) {
    const isMatch = async (document: Document): Promise<boolean> => {
      // A value that was altered matches nothing.
      const value = await sealing.open(String(valueAt(document, field))).catch(() => undefined);
      return value !== undefined && matches(value);
    };
    const cursor = db
      .collection<{ _id: string }>(collection)
      .find({ [field]: { $type: 'string' } } as Filter<{ _id: string }>, { projection: { [field]: 1 } });
    for (let batch: { _id: string }[] = []; ; batch = []) {
      while (batch.length < openedAtOnce && (await cursor.hasNext())) {
        const document = await cursor.next();
        if (document) batch.push(document);
      }
      const found = await Promise.all(batch.map(isMatch));
      const document = batch[found.indexOf(true)];
      if (document) await cursor.close();
      if (document || batch.length < openedAtOnce) return document?._id;
    }
  }
  return undefined;
}

const valueAt = (document: Document, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Document | undefined)?.[name], document);

const textFor = (header: string) => new RegExp(`^${header.replace(/[^\w-]/g, '')}\\.`);

/**
 * Seals values under the first master key that are under another one, at most `limit` of them. May be repeated, may run in
 * several processes, and leaves a value alone that was changed after it was read.
 * @returns how many were sealed; fewer than `limit` when none is left
 */
export async function resealSome(
  db: Db,
  fields: readonly SealedField[],
  { sealing, limit }: { sealing: Sealing; limit: number },
): Promise<number> {
  const [current] = sealing.masterKeys;
  let done = 0;
  for (const place of fields) {
    const { collection, field, counted } = place;
    const documents = db.collection<{ _id: string }>(collection);
    const old = (await headersOf(db, place)).filter(({ _id }) => sealedUnder(_id) !== current);
    for (const { _id: header } of old) {
      const filter = { [field]: textFor(header) } as Filter<{ _id: string }>;
      const found = await documents
        .find(filter, { projection: { [field]: 1 }, limit: limit - done })
        .toArray();
      for (const document of found) {
        const sealed = String(valueAt(document, field));
        const again = await sealing.seal(await sealing.open(sealed));
        await documents.updateOne(
          { _id: document._id, [field]: sealed },
          { $set: { [field]: again }, ...(counted && { $inc: { revision: 1 } }) },
        );
      }
      done += found.length;
      if (done >= limit) return done;
    }
  }
  return done;
}
