import { randomBytes } from 'node:crypto';
import { certificateNoticeDays, type SourceView } from '../../../contracts/admin/sources.ts';
import type { Verifier } from '../../identity-wallet/port.ts';
import { isUnavailable } from '../../platform/database/failures.ts';
import { ApiError } from '../../platform/errors.ts';
import type { SessionStore } from '../session-store.ts';
import type { Beginning, VerificationSource } from './source.ts';

interface Dependencies {
  sources: ReadonlyMap<string, VerificationSource>;
  /** Verifiers of the sources that ask identity wallets, by name. */
  verifiers: ReadonlyMap<string, Verifier>;
  sessions: Pick<SessionStore, 'sourceUse'>;
  clock: { now(): number };
}

const day = 86_400_000;
/** The period for which the number of successes is shown, in milliseconds. */
export const successSpanMs = day;

/** Asks a source for its first page, for a session that does not exist. It shows whether the provider can be reached. */
function probe(source: VerificationSource): Promise<Beginning> {
  const random = () => randomBytes(16).toString('base64url');
  const mode = source.modes[0] ?? 'test';
  const session = {
    id: 'none',
    partnerId: 'none',
    mode,
    carried: undefined,
    language: undefined,
    claims: [],
  };
  const secrets = { state: random(), nonce: random(), codeVerifier: random() };
  return source.begin(session, { id: 'none', device: 'computer', binding: 'none', ...secrets });
}

/** Returns undefined for an error of an unreachable database. @throws every other error */
function undefinedIfUnavailable(error: unknown): undefined {
  if (!isUnavailable(error)) throw error;
}

/** Makes the overview of verification sources for operators: faults, certificates and successes. */
export function createSourceOverview({ sources, verifiers, sessions, clock }: Dependencies) {
  /** The certificates that a source depends on; none for a source that asks no identity wallets. */
  function certificatesOf(name: string): SourceView['certificates'] {
    return (verifiers.get(name)?.certificates() ?? []).map(({ use, certificate }) => ({
      use,
      // Node.js writes each part of a subject on a line of its own.
      subject: certificate.x509.subject.replaceAll('\n', ', '),
      notAfter: new Date(certificate.notAfter).toISOString(),
      expiring: certificate.notAfter - clock.now() < certificateNoticeDays * day,
    }));
  }

  function kindOf(name: string): SourceView['kind'] {
    if (verifiers.has(name)) return 'wallet';
    return name === 'sandbox' ? 'sandbox' : 'oidc';
  }

  /** The view of a source without its use on the last day, which has to be counted in the database. */
  function viewSource({ name, modes }: VerificationSource): Omit<SourceView, 'lastDay'> {
    return {
      name,
      kind: kindOf(name),
      modes: [...modes],
      fault: verifiers.get(name)?.fault(clock.now()) ?? null,
      certificates: certificatesOf(name),
    };
  }

  const viewSources = () => [...sources.values()].map(viewSource);

  async function list(): Promise<SourceView[]> {
    const since = new Date(clock.now() - successSpanMs);
    // Without a database, the faults are still shown.
    const uses = await sessions.sourceUse(since).catch(undefinedIfUnavailable);
    return viewSources().map((source) => ({
      ...source,
      lastDay: uses ? (uses.get(source.name) ?? { authenticated: 0, failed: 0 }) : null,
    }));
  }

  /** As `list`, for one source, with a request to its provider. Other sources have no server that could be asked. */
  async function check(name: string): Promise<SourceView> {
    const source = sources.get(name);
    const found = (await list()).find((view) => view.name === name);
    if (!source || !found) throw new ApiError('not_found', { description: `No verification source ${name}` });
    if (found.kind !== 'oidc') return found;
    const { kind } = await probe(source);
    return { ...found, fault: kind === 'down' ? 'the provider cannot be reached' : null };
  }

  return {
    certificates: () =>
      viewSources().flatMap(({ name, certificates }) =>
        certificates.map((certificate) => ({ ...certificate, source: name })),
      ),
    list,
    check,
  };
}
export type SourceOverview = ReturnType<typeof createSourceOverview>;
