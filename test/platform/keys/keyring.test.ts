import { calculateJwkThumbprint, importJWK, jwtVerify, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  type KeyDocument,
  type Keyring,
  loadKeyring,
  newKey,
} from '../../../server/platform/keys/keyring.ts';
import { createSealing } from '../../../server/platform/keys/sealing.ts';
import { freshDatabase } from '../../harness/database.ts';
import { insertSigningKeys } from '../../harness/signing-keys.ts';

const sealing = createSealing([new Uint8Array(32).fill(1)]);

/** A keyring on a new database. */
async function freshKeyring() {
  const { db } = await freshDatabase();
  await insertSigningKeys(db, sealing);
  return { db, keyring: await loadKeyring(db, sealing) };
}

describe('the keyring', () => {
  it('has the same keys in three processes that start simultaneously, because the first insert of each key wins', async () => {
    const { db } = await freshDatabase();
    const rings = await Promise.all(Array.from({ length: 3 }, () => loadKeyring(db, sealing)));
    const shared = rings.map(({ signing, code, id, pairwise, publicKeys }) => ({
      kid: signing.kid,
      code: code.current,
      id,
      pairwise,
      publicKeys,
    }));
    for (const each of shared) expect(each).toEqual(shared[0]);
    expect(await db.collection('keys').countDocuments()).toBe(5);
    expect(await loadKeyring(db, sealing)).toMatchObject({ signing: { kid: rings[0]?.signing.kid } });
  });

  it('has different keys for ids, subjects and codes, and the database contains none of them in plain text', async () => {
    const { db, keyring } = await freshKeyring();
    const { id, pairwise, code } = keyring;
    const bytes = [id, pairwise, code.current.bytes].map((each) => Buffer.from(each).toString('base64url'));
    expect(new Set(bytes).size).toBe(3);
    for (const each of [id, pairwise, code.current.bytes]) expect(each).toHaveLength(32);
    const stored = JSON.stringify(await db.collection('keys').find().toArray());
    for (const each of bytes) expect(stored).not.toContain(each);
    expect(stored).not.toContain('"d"');
  });

  it('cannot be opened with another master key', async () => {
    const { db } = await freshKeyring();
    const other = createSealing([new Uint8Array(32).fill(2)]);
    await expect(loadKeyring(db, other)).rejects.toThrow('SVC_MASTER_KEY');
  });

  it('publishes only the public keys, named by their thumbprint (RFC 7638)', async () => {
    const { keyring } = await freshKeyring();
    const { signing, signingRsa, publicKeys } = keyring;
    const [jwk = {}, rsa = {}] = publicKeys;
    expect(Object.keys(jwk).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    expect(Object.keys(rsa).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
    expect(await calculateJwkThumbprint(rsa)).toBe(signingRsa.kid);
    expect(await calculateJwkThumbprint(jwk)).toBe(signing.kid);
    const token = await new SignJWT({}).setProtectedHeader({ alg: 'ES256' }).sign(signing.privateKey);
    await jwtVerify(token, await importJWK(jwk, 'ES256'));
    const other = await new SignJWT({}).setProtectedHeader({ alg: 'RS256' }).sign(signingRsa.privateKey);
    await jwtVerify(other, await importJWK(rsa, 'RS256'));
  });

  it.each([
    ['signing', 'ES256', ({ signing }: Keyring) => signing],
    ['signing-rsa', 'RS256', ({ signingRsa }: Keyring) => signingRsa],
  ] as const)(
    'signs with the newest key of the use %s, and publishes the older public keys too',
    async (use, alg, signer) => {
      const { db, keyring: before } = await freshKeyring();
      const sealed = await sealing.seal(await newKey(use));
      const [createdAt, activeAt] = [new Date(Date.now() + 1_000), new Date()];
      await db
        .collection<KeyDocument>('keys')
        .insertOne({ _id: `${use}-2`, use, sealed, createdAt, activeAt });

      const after = await loadKeyring(db, sealing);
      expect(signer(after).kid).not.toBe(signer(before).kid);
      const ofAlg = after.publicKeys.filter((key) => key.alg === alg);
      expect(ofAlg.map(({ kid }) => kid)).toEqual([signer(before).kid, signer(after).kid]);
      expect(after.code.byId(before.code.current.id)).toEqual(before.code.current);
      expect(after.code.byId('code-9')).toBeUndefined();
    },
  );

  it.each([
    ['signing', (keyring: Keyring) => keyring.signing],
    ['signing-rsa', (keyring: Keyring) => keyring.signingRsa],
    ['code', (keyring: Keyring) => keyring.code.current],
  ] as const)(
    'names the use %s in its error if the database has lost the keys of this use',
    async (use, read) => {
      const { db, keyring } = await freshKeyring();
      await db.collection('keys').deleteMany({ use });
      await keyring.refresh();
      expect(() => read(keyring)).toThrow(`the database has no key for the use ${use}`);
    },
  );
});
