import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import type { Collection, Db } from 'mongodb';
import type { Clock } from '../clock.ts';
import { createJointReads, type JointRead, type Read } from '../database/reads/joint-reads.ts';
import type { SealedField } from './sealed-values.ts';
import { type Sealing, sealedUnder } from './sealing.ts';

/** The uses of keys that sign, with their algorithms. Many clients of OpenID Connect accept no ID token but one of RS256. */
const signingAlgs = { signing: 'ES256', 'signing-rsa': 'RS256' } as const;
export type SigningUse = keyof typeof signingAlgs;
export type KeyUse = SigningUse | 'code' | 'id' | 'pairwise';

export const isSigningUse = (use: KeyUse): use is SigningUse => Object.hasOwn(signingAlgs, use);

/** A key, sealed (encrypted) under the master key. The newest active key of a use is current; older ones still verify. */
export interface KeyDocument {
  _id: string;
  use: KeyUse;
  sealed: string;
  createdAt: Date;
  activeAt: Date;
}

interface SigningKey {
  id: string;
  use: SigningUse;
  activeAt: number;
  privateKey: KeyObject;
  publicHalf: JWK & { kid: string };
}

interface SecretKey {
  id: string;
  use: Exclude<KeyUse, SigningUse>;
  activeAt: number;
  bytes: Uint8Array;
}

type OpenedKey = SigningKey | SecretKey;

export const keyCollection = 'keys';
export const sealedFields: SealedField[] = [{ collection: keyCollection, field: 'sealed' }];
/** The order in which the keys of one use become current. */
export const inOrder = { activeAt: 1, createdAt: 1, _id: 1 } as const;
/** Reads all keys. With the condition, the database uses an index. */
const allKeys: Read = {
  collection: keyCollection,
  filter: { _id: { $gt: '' } },
  projection: { use: 1, sealed: 1, createdAt: 1, activeAt: 1 },
};
const compareOrder = (one: KeyDocument, other: KeyDocument): number =>
  one.activeAt.getTime() - other.activeAt.getTime() ||
  one.createdAt.getTime() - other.createdAt.getTime() ||
  (one._id < other._id ? -1 : 1);
/** How often a process reads the keys, in milliseconds. It accepts a removed key for this time at most. */
export const keyringReadEvery = 1_000;
const uses: readonly KeyUse[] = ['signing', 'signing-rsa', 'code', 'id', 'pairwise'];

/** An RSA key has 2048 bits. It is generated on another thread, because that takes a tenth of a second. */
async function newSigningKey(use: SigningUse): Promise<string> {
  const { privateKey } = await generateKeyPair(signingAlgs[use], { extractable: true, modulusLength: 2048 });
  return JSON.stringify(await exportJWK(privateKey));
}

/** Generates a key, as text to be sealed. */
export const newKey = async (use: KeyUse): Promise<string> =>
  isSigningUse(use) ? newSigningKey(use) : randomBytes(32).toString('base64url');

/** Makes the first key of each use. If several processes do so, the first insert counts. */
async function makeFirstKeys(keys: Collection<KeyDocument>, sealing: Sealing): Promise<void> {
  const existing = await keys.distinct('use');
  for (const use of uses.filter((candidate) => !existing.includes(candidate))) {
    const at = new Date();
    const first = { use, sealed: await sealing.seal(await newKey(use)), createdAt: at, activeAt: at };
    await keys.updateOne({ _id: `${use}-1` }, { $setOnInsert: first }, { upsert: true });
  }
}

/** Decrypts a stored key. @throws if no master key of this process opens it */
async function openKey(
  { _id: id, use, sealed, activeAt }: KeyDocument,
  sealing: Sealing,
): Promise<OpenedKey> {
  const material = await sealing.open(sealed);
  const fields = { id, activeAt: activeAt.getTime() };
  if (!isSigningUse(use))
    return { ...fields, use, bytes: new Uint8Array(Buffer.from(material, 'base64url')) };
  const jwk = JSON.parse(material) as JWK;
  const about = { alg: signingAlgs[use], use: 'sig', kid: await calculateJwkThumbprint(jwk) };
  const privateKey = createPrivateKey({ key: { ...jwk }, format: 'jwk' });
  const publicHalf = { ...createPublicKey(privateKey).export({ format: 'jwk' }), ...about };
  return { ...fields, use, privateKey, publicHalf };
}

