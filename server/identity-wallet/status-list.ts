import { LRUCache } from 'lru-cache';
import { parseCertificate } from './certificates.ts';
import { demand, PresentationRefused } from './refused.ts';
import { hex, type List, readStatusToken, type Trust } from './status-token.ts';

/** Where the status of an attestation stands. */
export type StatusReference = {
  uri: string;
  /** The authority that has to have certified the list's signer, in place of the trust anchors. */
  certificate?: Uint8Array | undefined;
} & (
  | { kind: 'index'; index: number }
  /** Revoked where the list has it. */
  | { kind: 'identifier'; identifier: Uint8Array }
);

/** Gets a status list token. Only public addresses, a bounded body, no redirects. */
export type FetchStatusList = (uri: string) => Promise<{ type: string; body: Uint8Array }>;

const mostLists = 50;
/** Bytes of all lists that are kept. */
const cacheBytes = 64 * 1024 * 1024;

/** Statuses of attestations, from the lists that their issuers publish. */
export function createStatusLists(fetchList: FetchStatusList) {
  const known = new LRUCache<string, List>({
    max: mostLists,
    maxSize: cacheBytes,
    sizeCalculation: ({ size }) => size,
  });

  /** Cache key of a list: another source trusts other issuers. */
  const nameOf = ({ kind, uri }: StatusReference, { anchors }: Trust) =>
    [kind, uri, ...anchors.map(({ x509 }) => x509.fingerprint256)].join(' ');

  function trustFor({ certificate }: StatusReference, trust: Trust): Trust {
    return certificate ? { ...trust, anchors: [parseCertificate(certificate)] } : trust;
  }

  async function load(reference: StatusReference, given: Trust): Promise<List> {
    const trust = trustFor(reference, given);
    const name = nameOf(reference, trust);
    const found = known.get(name);
    if (found && trust.now < found.until) return found;
    const list = await readStatusToken(await fetchList(reference.uri), reference, trust);
    known.set(name, list);
    return list;
  }

  async function find(reference: StatusReference, trust: Trust): Promise<List> {
    try {
      return await load(reference, trust);
    } catch (error) {
      const why = error instanceof PresentationRefused ? error.message : 'cannot be read';
      throw new PresentationRefused('status unknown', why);
    }
  }

  function statusIn({ bits, bytes }: Extract<List, { kind: 'index' }>, index: number): number {
    const position = index * bits;
    const byte = bytes[Math.floor(position / 8)];
    demand(byte !== undefined, 'status unknown', 'the list is too short');
    return (byte >> (position % 8)) & (2 ** bits - 1);
  }

  return {
    /** @throws PresentationRefused unless the list says that the attestation is valid; also where the list cannot be read */
    async check(reference: StatusReference, trust: Trust): Promise<void> {
      const list = await find(reference, trust);
      if (reference.kind === 'identifier') {
        demand(list.kind === 'identifier', 'status unknown', 'another kind of list');
        demand(!list.identifiers.has(hex(reference.identifier)), 'attestation revoked');
      } else {
        demand(list.kind === 'index', 'status unknown', 'another kind of list');
        const status = statusIn(list, reference.index);
        demand(status === 0, 'attestation revoked', status === 2 ? 'suspended' : undefined);
      }
    },
  };
}
export type StatusLists = ReturnType<typeof createStatusLists>;
