import { generateKeyPairSync } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KeyUsageFlags } from '@peculiar/asn1-x509';
import { encode, Tagged } from 'cborg';
import { describe, expect, it } from 'vitest';
import { signEs256 } from '../../server/identity-wallet/formats/cbor.ts';
import { deriveKeyPair } from '../../server/identity-wallet/protocol/derived-key.ts';
import { buildCertificate, toPem } from '../../server/identity-wallet/test-wallet/certificate-builder.ts';
import { parsePem } from '../../server/identity-wallet/trust/certificates.ts';
import { checkEveryMs, createTrust } from '../../server/identity-wallet/trust/trust.ts';
import { readVical } from '../../server/identity-wallet/trust/vical.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { now, refusalOf } from './attested.ts';

const day = 86_400_000;
const validity = { notBefore: now - day, notAfter: now + day };
const licence = 'org.iso.18013.5.1.mDL';
const keyOf = (name: string) => deriveKeyPair(new Uint8Array(32), [name]);

/** Makes the certificate of a self-signed authority. */
const authority = (name: string, changes: object = {}) =>
  buildCertificate({
    subject: { country: 'EU', name },
    key: keyOf(name),
    ...validity,
    isAuthority: true,
    ...changes,
  });
const textDate = (time: number) => new Tagged(0, `${new Date(time).toISOString().slice(0, 19)}Z`);
const info = (certificate: Uint8Array, docType: unknown = [licence]) => ({
  certificate: new Uint8Array(certificate),
  serialNumber: new Tagged(2, new Uint8Array(16).fill(7)),
  ski: new Uint8Array(20),
  docType,
});
const entries = [
  info(authority('one')),
  info(authority('two')),
  info(authority('cars'), ['org.iso.7367.1.mVRC']),
];

interface Parts {
  content?: object;
  purposes?: string[];
  usages?: number;
  issuer?: string;
  signerValidity?: typeof validity;
  change?: (bytes: Uint8Array) => Uint8Array;
}

/** Makes a list that its provider signed, with the given changes. */
function vical({ content = {}, purposes = ['1.0.18013.5.1.8'], issuer = 'provider', ...parts }: Parts = {}) {
  const certificate = buildCertificate({
    subject: { name: 'signer' },
    key: keyOf('signer'),
    issuer: { subject: { country: 'EU', name: issuer }, key: keyOf(issuer) },
    purposes,
    usages: parts.usages ?? KeyUsageFlags.nonRepudiation,
    ...(parts.signerValidity ?? validity),
  });
  const payload = encode({
    version: '1.0',
    vicalProvider: 'Test',
    date: textDate(now - day / 2),
    certificateInfos: entries,
    ...content,
  });
  const headers = encode(new Map([[1, -7]]));
  const signature = signEs256(keyOf('signer'), encode(['Signature1', headers, new Uint8Array(), payload]));
  const bytes = encode([
    headers,
    new Map([[33, new Uint8Array(certificate)]]),
    payload,
    new Uint8Array(signature),
  ]);
  return parts.change ? parts.change(bytes) : bytes;
}

const providers = parsePem(toPem(authority('provider')));
const expected = { providers, docType: licence, now };
const namesIn = (bytes: Uint8Array, docType = licence) =>
  readVical(bytes, { ...expected, docType }).authorities.map(({ x509 }) => /CN=(.*)/.exec(x509.subject)?.[1]);

