import { expect, it } from 'vitest';
import { type ReadPage, readPages, withConditions } from '../../../cli/list/pages.ts';

interface Row {
  id: string;
  status: number;
}

const records: readonly Row[] = Array.from({ length: 30_000 }, (_, index) => ({
  id: `r${index}`,
  status: index === 25_000 ? 500 : 200,
}));

/** Makes a list of the records that `condition` finds, and counts the records that it reads. */
function listWhere(condition: string) {
  let recordsRead = 0;
  const read: ReadPage<Row> = async ({ limit, after }) => {
    const begin = after === undefined ? 0 : Number(after.slice(1)) + 1;
    const page = records.slice(begin, begin + limit);
    recordsRead += page.length;
    return page;
  };
  const show = (row: Row) => row;
  const list = withConditions(read, { where: [condition], columns: ['id', 'status'], show });
  return { list, recordsRead: () => recordsRead };
}

async function pagesOf(list: ReadPage<Row>, flags: { after?: string; all?: boolean }) {
  const pages = [];
  for await (const page of readPages(list, { limit: 50, ...flags })) pages.push(page);
  return pages;
}

it('a list with --where stops after 20,000 records without enough matches, and names the record to go on from', async () => {
  const { list, recordsRead } = listWhere('status=500');
  expect(await pagesOf(list, {})).toEqual([
    { rows: [], next: 'r19999', isStopped: true, sampledSince: null },
  ]);
  expect(recordsRead()).toBe(20_000);
  expect(await pagesOf(list, { after: 'r19999' })).toEqual([
    { rows: [records[25_000]], next: null, isStopped: false, sampledSince: null },
  ]);
});

it('a list with --where and --all reads all records', async () => {
  const { list, recordsRead } = listWhere('status=500');
  const pages = await pagesOf(list, { all: true });
  expect(pages.flatMap(({ rows }) => rows)).toEqual([records[25_000]]);
  expect(recordsRead()).toBe(records.length);
});

it('a list with --where reads no further than the page in which it finds enough records', async () => {
  const { list, recordsRead } = listWhere('status=200');
  expect(await pagesOf(list, {})).toMatchObject([{ rows: { length: 50 }, next: 'r49', isStopped: false }]);
  expect(recordsRead()).toBe(500);
});
