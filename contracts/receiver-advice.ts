import { AttemptError, type DeliveryStatus } from './webhooks.ts';

/** A failed attempt, as far as the advice depends on it. */
export interface FailedAttempt {
  error: AttemptError;
  /** The status of the HTTP response. Null if there was none. */
  status: number | null;
  /** The target of a redirect. */
  location?: string | null;
  /** The `Retry-After` header as the receiver sent it. */
  retryAfter?: string | null;
  /** What failed, where there was no HTTP response: the code of the fault, or how far the attempt came. */
  detail?: string | null;
  /** By how many minutes the receiver's clock is ahead of ours; negative if it is behind. */
  clockAheadMinutes?: number | null;
}

/** The advice after an attempt without an HTTP response, by the class of the error. */
const withoutAnswer: Record<AttemptError, string> = {
  dns: 'Have the partner check the host name of the URL',
  refused: 'Have the partner check that the receiver runs and that its firewall lets us in',
  reset: 'Have the partner look at what closes the connection: a proxy, a size limit, a crash',
  tls: "Have the partner mend the receiver's certificate: its chain, its name, its end",
  timeout: 'Have the partner answer at once and work afterwards: 10 seconds are all there is',
  blocked_address: 'Have the partner give a URL that leads to public addresses only, and set it',
  http: 'Have the partner look at why the receiver does not answer with HTTP',
  interrupted: 'The server was stopped in the middle',
};

const incompleteChain =
  'The receiver does not send its whole chain of certificates, or a private authority signed it. Have the partner send the certificates between, up to a public authority';
const ownAuthority =
  "No public authority signed the receiver's certificate. Have the partner get one from a public authority";
const oldProtocol =
  'The receiver speaks no version of TLS that we accept. Have the partner allow TLS 1.2 and 1.3';
const noCertificate =
  'The receiver has no certificate for this host name, or no cipher that we accept. Have the partner check its TLS settings';

/** The advice after an attempt without an HTTP response, by the detail, if the class of the error does not say enough. */
const forDetail: Partial<Record<AttemptError, Readonly<Record<string, string>>>> = {
  tls: {
    CERT_HAS_EXPIRED: "The receiver's certificate has expired. Have the partner renew it",
    CERT_NOT_YET_VALID:
      "The receiver's certificate is not valid yet. Have the partner use one whose time has begun",
    ERR_TLS_CERT_ALTNAME_INVALID:
      "The receiver's certificate does not name the host of the URL. Have the partner check the URL, or use a certificate with this name",
    UNABLE_TO_GET_ISSUER_CERT: incompleteChain,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: incompleteChain,
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: incompleteChain,
    DEPTH_ZERO_SELF_SIGNED_CERT: ownAuthority,
    SELF_SIGNED_CERT_IN_CHAIN: ownAuthority,
    ERR_SSL_WRONG_VERSION_NUMBER:
      'The port of the URL does not speak TLS. Have the partner check the port, or let the receiver answer https there',
    ERR_SSL_UNSUPPORTED_PROTOCOL: oldProtocol,
    ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: oldProtocol,
    ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: noCertificate,
    ERR_SSL_TLSV1_UNRECOGNIZED_NAME: noCertificate,
    ECONNRESET:
      'The connection ended during the TLS handshake. Have the partner look at what closes it: a proxy or a firewall',
  },
  timeout: {
    'still at: dns': withoutAnswer.dns,
    'still at: connect': withoutAnswer.refused,
    ETIMEDOUT: withoutAnswer.refused,
    'still at: tls':
      'The receiver does not answer the TLS handshake. Have the partner check that the port of the URL speaks TLS',
  },
};

