import { randomBytes } from 'node:crypto';
import { IdentityWallet } from '../contracts/identity-wallet-sources.ts';
import { createPresentationCheck } from '../server/identity-wallet/protocol/presentation.ts';
import { presentMdoc, presentSdJwt } from '../server/identity-wallet/test-wallet/holder.ts';
import { createTestIssuer, type TestIssuer } from '../server/identity-wallet/test-wallet/issuer.ts';
import { testStatusList } from '../server/identity-wallet/test-wallet/status.ts';
import { parsePem } from '../server/identity-wallet/trust/certificates.ts';
import { createStatusLists } from '../server/identity-wallet/trust/status-list.ts';
import { statusListTypes } from '../server/identity-wallet/trust/status-token.ts';

export interface PresentationCost {
  format: 'ISO mdoc' | 'SD-JWT VC';
  /** Processor time of one verification, in milliseconds. */
  processorMs: number;
}

const statusUri = 'https://issuer.invalid/status';
const handover = {
  kind: 'redirect',
  clientId: 'bench',
  nonce: 'bench',
  responseUri: 'https://verifier.invalid/answer',
} as const;
const base = { name: 'bench', label: 'Bench' };

async function ageProof(issuer: TestIssuer, now: number) {
  const presentation = await presentMdoc({
    issuerSigned: issuer.proofOfAge({ holder: 'adult', now }),
    key: issuer.holderKey,
    docType: 'eu.europa.ec.av.1',
    elements: ['age_over_18'],
    handover,
  });
  const settings = { ...base, profile: 'eu-age-verification', trustAnchors: issuer.anchorPem };
  return { settings: IdentityWallet.parse(settings), token: { proof_of_age: [presentation] } };
}

async function identity(issuer: TestIssuer, now: number) {
  const { credential } = await issuer.personSdJwt({ holder: 'adult', now }, 'urn:eudi:pid:1');
  const paths = [['age_equal_or_over', '18']];
  const key = issuer.holderKey;
  const presentation = await presentSdJwt({ credential, key, paths, handover, now });
  const access = { certificates: 'unused', key: 'unused' };
  const settings = { ...base, profile: 'eudi-pid', trustAnchors: issuer.anchorPem, access };
  return { settings: IdentityWallet.parse(settings), token: { pid_sd_jwt: [presentation] } };
}

/** Processor time to verify a presentation whose status list is cached. @throws if one is refused */
export async function measurePresentations(rounds = 300): Promise<PresentationCost[]> {
  const now = Date.now();
  const issuer = createTestIssuer({ key: randomBytes(32), statusUri, now });
  const lists = createStatusLists(async () => ({
    type: statusListTypes.jwt,
    body: await testStatusList(issuer.signer, statusUri, now),
  }));
  const check = createPresentationCheck(lists);
  const anchors = parsePem(issuer.anchorPem);
  const costs: PresentationCost[] = [];
  for (const [format, made] of [
    ['ISO mdoc', await ageProof(issuer, now)],
    ['SD-JWT VC', await identity(issuer, now)],
  ] as const) {
    const { token, settings: parsed } = made;
    const settings = { ...parsed, access: undefined };
    const verify = () => check(token, { settings, claims: ['age_18_plus'], handover, anchors, now });
    await verify();
    const before = process.cpuUsage();
    for (let round = 0; round < rounds; round += 1) await verify();
    const { user, system } = process.cpuUsage(before);
    costs.push({ format, processorMs: (user + system) / 1000 / rounds });
  }
  return costs;
}
