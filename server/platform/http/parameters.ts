import { ApiError } from '../errors.ts';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The parameters that have a value: one without counts as absent (RFC 6749 3.1 and 3.2). */
export function withoutEmpty(parameters: unknown): unknown {
  if (!isRecord(parameters)) return parameters;
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== ''));
}

/**
 * Refuses a query or a form that repeats a parameter, a known one or not (RFC 6749 3.1 and 3.2).
 * @throws ApiError invalid_request
 */
export function requireOnce(parameters: unknown): void {
  if (!isRecord(parameters)) return;
  const [name] = Object.entries(parameters).find(([, value]) => Array.isArray(value)) ?? [];
  if (name === undefined) return;
  // An unknown name is the caller's own text: only a plain word is sent back.
  const shown = /^\w{1,64}$/.test(name) ? name : 'A parameter';
  throw new ApiError('invalid_request', { description: `${shown} must be given once` });
}
