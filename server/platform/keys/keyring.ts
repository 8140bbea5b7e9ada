import { createPrivateKey, type KeyObject, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import type { Collection, Db } from 'mongodb';
import type { Clock } from '../clock.ts';
import type { SealedField } from './sealed-values.ts';
import type { Sealing } from './sealing.ts';

export type KeyUse = 'signing' | 'code' | 'id' | 'pairwise';

/** A key, sealed (encrypted) under the master key. The newest active key of a use is current; older ones still verify. */
export interface KeyDocument {
  _id: string;
  use: KeyUse;
  sealed: string;
  createdAt: Date;
  /** When the key becomes active. */
  activeAt: Date;
}

export interface SymmetricKey {
  id: string;
  bytes: Uint8Array;
}

export const keyCollection = 'keys';
export const sealedFields: SealedField[] = [{ collection: keyCollection, field: 'sealed' }];
/** The order in which the keys of one use become current. */
export const inOrder = { activeAt: 1, createdAt: 1, _id: 1 } as const;
/** How often a process reads the keys, in milliseconds. It accepts a removed key for this time at most. */
export const keyringReadEvery = 1_000;
const uses: readonly KeyUse[] = ['signing', 'code', 'id', 'pairwise'];

async function newSigningKey(): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return JSON.stringify(await exportJWK(privateKey));
}

/** Generates a key, as text to be sealed. */
export const newKey = async (use: KeyUse): Promise<string> =>
  use === 'signing' ? newSigningKey() : randomBytes(32).toString('base64url');

/** Makes the first key of each use. If several processes do so, the first insert counts. */
async function makeFirstKeys(keys: Collection<KeyDocument>, sealing: Sealing): Promise<void> {
  const existing = await keys.distinct('use');
  for (const use of uses.filter((candidate) => !existing.includes(candidate))) {
    const at = new Date();
    const first = { use, sealed: await sealing.seal(await newKey(use)), createdAt: at, activeAt: at };
    await keys.updateOne({ _id: `${use}-1` }, { $setOnInsert: first }, { upsert: true });
  }
}

/** The fields that all keys have in memory. */
interface OpenedKey {
  id: string;
  use: KeyUse;
  activeAt: number;
}
type SigningKey = OpenedKey & { privateKey: KeyObject; publicHalf: JWK & { kid: string } };
type SecretKey = OpenedKey & SymmetricKey;

const openSecret = (fields: OpenedKey, material: string): SecretKey => ({
  ...fields,
  bytes: new Uint8Array(Buffer.from(material, 'base64url')),
});

async function openSigning(fields: OpenedKey, material: string): Promise<SigningKey> {
  const jwk = JSON.parse(material) as JWK;
  const keyPair = { ...jwk, alg: 'ES256', use: 'sig', kid: await calculateJwkThumbprint(jwk) };
  const { d: _privatePart, ...publicHalf } = keyPair;
  return { ...fields, privateKey: createPrivateKey({ key: keyPair, format: 'jwk' }), publicHalf };
}

/** The newest active key. The first key counts as active even if this process's clock is behind. */
function currentOf<K extends OpenedKey>(keys: readonly K[], use: KeyUse, now: number): K {
  const ofUse = keys.filter((key) => key.use === use);
  const current = ofUse.findLast(({ activeAt }) => activeAt <= now) ?? ofUse[0];
  if (current === undefined) throw new Error(`a ${use} key was just made, but is not there`);
  return current;
}

/**
 * Loads the keys that all processes share, and makes missing ones. They are sealed under the master key, which is not in the
 * database.
 * @param clock the time that decides which key is current
 * @throws if the master key does not open them
 */
export async function loadKeyring(db: Db, sealing: Sealing, clock: Pick<Clock, 'now'> = Date) {
  const collection = db.collection<KeyDocument>(keyCollection);
  let signing: SigningKey[] = [];
  let secrets: SecretKey[] = [];
  let publicKeys: readonly JWK[] = [];

  /** Opens stored keys, but only those that are not among `opened`, because keys never change. */
  async function openNew<K extends OpenedKey>(
    stored: readonly KeyDocument[],
    opened: readonly K[],
    open: (fields: OpenedKey, material: string) => K | Promise<K>,
  ): Promise<K[]> {
    const keys: K[] = [];
    for (const { _id: id, use, sealed, activeAt } of stored) {
      const fields = { id, use, activeAt: activeAt.getTime() };
      const known = opened.find((key) => key.id === id);
      keys.push(known ?? (await open(fields, await sealing.open(sealed))));
    }
    return keys;
  }

  /** Reads the keys again, to learn of changes by other processes. */
  async function refresh(): Promise<void> {
    const stored = await collection.find().sort(inOrder).toArray();
    const isSigning = ({ use }: KeyDocument) => use === 'signing';
    const nextSigning = await openNew(stored.filter(isSigning), signing, openSigning);
    const nextSecrets = await openNew(
      stored.filter((key) => !isSigning(key)),
      secrets,
      openSecret,
    );
    const idsOf = (keys: readonly SigningKey[]) => keys.map(({ id }) => id).join(' ');
    const haveChanged = idsOf(nextSigning) !== idsOf(signing);
    [signing, secrets] = [nextSigning, nextSecrets];
    // The array is replaced only when the keys change, because verifiers are cached by the array.
    if (haveChanged) publicKeys = signing.map(({ publicHalf }) => publicHalf);
  }

  await makeFirstKeys(collection, sealing);
  await refresh();
  const symmetric = ({ id, bytes }: SecretKey): SymmetricKey => ({ id, bytes });

  return {
    /** An ES256 key; `kid` is its thumbprint (RFC 7638). Read it for each signature, because it changes at a rotation. */
    get signing(): { kid: string; privateKey: KeyObject } {
      const { privateKey, publicHalf } = currentOf(signing, 'signing', clock.now());
      return { kid: publicHalf.kid, privateKey };
    },
    /** The public keys, for the JWKS endpoint and for verification. They include keys that do not sign yet. */
    get publicKeys(): readonly JWK[] {
      return publicKeys;
    },
    /** Keys of authorization codes. New codes use the current one, and their sessions store its id. */
    code: {
      get current(): SymmetricKey {
        return symmetric(currentOf(secrets, 'code', clock.now()));
      },
      byId(wanted: string): SymmetricKey | undefined {
        const found = secrets.find(({ id, use }) => use === 'code' && id === wanted);
        return found && symmetric(found);
      },
    },
    /** Key of derived identifiers. Never rotated: a repeated request must get the id of the first one, so that it is found. */
    id: currentOf(secrets, 'id', clock.now()).bytes,
    /** Key of pairwise subjects. Never rotated, because `sub` would change. */
    pairwise: currentOf(secrets, 'pairwise', clock.now()).bytes,
    refresh,
  };
}
export type Keyring = Awaited<ReturnType<typeof loadKeyring>>;
