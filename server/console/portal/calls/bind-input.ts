import type { MemberRole } from '../../../../contracts/admin/members.ts';
import { ApiError } from '../../../platform/errors.ts';
import { isObject } from '../../../platform/http/parameters.ts';
import { identifyingFields, type OwnedKind, type ScopeRow, scope } from './scope.ts';

export interface Caller {
  memberId: string;
  partnerId: string;
  role: MemberRole;
  /** Whether the member has used the passkey lately. */
  isFresh: boolean;
}

/** Returns the first of these ids that is no record of the partner. Records of other partners count as missing. */
export type FindForeign = (
  kind: OwnedKind,
  ids: readonly string[],
  partnerId: string,
) => Promise<string | undefined>;

type Fields = Record<string, unknown>;

/** The words for a record in messages, where they differ from the kind. */
const nouns: Partial<Record<OwnedKind, string>> = {
  apiKey: 'API key',
  bulkJob: 'bulk job',
  auditEntry: 'audit entry',
};

/** The most characters of a caller's text that an error repeats. */
const mostShownCharacters = 128;

/** The most records that the fields of a call can name: as many as the schema of `deliveries.resend` allows. */
const mostNamedRecords = 500;

const notFoundError = (kind: OwnedKind, id: string) =>
  new ApiError('not_found', { description: `No ${nouns[kind] ?? kind} ${id.slice(0, mostShownCharacters)}` });

/** The identifiers in a field. The procedure's schema refuses other values. */
const idsIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((id) => typeof id === 'string');

/** Returns the row of a procedure that the caller may call. @throws ApiError `route_not_found`, `not_permitted`, `passkey_required` */
export function requirePermission(
  { role, isFresh }: Pick<Caller, 'role' | 'isFresh'>,
  path: string,
): ScopeRow {
  // `hasOwn`, because every object also has names such as `constructor`.
  const row = Object.hasOwn(scope, path) ? scope[path] : undefined;
  if (!row) throw new ApiError('route_not_found', { description: `No procedure found on path "${path}"` });
  if (!row.roles.includes(role))
    throw new ApiError('not_permitted', {
      description: `The role ${role} does not allow ${path}; ${row.roles.join(', ')} may do it`,
    });
  if (row.needsFreshPasskey && !isFresh) throw new ApiError('passkey_required');
  return row;
}

/** Decides which procedures a member may call, and with what input. No other code decides this. */
export function createInputBinding(findForeign: FindForeign) {
  /** Checks every field that names a record. @throws ApiError `not_found` for a record of another partner */
  async function requireOwnFields(
    fields: Fields,
    { partnerId }: Caller,
    cursorKind: OwnedKind | undefined,
  ): Promise<void> {
    const named = Object.entries(fields).flatMap(([name, value]) => {
      const kind = name === 'after' ? cursorKind : identifyingFields.get(name);
      return kind ? [{ kind, ids: [...new Set(idsIn(value))] }] : [];
    });
    // The procedure's schema has not checked their number yet.
    if (named.reduce((sum, { ids }) => sum + ids.length, 0) > mostNamedRecords)
      throw new ApiError('bad_input', { description: `A call names at most ${mostNamedRecords} records` });
    for (const { kind, ids } of named) {
      const foreign = await findForeign(kind, ids, partnerId);
      if (foreign !== undefined) throw notFoundError(kind, foreign);
    }
  }

  /**
   * Checks a member's call. Returns the input with which the procedure runs, always for the member's own partner.
   * @throws ApiError `route_not_found`, `not_permitted`, `passkey_required`, `bad_input`, `not_found`
   */
  return async function bindInput(caller: Caller, path: string, input: unknown = {}): Promise<unknown> {
    const { fields, cursorKind, isOnlySelf } = requirePermission(caller, path);
    // The procedure's schema refuses any input that is not an object.
    if (!isObject(input)) return input;
    const unknownField = Object.keys(input).find((name) => !fields.includes(name));
    if (unknownField !== undefined) {
      const name = unknownField.slice(0, mostShownCharacters);
      throw new ApiError('bad_input', { description: `Unrecognized key: "${name}"` });
    }
    await requireOwnFields(input, caller, cursorKind);
    if (isOnlySelf && input['memberId'] !== caller.memberId)
      throw new ApiError('not_permitted', { description: `${path} is for your own membership` });
    const { partnerId } = caller;
    const bound = fields.includes('partnerId') ? { ...input, partnerId } : input;
    // A bulk job names its partner and records in a filter. The procedure's schema decides which fields a filter has.
    const { filter } = bound;
    if (!isObject(filter)) return bound;
    await requireOwnFields(filter, caller, undefined);
    return { ...bound, filter: { ...filter, partnerId } };
  };
}
