import { z } from 'zod';
import type { ClaimName, Claims } from '../../contracts/claims.ts';
import type { IdentityWalletSettings } from '../../contracts/identity-wallet-sources.ts';
import { type Certificate, countryOf } from './certificates.ts';
import { claimsFrom, type Facts, factsOfMdoc, factsOfSdJwt } from './facts.ts';
import { verifyMdoc } from './mdoc.ts';
import { type ClaimPath, type CredentialQuery, queryFor } from './query.ts';
import { demand } from './refused.ts';
import { verifySdJwt } from './sd-jwt.ts';
import type { StatusLists, StatusReference } from './status-list.ts';
import { audienceOf, type Handover, transcriptOf } from './transcript.ts';

/** The part of a request that its answer is verified against. */
export interface Expectation {
  settings: IdentityWalletSettings;
  claims: readonly ClaimName[];
  handover: Handover;
  anchors: readonly Certificate[];
  now: number;
}

export interface Proven {
  claims: Claims;
  /** A number that is always the same for the same person, with who gave it; undefined where there is none. */
  person: { issuer: string; identifier: string } | undefined;
}

const Presentations = z.tuple([z.string().min(1)]);

/** Where the two agree as far as both go; a list's elements are all alike. */
function overlaps(path: readonly (string | number)[], asked: ClaimPath): boolean {
  const length = Math.min(path.length, asked.length);
  return path.slice(0, length).every((part, at) => asked[at] === null || asked[at] === part);
}

function hasValue(claims: unknown, [first, ...rest]: ClaimPath): boolean {
  if (first === undefined) return true;
  if (first === null) return Array.isArray(claims) && claims.length > 0;
  const isThere = typeof claims === 'object' && claims !== null && Object.hasOwn(claims, first);
  return isThere && hasValue((claims as Record<string, unknown>)[first], rest);
}

interface Shown {
  has: (path: ClaimPath) => boolean;
  disclosed: readonly (readonly (string | number)[])[];
}

/** A presentation has to be one of the requested combinations: no more and no less. */
function checkExtent({ options }: CredentialQuery, { has, disclosed }: Shown): void {
  const complete = options.filter((option) => option.every(has));
  demand(complete.length > 0, 'less than was asked for');
  const isExact = complete.some((option) =>
    disclosed.every((path) => option.some((asked) => overlaps(path, asked))),
  );
  demand(isExact, 'more than was asked for');
}

interface Read {
  facts: Facts;
  issuer: Certificate;
  statuses: readonly StatusReference[];
}

function readMdoc(presentation: string, query: CredentialQuery, expected: Expectation): Read {
  const { settings, handover, anchors, now } = expected;
  const [docType = ''] = query.types;
  demand(/^[A-Za-z0-9_-]+$/.test(presentation), 'malformed', 'device response');
  const { elements, issuer, statuses } = verifyMdoc(Buffer.from(presentation, 'base64url'), {
    docType,
    anchors,
    purposes: settings.documentSignerUsages,
    transcript: transcriptOf(handover),
    now,
  });
  checkExtent(query, {
    has: ([namespace, name]) => elements.get(namespace ?? '')?.has(name ?? '') ?? false,
    disclosed: [...elements].flatMap(([namespace, own]) => [...own.keys()].map((name) => [namespace, name])),
  });
  return { facts: factsOfMdoc(elements.get(docType) ?? new Map()), issuer, statuses };
}

async function readSdJwt(presentation: string, query: CredentialQuery, expected: Expectation): Promise<Read> {
  const { handover, anchors, now } = expected;
  const { claims, disclosed, issuer, statuses } = await verifySdJwt(presentation, {
    types: query.types,
    anchors,
    audience: audienceOf(handover),
    nonce: handover.nonce,
    now,
  });
  checkExtent(query, { has: (path) => hasValue(claims, path), disclosed });
  return { facts: factsOfSdJwt(claims), issuer, statuses };
}

/** The state whose numbers these are: certificates change, the country of their owner does not. */
const stateOf = (issuer: Certificate) => countryOf(issuer) ?? issuer.x509.subject;

/** An issuer speaks for its own country alone (ISO/IEC 18013-5, B.1.4). */
function checkIssuingCountry({ issuingCountry }: Facts, issuer: Certificate): void {
  const isOwn = issuingCountry === undefined || issuingCountry.toUpperCase() === countryOf(issuer);
  demand(isOwn, 'wrong issuing country', "the signer's certificate names another one");
}

/** Judges answers of identity wallets. */
export function createPresentationCheck(statusLists: StatusLists) {
  /**
   * What the `vp_token` of an answer proves (OpenID4VP 1.0, section 8.6).
   * @throws PresentationRefused
   */
  return async function check(vpToken: object, expected: Expectation): Promise<Proven> {
    const { settings, claims: asked, anchors, now } = expected;
    const [entry, ...more] = Object.entries(vpToken);
    demand(entry, 'less than was asked for');
    demand(more.length === 0, 'more than was asked for', 'credentials');
    const query = queryFor(settings, asked).find(({ id }) => id === entry[0]);
    demand(query, 'more than was asked for', 'a credential that was not asked for');
    const parsed = Presentations.safeParse(entry[1]);
    demand(parsed.success, 'malformed', 'presentation');
    const [presentation] = parsed.data;
    const read =
      query.format === 'mso_mdoc'
        ? readMdoc(presentation, query, expected)
        : await readSdJwt(presentation, query, expected);
    const { facts, issuer } = read;
    checkIssuingCountry(facts, issuer);
    for (const status of read.statuses) await statusLists.check(status, { anchors, now });
    const isIdentity = settings.profile === 'eudi-pid';
    const identifier = settings.stableIdentifier ? facts.identifier : undefined;
    return {
      claims: claimsFrom({ facts, isIdentity, now }, asked),
      person: identifier ? { issuer: stateOf(issuer), identifier } : undefined,
    };
  };
}
export type PresentationCheck = ReturnType<typeof createPresentationCheck>;
