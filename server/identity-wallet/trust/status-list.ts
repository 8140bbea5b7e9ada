import { LRUCache } from 'lru-cache';
import { demand, PresentationRefused } from '../refused.ts';
import { parseCertificate } from './certificates.ts';
import { hex, type List, type PackedStatuses, readStatusToken, type Trust } from './status-token.ts';

export type StatusReference = {
  uri: string;
  /** The authority that must have certified the list's signer, instead of the trust anchors. */
  certificate?: Uint8Array | undefined;
} & (
  | { kind: 'index'; index: number }
  /** The attestation is revoked if the list contains this identifier. */
  | { kind: 'identifier'; identifier: Uint8Array }
);

/** Fetches a status list token, only from public addresses, with a limited size and without redirects. */
export type FetchStatusList = (uri: string) => Promise<{ type: string; body: Uint8Array }>;

/** Values of a status (Token Status List, 7.1). All but `valid` refuse the attestation. */
const valid = 0;
const suspended = 2;

const mostLists = 50;
/** The most bytes of all cached lists together. */
const cacheBytes = 64 * 1024 * 1024;

/** Checks the statuses of attestations in the lists that their issuers publish. */
export function createStatusLists(fetchList: FetchStatusList) {
  const cache = new LRUCache<string, List>({
    max: mostLists,
    maxSize: cacheBytes,
    sizeCalculation: ({ size }) => size,
  });

  /** Returns the cache key of a list. It contains the trust anchors, because sources trust different issuers. */
  const nameOf = ({ kind, uri }: StatusReference, { anchors }: Trust) =>
    [kind, uri, ...anchors.map(({ x509 }) => x509.fingerprint256)].join(' ');

  /** An attestation may name the authority of its list. The issuer has signed that name, so no other authority is trusted. */
  function trustFor({ certificate }: StatusReference, trust: Trust): Trust {
    return certificate ? { ...trust, anchors: [parseCertificate(certificate)] } : trust;
  }

  async function load(reference: StatusReference, given: Trust): Promise<List> {
    const trust = trustFor(reference, given);
    const name = nameOf(reference, trust);
    const found = cache.get(name);
    if (found && trust.now < found.until) return found;
    const list = await readStatusToken(await fetchList(reference.uri), reference, trust);
    cache.set(name, list);
    return list;
  }

  /** Returns a list. Whatever the fault is, also of the network, the status of the attestation is then unknown. */
  async function find(reference: StatusReference, trust: Trust): Promise<List> {
    try {
      return await load(reference, trust);
    } catch (error) {
      const why = error instanceof PresentationRefused ? error.message : 'cannot be read';
      throw new PresentationRefused('status unknown', why);
    }
  }

  /** Returns one status. Statuses fill each byte from its lowest bits on, and none crosses a byte (Token Status List, 4.1). */
  function statusIn({ bits, bytes }: PackedStatuses, index: number): number {
    const position = index * bits;
    const byte = bytes[Math.floor(position / 8)];
    demand(byte !== undefined, 'status unknown', 'the list is too short');
    const mask = 2 ** bits - 1;
    return (byte >> (position % 8)) & mask;
  }

  return {
    /** @throws PresentationRefused unless the list can be read and says that the attestation is valid */
    async check(reference: StatusReference, trust: Trust): Promise<void> {
      const list = await find(reference, trust);
      if (reference.kind === 'identifier') {
        demand(list.kind === 'identifier', 'status unknown', 'another kind of list');
        demand(!list.identifiers.has(hex(reference.identifier)), 'attestation revoked');
      } else {
        demand(list.kind === 'index', 'status unknown', 'another kind of list');
        const status = statusIn(list, reference.index);
        demand(status === valid, 'attestation revoked', status === suspended ? 'suspended' : undefined);
      }
    },
  };
}
export type StatusLists = ReturnType<typeof createStatusLists>;
