import { createHmac } from 'node:crypto';
import type { SignatureCheck, SignatureFault } from '../../../../contracts/admin/webhooks.ts';
import { sameText } from '../../../platform/ids.ts';
import type { Attempt } from '../../delivery/delivery.ts';
import { contractSignature } from '../../egress/signature.ts';

/** A captured request of a receiver, and our record of it. */
export interface Captured {
  body: Buffer;
  /** The value of X-SVC-Signature. */
  signature: string;
  /** The signature that the receiver's own code computes, if known. */
  computed?: string | undefined;
  /** The present secret of the key. */
  secret: string;
  secretVersion: number;
  /** The event whose id is in the body, with the body as it was sent, and all attempts to deliver it. */
  sent?: { eventId: string; body: Buffer; attempts: readonly Attempt[] } | undefined;
}

/** A captured request whose digest is not the expected one. */
interface Mismatch extends Captured {
  /** The digest of the given signature. */
  digest: string;
  /** The attempt that was sent with this digest. */
  sentAttempt: Attempt | undefined;
}

/** A fault, and its explanation for the developers of the receiver. */
interface Finding {
  fault: SignatureFault;
  reason: string;
}

const prefix = 'sha256=';
const hexDigest = /^[0-9a-f]{64}$/i;
const digestLength = 64;

/** Returns the digest of a signature, without its form: a wrong prefix or upper case are faults that are reported apart. */
const digestOf = (signature: string): string =>
  signature
    .trim()
    .replace(/^sha256[=:]/i, '')
    .toLowerCase();

/** Returns the position of the first byte in which two bodies differ. */
function firstDifference(one: Buffer, other: Buffer): number {
  const position = one.findIndex((byte, index) => byte !== other[index]);
  return position === -1 ? one.length : position;
}

/** Returns the faults in how the digest is written. */
function findFormFaults(signature: string): Finding[] {
  const text = signature.trim();
  const found: Finding[] = [];
  if (!text.startsWith(prefix)) {
    found.push({ fault: 'missing_prefix', reason: `The value must begin with "${prefix}", in lower case.` });
  }
  if (/[A-F]/.test(text.slice(-digestLength))) {
    found.push({
      fault: 'upper_case',
      reason: 'The digest is in upper case; ours is lower-case hex. Compare without changing it.',
    });
  }
  return found;
}

const byteLengths = (sent: Buffer, given: Buffer): string =>
  `${sent.length} bytes were sent, ${given.length} are given`;

/** We have sent this signature (so there is a `sentAttempt`), but with another body. */
function findChangedBody({ body, sent, sentAttempt }: Mismatch): Finding | undefined {
  if (!sent || !sentAttempt || sent.body.equals(body)) return undefined;
  return {
    fault: 'altered_body',
    reason: `The signature is ours, for event ${sent.eventId}, but the body is not what was sent: it differs from byte ${firstDifference(sent.body, body)} on (${byteLengths(sent.body, body)}). Verify the raw bytes before parsing them.`,
  };
}

/** We have sent this signature, but the secret has changed since. */
function findOldSecret({ sentAttempt, secretVersion }: Mismatch): Finding | undefined {
  if (!sentAttempt || sentAttempt.secretVersion === secretVersion) return undefined;
  return {
    fault: 'old_secret',
    reason: `It was sent at ${sentAttempt.at.toISOString()} and signed with version ${sentAttempt.secretVersion} of the secret. The current one is version ${secretVersion}: the secret was rotated, or the URL set again, since.`,
  };
}

/** Receivers may compute the right digest, but write it in base64. */
function findBase64Digest({ body, secret, signature }: Mismatch): Finding | undefined {
  const expected = createHmac('sha256', secret).update(body).digest('base64');
  if (signature.trim().replace(/^sha256=/, '') !== expected) return undefined;
  return { fault: 'not_hex', reason: 'The digest is in base64; ours is hex.' };
}

/** Receivers often make the key from a part of the secret, or from the secret with a line break. */
function findWrongKeyForm({ body, secret, digest }: Mismatch): Finding | undefined {
  const bare = secret.replace(/^whsec_/, '');
  const wrongKeys = [bare, Buffer.from(bare, 'base64'), `${secret}\n`];
  const digests = wrongKeys.map((key) => createHmac('sha256', key).update(body).digest('hex'));
  if (!digests.includes(digest)) return undefined;
  return {
    fault: 'wrong_key_form',
    reason:
      'It is keyed with a part of the secret. X-SVC-Signature is keyed with the secret exactly as shown, whsec_ included.',
  };
}

const fitsBody = ({ secret, digest }: Mismatch, body: Buffer): boolean =>
  digestOf(contractSignature(body, secret)) === digest;

