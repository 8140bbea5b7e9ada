import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { usageError } from '../errors/failure.ts';

type Fetch = typeof fetch;

/**
 * Returns the certificate authorities of Node and the one in a file. Undefined without a file: then Node trusts its own.
 * @throws CommandError if the file cannot be read, or contains no certificate
 */
export function trustedAuthorities(path: string | undefined): string[] | undefined {
  if (path === undefined) return undefined;
  let ca: string;
  try {
    ca = readFileSync(path, 'utf8');
  } catch (error) {
    throw usageError(`Cannot read ${path} (${(error as NodeJS.ErrnoException).code})`);
  }
  if (!ca.includes('-----BEGIN CERTIFICATE-----'))
    throw usageError(`${path} holds no certificate`, 'It has to be in PEM: -----BEGIN CERTIFICATE-----');
  return [...rootCertificates, ca];
}

/**
 * Returns a `fetch` that also trusts the certificate authority in a file. Without a file, returns Node's `fetch`.
 * @throws CommandError if the file cannot be read, or contains no certificate
 */
export function fetchTrusting(path: string | undefined): Fetch {
  const ca = trustedAuthorities(path);
  if (!ca) return fetch;
  // Imported only here, because commands without --ca do not need undici. Node's `fetch` is undici's with other types.
  const loaded = import('undici').then((undici) => ({
    fetch: undici.fetch,
    dispatcher: new undici.Agent({ connect: { ca } }),
  }));
  return async (input, init) => {
    const { fetch: own, dispatcher } = await loaded;
    return own(input as string, { ...init, dispatcher } as never) as unknown as Promise<Response>;
  };
}
