import { createHmac } from 'node:crypto';
import type { SignatureCheck, SignatureFault } from '../../../../contracts/admin/webhooks.ts';
import { sameText } from '../../../platform/ids.ts';
import type { Attempt } from '../../delivery/delivery.ts';
import { contractSignature } from '../../egress/signature.ts';

/** A captured request of a receiver, and our record of it. */
export interface Captured {
  body: Buffer;
  signature: string;
  /** The signature that the receiver's own code computes, if known. */
  computed?: string | undefined;
  secret: string;
  secretVersion: number;
  /** The event whose id is in the body, with the body as it was sent, and all attempts to deliver it. */
  sent?: { eventId: string; body: Buffer; attempts: readonly Attempt[] } | undefined;
}

interface Mismatch extends Captured {
  digest: string;
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

/** Returns where two bodies differ first, in words. */
function difference(sent: Buffer, given: Buffer): string {
  const position = sent.findIndex((byte, index) => byte !== given[index]);
  return `it differs from byte ${position === -1 ? sent.length : position} on`;
}

/** Returns the faults in how the digest is written. */
function findFormFaults(signature: string): Finding[] {
  const text = signature.trim();
  const found: Finding[] = [];
  if (!text.startsWith(prefix))
    found.push({ fault: 'missing_prefix', reason: `The value must begin with "${prefix}", in lower case.` });
  if (/[A-F]/.test(text.slice(-digestLength)))
    found.push({
      fault: 'upper_case',
      reason: 'The digest is in upper case; ours is lower-case hex. Compare without changing it.',
    });
  return found;
}

const altered = (reason: string): Finding => ({ fault: 'altered_body', reason });
const fitsBody = ({ secret, digest }: Mismatch, body: Buffer): boolean =>
  digestOf(contractSignature(body, secret)) === digest;

/** We have sent this signature, but with another body, or the secret has changed since. */
function findSentAttempt({ body, sent, sentAttempt, secretVersion }: Mismatch): Finding | undefined {
  if (!sent || !sentAttempt) return undefined;
  if (!sent.body.equals(body))
    return altered(
      `The signature is ours, for event ${sent.eventId}, but the body is not what was sent: ${difference(sent.body, body)} (${sent.body.length} bytes were sent, ${body.length} are given). Verify the raw bytes before parsing them.`,
    );
  if (sentAttempt.secretVersion === secretVersion) return undefined;
  return {
    fault: 'old_secret',
    reason: `It was sent at ${sentAttempt.at.toISOString()} and signed with version ${sentAttempt.secretVersion} of the secret. The current one is version ${secretVersion}: the secret was rotated, or the URL set again, since.`,
  };
}

/** Receivers may write the right digest in base64, or make the key from a part of the secret, or from it with a line break. */
function findUsualMistake({ body, secret, signature, digest }: Mismatch): Finding | undefined {
  const digestWith = (key: string | Buffer, form: 'hex' | 'base64') =>
    createHmac('sha256', key).update(body).digest(form);
  if (signature.trim().replace(/^sha256=/, '') === digestWith(secret, 'base64'))
    return { fault: 'not_hex', reason: 'The digest is in base64; ours is hex.' };
  const bare = secret.replace(/^whsec_/, '');
  const wrongKeys = [bare, Buffer.from(bare, 'base64'), `${secret}\n`];
  if (!wrongKeys.some((key) => digestWith(key, 'hex') === digest)) return undefined;
  return {
    fault: 'wrong_key_form',
    reason:
      'It is keyed with a part of the secret. X-SVC-Signature is keyed with the secret exactly as shown, whsec_ included.',
  };
}

/** The signature fits the body that we have sent, or the given one with other white space at its end. */
function findSignedBody(mismatch: Mismatch): Finding | undefined {
  const { body, sent } = mismatch;
  if (sent && !sent.body.equals(body) && fitsBody(mismatch, sent.body))
    return altered(
      `The signature is right for event ${sent.eventId} as it was sent, but the body is not: ${difference(sent.body, body)}. Verify the raw bytes before parsing them.`,
    );
  // In latin1, each byte is one character, so that bytes that are not UTF-8 stay as they are.
  const trimmed = Buffer.from(body.toString('latin1').replace(/[ \t\r\n\f\v]+$/, ''), 'latin1');
  if (fitsBody(mismatch, trimmed))
    return altered(
      'The signature fits the body without the white space at its end: something has added it. Verify the raw bytes.',
    );
  if (!fitsBody(mismatch, Buffer.concat([body, Buffer.from('\n')]))) return undefined;
  return altered(
    'The signature fits the body with a line break at its end: something has taken it away. Verify the raw bytes.',
  );
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
    findSentAttempt(mismatch) ??
    findUsualMistake(mismatch) ??
    findSignedBody(mismatch) ??
    wrongSecret(mismatch)
  );
}

/** Returns the faults of a signature; none if it is valid. */
function findSignatureFaults({ signature, ...captured }: Captured): Finding[] {
  const expected = contractSignature(captured.body, captured.secret);
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
  if (digest !== digestOf(expected)) return [explainDigest({ signature, ...captured }), ...formFaults];
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
