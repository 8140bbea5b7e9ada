import { describe, expect, it } from 'vitest';
import { issueMdoc, issueSdJwt } from '../../server/identity-wallet/test-wallet/attestations.ts';
import { createCheck, expectation, handover, issuer, now, personSettings, refusalOf } from './attested.ts';
import { presentMdoc, presentSdJwt } from './library-holder.ts';
import { ownAnchors, ownSigner } from './own-issuer.ts';

const check = createCheck();
const asked = expectation(personSettings, ['country'], { anchors: ownAnchors });
const day = 86_400_000;
const validity = { signed: now - day, validFrom: now - day, validUntil: now + day };
const key = issuer.holderKey;

/** The country that the attestation states, and the country in the signer's certificate. */
interface Countries {
  issuing: string;
  signing: string | undefined;
}

const signerIn = (country: string | undefined) => ownSigner({ subject: { country, name: 'signer' } });

async function mdoc({ issuing, signing }: Countries) {
  const docType = 'eu.europa.ec.eudi.pid.1';
  const elements = { issuing_country: issuing, family_name: 'Mustermann' };
  const issuerSigned = issueMdoc({
    docType,
    elements,
    signer: signerIn(signing),
    holderKey: key,
    ...validity,
  });
  return {
    pid_mdoc: [await presentMdoc({ issuerSigned, key, docType, elements: ['issuing_country'], handover })],
  };
}

async function sdJwt({ issuing, signing }: Countries) {
  const claims = { issuing_country: issuing, family_name: 'Mustermann' };
  const content = { type: 'urn:eudi:pid:1', claims, signer: signerIn(signing), holderKey: key, ...validity };
  const credential = issueSdJwt(content);
  return {
    pid_sd_jwt: [
      await presentSdJwt({ credential, claims, key, paths: [['issuing_country']], handover, now }),
    ],
  };
}

describe.each([
  ['mdoc', mdoc],
  ['SD-JWT VC', sdJwt],
])('the issuing country of a PID (%s)', (_format, present) => {
  it('is accepted if the certificate of its signer names the same country', async () => {
    const proven = await check(await present({ issuing: 'DE', signing: 'DE' }), asked);
    expect(proven.claims).toEqual({ country: 'DE' });
  });

  it.each([
    ['another country', 'FR'],
    ['no country', undefined],
  ])(
    'is refused as "wrong issuing country" if the certificate of its signer names %s',
    async (_what, signing) => {
      expect(await refusalOf(check(await present({ issuing: 'DE', signing }), asked))).toBe(
        'wrong issuing country',
      );
    },
  );
});
