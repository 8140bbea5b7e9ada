import { describe, expect, it } from 'vitest';
import { decodeCbor } from '../../server/identity-wallet/formats/cbor.ts';
import { applyDisclosures } from '../../server/identity-wallet/formats/disclosures.ts';
import { parseJson } from '../../server/identity-wallet/formats/json.ts';
import { PresentationRefused } from '../../server/identity-wallet/refused.ts';
import { readLink } from '../../server/identity-wallet/test-wallet/asked.ts';
import { validatePath } from '../../server/identity-wallet/trust/certificates.ts';
import {
  ageSettings,
  ageToken,
  anchors,
  createCheck,
  expectation,
  now,
  personSettings,
  personToken,
  refusalOf,
} from './attested.ts';

const levels = [100, 3_000, 20_000];
const lists = (count: number) => '['.repeat(count) + ']'.repeat(count);
const refusal = (work: () => unknown) => refusalOf((async () => work())());

describe('untrusted JSON', () => {
  it('is parsed to a depth of 16 levels, and brackets in its strings do not count', () => {
    const texts = { ['[{"'.repeat(20)]: ['\\', '"', '[[[[\\"[[[[[[[[[[[['.repeat(3)] };
    expect(parseJson(JSON.stringify(texts))).toEqual(texts);
    expect(parseJson(lists(16))).toEqual(JSON.parse(lists(16)));
    expect(() => parseJson(lists(17))).toThrow('nested deeper than 16 levels');
    expect(() => parseJson(`{"a":${'{"b":'.repeat(16)}1${'}'.repeat(17)}`)).toThrow('deeper');
    expect(parseJson(`[${lists(15)},${lists(15)}]`)).toHaveLength(2);
  });

  it.each(levels)(
    'is refused if it has %d levels, in a disclosure and in the query of a link',
    async (count) => {
      const nested = lists(count);
      expect(() => parseJson(nested)).toThrow('nested deeper than 16 levels');
      const disclosure = Buffer.from(`["salt","name",${nested}]`).toString('base64url');
      expect(await refusal(() => applyDisclosures({ _sd: [] }, [disclosure]))).toBe('malformed');
      const link = `openid4vp://?dcql_query=${encodeURIComponent(`{"credentials":${nested}}`)}`;
      await expect(readLink(link, async () => '')).rejects.toThrow('nested deeper than 16 levels');
    },
  );

  it('is refused in the header, the payload and the holder proof of a PID if it has 20,000 levels', async () => {
    const check = createCheck();
    const expected = expectation(personSettings, ['age_18_plus']);
    const [whole = ''] = (await personToken({ paths: [['age_equal_or_over', '18']] })).pid_sd_jwt;
    const [header = '', ...rest] = whole.split('.');
    const deep = Buffer.from(lists(20_000)).toString('base64url');
    const refused = (presentation: string) => refusalOf(check({ pid_sd_jwt: [presentation] }, expected));
    expect(await refused([deep, ...rest].join('.'))).toBe('malformed');
    expect(await refused([header, deep, ...rest.slice(1)].join('.'))).toBe('issuer signature wrong');
    expect(await refused([...whole.split('.').slice(0, -2), deep, rest.at(-1)].join('.'))).toBe(
      'holder proof wrong',
    );
  });
});

describe('untrusted binary data', () => {
  it.each(levels)('is refused if CBOR lists, CBOR tags or a certificate have %d levels', async (count) => {
    const lists = new Uint8Array(count).fill(0x81);
    const tags = new Uint8Array(count).fill(0xd8).map((byte, at) => (at % 2 ? 24 : byte));
    expect(await refusal(() => decodeCbor(lists))).toBe('malformed');
    expect(await refusal(() => decodeCbor(tags))).toBe('malformed');
    const sequences = new Uint8Array(count).fill(0x30).map((byte, at) => (at % 2 ? 0x80 : byte));
    expect(await refusal(() => validatePath([sequences], { anchors, now }))).toBe(
      'issuer certificate unusable',
    );
  });

  it('is refused if it follows a valid proof of age as extra bytes', async () => {
    const [text = ''] = (await ageToken()).proof_of_age;
    const bytes = Buffer.concat([Buffer.from(text, 'base64url'), new Uint8Array(20_000).fill(0x81)]);
    const check = createCheck();
    const work = check(
      { proof_of_age: [bytes.toString('base64url')] },
      expectation(ageSettings, ['age_18_plus']),
    );
    await expect(work).rejects.toBeInstanceOf(PresentationRefused);
  });
});
