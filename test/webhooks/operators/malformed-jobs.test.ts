import { type Document, ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { adminOf, createSystem } from '../system.ts';

/** A system with three valid jobs, which are due in an hour. */
async function setUp() {
  const system = await createSystem();
  const due = Date.now() + 3_600_000;
  for (const second of [0, 1, 2]) await system.context.due.retryAt(new Date(due + second * 1000));
  const documents = system.db.collection('jobs');
  const store = async (document: Document): Promise<string> =>
    (await documents.insertOne({ ...document })).insertedId.toHexString();
  return { jobs: adminOf(system).jobs, documents, store };
}

const attempts = { name: 'webhook.attempts', nextRunAt: new Date(Date.now() + 7_200_000), priority: 0 };
const key = new Date().toISOString();

/** Documents that a fault, another program or a later build could leave, and their malformed field. */
const malformed: Record<string, readonly [fault: string, document: Document]> = {
  'data is missing': ['data', attempts],
  'data is a text': ['data', { ...attempts, data: 'x' }],
  'data.key is missing': ['data.key', { ...attempts, data: {} }],
  'data.key is a number': ['data.key', { ...attempts, data: { key: 7 } }],
  'data.key is no time': ['data.key', { ...attempts, data: { key: 'soon' } }],
  'nextRunAt is a text': ['nextRunAt', { ...attempts, data: { key }, nextRunAt: 'soon' }],
  'nextRunAt is the last possible date': [
    'nextRunAt',
    { ...attempts, data: { key }, nextRunAt: new Date(8.64e15) },
  ],
  'nextRunAt is a Boolean': ['nextRunAt', { ...attempts, data: { key }, nextRunAt: true }],
  'nextRunAt is missing': ['', { name: 'other', data: { key } }],
  'lockedAt is a text': ['lockedAt', { ...attempts, data: { key }, lockedAt: 'now' }],
  'lastModifiedBy is a number': ['lastModifiedBy', { ...attempts, data: { key }, lastModifiedBy: 7 }],
  'lastRunAt is a text': ['lastRunAt', { ...attempts, data: { key }, lastRunAt: 'x' }],
  'failReason is a list': ['failReason', { ...attempts, data: { key }, failReason: ['x'] }],
};

describe('a malformed job', () => {
  it.each(Object.entries(malformed))(
    'can be listed, shown and cancelled, but not run (conflict), if its field %s',
    async (_name, [fault, document]) => {
      const { jobs, store } = await setUp();
      const id = await store(document);
      const about =
        fault === ''
          ? { state: 'done' }
          : { state: 'malformed', failReason: expect.stringContaining(`malformed: ${fault}`) };
      const listed = await jobs.list({});
      expect(listed).toHaveLength(4);
      expect(listed.find((job) => job.id === id)).toMatchObject({ ...about, wakes: 0 });
      expect(await jobs.show({ jobId: id })).toMatchObject({ id, ...about, attempts: [] });
      await expect(jobs.run({ jobId: id })).rejects.toMatchObject({ cause: { code: 'conflict' } });
      expect(await jobs.cancel({ jobId: id })).toMatchObject({ id, ...about, deliveryIds: [] });
      expect(await jobs.list({})).toHaveLength(3);
    },
  );

  it('is listed on exactly one page, and does not hide jobs that are due later', async () => {
    const { jobs, store } = await setUp();
    const ids: string[] = [];
    for (const [, document] of Object.values(malformed)) ids.push(await store(document));
    const all = (await jobs.list({})).map(({ id }) => id);
    expect(all).toHaveLength(ids.length + 3);
    for (const limit of [1, 2, 5]) {
      const paged: string[] = [];
      for (let after: string | undefined; paged.length < all.length; after = paged.at(-1)) {
        const page = await jobs.list({ limit, ...(after === undefined ? {} : { after }) });
        expect(page.length).toBeGreaterThan(0);
        paged.push(...page.map(({ id }) => id));
      }
      expect(paged).toEqual(all);
    }
    for (const jobId of ids) await jobs.cancel({ jobId });
  });
});

describe('a job with an unknown name', () => {
  const unknown = { name: 'of.another.build', data: { key: 'x' }, nextRunAt: new Date(Date.now() + 60_000) };

  it.each<[what: string, changes: Document]>([
    ['lockedAt is null', { lockedAt: null }],
    ['lockedAt is an hour ago', { lockedAt: new Date(Date.now() - 3_600_000) }],
    ['nextRunAt is null', { nextRunAt: null }],
    ['data has an unknown field', { data: { some: 'thing' } }],
    ['name is a number', { name: 7 }],
  ])('can be shown and cancelled even if its field %s', async (_, changes) => {
    const { jobs, documents, store } = await setUp();
    const id = await store({ ...unknown, ...changes });
    expect(await jobs.show({ jobId: id })).toMatchObject({ id, wakes: 0 });
    expect(await jobs.cancel({ jobId: id })).toMatchObject({ id, wakes: 0, deliveryIds: [] });
    expect(await documents.findOne({ _id: new ObjectId(id) })).toBeNull();
  });

  it('cannot be cancelled while a process runs it', async () => {
    const { jobs, store } = await setUp();
    const id = await store({ ...unknown, lockedAt: new Date() });
    await expect(jobs.cancel({ jobId: id })).rejects.toMatchObject({ cause: { code: 'conflict' } });
  });
});
