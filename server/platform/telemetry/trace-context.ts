/** The fields of a `traceparent` header (W3C Trace Context, 3.2). */
const format =
  /^(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<parentId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<further>-.*)?$/;

/** The trace of its caller that a request belongs to. */
export interface TraceContext {
  traceId: string;
  /** The caller's span. */
  parentId: string;
  /** Two hexadecimal digits. The lowest bit says whether the trace is recorded. */
  flags: string;
  /** The header in the form of version 00. */
  traceparent: string;
}

const isZero = (digits: string) => /^0+$/.test(digits);

/** Parses a `traceparent` header. Undefined if it is missing or invalid; the standard says to ignore it then. */
export function readTraceparent(header: unknown): TraceContext | undefined {
  if (typeof header !== 'string') return undefined;
  const { version, traceId = '', parentId = '', flags = '', further } = format.exec(header)?.groups ?? {};
  if (version === undefined || version === 'ff') return undefined; // The version ff is forbidden.
  if (version === '00' && further !== undefined) return undefined; // Only later versions may have further fields.
  if (isZero(traceId) || isZero(parentId)) return undefined;
  return { traceId, parentId, flags, traceparent: `00-${traceId}-${parentId}-${flags}` };
}
