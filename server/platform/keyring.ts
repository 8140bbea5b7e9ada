import { createPrivateKey, type KeyObject, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import type { Collection, Db } from 'mongodb';
import type { Sealing } from './sealing.ts';

/** One sealed document per key. The newest of a use is current; older ones still verify. */
interface KeyDocument {
  _id: string;
  use: 'signing' | 'code' | 'id' | 'pairwise';
  sealed: string;
  createdAt: Date;
}

export interface SymmetricKey {
  id: string;
  bytes: Uint8Array;
}

/** The keys that all processes share. Only the master key, which seals them, lives outside the database. */
export interface Keyring {
  /** ES256; `kid` is the RFC 7638 thumbprint. */
  signing: { kid: string; privateKey: KeyObject };
  /** Public halves, for the JWKS endpoint and for verification. */
  publicKeys: readonly JWK[];
  /** Authorization codes are derived under the current one; sessions store which. */
  code: { current: SymmetricKey; byId(id: string): SymmetricKey | undefined };
  /** Identifiers of repeatable steps. */
  id: Uint8Array;
  /** Pairwise subjects. Never rotated: `sub` would change. */
  pairwise: Uint8Array;
}

async function newSigningKey(): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return JSON.stringify(await exportJWK(privateKey));
}

/** The keys of one use, oldest first; makes the first one, and the first insert of all processes wins. */
async function keysOf(keys: Collection<KeyDocument>, sealing: Sealing, use: KeyDocument['use']) {
  const find = () => keys.find({ use }).sort({ createdAt: 1, _id: 1 }).toArray();
  let found = await find();
  if (found.length === 0) {
    const material = use === 'signing' ? await newSigningKey() : randomBytes(32).toString('base64url');
    const first = { use, sealed: await sealing.seal(material), createdAt: new Date() };
    await keys.updateOne({ _id: `${use}-1` }, { $setOnInsert: first }, { upsert: true });
    found = await find();
  }
  return Promise.all(
    found.map(async ({ _id, sealed }) => ({ id: _id, material: await sealing.open(sealed) })),
  );
}

function last<T>(values: readonly T[]): T {
  const value = values.at(-1);
  if (value === undefined) throw new Error('a key of this use was just made, but is not there');
  return value;
}

/** Loads the keys, making those that do not exist yet. @throws where the master key does not open them */
export async function loadKeyring(db: Db, sealing: Sealing): Promise<Keyring> {
  const keys = db.collection<KeyDocument>('keys');
  const [signing, code, id, pairwise] = await Promise.all([
    keysOf(keys, sealing, 'signing'),
    keysOf(keys, sealing, 'code'),
    keysOf(keys, sealing, 'id'),
    keysOf(keys, sealing, 'pairwise'),
  ]);
  const privateJwks = await Promise.all(
    signing.map(async ({ material }) => {
      const jwk = JSON.parse(material) as JWK;
      return { ...jwk, alg: 'ES256', use: 'sig', kid: await calculateJwkThumbprint(jwk) };
    }),
  );
  const current = last(privateJwks);
  const privateKey = createPrivateKey({ key: { ...current }, format: 'jwk' });
  const symmetric = (key: { id: string; material: string }): SymmetricKey => ({
    id: key.id,
    bytes: new Uint8Array(Buffer.from(key.material, 'base64url')),
  });
  const codeKeys = code.map(symmetric);

  return {
    signing: { kid: current.kid, privateKey },
    publicKeys: privateJwks.map(({ d: _secret, ...publicHalf }) => publicHalf),
    code: { current: last(codeKeys), byId: (wanted) => codeKeys.find((key) => key.id === wanted) },
    id: symmetric(last(id)).bytes,
    pairwise: symmetric(last(pairwise)).bytes,
  };
}
