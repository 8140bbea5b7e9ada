import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mutations } from './list.ts';

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

describe('the list of mutations', () => {
  it('has at least 100 mutations', () => {
    expect(mutations.length).toBeGreaterThanOrEqual(100);
  });

  it('matches the code: each text to replace is in its file exactly once, and its replacement differs', () => {
    const stale = mutations.filter(
      ({ file, find, replace }) => read(file).split(find).length !== 2 || find === replace,
    );
    expect(stale.map(({ file, find }) => `${file}: ${find}`)).toEqual([]);
  });

  it('names only tests that exist', () => {
    const named = new Set(mutations.flatMap(({ tests }) => tests));
    const exists = (test: string) => existsSync(new URL(`../../${test}.test.ts`, import.meta.url));
    expect([...named].filter((test) => !exists(test))).toEqual([]);
  });

  it('contains no mutation twice', () => {
    const names = mutations.map(({ file, find, replace }) => JSON.stringify([file, find, replace]));
    expect(new Set(names).size).toBe(names.length);
  });
});
