import { CompactEncrypt } from 'jose';
import type { Handover } from '../formats/transcript.ts';
import { type AskedByAnnexC, readDeviceRequest, sealFor } from './annex-c.ts';
import { type Asked, type AskedCredential, encryptionKeyOf, pathsToShow } from './asked.ts';
import { presentMdoc, presentSdJwt } from './holder.ts';
import { flaws, type HolderName, proofOfAgeType, type TestIssuer } from './issuer.ts';

const wrongAnswers = ['wrong-nonce', 'wrong-audience', 'replay', 'too-much'] as const;
/** How the test identity wallet can react to a request. Only the first leads to a valid presentation. */
export const acts = ['present', 'refuse', ...flaws, ...wrongAnswers] as const;
export type Act = (typeof acts)[number];

export interface Instruction {
  act: Act;
  holder: HolderName;
  /** Id of the credential to present. Without it, the first requested credential is presented. */
  credential?: string | undefined;
}

interface Dependencies {
  issuer: TestIssuer;
  clock: { now(): number };
  /** The origin of the pages that use the Digital Credentials API. */
  origin: string;
}

/** Returns what the holder signs, so that the answer is for this request. Some acts replace a value by a wrong one. */
function handoverOf(asked: Asked, act: Act, thumbprint: Uint8Array | undefined): Handover {
  const handover = {
    kind: 'redirect' as const,
    clientId: asked.client_id,
    nonce: asked.nonce,
    responseUri: asked.response_uri,
    thumbprint,
  };
  if (act === 'wrong-nonce') return { ...handover, nonce: 'another-nonce' };
  if (act === 'wrong-audience') return { ...handover, clientId: 'redirect_uri:https://other.example/answer' };
  if (act === 'replay')
    return { ...handover, nonce: 'nonce-of-an-earlier-request', responseUri: `${asked.response_uri}0` };
  return handover;
}

/** Returns what the holder signs for a page. Some acts replace its origin or encryption info by wrong ones. */
function annexCHandover({ encryptionInfo }: AskedByAnnexC, act: Act, origin: string): Handover {
  const isOtherRequest = act === 'wrong-nonce' || act === 'replay';
  return {
    kind: 'iso-dc-api',
    nonce: '', // It is inside the encryption info, which is another one in each request.
    origin: act === 'wrong-audience' ? 'https://other.example' : origin,
    encryptionInfo: isOtherRequest ? `${encryptionInfo}AA` : encryptionInfo,
  };
}

/** Whether the holder has a value at a path. It is not the verifier's function, so that tests find a fault in either. */
function holds(claims: unknown, [first, ...rest]: readonly (string | null)[]): boolean {
  if (first === undefined) return true;
  if (first === null) return Array.isArray(claims);
  const hasName = typeof claims === 'object' && claims !== null && Object.hasOwn(claims, first);
  return hasName && holds((claims as Record<string, unknown>)[first], rest);
}

/**
 * Makes a test identity wallet for both protocols. Tests also present by libraries of others, so that they find errors of the
 * wallet and of the verifier.
 */
export function createTestIdentityWallet({ issuer, clock, origin }: Dependencies) {
  const key = issuer.holderKey;
  const orderOf = ({ act, holder }: Instruction) => ({
    holder,
    flaw: flaws.find((flaw) => flaw === act),
    now: clock.now(),
  });

  /** Presents an mdoc. The act `too-much` also shows an element that was not requested. */
  function mdocOf(asked: AskedCredential, instruction: Instruction, handover: Handover) {
    const { doctype_value: docType = '' } = asked.meta;
    const isProofOfAge = docType === proofOfAgeType;
    // The attestation has all elements, so the first alternative is always chosen.
    const paths = pathsToShow(asked, () => true) ?? [];
    // All requested elements are in one namespace.
    const namespace = paths[0]?.[0] ?? docType;
    const order = orderOf(instruction);
    const issuerSigned = isProofOfAge
      ? issuer.proofOfAge(order)
      : issuer.personMdoc(order, docType, namespace);
    const elements = paths.map(([, name]) => name ?? '');
    const notRequested = isProofOfAge ? 'age_over_65' : 'family_name';
    const shown = instruction.act === 'too-much' ? [...elements, notRequested] : elements;
    return presentMdoc({ issuerSigned, key, docType, namespace, elements: shown, handover });
  }

  /** Presents an SD-JWT VC. The act `too-much` also shows a claim that was not requested. */
  function sdJwtOf(asked: AskedCredential, instruction: Instruction, handover: Handover) {
    const { vct_values: [type = ''] = [] } = asked.meta;
    const { credential, claims } = issuer.personSdJwt(orderOf(instruction), type);
    const paths = pathsToShow(asked, (path) => holds(claims, path)) ?? [];
    const shown = instruction.act === 'too-much' ? [...paths, ['family_name']] : paths;
    return presentSdJwt({ credential, key, paths: shown, handover, now: clock.now() });
  }

  function present(asked: AskedCredential, instruction: Instruction, handover: Handover): string {
    if (asked.format === 'mso_mdoc') return mdocOf(asked, instruction, handover);
    return sdJwtOf(asked, instruction, handover);
  }

  return {
    /** Returns the `data` that a page gets by ISO/IEC TS 18013-7, annex C. Undefined if the wallet refuses. */
    async answerAnnexC(asked: AskedByAnnexC, instruction: Instruction): Promise<object | undefined> {
      if (instruction.act === 'refuse') return undefined;
      const credential = readDeviceRequest(asked);
      const presented = present(credential, instruction, annexCHandover(asked, instruction.act, origin));
      return { response: await sealFor(asked, Buffer.from(presented, 'base64url'), origin) };
    },

    /** Returns the fields to post to the response URI. */
    async answer(asked: Asked, instruction: Instruction): Promise<Record<string, string>> {
      if (instruction.act === 'refuse') return { error: 'access_denied' };
      const { credentials } = asked.dcql_query;
      const credential = credentials.find(({ id }) => id === instruction.credential) ?? credentials[0];
      if (!credential) throw new Error('the request asks for no credential');
      const encryption = await encryptionKeyOf(asked);
      const handover = handoverOf(asked, instruction.act, encryption?.thumbprint);
      const token = { [credential.id]: [present(credential, instruction, handover)] };
      if (!encryption) return { vp_token: JSON.stringify(token) };
      const response = await new CompactEncrypt(Buffer.from(JSON.stringify({ vp_token: token })))
        .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: encryption.kid })
        .encrypt(encryption.key);
      return { response };
    },
  };
}
