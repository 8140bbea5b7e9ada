import { LRUCache } from 'lru-cache';
import { createRememberedRead, type Remembered } from '../../platform/database/reads/remembered-read.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Api } from '../portal/views/kit/page.ts';
import type { RecordPage } from './ops-cells.ts';
import { recordPages } from './ops-records.ts';

interface Dependencies extends Omit<Parameters<typeof createRememberedRead>[0], 'read'> {
  api: Api;
}

/** The most pages that are remembered for the time when the database is away. */
const mostRemembered = 200;
/** Error codes that mean that the record does not exist or that its id is malformed. */
const unknownCodes: ReadonlySet<string> = new Set(['not_found', 'bad_input']);

/** Whether a call failed because of the id. If tRPC itself refuses the input, the error has its code and no ApiError. */
const isUnknown = (error: unknown): boolean => {
  if (error instanceof ApiError) return unknownCodes.has(error.code);
  const { cause, code } = error as { cause?: unknown; code?: string };
  return code === 'BAD_REQUEST' || (cause instanceof ApiError && unknownCodes.has(cause.code));
};

/** Returns a function that reads the page of a record: from memory while the database is away. @throws ApiError `not_found` */
export function createRecordReads(dependencies: Dependencies) {
  const reads = new LRUCache<string, () => Promise<Remembered<RecordPage | undefined>>>({
    max: mostRemembered,
  });

  return async ({ kind, id }: { kind: string; id: string }): Promise<Remembered<RecordPage>> => {
    const makePage = Object.hasOwn(recordPages, kind) ? recordPages[kind] : undefined;
    if (!makePage) throw new ApiError('not_found', { description: `No page for ${kind}` });
    /** Returns undefined if the record does not exist, because `createRememberedRead` takes each error for a fault. */
    const read = async () => {
      try {
        return await makePage(dependencies.api, id);
      } catch (error) {
        if (isUnknown(error)) return undefined;
        throw error;
      }
    };
    const name = `${kind}/${id}`;
    const readPage = reads.get(name) ?? createRememberedRead({ ...dependencies, read });
    reads.set(name, readPage);
    const { last, away } = await readPage();
    if (!last) return { last, away };
    const { value, at } = last;
    if (!value) throw new ApiError('not_found', { description: `No ${kind} ${id}` });
    return { last: { value, at }, away };
  };
}
