import type { Document } from 'mongodb';
import type { EngineLink } from './engine-link.ts';
import type { Footprint } from './footprint.ts';

/** The data of one engine: a member's own state, or the committed state. */
export interface State {
  engine: EngineLink;
  /** The documents that may differ from the committed state, while no member uses the engine. */
  behind: Footprint;
}

/** The documents of a footprint in one state. A missing document has an id in `ids` only. */
type Contents = { database: string; collection: string; ids: unknown[]; documents: Document[] }[];

const enough = 100_000;

export async function readContents({ engine }: State, footprint: Footprint): Promise<Contents> {
  return Promise.all(
    [...footprint].map(async ([namespace, known]) => {
      const dot = namespace.indexOf('.');
      const [database, collection] = [namespace.slice(0, dot), namespace.slice(dot + 1)];
      const ids = [...known.values()];
      const filter = { _id: { $in: ids } };
      const reply = await engine.run({
        find: collection,
        filter,
        batchSize: enough,
        singleBatch: true,
        $db: database,
      });
      return { database, collection, ids, documents: reply['cursor'].firstBatch as Document[] };
    }),
  );
}

/**
 * Sets documents of a state to their values in another state. Deletes all of them first, because a unique index may still
 * contain the old values.
 */
export async function writeContents({ engine }: State, contents: Contents): Promise<void> {
  const writeConcern = { w: 1, j: false };
  await Promise.all(
    contents.map(async ({ database: $db, collection, ids, documents }) => {
      if (ids.length === 0) return;
      const deletes = [{ q: { _id: { $in: ids } }, limit: 0 }];
      await engine.run({ delete: collection, deletes, writeConcern, $db });
      if (documents.length > 0) await engine.run({ insert: collection, documents, writeConcern, $db });
    }),
  );
}

/** Makes `target` equal to `source`. */
export async function align(target: State, source: State): Promise<void> {
  await writeContents(target, await readContents(source, target.behind));
  target.behind = new Map();
}
