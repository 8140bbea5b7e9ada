import { readFileSync, statSync } from 'node:fs';
import type { TrustAnchors } from '../../../contracts/identity-wallet-sources.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import { authorityFault, type Certificate, parsePem } from './certificates.ts';
import { readVical, type Vical } from './vical.ts';

/** How often the files are checked for changes, in milliseconds. */
export const checkEveryMs = 5_000;

interface Dependencies {
  /** The configured trust anchors; undefined for the built-in sources, which have none. */
  given: TrustAnchors | undefined;
  /** The type of the attestations. A VICAL also names authorities for other types. */
  docType: string;
  source: string;
  logger: Pick<Logger, 'error' | 'info'>;
  clock: { now(): number };
  uptime?: () => number;
}

/** Where the trust anchors are configured: in files with these paths, or in the settings if there are none. */
interface AnchorOrigin {
  paths: readonly string[];
  /** Reads the anchors. @param now milliseconds since the epoch */
  read(now: number): Vical;
}

/** Certificates are configured as PEM, or as the path of a file with PEM. */
const isPem = (text: string) => text.includes('-----BEGIN ');
const pemOf = (pemOrPath: string) => (isPem(pemOrPath) ? pemOrPath : readFileSync(pemOrPath, 'utf8'));

const noAnchors: Vical = { authorities: [], nextUpdate: undefined };

/** Trust anchors are configured as certificates, or as a VICAL: a list of authorities, signed by one of its `providers`. */
function originOf({ given, docType }: Pick<Dependencies, 'given' | 'docType'>): AnchorOrigin {
  if (given === undefined) return { paths: [], read: () => noAnchors };
  if (typeof given === 'string') {
    const read = () => ({ ...noAnchors, authorities: parsePem(pemOf(given)) });
    return { paths: isPem(given) ? [] : [given], read };
  }
  const { vical, providers } = given;
  return {
    paths: isPem(providers) ? [vical] : [vical, providers],
    read: (now) => readVical(readFileSync(vical), { providers: parsePem(pemOf(providers)), docType, now }),
  };
}

/** Returns a text that is another one after each change of the files. @throws Error if a file is missing */
function stampOf(paths: readonly string[]): string {
  return paths
    .map((path) => {
      const { mtimeMs, size, ino } = statSync(path);
      return `${mtimeMs} ${size} ${ino}`;
    })
    .join(', ');
}

/**
 * Makes the trust anchors of a source. Files are read again when they have changed. If a changed file cannot be used, the earlier
 * anchors stay in use. A VICAL that cannot be verified at the start yields no anchors and is tried again.
 */
export function createTrust(dependencies: Dependencies) {
  const { given, source, logger, clock, uptime = () => performance.now() } = dependencies;
  const origin = originOf(dependencies);
  let current = noAnchors;
  let stamp: string | undefined;
  let lastCheckedAt = uptime();
  /** Why the present files cannot be used; undefined if they can. */
  let fileFault: string | undefined;

  /** Reads the files if they have changed. @returns whether they have @throws Error if they cannot be used */
  function readIfChanged(): boolean {
    const found = stampOf(origin.paths);
    const hasChanged = found !== stamp;
    if (hasChanged) current = origin.read(clock.now());
    stamp = found;
    fileFault = undefined;
    return hasChanged;
  }

  /** Reads the files if they have changed. An error is logged when it occurs first, and kept as `fileFault`. */
  function tryToRead(): void {
    try {
      if (!readIfChanged()) return;
      const count = current.authorities.length;
      logger.info({ source, count }, 'read the trust anchors of a wallet source');
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const why = code ?? message;
      if (why !== fileFault)
        logger.error({ source, why }, 'the trust anchors of a wallet source cannot be read');
      fileFault = why;
    }
  }

  // A fault of certificates is one of the configuration, so the server does not start. A VICAL is of another party, and may be
  // valid again soon.
  const isVical = typeof given === 'object';
  if (isVical) tryToRead();
  else readIfChanged();

  function anchors(): readonly Certificate[] {
    if (origin.paths.length > 0 && uptime() - lastCheckedAt >= checkEveryMs) {
      lastCheckedAt = uptime();
      tryToRead();
    }
    return current.authorities;
  }

  return {
    anchors,
    /** Returns why the trust anchors cannot be used, or soon will not be usable; undefined if they can. */
    fault(now: number): string | undefined {
      // This reads the files again if it is time, so it comes before the check of `fileFault`.
      const authorities = anchors();
      if (fileFault !== undefined) return fileFault;
      if (authorities.every((anchor) => authorityFault(anchor, now) !== undefined))
        return 'no trust anchor is a valid certificate authority';
      const { nextUpdate } = current;
      const isOld = nextUpdate !== undefined && now > nextUpdate;
      return isOld
        ? `the VICAL should have been replaced by ${new Date(nextUpdate).toISOString()}`
        : undefined;
    },
  };
}

/**
 * Returns the key identifiers of authorities in base64url. Empty if one of them has none, because identity wallets would leave
 * out the credentials of its issuers.
 */
export function keyIdentifiersOf(authorities: readonly Certificate[]): string[] {
  const found = authorities.flatMap(({ keyIdentifier }) =>
    keyIdentifier ? [Buffer.from(keyIdentifier).toString('base64url')] : [],
  );
  return found.length === authorities.length ? [...new Set(found)] : [];
}
