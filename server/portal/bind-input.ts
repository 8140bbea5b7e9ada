import type { MemberRole } from '../../contracts/admin/members.ts';
import { ApiError } from '../platform/errors.ts';
import { identifyingFields, type OwnedKind, scope } from './scope.ts';

/** The facts about a caller on which the decision depends. */
export interface Caller {
  memberId: string;
  partnerId: string;
  role: MemberRole;
  /** Whether the member has used the passkey lately. */
  isFresh: boolean;
}

/** Whether a record belongs to the partner. Records of other partners count as missing. */
export type IsOwn = (kind: OwnedKind, id: string, partnerId: string) => Promise<boolean>;

type Fields = Record<string, unknown>;

const nouns: Readonly<Record<OwnedKind, string>> = {
  partner: 'partner',
  apiKey: 'API key',
  client: 'client',
  integration: 'integration',
  session: 'session',
  enrollment: 'enrollment',
  event: 'event',
  delivery: 'delivery',
  bulkJob: 'bulk job',
  entry: 'entry',
  request: 'request',
  member: 'member',
  warning: 'warning',
  act: 'audit entry',
};

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const absent = (kind: OwnedKind, id: string) =>
  new ApiError('not_found', { description: `No ${nouns[kind]} ${id.slice(0, 128)}` });

/** The identifiers in a field. The procedure's schema refuses other values. */
const idsIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((id) => typeof id === 'string');

/** Decides which procedures a member may call, and with what input. No other code decides this. */
export function createInputBinding(isOwn: IsOwn) {
  async function requireOwn(kind: OwnedKind, value: unknown, { partnerId }: Caller): Promise<void> {
    for (const id of new Set(idsIn(value))) {
      if (!(await isOwn(kind, id, partnerId))) throw absent(kind, id);
    }
  }

  async function requireOwnFields(
    fields: Fields,
    after: OwnedKind | undefined,
    caller: Caller,
  ): Promise<void> {
    for (const [name, value] of Object.entries(fields)) {
      const kind = name === 'after' ? after : identifyingFields[name];
      if (kind) await requireOwn(kind, value, caller);
    }
  }

  /**
   * Checks a member's call. Returns the input with which the procedure runs, always for the member's own partner.
   * @throws ApiError `route_not_found`, `not_permitted`, `passkey_required`, `bad_input`, `not_found`
   */
  return async function bindInput(caller: Caller, path: string, input: unknown = {}): Promise<unknown> {
    const row = Object.hasOwn(scope, path) ? scope[path] : undefined;
    if (!row) throw new ApiError('route_not_found', { description: `No procedure found on path "${path}"` });
    if (!row.roles.includes(caller.role))
      throw new ApiError('not_permitted', {
        description: `The role ${caller.role} does not allow ${path}; ${row.roles.join(', ')} may do it`,
      });
    if (row.fresh && !caller.isFresh) throw new ApiError('passkey_required');
    if (!isFields(input)) return input;
    const other = Object.keys(input).find((name) => !row.fields.includes(name));
    if (other !== undefined)
      throw new ApiError('bad_input', { description: `Unrecognized key: "${other.slice(0, 64)}"` });
    const { after, fields } = row;
    await requireOwnFields(input, after, caller);
    if (row.self && input['memberId'] !== caller.memberId)
      throw new ApiError('not_permitted', { description: `${path} is for your own membership` });
    const partner = fields.includes('partnerId') ? { partnerId: caller.partnerId } : {};
    if (!fields.includes('filter') || !isFields(input['filter'])) return { ...input, ...partner };
    await requireOwnFields(input['filter'], undefined, caller);
    return { ...input, filter: { ...input['filter'], partnerId: caller.partnerId } };
  };
}
export type BindInput = ReturnType<typeof createInputBinding>;
