import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createPresentationCheck } from '../../server/identity-wallet/protocol/presentation.ts';
import { issueMdoc, issueSdJwt } from '../../server/identity-wallet/test-wallet/attestations.ts';
import { createStatusLists } from '../../server/identity-wallet/trust/status-list.ts';
import {
  ageSettings,
  anchors,
  expectation,
  handover,
  issuer,
  now,
  personSettings,
  refusalOf,
  statusUri,
} from './attested.ts';
import { presentMdoc, presentSdJwt } from './library-holder.ts';
import { ownAnchors, ownSigner } from './own-issuer.ts';
import { cwtList, identifierList, jwtList, listed, seconds } from './status-lists.ts';

type Fetched = { type: string; body: Uint8Array };
const trust = { anchors, now };
const unlisted = new Uint8Array([1, 2, 3]);
const unknownIssuer = ownSigner();

/** Checks the status of an attestation by its index. */
const checkByIndex = (fetch: () => Promise<Fetched>, index = 0) =>
  createStatusLists(fetch).check({ kind: 'index', index, uri: statusUri }, trust);
const checkByIdentifier = (fetch: () => Promise<Fetched>, identifier = unlisted) =>
  createStatusLists(fetch).check({ kind: 'identifier', identifier, uri: statusUri }, trust);

describe('a status list', () => {
  it.each([
    ['JWT', () => jwtList()],
    ['CWT', async () => cwtList()],
  ])(
    'confirms valid attestations and causes the refusal of revoked, suspended and unlisted ones as a %s',
    async (_format, fetch) => {
      await expect(checkByIndex(fetch, 0)).resolves.toBeUndefined();
      await expect(checkByIndex(fetch, 3)).resolves.toBeUndefined();
      await expect(checkByIndex(fetch, 1)).rejects.toThrow('attestation revoked');
      await expect(checkByIndex(fetch, 2)).rejects.toThrow('attestation revoked: suspended');
      expect(await refusalOf(checkByIndex(fetch, 4))).toBe('status unknown');
    },
  );

  it('revokes an attestation by any status except 0, also by statuses that the specification does not define', async () => {
    const lst = deflateSync(Buffer.from(Array.from({ length: 256 }, (_each, value) => value)));
    const fetch = () => jwtList({ claims: { status_list: { bits: 8, lst: lst.toString('base64url') } } });
    for (const index of [3, 11, 12, 15, 16, 128, 255]) {
      expect(await refusalOf(checkByIndex(fetch, index)), `status ${index}`).toBe('attestation revoked');
    }
  });

  it('is fetched again once its ttl of 60 s has passed, and not earlier', async () => {
    let asked = 0;
    const { check } = createStatusLists(() => {
      asked += 1;
      return jwtList();
    });
    const at = (time: number) => check({ kind: 'index', index: 0, uri: statusUri }, { anchors, now: time });
    await at(now);
    await at(now + 59_000);
    expect(asked).toBe(1);
    await at(now + 60_000);
    expect(asked).toBe(2);
  });

  it('is fetched twice in 30 s, not at each use, if it expired 30 s ago', async () => {
    let asked = 0;
    const { check } = createStatusLists(() => {
      asked += 1;
      return jwtList({ claims: { exp: seconds - 30, ttl: 20 } });
    });
    for (const later of [0, 1, 19, 20, 29]) {
      await check({ kind: 'index', index: 0, uri: statusUri }, { anchors, now: now + later * 1000 });
    }
    expect(asked).toBe(2);
  });

  const huge = { bits: 1, lst: deflateSync(Buffer.alloc(9 * 1024 * 1024)).toString('base64url') };
  it.each<[string, () => Promise<Fetched>]>([
    ['cannot be reached', () => Promise.reject(new Error('away'))],
    ['states another address', () => jwtList({ claims: { sub: 'https://other.test/status' } })],
    ['expired 61 s ago', () => jwtList({ claims: { exp: seconds - 61 } })],
    ['was issued an hour in the future', () => jwtList({ claims: { iat: seconds + 3600 } })],
    ['does not state when it was issued', () => jwtList({ claims: { iat: undefined } })],
    ['is a CWT without the time of its issue', async () => cwtList({ claims: { 6: undefined } })],
    ['is valid from 61 s later', () => jwtList({ claims: { nbf: seconds + 61 } })],
    ['is a CWT that is valid from 61 s later', async () => cwtList({ claims: { 5: seconds + 61 } })],
    ['is a JWT of another type', () => jwtList({ header: { typ: 'JWT' } })],
    ['is a CWT of another type', async () => cwtList({ type: 'application/identifierlist+cwt' })],
    ['is signed by another key', () => jwtList({ signer: { ...issuer.signer, key: issuer.holderKey } })],
    ['is by an unknown issuer', () => jwtList({ signer: unknownIssuer })],
    ['is a CWT of an unknown issuer', async () => cwtList({ signer: unknownIssuer })],
    ['is too large', () => jwtList({ claims: { status_list: huge } })],
    ['has no valid status list', () => jwtList({ claims: { status_list: { bits: 3, lst: '' } } })],
    ['is no token', async () => ({ type: 'text/html', body: Buffer.from('<html>') })],
    ['is an identifier list', async () => identifierList()],
    ['also contains an identifier list', async () => cwtList({ claims: { 65530: { identifiers: {} } } })],
  ])('causes the refusal "status unknown" if it %s', async (_what, fetch) => {
    expect(await refusalOf(checkByIndex(fetch))).toBe('status unknown');
  });
});

