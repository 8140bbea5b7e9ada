import { createHash } from 'node:crypto';
import { decode, encode, Tagged } from 'cborg';
import { calculateJwkThumbprint } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  asMap,
  certificatesOf,
  checkSign1,
  embedded,
  parseSign1,
} from '../../server/identity-wallet/formats/cbor.ts';
import { audienceOf, transcriptOf } from '../../server/identity-wallet/formats/transcript.ts';
import { parseCertificate } from '../../server/identity-wallet/trust/certificates.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));

/** The key of the examples in OpenID4VP 1.0, B.2.6.1 and B.2.6.2. */
const encryptionKey = {
  kty: 'EC',
  crv: 'P-256',
  x: 'DxiH5Q4Yx3UrukE2lWCErq8N8bqC9CHLLrAwLz5BmE0',
  y: 'XtLM4-3h5o3HUH0MHVJV0kyq0iBlrBwlh8qEDMZ4-Pc',
};
const nonce = 'exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhGwqtA';

describe('session transcripts of OpenID4VP 1.0', () => {
  it('equal the examples in appendix B.2.6', async () => {
    const thumbprint = Buffer.from(await calculateJwkThumbprint(encryptionKey), 'base64url');
    const clientId = 'x509_san_dns:example.com';
    const responseUri = 'https://example.com/response';
    expect(hex(transcriptOf({ kind: 'redirect', clientId, nonce, responseUri, thumbprint }))).toBe(
      '83f6f682714f70656e494434565048616e646f7665725820048bc053c00442af9b8eed494cefdd9d95240d254b046b11b68013722aad38ac',
    );
    expect(hex(transcriptOf({ kind: 'dc-api', origin: 'https://example.com', nonce, thumbprint }))).toBe(
      '83f6f682764f70656e4944345650444341504948616e646f7665725820fbece366f4212f9762c74cfdbf83b8c69e371d5d68cea09cb4c48ca6daab761a',
    );
    expect(audienceOf({ kind: 'dc-api', origin: 'https://example.com', nonce })).toBe(
      'origin:https://example.com',
    );
  });
});

/** The example of a proof of age in the age verification profile, A.10. */
const example = {
  certificate:
    '308202BD30820263A00302010202144E4B041C8C22BA2C7AE96A64CD2475B27162FB2A300A06082A8648CE3D04030230693126302406035504030C1D41676520566572696669636174696F6E2049737375657220434120303131323030060355040A0C2941676520566572696669636174696F6E205265666572656E636520496D706C656D656E746174696F6E310B3009060355040613024156301E170D3235303430383233343034365A170D3236303730323233343034355A30653122302006035504030C1941676520566572696669636174696F6E204453202D2030303131323030060355040A0C2941676520566572696669636174696F6E205265666572656E636520496D706C656D656E746174696F6E310B30090603550406130241563059301306072A8648CE3D020106082A8648CE3D03010703420004BAE260A91CF520652293DB654C0F19F5CC7FAE9388F73D025B3252D035B6BCB96C799414FB510EF79C609284B379D1B85EB812240CCBC525318DB72016EBDB00A381EC3081E9301F0603551D23041830168014B13258C9ED461B5B1DCE3855E09F6FE89C90B0BA30160603551D250101FF040C300A06082B8102020000010230440603551D1F043D303B3039A037A035863368747470733A2F2F6973737565722E616765766572696669636174696F6E2E6465762F706B692F41565F43415F30312E63726C301D0603551D0E0416041420DEDF57FB318B998A762E464494B021CE76D310300E0603551D0F0101FF04040302078030390603551D12043230300603551D1204293027822568747470733A2F2F636F6D6D697373696F6E2E6575726F70612E65752F696E6465785F656E300A06082A8648CE3D040302034800304502200860F6AAEAA39FE479EC697E1EADBB0B473CB0E75C7B9E489EDD20BB5DD1AFBF022100A90A05B2FA2EAAB6A523FC6BE44F92EE7C21725A741D13629021FAD6AD14D3AC',
  signature:
    'DEE5E0AB7E5A7F29CCEFE7E07C74B2389FE3B0078A35716D8313B60602476E3E4CEA73F844351F90FEBFFF7FAA3EA1A8D68AFB2676E507F6D0AFBFD5A94D6E8B',
  digest: '2263E4515E0F1ABAD07FB1185A623944B5BD667A3CF189381E4C197133AEF99B',
  random: '11D5B8F7AB303D50960E488B0C20B645876697812A67A1A007609FA95B9BCC17',
  x: 'A0521B8EC99F9B9F52E716FC17CB93762935B9BFA6EE87F27F24682D5DA987F4',
  y: 'BBA07F498D0F421E9753C94CA5A6B3B224EBE68BCE4DE8581040E8A63214E1B7',
};

/** Encodes maps in the order of the example, because the signature covers that order. */
const inOrder = { mapSorter: () => 0 };
const embed = (value: unknown) => new Tagged(24, encode(value, inOrder));

const item = embed(
  new Map<string, unknown>([
    ['random', bytesOf(example.random)],
    ['digestID', 0],
    ['elementValue', true],
    ['elementIdentifier', 'age_over_18'],
  ]),
);
const securityObject = embed(
  new Map<string, unknown>([
    ['docType', 'eu.europa.ec.av.1'],
    ['version', '1.0'],
    [
      'validityInfo',
      new Map([
        ['signed', new Tagged(0, '2025-06-20T08:45:29Z')],
        ['validFrom', new Tagged(0, '2025-06-20T08:45:29Z')],
        ['validUntil', new Tagged(0, '2025-09-18T00:00:00Z')],
      ]),
    ],
    ['valueDigests', new Map([['eu.europa.ec.av.1', new Map([[0, bytesOf(example.digest)]])]])],
    [
      'deviceKeyInfo',
      new Map([
        [
          'deviceKey',
          new Map<number, unknown>([
            [1, 2],
            [-1, 1],
            [-2, bytesOf(example.x)],
            [-3, bytesOf(example.y)],
          ]),
        ],
      ]),
    ],
    ['digestAlgorithm', 'SHA-256'],
  ]),
);

describe('the example attestation of the age verification profile', () => {
  it('has the digest of its element, and a document signer certificate with its own key usage', () => {
    const digest = createHash('sha256').update(encode(item)).digest('hex').toUpperCase();
    expect(digest).toBe(example.digest);
    const { purposes, usages, isAuthority } = parseCertificate(bytesOf(example.certificate));
    expect({ purposes, usages, isAuthority }).toEqual({
      purposes: ['1.3.130.2.0.0.1.2'],
      usages: { signs: true, commits: false, issues: false },
      isAuthority: false,
    });
  });

  it('is signed by its document signer', () => {
    const sign1 = parseSign1(
      [
        encode(new Map([[1, -7]])),
        new Map([[33, bytesOf(example.certificate)]]),
        encode(securityObject),
        bytesOf(example.signature),
      ],
      'example',
    );
    const [certificate = new Uint8Array()] = certificatesOf(sign1);
    const key = parseCertificate(certificate).x509.publicKey;
    const payload = sign1.payload ?? new Uint8Array();
    const tags = Tagged.preserve(0, 24);
    const inner = asMap(decode(embedded(decode(payload, { tags }), 'x'), { tags, useMaps: true }), 'x');
    expect(inner.get('docType')).toBe('eu.europa.ec.av.1');
    checkSign1(sign1, { key, payload, refusal: 'issuer signature wrong' });
  });
});
