import { resolve } from 'node:path';
import type { Config } from '../../platform/config/config.ts';
import { withCopyOf } from './backup.ts';
import { compareRestored, type Lost } from './comparison.ts';

const isUri = (text: string) => /^mongodb(\+srv)?:\/\//.test(text);

/**
 * Lists what an old database has and the restored one of this configuration lacks. Nothing is changed.
 * @param old a `MONGODB_URI`, or a directory of the embedded database: a backup, or the folder that was moved away
 */
export async function compareWithOld({ mongodbUri, dataDir }: Config, old: string): Promise<Lost[]> {
  const withOld = <T>(work: (uri: string) => Promise<T>): Promise<T> =>
    isUri(old) ? work(old) : withCopyOf(resolve(old), work);
  const withRestored = <T>(work: (uri: string) => Promise<T>): Promise<T> =>
    mongodbUri === undefined ? withCopyOf(dataDir, work) : work(mongodbUri);
  return withOld((oldUri) =>
    withRestored((restoredUri) =>
      compareRestored({
        old: oldUri,
        restored: restoredUri,
        embedded: { old: !isUri(old), restored: mongodbUri === undefined },
      }),
    ),
  );
}
