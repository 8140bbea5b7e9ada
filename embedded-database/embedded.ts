import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { launchEngine } from './engine/child.ts';
import { DirectoryInUse } from './engine/directory-lock.ts';
import { EngineUnavailable } from './engine/load.ts';
import { makeDirectory } from './make-directory.ts';
import { supervise } from './supervise.ts';

type Settings = {
  /** SVC_DATA_DIR: the database is in `db` below it, its address in `mongodb-uri`. */
  dataDir: string;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Loopback port; any free one by default. */
  port?: number;
  /** The program to run in place of the embedded engine. */
  program?: string;
};

export type EmbeddedDatabase = {
  /** Connection string, complete with the options that the engine needs. */
  uri: string;
  port: number;
  /** The id of the database process; undefined between its end and its restart. */
  pid(): number | undefined;
  /** Ends the database process, and resolves when it has ended. */
  stop(): Promise<void>;
};

const addressFile = (dataDir: string): string => join(dataDir, 'mongodb-uri');

const writeAddress = (dataDir: string, uri: string): void => {
  const draft = `${addressFile(dataDir)}.${process.pid}`;
  writeFileSync(draft, `${uri}\n`, { mode: 0o600 });
  renameSync(draft, addressFile(dataDir));
};

const readAddress = (dataDir: string): string => {
  try {
    return readFileSync(addressFile(dataDir), 'utf8').trim();
  } catch {
    return `the content of ${addressFile(dataDir)}`;
  }
};

const explain = (dataDir: string, error: unknown): unknown =>
  error instanceof DirectoryInUse
    ? new Error(
        `${error.message}: end it, or share its database by setting MONGODB_URI=${readAddress(dataDir)}`,
        {
          cause: error,
        },
      )
    : error;

/**
 * Runs a database for this process on `dataDir`. If the database process ends, it is started again on the same port.
 * The database has no authentication, so it is for single-user machines. If the embedded engine does not run, MongoDB's
 * own server is downloaded and used.
 *
 * @throws Error if another process still uses the directory after 5 s; the message names that process, and how to share
 *   its database. If neither the engine nor the download works, the message says to set MONGODB_URI.
 */
export const startEmbedded = async (settings: Settings): Promise<EmbeddedDatabase> => {
  const { dataDir, logger, port = 0, program } = settings;
  makeDirectory(dataDir);

  const start = async () => {
    try {
      return await supervise((at) => launchEngine(dataDir, at, program), port, logger);
    } catch (error) {
      if (!(error instanceof EngineUnavailable)) throw error;
      logger.warn(
        { err: error },
        'the embedded database engine does not run here: using a downloaded MongoDB',
      );
      const { launchDownloaded } = await import('./engine/downloaded.ts'); // large, and seldom needed
      return await supervise((at) => launchDownloaded(dataDir, at), port, logger);
    }
  };
  const database = await start().catch((error: unknown) => {
    throw explain(dataDir, error);
  });

  const uri = `mongodb://127.0.0.1:${database.port}/svc?directConnection=true&retryWrites=false`;
  writeAddress(dataDir, uri);
  logger.info({ port: database.port, enginePid: database.pid() }, 'the embedded database is running');
  return {
    uri,
    port: database.port,
    pid: database.pid,
    stop: async () => {
      rmSync(addressFile(dataDir), { force: true });
      await database.stop();
    },
  };
};
