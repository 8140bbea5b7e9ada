import { it } from 'vitest';
import { interfaceRows } from './interface.ts';

const known = new Set(interfaceRows().map(({ id }) => id));

/** The test of one row of the interface, with the row's name. @throws if the interface has no such row */
export function rule(id: string, test: () => Promise<void> | void): void {
  if (!known.has(id)) throw new Error(`the interface has no row "${id}"`);
  it(id, test);
}
