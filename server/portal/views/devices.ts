import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../platform/errors.ts';
import type { RequestLimit } from '../../platform/http/request-limits.ts';
import type { DeviceLogins, DeviceSession } from '../device/device-logins.ts';
import { shownUserCode } from '../device/user-code.ts';
import { freshForMs, type SignedIn } from '../sign-in.ts';
import { hidden } from './forms.ts';
import type { Action, Given, PageContext, PageRow, Section } from './page.ts';
import { link, text, time } from './text.ts';

/** The most codes that a member may try in a minute. In the lifetime of a code, these are 50 of 25,600,000,000. */
export const codesPerMinute = 5;

/** Writes the audit entry of a member's action on a login. `name`: the program's machine. `memberId`: the login's member. */
export type NoteDevice = (
  action: 'confirm' | 'deny' | 'allow' | 'end',
  signedIn: SignedIn,
  about: { request: FastifyRequest; name: string; memberId?: string },
) => Promise<void>;

interface Dependencies {
  logins: DeviceLogins;
  limit: RequestLimit;
  note: NoteDevice;
}

/** Shows one login. @param email the address of the login's member */
function loginSection(login: DeviceSession, email: string, { m, now, memberId }: PageContext): Section {
  const fields = [hidden('login', login._id)];
  const changesUntil = login.passkeyAt.getTime() + freshForMs;
  const isOwn = login.memberId === memberId;
  return {
    title: isOwn ? login.device.name : `${login.device.name}: ${email}`,
    facts: [
      ...(isOwn ? [] : [[m.email, link(email, `/members/${login.memberId}`)] as const]),
      [m.deviceAddress, text(login.device.address)],
      [m.created, time(login.createdAt.toISOString())],
      [m.expires, time(login.expiresAt.toISOString())],
      [m.deviceChanges, changesUntil > now ? time(new Date(changesUntil).toISOString()) : text(m.notAtAll)],
    ],
    forms: [
      ...(isOwn ? [{ act: 'allow', fields, submit: m.deviceAllowChanges }] : []),
      { act: 'end', fields, submit: m.deviceEnd, danger: true },
    ],
  };
}

/** `/portal/devices`: a member confirms, sees and ends logins of `svc`. Owners can also end logins of other members. */
export function devicePages({ logins, limit, note }: Dependencies): PageRow[] {
  /** Finds the request of a code. Each try is counted before the code is looked up. */
  async function showRequest({ signedIn }: PageContext, { code = '' }: Given) {
    const { allowed, retryAfter } = await limit('portal user code', signedIn.member._id, codesPerMinute);
    if (!allowed) throw new ApiError('rate_limited', { retryAfter });
    return logins.show(code);
  }

  async function loginOf(
    { signedIn }: PageContext,
    { login = '' }: Given,
    others: readonly DeviceSession[] = [],
  ): Promise<DeviceSession> {
    const own = await logins.listOf(signedIn.member._id);
    const found = [...own, ...others].find(({ _id }) => _id === login);
    if (!found) throw new ApiError('not_found', { description: 'This login has ended' });
    return found;
  }

  async function loginsOfOthers({ role, partnerId, memberId }: PageContext): Promise<DeviceSession[]> {
    if (role !== 'owner') return [];
    return (await logins.listOfPartner(partnerId)).filter((login) => login.memberId !== memberId);
  }

  const find: Action = async (context, given) => {
    const { m, role } = context;
    const { name, address, createdAt, expiresAt } = await showRequest(context, given);
    const code = (given['code'] ?? '').toUpperCase().replace(/[\s-]/g, '');
    const fields = [hidden('code', code)];
    const section: Section = {
      title: `${m.deviceConfirm} ${shownUserCode(code)}`,
      note: m.deviceWarning,
      facts: [
        [m.device, text(name)],
        [m.deviceAddress, text(address)],
        [m.time, time(createdAt.toISOString())],
        [m.until, time(expiresAt.toISOString())],
        [m.role, text(m[role])],
        [m.deviceGrants, text(m[grantOf[role]])],
      ],
      forms: [
        { act: 'confirm', fields, submit: m.deviceAllow },
        { act: 'deny', fields, submit: m.deviceDeny, danger: true },
      ],
    };
    return { sections: [section] };
  };

  const confirm: Action = async (context, given) => {
    const { name } = await showRequest(context, given);
    await logins.confirm(given['code'] ?? '', context.signedIn);
    await note('confirm', context.signedIn, { request: context.request, name });
    return undefined;
  };

  const deny: Action = async (context, given) => {
    const { name } = await showRequest(context, given);
    await logins.deny(given['code'] ?? '');
    await note('deny', context.signedIn, { request: context.request, name });
    return undefined;
  };

  const allow: Action = async (context, given) => {
    const { _id, device } = await loginOf(context, given);
    await logins.allowChanges(_id, context.signedIn);
    await note('allow', context.signedIn, { request: context.request, name: device.name });
    return undefined;
  };

  const end: Action = async (context, given) => {
    const { signedIn, request } = context;
    const { _id, device, memberId } = await loginOf(context, given, await loginsOfOthers(context));
    if (memberId !== context.memberId && !signedIn.isFresh) throw new ApiError('passkey_required');
    await logins.end(_id, memberId);
    await note('end', signedIn, { request, name: device.name, memberId });
    return undefined;
  };

  async function view(context: PageContext) {
    const { api, m, memberId, partnerId } = context;
    const own = await logins.listOf(memberId);
    const others = await loginsOfOthers(context);
    const members = others.length === 0 ? [] : await api.members.list({ partnerId, limit: 500 });
    const emailOf = new Map(members.map(({ id, email }) => [id, email]));
    const sectionOf = (login: DeviceSession) =>
      loginSection(login, emailOf.get(login.memberId) ?? login.memberId, context);
    return {
      title: m.devices,
      sections: [
        {
          title: m.deviceNew,
          note: m.deviceNote,
          forms: [
            {
              act: 'find',
              fields: [{ name: 'code', label: m.deviceCode, placeholder: 'WDJB-MJHT' }],
              submit: m.show,
            },
          ],
        },
        ...(own.length === 0 ? [{ title: m.deviceLogins, note: m.none }] : []),
        ...[...own, ...others].map(sectionOf),
      ],
    };
  }

  const actions = { find, confirm, deny, allow, end };
  return [{ path: '/devices', nav: 'devices', needs: 'partners.show', view, actions }];
}

/** The description of what each role may do. */
const grantOf = {
  owner: 'grantsOwner',
  developer: 'grantsDeveloper',
  finance: 'grantsFinance',
  viewer: 'grantsViewer',
} as const;
