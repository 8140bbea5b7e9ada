import { randomBytes } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { ClaimName } from '../../contracts/claims.ts';
import { IdentityWallet, type IdentityWalletSettings } from '../../contracts/identity-wallet-sources.ts';
import { signEs256 } from '../../server/identity-wallet/formats/cbor.ts';
import type { Handover } from '../../server/identity-wallet/formats/transcript.ts';
import {
  createPresentationCheck,
  type Expectation,
} from '../../server/identity-wallet/protocol/presentation.ts';
import { PresentationRefused } from '../../server/identity-wallet/refused.ts';
import { accessCertificate, createTestIssuer } from '../../server/identity-wallet/test-wallet/issuer.ts';
import { testStatusList } from '../../server/identity-wallet/test-wallet/status.ts';
import { parsePem } from '../../server/identity-wallet/trust/certificates.ts';
import { createStatusLists } from '../../server/identity-wallet/trust/status-list.ts';
import { statusListTypes } from '../../server/identity-wallet/trust/status-token.ts';
import { startTestServer } from '../harness/server.ts';
import { presentMdoc, presentSdJwt } from './library-holder.ts';

export const now = Date.parse('2026-11-22T12:00:00Z');
export const statusUri = 'https://issuer.test/status';
export const issuer = createTestIssuer({ key: randomBytes(32), statusUri, now });
export const anchors = parsePem(issuer.anchorPem);

const accessFile = accessCertificate(new Uint8Array(32), Date.now());
const trust = { trustAnchors: issuer.anchorPem };
/** Sources of each profile and format that trust the issuer above. */
export const identityWalletSources = [
  { ...trust, name: 'age', label: 'Age', profile: 'eu-age-verification' },
  {
    ...trust,
    name: 'pid-sd-jwt',
    label: 'PID',
    profile: 'eudi-pid',
    access: accessFile,
    formats: ['dc+sd-jwt'],
  },
  {
    ...trust,
    name: 'pid-mdoc',
    label: 'PID',
    profile: 'eudi-pid',
    access: accessFile,
    formats: ['mso_mdoc'],
  },
];

export const startWithIdentityWallets = () =>
  startTestServer({ env: { SVC_IDENTITY_WALLET_SOURCES: JSON.stringify(identityWalletSources) } });

export const handover = {
  kind: 'redirect',
  clientId: 'redirect_uri:https://verify.test/answer',
  nonce: 'nonce-of-this-request',
  responseUri: 'https://verify.test/answer',
} as const satisfies Handover;

const given = { name: 'wallet', label: 'Wallet', trustAnchors: issuer.anchorPem };
const access = { certificates: 'unused', key: 'unused' };
export const ageSettings = IdentityWallet.parse({
  ...given,
  profile: 'eu-age-verification',
}) as IdentityWalletSettings;
export const personSettings = IdentityWallet.parse({
  ...given,
  profile: 'eudi-pid',
  stableIdentifier: true,
  access,
}) as IdentityWalletSettings;

/** Creates a check of presentations that reads the status list of the test issuer. */
export function createCheck() {
  const body = testStatusList(issuer.signer, statusUri, now);
  return createPresentationCheck(createStatusLists(async () => ({ type: statusListTypes.jwt, body })));
}

export function expectation(
  settings: IdentityWalletSettings,
  claims: readonly ClaimName[],
  changes: Partial<Expectation> = {},
): Expectation {
  return { settings, claims, handover, anchors, now, ...changes };
}

type Order = Parameters<typeof issuer.proofOfAge>[0];
export const adult: Order = { holder: 'adult', now };

export async function ageToken({
  elements = ['age_over_18'],
  order = adult,
  made = handover,
}: {
  elements?: readonly string[];
  order?: Order;
  made?: Handover;
} = {}) {
  const presentation = await presentMdoc({
    issuerSigned: issuer.proofOfAge(order),
    key: issuer.holderKey,
    docType: 'eu.europa.ec.av.1',
    elements,
    handover: made,
  });
  return { proof_of_age: [presentation] };
}

export async function personToken({
  paths,
  order = adult,
  made = handover,
  type = 'urn:eudi:pid:1',
  at = now,
}: {
  paths: readonly (readonly (string | null)[])[];
  order?: Order;
  made?: Handover;
  type?: string;
  at?: number;
}) {
  const { credential, claims } = issuer.personSdJwt(order, type);
  const key = issuer.holderKey;
  return { pid_sd_jwt: [await presentSdJwt({ credential, claims, key, paths, handover: made, now: at })] };
}

/** Makes a presentation whose holder proof has additional claims and header parameters, and is signed again. */
export async function personTokenWithProof(said: object, paths: readonly string[][], header: object = {}) {
  const [whole = ''] = (await personToken({ paths })).pid_sd_jwt;
  const signedOver = whole.slice(0, whole.lastIndexOf('~') + 1);
  const proof = { ...decodeJwt(whole.slice(signedOver.length)), ...said };
  // By hand, because a library would not sign each of the headers. With `b64`, the payload is signed as it is (RFC 7797 3).
  const text = JSON.stringify(proof);
  const payload = 'b64' in header && header.b64 === false ? text : Buffer.from(text).toString('base64url');
  const protectedHeader = { alg: 'ES256', typ: 'kb+jwt', ...header };
  const signed = `${Buffer.from(JSON.stringify(protectedHeader)).toString('base64url')}.${payload}`;
  const jwt = `${signed}.${signEs256(issuer.holderKey, Buffer.from(signed)).toString('base64url')}`;
  return { pid_sd_jwt: [signedOver + jwt] };
}

/** Returns the reason why a presentation was refused. Throws if it was accepted. */
export async function refusalOf(work: Promise<unknown>): Promise<string> {
  const outcome = await work.then(
    () => new Error('accepted'),
    (error: unknown) => error,
  );
  if (outcome instanceof PresentationRefused) return outcome.refusal;
  throw outcome instanceof Error ? outcome : new Error(String(outcome));
}
