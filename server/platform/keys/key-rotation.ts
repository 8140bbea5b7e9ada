import type { Db } from 'mongodb';
import type { RotatedUse } from '../../../contracts/admin/keyring.ts';
import { accessTokenLifetimeSeconds } from '../../../contracts/oauth.ts';
import { listProcesses, processName } from '../../../contracts/processes.ts';
import type { Clock } from '../clock.ts';
import type { Actor } from '../database/audit/audit-entry.ts';
import { endDryRun } from '../database/audit/dry-run.ts';
import { isDuplicateKey } from '../database/failures.ts';
import { ApiError } from '../errors.ts';
import type { Processes } from '../jobs/processes.ts';
import {
  inOrder,
  isSigningUse,
  type KeyDocument,
  type Keyring,
  keyCollection,
  newKey,
  type SigningUse,
} from './keyring.ts';
import { countSealed, resealSome, type SealedCounts, type SealedField } from './sealed-values.ts';
import type { Sealing } from './sealing.ts';

/** After this time, every process signs with a newer key, in milliseconds. */
const keyReadDelayMs = 60_000;

/**
 * When an old signing key can be retired: once all tokens that it signed have expired.
 * @param all all keys, sorted by `inOrder`
 * @returns undefined for a key of another use, or one that no newer key has replaced by `now`
 */
export function retirableFrom(key: KeyDocument, all: readonly KeyDocument[], now: number): Date | undefined {
  if (!isSigningUse(key.use)) return undefined;
  const laterKeys = all.slice(all.findIndex(({ _id }) => _id === key._id) + 1);
  const successor = laterKeys.find(({ use }) => use === key.use);
  if (!successor || successor.activeAt.getTime() > now) return undefined;
  const lastSignatureAt = successor.activeAt.getTime() + keyReadDelayMs;
  return new Date(lastSignatureAt + accessTokenLifetimeSeconds * 1000);
}

interface Settings {
  db: Db;
  sealing: Sealing;
  keyring: Pick<Keyring, 'refresh'>;
  fields: readonly SealedField[];
  processes: Pick<Processes, 'list'>;
  clock: Pick<Clock, 'now'>;
}

/** A dry run ends before the first write. */
type Caller = Pick<Actor, 'isDryRun'>;

export type KeyRotation = ReturnType<typeof createKeyRotation>;

