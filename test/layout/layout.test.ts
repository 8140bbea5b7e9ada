import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import layout from '../../.config/floors.json' with { type: 'json' };
import {
  collectionFaults,
  folderFaults,
  importFaults,
  titleFaults,
  wiringFaults,
} from '../../.config/layout.mjs';
import { temporaryFolder } from '../harness/temporary-folder.ts';

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

describe('the wiring', () => {
  const path = 'server/process/wiring/services.ts';
  const source = readFileSync(path, 'utf8');
  const before = '  const account = ';
  const withLine = (line: string) =>
    wiringFaults([{ path, text: source.replace(before, `${line}\n${before}`) }]);

  it.each([
    '  if (config.portal) stop();',
    '  for (const each of all) start(each);',
    "  throw new Error('no');",
  ])('has no logic, so %s is refused', (line) => {
    expect(source).toContain(before);
    expect(withLine('')).toEqual([]);
    expect(withLine(line)).toHaveLength(1);
  });
});

it('a name that is used before its definition is refused in the wiring, and elsewhere it is not', () => {
  const folder = temporaryFolder('lint');
  const faultsIn = (path: string) => {
    mkdirSync(join(folder, path), { recursive: true });
    writeFileSync(join(folder, path, 'a.ts'), 'export const early = () => late;\nconst late = 1;\n');
    const lint = ['--config', resolve('.config/oxlint.json'), '--format', 'unix', join(folder, path)];
    return /no-use-before-define/.test(
      spawnSync('node_modules/.bin/oxlint', lint, { encoding: 'utf8' }).stdout,
    );
  };
  expect(faultsIn('server/process/wiring')).toBe(true);
  expect(faultsIn('server/billing')).toBe(false);
});

describe('the title of a test', () => {
  const faults = (text: string) => titleFaults([{ path: 'test/a.test.ts', text }]).length;

  it.each([
    "it('TITLE', () => {});",
    'it.skipIf(x)(`TITLE`, () => {});',
    "it.each([['a', f(1)]])(\n  'TITLE %s',\n  () => {},\n);",
    'it.skipIf(x).each(rows)("TITLE", () => {});',
  ])('is a sentence, also in %s', (text) => {
    expect(faults(text.replace('TITLE', 'accepts a token'))).toBe(0);
    expect(faults(text.replace('TITLE', 'without a token'))).toBe(1);
  });
});
