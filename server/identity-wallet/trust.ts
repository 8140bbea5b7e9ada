import { readFileSync, statSync } from 'node:fs';
import type { Logger } from '../platform/telemetry/logging.ts';
import { authorityFault, type Certificate, parsePem } from './certificates.ts';

/** Milliseconds between two checks of the file. */
export const checkEveryMs = 5_000;

interface Dependencies {
  /** PEM, or the path of a file with it; undefined for none. */
  given: string | undefined;
  source: string;
  logger: Pick<Logger, 'error' | 'info'>;
  uptime?: () => number;
}

/**
 * The trust anchors of a source. A file is read again when it has changed; while it cannot be used, those that were
 * read last stay.
 */
export function createTrust(dependencies: Dependencies) {
  const { given, source, logger, uptime = () => performance.now() } = dependencies;
  const path = given === undefined || given.includes('-----BEGIN ') ? undefined : given;
  let anchors = given === undefined ? [] : parsePem(path === undefined ? given : readFileSync(path, 'utf8'));
  let stamp = path === undefined ? '' : stampOf(path);
  let lookedAt = uptime();
  let fault: string | undefined;

  function stampOf(file: string): string {
    const { mtimeMs, size, ino } = statSync(file);
    return `${mtimeMs} ${size} ${ino}`;
  }

  function look(file: string): void {
    try {
      const found = stampOf(file);
      if (found === stamp) return;
      anchors = parsePem(readFileSync(file, 'utf8'));
      stamp = found;
      fault = undefined;
      logger.info({ source, count: anchors.length }, 'read the trust anchors of a wallet source');
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const why = code ?? message;
      if (why !== fault) logger.error({ source, why }, 'the trust anchors of a wallet source cannot be read');
      fault = why;
    }
  }

  return {
    anchors(): readonly Certificate[] {
      if (path !== undefined && uptime() - lookedAt >= checkEveryMs) {
        lookedAt = uptime();
        look(path);
      }
      return anchors;
    },
    /** Why the source cannot work with what it has; undefined where it can. */
    fault(now: number): string | undefined {
      const usable = this.anchors().some((anchor) => authorityFault(anchor, now) === undefined);
      return fault ?? (usable ? undefined : 'no trust anchor is a valid certificate authority');
    },
  };
}

/**
 * The key identifiers of authorities, in base64url. None where one of them has none: identity wallets would leave out the
 * credentials of its issuers.
 */
export function keyIdentifiersOf(authorities: readonly Certificate[]): string[] {
  const found = authorities.flatMap(({ keyIdentifier }) =>
    keyIdentifier ? [Buffer.from(keyIdentifier).toString('base64url')] : [],
  );
  return found.length === authorities.length ? [...new Set(found)] : [];
}
