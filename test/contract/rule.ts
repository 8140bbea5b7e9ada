import { it } from 'vitest';
import { interfaceRows } from './interface.ts';

const textsById = new Map(interfaceRows().map(({ id, text }) => [id, text]));

/** The test of one row of the interface. Its title has the text of the row. @throws if the interface has no such row */
export function rule(id: string, test: () => Promise<void> | void): void {
  const text = textsById.get(id);
  if (text === undefined) throw new Error(`the interface has no row "${id}"`);
  it(`interface ${id}: ${text || 'the service does what the interface describes'}`, test);
}
