import { z } from 'zod';
import type { ClaimName, Claims } from '../../../contracts/claims.ts';
import type { IdentityWalletSettings } from '../../../contracts/identity-wallet-sources.ts';
import { claimsFrom, type Facts, factsOfMdoc, factsOfSdJwt } from '../facts.ts';
import { isObject } from '../formats/json.ts';
import { verifyMdoc } from '../formats/mdoc.ts';
import { verifySdJwt } from '../formats/sd-jwt.ts';
import { audienceOf, type Handover, transcriptOf } from '../formats/transcript.ts';
import { demand } from '../refused.ts';
import { type Certificate, countryOf } from '../trust/certificates.ts';
import type { StatusLists, StatusReference } from '../trust/status-list.ts';
import { pathsShown } from './nearest-age.ts';
import {
  type ClaimPath,
  type CredentialQuery,
  issuerAlgorithmsOf,
  mayShowOtherAge,
  namespaceOf,
  queryFor,
} from './query.ts';
import type { RawPresentation } from './response.ts';

/** The part of a request against which the answer is verified. The holder's key signs the `handover`; see `transcript.ts`. */
export interface Expectation {
  settings: IdentityWalletSettings;
  claims: readonly ClaimName[];
  handover: Handover;
  anchors: readonly Certificate[];
  now: number;
}

export interface Proven {
  claims: Claims;
  /** A number that is always the same for a person, and the authority that issued it. Undefined if there is none. */
  person: { issuer: string; identifier: string } | undefined;
}

/** Only one presentation of a credential is accepted. */
const Presentations = z.tuple([z.string().min(1)]);

/** Whether two paths are equal up to the length of the shorter one. Null stands for any element of a list. */
function overlaps(path: readonly (string | number | null)[], asked: ClaimPath): boolean {
  const length = Math.min(path.length, asked.length);
  return path.slice(0, length).every((part, index) => asked[index] === null || asked[index] === part);
}

interface Shown {
  has: (path: ClaimPath) => boolean;
  /** The paths of all values that the holder chose to show. */
  disclosed: readonly (readonly (string | number | null)[])[];
}

/** Checks that a presentation is exactly one of the requested combinations. */
function checkCompleteness({ options }: CredentialQuery, { has, disclosed }: Shown): void {
  const complete = options.filter((option) => option.every(has));
  demand(complete.length > 0, 'less than was asked for');
  const isExact = complete.some((option) =>
    disclosed.every((path) => option.some((asked) => overlaps(path, asked))),
  );
  demand(isExact, 'more than was asked for');
}

/** The contents of a verified credential. */
interface Read {
  facts: Facts;
  issuer: Certificate;
  statuses: readonly StatusReference[];
}

/** Verifies a presentation of an mdoc, and that it shows what was asked for. */
function readMdoc(response: Uint8Array, query: CredentialQuery, expected: Expectation): Read {
  const { settings, handover, anchors, now } = expected;
  const [docType = ''] = query.types;
  const { elements, issuer, statuses } = verifyMdoc(response, {
    docType,
    algorithms: issuerAlgorithmsOf(settings),
    anchors,
    purposes: settings.documentSignerUsages,
    transcript: transcriptOf(handover),
    now,
  });
  // With an empty list, `pathsShown` puts no requested age in the place of the one that is shown.
  const replaceable = mayShowOtherAge(settings) ? query.options.flat() : [];
  const shown = pathsShown(elements, replaceable);
  checkCompleteness(query, {
    has: (path) => shown.some((shownPath) => overlaps(shownPath, path)),
    disclosed: shown,
  });
  return { facts: factsOfMdoc(elements.get(namespaceOf(settings)) ?? new Map()), issuer, statuses };
}

function hasValue(claims: unknown, [first, ...rest]: ClaimPath): boolean {
  if (first === undefined) return true;
  // Null stands for every element of a list. It is always the last part of the paths in `query.ts`.
  if (first === null) return Array.isArray(claims) && claims.length > 0;
  return isObject(claims) && Object.hasOwn(claims, first) && hasValue(claims[first], rest);
}

