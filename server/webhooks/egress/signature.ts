import { createHmac } from 'node:crypto';

/** What the signatures of a request are made from. */
export interface Signed {
  eventId: string;
  /** The request's body, byte for byte. */
  body: string;
  /** The signing secret as it was shown, `whsec_…`. */
  secret: string;
  /** Milliseconds since the epoch. */
  at: number;
}

const prefix = 'whsec_';

/** `sha256=` and the lower-case hex HMAC-SHA256 of the body, keyed with the secret as shown (interface 5.5). */
export function contractSignature(body: string | Buffer, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/**
 * The `v1` signature of Standard Webhooks over `id.timestamp.body`. The key is the decoded base64 after `whsec_`, as in
 * its libraries.
 * @param timestamp whole seconds since the epoch
 */
export function standardSignature({ eventId, body, secret }: Omit<Signed, 'at'>, timestamp: number): string {
  const key = Buffer.from(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret, 'base64');
  return `v1,${createHmac('sha256', key).update(`${eventId}.${timestamp}.${body}`).digest('base64')}`;
}

/** The signing headers of one attempt: the contract's, and those of Standard Webhooks. */
export function signatureHeaders(signed: Signed) {
  const timestamp = Math.floor(signed.at / 1000);
  return {
    'X-SVC-Signature': contractSignature(signed.body, signed.secret),
    'webhook-id': signed.eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standardSignature(signed, timestamp),
  };
}

/** What the headers of an attempt are made from. */
interface AttemptRequest extends Signed {
  type: string;
  attempt: number;
  traceparent?: string | undefined;
  userAgent: string;
}

/** All headers of an attempt (interface 4.7, docs/choices.md). */
export function attemptHeaders({ type, attempt, userAgent, traceparent, ...signed }: AttemptRequest) {
  return {
    'Content-Type': 'application/json',
    'User-Agent': userAgent,
    'X-SVC-Event-Id': signed.eventId,
    'X-SVC-Event': type,
    'X-SVC-Attempt': String(attempt),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...signatureHeaders(signed),
  };
}