describe('a list of issuing authorities (VICAL)', () => {
  it('yields the authorities of the given document type', () => {
    expect(namesIn(vical())).toEqual(['one', 'two']);
    expect(namesIn(vical(), 'org.iso.7367.1.mVRC')).toEqual(['cars']);
    expect(namesIn(vical(), 'org.iso.23220.photoid.1')).toEqual([]);
  });

  it('is accepted with a CBOR tag, and yields the date of the next list', () => {
    const tagged = (bytes: Uint8Array) => new Uint8Array([0xd2, ...bytes]);
    const nextUpdate = textDate(now + day);
    const read = readVical(vical({ change: tagged, content: { nextUpdate } }), expected);
    expect(read).toMatchObject({ nextUpdate: now + day });
    expect(read.authorities).toHaveLength(2);
  });

  it('is accepted with a date 59 s in the future, for clocks that differ', () => {
    expect(namesIn(vical({ content: { date: textDate(now + 59_000) } }))).toEqual(['one', 'two']);
  });

  it('yields its other authorities if one certificate is unusable', () => {
    const certificateInfos = [info(new Uint8Array([1, 2, 3])), ...entries];
    expect(namesIn(vical({ content: { certificateInfos } }))).toEqual(['one', 'two']);
  });

  const swapped = (bytes: Uint8Array) =>
    new Uint8Array(Buffer.from(Buffer.from(bytes).toString('latin1').replace('Test', 'Tost'), 'latin1'));
  const refusals: [which: string, parts: Parts, refusal: string][] = [
    ['of another provider', { issuer: 'other' }, 'unknown issuer'],
    [
      'of a signer that may sign documents only',
      { purposes: ['1.0.18013.5.1.2'] },
      'issuer certificate unusable',
    ],
    [
      'of a signer that may sign other things',
      { usages: KeyUsageFlags.digitalSignature },
      'issuer certificate unusable',
    ],
    [
      'of a signer that has expired',
      { signerValidity: { notBefore: now - 2 * day, notAfter: now - day } },
      'issuer certificate unusable',
    ],
    ['that was changed after signing', { change: swapped }, 'issuer signature wrong'],
    ['that is truncated', { change: (bytes) => bytes.slice(0, -20) }, 'malformed'],
    ['of another version', { content: { version: '2.0' } }, 'malformed'],
    [
      'with a date 61 s in the future',
      { content: { date: textDate(now + 61_000) } },
      'attestation not yet valid',
    ],
    ['with a date that is no CBOR date', { content: { date: '2026-11-22' } }, 'malformed'],
    ['with certificates that are no list', { content: { certificateInfos: {} } }, 'malformed'],
    [
      'with document types that are no list',
      { content: { certificateInfos: [info(authority('one'), licence)] } },
      'malformed',
    ],
    [
      'with more than 2,000 certificates',
      { content: { certificateInfos: Array(2_001).fill(entries[0]) } },
      'malformed',
    ],
  ];
  const cases = refusals.map(([which, parts, refusal]) => [which, refusal, parts] as const);

  it.each(cases)('%s is refused as "%s"', async (_which, refusal, parts) => {
    expect(await refusalOf((async () => readVical(vical(parts), expected))())).toBe(refusal);
  });

  it("is refused if its signature is by another key than that of its signer's certificate", async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const own = readVical(vical(), expected);
    expect(own.authorities).toHaveLength(2);
    const change = (bytes: Uint8Array) =>
      new Uint8Array([...bytes.slice(0, -64), ...signEs256(privateKey, new Uint8Array([1]))]);
    expect(await refusalOf((async () => readVical(vical({ change }), expected))())).toBe(
      'issuer signature wrong',
    );
  });
});

describe('trust anchors from a VICAL', () => {
  /** Creates a source that reads the list from a file. `pass` advances the clock until the next check. */
  function watch(first: Uint8Array) {
    const file = join(temporaryFolder('vical'), 'list.vical');
    const put = (bytes: Uint8Array) => {
      writeFileSync(`${file}.new`, bytes);
      renameSync(`${file}.new`, file);
    };
    put(first);
    const logged: object[] = [];
    let [at, elapsed] = [now, 0];
    const trust = createTrust({
      given: { vical: file, providers: toPem(authority('provider')) },
      docType: licence,
      source: 'licence',
      logger: { error: (fields: object) => logged.push(fields), info: () => {} } as never,
      clock: { now: () => at },
      uptime: () => elapsed,
    });
    return {
      trust,
      logged,
      put,
      pass: (ms = checkEveryMs) => {
        at += ms;
        elapsed += ms;
      },
      count: () => trust.anchors().length,
      fault: () => trust.fault(at),
    };
  }

  it('are read again when the file changes', () => {
    const { put, pass, count, fault } = watch(vical());
    expect(count()).toBe(2);
    put(vical({ content: { certificateInfos: entries.slice(1) } }));
    expect(count()).toBe(2);
    pass();
    expect(count()).toBe(1);
    expect(fault()).toBeUndefined();
  });

  it('stay the same while the new list cannot be verified, and one log line names the reason', () => {
    const { put, pass, count, fault, logged } = watch(vical());
    put(vical({ issuer: 'other' }));
    for (const _time of [1, 2, 3]) {
      pass();
      expect(count()).toBe(2);
    }
    expect(fault()).toBe('unknown issuer');
    expect(logged).toEqual([{ source: 'licence', why: 'unknown issuer' }]);
    put(vical());
    pass();
    expect(fault()).toBeUndefined();
  });

  it('are empty while the first list cannot be verified', () => {
    const { put, pass, count, fault } = watch(vical({ issuer: 'other' }));
    expect(count()).toBe(0);
    expect(fault()).toBe('unknown issuer');
    put(vical());
    pass();
    expect(count()).toBe(2);
  });

  it('stay the same after the next list is due, and the source reports the delay', () => {
    const { pass, count, fault } = watch(vical({ content: { nextUpdate: textDate(now + 60_000) } }));
    expect(fault()).toBeUndefined();
    pass(120_000);
    expect(count()).toBe(2);
    expect(fault()).toMatch(/^the VICAL should have been replaced by 2026-11-22T12:01/);
  });
});