const isSigningKey = (key: OpenedKey): key is SigningKey => isSigningUse(key.use);
const idsOf = (keys: readonly OpenedKey[]) => keys.map(({ id }) => id).join(' ');

/**
 * Returns the newest active key of one use. The first key counts as active even if this process's clock is behind.
 * @param ofUse all keys of the use, in the order `inOrder`
 * @throws if there is none, for example after a partial restore of the database
 */
function currentOf<K extends OpenedKey>(use: K['use'], ofUse: readonly K[], now: number): K {
  const current = ofUse.findLast(({ activeAt }) => activeAt <= now) ?? ofUse[0];
  if (current === undefined) throw new Error(`the database has no key for the use ${use}`);
  return current;
}

/**
 * Loads the keys that all processes share, and makes missing ones. They are sealed under the master key, which is not in the
 * database.
 * @param clock the time that decides which key is current
 * @param read how the keys are read again
 * @throws if the master key does not open them
 */
export async function loadKeyring(
  db: Db,
  sealing: Sealing,
  clock: Pick<Clock, 'now'> = Date,
  read: JointRead = createJointReads(db),
) {
  const collection = db.collection<KeyDocument>(keyCollection);
  /** All keys, in the order `inOrder`. */
  let keys: readonly OpenedKey[] = [];
  let publicKeys: readonly JWK[] = [];

  /** Reads the keys again, to learn of changes by other processes. */
  async function refresh(): Promise<void> {
    const stored = (await read<KeyDocument>(allKeys)).toSorted(compareOrder);
    // An opened key stays in memory, so it would not show that it is now sealed under a master key that this process lacks.
    sealing.note(stored.map(({ sealed }) => sealedUnder(sealed)));
    // A key never changes, so only new ones are opened.
    const next = await Promise.all(
      stored.map(
        async (document) => keys.find(({ id }) => id === document._id) ?? openKey(document, sealing),
      ),
    );
    const signingKeys = next.filter(isSigningKey);
    const haveChanged = idsOf(signingKeys) !== idsOf(keys.filter(isSigningKey));
    keys = next;
    // The array is replaced only when the keys change, because verifiers are cached by the array.
    if (haveChanged) publicKeys = signingKeys.map(({ publicHalf }) => publicHalf);
  }

  await makeFirstKeys(collection, sealing);
  await refresh();
  function currentSigner(use: SigningUse): { kid: string; privateKey: KeyObject } {
    const ofUse = keys.filter((key): key is SigningKey => key.use === use);
    const { privateKey, publicHalf } = currentOf(use, ofUse, clock.now());
    return { kid: publicHalf.kid, privateKey };
  }
  const secretsOf = (use: SecretKey['use']) => keys.filter((key): key is SecretKey => key.use === use);
  const currentSecret = (use: SecretKey['use']) => currentOf(use, secretsOf(use), clock.now());

  return {
    /** An ES256 key; `kid` is its thumbprint (RFC 7638). Read it for each signature, because it changes at a rotation. */
    get signing() {
      return currentSigner('signing');
    },
    /** An RS256 key, for ID tokens only. */
    get signingRsa() {
      return currentSigner('signing-rsa');
    },
    /** The public keys, for the JWKS endpoint and for verification. They include keys that do not sign yet. */
    get publicKeys(): readonly JWK[] {
      return publicKeys;
    },
    /** Keys of authorization codes. New codes use the current one, and their sessions store its id. */
    code: {
      get current(): SecretKey {
        return currentSecret('code');
      },
      byId: (wanted: string): SecretKey | undefined => secretsOf('code').find(({ id }) => id === wanted),
    },
    /** Key of derived identifiers. Never rotated: a repeated request must get the id of the first one, so that it is found. */
    id: currentSecret('id').bytes,
    /** Key of pairwise subjects. Never rotated, because `sub` would change. */
    pairwise: currentSecret('pairwise').bytes,
    refresh,
  };
}
export type Keyring = Awaited<ReturnType<typeof loadKeyring>>;
