import { Tagged } from 'cborg';
import { cborTag, type Signer } from '../formats/cbor.ts';
import { deriveKeyPair } from '../protocol/derived-key.ts';
import { documentSigner } from '../trust/certificates.ts';
import { issueMdoc, issueSdJwt } from './attestations.ts';
import { buildCertificate, toPem } from './certificate-builder.ts';

const day = 86_400_000;
const country = 'EU';
export const proofOfAgeType = 'eu.europa.ec.av.1';

/** The people whose attestations the test identity wallet holds. Those with an `age` are so old in every year. */
export const holders = {
  adult: { birthdate: '1990-05-17', nationality: 'DE', number: 'TEST-0001' },
  'young-adult': { age: 19, nationality: 'FR', number: 'TEST-0002' },
  minor: { age: 14, nationality: 'AT', number: 'TEST-0003' },
} as const;
export type HolderName = keyof typeof holders;

const agesAttested = [13, 14, 15, 16, 18, 21, 65];

/** Returns the data of a person. `reached` has the attested ages, each with whether the person is at least so old. */
function personOf(name: HolderName, now: number) {
  const { nationality, number, ...person } = holders[name];
  const lastYear = new Date(now).getUTCFullYear() - 1;
  // People with a fixed age have their birthday on the last day of the year. So they reach their age at the end of last year.
  const born = 'age' in person ? `${lastYear - person.age}-12-31` : person.birthdate;
  // The birthday of this year is not counted, because it changes none of the attested ages.
  const age = lastYear - Number(born.slice(0, 4));
  return { born, nationality, number, reached: agesAttested.map((years) => [years, age >= years] as const) };
}

const ageElements = (reached: ReturnType<typeof personOf>['reached']): Record<string, boolean> =>
  Object.fromEntries(reached.map(([years, isReached]) => [`age_over_${years}`, isReached]));

const validityAt = (now: number) => ({ notBefore: now - 30 * day, notAfter: now + 400 * day });

/** Derives the certificates and keys of an issuer from its name. There is a trusted and an untrusted test issuer. */
function authority(key: Uint8Array, name: string, now: number) {
  const root = deriveKeyPair(key, ['test issuer', name, 'root']);
  const signing = deriveKeyPair(key, ['test issuer', name, 'signer']);
  const subject = { country, name };
  const anchor = buildCertificate({
    subject,
    key: root,
    ...validityAt(now),
    isAuthority: true,
    pathLength: 0,
  });
  const certificate = buildCertificate({
    subject: { country, name: `${name} signer` },
    key: signing,
    issuer: { subject, key: root },
    ...validityAt(now),
    purposes: [documentSigner],
  });
  const signer: Signer = { key: signing, certificates: [certificate] };
  return { anchor, signer };
}

/**
 * Makes the access certificate, in PEM, for the sources of the test identity wallet. The certificate of its authority is left
 * out, because identity wallets refuse requests with a root (HAIP 1.0, 5).
 */
export function accessCertificate(key: Uint8Array, now: number) {
  const accessKey = deriveKeyPair(key, ['test wallet', 'access']);
  const issuer = {
    subject: { country, name: 'SVC test access authority' },
    key: deriveKeyPair(key, ['test wallet', 'access authority']),
  };
  const certificate = buildCertificate({
    subject: { country, name: 'SVC test relying party' },
    key: accessKey,
    issuer,
    ...validityAt(now),
  });
  return {
    certificates: toPem(certificate),
    key: accessKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

export const statusIndexes = { valid: 7, revoked: 11 };

/** The faults that an attestation can be ordered with. */
export const flaws = ['expired', 'not-yet-valid', 'unknown-issuer', 'revoked'] as const;

interface Order {
  holder: HolderName;
  flaw?: (typeof flaws)[number] | undefined;
  now: number;
}

/**
 * Makes the issuer of the test identity wallet. Its keys are derived from `key`, so every process has the same issuer and
 * nothing is stored. Only sessions in test mode trust it.
 */
export function createTestIssuer(settings: { key: Uint8Array; statusUri: string; now: number }) {
  const { key, statusUri, now } = settings;
  const trusted = authority(key, 'SVC test issuer', now);
  const foreign = authority(key, 'Unknown test issuer', now);
  const holderKey = deriveKeyPair(key, ['test wallet', 'holder']);

  /** Returns the parts of an attestation that are the same in each format. They contain the flaw of the order. */
  function signedParts({ flaw, now }: Order) {
    const idx = flaw === 'revoked' ? statusIndexes.revoked : statusIndexes.valid;
    const signed = now - 20 * day;
    return {
      signer: flaw === 'unknown-issuer' ? foreign.signer : trusted.signer,
      holderKey,
      signed,
      validFrom: flaw === 'not-yet-valid' ? now + day : signed,
      validUntil: flaw === 'expired' ? now - day : now + 90 * day,
      status: { status_list: { idx, uri: statusUri } },
    };
  }

  return {
    anchorPem: toPem(trusted.anchor),
    signer: trusted.signer,
    holderKey,

    proofOfAge(order: Order): Uint8Array {
      const elements = ageElements(personOf(order.holder, order.now).reached);
      return issueMdoc({ ...signedParts(order), docType: proofOfAgeType, elements });
    },

    /** Issues a PID. With a separate namespace, issues a driving licence or photo ID. */
    personMdoc(order: Order, docType: string, namespace = docType): Uint8Array {
      const { born, nationality, number, reached } = personOf(order.holder, order.now);
      const elements = {
        family_name: 'Mustermann',
        given_name: 'Erika',
        birth_date: new Tagged(cborTag.fullDate, born),
        nationality: [nationality],
        issuing_country: country,
        issuing_authority: 'SVC test issuer',
        personal_administrative_number: number,
        document_number: number,
        ...ageElements(reached),
      };
      return issueMdoc({ ...signedParts(order), docType, namespace, elements });
    },

    personSdJwt(order: Order, type: string) {
      const { born, nationality, number, reached } = personOf(order.holder, order.now);
      const claims = {
        family_name: 'Mustermann',
        given_name: 'Erika',
        birthdate: born,
        nationalities: [nationality],
        issuing_country: country,
        personal_administrative_number: number,
        age_equal_or_over: Object.fromEntries(
          reached.map(([years, isReached]) => [String(years), isReached]),
        ),
      };
      return { claims, credential: issueSdJwt({ ...signedParts(order), type, claims }) };
    },
  };
}
export type TestIssuer = ReturnType<typeof createTestIssuer>;
