import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { usageError } from '../errors/failure.ts';

type Fetch = typeof fetch;

/**
 * `fetch` that also trusts the certificate authority in a file; without a file, that of Node.
 * @throws CommandError where the file cannot be read, or holds no certificate
 */
export function fetchTrusting(path: string | undefined): Fetch {
  if (path === undefined) return fetch;
  let ca: string;
  try {
    ca = readFileSync(path, 'utf8');
  } catch (error) {
    throw usageError(`Cannot read ${path} (${(error as NodeJS.ErrnoException).code})`);
  }
  if (!ca.includes('-----BEGIN CERTIFICATE-----'))
    throw usageError(`${path} holds no certificate`, 'It has to be in PEM: -----BEGIN CERTIFICATE-----');
  // Loaded with the first call: only commands with --ca need it.
  const loaded = import('undici').then((undici) => ({
    fetch: undici.fetch,
    dispatcher: new undici.Agent({ connect: { ca: [...rootCertificates, ca] } }),
  }));
  return async (input, init) => {
    const { fetch: own, dispatcher } = await loaded;
    return own(input as string, { ...init, dispatcher } as never) as unknown as Promise<Response>;
  };
}
