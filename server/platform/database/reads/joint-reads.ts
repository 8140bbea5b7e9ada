import DataLoader from 'dataloader';
import { type Db, type Document, MongoNetworkError, MongoServerError } from 'mongodb';
import { isUnavailable } from '../failures.ts';

/** A read of a few documents of one collection by an index. */
export interface Read {
  collection: string;
  filter: Document;
  /** The fields to return. Default: all. */
  projection?: Record<string, 1>;
  sort?: Record<string, 1>;
  /** The most documents to return. */
  limit?: number;
}

/** A read of one document, to learn whether any matches. */
export const anyOf = (collection: string, filter: Document): Read => ({
  ...{ collection, filter, projection: { _id: 1 } },
  limit: 1,
});

/**
 * Reads documents. Reads in the same turn of the event loop share one database command.
 * @throws Error if the documents do not fit into one reply of the database, which has 16 MB at most
 */
export type JointRead = <T extends Document>(read: Read) => Promise<T[]>;

/** The field of a returned document with the index of its read. */
const readIndex = '_read';
/** The most documents of a command. So many are asked for in its first reply, because no further reply is read. */
const mostDocuments = 10_000;

const stagesOf = ({ filter, projection, sort, limit }: Read, index: number): Document[] => [
  { $match: filter },
  ...(sort === undefined ? [] : [{ $sort: sort }]),
  ...(limit === undefined ? [] : [{ $limit: limit }]),
  { [projection === undefined ? '$set' : '$project']: { ...projection, [readIndex]: { $literal: index } } },
];

/** The command that does all reads: a query for one read, a union of queries for several. */
function commandOf(first: Read, others: readonly Read[]): Document {
  if (others.length === 0) {
    const { collection, ...query } = first;
    return { find: collection, ...query, batchSize: mostDocuments };
  }
  // The first read has the index 0, so the others begin with 1.
  const unions = others.map((read, n) => ({
    $unionWith: { coll: read.collection, pipeline: stagesOf(read, n + 1) },
  }));
  return {
    aggregate: first.collection,
    pipeline: [...stagesOf(first, 0), ...unions],
    cursor: { batchSize: mostDocuments },
  };
}

/** As the driver does for its own reads, a read is repeated once after a lost connection or an unavailable server. */
const isWorthRepeating = (error: unknown): boolean =>
  error instanceof MongoNetworkError || (error instanceof MongoServerError && isUnavailable(error));

/**
 * Combines reads of several collections into one command. For example, an exchange reads a session and the status of a
 * key. The command is sent directly, because a cursor of the driver takes more than twice the processor time.
 */
export function createJointReads(db: Db): JointRead {
  // The driver adds the read concern of the database to its own reads only, and not to a plain command.
  const { readConcern } = db;
  const concern = readConcern ? { readConcern: { level: readConcern.level } } : {};

  async function send(command: Document): Promise<Document[]> {
    const reply = await db.command({ ...command, ...concern });
    if (Number(reply['cursor'].id) !== 0) throw new Error('a read has found more than one reply holds');
    return reply['cursor'].firstBatch;
  }

  async function sendWithRetry(command: Document): Promise<Document[]> {
    try {
      return await send(command);
    } catch (error) {
      if (isWorthRepeating(error)) return send(command);
      throw error;
    }
  }

  /** @returns the documents of each read, in the order of `reads` */
  async function readTogether(reads: readonly Read[]): Promise<Document[][]> {
    const [first, ...others] = reads;
    if (!first) return [];
    const documents = await sendWithRetry(commandOf(first, others));
    const results: Document[][] = reads.map(() => []);
    for (const { [readIndex]: index = 0, ...document } of documents) results[index]?.push(document);
    return results;
  }

  const loader = new DataLoader<Read, Document[]>(readTogether, {
    cache: false,
    batchScheduleFn: (sendBatch) => void setImmediate(sendBatch),
  });
  return <T extends Document>(read: Read) => loader.load(read) as Promise<T[]>;
}
