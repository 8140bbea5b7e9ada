import { expect, it } from 'vitest';
import { existingNames } from '../../server/operations/requests/existing-names.ts';

/** Stores that find every ID. `asked` lists the IDs that were looked up. */
function stores() {
  const asked: string[] = [];
  const find = (of: string) => async (names: readonly string[]) => {
    asked.push(`${of} ${names}`);
    return names.map((name) => ({ _id: `${of} of ${name}`, hash: name, partnerId: 'ptr_1' }));
  };
  const of = {
    partners: {
      clients: { findAll: find('client') },
      keys: { findByHashes: find('key') },
      integrations: { findAll: find('integration') },
    },
    verification: { sessions: { existing: find('session') } },
  };
  return { asked, of: of as unknown as Parameters<typeof existingNames>[0] };
}

it('existingNames, for IDs in the request log, returns the partner of each ID, and for an API key also the key', async () => {
  const { of } = stores();
  const request = { clientId: 'a', sessionId: 'b', integrationId: 'c', keyHash: 'd' };
  expect(Object.fromEntries(await existingNames(of, [request, request]))).toEqual({
    'client of a': { partnerId: 'ptr_1' },
    'session of b': { partnerId: 'ptr_1' },
    'integration of c': { partnerId: 'ptr_1' },
    d: { partnerId: 'ptr_1', keyId: 'key of d' },
  });
});

it('existingNames, for IDs in the request log, queries a store only if an ID of its kind is given', async () => {
  const { asked, of } = stores();
  await existingNames(of, [{ clientId: 'a' }, {}]);
  expect(asked).toEqual(['client a']);
  await existingNames(of, []);
  expect(asked).toHaveLength(1);
});
