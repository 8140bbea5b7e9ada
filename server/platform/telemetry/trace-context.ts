/** Version, trace id, parent id and flags of a `traceparent` header (W3C Trace Context, 3.2). */
const format = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

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
  const [, version = '', traceId = '', parentId = '', flags = '', rest] = format.exec(header) ?? [];
  // Only a version after 00 may have more fields; ff is forbidden.
  const isValid = version !== '' && version !== 'ff' && (version !== '00' || rest === undefined);
  if (!isValid || isZero(traceId) || isZero(parentId)) return undefined;
  return { traceId, parentId, flags, traceparent: `00-${traceId}-${parentId}-${flags}` };
}
