import type { WebhookEvent } from './contract.ts';
import { bytesOf, fromBase64, fromHex, hmacKey } from './encoding.ts';
import { WebhookError } from './errors.ts';

/** Headers as Node, Express and Fastify give them, as lists of values, or as `fetch` does. */
export type HeaderBag = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Delivery {
  /** The body as it arrived, before anything parsed it. */
  body: string | Uint8Array;
  headers: HeaderBag;
}

export interface WebhookSettings {
  /** The secret as it was shown, with `whsec_`. */
  secret: string;
  /**
   * The seconds by which `webhook-timestamp` may differ from this machine's clock; 300 unless given. With `null` the time is not
   * checked, so that an attacker can send a copied delivery again at any time.
   */
  toleranceSeconds?: number | null;
  /** Milliseconds since the epoch; the machine's clock unless given. */
  now?: () => number;
  /** The base URL of the service, for `docUrl` of errors. Without it, `docUrl` is a path. */
  baseUrl?: string;
}

const defaultToleranceSeconds = 300;

/** The value of a header, whatever the case of its name; undefined if it is absent. */
function readHeader(headers: HeaderBag, name: string): string | undefined {
  const given: unknown = headers;
  if (typeof given !== 'object' || given === null) return undefined;
  if (typeof (headers as Headers).get === 'function') return (headers as Headers).get(name) ?? undefined;
  const bag = headers as Readonly<Record<string, string | readonly string[] | undefined>>;
  const values = Object.entries(bag).flatMap(([key, value]) =>
    key.toLowerCase() === name ? (value ?? []) : [],
  );
  // The values of a repeated header form one list (RFC 9110 5.3). The service repeats no header, so the list is no valid value.
  return values.length > 0 ? values.join(', ') : undefined;
}

/** Whether a signature is the HMAC-SHA256 of the message. Web Crypto compares in constant time. */
const isSignatureOf = async (
  key: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
) => crypto.subtle.verify('HMAC', await hmacKey(key), signature, message);

/**
 * Whether the header `webhook-signature` proves `webhook-timestamp`. It has a list of signatures in the format of Standard Webhooks,
 * such as `v1,BASE64`. The timestamp is genuine if one of them is over `{id}.{timestamp}.{body}`.
 */
async function isTimestampSigned(secret: string, headers: HeaderBag, body: Uint8Array): Promise<boolean> {
  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const prefix = bytesOf(`${id}.${timestamp}.`);
  const message = new Uint8Array(prefix.length + body.length);
  message.set(prefix);
  message.set(body, prefix.length);
  const versionPrefix = 'v1,';
  const signatures = (readHeader(headers, 'webhook-signature') ?? '').split(' ');
  for (const signature of signatures.filter((text) => text.startsWith(versionPrefix))) {
    try {
      // Standard Webhooks decodes the key from the secret without its prefix.
      const key = fromBase64(secret.replace(/^whsec_/, ''));
      if (await isSignatureOf(key, fromBase64(signature.slice(versionPrefix.length)), message)) return true;
    } catch {
      // A signature that is not base64 does not count. Another one in the list may be right.
    }
  }
  return false;
}

/**
 * Verifies a delivery, then parses it. `X-SVC-Signature` (interface 5.5) proves the raw body, but not the time. The time is proved by
 * the headers of Standard Webhooks.
 * The same event may arrive more than once: remember its `event_id`. A later version may send events of other names.
 * @throws WebhookError, whose `code` is `secret_required`, `raw_body_required`, `missing_signature`,
 *   `invalid_signature`, `missing_timestamp`, `timestamp_out_of_tolerance` or `malformed_event`: answer 401
 */
export async function verifyWebhook(delivery: Delivery, settings: WebhookSettings): Promise<WebhookEvent> {
  const { secret, toleranceSeconds = defaultToleranceSeconds, now = Date.now, baseUrl = '' } = settings;
  const { body, headers } = delivery;
  const refusal = (code: string, message: string) =>
    new WebhookError({
      code,
      message: `${code}: ${message}`,
      retryable: false,
      docUrl: `${baseUrl}/docs/webhooks#receive`,
    });

  // An empty key would let anyone sign.
  if (typeof secret !== 'string' || !secret)
    throw refusal('secret_required', 'the signing secret, whsec_…, is not set');
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw refusal(
      'raw_body_required',
      'pass the bytes as they arrived, not what a framework parsed from them',
    );
  const raw = bytesOf(body);
  const header = readHeader(headers, 'x-svc-signature');
  if (header === undefined) throw refusal('missing_signature', 'there is no X-SVC-Signature header');
  const digest = /^sha256=(?<digest>[0-9a-f]{64})$/.exec(header)?.groups?.['digest'];
  if (digest === undefined || !(await isSignatureOf(bytesOf(secret), fromHex(digest), raw)))
    throw refusal(
      'invalid_signature',
      'X-SVC-Signature does not fit the body: is this the raw body, and the present secret of this key?',
    );
  if (toleranceSeconds !== null) {
    const timestamp = readHeader(headers, 'webhook-timestamp') ?? '';
    if (!/^\d{1,12}$/.test(timestamp) || !(await isTimestampSigned(secret, headers, raw)))
      throw refusal(
        'missing_timestamp',
        'webhook-id, webhook-timestamp and webhook-signature do not fit the body',
      );
    const differenceSeconds = Math.abs(now() / 1000 - Number(timestamp));
    // Negated, so that a tolerance of NaN refuses every delivery.
    if (!(differenceSeconds <= toleranceSeconds))
      throw refusal(
        'timestamp_out_of_tolerance',
        `it was sent ${Math.round(differenceSeconds)} s from this machine's time`,
      );
  }
  return parseEvent(raw, refusal);
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseEvent(raw: Uint8Array, refusal: (code: string, message: string) => WebhookError): WebhookEvent {
  try {
    const event = JSON.parse(strictUtf8.decode(raw)) as WebhookEvent | null;
    if (typeof event?.event === 'string' && typeof event.event_id === 'string') return event;
  } catch {
    // Neither UTF-8 nor JSON: refused below, as is JSON without the fields of an event.
  }
  throw refusal('malformed_event', 'the body is signed, and no event');
}