describe('an identifier list (ISO/IEC 18013-5, 12.3.6.4)', () => {
  it('revokes only the attestations that it names', async () => {
    const fetch = async () => identifierList();
    await expect(checkByIdentifier(fetch)).resolves.toBeUndefined();
    expect(await refusalOf(checkByIdentifier(fetch, listed))).toBe('attestation revoked');
  });

  it('is cached separately from a status list at the same address', async () => {
    const answers = [identifierList(), await jwtList()];
    const { check } = createStatusLists(async () => answers.shift() ?? Promise.reject(new Error('asked')));
    const [one, other] = [
      { kind: 'identifier', identifier: unlisted } as const,
      { kind: 'index', index: 0 } as const,
    ];
    for (const reference of [one, other, one, other]) await check({ ...reference, uri: statusUri }, trust);
    expect(answers).toEqual([]);
  });

  it.each<[string, () => Promise<Fetched>]>([
    ['cannot be reached', () => Promise.reject(new Error('away'))],
    ['states another address', async () => identifierList({ claims: { 2: 'https://other.test/status' } })],
    ['states no expiry', async () => identifierList({ claims: { 4: undefined } })],
    ['expired 60 s ago', async () => identifierList({ claims: { 4: seconds - 60 } })],
    ['does not state when it was issued', async () => identifierList({ claims: { 6: undefined } })],
    ['is of another type', async () => identifierList({ type: 'application/statuslist+cwt' })],
    ['is by an unknown issuer', async () => identifierList({ signer: unknownIssuer })],
    [
      'also contains a status list',
      async () => identifierList({ claims: { 65533: { bits: 1, lst: listed } } }),
    ],
    ['contains no identifier list', async () => identifierList({ claims: { 65530: undefined } })],
    ['has no identifiers', async () => identifierList({ claims: { 65530: {} } })],
    [
      'contains identifiers that are strings',
      async () => identifierList({ claims: { 65530: { identifiers: { '450': {} } } } }),
    ],
    ['is a status list', () => jwtList()],
    ['is no token', async () => ({ type: 'text/html', body: Buffer.from('<html>') })],
  ])('causes the refusal "status unknown" if it %s', async (_what, fetch) => {
    expect(await refusalOf(checkByIdentifier(fetch))).toBe('status unknown');
  });
});

const day = 86_400_000;
const validity = { signed: now - day, validFrom: now - day, validUntil: now + day };
const key = issuer.holderKey;

/** Checks a proof of age with this status. Every address returns the list from `fetch`. */
async function checkMdoc(
  status: object,
  fetch: (uri: string) => Promise<Fetched> = async () => identifierList(),
) {
  const docType = 'eu.europa.ec.av.1';
  const issuerSigned = issueMdoc({
    docType,
    elements: { age_over_18: true },
    signer: issuer.signer,
    holderKey: key,
    ...validity,
    status: status as Record<string, unknown>,
  });
  const presentation = await presentMdoc({ issuerSigned, key, docType, elements: ['age_over_18'], handover });
  const check = createPresentationCheck(createStatusLists(fetch));
  return check({ proof_of_age: [presentation] }, expectation(ageSettings, ['age_18_plus']));
}

async function checkSdJwt(status: object) {
  const claims = { issuing_country: 'EU' };
  const content = { type: 'urn:eudi:pid:1', claims, signer: issuer.signer, holderKey: key, ...validity };
  const credential = issueSdJwt({ ...content, status: status as Record<string, unknown> });
  const paths = [['issuing_country']];
  const check = createPresentationCheck(createStatusLists(() => jwtList()));
  const presentation = await presentSdJwt({ credential, claims, key, paths, handover, now });
  return check({ pid_sd_jwt: [presentation] }, expectation(personSettings, ['country']));
}

