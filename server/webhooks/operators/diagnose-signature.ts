import { createHmac } from 'node:crypto';
import type { SignatureFault, Verification } from '../../../contracts/admin/webhooks.ts';
import { sameText } from '../../platform/ids.ts';
import type { Attempt } from '../delivery/delivery.ts';
import { contractSignature } from '../egress/signature.ts';

/** A captured request of a receiver, and our record of it. */
export interface Captured {
  body: string;
  /** The value of X-SVC-Signature. */
  signature: string;
  /** The signature that the receiver's own code computes, if known. */
  computed?: string | undefined;
  /** The present secret of the key. */
  secret: string;
  secretVersion: number;
  /** The event whose id is in the body, and all attempts to deliver it. */
  sent?: { eventId: string; body: string; attempts: readonly Attempt[] } | undefined;
}

interface Finding {
  fault: SignatureFault;
  reason: string;
}

const prefix = 'sha256=';
const hexDigest = /^[0-9a-f]{64}$/i;

/** The digest in a header, even if its form was changed. */
const digestOf = (signature: string): string =>
  signature
    .trim()
    .replace(/^sha256[=:]/i, '')
    .toLowerCase();

/** Length of the common prefix of two texts, in bytes. */
function firstDifference(one: string, other: string): number {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  const position = left.findIndex((byte, index) => byte !== right[index]);
  return position === -1 ? left.length : position;
}

function formFaults(signature: string): Finding[] {
  const text = signature.trim();
  const found: Finding[] = [];
  if (!text.startsWith(prefix)) {
    found.push({ fault: 'missing_prefix', reason: `The value must begin with "${prefix}", in lower case.` });
  }
  if (/[A-F]/.test(text.slice(-64))) {
    found.push({
      fault: 'upper_case',
      reason: 'The digest is in upper case; ours is lower-case hex. Compare without changing it.',
    });
  }
  return found;
}

/** Wrong digests that receivers often make from the right body and the right secret. */
function otherForms({ body, secret }: Captured): Finding & { digests: string[] } {
  const bare = secret.replace(/^whsec_/, '');
  const keys = [bare, Buffer.from(bare, 'base64'), `${secret}\n`];
  return {
    fault: 'wrong_key_form',
    reason:
      'It is keyed with a part of the secret. X-SVC-Signature is keyed with the secret exactly as shown, whsec_ included.',
    digests: keys.map((key) => createHmac('sha256', key).update(body).digest('hex')),
  };
}

function substanceFault(captured: Captured): Finding {
  const { body, signature, secret, secretVersion, sent } = captured;
  const digest = digestOf(signature);
  const row = sent?.attempts.find(
    (attempt) => attempt.signature !== undefined && digestOf(attempt.signature) === digest,
  );
  if (sent && row && sent.body !== body) {
    return {
      fault: 'altered_body',
      reason: `The signature is ours, for event ${sent.eventId}, but the body is not what was sent: it differs from byte ${firstDifference(sent.body, body)} on (${Buffer.byteLength(sent.body)} bytes were sent, ${Buffer.byteLength(body)} are given). Verify the raw bytes before parsing them.`,
    };
  }
  if (row && row.secretVersion !== secretVersion) {
    return {
      fault: 'old_secret',
      reason: `It was sent at ${row.at.toISOString()} and signed with version ${row.secretVersion} of the secret. The current one is version ${secretVersion}: the secret was rotated, or the URL set again, since.`,
    };
  }
  if (
    createHmac('sha256', secret).update(body).digest('base64') === signature.trim().replace(/^sha256=/, '')
  ) {
    return { fault: 'not_hex', reason: 'The digest is in base64; ours is hex.' };
  }
  const other = otherForms(captured);
  if (other.digests.includes(digest)) return other;
  if (sent && sent.body !== body && digestOf(contractSignature(sent.body, secret)) === digest) {
    return {
      fault: 'altered_body',
      reason: `The signature is right for event ${sent.eventId} as it was sent, but the body is not: it differs from byte ${firstDifference(sent.body, body)} on. Verify the raw bytes before parsing them.`,
    };
  }
  const trimmed = [body.trimEnd(), `${body}\n`].find(
    (text) => digestOf(contractSignature(text, secret)) === digest,
  );
  if (trimmed !== undefined) {
    return {
      fault: 'altered_body',
      reason:
        trimmed.length < body.length
          ? 'The signature fits the body without the white space at its end: something has added it. Verify the raw bytes.'
          : 'The signature fits the body with a line break at its end: something has taken it away. Verify the raw bytes.',
    };
  }
  const again =
    sent && sent.body !== body
      ? ' The body is not what was sent either.'
      : ' Or the body is not, byte for byte, what was signed.';
  return {
    fault: 'wrong_secret',
    reason: `It was not made with the current secret of this key (version ${secretVersion}): another key's secret, an old one, or not by us.${again}`,
  };
}

function signatureFaults(captured: Captured): Finding[] {
  const { body, signature, secret } = captured;
  const expected = contractSignature(body, secret);
  if (sameText(signature, expected)) return [];
  const text = signature.trim();
  if (text === '')
    return [
      {
        fault: 'missing_signature',
        reason: 'There is no signature: was the header X-SVC-Signature passed on?',
      },
    ];
  if (/^v1a?,/.test(text)) {
    return [
      {
        fault: 'standard_signature',
        reason:
          'This is the value of webhook-signature (Standard Webhooks). X-SVC-Signature begins with "sha256=".',
      },
    ];
  }
  const form = hexDigest.test(digestOf(text)) ? formFaults(signature) : [];
  if (digestOf(text) === digestOf(expected)) {
    const spaces: Finding = {
      fault: 'missing_prefix',
      reason: 'The value has spaces round it; compare it without.',
    };
    return form.length > 0 ? form : [spaces];
  }
  return [substanceFault(captured), ...form];
}

/** Explains the receiver's own result, if the request itself is valid. */
function receiverFault(captured: Captured): Finding[] {
  const { computed, body, secret } = captured;
  if (computed === undefined || sameText(computed, contractSignature(body, secret))) return [];
  const [finding] = signatureFaults({ ...captured, signature: computed });
  const why = finding ? ` ${finding.reason}` : '';
  return [
    {
      fault: 'receiver_computes_another',
      reason: `The receiver's code computes another signature than ours.${why}`,
    },
  ];
}

/** Verifies the signature of a captured request, and explains a mismatch. */
export function explain(captured: Captured): Verification {
  const wrong = signatureFaults(captured);
  const found = wrong.length > 0 ? wrong : receiverFault(captured);
  return {
    verified: wrong.length === 0,
    eventId: captured.sent?.eventId ?? null,
    faults: found.map(({ fault }) => fault),
    reasons: found.map(({ reason }) => reason),
  };
}
