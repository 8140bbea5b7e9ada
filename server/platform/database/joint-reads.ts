import DataLoader from 'dataloader';
import { type Db, type Document, MongoNetworkError, MongoServerError } from 'mongodb';
import { isUnavailable } from './failures.ts';

/** A read of a few documents of one collection by an index. */
export interface Read {
  collection: string;
  filter: Document;
  /** The fields to return. */
  projection: Record<string, 1>;
}

/** Reads documents. Reads in the same turn of the event loop share one database command. */
export type JointRead = <T extends Document>(read: Read) => Promise<T[]>;

/** The field that holds the number of the read that a document belongs to. */
const mark = '_read';
/** One reply holds all documents of a command. */
const mostDocuments = 10_000;

const stagesOf = ({ filter, projection }: Read, n: number): Document[] => [
  { $match: filter },
  { $project: { ...projection, [mark]: { $literal: n } } },
];

/** As the driver does for its own reads, a read is repeated once after a lost connection or an unavailable server. */
const isWorthRepeating = (error: unknown): boolean =>
  error instanceof MongoNetworkError || (error instanceof MongoServerError && isUnavailable(error));

/**
 * Combines reads of several collections into one command. For example, an exchange reads a session and the status of a
 * key. The command is sent directly, because a cursor of the driver takes more than twice the processor time.
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