describe('the status of an mdoc', () => {
  const uri = statusUri;
  const accepted = { claims: { age_18_plus: true } };

  it('is looked up by index or by identifier, and either can cause the refusal "attestation revoked"', async () => {
    expect(await checkMdoc({ status_list: { idx: 0, uri } }, () => jwtList())).toMatchObject(accepted);
    expect(await checkMdoc({ identifier_list: { id: unlisted, uri } })).toMatchObject(accepted);
    expect(await refusalOf(checkMdoc({ status_list: { idx: 1, uri } }, () => jwtList()))).toBe(
      'attestation revoked',
    );
    expect(await refusalOf(checkMdoc({ identifier_list: { id: listed, uri } }))).toBe('attestation revoked');
  });

  it('is looked up in both lists if the attestation names two, and each list can revoke it', async () => {
    const fetch = async (at: string) => (at === uri ? cwtList() : identifierList({ claims: { 2: at } }));
    const both = (idx: number, id: Uint8Array) =>
      checkMdoc({ status_list: { idx, uri }, identifier_list: { id, uri: `${uri}/identifiers` } }, fetch);
    expect(await both(0, unlisted)).toMatchObject(accepted);
    expect(await refusalOf(both(1, unlisted))).toBe('attestation revoked');
    expect(await refusalOf(both(0, listed))).toBe('attestation revoked');
  });

  it('is looked up by index if its identifier is a string, and is "malformed" if there is no index either', async () => {
    const fetch = async (at: string) => (at === uri ? cwtList() : Promise.reject(new Error('asked')));
    const named = { identifier_list: { id: '450', uri: `${uri}/identifiers` } };
    expect(await checkMdoc({ ...named, status_list: { idx: 0, uri } }, fetch)).toMatchObject(accepted);
    expect(await refusalOf(checkMdoc({ ...named, status_list: { idx: 1, uri } }, fetch))).toBe(
      'attestation revoked',
    );
    expect(await refusalOf(checkMdoc(named, fetch))).toBe('malformed');
  });

  it('is accepted from a list whose signer the attestation names, and from no other signer', async () => {
    const [authority] = ownAnchors;
    const certificate = new Uint8Array(authority?.x509.raw ?? []);
    const foreign = async () => identifierList({ signer: unknownIssuer });
    const named = { id: unlisted, uri, certificate };
    expect(await checkMdoc({ identifier_list: named }, foreign)).toMatchObject(accepted);
    expect(await refusalOf(checkMdoc({ identifier_list: { ...named, id: listed } }, foreign))).toBe(
      'attestation revoked',
    );
    expect(await refusalOf(checkMdoc({ identifier_list: named }))).toBe('status unknown');
    const broken = { identifier_list: { ...named, certificate: unlisted } };
    expect(await refusalOf(checkMdoc(broken, foreign))).toBe('status unknown');
  });

  it.each([
    ['status unknown', 'is of an unknown kind', { revocation_service: { uri } }],
    ['status unknown', 'names no list', {}],
    ['malformed', 'is a text in place of a map', { status_list: 'text' }],
    ['malformed', 'has a negative index', { status_list: { idx: -1, uri } }],
    ['malformed', 'has no address', { status_list: { idx: 0 } }],
    [
      'malformed',
      'has an address of 2,049 characters',
      { identifier_list: { id: listed, uri: uri.padEnd(2049, 'x') } },
    ],
  ])('is refused as "%s" if it %s', async (refusal, _what, status) => {
    expect(await refusalOf(checkMdoc(status))).toBe(refusal);
  });
});

describe('the status of an SD-JWT VC', () => {
  it.each([
    ['is of an unknown kind', { revocation_service: { uri: statusUri } }],
    [
      'is in an identifier list, which HAIP 1.0 does not define',
      { identifier_list: { id: 'x', uri: statusUri } },
    ],
    ['names no list', {}],
    ['has a negative index', { status_list: { idx: -1, uri: statusUri } }],
  ])('is refused as "status unknown" if it %s', async (_what, status) => {
    expect(await refusalOf(checkSdJwt(status))).toBe('status unknown');
  });

  it('is accepted if the list marks it as valid, and refused if as revoked ("attestation revoked")', async () => {
    expect(await checkSdJwt({ status_list: { idx: 0, uri: statusUri } })).toMatchObject({
      claims: { country: 'EU' },
    });
    expect(await refusalOf(checkSdJwt({ status_list: { idx: 1, uri: statusUri } }))).toBe(
      'attestation revoked',
    );
  });
});
