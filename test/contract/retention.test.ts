import { expect, it } from 'vitest';
import { indexes, shardKeys, unsharded } from '../../server/operations/schema/collections.ts';
import { readDoc } from './markdown.ts';

/** Returns the table rows of a page that start with a collection, a field and a number of seconds. */
const rowsOf = (page: string) =>
  [...page.matchAll(/^\| `(\w+)` \| `(\w+)` \| (\d+) s \|/gm)].map(([, collection, field, seconds]) => ({
    collection,
    field,
    seconds: Number(seconds),
  }));

const byName = (rows: ReturnType<typeof rowsOf>) =>
  rows.toSorted((a, b) => String(a.collection).localeCompare(String(b.collection)));

it('the table of expiry in docs/retention.md lists the field and the seconds of every TTL index', () => {
  const declared = indexes.flatMap(({ collection, key, expireAfterSeconds: seconds }) =>
    seconds === undefined ? [] : [{ collection, field: Object.keys(key)[0], seconds }],
  );
  expect(byName(rowsOf(readDoc('retention.md')))).toEqual(byName(declared));
});

it('the tables of docs/operations.md name every shard key and every unsharded collection', () => {
  const page = readDoc('operations.md');
  for (const { collection, key } of shardKeys)
    expect(page).toContain(
      `| \`${collection}\` | \`{${Object.keys(key)
        .map((field) => `${field}: 1`)
        .join(', ')}}\` |`,
    );
  const [, list = ''] = /^Unsharded: (.*?)\n\n/ms.exec(page) ?? [];
  expect([...list.matchAll(/`([a-z]\w+)`/gi)].map(([, name]) => name).toSorted()).toEqual(
    Object.keys(unsharded).toSorted(),
  );
});
