import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../server/platform/config/config.ts';
import {
  adminTokenOf,
  generatedMasterKeys,
  masterKeysOf,
} from '../../../server/platform/config/local-secrets.ts';
import { ConfigError } from '../../../server/platform/errors.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';

function newFolder() {
  const dataDir = temporaryFolder('secrets');
  return { dataDir, config: readConfig({ SVC_DATA_DIR: dataDir }) };
}

const readers = {
  'master-key': ({ config }: ReturnType<typeof newFolder>) => masterKeysOf(config),
  'admin-token': ({ config }: ReturnType<typeof newFolder>) => adminTokenOf(config),
};

describe.each(Object.entries(readers))('the file %s of a data directory', (name, read) => {
  it('is made at the first start for its owner alone, and read at the next', () => {
    const folder = newFolder();
    const made = read(folder);
    expect(read(folder)).toEqual(made);
    expect(readdirSync(folder.dataDir)).toEqual([name]);
    const path = join(folder.dataDir, name);
    chmodSync(path, 0o644);
    read(folder);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['is empty', ''],
    ['is a line end', '\n'],
    ['is cut off', 'c2hvcnQ'],
    ['has a space', `${'a'.repeat(20)} ${'b'.repeat(22)}=`],
    ['is "off"', 'off'],
  ])('is refused with its path and a remedy if it %s, and is not replaced', (_what, text) => {
    const folder = newFolder();
    const path = join(folder.dataDir, name);
    writeFileSync(path, text);
    expect(() => read(folder)).toThrow(ConfigError);
    expect(() => read(folder)).toThrow(`${path}: expected`);
    expect(() => read(folder)).toThrow(/restore it from a backup|delete it, and the next start/);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});

it('a backup of a data directory without a generated master key has none, and a damaged one is refused', () => {
  const { dataDir } = newFolder();
  expect(generatedMasterKeys(dataDir)).toEqual([]);
  writeFileSync(join(dataDir, 'master-key'), 'x');
  expect(() => generatedMasterKeys(dataDir)).toThrow(ConfigError);
});
