import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../platform/errors.ts';
import type { RequestLimit } from '../../platform/http/request-limits.ts';
import type { DeviceLogins, DeviceSession } from '../device/device-logins.ts';
import { shownUserCode } from '../device/user-code.ts';
import { freshForMs, type SignedIn } from '../sign-in.ts';
import type { Action, Given, PageContext, PageRow, Section } from './page.ts';
import { text, time } from './text.ts';

/** Codes a minute that a member may type: 50 of 25,600,000,000 while one of them works. */
export const codesPerMinute = 5;

/** Notes in the audit log what a member did about a login. `name`: what the program calls its machine. */
export type NoteDevice = (
  action: 'confirm' | 'deny' | 'allow' | 'end',
  signedIn: SignedIn,
  about: { request: FastifyRequest; name: string },
) => Promise<void>;

interface Dependencies {
  logins: DeviceLogins;
  limit: RequestLimit;
  note: NoteDevice;
}

/** `/portal/devices`: where a member lets `svc` in, and sees and ends what is let in. */
export function devicePages({ logins, limit, note }: Dependencies): PageRow[] {
  /** Every code that is sent is counted before it is looked up. */
  async function showRequest({ signedIn }: PageContext, { code = '' }: Given) {
    const { allowed, retryAfter } = await limit('portal user code', signedIn.member._id, codesPerMinute);
    if (!allowed) throw new ApiError('rate_limited', { retryAfter });
    return logins.show(code);
  }

  async function loginOf({ signedIn }: PageContext, { login = '' }: Given): Promise<DeviceSession> {
    const found = (await logins.listOf(signedIn.member._id)).find(({ _id }) => _id === login);
    if (!found) throw new ApiError('not_found', { description: 'This login has ended' });
    return found;
  }

  const find: Action = async (context, given) => {
    const { m, role } = context;
    const { name, address, createdAt, expiresAt } = await showRequest(context, given);
    const code = (given['code'] ?? '').toUpperCase().replace(/[\s-]/g, '');
    const fields = [{ name: 'code', label: m.deviceCode, kind: 'hidden' as const, value: code }];
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
    const { _id, device, memberId } = await loginOf(context, given);
    await logins.end(_id, memberId);
    await note('end', context.signedIn, { request: context.request, name: device.name });
    return undefined;
  };

  async function view({ m, now, signedIn }: PageContext) {
    const found = await logins.listOf(signedIn.member._id);
    const sectionOf = ({ _id, device, createdAt, expiresAt, passkeyAt }: DeviceSession): Section => {
      const fields = [{ name: 'login', label: m.device, kind: 'hidden' as const, value: _id }];
      const until = passkeyAt.getTime() + freshForMs;
      return {
        title: device.name,
        facts: [
          [m.deviceAddress, text(device.address)],
          [m.created, time(createdAt.toISOString())],
          [m.expires, time(expiresAt.toISOString())],
          [m.deviceChanges, until > now ? time(new Date(until).toISOString()) : text(m.notAtAll)],
        ],
        forms: [
          { act: 'allow', fields, submit: m.deviceAllowChanges },
          { act: 'end', fields, submit: m.deviceEnd, danger: true },
        ],
      };
    };
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
        ...(found.length === 0 ? [{ title: m.deviceLogins, note: m.none }] : found.map(sectionOf)),
      ],
    };
  }

  const actions = { find, confirm, deny, allow, end };
  return [{ path: '/devices', nav: 'devices', needs: 'partners.show', view, actions }];
}

/** What is granted with each role, in words. */
const grantOf = {
  owner: 'grantsOwner',
  developer: 'grantsDeveloper',
  finance: 'grantsFinance',
  viewer: 'grantsViewer',
} as const;