/** Makes and retires keys, and seals stored secrets again under another master key. The methods throw ApiError. */
export function createKeyRotation({ db, sealing, keyring, fields, processes, clock }: Settings) {
  const keys = db.collection<KeyDocument>(keyCollection);
  const list = () => keys.find().sort(inOrder).toArray();
  const [current] = sealing.masterKeys;
  const conflict = (description: string) => new ApiError('conflict', { description });
  const refuse = (description: string) => new ApiError('refused', { description });

  /** Refuses while a process seals under another master key, because it would make new values under that key. */
  async function requireOneMasterKey(): Promise<void> {
    const others = (await processes.list()).filter(({ masterKeys: [first] }) => first !== current);
    if (others.length === 0) return;
    const names = listProcesses(others.map((process) => processName(process)));
    throw refuse(
      `Put the new key first in SVC_MASTER_KEY of every process. These seal under another key: ${names}`,
    );
  }

  /**
   * Makes the next key of a use. Its number follows the keys that were read, so of two simultaneous rotations one is a
   * conflict. A number is never used twice, because the newest key is removed only after it has a successor.
   */
  async function makeNext(
    use: RotatedUse,
    { all, activeAt }: { all: readonly KeyDocument[]; activeAt: Date },
  ): Promise<KeyDocument> {
    const keysOfUse = all.filter((key) => key.use === use);
    const numberOf = ({ _id }: KeyDocument) => Number(_id.slice(`${use}-`.length));
    const lastNumber = Math.max(...keysOfUse.map(numberOf));
    const key: KeyDocument = {
      _id: `${use}-${lastNumber + 1}`,
      use,
      sealed: await sealing.seal(await newKey(use)),
      createdAt: new Date(clock.now()),
      activeAt,
    };
    await keys.insertOne(key).catch((error: unknown) => {
      throw isDuplicateKey(error) ? conflict('Another rotation came between; list the keys') : error;
    });
    return key;
  }

  /** The signing key with this id, among all keys. @throws ApiError `not_found`; `refused` for a key of another use */
  async function signingKey(
    id: string,
  ): Promise<{ key: KeyDocument & { use: SigningUse }; all: KeyDocument[] }> {
    const all = await list();
    const key = all.find(({ _id }) => _id === id);
    if (!key) throw new ApiError('not_found', { description: `No key ${id}` });
    if (isSigningUse(key.use)) return { key: { ...key, use: key.use }, all };
    throw refuse(`${id} is no signing key: what was made with it could not be recognised any more`);
  }

  async function remove(id: string): Promise<void> {
    await keys.deleteOne({ _id: id });
    await keyring.refresh();
  }

  return {
    list,
    masterKeys: sealing.masterKeys,
    counts: (): Promise<SealedCounts> => countSealed(db, fields),

    /** Makes a new key, which is published now and used later. @param leadMs milliseconds until it is used */
    async rotate(use: RotatedUse, leadMs: number, actor: Caller): Promise<KeyDocument> {
      const now = clock.now();
      const all = await list();
      const pending = all.find((key) => key.use === use && key.activeAt.getTime() > now);
      if (pending)
        throw conflict(
          `${pending._id} is pending already: it is used from ${pending.activeAt.toISOString()}`,
        );
      endDryRun(actor);
      const key = await makeNext(use, { all, activeAt: new Date(now + leadMs) });
      await keyring.refresh();
      return key;
    },

    /** Removes an old signing key for ever. @returns the removed key */
    async retire(id: string, actor: Caller): Promise<KeyDocument> {
      const { key, all } = await signingKey(id);
      const now = clock.now();
      const retirableAt = retirableFrom(key, all, now);
      if (!retirableAt)
        throw refuse(`${id} signs, or is going to; only a key that a newer one has replaced can be retired`);
      if (retirableAt.getTime() > now)
        throw refuse(
          `Tokens that ${id} has signed may live until ${retirableAt.toISOString()}; retire it then`,
        );
      endDryRun(actor);
      await remove(id);
      return key;
    },

    /**
     * Removes a signing key now, which makes all its signatures invalid. If no newer key has replaced it, a new one does so
     * first: at once, or when the removed key would have become active. May be repeated after an interruption.
     * @returns the removed key, and the id of its replacement
     */
    async retireCompromised(
      id: string,
      actor: Caller,
    ): Promise<{ key: KeyDocument; replacedBy: string | null }> {
      const { key, all } = await signingKey(id);
      const now = clock.now();
      endDryRun(actor);
      const isReplaced = retirableFrom(key, all, now) !== undefined;
      const activeAt = new Date(Math.max(now, key.activeAt.getTime()));
      const successor = isReplaced ? undefined : await makeNext(key.use, { all, activeAt });
      await remove(id);
      return { key, replacedBy: successor?._id ?? null };
    },

    /** Seals at most `limit` values under the first master key. Repeat it until none is left. */
    async reseal(
      limit: number,
      actor: Caller,
    ): Promise<{ masterKey: string; resealed: number; left: number }> {
      await requireOneMasterKey();
      const counts = await countSealed(db, fields);
      const missing = [...counts.keys()].filter((name) => !sealing.masterKeys.includes(name));
      if (missing.length > 0)
        throw refuse(
          `Values are sealed under ${missing.join(', ')}, which SVC_MASTER_KEY of this process lacks`,
        );
      endDryRun(actor);
      const resealed = await resealSome(db, fields, { sealing, limit });
      const countsAfter = await countSealed(db, fields);
      let left = 0;
      for (const [masterKey, count] of countsAfter) if (masterKey !== current) left += count;
      return { masterKey: current, resealed, left };
    },
  };
}
