import { describe, expect, it } from 'vitest';
import layout from '../../.config/floors.json' with { type: 'json' };
import { collectionFaults, folderFaults, importFaults } from '../../.config/layout.mjs';

const faultsOf = (source: string, resolved: string) =>
  importFaults([{ source, dependencies: [{ resolved }] }], layout);

describe('the floors of server/', () => {
  it('permit imports from the own room and from the rooms below it', () => {
    expect(faultsOf('server/billing/charge.ts', 'server/billing/ledger/heads.ts')).toEqual([]);
    expect(faultsOf('server/billing/charge.ts', 'server/platform/ids.ts')).toEqual([]);
    expect(faultsOf('server/main.ts', 'server/demo/demo.ts')).toEqual([]);
  });

  it('refuse an import from a room above', () => {
    expect(faultsOf('server/partners/feature.ts', 'server/billing/charge.ts')).toEqual([
      'an import leads up: server/partners/feature.ts -> server/billing/charge.ts',
    ]);
    expect(faultsOf('server/console/ops/ops-page.ts', 'server/main.ts')).toHaveLength(1);
  });

  it('refuse an import that passes by the entrance of a room', () => {
    expect(faultsOf('server/pages/feature.ts', 'server/identity-wallet/port.ts')).toEqual([]);
    expect(faultsOf('server/pages/feature.ts', 'server/identity-wallet/formats/mdoc.ts')).toHaveLength(1);
  });

  it('refuse imports of a room that stands apart, and from it', () => {
    expect(faultsOf('server/demo/demo.ts', 'server/platform/ids.ts')).toHaveLength(1);
    expect(faultsOf('server/api/docs.ts', 'server/demo/demo.ts')).toHaveLength(1);
  });

  it('refuse a file that is in no room', () => {
    expect(faultsOf('server/helpers/text.ts', 'server/platform/ids.ts')).toHaveLength(1);
    expect(faultsOf('server/text.ts', 'server/platform/ids.ts')).toHaveLength(1);
  });
});

describe('folders of server/', () => {
  const folder = (count: number) => Array.from({ length: count }, (_, n) => `server/billing/ledger/${n}.ts`);

  it('have 15 files at most', () => {
    expect(folderFaults(folder(15))).toEqual([]);
    expect(folderFaults(folder(16))).toEqual(['server/billing/ledger has 16 files, more than 15']);
  });

  it('have more than one file, except where the path is a URL', () => {
    expect(folderFaults(folder(1))).toEqual(['server/billing/ledger has a single file']);
    expect(folderFaults(['server/api/verify/hvf-session.ts'])).toEqual([]);
  });
});

describe('the name of a collection', () => {
  const owner = { path: 'server/partners/keys/key-store.ts', text: "export const collection = 'apiKeys';\n" };
  const faultsIn = (text: string) =>
    collectionFaults([owner, { path: 'server/billing/other-store.ts', text }]).length;

  it('is declared in one store', () => {
    expect(faultsIn("const keyCollection = 'apiKeys';\n")).toBe(1);
    expect(faultsIn("const collection = 'grants';\n")).toBe(0);
  });

  it.each([
    "db.collection('apiKeys')",
    "db.collection<{ _id: string; mode: Mode }>('apiKeys')",
    "{ $lookup: { from: 'apiKeys', as: 'key' } }",
    "{ $unionWith: { coll: 'apiKeys' } }",
    "read({ collection: 'apiKeys', filter })",
  ])('is imported where another store reads the collection, so %s is refused', (text) => {
    expect(faultsIn(text)).toBe(1);
    expect(faultsIn(text.replace("'apiKeys'", 'keyCollection'))).toBe(0);
  });
});
