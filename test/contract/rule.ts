import { it } from 'vitest';
import { interfaceRows } from './interface.ts';

const sections = new Map(interfaceRows().map(({ id, section }) => [id, section]));

/** The test of one row of the interface. Its title ends with the section. @throws if the interface has no such row */
export function rule(id: string, title: string, test: () => Promise<void> | void): void {
  const section = sections.get(id);
  if (section === undefined) throw new Error(`the interface has no row "${id}"`);
  it(`${title} (interface ${section})`, test);
}
