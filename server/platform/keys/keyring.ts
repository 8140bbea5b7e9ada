import { createPrivateKey, type KeyObject, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import type { Collection, Db } from 'mongodb';
import type { Clock } from '../clock.ts';
import type { SealedField } from './sealed-values.ts';
import type { Sealing } from './sealing.ts';

export type KeyUse = 'signing' | 'code' | 'id' | 'pairwise';

/** One sealed document per key. Of a use, the newest that is active is current; older ones still verify. */
export interface KeyDocument {
  _id: string;
  use: KeyUse;
  sealed: string;
  createdAt: Date;
  /** From when on it is used. */
  activeAt: Date;
}

export interface SymmetricKey {
  id: string;
  bytes: Uint8Array;
}

/** The keys that all processes share. Only the master key, which seals them, lives outside the database. */
export interface Keyring {
  /** ES256; `kid` is the RFC 7638 thumbprint. Changes while the process runs: to be read for each signature. */
  readonly signing: { kid: string; privateKey: KeyObject };
  /** Public halves, for the JWKS endpoint and for verification: also of the key that does not sign yet. */
  readonly publicKeys: readonly JWK[];
  /** Authorization codes are derived under the current one; sessions store which. */
  code: { readonly current: SymmetricKey; byId(id: string): SymmetricKey | undefined };
  /** Identifiers of repeatable steps. Never rotated: repeated steps would not be recognised. */
  id: Uint8Array;
  /** Pairwise subjects. Never rotated: `sub` would change. */
  pairwise: Uint8Array;
  /** Reads the keys again, so that a key that another process has made is known here. */
  refresh(): Promise<void>;
}

export const keyCollection = 'keys';
export const sealedFields: SealedField[] = [{ collection: keyCollection, field: 'sealed' }];
/** The order in which the keys of one use become current. */
export const inOrder = { activeAt: 1, createdAt: 1, _id: 1 } as const;
/** Milliseconds between two reads of the keys by a process: a key that was taken out is accepted for as long at most. */
export const keyringReadEvery = 1_000;
const uses: readonly KeyUse[] = ['signing', 'code', 'id', 'pairwise'];

async function newSigningKey(): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return JSON.stringify(await exportJWK(privateKey));
}

/** The sealed part of a new key. */
export const newKey = async (use: KeyUse): Promise<string> =>
  use === 'signing' ? newSigningKey() : randomBytes(32).toString('base64url');

/** Makes the first key of each use; the first insert of all processes wins. */
async function makeFirstKeys(keys: Collection<KeyDocument>, sealing: Sealing): Promise<void> {
  const there = await keys.distinct('use');
  for (const use of uses.filter((each) => !there.includes(each))) {
    const at = new Date();
    const first = { use, sealed: await sealing.seal(await newKey(use)), createdAt: at, activeAt: at };
    await keys.updateOne({ _id: `${use}-1` }, { $setOnInsert: first }, { upsert: true });
  }
}

interface Opened {
  id: string;
  use: KeyUse;
  activeAt: number;
}
type SigningKey = Opened & { privateKey: KeyObject; publicHalf: JWK & { kid: string } };
type SecretKey = Opened & SymmetricKey;

const bytesOf = (material: string) => new Uint8Array(Buffer.from(material, 'base64url'));

async function openSigning(about: Opened, material: string): Promise<SigningKey> {
  const jwk = JSON.parse(material) as JWK;
  const whole = { ...jwk, alg: 'ES256', use: 'sig', kid: await calculateJwkThumbprint(jwk) };
  const { d: _secret, ...publicHalf } = whole;
  return { ...about, privateKey: createPrivateKey({ key: whole, format: 'jwk' }), publicHalf };
}

/** The newest active key. The first key counts as active even if this process's clock is behind. */
function currentOf<K extends Opened>(keys: readonly K[], use: KeyUse, now: number): K {
  const ofUse = keys.filter((key) => key.use === use);
  const current = ofUse.findLast(({ activeAt }) => activeAt <= now) ?? ofUse[0];
  if (current === undefined) throw new Error(`a ${use} key was just made, but is not there`);
  return current;
}

/**
 * Loads the keys, making those that do not exist yet.
 * @param clock decides which key is current
 * @throws where the master key does not open them
 */
export async function loadKeyring(
  db: Db,
  sealing: Sealing,
  clock: Pick<Clock, 'now'> = Date,
): Promise<Keyring> {
  const collection = db.collection<KeyDocument>(keyCollection);
  let signing: SigningKey[] = [];
  let secrets: SecretKey[] = [];
  let publicKeys: readonly JWK[] = [];

  /** Opens only keys that are new here: a key does not change. */
  async function refresh(): Promise<void> {
    const found = await collection.find().sort(inOrder).toArray();
    const nextSigning: SigningKey[] = [];
    const nextSecrets: SecretKey[] = [];
    for (const { _id: id, use, sealed, activeAt } of found) {
      const about = { id, use, activeAt: activeAt.getTime() };
      if (use === 'signing') {
        const known = signing.find((key) => key.id === id);
        nextSigning.push(known ?? (await openSigning(about, await sealing.open(sealed))));
      } else {
        const known = secrets.find((key) => key.id === id);
        nextSecrets.push(known ?? { ...about, bytes: bytesOf(await sealing.open(sealed)) });
      }
    }
    const isSame = nextSigning.length === signing.length && nextSigning.every((key, n) => key === signing[n]);
    [signing, secrets] = [nextSigning, nextSecrets];
    // The array stays the same one while its keys do: verifiers are made once for each array.
    if (!isSame) publicKeys = signing.map(({ publicHalf }) => publicHalf);
  }

  await makeFirstKeys(collection, sealing);
  await refresh();
  const symmetric = ({ id, bytes }: SecretKey): SymmetricKey => ({ id, bytes });

  return {
    get signing() {
      const { privateKey, publicHalf } = currentOf(signing, 'signing', clock.now());
      return { kid: publicHalf.kid, privateKey };
    },
    get publicKeys() {
      return publicKeys;
    },
    code: {
      get current() {
        return symmetric(currentOf(secrets, 'code', clock.now()));
      },
      byId(wanted) {
        const found = secrets.find(({ id, use }) => use === 'code' && id === wanted);
        return found && symmetric(found);
      },
    },
    id: currentOf(secrets, 'id', clock.now()).bytes,
    pairwise: currentOf(secrets, 'pairwise', clock.now()).bytes,
    refresh,
  };
}