/** Verifies a presentation of an SD-JWT VC, and that it shows what was asked for. */
async function readSdJwt(presentation: string, query: CredentialQuery, expected: Expectation): Promise<Read> {
  const { handover, anchors, now } = expected;
  const { claims, disclosed, issuer, statuses } = await verifySdJwt(presentation, {
    types: query.types,
    anchors,
    audience: audienceOf(handover),
    nonce: handover.nonce,
    now,
  });
  checkCompleteness(query, { has: (path) => hasValue(claims, path), disclosed });
  return { facts: factsOfSdJwt(claims), issuer, statuses };
}

/**
 * Returns who issued the number of a person or document: the country, and the authority if the document names one.
 * They identify the issuer, because its certificates are replaced from time to time.
 */
function numberIssuerOf({ issuingAuthority }: Facts, issuer: Certificate): string {
  const state = countryOf(issuer) ?? issuer.x509.subject;
  return issuingAuthority === undefined ? state : `${state}: ${issuingAuthority}`;
}

/** Checks that an issuer names only the country of its certificate as issuing country (ISO/IEC 18013-5, B.1.4). */
function checkIssuingCountry({ issuingCountry }: Facts, issuer: Certificate): void {
  const isRight = issuingCountry === undefined || issuingCountry.toUpperCase() === countryOf(issuer);
  demand(isRight, 'wrong issuing country', "the signer's certificate names another one");
}

/** Reads a device response. It does not say which query it answers, but a source has at most one query for an mdoc. */
function readDeviceResponse(
  response: Uint8Array,
  queries: readonly CredentialQuery[],
  expected: Expectation,
): Read {
  const query = queries.find(({ format }) => format === 'mso_mdoc');
  demand(query, 'more than was asked for', 'an mdoc');
  return readMdoc(response, query, expected);
}

/** Reads a `vp_token`, which must have one credential with one presentation. */
async function readToken(
  token: object,
  queries: readonly CredentialQuery[],
  expected: Expectation,
): Promise<Read> {
  const [entry, ...more] = Object.entries(token);
  demand(entry, 'less than was asked for');
  demand(more.length === 0, 'more than was asked for', 'credentials');
  const [credentialId, presentations] = entry;
  const query = queries.find(({ id }) => id === credentialId);
  demand(query, 'more than was asked for', 'a credential that was not asked for');
  const parsed = Presentations.safeParse(presentations);
  demand(parsed.success, 'malformed', 'presentation');
  const [presentation] = parsed.data;
  if (query.format !== 'mso_mdoc') return readSdJwt(presentation, query, expected);
  demand(/^[A-Za-z0-9_-]+$/.test(presentation), 'malformed', 'device response');
  return readMdoc(Buffer.from(presentation, 'base64url'), query, expected);
}

/** Makes the check of answers of identity wallets. */
export function createPresentationCheck(statusLists: StatusLists) {
  /**
   * Verifies an answer and returns what it proves (OpenID4VP 1.0, section 8.6; ISO/IEC TS 18013-7, annex C).
   * @throws PresentationRefused
   */
  return async function check(presented: RawPresentation, expected: Expectation): Promise<Proven> {
    const { settings, claims: asked, anchors, now } = expected;
    const queries = queryFor(settings, asked);
    const { facts, issuer, statuses } =
      presented instanceof Uint8Array
        ? readDeviceResponse(presented, queries, expected)
        : await readToken(presented, queries, expected);
    checkIssuingCountry(facts, issuer);
    for (const status of statuses) await statusLists.check(status, { anchors, now });
    // A proof of age has no name or number of the person. The other credentials identify a person.
    const isIdentity = settings.profile !== 'eu-age-verification';
    const identifier = settings.stableIdentifier ? facts.identifier : undefined;
    return {
      claims: claimsFrom({ facts, isIdentity, now }, asked),
      person: identifier ? { issuer: numberIssuerOf(facts, issuer), identifier } : undefined,
    };
  };
}
export type PresentationCheck = ReturnType<typeof createPresentationCheck>;
