import DataLoader from 'dataloader';
import { type Db, type Document, MongoNetworkError, MongoServerError } from 'mongodb';
import { isUnavailable } from './failures.ts';

/** What is read of one collection: a few documents that an index finds. */
export interface Read {
  collection: string;
  filter: Document;
  /** The fields that are wanted. */
  projection: Record<string, 1>;
}

/** Reads documents; in the same command as others that are asked for in the same turn of the event loop. */
export type JointRead = <T extends Document>(read: Read) => Promise<T[]>;

/** The field that says which read a document belongs to. */
const mark = '_read';
/** One reply holds all documents of a command. */
const mostDocuments = 10_000;

const stagesOf = ({ filter, projection }: Read, n: number): Document[] => [
  { $match: filter },
  { $project: { ...projection, [mark]: { $literal: n } } },
];

/** As for the driver's reads: a connection that has ended, and a server that does not serve any more, are tried once more. */
const isWorthRepeating = (error: unknown): boolean =>
  error instanceof MongoNetworkError || (error instanceof MongoServerError && isUnavailable(error));

/**
 * One command for reads of several collections. An exchange reads a session and the status of a key at the same time.
 * It is a bare command: the driver's cursors cost more than twice its processor time.
 */
export function createJointReads(db: Db): JointRead {
  const { readConcern } = db;
  const concern = readConcern ? { readConcern: { level: readConcern.level } } : {};

  async function send(command: Document): Promise<Document[]> {
    const reply = await db.command({ ...command, ...concern });
    if (Number(reply['cursor'].id) !== 0) throw new Error('a read has found more than one reply holds');
    return reply['cursor'].firstBatch;
  }

  async function run(reads: readonly Read[]): Promise<Document[][]> {
    const [first, ...others] = reads;
    if (!first) return [];
    const { collection, filter, projection } = first;
    const unions = others.map((read, n) => ({
      $unionWith: { coll: read.collection, pipeline: stagesOf(read, n + 1) },
    }));
    const command =
      unions.length === 0
        ? { find: collection, filter, projection, batchSize: mostDocuments }
        : {
            aggregate: collection,
            pipeline: [...stagesOf(first, 0), ...unions],
            cursor: { batchSize: mostDocuments },
          };
    const documents = await send(command).catch((error: unknown) => {
      if (isWorthRepeating(error)) return send(command);
      throw error;
    });
    const found: Document[][] = reads.map(() => []);
    for (const { [mark]: n = 0, ...document } of documents) found[n]?.push(document);
    return found;
  }

  const loader = new DataLoader<Read, Document[]>(run, {
    cache: false,
    batchScheduleFn: (send) => void setImmediate(send),
  });
  return <T extends Document>(read: Read) => loader.load(read) as Promise<T[]>;
}