/** The advice for single HTTP statuses. */
const forStatus: Readonly<Record<number, string>> = {
  400: 'The receiver rejects the event. Have the partner check how it parses the body and verifies the signature',
  401: 'The receiver refuses the signature, or something before it asks for a login. Have the partner check first that it verifies the raw bytes with the present signing secret, then that no login is asked for',
  403: 'The receiver refuses the signature, or a firewall keeps us out. Have the partner check first that it verifies the raw bytes with the present signing secret, then that the POST is let through',
  404: 'The receiver knows no such path. Have the partner check the URL',
  405: 'The path of the URL takes no POST. Have the partner check the URL',
  410: 'The receiver says that the URL is gone (410). Have the partner set another',
  413: 'The receiver limits the size of a body. Have the partner allow 64 KiB',
  415: 'The receiver does not take application/json. Have the partner accept it',
  422: 'The receiver rejects the event. Have the partner check how it parses the body and verifies the signature',
  500: "The receiver's own code fails. Have the partner look into its log at the times of the attempts",
  501: 'The receiver does not handle POST. Have the partner check the URL',
  502: 'A proxy before the receiver got no answer from it. Have the partner check that the application runs',
  503: 'The receiver is overloaded or being maintained. Have the partner say when it is back',
  504: 'A proxy before the receiver got no answer in time. Have the partner answer at once and work afterwards',
};

function adviseForStatus(status: number, { location, retryAfter }: FailedAttempt): string {
  if (status >= 300 && status < 400) {
    const target = location ? ` to ${location}` : '';
    return `The receiver redirects${target}. Redirects are not followed: have the partner check the URL, and set the final one`;
  }
  if (status === 429) {
    const asked = retryAfter ? `, and asks to wait (Retry-After: ${retryAfter})` : '';
    return `The receiver limits our requests${asked}. The retry schedule does not change: have the partner raise its limit, or queue events and answer at once`;
  }
  const advice = forStatus[status];
  if (advice !== undefined) return advice;
  if (status >= 500)
    return 'The receiver fails. Have the partner look into its log at the times of the attempts';
  return 'The receiver rejects the request. Have the partner look at why it does not answer with a 2xx';
}

/** The statuses with which a receiver refuses a signature that it thinks too old. */
const signatureRefusals: ReadonlySet<number | null | undefined> = new Set([400, 401, 403, 422]);
export const mayRefuseSignature = (status: number | null | undefined): boolean =>
  signatureRefusals.has(status);

/** Names a wrong clock where it may be the reason of a refusal. Empty otherwise. */
function adviseClock({ status, clockAheadMinutes: ahead }: FailedAttempt): string {
  if (!ahead || !mayRefuseSignature(status)) return '';
  const minutes = Math.abs(ahead) === 1 ? '1 minute' : `${Math.abs(ahead)} minutes`;
  return `. Its clock is ${minutes} ${ahead > 0 ? 'ahead of' : 'behind'} ours, so it may find the signature too old or too new`;
}

/** Returns advice after a failed attempt. It ends without a full stop, because callers append the next command. */
export function adviseReceiver(attempt: FailedAttempt): string {
  const { error, status, detail } = attempt;
  if (status === null) return forDetail[error]?.[detail ?? ''] ?? withoutAnswer[error];
  return `${adviseForStatus(status, attempt)}${adviseClock(attempt)}`;
}

/**
 * Returns the advice after the last failed attempt of a delivery. Undefined if no attempt failed. Undefined also if advice is useless,
 * because the event has arrived or will not be sent.
 */
export function adviseDelivery({
  status,
  attempts,
}: {
  status: DeliveryStatus;
  attempts: readonly (Omit<FailedAttempt, 'error'> & { error: AttemptError | null })[];
}): string | undefined {
  const last = attempts.findLast(({ error }) => error !== null);
  if (!last?.error || status === 'delivered' || status === 'skipped') return undefined;
  return adviseReceiver({ ...last, error: last.error });
}

/** Returns the advice for an `EndpointAnswer`, which is either a status such as `404` or an `AttemptError` such as `dns`. */
export function adviseAnswer(answer: string): string | undefined {
  const { data: error } = AttemptError.safeParse(answer);
  return error === undefined ? adviseStatus(Number(answer)) : withoutAnswer[error];
}

/** Returns the advice for a status. Undefined for a status that acknowledges the event, and for an invalid status. */
export function adviseStatus(status: number): string | undefined {
  if (status < 300 || status > 599) return undefined;
  return adviseForStatus(status, { error: 'http', status });
}
