import { expect, it } from 'vitest';
import { createBoundedMap } from '../../server/platform/bounded-map.ts';

it('forgets what was set longest ago, and nothing before it is full', () => {
  const map = createBoundedMap<number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  expect([map.get('a'), map.get('b')]).toEqual([3, 2]);
  map.set('c', 4);
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, undefined, 4]);
  map.delete('a');
  map.set('d', 5);
  expect([map.get('a'), map.get('c'), map.get('d')]).toEqual([undefined, 4, 5]);
});