/** The signature fits the body that we have sent, but the given body is another one. */
function findSignatureOfSentBody(mismatch: Mismatch): Finding | undefined {
  const { body, sent } = mismatch;
  if (!sent || sent.body.equals(body) || !fitsBody(mismatch, sent.body)) return undefined;
  return {
    fault: 'altered_body',
    reason: `The signature is right for event ${sent.eventId} as it was sent, but the body is not: it differs from byte ${firstDifference(sent.body, body)} on. Verify the raw bytes before parsing them.`,
  };
}

/** The signature fits the body with other white space at its end. */
function findChangedEnd(mismatch: Mismatch): Finding | undefined {
  const { body } = mismatch;
  // In latin1, each byte is one character, so that bytes that are not UTF-8 stay as they are.
  const trimmed = Buffer.from(body.toString('latin1').replace(/[ \t\r\n\f\v]+$/, ''), 'latin1');
  const withLineBreak = Buffer.concat([body, Buffer.from('\n')]);
  const signedBody = [trimmed, withLineBreak].find((bytes) => fitsBody(mismatch, bytes));
  if (signedBody === undefined) return undefined;
  const reason =
    signedBody.length < body.length
      ? 'The signature fits the body without the white space at its end: something has added it. Verify the raw bytes.'
      : 'The signature fits the body with a line break at its end: something has taken it away. Verify the raw bytes.';
  return { fault: 'altered_body', reason };
}

/** The explanation that is left if no other one fits. */
function wrongSecret({ body, secretVersion, sent }: Mismatch): Finding {
  const bodyRemark =
    sent && !sent.body.equals(body)
      ? ' The body is not what was sent either.'
      : ' Or the body is not, byte for byte, what was signed.';
  return {
    fault: 'wrong_secret',
    reason: `It was not made with the current secret of this key (version ${secretVersion}): another key's secret, an old one, or not by us.${bodyRemark}`,
  };
}

/** Explains why a digest is not the expected one. The order matters: a record of the attempt is the best evidence. */
function explainDigest(captured: Captured): Finding {
  const digest = digestOf(captured.signature);
  const sentAttempt = captured.sent?.attempts.find(
    ({ signature }) => signature !== undefined && digestOf(signature) === digest,
  );
  const mismatch = { ...captured, digest, sentAttempt };
  return (
    findChangedBody(mismatch) ??
    findOldSecret(mismatch) ??
    findBase64Digest(mismatch) ??
    findWrongKeyForm(mismatch) ??
    findSignatureOfSentBody(mismatch) ??
    findChangedEnd(mismatch) ??
    wrongSecret(mismatch)
  );
}

/** Returns the faults of a signature; none if it is valid. */
function findSignatureFaults(captured: Captured): Finding[] {
  const { body, signature, secret } = captured;
  const expected = contractSignature(body, secret);
  if (sameText(signature, expected)) return [];
  const text = signature.trim();
  if (text === '') {
    const reason = 'There is no signature: was the header X-SVC-Signature passed on?';
    return [{ fault: 'missing_signature', reason }];
  }
  // Standard Webhooks marks symmetric signatures with `v1` and asymmetric ones with `v1a`.
  if (/^v1a?,/.test(text)) {
    const reason =
      'This is the value of webhook-signature (Standard Webhooks). X-SVC-Signature begins with "sha256=".';
    return [{ fault: 'standard_signature', reason }];
  }
  const digest = digestOf(text);
  // A missing prefix or upper case is a fault only if the value is a hex digest at all.
  const formFaults = hexDigest.test(digest) ? findFormFaults(signature) : [];
  if (digest !== digestOf(expected)) return [explainDigest(captured), ...formFaults];
  // The digest is right, so only the form of the value is wrong.
  if (formFaults.length > 0) return formFaults;
  // The faults have no name of their own for white space round the value. `missing_prefix` is the nearest fault of form.
  return [{ fault: 'missing_prefix', reason: 'The value has spaces round it; compare it without.' }];
}

/** Explains the receiver's own result, if the request itself is valid. */
function findReceiverFault(captured: Captured): Finding[] {
  const { computed, body, secret } = captured;
  if (computed === undefined || sameText(computed, contractSignature(body, secret))) return [];
  const [finding] = findSignatureFaults({ ...captured, signature: computed });
  const why = finding ? ` ${finding.reason}` : '';
  const reason = `The receiver's code computes another signature than ours.${why}`;
  return [{ fault: 'receiver_computes_another', reason }];
}

/** Verifies the signature of a captured request, and explains a mismatch. */
export function checkSignature(captured: Captured): SignatureCheck {
  const signatureFaults = findSignatureFaults(captured);
  const verified = signatureFaults.length === 0;
  const findings = verified ? findReceiverFault(captured) : signatureFaults;
  return {
    verified,
    eventId: captured.sent?.eventId ?? null,
    faults: findings.map(({ fault }) => fault),
    reasons: findings.map(({ reason }) => reason),
  };
}
